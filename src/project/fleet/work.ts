/**
 * One task on one machine: a clone, the run as its history tells it, the very activity that the
 * local engine would call, and what came of it back at the remote.
 */
import * as fs from "node:fs";
import { workOn } from "../../activities/attempt-phase.ts";
import { baselineGates } from "../../activities/baseline.ts";
import {
  attemptName,
  bringCommits,
  type CloneOrder,
  cloneRun,
  healClone,
  namesOf,
  sendAttempt,
  sendVerified,
} from "../../activities/clone-run.ts";
import { eventsOf, type Held, type Project } from "../../activities/hold.ts";
import { joinRun } from "../../activities/join-run.ts";
import { mostStarters } from "../../activities/open-run.ts";
import type { OpenSite } from "../../activities/open-site.ts";
import { attemptRef, foldersOf, type RunSite, refused } from "../../activities/run-site.ts";
import { type BuildOptions, intend } from "../../activities/start-run.ts";
import { transcriptFile } from "../../activities/transcript.ts";
import { landPhase, verifyPhase } from "../../activities/verify-phase.ts";
import { evolve, nothingYet, type ProjectState } from "../../core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import { type PlanRun, phaseOf } from "../../core/plan/progress.ts";
import type { RunEvent } from "../../core/plan/run-event.ts";
import type { Performed } from "../../core/plan/run-plan.ts";
import { placeUsed } from "../../engines/postgres/rows/agents.ts";
import { keepTranscript } from "../../engines/postgres/rows/news.ts";
import { isToStop, type RunRow, runNamed } from "../../engines/postgres/rows/runs.ts";
import { attemptOf, placeName, type Task, type TaskDone } from "../../engines/postgres/tasks.ts";
import type { TaskContext } from "../../engines/postgres/worker.ts";
import { type Git, openGit } from "../../git/call.ts";
import { commitAt } from "../../git/objects.ts";
import { fetchRefs } from "../../git/push.ts";
import { findRepository } from "../../git.ts";
import { openPostgresStore, type PostgresStore } from "../../stores/postgres.ts";
import { agentFor } from "../build.ts";
import { cacheFolder, openProject, planDisk, realWorld, trustPlaceOf } from "../open.ts";
import type { Fleet } from "./connect.ts";
import { newsFor, type WorkPlace } from "./drive.ts";

/** Where everything goes that agents and gates have printed; absent: it stays on its machine. */
export interface TranscriptKeeper {
  put(key: string, file: string): Promise<Result<string>>;
}

export interface HandsPlace extends WorkPlace {
  readonly transcripts?: TranscriptKeeper;
}

export async function doTask(
  fleet: Fleet,
  place: HandsPlace,
  task: Task,
  at: TaskContext,
): Promise<TaskDone> {
  const row = await runNamed(fleet.database, task.run);
  const order = row?.submitted.order;
  // Of one that rests by people's word nothing is begun: whoever drives it again asks anew.
  if (!row?.is_open || !order || row.state === "halted" || isToStop(row)) return nothing;
  const seated = await deskFor(fleet, place, { ...row, order });
  if (!seated.ok) return failed(seated.failure);
  const done = await doAt(fleet, place, seated.value, { row, task, at });
  const trouble = failureIn(done);
  if (trouble && (await healClone(seated.value.project.root, trouble))) {
    await leaveDesk(row.id);
    return failed({
      ...trouble,
      message: `the clone on ${at.worker} was damaged and is made anew`,
    });
  }
  return done;
}

/** Whoever asked has gone on without it, or it was ended before anything came of it. */
const nothing: TaskDone = { is: "stopped" };

const failed = (failure: Failure): TaskDone => ({
  is: "performed",
  performed: { is: "refused", failure },
});

const failureIn = (done: TaskDone): Failure | undefined => {
  if (done.is === "gates" && !done.ran.ok) return done.ran.failure;
  return done.is === "performed" && done.performed.is === "refused"
    ? done.performed.failure
    : undefined;
};

interface Duty {
  readonly row: RunRow;
  readonly task: Task;
  readonly at: TaskContext;
}

async function doAt(
  fleet: Fleet,
  place: HandsPlace,
  desk: Desk,
  { row, task, at }: Duty,
): Promise<TaskDone> {
  const caughtUp = await desk.catchUp();
  if (!caughtUp.ok) return failed(caughtUp.failure);
  const run = desk.held.state.runs?.[row.id];
  if (!run || attemptOf(run, task.move) !== task.attempt) return nothing;
  const brought = await bring(desk.git, { remote: row.remote, run, task });
  if (!brought.ok) return failed(brought.failure);
  const opened = await desk.site(run, row.submitted.trust);
  if (!opened.ok) return failed(opened.failure);
  const notes: RunEvent[] = [];
  const site: RunSite = {
    ...opened.value,
    signal: at.signal,
    killNow: at.killNow,
    note: (event) => notes.push(event),
  };
  try {
    const done = await perform(site, row.remote, run, task, at);
    if (done.is !== "performed" || done.performed.is !== "done") return done;
    // What was said on the way comes first, as it does where agents are started by the run itself.
    const events = [...notes, ...done.performed.events];
    // Work that is done is not lost because it could not be counted.
    await countUse(fleet, task, events).catch(() => {});
    return { is: "performed", performed: { is: "done", events } };
  } finally {
    await keep(fleet, place, site, task);
  }
}

