/** How plans say where a phase is: emoji, words, boxes, percentages; reading and writing them. */
import type { PhaseStatus } from "./plan.ts";
import { wordList } from "./words.ts";

export type KnownStatus = Exclude<PhaseStatus, "unknown">;

/** The first of each row is what we write when a document has shown us none of its own. */
export const statusWords: readonly (readonly [KnownStatus, readonly string[]])[] = [
  [
    "pending",
    wordList(`
    pending, not started, not yet started, not begun, unstarted, todo, to do, planned, open,
    ready, ready to start, queued, backlog, draft, upcoming, next, proposed, new, future,
    scheduled, waiting to start, approved, not done, incomplete, remaining, later, idle, not
    implemented, outstanding, no, unchecked, ready for dev, ready for development, readyfordev,
    drafted, 未开始, 待开始, 待办, 待处理, 未完成, 计划中, 未開始, 未着手, 予定, 計画中, не начато, не начат, не начата,
    запланировано, ожидает, в очереди, к выполнению, не розпочато, заплановано, offen, nicht
    begonnen, geplant, ausstehend, pendiente, no iniciado, no iniciada, por hacer, planificado,
    sin empezar, pendente, não iniciado, não iniciada, a fazer, à faire, non commencé, en
    attente, prévu, da fare, non iniziato, 대기, 미시작, 예정, 시작 전, do zrobienia, nie rozpoczęto`),
  ],
  [
    "running",
    wordList(`
    in progress, inprogress, wip, work in progress, started, ongoing, on going, active, doing,
    running, under way, underway, partial, partially complete, partially done, partially
    completed, partly done, mostly done, mostly complete, nearly done, almost done, in review,
    review, reviewing, ready for review, testing, in testing, in development, implementing,
    current, now, 进行中, 開發中, 开发中, 进行, 実施中, 進行中, 作業中, 対応中, в работе, в процессе, выполняется,
    начато, в роботі, in arbeit, laufend, begonnen, in bearbeitung, läuft, en progreso, en
    curso, em andamento, em progresso, en cours, in corso, 진행 중, 진행중, w trakcie, partiel,
    parcial, частично, част. готово`),
  ],
  [
    "complete",
    wordList(`
    complete, completed, done, finished, shipped, merged, landed, closed, delivered,
    implemented, released, passed, verified, deployed, resolved, live, yes, achieved, fully
    complete, all done, checked, met, accepted, fixed, 已完成, 完成, 完毕, 完了, 完了済み, 済, 済み, готово,
    завершено, завершён, завершена, завершен, готов, готова, выполнено, сделано, виконано,
    erledigt, abgeschlossen, fertig, completado, completada, hecho, terminado, listo, concluído,
    concluída, feito, terminé, terminée, fait, achevé, completato, fatto, 완료, 완료됨, gotowe,
    zakończone, tamamlandı, klaar, klar, hotovo`),
  ],
  [
    "failed",
    wordList(`
    failed, failing, broken, error, errored, failure, failed verification, reverted, 失败, 失敗,
    ошибка, провалено, не удалось, fehlgeschlagen, fallido, falló, falhou, échoué, fallito, 실패`),
  ],
  [
    "blocked",
    wordList(`
    blocked, on hold, hold, paused, stalled, waiting, stuck, suspended, waiting on, waiting for,
    阻塞, 受阻, 暂停, ブロック, 保留, заблокировано, заблокирован, приостановлено, blockiert, pausiert,
    bloqueado, bloqueada, bloqué, bloccato, 차단, 보류`),
  ],
  [
    "skipped",
    wordList(`
    skipped, skip, cancelled, canceled, dropped, removed, deferred, postponed, obsolete, won't
    do, wont do, wontfix, superseded, descoped, out of scope, n/a, not applicable, not needed,
    abandoned, rejected, archived, not required, cut, 跳过, 已取消, 取消, 推迟, スキップ, 中止, 延期, пропущено,
    отменено, отложено, übersprungen, entfällt, verschoben, omitido, cancelado, descartado,
    ignoré, annulé, saltato, annullato, 건너뜀, 취소`),
  ],
];

