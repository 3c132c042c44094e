/**
 * Has an agent do a piece of work that takes seconds, in a repository of its own that is gone
 * afterwards, and looks at what came of it. Nothing of it is believed but what was found.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent, AgentEvent, AgentOutcome } from "../agent.ts";
import type { KnownAgent } from "../core/agent/known.ts";
import {
  isWorking,
  judgeTrial,
  skillsOf,
  type TrialCheck,
  type TrialVerdict,
  trialBrief,
  trialFile,
  trialPlan,
  trialVerdict,
} from "../core/agent/trial.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import { resultSchema } from "../core/plan/result.ts";
import { type Access, sweep } from "../exec.ts";
import type { Git } from "../git/call.ts";
import { removeFolder } from "../git/worktrees.ts";
import { initRepository } from "../git.ts";
import { outOfSight } from "./confinement.ts";
import { openPlan } from "./plan-files.ts";

export interface TrialSite {
  /** New and empty, outside of every project; it is removed at the end. */
  readonly folder: string;
  /** What it begins with: a command of a project's may name files of it. */
  readonly filled?: { readonly git: Git; readonly commit: string };
  /** Places that are not its to write. */
  readonly closed: readonly string[];
  readonly word: string;
  readonly marker: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  emit(event: AgentEvent): void;
}

export interface Tried {
  readonly works: boolean;
  readonly outcome: AgentOutcome["is"];
  readonly checks: readonly TrialCheck[];
  readonly verdict: TrialVerdict;
  readonly milliseconds: number;
  readonly model?: string;
  readonly tokens?: number;
  /** In dollars, where it tells. */
  readonly cost?: number;
}

export type Trialled = {
  readonly name: string;
  readonly known: KnownAgent | undefined;
  make(plan: () => CompiledPlan): Agent;
};

export async function tryAgent(trialled: Trialled, site: TrialSite): Promise<Result<Tried>> {
  try {
    const cwd = path.join(site.folder, "project");
    const scratch = path.join(site.folder, "scratch");
    const laidOut = await layOut(site, cwd, scratch);
    return laidOut.ok
      ? succeed(await attempt(trialled, site, cwd, scratch, laidOut.value))
      : laidOut;
  } finally {
    await removeFolder(site.folder);
  }
}

/** Of a program that cannot be started, without having tried. */
export function notTried({ name, known }: Pick<Trialled, "name" | "known">, why: string): Tried {
  const trouble = { kind: "spawn", message: why } as const;
  const end = { is: "unable", trouble, hint: "autodev agents" } as const;
  const seen = { word: "", content: null, session: false, usage: false, left: 0 };
  const checks = judgeTrial({ end, ...seen, can: skillsOf(known) });
  const verdict = trialVerdict(name, known, end, checks);
  return { works: false, outcome: end.is, checks, verdict, milliseconds: 0 };
}

/** The repository, and beside it the plan that says the same as the brief. */
async function layOut(
  { word, filled }: TrialSite,
  cwd: string,
  scratch: string,
): Promise<Result<CompiledPlan>> {
  for (const folder of [cwd, scratch]) await fs.mkdir(folder, { recursive: true });
  const plan = "self-test-plan.md";
  await fs.writeFile(path.join(scratch, plan), trialPlan(word));
  // Nobody's templates, and so nobody's hooks.
  if (!initRepository(cwd, "--template=", "--initial-branch=main")) {
    return fail("git", `git init does not work in ${cwd}`, { hint: "git --version" });
  }
  if (filled) {
    const git = filled.git.at({ whole: true }, { GIT_INDEX_FILE: path.join(scratch, "index") });
    const checkout = ["checkout-index", "--all", "--quiet", `--prefix=${cwd}/`];
    for (const args of [["read-tree", filled.commit], checkout]) {
      const done = await git.call({ args });
      if (!done.ok) return done;
    }
    // The word is to be this agent's.
    await fs.rm(path.join(cwd, trialFile), { recursive: true, force: true });
  }
  const opened = openPlan(scratch, plan);
  return opened.ok ? succeed(opened.value.compiled) : opened;
}

async function attempt(
  { name, known, make }: Trialled,
  site: TrialSite,
  cwd: string,
  scratch: string,
  plan: CompiledPlan,
): Promise<Tried> {
  const told = {
    session: false,
    usage: false,
    tokens: 0,
    model: "",
    cost: undefined as number | undefined,
  };
  const began = performance.now();
  const result = { schema: resultSchema(), path: path.join(scratch, "result.json") };
  const outcome = await make(() => plan).run(trialBrief(site.word, result), {
    cwd,
    scratch,
    env: {},
    timeoutMs: site.timeoutMs,
    signal: site.signal,
    killNow: site.killNow,
    access: accessOf(site, cwd, scratch),
    marker: site.marker,
    emit(event) {
      if (event.type === "session") {
        told.session = true;
        told.model = event.model ?? told.model;
      }
      if (event.type === "usage") {
        told.usage = true;
        told.tokens += event.tokens;
        if (event.cost !== undefined) told.cost = (told.cost ?? 0) + event.cost;
      }
      site.emit(event);
    },
  });
  const milliseconds = Math.round(performance.now() - began);
  const left = (await sweep(site.marker)) + ((outcome.is === "done" && outcome.left) || 0);
  const checks = judgeTrial({
    end: outcome,
    word: site.word,
    content: await contentOf(path.join(cwd, trialFile)),
    session: told.session,
    usage: told.usage,
    left,
    can: skillsOf(known),
  });
  const model = (outcome.is === "done" && outcome.model) || told.model;
  return {
    works: isWorking(checks),
    outcome: outcome.is,
    checks,
    verdict: trialVerdict(name, known, outcome, checks),
    milliseconds,
    ...(model && { model }),
    ...(told.usage && { tokens: told.tokens }),
    ...(told.cost !== undefined && { cost: told.cost }),
  };
}

/** What it could harm by mistake is closed to it, as in a run. */
const accessOf = ({ closed }: TrialSite, cwd: string, scratch: string): Access[] => [
  ...closed.map((place) => ({ path: place, writable: false })),
  ...[cwd, scratch].map((place) => ({ path: place, writable: true })),
  ...outOfSight(),
];

const mostRead = 64 * 1024;

/** It may have left anything under that name: a link, a pipe, a folder. */
async function contentOf(file: string): Promise<string | null> {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const handle = await fs.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = await handle.stat();
      return stat.isFile() && stat.size <= mostRead ? await handle.readFile("utf8") : "";
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
