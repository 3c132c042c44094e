/**
 * What a set-up command installs, kept for the next checkout that would get the same.
 *
 *  1. The key names everything that the command reads. Only commands that install and do nothing
 *     else are spared (`isInstallation`); if scripts of the tree run meanwhile, the key is the tree.
 *  2. An entry appears whole or not at all: it is filled under another name and renamed.
 *  3. No command ever writes into an entry. Checkouts get it as the lower layer of an overlay, or
 *     as a copy (a reflink where the disk has them). Hard links would share the inode: whoever owns
 *     it, or is root, writes through it whatever its mode says.
 *  4. An entry that is not as it was left is not used. Every file's ctime is part of its seal, and
 *     a ctime cannot be set.
 *  5. An entry that holds the path of the checkout in which it was made (virtual environments,
 *     editable installs, shims) is used in a checkout at that very path, and nowhere else.
 */
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { chmod, mkdir, readdir, rename, utimes, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { z } from "zod";
import { type Result, succeed } from "./core/failure.ts";
import { isNameAlive, ourName } from "./exec/process-table.ts";
import { type Ended, exec } from "./exec.ts";
import type { Git } from "./git/call.ts";
import { removeFolder } from "./git/worktrees.ts";

export interface Dependencies {
  /** What the set-up command fills: `node_modules`, `.venv`. A bare name counts at any depth. */
  readonly folders: readonly string[];
  /** What it reads: lock files, manifests. A bare name counts at any depth. */
  readonly keyFiles: readonly string[];
  /** Programs whose version makes a difference. */
  readonly tools: readonly string[];
}

export interface Entry {
  readonly folder: string;
  /** As it lies in a checkout: `node_modules`, `packages/a/node_modules` … */
  readonly tree: string;
  /** All of it is ours: in a user namespace, what is not cannot be changed, not even a copy. */
  readonly ours: boolean;
}

// ── keys ───────────────────────────────────────────────────────────────────────────────────────

/** Everything kept before is void when this changes. */
const formatVersion = 1;

export async function dependencyKey(
  git: Git,
  commit: string,
  {
    dependencies,
    setup,
    versions,
    more,
  }: {
    readonly dependencies: Dependencies;
    readonly setup: string;
    /** Of the tools, in their order. */
    readonly versions: readonly string[];
    /** Other bytes that lie in the checkout before the command runs. */
    readonly more: readonly string[];
  },
): Promise<Result<string>> {
  const listed = await git.call({ args: ["ls-tree", "-r", "-z", "--full-tree", commit] });
  if (!listed.ok) return listed;
  const files = listed.value.text.split("\0").flatMap((row) => {
    const [, mode, blob, file] = /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]+)$/.exec(row) ?? [];
    return mode && blob && file ? [{ mode, blob, file }] : [];
  });
  const keyed = files.filter(({ file }) => isKeyFile(file, dependencies.keyFiles));
  const texts = await textsOf(
    git,
    keyed.filter(({ file }) => mayNameFiles.test(file)),
  );
  if (!texts.ok) return texts;
  const known = !copiesFiles.test(setup) && texts.value.every((each) => staysWithin(each, setup));
  // A link's blob says where it leads, not what is there.
  const linked = keyed.some(({ mode }) => mode === "120000");
  const read = known && !linked ? keyed : files;
  const parts = [
    formatVersion,
    setup,
    [process.platform, process.arch, libc(), os.release().split(".")[0]],
    [dependencies.tools, versions],
    dependencies.folders,
    dependencies.keyFiles,
    read.map(({ mode, blob, file }) => [mode, blob, file]),
    more,
  ];
  return succeed(createHash("sha256").update(JSON.stringify(parts)).digest("hex"));
}

/** What installers read beside what a project declares: their settings, patches, plugins. */
const alwaysKeyed =
  /(?:^|\/)(?:package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|\.pnpmfile\.c?js|yarn\.lock|bun\.lockb?|\.npmrc|\.yarnrc(?:\.yml)?|bunfig\.toml|pyproject\.toml|setup\.(?:py|cfg)|MANIFEST\.in|uv\.lock|poetry\.lock|pdm\.lock|Pipfile(?:\.lock)?|[^/]*(?:requirements|constraints)[^/]*\.(?:txt|in)|Gemfile(?:\.lock)?|[^/]+\.gemspec|composer\.(?:json|lock)|\.(?:nvmrc|node-version|python-version|ruby-version|tool-versions))$|(?:^|\/)(?:patches|\.yarn|requirements)\//;