/** `sure`: the mark means that whatever the words beside it say. */
export const statusMarks: readonly (readonly [
  string,
  KnownStatus,
  "sure" | "unless words say otherwise",
])[] = [
  ["✅", "complete", "sure"],
  ["☑", "complete", "sure"],
  ["✔", "complete", "sure"],
  ["✓", "complete", "sure"],
  ["🟩", "complete", "unless words say otherwise"],
  ["🟢", "complete", "unless words say otherwise"],
  ["🎉", "complete", "unless words say otherwise"],
  ["💯", "complete", "unless words say otherwise"],
  ["⬜", "pending", "sure"],
  ["☐", "pending", "sure"],
  ["🔲", "pending", "sure"],
  ["◻", "pending", "sure"],
  ["▢", "pending", "sure"],
  ["⚪", "pending", "unless words say otherwise"],
  ["○", "pending", "unless words say otherwise"],
  ["⭕", "pending", "unless words say otherwise"],
  ["📋", "pending", "unless words say otherwise"],
  ["📝", "pending", "unless words say otherwise"],
  ["🆕", "pending", "unless words say otherwise"],
  ["🗓", "pending", "unless words say otherwise"],
  ["📅", "pending", "unless words say otherwise"],
  ["🔜", "pending", "unless words say otherwise"],
  ["⏳", "pending", "unless words say otherwise"],
  ["⌛", "pending", "unless words say otherwise"],
  ["🔄", "running", "sure"],
  ["🚧", "running", "unless words say otherwise"],
  ["🏗", "running", "unless words say otherwise"],
  ["🔨", "running", "unless words say otherwise"],
  ["🛠", "running", "unless words say otherwise"],
  ["🏃", "running", "unless words say otherwise"],
  ["▶", "running", "unless words say otherwise"],
  ["🟡", "running", "unless words say otherwise"],
  ["🟨", "running", "unless words say otherwise"],
  ["🟠", "running", "unless words say otherwise"],
  ["🔵", "running", "unless words say otherwise"],
  ["🟦", "running", "unless words say otherwise"],
  ["◐", "running", "unless words say otherwise"],
  ["🔶", "running", "unless words say otherwise"],
  ["❌", "failed", "unless words say otherwise"],
  ["✗", "failed", "unless words say otherwise"],
  ["✘", "failed", "unless words say otherwise"],
  ["✖", "failed", "unless words say otherwise"],
  ["💥", "failed", "unless words say otherwise"],
  ["⏸", "blocked", "unless words say otherwise"],
  ["⛔", "blocked", "unless words say otherwise"],
  ["🚫", "blocked", "unless words say otherwise"],
  ["🛑", "blocked", "unless words say otherwise"],
  ["🔒", "blocked", "unless words say otherwise"],
  ["⏭", "skipped", "unless words say otherwise"],
  ["🗑", "skipped", "unless words say otherwise"],
];

/** Words are compared in lower case, with a space where people write a dash or an underscore. */
const byWord = new Map<string, KnownStatus>(
  statusWords.flatMap(([status, list]) => list.map((word) => [word, status] as const)),
);
const longestFirst = [...byWord.keys()].sort((a, b) => b.length - a.length);
/** Of scripts that put no space between words: what a text begins with is enough. */
const spaceless = longestFirst.filter((word) => /[^\u0000-\u04ff]/u.test(word));
const byMark = new Map(statusMarks.map(([mark, status, sure]) => [mark, { status, sure }]));

/** Pictures that a document's own legend explains, before ours. */
export type Legend = ReadonlyMap<string, KnownStatus>;

/** How a document writes statuses: its own legend, and the words that its format demands. */
export interface Notation {
  readonly legend: Legend;
  readonly words: Readonly<Partial<Record<KnownStatus, string>>>;
}

const mark = /\p{Extended_Pictographic}|[☐☑✓✔✗✘✖○◐◻▢●]/gu;

