/**
 * What a run should do next, given how far it has come and what is under way: pure, so that a dry
 * run, a simulation and every engine decide alike.
 *
 *  1. A phase begins when *its* dependencies are complete, in the plan's order, at most `jobs` at once.
 *  2. What was delivered is verified, what was verified lands: one landing at a time, since each
 *     must be checked on top of the one before.
 *  3. Publishing follows the order of landing, one at a time, and never holds up a phase.
 *  4. A move that waits for a person is withheld; everything that does not depend on it goes on.
 *  5. Whoever is to finish begins nothing; what was begun is carried to its end.
 *  6. Before anything is begun or checked, the gates are seen on what the run builds on.
 *  7. An agent whose account has nothing left is passed over for the next that may do the phase;
 *     when there is none, the phase waits for the first that will have something again. A stand-in
 *     that cannot work at all is passed over without a question.
 *  8. What somebody has come for is his until he reports it or his lease lapses. It holds no place of
 *     ours meanwhile; whoever stays waits for it.
 *  9. What people let a phase or a run use up is a limit to what begins, never to what has landed.
 */
import { type Budgets, exceeded, nothingSpent } from "../agent/budget.ts";
import { type Lease, type LeaseStanding, standingOf } from "../lease.ts";
import type { PhaseProgress, PhaseState, PlanRun, RunEnd } from "./progress.ts";
import { dependenciesMet } from "./readiness.ts";

export type Move =
  | { readonly do: "baseline" }
  | {
      readonly do: "begin";
      readonly phase: string;
      readonly attempt: number;
      readonly slot: number;
      /** Absent: the run's own. */
      readonly agent?: string;
    }
  | { readonly do: "work"; readonly phase: string; readonly slot: number }
  /** Somebody who came for it has reported: what lies in his work tree is his work. */
  | { readonly do: "take-in"; readonly phase: string; readonly slot: number }
  /** His lease is over, and nothing was reported. */
  | { readonly do: "take-back"; readonly phase: string }
  /** Until he reports, or his lease is over. */
  | { readonly do: "await-report"; readonly phase: string; readonly until: string }
  | { readonly do: "verify"; readonly phase: string; readonly slot: number }
  | { readonly do: "land"; readonly phase: string; readonly slot: number }
  | { readonly do: "ask-again"; readonly phase: string }
  /** Its agent needs a person: a login, an installation. */
  | { readonly do: "ask-agent"; readonly phase: string }
  /** What may be used up is used up; without a phase: by the whole run. */
  | { readonly do: "ask-budget"; readonly phase?: string; readonly over: string }
  | { readonly do: "publish"; readonly phase: string }
  | { readonly do: "publish-run" }
  | { readonly do: "review" }
  | { readonly do: "wait"; readonly until: string }
  | { readonly do: "end"; readonly how: RunEnd; readonly until?: string };

export interface Limits {
  /** Phases under way at once. */
  readonly jobs: number;
  /** ISO 8601, UTC. */
  readonly now: string;
  /** Only these; absent: all. */
  readonly only?: ReadonlySet<string>;
  /** Nothing is published before a person has said so. */
  readonly review: boolean;
  /** Wait for a usage limit to pass, or end as parked. */
  readonly wait: boolean;
  /** Nothing new is begun. */
  readonly stopping: boolean;
  /** What is under way comes to its end and is published; after that nothing is begun. */
  readonly finishing?: boolean;
  /** Who may do a phase, the first choice first; absent: the run's own agent does all. */
  readonly agents?: (phase: string) => readonly string[];
  readonly budgets?: Budgets;
  /** Nothing begins before that: people want their machine, or their quota, for themselves. */
  readonly quietUntil?: string;
  /** What a lease is to us; absent: somebody else's, as long as it lasts. */
  readonly leased?: (lease: Lease) => LeaseStanding;
  /** Somebody stays here until what others have come for is reported. */
  readonly awaits?: boolean;
}

/** Attempts in a row without an outcome; then a person is asked. */
export const mostInterruptions = 5;

/** What a move keeps busy: nothing else is done about it meanwhile. */
export const subjectOf = (move: Move): string => {
  switch (move.do) {
    case "publish":
    case "publish-run":
    case "review":
      return "publishing";
    case "baseline":
      return "baseline";
    case "ask-budget":
      return move.phase === undefined ? "budget" : `phase ${move.phase}`;
    case "wait":
    case "end":
      return "run";
    default:
      return `phase ${move.phase}`;
  }
};

/** `busy`: moves under way. `withheld`: subjects that wait for a person. */
export function nextMoves(
  run: PlanRun,
  limits: Limits,
  busy: readonly Move[],
  withheld: ReadonlySet<string> = new Set(),
): Move[] {
  const occupied = new Set([...busy.map(subjectOf), ...withheld]);
  const moves = limits.stopping
    ? []
    : [...phaseMoves(run, limits, busy, occupied), ...publishing(run, limits, busy, occupied)];
  return moves.length > 0 || busy.length > 0 ? moves : [ending(run, limits, withheld)];
}

