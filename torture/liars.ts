/**
 * Agents that lie, alone, two lies at once, many in one run, and agents that are only clumsy. Who
 * lies is never believed, and what was wrong is called by its name; whoever was told and mends it
 * is accepted; who did the work is accepted however it went about it. What real agents were seen to
 * do, in real trees with real gates, is then done again in thousands of simulated runs.
 */
import { createRequire } from "node:module";
import {
  type Crowd,
  crowdsOf,
  honestKinds,
  isPresent,
  liars as kinds,
  projectFor,
  projectsOf,
  tryCrowd,
  tryHonest,
  tryLiar,
  wrongAboutBriefs,
  wrongAboutLiar,
} from "./liars/judge.ts";
import {
  DoesNotFit,
  type Honest,
  isRightOtherwise,
  type Kind,
  type Liar,
  treesOf,
} from "./liars/kind.ts";
import type { ProjectName } from "./liars/project.ts";
import {
  type Pool,
  type Simulated,
  type Source,
  simulate,
  type Witness,
  wrongAboutHearing,
  wrongAboutJoining,
} from "./liars/simulated.ts";
import { recordingProgram } from "./liars/testimony.ts";
import { type Court, openCourt, type Trial, tryAgent } from "./liars/trial.ts";
import {
  again,
  bundle,
  type Context,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  shippedProgram,
  temporaryFolder,
} from "./rig.ts";

export const liars: Row = {
  name: "liars",
  promise: "no lie of an agent is believed, each is called by its name, and no honest work refused",
  budgetSeconds: { ci: 11, full: 5400 },
  run: hearAll,
};

const runs = { ci: 7, full: 1000 };
const joinedRuns = 60;
const simulatedRuns = { ci: 400, full: 11_600 };

/**
 * In CI what the seven forms show is what is simulated. In the full tier the forms are tried by the
 * program as it is shipped, and each kind once more in each project, to be written down.
 */
async function hearAll(context: Context): Promise<Outcome> {
  const { onlyCase, tier, scratch, seed } = context;
  const tally = createTally(context);
  const court = openCourt(await recordingProgram(scratch), scratch);
  const every = poolOf(court, tally);
  const [, made, number] = /^(simulated|joined)-(\d+)$/.exec(onlyCase ?? "") ?? [];
  if (onlyCase !== undefined && made !== "simulated") {
    const joined = made === undefined ? undefined : aJoinedOne(court, every, seed, Number(number));
    tally.hear(onlyCase, await (joined ?? hear(court, onlyCase, seed)));
    return tally.outcome();
  }
  const pool = tier === "ci" ? seenIn(await hearForms(context, court, tally)) : every;
  if (tier === "full" && onlyCase === undefined) {
    await hearForms(context, openCourt(await shippedProgram(scratch), scratch), tally);
    await inParallel([...pool.liars, ...pool.honest], async (source) => void (await source.ask()));
    await inParallel(Array.from({ length: joinedRuns }), async (_, at) =>
      tally.hear(`joined-${at}`, await aJoinedOne(court, every, seed, at)),
    );
  }
  const numbers = Array.from({ length: simulatedRuns[tier] }, (_, at) => at);
  for (const each of number === undefined ? numbers : [Number(number)]) {
    if (tally.isEnough()) break;
    tally.simulate(await simulate(pool, seed, each));
  }
  return tally.outcome();
}

/** The witnesses in the order of the cases, however long each took. */
async function hearForms(context: Context, court: Court, tally: Tally): Promise<Witness[]> {
  const numbers = Array.from({ length: runs[context.tier] }, (_, at) => String(at));
  const seen: (readonly Witness[])[] = [];
  await inParallel(numbers, async (name, at) => {
    if (tally.isEnough()) return;
    const heard = await hear(court, name, context.seed);
    tally.hear(name, heard);
    seen[at] = heard.witnesses;
  });
  return seen.flat();
}

// ── witnesses ──────────────────────────────────────────────────────────────────────────────────

/** Those who were there. */
function seenIn(witnesses: readonly Witness[]): Pool {
  const sources = (some: readonly Witness[]): Source[] =>
    some.map((witness) => ({ project: witness.project, ask: () => Promise.resolve(witness) }));
  return {
    liars: sources(witnesses.filter(({ lie }) => lie)),
    honest: sources(witnesses.filter(({ lie }) => !lie)),
    plain: (project) =>
      Promise.resolve(witnesses.find((each) => each.name === "plain" && each.project === project)),
  };
}

interface EveryKind extends Pool {
  ask(name: string, project: ProjectName): Promise<Witness | undefined>;
}

