/**
 * One process, no disk, no clock: the real driver and the real fold in a made-up world, in an
 * order that a seed chooses, dying between any two steps as often as the scenario says. What the
 * store holds and what was done to the world stay; everything else is gone, and the next session
 * goes on from there.
 */
import { isDeepStrictEqual } from "node:util";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { Event, type RecordedEvent } from "../src/core/event.ts";
import { fail, type Result, succeed } from "../src/core/failure.ts";
import type { Limits, Move } from "../src/core/plan/next-moves.ts";
import { subjectOf } from "../src/core/plan/next-moves.ts";
import { blockers, evolveRun, type PlanRun, standingOf } from "../src/core/plan/progress.ts";
import type { RunEvent } from "../src/core/plan/run-event.ts";
import { type Performed, runPlan } from "../src/core/plan/run-plan.ts";
import type { Store, Session as StoreSession } from "../src/store.ts";
import { createMemoryStore } from "../src/stores/memory.ts";
import { type Random, randomFrom } from "./rig.ts";
import { type Facts, RunModel, type Standing } from "./run-model.ts";
import { type Scenario, scenarioOf, undisturbed } from "./run-scenario.ts";
import { base, createWorld, iso, runId, type Session, type Task, type World } from "./run-world.ts";

export interface Share {
  readonly seed: number;
  /** Cases from here … */
  readonly from: number;
  /** … up to, not including, here, … */
  readonly to: number;
  /** … every so manieth of them; 1 if absent. */
  readonly stride?: number;
  /** At most so many phases. */
  readonly most?: number;
  /** One is enough. */
  readonly firstOnly?: boolean;
}

export interface Tally {
  runs: number;
  phases: number;
  sessions: number;
  crashes: number;
  moves: number;
  events: number;
}

export interface Found {
  readonly tally: Tally;
  readonly ends: Map<string, number>;
  /** By kind: how often, and in which case first. */
  readonly breaches: Map<string, { times: number; index: number; what: string }>;
}

export async function simulate(share: Share): Promise<Found> {
  process.on("unhandledRejection", unlessCrash);
  try {
    return await simulated(share);
  } finally {
    // What was under way in a session that crashed may only now be found to have been.
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off("unhandledRejection", unlessCrash);
  }
}

/** A move that was under way when its session crashed crashes too, and nobody is left to hear it. */
function unlessCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error;
}

async function simulated(share: Share): Promise<Found> {
  const tally = { runs: 0, phases: 0, sessions: 0, crashes: 0, moves: 0, events: 0 };
  const found: Found = { tally, ends: new Map(), breaches: new Map() };
  for (let index = share.from; index < share.to; index += share.stride ?? 1) {
    const scenario = scenarioOf(share.seed, index, share.most);
    const breaches = await liveThrough(scenario, randomFrom(share.seed, index, 2), found);
    if (scenario.crashes > 0 && index % 3 === 0) {
      // What would have been, had nothing happened.
      const calm = await liveThrough(
        undisturbed(scenario),
        randomFrom(share.seed, index, 3),
        found,
      );
      for (const [kind, what] of calm) breaches.set(kind, `undisturbed: ${what}`);
    }
    for (const [kind, what] of breaches) {
      const known = found.breaches.get(kind);
      if (known) known.times++;
      else found.breaches.set(kind, { times: 1, index, what });
    }
    if (share.firstOnly && breaches.size > 0) break;
  }
  return found;
}

// ── a whole run ────────────────────────────────────────────────────────────────────────────────

class Crash extends Error {}
class Stuck extends Error {}

interface Life {
  readonly scenario: Scenario;
  readonly random: Random;
  readonly world: World;
  readonly store: Store;
  readonly model: RunModel;
  readonly log: RecordedEvent[];
  readonly turns: Map<string, number>;
  readonly begun: Set<string>;
  readonly found: Found;
  /** A run as it was written down after `events` of them. */
  snapshot: { readonly events: number; readonly text: string } | undefined;
  crashesLeft: number;
  stopsLeft: number;
  untilCrash: number;
}

