/**
 * A flow on a fleet: from where it is to its next rest, on one worker that has its agent. Its
 * documents and its state file travel as commits on its branch; where it stands, what was asked and
 * what was answered is in its history, which any worker can go on with.
 */

import {
  type CloneOrder,
  cloneRun,
  followTarget,
  sendGround,
  sendTarget,
} from "../../activities/clone-run.ts";
import type { Held, Project } from "../../activities/hold.ts";
import { openFlow } from "../../activities/open-flow.ts";
import { newRunId } from "../../activities/open-run.ts";
import { readConfig } from "../../config.ts";
import type { Event, RecordedEvent } from "../../core/event.ts";
import { openDecisions } from "../../core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import type { FlowOutcome } from "../../core/flow/run-flow.ts";
import { engineSettings } from "../../core/settings.ts";
import { admitted } from "../../engines/postgres/admitted.ts";
import { idlePatienceMs } from "../../engines/postgres/idle.ts";
import { inheritPlace, placeUsed } from "../../engines/postgres/rows/agents.ts";
import {
  claimRun,
  closeRunRow,
  type DriveRest,
  describeAnew,
  describeRun,
  isPaused,
  isToStop,
  openRunOf,
  type RunRow,
  runDriving,
  runMakesRoom,
  runNamed,
  runRests,
  type Submitted,
} from "../../engines/postgres/rows/runs.ts";
import { deadly } from "../../engines/postgres/tasks.ts";
import { wantRun } from "../../engines/postgres/want.ts";
import type { TaskContext } from "../../engines/postgres/worker.ts";
import { type Git, openGit } from "../../git/call.ts";
import { branchOf, commitAt, identityOf, isAncestor } from "../../git/objects.ts";
import { dirtyPaths } from "../../git/user-tree.ts";
import { findRepository } from "../../git.ts";
import { realDisk } from "../../stores/file/disk.ts";
import { readProjection, writeProjection } from "../../stores/file/projection.ts";
import { writerName } from "../../stores/file/writer.ts";
import { attempting } from "../../stores/postgres/database.ts";
import { openPostgresStore, type Projections } from "../../stores/postgres.ts";
import { followFlow } from "../flow.ts";
import { noWorkTree, openProject, realWorld, withFlows } from "../open.ts";
import type { Fleet } from "./connect.ts";
import {
  holdSoon,
  idsOf,
  newsFor,
  type RoomMade,
  type SeatStore,
  seatStore,
  stoppedBefore,
  type WorkPlace,
  watchPause,
} from "./drive.ts";
import { isTakenOver, restRefused, troubleOf } from "./refusal.ts";
import { accountOf, needsOf, remoteHere, type Submission } from "./submit.ts";

type FlowWish = NonNullable<Submitted["flow"]>;

/** What is not committed no worker would see: that is said before anything is begun. */
export async function submitFlow(
  fleet: Fleet,
  cwd: string,
  wish: FlowWish,
  by: string,
): Promise<Result<Submission>> {
  const { repository, root } = openProject(cwd);
  if (!repository) return noWorkTree(cwd);
  const settings = readConfig(root);
  if (!settings.ok) return settings;
  const git = openGit({ ...repository, workTree: repository.root });
  const ground = await groundOf(git, cwd);
  if (!ground.ok) return ground;
  const { remote, target, base } = ground.value;
  const of = { remote, target, kind: "flow" as const, plan: "flow" };
  const { database, version } = fleet;
  const known = await attempting(database, () => openRunOf(database, of));
  if (!known.ok) return known;
  const agent = wish.agent ?? settings.value.agent;
  const submitted: Submitted = {
    options: { plan: "flow" },
    flow: wish,
    by,
    ...(wish.trustSha256 !== undefined && { trust: wish.trustSha256 }),
    needs: [
      ...(engineSettings(settings.value).needs ?? []),
      ...(agent === undefined ? [] : needsOf(agent, settings.value)),
    ],
  };
  const existing = known.value;
  const id = existing?.id ?? newRunId(realWorld.uuid());
  const row = existing
    ? succeed(existing)
    : await attempting(database, () => claimRun(database, { ...of, id, submitted, version }));
  if (!row.ok) return row;
  const run = row.value.id;
  const sent = await sendGround(git, { url: remote }, { run, base, planFiles: {} });
  const identity = { ...(await identityOf(git)) };
  await git.end();
  if (!sent.ok) {
    if (!existing) await attempting(database, () => closeRunRow(database, run));
    return sent;
  }
  const order: CloneOrder = row.value.submitted.order ?? {
    run,
    remote,
    base,
    planFiles: {},
    identity,
  };
  const wanted = await attempting(database, async () => {
    // What others have said of it, and approved, stands.
    const { trust, ...said } = submitted;
    await describeRun(database, run, { ...row.value.submitted, ...said, order });
    await describeAnew(database, run, { options: {}, trust });
    if (row.value.state !== "driving") await wantRun(fleet, run);
  });
  return wanted.ok ? succeed({ run, created: !existing, said: [] }) : wanted;
}

