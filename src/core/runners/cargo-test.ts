/**
 * `running 3 tests` … `test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out`,
 * once for each test program; and nextest, which runs those programs itself and shows what they say.
 */
import { placeIn, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const cargoTest: Runner = {
  name: "cargo test",
  marks: "rt-eSFTN",
  start() {
    const tally = newTally();
    const nextest = newTally();
    let running: number | undefined;
    let unplaced: FoundFailure | undefined;
    /** Said on the other stream, it may come before the last words of the program itself. */
    let aborted: string | undefined;
    const settle = (): void => {
      if (aborted === undefined) return;
      // The program ended before it could say how: aborted, or killed.
      addFailure(tally, aborted);
      count(tally, { failed: 1 });
      aborted = running = undefined;
    };
    return {
      get isOpen() {
        return unplaced !== undefined;
      },
      line(text) {
        if (text.startsWith("running ")) {
          const tests = /^running (\d{1,9}) tests?$/u.exec(text)?.[1];
          if (tests === undefined) return;
          settle();
          running = Number(tests);
        } else if (text.startsWith("test result: ")) {
          const found = resultLine.exec(text);
          if (!found) return;
          const [passed = 0, failed = 0, ignored = 0, measured = 0] = found.slice(1).map(Number);
          if (passed + failed + ignored + measured !== running) return;
          count(tally, { passed: passed + measured, failed, skipped: ignored });
          running = unplaced = aborted = undefined;
        } else if (text.startsWith("---- ")) {
          const name = /^---- (.+) stdout ----$/u.exec(text)?.[1];
          if (name !== undefined) unplaced = addFailure(tally, name);
        } else if (unplaced && text.includes("panicked at ")) {
          const place = placeIn(text);
          if (place && takePlace(unplaced, place)) unplaced = undefined;
        } else if (text.startsWith("error: test failed, to rerun pass ") && running !== undefined) {
          aborted = text.slice("error: test failed, to rerun pass ".length);
        } else takeNextest(text);
      },
      result() {
        settle();
        return resultOf("nextest", nextest) ?? resultOf("cargo test", tally);
      },
    };

    function takeNextest(text: string): void {
      if (text.startsWith("Summary [")) {
        const found = nextestSummary.exec(text);
        if (!found) return;
        const failed = Number(found[2] ?? 0) + Number(found[3] ?? 0) + Number(found[4] ?? 0);
        count(nextest, { passed: Number(found[1]), failed, skipped: Number(found[5] ?? 0) });
        const places = new Map(tally.failures.map((each) => [each.name, each]));
        for (const failure of nextest.failures) {
          const place = places.get(failure.name.split(" ").at(-1) ?? "");
          if (place?.file !== undefined) failure.file ??= place.file;
          if (place?.line !== undefined) failure.line ??= place.line;
        }
      } else if (nextestFailure.test(text)) {
        const name = nextestFailure.exec(text)?.[1];
        if (name !== undefined) addFailure(nextest, name);
      } else if (text === "error: no tests to run") count(nextest, {});
    }
  },
};

const resultLine =
  /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured; \d+ filtered out/u;
const nextestSummary =
  /^Summary \[ *[\d.]+s\] (?:\d+\/)?\d+ tests? run: (\d+) passed(?: \([^)]*\))?(?:, (\d+) failed)?(?:, (\d+) exec failed)?(?:, (\d+) timed out)?(?:, (\d+) skipped)?$/u;
const nextestFailure = /^(?:FAIL|SIG\w+|TIMEOUT) \[ *[\d.]+s\] (?:\( *\d+\/\d+\) )?(.+)$/u;
