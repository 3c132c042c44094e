/** How many columns a text takes in a terminal: most characters one, wide ones two, marks none. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\uFE0F|[\u{20000}-\u{3fffd}]/u;
const plain = /^[\u0020-\u007e]*$/;

export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

export const padTo = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - widthOf(text)));

/** At most so many columns; what is cut off is shown by an ellipsis. */
export function cutTo(text: string, columns: number): string {
  // Of a text that is far too long, the end is not even measured.
  const head = text.slice(0, columns * 8);
  if (head === text && widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(head)) {
    const next = wide.test(segment) ? 2 : 1;
    if (width + next > columns - 1) break;
    kept += segment;
    width += next;
  }
  return `${kept}…`;
}
