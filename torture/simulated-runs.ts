/**
 * Whole runs in a made-up world: random plans, phases that fail, park, collide and clash, people
 * who commit meanwhile and answer late or never, and up to twenty deaths each. A model that knows
 * the log alone judges every move, every rest and every ending.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import {
  again,
  bundle,
  type Context,
  cores,
  judged,
  type Outcome,
  type Plant,
  type Row,
} from "./rig.ts";
import { type Found, type Share, simulate, type Tally } from "./run-simulator.ts";

const runs = { ci: 800, full: 10_000 };

export const simulatedRuns: Row = {
  name: "simulated-runs",
  promise: "whatever crashes, the driver ends where it would have ended",
  budgetSeconds: { ci: 13, full: 100 },
  async run(context) {
    const { seed, tier, onlyCase } = context;
    if (onlyCase !== undefined) {
      const [index = 0, most] = onlyCase.split("/").map(Number);
      const share: Share = { seed, from: index, to: index + 1, ...(most && { most }) };
      return outcomeOf(context, [await simulate(share)], simulate);
    }
    const file = await bundle("torture/run-simulator.ts");
    const found = await Promise.all(
      Array.from({ length: cores }, (_, lane) =>
        inThread(file, { seed, from: lane, to: runs[tier], stride: cores }),
      ),
    );
    return outcomeOf(context, found, simulate);
  },
};

/** A few runs of the source with a bug planted in it. */
export async function simulatePlanted(context: Context, plant: Plant): Promise<Outcome> {
  const file = await bundle("torture/run-simulator.ts", { plant });
  const planted = createRequire(file)(file) as { simulate: typeof simulate };
  const share = { seed: context.seed, from: 0, to: 400, firstOnly: true };
  return outcomeOf(context, [await planted.simulate(share)], planted.simulate);
}

const inThread = (file: string, workerData: Share): Promise<Found> =>
  new Promise((resolve, reject) => {
    new Worker(file, { workerData }).on("message", resolve).on("error", reject);
  });

async function outcomeOf(
  context: Context,
  found: readonly Found[],
  simulateAgain: typeof simulate,
): Promise<Outcome> {
  const ends = new Map<string, number>();
  const breaches: Found["breaches"] = new Map();
  for (const each of found) {
    for (const [how, times] of each.ends) ends.set(how, (ends.get(how) ?? 0) + times);
    for (const [kind, breach] of each.breaches) {
      const known = breaches.get(kind);
      breaches.set(kind, { ...(known ?? breach), times: breach.times + (known?.times ?? 0) });
    }
  }
  const failures: string[] = [];
  for (const [kind, { times, index, what }] of breaches) {
    const small = await smaller(context, kind, index, simulateAgain);
    const name = small === undefined ? `${index}` : `${index}/${small.most}`;
    const repeat = again(context, simulatedRuns.name, context.onlyCase ?? name);
    failures.push(`${kind}, in ${times} runs; ${small?.what ?? what}; ${repeat}`);
  }
  const sum = (name: keyof Tally): number =>
    found.reduce((total, { tally }) => total + tally[name], 0);
  return judged(
    {
      runs: sum("runs"),
      phases: sum("phases"),
      sessions: sum("sessions"),
      crashes: sum("crashes"),
      moves: sum("moves"),
      events: sum("events"),
      ends: [...ends]
        .sort((a, b) => b[1] - a[1])
        .map(([how, times]) => `${times} ${how}`)
        .join(" "),
    },
    failures,
  );
}

/** The same breach with fewer phases, if that is enough. */
async function smaller(
  { seed, onlyCase }: Context,
  kind: string,
  index: number,
  simulateAgain: typeof simulate,
): Promise<{ most: number; what: string } | undefined> {
  if (onlyCase !== undefined) return undefined;
  for (const most of [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24]) {
    const found = await simulateAgain({ seed, from: index, to: index + 1, most });
    const what = found.breaches.get(kind)?.what;
    if (what !== undefined) return { most, what };
  }
  return undefined;
}
