/** Other people's text in a text of ours: quoted so that it cannot end its own quotation. */
export function fenced(info: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${info}\n${text.replace(/\s+$/, "")}\n${fence}`;
}

export function code(text: string): string {
  const plain = line(text);
  const run = longestRun(plain);
  if (run === 0) return `\`${plain}\``;
  const ticks = "`".repeat(run + 1);
  return `${ticks} ${plain} ${ticks}`;
}

const longestRun = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);

/** On one line that begins nothing: no heading, no fence, no list. */
export const line = (text: string): string =>
  text
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    .replace(/^(?=`{3}|~{3}|#{1,6}(?:\s|$)|[<>]|[-+*]\s|\d+[.)]\s)/, "\\");

/** Beginning and end: a stack trace's head and a test runner's summary. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(-half)}`;
}
