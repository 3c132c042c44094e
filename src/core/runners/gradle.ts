/**
 * Gradle names the tests that failed, and when some did, says how many there were: `4 tests
 * completed, 2 failed, 1 skipped`. Of tests that all passed it says nothing, unless it was told to.
 */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const gradle: Runner = {
  name: "gradle",
  marks: "0123456789B:>ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  start() {
    const tally = newTally();
    let told = { passed: 0, failed: 0, skipped: 0 };
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return unplaced !== undefined;
      },
      line(text) {
        if (text.endsWith("ED") && text.includes(" > ")) takeTest(text);
        else if (completed.test(text)) {
          const [all = 0, failed = 0, skipped = 0] = (completed.exec(text)?.slice(1) ?? []).map(
            (each) => Number(each ?? 0),
          );
          count(tally, { passed: all - failed - skipped, failed, skipped });
          told = { passed: 0, failed: 0, skipped: 0 };
          unplaced = undefined;
        } else if (/^BUILD (?:SUCCESSFUL|FAILED) in /u.test(text)) {
          if (told.passed + told.failed + told.skipped > 0) count(tally, told);
          told = { passed: 0, failed: 0, skipped: 0 };
          unplaced = undefined;
        } else if (unplaced) {
          const place = /^(?:Caused by: .*|.*\bat) /u.test(text) ? placeIn(text) : undefined;
          if (place && takePlace(unplaced, place)) unplaced = undefined;
        }
      },
      result: () => resultOf("gradle", tally),
    };

    function takeTest(text: string): void {
      const found = /^(\S.* > .+) (PASSED|FAILED|SKIPPED)$/u.exec(text);
      if (!found?.[1]) return;
      if (found[2] === "PASSED") told.passed++;
      else if (found[2] === "SKIPPED") told.skipped++;
      else {
        told.failed++;
        unplaced = addFailure(tally, found[1]);
      }
    }
  },
};

const completed = /^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$/u;
