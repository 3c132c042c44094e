/**
 * Exactly one commit, in a folder outside the repository, for commands whose word we take.
 *
 *  1. The folder is made anew each time. What a command has left in the last one (files, modes,
 *     nested repositories, a fooled index, a configuration) went with it.
 *  2. Its `.git` is a repository of its own that borrows the user's objects. No command that runs
 *     here can change his refs, his configuration or his index.
 *  3. The user's working copy is out of sight, where this machine lets us hide it; and in any case
 *     no variable of the environment leads there.
 *  4. What the set-up command installed comes from the cache if it would install the same again.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import {
  type Dependencies,
  dependencyKey,
  type Entry,
  fillEntry,
  findEntry,
  isInstallation,
  putEntry,
  trimEntries,
} from "../dependency-cache.ts";
import { canLayer, type Ended, type ExecOptions, exec, type Layer, type Trusted } from "../exec.ts";
import type { Git } from "../git/call.ts";
import { asLine, quoted } from "../git/pipes.ts";
import { removeFolder } from "../git/worktrees.ts";
import { privatePlaces } from "./confinement.ts";
import { type RunSite, slotEnvironment } from "./run-site.ts";

/** The part of a site that a checkout depends on. */
export type CheckoutSite = Pick<
  RunSite,
  "git" | "folders" | "setup" | "gateMs" | "signal" | "killNow" | "tell"
> & {
  /** What the set-up command fills; absent: nothing that could be kept. */
  readonly dependencies?: Dependencies;
  /** Ignored files of the user's that commands need: `.env.test`. */
  readonly checkoutFiles?: readonly string[];
};

export interface CleanCheckout extends Surroundings {
  readonly folder: string;
  /** Where its dependencies come from. */
  readonly filled: "cache" | "setup" | "none";
  /** How the set-up command ended, if it did not end well. */
  readonly setupEnded?: Ended;
}

/** To be given to `exec` with every command that runs in the checkout. */
type Surroundings = Required<Pick<ExecOptions, "env" | "hide" | "keep">> & {
  readonly layer?: Layer;
};

export interface CheckoutSubject {
  readonly slot: number;
  readonly commit: string;
  /** Of a second checkout in the same slot. */
  readonly name?: string;
}

export async function cleanCheckout(
  site: CheckoutSite,
  run: Pick<PlanRun, "id">,
  { slot, commit, name }: CheckoutSubject,
): Promise<Result<CleanCheckout>> {
  const { checks } = site.folders;
  // The same place in every run: some of what is installed knows where it lies.
  const folder = path.join(checks, name === undefined ? `slot-${slot}` : `slot-${slot}-${name}`);
  const made = await onDisk(checks, () => makeAnew(site.git, folder, commit));
  if (!made.ok) return made;
  const brought = await onDisk(folder, () => bringFiles(site, folder));
  if (!brought.ok) return brought;
  const surroundings = surroundingsOf(site, folder);
  const bare = { folder, ...surroundings, filled: "none" as const };
  if (!site.setup) return succeed(bare);
  const setup = { line: site.setup, run: run.id, slot, commit, brought: brought.value };
  return onDisk(checks, () => withDependencies(site, bare, setup));
}

/** Where dependencies are kept: beside the checkouts, one folder for each repository. */
export const dependencyFolder = (checks: string): string => `${checks}-dependencies`;

/** All checkouts; none is under way. */
export async function removeCheckouts(checks: string): Promise<void> {
  for (const name of listed(checks)) {
    if (/^(?:slot|gone|layer)-/.test(name)) await removeFolder(path.join(checks, name));
  }
}

/** A disk that is full, read-only or not ours is a failure of the machine. */
async function onDisk<T>(where: string, act: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await act();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("disk", `a clean checkout cannot be made in ${where}: ${why}`, {
      file: where,
      hint: "make room or mend the permissions; XDG_CACHE_HOME names another place for checkouts",
    });
  }
}

// ── the tree ───────────────────────────────────────────────────────────────────────────────────

async function makeAnew(git: Git, folder: string, commit: string): Promise<Result<void>> {
  const checks = path.dirname(folder);
  await mkdir(checks, { recursive: true });
  if (!fs.lstatSync(checks).isDirectory()) throw new Error("it is a link or a file");
  const gone = await outOfTheWay(folder);
  const removed = removeFolder(gone);
  const own = await makeRepository(git, folder, commit);
  const call = { args: [...plainly, commit], env: { FSYNC: "none" } };
  const checkedOut = own.ok ? await own.value.call(call) : own;
  await removed;
  return checkedOut.ok ? succeed(undefined) : checkedOut;
}

