/**
 * The gates, run by us, on exactly the tree that would be committed: a checkout of our own,
 * outside the repository, that no agent has ever seen.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import type { ErrorType, PhaseError } from "../core/plan/phase-error.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { GateOutcome } from "../core/plan/run-event.ts";
import { type Ended, exec } from "../exec.ts";
import { addWorktree, gitIn, removeWorktree } from "../git/worktrees.ts";
import { shown } from "../safe-text.ts";
import { slotEnvironment } from "./attempt-phase.ts";
import type { RunSite } from "./run-site.ts";

export interface Checked {
  readonly gates: readonly GateOutcome[];
  readonly error?: PhaseError;
  /** We were asked to stop: nothing is known about the tree. */
  readonly stopped?: true;
}

export async function runGates(
  site: RunSite,
  run: PlanRun,
  subject: { readonly phase: string; readonly slot: number; readonly commit: string },
): Promise<Result<Checked>> {
  const { phase, slot, commit } = subject;
  const skipped: GateOutcome[] = run.gates
    .filter(({ command }) => command === null)
    .map(({ name, reason }) => ({
      name,
      command: null,
      passed: null,
      summary: `skipped: ${reason ?? "there is no command for it"}`,
    }));
  const wanted = run.gates.filter(({ command }) => command !== null);
  if (wanted.length === 0 && !site.setup) return succeed({ gates: skipped });
  const checkout = await checkOut(site, run, slot, commit);
  if (!checkout.ok) return checkout;
  const log = site.showing.phaseLog(phase);
  const options = {
    cwd: checkout.value,
    env: { ...slotEnvironment(slot), AUTODEV_PHASE: phase },
    timeoutMs: site.gateMs,
    signal: site.signal,
    killNow: site.killNow,
    marker: run.id,
    tailLines: keptLines,
  };
  const outcomes: GateOutcome[] = [];
  const told = (): GateOutcome[] => inOrder(run, [...outcomes, ...skipped]);
  if (site.setup) {
    const ended = await exec(site.setup, options);
    if (ended.aborted) return succeed({ gates: told(), stopped: true });
    if (!hasPassed(ended)) {
      const message = `the set-up command ${howItEnded(ended)}`;
      return succeed({
        gates: told(),
        error: { type: "gate_failure", message, details: end(ended) },
      });
    }
  }
  for (const { name, command } of wanted) {
    const trusted = site.gate(name);
    if (!trusted) throw new Error(`gate ${name} was never approved`);
    site.tell({ phase, text: `gate ${name}: ${command ?? ""}` });
    const ended = await exec(trusted, options);
    if (ended.aborted) return succeed({ gates: told(), stopped: true });
    const passed = hasPassed(ended);
    const last = lastLine(ended);
    outcomes.push({
      name,
      command,
      passed,
      summary: passed
        ? (last ?? "exit code 0")
        : `${howItEnded(ended)}: ${last ?? "it says nothing"}`,
    });
    if (passed) continue;
    for (const line of ended.tail.slice(-toldLines)) log.add(`  ${line}`);
    const type = ended.timedOut ? "timeout" : (errorOf[name] ?? "gate_failure");
    const message = `${name} failed: \`${command ?? ""}\` ${howItEnded(ended)}`;
    return succeed({ gates: told(), error: { type, message, details: end(ended) } });
  }
  return succeed({ gates: told() });
}

const keptLines = 200;
const toldLines = 40;

const errorOf: Readonly<Record<string, ErrorType>> = {
  test: "test_failure",
  lint: "lint_error",
  typecheck: "typecheck_error",
  format: "format_error",
};

const inOrder = (run: PlanRun, outcomes: readonly GateOutcome[]): GateOutcome[] =>
  run.gates.flatMap(({ name }) => outcomes.find((each) => each.name === name) ?? []);

const hasPassed = ({ code, timedOut, notStarted }: Ended): boolean =>
  code === 0 && !timedOut && notStarted === undefined;

function howItEnded({ code, signal, timedOut, notStarted }: Ended): string {
  if (timedOut) return "took too long and was stopped";
  if (notStarted !== undefined) return `could not be started (${notStarted})`;
  return signal === null ? `ended with ${code}` : `was ended by ${signal}`;
}

const end = ({ tail }: Ended): string =>
  tail
    .slice(-toldLines)
    .map((line) => shown(line))
    .join("\n");

const lastLine = ({ tail }: Ended): string | undefined =>
  tail
    .map((line) => shown(line).trim())
    .findLast((line) => line !== "")
    ?.slice(0, 200);

/** One checkout a slot, brought to the commit and cleaned of everything that is not in it. */
async function checkOut(
  site: RunSite,
  run: PlanRun,
  slot: number,
  commit: string,
): Promise<Result<string>> {
  const folder = path.join(site.folders.checks, `${run.id}-check-${slot}`);
  if (fs.existsSync(path.join(folder, ".git"))) {
    const git = gitIn(site.git, folder);
    const moved = await git.call({ args: ["checkout", "--quiet", "--force", "--detach", commit] });
    const cleaned = moved.ok && (await git.call({ args: ["clean", "--quiet", "-ffdx"] })).ok;
    if (cleaned && fs.existsSync(path.join(folder, ".git"))) return succeed(folder);
    // A gate has made a mess of it: a new one is the shortest way.
    await removeWorktree(site.git, folder);
  }
  const added = await addWorktree(site.git, folder, commit);
  return added.ok ? succeed(folder) : added;
}
