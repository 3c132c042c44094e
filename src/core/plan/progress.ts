/**
 * How far a run has come: the fold of its events.
 *
 *   pending ─▶ working ─▶ delivered ─▶ verified ─▶ landed          (complete, for everybody else)
 *      ▲          │            │            │
 *      └──────────┴────────────┴────────────┴──▶ failed
 *
 * Invariants
 *  1. An attempt is counted before its agent starts, and its number is never used again.
 *  2. Only a failure is charged to `maxAttempts`: not a crash of ours, not a conflict with what
 *     landed meanwhile, not a usage limit.
 *  3. `tip` is what dependants start from; `landed` lists how it came about, in order.
 *  4. `published` of those are where people see them; publishing follows the order of landing.
 */
import { addSpent, nothingSpent, type Spent } from "../agent/budget.ts";
import { type Past, pastOf } from "../agent/forecast.ts";
import type { RecordedEvent } from "../event.ts";
import type { Lease } from "../lease.ts";
import { momentOf } from "./moment.ts";
import { isRetryable, type PhaseError } from "./phase-error.ts";
import { batchesIn, placeOf, type Readiness, readinessAfter, readinessOf } from "./readiness.ts";
import type { AgentResult } from "./result.ts";
import type {
  CommitMode,
  Gate,
  GateOutcome,
  RunEvent,
  RunPhase,
  Stack,
  TestCounts,
  Traces,
} from "./run-event.ts";

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

export interface Attempt {
  readonly attempt: number;
  readonly uuid: string;
  readonly base: string;
  readonly slot: number;
  /** Absent: the run's own agent. */
  readonly agent?: string;
  /** The attempt whose work it began with. */
  readonly continues?: number;
  /** Since when somebody is at work. */
  readonly since?: string;
  /** Somebody has come for it; absent: whoever does it was started by us. */
  readonly lease?: Lease;
  /** What the holder of the lease says of it; it is yet to be looked at. */
  readonly report?: AgentResult;
}

/** A conversation with an agent that has not come to its end. */
export interface Session {
  readonly id: string;
  readonly agent: string;
  /** The last attempt that worked in it: what it had done is kept by that number. */
  readonly attempt: number;
  readonly base: string;
  /** By which number the folder is called in which it was opened: only there it is found again. */
  readonly folder?: number;
  /** What it has used. */
  readonly tokens: number;
}

export type Claim = Of<"attempt-delivered">["claim"];

export interface Delivery extends Attempt {
  /** What the agent left, as a commit on `base`. */
  readonly commit: string;
  readonly claim: Claim;
  readonly traces?: Traces;
}

/** What was checked, on top of what, and everything that the commit will say. */
export interface Verified extends Delivery {
  readonly check: Omit<Of<"phase-verified">, "type" | "phase" | "attempt">;
  /** When: it dates the commit, so that making it twice makes the same one. */
  readonly verifiedAt: string;
}

export type PhaseState =
  | {
      readonly is: "pending";
      readonly notBefore?: string;
      /** Not before a person has done something about its agent. */
      readonly unable?: Unable;
      /** It has used up what it may: what, of what. */
      readonly over?: string;
    }
  | ({ readonly is: "working" } & Attempt)
  | ({ readonly is: "delivered" } & Delivery)
  | ({ readonly is: "verified" } & Verified)
  | ({ readonly is: "landed"; readonly landed: string } & Verified)
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "failed"; readonly error: PhaseError };

export type Unable = Pick<Of<"attempt-unable">, "agent" | "kind" | "message" | "hint">;

