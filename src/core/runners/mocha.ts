/** `  2 passing (4ms)`, `  1 pending`, `  1 failing`, then the failures, numbered. */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const mocha: Runner = {
  name: "mocha",
  marks: "0123456789E",
  start() {
    const tally = newTally();
    let isSummary = false;
    /** Failures that are still to be told. */
    let told = 0;
    let failing = 0;
    let title: string[] | undefined;
    let titleIndent = 0;
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return title !== undefined || unplaced !== undefined;
      },
      line(text, indent) {
        const passing = indent >= 2 ? passingLine.exec(text)?.[1] : undefined;
        if (passing !== undefined) {
          isSummary = true;
          told = failing = 0;
          title = unplaced = undefined;
          count(tally, { passed: Number(passing) });
          return;
        }
        if (isSummary && indent >= 2) {
          const found = /^(\d{1,9}) (pending|failing)$/u.exec(text);
          if (found?.[2] === "pending") return count(tally, { skipped: Number(found[1]) });
          if (found) {
            isSummary = false;
            failing = Number(found[1]);
            return count(tally, { failed: failing });
          }
        }
        const heading = told < failing ? /^(\d+)\) (.+)$/u.exec(text) : undefined;
        if (heading?.[2] && Number(heading[1]) === told + 1) {
          told++;
          title = [];
          titleIndent = indent;
          unplaced = undefined;
          takeTitle(heading[2]);
        } else if (title) {
          // The parts stand further in each; what does not is somebody's log.
          if (indent > titleIndent) takeTitle(text);
        } else if (unplaced) {
          const place = placeIn(text);
          if (place && takePlace(unplaced, place)) unplaced = undefined;
        } else if (text.startsWith("Error: No test files found")) count(tally, {});
      },
      result: () => resultOf("mocha", tally),
    };

    /** One part a line, the last with a colon. */
    function takeTitle(part: string): void {
      title?.push(part.replace(/:$/u, ""));
      if (!part.endsWith(":") && (title?.length ?? 0) < mostParts) return;
      unplaced = addFailure(tally, (title ?? []).join(" > "));
      title = undefined;
    }
  },
};

const passingLine = /^(\d{1,9}) passing \(\d+(?:ms|s|m|h|d)\)$/u;
const mostParts = 20;