function phaseMoves(
  run: PlanRun,
  limits: Limits,
  busy: readonly Move[],
  occupied: ReadonlySet<string>,
): Move[] {
  const moves: Move[] = [];
  if (!run.baseline)
    return needsBaseline(run, limits) && !occupied.has("baseline") ? [{ do: "baseline" }] : [];
  const slots = new Set(busy.flatMap((move) => ("slot" in move ? [move.slot] : [])));
  const elsewhere = new Set(slotsElsewhere(run, limits));
  let landing = busy.some((move) => move.do === "land");
  // What was begun goes first, chosen or not: it has a claim to its place.
  let begun = busy.filter(({ do: what }) => what === "begin").length;
  for (const at of run.readiness.active) {
    const { id, state } = run.phases[at] ?? {};
    if (id === undefined || !state || !("slot" in state)) continue;
    const lent = standing(state, limits);
    if (occupied.has(`phase ${id}`)) {
      if (lent !== "theirs") begun++;
      continue;
    }
    if (lent === "theirs" && state.is === "working") {
      const until = state.lease?.until ?? limits.now;
      if (limits.awaits && !limits.finishing) moves.push({ do: "await-report", phase: id, until });
      continue;
    }
    // What waits for a phase that has to land again holds no place meanwhile.
    if (!dependenciesMet(run, at)) continue;
    if (lent === "lapsed") {
      moves.push({ do: "take-back", phase: id });
      continue;
    }
    begun++;
    if (slots.size >= limits.jobs) continue;
    const slot = slots.has(state.slot) ? lowestFree(slots, elsewhere) : state.slot;
    const isIn = lent === "reported";
    if (state.is === "working") moves.push({ do: isIn ? "take-in" : "work", phase: id, slot });
    else if (state.is === "delivered") moves.push({ do: "verify", phase: id, slot });
    else if (landing) continue;
    else {
      landing = true;
      moves.push({ do: "land", phase: id, slot });
    }
    slots.add(slot);
  }
  if (limits.finishing) return moves;
  const over = overspent(run, limits);
  for (const at of run.readiness.ready) {
    if (begun >= limits.jobs || slots.size >= limits.jobs) break;
    const phase = run.phases[at];
    if (!phase || limits.only?.has(phase.id) === false) continue;
    if (occupied.has(`phase ${phase.id}`) || heldUntil(run, phase, limits) !== undefined) continue;
    const question = over === undefined ? questionAbout(run, phase, limits) : undefined;
    if (question) {
      moves.push(question);
      continue;
    }
    if (over !== undefined) {
      if (!occupied.has("budget")) moves.push({ do: "ask-budget", over });
      break;
    }
    const slot = lowestFree(slots, elsewhere);
    slots.add(slot);
    begun++;
    moves.push({
      do: "begin",
      phase: phase.id,
      attempt: phase.attempts + 1,
      slot,
      ...(limits.agents && { agent: freeAgent(run, phase, limits) ?? run.agent }),
    });
  }
  return [...moves, ...waiting(run, limits, busy, begun, occupied)];
}

/** Whatever is yet to be done will be compared with it. */
const needsBaseline = (run: PlanRun, { only }: Limits): boolean =>
  run.readiness.active.length > 0 ||
  run.readiness.ready.some((at) => only?.has(run.phases[at]?.id ?? "") !== false);

/** A place is free and somebody is parked: the moment when it may go on is waited for. */
function waiting(
  run: PlanRun,
  limits: Limits,
  busy: readonly Move[],
  begun: number,
  occupied: ReadonlySet<string>,
): Move[] {
  if (!limits.wait || begun >= limits.jobs) return [];
  const until = earliestParked(run, limits, occupied);
  if (until === undefined) return [];
  const already = busy.some((move) => move.do === "wait" && move.until <= until);
  return already ? [] : [{ do: "wait", until }];
}

/** What a person has to say before the phase can begin. */
function questionAbout(run: PlanRun, phase: PhaseProgress, limits: Limits): Move | undefined {
  const { budgets } = limits;
  const { id, state, spent = nothingSpent, raised = 0 } = phase;
  if (phase.interruptions >= mostInterruptions) return { do: "ask-again", phase: id };
  if (state.is !== "pending") return undefined;
  // Nobody is asked about one that only stands in: it is passed over.
  if (state.unable && state.unable.agent === candidatesFor(run, phase, limits)[0]) {
    return { do: "ask-agent", phase: id };
  }
  const over = state.over ?? (budgets && exceeded(spent, budgets.phase, raised + 1));
  return over === undefined ? undefined : { do: "ask-budget", phase: id, over };
}

const overspent = (
  { spent = nothingSpent, raised = 0 }: PlanRun,
  { budgets }: Limits,
): string | undefined => budgets && exceeded(spent, budgets.run, raised + 1);

/** The first of those that may do it whose account has something left. */
const freeAgent = (run: PlanRun, phase: PhaseProgress, limits: Limits): string | undefined =>
  candidatesFor(run, phase, limits).find((agent) => limitOf(run, agent) <= limits.now);

