/**
 * What code blocks of a phase hold: the content of a file, or commands to run. The text of a block
 * is what its author would copy out of the rendered page: without the indentation of the list and
 * the marks of the quotation that it stands in.
 */
import type { DeclaredFile, SpelledCommand } from "../core/plan/plan.ts";
import type { Document, Fence } from "./document.ts";

export function fencedText(document: Document, fence: Fence): string {
  const before = beforeOnItsLine(document.text, fence.from);
  const content = document.raw(fence.content);
  if (before === "") return content;
  const quotes = before.split(">").length - 1;
  // Code without a fence begins in the middle of its first line.
  const first = fence.content.from === fence.from ? 1 : 0;
  return content
    .split(/(?<=\n|\r(?!\n))/)
    .map((line, index) => (index < first ? line : withoutFront(line, columns(before), quotes)))
    .join("");
}

/** Step by step: whoever looks for an end of line that a file does not use looks through all of it. */
function beforeOnItsLine(text: string, at: number): string {
  let start = at;
  while (start > 0 && !"\r\n".includes(text.charAt(start - 1))) start--;
  return text.slice(start, at);
}

const tabStop = 4;
const nextColumn = (column: number, char: string): number =>
  char === "\t" ? column + tabStop - (column % tabStop) : column + 1;
const columns = (text: string): number => text.split("").reduce(nextColumn, 0);

/** As many columns of spaces and quotation marks as stand before the fence, and no more. */
function withoutFront(line: string, width: number, quotes: number): string {
  let column = 0;
  let marks = 0;
  let at = 0;
  for (; at < line.length && column < width; at++) {
    const char = line[at] ?? "";
    if (char === ">" && marks < quotes) marks++;
    else if (char !== " " && char !== "\t") break;
    column = nextColumn(column, char);
  }
  return line.slice(at);
}

/** The commands of a block, if it is one for a shell and there is anything to run in it. */
export function commandIn(document: Document, fence: Fence): SpelledCommand | undefined {
  const language = /^\{?\.?([\w-]+)/.exec(fence.info)?.[1]?.toLowerCase() ?? "";
  if (!shells.has(language)) return undefined;
  const lines = fencedText(document, fence).split(/\r\n|\r|\n/);
  const first = lines.find((line) => line.trim() !== "") ?? "";
  // People paste sessions under any shell's name; no command begins with a lone dollar.
  const isSession = language === "console" || prompt.test(first);
  const text = (isSession ? typed(lines) : lines).join("\n").trim();
  const isNothing = text.split("\n").every((line) => /^\s*(?:#|$)/.test(line));
  return isNothing ? undefined : { text, place: document.place(fence) };
}

const shells = new Set(["sh", "bash", "shell", "console", "zsh"]);
const prompt = /^\s*\$ /;

/** What was typed in a session, without what was answered. */
function typed(lines: readonly string[]): string[] {
  let goesOn = false;
  return lines.flatMap((line) => {
    if (!goesOn && !prompt.test(line)) return [];
    const command = line.replace(goesOn ? /^> ?/ : prompt, "");
    goesOn = command.endsWith("\\");
    return [command];
  });
}

/** A file that may well be written in shell, and of which no content has been given yet. */
export function isScript(file: DeclaredFile | undefined, text: string): boolean {
  if (!file || file.change === "delete" || file.blocks.length > 0) return false;
  const name = file.path.split(/[/\\]/).at(-1) ?? "";
  return text.startsWith("#!") || /\.(?:sh|bash|zsh|ksh|bats)$|^\.env|^\.?[^.]+$/i.test(name);
}
