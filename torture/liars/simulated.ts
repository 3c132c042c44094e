/**
 * Whole runs without processes: the real judgement, the real driver and the real fold, and agents
 * who do again what witnesses have seen real ones do. Lies are told together, with honest habits
 * beside them, over phases and attempts, in other words and another order; some are mended later,
 * some never, until nobody may try any more.
 *
 * The oracle knows which kinds were put in, and nothing of findings: a phase lands with the first
 * attempt in which nobody lies, if that comes in time and everything that it waits for has landed.
 */
import { isDeepStrictEqual } from "node:util";
import { Event, type RecordedEvent } from "../../src/core/event.ts";
import { fail, type Result, succeed } from "../../src/core/failure.ts";
import type { Move } from "../../src/core/plan/next-moves.ts";
import type { PhaseError } from "../../src/core/plan/phase-error.ts";
import { evolveRun, type PlanRun, phaseOf } from "../../src/core/plan/progress.ts";
import type { RunEvent, RunPhase } from "../../src/core/plan/run-event.ts";
import { type Performed, runPlan } from "../../src/core/plan/run-plan.ts";
import type { Facts } from "../../src/core/verification/facts.ts";
import type { VerificationFinding } from "../../src/core/verification/finding-table.ts";
import { errorFrom, isFailure, verify } from "../../src/core/verification.ts";
import { type Random, randomFrom } from "../rig.ts";
import { joinedFacts } from "./joined-facts.ts";
import { DoesNotFit, type Liar } from "./kind.ts";
import type { ProjectName } from "./project.ts";
import type { Hearing } from "./testimony.ts";
import { varied } from "./varied-facts.ts";

/** One real attempt, of which it is known who made it. */
export interface Witness extends Hearing {
  readonly name: string;
  readonly project: ProjectName;
  /** Absent: it was honest. */
  readonly lie?: Liar;
  /** Nothing was different before the run: it can be joined with others of its project. */
  readonly common: boolean;
}

/** Asked for when it is needed; undefined: there is nothing of that kind to be seen here. */
export interface Source {
  readonly project: ProjectName;
  ask(): Promise<Witness | undefined>;
}

export interface Pool {
  readonly liars: readonly Source[];
  readonly honest: readonly Source[];
  /** Who does plainly what the phase says. */
  plain(project: ProjectName): Promise<Witness | undefined>;
}

// ── the judgement ──────────────────────────────────────────────────────────────────────────────

interface Verdict {
  readonly findings: readonly VerificationFinding[];
  /** Absent: it may land. */
  readonly error?: PhaseError;
}

/** As a verification does it; `bitten` is what only another run of the tests can tell. */
function verdictOn(facts: Facts, bitten: readonly VerificationFinding[]): Verdict {
  const found = verify(facts);
  const findings = found.some(isFailure) ? found : [...found, ...bitten];
  const error = errorFrom(findings);
  return { findings, ...(error && { error }) };
}

const recorded = ({ code, level, message, file, line }: VerificationFinding) => ({
  code,
  level,
  message,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
});

/** The one thing that is told and is no matter of facts. */
const bittenIn = ({ told }: Hearing): VerificationFinding[] =>
  (told.findings ?? []).filter(({ code }) => code === "tests-do-not-bite");

/** Whether judging the facts again says, word for word, what the run has put on record. */
export function wrongAboutHearing(hearing: Hearing): string | undefined {
  const { told, facts } = hearing;
  if (!facts) return undefined;
  const { findings, error } = verdictOn(facts, bittenIn(hearing));
  const again = findings.map(recorded);
  const kept = told.type === "attempt-failed" ? told.error : undefined;
  const same =
    isDeepStrictEqual(again, told.findings ?? []) &&
    isDeepStrictEqual(facts.gates, told.gates) &&
    kept?.type === error?.type &&
    kept?.message === error?.message;
  if (same) return undefined;
  const codes = (all: readonly { readonly code: string }[]): string =>
    all.map(({ code }) => code).join(", ");
  return `judged again it differs: ${error?.message} (${codes(again)}), on record is ${kept?.message} (${codes(told.findings ?? [])})`;
}

