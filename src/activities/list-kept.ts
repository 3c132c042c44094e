/** Everything that autodev keeps on disk for a repository, beside its memory proper; changes nothing. */
import * as fs from "node:fs";
import * as path from "node:path";
import { currentRun, type ProjectState } from "../core/evolve.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { KeptThing } from "../core/keep.ts";
import { listEntries } from "../dependency-cache.ts";
import { isNameAlive } from "../exec/process-table.ts";
import type { Git } from "../git/call.ts";
import { dependencyFolder } from "./clean-checkout.ts";
import type { RunFolders } from "./run-site.ts";
import { enteredAt, isChanged, shellTrees, usersOf } from "./shell-tree.ts";

export interface KeptPlace {
  readonly git: Git;
  readonly root: string;
  readonly folders: RunFolders;
  readonly state: ProjectState;
}

export async function listKept(place: KeptPlace): Promise<Result<KeptThing[]>> {
  const runs = await runsKept(place);
  if (!runs.ok) return runs;
  return succeed([
    ...transcriptsKept(place.folders, currentRun(place.state)?.id),
    ...checkoutsKept(place.folders),
    ...dependenciesKept(place.folders),
    ...(await shellsKept(place)),
    ...rescued(place),
    ...runs.value,
  ]);
}

const runId = /^r[0-9a-f]{10}$/;

/** One look at a folder, and one at each file in it. */
export function transcriptsKept(
  { transcripts }: Pick<RunFolders, "transcripts">,
  current: string | undefined,
): KeptThing[] {
  return foldersIn(transcripts)
    .filter((run) => runId.test(run))
    .flatMap((run) =>
      entriesIn(path.join(transcripts, run)).flatMap(({ name, stat, file }): KeptThing[] => {
        const { size: bytes, mtimeMs: at } = stat;
        const own = run === current && { current: true as const };
        return stat.isFile() && name.endsWith(".log")
          ? [{ kind: "transcript", name: `${run}/${name}`, place: file, bytes, at, ...own }]
          : [];
      }),
    );
}

/** None is under way: whoever cleans holds the repository. Only an audit does without that. */
function checkoutsKept({ checks }: RunFolders): KeptThing[] {
  const audits = `${path.basename(checks)}-audit-`;
  const beside = foldersIn(path.dirname(checks)).filter((name) => name.startsWith(audits));
  return [
    ...foldersIn(checks)
      .filter((name) => /^(?:slot|gone|layer)-/.test(name))
      .map((name) => folderAs("checkout", path.join(checks, name), { spent: true })),
    ...beside.map((name) => {
      const whose = /^[\dt]+/.exec(name.slice(audits.length))?.[0] ?? "";
      const how = isNameAlive(whose)
        ? { stays: "an audit is under way" }
        : { spent: true as const };
      return folderAs("checkout", path.join(path.dirname(checks), name), how);
    }),
  ];
}

const dependenciesKept = ({ checks }: RunFolders): KeptThing[] =>
  listEntries(dependencyFolder(checks)).map(({ folder, bytes, used, isHalf }) => ({
    kind: "dependencies",
    name: path.basename(folder),
    place: folder,
    bytes,
    at: used,
    ...(isHalf && { spent: true as const }),
  }));

async function shellsKept({ git, root }: KeptPlace): Promise<KeptThing[]> {
  const { trees, halfMade } = shellTrees(git);
  const things: KeptThing[] = [];
  const named = (folder: string): { name: string } => ({
    name: path.relative(root, folder).startsWith("..") ? folder : path.relative(root, folder),
  });
  for (const tree of trees) {
    const how =
      usersOf(tree).length > 0
        ? { stays: "somebody is in it" }
        : (await isChanged(tree))
          ? { precious: true as const }
          : { spent: true as const };
    things.push({ ...folderAs("shell", tree.path, how), ...named(tree.path), at: enteredAt(tree) });
  }
  const half = halfMade.map((folder) => ({
    ...folderAs("shell", folder, { spent: true }),
    ...named(folder),
  }));
  return [...things, ...half];
}

