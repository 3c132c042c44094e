/**
 * Everything that is somebody's, before and after: the files, the index, the stash, the refs and
 * what they reach. Afterwards each byte is where it was, or in a commit that a ref leads to, or
 * in the rescue folder; nowhere else counts.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { git, type Site } from "./run-rig.ts";
import { type Act, phasePaths, planFile } from "./user-states.ts";

export interface Picture {
  /** Path → what is there; ours aside. */
  readonly files: ReadonlyMap<string, Found>;
  /** "path stage" → "mode blob". */
  readonly index: ReadonlyMap<string, string>;
  readonly intended: ReadonlySet<string>;
  /** In HEAD: path → "mode blob". */
  readonly committed: ReadonlyMap<string, string>;
  readonly refs: ReadonlyMap<string, string>;
  readonly head: string;
  readonly tip: string;
  readonly stash: readonly string[];
  /** Files of git's own that nobody but the user changes. */
  readonly config: string;
}

interface Found {
  readonly kind: "file" | "link";
  readonly executable: boolean;
  /** As git names such bytes. */
  readonly blob: string;
}

const isOurs = (file: string): boolean =>
  /^(?:\.git|\.autobuild|\.autodev\/var)(?:\/|$)/.test(file) || file === "_docs/_autodev_state.md";

export const blobOf = (bytes: Buffer): string =>
  createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");

export function pictureOf(site: Site): Picture {
  const say = (...args: string[]): string => git(site, ...args).trim();
  const config = ["config", "info/exclude", "MERGE_HEAD", "CHERRY_PICK_HEAD", "ORIG_HEAD"]
    .map((name) => readIf(path.join(site.repo, ".git", name)))
    .join("\0");
  return {
    files: filesIn(site.repo),
    index: indexOf(site),
    intended: new Set(
      say("diff", "--name-only", "--diff-filter=A", "-z").split("\0").filter(Boolean),
    ),
    committed: committedAt(site, "HEAD"),
    refs: refsOf(site),
    head: readIf(path.join(site.repo, ".git", "HEAD")),
    tip: say("rev-parse", "HEAD"),
    stash: say("stash", "list", "--format=%H %gs").split("\n").filter(Boolean),
    config,
  };
}

const readIf = (file: string): string =>
  fs.existsSync(file) ? fs.readFileSync(file, "latin1") : "";

function filesIn(root: string): Map<string, Found> {
  const files = new Map<string, Found>();
  const walk = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (isOurs(file)) continue;
      const full = path.join(root, file);
      if (entry.isDirectory()) walk(file);
      else if (entry.isSymbolicLink()) {
        files.set(file, {
          kind: "link",
          executable: false,
          blob: blobOf(Buffer.from(fs.readlinkSync(full))),
        });
      } else {
        const executable = (fs.statSync(full).mode & 0o100) !== 0;
        files.set(file, { kind: "file", executable, blob: blobOf(fs.readFileSync(full)) });
      }
    }
  };
  walk("");
  return files;
}

function indexOf(site: Site): Map<string, string> {
  const entries = new Map<string, string>();
  for (const line of git(site, "ls-files", "--stage", "-z").split("\0")) {
    const [, mode, blob, stage, file] = /^(\d+) ([0-9a-f]+) (\d)\t([\s\S]+)$/.exec(line) ?? [];
    if (file !== undefined && !isOurs(file)) entries.set(`${file} ${stage}`, `${mode} ${blob}`);
  }
  return entries;
}

function committedAt(site: Site, commit: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const line of git(site, "ls-tree", "-r", "-z", commit).split("\0")) {
    const [, mode, blob, file] = /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
    if (file !== undefined) entries.set(file, `${mode} ${blob}`);
  }
  return entries;
}

function refsOf(site: Site): Map<string, string> {
  const lines = git(site, "for-each-ref", "--format=%(refname) %(objectname)").split("\n");
  return new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("refs/autobuild/"))
      .map((line) => line.split(" ") as [string, string]),
  );
}