function isKeyFile(file: string, named: readonly string[]): boolean {
  return (
    alwaysKeyed.test(file) ||
    named.some((name) => file === name || (!name.includes("/") && file.endsWith(`/${name}`)))
  );
}

/** Key files that can make an installer read others. */
const mayNameFiles =
  /(?:^|\/)(?:package\.json|pnpm-lock\.yaml|yarn\.lock|\.npmrc|Pipfile|pyproject\.toml|[^/]*requirements[^/]*\.(?:txt|in))$|(?:^|\/)requirements\//;

interface Text {
  readonly file: string;
  readonly text: string;
}

async function textsOf(
  git: Git,
  files: readonly { readonly blob: string; readonly file: string }[],
): Promise<Result<Text[]>> {
  if (files.length === 0) return succeed([]);
  const input = files.map(({ blob }) => `${blob}\n`).join("");
  const read = await git.call({ args: ["cat-file", "--batch"], input });
  if (!read.ok) return read;
  const { out } = read.value;
  let at = 0;
  const texts = files.map(({ file }) => {
    const start = out.indexOf(10, at) + 1;
    const size = Number(out.toString("latin1", at, start).split(" ")[2]);
    at = start + size + 1;
    return { file, text: out.toString("utf8", start, start + size) };
  });
  return succeed(texts);
}

/**
 * Whether the command installs what its key files name, and does nothing else: of any other nobody
 * knows what it reads, or what it does beside the folders.
 */
export function isInstallation(setup: string): boolean {
  const commands = setup.split(/&&|;|\n/).map((each) => each.trim());
  return commands
    .filter((each) => each !== "")
    .every((each) => installers.some((installer) => installer.test(each)));
}

/** Each way to read it is the only one: a pattern with two takes for ever to say no. */
const flag = " -(?:-|(?![rce] ))\\w[\\w-]*(?:=[\\w./:@-]+)?";
const bin = "(?:[\\w./-]*bin/)?";
/** A name from an index; a file of names; a package of the tree, linked and not copied. */
const wanted = [
  ' "?[A-Za-z0-9][\\w-]*(?:\\[[\\w,-]+\\])?(?:[=<>~!]=?[\\w.*,<>=-]+)?"?',
  " -[rc] [\\w./-]+",
  ' (?:-e|--editable) "?[\\w./-]+(?:\\[[\\w,-]+\\])?"?',
].join("|");

const installers: readonly RegExp[] = [
  `npm (?:ci|i|install|clean-install)(?:${flag})*`,
  `(?:corepack )?(?:pnpm|bun) (?:i|install)(?:${flag})*`,
  `(?:corepack )?yarn(?: install)?(?:${flag})*`,
  "corepack enable",
  `${bin}python3?(?:\\.\\d+)? -m venv(?:${flag})* [\\w./-]+`,
  `uv venv(?:${flag})*(?: [\\w./-]+)?`,
  `(?:${bin}(?:pip3?|python3? -m pip)|uv pip) install(?:${wanted}|${flag})+`,
  `(?:uv|pdm|pipenv) sync(?:${flag})*`,
  `(?:poetry|pdm|pipenv|bundle|composer) install(?:${flag})*`,
].map((each) => new RegExp(`^(?:[A-Z][A-Z0-9_]*=[\\w./-]* )*(?:${each})$`));

/** No script of the tree runs while installing, and no file of it is copied. */
function staysWithin({ file, text }: Text, setup: string): boolean {
  if (path.basename(file) !== "package.json") return !copiesFiles.test(text);
  if (setup.includes("--ignore-scripts")) return true;
  const scripts = scriptsOf(text);
  if (scripts === undefined) return false;
  return duringInstall.every((name) => {
    const script = scripts[name] ?? "true";
    return typeof script === "string" && readsNothing.test(script.trim());
  });
}

/** In lock files, in manifests of Python's, and as a line of its own among requirements. */
const copiesFiles = /\bfile:|\binstall-links\b|\bpath\s*=|^\s*(?:\.{1,2}(?:[/[\s]|$)|\/)/m;

const duringInstall =
  "preinstall install postinstall prepublish preprepare prepare postprepare".split(" ");

/** Hooks for git, and patches, which are key files. */
const readsNothing =
  /^(?:(?:is-ci|pinst --disable|test -n "?\$CI"?) *(?:\|\||&&) *)?(?:husky(?: install)?|lefthook install|simple-git-hooks|patch-package|true)(?: *\|\| *true)?$/;

function scriptsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const { scripts = {} } = JSON.parse(text.replace(/^\ufeff/, "")) as {
      scripts?: Record<string, unknown>;
    };
    return scripts;
  } catch {
    return undefined;
  }
}

