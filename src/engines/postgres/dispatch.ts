/**
 * The moves of a run whose work is done by others: long moves become tasks that some worker takes,
 * short ones are performed where the run is driven. Whatever comes of a task is an answer to the same
 * question that the local engine asks its own activities, so the history is the same.
 *
 *  1. A task that a lost worker had is done again by another; an attempt that it had is interrupted,
 *     and the next one has a number, a branch and a work tree of its own. When several were lost with
 *     the same thing, the run rests and says so.
 *  2. A machine that refuses is not the run's end: another is asked, a few times.
 *  3. Only the branch at the remote is published to, by compare-and-swap.
 *  4. When nothing of it is with a worker and other runs wait for a drive, it makes room (`idle`).
 */
import { takeBaseline } from "../../activities/baseline.ts";
import { bringVerified, followTarget, sendLanded, sendTarget } from "../../activities/clone-run.ts";
import { publishPhase, publishRun } from "../../activities/publish.ts";
import { type RunSite, refused } from "../../activities/run-site.ts";
import { landPhase } from "../../activities/verify-phase.ts";
import { fail, succeed } from "../../core/failure.ts";
import { chooseLane, hasFreeLane, whyNobody } from "../../core/fleet/capabilities.ts";
import type { Limits, Move } from "../../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../../core/plan/progress.ts";
import type { Performed } from "../../core/plan/run-plan.ts";
import { commitAt } from "../../git/objects.ts";
import { shown } from "../../safe-text.ts";
import type { Database } from "../../stores/postgres/database.ts";
import type { Hands } from "../drive.ts";
import { performHere } from "../local.ts";
import { admitted } from "./admitted.ts";
import type { AskerStanding, Carrier } from "./carrier.ts";
import { type Idle, watchIdle } from "./idle.ts";
import { agentLimited, leavePlace } from "./rows/agents.ts";
import { runWaits, type Stopping } from "./rows/runs.ts";
import { liveWorkers, lossesOf, workersAtWork } from "./rows/workers.ts";
import {
  attemptOf,
  deadly,
  mostLost,
  placeName,
  type Task,
  type TaskDone,
  type TaskMove,
  taskName,
} from "./tasks.ts";

export interface Dispatch {
  readonly database: Database;
  readonly carrier: Carrier;
  readonly run: string;
  readonly remote: string;
  /** How often the run has rested so far; asked once it is under way. */
  rests(): number;
  readonly version: string;
  readonly needs: readonly string[];
  /** What a worker has to have for this agent. */
  needsOf(agent: string): readonly string[];
  /** Whose account it works on: several names may share one. */
  accountOf(agent: string): string;
  limits(): Partial<Limits>;
  /** People want it to end: that is written where whoever drives it next looks. */
  noteStop(how: Stopping): void;
  /** It is given to somebody else: the drive ends, and what is under way is left alone. */
  readonly handOver: AbortSignal;
}

export interface Dispatching extends Hands {
  /** Tasks that are with workers, or wait for one. */
  underWay(): number;
  readonly idle: Idle;
  /** By people. */
  isStopped(): boolean;
  end(): Promise<void>;
}

/** `stopped`: nobody is to do it. `fenced`: it is no longer ours to ask for; whoever does it goes on. */
type Answered = TaskDone | "stopped" | "fenced";

/** What has to be had before a task is given to anybody. */
type Admitting = () => Promise<Awaited<ReturnType<typeof admitted>>>;
type Parked = Extract<Awaited<ReturnType<Admitting>>, { is: "parked" }>;

const mostRefusals = 3;
const lookEveryMs = 1000;

