/**
 * Two people go on with one project, each on a branch, and git merges what they have: state file,
 * documents, ticks, phase files. Thousands of histories in a made-up world with what git really
 * makes of their files, and every pair of a few lives in whole repositories.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { type MergeShare, type MergesFound, type MergeTally, mergeShare } from "./merge-flows.ts";
import {
  everyMerge,
  type Grounds,
  mergeRepositories,
  type RepositoryFigures,
} from "./merge-repositories.ts";
import {
  again,
  bundle,
  type Context,
  cores,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Row,
  randomFrom,
  shippedProgram,
} from "./rig.ts";

const merges = { ci: 150, full: 10_000 };
const repositories = { ci: 2, full: Number.POSITIVE_INFINITY };

export const stateMerges: Row = {
  name: "state-merges",
  promise:
    "what two people have done apart is merged by git, and nothing is undone, doubled or lost",
  budgetSeconds: { ci: 10, full: 400 },
  async run(context) {
    const { seed, tier, onlyCase, scratch } = context;
    const isNumber = onlyCase !== undefined && /^\d+$/.test(onlyCase);
    const found: MergesFound[] = [];
    if (isNumber) {
      const from = Number(onlyCase);
      const folder = freshFolder(scratch, "merge");
      found.push(await mergeShare({ seed, from, to: from + 1, stride: 1, folder }));
    } else if (onlyCase === undefined) {
      const file = await bundle("torture/merge-flows.ts");
      const lanes = Array.from({ length: cores }, (_, from) =>
        inThread(file, {
          seed,
          from,
          to: merges[tier],
          stride: cores,
          folder: freshFolder(scratch, "merge"),
        }),
      );
      found.push(...(await Promise.all(lanes)));
    }
    const simulated = outcomeOf(context, found);
    const whole = isNumber ? judged({}, []) : await inRepositories(context);
    return judged({ ...simulated.figures, ...whole.figures }, [
      ...simulated.failures,
      ...whole.failures,
    ]);
  },
};

/** A few merges of the source with a bug planted in it. */
export async function mergePlanted(context: Context, plant: Plant): Promise<Outcome> {
  const file = await bundle("torture/merge-flows.ts", { plant });
  const planted = createRequire(file)(file) as { mergeShare: typeof mergeShare };
  const folder = freshFolder(context.scratch, "merge");
  const share = { seed: context.seed, from: 0, to: 600, stride: 1, folder, firstOnly: true };
  return outcomeOf(context, [await planted.mergeShare(share)]);
}

const inThread = (file: string, data: MergeShare): Promise<MergesFound> =>
  new Promise((resolve, reject) => {
    new Worker(file, { workerData: data }).on("message", resolve).on("error", reject);
  });

function outcomeOf(context: Context, found: readonly MergesFound[]): Outcome {
  const figures: Record<string, number> = {};
  const failures = new Map<string, string>();
  for (const { tally, breaches } of found) {
    for (const name of Object.keys(tally) as (keyof MergeTally)[])
      figures[name] = (figures[name] ?? 0) + tally[name];
    for (const [kind, { index, what }] of breaches)
      if (!failures.has(kind))
        failures.set(kind, `${what}; ${again(context, stateMerges.name, `${index}`)}`);
  }
  return judged(figures, [...failures.values()]);
}

async function inRepositories(context: Context): Promise<Outcome> {
  const { seed, tier, scratch, onlyCase } = context;
  const all = everyMerge();
  const mixed = randomFrom(seed, 13).shuffled(all);
  const kinds = (["flow", "plan"] as const).map((kind) =>
    mixed.filter((each) => each.kind === kind),
  );
  const half = repositories[tier] / kinds.length;
  const chosen =
    onlyCase === undefined
      ? kinds.flatMap((each) => each.slice(0, half))
      : all.filter(({ name }) => name === onlyCase);
  const figures: RepositoryFigures = {
    repositories: 0,
    "with conflicts": 0,
    "phases gone on with": 0,
  };
  if (chosen.length === 0) return judged({}, [`there is no case ${onlyCase}`]);
  const program = await shippedProgram(freshFolder(scratch, "program"));
  const grounds: Grounds = { program, scratch, lived: new Map() };
  const failures: string[] = [];
  await inParallel(chosen, async (merge) => {
    for (const what of await mergeRepositories(grounds, merge, figures))
      failures.push(`${merge.name}: ${what}; ${again(context, stateMerges.name, merge.name)}`);
  });
  return judged({ ...figures }, failures);
}