/** By its name, whatever it has become: a link, a folder that is closed to us, somebody else's. */
async function outOfTheWay(folder: string): Promise<string> {
  const gone = path.join(path.dirname(folder), `gone-${randomUUID()}`);
  await mkdir(gone);
  for (const each of [folder, workOf(folder), indexOf(folder)]) {
    if (fs.lstatSync(each, { throwIfNoEntry: false })) {
      await rename(each, path.join(gone, path.basename(each)));
    }
  }
  return gone;
}

/** Into an empty index and an empty folder; nobody needs it to outlive a power cut. */
const plainly = ["--config-env=core.fsync=FSYNC", "read-tree", "--reset", "-u"];

/** A repository of its own, at that commit, with the user's branches and tags to look at. */
async function makeRepository(git: Git, folder: string, commit: string): Promise<Result<Git>> {
  const { commonDir } = git.place;
  const [settings, refs] = await Promise.all([settingsOf(git), refsOf(git)]);
  if (!settings.ok) return settings;
  if (!refs.ok) return refs;
  const gitDir = path.join(folder, ".git");
  for (const each of ["objects/info", "refs", "info"]) {
    await mkdir(path.join(gitDir, each), { recursive: true });
  }
  const sha256 = commit.length === 64;
  const format: Setting[] = [
    ["core.repositoryformatversion", sha256 ? "1" : "0"],
    ["core.bare", "false"],
    // One file, whatever the user has chosen for himself: it is copied.
    ["core.splitIndex", "false"],
    ...(sha256 ? [["extensions.objectformat", "sha256"] as const] : []),
    // What a large-file extension of the user's own has fetched.
    ["lfs.storage", path.join(commonDir, "lfs")],
  ];
  const write = (name: string, text: string): Promise<void> =>
    writeFile(path.join(gitDir, name), text);
  await write("HEAD", `${commit}\n`);
  await write("config", configText([...format, ...settings.value]));
  await write("packed-refs", `# pack-refs with: sorted \n${refs.value}`);
  await write("objects/info/alternates", `${asLine(path.join(commonDir, "objects"))}\n`);
  const shallow = path.join(commonDir, "shallow");
  if (fs.existsSync(shallow)) await copyFile(shallow, path.join(gitDir, "shallow"));
  return succeed(git.at({ gitDir, commonDir: gitDir, workTree: folder, whole: true, made: true }));
}

type Setting = readonly [key: string, value: string];

