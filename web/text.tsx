/**
 * Where text of others (agents, repositories, plans) comes onto the page, and nowhere else. It is
 * text already, never markup; here it also loses the power to look like what it is not: control
 * characters and direction overrides become signs that can be seen, and a line of ten million
 * characters becomes its beginning and its end.
 */

const longest = 5000;
const [kept, keptAtEnd] = [2000, 200];

/** Most text is harmless, and telling so takes one look (\udb40 begins every tag character). */
const suspicious =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40]/;

/** Colours of a terminal: they say nothing here. */
const colours = /\u001b\[[0-9;:]*m/g;

const strange =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Safe to be shown, also in an attribute: nothing in it is invisible. */
export function visible(text: string): string {
  const short = shortened(text);
  if (!suspicious.test(short)) return short;
  return short.replace(colours, "").replace(/\r\n/g, "\n").replace(strange, signFor);
}

function signFor(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Line by line: a long file is long, a long line is a trick or an accident. */
function shortened(text: string): string {
  if (text.length <= longest) return text;
  return text.split("\n").map(shortLine).join("\n");
}

function shortLine(line: string): string {
  if (line.length <= longest) return line;
  const left = line.length - kept - keptAtEnd;
  const [head, tail] = [line.slice(0, kept), line.slice(-keptAtEnd)];
  return `${head} … (${left.toLocaleString("en")} characters left out) … ${tail}`;
}

/** A value on one line. */
export const visibleLine = (text: string): string =>
  visible(text.length > longest ? text.slice(0, longest + 1) : text).replace(/\s+/g, " ");

/** By itself in its direction: what it holds cannot turn what stands around it. */
export const Text = ({ of, line = false }: { of: string; line?: boolean }) => (
  <bdi>{line ? visibleLine(of) : visible(of)}</bdi>
);
