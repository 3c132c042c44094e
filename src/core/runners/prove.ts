/** `Files=2, Tests=5, …`, then `Result: FAIL`; before that a line for each file that failed. */
import { addFailure, count, mostFailures, newTally, type Runner, resultOf } from "./runner.ts";

export const prove: Runner = {
  name: "prove",
  marks: "#FRT(",
  start() {
    const tally = newTally();
    let isSummary = false;
    let failed = 0;
    let skipped = 0;
    let brokenFiles = 0;
    let tests: number | undefined;
    /** Of tests and, further in, of those below them; only the outermost count. */
    let found: { indent: number; name: string; file: string; line: number }[] = [];
    let name: string | undefined;
    return {
      get isOpen() {
        return isSummary;
      },
      line(text, indent) {
        if (text.startsWith("#")) takeComment(text, indent);
        else if (text.startsWith("(less ")) {
          skipped += Number(/^\(less (\d+) skipped subtests?:/u.exec(text)?.[1] ?? 0);
        } else if (text === "Test Summary Report") isSummary = true;
        else if (text.startsWith("Files=")) {
          const found = /^Files=\d+, Tests=(\d{1,9}), /u.exec(text);
          if (found) tests = Number(found[1]);
        } else if (tests !== undefined && /^Result: (?:PASS|FAIL|NOTESTS)$/u.test(text)) {
          const passed = tests - failed - skipped;
          count(tally, { passed, failed: failed + brokenFiles, skipped });
          const outermost = Math.min(...found.map(({ indent: each }) => each));
          for (const each of found) {
            if (each.indent === outermost) addFailure(tally, each.name, each.file, each.line);
          }
          found = [];
          tests = undefined;
          isSummary = false;
          failed = skipped = brokenFiles = 0;
        } else if (isSummary) takeFile(text);
      },
      result: () => resultOf("prove", tally),
    };

    function takeFile(text: string): void {
      const found = /^(\S+) +\(Wstat: .+ Tests: \d+ Failed: (\d+)\)$/u.exec(text);
      if (!found?.[1]) return;
      failed += Number(found[2]);
      // A file that ended before its time has failed, whatever its tests said.
      if (Number(found[2]) > 0) return;
      brokenFiles++;
      addFailure(tally, found[1], found[1]);
    }

    function takeComment(text: string, indent: number): void {
      name = /^# +Failed test '(.+)'$/u.exec(text)?.[1] ?? name;
      const place = /^# +at (.+) line (\d+)\.$/u.exec(text);
      if (name === undefined || !place?.[1]) return;
      found.push({ indent, name, file: place[1], line: Number(place[2]) });
      // The outermost are told last.
      found = found.slice(-2 * mostFailures);
      name = undefined;
    }
  },
};
