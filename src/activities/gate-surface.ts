/**
 * What the gates are made of, and whether it is still what it was: files of the tree, programs on
 * the path, hooks and configuration of git. Compared, not judged.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { homedir } from "node:os";
import { join, posix } from "node:path";
import { isReadByAny } from "../core/agent/known.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { Gate } from "../core/plan/run-event.ts";
import type { SurfaceEntry } from "../core/trust.ts";
import type { SurfaceChange } from "../core/verification/facts.ts";
import { found } from "../exec/find-program.ts";
import { isSnapshotFile, isTestFile } from "../formats/test-code.ts";
import type { Change } from "../git/trees.ts";
import { shown } from "../safe-text.ts";
import { gateSurface, mayDefineGates } from "../stack.ts";
import { type ApprovalOptions, hooksOf, readingTree, surfaceFor } from "./approve.ts";
import type { RunSite } from "./run-site.ts";

export async function surfaceChanges(
  site: Pick<RunSite, "surfaceAt">,
  gates: readonly Gate[],
  { onto, commit, changes }: { onto: string; commit: string; changes: readonly Change[] },
): Promise<Result<SurfaceChange[]>> {
  const settings = changes.filter(({ path }) => path.startsWith(".autodev/")).map(ownSettings);
  const before = await site.surfaceAt(onto);
  if (!before.ok) return before;
  const files = new Set([...before.value.keys()].map(fileOf));
  // Most phases touch none of it: then nothing has to be read.
  if (!changes.some(({ path }) => files.has(path) || mayDefineGates(path) || isReadByAny(path)))
    return succeed(settings);
  const after = await site.surfaceAt(commit);
  if (!after.ok) return after;
  const names = new Set([...before.value.keys(), ...after.value.keys()]);
  const scripts = before.value.get("package.json#scripts") ?? "";
  const changed = [...names].flatMap((name) => {
    const change = compared(name, before.value.get(name), after.value.get(name), gates, scripts);
    return change && !change.file.startsWith(".autodev/") ? [change] : [];
  });
  return succeed([...settings, ...changed]);
}

/** Read once a commit: the tip of a run is asked for by every phase. */
export function surfacesOf(
  optionsAt: (commit: string) => ApprovalOptions,
): Pick<RunSite, "surfaceAt" | "surfaceHash"> {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const surfaceAt = async (commit: string): Promise<Result<ReadonlyMap<string, string>>> => {
    const before = known.get(commit);
    if (before) return succeed(before);
    const options = optionsAt(commit);
    const approved = await surfaceFor(options);
    if (!approved.ok) return approved;
    const detected = await readingTree(options.git, commit, (paths, read) =>
      gateSurface(paths, (path) => read(path)?.toString("utf8")),
    );
    if (!detected.ok) return detected;
    const scripts = approved.value.filter(
      ({ kind, name }) => kind === "script" && (defines(name) || isReadByAny(fileOf(name))),
    );
    const named = await readingTree(options.git, commit, (paths, read) => {
      const known = new Set(paths);
      const settings = scripts.flatMap(({ name, text }) => settingsNamedIn(fileOf(name), text));
      return settings.flatMap((path): [string, string][] => {
        const text = known.has(path) ? read(path) : undefined;
        return text ? [[path, text.toString("utf8")]] : [];
      });
    });
    if (!named.ok) return named;
    const all = new Map([
      ...named.value,
      ...scripts.map(({ name, text }): [string, string] => [name, text]),
      ...detected.value,
    ]);
    if (known.size > mostKnown) known.clear();
    known.set(commit, all);
    return succeed(all);
  };
  return {
    surfaceAt,
    async surfaceHash(commit) {
      const surface = await surfaceAt(commit);
      if (!surface.ok) return surface;
      const entries = [...surface.value].sort(([a], [b]) => (a < b ? -1 : 1));
      return succeed(createHash("sha256").update(JSON.stringify(entries)).digest("hex"));
    },
  };
}

const mostKnown = 50;

/**
 * A command names what it runs, and also what it is run on: the project's own code, its tests, its
 * data. Those are what the phases are about.
 */
const defines = (name: string): boolean => {
  const file = fileOf(name);
  return !isTestFile(file) && !isSnapshotFile(file) && !ownCode.test(file) && !data.test(file);
};
const ownCode = /(?:^|\/)(?:src|lib|app|pkg|internal|cmd)\//;
const data = /\.(?:txt|md|csv|tsv|html?|css|svg|png|jpe?g|gif|pdf|log|lock)$/i;

