/**
 * A run is driven from where it stands to its next rest, by whichever worker has it now. Everything
 * that matters is in its history: whoever takes over reads that, asks for the same tasks, and goes on.
 */
import {
  bringCommits,
  type CloneOrder,
  cloneRun,
  followTarget,
  healClone,
  namesOf,
  tidyRemote,
} from "../../activities/clone-run.ts";
import { eventsOf, type Held, hold, type Project } from "../../activities/hold.ts";
import { joinRun } from "../../activities/join-run.ts";
import type { Ask } from "../../activities/open-flow.ts";
import { type BuildOptions, intend } from "../../activities/start-run.ts";
import type { RecordedEvent } from "../../core/event.ts";
import { currentRun, evolve, nothingYet, openDecisions } from "../../core/evolve.ts";
import { type Failure, type Result, succeed } from "../../core/failure.ts";
import type { Lack } from "../../core/fleet/lacks.ts";
import type { RunState } from "../../core/fleet/told.ts";
import { isComplete, type PlanRun } from "../../core/plan/progress.ts";
import type { RunNews } from "../../core/plan/run-news.ts";
import { drive } from "../../engines/drive.ts";
import { type Dispatching, dispatching, oneAfterAnother } from "../../engines/postgres/dispatch.ts";
import { tellNews } from "../../engines/postgres/rows/news.ts";
import {
  type DriveRest,
  isPaused,
  isToStop,
  type RunProgress,
  type RunRow,
  retryTaken,
  runDriving,
  runMakesRoom,
  runNamed,
  runRests,
  type Stopping,
  stopRun,
  tellRun,
} from "../../engines/postgres/rows/runs.ts";
import { deadly } from "../../engines/postgres/tasks.ts";
import { wantRun } from "../../engines/postgres/want.ts";
import type { DriveContext } from "../../engines/postgres/worker.ts";
import { openGit } from "../../git/call.ts";
import { findRepository } from "../../git.ts";
import { every } from "../../stores/postgres/every.ts";
import { openPostgresStore, type PostgresStore } from "../../stores/postgres.ts";
import { type Built, buildHeld } from "../build.ts";
import { openProject, realWorld } from "../open.ts";
import type { Fleet } from "./connect.ts";
import { isTakenOver, restRefused, troubleOf } from "./refusal.ts";
import { accountOf, needsOf } from "./submit.ts";

/** Where a worker keeps its clones, and how it tells the time. */
export interface WorkPlace {
  readonly folder: string;
  readonly leaseMs: number;
  now(): string;
}

/** Phases at once where nobody has said: as many as the workers have places for, within reason. */
const usualJobs = 16;

/** Says how it ended, for whoever looks into the engine's own tables. */
export async function driveRun(
  fleet: Fleet,
  place: WorkPlace,
  id: string,
  at: DriveContext,
): Promise<string> {
  // Two of one run would share a clone; what is wanted meanwhile the first one sees.
  if (driving.has(id)) return "driven here already";
  driving.add(id);
  try {
    for (;;) {
      const row = await runNamed(fleet.database, id);
      const order = row?.submitted.order;
      if (!row?.is_open || !order) return "over";
      if (row.wanted === row.driven) return "at rest";
      const rested = await driveOnce(fleet, place, { ...row, order }, at);
      if (rested !== "again") return rested;
    }
  } finally {
    driving.delete(id);
  }
}

const driving = new Set<string>();

type Ordered = RunRow & { readonly order: CloneOrder };

async function driveOnce(
  fleet: Fleet,
  place: WorkPlace,
  row: Ordered,
  at: DriveContext,
): Promise<string> {
  // Before anything is cloned: that may be what is deadly.
  if (at.isDeadly) return refuse(fleet, row, place.now(), deadly("this run"));
  const opened = await openSeat(fleet, place, row);
  if (!opened.ok) return refuse(fleet, row, place.now(), opened.failure);
  const { project, store } = opened.value;
  const held = await holdSoon(project, place.leaseMs);
  if (!held.ok) {
    // Somebody drives it, and will see that more is wanted.
    if (held.failure.code === "locked") return "driven by somebody else";
    return refuse(fleet, row, place.now(), held.failure);
  }
  const came = await driveHeld(fleet, row, { ...opened.value, held: held.value }, at).catch(
    (error: unknown): Came => ({ refused: troubleOf(error, fleet.database.shown) }),
  );
  // What cannot be made anew here others have whole: it is let go of, whatever comes of this.
  if (typeof came !== "string" && "refused" in came)
    await healClone(project.root, came.refused).catch(() => false);
  const asking = openDecisions(held.value.state);
  const { epoch } = store;
  await held.value.release();
  if (came === "handed over") {
    // Also by one that was taken for dead: others take over only a drive that had not ended by then.
    await wantRun(fleet, row.id, { handedOver: { epoch } });
    return came;
  }
  if (came === "again") return came;
  if ("lacks" in came) {
    const room = { driven: row.wanted, epoch, asking, ...came };
    return (await runMakesRoom(fleet.database, row.id, room)) ? "made room" : "again";
  }
  return "refused" in came
    ? refuse(fleet, { ...row, epoch, asking }, place.now(), came.refused)
    : rest(fleet, row, { epoch, asking, awaits: idsOf(asking), ...came });
}

