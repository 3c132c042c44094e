/**
 * kill -9 at exact writes of a small run: at those of the product itself, and at those of every git
 * that it starts, alone or together with the product. What the journal names has to be in the
 * repository at once, before anything is mended; and the same command again has to come to the end
 * of a run that nothing disturbed.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  type Context,
  compileNative,
  freshFolder,
  inParallel,
  judged,
  noCompiler,
  type Outcome,
  type Plant,
  type Row,
  skipped,
} from "./rig.ts";
import {
  buildProgram,
  copyOf,
  differences,
  type End,
  type Ended,
  fsck,
  how,
  isIt,
  judgeEnd,
  makeTemplate,
  phantoms,
  readLog,
  type Scenario,
  type Site,
  startBuild,
  type Template,
  two,
} from "./run-rig.ts";

export const runKills: Row = {
  name: "run-kills",
  promise: "journal and git never contradict each other, whichever write of a run is the last",
  budgetSeconds: { ci: 15, full: 1200 },
  run: (context) => killAll(context),
};

/** Of all three kinds together. */
const killsInCi = 6;
/** In the full tier every so manieth write, of its own and of git's: a run makes hundreds. */
const strides: Record<Who, number> = { product: 2, git: 4, both: 8 };
/** The modes besides `auto` get so many times fewer. */
const strideOfOthers = 6;

export interface RunKillOptions {
  readonly plant?: Plant;
  readonly kills?: number;
  readonly who?: Who;
  /** What a planted bug is told by; other failures are not it. */
  readonly seen?: RegExp;
}

export async function killAll(context: Context, options: RunKillOptions = {}): Promise<Outcome> {
  const shim = await compileNative("inject");
  if (shim === undefined) return skipped(noCompiler);
  const scratch = freshFolder(context.scratch, "kills");
  const bench: Bench = { scratch, shim, program: await buildProgram(options.plant) };
  const modes = context.tier === "full" && !options.plant ? allModes : (["auto"] as const);
  const models: Model[] = [];
  for (const mode of modes) {
    const model = await modelOf(bench, two(mode));
    if (typeof model === "string") return judged({}, [model]);
    models.push(model);
  }
  const all = models.flatMap((model, index) => faultsOf(model, index > 0 ? strideOfOthers : 1));
  const chosen = choose(all, context, options);
  const [first] = models;
  context.note(
    `${first?.writes.product} writes of its own, ${first?.writes.git} of its gits; ${chosen.length} of ${all.length} kills`,
  );

  const figures = {
    kills: 0,
    "never killed": 0,
    "phantom shas": 0,
    "doubled commits": 0,
    "other ends": 0,
  };
  const failures: string[] = [];
  await inParallel(chosen, async (fault) => {
    // A planted bug is found once.
    if (options.plant && failures.some((each) => isIt(each, options.seen))) return;
    const killed = await killOnce(bench, fault);
    figures[killed.happened ? "kills" : "never killed"]++;
    figures["phantom shas"] += killed.phantoms.length;
    figures["doubled commits"] += killed.doubled;
    if (killed.after.length > 0) figures["other ends"]++;
    const wrong = [...killed.phantoms, ...killed.unsound, ...killed.after];
    if (wrong.length === 0) return;
    failures.push(
      `killed ${describe(fault)}: ${wrong.join("; ")}; to see it again: ${again(context, runKills.name, nameOf(fault))}`,
    );
  });
  return judged(figures, failures);
}

// ── what can be killed ─────────────────────────────────────────────────────────────────────────

export interface Bench {
  readonly scratch: string;
  readonly shim: string;
  readonly program: string;
}

/** The product itself, a git of its, or that git and the product with it. */
export type Who = "product" | "git" | "both";
const everybody: readonly Who[] = ["product", "git", "both"];
const allModes = ["auto", "message-only", "single"] as const;

