/**
 * Code travels by git: whoever works on a run elsewhere has a clone of its own, made from the
 * run's remote, and leaves there what came of it. No folder is ever shared.
 *
 *  1. A clone is whole or is made anew: a mark is written last, and what cannot be read is removed.
 *  2. What is fetched by a name stands under that name for ever: the names of verified commits are
 *     their ids, those of attempts are used once. Nobody's late push changes what others fetch.
 *  3. HEAD is detached: what is published moves a branch, and no file here is anybody's.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { type Git, openGit } from "../git/call.ts";
import { commitAt, type Identity, readBlob, updateRefs } from "../git/objects.ts";
import { fetchRefs, heldAt, namesAt, push, type Remote } from "../git/push.ts";
import { removeFolder } from "../git/worktrees.ts";
import { initRepository } from "../git.ts";
import { evidenceRef } from "./evidence.ts";
import { attemptRef, landedRef } from "./run-site.ts";

/** What somebody elsewhere has to know to have the same repository. */
export interface CloneOrder {
  readonly run: string;
  readonly remote: string;
  readonly base: string;
  /** Path → blob: the plan as it was read. */
  readonly planFiles: Readonly<Record<string, string>>;
  readonly identity: Identity;
}

// ── names at the remote ────────────────────────────────────────────────────────────────────────

/** Names of ours beside which no phase can be called the same. */
const taken = new Set(["base", "landed", "plan", "verified", "seen"]);
const baseName = (run: string): string => `refs/autobuild/${run}/base`;
const planName = (run: string, blob: string): string => `refs/autobuild/${run}/plan/${blob}`;
const verifiedName = (run: string, commit: string): string =>
  `refs/autobuild/${run}/verified/${commit}`;
/** What was seen in a verification, landed or not. */
const seenName = (run: string, evidence: string): string =>
  `refs/autobuild/${run}/seen/${evidence}`;
export const attemptName = (run: string, phase: string, attempt: number): string =>
  `refs/autobuild/${run}/${taken.has(phase) ? `phase-${phase}` : phase}/${attempt}`;

// ── a clone ────────────────────────────────────────────────────────────────────────────────────

const markFile = "autodev-clone";

/** Where a clone of a run lies below a worker's folder; the driver's is never an agent's. */
export const cloneFolder = (folder: string, order: CloneOrder, role: "drive" | "work"): string =>
  path.join(folder, hashOf(order.remote), `${order.run}-${role}`);

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

const turns = new Map<string, Promise<unknown>>();

/**
 * One at a time for each remote, whose clones share their objects: several phases of a run begin
 * together. A remote that does not answer keeps nobody else's runs waiting.
 */
export async function cloneRun(
  folder: string,
  order: CloneOrder,
  role: "drive" | "work",
): Promise<Result<string>> {
  const key = path.dirname(cloneFolder(folder, order, role));
  const mine = (turns.get(key) ?? Promise.resolve()).then(() => makeClone(folder, order, role));
  const done = mine.catch(() => {});
  turns.set(key, done);
  try {
    return await mine;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("disk", `no clone of ${order.remote} can be made here: ${why}`);
  } finally {
    if (turns.get(key) === done) turns.delete(key);
  }
}

async function makeClone(
  folder: string,
  order: CloneOrder,
  role: "drive" | "work",
): Promise<Result<string>> {
  const root = cloneFolder(folder, order, role);
  if (await isSound(root, order)) return succeed(root);
  for (let tries = 2; ; tries--) {
    const made = await tryClone(root, sharedIn(path.dirname(root)), order);
    if (made.ok || tries === 1) return made;
    // What is shared may be damaged.
    shareAnew(path.dirname(root));
  }
}

/** What all clones of a remote borrow from: the newest of its kind. */
function sharedIn(folder: string): string {
  const numbers = fs.existsSync(folder)
    ? fs.readdirSync(folder).flatMap((name) => /^objects-(\d+)$/.exec(name)?.[1] ?? [])
    : [];
  return path.join(folder, `objects-${Math.max(1, ...numbers.map(Number))}`);
}

/** From now on clones borrow from another; whoever borrows from the old one still can. */
function shareAnew(folder: string): void {
  const number = Number(path.basename(sharedIn(folder)).slice("objects-".length)) + 1;
  fs.mkdirSync(path.join(folder, `objects-${number}`), { recursive: true, mode: 0o700 });
}