/** What a run that has to refuse may not touch: everything. */
export function unchanged(before: Picture, after: Picture): string[] {
  const wrong: string[] = [];
  const same = (what: string, a: unknown, b: unknown): void => {
    if (flat(a) !== flat(b)) wrong.push(`${what} changed`);
  };
  for (const key of Object.keys(before) as (keyof Picture)[]) same(key, before[key], after[key]);
  return wrong;
}

const flat = (value: unknown): string =>
  JSON.stringify(value instanceof Map || value instanceof Set ? [...value] : value);

export interface Course {
  readonly mode: string;
  /** Acts that were carried out to their end, and those that a kill may have cut short. */
  readonly acts: readonly Act[];
  readonly halfDone: readonly Act[];
  /** Somebody has answered: commit all of it now. */
  readonly committedAll: boolean;
}

/** What is lost, in words; nothing: everything is still there. */
export function losses(site: Site, before: Picture, course: Course): string[] {
  const after = pictureOf(site);
  return [
    ...lostFiles(site, before, after, course),
    ...lostEntries(site, before, after, course),
    ...lostRefs(site, before, after, course),
    ...lostStash(before, after, course),
    ...(before.config === after.config || movesIn(course) ? [] : ["git's configuration changed"]),
  ];
}

const all = ({ acts, halfDone }: Course): Act[] => [...acts, ...halfDone];
const movesIn = (course: Course): boolean => all(course).some(({ moves }) => moves);

/** Paths about which the user himself has changed his mind. */
const rewritten = (acts: readonly Act[]): Set<string> =>
  new Set(acts.flatMap(({ writes, removes }) => [...writes.keys(), ...removes]));

function lostFiles(site: Site, before: Picture, after: Picture, course: Course): string[] {
  const wrong: string[] = [];
  const safe = safeBlobs(site);
  const later = rewritten(all(course));
  // A folder that becomes a file takes along what lies in it, if somebody has said so.
  const isTouched = (file: string): boolean =>
    phasePaths.some((each) => file === each || file.startsWith(`${each}/`));
  const gone = (file: string): string => {
    const now = after.files.get(file);
    return now ? "has other bytes now" : "is gone";
  };
  for (const [file, found] of before.files) {
    if (later.has(file)) continue;
    const now = after.files.get(file);
    if (now?.blob === found.blob && now.kind === found.kind) {
      if (!isTouched(file) && now.executable !== found.executable)
        wrong.push(`${file} has another mode`);
      continue;
    }
    if (!isTouched(file)) wrong.push(`${file}, which no phase touches, ${gone(file)}`);
    else if (!safe.has(found.blob)) wrong.push(`${file} ${gone(file)}, and its bytes are nowhere`);
  }
  // The last to write a path wins; who was killed half-way may or may not have written.
  const open = rewritten(course.halfDone);
  const last = new Map<string, Buffer | undefined>();
  for (const { writes, removes } of course.acts) {
    for (const [file, bytes] of writes) last.set(file, bytes);
    for (const file of removes) last.set(file, undefined);
  }
  for (const [file, bytes] of last) {
    if (bytes === undefined || open.has(file)) continue;
    const blob = blobOf(bytes);
    if (after.files.get(file)?.blob === blob) continue;
    if (!isTouched(file))
      wrong.push(`${file}, written meanwhile and touched by no phase, ${gone(file)}`);
    else if (!safe.has(blob))
      wrong.push(`${file}, written meanwhile, ${gone(file)}, and its bytes are nowhere`);
  }
  const plan = readIf(path.join(site.repo, planFile));
  for (const { note } of course.acts) {
    if (note !== undefined && !plan.includes(note)) wrong.push(`the plan has lost "${note}"`);
  }
  return wrong;
}