/** What the shim is told for one run. */
export function injected(
  { shim, scratch }: Bench,
  site: Site,
  orders: { who: Who; at?: number; mode?: string; log?: string },
): Record<string, string> {
  const { who, at, mode, log } = orders;
  const counter = path.join(scratch, `${path.basename(site.folder)}.count`);
  fs.rmSync(counter, { force: true });
  return {
    LD_PRELOAD: shim,
    FI_ROOT: site.folder,
    ...(who !== "product" && { FI_PROGRAM: "git", FI_COUNTER: counter }),
    ...(who === "both" && { FI_ABOVE: "1" }),
    ...(at !== undefined && { FI_AT: String(at) }),
    ...(mode !== undefined && { FI_MODE: mode }),
    ...(log !== undefined && { FI_LOG: log }),
  };
}

export interface Model {
  readonly template: Template;
  readonly end: End;
  readonly writes: { readonly product: number; readonly git: number };
  /** Without the shim. */
  readonly ms: number;
}

/** Undisturbed, and counted; a string says why that is not possible. */
export async function modelOf(
  bench: Bench,
  scenario: Scenario,
  places: { readonly template: string; readonly runs: string } = {
    template: bench.scratch,
    runs: bench.scratch,
  },
): Promise<Model | string> {
  const { program } = bench;
  const name = `${scenario.name}-template`;
  const template = await makeTemplate(program, path.join(places.template, name), scenario);
  const once = async (
    who?: Who,
  ): Promise<{ ended: Ended; site: Site; writes: number; ms: number }> => {
    const site = copyOf(template, path.join(places.runs, `${scenario.name}-${who ?? "model"}`));
    const log = path.join(bench.scratch, `${scenario.name}-${who ?? "model"}.log`);
    fs.writeFileSync(log, "");
    const build = startBuild(program, site, template, who && injected(bench, site, { who, log }));
    const ended = await build.ended;
    const writes = fs.readFileSync(log, "utf8").split("\n").length - 1;
    return { ended, site, writes, ms: build.elapsedMs() };
  };
  const { ended, site, ms } = await once();
  const { end, wrong } = await judgeEnd(program, site, template, ended);
  if (wrong.length > 0) return `${scenario.name}, undisturbed: ${wrong.join("; ")}`;
  const [product, git] = [await once("product"), await once("git")];
  for (const counted of [product, git]) {
    if (counted.ended.code !== 0 || counted.writes === 0)
      return `${scenario.name}, counted: ${how(counted.ended)}`;
  }
  for (const each of [site, product.site, git.site])
    fs.rmSync(each.folder, { recursive: true, force: true });
  return { template, end, writes: { product: product.writes, git: git.writes }, ms };
}

const ways = ["before", "after", "half", "one"] as const;

interface Fault {
  readonly model: Model;
  readonly who: Who;
  readonly number: number;
  readonly way: (typeof ways)[number];
}

const nameOf = ({ model, who, number, way }: Fault): string =>
  `${model.template.scenario.name}-${who}-${number}-${way}`;

const describe = ({ model, who, number, way }: Fault): string => {
  const whom = { product: "itself", git: "git", both: "git and itself" }[who];
  const when = { before: "before", after: "after", half: "half way through", one: "one byte into" };
  return `${whom} ${when[way]} write ${number} (${model.template.scenario.mode})`;
};

/** In which of its ways a write is killed turns with its number. */
const faultsOf = (model: Model, times: number): Fault[] =>
  everybody.flatMap((who) =>
    Array.from({ length: model.writes[who === "product" ? "product" : "git"] }, (_, index) => ({
      model,
      who,
      number: index + 1,
      way: ways[(index + Math.floor(index / 4)) % ways.length] ?? "before",
    })).filter(({ number }) => number % (strides[who] * times) === 0),
  );

