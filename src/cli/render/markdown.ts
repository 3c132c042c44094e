/**
 * Other people's text in Markdown that GitHub renders: names of phases, words of agents, lines of
 * logs. None of it can be a heading, a link, HTML, another cell of a table, somebody's @name (who
 * would be told), or an issue that is closed by a word.
 */
import { shown } from "../../project.ts";

/** In a line or a cell. A number stands for itself and never for structure; nobody is called from code. */
export const quoted = (text: string): string =>
  text === "" ? "" : `<code>${shown(text).replace(structural, numbered)}</code>`;

const structural = /[!-&*+:-@[-`{-~]/g;
const numbered = (character: string): string => `&#${character.charCodeAt(0)};`;

/** Lines as they are, however many backticks they hold. */
export function fenced(lines: readonly string[], language = "text"): string[] {
  const safe = lines.map((line) => shown(line));
  const longest = Math.max(2, ...safe.flatMap((line) => line.match(/`+/g) ?? []).map(lengthOf));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, ...safe, fence];
}
const lengthOf = ({ length }: string): number => length;

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
