/** A run that is told with its times, as somebody who watches it sees it: second by second. */
import type { RecordedEvent } from "../src/core/event.ts";
import { evolveRun, type PlanRun } from "../src/core/plan/progress.ts";
import type { RunEvent, RunPhase } from "../src/core/plan/run-event.ts";
import type { RunNews } from "../src/core/plan/run-news.ts";
import { type RunView, viewRun } from "../src/core/plan/run-view.ts";
import { type RunWatch, unwatched, watchEvents, watchNews } from "../src/core/plan/run-watch.ts";
import { begin, deliver, seen } from "./run-story.ts";

const start = Date.parse("2026-01-01T12:00:00.000Z");
/** So many seconds after the run began. */
export const moment = (seconds: number): string => new Date(start + seconds * 1000).toISOString();

export interface WatchedRun {
  /** It happens so many seconds after the beginning. */
  at(seconds: number, ...events: readonly RunEvent[]): WatchedRun;
  news(...news: readonly RunNews[]): WatchedRun;
  /** From attempt-started to landed. */
  lands(phase: string, from: number, to: number, attempt?: number): WatchedRun;
  run(): PlanRun;
  watch(): RunWatch;
  history(): readonly RecordedEvent[];
  view(seconds: number): RunView;
}

export type PhaseOf = Partial<RunPhase> & { readonly id: string };

export function watchedRun(
  phases: readonly PhaseOf[],
  title = "Sign in with a passkey",
): WatchedRun {
  let run: PlanRun | undefined;
  let watch = unwatched;
  const history: RecordedEvent[] = [];
  const known = (): PlanRun => {
    if (!run) throw new Error("it has not begun");
    return run;
  };
  const story: WatchedRun = {
    at(seconds, ...events) {
      for (const event of events) {
        const place = { seq: history.length + 1, at: moment(seconds), run: "r0123456789" };
        const recorded = { ...event, ...place } as RecordedEvent;
        history.push(recorded);
        run = evolveRun(run, recorded);
        watch = watchEvents(watch, [recorded]);
      }
      return story;
    },
    news(...news) {
      for (const each of news) watch = watchNews(watch, each);
      return story;
    },
    lands(phase, from, to, attempt = 1) {
      const onto = known().tip;
      const commit = `${phase.padEnd(4, "0")}abcdef0123`;
      const checked = {
        attempt,
        onto,
        commit,
        message: "feat: x",
        created: [],
        modified: [],
        deleted: [],
        gates: [{ name: "test", command: "npm test", passed: true, summary: "1 test passed" }],
        tasksChecked: 1,
        doneChecked: 0,
        statusUpdated: true,
      };
      return story
        .at(from, begin(phase, attempt))
        .at(to, deliver(phase, attempt), { type: "phase-verified", phase, ...checked })
        .at(to, { type: "phase-landed", phase, attempt, commit });
    },
    run: known,
    watch: () => watch,
    history: () => history,
    view: (seconds) => viewRun(known(), watch, start + seconds * 1000),
  };
  const nothing = { language: null, framework: null, package_manager: null };
  return story.at(
    0,
    {
      type: "run-started",
      plan: "docs/plan.md",
      format: "autobuild",
      title,
      mode: "auto",
      target: "refs/heads/main",
      base: "c0",
      targetAt: "c0",
      agent: "mine",
      maxAttempts: 2,
      stack: { ...nothing, test_framework: null, linter: null, formatter: null },
      gates: [{ name: "test", command: "npm test" }],
      phases: phases.map(({ id, ...rest }) => ({
        id,
        written: id.toUpperCase(),
        name: `Part ${id}`,
        dependsOn: [],
        parallelWith: [],
        tasks: 1,
        asks: id,
        ...rest,
      })),
      planFiles: {},
    },
    seen("c0"),
  );
}

export const failed = (
  phase: string,
  more: Partial<Extract<RunEvent, { type: "attempt-failed" }>> = {},
): RunEvent => ({
  type: "attempt-failed",
  phase,
  attempt: 1,
  error: { type: "test_failure", message: "test failed: `npm test` ended with 1" },
  ...more,
});