/** The settings that a gate's own program reads: a text in it that has such a file's name. */
function settingsNamedIn(program: string, text: string): string[] {
  const folder = posix.dirname(program);
  return [...text.matchAll(/["'`]((?:[\w.@-]+\/)*[\w.@-]+)["'`]/g)]
    .map((match) => match[1] ?? "")
    .filter((word) =>
      /(?:rc|\.(?:json|jsonc|json5|ya?ml|toml|ini|cfg|conf|config|xml|properties))$/.test(word),
    )
    .flatMap((word) => [posix.normalize(word), posix.normalize(posix.join(folder, word))])
    .filter(
      (path) =>
        !path.startsWith("../") && !/(?:^|\/)(?:package(?:-lock)?|composer)\.json$/.test(path),
    );
}

const ownSettings = ({ path, old, now }: Change): SurfaceChange => ({
  name: path,
  file: path,
  is: old === null ? "added" : now === null ? "removed" : "changed",
});

/** `package.json#scripts` is a part of `package.json`. */
const fileOf = (name: string): string => name.replace(/^\.\//, "").replace(/#[\w.-]+$/, "");

function compared(
  name: string,
  was: string | undefined,
  is: string | undefined,
  gates: readonly Gate[],
  scripts: string,
): SurfaceChange | undefined {
  if (was === is) return undefined;
  const file = fileOf(name);
  if (was === undefined) {
    if (isUnusedPackage(name, gates, scripts)) return undefined;
    const introduces = !isReadByAny(file) && isAbsent(gateOf(name), gates);
    return { name, file, is: "added", ...(introduces && { introduces }) };
  }
  if (is === undefined) return { name, file, is: "removed" };
  if (name.endsWith("#scripts")) return comparedScripts(name, was, is, gates);
  return { name, file, is: "changed", detail: firstDifference(was, is) };
}

/** A new package that no gate and no script calls: what a phase needs, not what judges it. */
function isUnusedPackage(name: string, gates: readonly Gate[], scripts: string): boolean {
  const added = /#\w*[dD]ependencies\.(.+)$/.exec(name)?.[1];
  if (added === undefined) return false;
  const program = added.slice(added.lastIndexOf("/") + 1);
  return ![scripts, ...gates.map(({ command }) => command ?? "")].some((text) =>
    text.includes(program),
  );
}

/** A script that was not there changes nothing, unless it runs before or after one that was. */
function comparedScripts(
  name: string,
  was: string,
  is: string,
  gates: readonly Gate[],
): SurfaceChange | undefined {
  const [before, after] = [scriptsIn(was), scriptsIn(is)];
  const file = fileOf(name);
  const differs = Object.keys(before).find((key) => before[key] !== after[key]);
  if (differs !== undefined) {
    const [from, to] = [before[differs] ?? "", after[differs]];
    const detail = `${differs}: ${short(from)} → ${to === undefined ? "gone" : short(to)}`;
    return { name, file, is: "changed", detail };
  }
  const added = Object.keys(after).filter((key) => !(key in before));
  const around = added.find((key) => {
    const of = /^(?:pre|post)(.+)$/.exec(key)?.[1];
    return of !== undefined && (of in before || lifecycle.has(key));
  });
  if (around !== undefined) {
    return { name, file, is: "changed", detail: `${around}: ${short(after[around] ?? "")}` };
  }
  const [first] = added;
  const introduces = added.some((key) => isAbsent(key, gates));
  return first === undefined || !introduces
    ? undefined
    : { name, file, is: "added", detail: first, introduces: true };
}

const lifecycle: ReadonlySet<string> = new Set(["preinstall", "postinstall", "prepare"]);

function scriptsIn(text: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]))
      : {};
  } catch {
    return { "": text };
  }
}

/** The gate that a file concerns, by its name; what says nothing else concerns the tests. */
function gateOf(name: string): string {
  if (
    /eslint|oxlint|stylelint|ruff|flake8|pylint|golangci|clippy|rubocop|phpcs|phpstan|checkstyle|ktlint/i.test(
      name,
    )
  )
    return "lint";
  if (/prettier|dprint|rustfmt|editorconfig|clang-format|php-cs-fixer/i.test(name)) return "format";
  return /tsconfig|mypy|pyright|psalm/i.test(name) ? "typecheck" : "test";
}

const isAbsent = (gate: string, gates: readonly Gate[]): boolean =>
  gates.every(({ command }) => command === null) ||
  gates.some(
    ({ name, command, reason }) =>
      name === gate && command === null && reason?.startsWith("dropped") !== true,
  );

