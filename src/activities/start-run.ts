/**
 * Before the first attempt: what is run, on what, by whom, and whether it may be. Everything that
 * can be refused is refused here, with nothing changed.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Config, readConfig } from "../config.ts";
import type { Cast } from "../core/agent/cast.ts";
import type { SandboxMode } from "../core/agent/sandbox.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import { isComplete, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { CommitMode, Gate, RunEvent, RunPhase, Stack } from "../core/plan/run-event.ts";
import type { Settings } from "../core/settings.ts";
import type { Git } from "../git/call.ts";
import { detectStack, type SettledStack, settled } from "../stack.ts";
import { readingTree } from "./approve.ts";
import type { Ground } from "./find-ground.ts";
import { type OpenPlan, openPlan } from "./plan-files.ts";

export interface BuildOptions {
  readonly plan: string;
  readonly commit?: CommitMode;
  readonly resume?: boolean;
  readonly fresh?: boolean;
  readonly agent?: string;
  readonly jobs?: number;
  readonly from?: string;
  readonly only?: readonly string[];
  readonly branch?: string;
  readonly review?: boolean;
  readonly attempts?: number;
  readonly attemptMinutes?: number;
  readonly gateMinutes?: number;
  readonly wait?: boolean;
  readonly idleMinutes?: number;
  readonly trustSha256?: string;
  readonly sandbox?: SandboxMode;
  /** The step of a flow whose tasks these are. */
  readonly under?: string;
  /** What is to be tried again. */
  readonly retries?: readonly Retry[];
}

/** Which phase, and what is to be minded. */
export interface Retry {
  readonly phase: string;
  readonly note?: string;
}

/** What is known of a build before anything is written. */
export interface Intended {
  readonly settings: Config;
  /** From the root, with slashes; outside the repository: absolute. */
  readonly plan: string;
  readonly outside: boolean;
  readonly opened: OpenPlan;
  readonly mode: CommitMode | undefined;
}

export function intend(root: string, cwd: string, options: BuildOptions): Result<Intended> {
  const config = readConfig(root);
  if (!config.ok) return config;
  const full = realPath(path.resolve(cwd, options.plan));
  const relative = path.relative(realPath(root), full);
  const named = path.relative(path.resolve(root), path.resolve(cwd, options.plan));
  const outside = relative === "" || relative.startsWith("..") || path.isAbsolute(relative);
  if (outside && !named.startsWith("..") && !path.isAbsolute(named)) {
    return fail("usage", `${options.plan} is a link that leads out of the repository, to ${full}`, {
      file: options.plan,
      hint: `autodev build ${full}, if that is the plan you mean`,
    });
  }
  const plan = outside ? full : relative.split(path.sep).join("/");
  const opened = openPlan(root, plan);
  if (!opened.ok) return opened;
  const { errors } = opened.value.compiled;
  if (errors.length > 0) {
    return fail(
      "plan-invalid",
      `${plan} cannot be run: ${errors.length} ${errors.length === 1 ? "error" : "errors"}`,
      {
        file: plan,
        ...(errors[0] && { line: errors[0].line }),
        details: errors
          .slice(0, 20)
          .map(({ file, line, message }) => `${file}:${line}: ${message}`),
        hint: `autodev plan check ${plan}`,
      },
    );
  }
  const mode = options.commit ?? config.value.build?.commit;
  return succeed({ settings: config.value, plan, outside, opened: opened.value, mode });
}

export const realPath = (file: string): string => {
  try {
    return fs.realpathSync(file);
  } catch {
    return file;
  }
};

const modesExplained: readonly string[] = [
  "How shall the phases be committed?",
  "  --commit=auto          each verified phase becomes a commit on your branch",
  "  --commit=message-only  your files change, your branch does not; .autobuild/commits.sh commits (recommended)",
  "  --commit=single        one commit at the end, when everything is complete",
];