async function liveThrough(
  scenario: Scenario,
  random: Random,
  found: Found,
): Promise<Map<string, string>> {
  const { phases, mode, maxAttempts } = scenario;
  const model = new RunModel(phases, mode, maxAttempts, base);
  const life: Life = {
    scenario,
    random,
    world: createWorld(scenario),
    store: createMemoryStore(),
    model,
    log: [],
    turns: new Map(),
    begun: new Set(),
    found,
    snapshot: undefined,
    crashesLeft: scenario.crashes,
    stopsLeft: scenario.stops,
    untilCrash: 0,
  };
  found.tally.runs++;
  found.tally.phases += phases.length;
  life.untilCrash = gap(life);
  const breach = (kind: string, what: string): void => {
    if (!model.breaches.has(kind)) model.breaches.set(kind, what);
  };
  try {
    await untilNothingChanges(life, breach);
    checkReplay(life, breach);
  } catch (error) {
    if (!(error instanceof Stuck)) {
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      breach("the driver broke", said.split("\n").slice(0, 3).join(" / "));
    } else breach("it does not come to an end", error.message);
  }
  return new Map([...model.breaches, ...life.world.breaches]);
}

const gap = ({ random, scenario }: Life): number =>
  1 + Math.floor(-Math.log(1 - random.fraction()) * scenario.crashGap);

type Breach = (kind: string, what: string) => void;

async function untilNothingChanges(life: Life, breach: Breach): Promise<void> {
  const { scenario, random, world, model, found } = life;
  const turns = [...scenario.behaviours.values()].reduce((sum, each) => sum + each.turns.length, 0);
  const most = 80 + 2 * turns + scenario.crashes + 4 * scenario.commitsByPeople;
  let firstCalmEnd = true;
  for (let sessions = 0; ; sessions++) {
    if (sessions > most) throw new Stuck(`${sessions} sessions: ${model.summary()}`);
    const before = standOf(life);
    const only = random.chance(scenario.selections) ? selection(life) : undefined;
    const end = await oneSession(life, sessions, only);
    const { run } = end;
    found.ends.set(end.how, (found.ends.get(end.how) ?? 0) + 1);
    world.now += random.below(60) * 1000;
    const answered = (end.how === "asking" || random.chance(0.3)) && world.answerLater();
    if (end.how === "complete") break;
    const calm = (end.how === "halted" || end.how === "asking") && only === undefined;
    if (end.how === "halted" && run) checkStanding(run, model, breach);
    if (calm && firstCalmEnd) {
      firstCalmEnd = false;
      if (end.how === "halted") checkFirstEnd(life, sessions === 0, breach);
    }
    if (end.how === "crashed") found.tally.crashes++;
    if (end.how === "parked" && run?.parkedUntil !== undefined && random.chance(0.7))
      world.now = Math.max(world.now, Date.parse(run.parkedUntil));
    if (calm && before === standOf(life) && !answered) break;
  }
  checkEnd(life, breach);
}

/** Some phases, with everything that they wait for. */
function selection({ scenario, random, model }: Life): ReadonlySet<string> {
  const standing = model.standing();
  const chosen = new Set(scenario.phases.filter(() => random.chance(0.3)).map(({ id }) => id));
  for (let size = -1; size !== chosen.size; ) {
    size = chosen.size;
    for (const { id, dependsOn } of scenario.phases) {
      if (!chosen.has(id)) continue;
      for (const need of dependsOn) if (standing.get(need) !== "complete") chosen.add(need);
    }
  }
  return chosen;
}

// ── one session ────────────────────────────────────────────────────────────────────────────────

interface Ended {
  readonly how: string;
  readonly run?: PlanRun;
}

interface UnderWay {
  readonly move: Move;
  readonly task: Task;
  finished: boolean;
  resolve(performed: Performed): void;
}

