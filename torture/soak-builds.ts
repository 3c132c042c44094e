/**
 * A session in which somebody of the team has a plan built: the real driver over the real store, with
 * agents that work, fail, run into limits and cost money, and with people elsewhere who stop it or
 * want a phase tried again.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { askAgain } from "../src/activities/ask-again.ts";
import { askAboutAgent, askAboutBudget } from "../src/activities/ask-agent.ts";
import { triedAgain } from "../src/activities/hear.ts";
import { type Held, hold, readHistory } from "../src/activities/hold.ts";
import type { Ask } from "../src/activities/open-flow.ts";
import type { RunSite } from "../src/activities/run-site.ts";
import { createRunShowing, recordRun } from "../src/activities/show-run.ts";
import { currentRun, openDecisions } from "../src/core/evolve.ts";
import { fail, type Result, succeed } from "../src/core/failure.ts";
import type { Limits, Move } from "../src/core/plan/next-moves.ts";
import { isComplete, type PlanRun, phaseOf } from "../src/core/plan/progress.ts";
import type { RunEvent, RunPhase } from "../src/core/plan/run-event.ts";
import { type Performed, runPlan } from "../src/core/plan/run-plan.ts";
import { openGit } from "../src/git/call.ts";
import type { Random } from "./rig.ts";
import { maxAttempts, mostJobs, mostOfAttempt, runBudget } from "./soak-promises.ts";
import { nextMorning, nothingRead, type SoakWorld } from "./soak-world.ts";

export interface BuildOrder {
  readonly random: Random;
  /** People press Ctrl-C after so many transitions. */
  readonly stopAfter?: number;
  /** Somebody is at the terminal and answers at once. */
  readonly ask: Ask;
}

export async function buildSession(
  world: SoakWorld,
  { random, stopAfter, ask }: BuildOrder,
): Promise<void> {
  const { project } = world;
  world.read = nothingRead();
  const holder = project.world.holder("autodev build docs/plan.md");
  const opened = await hold(
    { ...project, world: { ...project.world, holder: () => holder } },
    holder.command,
  );
  if (!opened.ok) throw new Error(`a build does not begin: ${opened.failure.message}`);
  const held = opened.value;
  const id = await runFor(world, held, random);
  const history = readHistory(project, held.state.runs?.[id] as PlanRun);
  if (!history.ok) throw new Error(history.failure.message);
  world.openings.push(world.read);
  const { repository, root } = project;
  if (!repository) throw new Error(`${root} is no repository`);
  const git = openGit({ ...repository, workTree: root });
  const showing = createRunShowing({ held, git, history: history.value });
  const until = world.transitions + (stopAfter ?? Infinity);
  const people = inbox(world, held, holder);
  // What lies there from before is seen at once; what was said to the dead is thrown away.
  await people.isHeard();
  const jobs = random.between(1, mostJobs);
  const wait = random.chance(0.3);
  const site = { project, held, ask, by: "team" } as unknown as RunSite;
  let calledOff = false;

  await runPlan(held.state.runs?.[id] as PlanRun, {
    limits: (): Limits => ({
      jobs,
      now: world.iso,
      review: false,
      wait,
      stopping: calledOff || world.transitions >= until,
      finishing: people.finishing,
      budgets: { attempt: {}, phase: {}, run: { tokens: runBudget } },
    }),
    perform: async (move, run) => perform(world, site, people, move, run),
    async record(events) {
      world.pass(random, 1, 40);
      const recorded = await recordRun(held, id, events);
      if (!recorded.ok) return recorded;
      showing.happened(recorded.value);
      await people.recorded();
      await people.speak(random, held.state.runs?.[id]);
      return succeed(held.state.runs?.[id] as PlanRun);
    },
    callOff: () => {
      calledOff = true;
    },
    arriving: () => people.arriving(held.state.runs?.[id]),
    // Whatever was said first, then whoever is lucky: all of it by the seed.
    async first(all) {
      const word = all.at(-1) as (typeof all)[number];
      if (await people.isHeard()) return word;
      const moves = all.slice(0, -1);
      return moves[random.below(moves.length)] ?? word;
    },
  });
  const settled = await showing.settled({ durable: true });
  if (!settled.ok) throw new Error(settled.failure.message);
  const released = await held.release();
  if (!released.ok) throw new Error(released.failure.message);
}

// ── which run ──────────────────────────────────────────────────────────────────────────────────

/** The one that is under way; a new one where that is over, or where the team has had enough of it. */
async function runFor(world: SoakWorld, held: Held, random: Random): Promise<string> {
  const current = currentRun(held.state);
  const halted = current?.ended === "halted" && random.chance(0.5);
  if (current && !current.phases.every(isComplete) && !halted) {
    await took(recordRun(held, current.id, [{ type: "run-resumed" }]));
    return current.id;
  }
  if (current) await setAside(world, held, current);
  const number = Object.keys(held.state.runs ?? {}).length + 1;
  const id = `r${number.toString(16).padStart(10, "0")}`;
  await took(recordRun(held, id, [started(world, number)]));
  return id;
}