export const noMode = (): ReturnType<typeof fail> =>
  fail("usage", "no commit mode was chosen", {
    details: modesExplained,
    hint: "add --commit=message-only, or build.commit to .autodev/config.yaml",
  });

// ── gates and agents ───────────────────────────────────────────────────────────────────────────

export type FoundStack = SettledStack;

/** What the tree of a commit is built with and checked by, with what people settled about it. */
export async function stackAt(
  git: Git,
  commit: string,
  settings: Settings,
): Promise<Result<FoundStack>> {
  const detected = await readingTree(git, commit, (paths, read) =>
    detectStack(paths, (path) => read(path)?.toString("utf8")),
  );
  return detected.ok ? succeed(settled(detected.value, settings)) : detected;
}

/** Undefined: all of them. What the chosen ones wait for must be done, or be chosen too. */
export function choosePhases(
  options: BuildOptions,
  phases: readonly RunPhase[],
  compiled: CompiledPlan,
  run: PlanRun | undefined,
): Result<ReadonlySet<string> | undefined> {
  const wanted = options.only ?? (options.from === undefined ? undefined : [options.from]);
  if (wanted === undefined) return succeed(undefined);
  const chosen = new Set<string>();
  for (const name of wanted) {
    const phase = phaseNamed(compiled.plan, name);
    if (!phase) {
      return fail("usage", `there is no phase ${name} in ${compiled.plan.files[0] ?? "the plan"}`, {
        hint: `it has ${phases.map((each) => each.written).join(", ")}`,
      });
    }
    chosen.add(phase.id);
  }
  if (options.from !== undefined && !options.only) {
    const start = phases.findIndex(({ id }) => chosen.has(id));
    for (const { id } of phases.slice(start)) chosen.add(id);
  }
  for (const { id, written, dependsOn, skipped } of phases) {
    if (!chosen.has(id) || skipped !== undefined) continue;
    const unmet = dependsOn.filter((need) => !chosen.has(need) && !isDone(run, phases, need));
    if (unmet.length > 0) {
      return fail(
        "usage",
        `phase ${written} waits for ${unmet.join(", ")}, which is not complete`,
        {
          hint: `--only ${[...unmet, ...wanted].join(" ")}`,
        },
      );
    }
  }
  return succeed(chosen);
}

function isDone(run: PlanRun | undefined, phases: readonly RunPhase[], id: string): boolean {
  const state = run && phaseOf(run, id);
  if (state) return isComplete(state);
  return phases.find((phase) => phase.id === id)?.skipped !== undefined;
}

export const runStarted = (start: {
  readonly intended: Intended;
  readonly mode: CommitMode;
  readonly cast: Cast;
  readonly attempts: number;
  readonly stack: Stack;
  readonly gates: readonly Gate[];
  readonly phases: readonly RunPhase[];
  readonly ground: Ground;
  readonly under: string | undefined;
  readonly review: boolean;
}): Extract<RunEvent, { type: "run-started" }> => {
  const { intended, mode, cast, attempts, stack, gates, phases, ground, under } = start;
  const { compiled, sources } = intended.opened;
  const outside = Object.keys(ground.planFiles).length === 0;
  return {
    type: "run-started",
    plan: intended.plan,
    format: compiled.plan.format,
    title: titleOf(sources[0]?.text ?? "", intended.plan),
    mode,
    target: ground.target,
    targetAt: ground.targetAt,
    base: ground.base,
    agent: cast.usual,
    ...(cast.forced !== undefined && { forced: true as const }),
    maxAttempts: attempts,
    stack,
    gates: [...gates],
    phases: [...phases],
    planFiles: ground.planFiles,
    ...(outside && { planOutside: true }),
    ...(under !== undefined && { under }),
    ...(start.review && { review: true as const }),
  };
};

const titleOf = (text: string, file: string): string =>
  /^#[ \t]+(\S.*?)[ \t#]*$/m.exec(text)?.[1]?.slice(0, 100) ?? path.basename(file);
