/**
 * `Running 7 tests using 1 worker`, at the end how many of those ended how. What does not add up to
 * that number was printed by a test.
 */
import { plainFile } from "./place.ts";
import { addFailure, count, newTally, type Runner, resultOf, sumOf } from "./runner.ts";

export const playwright: Runner = {
  name: "playwright",
  marks: "RE0123456789",
  start() {
    const tally = newTally();
    let running: number | undefined;
    let last: (readonly [word: string, number: number])[] = [];
    let isFailures = false;
    return {
      get isOpen() {
        return isFailures;
      },
      line(text) {
        const begun = /^Running (\d{1,9}) tests? using \d+ workers?/u.exec(text)?.[1];
        const counted = countLine.exec(text);
        if (begun !== undefined) {
          running = Number(begun);
          last = [];
          isFailures = false;
        } else if (text === "Error: No tests found." || text === "Error: No tests found") {
          count(tally, {});
        } else if (counted?.[2]) {
          isFailures = counted[2] === "failed" || counted[2] === "interrupted";
          last = [...last, [counted[2], Number(counted[1])] as const].slice(-words.length);
          settle();
        } else if (isFailures) {
          const found = failureLine.exec(text);
          if (found?.[3]) {
            addFailure(tally, found[3], plainFile(found[1] ?? ""), Number(found[2]));
          }
        }
      },
      result: () => resultOf("playwright", tally),
    };

    /** The last counts that add up to all tests are the runner's own. */
    function settle(): void {
      const counts = new Map<string, number>();
      let all = 0;
      for (const [word, number] of last.toReversed()) {
        if (counts.has(word)) return;
        counts.set(word, number);
        all += number;
        if (all === running) break;
      }
      if (running === undefined || all !== running) return;
      count(tally, {
        passed: sumOf(counts, "passed", "flaky"),
        failed: sumOf(counts, "failed", "interrupted"),
        skipped: sumOf(counts, "skipped", "did not run"),
      });
      running = undefined;
      last = [];
    }
  },
};

const words = ["failed", "interrupted", "flaky", "skipped", "did not run", "passed"];
const countLine = new RegExp(
  String.raw`^(\d{1,9}) (${words.join("|")})(?: \([\d.]+(?:ms|s|m|h)\))?$`,
  "u",
);
const failureLine = /^(?:\[[^\]]+\] › )?(\S+\.\w+):(\d+):\d+ › (.+?)(?: ─+)?$/u;
