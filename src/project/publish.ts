/** What a complete run made, at its remote. */
import {
  type OpenedPullRequest,
  openPullRequest,
  type PullRequestPlace,
  pullRequestPlace,
} from "../activities/open-pull-request.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { type Git, openGit } from "../git/call.ts";
import type { WantedPullRequest } from "../github.ts";
import { noWorkTree, openProject } from "./open.ts";

/** Whether a pull request could be opened: told before anything is spent on a run. */
export async function mayRequestPull(cwd: string): Promise<Result<void>> {
  const place = await pullPlace(cwd);
  return place.ok ? succeed(undefined) : place;
}

/** A complete run at the remote, and one pull request for it. */
export async function requestPull(
  cwd: string,
  run: PlanRun,
  wanted: Omit<WantedPullRequest, "commit">,
): Promise<Result<OpenedPullRequest>> {
  const place = await pullPlace(cwd);
  return place.ok ? openPullRequest(place.value.git, run, place.value, wanted) : place;
}

async function pullPlace(cwd: string): Promise<Result<PullRequestPlace & { git: Git }>> {
  const { repository } = openProject(cwd);
  if (!repository) return noWorkTree(cwd);
  const git = openGit({ ...repository, workTree: repository.root });
  const place = await pullRequestPlace(git, process.env);
  return place.ok ? succeed({ ...place.value, git }) : place;
}
