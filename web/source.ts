/**
 * The connection: loads the board once and folds on by itself what the stream tells, for as long as
 * the page is open. It heals by itself, whatever happens to the server or the network.
 *
 *  1. Whoever looks is told at most once a frame, however much happens.
 *  2. An event is folded once: what was seen before a break is not asked for again.
 *  3. Only a wrong token is final; everything else is tried again.
 */
import { type Board, evolveBoard, unpackBoard } from "../src/core/board/board.ts";
import type {
  BoardAnswer,
  SeenHolder,
  SeenProject,
  StreamMessage,
} from "../src/core/board/wire.ts";
import type { Answer } from "../src/core/decision.ts";
import type { RecordedEvent } from "../src/core/event.ts";
import { watchNews } from "../src/core/plan/run-watch.ts";
import type { Api, Trouble } from "./api.ts";
import { messagesIn } from "./server-sent.ts";

export type Link =
  | { readonly is: "loading" | "live" }
  /** Connected, but nothing was heard for a while. */
  | { readonly is: "stale"; readonly since: number }
  | { readonly is: "lost"; readonly why: string; readonly since: number }
  | { readonly is: "refused"; readonly why: string };

/** What is known right now. */
export interface Seen {
  readonly link: Link;
  readonly board?: Board;
  readonly told?: Pick<BoardAnswer, "budgets" | "flows"> & { readonly began: string };
  readonly projects: readonly SeenProject[];
  readonly holder?: SeenHolder;
  /** Given, but not recorded yet. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** What has happened last, oldest first. */
  readonly recent: readonly RecordedEvent[];
  /** Raised when the history has become another: what is kept of the old one is worth nothing. */
  readonly generation: number;
  /** How far the server's clock is ahead of ours, in milliseconds. */
  readonly ahead: number;
}

export const nothingSeen: Seen = {
  link: { is: "loading" },
  projects: [],
  recent: [],
  generation: 0,
  ahead: 0,
};

export interface Source {
  close(): void;
}

const silentFor = 25_000;
const deadAfter = 45_000;
/** A browser has six connections for all pages of an address: whoever is not looked at gives up his. */
const hiddenFor = 5000;
const seldom = 30_000;
const briefly = 1500;
const firstPause = 500;
const longestPause = 5000;
const mostAtOnce = 5000;
const recentKept = 40;

interface Listener {
  seen(seen: Seen): void;
  /** What happens from now on, as it is folded; not what was before. */
  happened(events: readonly RecordedEvent[]): void;
}