export function dispatching(at: Dispatch): Dispatching {
  const { database, carrier, run: id } = at;
  const remote = { url: at.remote };
  let underWay = 0;
  let rests: number | undefined;
  let [isListening, isStopped] = [false, false];
  const idle = watchIdle(carrier, async () => {
    const [workers, load] = [await workersAtWork(database), await carrier.loadSeen()];
    return hasFreeLane(workers, at.version, load);
  });
  const showing = oneAfterAnother();

  /** Where somebody can do it; said at once when nobody can. Undefined: we were asked to stop. */
  const findLane = async (site: RunSite, task: Task): Promise<string | undefined> => {
    const { needs } = task;
    let said = "";
    for (;;) {
      const workers = await liveWorkers(database);
      const wanted = { needs, version: at.version };
      const lane = chooseLane(workers, wanted, await carrier.load());
      const isOver = standingOf(site) !== "driving";
      if (lane !== undefined || isOver) {
        if (said) await runWaits(database, id, null);
        idle.waits(placeName(task), undefined);
        return isOver ? undefined : lane;
      }
      const why = `${whyNobody(workers, needs)}: waiting for one`;
      idle.waits(placeName(task), { lack: { is: "nobody", needs }, why });
      if (why !== said) {
        said = why;
        site.tell({ notice: why });
        await runWaits(database, id, why);
      }
      await pause(lookEveryMs);
    }
  };

  const standingOf = (site: RunSite): AskerStanding => {
    if (at.handOver.aborted || idle.madeRoom.aborted) return "fenced";
    if ((site.asked ?? site.signal).aborted) return "ended";
    return site.signal.aborted ? "fenced" : "driving";
  };

  const ask = async (site: RunSite, run: PlanRun, task: Task): Promise<Answered> => {
    const answered = await askAdmitted(site, run, task, async () => ({ is: "admitted" }));
    if (typeof answered !== "string" && answered.is === "parked")
      throw new Error("only attempts are admitted");
    return answered;
  };

  const askAdmitted = async (
    site: RunSite,
    run: PlanRun,
    task: Task,
    admit: Admitting,
  ): Promise<Answered | Parked> => {
    underWay++;
    try {
      for (let [tries, refusals] = [0, 0]; ; tries++) {
        if (standingOf(site) === "fenced") return "fenced";
        const name = taskName(task, { tip: run.tip, rests: (rests ??= at.rests()), tries });
        // A refusal from before this drive is no answer to it; whatever else came of it is.
        const known = await carrier.known(name);
        if (known !== undefined && known !== "taken") {
          if (known.is !== "done" || isTrouble(known.done)) continue;
          if (await isForgiven(task, name, known.done)) continue;
          return known.done;
        }
        // Who is at it already need not be found: he may be about to go, or the only one of his kind.
        if (known === undefined) {
          const lane = await findLane(site, task);
          if (lane === undefined) return standingOf(site) === "fenced" ? "fenced" : "stopped";
          // Only once somebody can do it: whoever waits for a machine keeps no place from others.
          const admission = await admit();
          if (admission.is === "stopped")
            return standingOf(site) === "fenced" ? "fenced" : "stopped";
          if (admission.is === "parked") return admission;
          await carrier.enqueueTask(name, lane, task);
        }
        const outcome = await carrier.outcomeOf(name, {
          standing: () => standingOf(site),
          lies: (where) =>
            idle.waits(placeName(task), where === undefined ? undefined : behind(name, where)),
        });
        idle.waits(placeName(task), undefined);
        if (outcome.is === "fenced") return "fenced";
        if (outcome.is === "abandoned" && task.move.do === "work")
          return { is: "lost", worker: "one of an older version" };
        const done = outcome.is === "done" ? outcome.done : undefined;
        if (done && !isTrouble(done)) return done;
        const standing = standingOf(site);
        if (standing === "fenced") return "fenced";
        if (standing === "ended") return done?.is === "performed" ? done : "stopped";
        // Ended or called off, and not by us: that is nobody's answer, and it is asked anew.
        const failed = done ? troubleIn(done) : "message" in outcome ? outcome.message : undefined;
        if (failed !== undefined && ++refusals === mostRefusals) return done ?? broken(failed);
        if (failed !== undefined) site.tell({ notice: `${failed}; another worker is asked` });
        await pause(lookEveryMs * 2 ** refusals);
      }
    } finally {
      underWay--;
    }
  };

  /** It cost too many workers, the run came to its rest for that, and somebody wants it tried again. */
  const isForgiven = async ({ move }: Task, name: string, done: TaskDone): Promise<boolean> =>
    done.is === "lost" && move.do !== "work" && (await lossesOf(database, name)) < mostLost;

  const taskOf = (site: RunSite, move: TaskMove, run: PlanRun, agent?: string): Task => ({
    run: id,
    move,
    seq: site.held.head.seq,
    needs: [...at.needs, ...(agent === undefined ? [] : at.needsOf(agent))],
    ...(agent !== undefined && { agent }),
    attempt: attemptOf(run, move) ?? 0,
  });

  const work = async (
    site: RunSite,
    move: Extract<Move, { do: "work" }>,
    run: PlanRun,
  ): Promise<Performed> => {
    const { phase } = move;
    const state = phaseOf(run, phase)?.state;
    if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
    const { attempt, agent = run.agent } = state;
    const task = taskOf(site, move, run, agent);
    const place = placeName(task);
    const interrupted = (reason: string): Performed => ({
      is: "done",
      events: [{ type: "attempt-interrupted", phase, attempt, reason }],
    });
    const account = at.accountOf(agent);
    const admit: Admitting = () =>
      admitted(
        database,
        { agent: account, task: place, run: id },
        {
          isWanted: () => standingOf(site) === "driving",
          waits: (why) =>
            idle.waits(
              place,
              why === undefined
                ? undefined
                : { lack: { is: "place", agent: account, task: place }, why },
            ),
        },
      );
    const done = await askAdmitted(site, run, task, admit);
    // Its agent is still at work, for whoever drives it now.
    if (done === "fenced") return givenAway(id);
    if (done !== "stopped" && done.is === "parked") {
      const { until, why: reason } = done;
      const events = [{ type: "attempt-parked" as const, phase, attempt, until, reason, agent }];
      return { is: "done", events };
    }
    await leavePlace(database, place);
    if (done === "stopped") return interrupted("asked to stop");
    if (done.is === "lost") return interrupted(`its worker, ${done.worker}, was lost`);
    if (done.is !== "performed") throw new Error("an attempt has no gates of its own");
    await tellLimits(done.performed);
    return done.performed;
  };

  /** What one of us has met need not be met by all: an account that has nothing left, and no more. */
  const tellLimits = async (performed: Performed): Promise<void> => {
    if (performed.is !== "done") return;
    for (const event of performed.events) {
      if (event.type !== "attempt-parked" || event.kind !== "usage_limit") continue;
      const { agent, until, reason } = event;
      if (agent !== undefined)
        await agentLimited(database, at.accountOf(agent), until, shown(reason));
    }
  };

  const elsewhere = async (site: RunSite, move: TaskMove, run: PlanRun): Promise<Performed> => {
    const done = await ask(site, run, taskOf(site, move, run));
    if (done === "fenced") return givenAway(id);
    // It stays as it is: the next drive asks for it again.
    if (done === "stopped") return { is: "done", events: [] };
    if (done.is === "lost") return { is: "refused", failure: deadly(whatIs(move)) };
    return done.is === "performed" ? done.performed : cameToNothing(move.do);
  };

  const land = async (
    site: RunSite,
    move: Extract<Move, { do: "land" }>,
    run: PlanRun,
  ): Promise<Performed> => {
    const state = phaseOf(run, move.phase)?.state;
    if (state?.is !== "verified") throw new Error(`phase ${move.phase} is not verified`);
    const { commit, onto, evidence } = state.check;
    if (onto !== run.tip) return elsewhere(site, move, run);
    const verified = { run: id, commit, ...(evidence !== undefined && { evidence }) };
    const here = await bringVerified(site.git, remote, verified);
    if (!here.ok) return refused(here);
    const landed = await landPhase(site, move, run);
    // Nothing is decided by what people see of it there: nobody waits.
    if (landed.is === "done") showing.want(() => sendLanded(site.git, remote, verified));
    return landed;
  };

  const publish = async (
    site: RunSite,
    run: PlanRun,
    act: () => Promise<Performed>,
  ): Promise<Performed> => {
    const { git } = site;
    for (let tries = 0; tries < 5; tries++) {
      // As we last saw it; whether it is still so is found out by the push.
      const from =
        tries === 0
          ? succeed((await commitAt(git, run.target)) ?? "")
          : await followTarget(git, remote, run.target);
      if (!from.ok) return refused(from);
      const performed = await act();
      const isPublished =
        performed.is === "done" &&
        performed.events.some(({ type }) => type === "phase-published" || type === "run-published");
      if (!isPublished) return performed;
      const to = (await commitAt(git, run.target)) ?? "";
      if (to === from.value) return performed;
      const sent = await sendTarget(git, remote, { target: run.target, from: from.value, to });
      if (!sent.ok) return refused(sent);
      if (sent.value === "sent") return performed;
    }
    return refused(
      fail("push-refused", `${run.target} at ${at.remote} moves faster than we can follow`, {
        hint: "--branch names a branch that nobody else pushes to",
      }),
    );
  };

  const gates = async (site: RunSite, run: PlanRun) => {
    const done = await ask(site, run, taskOf(site, { do: "baseline" }, run));
    if (done === "fenced") return given(id);
    if (done === "stopped")
      return succeed({ outcomes: [], receipts: [], output: "", stopped: true as const });
    if (done.is === "gates") return done.ran;
    if (done.is === "lost") return { ok: false as const, failure: deadly("the gates") };
    if (done.is === "performed" && done.performed.is === "refused") {
      return { ok: false as const, failure: done.performed.failure };
    }
    throw new Error("nobody has run the gates");
  };

  return {
    underWay: () => underWay,
    idle,
    isStopped: () => isStopped,
    limits: at.limits,
    perform: (site, move, run) => idle.during(perform(site, move, run)),
    async end() {
      idle.end();
      await showing.settled();
    },
  };

  async function perform(site: RunSite, move: Move, run: PlanRun): Promise<Performed> {
    if (!isListening) {
      isListening = true;
      const stop = (how: "now" | "kill") => () => {
        isStopped = true;
        idle.end();
        at.noteStop(how);
      };
      (site.asked ?? site.signal).addEventListener("abort", stop("now"), { once: true });
      site.killNow.addEventListener("abort", stop("kill"), { once: true });
    }
    switch (move.do) {
      case "work":
        return work(site, move, run);
      case "verify":
        return elsewhere(site, move, run);
      case "land":
        return land(site, move, run);
      case "baseline":
        return takeBaseline(site, run, gates);
      case "publish":
        return publish(site, run, () => publishPhase(site, move.phase, run));
      case "publish-run":
        return publish(site, run, () => publishRun(site, run));
      default:
        return performHere(site, move, run);
    }
  }
}