/**
 * Whether the facts of two, put together, are judged as those of somebody who really did both;
 * "not compared" where there is no such agent, or his two deeds got into each other's way.
 */
export function wrongAboutJoining(
  both: Hearing,
  ...[plain, first, second]: readonly (Hearing | undefined)[]
): string | undefined {
  const made = fitting(plain?.facts, first?.facts, second?.facts);
  if (!made || !both.facts) return "not compared";
  const [thought, seen] = [verdictOn(made, []), verdictOn(both.facts, bittenIn(both))];
  if ((thought.error === undefined) === (seen.error === undefined)) return undefined;
  return `put together it is otherwise: ${thought.error?.message}, really ${seen.error?.message}`;
}

// ── what is played ─────────────────────────────────────────────────────────────────────────────

/** What an agent does in one attempt. */
interface Act {
  readonly name: string;
  readonly lies: readonly Liar[];
  readonly facts?: Facts;
  readonly bitten: readonly VerificationFinding[];
  /** It never came to a verification. */
  readonly error?: PhaseError;
}

interface Part {
  readonly phase: RunPhase;
  /** By attempt that counts; the last one for ever. */
  readonly acts: readonly Act[];
}

interface Play {
  readonly parts: readonly Part[];
  readonly maxAttempts: number;
  readonly jobs: number;
  /** So often somebody starts it again after it has halted. */
  readonly sessions: number;
}

/** Every fifth is honest from beginning to end. */
const isHonestRun = (index: number): boolean => index % 5 === 4;

async function playOf(pool: Pool, draw: Random, index: number): Promise<Play> {
  const [maxAttempts, sessions] = [draw.between(1, 4), draw.between(1, 2)];
  const parts: Part[] = [];
  const size = draw.between(1, 6);
  const liar = isHonestRun(index) ? -1 : draw.below(size);
  for (let at = 0; at < size; at++) {
    const lies = at === liar || (liar >= 0 && draw.chance(0.4));
    const acts: Act[] = [];
    const most = maxAttempts * sessions + 1;
    for (let times = lies ? draw.between(1, most) : 0; times > 0; times--) {
      // Nobody is left out: each has its turn to be the first.
      const first = at === liar && acts.length === 0 ? pool.liars[turnOf(index, pool)] : undefined;
      acts.push(await lyingAct(pool, draw, first));
    }
    if (!lies || draw.chance(0.6)) acts.push(await honestAct(pool, draw));
    const dependsOn = parts.filter(() => draw.chance(0.25)).map(({ phase }) => phase.id);
    parts.push({ phase: phaseNamed(`p${at + 1}`, dependsOn), acts });
  }
  return { parts, maxAttempts, sessions, jobs: draw.between(1, 4) };
}

const turnOf = (index: number, { liars }: Pool): number =>
  (index - Math.floor(index / 5)) % liars.length;

const phaseNamed = (id: string, dependsOn: string[]): RunPhase => ({
  id,
  written: id,
  name: id,
  dependsOn,
  parallelWith: [],
  tasks: 1,
  asks: id,
});

async function lyingAct(pool: Pool, draw: Random, first: Source | undefined): Promise<Act> {
  const lie = (await first?.ask()) ?? (await drawn(pool.liars, draw));
  const beside = [
    ...(draw.chance(0.3) ? [pool.liars] : []),
    ...(draw.chance(0.5) ? [pool.honest] : []),
  ];
  return told(await joinedAct(pool, draw, lie, beside), draw);
}

async function honestAct(pool: Pool, draw: Random): Promise<Act> {
  const beside = draw.chance(0.5) ? [pool.honest] : [];
  return told(await joinedAct(pool, draw, await drawn(pool.honest, draw), beside), draw);
}

async function drawn(sources: readonly Source[], draw: Random): Promise<Witness> {
  for (let times = 0; times < 1000; times++) {
    const witness = await sources[draw.below(sources.length)]?.ask();
    if (witness) return witness;
  }
  throw new Error("nobody has seen anything");
}