function firstDifference(was: string, is: string): string {
  const [from, to] = [was.split("\n"), is.split("\n")];
  const at = to.findIndex((line, index) => line !== from[index]);
  const line = at < 0 ? (from[to.length] ?? "") : (to[at] ?? "");
  return `${at < 0 ? "without" : "now"} ${short(line.trim())}`;
}

const short = (text: string): string => {
  const plain = shown(text).replace(/\s+/g, " ");
  return `“${plain.length > 80 ? `${plain.slice(0, 80)}…` : plain}”`;
};

// ── programs ───────────────────────────────────────────────────────────────────────────────────

export interface Tool {
  readonly path: string;
  /** A hash, or for what is large its size and time: enough to see that it is another. */
  readonly print: string;
}

/** By the word for it; undefined: there is no such program. */
export type Tools = Map<string, Tool | undefined>;

/** Every program that the commands could mean, where it lies and what it is; and what they read. */
export function toolsOf(commands: readonly string[]): Tools {
  const words = commands.flatMap((text) => text.match(/[A-Za-z0-9_][\w.+-]*/g) ?? []);
  const searchPath = process.env["PATH"] ?? "";
  const tools: Tools = new Map();
  for (const word of new Set(["sh", "git", "node", ...words].slice(0, mostWords))) {
    const at = found(word, searchPath);
    tools.set(word, at === undefined ? undefined : toolAt(at));
  }
  for (const name of atHome) {
    tools.set(`~/${name}`, toolAt(join(homedir(), name)));
  }
  return tools;
}

/** Settings that package managers, build tools and git read from a home: they can name programs. */
const atHome = [
  ".npmrc .yarnrc .yarnrc.yml .pnpmrc .config/pnpm/rc .bunfig.toml .gitconfig .config/git/config",
  ".config/pip/pip.conf .pip/pip.conf .pydistutils.cfg .config/composer/config.json .gemrc .rspec",
  ".cargo/config.toml .cargo/config .m2/settings.xml .mavenrc .gradle/gradle.properties",
  ".gradle/init.gradle .nuget/NuGet/NuGet.Config .config/go/env",
].flatMap((line) => line.split(" "));

const mostWords = 300;
const mostHashed = 4 * 1024 * 1024;

/** Of programs that were looked at before: they are asked for after each attempt. */
const hashed = new Map<string, { readonly stamp: string; readonly print: string }>();

function toolAt(program: string): Tool | undefined {
  try {
    const real = fs.realpathSync(program);
    const { size, mtimeMs, ctimeMs, ino } = fs.statSync(real);
    if (size > mostHashed) return { path: program, print: `${size} ${mtimeMs} ${ino}` };
    // By a time that nobody can set, unlike that of its content.
    const stamp = `${size} ${ctimeMs} ${ino}`;
    const seen = hashed.get(real);
    if (seen?.stamp === stamp) return { path: program, print: seen.print };
    const print = createHash("sha256").update(fs.readFileSync(real)).digest("hex");
    hashed.set(real, { stamp, print });
    return { path: program, print };
  } catch {
    return undefined;
  }
}

/** A sentence for each that is another than when the run was opened. */
export function changedTools({ tools, commands }: Pick<RunSite, "tools" | "commands">): string[] {
  return [...toolsOf(commands())].flatMap(([name, is]) => {
    // A command that a phase brought along: it is compared from now on.
    if (!tools.has(name)) tools.set(name, is);
    const was = tools.get(name);
    if (was?.path === is?.path && was?.print === is?.print) return [];
    if (!was)
      return is ? [`${name} is now ${is.path}; there was none when the run was opened`] : [];
    if (!is) return [`${name} (${was.path}) is gone`];
    if (was.path !== is.path) return [`${name} is now ${is.path}; it was ${was.path}`];
    return [`${name} (${is.path}) has another content than when the run was opened`];
  });
}

// ── hooks ──────────────────────────────────────────────────────────────────────────────────────

/** A sentence for each hook or setting of git that is not what it was when the run was opened. */
export async function changedHooks(site: RunSite): Promise<Result<string[]>> {
  const now = await hooksOf(site.git);
  if (!now.ok) return now;
  const byName = (entries: readonly SurfaceEntry[]): Map<string, string> =>
    new Map(entries.map(({ name, text }) => [name, text]));
  const [was, is] = [byName(site.hooks), byName(now.value)];
  return succeed(
    [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
      if (was.get(name) === is.get(name)) return [];
      const how = !was.has(name) ? "is new" : !is.has(name) ? "is gone" : "has changed";
      return [
        `${name} ${how} since the run was opened: git would run it; remove it, or autodev trust`,
      ];
    }),
  );
}
