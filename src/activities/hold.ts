/**
 * The two ways to meet a project. `look` reads and changes nothing; `hold` takes the lock and may
 * record: each transition is durable in the journal before it is shown in the files.
 */

import { isOpen } from "../core/decision.ts";
import type { Event, RecordedEvent } from "../core/event.ts";
import {
  currentRun,
  evolve,
  nothingYet,
  openDecisions,
  type ProjectState,
  renderedStateFile,
  withAnswers,
} from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { evolveCourse } from "../core/flow/course.ts";
import { type Check, crossCheck, placeAfter } from "../core/flow/cross-check.ts";
import { effectsOf } from "../core/flow/effects.ts";
import type { Flow, Survey } from "../core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../core/flow/flows/index.ts";
import type { FlowState } from "../core/flow/state.ts";
import { stateFileNames } from "../core/flow/state-names.ts";
import { type Whereabouts, whereabouts } from "../core/flow/whereabouts.ts";
import { type GitPlace, samePlace } from "../core/git-place.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { isKnownThere, placeOf, placeWatch, type Repository } from "../git.ts";
import {
  type Head,
  type Holder,
  lookedUp,
  type Sent,
  type Session,
  type Store,
  type StoredTransition,
} from "../store.ts";
import { createShowing, type Rendered, type Showing } from "./show.ts";
import { survey } from "./survey.ts";

/** Clock, identity and hashing are arguments. */
export interface World {
  now(): string;
  holder(command: string): Holder;
  /** Never the same twice. */
  uuid(): string;
  /** SHA-256, in hex. */
  hash(text: string): string;
  /**
   * How often the files that people read are brought up to date, in milliseconds, at the most.
   * 0: with every transition, before it returns (simulations, where time stands still).
   */
  readonly showEvery: number;
}

export interface Project {
  readonly root: string;
  /** Undefined: not a git repository. One can look, but nothing can be recorded. */
  readonly repository: Repository | undefined;
  readonly store: Store;
  readonly world: World;
  /** The built-in flows and the project's own; absent: the built-in ones. */
  readonly flows?: readonly Flow[];
  /** The flow that a person asked for. */
  readonly wantedFlow?: string;
  /** What questions about it are about, the same on every machine; absent: its root. */
  readonly known?: string;
}

export interface Look {
  readonly state: ProjectState;
  readonly head: Head;
  readonly here: Whereabouts;
  /** What the folders say to it; absent: nobody looked. */
  readonly check?: Check;
  /** How the state file should stand, by the journal. */
  readonly rendered?: Rendered | undefined;
}

/** A project that we hold: what is recorded here is durable and on disk for people to see. */
export interface Held {
  readonly state: ProjectState;
  readonly head: Head;
  /** What was put right when the project was opened, for people to know. */
  readonly noticed: readonly string[];
  record(...events: Event[]): Promise<Result<ProjectState>>;
  /** The same for a run: `files` says which of its files look different afterwards. */
  recordIn(
    run: string,
    events: readonly Event[],
    files?: (state: ProjectState) => readonly Rendered[],
  ): Promise<Result<ProjectState>>;
  /** A file of a run, for people to read; the journal has what it says. */
  write(file: Rendered, options: { durable: boolean }): Promise<Result<void>>;
  /** With the files as they stand once everything recorded so far is shown in them. */
  look(): Promise<Result<Look>>;
  /** What others have said to us and we have not taken up yet. */
  messages(): Promise<readonly Sent[]>;
  takenUp(id: string): Promise<void>;
  /** Takes a file out of the way, into the rescue folder, and says where it is. */
  setAside(file: string): Promise<Result<string>>;
  /** Makes the projections durable, leaves a snapshot for the next reader, lets go. */
  release(): Promise<Result<void>>;
}

export const flowRun = "flow";

/** As people are shown it: where `autodev` would go on, and why there. */
export function shownPlace({ here, check }: Look): {
  readonly state: FlowState;
  readonly corrections: readonly string[];
} {
  const lines = check && check.is !== "agrees" ? [check.line] : [];
  return { state: placeAfter(here.state, check), corrections: [...here.corrections, ...lines] };
}

export const look = (project: Project): Result<Look> => lookedUp(() => lookNow(project));