async function oneSession(
  life: Life,
  number: number,
  only: ReadonlySet<string> | undefined,
): Promise<Ended> {
  const { scenario, random, world, store, model, log, found } = life;
  found.tally.sessions++;
  const opened = await store.open({ pid: 1, host: "here", since: "now", command: "build" });
  if (!opened.ok) throw new Error(opened.failure.message);
  const writer: StoreSession = opened.value;
  const jobs = scenario.jobs[number % scenario.jobs.length] ?? 1;
  const wait = random.chance(scenario.waits);
  const stopAfter = life.stopsLeft > 0 && random.chance(0.3) ? random.below(60) : -1;
  const underWay: UnderWay[] = [];
  const asked = new Set<string>();
  let refusedByMachine = false;
  let run: PlanRun | undefined = restored(life);
  let ticks = 0;
  let moves = 0;

  const session: Session = {
    random,
    stopping: false,
    calledOff: false,
    begun: life.begun,
    turn: (phase) => life.turns.get(phase) ?? 0,
  };
  const facts = (): Facts => ({
    jobs,
    only,
    review: scenario.review,
    wait,
    stopping: session.stopping || refusedByMachine,
    now: iso(world.now),
    withheld: asked,
  });
  let decidedBy = facts();

  /** Time passes: people act, a stop comes, or the end of everything. */
  const tick = (): void => {
    ticks++;
    if (life.crashesLeft > 0 && --life.untilCrash <= 0) {
      life.crashesLeft--;
      life.untilCrash = gap(life);
      throw new Crash();
    }
    world.now += random.below(4000);
    world.peopleAct(session);
    if (stopAfter >= 0 && ticks === stopAfter) {
      life.stopsLeft--;
      session.stopping = true;
    }
  };
  const step = (): void => {
    tick();
    const open = underWay.filter(({ finished }) => !finished);
    const each = open[random.below(open.length)];
    if (!each) return;
    if (open.every(({ move }) => move.do === "wait")) {
      const untils = open.flatMap(({ move }) =>
        move.do === "wait" ? [Date.parse(move.until)] : [],
      );
      world.now = Math.max(world.now, Math.min(...untils));
    }
    const stepped = each.task.next();
    if (stepped.done !== true) return;
    each.finished = true;
    each.resolve(stepped.value);
  };
  const record = async (events: readonly RunEvent[]): Promise<Result<PlanRun>> => {
    for (let steps = random.below(3); steps > 0; steps--) step();
    tick();
    if (world.refusalsLeft > 0 && random.chance(0.01)) {
      world.refusalsLeft--;
      refusedByMachine = true;
      return fail("disk", "no space left for the journal");
    }
    const at = iso(world.now);
    const seq = writer.head.seq;
    const appended = await writer.append(seq, { at, run: runId, events });
    if (!appended.ok) throw new Error(appended.failure.message);
    for (const [place, event] of events.entries()) {
      const recorded = { ...event, seq: seq + 1 + place, at, run: runId } as RecordedEvent;
      log.push(recorded);
      run = evolveRun(run, recorded);
      countTurn(life.turns, recorded);
      if (recorded.type === "attempt-started")
        life.begun.add(`${recorded.phase} ${recorded.attempt}`);
      if (recorded.type === "run-ended") model.ended(recorded.how, recorded.until, decidedBy);
      if (recorded.type !== "run-started") model.observe(recorded);
      found.tally.events++;
    }
    if (!run) throw new Error("there is no run");
    model.compare(run);
    if (random.chance(0.05)) life.snapshot = { events: log.length, text: JSON.stringify(run) };
    // On record, and nobody has been told yet.
    tick();
    for (let steps = random.below(2); steps > 0; steps--) step();
    return succeed(run);
  };

  try {
    const opening = await record(run ? [{ type: "run-resumed" }] : [started(scenario)]);
    if (!opening.ok) {
      await writer.release();
      return { how: "refused" };
    }
    const outcome = await runPlan(opening.value, {
      limits: (): Limits => {
        decidedBy = { ...facts(), withheld: new Set(asked) };
        const { jobs: most, now, review, stopping } = decidedBy;
        return { jobs: most, now, review, wait, stopping, ...(only && { only }) };
      },
      perform: (move, known) => {
        found.tally.moves++;
        if (++moves > 400 + 200 * scenario.phases.length)
          throw new Stuck(`${moves} moves in one session: ${model.summary()}`);
        model.move(
          move,
          underWay.map((each) => each.move),
          decidedBy,
        );
        return new Promise((resolve) => {
          const task = world.perform(move, known, session);
          underWay.push({ move, task, finished: false, resolve });
        });
      },
      record,
      callOff: () => {
        session.calledOff = true;
      },
      async first(all) {
        if (all.length !== underWay.length) throw new Error("somebody is not waited for");
        if (!refusedByMachine)
          model.rest(
            underWay.map(({ move }) => move),
            decidedBy,
          );
        let patience = 100_000;
        while (!underWay.some(({ finished }) => finished) || random.chance(0.3)) {
          if (patience-- === 0) throw new Stuck(`nothing ends: ${model.summary()}`);
          if (underWay.every(({ finished }) => finished)) break;
          step();
        }
        const ready = underWay.flatMap(({ finished }, at) => (finished ? [at] : []));
        const chosen = ready[random.below(ready.length)] ?? 0;
        const [each] = underWay.splice(chosen, 1);
        const ended = await (all[chosen] as (typeof all)[number]);
        const { performed } = ended as { performed: Performed };
        if (each && performed.is === "asking") asked.add(subjectOf(each.move));
        if (performed.is === "refused") refusedByMachine = true;
        return ended;
      },
    });
    await writer.release();
    if (outcome.refused) return { how: "refused", run: outcome.run };
    return { how: outcome.run.ended ?? "nowhere", run: outcome.run };
  } catch (error) {
    // The lock of a dead process is free.
    await writer.release();
    if (error instanceof Crash) return { how: "crashed" };
    throw error;
  }
}

