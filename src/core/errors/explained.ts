/** What is known of every way in which something can be wrong; the tables beside this hold it. */

/** As the shell sees it: `autodev help exit-codes`. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 70 | 130;

export interface Remedy {
  /** Usual ones, the likeliest first. */
  readonly causes: readonly string[];
  /** What to do; commands stand between backquotes. */
  readonly wayOut: readonly string[];
}

export interface Trouble extends Remedy {
  /** A sentence, without its full stop. */
  readonly what: string;
}

export interface FailureRow extends Trouble {
  readonly exit: ExitCode;
}