export const idsOf = (asking: RunRow["asking"]): string[] => asking.map(({ id }) => id);

type Came = Rest | RoomMade | { readonly refused: Failure } | "handed over" | "again";

/** It could not go on, and others could: for what it waits. */
export interface RoomMade {
  readonly lacks: readonly Lack[];
  /** For people. */
  readonly why: string;
}

async function driveHeld(
  fleet: Fleet,
  row: Ordered,
  seat: Seat & { readonly held: Held },
  at: DriveContext,
): Promise<Came> {
  const { database } = fleet;
  const { project, store, held } = seat;
  if (isToStop(row)) return stoppedBefore;
  if (await isPaused(database, row.id)) {
    return { state: "paused", outcome: { how: "paused" } };
  }
  const brought = await bringWhatLanded(project, row);
  if (!brought.ok) return { refused: brought.failure };
  const ended = currentRun(held.state);
  // Whoever drove it to its end was killed before he could say so here.
  if (ended?.ended === "complete") return restAfter(ended, {});
  const { epoch } = store;
  const driving = await runDriving(database, { id: row.id, epoch });
  if (!driving) return "again";
  await at.hasBegun();
  const isFinishing = driving.stopping === "after-phase";
  const unfollow = store.follow(followMs);
  const pause = watchPause(fleet, row.id);
  try {
    const { handOver } = at;
    const built = await carry(fleet, row, { ...seat, epoch, handOver, pause, isFinishing });
    if (!("ok" in built)) return built;
    if (!built.ok) return handOver.aborted ? "handed over" : { refused: built.failure };
    return restAfter(built.value.run, built.value, pause.hasEnded());
  } finally {
    pause.end();
    unfollow();
  }
}

/** Whoever drove it before was asked to stop, and could not say any more that he had. */
export const stoppedBefore = {
  state: "halted",
  outcome: { how: "interrupted" },
  isStopped: true,
} satisfies Rest;

const followMs = 500;

interface Seat {
  readonly project: Project;
  readonly store: SeatStore;
  readonly options: BuildOptions;
}

/** Of a run that is to be driven here. */
export interface SeatStore extends PostgresStore {
  /** Under which we hold it, once we do. */
  readonly epoch: number;
  /** This is done before anything more is taken out of the inbox: whoever dies in between has told others. */
  noteFirst(act: () => Promise<unknown>): void;
  noted(): Promise<unknown>;
}

/** `ready`: what is done as soon as it is held, before anything is looked at. */
export function seatStore(
  store: PostgresStore,
  ready: () => Promise<Result<void>> = async () => succeed(undefined),
): SeatStore {
  let epoch = 0;
  const noting = oneAfterAnother();
  const noted = noting.settled;
  return {
    ...store,
    noteFirst: noting.want,
    noted,
    get epoch() {
      return epoch;
    },
    async open(holder) {
      const session = await store.open(holder);
      if (!session.ok) return session;
      epoch = session.value.epoch;
      const isReady = await ready();
      if (isReady.ok) {
        const own = session.value;
        return succeed({
          ...own,
          get head() {
            return own.head;
          },
          takenUp: (id) => noted().then(() => own.takenUp(id)),
        });
      }
      await session.value.release();
      return isReady;
    },
  };
}

/** A clone with everything that the run has come to, and its history. */
async function openSeat(
  { database }: Fleet,
  place: WorkPlace,
  { id, order, submitted, remote }: Ordered,
): Promise<Result<Seat>> {
  const root = await cloneRun(place.folder, order, "drive");
  if (!root.ok) return root;
  const opened = await openPostgresStore({ database, run: id, leaseMs: place.leaseMs });
  if (!opened.ok) return opened;
  const store = seatStore(opened.value);
  const world = { ...realWorld, now: place.now };
  const project = { ...openProject(root.value, world), store, known: remote };
  const { trust: trustSha256, options } = submitted;
  return succeed({
    project,
    store,
    options: {
      ...options,
      jobs: options.jobs ?? usualJobs,
      // What is waited for is waited for by nobody: it is driven on when its time has come.
      wait: false,
      ...(trustSha256 !== undefined && { trustSha256 }),
    },
  });
}