async function groundOf(
  git: Git,
  cwd: string,
): Promise<Result<{ remote: string; target: string; base: string }>> {
  const remote = await remoteHere(cwd);
  if (remote === undefined) {
    return fail("no-remote", "there is no remote, and a fleet gets code by git", {
      hint: "git remote add origin <an address that the workers can reach>",
    });
  }
  const [target, base] = [await branchOf(git), await commitAt(git, "HEAD")];
  if (target === undefined || base === undefined) {
    return fail("usage", "no branch with a commit is checked out, and a flow goes on one", {
      hint: "git switch <branch>",
    });
  }
  const dirty = await dirtyPaths(git);
  if (!dirty.ok) return dirty;
  if (dirty.value.length > 0) {
    return fail("busy-repository", `workers would not see ${dirty.value.slice(0, 3).join(", ")}`, {
      hint: "commit what is changed, then run the same command again",
    });
  }
  return succeed({ remote, target, base });
}

// ── on a worker ────────────────────────────────────────────────────────────────────────────────

export async function driveFlow(
  fleet: Fleet,
  place: WorkPlace,
  id: string,
  at: TaskContext,
  isDeadly = false,
): Promise<string> {
  const { database } = fleet;
  // Two of one flow would share a clone; what is wanted meanwhile the first one sees.
  if (driving.has(id)) return "driven here already";
  driving.add(id);
  try {
    for (;;) {
      const row = await runNamed(database, id);
      const order = row?.submitted.order;
      if (!row?.is_open || !order) return "over";
      if (row.wanted === row.driven) return "at rest";
      const ended = await goOnce(fleet, place, { ...row, order }, at, isDeadly);
      if (ended === "again") continue;
      if (typeof ended === "string") return ended;
      const { wanted: driven, progress } = row;
      const rests = await runRests(database, id, { driven, progress, ...ended });
      if (rests !== "wanted")
        return rests === "rests" ? ended.outcome.how : "driven by somebody else";
    }
  } finally {
    driving.delete(id);
  }
}

const driving = new Set<string>();

type Ordered = RunRow & { readonly order: CloneOrder };

type FlowRest = Omit<DriveRest, "driven" | "progress">;

/** A string: somebody else has it. */
async function goOnce(
  fleet: Fleet,
  place: WorkPlace,
  row: Ordered,
  at: TaskContext,
  isDeadly: boolean,
): Promise<FlowRest | string> {
  const refuse = (failure: Failure, { epoch, asking }: RunRow = row): FlowRest | string => {
    if (isTakenOver(failure)) return "taken over";
    return failure.code === "decision-required"
      ? {
          state: "asking",
          outcome: { how: "asking", failure },
          epoch,
          asking,
          awaits: idsOf(asking),
        }
      : { ...restRefused(row.outcome, failure, place.now()), epoch, asking };
  };
  // Before anything is cloned: that may be what is deadly.
  if (isDeadly) return refuse(deadly("this flow"));
  const opened = await openSeat(fleet, place, row);
  if (!opened.ok) return refuse(opened.failure);
  const { project, store, git } = opened.value;
  try {
    const held = await holdSoon(project, place.leaseMs);
    if (!held.ok)
      return held.failure.code === "locked" ? "driven by somebody else" : refuse(held.failure);
    const came = await goHeld(fleet, row, { ...opened.value, held: held.value }, at).catch(
      (error: unknown): Came => ({ refused: troubleOf(error, fleet.database.shown) }),
    );
    const asking = openDecisions(held.value.state);
    const { epoch } = store;
    await held.value.release();
    if (came === "handed over") {
      // Also by one that was taken for dead: others take over only a task that had not ended by then.
      await wantRun(fleet, row.id, { handedOver: { epoch } });
      return came;
    }
    if (typeof came === "string") return came;
    if ("lacks" in came) {
      const room = { driven: row.wanted, epoch, asking, ...came };
      return (await runMakesRoom(fleet.database, row.id, room)) ? "made room" : "again";
    }
    return "refused" in came
      ? refuse(came.refused, { ...row, epoch, asking })
      : { epoch, asking, awaits: idsOf(asking), ...came };
  } finally {
    await git.end();
  }
}

