/**
 * `Time: …, Memory: …`, then `OK (2 tests, 2 assertions)` or `Tests: 7, Assertions: 4, Errors: 1.`;
 * and Pest, which runs on it: `Tests:    1 failed, 2 passed (3 assertions)`, `Duration: 0.12s`.
 */
import { placeIn, takePlace } from "./place.ts";
import {
  addFailure,
  type Counts,
  count,
  countsIn,
  type FoundFailure,
  newTally,
  type Runner,
  resultOf,
  sumOf,
} from "./runner.ts";

export const phpunit: Runner = {
  name: "phpunit",
  marks: "PTON0123456789✘⨯FD",
  start() {
    const tally = newTally();
    const pest = newTally();
    let isBegun = false;
    let isFinished = false;
    let isFailures = false;
    let pestSaid: Counts | undefined;
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return unplaced !== undefined || isFailures || (isBegun && isFinished);
      },
      line(text) {
        if (/^PHPUnit \d+\.[\w.-]+ by Sebastian Bergmann/u.test(text)) {
          isBegun = true;
          isFinished = isFailures = false;
        } else if (isBegun && /^Time: [\d:.]+.*, Memory: /u.test(text)) isFinished = true;
        else if (isBegun && text === "No tests executed!") end({});
        else if (isFinished && takeSummary(text)) unplaced = undefined;
        else if (isBegun) takeFailure(text);
        else takePest(text);
      },
      result: () => resultOf("pest", pest) ?? resultOf("phpunit", tally),
    };

    function end(counts: Partial<Counts>): void {
      count(tally, counts);
      isBegun = isFinished = isFailures = false;
    }

    function takeSummary(text: string): boolean {
      const passed = /^OK \((\d{1,9}) tests?, \d+ assertions?\)$/u.exec(text)?.[1];
      if (passed !== undefined) end({ passed: Number(passed) });
      const tests = /^Tests: (\d{1,9}), Assertions: \d+.*\.$/u.exec(text)?.[1];
      if (tests !== undefined) {
        const of = (word: string): number =>
          Number(new RegExp(` ${word}: (\\d+)`, "u").exec(text)?.[1] ?? 0);
        const failed = of("Errors") + of("Failures");
        const skipped = of("Skipped") + of("Incomplete");
        end({ passed: Number(tests) - failed - skipped, failed, skipped });
      }
      return passed !== undefined || tests !== undefined;
    }

    function takeFailure(text: string): void {
      const list = /^There (?:was|were) \d+ (\w+)(?: \w+)?:$/u.exec(text)?.[1];
      if (list !== undefined) isFailures = /^(?:error|failure)s?$/u.test(list);
      const name =
        (isFailures ? /^\d+\) (\S+::.+)$/u.exec(text)?.[1] : undefined) ??
        /^✘ (.+)$/u.exec(text)?.[1];
      if (name !== undefined) {
        // The data of a data set may be as long as it likes.
        unplaced = addFailure(tally, name.replace(/^(\S+ with data set (?:".*?"|#\d+)).*$/u, "$1"));
      } else if (unplaced) {
        const place = placeIn(text);
        if (place && takePlace(unplaced, place)) unplaced = undefined;
      }
    }

    function takePest(text: string): void {
      const name = /^FAILED +(\S+ > .+?)(?: {2,}\S+)?$/u.exec(text)?.[1];
      const summary = /^Tests: +(\d.*) \(\d+ assertions?\)$/u.exec(text)?.[1];
      if (name !== undefined) unplaced = addFailure(pest, name);
      else if (summary !== undefined) {
        const counts = countsIn(summary);
        pestSaid = counts && {
          passed: sumOf(counts, "passed", "risky", "warnings", "deprecated"),
          failed: sumOf(counts, "failed"),
          skipped: sumOf(counts, "skipped", "incomplete", "todos", "todo", "pending"),
        };
      } else if (pestSaid && /^Duration: +[\d.]+s$/u.test(text)) {
        count(pest, pestSaid);
        pestSaid = unplaced = undefined;
      } else if (unplaced) {
        const place = placeIn(text);
        if (place && takePlace(unplaced, place)) unplaced = undefined;
      }
    }
  },
};
