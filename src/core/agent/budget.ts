/**
 * What agents may use up. Counted from what they say of themselves and from the clock that dates
 * the events; the counters are part of the run's history, so that no restart begins them anew. No
 * schema: the fold uses it.
 */
export interface Spent {
  readonly tokens: number;
  /** In dollars, as far as agents tell. */
  readonly cost: number;
  /** In which an agent was at work. */
  readonly ms: number;
}

export const nothingSpent: Spent = { tokens: 0, cost: 0, ms: 0 };

export const addSpent = (one: Spent, more: Partial<Spent>): Spent => ({
  tokens: one.tokens + (more.tokens ?? 0),
  cost: one.cost + (more.cost ?? 0),
  ms: one.ms + (more.ms ?? 0),
});

/** Time alone says nothing about an agent that tells nothing. */
export const hasUsed = ({ tokens, cost }: Spent): boolean => tokens + cost > 0;

/** For people: what nobody told is not there. */
export const toldOf = ({ tokens, cost }: Spent): { tokens: number; cost?: number } => ({
  tokens,
  ...(cost > 0 && { cost }),
});

export interface Cap {
  readonly tokens?: number;
  readonly cost?: number;
  readonly minutes?: number;
}

export interface Budgets {
  readonly attempt: Cap;
  readonly phase: Cap;
  readonly run: Cap;
}

/** Wide enough for honest work, narrow enough that no loop burns through a night. */
export const usualBudgets: Budgets = {
  attempt: { tokens: 50e6, cost: 25 },
  phase: { tokens: 100e6, cost: 50, minutes: 8 * 60 },
  run: { tokens: 1e9, cost: 250, minutes: 48 * 60 },
};

type Settled = { readonly [K in keyof Cap]: number | false };

export const budgetsOf = (settings: { readonly [K in keyof Budgets]?: Settled } = {}): Budgets => ({
  attempt: capOf(usualBudgets.attempt, settings.attempt),
  phase: capOf(usualBudgets.phase, settings.phase),
  run: capOf(usualBudgets.run, settings.run),
});

function capOf(usual: Cap, settled: Settled = {}): Cap {
  const cap: { -readonly [K in keyof Cap]: Cap[K] } = {};
  for (const key of ["tokens", "cost", "minutes"] as const) {
    const value = settled[key] ?? usual[key];
    if (typeof value === "number") cap[key] = value;
  }
  return cap;
}

/** What is over, in words: `12 M tokens used, of 10 M`. `times`: how often people have said yes to as much again. */
export function exceeded(spent: Spent, cap: Cap, times = 1): string | undefined {
  const [tokens, cost, minutes] = [cap.tokens, cap.cost, cap.minutes].map(
    (each) => (each ?? Number.POSITIVE_INFINITY) * times,
  ) as [number, number, number];
  if (spent.tokens >= tokens) return `${tokenWords(spent.tokens)} used, of ${tokenWords(tokens)}`;
  if (spent.cost >= cost) return `$${spent.cost.toFixed(2)} spent, of $${cost.toFixed(2)}`;
  const worked = spent.ms / 60_000;
  if (worked >= minutes) return `${Math.floor(worked)} min of work, of ${Math.floor(minutes)}`;
  return undefined;
}

export function tokenWords(tokens: number): string {
  const [unit, size] = tokens >= 1e6 ? ["M tokens", 1e6] : ["k tokens", 1e3];
  return tokens < 1e3 ? `${tokens} tokens` : `${Math.round((tokens / size) * 10) / 10} ${unit}`;
}
