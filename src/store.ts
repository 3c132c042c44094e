/**
 * The contract of a store: one append-only history of transitions, one writer at a time.
 *
 * What every implementation promises
 *  1. `append` resolves with a head only once the transition is durable. One that failed may be
 *     seen by readers until the next one takes its place, as one may that is still under way.
 *  2. `append` is a compare-and-swap: a head that has moved on since is refused, nothing written.
 *  3. A transition is whole or absent, however many events it holds.
 *  4. One session at a time; a session that was overtaken can never write again.
 *  5. The first answer to a decision wins, whoever gives it, holder or not.
 *  6. Reading needs no session and changes nothing.
 *  7. A message reaches the session that it was sent to, or stays with its sender: no other session
 *     ever hears it.
 */
import type { Answer } from "./core/decision.ts";
import type { Event } from "./core/event.ts";
import type { ProjectState } from "./core/evolve.ts";
import type { Failure, Result } from "./core/failure.ts";
import type { Finding } from "./core/finding.ts";
import type { GitPlace } from "./core/git-place.ts";
import type { Message } from "./core/message.ts";

/** How far history goes; the hash covers everything before it. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** One transition: events that happened together, and what it made of the projections. */
export interface Transition {
  readonly at: string;
  readonly run: string;
  readonly events: readonly Event[];
  /** Path → hash of the text that the files are to hold after it. */
  readonly rendered?: Readonly<Record<string, string>>;
  /** Where git stood; recorded when it differs from the transition before. */
  readonly git?: GitPlace;
}

export interface StoredTransition extends Transition {
  /** Of its first event; the next transition begins at `seq + events.length`. */
  readonly seq: number;
  readonly epoch: number;
}

/** What a fold has come to at a head: a cache, worthless unless bound to that very head. */
export interface Snapshot {
  readonly head: Head;
  readonly state: ProjectState;
  /** The state file's text at that head, so that a look need not render it. */
  readonly rendered?: { readonly path: string; readonly text: string };
  readonly git?: GitPlace;
}

export interface Reading {
  readonly head: Head;
  /** The newest usable snapshot, or nothing; `after` then holds the whole history. */
  readonly snapshot: Snapshot | undefined;
  readonly after: readonly StoredTransition[];
}

/** History as it grows, for whoever follows it: nothing is read twice. */
export interface Tail {
  /** What was recorded since the last call; the first time, all of it. */
  next(): Result<Growth>;
}

export interface Growth {
  readonly transitions: readonly StoredTransition[];
  /** What was told before no longer stands (mended, restored, overtaken): these are all there are. */
  readonly anew: boolean;
}

export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly command: string;
}

/** A message, by the name under which it can be taken up or taken back. */
export interface Sent {
  readonly id: string;
  readonly message: Message;
}

export interface Session {
  readonly epoch: number;
  readonly head: Head;
  append(expectedSeq: number, transition: Transition): Promise<Result<Head>>;
  /** Old text or new text, never a mixture; `durable`: also after a power cut. */
  writeProjection(file: string, text: string, options: { durable: boolean }): Promise<Result<void>>;
  /** Keeps a copy of a file's bytes and takes it out of the way; resolves with where they are. */
  setAside(file: string, at: string): Promise<Result<string>>;
  /** Keeps a copy and leaves the file where it is, to be replaced in one stroke. */
  keepCopy(file: string, at: string): Promise<Result<string>>;
  /** What others have said to this session and it has not taken up yet, in order. */
  messages(): Promise<readonly Sent[]>;
  /** It is on record: nobody has to hear it again. */
  takenUp(id: string): Promise<void>;
  /** A convenience for the next reader; failing to write one is not a failure. */
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  release(): Promise<void>;
}

/** From the transition on that this event is part of. */
export const since = (
  history: readonly StoredTransition[],
  event: number,
): readonly StoredTransition[] => history.filter(({ seq, events }) => seq + events.length > event);

/** Thrown by what has no other way to say that the system lets nobody look. */
export class Unreadable extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** What somebody looked up, or why the system did not let them. */
export function lookedUp<T>(look: () => Result<T>): Result<T> {
  try {
    return look();
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, failure: error.failure };
    throw error;
  }
}

export interface Store {
  /**
   * With `whole`, history from the beginning; with `from`, from the transition on that this event is
   * part of. No snapshot then: `after` is all that was asked for.
   */
  read(options?: { whole?: boolean } | { from: number }): Result<Reading>;
  tail(): Tail;
  /** Was this the rendering of `path` after any transition so far? May throw `Unreadable`. */
  everRendered(path: string, hash: string): boolean;
  /** A file that people see, by its path in the repository; undefined: it is not there. */
  readProjection(file: string): Result<string | undefined>;
  open(holder: Holder): Promise<Result<Session>>;
  /** Resolves with the answer that stands: the given one, or the one that came first. */
  answer(id: string, answer: Answer): Promise<Result<Answer>>;
  /** To these decisions; absent: to all that were ever answered. May throw `Unreadable`. */
  answers(to?: readonly string[]): ReadonlyMap<string, Answer>;
  /** Whose session it is; undefined: nobody's. */
  holder(): Holder | undefined;
  /** Durable before it resolves, with the message's name. */
  send(to: Holder, message: Message): Promise<Result<string>>;
  /** Whether it still waits to be taken up. */
  isWaiting(id: string): boolean;
  takeBack(id: string): Promise<void>;
  /** Everything that is wrong, or right, with what is stored. */
  examine(): readonly Finding[];
  /** Mends what `examine` found, keeping all that it replaces; says what it did. */
  repair(holder: Holder): Promise<Result<readonly string[]>>;
}