export interface PhaseProgress {
  readonly id: string;
  readonly state: PhaseState;
  /** The highest number that an attempt has had. */
  readonly attempts: number;
  /** Failures of this series: the number that `maxAttempts` limits. */
  readonly charged: number;
  /** Attempts in a row that ended with our own death. */
  readonly interruptions: number;
  readonly conflicts: number;
  /** Oldest first: what the next attempt is told. */
  readonly errors: readonly (PhaseError & { readonly attempt: number })[];
  /** What people have said to whoever tries next, oldest first. */
  readonly notes?: readonly string[];
  /** Of the last attempt. */
  readonly uuid?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** What the last attempt claimed and what its gates said, for people to see. */
  readonly claim?: Claim;
  readonly gates?: readonly GateOutcome[];
  readonly findings?: Of<"attempt-failed">["findings"];
  readonly checkedAt?: string;
  readonly model?: string;
  /** By whom the last attempt was made, where it was not the run's own agent. */
  readonly agent?: string;
  /** Absent: nobody is in the middle of anything. */
  readonly session?: Session;
  /** By which number the folder of the last attempt is called. */
  readonly folder?: number;
  /** Of all attempts. */
  readonly spent?: Spent;
  /** Agents that could not work on it: whoever only stands in for another is not asked again. */
  readonly passed?: readonly string[];
  /** How often people have let it use as much again. */
  readonly raised?: number;
  /** Waits in a row without anything between them. */
  readonly parks?: number;
  /** Attempts whose work trees are out with somebody who came for them. */
  readonly lent?: readonly Lent[];
}

export interface Lent {
  readonly attempt: number;
  /** Below which work tree of the repository it lies. */
  readonly root: string;
  readonly base: string;
}

export interface Landing {
  readonly phase: string;
  readonly commit: string;
}

/** What the gates said before anybody worked: what a phase is compared with. */
export interface Baseline {
  readonly commit: string;
  /** By gate: failures that do not count. */
  readonly accepted: Readonly<Record<string, readonly string[]>>;
  readonly dropped: readonly string[];
  readonly unverified: boolean;
}

export type RunEnd = Of<"run-ended">["how"];

export interface PlanRun {
  readonly id: string;
  readonly plan: string;
  readonly format: string;
  readonly title: string;
  readonly mode: CommitMode;
  readonly target: string;
  /** What the target held after our last publishing. */
  readonly targetAt: string;
  readonly base: string;
  readonly tip: string;
  /** Somebody's commit that changed what is run, and how many had landed below it; absent: the base. */
  readonly ground?: { readonly commit: string; readonly landed: number };
  /** Who does what nobody else is named for; `forced`: all of it. */
  readonly agent: string;
  readonly forced?: true;
  /** Nothing is published before a person has looked at it. */
  readonly review?: true;
  readonly maxAttempts: number;
  readonly stack: Stack;
  readonly gates: readonly Gate[];
  /** Absent: to be taken before anything begins. */
  readonly baseline?: Baseline;
  /** What each gate counted at the tip. */
  readonly counts: Readonly<Record<string, TestCounts>>;
  /** What a phase of this run made of the set-up command. */
  readonly setup?: string;
  /** The evidence of the last landing: the next one's names it, so that none can be left out. */
  readonly evidence?: string;
  readonly order: readonly RunPhase[];
  /** In the same order. */
  readonly phases: readonly PhaseProgress[];
  /** Worked out from the phases, and kept with them. */
  readonly readiness: Readiness;
  /** No longer in the plan; should they come back, their attempts still count. */
  readonly gone: readonly PhaseProgress[];
  readonly planFiles: Readonly<Record<string, string>>;
  readonly planOutside: boolean;
  /** The step of a flow whose tasks these are. */
  readonly under?: string;
  readonly landed: readonly Landing[];
  /** How many of those people can see. */
  readonly published: number;
  /** The squash of `single`, once it is made. */
  readonly squash?: string;
  /** Up to where somebody has said that it may be published. */
  readonly reviewed?: string;
  /** The event by which; absent: it began before that was kept. */
  readonly began?: number;
  readonly startedAt: string;
  readonly updatedAt: string;
  /** Absent: under way, or killed. */
  readonly ended?: RunEnd;
  readonly parkedUntil?: string;
  readonly spent?: Spent;
  readonly raised?: number;
  /** What phases have used, of runs before this one that was set aside. */
  readonly past?: readonly Past[];
  /** By agent: until when its account has nothing left. */
  readonly limited?: Readonly<Record<string, string>>;
  /** Where its files are, now that another run has taken its place. */
  readonly aside?: string;
}

export type PhaseStanding = "pending" | "running" | "complete" | "failed" | "blocked";