/** Reachable from a ref, or in the rescue folder. */
function safeBlobs(site: Site): Set<string> {
  const listed = git(site, "rev-list", "--objects", "--all", "HEAD").split("\n");
  const safe = new Set(listed.map((line) => line.slice(0, 40)));
  const rescue = path.join(site.repo, ".git", "autodev", "rescue");
  if (fs.existsSync(rescue)) {
    for (const entry of fs.readdirSync(rescue, { withFileTypes: true, recursive: true })) {
      const full = path.join(entry.parentPath, entry.name);
      if (entry.isFile()) safe.add(blobOf(fs.readFileSync(full)));
      else if (entry.isSymbolicLink()) safe.add(blobOf(Buffer.from(fs.readlinkSync(full))));
    }
  }
  return safe;
}

function lostEntries(site: Site, before: Picture, after: Picture, course: Course): string[] {
  const wrong: string[] = [];
  const blobs = [
    ...new Set([...before.index.values()].map((entry) => entry.split(" ")[1] as string)),
  ];
  const { stdout } = spawnSync("git", ["cat-file", "--batch-check"], {
    cwd: site.repo,
    env: { ...site.env },
    input: blobs.join("\n"),
    encoding: "utf8",
  });
  for (const line of stdout.split("\n")) {
    if (line.endsWith(" missing"))
      wrong.push(`the blob ${line.slice(0, 40)} of the index cannot be read`);
  }
  if (course.committedAll) return wrong;
  const later = rewritten(all(course));
  const safe = safeBlobs(site);
  for (const [key, entry] of before.index) {
    const file = key.slice(0, -2);
    const now = after.index.get(key);
    if (now === entry || later.has(file)) continue;
    // It may follow HEAD, wherever that has gone, if what it held is in a commit (an intention
    // holds nothing).
    const isSafe = safe.has(entry.split(" ")[1] as string) || before.intended.has(file);
    if (now === after.committed.get(file) && isSafe) continue;
    wrong.push(`the index had ${entry} for ${key}, and has ${now ?? "nothing"}`);
  }
  for (const [file, entry] of before.committed) {
    // Taken out of the index: it stays out.
    if (before.index.has(`${file} 0`) || !after.index.has(`${file} 0`) || later.has(file)) continue;
    if ([1, 2, 3].some((stage) => before.index.has(`${file} ${stage}`))) continue;
    if (after.index.get(`${file} 0`) === entry) wrong.push(`${file} is in the index again`);
  }
  return wrong;
}

function lostRefs(site: Site, before: Picture, after: Picture, course: Course): string[] {
  if (movesIn(course)) {
    // Somebody has moved them: what they held must still be reached, or be his own doing.
    return [...before.refs.keys()].flatMap((ref) =>
      after.refs.has(ref) ? [] : [`${ref} is gone`],
    );
  }
  const wrong: string[] = [];
  const target = /^ref: (.*)\n/.exec(before.head)?.[1];
  for (const [ref, held] of before.refs) {
    const now = after.refs.get(ref);
    if (now === held) continue;
    if (now === undefined) wrong.push(`${ref} is gone`);
    else if (ref !== target) wrong.push(`${ref} was moved`);
    else if (course.mode === "message-only" && !course.committedAll)
      wrong.push(`${ref} was moved in message-only mode`);
    else if (!isAncestor(site, held, now)) wrong.push(`${ref} no longer contains what it held`);
  }
  if (target === undefined) {
    if (after.head.startsWith("ref: ")) wrong.push("HEAD was detached, and is on a branch now");
    else if (!isAncestor(site, before.tip, after.tip))
      wrong.push("HEAD no longer contains what it held");
  } else if (after.head !== before.head) wrong.push("another branch is checked out");
  return wrong;
}

const isAncestor = (site: Site, older: string, newer: string): boolean =>
  spawnSync("git", ["merge-base", "--is-ancestor", older, newer], {
    cwd: site.repo,
    env: { ...site.env },
  }).status === 0;

function lostStash(before: Picture, after: Picture, course: Course): string[] {
  const mine = all(course).some(({ stashes }) => stashes);
  const same = mine
    ? before.stash.every((entry) => after.stash.includes(entry))
    : flat(before.stash) === flat(after.stash);
  return same ? [] : ["the stash has changed"];
}
