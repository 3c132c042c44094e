/** Where git has left a conflict open: a document with both sides in it says neither. */

/** All three marks: a row of equals signs alone is a heading to some. */
export function conflictIn(text: string): number | undefined {
  const begin = /^<{7}(?: |\r?$)/mu.exec(text);
  const rest = begin ? text.slice(begin.index) : "";
  const isWhole = /^={7}\r?$/mu.test(rest) && /^>{7}(?: |\r?$)/mu.test(rest);
  return isWhole ? begin?.index : undefined;
}

/** The same in Markdown, by its line; what stands in a fence may be shown to somebody. */
export function conflictLine(text: string): number | undefined {
  let fence: string | undefined;
  const lines = text.split("\n").map((line) => {
    const [, sign] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line) ?? [];
    if (fence === undefined) {
      fence = sign;
      return line;
    }
    if (sign?.startsWith(fence) && line.trim() === sign) fence = undefined;
    return "";
  });
  const begin = lines.findIndex((line) => /^<{7}(?: |\r?$)/u.test(line));
  if (begin < 0) return undefined;
  // Where one side opens a fence, the other marks stand in it.
  return conflictIn(text.split("\n").slice(begin).join("\n")) === undefined ? undefined : begin + 1;
}
