/**
 * Node's own runner as it speaks to people: `ℹ tests 4`, `ℹ pass 2` … `ℹ duration_ms 12`. As TAP it
 * is read in tap.ts.
 */

import { plainFile } from "./place.ts";
import { addFailure, type Counts, count, newTally, type Runner, resultOf } from "./runner.ts";

export const nodeTest: Runner = {
  name: "node:test",
  marks: "ℹ✖✔t",
  start() {
    const tally = newTally();
    const summary = createNodeSummary();
    let isFailures = false;
    let place: { file: string; line: number } | undefined;
    /** Since the last summary; they stand as far in as the summary does. */
    let emptyFiles = { indent: 0, number: 0 };
    return {
      line(text, indent) {
        if (text.startsWith("ℹ ")) {
          const counts = summary.take(text.slice(2));
          if (!counts) return;
          const empty = emptyFiles.indent === indent ? emptyFiles.number : 0;
          count(tally, { ...counts, passed: counts.passed - empty });
          emptyFiles = { indent: 0, number: 0 };
          isFailures = false;
        } else if (text.startsWith("✔ ")) {
          if (!isEmptyFile(nameIn(text))) return;
          const before = emptyFiles.indent === indent ? emptyFiles.number : 0;
          emptyFiles = { indent, number: before + 1 };
        } else if (text === "✖ failing tests:") isFailures = true;
        else if (!isFailures) return;
        else if (text.startsWith("test at ")) {
          const found = /^test at (.+?):(\d+):\d+$/u.exec(text);
          place = found?.[1] ? { file: plainFile(found[1]), line: Number(found[2]) } : undefined;
        } else if (text.startsWith("✖ ") && place) {
          addFailure(tally, nameIn(text), place.file, place.line);
          place = undefined;
        }
      },
      result: () => resultOf("node:test", tally),
    };
  },
};

/** A file without any test is told as a test that passed, named by its path. */
export const isEmptyFile = (name: string): boolean =>
  /\.[cm]?[jt]sx?$/u.test(name) &&
  (/^(?:\/|[A-Za-z]:\\)/u.test(name) ||
    /(?:^|[\\/])(?:test[\\/].*|test-[^\\/]+|test|[^\\/]+[._-]test)\.\w+$/u.test(name));

/** Without the mark before it, and the time and the directive behind it. */
const nameIn = (text: string): string => text.slice(2).replace(/ \([\d.]+ms\)(?: # .*)?$/u, "");

const words = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];

/** Believed when all of its lines came in their order and add up; said at the last of them. */
export function createNodeSummary(): { take(line: string): Counts | undefined } {
  let said: number[] = [];
  return {
    take(line) {
      const found = /^([a-z_]+) (\d+(?:\.\d+)?)$/u.exec(line);
      if (!found) return undefined;
      if (found[1] === "tests") said = [];
      if (found[1] === words[said.length]) {
        said.push(Number(found[2]));
        return undefined;
      }
      if (found[1] !== "duration_ms" || said.length !== words.length) return undefined;
      const [tests = 0, , pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0] = said;
      said = [];
      if (tests !== pass + fail + cancelled + skipped + todo) return undefined;
      return { passed: pass, failed: fail + cancelled, skipped: skipped + todo };
    },
  };
}