/** Undefined: nothing is said there (empty, a dash). */
export function readStatus(text: string, legend: Legend = new Map()): PhaseStatus | undefined {
  const said = text
    .normalize("NFC")
    .replace(/~~.*?~~/gs, " ")
    .replace(/[*_`]/g, " ")
    .trim();
  if (/^[-–—―.…]*$/u.test(said)) return undefined;
  const box = /^\[(.)\]/u.exec(said);
  if (box?.[1] !== undefined) return legend.get(box[1]) ?? statusOfMark(box[1]);
  const [picture] = said.match(mark) ?? [];
  const explained = picture && legend.get(picture);
  if (explained) return explained;
  const known = picture ? byMark.get(picture) : undefined;
  if (known?.sure === "sure") return known.status;
  return readWords(said) ?? known?.status ?? "unknown";
}

/** `[x]` and its kin, in a box or in a cell. */
export function statusOfMark(character: string): KnownStatus {
  if (/[xX✓✔✅☑]/u.test(character)) return "complete";
  if (/\s/u.test(character)) return "pending";
  return byMark.get(character)?.status ?? "running";
}

/** The words at the front decide: "Done (was blocked)", "Not started - waiting for design". */
function readWords(text: string): KnownStatus | undefined {
  const words = text
    .toLowerCase()
    .replace(mark, " ")
    .replace(/\uFE0F|\u200D/gu, "")
    .replace(/(?<=\p{L})[-_](?=\p{L})/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/^[\s:：|•·([{"'-]+/u, "");
  const share = /^(?:~\s*)?(\d{1,3})\s*%/u.exec(words) ?? /\((\d{1,3})\s*%\)/u.exec(words);
  const front = longestFirst.find(
    (word) => words.startsWith(word) && !/^[\p{L}\p{N}]/u.test(words.slice(word.length)),
  );
  const joined = front ?? spaceless.find((word) => words.startsWith(word));
  if (joined) return byWord.get(joined);
  if (share)
    return share[1] === "100" ? "complete" : Number(share[1]) === 0 ? "pending" : "running";
  const part = /^(\d+)\s*(?:\/|of)\s*(\d+)/u.exec(words);
  if (part) return part[1] === part[2] ? "complete" : Number(part[1]) === 0 ? "pending" : "running";
  return undefined;
}

/** "Legend: ⬜ Not started | 🔄 In progress": only pairs that explain themselves count. */
export function readLegend(line: string): [string, KnownStatus][] {
  const found: [string, KnownStatus][] = [];
  const pictures = [...line.matchAll(mark)];
  pictures.forEach((match, index) => {
    const after = line.slice(match.index + match[0].length, pictures[index + 1]?.index);
    const before = line.slice(pictures[index - 1]?.index ?? 0, match.index);
    const word = readWords(after.replace(/^[\uFE0F\s=:：–—-]+/u, ""));
    const other = /=\s*$/u.test(before) ? readWords(before) : undefined;
    const status = word ?? other;
    if (status) found.push([match[0], status]);
  });
  return found.length >= 2 ? found : [];
}

/** What we write when a document has shown us none of its own. */
export const canonicalMark: Record<KnownStatus, string> = {
  pending: "⬜",
  running: "🔄",
  complete: "✅",
  failed: "❌",
  blocked: "⏸️",
  skipped: "⏭️",
};

const englishWord: Record<KnownStatus, string> = {
  pending: "pending",
  running: "in progress",
  complete: "complete",
  failed: "failed",
  blocked: "blocked",
  skipped: "skipped",
};

/**
 * The same statement with another status, in the notation of the document: what the document says
 * elsewhere (`examples`) if it says it, else the parts of `old` exchanged one for one. What stands
 * beside the status (a date, a link, a remark) stays.
 */
export function writeStatus(
  old: string,
  status: KnownStatus,
  examples: Iterable<string>,
  { legend, words }: Notation,
): string {
  const isModel = (each: string): boolean =>
    readStatus(each, legend) === status && shapeOf(each) === shapeOf(old) && isPlain(each);
  const model = first(examples, isModel);
  const picture = legendMark(legend, status) ?? canonicalMark[status];
  // A plan that says "not begun" by saying nothing, and never otherwise.
  if (status === "pending" && isPlain(old)) {
    const all = [...examples];
    if (all.includes("") && !all.some((each) => readStatus(each, legend) === "pending")) return "";
  }
  if (old.trim() === "") return model?.trim() ?? picture;
  if (model !== undefined && isPlain(old)) return model.trim();
  const [here, there] = [partsOf(old), model === undefined ? {} : partsOf(model)];
  const told = here.word ? textAt(old, here.word) : old;
  const word = (there.word && model && textAt(model, there.word)) ?? wordLike(told, status, words);
  const mark = (there.picture && model && textAt(model, there.picture)) ?? picture;
  const changed = [
    ...(here.box ? [{ ...here.box, text: boxMark(status) }] : []),
    ...(here.picture ? [{ ...here.picture, text: mark }] : []),
    ...(here.word ? [{ ...here.word, text: word }] : []),
  ].reduceRight(
    (text, { from, to, text: next }) => text.slice(0, from) + next + text.slice(to),
    old,
  );
  // A box can say three things only.
  if (readStatus(changed, legend) === status || here.box) return changed;
  return shapeOf(old) === "word" ? word : mark;
}

function first(texts: Iterable<string>, is: (text: string) => boolean): string | undefined {
  for (const text of texts) if (is(text)) return text;
  return undefined;
}

interface Part {
  readonly from: number;
  readonly to: number;
}

const textAt = (text: string, { from, to }: Part): string => text.slice(from, to);

/** Where in a statement the status is: the mark in a box, the picture, the word; in this order. */
function partsOf(text: string): { box?: Part; picture?: Part; word?: Part } {
  if (text.includes("~~")) return {};
  const box = /^\s*\[(.)\]/u.exec(text);
  const open = box
    ? { from: box[0].length - 1 - (box[1]?.length ?? 1), to: box[0].length - 1 }
    : undefined;
  const pictures = pictureRun.exec(text.slice(box?.[0].length ?? 0));
  const shift = box?.[0].length ?? 0;
  const from = beforeWords.exec(text)?.[0].length ?? 0;
  const rest = text
    .slice(from)
    .toLowerCase()
    .replace(/(?<=\p{L})[-_](?=\p{L})/gu, " ");
  const word = longestFirst.find(
    (each) =>
      rest.startsWith(each) &&
      (spaceless.includes(each) || !/^[\p{L}\p{N}]/u.test(rest.slice(each.length))),
  );
  return {
    ...(open ? { box: open } : {}),
    ...(pictures?.index === undefined
      ? {}
      : {
          picture: {
            from: shift + pictures.index,
            to: shift + pictures.index + pictures[0].length,
          },
        }),
    ...(word === undefined ? {} : { word: { from, to: from + word.length } }),
  };
}

const onePicture = String.raw`(?:\p{Extended_Pictographic}|[☐☑✓✔✗✘✖○◐◻▢●])\uFE0F?`;
/** "⬜/⏭️" is one statement. */
const pictureRun = new RegExp(`${onePicture}(?:\\s*/\\s*${onePicture})*`, "u");
const beforeWords = new RegExp(`^(?:\\[.\\]|${onePicture}|[\\s:：|/•·([{"'*_\`-])*`, "u");

const boxMark = (status: KnownStatus): string =>
  status === "complete" ? "x" : status === "running" ? "~" : " ";

const legendMark = (legend: Legend, status: KnownStatus): string | undefined =>
  [...legend].find(([, each]) => each === status)?.[0];

type Shape = "picture" | "both" | "word";

function shapeOf(text: string): Shape {
  const pictures = (text.match(mark) ?? []).length > 0;
  const letters = /\p{L}/u.test(text);
  if (pictures) return letters ? "both" : "picture";
  return letters ? "word" : "picture";
}

/** Without a note or a date: something that can be said of another phase too. */
const isPlain = (text: string): boolean => {
  const words = text
    .toLowerCase()
    .replace(mark, "")
    .replace(/[\uFE0F`*_]/gu, "")
    .trim();
  return words === "" || byWord.has(words);
};

/** In the language and the case of the word that stood there. */
function wordLike(old: string, status: KnownStatus, words: Notation["words"]): string {
  const letters = old
    .replace(mark, "")
    .replace(/[\uFE0F`*_]/gu, "")
    .trim();
  const foreign = /[^\u0000-\u024f]/u.exec(letters)?.[0];
  const row = statusWords.find(([each]) => each === status)?.[1] ?? [];
  const script = foreign && scripts.find((each) => each.test(foreign));
  const demanded = words[status];
  // A word that a tool knows in one spelling only, unless the document writes all of it small.
  if (demanded && /\p{Lu}/u.test(demanded)) {
    return letters !== "" && letters === letters.toLowerCase() ? demanded.toLowerCase() : demanded;
  }
  const word =
    demanded ?? ((script && row.find((each) => script.test(each))) || englishWord[status]);
  if (letters !== "" && letters === letters.toUpperCase() && letters !== letters.toLowerCase())
    return word.toUpperCase();
  if (/^\p{Lu}/u.test(letters)) {
    const title = /\s\p{Lu}/u.test(letters);
    return title
      ? word.replace(/(^|\s)\p{L}/gu, (each) => each.toUpperCase())
      : word.replace(/^\p{L}/u, (each) => each.toUpperCase());
  }
  return word;
}

const scripts = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Hangul}/u,
  /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  /\p{Script=Han}/u,
];
