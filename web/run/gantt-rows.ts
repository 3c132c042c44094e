/** The attempts of a run as bars on a line of time: worked, checked, waited, parked. */
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import type { SkillStory } from "../../src/core/board/step-story.ts";
import { isUnderWay } from "../../src/core/plan/attempts.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import { batchesIn, placeOf } from "../../src/core/plan/readiness.ts";

export type BarKind = "working" | "checking" | "failed" | "interrupted" | "parked" | "waiting";

export interface Bar {
  readonly is: BarKind;
  readonly from: number;
  readonly to: number;
  /** It goes on. */
  readonly open: boolean;
  readonly attempt: number;
  readonly agent: string;
  readonly note: string;
}

export interface Row {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly bars: readonly Bar[];
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Phases that somebody has begun, batch by batch. */
export function rowsOf(run: PlanRun, stories: readonly AttemptStory[], now: number): Row[] {
  const byPhase = new Map<string, AttemptStory[]>();
  for (const story of stories) {
    const known = byPhase.get(story.phase);
    if (known) known.push(story);
    else byPhase.set(story.phase, [story]);
  }
  const inOrder = batchesIn(run).flat();
  const placed = new Set(inOrder);
  return [...inOrder, ...[...byPhase.keys()].filter((id) => !placed.has(id))].flatMap((id) => {
    const own = byPhase.get(id);
    if (!own) return [];
    const { written = id, name = "no longer in the plan" } =
      run.order[placeOf(run.order, id) ?? -1] ?? {};
    return [{ id, label: written, name, bars: barsOf(own, now) }];
  });
}

function barsOf(stories: readonly AttemptStory[], now: number): Bar[] {
  return stories.flatMap((story, at) => {
    const begun = momentOf(story.startedAt) ?? now;
    const delivered = moment(story.deliveredAt);
    const open = isUnderWay(story);
    const end = moment(story.endedAt) ?? (open ? now : (delivered ?? begun));
    const next = moment(stories[at + 1]?.startedAt);
    const { attempt, agent, lines } = story;
    const bar = (is: BarKind, from: number, to: number, more: Partial<Bar> = {}): Bar[] =>
      to > from || more.open
        ? [{ is, from, to: Math.max(from, to), open: false, attempt, agent, note: "", ...more }]
        : [];
    const ended = endKinds[story.how];
    const note = lines[0] ?? "";
    const worked =
      delivered === undefined
        ? bar(ended ?? "working", begun, end, { open, note })
        : [
            ...bar("working", begun, delivered),
            ...bar(ended ?? "checking", delivered, end, { open, note }),
          ];
    return [
      ...worked,
      ...pauseAfter(story, end, next, now).flatMap(([is, from, to]) => bar(is, from, to, { note })),
    ];
  });
}

const endKinds: Partial<Record<AttemptStory["how"], BarKind>> = {
  failed: "failed",
  conflicted: "failed",
  interrupted: "interrupted",
};

/** Parked until then, or until somebody went on sooner; whatever is left is a wait. */
function pauseAfter(
  { how, until }: AttemptStory,
  end: number,
  next: number | undefined,
  now: number,
): [BarKind, number, number][] {
  if (how === "parked") {
    const due = moment(until) ?? next ?? now;
    const over = Math.min(due, next ?? Number.POSITIVE_INFINITY);
    return [
      ["parked", end, over],
      ...(next === undefined ? [] : [["waiting", over, next] as [BarKind, number, number]]),
    ];
  }
  return next === undefined ? [] : [["waiting", end, next]];
}

/** Sessions of skills, a row for each step that had any. */
export function sessionRows(sessions: readonly SkillStory[], now: number): Row[] {
  const rows = new Map<string, { id: string; label: string; name: string; bars: Bar[] }>();
  for (const { session, step, cycle, skill, agent, startedAt, endedAt, how, reason } of sessions) {
    const id = `${cycle}/${step}`;
    const row = rows.get(id) ?? { id, label: `Step ${step}`, name: skill, bars: [] };
    rows.set(id, row);
    const isLast = sessions.at(-1)?.session === session;
    const open = how === undefined && isLast;
    const from = momentOf(startedAt) ?? now;
    const to = moment(endedAt) ?? (open ? now : from);
    const is = how !== undefined && failedEnds.has(how) ? "failed" : "working";
    row.bars.push({ is, from, to, open, attempt: session, agent, note: reason ?? how ?? "" });
  }
  return [...rows.values()];
}

const failedEnds = new Set(["failed", "stuck", "unable"]);

/** From the first bar to the end of the last one. */
export function rangeOf(rows: readonly Row[], now: number): Range {
  let [from, to] = [now, Number.NEGATIVE_INFINITY];
  for (const { bars } of rows) {
    for (const bar of bars) {
      from = Math.min(from, bar.from);
      to = Math.max(to, bar.to);
    }
  }
  if (to === Number.NEGATIVE_INFINITY) return { from: now - 60_000, to: now };
  const room = Math.max(1000, (to - from) * 0.02);
  return { from, to: to + room };
}

/** Only what can be seen of it, as shares of the whole; undefined: nothing. */
export function shareOf(
  bar: Bar,
  { from, to }: Range,
): { left: number; width: number } | undefined {
  if (bar.to < from || bar.from > to) return undefined;
  const whole = to - from;
  const left = Math.max(0, (bar.from - from) / whole);
  return { left, width: Math.min(1, (bar.to - from) / whole) - left };
}

const moment = (iso: string | undefined): number | undefined =>
  iso === undefined ? undefined : momentOf(iso);