/** Every kind in every project, tried when somebody asks for it, and once. */
function poolOf(court: Court, tally: Tally): EveryKind {
  const sources = <K extends Kind>(
    some: readonly K[],
    heard: (kind: K, project: ProjectName) => Promise<Heard>,
  ): (Source & { readonly name: string })[] =>
    some.flatMap((kind) =>
      present(kind).map((project) => {
        let asked: Promise<Witness | undefined> | undefined;
        const ask = async (): Promise<Witness | undefined> => {
          const told = await heard(kind, project);
          tally.hear(kind.name, told);
          return told.witnesses.at(-1);
        };
        return { name: kind.name, project, ask: () => (asked ??= ask()) };
      }),
    );
  const lying = sources(tellable, (liar, project) => aLie(court, liar, [project]));
  const honest = sources(doable, (kind, project) => anHonestOne(court, kind, [project]));
  const ask: EveryKind["ask"] = async (name, project) =>
    [...lying, ...honest].find((each) => each.name === name && each.project === project)?.ask();
  return { liars: lying, honest, ask, plain: (project) => ask("plain", project) };
}

/** A pair that really is one, to see whether putting facts together makes the same of the two. */
async function aJoinedOne(
  court: Court,
  every: EveryKind,
  seed: number,
  at: number,
): Promise<Heard> {
  const draw = randomFrom(seed, at, 7);
  const heard = await one(draw, [twoAtOnce, aLieAmongHabits, twoHabits])(court, draw);
  const [both] = heard.witnesses;
  if (!both?.common) return heard;
  const alone: (Witness | undefined)[] = [];
  for (const name of ["plain", ...both.name.split(" + ")]) {
    alone.push(await every.ask(name, both.project));
  }
  const wrong = wrongAboutJoining(both, ...alone);
  if (wrong === "not compared") return heard;
  const said = wrong === undefined ? [] : [`${both.name} in ${both.project}: ${wrong}`];
  return { ...heard, compared: 1, wrong: [...heard.wrong, ...said] };
}

/** The last attempt of a trial that came out as it should; undefined: there is nothing to learn. */
function witnessOf(kind: Kind, project: ProjectName, trial: Trial, lie?: Liar): Witness[] {
  const last = trial.hearings.at(-1);
  // A trick that came to nothing is no lie, and what was written down by nobody no testimony.
  const isOne = last?.told.type === (lie ? "attempt-failed" : "phase-verified");
  if (!last || !isOne || (last.facts === undefined) !== (last.told.gates === undefined)) return [];
  const { name, base } = kind;
  return [{ ...last, name, project, common: base === undefined, ...(lie && { lie }) }];
}

/** Judged again, each of its facts says what is on record. */
const wrongAboutFacts = (trial: Trial): string[] =>
  trial.hearings.flatMap((hearing) => wrongAboutHearing(hearing) ?? []);

/** A few kinds, recorded once for all bugs, judged by the source with the bug in it. */
export async function simulatePlanted(
  context: Context,
  { plant, seen }: { readonly plant: Plant; readonly seen: RegExp },
): Promise<Outcome> {
  const file = await bundle("torture/liars/simulated.ts", { plant });
  const planted = createRequire(file)(file) as { simulate: typeof simulate };
  fewSeen ??= seeFew();
  const pool = seenIn(await fewSeen);
  const failures: string[] = [];
  for (let index = 0; index < 500 && failures.length === 0; index++) {
    const { wrong } = await planted.simulate(pool, context.seed, index);
    failures.push(...wrong.filter((each) => seen.test(each)));
  }
  return judged({ witnesses: pool.liars.length + pool.honest.length }, failures);
}

let fewSeen: Promise<Witness[]> | undefined;

async function seeFew(): Promise<Witness[]> {
  const scratch = temporaryFolder("witnesses");
  const court = openCourt(await recordingProgram(scratch), scratch);
  const names = ["tests-not-run", "linter-not-run", "half-of-the-tasks", "document-missing"];
  const lying = kinds.filter(({ name }) => names.includes(name));
  const honest = honestKinds.filter(({ name }) => name === "plain" || name === "documents");
  const heard = [await allOf(court, { project: "node", liars: lying })];
  for (const kind of honest) heard.push(await anHonestOne(court, kind, ["node"]));
  const { wrong, witnesses } = together(heard, lying.length);
  if (wrong.length > 0) throw new Error(`even without a bug: ${wrong.join("; ")}`);
  return [...witnesses];
}

// ── what is told ───────────────────────────────────────────────────────────────────────────────

type Tally = ReturnType<typeof createTally>;

