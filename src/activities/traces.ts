/** What an agent left behind beside its work: seen right after it has ended, judged later. */
import { type Result, succeed } from "../core/failure.ts";
import type { AgentResult } from "../core/plan/result.ts";
import type { Traces } from "../core/plan/run-event.ts";
import { isPlanFile } from "../core/plan/task-folder.ts";
import { plainPath } from "../core/verification/paths.ts";
import type { Git } from "../git/call.ts";
import { isAncestor, updateRefs } from "../git/objects.ts";
import { ignoredOf } from "../git/user-tree.ts";
import { isOurs, type RunSite } from "./run-site.ts";

/** People's branches, tags, replacements and everything that they have stashed, by name. */
export type Refs = ReadonlyMap<string, string>;

export async function refsOf(git: Git): Promise<Result<Refs>> {
  const kinds = ["refs/heads", "refs/tags", "refs/replace", "refs/stash"];
  const told = await git.call({
    args: ["for-each-ref", "--format=%(objectname) %(refname)", ...kinds],
  });
  if (!told.ok) return told;
  const refs = new Map<string, string>();
  for (const line of told.value.text.split("\n").filter(Boolean)) {
    const [id = "", ref = ""] = line.split(" ");
    if (!ref.startsWith("refs/heads/autobuild/")) refs.set(ref, id);
  }
  if (!refs.delete(stash)) return succeed(refs);
  const stashed = await git.call({
    args: ["log", "--walk-reflogs", "--format=%H", stash, "--"],
    expect: [128],
  });
  if (!stashed.ok) return stashed;
  for (const id of stashed.value.text.split("\n").filter(Boolean)) refs.set(`${stash} ${id}`, id);
  return succeed(refs);
}

const stash = "refs/stash";

/** In every reflog entry that the agent's own git makes: so it is known who moved a branch. */
export const agentIdentity = (
  { id, identity }: RunSite,
  phase: string,
  attempt: number,
): Record<string, string> => ({
  GIT_AUTHOR_NAME: identity.name,
  GIT_AUTHOR_EMAIL: identity.email,
  GIT_COMMITTER_NAME: identity.name,
  GIT_COMMITTER_EMAIL: agentAddress(id, phase, attempt),
});

const agentAddress = (run: string, phase: string, attempt: number): string =>
  `${run}-${phase}-${attempt}@agent.invalid`;

export async function tracesOf(
  site: RunSite,
  worked: {
    readonly phase: string;
    readonly attempt: number;
    readonly base: string;
    readonly git: Git;
    readonly refs: Refs;
    readonly head: string | undefined;
    readonly left?: number;
    /** What happened to git's objects, a sentence each. */
    readonly damage: readonly string[];
  },
  captured: {
    readonly nested: readonly string[];
    readonly leftOut: readonly string[];
    readonly changed: ReadonlySet<string>;
  },
  result: AgentResult,
): Promise<Result<Traces>> {
  const rewritten = await rewrittenHistory(site, worked);
  if (!rewritten.ok) return rewritten;
  const history = [...rewritten.value, ...worked.damage];
  const run = site.run();
  const { leftOut, nested } = captured;
  const state = leftOut.filter((file) => isOurs(file) && !isPlanFile(run, file));
  const plan = leftOut.filter((file) => isPlanFile(run, file));
  const ignored = await ignoredAmong(worked.git, result, captured.changed);
  return succeed({
    ...(history.length > 0 && { history }),
    ...(state.length > 0 && { state }),
    ...(plan.length > 0 && { plan }),
    ...(leftOut.length > 0 && { leftOut: [...leftOut] }),
    ...(ignored.length > 0 && { ignored }),
    ...(nested.length > 0 && { nested: [...nested] }),
    ...(worked.left ? { processes: worked.left } : {}),
  });
}

async function ignoredAmong(
  git: Git,
  { files }: AgentResult,
  changed: ReadonlySet<string>,
): Promise<string[]> {
  const claimed = new Set([...files.created, ...files.modified].map(plainPath));
  const asked = [...claimed].filter(
    (file) => file !== "" && !changed.has(file) && !/^\/|^\.\.(?:\/|$)/.test(file),
  );
  return asked.length === 0 ? [] : ignoredOf(git, asked);
}

/** Commits on top are an agent's way of saving; what was there before has to be there still. */
async function rewrittenHistory(
  site: RunSite,
  worked: {
    readonly phase: string;
    readonly attempt: number;
    readonly base: string;
    readonly refs: Refs;
    readonly head: string | undefined;
  },
): Promise<Result<string[]>> {
  const told: string[] = [];
  const { head } = worked;
  if (
    head !== worked.base &&
    (head === undefined || !(await isAncestor(site.git, worked.base, head)))
  ) {
    told.push("the commit that the attempt began with is no longer in its history");
  }
  const now = await refsOf(site.git);
  if (!now.ok) return now;
  const agent = agentAddress(site.id, worked.phase, worked.attempt);
  for (const [ref, was] of worked.refs) {
    const is = now.value.get(ref);
    if (is === was) continue;
    const name = ref.replace(/^refs\/(?:heads\/|tags\/)?/, "");
    if (ref.startsWith(stash)) {
      // Should it have been the user himself, he still has it twice: nothing is lost.
      await updateRefs(site.git, [{ ref: `refs/autobuild/${site.id}/stash/${was}`, to: was }]);
      told.push(
        `something that you had stashed (${was.slice(0, 10)}) is gone; it is kept at refs/autobuild/${site.id}/stash/${was}`,
      );
    } else if (is === undefined) {
      told.push(`${name} (${was.slice(0, 10)}) was deleted while the agent was at work`);
    } else if (ref.startsWith("refs/heads/") && (await movedBy(site.git, ref)) === agent) {
      told.push(`${name} was moved by the agent, from ${was.slice(0, 10)} to ${is.slice(0, 10)}`);
    } else if (!ref.startsWith("refs/heads/")) {
      told.push(`${name} was moved while the agent was at work`);
    }
  }
  for (const ref of now.value.keys()) {
    if (ref.startsWith("refs/replace/") && !worked.refs.has(ref)) {
      told.push(
        `${ref} has one object stand for another: what git shows is not what was committed`,
      );
    }
  }
  return succeed(told);
}

/** Whose git wrote the last entry of a ref's log. */
async function movedBy(git: Git, ref: string): Promise<string | undefined> {
  const told = await git.call({
    args: ["log", "--walk-reflogs", "-1", "--format=%ge", ref, "--"],
    expect: [128],
  });
  return told.ok && told.value.code === 0 ? told.value.text.trim() : undefined;
}
