/**
 * The user's own commit hooks, as a gate: what git would run at `git commit`, where that commit is
 * about to be made. HEAD is what it lands on; index and work tree are the tree that is checked.
 *
 *  1. Only what was approved is run. Hooks from outside the tree are written anew, byte by byte as
 *     they were approved; hooks that the tree holds are those of the tree that is checked.
 *  2. A commit holds what the index holds afterwards. The hooks see a tree that they have changed
 *     once more, in another clean checkout: then they have to leave it as it is.
 *  3. The plan's files are ours: what a hook makes of them does not count.
 *  4. What runs in a hook may have been written by an agent. No git of ours works in a repository
 *     that it had in its hands; its index is read like any other file.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import { commitMessage } from "../core/plan/phase-commit.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { GateOutcome, RunPhase } from "../core/plan/run-event.ts";
import { isPlanFile } from "../core/plan/task-folder.ts";
import type { Surface, SurfaceEntry } from "../core/trust.ts";
import { type Ended, type ExecOptions, exec, type Trusted } from "../exec.ts";
import type { Git } from "../git/call.ts";
import { branchOf, commitTree, readBlob, writeBlob } from "../git/objects.ts";
import { type Entry, treeWith } from "../git/trees.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { cleanCheckout } from "./clean-checkout.ts";
import { endOf, howItEnded, lastLine } from "./run-gates.ts";
import { isOurs, type RunSite, scratchIndex, slotEnvironment } from "./run-site.ts";
import { type Transcript, theirs, transcriptMark } from "./transcript.ts";

/** As they were approved: what is run, and the files that have to lie there for it. */
export interface ApprovedHooks {
  readonly lines: readonly HookLine[];
  readonly files: readonly HookFile[];
}

interface HookLine {
  readonly name: string;
  /** From the checkout's top. */
  readonly file: string;
  readonly line: Trusted;
}

interface HookFile {
  readonly file: string;
  readonly bytes: Buffer;
}

export interface HookSubject {
  readonly phase: string;
  readonly slot: number;
  /** What the commit lands on. */
  readonly onto: string;
  /** What would be committed. */
  readonly tree: string;
  readonly message: string;
  readonly at: string;
  /** Where the end of what a failing hook printed is shown. */
  readonly log?: { add(line: string): void };
  /** Where all of it goes. */
  readonly transcript?: Pick<Transcript, "add">;
}

export interface HookRun {
  /** Undefined: there are none. */
  readonly outcome: GateOutcome | undefined;
  /** As the hooks left it; a failure leaves it as it was. */
  readonly tree: string;
  readonly message: string;
  /** The end of what the failing hook printed. */
  readonly output: string;
  /** We were asked to stop: nothing is known about the tree. */
  readonly stopped?: true;
}

export async function runCommitHooks(
  site: RunSite,
  run: PlanRun,
  subject: HookSubject,
): Promise<Result<HookRun>> {
  const { tree, message } = subject;
  const asItWas = { tree, message, output: "" };
  const names = site.commitHooks.lines.map(({ name }) => name);
  if (names.length === 0) return succeed({ ...asItWas, outcome: undefined });
  site.tell({ phase: subject.phase, gate: "hooks", command: names.join(", ") });
  const first = await runOnce(site, run, subject);
  if (!first.ok) return first;
  const again =
    first.value.is === "ran" && first.value.tree !== tree
      ? await runOnce(site, run, { ...subject, tree: first.value.tree })
      : first;
  if (!again.ok) return again;
  const last = again.value;
  if (last.is === "stopped") return succeed({ ...asItWas, outcome: undefined, stopped: true });
  if (last.is === "failed") {
    const { summary, ended } = last;
    for (const line of ended?.tail.slice(-toldLines) ?? []) subject.log?.add(`  ${line}`);
    return succeed({ ...asItWas, outcome: failed(last), output: ended ? endOf(ended) : summary });
  }
  const { ran } = last;
  if (ran.length === 0) return succeed({ ...asItWas, outcome: undefined });
  if (again !== first && first.value.is === "ran" && last.tree !== first.value.tree) {
    return succeed({ ...asItWas, outcome: failed({ summary: unsettled }), output: unsettled });
  }
  const changed = last.tree === tree ? "" : "; they changed the tree, and it is checked as changed";
  const outcome = {
    name: gateName,
    command: null,
    passed: true,
    summary: `${ran.join(", ")} passed${changed}`,
  };
  // Where the user makes the commits, his git has the hooks change the message then.
  const said = run.mode === "message-only" ? message : last.message;
  return succeed({ outcome, tree: last.tree, message: said, output: "" });
}

