/**
 * The contract for whoever reads one test runner's output. A runner is believed only by its own
 * summary, in its own form; what a program under test prints in between must not look like it.
 */
import type { TestFailure } from "../test-report.ts";

export interface Runner {
  readonly name: string;
  /** The first characters of the lines that it has to see at any time. */
  readonly marks: string;
  start(): Reading;
}

/** One runner's view of one stream of lines. What it remembers has a limit. */
export interface Reading {
  /** Now every line matters, whatever it begins with: a failure's place, a title's next part. */
  readonly isOpen?: boolean;
  /** Without colours, prefixes and blanks around it; never empty. `indent`: blanks before it. */
  line(text: string, indent: number): void;
  /** Nothing before the runner has said how it ended. */
  result(): RunnerResult | undefined;
}

export interface RunnerResult extends Counts {
  readonly runner: string;
  readonly failures: readonly TestFailure[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const mostFailures = 50;
const longestName = 300;

/** What a runner has said so far, over all of its summaries. */
export interface Tally {
  isSaid: boolean;
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: FoundFailure[];
}

/** A failure whose place may still be told. */
export interface FoundFailure {
  readonly name: string;
  file?: string;
  line?: number;
}

export const newTally = (): Tally => ({
  isSaid: false,
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
});

export function count(tally: Tally, more: Partial<Counts>): void {
  tally.isSaid = true;
  tally.passed += Math.max(0, more.passed ?? 0);
  tally.failed += Math.max(0, more.failed ?? 0);
  tally.skipped += Math.max(0, more.skipped ?? 0);
}

/** The failure as it is kept; runners that repeat their failures at the end do not double them. */
export function addFailure(tally: Tally, name: string, file?: string, line?: number): FoundFailure {
  const short = name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
  const known = tally.failures.find(
    (each) =>
      each.name === short &&
      (file === undefined || each.file === file) &&
      (line === undefined || each.line === undefined || each.line === line),
  );
  if (known) return known;
  const found: FoundFailure = {
    name: short,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
  if (tally.failures.length < mostFailures) tally.failures.push(found);
  return found;
}

export const resultOf = (runner: string, tally: Tally): RunnerResult | undefined =>
  tally.isSaid
    ? {
        runner,
        passed: tally.passed,
        failed: tally.failed,
        skipped: tally.skipped,
        failures: tally.failures,
      }
    : undefined;

/** `2 failed | 1 passed`, `2 failed, 1 passed`: how many of what; undefined if anything else is in it. */
export function countsIn(text: string): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const part of text.split(/[,|;]/u)) {
    const found = /^\s*(\d{1,9}) ([a-z][a-z -]*?)\s*$/iu.exec(part);
    if (!found?.[1] || !found[2]) return undefined;
    const word = found[2].toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + Number(found[1]));
  }
  return counts;
}

/** The sum of those that are called so. */
export const sumOf = (counts: ReadonlyMap<string, number>, ...words: string[]): number =>
  words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