/** Everything that the task looks at, made by others and left at the remote. */
async function bring(
  git: Git,
  { remote, run, task }: { readonly remote: string; readonly run: PlanRun; readonly task: Task },
): Promise<Result<void>> {
  const { move } = task;
  const state = move.do === "baseline" ? undefined : phaseOf(run, move.phase)?.state;
  const wanted = [{ commit: run.tip, names: namesOf(run, run.tip) }];
  if (state && "base" in state && move.do !== "baseline") {
    wanted.push({ commit: state.base, names: namesOf(run, state.base) });
    if ("commit" in state && "claim" in state) {
      const name = attemptName(run.id, move.phase, state.attempt);
      wanted.push({ commit: state.commit, names: [name] });
    }
    if (state.is === "working" && state.continues !== undefined) {
      // Half-done work of a worker that was drained; of one that was lost there is none.
      const from = attemptName(run.id, move.phase, state.continues);
      const to = attemptRef(run.id, move.phase, state.continues);
      await fetchRefs(git, { url: remote }, [`+${from}:${to}`]);
    }
  }
  return bringCommits(git, { url: remote }, wanted);
}

async function perform(
  site: RunSite,
  url: string,
  run: PlanRun,
  { move }: Task,
  { slot }: TaskContext,
): Promise<TaskDone> {
  const remote = { url };
  switch (move.do) {
    case "baseline": {
      const ran = await baselineGates(site, run, slot);
      return ran.ok && ran.value.stopped ? nothing : { is: "gates", ran };
    }
    case "work": {
      const performed = await workOn(site, { ...move, slot }, run);
      return { is: "performed", performed: await sentAttempt(site, url, run, move, performed) };
    }
    case "verify":
    case "land": {
      const act = move.do === "verify" ? verifyPhase : landPhase;
      const performed = await act(site, { ...move, slot } as never, run);
      if (performed.is !== "done") return { is: "performed", performed };
      if (performed.events.length === 0) return nothing;
      for (const event of performed.events) {
        if (event.type !== "phase-verified") continue;
        const { commit, evidence } = event;
        const what = { run: run.id, commit, ...(evidence !== undefined && { evidence }) };
        const sent = await sendVerified(site.git, remote, what);
        if (!sent.ok) return { is: "performed", performed: refused(sent) };
      }
      return { is: "performed", performed };
    }
  }
}

/** A remote that is busy for a moment is no reason to throw away what took an hour. */
const pushPausesMs = [1000, 4000, 15_000];

async function sentAttempt(
  { git, signal }: RunSite,
  url: string,
  run: PlanRun,
  { phase }: { readonly phase: string },
  performed: Performed,
): Promise<Performed> {
  const attempt = phaseOf(run, phase)?.attempts ?? 0;
  const kept = await commitAt(git, attemptRef(run.id, phase, attempt));
  if (performed.is !== "done" || kept === undefined) return performed;
  // Only what is to be verified has to be there.
  const isNeeded = performed.events.some(({ type }) => type === "attempt-delivered");
  const send = () => sendAttempt(git, { url }, { run: run.id, phase, attempt });
  let sent = await send();
  for (const ms of isNeeded ? pushPausesMs : []) {
    if (sent.ok || signal.aborted) break;
    await new Promise((resolve) => void setTimeout(resolve, ms));
    sent = await send();
  }
  return sent.ok || !isNeeded ? performed : refused(sent);
}

async function countUse(
  { database }: Fleet,
  task: Task,
  events: readonly RunEvent[],
): Promise<void> {
  if (task.agent === undefined) return;
  const counted = events.flatMap((event) => (event.type === "usage-counted" ? [event] : []));
  const sum = (of: (event: (typeof counted)[number]) => number): number =>
    counted.reduce((total, event) => total + of(event), 0);
  const used = { tokens: sum(({ tokens }) => tokens), dollars: sum(({ cost = 0 }) => cost) };
  await placeUsed(database, placeName(task), { ...used, ended: true });
}

async function keep(
  { database }: Fleet,
  { transcripts }: HandsPlace,
  { git, id, project }: RunSite,
  { move, attempt = 0 }: Task,
): Promise<void> {
  if (!transcripts || move.do === "baseline") return;
  const folders = foldersOf(project.root, git.place.commonDir, "");
  const file = transcriptFile(folders, id, move.phase, attempt);
  const bytes = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) return;
  const part = move.do;
  const kept = await transcripts.put(`${id}/${move.phase}-${attempt}-${part}.log`, file);
  // It is no truth: what cannot be kept is no reason to lose the work.
  if (!kept.ok) return;
  const of = { run: id, phase: move.phase, attempt, part };
  await keepTranscript(database, of, { reference: kept.value, bytes }).catch(() => {});
}