function createTally(context: Context) {
  const figures = {
    "real runs with liars": 0,
    "simulated runs with liars": 0,
    lies: 0,
    believed: 0,
    mended: 0,
    "real honest runs": 0,
    "simulated honest runs": 0,
    refused: 0,
    "attempts judged again": 0,
    "pairs compared": 0,
  };
  const failures: string[] = [];
  const add = (
    how: "real" | "simulated",
    name: string,
    told: Pick<Heard, "lies" | "mended" | "wrong">,
  ): void => {
    figures[
      told.lies > 0 ? (`${how} runs with liars` as const) : (`${how} honest runs` as const)
    ]++;
    figures.lies += told.lies;
    figures.mended += told.mended;
    for (const wrong of told.wrong) {
      if (wrong.includes(": believed")) figures.believed++;
      if (wrong.includes(": refused")) figures.refused++;
      failures.push(`${wrong}; ${again(context, liars.name, name)}`);
      context.note(`${name}: ${wrong}`);
    }
  };
  return {
    hear(name: string, heard: Heard): void {
      figures["attempts judged again"] += heard.judgedAgain;
      figures["pairs compared"] += heard.compared ?? 0;
      add("real", name, heard);
      const told = figures["real runs with liars"] + figures["real honest runs"];
      if (told % 50 === 0) context.note(`${told} real runs, ${failures.length} wrong`);
    },
    simulate(simulated: Simulated): void {
      add("simulated", `simulated-${simulated.index}`, simulated);
    },
    isEnough: (): boolean => failures.length >= 30,
    outcome: (): Outcome => judged({ ...figures }, failures),
  };
}

interface Heard {
  readonly lies: number;
  readonly mended: number;
  readonly wrong: readonly string[];
  readonly witnesses: readonly Witness[];
  readonly judgedAgain: number;
  readonly compared?: number;
}

/** A case is a number that a seed makes something of, or the name of one kind. */
async function hear(court: Court, name: string, seed: number): Promise<Heard> {
  const number = Number(name);
  if (Number.isInteger(number))
    return forms[number % forms.length]?.(court, randomFrom(seed, number)) ?? none;
  const liar = kinds.find((kind) => kind.name === name);
  if (liar) return aLie(court, liar, present(liar));
  const honest = honestKinds.find((kind) => kind.name === name);
  if (honest) return anHonestOne(court, honest, present(honest));
  throw new Error(`there is no kind ${name}`);
}

const none: Heard = { lies: 0, mended: 0, wrong: [], witnesses: [], judgedAgain: 0 };

const one = <T>(draw: Random, items: readonly T[]): T => items[draw.below(items.length)] as T;

const present = (kind: Kind): ProjectName[] => projectsOf(kind).filter(isPresent);

/** What the cases are, in turn. */
const forms: readonly ((court: Court, draw: Random) => Promise<Heard>)[] = [
  (court, draw) => {
    const liar = one(draw, tellable);
    return aLie(court, liar, [one(draw, present(liar))]);
  },
  (court, draw) => {
    const kind = one(draw, doable);
    return anHonestOne(court, kind, [one(draw, present(kind))]);
  },
  twoAtOnce,
  mendedLater,
  aLieAmongHabits,
  aCrowd,
  twoHabits,
];

const tellable = kinds.filter((kind) => present(kind).length > 0);
const doable = honestKinds.filter((kind) => present(kind).length > 0);

async function aLie(court: Court, liar: Liar, names: readonly ProjectName[]): Promise<Heard> {
  const all: Heard[] = [];
  for (const name of names) {
    const { trial, wrong } = await tryLiar(court, liar, name);
    all.push(heardOf(liar, name, trial, wrong, liar));
  }
  return together(all, names.length);
}

function heardOf(
  kind: Kind,
  project: ProjectName,
  trial: Trial,
  wrong: string | undefined,
  lie?: Liar,
): Heard {
  const all = [...(wrong === undefined ? [] : [wrong]), ...wrongAboutFacts(trial)];
  return {
    ...none,
    wrong: all.map((each) => `${kind.name} in ${project}: ${each}`),
    witnesses: all.length > 0 ? [] : witnessOf(kind, project, trial, lie),
    judgedAgain: trial.hearings.filter(({ facts }) => facts).length,
  };
}

const together = (all: readonly Heard[], lies: number, mended = 0): Heard => ({
  lies,
  mended,
  wrong: all.flatMap(({ wrong }) => wrong),
  witnesses: all.flatMap(({ witnesses }) => witnesses),
  judgedAgain: all.reduce((sum, { judgedAgain }) => sum + judgedAgain, 0),
});

async function anHonestOne(
  court: Court,
  kind: Honest,
  names: readonly ProjectName[],
): Promise<Heard> {
  const all: Heard[] = [];
  for (const name of names) {
    const { trial, wrong } = await tryHonest(court, kind, name);
    all.push(heardOf(kind, name, trial, wrong));
  }
  return together(all, 0);
}

