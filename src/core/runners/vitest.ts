/** `Test Files  1 failed | 1 passed (2)`, then `Tests  2 failed | 2 passed (4)`. */
import { placeIn, takePlace } from "./place.ts";
import {
  addFailure,
  count,
  countsIn,
  type FoundFailure,
  newTally,
  type Runner,
  resultOf,
  sumOf,
} from "./runner.ts";

export const vitest: Runner = {
  name: "vitest",
  marks: "FTEN⎯",
  start() {
    const tally = newTally();
    /** Several failures may share one error. */
    let unplaced: FoundFailure[] = [];
    let isPlaced = false;
    let brokenSuites = 0;
    let summary: "files" | "tests" | undefined;
    return {
      get isOpen() {
        return unplaced.length > 0;
      },
      line(text) {
        if (text.startsWith("FAIL ")) {
          const found = failureHeading.exec(text);
          if (!found?.[1]) return;
          if (isPlaced) unplaced = [];
          isPlaced = false;
          unplaced.push(addFailure(tally, found[2] ?? found[1], found[1]));
        } else if (text.startsWith("❯ ") || text.startsWith("File: ")) {
          const place = placeIn(text);
          if (!place) return;
          isPlaced = true;
          unplaced = unplaced.filter((failure) => !takePlace(failure, place));
        } else if (text.startsWith("⎯")) {
          const broken = /^⎯+ Failed Suites (\d+) ⎯+$/u.exec(text)?.[1];
          if (broken) brokenSuites += Number(broken);
          unplaced = [];
        } else if (text.startsWith("Test Files ")) {
          if (/ \(\d+\)$| no tests$/u.test(text)) summary = "files";
          unplaced = [];
        } else if (summary === "files" && /^Tests {2}\S/u.test(text)) {
          summary = "tests";
          // A file that could not be loaded has failed, though none of its tests has.
          const counts = countsIn(text.slice("Tests".length).replace(/\(\d+\)$/u, "")) ?? new Map();
          count(tally, {
            passed: sumOf(counts, "passed"),
            failed: sumOf(counts, "failed") + brokenSuites,
            skipped: sumOf(counts, "skipped", "todo", "expected fail"),
          });
          brokenSuites = 0;
        } else if (summary === "tests" && /^Errors {2}\d+ errors?$/u.test(text)) {
          summary = undefined;
          count(tally, { failed: Number(/\d+/u.exec(text)?.[0]) });
        } else if (/^No test files found, exiting with code \d/u.test(text)) count(tally, {});
      },
      result: () => resultOf("vitest", tally),
    };
  },
};

/** `FAIL  |unit| src/a.test.ts > adds > up`, or `FAIL  src/a.test.ts [ src/a.test.ts ]`. */
const failureHeading = /^FAIL +(?:\|[^|]+\| )?(\S+)(?: > (.+)| \[ .+ \])$/u;
