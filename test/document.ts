/** A document of ours, as far as a test can hold it to its word: commands, links, names. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { parse } from "yaml";

export const packageRoot = path.resolve(import.meta.dirname, "..");

export interface Block {
  /** Of its first line of text. */
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
  /** The anchor of the heading that it stands under. */
  readonly under: string;
}

export interface Document {
  readonly file: string;
  readonly anchors: ReadonlySet<string>;
  readonly blocks: readonly Block[];
  readonly links: readonly { readonly line: number; readonly url: string }[];
  /** Code in running text. */
  readonly spans: readonly { readonly line: number; readonly text: string }[];
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly url?: string;
  readonly lang?: string | null;
  readonly children?: readonly Node[];
  readonly position?: { readonly start: { readonly line: number } };
}

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join("");

export function readDocument(file: string): Document {
  const text = fs.readFileSync(path.join(packageRoot, file), "utf8");
  const tree = fromMarkdown(text, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  }) as unknown as Node;
  const anchors = new Set<string>();
  const blocks: Block[] = [];
  const links: { line: number; url: string }[] = [];
  const spans: { line: number; text: string }[] = [];
  let under = "";
  const walk = (node: Node): void => {
    const line = node.position?.start.line ?? 0;
    if (node.type === "heading") anchors.add((under = freeAnchor(textOf(node), anchors)));
    else if (node.type === "inlineCode") spans.push({ line, text: node.value ?? "" });
    else if (node.type === "link" || node.type === "image" || node.type === "definition") {
      links.push({ line, url: node.url ?? "" });
    } else if (node.type === "code") {
      const lines = (node.value ?? "").split("\n");
      blocks.push({ line: line + 1, language: node.lang ?? "", lines, under });
    }
    for (const child of node.children ?? []) walk(child);
  };
  walk(tree);
  return { file, anchors, blocks, links, spans, text };
}

/** As GitHub makes them. */
function freeAnchor(heading: string, taken: ReadonlySet<string>): string {
  const plain = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
  for (let count = 0; ; count++) {
    const anchor = count === 0 ? plain : `${plain}-${count}`;
    if (!taken.has(anchor)) return anchor;
  }
}

// ── commands ───────────────────────────────────────────────────────────────────────────────────

/** Something to type, and what is shown below it. */
export interface Typed {
  readonly line: number;
  readonly under: string;
  readonly command: string;
  /** Undefined: the document shows nothing of it. */
  readonly shown?: readonly string[];
}

const programs = /^(?:autodev|autobuild|npm|npx|git|sh|cd)(?: |$)/;

/**
 * What a person would type:
 *  - after `$ `, and then the rest of the block is what is seen;
 *  - in a block without a language that begins with a command, every line;
 *  - in a block of `sh`, all of it at once; in a workflow, its steps.
 * Everything else is no command, and must not look like one.
 */
export function typedIn(block: Block): Typed[] {
  const { line, lines, language, under } = block;
  if (language === "sh") return [{ line, under, command: lines.join("\n") }];
  if (language === "yaml") return stepsOf(lines).map((command) => ({ line, under, command }));
  if (language !== "") return [];
  if (lines.some((text) => text.startsWith("$ "))) {
    const typed: { line: number; under: string; command: string; shown: string[] }[] = [];
    for (const [at, text] of lines.entries()) {
      if (text.startsWith("$ ")) {
        typed.push({ line: line + at, under, command: text.slice(2), shown: [] });
      } else typed.at(-1)?.shown.push(text);
    }
    return typed;
  }
  const isTyped = programs.test(lines[0] ?? "");
  return lines.flatMap((text, at) => {
    if (text.trim() === "" || text.startsWith("#")) return [];
    if (isTyped) return [{ line: line + at, under, command: withoutComment(text) }];
    if (programs.test(text)) return [{ line: line + at, under, command: `(in no story) ${text}` }];
    return [];
  });
}

const withoutComment = (text: string): string => text.replace(/ {2,}#.*$/, "").trimEnd();

function stepsOf(lines: readonly string[]): string[] {
  const workflow = parse(lines.join("\n")) as {
    jobs?: Record<string, { steps?: object[] }>;
  } | null;
  return Object.values(workflow?.jobs ?? {}).flatMap(({ steps = [] }) =>
    steps.flatMap((step) => ("run" in step ? [String(step.run).trimEnd()] : [])),
  );
}

// ── what is shown ──────────────────────────────────────────────────────────────────────────────

/** Without what is different each time. */
export const masked = (line: string): string =>
  line
    .replace(/\bd-[0-9a-f]{12}\b/g, "d-…")
    .replace(/\br[0-9a-f]{10}\b/g, "r…")
    .replace(/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/g, "«sha»")
    .replace(/\b\d+ (?:s|min)\b(?: \d+ s\b)?/g, "«time»")
    .replace(/\d+:\d\d\b/g, "«time»")
    .replace(/(?:less than a minute|about [^·]*) left/g, "«left»")
    .replace(/[█▒░]+/g, "«bar»")
    // It depends on what has landed by then.
    .replace(/\b\d+ tests passed\b/g, "«count» tests passed")
    .replace(/└ .*/, "└ …")
    .replace(/ {2,}/g, "  ")
    .trimEnd();
