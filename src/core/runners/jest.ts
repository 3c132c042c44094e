/** `Test Suites: 1 failed, 1 total`, then `Tests: 2 failed, 1 passed, 3 total`. */
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

export const jest: Runner = {
  name: "jest",
  marks: "FPTN●",
  start() {
    const tally = newTally();
    let file: string | undefined;
    let unplaced: FoundFailure | undefined;
    let isSummary = false;
    let brokenSuites = 0;
    return {
      get isOpen() {
        return unplaced !== undefined;
      },
      line(text) {
        if (unplaced) {
          const place = placeIn(text);
          if (place && text.startsWith("at ") && takePlace(unplaced, place)) unplaced = undefined;
        }
        if (text.startsWith("FAIL ")) file = fileHeading.exec(text)?.[1];
        else if (text.startsWith("PASS ")) file = undefined;
        else if (text.startsWith("● ") && file !== undefined) {
          const name = text.slice(2);
          if (name === "Console") return;
          const before = tally.failures.length;
          const isBroken = name === "Test suite failed to run";
          unplaced = addFailure(tally, isBroken ? file : name, file);
          if (isBroken && tally.failures.length > before) brokenSuites++;
        } else if (text.startsWith("Test Suites: ")) {
          isSummary = text.endsWith(" total");
          unplaced = undefined;
          file = undefined;
        } else if (isSummary && text.startsWith("Tests: ")) {
          const counts = countsIn(text.slice("Tests: ".length));
          const total = counts?.get("total");
          if (!counts || total === undefined) return;
          isSummary = false;
          // A file that could not be loaded has failed, though none of its tests has.
          count(tally, {
            passed: sumOf(counts, "passed"),
            failed: sumOf(counts, "failed") + brokenSuites,
            skipped: sumOf(counts, "skipped", "pending", "todo"),
          });
          brokenSuites = 0;
        } else if (text.startsWith("No tests found, exiting with code ")) count(tally, {});
      },
      result: () => resultOf("jest", tally),
    };
  },
};

const fileHeading = /^FAIL +(?:\S+ +)?(\S+\.[cm]?[jt]sx?)(?: \(.*\))?$/u;
