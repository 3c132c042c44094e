/** What the moves of a flow do in the world, beside running a skill; each can be done twice. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Event } from "../core/event.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Uncommitted } from "../core/flow/course.ts";
import type { Step } from "../core/flow/flow.ts";
import type { Performable } from "../core/flow/run-flow.ts";
import { answered } from "../core/tracker/questions.ts";
import { askOnce } from "./ask.ts";
import { commitStep } from "./commit-step.ts";
import { producedBy } from "./find-skill.ts";
import type { FlowSite } from "./flow-site.ts";
import { judgeReport, lendSkill } from "./lend-skill.ts";
import { rollBackStep } from "./roll-back-step.ts";
import { runSkill } from "./run-skill.ts";
import { reportTasks, runTasks, writeBatches } from "./run-tasks.ts";
import { lastCompletion } from "./step-history.ts";
import { pendingIn, trackItems } from "./track.ts";

export async function performMove(site: FlowSite, move: Performable): Promise<Result<Event[]>> {
  switch (move.is) {
    case "ask": {
      const asked = await askOnce(site, move.question);
      return asked.ok ? succeed([]) : asked;
    }
    case "run-skill":
      return site.pull ? lendSkill(site, site.pull, move.work) : runSkill(site, move.work);
    case "judge-skill":
      return judgeReport(site, move.work, move.report);
    case "run-tasks":
      return runTasks(site, move);
    case "write-batches":
      return writeBatches(site, move.batches);
    case "report-tasks":
      return reportTasks(site, move);
    case "confirm":
      return confirm(site, move);
    case "mark-skipped":
      return markSkipped(site, move);
    case "promote-draft":
      return promote(site, move.draft);
    case "open-tracker": {
      const opened = await site.trackers.open(move.tracker, move.accept);
      if (!opened.ok) return opened;
      const { tracker, event } = opened.value;
      return succeed([event, ...(tracker ? answered(site.held.state.decisions) : [])]);
    }
    case "track":
      return track(site, move);
    case "commit":
      return commit(site, move.what);
    case "roll-back":
      return rollBack(site, move.step, move.since);
    case "wait":
      return wait(site, move);
  }
}

// ── files ──────────────────────────────────────────────────────────────────────────────────────

const inDocs = ({ project }: FlowSite, file: string): string =>
  path.join(project.root, "_docs", file);

/** Whole or not at all, and still there after a power cut. */
async function write(site: FlowSite, file: string, text: string): Promise<Result<void>> {
  return site.held.write({ path: `_docs/${file}`, text }, { durable: true });
}