/** Where nothing else is said, what is asked is what its history says. */
type Came =
  | (Pick<FlowRest, "state" | "outcome"> & Partial<FlowRest>)
  | RoomMade
  | { readonly refused: Failure };

async function goHeld(
  fleet: Fleet,
  row: Ordered,
  seat: FlowSeat & { readonly held: Held },
  at: TaskContext,
): Promise<Came | "handed over" | "again" | "taken over"> {
  const { database } = fleet;
  if (isToStop(row)) return stoppedBefore;
  if (await isPaused(database, row.id)) return { state: "paused", outcome: { how: "paused" } };
  const { id } = row;
  if (!(await runDriving(database, { id, epoch: seat.store.epoch }))) return "again";
  const send = sending(seat.git, row);
  const pause = watchPause(fleet, id);
  let isFinishing = false;
  const came = await inPlace(fleet, row, seat, at, (count) =>
    carry(fleet, row, seat, at, {
      count,
      send,
      // Once it has begun to, it comes to its rest, and goes on from there.
      isFinishing: () => (isFinishing ||= pause.isOn()),
    }),
  ).finally(() => pause.end());
  // Of one that others go on with, nothing is sent: their branch would no longer fit.
  if ((await runNamed(database, id))?.epoch !== seat.store.epoch) return "taken over";
  // What the last step left, and where the flow stands now.
  const sent = await send();
  if (!sent.ok) return { refused: sent.failure };
  if ("refused" in came || "lacks" in came || came.state !== "halted") return came;
  if (!at.signal.aborted) {
    const isPausing = isFinishing && came.outcome.how === "stopped";
    return isPausing ? { state: "paused", outcome: { how: "paused" } } : came;
  }
  // Ended, and not because anybody wanted the flow to end: its worker goes.
  const now = await runNamed(database, row.id);
  const isStopped = now !== undefined && isToStop(now);
  return isStopped ? { ...came, isStopped } : "handed over";
}

/** With a place of its agent's, as every attempt of a plan has one; what it used is counted there. */
async function inPlace(
  { database }: Fleet,
  { id, wanted, submitted }: Ordered,
  { project }: FlowSeat,
  { signal }: TaskContext,
  act: (count: (event: Event | RecordedEvent) => void) => Promise<Result<FlowOutcome>>,
): Promise<Came> {
  const settings = readConfig(project.root);
  if (!settings.ok) return { refused: settings.failure };
  const agent = submitted.flow?.agent ?? settings.value.agent;
  if (agent === undefined) return cameOf(await act(() => {}));
  const task = `${id}/flow/${wanted}`;
  const wish = { agent: accountOf(agent, settings.value), task, run: id };
  await inheritPlace(database, wish);
  let waiting: { readonly why: string; readonly since: number } | undefined;
  const admission = await admitted(database, wish, {
    isWanted: () =>
      !signal.aborted && !(waiting && performance.now() - waiting.since > idlePatienceMs),
    waits: (why) => {
      waiting = why === undefined ? undefined : { why, since: waiting?.since ?? performance.now() };
    },
  });
  if (admission.is === "stopped") {
    if (!waiting || signal.aborted) return { state: "halted", outcome: { how: "interrupted" } };
    // Others can use the place on this machine meanwhile.
    return { lacks: [{ is: "place", agent: wish.agent, task }], why: waiting.why };
  }
  if (admission.is === "parked") {
    const { until, why } = admission;
    return { state: "parked", outcome: { how: "parked", until, said: [why] } };
  }
  const used = { tokens: 0, dollars: 0 };
  try {
    return cameOf(
      await act((event) => {
        if (event.type !== "skill-usage-counted" && event.type !== "usage-counted") return;
        used.tokens += event.tokens;
        used.dollars += event.cost ?? 0;
      }),
    );
  } finally {
    await placeUsed(database, task, { ...used, ended: true }).catch(() => {});
  }
}

function cameOf(followed: Result<FlowOutcome>): Came {
  if (!followed.ok) return { refused: followed.failure };
  const outcome = followed.value;
  if (outcome.is === "asking") return { state: "asking", outcome: { how: "asking" } };
  if (outcome.is === "refused") return { refused: outcome.failure };
  const { rest } = outcome;
  if (rest.is === "parked")
    return { state: "parked", outcome: { how: "parked", until: rest.until } };
  return { state: rest.is === "done" ? "over" : "halted", outcome: { how: rest.is } };
}

interface FlowSeat {
  readonly project: Project;
  readonly store: SeatStore;
  readonly git: Git;
}