// ── together ───────────────────────────────────────────────────────────────────────────────────

/** Two kinds in one agent: what the first leaves is what the second begins with. */
function joined<T extends Kind>(first: Kind, second: T, project: ProjectName): T | undefined {
  const clash = (["result", "script", "after", "base"] as const).some(
    (key) => first[key] !== undefined && second[key] !== undefined,
  );
  // What comes after the result relies on a result that is there, and who says so has to say it.
  const unsaid = (first.told && second.silent) || (second.told && first.silent);
  if (clash || unsaid || (first.after ?? second.after) !== undefined) return undefined;
  const both = {
    ...first,
    ...second,
    name: `${first.name} + ${second.name}`,
    joined: true,
    projects: [project],
    tree: (tree, on) => {
      const left = first.tree ? first.tree(tree, on) : tree;
      return second.tree ? second.tree(left, on) : left;
    },
  } satisfies Kind as T;
  try {
    treesOf(both, projectFor(both));
    return both;
  } catch (error) {
    if (error instanceof DoesNotFit) return undefined;
    throw error;
  }
}

/** Draws until two go together. */
function pair<F extends Kind, S extends Kind>(
  draw: Random,
  firsts: readonly F[],
  seconds: readonly S[],
): { readonly both: S; readonly first: F; readonly second: S } {
  for (;;) {
    const [first, second] = [one(draw, firsts), one(draw, seconds)];
    const shared = present(second).filter((name) => present(first).includes(name));
    if (first.name === second.name || shared.length === 0) continue;
    const both = joined(first, second, one(draw, shared));
    if (both) return { both, first, second };
  }
}

async function twoAtOnce(court: Court, draw: Random): Promise<Heard> {
  const { both, first, second } = pair(draw, tellable, tellable);
  const { expect } = first;
  const liar: Liar = {
    ...both,
    isRightOtherwise: isRightOtherwise(first) && isRightOtherwise(second),
    expect: {
      codes: [...expect.codes, ...second.expect.codes],
      errors: [...(expect.errors ?? []), ...(second.expect.errors ?? [])],
    },
  };
  return { ...(await aLie(court, liar, present(liar))), lies: 2 };
}

const habits = honestKinds.filter(
  ({ base, first, lands }) => base === undefined && first === undefined && lands === undefined,
);

function aLieAmongHabits(court: Court, draw: Random): Promise<Heard> {
  const { both, second } = pair(draw, habits, tellable);
  const liar = { ...both, isRightOtherwise: isRightOtherwise(second) };
  return aLie(court, liar, present(liar));
}

function twoHabits(court: Court, draw: Random): Promise<Heard> {
  const { both } = pair(draw, habits, habits);
  return anHonestOne(court, both, present(both));
}

/** A lie, and when it was told what is wrong, the work. */
async function mendedLater(court: Court, draw: Random): Promise<Heard> {
  const liar = one(
    draw,
    tellable.filter(
      ({ base, lasting, expect }) => !base && !lasting && expect.errors === undefined,
    ),
  );
  const name = one(draw, present(liar));
  const project = projectFor(liar, name);
  const two = { ...project, build: { ...project.build, attempts: 2 } };
  const trial = await tryAgent(court, two, [liar, {}]);
  const first = trial.findings.filter(({ attempt }) => attempt === 1);
  const wrong =
    trial.status !== "complete"
      ? `refused: though mended, ${trial.error?.type} ${trial.error?.message}`
      : trial.attempts < 2
        ? "believed"
        : (wrongAboutLiar(liar, {
            ...trial,
            status: "failed",
            landed: undefined,
            findings: first,
          }) ?? wrongAboutBriefs(trial));
  // Two witnesses: the lie, and what plainly mended it.
  const lied = { ...trial, hearings: trial.hearings.slice(0, 1) };
  const mended = { ...trial, hearings: trial.hearings.slice(1) };
  const told = heardOf({ ...liar, name: `${liar.name}, mended later` }, name, lied, wrong, liar);
  return together([told, heardOf(plain, name, mended, undefined)], 1, 1);
}

const plain: Honest = { name: "plain", what: "What an honest agent does." };

function aCrowd(court: Court, draw: Random): Promise<Heard> {
  const crowds = crowdsOf(draw.shuffled(tellable), draw.between(3, 6));
  return allOf(court, one(draw, crowds));
}

async function allOf(court: Court, crowd: Crowd): Promise<Heard> {
  const verdicts = await tryCrowd(court, crowd);
  const all = crowd.liars.flatMap((liar, at) => {
    const { trial, wrong } = verdicts[at] ?? {};
    return trial ? [heardOf(liar, crowd.project, trial, wrong, liar)] : [];
  });
  return together(all, crowd.liars.length);
}
