/** What a build of a plan would run, and whether that is trusted: looked at, granted, taken back. */
import { currentRun } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { runPhases } from "../core/plan/run-phases.ts";
import type { Surface } from "../core/trust.ts";
import { openGit } from "../git/call.ts";
import { commitAt } from "../git/objects.ts";
import { surfaceHash, type TrustPlace, type TrustState, trustState } from "../trust.ts";
import { partsOf, surfaceFor } from "./approve.ts";
import { chooseCast, machineOf } from "./choose-cast.ts";
import { movedMeanwhile } from "./follow-target.ts";
import { type Project, readState } from "./hold.ts";
import { type BuildOptions, intend, stackAt } from "./start-run.ts";

export interface PlanTrust {
  readonly plan: string;
  readonly surface: Surface;
  /** Of its parts that may be run alone. */
  readonly also: readonly string[];
  readonly hash: string;
  readonly state: TrustState;
}

export async function trustOfPlan(
  project: Project,
  cwd: string,
  options: BuildOptions,
  place: TrustPlace,
): Promise<Result<PlanTrust>> {
  const intended = intend(project.root, cwd, options);
  if (!intended.ok) return intended;
  const { settings, opened, plan } = intended.value;
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const state = readState(project);
  if (!state.ok) return state;
  const git = openGit({ ...repository, workTree: repository.root });
  const run = currentRun(state.value);
  const commit =
    run?.plan === plan
      ? ((await movedMeanwhile(git, run)) ?? run.tip)
      : await commitAt(git, "HEAD");
  if (commit === undefined) return fail("no-commits", "the repository has no commit yet");
  const phases = runPhases(opened.compiled, project.world.hash);
  const { compiled } = opened;
  const machine = machineOf(project.root);
  const known = run?.plan === plan ? run : undefined;
  const cast = await chooseCast({ options, settings, compiled, phases, run: known, machine });
  // Whoever comes for work may be the only one there is: what the gates run is approved all the same.
  if (!cast.ok && (cast.failure.code !== "no-agent" || options.agent !== undefined)) return cast;
  const stack = await stackAt(git, commit, settings);
  if (!stack.ok) return stack;
  const what = {
    git,
    commit,
    place,
    gates: stack.value.gates,
    ...(stack.value.setup !== undefined && { setup: stack.value.setup }),
    settings,
    agents: cast.ok ? cast.value.all : [],
    phases: cast.ok ? opened.compiled.plan.phases : [],
  };
  const surface = await surfaceFor(what);
  if (!surface.ok) return surface;
  const also = await partsOf(what);
  if (!also.ok) return also;
  const trust = trustState(place, surface.value);
  if (!trust.ok) return trust;
  return succeed({
    plan,
    surface: surface.value,
    also: also.value,
    hash: surfaceHash(surface.value),
    state: trust.value,
  });
}
