/** What a build would do, found out without touching anything. */

import type { Cast } from "../core/agent/cast.ts";
import { type Forecast, forecast, pastOf } from "../core/agent/forecast.ts";
import type { Sandbox } from "../core/agent/sandbox.ts";
import { currentRun, type ProjectState } from "../core/evolve.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import { isComplete, phaseOf } from "../core/plan/progress.ts";
import type { Gate, RunPhase, Stack } from "../core/plan/run-event.ts";
import { runPhases } from "../core/plan/run-phases.ts";
import { weightsOf } from "../core/plan/time-left.ts";
import { openGit } from "../git/call.ts";
import { commitAt } from "../git/objects.ts";
import { detectStack } from "../stack.ts";
import { chooseCast, machineOf } from "./choose-cast.ts";
import { findSandbox } from "./find-sandbox.ts";
import { type Project, readState } from "./hold.ts";
import { type BuildOptions, choosePhases, intend, stackAt } from "./start-run.ts";

export interface Preview {
  readonly plan: string;
  readonly mode: string | null;
  readonly agent: string | null;
  /** Why no agent can be chosen yet. */
  readonly agentProblem?: string;
  /** By what the agents would be confined; null: the run would be refused, or has nobody yet. */
  readonly sandbox: Sandbox | null;
  readonly sandboxProblem?: string;
  readonly stack: Stack;
  readonly gates: readonly Gate[];
  readonly compiled: CompiledPlan;
  /** Phases that would run, in order. */
  readonly toRun: readonly string[];
  readonly forecast?: Forecast;
  /** Who does a phase, where it is not the usual agent. */
  readonly by: ReadonlyMap<string, string>;
}

/** What is left of a plan, judged by everything that was done here. */
export function forecastFor(
  state: ProjectState,
  phases: readonly RunPhase[],
  toRun: readonly string[],
): Forecast | undefined {
  const weights = weightsOf({ order: phases });
  const todo = phases.flatMap(({ id }, at) => (toRun.includes(id) ? [weights[at] ?? 1] : []));
  return forecast(todo, Object.values(state.runs ?? {}).flatMap(pastOf));
}

export async function previewBuild(
  project: Project,
  cwd: string,
  options: BuildOptions,
): Promise<Result<Preview>> {
  const intended = intend(project.root, cwd, options);
  if (!intended.ok) return intended;
  const { settings, opened, plan, mode } = intended.value;
  const state = readState(project);
  if (!state.ok) return state;
  const known = currentRun(state.value);
  const run = known?.plan === plan && !options.fresh ? known : undefined;
  const phases = runPhases(opened.compiled, project.world.hash, options.fresh === true);
  const only = choosePhases(options, phases, opened.compiled, run);
  if (!only.ok) return only;
  const { compiled } = opened;
  const machine = machineOf(project.root);
  const cast = await chooseCast({ options, settings, compiled, phases, run, machine });
  const sandbox = cast.ok ? await findSandbox(options, settings, cast.value.all) : undefined;
  const stack = await stackOf(project, settings);
  if (!stack.ok) return stack;
  const toRun = phases
    .filter(({ id, skipped }) => {
      const phase = run && phaseOf(run, id);
      const done = phase ? isComplete(phase) : skipped !== undefined;
      return !done && only.value?.has(id) !== false;
    })
    .map(({ id }) => id);
  const expected = forecastFor(state.value, phases, toRun);
  return succeed({
    plan,
    mode: mode ?? run?.mode ?? null,
    agent: cast.ok ? cast.value.usual : null,
    ...(cast.ok ? {} : { agentProblem: cast.failure.message }),
    sandbox: sandbox?.ok ? sandbox.value : null,
    ...(sandbox?.ok === false && { sandboxProblem: sandbox.failure.message }),
    ...stack.value,
    compiled: opened.compiled,
    toRun,
    by: cast.ok ? elsewhere(cast.value, toRun) : new Map(),
    ...(expected && { forecast: expected }),
  });
}

const elsewhere = (cast: Cast, phases: readonly string[]): Map<string, string> =>
  new Map(
    phases.flatMap((id): [string, string][] => {
      const [agent = cast.usual] = cast.for(id);
      return agent === cast.usual ? [] : [[id, agent]];
    }),
  );

async function stackOf(
  { repository }: Project,
  settings: Parameters<typeof stackAt>[2],
): Promise<Result<{ stack: Stack; gates: readonly Gate[] }>> {
  const git = repository && openGit({ ...repository, workTree: repository.root });
  const head = git && (await commitAt(git, "HEAD"));
  if (!git || head === undefined) {
    return succeed(detectStack([], () => undefined));
  }
  return stackAt(git, head, settings);
}
