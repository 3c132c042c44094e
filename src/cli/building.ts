/** A build as the terminal's door sees it: who is asked, what is told meanwhile, how it ended. */
import { hasUsed } from "../core/agent/budget.ts";
import { type Result, succeed } from "../core/failure.ts";
import { blockers, type PlanRun, standingOf, unverified } from "../core/plan/progress.ts";
import type { RunView } from "../core/plan/run-view.ts";
import { type BuildOptions, type Built, buildPlan, shown } from "../project.ts";
import { type DisplayOptions, openDisplay } from "./display.ts";
import { isTerminal, print, printError } from "./output.ts";
import { type AskOptions, answeredBy, askerFor, bell, trustAsker } from "./prompt.ts";
import { exitCodes } from "./render/failure.ts";
import { summaryLines } from "./render/run.ts";
import type { Style } from "./render/style.ts";
import type { BuildOutput } from "./shapes.ts";

export interface TellOptions extends AskOptions, DisplayOptions {}

export interface Told extends Built {
  /** What was seen of it, where anything was. */
  readonly view: RunView | undefined;
  /** How many had landed before anything was told here. */
  readonly before?: number;
  /** Carried by others: what it made is at the remote. */
  readonly isFleet?: boolean;
}

/** Tells what happens as it happens; an interrupt asks the agents to stop, a second one is at once. */
export async function buildAndTell(
  cwd: string,
  wanted: BuildOptions,
  options: TellOptions,
): Promise<Result<Told>> {
  const display = openDisplay(options);
  const stop = new AbortController();
  const kill = new AbortController();
  const onSignal = (): void => {
    const stopping = "stopping: agents are asked to end (once more: at once)";
    if (stop.signal.aborted) kill.abort();
    else if (options.json) printError(stopping);
    else display.notice(stopping);
    stop.abort();
  };
  let before: number | undefined;
  const [ask, askTrust] = [askerFor(options), trustAsker(options)];
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const built = await buildPlan(cwd, wanted, {
      ask: (...asked) => display.suspend(() => ask(...asked)),
      askTrust: (...asked) => display.suspend(() => askTrust(...asked)),
      notices: bell(),
      by: answeredBy(options),
      signal: stop.signal,
      killNow: kill.signal,
      onEvent(event, run) {
        before ??= run.landed.length;
        display.event(event, run);
      },
      onNews: display.news,
    });
    if (!built.ok) return built;
    for (const line of built.value.said) display.notice(line);
    const view = display.end(built.value.run);
    return succeed({ ...built.value, view, ...(before === undefined ? {} : { before }) });
  } finally {
    display.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

export function tellSummary(told: Told, style: Style): void {
  const { run, asking, view, before, isFleet = false } = told;
  for (const failure of asking) {
    if (failure.code !== "decision-required") printError(shown(failure.message));
    for (const line of failure.details ?? []) printError(shown(line));
    if (failure.hint) printError(`  → ${shown(failure.hint)}`);
  }
  // The story goes to standard error: who reads both on one screen need not read it twice.
  const known = before !== undefined && isTerminal(1) && isTerminal(2) ? run.landed.length : 0;
  for (const line of summaryLines(run, view, style, { known, isFleet })) print(line);
}

export function exitCodeOf(run: PlanRun): number {
  switch (run.ended) {
    case "halted":
      return exitCodes.blocked;
    case "interrupted":
      return exitCodes.interrupted;
    case "parked":
      return exitCodes.parked;
    case "asking":
      return exitCodes.decision;
    default:
      return exitCodes.finished;
  }
}

export const summaryOf = (
  { run, asking, said }: Built,
  pull?: BuildOutput["pullRequest"],
): BuildOutput => {
  const blocked = blockers(run);
  const unseen = new Set(unverified(run));
  return {
    version: 1,
    type: "summary",
    run: run.id,
    plan: run.plan,
    status: run.ended === "asking" ? "decision" : (run.ended ?? "complete"),
    mode: run.mode,
    ...(run.parkedUntil === undefined ? {} : { until: run.parkedUntil }),
    phases: run.phases.map((phase, index) => ({
      id: phase.id,
      name: run.order[index]?.name ?? "",
      status: standingOf(phase, blocked),
      ...(unseen.has(phase.id) && { unverified: true as const }),
      attempts: phase.attempts,
      commit: commitOf(run, phase.id),
      error:
        phase.state.is === "failed"
          ? { type: phase.state.error.type, message: phase.state.error.message }
          : null,
      blockedBy: blocked.get(phase.id) ?? null,
    })),
    landed: run.tip,
    usage: usageOf(run.spent),
    asking: asking.map(({ message, hint }) => ({ message, command: hint ?? null })),
    notices: [...said],
    ...(pull && { pullRequest: { number: pull.number, url: pull.url, is: pull.is } }),
  };
};

const usageOf = (spent: PlanRun["spent"]): BuildOutput["usage"] =>
  spent && hasUsed(spent)
    ? { tokens: spent.tokens, cost_usd: spent.cost, seconds: Math.round(spent.ms / 1000) }
    : {};

const commitOf = (run: PlanRun, id: string): string | null =>
  run.landed.find(({ phase }) => phase === id)?.commit ?? null;
