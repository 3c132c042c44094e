/** `==== 3 failed, 1 passed in 0.04s ====`, or the same without the bars (`-q`). */
import { placeIn, plainFile } from "./place.ts";
import {
  addFailure,
  type Counts,
  count,
  countsIn,
  mostFailures,
  newTally,
  type Runner,
  resultOf,
  sumOf,
} from "./runner.ts";

export const pytest: Runner = {
  name: "pytest",
  marks: "=_0123456789nFE",
  start() {
    const tally = newTally();
    /** Of a session that has a beginning, the last summary counts: tests may print others. */
    let isSession = false;
    let last: Counts | undefined;
    let part: "tracebacks" | "names" | undefined;
    /** Where the tests failed, by the heading over their traceback. */
    const lines = new Map<string, number>();
    let heading: string | undefined;
    return {
      get isOpen() {
        return heading !== undefined;
      },
      line(text) {
        if (text.startsWith("=")) {
          const banner = /^=+ (.+?) =+$/u.exec(text)?.[1];
          if (banner === undefined) return;
          if (banner === "test session starts") {
            settle();
            isSession = true;
            part = undefined;
          } else if (banner === "FAILURES" || banner === "ERRORS") part = "tracebacks";
          else if (banner === "short test summary info") part = "names";
          else takeSummary(banner);
          heading = undefined;
          return;
        }
        const counts = part === "tracebacks" ? undefined : readSummary(text);
        if (counts && !isSession) {
          count(tally, counts);
          part = undefined;
        } else if (part === "names") takeName(text);
        else if (part === "tracebacks" && text.startsWith("_")) {
          heading = /^_{2,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{2,}$/u.exec(text)?.[1];
        } else if (heading !== undefined) {
          const place = placeIn(text);
          // The test's own frame comes before those that it calls.
          if (place && /:\d+: /u.test(text) && lines.size < mostFailures && !lines.has(heading)) {
            lines.set(heading, place.line);
          }
        }
      },
      result() {
        settle();
        return resultOf("pytest", tally);
      },
    };

    function takeSummary(banner: string): void {
      const counts = readSummary(banner);
      if (!counts) return;
      if (isSession) last = counts;
      else count(tally, counts);
    }

    function takeName(text: string): void {
      const found = /^(?:FAILED|ERROR) (\S+?\.\w+)(?:::(.+?))?(?: - .*)?$/u.exec(text);
      if (!found?.[1]) return;
      const file = plainFile(found[1]);
      const name = found[2] ?? file;
      addFailure(tally, name, file, lines.get(name.replaceAll("::", ".")));
    }

    function settle(): void {
      if (last) count(tally, last);
      last = undefined;
      isSession = false;
      lines.clear();
    }
  },
};

function readSummary(text: string): Counts | undefined {
  const said = /^(.+) in \d+\.\d\ds(?: \(\d+(?: days?, \d+)?:\d\d:\d\d\))?$/u.exec(text)?.[1];
  if (said === undefined) return undefined;
  if (said === "no tests ran") return { passed: 0, failed: 0, skipped: 0 };
  const counts = countsIn(said);
  if (!counts || ![...counts.keys()].every((word) => words.has(word))) return undefined;
  return {
    passed: sumOf(counts, "passed", "xpassed"),
    failed: sumOf(counts, "failed", "error", "errors"),
    skipped: sumOf(counts, "skipped", "xfailed"),
  };
}

const words = new Set(
  "passed failed error errors skipped xfailed xpassed deselected warning warnings rerun".split(" "),
);
words.add("subtests passed").add("subtests failed").add("subtests skipped");
