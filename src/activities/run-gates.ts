/**
 * The gates, run by us, on exactly the tree that would be committed: a checkout of our own, outside
 * the repository, that no agent has ever seen. All of them, even after one has failed: whoever
 * tries again should know everything that is wrong.
 */
import { createHash } from "node:crypto";
import { type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Gate, GateOutcome } from "../core/plan/run-event.ts";
import { createReportReader } from "../core/runners/read-report.ts";
import type { TestFailure, TestReport } from "../core/test-report.ts";
import { type Ended, type ExecOptions, exec, type Trusted } from "../exec.ts";
import { shortened, shown } from "../safe-text.ts";
import { type CheckoutSite, cleanCheckout } from "./clean-checkout.ts";
import { type RunSite, slotEnvironment } from "./run-site.ts";
import { type Transcript, theirs, transcriptMark } from "./transcript.ts";

export interface GateRun {
  readonly outcomes: readonly GateOutcome[];
  /** What a receipt holds beside the outcome. */
  readonly receipts: readonly GateReceipt[];
  /** The end of what the first failing gate printed. */
  readonly output: string;
  /** We were asked to stop: nothing is known about the tree. */
  readonly stopped?: true;
}

export interface GateReceipt {
  readonly name: string;
  readonly command: string;
  readonly code: number | null;
  readonly ms: number;
  readonly lines: number;
  /** Of everything that it printed, line by line, without secrets. */
  readonly sha256: string;
}

export interface GateSubject {
  /** Absent: what the run builds on. */
  readonly phase?: string;
  readonly slot: number;
  readonly commit: string;
  readonly gates: readonly Gate[];
  /** The approved command of a gate; the site's, unless a phase brings gates of its own. */
  readonly trusted?: (name: string) => Trusted | undefined;
  /** Where the end of what a failing gate printed is shown. */
  readonly log?: { add(line: string): void };
  /** Where all of it goes. */
  readonly transcript?: Pick<Transcript, "add">;
}

/** The part of a site that checking depends on: an audit has no run to show. */
export type GateSite = CheckoutSite & Pick<RunSite, "gate">;

export async function runGates(
  site: GateSite,
  run: Pick<PlanRun, "id" | "baseline">,
  subject: GateSubject,
): Promise<Result<GateRun>> {
  const { phase, slot, commit, gates } = subject;
  const wanted = gates.filter(({ command }) => command !== null);
  const outcomes = new Map(gates.filter(({ command }) => command === null).map(skipped));
  const receipts: GateReceipt[] = [];
  const told = (): GateOutcome[] => gates.flatMap(({ name }) => outcomes.get(name) ?? []);
  if (wanted.length === 0) return succeed({ outcomes: told(), receipts, output: "" });
  const checkout = await cleanCheckout(site, run, { slot, commit });
  if (!checkout.ok) return checkout;
  const { folder, setupEnded, filled: _, ...surroundings } = checkout.value;
  if (setupEnded?.aborted)
    return succeed({ outcomes: told(), receipts, output: "", stopped: true });
  const options: ExecOptions = {
    ...surroundings,
    cwd: folder,
    env: {
      ...slotEnvironment(slot),
      ...surroundings.env,
      ...(phase !== undefined && { AUTODEV_PHASE: phase }),
    },
    timeoutMs: site.gateMs,
    signal: site.signal,
    killNow: site.killNow,
    marker: run.id,
    tailLines: keptLines,
  };
  let output = "";
  for (const line of setupEnded?.tail ?? []) subject.transcript?.add(theirs(line));
  for (const { name, command } of wanted) {
    const trusted = subject.trusted ? subject.trusted(name) : site.gate(name);
    if (!trusted || command === null) throw new Error(`gate ${name} was never approved`);
    site.tell({ gate: name, command, ...(phase !== undefined && { phase }) });
    subject.transcript?.add(`${transcriptMark} gate ${name}: ${command}`);
    const { ended, report, receipt } = setupEnded
      ? { ended: setupEnded, report: undefined, receipt: undefined }
      : await runGate(trusted, { name, command }, options, (text) => {
          subject.transcript?.add(theirs(text));
          if (phase !== undefined) site.tell({ phase, text });
        });
    if (ended.aborted) return succeed({ outcomes: told(), receipts, output, stopped: true });
    const accepted = run.baseline?.accepted[name] ?? [];
    const outcome = gateOutcome(
      { name, command },
      ended,
      report,
      accepted,
      setupEnded !== undefined,
    );
    outcomes.set(name, outcome);
    subject.transcript?.add(
      `${transcriptMark} gate ${name} ${outcome.passed ? "passed" : "failed"}: ${outcome.summary}`,
    );
    if (receipt) receipts.push(receipt);
    if (outcome.passed) continue;
    for (const line of ended.tail.slice(-toldLines)) subject.log?.add(`  ${line}`);
    output ||= endOf(ended);
  }
  return succeed({ outcomes: told(), receipts, output });
}