/** What others have made since, once it is ours: the clone is nobody else's then. */
async function bringWhatLanded(
  { root, store, repository }: Project,
  { remote, target }: Ordered,
): Promise<Result<void>> {
  const reading = store.read();
  if (!reading.ok) return reading;
  const run = currentRun(reading.value.after.flatMap(eventsOf).reduce(evolve, nothingYet));
  if (!run || !repository) return succeed(undefined);
  const git = openGit({ ...repository, workTree: root });
  const followed = await followTarget(git, { url: remote }, run.target || target);
  if (!followed.ok) return followed;
  const tip = { commit: run.tip, names: namesOf(run, run.tip) };
  const brought = await bringCommits(git, { url: remote }, [tip]);
  await git.end();
  return brought;
}

/** Whoever had it may have died a moment ago: its lease runs out. */
export async function holdSoon(project: Project, leaseMs: number): Promise<Result<Held>> {
  const until = performance.now() + leaseMs + 2000;
  for (;;) {
    const held = await hold(project, "autodev worker");
    if (held.ok || held.failure.code !== "locked" || performance.now() > until) return held;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

interface Pause {
  /** As far as we know, for whoever wants to begin something now. */
  isOn(): boolean;
  /** Whoever last wanted to begin something was kept from it. */
  hasEnded(): boolean;
  end(): void;
}

export function watchPause({ database }: Fleet, id: string): Pause {
  let [isOn, hasEnded] = [false, false];
  const { end } = every(lookEveryMs, async () => {
    isOn = await isPaused(database, id);
  });
  return { isOn: () => (hasEnded = isOn), hasEnded: () => hasEnded, end };
}

async function carry(
  fleet: Fleet,
  row: Ordered,
  at: Seat & {
    readonly held: Held;
    readonly epoch: number;
    readonly handOver: AbortSignal;
    readonly pause: Pause;
    readonly isFinishing: boolean;
  },
): Promise<Result<Built> | RoomMade | Rest> {
  const { database } = fleet;
  const { project, store, held, options, epoch, handOver, pause, isFinishing } = at;
  const intended = intend(project.root, project.root, options);
  if (!intended.ok) return intended;
  const noteStop = (how: Stopping): void =>
    store.noteFirst(() => stopRun(database, { id: row.id, epoch }, how));
  const hands = dispatching({
    database,
    carrier: fleet.carrier,
    run: row.id,
    remote: row.remote,
    rests: () => restsIn(project),
    noteStop,
    handOver,
    version: fleet.version,
    needs: row.submitted.needs,
    needsOf: (agent) => needsOf(agent, intended.value.settings),
    accountOf: (agent) => accountOf(agent, intended.value.settings),
    // What is under way comes to its end, and nothing begins.
    limits: () => (isFinishing || pause.isOn() ? { finishing: true } : {}),
  });
  const news = newsFor(fleet, row.id);
  const never = new AbortController().signal;
  try {
    const built = await buildHeld(
      project,
      held,
      { ...intended.value, mode: currentRun(held.state)?.mode ?? intended.value.mode },
      options,
      {
        ask: askElsewhere(fleet, { id: row.id, epoch }, held, hands),
        askTrust: async () => succeed(undefined),
        by: `autodev worker`,
        signal: never,
        killNow: never,
        onEvent: (event, run) => {
          void tellProgress(fleet, event, run, epoch);
          if (event.type === "stop-asked" && event.how === "after-phase") noteStop(event.how);
        },
        onNews: news.add,
        notices: { terminal: undefined },
      },
      {
        async open(...at) {
          const opened = await joinRun("drives")(...at);
          // Asked for once: the next drive does not try it again.
          if (opened.ok && options.retries) await retryTaken(database, row.id, options.retries);
          return opened;
        },
        drive: (site) => drive(site, hands),
      },
    );
    if (built.ok && built.value.run.ended === "complete")
      await tidyAfter(project.root, row.remote, built.value.run);
    if (built.ok) return built;
    const isRoom = hands.idle.madeRoom.aborted && isTakenOver(built.failure);
    if (isRoom) return roomMade(hands);
    // What was refused on the way to its end is no reason to go on.
    return hands.isStopped() && !isTakenOver(built.failure) ? stoppedBefore : built;
  } finally {
    await store.noted();
    await hands.end();
    await news.end();
  }
}

/** What people stopped in the same moment stays stopped. */
function roomMade({ idle, isStopped }: Dispatching): RoomMade | Rest {
  if (isStopped()) return stoppedBefore;
  const waiting = idle.waiting();
  return { lacks: waiting.map(({ lack }) => lack), why: waiting[0]?.why ?? "" };
}

async function tidyAfter(root: string, url: string, run: PlanRun): Promise<void> {
  const repository = findRepository(root);
  if (!repository) return;
  const git = openGit({ ...repository, workTree: repository.root });
  await tidyRemote(git, { url }, run);
  await git.end();
}

const lookEveryMs = 1000;

/** By its history, so that whoever takes over counts the same. */
function restsIn({ store }: Project): number {
  const reading = store.read();
  const events = reading.ok ? reading.value.after.flatMap(({ events }) => events) : [];
  return events.filter(({ type }) => type === "run-resumed").length;
}

/** People answer from wherever they are; as long as others are at work, the answer is waited for. */
const askElsewhere =
  (
    { database }: Fleet,
    of: { readonly id: string; readonly epoch: number },
    held: Held,
    hands: Dispatching,
  ): Ask =>
  async (_decision, answered) => {
    await tellRun(database, of, { asking: openDecisions(held.state) });
    const waits = async (): Promise<string | undefined> => {
      for (;;) {
        const answer = answered();
        if (answer) return answer.key;
        if (hands.underWay() === 0 || hands.idle.madeRoom.aborted) return undefined;
        await new Promise((resolve) => setTimeout(resolve, followMs));
      }
    };
    return succeed(await hands.idle.asking(waits()));
  };

const progressOf = (run: PlanRun): RunProgress => ({
  phases: run.phases.length,
  complete: run.phases.filter(isComplete).length,
  underWay: run.readiness.active.flatMap((at) => run.phases[at]?.id ?? []),
});

const shows = new Set(["attempt-started", "phase-landed", "attempt-failed", "run-ended"]);

async function tellProgress(
  { database }: Fleet,
  event: RecordedEvent,
  run: PlanRun,
  epoch: number,
): Promise<void> {
  if (!shows.has(event.type)) return;
  await tellRun(database, { id: run.id, epoch }, { progress: progressOf(run) }).catch(() => {});
}

/** Lines for whoever watches: a few at a time, and none is waited for. */
export function newsFor(
  { database }: Fleet,
  run: string,
): { add(news: RunNews): void; end(): Promise<void> } {
  let waiting: RunNews[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const some = waiting.slice(-mostNews);
    waiting = [];
    if (some.length > 0) await tellNews(database, run, some).catch(() => {});
  };
  return {
    add(news) {
      if ("opened" in news) return;
      waiting.push(news);
      if (waiting.length > 4 * mostNews) waiting = waiting.slice(-mostNews);
      timer ??= setTimeout(() => void flush(), newsMs).unref();
    },
    end: flush,
  };
}

const newsMs = 400;
const mostNews = 50;

// ── at rest ────────────────────────────────────────────────────────────────────────────────────

/** Where nothing else is said, it is as the row has it. */
type Rest = Partial<DriveRest> & Pick<DriveRest, "state" | "outcome">;

async function rest({ database }: Fleet, row: RunRow, how: Rest): Promise<string> {
  const { asking, progress, epoch, wanted: driven } = row;
  const rests = await runRests(database, row.id, { driven, epoch, asking, progress, ...how });
  if (rests === "held") return "driven by somebody else";
  return rests === "rests" ? how.outcome.how : "again";
}

/** What people have stopped, or what came to its own end first, does not go on with the others. */
function restAfter(
  run: PlanRun,
  { said = [], asking = [] }: Partial<Pick<Built, "said" | "asking">>,
  isPaused = false,
): Rest {
  const how = run.ended ?? "complete";
  const until = how === "parked" ? run.parkedUntil : undefined;
  // No decision, for nobody's answer grants trust: it is with whoever submits.
  const failure = asking.find(({ code }) => code === "untrusted");
  return {
    state: isPaused && how === "stopped" ? "paused" : stateAfter(how),
    outcome: {
      how,
      said: [...said],
      ...(until !== undefined && { until }),
      ...(failure && { failure }),
    },
    progress: progressOf(run),
    isStopped: how === "interrupted",
  };
}

function stateAfter(how: NonNullable<PlanRun["ended"]> | "complete"): RunState {
  if (how === "complete") return "over";
  return how === "asking" || how === "parked" ? how : "halted";
}

async function refuse(fleet: Fleet, row: RunRow, now: string, failure: Failure): Promise<string> {
  if (isTakenOver(failure)) return "taken over";
  return rest(fleet, row, restRefused(row.outcome, failure, now));
}
