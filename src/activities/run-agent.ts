/**
 * An agent at work on a phase: what it is told, and what becomes of what it tells. Its lines go to
 * the transcript, what they mean to displays, its session and its spending on record. Whoever has
 * used up what it may is stopped; what it did is kept, and people are asked.
 */
import * as path from "node:path";
import { type AgentEvent, type AgentOutcome, eventLines } from "../agent.ts";
import { addSpent, exceeded, nothingSpent, type Spent } from "../core/agent/budget.ts";
import { writeBrief } from "../core/plan/brief.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import { gatesOf, type PhaseProgress, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { resultSchema } from "../core/plan/result.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import { cutLine } from "../exec/streams.ts";
import { accessOf } from "./confinement.ts";
import { keepingSecrets } from "./keep-secrets.ts";
import { type RunSite, slotEnvironment } from "./run-site.ts";
import { agentIdentity } from "./traces.ts";
import { theirs, transcriptMark, transcriptOf } from "./transcript.ts";

export interface AtWork {
  readonly id: string;
  readonly slot: number;
  readonly cwd: string;
  readonly scratch: string;
}

export interface Worked {
  readonly agent: string;
  readonly outcome: AgentOutcome;
  /** It was stopped because of that. */
  readonly over?: Over;
  /** What it used that is not on record yet. */
  readonly rest: readonly RunEvent[];
}

/** What was used, of what; `run`: by all phases together. */
export interface Over {
  readonly whose: "phase" | "run";
  readonly what: string;
}

export async function runAgent(site: RunSite, work: AtWork, run: PlanRun): Promise<Worked> {
  const { id, slot, cwd, scratch } = work;
  const progress = phaseOf(run, id);
  if (progress?.state.is !== "working") throw new Error(`phase ${id} has no attempt under way`);
  const { attempt, agent: name = run.agent, continues } = progress.state;
  const agent = keepingSecrets(site.agent(name));
  const session = continues === undefined ? undefined : progress.session;
  const isOwn = session?.agent === name && agent.resumes === true;
  const brief = briefFor(site, run, id, {
    ...(session && { goesOn: isOwn ? { own: true } : { own: false, from: session.agent } }),
    ...(agent.speaks === undefined && { resultPath: path.join(scratch, "result.json") }),
  });
  const log = site.showing.phaseLog(id, { attempt, startedAt: progress.startedAt ?? "" });
  const transcript = transcriptOf(site, id, attempt);
  const speaks = agent.speaks === undefined ? "" : ` speaking ${agent.speaks}`;
  transcript.add(`${transcriptMark} attempt ${attempt} at phase ${id}, by ${name}${speaks}`);
  if (agent.speaks !== undefined)
    for (const line of brief.text.trimEnd().split("\n")) transcript.add(`> ${line}`);
  const overspent = new AbortController();
  const counter = spending(site, { id, attempt }, overspent);
  const outcome = await agent.run(brief, {
    cwd,
    scratch,
    env: { ...slotEnvironment(slot), ...agentIdentity(site, id, attempt) },
    timeoutMs: site.attemptMs,
    idleMs: site.idleMs,
    ...(isOwn && session && { resume: { session: session.id, tokens: session.tokens } }),
    ...maxCostOf(site, progress),
    signal: AbortSignal.any([site.signal, overspent.signal]),
    killNow: site.killNow,
    access: site.confined(name) ? accessOf(site, { cwd, scratch }) : [],
    network: site.sandbox.network === "off" ? "off" : undefined,
    marker: run.id,
    emit(event) {
      if (event.type === "raw") return transcript.add(theirs(event.line));
      if (event.type === "usage") return counter.add(event);
      if (event.type === "session") {
        const { id: opened, model } = event;
        site.note({
          type: "session-opened",
          phase: id,
          attempt,
          agent: name,
          session: opened,
          ...(model !== undefined && { model }),
        });
      }
      for (const words of eventLines(event)) {
        // One message can be megabytes; of displays and logs, which keep lines, each is short.
        const line = cutLine(words);
        log.add(line);
        if (agent.speaks === undefined) transcript.add(theirs(line));
        site.tell({ phase: id, text: line });
      }
    },
  });
  const why = outcome.is === "failed" ? `: ${outcome.error.message}` : "";
  transcript.add(`${transcriptMark} ${name} has ended: ${outcome.is}${why}`);
  transcript.end();
  const over = site.signal.aborted ? undefined : counter.over();
  const rest = counter.rest();
  return { agent: name, outcome, ...(over !== undefined && { over }), rest };
}

