/**
 * A run that was begun elsewhere, opened here: by whoever drives it now, or by whoever does a part of
 * it. Nothing is chosen or asked again; what is under way is with others, and stays there.
 */
import { currentRun } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { runPhases } from "../core/plan/run-phases.ts";
import { openGit } from "../git/call.ts";
import { anchor } from "./find-ground.ts";
import { findSandbox } from "./find-sandbox.ts";
import { movedMeanwhile, notFollowed } from "./follow-target.ts";
import { allTriedAgain } from "./hear.ts";
import type { Held, Project } from "./hold.ts";
import { mostStarters, type OpenedRun, recordResumption, trustedAlong } from "./open-run.ts";
import {
  approved,
  type BuildWorld,
  castOf,
  commandsIn,
  type Opening,
  openSite,
} from "./open-site.ts";
import { checkFolders, foldersOf } from "./run-site.ts";
import { recordRun } from "./show-run.ts";
import { type BuildOptions, choosePhases, type Intended, stackAt } from "./start-run.ts";

/** `drives`: it had come to a rest, and goes on now; else it is only looked at. */
export const joinRun =
  (role: "drives" | "works") =>
  async (
    project: Project,
    held: Held,
    intended: Intended,
    options: BuildOptions,
    world: BuildWorld,
  ): Promise<Result<OpenedRun>> => {
    const { repository } = project;
    if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
    const place = { ...repository, workTree: repository.root };
    const git = world.git ?? openGit(place, { starters: mostStarters });
    const folders = foldersOf(project.root, git.place.commonDir, world.cache);
    const safe = checkFolders(project.root, folders);
    if (!safe.ok) return safe;
    const opening: Opening = { project, held, git, intended, options, world, said: [] };
    const before = currentRun(held.state);
    if (!before) return fail("not-found", `there is no run in ${project.root}`);
    const phases = runPhases(intended.opened.compiled, project.world.hash);
    const only = choosePhases(options, phases, intended.opened.compiled, before);
    if (!only.ok) return only;
    const cast = await castOf(opening, before.order, before);
    if (!cast.ok) return cast;
    // Whoever only drives starts no agent: what this machine could confine is of no matter.
    const wish = role === "works" ? options : { ...options, sandbox: "off" as const };
    const sandbox = await findSandbox(wish, intended.settings, cast.value.all);
    if (!sandbox.ok) return sandbox;
    const rests = role === "drives" && before.ended !== undefined;
    const moved = rests ? await movedMeanwhile(git, before) : undefined;
    const commit = moved ?? before.tip;
    const stack = await stackAt(git, commit, intended.settings);
    if (!stack.ok) return stack;
    const what = { commit, ...commandsIn(stack.value), agents: cast.value.all };
    const known = await trustedAlong(opening, before, cast.value.all, moved);
    if (!known.ok) return known;
    const { verified, other } = known.value;
    const approval = await approved(opening, what, verified);
    if (!approval.ok) {
      const isTheirs = approval.failure.code === "untrusted" && other !== undefined;
      return isTheirs ? notFollowed(before, commit, other) : approval;
    }
    const found = { cast: cast.value, stack: stack.value, moved, other };
    const again = allTriedAgain(before, role === "drives" ? (options.retries ?? []) : [], world.by);
    // It has come further meanwhile: no reason for the rest of it not to go on.
    opening.said.push(...again.nothing);
    const tried = again.events;
    if (rests || tried.length > 0) {
      const recorded = rests
        ? await recordResumption(opening, before, [[], tried], found)
        : await recordRun(held, before.id, tried);
      if (!recorded.ok) return recorded;
      const run = currentRun(held.state);
      if (run) for (const event of recorded.value) world.onEvent(event, run);
    }
    if (role === "drives") {
      const anchored = await anchor(git, before.id, commit);
      if (!anchored.ok) return anchored;
    }
    const confined = { sandbox: sandbox.value, isElsewhere: role === "drives" };
    const all = { ...found, approval: approval.value, ...confined };
    const site = await openSite(opening, before.id, all, only.value);
    return site.ok ? succeed({ is: "ready", site: site.value, said: opening.said }) : site;
  };
