/**
 * The world that a simulated run works in: commits, refs, agents, gates and people, all of them
 * made up, and none of them lost when the driver dies. Every move is a generator: between any two
 * of its steps other moves take theirs, people commit, or everything ends.
 */
import { fail } from "../src/core/failure.ts";
import type { Move } from "../src/core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../src/core/plan/progress.ts";
import type { RunEvent } from "../src/core/plan/run-event.ts";
import type { Performed } from "../src/core/plan/run-plan.ts";
import type { Random } from "./rig.ts";
import { oneOf, type Scenario, type Turn, type When } from "./run-scenario.ts";

export interface Commit {
  readonly id: string;
  readonly parent: string;
  /** Phases that it adds, or whose commit of people it is. */
  readonly adds: readonly string[];
  /** Everything that is in it, however it came there. */
  readonly content: ReadonlySet<string>;
}

/** What the session under way lets a move know. */
export interface Session {
  readonly random: Random;
  stopping: boolean;
  calledOff: boolean;
  /** The attempts whose beginning is on record. */
  readonly begun: ReadonlySet<string>;
  /** How far the phase is through its list: as many as are on record. */
  turn(phase: string): number;
}

export type Task = Generator<void, Performed, void>;
type Of<D extends Move["do"]> = Extract<Move, { do: D }>;

export const base = "c0";
export const runId = "r0123456789";
const done = (...events: RunEvent[]): Performed => ({ is: "done", events });
const asking = (what: string): Performed => ({
  is: "asking",
  failure: fail("decision-required", what).failure,
});
const refused = (what: string): Performed => ({
  is: "refused",
  failure: fail("disk", what).failure,
});

export interface World {
  now: number;
  readonly target: string;
  readonly commits: ReadonlyMap<string, Commit>;
  readonly breaches: Map<string, string>;
  perform(move: Move, run: PlanRun, session: Session): Task;
  /** People do something to the branch, perhaps. */
  peopleAct(session: Pick<Session, "random">): void;
  /** Between two sessions people answer what they were asked; true: something was. */
  answerLater(): boolean;
  /** What nobody will ever answer. */
  unanswered(): readonly string[];
  branch(ref: string): string;
  isIn(older: string, newer: string): boolean;
  refusalsLeft: number;
  /** How many there have been. */
  readonly commitsByPeople: number;
  /** Somebody has taken something off the branch. */
  readonly rewound: boolean;
}

