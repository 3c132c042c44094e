/**
 * How somebody follows a run: in place at a terminal, line by line where there is none, or as one
 * JSON event a line. Whoever runs or watches a plan tells it what happens, and nothing else.
 */
import { isAgent, isCI } from "std-env";
import type { RecordedEvent } from "../core/event.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { RunNews } from "../core/plan/run-news.ts";
import { type RunView, viewRun } from "../core/plan/run-view.ts";
import { type RunWatch, unwatched, watchEvents, watchNews } from "../core/plan/run-watch.ts";
import { shown, timeNow } from "../project.ts";
import { inForeground, type LiveTerminal, openLiveTerminal } from "./live-terminal.ts";
import { isTerminal, printError, printJsonLine } from "./output.ts";
import { liveLines } from "./render/live.ts";
import { beginningLine, stillAtWork, storyLines } from "./render/run.ts";
import { styleFor } from "./render/style.ts";

export interface DisplayOptions {
  json?: boolean;
  color?: boolean;
  /** `--no-live` makes it false. */
  live?: boolean;
  /** It is a fleet's: commands that are shown name its engine. */
  isFleet?: boolean;
}

export interface Display {
  /** It is on record; `run`: as it is now. */
  event(event: RecordedEvent, run: PlanRun): void;
  news(news: RunNews): void;
  /** A line that stays; the same one is not said twice. */
  notice(line: string): void;
  /** The terminal belongs to a question meanwhile. */
  suspend<T>(ask: () => Promise<T>): Promise<T>;
  /** Nothing moves any more; what was seen, for a summary. */
  end(run?: PlanRun): RunView | undefined;
}

export function openDisplay(options: DisplayOptions): Display {
  if (options.json) return jsonDisplay();
  return isLive(options) ? liveDisplay(options) : plainDisplay(options);
}

/** A person looks at it: everybody else gets lines. */
const isLive = (options: DisplayOptions, env = process.env): boolean =>
  options.live !== false &&
  !env.AUTODEV_NO_LIVE &&
  !isCI &&
  !isAgent &&
  env.TERM !== "dumb" &&
  isTerminal(2) &&
  inForeground();

function jsonDisplay(): Display {
  return {
    // As `autodev log --json` prints it.
    event: ({ seq, at, run, ...rest }) => printJsonLine({ version: 1, seq, at, run, ...rest }),
    news: () => {},
    notice: () => {},
    suspend: (ask) => ask(),
    end: () => undefined,
  };
}

/** What both of the others do: keep up with what happens, and have each thing said once. */
function createFollower(say: (lines: readonly string[]) => void): {
  watch(): RunWatch;
  event(event: RecordedEvent): void;
  news(news: RunNews): void;
  notice(line: string): void;
  end(run: PlanRun | undefined): RunView | undefined;
} {
  let watched = unwatched;
  // Of thousands of lines a second only the last one is ever seen.
  const lines = new Map<string, RunNews>();
  const watch = (): RunWatch => {
    for (const line of lines.values()) watched = watchNews(watched, line);
    lines.clear();
    return watched;
  };
  const told = new Set<string>();
  const notice = (line: string): void => {
    if (told.has(line)) return;
    told.add(line);
    say([shown(line)]);
  };
  return {
    watch,
    event(event) {
      watched = watchEvents(watch(), [event]);
    },
    news(news) {
      if ("notice" in news) notice(news.notice);
      else if ("text" in news) lines.set(news.phase, news);
      else watched = watchNews(watch(), news);
    },
    notice,
    end: (run) => (run && watch().last > 0 ? viewRun(run, watch(), timeNow()) : undefined),
  };
}

// ── in place ───────────────────────────────────────────────────────────────────────────────────

function liveDisplay(options: DisplayOptions): Display {
  const style = styleFor(options.color, 2);
  const unicode = speaksUnicode(process.env);
  let run: PlanRun | undefined;
  let terminal: LiveTerminal | undefined;
  const say = (lines: readonly string[]): void => {
    if (terminal) terminal.say(lines);
    else for (const line of lines) printError(line);
  };
  const follower = createFollower(say);
  const frame = ({ columns, rows }: { columns: number; rows: number }): string[] =>
    run
      ? liveLines(viewRun(run, follower.watch(), timeNow()), {
          columns,
          rows,
          style,
          unicode,
          localTime,
          ...(options.isFleet && { isFleet: true }),
        })
      : [];
  return {
    event(event, now) {
      run = now;
      follower.event(event);
      if (event.type === "run-ended") return;
      terminal ??= openLiveTerminal(frame);
      const lines = storyLines(event, now, follower.watch(), style);
      if (lines.length > 0) terminal.say(lines);
      else terminal.changed();
    },
    news(news) {
      follower.news(news);
      terminal?.changed();
    },
    notice: follower.notice,
    suspend: (ask) => (terminal ? terminal.suspend(ask) : ask()),
    end(last) {
      terminal?.close();
      // What was told on the way, and what came of it.
      if (terminal && last) printError("");
      terminal = undefined;
      return follower.end(last);
    },
  };
}

/** Only a locale that says otherwise, or a console without the signs, is believed not to. */
function speaksUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "UTF-8";
  return /utf-?8/i.test(locale) && env.TERM !== "linux";
}

function localTime(iso: string): string {
  const [then, now] = [new Date(iso), new Date()];
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`;
  const today = then.toDateString() === now.toDateString();
  return today ? time : `${two(then.getDate())}.${two(then.getMonth() + 1)}. ${time}`;
}

// ── line by line ───────────────────────────────────────────────────────────────────────────────

/** A log in which nothing is said for longer looks dead. */
const longestSilence = 3 * 60_000;

function plainDisplay(options: DisplayOptions): Display {
  const style = styleFor(options.color, 2);
  let run: PlanRun | undefined;
  let asked = 0;
  let held: string[] = [];
  let lastSaid = timeNow();
  const say = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    lastSaid = timeNow();
    if (asked > 0) held.push(...lines);
    else for (const line of lines) printError(line);
  };
  const follower = createFollower(say);
  const silence = setInterval(() => {
    if (!run || asked > 0 || timeNow() - lastSaid < longestSilence) return;
    say(stillAtWork(viewRun(run, follower.watch(), timeNow())));
  }, longestSilence / 6);
  silence.unref();
  return {
    event(event, now) {
      run = now;
      follower.event(event);
      const begins = beginningLine(event, now, style);
      say(begins === undefined ? storyLines(event, now, follower.watch(), style) : [begins]);
    },
    news: follower.news,
    notice: follower.notice,
    async suspend(ask) {
      asked++;
      try {
        return await ask();
      } finally {
        asked--;
        const late = held;
        held = [];
        say(late);
      }
    },
    end(last) {
      clearInterval(silence);
      return follower.end(last);
    },
  };
}
