/** What became of each case with each agent: a table for people, and the same as JSON. */

export interface Cell {
  /** `–`: not tried, and why. */
  readonly is: "✓" | "✗" | "–";
  readonly ms?: number;
  readonly why?: string;
}

export interface Table {
  set(row: string, column: string, cell: Cell): void;
  print(): string;
  json(): string;
}

export function makeTable(rows: readonly string[], columns: readonly string[]): Table {
  const cells = new Map<string, Cell>();
  const at = (row: string, column: string): Cell =>
    cells.get(`${row} ${column}`) ?? { is: "–", why: "not reached" };
  const shown = ({ is, ms }: Cell): string =>
    ms === undefined ? is : `${is} ${(ms / 1000).toFixed(1)}`;
  return {
    set: (row, column, cell) => void cells.set(`${row} ${column}`, cell),
    print() {
      const notes: string[] = [];
      const body = rows.map((row) => [
        row,
        ...columns.map((column) => {
          const cell = at(row, column);
          if (cell.why === undefined) return shown(cell);
          const known = notes.indexOf(cell.why) + 1;
          return `${shown(cell)} [${known > 0 ? known : notes.push(cell.why)}]`;
        }),
      ]);
      const lines = [["seconds", ...columns], ...body];
      const widths = ["", ...columns].map((_, column) =>
        Math.max(...lines.map((line) => line[column]?.length ?? 0)),
      );
      return [
        ...lines.map((line) =>
          line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "),
        ),
        ...notes.map((note, index) => `[${index + 1}] ${note}`),
      ].join("\n");
    },
    json: () =>
      JSON.stringify(
        rows.map((agent) => ({
          agent,
          ...Object.fromEntries(columns.map((column) => [column, at(agent, column)])),
        })),
        null,
        2,
      ),
  };
}