/** An event of a run that has not begun, or a phase that it does not have, changes nothing. */
export function evolveRun(run: PlanRun | undefined, event: RecordedEvent): PlanRun | undefined {
  if (event.type === "run-started") return run ?? (isSound(event) ? begun(event) : undefined);
  if (!run) return run;
  const next = evolved(run, event);
  if (next === run) return run;
  // Where many phases have changed at once, all are looked at again.
  const stale = next.phases !== run.phases && next.readiness === run.readiness;
  return { ...next, ...(stale && { readiness: readinessOf(next) }), updatedAt: event.at };
}

/** Ids become names of files, folders and refs: one that could lead elsewhere is no id of ours. */
const isSound = ({ run, phases }: RecordedEvent & Of<"run-started">): boolean =>
  /^r[0-9a-f]{10}$/.test(run) && phases.every(({ id }) => phaseId.test(id));

const phaseId = /^[a-z0-9][a-z0-9-]{0,47}$/;

function begun(event: RecordedEvent & Of<"run-started">): PlanRun {
  const { type: _, seq: began, at, run, phases: order, planOutside, ...rest } = event;
  const phases = order.map((phase) => notBegun(phase));
  return {
    ...rest,
    id: run,
    tip: event.base,
    order,
    phases,
    readiness: readinessOf({ order, phases }),
    gone: [],
    planOutside: planOutside === true,
    counts: {},
    landed: [],
    published: 0,
    began,
    startedAt: at,
    updatedAt: at,
  };
}

const notBegun = ({ id, skipped }: RunPhase): PhaseProgress => ({
  id,
  state: skipped === undefined ? { is: "pending" } : { is: "skipped", reason: skipped },
  attempts: 0,
  charged: 0,
  interruptions: 0,
  conflicts: 0,
  errors: [],
});

function evolved(run: PlanRun, event: RecordedEvent): PlanRun {
  switch (event.type) {
    case "run-resumed": {
      const before = event.gates ? withoutBaseline(run) : run;
      const { ended: _, parkedUntil: __, review, ...going } = before;
      // Whoever comes for work has no say in it.
      const reviewed = event.pulled ? review : event.review;
      return {
        ...going,
        ...(reviewed && { review: reviewed }),
        agent: event.agent ?? run.agent,
        ...(event.forced && { forced: event.forced }),
        ...(event.under !== undefined && { under: event.under }),
        gates: event.gates ?? run.gates,
        // A session that was killed ended with its last event.
        phases: run.phases.map((phase) => {
          const now = resumed(phase, run.updatedAt, event.pulled === true);
          return event.agent === undefined ? now : byItsAgent(run, now);
        }),
        ...withTime(run, run.updatedAt),
      };
    }
    case "plan-reread": {
      if (!event.phases.every(({ id }) => phaseId.test(id))) return run;
      const known = new Map([...run.gone, ...run.phases].map((phase) => [phase.id, phase]));
      const phases = event.phases.map((phase) => known.get(phase.id) ?? notBegun(phase));
      for (const { id } of event.phases) known.delete(id);
      return {
        ...run,
        order: event.phases,
        phases,
        gone: [...known.values()],
        planFiles: event.planFiles,
      };
    }
    case "baseline-taken": {
      const { commit, gates, accepted = {}, dropped = [], unverified = false } = event;
      if (commit !== run.tip) return run;
      return {
        ...run,
        baseline: { commit, accepted, dropped, unverified },
        counts: countsOf(gates),
      };
    }
    case "phase-landed": {
      const phase = phaseOf(run, event.phase);
      // Verified on top of something else: somebody's commits came in between, it lands again.
      if (phase?.state.is !== "verified" || phase.state.check.onto !== run.tip) return run;
      return {
        ...withPhase(run, event.phase, () => landedNow(phase, event.commit, event.at)),
        tip: event.commit,
        landed: [...run.landed, { phase: event.phase, commit: event.commit }],
        ...madeOfGates(run, phase.state.check),
      };
    }
    case "phase-published":
      return {
        ...run,
        published: run.published + 1,
        targetAt: event.commit ?? run.targetAt,
      };
    case "run-published":
      return {
        ...run,
        published: run.landed.length,
        squash: event.commit,
        targetAt: event.commit,
      };
    case "target-moved": {
      // Whatever has landed by now: a landing may have been under way when this was found out.
      const undone = new Set(run.landed.slice(run.published).map(({ phase }) => phase));
      return {
        ...withoutBaseline(run),
        tip: event.commit,
        targetAt: event.commit,
        ...(!event.runsTheSame && { ground: { commit: event.commit, landed: run.published } }),
        landed: run.landed.slice(0, run.published),
        phases: run.phases.map((phase) => (undone.has(phase.id) ? unlanded(phase) : phase)),
      };
    }
    case "target-chosen":
      return { ...run, target: event.target, targetAt: event.holds };
    case "review-passed":
      return { ...run, reviewed: event.commit };
    case "run-ended":
      return {
        ...run,
        ended: event.how,
        // Begun, but nobody came to work on it: that is no death.
        phases: run.phases.map((phase) =>
          isOurWork(phase) ? { ...phase, state: { is: "pending" } } : phase,
        ),
        ...(event.until === undefined ? {} : { parkedUntil: event.until }),
      };
    case "attempt-parked": {
      const next = withPhase(run, event.phase, (phase) => parked(phase, event));
      const { agent, kind, until } = event;
      // The account has nothing left, whatever the phase: nobody else need find that out.
      if (kind !== "usage_limit" || agent === undefined) return next;
      return { ...next, limited: { ...run.limited, [agent]: until } };
    }
    case "run-budget-raised":
      return { ...run, raised: (run.raised ?? 0) + 1 };
    case "lent-tree-kept": {
      // It may be of a phase that the plan no longer has, or of a run that was set aside.
      const back = (phase: PhaseProgress): PhaseProgress =>
        phase.id === event.phase ? backAgain(phase, event.attempt) : phase;
      return { ...run, phases: run.phases.map(back), gone: run.gone.map(back) };
    }
    case "run-set-aside":
      // History is in the journal; what nobody goes on with need not be carried along.
      return {
        ...run,
        aside: event.aside,
        past: pastOf(run),
        gone: [...run.gone, ...run.phases].filter(({ lent }) => lent !== undefined),
        order: [],
        phases: [],
        landed: [],
        published: 0,
      };
    default:
      return "phase" in event
        ? withPhase(run, event.phase, (phase) => evolvePhase(phase, event, run.maxAttempts))
        : run;
  }
}

