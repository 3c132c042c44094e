/** What is asked for below `/api`, and what is answered: wire.ts as functions. */
import { packBoard, runOn } from "../core/board/board.ts";
import type {
  ArtifactAnswer,
  ArtifactsAnswer,
  BoardAnswer,
  BriefAnswer,
  DecideAnswer,
  DiffAnswer,
  EnterAnswer,
  EventsAnswer,
  ProjectsAnswer,
  ProofAnswer,
  TicketAnswer,
  TranscriptAnswer,
} from "../core/board/wire.ts";
import { mostEventsAtOnce } from "../core/board/wire.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import {
  answerDecision,
  briefIn,
  budgetsAt,
  examineFlows,
  flowRun,
  listArtifacts,
  markdownTree,
  openPlan,
  type Project,
  patchWithoutSecrets,
  phaseDiff,
  readArtifact,
  transcriptOf,
  withoutSecrets,
} from "../project.ts";
import { proofOf } from "./address.ts";
import { conversationIn } from "./conversation.ts";
import type { Feed } from "./feed.ts";
import { decideInFleet, type FleetDoor, pauseFleet, showFleet } from "./fleet.ts";
import { fits, misshapen, optional, required } from "./parameters.ts";
import type { Place, Places } from "./projects.ts";
import type { Tickets } from "./tickets.ts";

export interface House {
  readonly places: Places;
  readonly tickets: Tickets;
  readonly token: string;
  /** In whose name decisions are answered. */
  readonly by: string;
  /** Absent: nobody has said where its database is. */
  readonly fleet?: FleetDoor;
}

export interface Question {
  readonly query: URLSearchParams;
  /** What was posted. */
  readonly body: Readonly<Record<string, unknown>>;
}

const mostAtWork = 4;
const atWork = new Set<Promise<void>>();

type Route = (house: House, question: Question) => Promise<Result<object>> | Result<object>;

export const routes: Readonly<Record<string, Route>> = {
  "/api/projects": ({ places }) => succeed<ProjectsAnswer>({ version: 1, projects: places.seen() }),
  "/api/board": board,
  "/api/events": events,
  "/api/transcript": transcript,
  "/api/brief": brief,
  "/api/diff": inTurn(diff),
  "/api/artifacts": inTurn(artifacts),
  "/api/artifact": inTurn(artifact),
  "/api/decide": decide,
  "/api/fleet": showFleet,
  "/api/fleet/decide": decideInFleet,
  "/api/fleet/pause": pauseFleet,
  "/api/ticket": ({ tickets }) => succeed<TicketAnswer>({ version: 1, ticket: tickets.issue() }),
  "/api/enter": enter,
  "/api/proof": proof,
};

/** Those that start processes: a few at a time, however many are asked at once. */
function inTurn(route: Route): Route {
  return async (house, question) => {
    while (atWork.size >= mostAtWork) await Promise.race(atWork);
    const work = Promise.resolve(route(house, question));
    const ended = work.then(
      () => {},
      () => {},
    );
    atWork.add(ended);
    try {
      return await work;
    } finally {
      atWork.delete(ended);
    }
  };
}

/** Of the project that is named, or of the first. */
export function placeOf({ places }: House, query: URLSearchParams): Result<Place> {
  const key = optional(query, "p", "key");
  if (!key.ok) return key;
  const place = places.named(key.value ?? ".");
  return place ? succeed(place) : fail("not-found", "there is no such project here");
}

// ── what happened ──────────────────────────────────────────────────────────────────────────────

function board(house: House, { query }: Question): Result<BoardAnswer> {
  const place = placeOf(house, query);
  if (!place.ok) return place;
  const at = optional(query, "at", "seq");
  if (!at.ok) return at;
  const { feed } = place.value;
  const trouble = feed.look();
  // What was seen before is still worth something; what was never seen is not.
  if (trouble && feed.board.seq === 0) return { ok: false, failure: trouble };
  const { project, began, board: now } = feed;
  const wanted = at.value === undefined ? now : feed.at(Number(at.value));
  return succeed({
    version: 1,
    board: packBoard(wanted),
    head: { seq: now.seq, began, at: now.at },
    budgets: budgetsAt(project),
    flows: ownFlows(project),
    ...(at.value === undefined && { answers: feed.answers() }),
  });
}

