/**
 * Six weeks of a team's use without a pause, in minutes: the real store on a real disk, the real drivers
 * of plans and flows, and a clock that is turned by hand. Plan follows on plan and cycle on cycle; agents
 * fail, run into limits until the next morning and use up budgets; people answer minutes or days later,
 * from elsewhere too, edit the state file, set a clock wrong after the hour was changed, and clean up on
 * Sundays. Every night a process is killed with -9, before, amid or right after a transition.
 *
 * At the end of each week it is weighed what one process has become that has lived through all of it, with
 * a dashboard open: memory, descriptors, timers, temporary files, segments, bytes for each transition, what
 * a look has to read that knows nothing yet, and what a build reads before it goes on. None of it creeps.
 * Books that are kept from the bytes of the journal alone say whether anything was lost, done or asked twice,
 * tried more often than promised, or spent beyond its budget.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  judged,
  makeRepository,
  type Outcome,
  type Plant,
  type Row,
  run,
} from "./rig.ts";
import { Books, judgeLog, readJournal } from "./soak-ledger.ts";
import { maxAttempts, mostJobs, mostOfAttempt, runBudget } from "./soak-promises.ts";
import type { Life, Week } from "./soak-team.ts";

/** The clocks are changed on the last Sunday of March: it lies in both. */
const lives = {
  ci: { weeks: 2, sessions: 3, from: "2026-03-16T06:00:00Z" },
  full: { weeks: 6, sessions: 30, from: "2026-03-09T06:00:00Z" },
};

export const soak: Row = {
  name: "soak",
  promise: "after six weeks of use nothing is lost, nothing was done twice, and nothing has crept",
  budgetSeconds: { ci: 10, full: 500 },
  run: (context) => live(context),
};

const caseName = "team";

export interface SoakOptions {
  readonly plant?: Plant;
  /** As long as in CI, whatever the tier. */
  readonly short?: true;
}

export async function live(context: Context, options: SoakOptions = {}): Promise<Outcome> {
  const scratch = freshFolder(context.scratch, "soak");
  const root = path.join(scratch, "repository");
  await makeRepository(root);
  fs.mkdirSync(path.join(root, "src"));
  fs.writeFileSync(path.join(root, "src", "index.ts"), "export {};\n");
  const program = await bundle("torture/soak-team.ts", options.plant && { plant: options.plant });
  const { weeks, sessions, from } = lives[options.short ? "ci" : context.tier];
  const life: Life = {
    root,
    log: path.join(scratch, "log"),
    seed: context.seed,
    now: Date.parse(from),
    weeks,
    sessions,
  };
  const lived = await run(
    [process.execPath, "--expose-gc", program, "live", JSON.stringify(life)],
    {
      env: { TZ: "Europe/Berlin", XDG_CACHE_HOME: path.join(scratch, "cache") },
      timeoutMs: 1_200_000,
    },
  );
  const repeat = again(context, soak.name, caseName);
  if (lived.code !== 0) return judged({}, [`the team has given up: ${ending(lived)}; ${repeat}`]);
  return weigh(life, JSON.parse(lived.stdout) as Week[], repeat);
}

function weigh(life: Life, weeks: readonly Week[], repeat: string): Outcome {
  const memory = path.join(life.root, ".git", "autodev");
  const journal = readJournal(path.join(memory, "journal"));
  const log = judgeLog(life.log, journal);
  const books = new Books({ maxAttempts, runBudget, mostOfAttempt, mostJobs });
  const breaches = [...log.breaches];
  const due = [...weeks.entries()];
  for (const entry of journal) {
    books.enter(entry);
    if (books.seq !== due[0]?.[1].told.seq) continue;
    const [number, week] = due.shift() as (typeof due)[number];
    const { board, ...told } = week.told;
    if (board !== told.seq)
      breaches.push(`week ${number + 1}: the dashboard knows ${board} of ${told.seq}`);
    breaches.push(...differing(told, books.told).map((each) => `week ${number + 1}: ${each}`));
  }
  if (due.length > 0) breaches.push("what was told at a week's end is not in the journal");
  breaches.push(
    ...books.breaches,
    ...wrongAnswers(memory, books.told.answered),
    ...creeping(weeks),
  );
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (!first || !last) return judged({}, [`no week was lived; ${repeat}`]);
  const change = (of: (week: Week) => number, unit = 1): string =>
    `${Math.round(of(first) / unit)} → ${Math.round(of(last) / unit)}`;
  return judged(
    {
      weeks: weeks.length,
      transitions: log.acknowledged,
      sessions: last.sessions,
      "processes killed": log.deaths,
      runs: last.runs,
      ...books.figures,
      "heap (KB)": change(({ heap }) => heap, 1024),
      descriptors: change(({ descriptors }) => descriptors),
      "bytes a transition": change(perTransition(weeks)),
      segments: last.segments,
      "folded by a cold look": last.folded,
      "folded after a death, at most": Math.max(...weeks.map((week) => week.foldedAfterDeath)),
      "journal read by a build (KB)": change(({ opening }) => opening.journal, 1024),
      "answers read by a build (bytes)": change(({ opening }) => opening.answers),
      "snapshot (KB)": change(({ snapshot }) => snapshot, 1024),
    },
    breaches.slice(0, 12).map((breach) => `${breach}; ${repeat}`),
  );
}

