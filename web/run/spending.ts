/** What was spent until when, stacked by who spent it: the figures of the chart and its table. */
import { nothingSpentYet, type SpendSeries, spendMore } from "../../src/core/board/spend.ts";
import type { SkillStory } from "../../src/core/board/step-story.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import type { Spend } from "../../src/core/plan/run-news.ts";
import type { Range } from "./gantt-rows.ts";

export type By = "agents" | "phases";
export type Unit = "tokens" | "cost";

export interface Layer {
  readonly name: string;
  /** All until each moment. */
  readonly sums: readonly number[];
}

export interface Stack {
  /** Moments, in milliseconds since 1970: the beginning, when each slice ends, the end. */
  readonly at: readonly number[];
  readonly layers: readonly Layer[];
  readonly total: number;
}

/** More bands than these nobody tells apart. */
export const mostLayers = 6;
export const others = "others";

export function stackOf(
  { slices, sliceMs }: SpendSeries,
  by: By,
  unit: Unit,
  { from, to }: Range,
): Stack {
  const amount = (spend: Spend | undefined): number => spend?.[unit] ?? 0;
  const ranked = totalsOf({ slices, sliceMs }, by)
    .filter(({ spend }) => amount(spend) > 0)
    .sort((a, b) => amount(b.spend) - amount(a.spend))
    .map(({ name }) => name);
  const kept = ranked.length > mostLayers ? ranked.slice(0, mostLayers - 1) : ranked;
  const rest = new Set(ranked.slice(kept.length));
  const names = rest.size > 0 ? [...kept, others] : kept;
  const layers = names.map((name) => {
    let sum = 0;
    const sums = slices.map((slice) => {
      for (const [each, spend] of Object.entries(slice[by])) {
        if (name === others && rest.size > 0 ? rest.has(each) : each === name) sum += amount(spend);
      }
      return sum;
    });
    return { name, sums: [0, ...sums, sum] };
  });
  const ends = slices.map(({ at }) => at + sliceMs);
  return {
    at: [Math.min(from, slices[0]?.at ?? from), ...ends, Math.max(to, ends.at(-1) ?? to)],
    layers,
    total: layers.reduce((all, { sums }) => all + (sums.at(-1) ?? 0), 0),
  };
}

export interface Total {
  readonly name: string;
  readonly spend: Spend;
}

/** Whoever has spent most first. */
export function totalsOf({ slices }: SpendSeries, by: By): Total[] {
  const sums = new Map<string, { tokens: number; cost?: number }>();
  for (const slice of slices) {
    for (const [name, { tokens, cost }] of Object.entries(slice[by])) {
      const sum = sums.get(name) ?? { tokens: 0 };
      sum.tokens += tokens;
      if (cost !== undefined) sum.cost = (sum.cost ?? 0) + cost;
      sums.set(name, sum);
    }
  }
  return [...sums]
    .map(([name, spend]) => ({ name, spend }))
    .sort((a, b) => (b.spend.cost ?? 0) - (a.spend.cost ?? 0) || b.spend.tokens - a.spend.tokens);
}

/** A budget that is far away would press everything else onto the ground. */
export const isInSight = (budget: number | undefined, total: number): budget is number =>
  budget !== undefined && budget > 0 && budget <= total * 2.5;

/** Skills tell what they used when they end: a slice for each session. */
export function spendOfSessions(sessions: readonly SkillStory[]): SpendSeries {
  let series = nothingSpentYet;
  for (const { agent, step, startedAt, endedAt, spend } of sessions) {
    const at = momentOf(endedAt ?? startedAt);
    if (spend && at !== undefined) series = spendMore(series, { at, agent, phase: step, ...spend });
  }
  return series;
}
