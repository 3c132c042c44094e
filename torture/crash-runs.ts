/**
 * kill -9 while a plan is run, at moments spread over all that a run does, and again while it is
 * resumed. However often that happens, the end has to be that of a run that nothing disturbed: the
 * same files, commits, boxes and records, and nothing left lying about.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  type Context,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  sleep,
} from "./rig.ts";
import {
  type Build,
  buildProgram,
  byAgent,
  copyOf,
  countLines,
  differences,
  type End,
  how,
  isIt,
  judgeEnd,
  makeTemplate,
  type Scenario,
  type Site,
  six,
  startBuild,
  type Template,
  ten,
  until,
} from "./run-rig.ts";

export const crashRuns: Row = {
  name: "crash-runs",
  promise: "a run that is killed and resumed ends exactly like one that was never disturbed",
  budgetSeconds: { ci: 26, full: 700 },
  run: (context) => crash(context),
};

const momentsByTier = { ci: 5, full: 100 };
/** In the full tier, on top. */
const momentsOnProject = 10;

export interface CrashOptions {
  readonly plant?: Plant;
  readonly moments?: number;
  /** What a planted bug is told by; other failures are not it. */
  readonly seen?: RegExp;
}

const scenarios: readonly Scenario[] = [
  six("auto", { dirty: true }),
  byAgent,
  six("message-only", { dirty: true }),
  six("single", { dirty: false, naming: true }),
];

export async function crash(context: Context, options: CrashOptions = {}): Promise<Outcome> {
  const bench: Bench = {
    context,
    program: await buildProgram(options.plant),
    scratch: freshFolder(context.scratch, "runs"),
  };
  const cases = casesFor(context, options.moments ?? momentsByTier[context.tier]);
  const models = new Map<Scenario, Model | string>();
  const needed = [...new Set(cases.map(({ scenario }) => scenario))];
  await inParallel(needed, async (scenario) => {
    models.set(scenario, await modelOf(bench, scenario));
  });
  const broken = [...models.values()].filter((model) => typeof model === "string");
  if (broken.length > 0) return judged({}, broken);

  const figures = { runs: 0, kills: 0, "kills too late": 0, "doubled commits": 0, "other ends": 0 };
  const failures: string[] = [];
  await inParallel(cases, async (each) => {
    // A planted bug is found once.
    if (options.plant && failures.some((each) => isIt(each, options.seen))) return;
    const model = models.get(each.scenario) as Model;
    const { wrong, kills, late, doubled } = await crashOnce(bench, model, each);
    figures.runs++;
    figures.kills += kills.length;
    figures["kills too late"] += late;
    figures["doubled commits"] += doubled;
    if (wrong.length === 0) return;
    figures["other ends"]++;
    failures.push(
      `${each.name} (killed ${kills.join(", then ")}): ${wrong.join("; ")}; to see it again: ${again(context, crashRuns.name, each.name)}`,
    );
  });
  return judged(figures, failures);
}

interface Bench {
  readonly context: Context;
  readonly program: string;
  readonly scratch: string;
}

// ── undisturbed ────────────────────────────────────────────────────────────────────────────────

interface Model {
  readonly template: Template;
  readonly end: End;
  readonly ms: number;
  readonly lines: number;
}

/** A string says why there is nothing to compare with. */
async function modelOf({ program, scratch }: Bench, scenario: Scenario): Promise<Model | string> {
  const template = await makeTemplate(
    program,
    path.join(scratch, `${scenario.name}-template`),
    scenario,
  );
  const site = copyOf(template, path.join(scratch, `${scenario.name}-model`));
  const build = startBuild(program, site, template);
  const ended = await build.ended;
  const ms = build.elapsedMs();
  const lines = countLines(site)();
  const { end, wrong } = await judgeEnd(program, site, template, ended);
  if (wrong.length > 0) return `${scenario.name}, undisturbed: ${wrong.join("; ")}`;
  return { template, end, ms, lines };
}

// ── moments ────────────────────────────────────────────────────────────────────────────────────