async function tryClone(root: string, shared: string, order: CloneOrder): Promise<Result<string>> {
  const { run, base, planFiles, identity } = order;
  const remote = { url: order.remote };
  await removeFolder(root);
  try {
    for (const each of [shared, root]) {
      fs.mkdirSync(each, { recursive: true, mode: 0o700 });
      const options = ["--template=", ...(each === shared ? ["--bare"] : [])];
      if (!initRepository(each, ...options))
        return fail("git", `git init does not work in ${each}`);
    }
    const objects = path.join(root, ".git", "objects", "info");
    fs.mkdirSync(objects, { recursive: true });
    fs.writeFileSync(path.join(objects, "alternates"), `${path.join(shared, "objects")}\n`);
    const common = gitAt(shared, shared);
    const names = [baseName(run), ...Object.values(planFiles).map((blob) => planName(run, blob))];
    const fetched = await fetchRefs(
      common,
      remote,
      names.map((name) => `+${name}:${name}`),
    );
    await common.end();
    if (!fetched.ok) return fetched;
    const git = gitAt(root, path.join(root, ".git"));
    const out = await git.call({ args: ["checkout", "--quiet", "--force", "--detach", base] });
    if (!out.ok) return out;
    for (const [key, value] of Object.entries(identity)) {
      const set = await git.call({ args: ["config", `user.${key}`, value] });
      if (!set.ok) return set;
    }
    for (const [file, blob] of Object.entries(planFiles)) {
      const bytes = await readBlob(git, blob);
      if (!bytes.ok) return bytes;
      fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      fs.writeFileSync(path.join(root, file), bytes.value);
    }
    await git.end();
    fs.writeFileSync(path.join(root, ".git", markFile), base);
    return succeed(root);
  } catch (error) {
    return { ok: false, failure: diskFailure(error, root) };
  }
}

function diskFailure(error: unknown, file: string): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return fail("disk", `${file} cannot be written (${code})`, {
    file,
    hint: "free some space or mend the permissions; XDG_CACHE_HOME names another place",
  }).failure;
}

const gitAt = (workTree: string, gitDir: string): Git =>
  openGit({ gitDir, commonDir: gitDir, workTree });

/** Made to its end, and its base can be read with everything that it holds. */
async function isSound(root: string, { base }: CloneOrder): Promise<boolean> {
  try {
    if (fs.readFileSync(path.join(root, ".git", markFile), "utf8") !== base) return false;
  } catch {
    return false;
  }
  const git = gitAt(root, path.join(root, ".git"));
  const tree = await git.call({ args: ["ls-tree", "-r", base], expect: [128] });
  await git.end();
  return tree.ok && tree.value.code === 0;
}

/**
 * What went wrong may be the clone's own fault: then it goes, and whoever needs it next makes it
 * anew. True: it was.
 */
export async function healClone(root: string, failure: Failure): Promise<boolean> {
  const { code, message, details = [] } = failure;
  if (code !== "git" && code !== "fetch-refused" && code !== "push-refused") return false;
  const told = [message, ...details].some((line) => tellsDamage.test(line));
  if (!told && (code !== "git" || !(await isDamaged(root)))) return false;
  shareAnew(path.dirname(root));
  await removeFolder(root);
  return true;
}

const tellsDamage =
  /corrupt|inflate|unable to (?:unpack|read)|bad (?:object|tree)|missing (?:blob|tree|commit)|invalid object|packfile/i;

async function isDamaged(root: string): Promise<boolean> {
  const git = gitAt(root, path.join(root, ".git"));
  const checked = await git.call({
    args: ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"],
    expect: [1, 2, 3, 4, 8, 16, 128],
    timeoutMs: 10 * 60_000,
  });
  await git.end();
  return !checked.ok || checked.value.code !== 0;
}

// ── there and back ─────────────────────────────────────────────────────────────────────────────

/** Before a run is anybody else's: what it builds on and what it reads are at the remote. */
export async function sendGround(
  git: Git,
  remote: Remote,
  { run, base, planFiles }: Pick<CloneOrder, "run" | "base" | "planFiles">,
): Promise<Result<void>> {
  const blobs = [...new Set(Object.values(planFiles))];
  return sent(git, remote, [
    `+${base}:${baseName(run)}`,
    `+${base}:${landedRef(run)}`,
    ...blobs.map((blob) => `+${blob}:${planName(run, blob)}`),
  ]);
}

const sent = async (git: Git, remote: Remote, specs: readonly string[]): Promise<Result<void>> => {
  const pushed = await push(git, remote, [remote.url, ...specs]);
  return pushed.ok ? succeed(undefined) : pushed;
};

/** Commits that somebody else has made and left at the remote, as far as they are not here yet. */
export async function bringCommits(
  git: Git,
  remote: Remote,
  wanted: readonly { readonly commit: string; readonly names: readonly string[] }[],
): Promise<Result<void>> {
  for (const { commit, names } of wanted) {
    if ((await commitAt(git, commit)) !== undefined) continue;
    let last: Result<void> = fail("fetch-refused", `nobody has left ${commit} at ${remote.url}`);
    for (const name of names) {
      last = await fetchRefs(git, remote, [`+${name}:refs/autodev/fetched/${commit}`]);
      if (last.ok && (await commitAt(git, commit)) !== undefined) break;
      if (last.ok) last = fail("fetch-refused", `${name} at ${remote.url} does not hold ${commit}`);
    }
    if (!last.ok) return last;
  }
  return succeed(undefined);
}

