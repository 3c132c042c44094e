/**
 * What a run will use up, judged by what phases have used up here before: by points where plans have
 * estimates, else by phases. A guess between two figures, never one: the middle half of what was seen.
 */
import type { PlanRun } from "../plan/progress.ts";
import { weightsOf } from "../plan/time-left.ts";
import { hasUsed, nothingSpent } from "./budget.ts";

/** A phase that has landed: how heavy it was, and what its attempts have used. */
export interface Past {
  readonly weight: number;
  readonly tokens: number;
  readonly cost: number;
  readonly ms: number;
}

/** From, to. */
export type Range = readonly [number, number];

export interface Forecast {
  /** How many phases it is judged by. */
  readonly seen: number;
  readonly tokens: Range;
  /** Absent: nobody has told what it costs. */
  readonly cost?: Range;
  /** In which an agent is at work: phases at the same time count each for itself. */
  readonly ms: Range;
}

/** Of a run that another one follows, only this is kept. */
export function pastOf(run: PlanRun): readonly Past[] {
  const weights = weightsOf(run);
  const past = run.phases.flatMap(({ state, spent = nothingSpent }, at): Past[] =>
    state.is === "landed" && hasUsed(spent) ? [{ weight: weights[at] ?? 1, ...spent }] : [],
  );
  return [...(run.past ?? []), ...past].slice(-mostPast);
}

const mostPast = 60;

/** `todo`: the weights of what is yet to be done. Undefined: nothing like it was ever done here. */
export function forecast(todo: readonly number[], past: readonly Past[]): Forecast | undefined {
  const known = past.filter(({ weight }) => weight > 0);
  const all = todo.reduce((sum, weight) => sum + weight, 0);
  if (known.length === 0 || all === 0) return undefined;
  const range = (of: (each: Past) => number): Range => {
    const rates = known.map((each) => of(each) / each.weight).sort((a, b) => a - b);
    return [middle(rates, 0.25) * all, middle(rates, 0.75) * all];
  };
  const priced = known.some(({ cost }) => cost > 0);
  return {
    seen: known.length,
    tokens: range(({ tokens }) => tokens),
    ...(priced && { cost: range(({ cost }) => cost) }),
    ms: range(({ ms }) => ms),
  };
}

/** Between its two neighbours, where it falls between them. */
function middle(sorted: readonly number[], part: number): number {
  const at = (sorted.length - 1) * part;
  const [low, high] = [Math.floor(at), Math.ceil(at)].map((place) => sorted[place] ?? 0);
  return (low ?? 0) + ((high ?? 0) - (low ?? 0)) * (at - Math.floor(at));
}

/** `1.2–3.4 M tokens, $2.10–5.80, 20–45 min of work, judged by 12 phases done here`. */
export function forecastWords({ seen, tokens, cost, ms }: Forecast): string {
  const large = tokens[1] >= 1e6;
  const parts = [
    `${between(tokens, large ? 1e6 : 1e3)} ${large ? "M" : "k"} tokens`,
    ...(cost ? [`$${cost[0].toFixed(2)}–${cost[1].toFixed(2)}`] : []),
    `${between(ms, 60_000)} min of work`,
  ];
  return `${parts.join(", ")}, judged by ${seen} ${seen === 1 ? "phase" : "phases"} done here`;
}

function between([from, to]: Range, unit: number): string {
  const [low, high] = [from, to].map((value) => {
    const scaled = value / unit;
    return scaled < 10 ? String(Math.round(scaled * 10) / 10) : String(Math.round(scaled));
  });
  return low === high ? `${high}` : `${low}–${high}`;
}
