/**
 * To a remote, the one time that somebody asks for it. Everywhere else git has no transport at all.
 *
 *  1. A branch moves by compare-and-swap (`--force-with-lease` with what was seen there), and only
 *     forward: commits of others are never thrown away.
 *  2. No hook runs. Helpers and ssh settings are the user's own, never the repository's.
 *  3. A token travels in git's environment, to the one server that it is for; never as an argument.
 */
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import { maskSecrets, shown } from "../safe-text.ts";
import type { Git } from "./call.ts";
import { isAncestor } from "./objects.ts";

export interface Remote {
  /** As git was told it: by `remote.<name>.url`. */
  readonly url: string;
  /** Whom a token is for, and the token. */
  readonly login?: { readonly server: string; readonly token: string };
}

export async function remoteUrl(git: Git, name: string): Promise<string | undefined> {
  const told = await git.call({ args: ["remote", "get-url", "--push", name], expect: [2, 128] });
  return told.ok && told.value.code === 0 ? told.value.text.split("\n")[0] : undefined;
}

/** `there`: everything of ours was there already. */
export async function pushBranch(
  git: Git,
  remote: Remote,
  branch: string,
  commit: string,
): Promise<Result<"pushed" | "there">> {
  const ref = `refs/heads/${branch}`;
  let seen = await heldAt(git, remote, ref);
  for (let tried = 1; ; tried++) {
    if (!seen.ok) return seen;
    const held = seen.value;
    if (held === commit || (held !== "" && (await isAncestor(git, commit, held))))
      return succeed("there");
    if (held !== "" && !(await isAncestor(git, held, commit))) return diverged(branch, held);
    const lease = `--force-with-lease=${ref}:${held}`;
    const pushed = await push(git, remote, [lease, remote.url, `${commit}:${ref}`]);
    if (pushed.ok) return succeed("pushed");
    // Somebody was faster: a push of ours, perhaps, that has outlived its session.
    seen = await heldAt(git, remote, ref);
    if (!seen.ok || seen.value === held || tried === mostTries) return pushed;
  }
}

const mostTries = 5;

/** Empty: it is not there. */
export async function heldAt(git: Git, remote: Remote, ref: string): Promise<Result<string>> {
  const listed = await transported(git, remote, ["ls-remote", "--quiet", remote.url, ref]);
  if (!listed.ok) return listed;
  const line = listed.value.split("\n").find((each) => each.endsWith(`\t${ref}`));
  return succeed(line?.split("\t")[0] ?? "");
}

/** Refs there that fit a pattern. */
export async function namesAt(
  git: Git,
  remote: Remote,
  pattern: string,
): Promise<Result<string[]>> {
  const listed = await transported(git, remote, ["ls-remote", "--quiet", remote.url, pattern]);
  if (!listed.ok) return listed;
  return succeed(listed.value.split("\n").flatMap((line) => line.split("\t")[1] ?? []));
}

const diverged = (branch: string, held: string): ReturnType<typeof fail> =>
  fail("push-refused", `${branch} at the remote holds commits that the run is not based on`, {
    hint: `git fetch and look at ${held.slice(0, 10)}; --branch names another branch`,
  });

/** Into refs of ours, whatever they held; one that is not there is the failure. */
export async function fetchRefs(
  git: Git,
  remote: Remote,
  specs: readonly string[],
): Promise<Result<void>> {
  const fetched = await transported(
    git,
    remote,
    [
      "fetch",
      "--quiet",
      "--no-tags",
      "--no-write-fetch-head",
      "--no-recurse-submodules",
      "--upload-pack=git-upload-pack",
      remote.url,
      ...specs,
    ],
    {
      code: "fetch-refused",
      hint: "git ls-remote <address> on this machine shows what it says",
    },
  );
  return fetched.ok ? succeed(undefined) : fetched;
}

/** Refs whose names are hashes of what they hold: they are there, or are not. */
export async function pushRefs(
  git: Git,
  remote: Remote,
  refs: readonly string[],
): Promise<Result<void>> {
  for (let at = 0; at < refs.length; at += mostAtOnce) {
    const some = refs.slice(at, at + mostAtOnce).map((ref) => `${ref}:${ref}`);
    const pushed = await push(git, remote, [remote.url, ...some]);
    if (!pushed.ok) return pushed;
  }
  return succeed(undefined);
}

const mostAtOnce = 500;

export const push = (git: Git, remote: Remote, args: readonly string[]): Promise<Result<string>> =>
  transported(git, remote, [
    "push",
    "--porcelain",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    "--recurse-submodules=no",
    "--receive-pack=git-receive-pack",
    ...args,
  ]);

export async function transported(
  git: Git,
  { url, login }: Remote,
  args: readonly string[],
  refusal: Pick<Failure, "code" | "hint"> = pushRefused,
): Promise<Result<string>> {
  const own = await usersOwn(git);
  if (!own.ok) return own;
  const told = await git.call({
    args: [
      ...own.value.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
      ...(login ? ["-c", "http.sslVerify=true"] : []),
      ...(login ? ["-c", `credential.${login.server}.helper=${tokenHelper}`] : []),
      ...args,
    ],
    env: {
      GIT_ALLOW_PROTOCOL: "file:https:ssh",
      ...(login && { [tokenName]: login.token }),
    },
    timeoutMs: 5 * 60_000,
  });
  if (told.ok) return succeed(told.value.text);
  const { details = [] } = told.failure;
  const safe = (line: string): string => maskSecrets(shown(line), login ? [login.token] : []);
  const why = details.find((line) =>
    /^(?:fatal|error|remote):|\[(?:remote )?rejected\]/.test(line),
  );
  const { code, ...rest } = refusal;
  return fail(code, `${safe(url)} refuses: ${safe(why ?? told.failure.message)}`, {
    details: details.map(safe),
    ...rest,
  });
}

const pushRefused = {
  code: "push-refused",
  hint: "see that you may push there (git push --dry-run), then run the same command again",
} as const;

const tokenName = "AUTODEV_PUSH_TOKEN";
const tokenHelper = `!f() { test "$1" = get && echo username=x-access-token && echo "password=$${tokenName}"; }; f`;

/** How the user gets to a server; what the repository says about it is not heard. */
async function usersOwn(git: Git): Promise<Result<(readonly [key: string, value: string])[]>> {
  const listed = await git.call({
    args: ["config", "--global", "--null", "--get-regexp", "^(credential[.].*|core[.]sshcommand)$"],
    expect: [1],
  });
  if (!listed.ok) return listed;
  const own = listed.value.text
    .split("\0")
    .filter((entry) => entry.includes("\n"))
    .map(
      (entry) =>
        [entry.slice(0, entry.indexOf("\n")), entry.slice(entry.indexOf("\n") + 1)] as const,
    );
  return succeed([["core.sshCommand", process.env["GIT_SSH_COMMAND"] ?? "ssh"], ...own]);
}
