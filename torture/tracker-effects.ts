/**
 * A tracker's server dies before, during and after a call, answers twice, never or with nonsense, limits,
 * lags behind, and our own process is killed between an intent and its receipt. However it goes, each
 * item is there exactly once, and our files say under which id.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Row,
  randomFrom,
  run,
} from "./rig.ts";
import {
  createFaults,
  findFaults,
  makeProject,
  makeServer,
  shapes,
  trackOnce,
  wrongWith,
} from "./tracker-world.ts";

interface Amounts {
  readonly runs: number;
  readonly kills: number;
}

const amounts: Readonly<Record<Context["tier"], Amounts>> = {
  ci: { runs: 12, kills: 4 },
  full: { runs: 1000, kills: 200 },
};
/** They wait for each other's clocks more than they work. */
const width = 8;
const mostLives = 12;

export const trackerEffects: Row = {
  name: "tracker-effects",
  promise: "each item is created exactly once, whatever its server and our own process do",
  budgetSeconds: { ci: 8, full: 800 },
  run: (context) => trackEffects(context, amounts[context.tier]),
};

export async function trackEffects(
  context: Context,
  { runs, kills, plant, faults: only }: Amounts & { plant?: Plant; faults?: readonly string[] },
): Promise<Outcome> {
  const failures: string[] = [];
  const figures = { runs: 0, items: 0, faults: 0, lives: 0, killed: 0 };
  const subject = await bundle("torture/tracker-subject.ts", plant ? { plant } : {});
  const cases = [
    ...Array.from({ length: runs }, (_, at) => ({ name: `run-${at}`, at, doomed: false })),
    ...Array.from({ length: kills }, (_, at) => ({ name: `kill-${at}`, at, doomed: true })),
  ].filter(({ name }) => context.onlyCase === undefined || context.onlyCase === name);
  await inParallel(
    cases,
    async ({ name, at, doomed }) => {
      if (failures.length >= 5) return;
      const draw = randomFrom(context.seed, at, doomed ? 1 : 0);
      const shape = shapes[at % shapes.length] ?? "jira";
      const tasks = 1 + draw.below(2);
      const root = freshFolder(context.scratch, name);
      const folder = path.join(context.scratch, `${name}-server`);
      fs.mkdirSync(folder, { recursive: true });
      await makeProject(root, tasks);
      const oneOf = (some: readonly string[]): string => some[draw.below(some.length)] ?? "";
      const faults = Array.from({ length: doomed ? draw.below(2) : 1 + draw.below(3) }, () =>
        only || draw.chance(0.75)
          ? `create ${oneOf(only ?? createFaults)}`
          : `find ${oneOf(findFaults)}`,
      );
      fs.writeFileSync(path.join(folder, "faults"), faults.map((line) => `${line}\n`).join(""));
      figures.runs++;
      figures.faults += faults.length;
      let wrong: string[] = ["it was never tried"];
      // What was left for later is for the next start: it has to come to its end.
      for (let life = 0; life < mostLives && wrong.length > 0; life++) {
        figures.lives++;
        // The versions of a server change between its lives, and so do its tools.
        const renamed = shape !== "linear" && draw.chance(0.2);
        fs.writeFileSync(path.join(folder, "mode"), renamed ? "renamed\n" : "\n");
        if (doomed || plant) {
          const ran = await run([process.execPath, subject, root, shape, folder], {
            ...(doomed && life < mostLives / 2 && { timeoutMs: 80 + draw.below(900) }),
          });
          if (ran.timedOut) figures.killed++;
          else if (ran.code !== 0 && ran.code !== 1) failures.push(`${name}: ${ending(ran)}`);
        } else await trackOnce(root, makeServer(shape, folder));
        wrong = wrongWith(root, folder, tasks);
        if (wrong.some((line) => line.includes(" times"))) break;
      }
      figures.items += tasks + 1;
      if (wrong.length > 0) {
        const repeat = again(context, "tracker-effects", name);
        failures.push(`${shape} with ${faults.join(", ")}: ${wrong.join("; ")}: ${repeat}`);
      }
    },
    width,
  );
  return judged(figures, failures);
}