function lookNow(project: Project): Result<Look> {
  const folded = fold(project.store);
  if (!folded.ok) return folded;
  const { state, head, rendered } = folded.value;
  const found = find(project, folded.value);
  if (!found.ok) return found;
  const told = withAnswers(state, (to) => project.store.answers(to));
  return succeed({ state: told, head, rendered, ...found.value });
}

/** Only what the journal says: a state file that cannot be read is in nobody's way here. */
export function readState(project: Project): Result<ProjectState> {
  const folded = fold(project.store);
  if (!folded.ok) return folded;
  return lookedUp(() =>
    succeed(withAnswers(folded.value.state, (to) => project.store.answers(to))),
  );
}

/** From where the run began: a build costs no more after a year of others. */
export function readHistory(
  { store }: Pick<Project, "store">,
  { id, began }: Pick<PlanRun, "id" | "began">,
): Result<RecordedEvent[]> {
  const reading = store.read(began === undefined ? { whole: true } : { from: began });
  if (!reading.ok) return reading;
  return succeed(reading.value.after.filter(({ run }) => run === id).flatMap(eventsOf));
}

export async function hold(project: Project, command: string): Promise<Result<Held>> {
  if (!project.repository) return noRepository(project.root);
  const { store, repository, world } = project;
  if (!isKnownThere(repository)) return notKnownThere(repository);
  // What cannot even be looked at is refused before anything is made or changed.
  const looked = look(project);
  if (!looked.ok) return looked;
  const opened = await openSoon(store, world.holder(command));
  if (!opened.ok) return opened;
  const session = opened.value;
  const folded = fold(store);
  if (!folded.ok) {
    await session.release();
    return folded;
  }
  let { state, head, git, rendered } = folded.value;
  let sinceSnapshot = folded.value.folded;
  const placeNow = placeWatch(repository);
  const hashOf = (text: string): string => renderingHash(text, world);
  const showing = createShowing({
    store,
    session,
    hashOf,
    rendered: () => rendered,
    // What a killed session left may not have reached the disk.
    unsynced: sinceSnapshot > 0,
    every: world.showEvery,
  });

  const snapshot = async (): Promise<void> => {
    await session.saveSnapshot({ head, state, ...(rendered && { rendered }), ...(git && { git }) });
    sinceSnapshot = 0;
  };

  const recordNow = async (
    run: string,
    events: readonly Event[],
    files?: (state: ProjectState) => readonly Rendered[],
  ): Promise<Result<ProjectState>> => {
    const at = world.now();
    const next = events.reduce(
      (folding, event, index) =>
        evolve(folding, { ...event, seq: head.seq + 1 + index, at, run } as RecordedEvent),
      state,
    );
    const file = rendersAlike(state, next) ? rendered : renderedStateFile(next);
    const changed = file && (file.text !== rendered?.text || file.path !== rendered.path);
    // Only a rendering has to know where git stood when it was made.
    const place = changed ? placeNow() : (git ?? placeNow());
    const shownAs = [...(changed ? [file] : []), ...(files?.(next) ?? [])];
    const appended = await session.append(head.seq, {
      at,
      run,
      events,
      ...(shownAs.length > 0 && {
        rendered: Object.fromEntries(shownAs.map(({ path, text }) => [path, hashOf(text)])),
      }),
      ...(!samePlace(place, git) && { git: place }),
    });
    if (!appended.ok) return appended;
    for (const text of events.flatMap(takenOver)) showing.tookOver(text);
    head = appended.value;
    state = next;
    git = place;
    rendered = file;
    const due = ++sinceSnapshot >= snapshotEvery + sizeOf(next);
    if (changed) showing.wanted();
    if (due || world.showEvery === 0) await showing.settled({ durable: due });
    if (due) await snapshot();
    return succeed(state);
  };

  // One at a time: each is decided on what the one before has made of the state.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = turn.then(act);
    turn = mine.catch(() => {});
    return mine;
  };
  const held: Held = {
    get state() {
      return state;
    },
    get head() {
      return head;
    },
    noticed: looked.value.here.corrections,
    record: (...events) => inTurn(() => recordNow(flowRun, events)),
    recordIn: (run, events, files) => inTurn(() => recordNow(run, events, files)),
    write: ({ path, text }, options) => session.writeProjection(path, text, options),
    messages: () => session.messages(),
    takenUp: (id) => session.takenUp(id),
    async setAside(file) {
      await showing.settled({ durable: false });
      return session.setAside(file, world.now());
    },
    async look() {
      await showing.settled({ durable: false });
      const found = lookedUp(() => find(project, { state, git, rendered }));
      return found.ok ? succeed({ state, head, rendered, ...found.value }) : found;
    },
    async release() {
      await turn;
      // The file first: a snapshot promises that what it has seen is durable there too.
      const shown = await showing.rest();
      await snapshot();
      await session.release();
      return shown;
    },
  };
  const caughtUp = await catchUp(store, held, showing);
  if (!caughtUp.ok) {
    await session.release();
    return caughtUp;
  }
  return succeed(held);
}