const gateName = "hooks";
const toldLines = 40;
const unsettled =
  "do not settle: they changed the tree, and when they saw that tree they changed it again";

const failed = ({
  summary,
  ended,
}: {
  readonly summary: string;
  readonly ended?: Ended;
}): GateOutcome => ({
  name: gateName,
  command: null,
  passed: false,
  summary,
  ...(ended?.timedOut && { timedOut: true as const }),
});

/**
 * What a commit says whose message the hooks have changed. Trailers of theirs stay beside ours:
 * programs look for them in the last paragraph only.
 */
export function hookedMessage(
  hooked: string,
  phase: Pick<RunPhase, "id" | "name">,
  trailers: Parameters<typeof commitMessage>[2],
): string {
  const message = commitMessage(hooked, phase, trailers);
  const own = message.lastIndexOf("\n\nAutobuild-Run: ");
  const paragraph = message.lastIndexOf("\n\n", own - 1);
  const last = message.slice(paragraph + 2, own).split("\n");
  const joins = paragraph >= 0 && last.every((line) => /^[A-Za-z][\w-]*: \S/.test(line));
  return joins ? message.slice(0, own) + message.slice(own + 1) : message;
}

// ── one commit that is about to be made ────────────────────────────────────────────────────────

type RanOnce =
  | { readonly is: "stopped" }
  | { readonly is: "failed"; readonly summary: string; readonly ended?: Ended }
  | {
      readonly is: "ran";
      readonly ran: readonly string[];
      readonly tree: string;
      readonly message: string;
    };

async function runOnce(
  site: RunSite,
  run: PlanRun,
  subject: HookSubject,
): Promise<Result<RanOnce>> {
  const { phase, slot, onto, tree, message, at } = subject;
  const about = { tree, parent: onto, message: `Phase ${phase}, for the hooks\n`, at };
  const commit = await commitTree(site.git, { ...about, by: site.identity });
  if (!commit.ok) return commit;
  const checkout = await cleanCheckout(site, run, { slot, commit: commit.value });
  if (!checkout.ok) return checkout;
  const { folder, setupEnded, filled: _, ...surroundings } = checkout.value;
  if (setupEnded?.aborted) return succeed({ is: "stopped" });
  if (setupEnded) return fails(`the set-up command ${howItEnded(setupEnded)}`, setupEnded);
  const index = `${scratchIndex(site, slot)}-hooks`;
  const branch = run.target.startsWith("refs/heads/") ? run.target : await branchOf(site.git);
  try {
    const staged = await site.git
      .at({}, { GIT_INDEX_FILE: index })
      .call({ args: ["read-tree", tree] });
    if (!staged.ok) return staged;
    const ready = makeReady(folder, {
      index,
      branch,
      onto,
      message,
      files: site.commitHooks.files,
    });
    if (ready !== undefined) return fails(ready);
    const options: ExecOptions = {
      ...surroundings,
      cwd: folder,
      env: {
        ...slotEnvironment(slot),
        ...surroundings.env,
        ...asGitSets(site),
        AUTODEV_PHASE: phase,
      },
      timeoutMs: site.gateMs,
      signal: site.signal,
      killNow: site.killNow,
      marker: run.id,
    };
    // As `git commit` does: the index knows the files as the hooks will see them.
    for (const args of [
      ["update-index", "-q", "--refresh"],
      ["checkout-index", "-q", "-f", "-a"],
    ]) {
      const ended = await exec({ program: "git", args }, options);
      if (ended.aborted) return succeed({ is: "stopped" });
    }
    const ran: string[] = [];
    for (const { name, file, line } of site.commitHooks.lines) {
      // One that the tree no longer holds, or that is no program any more, git passes over too.
      if (!isProgram(path.join(folder, file))) continue;
      subject.transcript?.add(`${transcriptMark} hook ${name}`);
      const ended = await exec(line, {
        ...options,
        onLine: (text) => subject.transcript?.add(theirs(text)),
      });
      if (ended.aborted) return succeed({ is: "stopped" });
      if (ended.code !== 0 || ended.timedOut) {
        const said = lastLine(ended);
        const how = `${name} ${howItEnded(ended)}`;
        return fails(said === undefined ? how : `${how}: ${said}`, ended);
      }
      ran.push(name);
    }
    return await whatIsLeft(site, run, subject, { folder, index, ran });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, folder) };
  } finally {
    fs.rmSync(index, { force: true });
  }
}