/** Its files lie beside the journal until somebody cleans up. */
async function setAside(world: SoakWorld, held: Held, run: PlanRun): Promise<void> {
  const { root, repository } = world.project;
  const from = path.join(root, ".autobuild");
  const name = `autobuild-${world.iso.replace(/[^0-9A-Za-z]/g, "")}`;
  const to = path.join(repository?.commonDir ?? root, "autodev", "rescue", name);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  if (fs.existsSync(from)) fs.renameSync(from, to);
  const lapsed = openDecisions(held.state).filter(({ subject }) =>
    subject.startsWith(`${run.id} `),
  );
  const reason = "its run was set aside";
  await took(
    held.recordIn(run.id, [
      { type: "run-set-aside", aside: to },
      ...lapsed.map(({ id }) => ({ type: "decision-withdrawn" as const, id, reason })),
    ]),
  );
}

async function took<T>(result: Promise<Result<T>>): Promise<T> {
  const { ok, ...rest } = await result;
  if (!ok) throw new Error((rest as { failure: { message: string } }).failure.message);
  return (rest as { value: T }).value;
}

function started(world: SoakWorld, number: number): RunEvent {
  const fate = world.fate("plan", number);
  const phases = Array.from({ length: fate.between(6, 16) }, (_, at): RunPhase => {
    const needs = Array.from({ length: Math.min(at, fate.below(3)) }, () => fate.below(at));
    return {
      id: `p${at}`,
      written: `P${at}`,
      name: `Phase ${at}`,
      dependsOn: [...new Set(needs)].map((need) => `p${need}`),
      parallelWith: [],
      tasks: 1,
      asks: `${at}`,
    };
  });
  const nothing = { language: null, framework: null, package_manager: null };
  return {
    type: "run-started",
    plan: "docs/plan.md",
    format: "autobuild",
    title: `Plan ${number}`,
    mode: "auto",
    target: "refs/heads/main",
    base: `c${number}`,
    targetAt: `c${number}`,
    agent: "made-up",
    maxAttempts,
    stack: { ...nothing, test_framework: null, linter: null, formatter: null },
    gates: [],
    phases,
    planFiles: {},
  };
}

// ── what moves do ──────────────────────────────────────────────────────────────────────────────

const done = (...events: RunEvent[]): Performed => ({ is: "done", events });

async function perform(
  world: SoakWorld,
  site: RunSite,
  people: Inbox,
  move: Move,
  run: PlanRun,
): Promise<Performed> {
  switch (move.do) {
    case "baseline":
      return done({ type: "baseline-taken", commit: run.tip, gates: [] });
    case "begin": {
      const { phase, attempt, slot } = move;
      const uuid = `${run.id}-${phase}-${attempt}`;
      return done({ type: "attempt-started", phase, attempt, slot, uuid, base: run.tip });
    }
    case "work":
      return work(world, people, move.phase, run);
    case "verify":
      return done(verified(world, move.phase, run));
    case "land": {
      const state = phaseOf(run, move.phase)?.state;
      if (state?.is !== "verified") throw new Error(`phase ${move.phase} is not verified`);
      if (state.check.onto !== run.tip) return done(verified(world, move.phase, run));
      const { attempt, check } = state;
      return done({ type: "phase-landed", phase: move.phase, attempt, commit: check.commit });
    }
    case "publish": {
      const commit = run.landed[run.published]?.commit ?? "";
      return done({ type: "phase-published", phase: move.phase, commit, kept: [] });
    }
    case "ask-again":
      return askAgain(site, move.phase, run);
    case "ask-agent":
      return askAboutAgent(site, move.phase, run);
    case "ask-budget":
      return askAboutBudget(site, move, run);
    case "wait":
      world.now = Math.max(world.now, Date.parse(move.until));
      return done();
    default:
      return { is: "refused", failure: fail("usage", `nobody here does ${move.do}`).failure };
  }
}

