/**
 * After a line with a single `─`: `  2 tests passed`, or, when some failed, how many did and not how
 * many passed; so the ticks are counted.
 */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const ava: Runner = {
  name: "ava",
  marks: "✔✘─-0123456789",
  start() {
    const tally = newTally();
    let ticks = 0;
    let names: FoundFailure[] = [];
    let unplaced: FoundFailure | undefined;
    let isEnd = false;
    return {
      get isOpen() {
        return names.length > 0;
      },
      line(text, indent) {
        if (text === "─") {
          isEnd = true;
          unplaced = undefined;
        } else if (text.startsWith("✔ ")) {
          isEnd = false;
          // A known failure is no test that passed.
          if (indent >= 2 && !text.startsWith("✔ [expected fail] ")) ticks++;
        } else if (text.startsWith("✘ ")) takeFailure(text);
        else if (isEnd && takeCount(text)) unplaced = undefined;
        else if (names.length > 0) takeDetail(text);
      },
      result: () => resultOf("ava", tally),
    };

    function takeFailure(text: string): void {
      isEnd = false;
      const name = /^✘ \[fail\]: (.+?)(?: Error thrown in test)?$/u.exec(text)?.[1];
      if (name !== undefined) names.push(addFailure(tally, name));
      else if (noTests.test(text)) count(tally, {});
      else {
        const file = /^✘ (\S+) exited (?:with a non-zero exit code|due to)/u.exec(text)?.[1];
        if (file !== undefined) addFailure(tally, file, file);
      }
      names = names.slice(-mostNames);
    }

    function takeCount(text: string): boolean {
      const found = summaryLine.exec(text);
      if (!found?.[2]) return false;
      const number = Number(found[1]);
      const isFailed = found[2].endsWith(" failed");
      if (found[2].endsWith(" passed")) count(tally, { passed: number });
      else if (isFailed || found[2].startsWith("un")) count(tally, { failed: number });
      else count(tally, { skipped: number });
      if (isFailed) count(tally, { passed: ticks });
      ticks = 0;
      return true;
    }

    /** A failure's name stands alone on a line before its place. */
    function takeDetail(text: string): void {
      const named = names.find(({ name }) => name === text);
      if (named) {
        unplaced = named;
        return;
      }
      const place = unplaced ? placeIn(text) : undefined;
      if (unplaced && place && takePlace(unplaced, place)) unplaced = undefined;
    }
  },
};

const noTests =
  /^✘ (?:No tests found|Couldn[’']t find any files|Based on your configuration, \d+ test files? w)/u;
const mostNames = 50;
const summaryLine =
  /^(\d{1,9}) (tests? (?:passed|failed|skipped|todo)|known failures?|uncaught exceptions?|unhandled rejections?)$/u;
