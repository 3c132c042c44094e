/** ` 3 pass`, ` 1 skip`, ` 2 fail`, then `Ran 6 tests across 2 files. [12.00ms]`. */
import { type Place, placeIn, plainFile } from "./place.ts";
import { addFailure, count, newTally, type Runner, resultOf } from "./runner.ts";

export const bunTest: Runner = {
  name: "bun test",
  marks: "0123456789R(abNe",
  start() {
    const tally = newTally();
    let counts = new Map<string, number>();
    let file: string | undefined;
    /** Told before the name. */
    let place: Place | undefined;
    let isBegun = false;
    return {
      get isOpen() {
        return isBegun;
      },
      line(text) {
        const number = /^(\d{1,9}) (pass|fail|skip|todo|errors?)$/u.exec(text);
        if (number?.[2]) counts.set(number[2], Number(number[1]));
        else if (/^bun test v\d/u.test(text)) isBegun = true;
        else if (/^Ran \d+ tests? across \d+ files?\. /u.test(text) && counts.size > 0) {
          const of = (word: string): number => counts.get(word) ?? 0;
          count(tally, {
            passed: of("pass"),
            failed: of("fail") + of("error") + of("errors"),
            skipped: of("skip") + of("todo"),
          });
          counts = new Map();
          isBegun = false;
        } else if (/^No tests found!|^error: 0 test files matching /u.test(text)) count(tally, {});
        else if (text.startsWith("(fail) ")) {
          const name = text.slice("(fail) ".length).replace(/ \[[\d.]+m?s\]$/u, "");
          addFailure(tally, name, place?.file ?? file, place?.line);
          place = undefined;
        } else if (/^\S+\.[cm]?[jt]sx?:$/u.test(text)) file = plainFile(text.slice(0, -1));
        else if (text.startsWith("at ")) place ??= placeIn(text);
      },
      result: () => resultOf("bun test", tally),
    };
  },
};