const fails = (summary: string, ended?: Ended): Result<RanOnce> =>
  succeed({ is: "failed", summary, ...(ended && { ended }) });

/** What a hook finds in its environment. */
const asGitSets = ({ identity }: RunSite): Record<string, string> => ({
  GIT_INDEX_FILE: ".git/index",
  GIT_EDITOR: ":",
  GIT_PREFIX: "",
  GIT_AUTHOR_NAME: identity.name,
  GIT_AUTHOR_EMAIL: identity.email,
});

interface Ready {
  readonly index: string;
  /** Undefined: HEAD is on none. */
  readonly branch: string | undefined;
  readonly onto: string;
  readonly message: string;
  readonly files: readonly HookFile[];
}

/** Whatever the set-up command has made of it; resolves with a sentence if that cannot be done. */
function makeReady(
  folder: string,
  { index, branch, onto, message, files }: Ready,
): string | undefined {
  const own = [
    ...(branch === undefined ? [] : [{ file: `.git/${branch}`, bytes: Buffer.from(`${onto}\n`) }]),
    {
      file: ".git/HEAD",
      bytes: Buffer.from(branch === undefined ? `${onto}\n` : `ref: ${branch}\n`),
    },
    { file: ".git/index", bytes: fs.readFileSync(index) },
    { file: editMessage, bytes: Buffer.from(message) },
  ];
  if (!isPlainFolder(path.join(folder, ".git"))) return "the set-up command has replaced .git";
  for (const each of ["refs", "hooks", "index.lock"]) {
    fs.rmSync(path.join(folder, ".git", each), { recursive: true, force: true });
  }
  const astray = [...own, ...files].find((each) => !putIn(folder, each));
  return astray && `${astray.file} cannot be put where git would look for it: a link is in its way`;
}

const editMessage = ".git/COMMIT_EDITMSG";

/** Never through a link: a tree may hold one that leads out of it. */
function putIn(folder: string, { file, bytes }: HookFile): boolean {
  const parts = path.dirname(file).split("/");
  for (const length of parts.keys()) {
    const at = path.join(folder, ...parts.slice(0, length + 1));
    if (!fs.lstatSync(at, { throwIfNoEntry: false })) fs.mkdirSync(at);
    if (!isPlainFolder(at)) return false;
  }
  const target = path.join(folder, file);
  fs.rmSync(target, { recursive: true, force: true });
  fs.writeFileSync(target, bytes, { mode: 0o755, flag: "wx" });
  return true;
}

const isPlainFolder = (file: string): boolean =>
  fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;

const isPlainFile = (file: string): boolean =>
  fs.lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;

// ── what the hooks leave ───────────────────────────────────────────────────────────────────────

async function whatIsLeft(
  site: RunSite,
  run: PlanRun,
  { tree }: HookSubject,
  { folder, index, ran }: { folder: string; index: string; ran: readonly string[] },
): Promise<Result<RanOnce>> {
  const message = messageLeft(folder);
  if (message === undefined) return fails("the hooks left no message for the commit");
  const before = await listed(site.git, ["ls-tree", "-r", "-z", tree]);
  if (!before.ok) return before;
  const after = await indexLeft(site.git, folder, index);
  if (!after) return fails("the hooks left an index that cannot be committed");
  const changed = new Map<string, Entry | null>();
  // What is gone comes first: a file may have become a folder.
  for (const file of before.value.keys()) if (!after.has(file)) changed.set(file, null);
  for (const [file, entry] of after) {
    const was = before.value.get(file);
    if (was?.blob !== entry.blob || was.mode !== entry.mode) changed.set(file, entry);
  }
  for (const file of changed.keys()) {
    if (isPlanFile(run, file) || isOurs(file)) changed.delete(file);
  }
  const brought = await bringBlobs(site.git, folder, changed.values());
  if (!brought.ok) return brought;
  if (!brought.value) return fails("the hooks left an index whose files cannot be read");
  const left = await treeWith(site.git, tree, changed);
  return left.ok ? succeed({ is: "ran", ran, tree: left.value, message }) : left;
}

const longestMessage = 64 * 1024;

function messageLeft(folder: string): string | undefined {
  const file = path.join(folder, editMessage);
  if (!isPlainFolder(path.dirname(file)) || !isPlainFile(file)) return undefined;
  const text = fs.readFileSync(file).subarray(0, longestMessage).toString("utf8");
  return text.trim() === "" ? undefined : text;
}