/** What an agent comes to is a matter of the attempt; some phases are beyond everybody. */
function work(world: SoakWorld, people: Inbox, phase: string, run: PlanRun): Performed {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
  const { attempt, base } = state;
  const fate = world.fate(run.id, phase, attempt);
  world.log({ is: "worked", run: run.id, phase, attempt });
  writeTranscript(world, run.id, `${phase}-${attempt}`, fate.between(500, 6000));
  world.pass(fate, 60, 1500);
  for (let told = fate.between(1, 3); told > 0; told--) {
    const tokens = fate.between(1000, mostOfAttempt / 3 - 1);
    people.note({ type: "usage-counted", phase, attempt, tokens, cost: tokens / 1e6 });
  }
  const agent = "made-up";
  const doomed = world.fate(run.id, phase).chance(0.01);
  const what = fate.fraction();
  if (what < 0.01) {
    const until = new Date(nextMorning(world.now)).toISOString();
    const reason = "usage limit";
    return done({
      type: "attempt-parked",
      phase,
      attempt,
      until,
      reason,
      agent,
      kind: "usage_limit",
    });
  }
  if (what < 0.015) {
    const [kind, message, hint] = ["auth" as const, "it is logged out", "log in"];
    return done({ type: "attempt-unable", phase, attempt, agent, kind, message, hint });
  }
  if (doomed || what < 0.1) {
    const error = { type: "agent_crash" as const, message: "it broke" };
    return done({ type: "attempt-failed", phase, attempt, error });
  }
  const claim = { status: "complete" as const, tasksTotal: 1, tasksCompleted: 1, message: "x" };
  const commit = `${base}.${phase}-${attempt}`.slice(-40);
  return done({ type: "attempt-delivered", phase, attempt, commit, claim });
}

/** What an agent prints; dated by the clock of this world, so that it grows old in it. */
function writeTranscript(world: SoakWorld, run: string, name: string, bytes: number): void {
  const { commonDir } = world.project.repository ?? { commonDir: world.project.root };
  const folder = path.join(commonDir, "autodev", "transcripts", run);
  const file = path.join(folder, `${name}.log`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, "said\n".repeat(bytes / 5));
  fs.utimesSync(file, world.now / 1000, world.now / 1000);
}

function verified(world: SoakWorld, phase: string, run: PlanRun): RunEvent {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "delivered" && state?.is !== "verified")
    throw new Error(`phase ${phase} has delivered nothing`);
  const { attempt } = state;
  if (world.fate(run.id, phase, attempt, "gates").chance(0.08)) {
    const error = { type: "test_failure" as const, message: "a test is red" };
    return { type: "attempt-failed", phase, attempt, error };
  }
  return {
    type: "phase-verified",
    phase,
    attempt,
    onto: run.tip,
    commit: `${run.id}-${phase}-${attempt}`,
    message: "x",
    created: [`src/${phase}.ts`],
    modified: [],
    deleted: [],
    gates: [],
    tasksChecked: 1,
    doneChecked: 0,
    statusUpdated: true,
  };
}

// ── what is said meanwhile ─────────────────────────────────────────────────────────────────────

interface Inbox {
  readonly finishing: boolean;
  /** By whoever is at work. */
  note(event: RunEvent): void;
  /** Somebody elsewhere has a word for the holder, perhaps. */
  speak(random: Random, run: PlanRun | undefined): Promise<void>;
  isHeard(): Promise<boolean>;
  arriving(run: PlanRun | undefined): Promise<readonly RunEvent[]>;
  recorded(): Promise<void>;
}

/** Words from elsewhere lie in the real inbox until what they bring about is on record. */
function inbox(
  world: SoakWorld,
  held: Held,
  holder: Parameters<typeof world.elsewhere.send>[0],
): Inbox {
  const noted: RunEvent[] = [];
  let finishing = false;
  let wake: (() => void) | undefined;
  let takenFrom: string | undefined;
  return {
    get finishing() {
      return finishing;
    },
    note: (event) => noted.push(event),
    async speak(random, run) {
      if (!run || !random.chance(0.01)) return;
      const [by, at] = ["somebody", world.iso];
      const phase = run.order[random.below(run.order.length)]?.written ?? "P0";
      const message = random.chance(0.3)
        ? ({ say: "stop", how: "after-phase", by, at } as const)
        : ({ say: "retry", phase, note: "mind the gap", by, at } as const);
      await took(world.elsewhere.send(holder, message));
    },
    async isHeard() {
      const said = noted.length > 0 || (await held.messages()).length > 0;
      if (said) wake?.();
      return said;
    },
    async arriving(run) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (noted.length > 0) return noted.splice(0, 1);
      const [first] = await held.messages();
      if (!first || !run) return [];
      takenFrom = first.id;
      const { message } = first;
      if (message.say === "stop") {
        finishing = true;
        return [{ type: "stop-asked", how: message.how, by: message.by }];
      }
      const events = message.say === "retry" ? triedAgain(run, message) : [];
      if (typeof events !== "string" && events.length > 0) return events;
      // There is nothing to try again: it was heard all the same.
      await held.takenUp(first.id);
      takenFrom = undefined;
      return [];
    },
    async recorded() {
      if (takenFrom !== undefined) await held.takenUp(takenFrom);
      takenFrom = undefined;
    },
  };
}
