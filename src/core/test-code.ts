/** The tests that a source file holds, whatever language it is in: what they check, and whether. */
export interface TestCase {
  /** With the names of the suites around it, joined by " › ". */
  readonly name: string;
  readonly line: number;
  /** It would not run: skipped, to do, ignored, disabled, under a condition that is never true. */
  readonly skipped: boolean;
  /** It is skipped under a condition that only a run can know. */
  readonly conditional: boolean;
  /** Only it would run (`it.only`, `fit`): all others are skipped by that. */
  readonly focused: boolean;
  readonly assertions: readonly Assertion[];
  /** What it does, as tokens without layout and comments: the same after a formatter. */
  readonly body: string;
  /** The table that it is run with, each row as tokens; without one: empty. */
  readonly rows: readonly string[];
  /** Functions that it calls and that are not in its file. */
  readonly calls: readonly string[];
}

export interface Assertion {
  readonly line: number;
  /** As tokens, without layout and comments. */
  readonly text: string;
  /** `exact` compares with a value; `loose` only that there is something; `constant` checks nothing. */
  readonly strength: "exact" | "loose" | "constant";
  /** Compares with a value, and other values would do as well: contains, greater than, is not. */
  readonly partial: boolean;
  /** It is made only under a condition, of which the test does not say that it holds. */
  readonly guarded: boolean;
  /**
   * What is looked at, with local variables replaced by what they were set to. One that cannot be
   * replaced stands as `‹name›`, so that its name can be left out of a comparison.
   */
  readonly actual: string;
  /** What it is compared with, in the same way; without a value the word for it, such as `truthy`. */
  readonly expected: string;
}

/** A function that is no test, with the assertions that it makes for those that call it. */
export interface TestFunction {
  readonly name: string;
  readonly line: number;
  readonly assertions: readonly Assertion[];
}

export interface TestCode {
  readonly tests: readonly TestCase[];
  /** Also the hooks that run around each test. */
  readonly functions: readonly TestFunction[];
}