/** Built on something else from now on, or judged by other gates: it has to be seen anew. */
function withoutBaseline(run: PlanRun): PlanRun {
  const { baseline: _, ...rest } = run;
  return { ...rest, counts: {} };
}

const countsOf = (gates: readonly GateOutcome[]): Record<string, TestCounts> =>
  Object.fromEntries(gates.flatMap(({ name, tests }) => (tests ? [[name, tests]] : [])));

/** The gates that count: all, but those that people dropped because they failed before the run. */
export const gatesOf = ({ gates, baseline }: PlanRun): readonly Gate[] =>
  gates.map((gate) =>
    baseline?.dropped.includes(gate.name)
      ? { name: gate.name, command: null, reason: "dropped: it failed before the run" }
      : gate,
  );

/** What landed is what the next phase is compared with, new gates and all. */
function madeOfGates(
  run: PlanRun,
  { gates, introduced = [], setup, evidence }: Verified["check"],
): Pick<PlanRun, "counts" | "gates" | "setup" | "evidence"> {
  const known = run.gates.map((gate) => introduced.find(({ name }) => name === gate.name) ?? gate);
  const added = introduced.filter(({ name }) => run.gates.every((gate) => gate.name !== name));
  return {
    counts: { ...run.counts, ...countsOf(gates) },
    gates: introduced.length === 0 ? run.gates : [...known, ...added],
    ...(setup !== undefined && { setup }),
    ...(evidence !== undefined && { evidence }),
  };
}

/** At least one gate has said yes to it; otherwise it is complete, unverified. */
export const isChecked = ({ gates = [] }: PhaseProgress): boolean =>
  gates.some(({ passed }) => passed === true);

/** Complete, but no gate has seen them. */
export const unverified = ({ phases }: PlanRun): readonly string[] =>
  phases.filter((phase) => phase.state.is === "landed" && !isChecked(phase)).map(({ id }) => id);

type PhaseEvent = Extract<RecordedEvent, { phase: string }>;

