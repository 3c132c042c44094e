/** `40% tests passed, 3 tests failed out of 5`, `Total Test time`, then the names. */
import { addFailure, count, newTally, type Runner, resultOf } from "./runner.ts";

export const ctest: Runner = {
  name: "ctest",
  marks: "0123456789TN",
  start() {
    const tally = newTally();
    /** Not believed before the line that follows it: a test's own output may be shown. */
    let said: { failed: number; total: number } | undefined;
    let list: "not run" | "failed" | undefined;
    return {
      line(text) {
        const found = /^\d+% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/u.exec(text);
        if (found) {
          said = { failed: Number(found[1]), total: Number(found[2]) };
          list = undefined;
        } else if (said && text.startsWith("Total Test time (real) =")) {
          count(tally, { passed: said.total - said.failed, failed: said.failed });
          said = undefined;
          list = "not run";
        } else if (text === "No tests were found!!!") count(tally, {});
        else if (text === "The following tests FAILED:" && list) list = "failed";
        else if (list) takeName(text);
      },
      result: () => resultOf("ctest", tally),
    };

    function takeName(text: string): void {
      const found = /^\d+ - (.+?) \(([\w ]+)\)(?: +[\w ]+)?$/u.exec(text);
      if (!found?.[1]) return;
      if (list === "failed") addFailure(tally, found[1]);
      else {
        count(tally, { skipped: 1 });
        // Skipped tests are among those "passed", disabled ones are not even among all.
        if (found[2] === "Skipped") tally.passed--;
      }
    }
  },
};
