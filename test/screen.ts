/**
 * A small terminal: what a person would see after these bytes. Rows that are too long go on in the
 * next one and are laid out anew when the width changes, as most terminals do it. What it does not
 * know is a failure: nothing of ours should be more than this.
 */
export interface ScreenOf {
  write(text: string): void;
  resize(columns: number, rows: number): void;
  /** The rows that are seen, without blank ones at the end. */
  seen(): string[];
  /** Everything, with what has scrolled away, in lines: rows that go on in the next are one. */
  all(): string[];
  cursorHidden(): boolean;
  /** How many frames were drawn, and whether one is half drawn. */
  frames(): number;
  colours(): number;
  /** Characters beyond the last column, where nothing wraps. */
  lost(): number;
}

interface Row {
  /** One character a cell; the second cell of a wide one is empty. */
  cells: string[];
  /** It goes on in the next row. */
  wraps: boolean;
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u9fff\uac00-\ud7a3\uff00-\uff60]/u;
const sequence = /^\u001b(?:\[([?\d;]*)([A-Za-z])|([78])|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/;

export function makeScreen(columns: number, rows: number): ScreenOf {
  let lines: Row[] = [{ cells: [], wraps: false }];
  /** In `lines`; the rows from `top` on are seen. */
  let [row, column, top] = [0, 0, 0];
  let saved: [number, number] = [0, 0];
  let [wrap, hidden, together, frames, colours, lost] = [true, false, false, 0, 0, 0];
  let rest = "";

  const at = (index: number): Row => {
    while (lines.length <= index) lines.push({ cells: [], wraps: false });
    return lines[index] as Row;
  };
  const down = (): void => {
    row++;
    at(row);
    if (row - top >= rows) top = row - rows + 1;
  };
  const put = (character: string): void => {
    if (/\p{Mn}/u.test(character)) return;
    const width = wide.test(character) ? 2 : 1;
    if (column + width > columns) {
      if (!wrap) {
        lost++;
        return;
      }
      at(row).wraps = true;
      down();
      column = 0;
    }
    const { cells } = at(row);
    while (cells.length < column) cells.push(" ");
    cells.splice(column, width, character, ...(width === 2 ? [""] : []));
    column += width;
  };
  const control = (argument: string, letter: string): void => {
    const number = Number(argument || 1);
    switch (`${argument.startsWith("?") ? "?" : ""}${letter}`) {
      case "A":
        row = Math.max(top, row - number);
        return;
      case "B":
        row = Math.min(top + rows - 1, row + number);
        at(row);
        return;
      case "K":
        at(row).cells.length = Math.min(at(row).cells.length, column);
        at(row).wraps = false;
        return;
      case "J":
        at(row).cells.length = Math.min(at(row).cells.length, column);
        at(row).wraps = false;
        lines.length = row + 1;
        return;
      case "m":
        colours++;
        return;
      case "?h":
      case "?l":
        if (argument === "?25") hidden = letter === "l";
        else if (argument === "?7") wrap = letter === "h";
        else if (argument === "?2026") {
          if (together === (letter === "h")) throw new Error("a frame within a frame");
          together = letter === "h";
          if (!together) frames++;
        } else throw new Error(`unknown mode ${argument}${letter}`);
        return;
      default:
        throw new Error(`unknown sequence ${argument}${letter}`);
    }
  };
  const textOf = ({ cells }: Row): string => cells.join("").trimEnd();
  const shown = (from: number): string[] => {
    const texts = lines.slice(from).map(textOf);
    while (texts.at(-1) === "") texts.pop();
    return texts;
  };

  return {
    write(text) {
      rest += text;
      while (rest !== "") {
        const [first = ""] = rest;
        if (first === "\u001b") {
          const found = sequence.exec(rest);
          // The rest of it is still to come.
          if (!found) {
            if (rest.length > 200) throw new Error(`unknown sequence ${JSON.stringify(rest)}`);
            return;
          }
          rest = rest.slice(found[0].length);
          if (found[2] !== undefined) control(found[1] ?? "", found[2]);
          else if (found[3] === "7") saved = [row, column];
          else if (found[3] === "8") [row, column] = saved;
          continue;
        }
        const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
        rest = rest.slice(character.length);
        if (character === "\r") column = 0;
        else if (character === "\n") down();
        else if (character === "\b") column = Math.max(0, column - 1);
        else if (character === "\u0007") continue;
        else if (character < " ") throw new Error(`control ${JSON.stringify(character)}`);
        else put(character);
      }
    },
    resize(newColumns, newRows) {
      // Whole lines first, with the cursor's place in them; then rows of the new width.
      const before = lines;
      lines = [];
      let [logical, offset, cursor]: [string[], number, [number, number]] = [[], 0, [0, 0]];
      let cursorAt = -1;
      for (const [index, each] of before.entries()) {
        if (index === row) cursorAt = offset + column;
        logical.push(...each.cells);
        offset += each.wraps ? columns : 0;
        if (each.wraps) continue;
        const first = lines.length;
        const parts = Math.max(1, Math.ceil(logical.length / newColumns));
        for (let part = 0; part < parts; part++) {
          const cells = logical.slice(part * newColumns, (part + 1) * newColumns);
          lines.push({ cells, wraps: part < parts - 1 });
        }
        if (cursorAt >= 0) {
          cursor = [first + Math.floor(cursorAt / newColumns), cursorAt % newColumns];
          cursorAt = -1;
        }
        [logical, offset] = [[], 0];
      }
      [columns, rows] = [newColumns, newRows];
      [row, column] = cursor;
      at(row);
      // Rows below the cursor go first, then those at the top scroll away.
      lines.length = Math.max(
        row + 1,
        Math.min(lines.length, Math.max(top, row - rows + 1) + rows),
      );
      top = Math.max(0, Math.min(row, lines.length - rows));
    },
    seen: () => shown(top),
    all() {
      const whole: string[] = [];
      let before = "";
      for (const { cells, wraps } of lines) {
        before += cells.join("");
        if (wraps) continue;
        whole.push(before.trimEnd());
        before = "";
      }
      while (whole.at(-1) === "") whole.pop();
      return whole;
    },
    cursorHidden: () => hidden,
    frames: () => frames,
    colours: () => colours,
    lost: () => lost,
  };
}