const libc = (): string =>
  process.platform === "linux" && fs.readdirSync("/lib").some((name) => name.startsWith("ld-musl"))
    ? "musl"
    : "";

// ── entries ────────────────────────────────────────────────────────────────────────────────────

/** For any checkout, or for the one at `place` alone. */
const idsOf = (
  key: string,
  place: string,
): { readonly anywhere: string; readonly here: string } => ({
  anywhere: key.slice(0, 40),
  here: createHash("sha256").update(`${key}\0${place}`).digest("hex").slice(0, 40),
});

/** Undefined: there is none, or not one that is as it was left; that one is removed. */
export async function findEntry(
  cache: string,
  key: string,
  place: string,
): Promise<Entry | undefined> {
  const ids = idsOf(key, place);
  for (const id of [ids.anywhere, ids.here]) {
    const folder = path.join(cache, id);
    const label = labelOf(folder);
    if (!label) continue;
    const tree = path.join(folder, "tree");
    const sealed = await sealOf(tree).catch(() => undefined);
    if (sealed?.seal === label.seal) {
      const now = new Date();
      await utimes(path.join(folder, labelName), now, now);
      inUse.add(folder);
      return { folder, tree, ours: label.ours };
    }
    await discard(cache, folder);
  }
  return undefined;
}

/**
 * Makes the folders of a checkout at `place` an entry. Whoever comes second with the same key finds
 * the first one's. Throws when the disk does not play along; no entry is there then.
 */