/** As a share of what an undisturbed run takes, or so long after it has recorded something. */
type Moment =
  | { readonly is: "share"; readonly share: number }
  | { readonly is: "recorded"; readonly share: number; readonly laterMs: number };

interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly moment: Moment;
  readonly seed: number;
}

function casesFor({ tier, seed, onlyCase }: Context, moments: number): Case[] {
  const spread = (scenario: Scenario, index: number, count: number, number: number): Case => {
    const random = randomFrom(seed, number);
    // Even ones by the clock, odd ones by the journal: each kind over the whole length.
    const share = (index + random.fraction()) / count;
    return {
      name: `${scenario.name}-${number}`,
      scenario,
      seed: number,
      moment:
        index % 2 === 0
          ? { is: "share", share }
          : { is: "recorded", share, laterMs: random.chance(0.5) ? 0 : random.below(40) },
    };
  };
  const each = Math.ceil(moments / scenarios.length);
  const all = Array.from({ length: moments }, (_, number) =>
    spread(
      scenarios[number % scenarios.length] as Scenario,
      Math.floor(number / scenarios.length),
      each,
      number + 1,
    ),
  );
  if (tier === "full" && moments === momentsByTier.full) {
    for (let index = 0; index < momentsOnProject; index++)
      all.push(spread(ten, index, momentsOnProject, moments + index + 1));
  }
  return onlyCase === undefined ? all : all.filter(({ name }) => name === onlyCase);
}

const describe = (moment: Moment): string => {
  const share = `${Math.round(moment.share * 100)} %`;
  return moment.is === "share"
    ? `after ${share} of the time`
    : `${moment.laterMs} ms after ${share} of the records`;
};

async function comes(moment: Moment, build: Build, site: Site, model: Model): Promise<void> {
  if (moment.is === "share") {
    await until(build, () => build.elapsedMs() >= moment.share * model.ms);
    return;
  }
  const wanted = Math.ceil(moment.share * model.lines);
  const lines = countLines(site);
  await until(build, () => lines() >= wanted);
  await sleep(moment.laterMs);
}

// ── one run ────────────────────────────────────────────────────────────────────────────────────

const mostKills = 3;

interface Crashed {
  readonly wrong: string[];
  readonly kills: string[];
  /** The run had ended before. */
  readonly late: number;
  readonly doubled: number;
}

async function crashOnce(
  bench: Bench,
  model: Model,
  { name, moment, seed }: Case,
): Promise<Crashed> {
  const { program, context } = bench;
  const { template, end } = model;
  const site = copyOf(template, path.join(bench.scratch, name));
  const random = randomFrom(context.seed, seed, 7);
  const kills: string[] = [];
  let late = 0;
  try {
    for (
      let next: Moment | undefined = moment;
      next;
      next = nextMoment(random, next, kills.length)
    ) {
      const build = startBuild(program, site, template);
      await comes(next, build, site, model);
      build.kill();
      const ended = await build.ended;
      if (ended.signal === "SIGKILL") kills.push(describe(next));
      else if (ended.code === 0) late++;
      else return { wrong: [`it stopped by itself: ${how(ended)}`], kills, late, doubled: 0 };
    }
    const last = await startBuild(program, site, template).ended;
    // Of a run that does not come to its end, everything else is wrong too.
    if (last.code !== 0) return { wrong: [`the last run: ${how(last)}`], kills, late, doubled: 0 };
    const { end: got, wrong, doubled } = await judgeEnd(program, site, template, last);
    return { wrong: [...wrong, ...differences(got, end)], kills, late, doubled };
  } finally {
    fs.rmSync(site.folder, { recursive: true, force: true });
  }
}

/** What is resumed may be killed too: at once, or later on; in the end it is left alone. */
function nextMoment(random: Random, before: Moment, kills: number): Moment | undefined {
  if (kills >= mostKills || !random.chance(0.3)) return undefined;
  const { share } = before;
  return random.chance(0.5)
    ? { is: "share", share: 0.05 + random.fraction() * 0.4 }
    : {
        is: "recorded",
        share: Math.min(1, share + random.fraction() * (1 - share)),
        laterMs: random.below(30),
      };
}
