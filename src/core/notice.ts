/**
 * What people are told who have left a run alone, and what goes where. Which notices there are,
 * what they say, whether it is quiet now: decided here, without a clock; sent by notify.ts.
 */
import { z } from "zod";
import type { Question } from "./decision.ts";
import { blockers, isComplete, type PlanRun, standingOf } from "./plan/progress.ts";

export const noticeKinds = ["decision", "halt", "park", "end"] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** As `notify.command` reads it on its standard input; null: there is none. */
export const Notice = z.object({
  version: z.literal(1),
  kind: z.enum(noticeKinds),
  title: z.string(),
  text: z.string(),
  root: z.string().describe("The project's folder."),
  run: z.string().nullable(),
  plan: z.string().nullable(),
  decision: z.string().nullable().describe("The decision's id."),
  command: z.string().nullable().describe("What to type: answers the decision, or goes on."),
});
export type Notice = z.infer<typeof Notice>;

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "a time is written like 22:00");

/** Local time, also across midnight. */
export const QuietHours = z
  .strictObject({ from: clock, to: clock })
  .refine(({ from, to }) => from !== to, "from and to are the same");
export type QuietHours = z.infer<typeof QuietHours>;

export const NotifySettings = z.strictObject({
  command: z
    .string()
    .min(1)
    .exactOptional()
    .describe("Run for each notice: JSON on standard input, AUTODEV_NOTICE_* variables."),
  on: z.array(z.enum(noticeKinds)).exactOptional().describe("Only these; all by default."),
  bell: z.boolean().exactOptional().describe("`false`: the terminal makes no sound."),
  desktop: z
    .boolean()
    .exactOptional()
    .describe("`false`: nothing pops up, neither by the terminal nor by the desktop."),
  quiet: QuietHours.exactOptional().describe(
    "Local time, also across midnight: nobody is told anything.",
  ),
});
export type NotifySettings = z.infer<typeof NotifySettings>;

// ── what is said ───────────────────────────────────────────────────────────────────────────────

interface Occasion {
  readonly root: string;
  readonly run?: Pick<PlanRun, "id" | "plan">;
}

/** A boundary is on record nowhere: whoever goes on has answered it. */
export const decisionNotice = (
  { id, kind, question, recommendation }: Question & { readonly id: string },
  occasion: Occasion,
): Notice => ({
  ...about(occasion, "decision", "autodev: a decision is required", question),
  ...(kind === "boundary"
    ? { command: "autodev" }
    : { decision: id, command: `autodev decide ${id} ${recommendation}` }),
});

/** Undefined: people have heard already (of each decision, of each limit). */
export function endNotice(run: PlanRun, root: string): Notice | undefined {
  switch (run.ended) {
    case "complete":
      return about({ root, run }, "end", "autodev: the run is complete", progressOf(run));
    case "stopped":
      return about({ root, run }, "end", "autodev: the chosen phases are done", progressOf(run));
    case "interrupted":
      return goingOn(
        about({ root, run }, "end", "autodev: the run was interrupted", progressOf(run)),
      );
    case "halted":
      return goingOn(about({ root, run }, "halt", "autodev: the run has halted", troubleOf(run)));
    default:
      return undefined;
  }
}

export const parkNotice = (run: PlanRun, until: string, root: string): Notice =>
  goingOn(
    about(
      { root, run },
      "park",
      "autodev: waiting for a usage limit",
      `${run.plan}: parked until ${until}; ${countOf(run)}`,
    ),
  );

/** The machine refused: a full disk, say. Nothing goes on before somebody has looked. */
export const refusalNotice = (run: PlanRun, why: string, root: string): Notice =>
  goingOn(about({ root, run }, "halt", "autodev: the run has stopped", `${run.plan}: ${why}`));

function about({ root, run }: Occasion, kind: NoticeKind, title: string, text: string): Notice {
  return {
    version: 1,
    kind,
    title,
    text: text.slice(0, mostText),
    root,
    run: run?.id ?? null,
    plan: run?.plan ?? null,
    decision: null,
    command: null,
  };
}

/** Nobody reads more in a notice, and an environment has its limits. */
const mostText = 4000;

const goingOn = (notice: Notice): Notice => ({
  ...notice,
  command: `autodev build ${asWord(notice.plan ?? "")}`,
});

/** For a shell, should a person paste it. */
const asWord = (text: string): string =>
  /^[\w./@:+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const progressOf = (run: PlanRun): string => `${run.plan}: ${countOf(run)}`;

function countOf(run: PlanRun): string {
  const complete = run.phases.filter(isComplete).length;
  return `${complete} of ${run.phases.length} phases complete`;
}

function troubleOf(run: PlanRun): string {
  const blocked = blockers(run);
  const waiting = run.phases.filter((phase) => standingOf(phase, blocked) === "blocked").length;
  const failed = run.phases.flatMap(({ id, state }) =>
    state.is === "failed" ? [`${writtenOf(run, id)} failed: ${state.error.message}`] : [],
  );
  const more = waiting > 0 ? [`${waiting} blocked`] : [];
  return [progressOf(run), ...failed.slice(0, 3), ...more].join("; ");
}

const writtenOf = (run: PlanRun, id: string): string =>
  run.order.find((phase) => phase.id === id)?.written ?? id;

// ── where it goes ──────────────────────────────────────────────────────────────────────────────

export type Route =
  | { readonly is: "nowhere" }
  /** It is quiet: told once when that is over, if somebody is still waited for. */
  | { readonly is: "later" }
  | {
      readonly is: "now";
      readonly bell: boolean;
      readonly popup: boolean;
      readonly command: boolean;
    };

/** `minute`: of the day, by the clock on the wall. */
export function routeOf(kind: NoticeKind, settings: NotifySettings, minute: number): Route {
  if (settings.on && !settings.on.includes(kind)) return { is: "nowhere" };
  if (settings.quiet && isQuiet(settings.quiet, minute)) {
    return { is: kind === "decision" || kind === "halt" ? "later" : "nowhere" };
  }
  return {
    is: "now",
    bell: settings.bell !== false,
    popup: settings.desktop !== false,
    command: true,
  };
}

/** From its first minute up to, but not including, its last. */
export function isQuiet({ from, to }: QuietHours, minute: number): boolean {
  const [begin, end] = [minuteOf(from), minuteOf(to)];
  return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
}

/** Until the quiet is over; 0: it is not quiet. */
export function minutesOfQuiet(hours: QuietHours, minute: number): number {
  if (!isQuiet(hours, minute)) return 0;
  const left = minuteOf(hours.to) - minute;
  return left > 0 ? left : left + 24 * 60;
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

// ── what a command of people's gets ────────────────────────────────────────────────────────────

/** Undefined takes away what an outer one may have left. */
export function noticeVariables(notice: Notice): Record<string, string | undefined> {
  const { version: _, ...fields } = notice;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      `AUTODEV_NOTICE_${name.toUpperCase()}`,
      // No environment can hold a NUL.
      value?.replaceAll("\0", ""),
    ]),
  );
}