const ownFlows = ({ root }: Project): BoardAnswer["flows"] =>
  examineFlows(root).flows.flatMap(({ flow, from }) => (from === "built-in" ? [] : [flow]));

function events(house: House, { query }: Question): Result<EventsAnswer> {
  const place = placeOf(house, query);
  if (!place.ok) return place;
  const after = required(query, "after", "seq");
  if (!after.ok) return after;
  const to = required(query, "to", "seq");
  if (!to.ok) return to;
  const { feed } = place.value;
  feed.look();
  const read = feed.events(Number(after.value), Number(to.value), mostEventsAtOnce);
  return read.ok ? succeed({ version: 1, events: read.value }) : read;
}

// ── an attempt ─────────────────────────────────────────────────────────────────────────────────

interface Which {
  readonly feed: Feed;
  readonly run: string;
  readonly phase: string;
  readonly attempt: number | undefined;
  /** What its agent and gates have printed. */
  readonly file: string;
}

/** Only what is on record has a file: nobody looks for others by their names. */
function whichOf(house: House, query: URLSearchParams): Result<Which> {
  const place = placeOf(house, query);
  if (!place.ok) return place;
  const run = required(query, "run", "run");
  if (!run.ok) return run;
  const phase = required(query, "phase", "phase");
  if (!phase.ok) return phase;
  const number = optional(query, "attempt", "count");
  if (!number.ok) return number;
  const { feed } = place.value;
  feed.look();
  const { runs, flow } = feed.board;
  const attempts =
    run.value === flowRun
      ? flow.sessions.flatMap(({ step, session }) => (step === phase.value ? [session] : []))
      : (Object.hasOwn(runs, run.value) ? (runs[run.value]?.stories ?? []) : []).flatMap((story) =>
          story.phase === phase.value ? [story.attempt] : [],
        );
  const attempt = number.value === undefined ? attempts.at(-1) : Number(number.value);
  if (attempt === undefined || !attempts.includes(attempt))
    return fail("not-found", "there was no such attempt");
  const name = run.value === flowRun ? "session" : phase.value;
  const file = transcriptOf(feed.project, run.value, name, attempt);
  return succeed({ feed, run: run.value, phase: phase.value, attempt, file });
}

function transcript(house: House, { query }: Question): Result<TranscriptAnswer> {
  const which = whichOf(house, query);
  if (!which.ok) return which;
  const from = optional(query, "from", "offset");
  if (!from.ok) return from;
  const said = conversationIn(which.value.file, Number(from.value ?? 0));
  // Nothing was said yet, or nothing of it is kept: whoever asks knows whether it goes on.
  return succeed(said ?? { version: 1, from: 0, next: 0, entries: [] });
}

function brief(house: House, { query }: Question): Result<BriefAnswer> {
  const which = whichOf(house, query);
  if (!which.ok) return which;
  const text = briefIn(which.value.file)?.text;
  if (text !== undefined) return succeed({ version: 1, text, blocks: markdownTree(text) });
  const planned = inPlan(which.value);
  return planned === undefined
    ? fail("not-found", "what its agent was told is not kept")
    : succeed({ version: 1, from: "plan", text: planned, blocks: markdownTree(planned) });
}

/** Who is not spoken to, or works by the letter of the plan, was told no more than that. */
function inPlan({ feed, run, phase }: Which): string | undefined {
  const known = runOn(feed.board, run);
  const opened = known && openPlan(feed.project.root, known.plan);
  if (!opened?.ok) return undefined;
  return opened.value.compiled.plan.phases.find(({ id }) => id === phase)?.text;
}

/** Of a change that is larger, git is not even asked for the rest. */
const mostOfPatch = { lines: 50_000, bytes: 1024 ** 2 };

