/** The one sentence that somebody reads who has two seconds: is it all right, does it need me? */
import type { Board } from "../../src/core/board/board.ts";
import { currentRun } from "../../src/core/evolve.ts";
import type { PlanRun, RunEnd } from "../../src/core/plan/progress.ts";
import { goOn, isLeftAlone } from "../run/left-alone.ts";
import { needsOf, waitsOf } from "./needs.ts";

export interface Verdict {
  readonly tone: "ok" | "warn" | "bad" | "info" | "park" | "quiet";
  readonly title: string;
  /** In which words the page is called while it lies behind others. */
  readonly short: string;
  /** What to type so that it goes on. */
  readonly command?: string;
}

/** `held`: somebody's session is open; `needs`: of all repositories. */
export function verdictOf(board: Board, now: number, held: boolean, needs: number): Verdict {
  const own = needsOf(board);
  if (needs > 0) {
    const isBad = own.some(({ is }) => is === "failure");
    const title = needs === 1 ? "One thing needs you" : `${needs} things need you`;
    return { tone: isBad ? "bad" : "warn", title, short: `(${needs}) needs you` };
  }
  const run = currentRun(board.state);
  const waits = waitsOf(board, now);
  const progress = run ? `${run.readiness.complete}/${run.phases.length} · ${run.title}` : "";
  if (run?.ended === undefined && run) {
    if (isLeftAlone(run, held, now)) {
      const title = "Nobody is at work on it";
      return { tone: "warn", title, short: `○ ${progress}`, command: goOn(run) };
    }
    const atWork = run.readiness.active.length;
    if (atWork > 0) {
      const phases = atWork === 1 ? "1 phase" : `${atWork} phases`;
      return { tone: "info", title: `At work on ${phases}`, short: `● ${progress}` };
    }
    if (waits.length > 0) return parked(progress);
    return { tone: "info", title: betweenPhases(run), short: `● ${progress}` };
  }
  const { flow } = board.state;
  if (held && flow?.status === "in_progress") {
    const where = `step ${flow.step}, ${flow.name}`;
    return { tone: "info", title: `At work on ${where}`, short: `● ${where}` };
  }
  if (waits.length > 0) return parked(progress);
  if (run?.ended) return ended(run, run.ended, progress);
  if (flow?.step === "done") return { tone: "ok", title: "The flow is done", short: "✓ done" };
  if (flow) {
    const where = `step ${flow.step}, ${flow.name}`;
    return { tone: "quiet", title: `Stands at ${where}`, short: where, command: "autodev" };
  }
  return { tone: "quiet", title: "Nothing has been run here yet", short: "nothing yet" };
}

const betweenPhases = ({ readiness: { complete }, phases }: PlanRun): string =>
  complete === 0
    ? "Getting ready"
    : complete === phases.length
      ? "Finishing"
      : "Between two phases";

const parked = (progress: string): Verdict => ({
  tone: "park",
  title: "Parked until there is something left to use",
  short: `‖ ${progress}`,
});

const ends = {
  complete: ["ok", "All done", "✓"],
  stopped: ["ok", "Stopped where you wanted", "■"],
  halted: ["bad", "It can go no further", "✕"],
  interrupted: ["warn", "Interrupted", "○"],
  asking: ["warn", "Waits to be gone on with", "○"],
  parked: ["park", "Parked, and the wait is over", "‖"],
} as const;

function ended(run: PlanRun, how: RunEnd, progress: string): Verdict {
  const [tone, title, sign] = ends[how];
  const short = `${sign} ${progress}`;
  return { tone, title, short, ...(how !== "complete" && { command: goOn(run) }) };
}