export function openSource(api: Api, listener: Listener): Source {
  let seen = nothingSeen;
  /** What is wanted of the connection, whatever it is doing. */
  const wanted = { closed: false, resting: false };
  let heard = Date.now();
  let connection: AbortController | undefined;
  let wake = (): void => {};
  let brief: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  let events: RecordedEvent[] = [];
  const lines = new Map<string, { run: string; phase: string; text: string }>();

  const show = (change: Partial<Seen>): void => {
    seen = { ...seen, ...change };
    if (isDue) return;
    isDue = true;
    atNextFrame(() => {
      isDue = false;
      if (wanted.closed) return;
      fold();
      listener.seen(seen);
    });
  };

  /** What was known is no longer true, or cannot be gone on from. */
  const forget = (): void => {
    const { board: _, ...rest } = seen;
    seen = { ...rest, generation: seen.generation + 1 };
    connection?.abort();
  };

  function fold(): void {
    if (!seen.board) return;
    const now = events.splice(0, mostAtOnce).filter(({ seq }) => seq > (seen.board?.seq ?? 0));
    try {
      const board = withLines(now.reduce(evolveBoard, seen.board), lines);
      lines.clear();
      const recent = [...seen.recent, ...now.filter(isTold)].slice(-recentKept);
      const began = seen.told?.began || now[0]?.at;
      const told = seen.told && began !== undefined ? { ...seen.told, began } : seen.told;
      seen = { ...seen, board, recent, ...(told && { told }) };
    } catch {
      // A server newer than this page tells of what it does not know; the board it folds itself.
      return forget();
    }
    if (now.length > 0) listener.happened(now);
    if (events.length > 0) show({});
  }

  async function stay(): Promise<void> {
    let pause = firstPause;
    while (!wanted.closed) {
      const trouble = await connect(() => (pause = firstPause));
      api.doubt();
      if (wanted.closed) return;
      const isRefused = trouble?.is === "refused";
      const why = trouble?.message ?? "the connection broke off";
      const since = seen.link.is === "lost" ? seen.link.since : Date.now();
      if (isRefused) show({ link: { is: "refused", why } });
      else if (!wanted.resting) show({ link: { is: "lost", why, since } });
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, wanted.resting ? seldom : isRefused ? 2 * longestPause : pause);
      });
      pause = Math.min(pause * 2, longestPause);
    }
  }

  /** Until the connection ends; undefined: it did so without a reason. */
  async function connect(connected: () => void): Promise<Trouble | undefined> {
    connection = new AbortController();
    const { signal } = connection;
    if (!seen.board) {
      const trouble = await load();
      if (trouble || signal.aborted) return trouble;
    }
    const { seq = 0, at = "" } = seen.board ?? {};
    const reached = await api.stream(seq, at, signal);
    if (!reached.ok) return reached.trouble;
    heard = Date.now();
    // Nobody looks: now and then its title is brought up to date, that is all.
    if (wanted.resting) brief = setTimeout(() => connection?.abort(), briefly);
    connected();
    show({ link: { is: "live" } });
    try {
      const reader = reached.value.body?.pipeThrough(new TextDecoderStream()).getReader();
      const take = messagesIn();
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done || value === undefined) return undefined;
        heard = Date.now();
        if (seen.link.is !== "live") show({ link: { is: "live" } });
        for (const { event, data } of take(value))
          hear({ event, data: JSON.parse(data) } as StreamMessage);
      }
    } catch {
      return undefined;
    }
  }

  async function load(): Promise<Trouble | undefined> {
    const answer = await api.board();
    if (!answer.ok) return answer.trouble;
    const { board: packed, head, budgets, flows } = answer.value;
    const board = unpackBoard(packed);
    events = [];
    const last = await api.events(Math.max(0, board.seq - recentKept * 2), board.seq);
    const recent = last.ok ? last.value.events.filter(isTold).slice(-recentKept) : [];
    show({ board, recent, told: { budgets, flows, began: head.began } });
    return undefined;
  }

  function hear(message: StreamMessage): void {
    switch (message.event) {
      case "events":
        events.push(...message.data);
        return show({});
      case "pulse": {
        const { now, holder, answers } = message.data;
        const ahead = Date.parse(now) - Date.now();
        const { holder: _, answers: __, ...rest } = seen;
        seen = { ...rest, ...(holder && { holder }), ...(answers && { answers }) };
        // A clock that is set anew for every delay of the network would tremble.
        return show(Math.abs(ahead - seen.ahead) > 750 ? { ahead } : {});
      }
      case "projects":
        return show({ projects: message.data });
      case "line":
        lines.set(`${message.data.run} ${message.data.phase}`, message.data);
        return show({});
      case "anew":
        return forget();
    }
  }

  const hurry = (): void => {
    wanted.resting = false;
    clearTimeout(brief);
    // A machine that slept believes that it is still connected.
    if (Date.now() - heard > silentFor) connection?.abort();
    wake();
  };
  const rest = (): void => {
    wanted.resting = true;
    connection?.abort();
  };
  let hidden: ReturnType<typeof setTimeout> | undefined;
  const looked = (): void => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(rest, hiddenFor);
    else hurry();
  };
  const watch = setInterval(() => {
    const silence = Date.now() - heard;
    if (seen.link.is === "live" && silence > silentFor && !wanted.resting)
      show({ link: { is: "stale", since: heard } });
    if (seen.link.is === "stale" && silence > deadAfter) connection?.abort();
  }, 1000);
  document.addEventListener("visibilitychange", looked);
  window.addEventListener("online", hurry);
  void stay();

  return {
    close() {
      wanted.closed = true;
      connection?.abort();
      wake();
      clearInterval(watch);
      clearTimeout(hidden);
      clearTimeout(brief);
      document.removeEventListener("visibilitychange", looked);
      window.removeEventListener("online", hurry);
    },
  };
}

/** Nothing is drawn of a page that nobody sees, but its title still tells. */
function atNextFrame(then: () => void): void {
  const once = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    then();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, 250);
}

function withLines(
  board: Board,
  lines: ReadonlyMap<string, { run: string; phase: string; text: string }>,
): Board {
  let { runs } = board;
  for (const { run, phase, text } of lines.values()) {
    const known = runs[run];
    if (known)
      runs = { ...runs, [run]: { ...known, watch: watchNews(known.watch, { phase, text }) } };
  }
  return runs === board.runs ? board : { ...board, runs };
}

/** What happens every few seconds while an agent works is no news. */
const isTold = ({ type }: RecordedEvent): boolean =>
  !["usage-counted", "skill-usage-counted", "session-opened", "skill-session-opened"].includes(
    type,
  );
