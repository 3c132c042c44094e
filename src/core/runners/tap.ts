/**
 * TAP, whoever prints it: a plan (`1..4`) and points (`ok 1 - adds up`), numbered from 1. Points
 * that have points of their own below them do not count. Node's runner and node-tap end with counts
 * of their own; then those stand.
 */
import { createNodeSummary, isEmptyFile } from "./node-test.ts";
import { placeIn, takePlace } from "./place.ts";
import {
  addFailure,
  type Counts,
  count,
  type FoundFailure,
  newTally,
  type Runner,
  type RunnerResult,
  resultOf,
  type Tally,
} from "./runner.ts";

export const tap: Runner = {
  name: "TAP",
  marks: "T1on#B✖",
  start() {
    const byName = new Map<string, Tally>();
    const summary = createNodeSummary();
    let stream = newStream();
    let unplaced: FoundFailure | undefined;
    return {
      get isOpen() {
        return stream.isDetail;
      },
      line(text, indent) {
        if (/^TAP version 1[34]$/u.test(text)) {
          finish();
          stream.base = indent;
          stream.isSaid = true;
        } else if (plan.test(text)) takePlan(text, indent);
        else if (text.startsWith("ok ") || text.startsWith("not ok ")) takePoint(text, indent);
        else if (text.startsWith("Bail out!")) takeBail(text);
        else if (text.startsWith("# ")) takeComment(text.slice(2), indent);
        else if (stream.isDetail) takeDetail(text);
      },
      result() {
        finish();
        const results = [...byName].flatMap(([name, tally]) => resultOf(name, tally) ?? []);
        return results.length < 2 ? results[0] : asOne(results);
      },
    };

    function takePlan(text: string, indent: number): void {
      const planned = Number(plan.exec(text)?.[1]);
      if (stream.base === undefined) stream.base = indent;
      if (indent !== stream.base) return;
      // A second plan belongs to a second stream.
      if (stream.planned !== undefined) {
        finish();
        stream.base = indent;
      }
      stream.planned = planned;
    }

    function takePoint(text: string, indent: number): void {
      const found = point.exec(text);
      if (!found) return;
      const number = Number(found[2]);
      const depth = Math.floor((indent - (stream.base ?? indent)) / 4);
      if (depth < 0 || depth > deepest) return;
      if (depth === 0) {
        // Points are numbered in their order: what is not was printed by somebody else.
        if (number === 1 && stream.points > 0) {
          const { base } = stream;
          finish();
          stream.base = base;
          // Node numbers files where it should number tests; but it announces each by its name.
        } else if (number !== stream.points + 1 && found[3]?.trim() !== stream.announced) return;
        stream.base ??= indent;
        stream.points++;
      }
      const isBlock = text.endsWith(" {");
      const hasOwn = stream.below === depth || isBlock;
      stream.isBlocks ||= isBlock;
      // In blocks points come before those below them, otherwise after them.
      stream.below = stream.isBlocks ? -1 : depth - 1;
      stream.isDetail = false;
      const [name = "", directive = ""] = (found[3] ?? "").split(/ # (?=\s*(?:skip|todo|time))/iu);
      const isFailed = found[1] !== undefined;
      const isOwnFailure = isFailed && !isBlock && stream.failed === stream.failedBefore;
      if (hasOwn && !(depth === 0 && isOwnFailure)) {
        if (depth === 0) stream.failedBefore = stream.failed;
        return;
      }
      if (/^\s*(?:skip|todo)/iu.test(directive) || /^# (?:skip|todo)/iu.test(name)) {
        stream.skipped++;
      } else if (!isFailed) {
        stream.passed++;
        stream.emptyFiles += depth === 0 && isEmptyFile(name) ? 1 : 0;
      } else {
        stream.failed++;
        stream.isDetail = true;
        unplaced = addFailure(stream.found, name.trim() || `test ${number}`);
      }
      if (depth === 0) stream.failedBefore = stream.failed;
    }

    function takeBail(text: string): void {
      stream.failed++;
      stream.isSaid = true;
      addFailure(stream.found, text);
    }

    function takeComment(comment: string, indent: number): void {
      if (indent !== (stream.base ?? indent)) return;
      const announced = /^Subtest: (.+)$/u.exec(comment)?.[1];
      if (announced !== undefined) stream.announced = announced.trim();
      const own = nodeTapSummary(comment);
      const node = own ? undefined : summary.take(comment);
      if (own) {
        stream.own = { name: "tap", counts: own };
        finish();
      } else if (node) {
        const passed = node.passed - stream.emptyFiles;
        stream.own = { name: "node:test", counts: { ...node, passed } };
        finish();
      }
    }

    /** Of the block below a failed point. */
    function takeDetail(text: string): void {
      if (!unplaced) return;
      const said = /^(fileName|lineNumber): (.+)$/u.exec(text);
      if (said?.[1] === "fileName" && said[2]) unplaced.file ??= said[2];
      else if (said) {
        unplaced.line ??= Number(said[2]);
        unplaced = undefined;
      } else {
        const place = placeIn(text);
        if (place && takePlace(unplaced, place)) unplaced = undefined;
      }
    }

    function finish(): void {
      const { own, planned, points, isSaid, found } = stream;
      const name = own?.name ?? tap.name;
      if (own || planned !== undefined || (isSaid && points > 0)) {
        const tally = byName.get(name) ?? newTally();
        byName.set(name, tally);
        const { passed, failed, skipped } = stream;
        // Points that were planned and never came have failed.
        const lost = Math.max(0, (planned ?? points) - points);
        count(tally, own?.counts ?? { passed, failed: failed + lost, skipped });
        for (const each of found.failures) addFailure(tally, each.name, each.file, each.line);
      }
      stream = newStream();
      unplaced = undefined;
    }
  },
};

const newStream = (): {
  /** How far the outermost points are indented. */
  base?: number | undefined;
  isSaid: boolean;
  planned?: number | undefined;
  /** The test whose point comes next, where the runner says so. */
  announced?: string;
  points: number;
  passed: number;
  failed: number;
  skipped: number;
  emptyFiles: number;
  /** Points below a failed one explain it; if none of them has failed, it counts itself. */
  failedBefore: number;
  isBlocks: boolean;
  /** The depth whose next point has points of its own. */
  below: number;
  isDetail: boolean;
  own?: { name: string; counts: Counts };
  readonly found: Tally;
} => ({
  isSaid: false,
  points: 0,
  passed: 0,
  failed: 0,
  skipped: 0,
  emptyFiles: 0,
  failedBefore: 0,
  isBlocks: false,
  below: -1,
  isDetail: false,
  found: newTally(),
});

const plan = /^1\.\.(\d{1,9})(?: #.*)?$/u;
const point = /^(not )?ok (\d{1,9})(?: (?:- )?(.*))?$/u;
const deepest = 50;

/** `{ total: 4, pass: 1, fail: 2, skip: 1 }` */
function nodeTapSummary(comment: string): Counts | undefined {
  if (!/^\{ total: \d+(?:, [a-z]+: \d+)* \}$/u.test(comment)) return undefined;
  const of = (word: string): number =>
    Number(new RegExp(`\\b${word}: (\\d+)`, "u").exec(comment)?.[1] ?? 0);
  return { passed: of("pass"), failed: of("fail"), skipped: of("skip") + of("todo") };
}

function asOne(results: readonly RunnerResult[]): RunnerResult {
  const sum = (of: (each: RunnerResult) => number): number =>
    results.reduce((total, each) => total + of(each), 0);
  return {
    runner: results.map(({ runner }) => runner).join(" + "),
    passed: sum((each) => each.passed),
    failed: sum((each) => each.failed),
    skipped: sum((each) => each.skipped),
    failures: results.flatMap(({ failures }) => failures),
  };
}