/** A person has read it: the line that says so is set, and no other is touched. */
async function confirm(
  site: FlowSite,
  { file, line }: Extract<Performable, { is: "confirm" }>,
): Promise<Result<Event[]>> {
  const full = inDocs(site, file);
  let text: string;
  try {
    text = fs.readFileSync(full, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("disk", `_docs/${file} cannot be read: ${why}`, { file: `_docs/${file}` });
  }
  const key = line.slice(0, line.indexOf(":") + 1);
  const lines = text.split("\n");
  const at = lines.findIndex((each) => each.startsWith(key));
  const ending = text.includes("\r\n") ? "\r" : "";
  if (at >= 0) lines[at] = line + ending;
  else lines.splice(lines.at(-1) === "" ? -1 : lines.length, 0, line + ending);
  const written = await write(site, file, lines.join("\n"));
  return written.ok ? succeed([]) : written;
}

async function markSkipped(
  site: FlowSite,
  { marker, reason }: Extract<Performable, { is: "mark-skipped" }>,
): Promise<Result<Event[]>> {
  const written = await write(site, marker, `skipped: ${reason}\n`);
  return written.ok ? succeed([{ type: "step-skipped", reason }]) : written;
}

/** The draft stays as it is: what is built on is a copy. */
async function promote(site: FlowSite, draft: string): Promise<Result<Event[]>> {
  const text = fs.readFileSync(inDocs(site, draft), "utf8");
  const written = await write(site, "01_solution/solution.md", text);
  return written.ok ? succeed([]) : written;
}

/** Without a tracker nothing is created, and nobody is left to find that out by himself. */
async function track(
  site: FlowSite,
  { step, tracker: server }: Extract<Performable, { is: "track" }>,
): Promise<Result<Event[]>> {
  const over = (tracker: string, created: number, pending: number): Result<Event[]> =>
    succeed([{ type: "step-tracked", step, tracker, created, pending }]);
  if (!server) {
    const pending = pendingIn(site);
    site.tell(`tracker: local — ${pending} pending; autodev tracker sync creates them later`);
    return over("local", 0, pending);
  }
  const opened = await site.trackers.open(server);
  if (!opened.ok) return opened;
  const { tracker, event } = opened.value;
  if (!tracker) return succeed([event]);
  const tracked = await trackItems(site, tracker);
  return tracked.ok ? over(server.kind, tracked.value.created, tracked.value.pending) : tracked;
}

// ── git ────────────────────────────────────────────────────────────────────────────────────────

const trailersOf = ({ flow, step, cycle }: Pick<Uncommitted, "flow" | "step" | "cycle">): string =>
  `Autodev-Flow: ${flow}\nAutodev-Step: ${step}\nAutodev-Cycle: ${cycle}`;

const idOf = (since: number): string => `flow-${String(since).padStart(8, "0")}`;

async function commit(site: FlowSite, what: Uncommitted): Promise<Result<Event[]>> {
  const { step, name, outcome, since } = what;
  const body = outcome === "" ? "" : `${outcome}\n\n`;
  // The state file is shown a little later than it is on record: the commit has it as it is.
  const settled = await site.held.look();
  if (!settled.ok) return settled;
  const done = await commitStep(site.git, {
    id: idOf(since),
    message: `docs: step ${step} ${name} ${what.what}\n\n${body}${trailersOf(what)}\n`,
    at: site.project.world.now(),
    signal: site.signal,
  });
  if (!done.ok) return done;
  const made = done.value;
  if (made.is === "committed") {
    return succeed([{ type: "step-committed", step, commit: made.commit }]);
  }
  if (made.is === "nothing") {
    return succeed([{ type: "step-committed", step, why: "nothing has changed" }]);
  }
  // It stays on record as something that is left to do: the next start tries again.
  site.tell(`step ${step} ${name} is not committed now: ${made.why}`);
  return succeed([]);
}

/** To what it left when it was last completed; what would be lost is kept under a ref of its own. */
async function rollBack(site: FlowSite, step: Step, since: number): Promise<Result<Event[]>> {
  const { git, held, project } = site;
  const { flow } = held.state;
  const reopened: Event = {
    type: "step-reopened",
    step: step.step,
    name: step.name,
    how: "rollback",
  };
  if (!flow) return succeed([]);
  const before = await lastCompletion(git, { flow: flow.flow, step: step.step });
  if (!before.ok) return before;
  const globs = producedBy(project.root, step, flow.cycle);
  if (!before.value || globs.length === 0) {
    site.tell(`step ${step.step} ${step.name} was never committed: its files stay as they are`);
    return succeed([reopened]);
  }
  const rolled = await rollBackStep(git, {
    id: idOf(since),
    commit: before.value.commit,
    globs,
    rescueRef: `refs/autodev/rescue/${idOf(since)}`,
    message: `docs: step ${step.step} ${step.name} rolled back\n\n${trailersOf({ flow: flow.flow, step: `${step.step} (rolled back)`, cycle: flow.cycle })}\n`,
    at: project.world.now(),
    signal: site.signal,
  });
  if (!rolled.ok) return rolled;
  if (rolled.value.is === "not-now") {
    return fail("run-halted", `step ${step.step} cannot be rolled back now: ${rolled.value.why}`, {
      hint: "when that is over: autodev",
    });
  }
  if (rolled.value.is === "rolled-back" && rolled.value.rescued !== undefined) {
    site.tell(`what was there is kept: git show ${rolled.value.rescued}`);
  }
  return succeed([reopened]);
}

// ── time ───────────────────────────────────────────────────────────────────────────────────────

/** In pieces: a machine that sleeps wakes up later than it was told to. */
async function wait(
  site: FlowSite,
  { until, reason }: Extract<Performable, { is: "wait" }>,
): Promise<Result<Event[]>> {
  site.tell(`${reason}: waiting until ${until}`);
  while (!site.signal.aborted && site.project.world.now() < until) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 1000);
      function done(): void {
        clearTimeout(timer);
        site.signal.removeEventListener("abort", done);
        resolve();
      }
      site.signal.addEventListener("abort", done);
    });
  }
  return succeed([]);
}
