/**
 * Power cuts while a plan is run, on real file systems: a small run on a loop-mounted ext4 and xfs,
 * cut by the shutdown ioctl at a write of the product's or of one of its gits, or at any moment.
 * The file system is mounted again, as after a power failure; what the journal names has to be in
 * the repository, the repository has to be sound, and the same command again has to come to the
 * end of a run that nothing disturbed.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  createVolume,
  type FileSystem,
  fileSystems,
  must,
  readyToCut,
  type Volume,
  whyNot,
} from "./power-cuts.ts";
import {
  again,
  type Context,
  compileNative,
  freshFolder,
  judged,
  noCompiler,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  skipped,
} from "./rig.ts";
import {
  type Bench,
  contradictions,
  goOn,
  injected,
  type Model,
  modelOf,
  type Who,
} from "./run-kills.ts";
import {
  buildProgram,
  copyOf,
  deserted,
  isIt,
  type Site,
  startBuild,
  two,
  until,
} from "./run-rig.ts";

export const runPowerCuts: Row = {
  name: "run-power-cuts",
  promise: "journal and git agree after a power cut, and the run goes on to its end",
  budgetSeconds: { ci: 16, full: 600 },
  run: (context) => cutRuns(context),
};

/** On each file system. */
const cutsByTier = { ci: 1, full: 50 };

export interface RunCutOptions {
  readonly plant?: Plant;
  /** On each file system. */
  readonly cuts?: number;
  /** What a planted bug is told by; other failures are not it. */
  readonly seen?: RegExp;
}

interface Figures {
  phantoms: number;
  doubled: number;
  unsound: number;
  otherEnds: number;
  uncut: number;
}

export async function cutRuns(context: Context, options: RunCutOptions = {}): Promise<Outcome> {
  const [shim, godown] = await Promise.all([compileNative("inject"), compileNative("godown")]);
  if (shim === undefined || godown === undefined) return skipped(noCompiler);
  const scratch = freshFolder(context.scratch, "cuts");
  const bench: CutBench = {
    scratch,
    shim,
    godown,
    program: await buildProgram(options.plant),
    context,
    options,
  };
  const figures: Figures = { phantoms: 0, doubled: 0, unsound: 0, otherEnds: 0, uncut: 0 };
  const failures: string[] = [];
  const cuts: Record<string, number | string> = {};
  const reasons: string[] = [];
  for (const fileSystem of fileSystems) {
    const reason = await whyNot(fileSystem);
    if (reason !== undefined) reasons.push(reason);
    if (reason !== undefined && context.tier === "full")
      failures.push(`${fileSystem.name}: ${reason}`);
    cuts[`${fileSystem.name} cuts`] =
      reason === undefined
        ? await cutSeries(bench, fileSystem, figures, failures)
        : `skipped (${reason})`;
  }
  if (reasons.length === fileSystems.length) return skipped([...new Set(reasons)].join("; "));
  return judged(
    {
      ...cuts,
      "phantom shas": figures.phantoms,
      unsound: figures.unsound,
      "doubled commits": figures.doubled,
      "other ends": figures.otherEnds,
      "never cut": figures.uncut,
    },
    failures,
  );
}

interface CutBench extends Bench {
  readonly godown: string;
  readonly context: Context;
  readonly options: RunCutOptions;
}

async function cutSeries(
  bench: CutBench,
  fileSystem: FileSystem,
  figures: Figures,
  failures: string[],
): Promise<number> {
  const { context, options, program } = bench;
  const volume = await createVolume(bench.scratch, { ...fileSystem, megabytes: 320 });
  let done = 0;
  try {
    const home = freshFolder(bench.scratch, fileSystem.name);
    const model = await modelOf(bench, two("auto"), { template: home, runs: volume.mountPoint });
    if (typeof model === "string") {
      failures.push(`${fileSystem.name}: ${model}`);
      return done;
    }
    for (let number = 1; number <= (options.cuts ?? cutsByTier[context.tier]); number++) {
      const name = `${fileSystem.name}-${number}`;
      if (context.onlyCase !== undefined && context.onlyCase !== name) continue;
      // A planted bug is found once.
      if (options.plant && failures.some((each) => isIt(each, options.seen))) break;
      const random = randomFrom(context.seed, number, fileSystem.megabytes);
      const moment = randomMoment(random, model, number);
      const site = copyOf(model.template, path.join(volume.mountPoint, name));
      must("sync", "-f", volume.mountPoint);
      await cutAt(bench, volume, site, model, moment);
      // A git that wrote less than the counted run's never came to that write.
      const isCut = isDown(volume.mountPoint);
      // A mount namespace that is still dying would hold the old mount.
      await deserted(site);
      await volume.mountAgain();
      if (isCut) done++;
      else figures.uncut++;
      const found = await contradictions(program, site);
      const { wrong, doubled } = await goOn(program, site, model);
      figures.phantoms += found.phantoms.length;
      figures.unsound += found.unsound.length;
      figures.doubled += doubled;
      if (wrong.length > 0) figures.otherEnds++;
      fs.rmSync(site.folder, { recursive: true, force: true });
      const all = [...found.phantoms, ...found.unsound, ...wrong];
      if (all.length === 0) continue;
      failures.push(
        `power cut on ${fileSystem.name} ${describe(moment)}: ${all.join("; ")}; to see it again: ${again(context, runPowerCuts.name, name)}`,
      );
    }
  } finally {
    await volume.discard();
  }
  return done;
}

/** After a cut nothing is written there any more. */
function isDown(mountPoint: string): boolean {
  try {
    fs.writeFileSync(path.join(mountPoint, "probe"), "?");
    return false;
  } catch {
    return true;
  }
}

type Moment =
  | { readonly is: "at-write"; readonly who: Who; readonly number: number; readonly side: string }
  | { readonly is: "after-ms"; readonly ms: number };

function randomMoment(random: Random, { writes, ms }: Model, number: number): Moment {
  if (number % 3 === 2) return { is: "after-ms", ms: random.between(50, Math.ceil(ms)) };
  const who: Who = number % 3 === 0 ? "product" : "both";
  const most = writes[who === "product" ? "product" : "git"];
  const side = random.chance(0.5) ? "before" : "after";
  return { is: "at-write", who, number: random.between(1, most), side };
}

const describe = (moment: Moment): string =>
  moment.is === "after-ms"
    ? `${moment.ms} ms after the start`
    : `${moment.side} write ${moment.number} of ${moment.who === "product" ? "its own" : "its gits"}`;

async function cutAt(
  bench: CutBench,
  volume: Volume,
  site: Site,
  { template }: Model,
  moment: Moment,
): Promise<void> {
  const { program, godown } = bench;
  if (moment.is === "at-write") {
    const { who, number, side } = moment;
    const orders = injected(bench, site, { who, at: number, mode: `cut-${side}` });
    await startBuild(program, site, template, orders).ended;
    return;
  }
  const power = await readyToCut(godown, volume.mountPoint);
  const build = startBuild(program, site, template);
  await until(build, () => build.elapsedMs() >= moment.ms);
  await power.cut();
  build.kill();
  await build.ended;
}
