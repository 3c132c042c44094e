/**
 * `Failed!  - Failed: 1, Passed: 3, Skipped: 1, Total: 5, Duration: …` for each assembly, or the
 * longer block that begins with `Total tests: 5`, or the newer `Test summary: total: 5, failed: 1`.
 */
import { plainFile, takePlace } from "./place.ts";
import { addFailure, count, type FoundFailure, newTally, type Runner, resultOf } from "./runner.ts";

export const dotnetTest: Runner = {
  name: "dotnet test",
  marks: "FPSTNf",
  start() {
    const tally = newTally();
    let block: Map<string, number> | undefined;
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return unplaced !== undefined;
      },
      line(text) {
        const assembly = assemblyLine.exec(text) ?? summaryLine.exec(text);
        if (assembly?.groups) {
          const { passed, failed, skipped } = assembly.groups;
          unplaced = undefined;
          return count(tally, {
            passed: Number(passed),
            failed: Number(failed),
            skipped: Number(skipped),
          });
        }
        const part = /^(Total tests|Passed|Failed|Skipped|Total time): +([\d.]+)/u.exec(text);
        if (part?.[1]) takePart(part[1], Number(part[2]));
        else if (/^No test (?:is available in|matches the given testcase filter)/u.test(text)) {
          count(tally, {});
        } else takeFailure(text);
      },
      result: () => resultOf("dotnet test", tally),
    };

    function takePart(word: string, number: number): void {
      if (word === "Total tests") block = new Map();
      else if (word !== "Total time") block?.set(word, number);
      else if (block) {
        count(tally, {
          passed: block.get("Passed") ?? 0,
          failed: block.get("Failed") ?? 0,
          skipped: block.get("Skipped") ?? 0,
        });
        block = unplaced = undefined;
      }
    }

    function takeFailure(text: string): void {
      const name =
        /^Failed (\S.*?) \[(?:< )?[\d.,]+ ?(?:ms|s|m|h)(?: \d+ ?\w+)*\]$/u.exec(text)?.[1] ??
        /^failed (\S.*?) \([\d.]+(?:ms|s|m|h)(?: \d+\w+)*\)$/u.exec(text)?.[1];
      if (name !== undefined) unplaced = addFailure(tally, name);
      else if (unplaced) {
        const found = / in (.+):line (\d+)$/u.exec(text);
        const place = { file: plainFile(found?.[1] ?? ""), line: Number(found?.[2]) };
        if (found && takePlace(unplaced, place)) unplaced = undefined;
      }
    }
  },
};

const assemblyLine =
  /^(?:Passed|Failed|Skipped)! +- Failed: +(?<failed>\d+), Passed: +(?<passed>\d+), Skipped: +(?<skipped>\d+), Total: +\d+, Duration: /u;
const summaryLine =
  /^Test summary: total: \d+, failed: (?<failed>\d+), succeeded: (?<passed>\d+), skipped: (?<skipped>\d+), duration: /u;