/** Whoever records an answer holds the project for a moment: nobody is sent away for that. */
async function openSoon(store: Store, holder: Holder): Promise<Result<Session>> {
  for (let waited = 0; ; waited += waitMs) {
    const opened = await store.open(holder);
    const isBusy = !opened.ok && opened.failure.code === "locked" && waited < mostWaitMs;
    if (!isBusy || !isAnswering(store.holder()?.command ?? "")) return opened;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

const waitMs = 50;
const mostWaitMs = 3000;
const isAnswering = (command: string): boolean => /^autodev (?:decide|ui)\b/.test(command);

const rendersAlike = (a: ProjectState, b: ProjectState): boolean =>
  a.flow === b.flow && a.stateFile === b.stateFile && a.sections === b.sections;

/**
 * Before anything new is recorded: what happened to the file while nobody held the project
 * (edited, replaced, deleted) and the answers that people gave meanwhile.
 */
async function catchUp(store: Store, held: Held, showing: Showing): Promise<Result<void>> {
  const looked = await held.look();
  if (!looked.ok) return looked;
  const { here } = looked.value;
  const undecided = here.bothNames && !held.state.stateFile;
  if (here.verdict.is === "to-adopt" && !undecided) {
    const { because, path: file, text } = here.verdict;
    const adopted = await held.record(adoption(here, because, file, text));
    if (!adopted.ok) return adopted;
  } else if (here.verdict.is === "stale") {
    showing.tookOver(here.files.find((file) => file.path === held.state.stateFile?.path)?.text);
    showing.wanted();
    await showing.settled({ durable: false });
  }
  // Only of what is open: a start costs no more after a year of decisions.
  const open = openDecisions(held.state).map(({ id }) => id);
  const answers = lookedUp(() => succeed(store.answers(open)));
  if (!answers.ok) return answers;
  for (const [id, answer] of answers.value) {
    const decision = held.state.decisions[id];
    if (!decision || !isOpen(decision)) continue;
    const recorded = await held.record(
      { type: "decision-answered", id, ...answer },
      ...effectsOf(held.state, decision, answer.key),
    );
    if (!recorded.ok) return recorded;
  }
  return succeed(undefined);
}

/** The event by which bytes become the truth. */
export const adoption = (
  here: Whereabouts,
  why: Extract<Event, { type: "state-file-adopted" }>["why"],
  file: string,
  text: string,
): Event => ({
  type: "state-file-adopted",
  why,
  path: file,
  text,
  generation: here.generation,
  variant: here.variant,
  state: toPlain(here.state),
  corrections: [...here.corrections],
  ...(why !== "created" && here.places && { places: here.places.map(({ step }) => step) }),
});

const toPlain = (state: FlowState): Extract<Event, { type: "state-file-adopted" }>["state"] => ({
  ...state,
  skipped: [...state.skipped],
  completed: [...state.completed],
  keyDecisions: [...state.keyDecisions],
  retryLog: [...state.retryLog],
  blockers: [...state.blockers],
});

/** The text of a file that was adopted as it stood on disk. */
const takenOver = (event: Event): string[] =>
  event.type === "state-file-adopted" && event.why !== "created" && event.why !== "migrated"
    ? [event.text]
    : [];

/** How much a reader has to fold at the most, after a crash: more where a snapshot is large. */
const snapshotEvery = 256;
const sizeOf = (state: ProjectState): number => currentRun(state)?.phases.length ?? 0;

interface Folded {
  readonly state: ProjectState;
  readonly git: GitPlace | undefined;
  /** The state file as it should stand on disk. */
  readonly rendered: Rendered | undefined;
}

function fold(store: Store): Result<Folded & { head: Head; folded: number }> {
  const reading = store.read();
  if (!reading.ok) return reading;
  const { head, snapshot, after } = reading.value;
  let state = snapshot?.state ?? nothingYet;
  let git = snapshot?.git;
  for (const transition of after) {
    state = eventsOf(transition).reduce(evolve, state);
    git = transition.git ?? git;
  }
  const rendered = snapshot && after.length === 0 ? snapshot.rendered : renderedStateFile(state);
  return succeed({ state, git, rendered, head, folded: after.length });
}

export const eventsOf = ({ seq, at, run, events }: StoredTransition): RecordedEvent[] =>
  events.map((event, index) => ({ ...event, seq: seq + index, at, run }));

function find(
  project: Project,
  { state, git, rendered }: Folded,
): Result<Pick<Look, "here" | "check">> {
  const { root, store, repository, world, flows = builtInFlows } = project;
  const files: { path: string; text: string }[] = [];
  for (const name of stateFileNames) {
    const file = `_docs/${name}`;
    const read = store.readProjection(file);
    if (!read.ok) return read;
    if (read.value !== undefined) files.push({ path: file, text: read.value });
  }
  let seen: Survey | undefined;
  const surveyed = (): Survey => {
    seen ??= survey(root, flows);
    return seen;
  };
  const wanted = project.wantedFlow ?? flowChosen(state);
  const here = whereabouts({
    files,
    ...(state.flow && state.stateFile && rendered
      ? { recorded: { flow: state.flow, file: state.stateFile, text: rendered.text } }
      : {}),
    everRendered: (file, text) => store.everRendered(file, renderingHash(text, world)),
    recentRenderings: () => recentRenderings(store),
    gitMoved: () => repository !== undefined && !samePlace(placeOf(repository), git),
    survey: surveyed,
    flows,
    ...(wanted !== undefined && { wanted }),
  });
  if (!here.ok) return here;
  const check = checkOf(here.value, state, flows, surveyed);
  return succeed({ here: here.value, ...(check && check.is !== "agrees" && { check }) });
}

/** The flow that a person chose when several fitted. */
const flowChosen = ({ decisions }: ProjectState): string | undefined => {
  const chosen = Object.values(decisions).findLast(
    ({ kind, answer }) => kind === "which-flow" && answer !== undefined,
  );
  return chosen?.options.find(({ key }) => key === chosen.answer?.key)?.text.split(":")[0];
};

/** A file that is not on record yet is judged as if it were. */
function checkOf(
  here: Whereabouts,
  state: ProjectState,
  flows: readonly Flow[],
  surveyed: () => Survey,
): Check | undefined {
  const { verdict } = here;
  const flow = flowNamed(here.state.flow, flows);
  if (verdict.is === "nothing" || !flow || here.state.step === "done") return undefined;
  // Somebody who came for it is at work: what lies there is half of it.
  const { lease, ended } = state.course?.session ?? {};
  if (verdict.is !== "to-adopt" && lease && ended === undefined) return undefined;
  const course =
    verdict.is === "to-adopt"
      ? evolveCourse(state.course, state.flow, {
          ...adoption(here, verdict.because, verdict.path, verdict.text),
          seq: 0,
          at: "",
          run: flowRun,
        } as RecordedEvent)
      : state.course;
  return crossCheck(flow, here.state, course, surveyed());
}

/** What was rendered since the projections were last known to be durable. */
function recentRenderings(store: Store): string[] {
  const reading = store.read();
  if (!reading.ok) return [];
  const { snapshot, after } = reading.value;
  let state = snapshot?.state ?? nothingYet;
  const texts = snapshot?.rendered ? [snapshot.rendered.text] : [];
  for (const transition of after) {
    state = eventsOf(transition).reduce(evolve, state);
    const rendered = renderedStateFile(state);
    if (rendered) texts.push(rendered.text);
  }
  return texts;
}

export const renderingHash = (text: string, world: World): string => world.hash(text).slice(0, 24);

const noRepository = (root: string): ReturnType<typeof fail> =>
  fail("no-repository", `${root} is not in a git repository, and autodev keeps its memory in one`, {
    hint: "git init",
  });

export const notKnownThere = ({ root, gitDir, commonDir }: Repository): ReturnType<typeof fail> =>
  fail("no-repository", `${root}/.git leads to ${commonDir}, which knows nothing of this folder`, {
    hint: `if it is yours: git --git-dir='${gitDir}' config core.worktree '${root}'`,
  });