function evolvePhase(phase: PhaseProgress, event: PhaseEvent, most: number): PhaseProgress {
  const { state } = phase;
  switch (event.type) {
    case "attempt-started": {
      const { attempt, uuid, base, slot, at, agent, continues, folder } = event;
      const {
        agent: _agent,
        folder: _folder,
        endedAt: _,
        claim: __,
        gates: ___,
        checkedAt: ____,
        findings: _____,
        ...rest
      } = phase;
      return {
        ...rest,
        state: {
          is: "working",
          attempt,
          uuid,
          base,
          slot,
          since: at,
          ...(agent !== undefined && { agent }),
          ...(continues !== undefined && { continues }),
        },
        attempts: Math.max(phase.attempts, attempt),
        uuid,
        startedAt: phase.startedAt ?? at,
        ...(agent !== undefined && { agent }),
        ...(folder !== undefined && { folder }),
      };
    }
    case "attempt-leased": {
      if (state.is !== "working" || state.attempt !== event.attempt) return phase;
      const { attempt, lease } = event;
      const others = phase.lent?.filter((each) => each.attempt !== attempt) ?? [];
      const lent = [...others, { attempt, root: lease.root, base: state.base }];
      return { ...phase, state: { ...state, lease }, lent };
    }
    case "attempt-reported": {
      const isHeld = state.is === "working" && state.attempt === event.attempt;
      if (!isHeld || state.lease?.epoch !== event.epoch) return phase;
      return { ...phase, state: { ...state, report: event.result } };
    }
    case "session-opened": {
      if (state.is !== "working" || state.attempt !== event.attempt) return phase;
      const { agent, session: id, attempt, model } = event;
      const tokens = phase.session?.id === id ? phase.session.tokens : 0;
      const { folder = attempt } = phase;
      return {
        ...phase,
        session: { id, agent, attempt, base: state.base, folder, tokens },
        ...(model !== undefined && { model }),
      };
    }
    case "usage-counted": {
      const { tokens, cost = 0 } = event;
      const { session, spent = nothingSpent } = phase;
      return {
        ...phase,
        spent: addSpent(spent, { tokens, cost }),
        ...(session && { session: { ...session, tokens: session.tokens + tokens } }),
      };
    }
    case "attempt-delivered": {
      if (state.is !== "working") return phase;
      const { commit, claim, traces, model, at } = event;
      const { since: _, lease: __, report: ___, ...delivered } = state;
      return {
        ...settled(worked(backAgain(phase, event.attempt), at)),
        state: { ...delivered, is: "delivered", commit, claim, ...(traces && { traces }) },
        claim,
        ...(model === undefined ? {} : { model }),
      };
    }
    case "attempt-failed": {
      const { claim, gates, findings, error, attempt, at } = event;
      const charged = phase.charged + 1;
      const over = charged >= most || !isRetryable(error.type);
      return {
        ...settled(worked(backAgain(phase, attempt), at)),
        state: over ? { is: "failed", error } : { is: "pending" },
        charged,
        errors: [...phase.errors, { ...error, attempt }],
        endedAt: at,
        ...(claim && { claim }),
        ...(gates && { gates, checkedAt: at }),
        ...(findings && { findings }),
      };
    }
    case "attempt-interrupted":
      return { ...worked(phase, event.at), state: { is: "pending" } };
    case "attempt-unable": {
      const { agent, kind, message, hint } = event;
      const unable = { agent, kind, message, hint };
      const passed = [...new Set([...(phase.passed ?? []), agent])];
      return { ...worked(phase, event.at), state: { is: "pending", unable }, passed };
    }
    case "attempt-over-budget":
      return { ...worked(phase, event.at), state: { is: "pending", over: event.over } };
    case "budget-raised":
      return { ...released(phase), raised: (phase.raised ?? 0) + 1 };
    case "phase-released":
      return released(phase);
    case "attempt-conflicted": {
      const { files, attempt, at } = event;
      const error: PhaseError = {
        type: "file_conflict",
        message: `conflicts with what has landed meanwhile in ${files.join(", ")}`,
      };
      // Once more, on top of what it collided with; after that it is for people.
      const again = phase.conflicts === 0;
      return {
        ...settled(phase),
        state: again ? { is: "pending" } : { is: "failed", error },
        conflicts: phase.conflicts + 1,
        errors: [...phase.errors, { ...error, attempt }],
        endedAt: at,
      };
    }
    case "phase-verified": {
      if (state.is !== "delivered" && state.is !== "verified") return phase;
      const { type: _, phase: __, attempt: ___, seq: ____, run: _____, at, ...check } = event;
      return {
        ...phase,
        state: { ...state, is: "verified", check, verifiedAt: at },
        gates: check.gates,
        ...(check.findings && { findings: check.findings }),
        checkedAt: at,
      };
    }
    case "phase-skipped":
      return { ...phase, state: { is: "skipped", reason: event.reason }, endedAt: event.at };
    case "phase-reset":
      return { ...freshSeries(settled(phase)), state: { is: "pending" } };
    case "note-given":
      return { ...phase, notes: [...(phase.notes ?? []), event.note] };
    default:
      return phase;
  }
}