const behind = (task: string, lane: string) => ({
  lack: { is: "turn" as const, task, lane },
  why: `its work lies behind that of others in ${lane}`,
});

/** In order, and none is waited for but at the end. */
export function oneAfterAnother(): {
  want(act: () => Promise<unknown>): void;
  settled(): Promise<unknown>;
} {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    want(act) {
      turn = turn.then(act).catch(() => {});
    },
    settled: () => turn,
  };
}

const given = (run: string) =>
  fail("journal-fenced", `run ${run} is given to another worker: it goes on there`);

const givenAway = (run: string): Performed => refused(given(run));

const whatIs = (move: TaskMove): string =>
  move.do === "baseline" ? "the gates" : `the verification of phase ${move.phase}`;

const cameToNothing = (what: string): Performed =>
  refused(fail("worker-failed", `nobody has come to an end with ${what}`));

const broken = (message: string): TaskDone => ({
  is: "performed",
  performed: refused(fail("worker-failed", `a worker has failed: ${message}`)),
});

/** Why another machine is asked; undefined: this one was only told to end. */
function troubleIn(done: TaskDone): string | undefined {
  if (done.is === "performed" && done.performed.is === "refused")
    return done.performed.failure.message;
  return done.is === "gates" && !done.ran.ok ? done.ran.failure.message : undefined;
}

const isTrouble = (done: TaskDone): boolean =>
  done.is === "stopped" || troubleIn(done) !== undefined;

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
