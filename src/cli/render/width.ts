/**
 * How many columns a text takes in a terminal: most characters one, wide ones two, marks none.
 * Terminals add up characters and know nothing of the clusters that some scripts make of them; an
 * emoji that is made of several is taken for one.
 */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dff\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\uFE0F|[\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const plain = /^[\u0020-\u007e]*$/;
const unseen = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** Characters that may be one with their neighbours; finding out takes a hundred times as long. */
const joining =
  /\p{M}|[\u1160-\u11ff\ud7b0-\ud7ff]|\u200d|\ufe0f|\p{Regional_Indicator}|\p{Emoji_Modifier}/u;

let segmenter: Intl.Segmenter | undefined;
function charactersOf(text: string): string[] {
  if (!joining.test(text)) return Array.from(text);
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function widthOfCharacter(character: string): number {
  if (character.length === 1 && character < "\u0300") return 1;
  if (wide.test(character)) return 2;
  const seen = character.replace(unseen, "");
  return seen.length < 2 ? seen.length : Array.from(seen).length;
}

export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) width += widthOfCharacter(character);
  return width;
}

export const padTo = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - widthOf(text)));

/** At most so many columns; what is cut off is shown by an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (columns < 1) return "";
  // Of a text that is far too long, the end is not even measured.
  const head = text.slice(0, columns * 8);
  if (head === text && widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const character of charactersOf(head)) {
    const next = widthOfCharacter(character);
    if (width + next > columns - 1) break;
    kept += character;
    width += next;
  }
  return `${kept}…`;
}

/** In lines of at most so many columns, broken between words, or within one that is longer. */
export function wrapTo(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  const room = Math.max(1, columns);
  for (const word of text.split(" ").flatMap((each) => piecesOf(each, room))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= room) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

function piecesOf(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const pieces = [""];
  for (const character of charactersOf(word)) {
    const last = pieces.at(-1) ?? "";
    if (last !== "" && widthOf(last + character) > columns) pieces.push(character);
    else pieces[pieces.length - 1] = last + character;
  }
  return pieces;
}
