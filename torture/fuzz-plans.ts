/**
 * Random plans, read and edited: nothing crashes or hangs, an edit touches what it must and not a
 * byte more, every box is where it is said to be, and another Markdown parser finds the same ones.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Found, fuzzPlans as inOneThread, Share, Tally } from "./plan-fuzzer.ts";
import { bundle, type Context, cores, judged, type Outcome, type Plant, type Row } from "./rig.ts";

const documents = { ci: 2_000, full: 100_000 };
const comparisons = { ci: 200, full: 20_000 };

export const fuzzPlans: Row = {
  name: "fuzz-plans",
  promise: "every plan is read without a crash and edited without touching a byte too many",
  budgetSeconds: { ci: 8, full: 500 },
  async run(context) {
    const file = await bundle("torture/plan-fuzzer.ts");
    const share = (lane: number): Share => ({
      context: told(context),
      documents: documents[context.tier],
      comparisons: comparisons[context.tier],
      lane,
      lanes: cores,
    });
    const found = await Promise.all(
      Array.from({ length: cores }, (_, lane) => inThread(file, share(lane))),
    );
    return outcomeOf(context, found);
  },
};

/** A few documents against the source with a bug planted in it. */
export async function fuzzPlanted(context: Context, plant: Plant): Promise<Outcome> {
  const file = await bundle("torture/plan-fuzzer.ts", { plant });
  const { fuzzPlans: fuzz } = createRequire(file)(file) as { fuzzPlans: typeof inOneThread };
  return outcomeOf(context, [
    fuzz({ context: told(context), documents: 1500, comparisons: 200, lane: 0, lanes: 1 }),
  ]);
}

const told = ({ tier, seed, onlyCase }: Context): Share["context"] => ({
  tier,
  seed,
  ...(onlyCase === undefined ? {} : { onlyCase }),
});

const inThread = (file: string, workerData: Share): Promise<Found> =>
  new Promise((resolve, reject) => {
    new Worker(file, { workerData }).on("message", resolve).on("error", reject);
  });

function outcomeOf(context: Context, found: readonly Found[]): Outcome {
  const explained = new Map<string, number>();
  const failures = new Map<string, { first: string; times: number }>();
  for (const each of found) {
    for (const [reason, times] of each.tally.explained)
      explained.set(reason, (explained.get(reason) ?? 0) + times);
    for (const [kind, { first, times }] of each.failures) {
      const known = failures.get(kind);
      failures.set(kind, { first: known?.first ?? first, times: (known?.times ?? 0) + times });
    }
  }
  const differences = [...explained].sort((a, b) => b[1] - a[1]);
  for (const [reason, times] of differences) context.note(`${times} × ${reason}`);
  const sum = (name: Exclude<keyof Tally, "explained">): number =>
    found.reduce((total, { tally }) => total + tally[name], 0);
  return judged(
    {
      documents: sum("documents"),
      read: sum("read"),
      refused: sum("refused"),
      phases: sum("phases"),
      boxes: sum("boxes"),
      changes: sum("changes"),
      edits: sum("edits"),
      restored: sum("restored"),
      "slowest ms": Math.round(Math.max(...found.map(({ tally }) => tally.slowest))),
      compared: sum("compared"),
      agreed: sum("agreed"),
      explained: differences.reduce((total, [, times]) => total + times, 0),
    },
    [...failures].map(([kind, { first, times }]) => `${kind}, ${times} times; ${first}`),
  );
}
