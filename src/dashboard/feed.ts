/**
 * One project's history as the dashboard knows it: the board as it is now, a few of the past, and the
 * last events. It reads when it is told to, and only what it has not read yet.
 *
 *  1. What is kept does not grow with history: events that are asked for later are read again.
 *  2. A journal that cannot be read is trouble to tell of, not an end: the last board stays.
 */
import * as fs from "node:fs";
import { type Board, blankBoard, evolveBoard } from "../core/board/board.ts";
import type { Answer } from "../core/decision.ts";
import type { RecordedEvent } from "../core/event.ts";
import { openDecisions } from "../core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import { eventsOf, type Holder, type Project } from "../project.ts";
import { type Checkpoints, createCheckpoints } from "./checkpoints.ts";
import { keptForAWhile } from "./kept-events.ts";

export interface Feed {
  readonly project: Project;
  readonly board: Board;
  /** When its first event happened; empty: nothing has. */
  readonly began: string;
  readonly trouble: Failure | undefined;
  /** Reads what is new; undefined: all is well. */
  look(): Failure | undefined;
  /** As it was at `seq`, or a little before. */
  at(seq: number): Board;
  /** Those after `after` up to `to`, at most `most`. */
  events(after: number, to: number, most: number): Result<readonly RecordedEvent[]>;
  /** Whose session is open there. */
  holder(): Holder | undefined;
  /** To open decisions: given, but not recorded yet. By the decision's id. */
  answers(): Readonly<Record<string, Answer>>;
  /** Told of everything from now on; only one listens. */
  listener: Listener | undefined;
}

export interface Listener {
  happened(events: readonly RecordedEvent[]): void;
  /** What was told before no longer stands. */
  anew(): void;
}

const lastKept = 2000;
/** Where the kernel does not tell, one has to try the lock: not while somebody may want it. */
const holderMs = process.platform === "linux" ? 500 : 10_000;

export function openFeed(project: Project): Feed {
  let tail = project.store.tail();
  /** It has read nothing yet: what it tells next is the journal from its beginning. */
  let isFresh = true;
  let board: Board = blankBoard;
  let began = "";
  let checkpoints: Checkpoints = createCheckpoints();
  let last: RecordedEvent[] = [];
  let trouble: Failure | undefined;
  let notBefore = 0;
  let held: { readonly holder: Holder | undefined; readonly until: number } | undefined;
  const whole = keptForAWhile();

  const beginAgain = (): void => {
    board = blankBoard;
    began = "";
    checkpoints = createCheckpoints();
    last = [];
    whole.drop();
  };
  /** As far as they can be understood: what a person has written by hand may lack anything. */
  const take = (events: readonly RecordedEvent[]): Taken => {
    const taken: RecordedEvent[] = [];
    let failure: Failure | undefined;
    for (const event of events) {
      try {
        board = evolveBoard(board, event);
      } catch (error) {
        failure = notUnderstood(event, error);
        break;
      }
      checkpoints.passed(board);
      taken.push(event);
    }
    began ||= taken[0]?.at ?? "";
    last = [...last, ...taken.slice(-lastKept)].slice(-lastKept);
    whole.extend(taken);
    if (failure) readAgain();
    return { taken, failure };
  };
  const readAgain = (): void => {
    tail = project.store.tail();
    isFresh = true;
  };
  const read = (): Failure | undefined => {
    // A folder that is gone has no journal either; what was seen of it is still worth showing.
    if (!fs.existsSync(project.root)) {
      return fail("not-found", `${project.root} is no longer there`).failure;
    }
    const grown = tail.next();
    if (!grown.ok) {
      readAgain();
      return grown.failure;
    }
    const { transitions, anew } = grown.value;
    const events = transitions.flatMap(eventsOf);
    // After trouble it is read from the beginning: what stands there may be what was read before.
    const isAgain = !anew && board.seq > 0 && isFresh;
    isFresh = false;
    const isSame = isAgain && continues(events);
    if (anew || (isAgain && !isSame)) {
      beginAgain();
      const { failure } = take(events);
      feed.listener?.anew();
      return failure;
    }
    const { taken, failure } = take(isSame ? events.filter(({ seq }) => seq > board.seq) : events);
    if (taken.length > 0) feed.listener?.happened(taken);
    return failure;
  };
  const continues = (events: readonly RecordedEvent[]): boolean => {
    const known = last.at(-1);
    const there = known && events[known.seq - 1];
    return known === undefined || JSON.stringify(there) === JSON.stringify(known);
  };
  const all = (): Result<readonly RecordedEvent[]> => {
    const kept = whole.get();
    if (kept) return succeed(kept);
    const read = project.store.tail().next();
    if (!read.ok) return read;
    const events = read.value.transitions.flatMap(eventsOf);
    whole.keep(events);
    return succeed(events);
  };

  const feed: Feed = {
    project,
    listener: undefined,
    get board() {
      return board;
    },
    get began() {
      return began;
    },
    get trouble() {
      return trouble;
    },
    look() {
      const now = performance.now();
      if (trouble && now < notBefore) return trouble;
      trouble = read();
      const took = performance.now() - now;
      // What cannot be read is read from its beginning each time: a long one not all the time.
      if (trouble && took > 200) notBefore = now + 20 * took;
      return trouble;
    },
    at: (seq) => (seq >= board.seq ? board : checkpoints.before(seq)),
    events(after, to, most) {
      const within = ({ seq }: RecordedEvent): boolean => seq > after && seq <= to;
      const [oldest] = last;
      if (after >= board.seq) return succeed([]);
      if (oldest && oldest.seq <= after + 1) return succeed(last.filter(within).slice(0, most));
      const read = all();
      // Numbers are without gaps: the event `seq` stands at `seq - 1`.
      return read.ok ? succeed(read.value.slice(after, Math.min(to, after + most))) : read;
    },
    holder() {
      const now = performance.now();
      if (!held || now > held.until)
        held = { holder: quietly(() => project.store.holder()), until: now + holderMs };
      return held.holder;
    },
    answers() {
      const open = openDecisions(board.state);
      const ids = open.map(({ id }) => id);
      const given = ids.length === 0 ? undefined : quietly(() => project.store.answers(ids));
      return Object.fromEntries(
        open.flatMap(({ id }) => {
          const answer = given?.get(id);
          return answer ? [[id, answer]] : [];
        }),
      );
    },
  };
  return feed;
}

interface Taken {
  readonly taken: readonly RecordedEvent[];
  /** Why it ends before the last of them. */
  readonly failure: Failure | undefined;
}

function notUnderstood({ seq, type }: RecordedEvent, error: unknown): Failure {
  const why = error instanceof Error ? error.message : String(error);
  const what = `event ${seq} of the journal (${type}) cannot be understood: ${why}`;
  return fail("journal-damaged", what, { hint: "autodev doctor tells what is wrong with it" })
    .failure;
}

/** A disk that refuses is told of by `look`; here it is only not known. */
function quietly<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