/** Dollars are told at the end only, by some: they have to mind them themselves. */
const maxCostOf = (
  { limits }: RunSite,
  { raised = 0 }: PhaseProgress,
): { readonly maxCost?: number } => {
  const most = limits.budgets?.attempt.cost;
  return most === undefined ? {} : { maxCost: most * (raised + 1) };
};

export function briefFor(
  site: RunSite,
  run: PlanRun,
  id: string,
  told: Pick<Parameters<typeof writeBrief>[0], "goesOn" | "resultPath" | "fetched">,
): ReturnType<typeof writeBrief> {
  const { plan } = site.plan().compiled;
  const phase = phaseNamed(plan, id);
  const progress = phaseOf(run, id);
  if (!phase || progress?.state.is !== "working") throw new Error(`phase ${id} is not in the plan`);
  const atWork = run.phases.filter(
    (other) => other.id !== id && ["working", "delivered", "verified"].includes(other.state.is),
  );
  return writeBrief({
    phase,
    attempt: progress.state.attempt,
    gates: gatesOf(run).flatMap(({ name, command }) =>
      command === null ? [] : [{ name, command }],
    ),
    mayTouch: phase.files.map((file) => file.path),
    siblings: atWork.map((other) => ({
      phase: other.id,
      files: phaseNamed(plan, other.id)?.files.map((file) => file.path) ?? [],
    })),
    errors: progress.errors.slice(-3),
    notes: progress.notes ?? [],
    planFile: run.plan,
    resultSchema: resultSchema(),
    ...told,
  });
}

// ── what it uses ───────────────────────────────────────────────────────────────────────────────

interface Counter {
  add(usage: Extract<AgentEvent, { type: "usage" }>): void;
  /** It is not to go on. */
  over(): Over | undefined;
  rest(): readonly RunEvent[];
}

/** A record for each word would be a sync for each; a kill costs what was said since the last. */
const noteEveryMs = 2000;

function spending(
  site: RunSite,
  { id: phase, attempt }: { readonly id: string; readonly attempt: number },
  stop: AbortController,
): Counter {
  const { budgets } = site.limits;
  let spent: Spent = nothingSpent;
  let unsaid: Spent = nothingSpent;
  let notes: NodeJS.Timeout | undefined;
  let over: Over | undefined;
  const said = (): RunEvent[] => {
    const { tokens, cost } = unsaid;
    unsaid = nothingSpent;
    if (tokens === 0 && cost === 0) return [];
    return [{ type: "usage-counted", phase, attempt, tokens, ...(cost > 0 && { cost }) }];
  };
  /** With what others have used meanwhile, as far as it is on record. */
  const check = (): Over | undefined => {
    if (!budgets) return undefined;
    const run = site.run();
    const before = phaseOf(run, phase);
    const ofPhase = addSpent(before?.spent ?? nothingSpent, unsaid);
    const ofRun = addSpent(run.spent ?? nothingSpent, unsaid);
    const times = (before?.raised ?? 0) + 1;
    // Time is no reason to break off work that goes on: that is asked before the next attempt.
    const own =
      exceeded(spent, budgets.attempt, times) ??
      exceeded({ ...ofPhase, ms: 0 }, budgets.phase, times);
    if (own !== undefined) return { whose: "phase", what: own };
    const all = exceeded({ ...ofRun, ms: 0 }, budgets.run, (run.raised ?? 0) + 1);
    return all === undefined ? undefined : { whose: "run", what: all };
  };
  return {
    add({ tokens, cost = 0 }) {
      const more = { tokens: real(tokens), cost: real(cost) };
      spent = addSpent(spent, more);
      unsaid = addSpent(unsaid, more);
      over ??= check();
      if (over !== undefined) stop.abort();
      // By the clock: the next word may be an hour away.
      notes ??= setTimeout(() => {
        notes = undefined;
        for (const event of said()) site.note(event);
      }, noteEveryMs);
    },
    over: () => over,
    rest() {
      clearTimeout(notes);
      return said();
    },
  };
}

/** What an agent reports is its word: what is no number adds nothing, and no sum leaves the numbers. */
const real = (value: number): number => (value > 0 ? Math.min(value, mostAtOnce) : 0);
const mostAtOnce = 1e12;