const actOf = (witness: Witness): Act => ({
  name: `${witness.name} in ${witness.project}`,
  lies: witness.lie ? [witness.lie] : [],
  bitten: bittenIn(witness),
  ...(witness.facts
    ? { facts: witness.facts }
    : witness.told.type === "attempt-failed" && { error: witness.told.error }),
});

/** With one more of each of these, as far as there is somebody who can do both at once. */
async function joinedAct(
  pool: Pool,
  draw: Random,
  witness: Witness,
  beside: readonly (readonly Source[])[],
): Promise<Act> {
  const plain = witness.common ? await pool.plain(witness.project) : undefined;
  let act = actOf(witness);
  for (const sources of plain ? beside : []) {
    const near = sources.filter(({ project }) => project === witness.project);
    for (let times = 0; times < 6 && near.length > 0; times++) {
      const other = await near[draw.below(near.length)]?.ask();
      if (!other?.common || act.name.includes(other.name)) continue;
      const facts = fitting(plain?.facts, act.facts, other.facts);
      if (!facts) continue;
      const lies = [...act.lies, ...(other.lie ? [other.lie] : [])];
      act = { name: `${other.name} + ${act.name}`, lies, facts, bitten: act.bitten };
      break;
    }
  }
  return act;
}

function fitting(...all: readonly (Facts | undefined)[]): Facts | undefined {
  const [plain, one, other] = all;
  if (!plain || !one || !other) return undefined;
  try {
    return joinedFacts(plain, one, other);
  } catch (error) {
    if (error instanceof DoesNotFit) return undefined;
    throw error;
  }
}

const told = (act: Act, draw: Random): Act =>
  act.facts ? { ...act, facts: varied(act.facts, draw, act.lies.length === 0) } : act;

// ── the run ────────────────────────────────────────────────────────────────────────────────────

const runId = "r0123456789";
const now = "2026-01-01T00:00:00.000Z";

interface Played {
  readonly run: PlanRun;
  readonly log: readonly RecordedEvent[];
}

async function played(play: Play, draw: Random): Promise<Played> {
  const log: RecordedEvent[] = [];
  let run: PlanRun | undefined;
  const record = (events: readonly RunEvent[]): Promise<Result<PlanRun>> => {
    for (const event of events) {
      const recorded = { ...event, seq: log.length, at: now, run: runId } as RecordedEvent;
      log.push(recorded);
      run = evolveRun(run, recorded);
    }
    return Promise.resolve(run ? succeed(run) : fail("disk", "there is no run"));
  };
  let moves = 0;
  await record([started(play)]);
  for (let session = 1; session <= play.sessions; session++) {
    if (session > 1) await record([{ type: "run-resumed" }]);
    if (!run) throw new Error("there is no run");
    const { run: ended } = await runPlan(run, {
      limits: () => ({ jobs: play.jobs, now, review: false, wait: false, stopping: false }),
      perform(move, known) {
        if (++moves > 2000) throw new Error("it does not come to an end");
        return Promise.resolve(performed(move, known, play, log, draw));
      },
      record,
      callOff() {},
      first: (all) => all[draw.below(all.length)] as (typeof all)[number],
    });
    if (ended.ended === "complete") break;
  }
  if (!run) throw new Error("there is no run");
  return { run, log };
}

const started = ({ parts, maxAttempts }: Play): RunEvent => ({
  type: "run-started",
  plan: "docs/shop-plan.md",
  format: "autobuild",
  title: "Shop",
  mode: "auto",
  target: "refs/heads/main",
  base: "c0",
  targetAt: "c0",
  agent: "liar",
  maxAttempts,
  stack: {
    language: null,
    framework: null,
    package_manager: null,
    test_framework: null,
    linter: null,
    formatter: null,
  },
  gates: [],
  phases: parts.map(({ phase }) => phase),
  planFiles: {},
});

const done = (...events: RunEvent[]): Performed => ({ is: "done", events });