/** A verified commit, and the evidence that it names. */
export async function bringVerified(
  git: Git,
  remote: Remote,
  {
    run,
    commit,
    evidence,
  }: { readonly run: string; readonly commit: string; readonly evidence?: string },
): Promise<Result<void>> {
  if ((await commitAt(git, commit)) !== undefined) return succeed(undefined);
  const names = [
    verifiedName(run, commit),
    ...(evidence === undefined ? [] : [seenName(run, evidence)]),
  ];
  return fetchRefs(
    git,
    remote,
    names.map((name) => `+${name}:${name}`),
  );
}

/** Where a commit that a run has come to is found: verified by one of us, its base, or people's. */
export const namesOf = (run: PlanRun, commit: string): string[] => [
  commit === run.base ? baseName(run.id) : verifiedName(run.id, commit),
  ...(run.target.startsWith("refs/heads/") ? [run.target] : []),
];

/** What an attempt has left, so that whoever verifies it finds it: under a name that is used once. */
export const sendAttempt = (
  git: Git,
  remote: Remote,
  {
    run,
    phase,
    attempt,
  }: { readonly run: string; readonly phase: string; readonly attempt: number },
): Promise<Result<void>> =>
  sent(git, remote, [`+${attemptRef(run, phase, attempt)}:${attemptName(run, phase, attempt)}`]);

/** A verified commit and what was seen: under names that say what they hold. */
export const sendVerified = (
  git: Git,
  remote: Remote,
  {
    run,
    commit,
    evidence,
  }: { readonly run: string; readonly commit: string; readonly evidence?: string },
): Promise<Result<void>> =>
  sent(git, remote, [
    `+${commit}:${verifiedName(run, commit)}`,
    ...(evidence === undefined ? [] : [`+${evidence}:${seenName(run, evidence)}`]),
  ]);

/** For people: decided by nothing, so whatever it held is replaced. With what an audit asks for. */
export const sendLanded = (
  git: Git,
  remote: Remote,
  { run, evidence }: { readonly run: string; readonly evidence?: string },
): Promise<Result<void>> =>
  sent(git, remote, [
    `+${landedRef(run)}:${landedRef(run)}`,
    ...(evidence === undefined ? [] : [`+${evidence}:${evidenceRef(evidence)}`]),
  ]);

/** What the remote's branch holds is what ours holds; empty: there is none. */
export async function followTarget(
  git: Git,
  remote: Remote,
  target: string,
  ours = target,
): Promise<Result<string>> {
  const held = await heldAt(git, remote, target);
  if (!held.ok) return held;
  if (held.value === "") {
    const gone = await updateRefs(git, [{ ref: ours, to: null }]);
    return gone.ok ? succeed("") : gone;
  }
  const fetched = await fetchRefs(git, remote, [`+${target}:${ours}`]);
  return fetched.ok ? succeed((await commitAt(git, ours)) ?? "") : fetched;
}

/** By compare-and-swap: `from` is what it has to hold there; `moved`: somebody was faster. */
export async function sendTarget(
  git: Git,
  remote: Remote,
  { target, from, to }: { readonly target: string; readonly from: string; readonly to: string },
): Promise<Result<"sent" | "moved">> {
  const pushed = await push(git, remote, [
    `--force-with-lease=${target}:${from}`,
    remote.url,
    `${to}:${target}`,
  ]);
  if (pushed.ok) return succeed("sent");
  const now = await heldAt(git, remote, target);
  if (!now.ok) return now;
  if (now.value === to) return succeed("sent");
  return now.value === from ? pushed : succeed("moved");
}

/**
 * What nobody needs once a run is complete: the names by which its parts travelled. What failed
 * attempts have left stays, as it does on one machine.
 */
export async function tidyRemote(git: Git, remote: Remote, run: PlanRun): Promise<Result<void>> {
  const own = `refs/autobuild/${run.id}/`;
  const landed = new Set(
    run.phases.map(({ id, attempts }) => attemptName(run.id, id, attempts).slice(own.length)),
  );
  const listed = await namesAt(git, remote, `${own}*`);
  if (!listed.ok) return listed;
  const gone = listed.value.filter((name) => {
    const rest = name.slice(own.length);
    return landed.has(rest) || /^(?:base$|(?:plan|verified|seen)\/)/.test(rest);
  });
  return gone.length === 0
    ? succeed(undefined)
    : sent(
        git,
        remote,
        gone.map((name) => `:${name}`),
      );
}