// ── what does not agree ────────────────────────────────────────────────────────────────────────

function differing(told: object, kept: object): string[] {
  return Object.entries(kept).flatMap(([name, right]) => {
    const said = (told as Record<string, unknown>)[name];
    const [is, should] = [said, right].map((each) => JSON.stringify(sorted(each)));
    return is === should ? [] : [`it says ${name} ${is}, and the books ${should}`];
  });
}

const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The first answer lies in a file of its own: it is the one on record. */
function wrongAnswers(memory: string, answered: Readonly<Record<string, string>>): string[] {
  return Object.entries(answered).flatMap(([id, key]) => {
    const file = path.join(memory, "answers", `${id}.json`);
    const given = (JSON.parse(fs.readFileSync(file, "utf8")) as { key: string }).key;
    return given === key ? [] : [`${id} was answered ${given}, and ${key} is on record`];
  });
}

// ── what creeps ────────────────────────────────────────────────────────────────────────────────

/** A week is as busy as another, but not to the byte. */
const tolerance = 1.5;
/** Memory: for each byte that a dashboard shows, past runs too; and what a process takes to warm up. */
const heapForShown = 6;
const heapToWarmUp = 2 * 1024 * 1024;
/** What a snapshot may leave to fold (see hold.ts), with the phases of the largest plan here. */
const mostFolded = 256 + 16;
const largestSegment = 8 * 1024 * 1024;

function creeping(weeks: readonly Week[]): string[] {
  const [first] = weeks;
  if (!first) return [];
  return weeks.flatMap((week, at) => {
    const crept: string[] = [];
    const tell = (what: string, is: number | string, was: number | string): void => {
      crept.push(`week ${at + 1}: ${what} ${is}, and at first ${was}`);
    };
    const same = (what: "descriptors" | "children" | "listeners" | "resources"): void => {
      if (week[what] !== first[what]) tell(what, week[what], first[what]);
    };
    for (const what of ["descriptors", "children", "listeners", "resources"] as const) same(what);
    const within = (what: string, is: number, was: number, room = 0): void => {
      if (is > was * tolerance + room) tell(what, is, was);
    };
    const things = ({ decided, runs }: Week): number => decided + runs;
    const room = heapToWarmUp + heapForShown * Math.max(0, week.shown - first.shown);
    if (week.heap > first.heap + room) tell("heap", week.heap, first.heap);
    within("bytes a transition", perTransition(weeks)(week), perTransition(weeks)(first));
    within("journal read by a build", week.opening.journal, first.opening.journal, 64 * 1024);
    within("answers read by a build", week.opening.answers, first.opening.answers, 256);
    within("files read by a build", week.opening.files, first.opening.files, 16);
    within("journal read by a cold look", week.cold.journal, first.cold.journal, 4096);
    within("files read by a cold look", week.cold.files, first.cold.files, 4);
    within(
      "snapshot for each decision and run",
      week.snapshot / things(week),
      first.snapshot / things(first),
    );
    if (week.stale.length > 0) tell("kept too long", week.stale.join(", "), "nothing");
    if (week.temporary.length > 0) tell("temporary files", week.temporary.join(", "), "none");
    if (week.inbox > 0) tell("messages to nobody", week.inbox, "none");
    if (week.folded > 0) tell("folded at rest", week.folded, "nothing");
    if (week.foldedAfterDeath > mostFolded)
      tell("folded after a death", week.foldedAfterDeath, `${mostFolded} promised`);
    if (week.largestSegment > largestSegment * 1.1)
      tell("largest segment", week.largestSegment, `${largestSegment} promised`);
    return crept;
  });
}

/** Of the week itself, not of all before it. */
const perTransition =
  (weeks: readonly Week[]) =>
  (week: Week): number => {
    const before = weeks[weeks.indexOf(week) - 1];
    const [bytes, transitions] = [before?.journal ?? 0, before?.transitions ?? 0];
    return (week.journal - bytes) / Math.max(1, week.transitions - transitions);
  };