const started = ({ mode, maxAttempts, phases }: Scenario): RunEvent => ({
  type: "run-started",
  plan: "docs/x-plan.md",
  format: "autobuild",
  title: "X",
  mode,
  target: "refs/heads/main",
  base,
  targetAt: base,
  agent: "made-up",
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
  phases: [...phases],
  planFiles: {},
});

/** What the next session knows: the store, from the beginning or from a snapshot. */
function restored({ store, random, snapshot }: Life): PlanRun | undefined {
  const events = historyOf(store);
  if (!snapshot || random.chance(0.1)) return folded(events, -1);
  const run = JSON.parse(snapshot.text) as PlanRun;
  return events.slice(snapshot.events).reduce<PlanRun | undefined>(evolveRun, run);
}

function historyOf(store: Store): RecordedEvent[] {
  const reading = store.read({ whole: true });
  if (!reading.ok) throw new Error(reading.failure.message);
  return reading.value.after.flatMap(({ seq, at, run, events }) =>
    events.map((event, place) => ({ ...event, seq: seq + place, at, run }) as RecordedEvent),
  );
}

/** As if it had been written down and read again after `middle` events. */
function folded(events: readonly RecordedEvent[], middle: number): PlanRun | undefined {
  let run: PlanRun | undefined;
  for (const [place, event] of events.entries()) {
    if (place === middle && run) run = JSON.parse(JSON.stringify(run)) as PlanRun;
    run = evolveRun(run, event);
  }
  return run;
}

/** How far each phase is through its list, as the log has it. */
function countTurn(turns: Map<string, number>, event: RecordedEvent): void {
  const told =
    event.type === "attempt-failed"
      ? event.error.message
      : event.type === "attempt-parked"
        ? event.reason
        : "";
  if (!("phase" in event) || !told.startsWith("turn ")) return;
  turns.set(event.phase, Math.max(turns.get(event.phase) ?? 0, Number(told.slice(5)) + 1));
}

/** Only as far as the lists go: failing for ever changes nothing. */
const turnsTaken = ({ scenario, turns }: Life): number =>
  [...scenario.behaviours].reduce(
    (sum, [id, behaviour]) => sum + Math.min(behaviour.turns.length, turns.get(id) ?? 0),
    0,
  );

/** If this is the same after a session as before it, another one changes nothing either. */
const standOf = (life: Life): string =>
  [life.model.summary(), life.model.tip, turnsTaken(life), life.world.commitsByPeople].join(" ");

// ── verdicts ───────────────────────────────────────────────────────────────────────────────────

/**
 * Where it all ends once nobody disturbs it and nothing changes any more. That is the same for
 * every order of events: a phase that fails for ever has failed, what depends on it is blocked,
 * everything else is complete, but for what waits for an answer that never comes.
 */
function checkEnd({ scenario, model, world, log }: Life, breach: Breach): void {
  const standing = model.standing();
  const unanswered = world.unanswered();
  const silent = new Set(
    unanswered.flatMap((id) => (id.startsWith("again ") ? [id.split(" ")[1] ?? ""] : [])),
  );
  const unseen = unanswered.some((id) => id.startsWith("baseline "));
  const expected = new Map<string, Standing>();
  for (const { id, dependsOn, skipped } of inOrder(scenario)) {
    const needs = dependsOn.map((need) => expected.get(need));
    expected.set(
      id,
      skipped !== undefined
        ? "complete"
        : needs.some((each) => each === "failed" || each === "blocked")
          ? "blocked"
          : needs.includes("open") || ((unseen || silent.has(id)) && standing.get(id) === "open")
            ? "open"
            : scenario.behaviours.get(id)?.endless !== undefined
              ? "failed"
              : "complete",
    );
  }
  for (const [id, right] of expected) {
    if (standing.get(id) !== right)
      breach(`it ends elsewhere: ${standing.get(id)}, not ${right}`, `${id}; ${model.summary()}`);
  }
  const publishable =
    scenario.mode !== "single" || [...standing.values()].every((each) => each === "complete");
  const quietAboutIt = unanswered.some((id) => !id.startsWith("again "));
  if (publishable && !quietAboutIt && model.unpublished > 0)
    breach("something stays unpublished", model.summary());
  if (scenario.mode === "message-only") return;
  checkBranch({ scenario, model, world, log }, standing, breach);
}

