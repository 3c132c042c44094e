/** A line of dashes, `Ran 4 tests in 0.001s`, then `OK` or `FAILED`, with the counts behind it. */
import { isForeign, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const unittest: Runner = {
  name: "unittest",
  marks: "-=RONFEU",
  start() {
    const tally = newTally();
    let isRuled = false;
    let isFailures = false;
    let ran: number | undefined;
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return unplaced !== undefined;
      },
      line(text) {
        if (/^-{70}$/u.test(text)) isRuled = true;
        else if (/^={70}$/u.test(text)) isFailures = true;
        else if (isRuled && text.startsWith("Ran ")) {
          const tests = /^Ran (\d{1,9}) tests? in \d+\.\d{3}s$/u.exec(text)?.[1];
          if (tests !== undefined) ran = Number(tests);
          unplaced = undefined;
        } else if (ran !== undefined && endLine.test(text)) {
          const of = (word: string): number =>
            Number(new RegExp(`(?:\\(|, )${word}=(\\d+)`, "u").exec(text)?.[1] ?? 0);
          // What was expected to fail and did not has failed, as Python itself says.
          const failed = of("failures") + of("errors") + of("unexpected successes");
          const skipped = of("skipped") + of("expected failures");
          count(tally, { passed: ran - failed - skipped, failed, skipped });
          ran = undefined;
          isFailures = isRuled = false;
        } else if (isFailures && headingLine.test(text)) {
          const [, name = "", test = "", more = ""] = headingLine.exec(text) ?? [];
          // Since 3.11 the dotted name ends with the method's own.
          unplaced = addFailure(
            tally,
            `${test.endsWith(`.${name}`) ? test : `${test}.${name}`}${more}`,
          );
          isFailures = false;
        } else if (unplaced) {
          const found = /^File "([^"]+)", line (\d+)/u.exec(text);
          if (!found?.[1] || isForeign(found[1])) return;
          if (takePlace(unplaced, { file: found[1], line: Number(found[2]) })) unplaced = undefined;
        }
      },
      result: () => resultOf("unittest", tally),
    };
  },
};

const endLine = /^(?:OK|FAILED|NO TESTS RAN)(?: \([a-z ]+=\d+(?:, [a-z ]+=\d+)*\))?$/u;
const headingLine = /^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \((\S+)\)(.*)$/u;