/** A clone with a history of its own; what lies in it is as the remote has it once it is held. */
async function openSeat(
  { database }: Fleet,
  place: WorkPlace,
  row: Ordered,
): Promise<Result<FlowSeat>> {
  const { id, order, remote } = row;
  const root = await cloneRun(place.folder, order, "drive");
  if (!root.ok) return root;
  const repository = findRepository(root.value);
  if (!repository) return fail("git", `${root.value} is no repository`);
  const projections = filesIn(root.value);
  const { leaseMs } = place;
  const opened = await openPostgresStore({ database, run: id, leaseMs, projections });
  if (!opened.ok) return opened;
  const git = openGit({ ...repository, workTree: root.value });
  // Only then: whoever holds it may have work there that nobody else has seen.
  const store = seatStore(opened.value, () => checkOut(git, row));
  const world = { ...realWorld, now: place.now };
  const project = { ...openProject(root.value, world), store, known: remote };
  return succeed({ project, store, git });
}

/** The branch as the remote has it. */
async function checkOut(git: Git, { order, target, remote }: Ordered): Promise<Result<void>> {
  const detached = await git.call({ args: ["checkout", "--quiet", "--force", "--detach"] });
  if (!detached.ok) return detached;
  const there = await followTarget(git, { url: remote }, target);
  if (!there.ok) return there;
  const isAhead = there.value === "" || (await isAncestor(git, there.value, order.base));
  const tip = isAhead ? order.base : there.value;
  const branch = target.replace(/^refs\/heads\//, "");
  const out = await git.call({ args: ["checkout", "--quiet", "--force", "-B", branch, tip] });
  return out.ok ? succeed(undefined) : out;
}

/** A flow's state file is one of the documents: it lies in the clone, and travels with its commits. */
function filesIn(root: string): Projections {
  const unique = (): string => `${writerName()}-${realWorld.uuid().slice(0, 8)}`;
  const nowhere = async (file: string): Promise<Result<string>> => succeed(file);
  return {
    readProjection: (file) => readProjection(realDisk, root, file),
    writeProjection: (file, text, { durable }) =>
      writeProjection(realDisk, root, file, text, { unique: unique(), durable }),
    // Git has what it held: the clone is made from there.
    setAside: nowhere,
    keepCopy: nowhere,
  };
}

interface Watching {
  count(event: Event | RecordedEvent): void;
  send(): Promise<unknown>;
  isFinishing(): boolean;
}

async function carry(
  fleet: Fleet,
  row: RunRow,
  { project: found, held }: FlowSeat & { readonly held: Held },
  at: TaskContext,
  { count, send, isFinishing }: Watching,
): Promise<Result<FlowOutcome>> {
  const wish = row.submitted.flow ?? {};
  const known = withFlows(found, wish.flow);
  if (!known.ok) return known;
  const project = known.value;
  const news = newsFor(fleet, row.id);
  const people = { ask: async () => succeed(undefined), by: "autodev worker" };
  const opened = await openFlow(project, held, people);
  if (!opened.ok) return opened;
  try {
    return await followFlow(
      project,
      held,
      { ...wish, wait: false },
      {
        ...people,
        askTrust: async () => succeed(undefined),
        signal: at.signal,
        killNow: at.killNow,
        isFinishing,
        happened(events) {
          for (const event of events) count(event);
          // A step that is complete is everybody's at once.
          if (events.some(({ type }) => type === "step-committed")) void send();
        },
        tell: (notice) => news.add({ notice }),
        onEvent: count,
        onNews: news.add,
      },
    );
  } finally {
    await news.end();
  }
}

/** One after the other: each begins from what the one before has left there. */
function sending(git: Git, row: RunRow): () => Promise<Result<void>> {
  let turn: Promise<Result<void>> = Promise.resolve(succeed(undefined));
  return () => {
    turn = turn.then(() => sendNow(git, row));
    return turn;
  };
}

async function sendNow(git: Git, { remote, target }: RunRow): Promise<Result<void>> {
  const to = await commitAt(git, target);
  if (to === undefined) return succeed(undefined);
  const seen = `refs/autodev/seen/${target}`;
  const held = await followTarget(git, { url: remote }, target, seen);
  if (!held.ok) return held;
  if (held.value === to) return succeed(undefined);
  if (held.value !== "" && !(await isAncestor(git, held.value, to))) {
    return fail(
      "push-refused",
      `${target} at ${remote} holds commits that the flow does not know`,
      {
        hint: "the same command again begins from what is there",
      },
    );
  }
  const sent = await sendTarget(git, { url: remote }, { target, from: held.value, to });
  if (!sent.ok) return sent;
  return sent.value === "sent" ? succeed(undefined) : sendNow(git, { remote, target } as RunRow);
}