/** Undefined: it is gone, unmerged, or cannot be read without the rest of that repository. */
async function indexLeft(
  git: Git,
  folder: string,
  index: string,
): Promise<ReadonlyMap<string, Entry> | undefined> {
  const file = path.join(folder, ".git", "index");
  if (!isPlainFolder(path.dirname(file)) || !isPlainFile(file)) return undefined;
  fs.copyFileSync(file, index);
  const own = git.at({}, { GIT_INDEX_FILE: index });
  const unmerged = await own.call({ args: ["ls-files", "--unmerged", "-z"] });
  if (!unmerged.ok || unmerged.value.text !== "") return undefined;
  const staged = await listed(own, ["ls-files", "--stage", "-z"]);
  return staged.ok ? staged.value : undefined;
}

/** `100644 blob <id>` or `100644 <id> 0`, a tab and the name. */
async function listed(git: Git, args: readonly string[]): Promise<Result<Map<string, Entry>>> {
  const told = await git.call({ args });
  if (!told.ok) return told;
  const entries = new Map<string, Entry>();
  for (const row of told.value.text.split("\0")) {
    const tab = row.indexOf("\t");
    const blob = /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/.exec(row.slice(0, tab))?.[0];
    if (tab > 0 && blob !== undefined)
      entries.set(row.slice(tab + 1), { mode: row.slice(0, 6), blob });
  }
  return succeed(entries);
}