export function createWorld(scenario: Scenario): World {
  const commits = new Map<string, Commit>([
    [base, { id: base, parent: "", adds: [], content: new Set() }],
  ]);
  const branches = new Map<string, string>([["refs/heads/main", base]]);
  const fates = new Map<string, number>();
  const squashes = new Map<string, string>();
  const questions = new Map<string, { when: When; key: string; answered: boolean }>();
  let byPeople = scenario.commitsByPeople;
  let rewinds = scenario.rewindsByPeople;
  const collisionsOfPeople = new Map<string, ReadonlySet<string>>();

  const commit = (parent: string, adds: readonly string[], content: Iterable<string>): string => {
    const id = `c${commits.size}`;
    commits.set(id, { id, parent, adds, content: new Set([...content, ...adds]) });
    return id;
  };
  const contentOf = (id: string): ReadonlySet<string> => commits.get(id)?.content ?? new Set();
  const isIn = (older: string, newer: string): boolean => {
    for (let at = newer; at !== ""; at = commits.get(at)?.parent ?? "")
      if (at === older) return true;
    return false;
  };
  const breach = (kind: string, what: string): void => {
    if (!world.breaches.has(kind)) world.breaches.set(kind, what);
  };
  /** The letter; undefined: nobody is there to choose. */
  const ask = (id: string, { when, key }: { when: When; key: string }): string | undefined => {
    const known = questions.get(id) ?? { when, key, answered: when === "now" };
    questions.set(id, known);
    return known.answered ? known.key : undefined;
  };

  // ── attempts ─────────────────────────────────────────────────────────────────────────────────

  function* begin({ phase, attempt, slot }: Of<"begin">, run: PlanRun): Task {
    yield;
    const uuid = `${phase}-${attempt}`;
    return done({ type: "attempt-started", phase, attempt, slot, uuid, base: run.tip });
  }

  function* work({ phase }: Of<"work">, run: PlanRun, session: Session): Task {
    const state = phaseOf(run, phase)?.state;
    if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
    const { attempt } = state;
    if (!session.begun.has(`${phase} ${attempt}`)) {
      breach(
        "an effect before its beginning is on record",
        `attempt ${attempt} at ${phase} is at work`,
      );
    }
    if (world.refusalsLeft > 0 && session.random.chance(0.05)) {
      world.refusalsLeft--;
      return refused("no space left for a work tree");
    }
    const turn = session.turn(phase);
    const behaviour = scenario.behaviours.get(phase);
    const kind: Turn | undefined = behaviour?.turns[turn] ?? behaviour?.endless;
    for (let steps = session.random.between(0, 6); steps > 0; steps--) {
      yield;
      if (session.stopping || session.calledOff)
        return done({ type: "attempt-interrupted", phase, attempt, reason: "asked to stop" });
    }
    if (kind === "parked") {
      const until = iso(world.now + session.random.between(1, 120) * 1000);
      return done({ type: "attempt-parked", phase, attempt, until, reason: `turn ${turn}` });
    }
    if (kind === "agent dies" || kind === "lasting") {
      const type = kind === "lasting" ? "dependency_missing" : "agent_crash";
      return done({
        type: "attempt-failed",
        phase,
        attempt,
        error: { type, message: `turn ${turn}` },
      });
    }
    const id = commit(state.base, [phase], contentOf(state.base));
    if (kind === "gate red") fates.set(id, turn);
    yield;
    const claim = { status: "complete" as const, tasksTotal: 1, tasksCompleted: 1, message: "x" };
    return done({ type: "attempt-delivered", phase, attempt, commit: id, claim });
  }

  // ── verification and landing ─────────────────────────────────────────────────────────────────

  function* check(phase: string, run: PlanRun, session: Session): Task {
    const state = phaseOf(run, phase)?.state;
    if (state?.is !== "delivered" && state?.is !== "verified")
      throw new Error(`phase ${phase} has delivered nothing`);
    const { attempt, commit: delivered, base: from } = state;
    const onto = run.tip;
    const since = (other: string): boolean =>
      contentOf(onto).has(other) && !contentOf(from).has(other);
    const behaviour = scenario.behaviours.get(phase);
    const files = [
      ...[...(behaviour?.collidesWith ?? [])].filter(since),
      ...[...collisionsOfPeople].flatMap(([id, with_]) =>
        with_.has(phase) && since(id) ? [id] : [],
      ),
    ];
    yield;
    if (files.length > 0) return done({ type: "attempt-conflicted", phase, attempt, files });
    const merged = commit(onto, [phase], [...contentOf(onto), ...contentOf(delivered)]);
    for (let steps = session.random.between(0, 3); steps > 0; steps--) {
      yield;
      if (session.stopping || session.calledOff) return done();
    }
    const fate = fates.get(delivered);
    const clash = [...(behaviour?.clashesWith ?? [])].find(since);
    if (fate !== undefined || clash !== undefined) {
      const message = fate !== undefined ? `turn ${fate}` : `clashes with ${clash}`;
      const error = { type: "test_failure" as const, message };
      return done({ type: "attempt-failed", phase, attempt, error });
    }
    return done({
      type: "phase-verified",
      phase,
      attempt,
      onto,
      commit: merged,
      message: "x",
      created: [],
      modified: [],
      deleted: [],
      gates: [],
      tasksChecked: 1,
      doneChecked: 0,
      statusUpdated: true,
    });
  }

  function* land(move: Of<"land">, run: PlanRun, session: Session): Task {
    const { phase } = move;
    const state = phaseOf(run, phase)?.state;
    if (state?.is !== "verified") throw new Error(`phase ${phase} is not verified`);
    if (state.check.onto !== run.tip) return yield* check(phase, run, session);
    yield;
    return done({
      type: "phase-landed",
      phase,
      attempt: state.attempt,
      commit: state.check.commit,
    });
  }

  function* baseline(run: PlanRun, session: Session): Task {
    for (let steps = session.random.between(0, 3); steps > 0; steps--) {
      yield;
      if (session.stopping || session.calledOff) return done();
    }
    const key = scenario.redBaseline ? ask(`baseline ${run.tip}`, scenario.baselineAnswer) : "A";
    if (key === undefined || key === "B") return asking("it is red");
    return done({ type: "baseline-taken", commit: run.tip, gates: [] });
  }

  // ── publishing ───────────────────────────────────────────────────────────────────────────────

  function* publish(move: Of<"publish">, run: PlanRun): Task {
    const landing = run.landed[run.published];
    if (landing?.phase !== move.phase)
      throw new Error(`phase ${move.phase} is not the next to be published`);
    if (run.mode === "message-only") {
      yield;
      return done({ type: "phase-published", phase: move.phase, commit: null, kept: [] });
    }
    const trouble = yield* toBranch(run, landing.commit);
    const published = { phase: move.phase, commit: landing.commit, kept: [] };
    return trouble ?? done({ type: "phase-published", ...published });
  }

  function* publishRun(run: PlanRun): Task {
    const last = phaseOf(run, run.landed.at(-1)?.phase ?? "")?.state;
    if (last?.is !== "landed") throw new Error("nothing has landed");
    const parent = run.targetAt === "" ? run.base : run.targetAt;
    const key = `${parent} ${run.tip} ${last.verifiedAt}`;
    const added = run.landed.slice(run.published).map(({ phase }) => phase);
    const squash = squashes.get(key) ?? commit(parent, added, contentOf(run.tip));
    squashes.set(key, squash);
    yield;
    const trouble = yield* toBranch(run, squash);
    return trouble ?? done({ type: "run-published", commit: squash, kept: [] });
  }

  function* toBranch(run: PlanRun, commitId: string): Generator<void, Performed | undefined, void> {
    const before = whereItStands(run, commitId);
    if (before) return before;
    yield;
    const current = branches.get(run.target) ?? "";
    if (current === "" || !isIn(commitId, current)) {
      if (current !== run.targetAt)
        return whereItStands(run, commitId) ?? refused("the ref is taken");
      if (current !== "" && !isIn(current, commitId)) {
        breach(
          "the branch loses a commit",
          `${run.target} goes from ${current} to ${commitId}, which does not hold it`,
        );
      }
      branches.set(run.target, commitId);
    }
    yield;
    return undefined;
  }

  function whereItStands(run: PlanRun, commitId: string): Performed | undefined {
    const current = branches.get(run.target) ?? "";
    if (current === run.targetAt || current === commitId) return undefined;
    if (current !== "" && isIn(commitId, current)) return undefined;
    const undone = run.landed.slice(run.published).map(({ phase }) => phase);
    if (current !== "" && isIn(run.targetAt === "" ? run.base : run.targetAt, current)) {
      return done({ type: "target-moved", commit: current, undone });
    }
    const key = ask(`rewritten ${current}`, scenario.rewrittenAnswer);
    if (key === undefined || key === "B") return asking("where shall the rest go?");
    return done({
      type: "target-chosen",
      target: `refs/heads/autobuild/${run.id}-${current}`,
      holds: "",
    });
  }

  function* review(run: PlanRun): Task {
    yield;
    const key = ask(`review ${run.tip} ${run.published}`, scenario.reviewAnswer);
    if (key === undefined || key === "B") return asking("may it be published?");
    return done({ type: "review-passed", commit: run.tip });
  }

  function* askAgain({ phase }: Of<"ask-again">, run: PlanRun): Task {
    const attempt = phaseOf(run, phase)?.attempts ?? 1;
    yield;
    const key = ask(`again ${phase} ${attempt}`, scenario.againAnswer);
    if (key === undefined) return asking("try again?");
    if (key === "A") return done({ type: "phase-reset", phase, reason: "tried again" });
    const error = { type: "interrupted" as const, message: "given up" };
    return done({ type: "attempt-failed", phase, attempt, error });
  }

  function* pause({ until }: Of<"wait">, session: Session): Task {
    while (iso(world.now) < until && !session.stopping && !session.calledOff) yield;
    return done();
  }

  const world: World = {
    now: Date.UTC(2026, 0, 1),
    target: "refs/heads/main",
    commits,
    breaches: new Map(),
    refusalsLeft: scenario.refusals,
    get commitsByPeople() {
      return scenario.commitsByPeople - byPeople + scenario.rewindsByPeople - rewinds;
    },
    get rewound() {
      return rewinds < scenario.rewindsByPeople;
    },
    branch: (ref) => branches.get(ref) ?? "",
    isIn,
    perform(move, run, session) {
      switch (move.do) {
        case "baseline":
          return baseline(run, session);
        case "begin":
          return begin(move, run);
        case "work":
          return work(move, run, session);
        case "verify":
          return check(move.phase, run, session);
        case "land":
          return land(move, run, session);
        case "publish":
          return publish(move, run);
        case "publish-run":
          return publishRun(run);
        case "review":
          return review(run);
        case "ask-again":
          return askAgain(move, run);
        case "ask-agent":
        case "ask-budget":
          throw new Error("nobody in here is logged out or counts what is used");
        case "take-in":
        case "take-back":
        case "await-report":
          throw new Error("nobody in here comes for work");
        case "wait":
          return pause(move, session);
        case "end":
          throw new Error("the driver ends by itself");
      }
    },
    peopleAct({ random }) {
      const current = branches.get(world.target) ?? "";
      if (byPeople > 0 && random.chance(0.02)) {
        byPeople--;
        const id = `people ${byPeople}`;
        if (random.chance(scenario.peopleCollide))
          collisionsOfPeople.set(id, new Set([oneOf(random, scenario.phases).id]));
        branches.set(world.target, commit(current, [id], contentOf(current)));
      } else if (rewinds > 0 && random.chance(0.01)) {
        const back = commits.get(current)?.parent ?? "";
        if (back === "") return;
        rewinds--;
        branches.set(world.target, commit(back, [`rewound ${rewinds}`], contentOf(back)));
      }
    },
    answerLater() {
      let some = false;
      for (const question of questions.values()) {
        if (question.answered || question.when === "never") continue;
        question.answered = true;
        some = true;
      }
      return some;
    },
    unanswered: () =>
      [...questions].flatMap(([id, { answered, key }]) =>
        answered && (key === "A" || id.startsWith("again")) ? [] : [id],
      ),
  };
  return world;
}

export const iso = (ms: number): string => new Date(ms).toISOString();
