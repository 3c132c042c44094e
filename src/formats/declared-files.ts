/** The files that a phase says it will touch, and what happens to them. */
import type { DeclaredFile } from "../core/plan/plan.ts";
import type { Document, Range } from "./document.ts";

const changeWords: readonly (readonly [DeclaredFile["change"], RegExp])[] = [
  [
    "create",
    /^(?:create|creates?d?|new|new file|add|added|新建|创建|新增|新規|作成|создать|новый|neu|anlegen|erstellen|crear|nuevo|criar|novo|créer|nouveau)$/iu,
  ],
  [
    "modify",
    /^(?:modify|modif(?:y|ies|ied)|update|updated?|edit|edited|change|changed|extend|refactor|rewrite|修改|更新|変更|изменить|обновить|ändern|anpassen|modificar|actualizar|atualizar|modifier)$/iu,
  ],
  [
    "delete",
    /^(?:delete|deleted?|remove|removed?|drop|删除|削除|удалить|löschen|entfernen|eliminar|borrar|remover|excluir|supprimer)$/iu,
  ],
  ["touch", /^(?:test|tests|test file|touch|files?|rename|move|files? to test)$/iu],
];

export function changeOf(word: string): DeclaredFile["change"] | undefined {
  const first = word
    .replace(/[*_`()[\]]/g, "")
    .replace(/\p{Extended_Pictographic}|\uFE0F/gu, "")
    .trim();
  const [head = ""] = first.split(/[\s,/:;—–-]+/u);
  return changeWords.find(([, pattern]) => pattern.test(first) || pattern.test(head))?.[0];
}

const codeSpan = /(`+)([^`]+)\1/g;

const pathLike = /^(?=.*[./\\])[^\s:?"<>|,;]{2,}$/u;

export function pathsIn(document: Document, range: Range): string[] {
  const raw = document.raw(range);
  const spans = [...raw.matchAll(codeSpan)].map((match) => (match[2] ?? "").trim());
  const linked = [...raw.matchAll(/\[([^\]\s`]+)\]\(/g)].map((match) => match[1] ?? "");
  const words =
    spans.length > 0 || linked.length > 0
      ? [...spans, ...linked]
      : document.plain(range).split(/\s+/).slice(0, 1);
  return words
    .map((word) => word.replace(/:\d[\d,\s:-]*$/, "").replace(/[,;]$/, ""))
    .filter((word) => pathLike.test(word) && !/^https?:/.test(word) && !/^\.+$/.test(word));
}

/**
 * Files that a heading or a line declares: "File: `a.ts` (CREATE)", "Create: `a.ts`", "`a.ts`
 * (new)". `files`: the line stands under a label that promises files.
 */
export function declaredFiles(
  document: Document,
  range: Range,
  text: string,
  form: "heading" | "line" | "files",
): DeclaredFile[] {
  const raw = document.raw(range);
  if (raw.length > 2000) return [];
  const place = document.place(range);
  const make = (change: DeclaredFile["change"], paths: readonly string[]): DeclaredFile[] =>
    paths.map((path) => ({ path, change, blocks: [], place }));
  const head =
    /^\W*((?:new |test )?file(?: path)?|文件|ファイル|файл|datei|archivo|arquivo|fichier|create|new file|new|add|modify|update|edit|delete|remove|test|tests)\b\s*(?:\((\w+)\))?\s*[:：]\s*/iu.exec(
      text,
    );
  if (head) {
    const paths = pathsIn(document, afterColon(raw, range));
    const marked = /[([]\s*([\p{L} ]{2,12})\s*(?:[,;—–-][^)\]]*)?[)\]]\s*$/u.exec(text)?.[1];
    const word = head[1] ?? "";
    const change =
      (marked && changeOf(marked)) || (head[2] && changeOf(head[2])) || changeOf(word) || "touch";
    return make(change, paths);
  }
  if (form === "heading") {
    const code = /^\W*(?:create|modify|update|delete|remove|add|new)\s+`/iu.exec(
      raw.replace(/^#+\s*/, ""),
    );
    const path = /^`([^`]+)`\s*[([]\s*([\p{L} ]+)\s*[)\]]\s*$/u.exec(raw.replace(/^#+\s*/, ""));
    const change = path && changeOf(path[2] ?? "");
    if (path && change) return make(change, pathsIn(document, range));
    return code ? make(changeOf(text) ?? "touch", pathsIn(document, range)) : [];
  }
  if (form === "files") {
    const paths = pathsIn(document, range);
    if (paths.length === 0) return [];
    const marked =
      /[([]\s*([\p{L} ]{2,12})\b[^)\]]*[)\]]/u.exec(text)?.[1] ??
      /^\W*(\p{L}+)/u.exec(text)?.[1] ??
      "";
    const after = /[—–:-]\s*(\p{L}+)/u.exec(text)?.[1] ?? "";
    return make(changeOf(marked) ?? changeOf(after) ?? "touch", paths.slice(0, 1));
  }
  return [];
}

function afterColon(raw: string, range: Range): Range {
  const colon = raw.search(/[:：]/u);
  return { from: range.from + colon + 1, to: range.to };
}
