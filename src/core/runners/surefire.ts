/** `Results:`, the failures, then `Tests run: 4, Failures: 1, Errors: 1, Skipped: 1`; for each module. */
import { addFailure, count, newTally, type Runner, resultOf } from "./runner.ts";

export const surefire: Runner = {
  name: "surefire",
  marks: "[RTN",
  start() {
    const tally = newTally();
    let isResults = false;
    let isFailures = false;
    return {
      get isOpen() {
        return isResults;
      },
      line(raw) {
        const text = raw.replace(/^\[(?:INFO|ERROR|WARNING)\] */u, "");
        if (/^Results ?:$/u.test(text)) isResults = true;
        else if (text === "No tests to run." || text === "There are no tests to run.") {
          count(tally, {});
        } else if (!isResults) return;
        else if (/^(?:Failures|Errors|Failed tests|Tests in error): *$/u.test(text)) {
          isFailures = true;
        } else if (runCounts.test(text)) {
          const [run = 0, failures = 0, errors = 0, skipped = 0] = (
            runCounts.exec(text)?.slice(1) ?? []
          ).map(Number);
          isResults = isFailures = false;
          const passed = run - failures - errors - skipped;
          count(tally, { passed, failed: failures + errors, skipped });
        } else if (isFailures) takeFailure(text);
      },
      result: () => resultOf("surefire", tally),
    };

    /** `PriceTest.sum:12 expected …`, `PriceTest$Discount.lower:20->check:30 » IllegalState …` */
    function takeFailure(text: string): void {
      const found = /^((\w+)(?:[\w.$]*)\.[^\s:.]+):(\d+)(?:->\S+)?(?: |$)/u.exec(text);
      if (!found?.[1]) return;
      addFailure(tally, found[1], `${found[2]}.java`, Number(found[3]));
    }
  },
};

const runCounts =
  /^Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(?:, Flakes: \d+)?$/u;
