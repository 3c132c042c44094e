/** `running 4 tests from ./a_test.ts` …, then `FAILED | 1 passed | 2 failed | 1 ignored (40ms)`. */
import { plainFile } from "./place.ts";
import { addFailure, type Counts, count, newTally, type Runner, resultOf } from "./runner.ts";

export const denoTest: Runner = {
  name: "deno test",
  marks: "oFre-",
  start() {
    const tally = newTally();
    let isOutput = false;
    let isFailures = false;
    return {
      get isOpen() {
        return isFailures;
      },
      line(text) {
        if (text === "------- output -------") isOutput = true;
        else if (text === "----- output end -----") isOutput = false;
        else if (isOutput) return;
        else if (text === "FAILURES") isFailures = true;
        else if (text === "error: No test modules found") count(tally, {});
        else {
          const counts = readSummary(text);
          if (counts) {
            count(tally, counts);
            isFailures = false;
          } else if (isFailures) {
            const found = /^(.+) => (\S+):(\d+):\d+$/u.exec(text);
            if (found?.[1])
              addFailure(tally, found[1], plainFile(found[2] ?? ""), Number(found[3]));
          }
        }
      },
      result: () => resultOf("deno test", tally),
    };
  },
};

function readSummary(text: string): Counts | undefined {
  const found =
    /^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \([^)]*\))?((?: \| \d+ [a-z ]+(?: \([^)]*\))?)*) \([\dms .]+\)$/u.exec(
      text,
    );
  if (!found) return undefined;
  const ignored = /\| (\d+) ignored/u.exec(found[3] ?? "")?.[1] ?? 0;
  return { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(ignored) };
}
