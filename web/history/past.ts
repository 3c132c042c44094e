/**
 * The board as it was: the server's checkpoint at or a little before a moment, and from there the
 * same fold that the engine runs, by the events in between. What was come by once is kept: boards
 * every so many events, so that going back and forth costs a few folds and no question.
 */
import { type Board, blankBoard, evolveBoard, unpackBoard } from "../../src/core/board/board.ts";
import { mostEventsAtOnce } from "../../src/core/board/wire.ts";
import type { RecordedEvent } from "../../src/core/event.ts";
import type { Answered, Api } from "../api.ts";

// ── folding ────────────────────────────────────────────────────────────────────────────────────

/** Boards of the past, in their order; each is a place to fold on from. */
export type Trail = readonly Board[];

const stride = 100;
const mostKept = 300;

export const nearest = (trail: Trail, seq: number): Board =>
  trail.findLast((board) => board.seq <= seq) ?? blankBoard;

/** `left`: the boards that were passed on the way. */
export function foldTo(
  from: Board,
  events: readonly RecordedEvent[],
  to: number,
): { readonly board: Board; readonly left: Trail } {
  const left: Board[] = [];
  let board = from;
  for (const event of events) {
    if (event.seq <= board.seq) continue;
    if (event.seq > to) break;
    board = evolveBoard(board, event);
    if (board.seq % stride === 0) left.push(board);
  }
  return { board, left };
}

/** When there would be too many, every second one goes: the far past is folded a little longer. */
export function together(trail: Trail, more: Trail): Trail {
  const known = new Map([...trail, ...more].map((board) => [board.seq, board]));
  const all = [...known.values()].sort((a, b) => a.seq - b.seq);
  return all.length > mostKept ? all.filter((_, at) => at % 2 === 0) : all;
}

// ── asking ─────────────────────────────────────────────────────────────────────────────────────

export interface Moment {
  readonly board: Board;
  /** The one by which it became so; absent: before everything. */
  readonly event?: RecordedEvent;
  /** Before and after it, as far as they are at hand. */
  readonly around: readonly RecordedEvent[];
}

export interface Past {
  at(seq: number): Promise<Answered<Moment>>;
  /** Every event up to there, a chunk at a time; false: there are no more, or they cannot be had. */
  read(to: number, each: (events: readonly RecordedEvent[]) => boolean): Promise<void>;
}

const chunk = 1000;
const mostChunks = 12;
/** Farther than this, the server's checkpoint is nearer. */
const walkable = 2000;
const shownAround = 60;

export function pastOf(api: Api, head: () => number): Past {
  let trail: Trail = [];
  const chunks = new Map<number, readonly RecordedEvent[]>();

  /** The chunk that holds the event, read again if it was not whole. */
  async function chunkOf(seq: number): Promise<Answered<readonly RecordedEvent[]>> {
    const first = Math.floor((seq - 1) / chunk) * chunk;
    const known = chunks.get(first);
    if (known && (known.at(-1)?.seq ?? 0) >= seq) return { ok: true, value: known };
    const answer = await api.events(first, first + chunk);
    if (!answer.ok) return answer;
    chunks.delete(first);
    chunks.set(first, answer.value.events);
    if (chunks.size > mostChunks) chunks.delete(chunks.keys().next().value ?? first);
    return { ok: true, value: answer.value.events };
  }

  async function near(seq: number): Promise<Answered<Board>> {
    const known = nearest(trail, seq);
    if (seq - known.seq <= walkable) return { ok: true, value: known };
    const answer = await api.board(seq);
    if (!answer.ok) return answer;
    const board = unpackBoard(answer.value.board);
    trail = together(trail, [board]);
    return { ok: true, value: nearest(trail, seq) };
  }

  return {
    async at(seq) {
      const start = await near(seq);
      if (!start.ok) return start;
      let board = start.value;
      let last: readonly RecordedEvent[] = [];
      for (let next = Math.min(board.seq + 1, seq); next <= seq; ) {
        const events = await chunkOf(next);
        if (!events.ok) return events;
        last = events.value;
        const folded = foldTo(board, last, seq);
        trail = together(trail, folded.left);
        board = folded.board;
        const after = Math.floor((next - 1) / chunk) * chunk + chunk + 1;
        if (last.length === 0) break;
        next = after;
      }
      const more = await beside(seq, last);
      const event = more.find((each) => each.seq === board.seq);
      return { ok: true, value: { board, around: more, ...(event && { event }) } };
    },
    async read(to, each) {
      for (let after = 0; after < to; after += mostEventsAtOnce) {
        const answer = await api.events(after, Math.min(to, after + mostEventsAtOnce));
        if (!answer.ok || !each(answer.value.events)) return;
      }
    },
  };

  /** Near a chunk's edge, those on the other side belong to it too. */
  async function beside(
    seq: number,
    events: readonly RecordedEvent[],
  ): Promise<readonly RecordedEvent[]> {
    const edges = [seq - shownAround, seq + shownAround].map((each) =>
      Math.min(Math.max(each, 1), head()),
    );
    const all = new Map(events.map((event) => [event.seq, event]));
    for (const edge of edges) {
      const other = await chunkOf(edge);
      if (other.ok) for (const event of other.value) all.set(event.seq, event);
    }
    return [...all.values()]
      .filter((event) => Math.abs(event.seq - seq) <= shownAround)
      .sort((a, b) => a.seq - b.seq);
  }
}

// ── what is worth seeing ───────────────────────────────────────────────────────────────────────

export interface Mark {
  readonly seq: number;
  readonly tone: "ok" | "bad" | "warn" | "park" | "info";
}

const tones: Readonly<Record<string, Mark["tone"]>> = {
  "run-started": "info",
  "run-resumed": "info",
  "step-started": "info",
  "phase-landed": "ok",
  "step-completed": "ok",
  "attempt-failed": "bad",
  "attempt-conflicted": "bad",
  "step-failed": "bad",
  "blocker-raised": "bad",
  "attempt-unable": "bad",
  "decision-asked": "warn",
  "decision-answered": "warn",
  "attempt-over-budget": "warn",
  "attempt-parked": "park",
  "run-ended": "info",
};

export const marksOf = (events: readonly RecordedEvent[]): Mark[] =>
  events.flatMap(({ seq, type }) => {
    const tone = tones[type];
    return tone ? [{ seq, tone }] : [];
  });

/** The next one that is worth seeing; where none is known, some way on. */
export function jump(marks: readonly Mark[], from: number, by: 1 | -1): number {
  const mark =
    by > 0 ? marks.find(({ seq }) => seq > from) : marks.findLast(({ seq }) => seq < from);
  return mark?.seq ?? from + by * 25;
}