async function diff(house: House, { query }: Question): Promise<Result<DiffAnswer>> {
  const which = whichOf(house, query);
  if (!which.ok) return which;
  const { feed, run, phase, attempt } = which.value;
  if (run === flowRun) return fail("not-found", "a step's documents are below artifacts");
  const told = await phaseDiff(feed.project, phase, {
    run,
    patch: mostOfPatch,
    ...(attempt !== undefined && { attempt }),
  });
  if (!told.ok) return told;
  const { base, commit, files, patch = Buffer.alloc(0), cut = false } = told.value;
  const end = cut ? patch.lastIndexOf(10) + 1 : patch.length;
  return succeed({
    version: 1,
    base,
    commit,
    files: files.map(({ path, added, deleted }) => ({ path, added, removed: deleted })),
    patch: patch.toString("utf8", 0, end).split("\n").map(patchWithoutSecrets()).join("\n"),
    cut,
  });
}

// ── artifacts ──────────────────────────────────────────────────────────────────────────────────

async function artifacts(house: House, { query }: Question): Promise<Result<ArtifactsAnswer>> {
  const place = placeOf(house, query);
  if (!place.ok) return place;
  const at = optional(query, "at", "commit");
  if (!at.ok) return at;
  const { feed } = place.value;
  feed.look();
  const flows = examineFlows(feed.project.root).flows.map(({ flow }) => flow);
  const project = { ...feed.project, flows };
  const listed = await listArtifacts(project, feed.board.state.flow, at.value);
  return listed.ok ? succeed({ version: 1, files: listed.value }) : listed;
}

const mostArtifact = 1024 ** 2;
/** A tree is many times as large as its text, and a page draws all of it. */
const mostMarkdown = 256 * 1024;

async function artifact(house: House, { query }: Question): Promise<Result<ArtifactAnswer>> {
  const place = placeOf(house, query);
  if (!place.ok) return place;
  const file = required(query, "path", "path");
  if (!file.ok) return file;
  const at = optional(query, "at", "commit");
  if (!at.ok) return at;
  const isMarkdown = /\.(?:md|markdown)$/i.test(file.value);
  const read = await readArtifact(place.value.feed.project, file.value, {
    most: isMarkdown ? mostMarkdown : mostArtifact,
    ...(at.value !== undefined && { at: at.value }),
  });
  if (!read.ok) return read;
  const { path, bytes, content } = read.value;
  const about = { version: 1, path, bytes, cut: content.length < bytes } as const;
  const whole = textIn(content, about.cut);
  if (whole === undefined) return succeed({ ...about, is: "binary" });
  const text = withoutSecrets(whole);
  if (!isMarkdown) return succeed({ ...about, is: "text", text });
  return succeed({ ...about, is: "markdown", text, blocks: markdownTree(text, path) });
}

/** Undefined: it is none. What was cut may end in the middle of a character. */
function textIn(content: Buffer, cut: boolean): string | undefined {
  if (content.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content, { stream: cut });
  } catch {
    return undefined;
  }
}

// ── what changes something ─────────────────────────────────────────────────────────────────────

async function decide(house: House, { body }: Question): Promise<Result<DecideAnswer>> {
  const { p, id, key } = body;
  if (!fits(p, "key")) return misshapen("p");
  if (!fits(id, "decision")) return misshapen("id");
  if (!fits(key, "letter")) return misshapen("key");
  const place = house.places.named(p);
  if (!place) return fail("not-found", "there is no such project here");
  const { project } = place.feed;
  const decided = await answerDecision(project, id, { key, by: house.by, command: "autodev ui" });
  if (!decided.ok) return decided;
  place.channel.hurry();
  const { answer, answeredBy, recorded, warning } = decided.value;
  const about = { id, answer, answeredBy, recorded };
  return succeed({ version: 1, ...about, ...(warning !== undefined && { warning }) });
}

function enter({ tickets, token }: House, { body }: Question): Result<EnterAnswer> {
  if (!fits(body["ticket"], "ticket") || !tickets.use(body["ticket"])) {
    return fail("untrusted", "this address was good once, for two minutes", {
      hint: "open the address that `autodev ui` prints",
    });
  }
  return succeed({ version: 1, token });
}

function proof({ token }: House, { query }: Question): Result<ProofAnswer> {
  const nonce = required(query, "nonce", "nonce");
  return nonce.ok ? succeed({ version: 1, proof: proofOf(token, nonce.value) }) : nonce;
}