const candidatesFor = (
  run: PlanRun,
  { id, passed = [] }: PhaseProgress,
  { agents }: Pick<Limits, "agents">,
): readonly string[] =>
  (agents?.(id) ?? [run.agent]).filter((agent, at) => at === 0 || !passed.includes(agent));

const limitOf = ({ limited = {} }: PlanRun, agent: string): string =>
  Object.hasOwn(limited, agent) ? (limited[agent] ?? "") : "";

/** When it may begin; undefined: now. */
function heldUntil(
  run: PlanRun,
  phase: PhaseProgress,
  limits: Pick<Limits, "now" | "agents" | "quietUntil">,
): string | undefined {
  const { state } = phase;
  if (state.is !== "pending") return undefined;
  const limitsOf = candidatesFor(run, phase, limits).map((agent) => limitOf(run, agent));
  const free = limitsOf.reduce((first, each) => (each < first ? each : first), limitsOf[0] ?? "");
  const { quietUntil = "" } = limits;
  const until = [state.notBefore ?? "", free, quietUntil].reduce((one, other) =>
    other > one ? other : one,
  );
  return until > limits.now ? until : undefined;
}

/**
 * When the first of those that wait may begin; undefined: none waits for a time alone. What a
 * person has to answer first (`withheld`) does not go on by itself.
 */
export function earliestParked(
  run: PlanRun,
  limits: Pick<Limits, "now" | "only" | "agents" | "quietUntil">,
  withheld: ReadonlySet<string> = new Set(),
): string | undefined {
  if ((!run.baseline && withheld.has("baseline")) || withheld.has("budget")) return undefined;
  let earliest: string | undefined;
  // Whoever was parked had begun: what it waits for is complete.
  for (const at of run.readiness.ready) {
    const phase = run.phases[at];
    if (!phase || limits.only?.has(phase.id) === false) continue;
    if (withheld.has(`phase ${phase.id}`)) continue;
    const until = heldUntil(run, phase, limits);
    if (until !== undefined && (earliest === undefined || until < earliest)) earliest = until;
  }
  return earliest;
}

function lowestFree(slots: ReadonlySet<number>, elsewhere: ReadonlySet<number>): number {
  let slot = 0;
  while (slots.has(slot) || elsewhere.has(slot)) slot++;
  return slot;
}

/** What becomes of a phase that somebody has come for; undefined: nobody has. */
function standing(
  state: PhaseState,
  limits: Pick<Limits, "now" | "leased">,
): LeaseStanding | "reported" | undefined {
  if (state.is !== "working" || !state.lease) return undefined;
  if (state.report) return "reported";
  return standingOf(state.lease, limits);
}

/** Ports of those who work elsewhere: they hold no place here, but their servers do. */
const slotsElsewhere = (run: PlanRun, limits: Limits): number[] =>
  run.readiness.active.flatMap((at) => {
    const { state } = run.phases[at] ?? {};
    return state && "slot" in state && standing(state, limits) === "theirs" ? [state.slot] : [];
  });

/** When the first of those who came for work has had it long enough. */
function earliestLease(run: PlanRun, limits: Limits): string | undefined {
  const ends = run.readiness.active.flatMap((at) => {
    const { state } = run.phases[at] ?? {};
    return state?.is === "working" && standing(state, limits) === "theirs"
      ? [state.lease?.until ?? ""]
      : [];
  });
  return ends.sort()[0];
}

function publishing(
  run: PlanRun,
  limits: Limits,
  busy: readonly Move[],
  occupied: ReadonlySet<string>,
): Move[] {
  if (occupied.has("publishing")) return [];
  const next = run.landed[run.published];
  if (!next) return [];
  if (limits.review && run.reviewed !== run.tip) {
    // What is asked of a part would be overtaken as soon as the rest goes on, whatever was answered.
    if (limits.finishing) return [];
    const quiet = busy.length === 0 && phaseMoves(run, limits, busy, occupied).length === 0;
    return quiet ? [{ do: "review" }] : [];
  }
  if (run.mode !== "single") return [{ do: "publish", phase: next.phase }];
  return isWhole(run) ? [{ do: "publish-run" }] : [];
}

const isWhole = ({ readiness, phases }: PlanRun): boolean => readiness.complete === phases.length;

function ending(run: PlanRun, limits: Limits, withheld: ReadonlySet<string>): Move {
  const published = run.published === run.landed.length;
  if (isWhole(run) && published) return { do: "end", how: "complete" };
  if (limits.stopping) return { do: "end", how: "interrupted" };
  if (limits.finishing) return { do: "end", how: "stopped" };
  const parked = earliestParked(run, limits, withheld);
  if (parked !== undefined) return { do: "end", how: "parked", until: parked };
  if (withheld.size > 0) return { do: "end", how: "asking" };
  const lent = earliestLease(run, limits);
  if (lent !== undefined) return { do: "end", how: "parked", until: lent };
  const failed = run.readiness.failed > 0;
  return { do: "end", how: failed || limits.only === undefined ? "halted" : "stopped" };
}
