/** A pull request as far as it can be thought out: its branch, its repository, what of its text is ours. */

/** `docs/feature-plan.md` → `autodev/feature-plan`: the same for the same plan, wherever it is built. */
export function branchFor(plan: string): string {
  const name = plan
    .replace(/^\.\//, "")
    .replace(/^docs\//, "")
    .replace(/\.[A-Za-z]+$/, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `autodev/${name.slice(0, 80) || "plan"}`;
}

/** Host and owner/name of a remote's address; undefined: a folder, or nothing of the kind. */
export function repositoryIn(url: string): { host: string; repository: string } | undefined {
  const [, host, repository] =
    /^(?:https?:\/\/(?:[^/@]*@)?|ssh:\/\/(?:[^/@]*@)?|[^/@:]+@)([^/:@]+)(?::\d+)?[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(
      url,
    ) ?? [];
  return host === undefined || repository === undefined ? undefined : { host, repository };
}

const begin = "<!-- autodev:begin -->";
const end = "<!-- autodev:end -->";

/** With marks around it, so that the next run finds its own text again. */
export const ownText = (text: string): string => `${begin}\n${text}\n${end}`;

/** What people wrote around our text stays; without our marks all of it is theirs. */
export function withOwnText(body: string, text: string): string {
  const [from, to] = [body.indexOf(begin), body.lastIndexOf(end)];
  if (from < 0 || to < from) return body;
  return body.slice(0, from) + ownText(text) + body.slice(to + end.length);
}