/** `--fresh` puts the earlier run's files there; everything else may be somebody's. */
function rescued({ git }: KeptPlace): KeptThing[] {
  const rescue = path.join(git.place.commonDir, "autodev", "rescue");
  return entriesIn(rescue).map(({ name, file, stat }): KeptThing => {
    const aside = stat.isDirectory() ? setAsideAt(name) : undefined;
    const bytes = stat.isDirectory() ? bytesIn(file) : stat.size;
    const about = { name: `rescue/${name}`, place: file, bytes };
    // Something that was moved there keeps the time of its content; not that of its move.
    return aside === undefined
      ? { kind: "rescue", ...about, at: Math.max(stat.ctimeMs, stat.mtimeMs), precious: true }
      : { kind: "set-aside", ...about, at: aside };
  });
}

/** When, by its name. */
function setAsideAt(name: string): number | undefined {
  const at = /^autobuild-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(name);
  if (!at) return undefined;
  const [, year, month, date, hours, minutes, seconds, ms] = at;
  const time = Date.parse(`${year}-${month}-${date}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Refs of runs; their objects are git's to collect. Receipts are under a name of their own. */
async function runsKept({ git, state }: KeptPlace): Promise<Result<KeptThing[]>> {
  const listed = await refsOfRuns(git);
  if (!listed.ok) return listed;
  const current = currentRun(state)?.id;
  return succeed(
    [...listed.value].map(([id, refs]): KeptThing => {
      const run = state.runs?.[id];
      const over = run !== undefined && (run.aside !== undefined || run.ended !== undefined);
      const stays =
        id === current
          ? "the current run"
          : run === undefined
            ? "the journal does not know it"
            : over
              ? undefined
              : "it is not over";
      return {
        kind: "run",
        name: `refs/autobuild/${id} (${refs.length})`,
        place: id,
        bytes: 0,
        at: Date.parse(run?.updatedAt ?? "") || 0,
        ...(stays !== undefined && { stays }),
      };
    }),
  );
}

export async function refsOfRuns(git: Git): Promise<Result<ReadonlyMap<string, string[]>>> {
  const listed = await git.call({
    args: ["for-each-ref", "--format=%(refname)", "refs/autobuild/"],
  });
  if (!listed.ok) return listed;
  const runs = new Map<string, string[]>();
  for (const ref of listed.value.text.split("\n")) {
    const id = /^refs\/autobuild\/(r[0-9a-f]{10})\//.exec(ref)?.[1];
    if (id !== undefined) runs.set(id, [...(runs.get(id) ?? []), ref]);
  }
  return succeed(runs);
}

// ── the disk ───────────────────────────────────────────────────────────────────────────────────

interface DiskEntry {
  readonly name: string;
  readonly file: string;
  readonly stat: fs.Stats;
}

/** Nothing of a link's: it leads to somebody else's. */
function entriesIn(folder: string): DiskEntry[] {
  try {
    if (!fs.lstatSync(folder).isDirectory()) return [];
    return fs
      .readdirSync(folder)
      .sort()
      .flatMap((name) => {
        const file = path.join(folder, name);
        const stat = fs.lstatSync(file, { throwIfNoEntry: false });
        return stat ? [{ name, file, stat }] : [];
      });
  } catch {
    return [];
  }
}

const foldersIn = (folder: string): string[] =>
  entriesIn(folder).flatMap(({ name, stat }) => (stat.isDirectory() ? [name] : []));

function folderAs(kind: KeptThing["kind"], folder: string, how: Partial<KeptThing>): KeptThing {
  const at = fs.lstatSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return { kind, name: path.basename(folder), place: folder, bytes: bytesIn(folder), at, ...how };
}

function bytesIn(folder: string): number {
  let bytes = 0;
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { file, stat } of entriesIn(next)) {
      bytes += stat.size;
      if (stat.isDirectory()) open.push(file);
    }
  }
  return bytes;
}