/** Each phase once, and nothing of people's lost. */
function checkBranch(
  { model, world, log, scenario }: Pick<Life, "scenario" | "model" | "world" | "log">,
  standing: ReadonlyMap<string, Standing>,
  breach: Breach,
): void {
  const target =
    log.findLast((event) => event.type === "target-chosen")?.target ?? "refs/heads/main";
  const times = new Map<string, number>();
  for (let at = world.branch(target); at !== ""; at = world.commits.get(at)?.parent ?? "") {
    for (const id of world.commits.get(at)?.adds ?? []) times.set(id, (times.get(id) ?? 0) + 1);
  }
  for (const { id, skipped } of scenario.phases) {
    const count = times.get(id) ?? 0;
    const told = `${id} is ${count} times in ${target}; ${model.summary()}`;
    if (count > 1) breach("published twice", told);
    const should = standing.get(id) === "complete" && skipped === undefined;
    if (should && count === 0 && model.unpublished === 0 && !world.rewound)
      breach("never published", told);
  }
}

/**
 * The first time that it comes to rest by itself. What depends on the order of events is left out:
 * whoever may collide or clash, or whoever was given up by decision, with all that depends on them.
 */
function checkFirstEnd({ scenario, model, log }: Life, atOnce: boolean, breach: Breach): void {
  const standing = model.standing();
  const givenUp = new Set(
    log.flatMap((event) =>
      event.type === "attempt-failed" && event.error.message === "given up" ? [event.phase] : [],
    ),
  );
  const expected = new Map<string, Standing | "either">();
  for (const { id, dependsOn, skipped } of inOrder(scenario)) {
    const behaviour = scenario.behaviours.get(id);
    const needs = dependsOn.map((need) => expected.get(need));
    const touchy =
      givenUp.has(id) ||
      (behaviour?.collidesWith.size ?? 0) + (behaviour?.clashesWith.size ?? 0) > 0 ||
      scenario.peopleCollide > 0;
    const alone = skipped !== undefined ? "complete" : aloneIt(scenario, id);
    // A resumed run gives what had failed another series.
    const fails = alone === "failed" && (atOnce || behaviour?.endless !== undefined);
    expected.set(
      id,
      skipped !== undefined
        ? "complete"
        : needs.some((each) => each === "failed" || each === "blocked")
          ? "blocked"
          : needs.includes("either") || touchy || (alone === "failed" && !fails)
            ? "either"
            : alone,
    );
  }
  for (const [id, right] of expected) {
    if (right !== "either" && standing.get(id) !== right)
      breach(
        `it first rests elsewhere: ${standing.get(id)}, not ${right}`,
        `${id}; ${model.summary()}`,
      );
  }
}

/** What people are told about each phase once the run rests. */
function checkStanding(run: PlanRun, model: RunModel, breach: Breach): void {
  const blocked = blockers(run);
  const standing = model.standing();
  for (const phase of run.phases) {
    const told = standingOf(phase, blocked);
    const right = standing.get(phase.id);
    if (right !== "open" && told !== right)
      breach(`told to be ${told}, and is ${right}`, `${phase.id}; ${model.summary()}`);
  }
}

/** What becomes of a phase that nothing else touches, in one series of attempts. */
function aloneIt({ behaviours, maxAttempts }: Scenario, id: string): "complete" | "failed" {
  const { turns = [], endless } = behaviours.get(id) ?? {};
  let charged = 0;
  for (const turn of turns) {
    if (turn === "parked") continue;
    if (turn === "lasting" || ++charged >= maxAttempts) return "failed";
  }
  return endless === undefined ? "complete" : "failed";
}

/** Whoever is waited for first. */
function inOrder({ phases }: Pick<Scenario, "phases">): typeof phases {
  return [...phases].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
}

/** The same events make the same run, however often and with whatever snapshot between. */
function checkReplay({ store, log, random, scenario }: Life, breach: Breach): void {
  const events = historyOf(store);
  if (!isDeepStrictEqual(events, log)) breach("the store holds something else", scenario.name);
  const once = folded(events, -1);
  const twice = folded(events, -1);
  const broken = folded(events, random.below(events.length + 1));
  if (!isDeepStrictEqual(once, twice)) breach("folded twice, it differs", scenario.name);
  if (!isDeepStrictEqual(once, broken)) breach("a snapshot changes the fold", scenario.name);
  if (!random.chance(0.1)) return;
  for (const event of events) {
    const parsed = Event.safeParse(event);
    if (!parsed.success) breach("an event that cannot be read", JSON.stringify(event));
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void simulate(workerData as Share).then((found) => port.postMessage(found));
}
