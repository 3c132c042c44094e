/** What becomes of `--pr` when a run has come to rest. */
import { type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { type OpenedPullRequest, requestPull, shown } from "../project.ts";
import { pullRequestText } from "./render/report.ts";

export type Requested = OpenedPullRequest | { readonly is: "none"; readonly why: string };

/** Only for all of it: what is half done is gone on with, not reviewed. */
export async function requestFor(
  cwd: string,
  run: PlanRun,
  { branch, into }: { readonly branch: string; readonly into?: string | undefined },
): Promise<Result<Requested>> {
  if (run.readiness.complete < run.phases.length)
    return succeed({ is: "none", why: "the run is not complete" });
  if (run.published < run.landed.length)
    return succeed({ is: "none", why: "not everything that landed is published" });
  if (run.landed.length === 0) return succeed({ is: "none", why: "the run made no commit" });
  return requestPull(cwd, run, {
    branch,
    ...(into !== undefined && { into }),
    title: shown(run.title).slice(0, 200),
    text: pullRequestText(run),
  });
}

const words = {
  created: "opened",
  updated: "brought up to date",
  unchanged: "up to date",
  closed: "closed or merged as it is: no other was opened",
} as const;

export const requestedLines = (requested: Requested): string[] =>
  requested.is === "none"
    ? [`no pull request: ${requested.why}`]
    : [
        ...requested.said,
        `pull request ${requested.number} (${requested.branch} → ${requested.into}) is ${words[requested.is]}: ${requested.url}`,
      ].map(shown);
