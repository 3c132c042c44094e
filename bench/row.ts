/** What a benchmark says: a figure, or why there is none. */
export interface Row {
  readonly name: string;
  /** Null: it could not be measured; the detail says why. */
  readonly figure: number | null;
  readonly unit: string;
  readonly target?: number;
  readonly detail: string;
}

export const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