/** Those that say how files lie on the disk, and where submodules come from; none names a program. */
async function settingsOf(git: Git): Promise<Result<Setting[]>> {
  const keys =
    "^(core[.](autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|protecthfs|protectntfs|checkroundtripencoding)|remote[.].*[.](url|fetch)|user[.](name|email))$";
  const args = ["--local", "--includes", "--null", "--get-regexp", keys];
  const told = await git.configured(args);
  if (!told.ok) return told;
  const entries = told.value.split("\0").filter((entry) => entry !== "");
  return succeed(
    entries.map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
}

/** `section.sub section.name`: git's own way to write it down. */
export const configText = (settings: readonly Setting[]): string =>
  settings
    .map(([key, value]) => {
      const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
      const sub = first === last ? "" : ` ${quoted(key.slice(first + 1, last))}`;
      return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`;
    })
    .join("");

/** As packed-refs has them, in order; branches of ours are nobody's business. */
async function refsOf(git: Git): Promise<Result<string>> {
  const format = "--format=%(objectname) %(refname)";
  const args = ["for-each-ref", format, "refs/heads", "refs/tags", "refs/remotes"];
  const told = await git.call({ args });
  if (!told.ok) return told;
  const lines = told.value.text.split("\n");
  const kept = lines.filter((line) => line !== "" && !line.includes(" refs/heads/autobuild/"));
  return succeed(kept.map((line) => `${line}\n`).join(""));
}

// ── files of the user's ────────────────────────────────────────────────────────────────────────

/**
 * Only what git ignores: what is committed comes from the commit, and what is neither is somebody's
 * work in progress. Resolves with what was brought, and what is in it.
 */
async function bringFiles(site: CheckoutSite, folder: string): Promise<Result<string[]>> {
  const { git, checkoutFiles = [] } = site;
  const root = fs.realpathSync(git.place.workTree);
  const there = checkoutFiles.filter((file) => isFileInside(root, file));
  if (there.length === 0) return succeed([]);
  const input = there.map((file) => `${file}\0`).join("");
  const asked = await git.call({
    args: ["check-ignore", "-z", "--stdin"],
    input,
    expect: [1],
    // Paths are all that it takes; told so, it refuses.
    env: { GIT_LITERAL_PATHSPECS: "0" },
  });
  if (!asked.ok) return asked;
  const ignored = asked.value.text.split("\0").filter((file) => file !== "");
  const brought: string[] = [];
  for (const file of ignored) {
    const target = path.join(folder, file);
    if (fs.lstatSync(target, { throwIfNoEntry: false })) continue;
    await mkdir(path.dirname(target), { recursive: true });
    if (!isInside(folder, fs.realpathSync(path.dirname(target)))) continue;
    await copyFile(path.join(root, file), target);
    brought.push(file);
  }
  for (const file of there) {
    if (!brought.includes(file))
      site.tell({ notice: `${file} is not ignored by git: it is not copied` });
  }
  return succeed(brought);
}

function isFileInside(root: string, file: string): boolean {
  try {
    const real = fs.realpathSync(path.join(root, file));
    return isInside(root, real) && real !== root && fs.statSync(real).isFile();
  } catch {
    return false;
  }
}

// ── dependencies ───────────────────────────────────────────────────────────────────────────────

interface SetUp {
  readonly line: Trusted;
  readonly run: string;
  readonly slot: number;
  readonly commit: string;
  /** Files of the user's that lie in the checkout. */
  readonly brought: readonly string[];
}

async function withDependencies(
  site: CheckoutSite,
  bare: CleanCheckout,
  setup: SetUp,
): Promise<Result<CleanCheckout>> {
  const { dependencies } = site;
  if (!dependencies || dependencies.folders.length === 0 || !isInstallation(setup.line.shell)) {
    return succeed(await setUp(site, bare, setup));
  }
  const key = await keyOf(site, bare, dependencies, setup);
  if (!key.ok) return key;
  const cache = dependencyFolder(site.folders.checks);
  const fromCache = async (): Promise<CleanCheckout | undefined> => {
    const entry = await findEntry(cache, key.value, bare.folder);
    return entry && { ...(await putIn(site, bare, entry, setup.run)), filled: "cache" };
  };
  const found = await fromCache();
  if (found) return succeed(found);
  return inTurn(`${cache} ${key.value}`, async () => {
    // Somebody may have filled it while we waited.
    const filled = await fromCache();
    if (filled) return succeed(filled);
    await copyFile(path.join(bare.folder, ".git", "index"), indexOf(bare.folder));
    const done = await setUp(site, bare, setup);
    if (done.setupEnded) return succeed(done);
    const installed = await whatIsNew(site, done.folder, dependencies, setup.brought);
    if (!installed.ok) return installed;
    const { folders, other } = installed.value;
    if (folders.length === 0 || other.length > 0) {
      if (other.length > 0) sayOnce(site, other);
      return succeed(done);
    }
    const { folder: place } = done;
    const copies = !(await layersAt(site.folders.checks));
    const entry = await fillEntry(cache, key.value, { place, folders, copies, marker: setup.run });
    await trimEntries(cache);
    return succeed(copies ? done : await putIn(site, done, entry, setup.run));
  });
}

async function setUp(
  site: CheckoutSite,
  bare: CleanCheckout,
  { line, run, slot }: SetUp,
): Promise<CleanCheckout> {
  const { env, hide, keep } = bare;
  const ended = await exec(line, {
    cwd: bare.folder,
    env: { ...slotEnvironment(slot), ...env },
    hide,
    keep,
    timeoutMs: site.gateMs,
    signal: site.signal,
    killNow: site.killNow,
    marker: run,
  });
  const well = ended.code === 0 && !ended.timedOut && !ended.aborted;
  return { ...bare, filled: "setup", ...(well ? {} : { setupEnded: ended }) };
}

async function keyOf(
  site: CheckoutSite,
  { folder, env }: CleanCheckout,
  dependencies: Dependencies,
  { line, commit, brought, run }: SetUp,
): Promise<Result<string>> {
  const versions = await Promise.all(
    dependencies.tools.map((tool) => versionOf(tool, site.folders.checks, env, run)),
  );
  const more = brought.flatMap((file) => [
    file,
    fs.readFileSync(path.join(folder, file), "base64"),
  ]);
  return dependencyKey(site.git, commit, { dependencies, setup: line.shell, versions, more });
}

const versions = new Map<string, Promise<string>>();

/** Asked once; a program that does not say is told apart by how it refuses. */
function versionOf(
  program: string,
  cwd: string,
  env: Surroundings["env"],
  marker: string,
): Promise<string> {
  const name = `${program} ${env["PATH"] ?? process.env["PATH"]}`;
  const ask = async (): Promise<string> => {
    const args = program === "go" ? ["version"] : ["--version"];
    const asked = await exec({ program, args }, { cwd, env, marker, timeoutMs: 30_000 });
    return `${asked.code} ${asked.notStarted ?? ""}${asked.tail.join("\n")}`;
  };
  const known = versions.get(name) ?? ask();
  versions.set(name, known);
  return known;
}

/** As a layer, where this machine has them: nothing is copied, and nothing can reach the entry. */
async function putIn(
  site: CheckoutSite,
  checkout: CleanCheckout,
  entry: Entry,
  marker: string,
): Promise<CleanCheckout> {
  const { folder } = checkout;
  if (!entry.ours || !(await layersAt(site.folders.checks))) {
    await putEntry(entry, folder, marker);
    return checkout;
  }
  await mkdir(workOf(folder));
  return { ...checkout, layer: { folder, below: entry.tree, work: workOf(folder) } };
}

const layers = new Map<string, Promise<boolean>>();

function layersAt(checks: string): Promise<boolean> {
  const name = `${checks} ${process.env["AUTODEV_NO_NAMESPACE"] ?? ""}`;
  const known = layers.get(name) ?? canLayer(checks);
  layers.set(name, known);
  return known;
}

const workOf = (folder: string): string => `${folder}.work`;
const indexOf = (folder: string): string => `${folder}.index`;

const turns = new Map<string, Promise<unknown>>();

/** Two that would install the same: the second waits, and finds what the first has installed. */
function inTurn<T>(name: string, act: () => Promise<T>): Promise<T> {
  const mine = (turns.get(name) ?? Promise.resolve()).then(act);
  const over = mine.catch(() => {});
  turns.set(name, over);
  return mine;
}

// ── what a set-up command leaves ───────────────────────────────────────────────────────────────

/**
 * The folders to keep, and everything else: with anything else, the next checkout needs the command
 * itself. By an index that the command has not seen.
 */
async function whatIsNew(
  site: CheckoutSite,
  folder: string,
  { folders }: Dependencies,
  brought: readonly string[],
): Promise<Result<{ readonly folders: string[]; readonly other: string[] }>> {
  const { commonDir } = site.git.place;
  const git = site.git.at(
    { gitDir: commonDir, workTree: folder, whole: true },
    { GIT_INDEX_FILE: indexOf(folder) },
  );
  const ask = async (...args: string[]): Promise<Result<string[]>> => {
    const told = await git.call({ args });
    return told.ok ? succeed(told.value.text.split("\0").filter((each) => each !== "")) : told;
  };
  const added = await ask("ls-files", "-z", "--others", "--directory", "--no-empty-directory");
  const changed = await ask("diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv");
  const staged = await ask("ls-files", "-z", "--stage");
  if (!added.ok) return added;
  if (!changed.ok) return changed;
  if (!staged.ok) return staged;
  const submodules = staged.value.flatMap((row) => {
    const name = row.startsWith("160000 ") ? row.slice(row.indexOf("\t") + 1) : undefined;
    return name !== undefined && listed(path.join(folder, name)).length > 0 ? [name] : [];
  });
  const { kept, other } = sortOut(folder, added.value, folders);
  const unexpected = [...other, ...changed.value, ...submodules];
  return succeed({
    folders: kept,
    other: unexpected.filter((file) => !brought.includes(file) && !byProduct.test(file)),
  });
}

/** Made again by whoever needs it. */
const byProduct = /(?:^|\/)__pycache__(?:\/|$)/;
/** Part of an editable install that lies beside its source. */
const besideSource = /\.egg-info$/;

function sortOut(
  folder: string,
  added: readonly string[],
  wanted: readonly string[],
): { readonly kept: string[]; readonly other: string[] } {
  const kept: string[] = [];
  const other: string[] = [];
  const isWanted = (name: string): boolean =>
    besideSource.test(name) ||
    wanted.some((each) => name === each || (!each.includes("/") && name.endsWith(`/${each}`)));
  const visit = (name: string): void => {
    const stat = fs.lstatSync(path.join(folder, name));
    if (stat.isDirectory() && isWanted(name)) kept.push(name);
    else if (stat.isDirectory() && wanted.some((each) => each.startsWith(`${name}/`))) {
      for (const each of listed(path.join(folder, name))) visit(`${name}/${each}`);
    } else other.push(name);
  };
  for (const each of added) visit(each.replace(/\/$/, ""));
  return { kept, other };
}

const said = new WeakSet<object>();

function sayOnce(site: CheckoutSite, other: readonly string[]): void {
  if (said.has(site.tell)) return;
  said.add(site.tell);
  const names = other.slice(0, 3).join(", ") + (other.length > 3 ? " …" : "");
  site.tell({ notice: `the set-up command also leaves ${names}: it runs for every check` });
}

// ── what commands see ──────────────────────────────────────────────────────────────────────────

function surroundingsOf({ git, folders }: CheckoutSite, folder: string): Surroundings {
  const { workTree: root, commonDir } = git.place;
  const home = process.env["HOME"] ?? os.homedir();
  const own = { PWD: folder, OLDPWD: undefined, ...pythonPath(folder, process.env["PYTHONPATH"]) };
  const cache = dependencyFolder(folders.checks);
  // A whole home is a repository: hidden, nothing of the user's tools would be left.
  const hide = [cache, ...privatePlaces()];
  if (isInside(root, home) || isInside(root, folder)) return { env: own, hide, keep: [] };
  const moved = environmentIn(folder, namesOf(root), process.env);
  const env = {
    ...moved,
    ...own,
    ...pythonPath(folder, moved["PYTHONPATH"] ?? process.env["PYTHONPATH"]),
  };
  const keep = objectFolders(commonDir).filter((each) => isInside(root, each));
  return { env, hide: [root, ...hide], keep };
}

/** Everything that leads into the user's working copy leads into the checkout. */
export function environmentIn(
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const names = roots.map((root) => root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const path = new RegExp(`(^|[:;,=\\s"']|file://)(?:${names})(?=$|[/:;,\\s"'])`, "g");
  const changes: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (ofAnotherProgram.test(name)) changes[name] = undefined;
    else {
      const moved = value.replace(path, (_, before: string) => `${before}${folder}`);
      if (moved !== value) changes[name] = moved;
    }
  }
  return changes;
}

/** What a package manager or a test runner tells the programs that it starts: us, this time. */
const ofAnotherProgram =
  /^(?:INIT_CWD|npm_(?:package_.*|lifecycle_.*|command|config_local_prefix)|NODE_TEST_CONTEXT|VITEST(?:_.*)?|JEST_WORKER_ID|PYTEST_(?:CURRENT_TEST|VERSION|XDIST_.*))$/;

/** An editable install, wherever it was made, comes after what the environment names. */
function pythonPath(folder: string, given: string | undefined): { PYTHONPATH?: string } {
  const has = (name: string): boolean => fs.existsSync(path.join(folder, name));
  if (!["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"].some(has)) return {};
  const own = [...(has("src") ? [path.join(folder, "src")] : []), folder];
  return { PYTHONPATH: [...own, ...(given ? [given] : [])].join(path.delimiter) };
}

/** A shell calls a folder by the links that led it there. */
function namesOf(root: string): string[] {
  const { PWD: here = "" } = process.env;
  const names = new Set([root, realPath(root)]);
  const rest = path.relative(realPath(root), realPath(here));
  if (here !== "" && !rest.startsWith("..") && here.endsWith(rest)) {
    names.add(here.slice(0, here.length - rest.length).replace(/(.)\/$/, "$1"));
  }
  return [...names];
}

/** The repository's, and those that it borrows from. */
function objectFolders(commonDir: string): string[] {
  const folders = [path.join(commonDir, "objects")];
  for (const each of folders) {
    const file = path.join(each, "info", "alternates");
    const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n") : [];
    const more = lines.filter((line) => line !== "" && !line.startsWith("#"));
    for (const line of more.map((name) => path.resolve(each, name))) {
      if (!folders.includes(line) && folders.length < 100) folders.push(line);
    }
  }
  return folders;
}

function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return file;
  }
}

const isInside = (folder: string, file: string): boolean =>
  file === folder || file.startsWith(`${folder}/`);

function listed(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}