export async function fillEntry(
  cache: string,
  key: string,
  checkout: {
    readonly place: string;
    readonly folders: readonly string[];
    /** The entry has copies, and they stay where they are; else they are gone from there. */
    readonly copies: boolean;
    readonly marker: string;
  },
): Promise<Entry> {
  const { place, folders, copies, marker } = checkout;
  await tidy(cache);
  const filling = path.join(cache, temporaryName("filling"));
  const tree = path.join(filling, "tree");
  await mkdir(tree, { recursive: true });
  for (const name of folders) {
    const [from, to] = [path.join(place, name), path.join(tree, name)];
    await mkdir(path.dirname(to), { recursive: true });
    if (copies) await copyTree(from, to, marker);
    else await rename(from, to);
  }
  const sealed = await sealOf(tree, place);
  const ids = idsOf(key, place);
  const bound = sealed.leadsTo || (await holdsText(tree, place, marker));
  const id = bound ? ids.here : ids.anywhere;
  const { seal, bytes, ours } = sealed;
  const label: Label = { seal, bytes, ours };
  await writeFile(path.join(filling, labelName), JSON.stringify(label), { flush: true });
  await sync(filling, marker);
  // The rest is as the installer left it: in a layer, modes are what a command meets.
  await chmod(filling, 0o500);
  const folder = path.join(cache, id);
  try {
    await rename(filling, folder);
  } catch (error) {
    await removeFolder(filling);
    if (!isTaken(error)) throw error;
  }
  const entry = await findEntry(cache, key, place);
  if (!entry) throw new Error(`${folder} is not as it was left a moment ago`);
  return entry;
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ENOTEMPTY", "EEXIST"].includes(String(error.code));

/** What the entry holds, in a checkout without layers. */
export const putEntry = (entry: Entry, folder: string, marker: string): Promise<void> =>
  copyTree(`${entry.tree}/.`, folder, marker);

/** The oldest go until the rest is within the cap; none that we use, or somebody just has. */
export async function trimEntries(cache: string, mostBytes = 10 * 1024 ** 3): Promise<void> {
  const entries = listed(cache).flatMap((name) => {
    const folder = path.join(cache, name);
    const label = labelOf(folder);
    return label ? [{ folder, ...label }] : [];
  });
  const newestFirst = entries.toSorted((one, other) => other.used - one.used);
  let sum = 0;
  for (const { folder, bytes, used } of newestFirst) {
    sum += bytes;
    const free = !inUse.has(folder) && used < Date.now() - justNow;
    if (sum > mostBytes && free) await discard(cache, folder);
  }
}

export interface ListedEntry {
  readonly folder: string;
  readonly bytes: number;
  readonly used: number;
  /** Of a process that was killed while it filled or removed it. */
  readonly isHalf: boolean;
}

export const listEntries = (cache: string): ListedEntry[] =>
  listed(cache).flatMap((name): ListedEntry[] => {
    const folder = path.join(cache, name);
    const label = labelOf(folder);
    if (label) return [{ folder, bytes: label.bytes, used: label.used, isHalf: false }];
    const whose = temporary.exec(name)?.[1];
    const isHalf = whose !== undefined && !isNameAlive(whose);
    return isHalf ? [{ folder, bytes: 0, used: 0, isHalf }] : [];
  });

/** One of those that are listed. */
export const removeEntry = (cache: string, folder: string): Promise<void> =>
  temporary.test(path.basename(folder)) ? removeFolder(folder) : discard(cache, folder);

const justNow = 60 * 60_000;
const inUse = new Set<string>();

const labelName = "label.json";
const Label = z.object({ seal: z.string(), bytes: z.number(), ours: z.boolean() });
type Label = z.infer<typeof Label>;

function labelOf(folder: string): (Label & { readonly used: number }) | undefined {
  const file = path.join(folder, labelName);
  try {
    if (temporary.test(path.basename(folder))) return undefined;
    const used = fs.statSync(file).mtimeMs;
    return { ...Label.parse(JSON.parse(fs.readFileSync(file, "utf8"))), used };
  } catch {
    return undefined;
  }
}

// ── what a disk is asked for ───────────────────────────────────────────────────────────────────

interface Sealed extends Label {
  /** A link in it names the place in which it was made. */
  readonly leadsTo: boolean;
}

/** Names, kinds, modes, sizes and times of everything below, in one hash. */
async function sealOf(tree: string, place = tree): Promise<Sealed> {
  const hash = createHash("sha256");
  const [user, group] = [process.geteuid?.(), process.getegid?.()];
  let [bytes, ours, leadsTo] = [0, true, false];
  const visit = async (folder: string, name: string): Promise<void> => {
    const found = await readdir(folder, { withFileTypes: true });
    for (const entry of found.sort(byName)) {
      const file = path.join(folder, entry.name);
      const inside = `${name}/${entry.name}`;
      const stat = fs.lstatSync(file, { bigint: true });
      const { mode, uid, gid, size, mtimeNs, ctimeNs } = stat;
      const link = stat.isSymbolicLink() ? fs.readlinkSync(file) : "";
      hash.update(
        JSON.stringify([inside, link, `${mode} ${uid} ${gid} ${size} ${mtimeNs} ${ctimeNs}`]),
      );
      bytes += Number(size);
      ours &&= Number(uid) === user && Number(gid) === group;
      leadsTo ||= link === place || link.startsWith(`${place}/`);
      if (stat.isDirectory()) await visit(file, inside);
    }
  };
  await visit(tree, "");
  return { seal: hash.digest("hex"), bytes, ours, leadsTo };
}

const byName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : 1;

/** Anything but a plain no counts as yes. */
async function holdsText(tree: string, text: string, marker: string): Promise<boolean> {
  const grep = { program: "grep", args: ["-r", "-q", "-F", "-e", text, "--", tree] };
  return (await exec(grep, { cwd: tree, marker })).code !== 1;
}

async function copyTree(from: string, to: string, marker: string): Promise<void> {
  const ways =
    process.platform === "darwin"
      ? [
          ["-c", "-R", "-p", "-P"],
          ["-R", "-p", "-P"],
        ]
      : [["-a", "--reflink=auto"], ["-a"]];
  let ended: Ended | undefined;
  for (const way of ways) {
    ended = await exec({ program: "cp", args: [...way, "--", from, to] }, { cwd: "/", marker });
    if (ended.code === 0) return;
  }
  throw new Error(`${from} cannot be copied to ${to}: ${ended?.tail.at(-1) ?? ended?.notStarted}`);
}

/** A label that outlives a power cut must not speak of files that do not. */
async function sync(folder: string, marker: string): Promise<void> {
  const args = process.platform === "linux" ? ["-f", folder] : [];
  await exec({ program: "sync", args }, { cwd: "/", marker });
}

const temporaryName = (what: "filling" | "gone"): string => `${what}-${ourName()}-${randomUUID()}`;
const temporary = /^(?:filling|gone)-([\dt]+)-/;

/** Out of sight first: half an entry must not look like one. */
async function discard(cache: string, folder: string): Promise<void> {
  const gone = path.join(cache, temporaryName("gone"));
  await rename(folder, gone);
  await removeFolder(gone);
}

/** What processes have left that are no more. */
async function tidy(cache: string): Promise<void> {
  for (const name of listed(cache)) {
    const whose = temporary.exec(name)?.[1];
    if (whose !== undefined && !isNameAlive(whose)) await removeFolder(path.join(cache, name));
  }
}

function listed(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}
