/** `Finished in 0.02 seconds (…)`, then `4 examples, 2 failures, 1 pending`. */
import { plainFile } from "./place.ts";
import { addFailure, count, newTally, type Runner, resultOf } from "./runner.ts";

export const rspec: Runner = {
  name: "rspec",
  marks: "F0123456789rA",
  start() {
    const tally = newTally();
    let isFinished = false;
    return {
      line(text) {
        if (/^Finished in .*\d (?:second|minute)s?(?: |$)/u.test(text)) isFinished = true;
        else if (isFinished && exampleCounts.test(text)) {
          const [examples = 0, failed = 0, pending = 0, errors = 0] = (
            exampleCounts.exec(text)?.slice(1) ?? []
          ).map((each) => Number(each ?? 0));
          isFinished = false;
          // A file that could not be loaded has failed, though none of its examples has.
          count(tally, {
            passed: examples - failed - pending,
            failed: failed + errors,
            skipped: pending,
          });
        } else if (text.startsWith("An error occurred while loading ")) {
          const file = plainFile(text.slice("An error occurred while loading ".length, -1));
          addFailure(tally, file, file);
        } else if (text.startsWith("rspec ")) {
          const found = /^rspec (\S+?)(?::(\d+)|\[[\d:,]+\]) # (.+)$/u.exec(text);
          if (!found?.[1] || !found[3]) return;
          const line = found[2] === undefined ? undefined : Number(found[2]);
          addFailure(tally, found[3], plainFile(found[1]), line);
        }
      },
      result: () => resultOf("rspec", tally),
    };
  },
};

const exampleCounts =
  /^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred outside of examples)?$/u;
