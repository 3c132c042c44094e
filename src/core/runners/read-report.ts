/**
 * Counts and failures out of whatever a gate printed: no runner is configured, each is recognised
 * by its own summary. Memory does not grow with the output: readings have limits, and so has the
 * number of packages whose lines are told apart.
 */
import type { ReportReader, TestFailure, TestReport } from "../test-report.ts";
import { ava } from "./ava.ts";
import { bunTest } from "./bun-test.ts";
import { cargoTest } from "./cargo-test.ts";
import { cleanLine, originOf } from "./clean-line.ts";
import { coverageMarks, createCoverageReading } from "./coverage.ts";
import { ctest } from "./ctest.ts";
import { denoTest } from "./deno-test.ts";
import { dotnetTest } from "./dotnet-test.ts";
import { goTest } from "./go-test.ts";
import { gradle } from "./gradle.ts";
import { jest } from "./jest.ts";
import { junitConsole } from "./junit-console.ts";
import { minitest } from "./minitest.ts";
import { mocha } from "./mocha.ts";
import { nodeTest } from "./node-test.ts";
import { phpunit } from "./phpunit.ts";
import { plain } from "./plain.ts";
import { playwright } from "./playwright.ts";
import { prove } from "./prove.ts";
import { pytest } from "./pytest.ts";
import { rspec } from "./rspec.ts";
import { mostFailures, type Reading, type Runner, type RunnerResult } from "./runner.ts";
import { surefire } from "./surefire.ts";
import { tap } from "./tap.ts";
import { unittest } from "./unittest.ts";
import { vitest } from "./vitest.ts";

/** At most 30: one bit each, and one for coverage. */
const runners: readonly Runner[] = [
  jest,
  vitest,
  mocha,
  nodeTest,
  ava,
  playwright,
  bunTest,
  denoTest,
  pytest,
  unittest,
  goTest,
  cargoTest,
  surefire,
  gradle,
  junitConsole,
  dotnetTest,
  rspec,
  minitest,
  phpunit,
  ctest,
  prove,
  tap,
  plain,
];

/** Packages whose lines are told apart; the lines of all further ones are read as one output. */
const mostOrigins = 64;

/**
 * `root` is the project's folder: places below it are told from there. Without it, a runner that
 * writes whole paths is quoted as it is.
 */
export function createReportReader(root = ""): ReportReader {
  const origins = new Map<string, Origin>([["", newOrigin()]]);
  const coverage = createCoverageReading();
  return {
    line(raw) {
      const text = cleanLine(raw);
      const { from, at } = originOf(text);
      const begin = skipBlanks(text, at);
      if (begin === text.length) return;
      const interested = interests.get(text.charCodeAt(begin)) ?? 0;
      const origin = origins.get(from) ?? (interested === 0 ? undefined : welcome(from));
      const bits = interested | (origin?.open ?? 0);
      if (!origin || bits === 0) return;
      const own = text.slice(begin).trimEnd();
      if (bits & coverageBit) coverage.line(own);
      for (let each = 0; each < runners.length; each++) {
        const reading = bits & (1 << each) ? origin.readings[each] : undefined;
        if (!reading) continue;
        reading.line(own, begin - at);
        if (reading.isOpen) origin.open |= 1 << each;
        else origin.open &= ~(1 << each);
      }
    },
    report() {
      const results = [...origins.values()].flatMap(({ readings }) => believed(readings));
      return together(results, coverage.percent(), root);
    },
  };

  function welcome(from: string): Origin {
    // A single word before a colon is more often a log's than a package's: half of the places.
    const most = /^[\w.-]+:$/u.test(from) ? mostOrigins / 2 : mostOrigins;
    const name = origins.size < most ? from : "…";
    const origin = origins.get(name) ?? newOrigin();
    origins.set(name, origin);
    return origin;
  }
}

interface Origin {
  readonly readings: readonly Reading[];
  /** A bit for each reading that has to see every line now. */
  open: number;
}

const newOrigin = (): Origin => ({ readings: runners.map((runner) => runner.start()), open: 0 });

const coverageBit = 1 << runners.length;

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === " " || text[at] === "\t")) at++;
  return at;
}

/** By first character: a bit for each runner that looks for such lines. */
const interests: ReadonlyMap<number, number> = (() => {
  const bits = new Map<number, number>();
  const marks = [...runners.map((runner) => runner.marks), coverageMarks];
  for (const [index, each] of marks.entries()) {
    for (let at = 0; at < each.length; at++) {
      const code = each.charCodeAt(at);
      bits.set(code, (bits.get(code) ?? 0) | (1 << index));
    }
  }
  return bits;
})();

/** `prove` shows the lines that it has counted itself. */
function believed(readings: readonly Reading[]): RunnerResult[] {
  const results = readings.flatMap((reading) => reading.result() ?? []);
  const isProved = results.some(({ runner }) => runner === prove.name);
  return isProved ? results.filter(({ runner }) => runner !== tap.name) : results;
}

function together(
  found: readonly RunnerResult[],
  coverage: number | undefined,
  root: string,
): TestReport | undefined {
  // A line such as "3 passed, 1 failed" is anybody's: it counts when nobody else has said anything.
  const named = found.filter(({ runner }) => runner !== plain.name);
  const results = named.length > 0 ? named : found;
  if (results.length === 0) return undefined;
  const sum = (of: (result: RunnerResult) => number): number =>
    results.reduce((total, each) => total + of(each), 0);
  return {
    runner: [...new Set(results.map(({ runner }) => runner))].join(" + "),
    passed: sum((each) => each.passed),
    failed: sum((each) => each.failed),
    skipped: sum((each) => each.skipped),
    failures: results
      .flatMap(({ failures }) => failures)
      .slice(0, mostFailures)
      .map((failure) => below(failure, root)),
    ...(coverage === undefined ? {} : { coverage }),
  };
}

/** Told from the project's folder; a file that could not be loaded is named by its path. */
function below(failure: TestFailure, root: string): TestFailure {
  const folder = root.endsWith("/") ? root : `${root}/`;
  const short = (text: string): string =>
    root !== "" && text.startsWith(folder) ? text.slice(folder.length) : text;
  return {
    ...failure,
    name: short(failure.name),
    ...(failure.file === undefined ? {} : { file: short(failure.file) }),
  };
}
