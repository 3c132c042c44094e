/** A file's text, and where in it something is: by offset, by line and column. */
import type { Place } from "../core/plan/plan.ts";

export interface Source {
  readonly file: string;
  readonly text: string;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

export function placesIn({ file, text }: Source): (range: Range) => Place {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return ({ from, to }) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= from) low = middle;
      else high = middle - 1;
    }
    return { file, line: low + 1, column: from - (starts[low] ?? 0) + 1, from, to };
  };
}
