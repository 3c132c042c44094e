/** `Test run finished after 724 ms`, then a line in brackets for each count. */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const junitConsole: Runner = {
  name: "junit",
  marks: "FT[J",
  start() {
    const tally = newTally();
    let isFailures = false;
    /** The class of the test that failed, without those it is nested in. */
    let owner: string | undefined;
    let unplaced: FoundFailure | undefined;
    let counts: Map<string, number> | undefined;
    return {
      get isOpen() {
        return isFailures;
      },
      line(text) {
        if (/^Failures \(\d+\):$/u.test(text)) isFailures = true;
        else if (/^Test run finished after \d+ ms$/u.test(text)) {
          isFailures = false;
          unplaced = undefined;
          counts = new Map();
        } else if (counts) takeCount(counts, text);
        else if (isFailures) takeFailure(text);
      },
      result: () => resultOf("junit", tally),
    };

    function takeCount(counted: Map<string, number>, text: string): void {
      const found = /^\[ +(\d{1,9}) (tests|containers) (\w+) +\]$/u.exec(text);
      if (!found?.[2]) return;
      counted.set(`${found[2]} ${found[3]}`, Number(found[1]));
      if (found[2] !== "tests" || found[3] !== "failed") return;
      const of = (word: string): number => counted.get(word) ?? 0;
      // A class whose set-up failed has failed, though none of its tests has.
      count(tally, {
        passed: of("tests successful"),
        failed: of("tests failed") + of("containers failed"),
        skipped: of("tests skipped") + of("tests aborted"),
      });
      counts = undefined;
    }

    function takeFailure(text: string): void {
      const name = /^JUnit \w+:(.+)$/u.exec(text)?.[1];
      const source = /^\w+Source \[className = '([^']+)'/u.exec(text)?.[1];
      if (name !== undefined) {
        unplaced = addFailure(tally, name.replaceAll(":", " > "));
        owner = undefined;
      } else if (source !== undefined) owner = source.split(".").at(-1)?.split("$")[0];
      else if (unplaced && owner !== undefined) {
        const place = placeIn(text);
        if (place?.file.replace(/\.\w+$/u, "") !== owner) return;
        if (takePlace(unplaced, place)) unplaced = undefined;
      }
    }
  },
};
