/**
 * `ok  	example.org/shop	0.01s` for each package; each test only with `-v` or `-json`. So a
 * package that passed in silence counts as one. Of a test with subtests only the subtests count.
 */
import { isForeign, type Place, plainFile } from "./place.ts";
import { addFailure, count, newTally, type Runner, resultOf, type Tally } from "./runner.ts";

type Verdict = "passed" | "failed" | "skipped";

/** What is known of a package before its last line. */
interface Package {
  /** Each test is told, when it begins and when it ends. */
  isTold: boolean;
  isEmpty: boolean;
  readonly running: Set<string>;
  readonly parents: Set<string>;
  /** The first place that each running test has printed. */
  readonly places: Map<string, Place>;
  /** Whose lines these are, as far as is known. */
  current?: string | undefined;
  /** Ended, and not counted yet: its subtests may follow. */
  ended?: { readonly name: string; readonly verdict: Verdict; place?: Place } | undefined;
  readonly counts: { passed: number; failed: number; skipped: number };
}

const newPackage = (): Package => ({
  isTold: false,
  isEmpty: false,
  running: new Set(),
  parents: new Set(),
  places: new Map(),
  counts: { passed: 0, failed: 0, skipped: 0 },
});

/** Running at once, or left behind by programs that were killed. */
const mostRemembered = 2_000;
const longestRemembered = 300;

export const goTest: Runner = {
  name: "go test",
  marks: "-=oF?{",
  start() {
    const tally = newTally();
    let own = newPackage();
    /** Of `-json`, where the lines of several packages are mixed. */
    const packages = new Map<string, Package>();
    return {
      get isOpen() {
        return own.isTold || own.ended !== undefined;
      },
      line(text) {
        if (text.startsWith("{")) takeEvent(text);
        else if (text.startsWith("=== ")) {
          const name = /^=== (?:RUN|CONT|NAME) +(\S+)$/u.exec(text)?.[1];
          if (name !== undefined) begin(own, name);
        } else if (text.startsWith("--- ")) {
          const found = /^--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d\ds\)$/u.exec(text);
          if (found?.[2]) end(tally, own, found[2], verdictOf(found[1]));
        } else {
          const name = packageLine.exec(text)?.[1];
          if (name === undefined) return takePlace(own, text);
          const isFailed = text.startsWith("FAIL");
          settle(tally, own, name, { isFailed, isEmpty: noTests.test(text) });
          own = newPackage();
        }
      },
      result: () => resultOf("go test", tally),
    };

    function takeEvent(text: string): void {
      const event = readEvent(text);
      const name = event?.["Package"];
      const action = event?.["Action"];
      if (!event || name === undefined) return;
      let of = packages.get(name);
      if (!of) packages.set(name, (of = newPackage()));
      of.isTold = true;
      const test = event["Test"];
      const verdict = action === undefined ? undefined : verdicts.get(action.toUpperCase());
      if (action === "run" && test !== undefined) begin(of, test);
      else if (action === "output") {
        const said = (event["Output"] ?? "").trim();
        of.current = test;
        takePlace(of, said);
        if (noTests.test(said)) of.isEmpty = true;
      } else if (verdict && test !== undefined) end(tally, of, test, verdict);
      else if (verdict) {
        const isEmpty = of.isEmpty || verdict === "skipped";
        settle(tally, of, name, { isFailed: verdict === "failed", isEmpty });
        packages.delete(name);
      }
      if (packages.size > mostRemembered) packages.clear();
    }
  },
};

function begin(of: Package, name: string): void {
  of.isTold = true;
  of.current = name;
  if (name.length > longestRemembered) return;
  if (of.running.size < mostRemembered) of.running.add(name);
  const slash = name.lastIndexOf("/");
  if (slash > 0 && of.parents.size < mostRemembered) of.parents.add(name.slice(0, slash));
}

function end(tally: Tally, of: Package, name: string, verdict: Verdict): void {
  // A program under test may print such lines too, but none of its tests has begun.
  if (of.isTold && !of.running.delete(name) && of.running.size < mostRemembered) return;
  if (of.parents.delete(name)) return;
  if (of.ended && name.startsWith(`${of.ended.name}/`)) of.ended = undefined;
  commit(tally, of);
  const place = of.places.get(name);
  of.places.delete(name);
  of.current = undefined;
  of.ended = { name, verdict, ...(place ? { place } : {}) };
}

function commit(tally: Tally, of: Package): void {
  if (!of.ended) return;
  const { name, verdict, place } = of.ended;
  of.ended = undefined;
  of.counts[verdict]++;
  if (verdict === "failed") addFailure(tally, name, place?.file, place?.line);
}

function settle(
  tally: Tally,
  of: Package,
  name: string,
  { isFailed, isEmpty }: { isFailed: boolean; isEmpty: boolean },
): void {
  commit(tally, of);
  count(tally, of.counts);
  // It did not compile, or ended in the middle.
  if (isFailed && of.counts.failed === 0) {
    addFailure(tally, name);
    count(tally, { failed: 1 });
  } else if (!isFailed && !of.isTold && !isEmpty) count(tally, { passed: 1 });
}

function takePlace(of: Package, text: string): void {
  const found = goPlace.exec(text);
  if (!found?.[1] || isForeign(found[1]) || /\/src\/(?:testing|runtime)\//u.test(found[1])) return;
  const place = { file: plainFile(found[1]), line: Number(found[2]) };
  if (of.current !== undefined) {
    if (of.places.size < mostRemembered && !of.places.has(of.current)) {
      of.places.set(of.current, place);
    }
  } else if (of.ended) of.ended.place ??= place;
}

const goPlace = /^(\S+\.go):(\d+)(?:: | \+0x)/u;

const packageLine =
  /^(?:ok(?: {2,}|\s*\t)\s*(?=\S+\s+(?:\(cached\)|[\d.]+s))|FAIL\s+(?=\S+\s+(?:[\d.]+s$|\[\w+ failed\]))|\?\s+(?=\S+\s+\[no test files\]))(\S+)/u;

const noTests = /\[no tests? (?:to run|files)\]/u;

const verdicts: ReadonlyMap<string, Verdict> = new Map([
  ["PASS", "passed"],
  ["FAIL", "failed"],
  ["SKIP", "skipped"],
]);
const verdictOf = (word: string | undefined): Verdict => verdicts.get(word ?? "") ?? "failed";

/** The texts of an event; nothing unless it is one. */
function readEvent(text: string): Readonly<Record<string, string | undefined>> | undefined {
  if (!/^\{"(?:Time|Action|ImportPath)":"/u.test(text)) return undefined;
  try {
    const event: unknown = JSON.parse(text);
    const entries = Object.entries(event as object).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return Object.fromEntries(entries);
  } catch {
    return undefined;
  }
}