/** The time that somebody was at work on it is counted when he has left it. */
function worked(phase: PhaseProgress, at: string): PhaseProgress {
  const { state, spent = nothingSpent } = phase;
  const ms = state.is === "working" ? timeBetween(state.since, at) : 0;
  return ms > 0 ? { ...phase, spent: addSpent(spent, { ms }) } : phase;
}

const timeBetween = (from: string | undefined, to: string): number => {
  const [began, ended] = [from === undefined ? undefined : momentOf(from), momentOf(to)];
  return began === undefined || ended === undefined ? 0 : Math.max(0, ended - began);
};

/** It came to an end: there is no conversation to go on with. */
function settled(phase: PhaseProgress): PhaseProgress {
  const { session: _, parks: __, passed: ___, ...rest } = phase;
  return { ...rest, interruptions: 0 };
}

function parked(
  phase: PhaseProgress,
  { until, agent, kind, at }: At<"attempt-parked">,
): PhaseProgress {
  const isAccounts = kind === "usage_limit" && agent !== undefined;
  const { state } = phase;
  const wentOn = state.is === "working" && timeBetween(state.since, at) >= enoughWork;
  return {
    ...worked(phase, at),
    state: isAccounts ? { is: "pending" } : { is: "pending", notBefore: until },
    parks: wentOn ? 1 : (phase.parks ?? 0) + 1,
  };
}

/** Whoever was at work for so long between two waits was not kept from it. */
const enoughWork = 10 * 60_000;

type At<T extends RunEvent["type"]> = RecordedEvent & Of<T>;

function released(phase: PhaseProgress): PhaseProgress {
  if (phase.state.is !== "pending") return phase;
  const { passed: _, ...rest } = phase;
  return { ...rest, state: { is: "pending" } };
}

const landedNow = (phase: PhaseProgress, landed: string, at: string): PhaseProgress =>
  phase.state.is === "verified"
    ? { ...phase, state: { ...phase.state, is: "landed", landed }, endedAt: at }
    : phase;

/** Back to what the agent delivered: it is merged, checked and landed anew. */
function unlanded(phase: PhaseProgress): PhaseProgress {
  const { state } = phase;
  if (state.is !== "landed" && state.is !== "verified") return phase;
  const { attempt, uuid, base, slot, commit, claim, traces, agent } = state;
  const delivery = {
    attempt,
    uuid,
    base,
    slot,
    commit,
    claim,
    ...(traces && { traces }),
    ...(agent !== undefined && { agent }),
  };
  return { ...phase, state: { is: "delivered", ...delivery } };
}

/** Whoever came for a phase works on, whatever becomes of our own sessions. */
const isOurWork = ({ state }: PhaseProgress): boolean =>
  state.is === "working" && state.lease === undefined;

function backAgain(phase: PhaseProgress, attempt: number): PhaseProgress {
  const { lent, ...rest } = phase;
  const out = lent?.filter((each) => each.attempt !== attempt) ?? [];
  if (!lent || out.length === lent.length) return phase;
  return out.length > 0 ? { ...rest, lent: out } : rest;
}

