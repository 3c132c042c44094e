/**
 * A complete run's commits at the remote, and one pull request for them. Nothing of it is on record:
 * what the remote says is the truth about it, so that it can be done again from any clone.
 */
import { fail, type Result, succeed } from "../core/failure.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { repositoryIn } from "../core/pull-request.ts";
import type { Git } from "../git/call.ts";
import { pushBranch, pushRefs, type Remote, remoteUrl } from "../git/push.ts";
import {
  defaultBranch,
  ensurePullRequest,
  type GitHubPlace,
  type PullRequest,
  type WantedPullRequest,
} from "../github.ts";
import { maskSecrets, shown } from "../safe-text.ts";
import { evidenceRef } from "./evidence.ts";

export interface PullRequestPlace {
  readonly github: GitHubPlace;
  readonly remote: Remote;
}

export interface OpenedPullRequest extends PullRequest {
  readonly branch: string;
  readonly into: string;
  /** What did not work and does not matter much. */
  readonly said: readonly string[];
}

/** From where and with what; told before anything is spent on a run. */
export async function pullRequestPlace(
  git: Git,
  env: NodeJS.ProcessEnv,
): Promise<Result<PullRequestPlace>> {
  const token = env["GITHUB_TOKEN"] || env["GH_TOKEN"];
  if (!token) {
    return fail("usage", "--pr needs a token of GitHub's, and GITHUB_TOKEN is not set", {
      hint: 'GITHUB_TOKEN="$(gh auth token)" autodev build …',
    });
  }
  const url = await remoteUrl(git, "origin");
  if (url === undefined) {
    return fail("usage", "--pr needs a remote called origin, and there is none", {
      hint: "git remote add origin <url>",
    });
  }
  const seen = repositoryIn(url);
  const repository = env["GITHUB_REPOSITORY"] || seen?.repository;
  const server = (env["GITHUB_SERVER_URL"] || "https://github.com").replace(/\/$/, "");
  const api = env["GITHUB_API_URL"] || "https://api.github.com";
  const named = maskSecrets(shown(url), [token]);
  if (!repository || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    return fail("usage", `${named} is no repository of GitHub's`, {
      hint: "GITHUB_REPOSITORY=owner/name says which it is",
    });
  }
  // What stands in `.git/config` is easily changed, and a token is not sent wherever that says.
  if (seen && (seen.repository !== repository || `https://${seen.host}` !== server)) {
    return fail("usage", `origin is ${named}, and not ${repository} of ${server}`, {
      hint: "GITHUB_SERVER_URL and GITHUB_API_URL name a server that is not github.com",
    });
  }
  return succeed({
    github: { api, repository, token },
    remote: { url, login: { server, token } },
  });
}

export async function openPullRequest(
  git: Git,
  run: PlanRun,
  { github, remote }: PullRequestPlace,
  wanted: Omit<WantedPullRequest, "commit">,
): Promise<Result<OpenedPullRequest>> {
  const { branch } = wanted;
  const known = wanted.into === undefined ? await defaultBranch(github) : succeed(wanted.into);
  if (!known.ok) return known;
  const into = known.value;
  if (branch === into) {
    return fail("usage", `a pull request from ${branch} into itself cannot be`, {
      hint: "--branch names the branch it comes from, --into the one it goes into",
    });
  }
  const commit = run.squash ?? run.tip;
  const pushed = await pushBranch(git, remote, branch, commit);
  if (!pushed.ok) return pushed;
  const receipts = await pushRefs(git, remote, receiptsOf(run));
  const opened = await ensurePullRequest(github, { ...wanted, into, commit });
  if (!opened.ok) return opened;
  const said = receipts.ok ? [] : [`receipts were not pushed: ${receipts.failure.message}`];
  return succeed({ ...opened.value, branch, into, said });
}

/** With them `autodev audit` works in every clone. */
const receiptsOf = (run: PlanRun): string[] =>
  run.landed.flatMap(({ phase }) => {
    const state = phaseOf(run, phase)?.state;
    const evidence = state?.is === "landed" ? state.check.evidence : undefined;
    return evidence === undefined ? [] : [evidenceRef(evidence)];
  });