const keptLines = 200;
const toldLines = 40;

const skipped = ({ name, reason }: Gate): [string, GateOutcome] => [
  name,
  {
    name,
    command: null,
    passed: null,
    summary: `skipped: ${reason ?? "there is no command for it"}`,
  },
];

async function runGate(
  trusted: Trusted,
  { name, command }: { readonly name: string; readonly command: string },
  options: ExecOptions,
  tell: (line: string) => void,
): Promise<{ ended: Ended; report: TestReport | undefined; receipt: GateReceipt }> {
  const reader = createReportReader(options.cwd);
  const hash = createHash("sha256");
  let lines: string[] = [];
  const hashed = (): void => {
    hash.update(lines.join(""));
    lines = [];
  };
  const began = performance.now();
  const ended = await exec(trusted, {
    ...options,
    onLine(line) {
      reader.line(line);
      tell(line);
      // One by one, hashing would cost more than everything else.
      if (lines.push(`${line}\n`) >= 500) hashed();
    },
  });
  hashed();
  const receipt = {
    name,
    command,
    code: ended.code,
    ms: Math.round(performance.now() - began),
    lines: ended.lines,
    sha256: hash.digest("hex"),
  };
  return { ended, report: reader.report(), receipt };
}

/** What its end and its words come to: the exit code, and what a test runner told of itself. */
export function gateOutcome(
  { name, command }: { readonly name: string; readonly command: string },
  ended: Ended,
  report: TestReport | undefined,
  accepted: readonly string[],
  isSetup: boolean,
): GateOutcome {
  const names = new Set(accepted.map(withoutLine));
  const isNew = (failure: string): boolean => !names.has(withoutLine(failure));
  const told = (report?.failures ?? []).map(failureLine);
  // What is new comes first: that is what somebody has to mend.
  const failures = [...told.filter(isNew), ...told.filter((each) => !isNew(each))];
  const known = isSetup ? [] : knownFailures(ended, report, failures, isNew);
  // Whatever the exit code: a runner that tells of a failure has not passed.
  const passed = known.length > 0 || (hasPassed(ended) && (report?.failed ?? 0) === 0);
  const counts = report && {
    runner: report.runner,
    passed: report.passed,
    failed: report.failed,
    skipped: report.skipped,
    ...(report.coverage === undefined ? {} : { coverage: report.coverage }),
  };
  return {
    name,
    command,
    passed,
    summary: summaryOf(ended, report, passed, isSetup),
    ...(failures.length > 0 && { failures }),
    ...(counts && { tests: counts }),
    ...(known.length > 0 && { known }),
    ...(ended.timedOut && { timedOut: true as const }),
  };
}

const failureLine = ({ name, file, line }: TestFailure): string => {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`} `;
  return shortened(shown(`${place}${name}`), 300);
};

/** Everything that failed is named, and failed before the run: people have said that it may. */
function knownFailures(
  ended: Ended,
  report: TestReport | undefined,
  failures: readonly string[],
  isNew: (failure: string) => boolean,
): string[] {
  if (ended.code === null || ended.timedOut) return [];
  const whole = report !== undefined && report.failed > 0 && report.failed === failures.length;
  return whole && !failures.some(isNew) ? [...failures] : [];
}

/** A line number moves with every edit above it. */
const withoutLine = (failure: string): string => failure.replace(/^(\S+?)(?::\d+)+ /, "$1 ");

const hasPassed = ({ code, timedOut, notStarted }: Ended): boolean =>
  code === 0 && !timedOut && notStarted === undefined;

function summaryOf(
  ended: Ended,
  report: TestReport | undefined,
  passed: boolean,
  isSetup: boolean,
): string {
  if (isSetup) return withWords(`the set-up command ${howItEnded(ended)}`, lastLine(ended));
  const said = report
    ? `${report.passed} ${report.passed === 1 ? "test" : "tests"} passed, ${report.failed} failed${report.skipped > 0 ? `, ${report.skipped} skipped` : ""}`
    : lastLine(ended);
  if (passed) return said ?? "exit code 0";
  return withWords(howItEnded(ended), said);
}

const withWords = (how: string, said: string | undefined): string =>
  said === undefined ? how : `${how}: ${said}`;

export function howItEnded({ code, signal, timedOut, notStarted }: Ended): string {
  if (timedOut) return "took too long and was stopped";
  if (notStarted !== undefined) return `could not be started (${notStarted})`;
  return signal === null ? `ended with ${code}` : `was ended by ${signal}`;
}

export const endOf = ({ tail }: Ended): string =>
  tail
    .slice(-toldLines)
    .map((line) => shown(line))
    .join("\n");

export function lastLine({ tail }: Ended): string | undefined {
  const last = tail.map((line) => shown(line).trim()).findLast((line) => line !== "");
  return last === undefined ? undefined : shortened(last, 200);
}
