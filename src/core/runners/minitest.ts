/** `Finished in 0.002972s, …`, then `4 runs, 2 assertions, 1 failures, 1 errors, 1 skips`. */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const minitest: Runner = {
  name: "minitest",
  marks: "F0123456789E",
  start() {
    const tally = newTally();
    let isFinished = false;
    let isHeading = false;
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return isHeading || unplaced !== undefined;
      },
      line(text) {
        if (/^Finished in \d+\.\d+s?(?:,| seconds)/u.test(text)) isFinished = true;
        else if (isFinished && runCounts.test(text)) {
          const [runs = 0, failures = 0, errors = 0, skipped = 0] = (
            runCounts.exec(text)?.slice(1) ?? []
          ).map(Number);
          isFinished = false;
          unplaced = undefined;
          count(tally, {
            passed: runs - failures - errors - skipped,
            failed: failures + errors,
            skipped,
          });
        } else if (/^(?:\d+\) )?(?:Failure|Error):$/u.test(text)) {
          isHeading = true;
          unplaced = undefined;
        } else if (isHeading) {
          // `PriceTest#test_sum [test/price_test.rb:5]:`; an error's place is in its trace.
          const found = /^(\S+#.+?)(?: \[(.+):(\d+)\])?:$/u.exec(text);
          if (!found?.[1]) return;
          isHeading = false;
          const line = found[3] === undefined ? undefined : Number(found[3]);
          const failure = addFailure(tally, found[1], found[2], line);
          if (line === undefined) unplaced = failure;
        } else if (unplaced) {
          const place = placeIn(text);
          if (place && takePlace(unplaced, place)) unplaced = undefined;
        }
      },
      result: () => resultOf("minitest", tally),
    };
  },
};

const runCounts =
  /^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors, (\d{1,9}) (?:skips|pendings)(?:,|$)/u;