/** From the checkout's own repository into the user's; false: one is not what it is called. */
async function bringBlobs(
  git: Git,
  folder: string,
  entries: Iterable<Entry | null>,
): Promise<Result<boolean>> {
  const objects = path.join(folder, ".git", "objects").replace(/["\\]/g, "\\$&");
  const both = git.at({}, { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects}"` });
  for (const entry of entries) {
    if (entry === null || entry.mode === "160000") continue;
    const bytes = await readBlob(both, entry.blob);
    if (!bytes.ok) return succeed(false);
    const blob = await writeBlob(git, bytes.value);
    if (!blob.ok) return blob;
    if (blob.value !== entry.blob) return succeed(false);
  }
  return succeed(true);
}

// ── what has to be approved ────────────────────────────────────────────────────────────────────

/** In the order in which git runs them, with what it gives them. */
const commitHooks = [
  ["pre-commit", ""],
  ["prepare-commit-msg", ` ${editMessage} message`],
  ["commit-msg", ` ${editMessage}`],
] as const;

/** Git knows them, and runs them at other times. */
const otherHooks =
  /^(?:applypatch-msg|pre-applypatch|post-.*|pre-(?:merge-commit|rebase|push|receive|auto-gc)|update|proc-receive|push-to-checkout|reference-transaction|sendemail-validate|fsmonitor-watchman|p4-.*)$/;

/** The lines that would be run for a commit of this one's tree. */
export async function hookLines(git: Git, commit: string): Promise<Result<SurfaceEntry[]>> {
  const place = await hooksPlace(git);
  if (!place.ok) return place;
  const { folder, at, inTree } = place.value;
  const files = commitHooks.map(([name]) => path.posix.join(at, name));
  const held = inTree
    ? await listed(git, ["ls-tree", "-z", commit, "--", ...files])
    : succeed(new Map<string, Entry>());
  if (!held.ok) return held;
  const ignored = inTree ? await ignoredIn(git, at) : succeed<string[]>([]);
  if (!ignored.ok) return ignored;
  return succeed(
    commitHooks.flatMap(([name, words]): SurfaceEntry[] => {
      const file = path.posix.join(at, name);
      const mode = held.value.get(file)?.mode;
      const isRun =
        mode === undefined
          ? (!inTree || ignored.value.includes(name)) && isProgram(path.join(folder, name))
          : mode !== "100644";
      return isRun ? [{ kind: "hook", name, text: `${asWord(file)}${words}` }] : [];
    }),
  );
}

/** Files of hooks that no tree holds, and what lies beside them: they may need it. */
export async function hookFiles(git: Git): Promise<Result<SurfaceEntry[]>> {
  const place = await hooksPlace(git);
  if (!place.ok) return place;
  const { folder, at, inTree, isOwn } = place.value;
  const own = path.join(git.place.commonDir, "hooks");
  const ignored = inTree ? await ignoredIn(git, at) : succeed<string[]>([]);
  if (!ignored.ok) return ignored;
  const entry =
    (prefix: string, from: string) =>
    (file: string): SurfaceEntry => {
      const text = fs.readFileSync(path.join(from, file), "latin1");
      return { kind: "hook", name: `${prefix}${file}`, text };
    };
  const ofCommits = (file: string): boolean => !otherHooks.test(path.basename(file));
  return succeed([
    ...filesBelow(own).map(entry(ownPrefix, own)),
    ...(isOwn || inTree ? [] : filesBelow(folder).filter(ofCommits).map(entry(elsewhere, folder))),
    ...ignored.value.filter(ofCommits).map(entry(`./${at}/`, folder)),
  ]);
}

const ownPrefix = "hooks/";
const elsewhere = "core.hooksPath/";
const inCheckout = ".git/hooks/";

/** From a surface that was approved; `command` makes its lines to values that can be run. */
export function approvedHooks(
  surface: Surface,
  command: (entry: SurfaceEntry) => Trusted | undefined,
): ApprovedHooks {
  const entries = surface.filter(({ kind }) => kind === "hook");
  const lines = commitHooks.flatMap(([name, words]): HookLine[] => {
    const entry = entries.find((each) => each.name === name);
    const line = entry && command(entry);
    return line
      ? [{ name, file: fromWord(entry.text.slice(0, -words.length || undefined)), line }]
      : [];
  });
  const outside = lines.some(({ file }) => file.startsWith(inCheckout));
  const prefix = entries.some(({ name }) => name.startsWith(elsewhere)) ? elsewhere : ownPrefix;
  const files = entries.flatMap(({ name, text }): HookFile[] => {
    const bytes = Buffer.from(text, "latin1");
    if (name.startsWith("./")) return [{ file: name.slice(2), bytes }];
    if (!outside || !name.startsWith(prefix) || otherHooks.test(path.basename(name))) return [];
    return [{ file: inCheckout + name.slice(prefix.length), bytes }];
  });
  return { lines, files };
}

interface HooksPlace {
  readonly folder: string;
  /** Where a checkout has it, from its top. */
  readonly at: string;
  readonly inTree: boolean;
  /** The repository's own, where git looks unless it is told otherwise. */
  readonly isOwn: boolean;
}

/** Where git looks for hooks, whoever has told it so: the repository or the user. */
async function hooksPlace(git: Git): Promise<Result<HooksPlace>> {
  const { commonDir, workTree } = git.place;
  const key = ["--type=path", "--null", "--get-all", "core.hooksPath"];
  const told = await git.configured(["--show-scope", ...key]);
  if (!told.ok) return told;
  const words = told.value.split("\0");
  // Ours, which has git run no hook at all, is of the scope "command".
  const values = words.filter((_, at) => at % 2 === 1 && words[at - 1] !== "command");
  const own = path.join(commonDir, "hooks");
  const folder = path.resolve(workTree, values.at(-1) || own);
  const at = path.relative(realPath(workTree), realPath(folder));
  const inTree = !path.isAbsolute(at) && !/^(?:\.\.|\.git)(?:\/|$)/.test(at);
  const isOwn = realPath(folder) === realPath(own);
  return succeed({
    folder,
    at: inTree ? at || "." : ".git/hooks",
    inTree: inTree && !isOwn,
    isOwn,
  });
}

function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return file;
  }
}

/** A folder that ignores itself, as tools for hooks make them; not what is below it. */
async function ignoredIn(git: Git, at: string): Promise<Result<string[]>> {
  if (at === ".") return succeed([]);
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", at];
  const told = await git.call({ args });
  if (!told.ok) return told;
  const names = told.value.text.split("\0").filter((file) => path.posix.dirname(file) === at);
  const { workTree } = git.place;
  return succeed(
    names
      .filter((file) => isReadable(path.join(workTree, file)))
      .map((file) => path.basename(file)),
  );
}

/** The nearest ones: whoever names a home as his folder of hooks does not mean all of it. */
function filesBelow(folder: string): string[] {
  const files: string[] = [];
  const open = [""];
  for (const at of open) {
    for (const name of namesIn(path.join(folder, at))) {
      const file = path.posix.join(at, name);
      if (isPlainFolder(path.join(folder, file))) open.push(file);
      else if (!name.endsWith(".sample") && isReadable(path.join(folder, file))) files.push(file);
    }
    if (open.length > most || files.length > most) break;
  }
  return files.slice(0, most).sort();
}

const most = 200;

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isReadable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK);
    const stat = fs.statSync(file);
    return stat.isFile() && stat.size < 1024 * 1024;
  } catch {
    return false;
  }
}

const isProgram = (file: string): boolean =>
  isReadable(file) && (fs.statSync(file).mode & 0o111) !== 0;

const asWord = (file: string): string => {
  const plain = file.includes("/") ? file : `./${file}`;
  return /^[\w./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
};

const fromWord = (word: string): string =>
  word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;
