/**
 * Non-interference: no text of others moves a decision. The same plan run and the same flow are
 * played with an ordinary sentence and with texts that want something, at every place where such
 * text reaches us; what was decided has to be the same, line by line.
 *
 * What is content, and what is structure
 *
 * Some words of others have effects by design, and are not what is tried here: they are the same
 * in every run of this row.
 *
 * | structure: it decides                              | content: it must not                      |
 * | -------------------------------------------------- | ----------------------------------------- |
 * | headings, boxes, tables and fields of a plan       | titles, prose, the text of a box, fences  |
 * | the result in $AUTODEV_RESULT, or handed in by the | whatever is printed beside it; the        |
 * |   agent's own last event or our tool: its status,  |   result's messages, details and reasons  |
 * |   counts, files, type of error                     |                                           |
 * | a last event, a limit event, an error event, as an | messages, thoughts, inputs and outputs of |
 * |   event of the agent's own format                  |   tools, plans, stderr, in those events   |
 * | what an agent prints on its way out, without a     |                                           |
 * |   last event: it is all that is known              |                                           |
 * | a gate's exit code; a test runner's own lines      | names of tests; other lines of a gate     |
 * | files and tests in the tree, by path and syntax    | comments, strings, documents              |
 * | our trailers in the last paragraph of a commit     | the rest of its message                   |
 * | the key of an item as its label or own line        | titles and texts that quote it            |
 * | the sections and fields that a skill promises; the | everything else in an artifact            |
 * |   words that a flow's own condition looks for      |                                           |
 * | an option that a person chose                      | who he says he is; the question's words   |
 *
 * That it moves something as structure is tried as well (`asStructure`): a log that nothing can
 * change would prove nothing.
 */
import { createRequire } from "node:module";
import * as path from "node:path";
import { Worker } from "node:worker_threads";
import { asStructure } from "./injections/controls.ts";
import {
  caseOf,
  difference,
  type Found,
  nothingFound,
  playShare,
  type Share,
} from "./injections/player.ts";
import { points } from "./injections/points.ts";
import { agents, perform, type Stage } from "./injections/program.ts";
import { benign, injectionOf } from "./injections/texts.ts";
import {
  again,
  bundle,
  type Context,
  cores,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Row,
  shippedProgram,
} from "./rig.ts";

const texts = { ci: 8, full: 1000 };
/** Until a planted bug is noticed, which ends it. */
const textsForABug = 30;
const performances = { ci: 2, full: 200 };

export const injections: Row = {
  name: "injections",
  promise: "whatever others write, it is text: not one decision follows from it",
  budgetSeconds: { ci: 28, full: 1500 },
  async run(context) {
    const { seed, tier, scratch, onlyCase } = context;
    if (onlyCase?.startsWith("program-")) {
      return withPrograms(context, nothingFound(), [Number(onlyCase.slice("program-".length))]);
    }
    if (onlyCase !== undefined) {
      const from = Number(onlyCase);
      return outcomeOf(context, [
        await playShare({ seed, scratch, from, to: from + 1, stride: 1 }),
      ]);
    }
    const file = await bundle("torture/injections/player.ts");
    const to = texts[tier] * points.length;
    const found = await Promise.all(
      Array.from({ length: cores }, (_, lane) =>
        inThread(file, { seed, scratch, from: lane, to, stride: cores }),
      ),
    );
    context.note(`${to} runs in the simulator; now with real programs`);
    const numbers = Array.from({ length: performances[tier] }, (_, at) => at);
    return withPrograms(context, together(found), numbers);
  },
};

/** A few injections against the source with a bug planted in it. */
export async function injectPlanted(context: Context, plant: Plant): Promise<Outcome> {
  const { seed, scratch } = context;
  const file = await bundle("torture/injections/player.ts", { plant });
  const planted = createRequire(file)(file) as { playShare: typeof playShare };
  const to = textsForABug * points.length;
  return outcomeOf(context, [
    await planted.playShare({ seed, scratch, from: 0, to, stride: 1, firstOnly: true }),
  ]);
}

const inThread = (file: string, workerData: Share): Promise<Found> =>
  new Promise((resolve, reject) => {
    new Worker(file, { workerData }).on("message", resolve).on("error", reject);
  });

// ── with real programs ─────────────────────────────────────────────────────────────────────────

async function withPrograms(
  context: Context,
  found: Found,
  numbers: readonly number[],
): Promise<Outcome> {
  const { seed, scratch } = context;
  const controls = await asStructure(path.join(scratch, "controls"));
  const stage: Stage = { binary: await shippedProgram(scratch), scratch, trust: new Map() };
  const usual = new Map<string, readonly string[]>();
  for (const agent of agents) usual.set(agent, (await perform(stage, agent, benign)).log);
  const failures: string[] = [];
  let arrived = 0;
  await inParallel(numbers, async (number) => {
    const agent = agents[number % agents.length] as (typeof agents)[number];
    // A file name, an argument or a test's name cannot hold it.
    const injection = injectionOf(seed, number);
    const { log, seen } = await perform(stage, agent, injection.text.replaceAll("\0", ""));
    if (seen.includes(injection.word)) arrived++;
    const what = seen.includes(injection.word)
      ? difference(usual.get(agent) ?? [], log)
      : "it never reached anybody";
    if (what === undefined) return;
    failures.push(
      `${injection.class}, with ${agent}: ${what}; ${again(context, injections.name, `program-${number}`)}`,
    );
  });
  const { is: _, figures, failures: simulated } = outcomeOf(context, [found]);
  return judged(
    {
      ...figures,
      programs: numbers.length,
      "arrived there": arrived,
      "moved as structure": `${controls.moved} of ${controls.tried}`,
    },
    [...simulated, ...failures, ...controls.failures],
  );
}

// ── reports ────────────────────────────────────────────────────────────────────────────────────

function together(all: readonly Found[]): Found {
  const sum = nothingFound();
  for (const found of all) {
    sum.runs += found.runs;
    sum.decided += found.decided;
    sum.arrived += found.arrived;
    for (const text of found.texts) sum.texts.add(text);
    for (const name of found.classes) sum.classes.add(name);
    for (const [name, times] of found.points) {
      sum.points.set(name, (sum.points.get(name) ?? 0) + times);
    }
    for (const [kind, moved] of found.moved) {
      const known = sum.moved.get(kind);
      sum.moved.set(kind, { ...(known ?? moved), times: moved.times + (known?.times ?? 0) });
    }
  }
  return sum;
}

function outcomeOf(context: Context, all: readonly Found[]): Outcome {
  const found = together(all);
  const failures = [...found.moved].map(([kind, { index, times, what }]) => {
    const { text } = injectionOf(context.seed, caseOf(index).text);
    const shown = JSON.stringify(text.slice(0, 80));
    return `${kind}, ${times} times: ${what}; after ${shown}; ${again(context, injections.name, String(index))}`;
  });
  return judged(
    {
      runs: found.runs,
      texts: found.texts.size,
      classes: found.classes.size,
      points: found.points.size,
      arrived: found.arrived,
      "decisions compared": found.decided,
      "logs that differ": [...found.moved.values()].reduce((sum, { times }) => sum + times, 0),
    },
    failures,
  );
}
