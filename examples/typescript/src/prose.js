const fenceLine = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * The lines of a Markdown document with fenced code blanked out: an example of a link is not a
 * link. Every line keeps its number, every character its column.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function proseLines(text) {
  let fence = "";
  return text.split(/\r?\n/).map((line) => {
    const [, marks = "", rest = ""] = fenceLine.exec(line) ?? [];
    if (fence !== "") {
      // Closed by the same marks, at least as many, with nothing behind them.
      if (marks.startsWith(fence) && rest.trim() === "") fence = "";
      return blank(line);
    }
    const isSpan = marks.startsWith("`") && rest.includes("`");
    if (marks === "" || isSpan) return line;
    fence = marks;
    return blank(line);
  });
}

/**
 * A line with its code spans blanked out.
 *
 * @param {string} line
 */
export const withoutCode = (line) => line.replace(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, blank);

/** @param {string} text */
const blank = (text) => " ".repeat(text.length);
