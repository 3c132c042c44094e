/**
 * What was spent when: tokens and dollars in slices of time, by agent and by phase. There are never
 * more than so many slices: when there would be, two become one, so that a week costs no more to
 * keep and to draw than an hour.
 */
import { type Spend } from "../plan/run-news.ts";
import { addSpend } from "../plan/run-watch.ts";

export interface SpendSlice {
  /** When it begins, in milliseconds since 1970; it is as long as its series says. */
  readonly at: number;
  readonly agents: Readonly<Record<string, Spend>>;
  readonly phases: Readonly<Record<string, Spend>>;
}

export interface SpendSeries {
  readonly sliceMs: number;
  readonly slices: readonly SpendSlice[];
}

const mostSlices = 240;

export const nothingSpentYet: SpendSeries = { sliceMs: 1000, slices: [] };

export interface Spending extends Spend {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  readonly phase: string;
}

export function spendMore(series: SpendSeries, spending: Spending): SpendSeries {
  const at = Math.floor(spending.at / series.sliceMs) * series.sliceMs;
  const last = series.slices.at(-1);
  // A clock that was set back adds to what was last: time on a chart runs one way.
  const isNew = last === undefined || at > last.at;
  const before = isNew ? { at, agents: {}, phases: {} } : last;
  const slice = { ...before, ...added(before, spending) };
  const slices = isNew ? [...series.slices, slice] : [...series.slices.slice(0, -1), slice];
  return slices.length > mostSlices ? coarser({ ...series, slices }) : { ...series, slices };
}

function added(
  { agents, phases }: SpendSlice,
  { agent, phase, tokens, cost }: Spending,
): Pick<SpendSlice, "agents" | "phases"> {
  const more = { tokens, ...(cost !== undefined && { cost }) };
  return {
    agents: { ...agents, [agent]: addSpend(agents[agent], more) },
    phases: { ...phases, [phase]: addSpend(phases[phase], more) },
  };
}

function coarser({ sliceMs, slices }: SpendSeries): SpendSeries {
  const wide = sliceMs * 2;
  const merged: SpendSlice[] = [];
  for (const { at: began, agents, phases } of slices) {
    const at = Math.floor(began / wide) * wide;
    const last = merged.at(-1);
    if (last?.at !== at) merged.push({ at, agents, phases });
    else {
      const sum = { at, agents: sumOf(last.agents, agents), phases: sumOf(last.phases, phases) };
      merged[merged.length - 1] = sum;
    }
  }
  return { sliceMs: wide, slices: merged };
}

type Sums = Readonly<Record<string, Spend>>;

function sumOf(one: Sums, other: Sums): Sums {
  const sums: Record<string, Spend> = { ...one };
  for (const [name, spend] of Object.entries(other)) sums[name] = addSpend(sums[name], spend);
  return sums;
}
