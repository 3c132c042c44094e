/** What small programs print who run their own tests: `3 passed, 1 failed`, and nothing else on the line. */
import { count, newTally, type Runner, resultOf } from "./runner.ts";

export const plain: Runner = {
  name: "plain",
  marks: "0123456789",
  start() {
    const tally = newTally();
    return {
      line(text) {
        const found =
          /^(\d{1,9})(?: tests?)? passed, (\d{1,9})(?: tests?)? failed(?:, (\d{1,9})(?: tests?)? skipped)?\.?$/u.exec(
            text,
          );
        if (!found) return;
        const [passed = 0, failed = 0, skipped = 0] = found
          .slice(1)
          .map((each) => Number(each ?? 0));
        count(tally, { passed, failed, skipped });
      },
      result: () => resultOf("plain", tally),
    };
  },
};
