/**
 * Whatever happens to a flow, in whatever order: agents that finish, lie, fail, ask and hang, people
 * who skip, go back, edit the state file and delete documents, kills between any two records. The
 * core plays each history in a made-up world; a model that shares no line with it says what should
 * have come of it.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import {
  type Divergence,
  type Found,
  type History,
  play,
  playShare,
  type Share,
  shortest,
  type Tally,
} from "./flow-player.ts";
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

const histories = { ci: 2000, full: 100_000 };
/** Every sequence of so many actions, the first being a start, from each beginning. */
const lengths = { ci: 4, full: 6 };

export const flowHistories: Row = {
  name: "flow-histories",
  promise: "whatever happens, the flow is where its rules say, and asks nothing twice",
  budgetSeconds: { ci: 14, full: 400 },
  async run(context) {
    const { seed, tier, onlyCase } = context;
    if (onlyCase !== undefined) return oneAgain(context, onlyCase);
    const file = await bundle("torture/flow-player.ts");
    const found = await Promise.all(
      Array.from({ length: cores }, (_, lane) =>
        inThread(file, {
          seed,
          from: lane,
          to: histories[tier],
          stride: cores,
          length: lengths[tier],
        }),
      ),
    );
    return outcomeOf(context, found, { shortest });
  },
};

/** A few histories of the source with a bug planted in it. */
export async function playPlanted(context: Context, plant: Plant): Promise<Outcome> {
  const file = await bundle("torture/flow-player.ts", { plant });
  const planted = createRequire(file)(file) as {
    playShare: typeof playShare;
    shortest: typeof shortest;
  };
  const { seed } = context;
  const share = { seed, from: 0, to: 3000, stride: 1, length: 0, firstOnly: true };
  return outcomeOf(context, [await planted.playShare(share)], planted);
}

/** By its number, or as it was told: `{"begins":…,"actions":[…]}`. */
async function oneAgain(context: Context, name: string): Promise<Outcome> {
  if (!name.startsWith("{")) {
    const [from, { seed }] = [Number(name), context];
    return outcomeOf(
      context,
      [await playShare({ seed, from, to: from + 1, stride: 1, length: 0 })],
      {
        shortest,
      },
    );
  }
  const divergence = await play(JSON.parse(name) as History);
  return judged({ histories: 1 }, divergence ? [told(context, divergence)] : []);
}

const inThread = (file: string, workerData: Share): Promise<Found> =>
  new Promise((resolve, reject) => {
    new Worker(file, { workerData }).on("message", resolve).on("error", reject);
  });

async function outcomeOf(
  context: Context,
  found: readonly Found[],
  by: { shortest: typeof shortest },
): Promise<Outcome> {
  const all = new Map<string, Divergence & { times: number }>();
  for (const { divergences } of found) {
    for (const [kind, each] of divergences) {
      all.set(kind, { ...each, times: each.times + (all.get(kind)?.times ?? 0) });
    }
  }
  const failures: string[] = [];
  for (const each of all.values()) {
    failures.push(
      `${each.times} times; ${told(context, each.index === undefined ? await by.shortest(each) : each)}`,
    );
  }
  const sum = (name: keyof Tally): number =>
    found.reduce((total, { tally }) => total + tally[name], 0);
  const rests = new Map<string, number>();
  for (const each of found) {
    for (const [rest, times] of each.rests) rests.set(rest, (rests.get(rest) ?? 0) + times);
  }
  return judged(
    {
      histories: sum("histories"),
      exhaustive: sum("exhaustive"),
      actions: sum("actions"),
      events: sum("events"),
      kills: sum("kills"),
      rests: [...rests]
        .sort((a, b) => b[1] - a[1])
        .map(([rest, times]) => `${times} ${rest}`)
        .join(" "),
    },
    failures,
  );
}

const told = (context: Context, { what, history, index }: Divergence): string =>
  `${what}; ${again(context, flowHistories.name, `${index ?? `'${JSON.stringify(history)}'`}`)}`;