/** Nobody is at work on it any more; a person who starts again gives a failure a new series. */
function resumed(before: PhaseProgress, at: string, pulled: boolean): PhaseProgress {
  if (before.state.is === "working" && !isOurWork(before)) return before;
  const phase = worked(before, at);
  if (phase.state.is === "working") {
    return { ...phase, state: { is: "pending" }, interruptions: phase.interruptions + 1 };
  }
  return phase.state.is === "failed" && !pulled
    ? { ...freshSeries(phase), state: { is: "pending" } }
    : phase;
}

/** Whose work it is does not change when others do the rest. */
function byItsAgent({ agent }: PlanRun, phase: PhaseProgress): PhaseProgress {
  const { state } = phase;
  if (!("slot" in state) || state.agent !== undefined) return phase;
  return { ...phase, state: { ...state, agent } };
}

function freshSeries(phase: PhaseProgress): PhaseProgress {
  const { startedAt: _, endedAt: __, ...rest } = phase;
  return { ...rest, charged: 0, conflicts: 0, interruptions: 0 };
}

/** Who does a phase, or did. */
export function agentOf(run: PlanRun, id: string): string {
  const state = phaseOf(run, id)?.state;
  return (state && "slot" in state ? state.agent : undefined) ?? run.agent;
}

/** Work trees that are out with somebody, of phases that the plan no longer has too. */
export const lentBy = (run: PlanRun): readonly (Lent & { readonly phase: string })[] =>
  [...run.phases, ...run.gone].flatMap(({ id, lent = [] }) =>
    lent.map((each) => ({ ...each, phase: id })),
  );

export function phaseOf(run: PlanRun, id: string): PhaseProgress | undefined {
  const at = placeOf(run.order, id);
  return at === undefined ? undefined : run.phases[at];
}

function withPhase(
  run: PlanRun,
  id: string,
  change: (phase: PhaseProgress) => PhaseProgress,
): PlanRun {
  const at = placeOf(run.order, id);
  const phase = at === undefined ? undefined : run.phases[at];
  if (at === undefined || !phase) return run;
  const changed = change(phase);
  if (changed === phase) return run;
  const phases = run.phases.with(at, changed);
  const readiness = readinessAfter(run.readiness, { order: run.order, phases }, at, phase);
  return { ...run, phases, readiness, ...spentMore(run, phase, changed) };
}

/** Kept with the run: to add all phases up each time would make long plans slow. */
function spentMore(
  { spent = nothingSpent }: PlanRun,
  { spent: before = nothingSpent }: PhaseProgress,
  { spent: after = nothingSpent }: PhaseProgress,
): Pick<PlanRun, "spent"> {
  if (before === after) return {};
  const { tokens, cost, ms } = after;
  const more = { tokens: tokens - before.tokens, cost: cost - before.cost, ms: ms - before.ms };
  return { spent: addSpent(spent, more) };
}

/** What those who were at work when a session was killed had spent on it. */
function withTime(run: PlanRun, at: string): Pick<PlanRun, "spent"> {
  return run.phases.filter(isOurWork).reduce<Pick<PlanRun, "spent">>((all, phase) => {
    const more = spentMore({ ...run, ...all }, phase, worked(phase, at));
    return more.spent ? more : all;
  }, {});
}

export { isComplete } from "./readiness.ts";

/** Which failed phase each phase waits for in vain; batch by batch, one pass is enough. */
export function blockers(run: PlanRun): Map<string, string> {
  const blocked = new Map<string, string>();
  if (run.readiness.failed === 0) return blocked;
  for (const id of batchesIn(run).flat()) {
    for (const need of run.order[placeOf(run.order, id) ?? -1]?.dependsOn ?? []) {
      const by = phaseOf(run, need)?.state.is === "failed" ? need : blocked.get(need);
      if (by === undefined) continue;
      blocked.set(id, by);
      break;
    }
  }
  return blocked;
}

export function standingOf(
  phase: PhaseProgress,
  blocked: ReadonlyMap<string, string>,
): PhaseStanding {
  switch (phase.state.is) {
    case "pending":
      // A phase between two attempts is under way.
      return blocked.has(phase.id)
        ? "blocked"
        : phase.charged + phase.conflicts > 0
          ? "running"
          : "pending";
    case "working":
    case "delivered":
    case "verified":
      return blocked.has(phase.id) ? "blocked" : "running";
    case "landed":
    case "skipped":
      return "complete";
    case "failed":
      return "failed";
  }
}