function performed(
  move: Move,
  run: PlanRun,
  { parts }: Play,
  log: readonly RecordedEvent[],
  draw: Random,
): Performed {
  if (move.do === "baseline") return done({ type: "baseline-taken", commit: run.tip, gates: [] });
  if (!("phase" in move) || move.phase === undefined) throw new Error(`nobody asked: ${move.do}`);
  const { phase } = move;
  const state = phaseOf(run, phase)?.state;
  const part = parts.find((each) => each.phase.id === phase);
  if (!state || !part) throw new Error(`there is no phase ${phase}`);
  const act = part.acts[Math.min(failuresOf(log, phase).length, part.acts.length - 1)];
  if (!act) throw new Error(`nobody does ${phase}`);
  if (move.do === "begin") {
    const { attempt, slot } = move;
    const uuid = `${phase}-${attempt}`;
    return done({ type: "attempt-started", phase, attempt, slot, uuid, base: run.tip });
  }
  if (move.do === "publish") {
    const commit = run.landed[run.published]?.commit ?? null;
    return done({ type: "phase-published", phase, commit, kept: [] });
  }
  if (state.is === "working") {
    const { attempt } = state;
    // Somebody trips over the cable: that is nobody's attempt.
    if (draw.chance(0.05)) {
      return done({ type: "attempt-interrupted", phase, attempt, reason: "asked to stop" });
    }
    if (!act.facts) {
      const error = act.error ?? { type: "agent_crash" as const, message: "it ended" };
      return done({ type: "attempt-failed", phase, attempt, error });
    }
    const { claim, traces } = act.facts;
    const commit = `w-${phase}-${attempt}`;
    return done({ type: "attempt-delivered", phase, attempt, commit, claim, traces });
  }
  if (state.is === "verified" && state.check.onto === run.tip) {
    const { attempt, check } = state;
    return done({ type: "phase-landed", phase, attempt, commit: check.commit });
  }
  if (state.is !== "delivered" && state.is !== "verified") {
    throw new Error(`${move.do} for a phase that is ${state.is}`);
  }
  return done(judgedNow(act, run, phase, state.attempt));
}

function judgedNow(act: Act, run: PlanRun, phase: string, attempt: number): RunEvent {
  if (!act.facts) throw new Error(`${act.name} has delivered nothing`);
  const { claim, changes } = act.facts;
  const gates = [...act.facts.gates];
  const { findings: found, error } = verdictOn(act.facts, act.bitten);
  const findings = found.map(recorded);
  if (error) return { type: "attempt-failed", phase, attempt, error, gates, findings, claim };
  const paths = (is: "created" | "modified" | "deleted"): string[] =>
    changes.filter(({ change }) => change === is).map(({ path }) => path);
  return {
    type: "phase-verified",
    phase,
    attempt,
    onto: run.tip,
    commit: `c-${phase}-${attempt}-${run.landed.length}`,
    message: claim.message,
    created: paths("created"),
    modified: paths("modified"),
    deleted: paths("deleted"),
    gates,
    ...(findings.length > 0 && { findings }),
    tasksChecked: 1,
    doneChecked: 0,
    statusUpdated: true,
  };
}

type Failed = Extract<RecordedEvent, { type: "attempt-failed" }>;

const failuresOf = (log: readonly RecordedEvent[], phase: string): Failed[] =>
  log.filter((event): event is Failed => event.type === "attempt-failed" && event.phase === phase);

// ── the oracle ─────────────────────────────────────────────────────────────────────────────────

interface Fate {
  /** In which session it lands; Infinity: never. */
  readonly lands: number;
  /** How many attempts have to fail. */
  readonly failures: number;
}

