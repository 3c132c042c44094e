/**
 * What a test runner said: how many tests passed, failed and were skipped, which failed and where.
 * Read from its output, line by line, so that memory does not grow with what it prints.
 */
export interface TestReport {
  /** Who said it: `vitest`, `pytest` … */
  readonly runner: string;
  readonly passed: number;
  readonly failed: number;
  /** Skipped, ignored, pending, to do: not passed. */
  readonly skipped: number;
  /** The first of those that failed, in the order in which they were told. */
  readonly failures: readonly TestFailure[];
  /** Of lines, in percent, where the runner measured it. */
  readonly coverage?: number;
}

export interface TestFailure {
  readonly name: string;
  /** From the project's folder, where the runner says it. */
  readonly file?: string;
  readonly line?: number;
}

/** Fed every line of an output, in the order in which they came; colours and prefixes may be in them. */
export interface ReportReader {
  line(text: string): void;
  /** Undefined when no runner has said how it ended. */
  report(): TestReport | undefined;
}