// ── desks ──────────────────────────────────────────────────────────────────────────────────────

/**
 * What a worker keeps of a run between two of its tasks, as a session on one machine would: the
 * clone with its gits, the history folded so far, and the site that was approved.
 */
interface Desk {
  readonly project: Project;
  readonly git: Git;
  readonly held: Held;
  /** Folds on from where the last task had come to. */
  catchUp(): Promise<Result<void>>;
  /** Opened again when others have brought gates along, or people have approved something else. */
  site(run: PlanRun, trust: string | undefined): Promise<Result<OpenSite>>;
}

const desks = new Map<string, Promise<Result<Desk>>>();
const mostDesks = 20;

async function deskFor(
  fleet: Fleet,
  place: HandsPlace,
  row: RunRow & { readonly order: CloneOrder },
): Promise<Result<Desk>> {
  const known = desks.get(row.id);
  if (known) return known;
  const [oldest] = desks.size < mostDesks ? [] : desks.keys();
  if (oldest !== undefined) await leaveDesk(oldest);
  const opening = openDesk(fleet, place, row);
  desks.set(row.id, opening);
  const opened = await opening;
  if (!opened.ok) desks.delete(row.id);
  return opened;
}

/** Nothing of the run is under way here any more, or its clone is made anew. */
export async function leaveDesk(run: string): Promise<void> {
  const known = desks.get(run);
  desks.delete(run);
  const desk = await known;
  if (desk?.ok) await desk.value.git.end();
}

async function openDesk(
  fleet: Fleet,
  place: HandsPlace,
  { id, order, submitted }: RunRow & { readonly order: CloneOrder },
): Promise<Result<Desk>> {
  const { database } = fleet;
  const root = await cloneRun(place.folder, order, "work");
  if (!root.ok) return root;
  const repository = findRepository(root.value);
  if (!repository) return fail("git", `${root.value} is no repository`);
  const store = await openPostgresStore({ database, run: id, leaseMs: place.leaseMs });
  if (!store.ok) return store;
  const { options } = submitted;
  const intended = intend(root.value, root.value, options);
  if (!intended.ok) return intended;
  const world = { ...realWorld, now: place.now };
  const project: Project = { ...openProject(root.value, world), store: store.value };
  const git = openGit({ ...repository, workTree: root.value }, { starters: mostStarters });
  const held = readOnly(store.value);
  const news = newsFor(fleet, id);
  const never = new AbortController().signal;
  let opened: { readonly by: string; readonly site: Promise<Result<OpenSite>> } | undefined;
  const open = async (trustSha256: string | undefined): Promise<Result<OpenSite>> => {
    const whole: BuildOptions = { ...options, ...(trustSha256 !== undefined && { trustSha256 }) };
    const joined = await joinRun("works")(project, held, intended.value, whole, {
      ask: async () => succeed(undefined),
      askTrust: async () => succeed(undefined),
      by: "autodev worker",
      cache: cacheFolder(repository.commonDir),
      trust: trustPlaceOf(project),
      disk: planDisk,
      approved: () => {},
      makeAgent: (name, ground) => agentFor(root.value, name, ground),
      signal: never,
      killNow: never,
      onEvent: () => {},
      onNews: news.add,
      git,
    });
    if (!joined.ok) return joined;
    if (joined.value.is === "nothing") throw new Error("a run that is under way has nothing to do");
    return succeed(joined.value.site);
  };
  return succeed({
    project,
    git,
    held,
    catchUp: held.catchUp,
    async site(run, trust) {
      const by = JSON.stringify([run.gates, run.setup, run.ground, trust]);
      if (opened?.by !== by) opened = { by, site: open(trust) };
      const site = await opened.site;
      if (!site.ok) opened = undefined;
      return site;
    },
  });
}

/** Whoever does a part of a run records nothing: what comes of it is an answer. */
function readOnly(store: PostgresStore): Held & { catchUp(): Promise<Result<void>> } {
  let state: ProjectState = nothingYet;
  let seq = 0;
  const never = (): never => {
    throw new Error("only whoever drives a run records what happens in it");
  };
  return {
    get state() {
      return state;
    },
    get head() {
      const reading = store.read();
      return reading.ok ? reading.value.head : { seq: 0, hash: "" };
    },
    async catchUp() {
      const fresh = await store.refresh();
      if (!fresh.ok) return fresh;
      const reading = store.read();
      if (!reading.ok) return reading;
      for (const event of reading.value.after.flatMap(eventsOf)) {
        if (event.seq <= seq) continue;
        state = evolve(state, event);
        seq = event.seq;
      }
      return succeed(undefined);
    },
    noticed: [],
    record: never,
    recordIn: never,
    write: async () => succeed(undefined),
    look: never,
    messages: async () => [],
    takenUp: async () => {},
    setAside: never,
    release: async () => succeed(undefined),
  };
}