/** By who lies and who does not, and by nothing else. */
function fatesIn({ parts, maxAttempts, sessions }: Play): Map<string, Fate> {
  const fates = new Map<string, Fate>();
  for (const { phase, acts } of parts) {
    const from = Math.max(1, ...phase.dependsOn.map((need) => fates.get(need)?.lands ?? 1));
    const honest = acts.findIndex(({ lies }) => lies.length === 0);
    const lands = honest < 0 ? Infinity : from + Math.floor(honest / maxAttempts);
    const chances = from > sessions ? 0 : (sessions - from + 1) * maxAttempts;
    fates.set(
      phase.id,
      lands <= sessions ? { lands, failures: honest } : { lands: Infinity, failures: chances },
    );
  }
  return fates;
}

function wrongIn(play: Play, { run, log }: Played): string[] {
  const wrong: string[] = [];
  const fates = fatesIn(play);
  const landed = new Set(run.landed.map(({ phase }) => phase));
  for (const { phase, acts } of play.parts) {
    const fate = fates.get(phase.id);
    const failures = failuresOf(log, phase.id);
    const act = (at: number): Act | undefined => acts[Math.min(at, acts.length - 1)];
    const last = act(failures.length);
    const why = failures.at(-1);
    if (
      landed.has(phase.id) &&
      (fate?.lands === Infinity || failures.length < (fate?.failures ?? 0))
    )
      wrong.push(`${last?.name}: believed, after ${failures.length} failures`);
    else if (!landed.has(phase.id) && fate?.lands !== Infinity)
      wrong.push(`${act(fate?.failures ?? 0)?.name}: refused: ${why?.error.message}`);
    else if (failures.length !== fate?.failures)
      wrong.push(`${last?.name}: ${failures.length} failures, not ${fate?.failures}`);
    wrong.push(...failures.flatMap((failure, at) => misnamedIn(act(at), failure)));
  }
  if (run.published !== run.landed.length) wrong.push("something that landed is not published");
  const unreadable = log.find((event) => !Event.safeParse(event).success);
  if (unreadable) wrong.push(`an event that cannot be read: ${unreadable.type}`);
  return wrong;
}

/** The lies of an attempt that are on record under another name. */
function misnamedIn(act: Act | undefined, failure: Failed): string[] {
  const codes = (failure.findings ?? []).map(({ code }) => code).join(", ");
  return (act?.lies ?? [])
    .filter((lie) => !isNamed(lie, failure) && !isOvertaken(lie, act?.lies ?? []))
    .map((lie) => `${act?.name}: ${lie.name} is named wrongly: ${failure.error.type}, ${codes}`);
}

/** Where another has done what this one only said, the deed gives the attempt its name. */
const isOvertaken = ({ tree, script }: Liar, all: readonly Liar[]): boolean =>
  all.length > 1 && tree === undefined && script === undefined;

/** Each by its own name, whatever was done beside it. */
const isNamed = ({ expect, lasting, joined }: Liar, { error, findings = [] }: Failed): boolean =>
  expect.errors?.includes(error.type) === true ||
  findings.some(({ code, level }) => level === "error" && expect.codes.includes(code)) ||
  ((lasting || joined) === true && error.type === "agent_crash");

// ── all of it ──────────────────────────────────────────────────────────────────────────────────

export interface Simulated {
  readonly index: number;
  /** Lies that were told, and honest work that was to be accepted. */
  readonly lies: number;
  readonly honest: number;
  readonly mended: number;
  readonly isHonest: boolean;
  readonly wrong: readonly string[];
}

export async function simulate(pool: Pool, seed: number, index: number): Promise<Simulated> {
  const play = await playOf(pool, randomFrom(seed, index, 5), index);
  const result = await played(play, randomFrom(seed, index, 6));
  const attempts = play.parts.flatMap(({ phase, acts }) =>
    failuresOf(result.log, phase.id).map((_, at) => acts[Math.min(at, acts.length - 1)]),
  );
  const landed = result.run.landed.map(({ phase }) => failuresOf(result.log, phase).length);
  return {
    index,
    lies: attempts.reduce((sum, act) => sum + (act?.lies.length ?? 0), 0),
    honest: landed.length,
    mended: landed.filter((failures) => failures > 0).length,
    isHonest: isHonestRun(index),
    wrong: wrongIn(play, result),
  };
}