/** In the full tier all that are left by the strides; else so many, from beginning to end, of each kind as many. */
function choose(
  all: readonly Fault[],
  { tier, seed, onlyCase }: Context,
  { kills, who }: RunKillOptions,
): Fault[] {
  if (onlyCase !== undefined) return all.filter((fault) => nameOf(fault) === onlyCase);
  if (tier === "full" && kills === undefined) return [...all];
  const kinds = everybody.filter((each) => who === undefined || each === who);
  const each = (kills ?? killsInCi) / kinds.length;
  return kinds.flatMap((kind, turn) => {
    const those = all.filter((fault) => fault.who === kind);
    const count = Math.floor(each * (turn + 1)) - Math.floor(each * turn);
    const step = those.length / count;
    return Array.from({ length: count }, (_, index) => {
      const at = Math.floor((index + ((seed * 0.618) % 1)) * step);
      return those[Math.min(at, those.length - 1)] as Fault;
    });
  });
}

// ── one kill ───────────────────────────────────────────────────────────────────────────────────

interface Killed {
  readonly happened: boolean;
  readonly phantoms: string[];
  readonly unsound: string[];
  readonly after: string[];
  readonly doubled: number;
}

async function killOnce(bench: Bench, fault: Fault): Promise<Killed> {
  const { model, who, number, way } = fault;
  const { program, scratch } = bench;
  const site = copyOf(model.template, path.join(scratch, nameOf(fault)));
  try {
    const orders = injected(bench, site, { who, at: number, mode: way });
    const killed = await startBuild(program, site, model.template, orders).ended;
    // A git that is killed alone is told of, and the run ends; or it was not needed that much.
    const happened = who === "git" ? countedIn(orders) >= number : killed.signal === "SIGKILL";
    const found = await contradictions(program, site);
    // Whoever loses a git may try once more, and say so.
    const { wrong, doubled } = await goOn(program, site, model, { anyAttempt: who === "git" });
    return { happened, ...found, after: wrong, doubled };
  } finally {
    fs.rmSync(site.folder, { recursive: true, force: true });
  }
}

const countedIn = ({ FI_COUNTER }: Record<string, string>): number => {
  const bytes = FI_COUNTER === undefined ? undefined : fs.readFileSync(FI_COUNTER);
  return bytes && bytes.length >= 8 ? Number(bytes.readBigInt64LE()) : 0;
};

/**
 * Git makes a work tree step by step; one that is half made is to be mended, and no object is the
 * worse for it. (At the last of these wordings git looks no further; when all is done it does.)
 */
const halfMade =
  /^(?:(?:error|notice): worktrees\/r[0-9a-f]{10}-[^/]+\/HEAD:? (?:detached HEAD points at nothing|points to an unborn branch .*)|error: invalid worktrees\/r[0-9a-f]{10}-[^/]+\/HEAD|fatal: failed to read \S*worktrees\/r[0-9a-f]{10}-[^/]+\/commondir: .*)$/;

/** Before anything is mended. */
export async function contradictions(
  program: string,
  site: Site,
): Promise<{ phantoms: string[]; unsound: string[] }> {
  const log = await readLog(program, site);
  const unsound = fsck(site, halfMade).map((line) => `before resuming: ${line}`);
  if (typeof log === "string") return { phantoms: [], unsound: [...unsound, log] };
  return { phantoms: phantoms(site, log), unsound };
}

/** The same command again, to its end. */
export async function goOn(
  program: string,
  site: Site,
  { template, end }: Model,
  options: { readonly anyAttempt: boolean } = { anyAttempt: false },
): Promise<{ wrong: string[]; doubled: number }> {
  const last = await startBuild(program, site, template).ended;
  if (last.code !== 0) return { wrong: [`the same command again: ${how(last)}`], doubled: 0 };
  const { end: got, wrong, doubled } = await judgeEnd(program, site, template, last);
  const seen = (each: End): End => (options.anyAttempt ? withoutAttempts(each) : each);
  return { wrong: [...wrong, ...differences(seen(got), seen(end))], doubled };
}

const withoutAttempts = (end: End): End => ({
  ...end,
  records: end.records.replace(/"attempt": \d+/g, '"attempt": <number>'),
});
