/**
 * Agents that lie, alone, two lies at once, many in one run, and agents that are only clumsy. Who
 * lies is never believed, and what was wrong is called by its name; whoever was told and mends it
 * is accepted; who did the work is accepted however it went about it.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
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
import { type Court, openCourt, tryAgent } from "./liars/trial.ts";
import {
  again,
  type Context,
  ending,
  inParallel,
  judged,
  type Outcome,
  type Random,
  type Row,
  randomFrom,
  repositoryRoot,
  run,
} from "./rig.ts";

export const liars: Row = {
  name: "liars",
  promise: "no lie of an agent is believed, each is called by its name, and no honest work refused",
  budgetSeconds: { ci: 60, full: 3600 },
  run: hearAll,
};

const runs = { ci: 8, full: 1000 };

interface Figures {
  runs: number;
  lies: number;
  believed: number;
  mended: number;
  honest: number;
  refused: number;
}

async function hearAll(context: Context): Promise<Outcome> {
  const court = openCourt(await ownProgram(context.scratch), context.scratch);
  const figures: Figures = { runs: 0, lies: 0, believed: 0, mended: 0, honest: 0, refused: 0 };
  const failures: string[] = [];
  const numbers = Array.from({ length: runs[context.tier] }, (_, at) => String(at));
  const cases = context.onlyCase === undefined ? numbers : [context.onlyCase];
  await inParallel(cases, async (name) => {
    if (failures.length >= 30) return;
    const heard = await hear(court, name, context.seed);
    figures.runs++;
    figures.lies += heard.lies;
    figures.honest += heard.honest;
    figures.mended += heard.mended;
    if (figures.runs % 50 === 0) context.note(`${figures.runs} runs, ${failures.length} wrong`);
    for (const wrong of heard.wrong) {
      if (wrong.includes(": believed")) figures.believed++;
      if (wrong.includes(": refused")) figures.refused++;
      failures.push(`${wrong}; ${again(context, liars.name, name)}`);
      context.note(`${name}: ${wrong}`);
    }
  });
  return judged({ ...figures }, failures);
}

interface Heard {
  readonly lies: number;
  readonly honest: number;
  readonly mended: number;
  readonly wrong: readonly string[];
}

/** A case is a number that a seed makes something of, or the name of one kind. */
async function hear(court: Court, name: string, seed: number): Promise<Heard> {
  const number = Number(name);
  if (Number.isInteger(number))
    return forms[number % forms.length]?.(court, randomFrom(seed, number)) ?? none;
  const liar = kinds.find((kind) => kind.name === name);
  if (liar) return aLie(court, liar, projectsOf(liar));
  const honest = honestKinds.find((kind) => kind.name === name);
  if (honest) return anHonestOne(court, honest, projectsOf(honest));
  throw new Error(`there is no kind ${name}`);
}

const none: Heard = { lies: 0, honest: 0, mended: 0, wrong: [] };

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
  const wrong: string[] = [];
  for (const name of names) {
    const verdict = await tryLiar(court, liar, name);
    if (verdict.wrong !== undefined) wrong.push(`${liar.name} in ${name}: ${verdict.wrong}`);
  }
  return { ...none, lies: names.length, wrong };
}

async function anHonestOne(
  court: Court,
  kind: Honest,
  names: readonly ProjectName[],
): Promise<Heard> {
  const wrong: string[] = [];
  for (const name of names) {
    const verdict = await tryHonest(court, kind, name);
    if (verdict.wrong !== undefined) wrong.push(`${kind.name} in ${name}: ${verdict.wrong}`);
  }
  return { ...none, honest: names.length, wrong };
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
  const said = wrong === undefined ? [] : [`${liar.name} in ${name}, mended later: ${wrong}`];
  return { lies: 1, honest: 1, mended: 1, wrong: said };
}

async function aCrowd(court: Court, draw: Random): Promise<Heard> {
  const crowds = crowdsOf(draw.shuffled(tellable), draw.between(3, 6));
  const crowd = one(draw, crowds);
  const verdicts = await tryCrowd(court, crowd);
  const wrong = verdicts.flatMap((verdict, at) =>
    verdict.wrong === undefined
      ? []
      : [`${crowd.liars[at]?.name} in ${crowd.project}, in a crowd: ${verdict.wrong}`],
  );
  return { ...none, lies: crowd.liars.length, wrong };
}

/** The shipped program as it is now: nobody's rebuild disturbs us. */
async function ownProgram(scratch: string): Promise<string> {
  const given = process.env["AUTODEV_TEST_BINARY"];
  if (given) return given;
  const root = repositoryRoot();
  const built = await run([process.execPath, "scripts/build.mjs", "--cli-only"], { cwd: root });
  if (built.code !== 0) throw new Error(`the program cannot be built: ${ending(built)}`);
  const copy = path.join(scratch, "cli");
  fs.cpSync(path.join(root, "dist", "cli"), copy, { recursive: true });
  return path.join(copy, "main.cjs");
}
