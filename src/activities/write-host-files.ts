/**
 * What `autodev init` writes into a repository, and takes away again.
 *
 *  1. Nothing is written before every file was read and understood, and can be written.
 *  2. A file is written only while it is what was read; otherwise all of them are read anew.
 *  3. Where one cannot be written after all, those before it are put back.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { type HostName, serverName } from "../core/host/hosts.ts";
import type { Intent, Outcome } from "../core/host/outcome.ts";
import {
  type AutobuildChoice,
  autobuildChoiceIn,
  type Wanted,
  wantedFiles,
  wantedOnlyBy,
} from "../core/host/wanted.ts";
import { applyEdits } from "../core/plan/edits.ts";
import { planHostFile } from "../formats/host-file.ts";
import { lookAtFile, type SeenFile } from "./look-at-hosts.ts";
import { temporaryPrefix, whatStands } from "./place-file.ts";
import type { PlanDisk } from "./plan-files.ts";

export interface InitRequest extends Pick<Intent, "do" | "replace"> {
  readonly hosts: readonly HostName[];
  readonly autobuild: AutobuildChoice;
}

export interface PlannedFile {
  readonly file: string;
  /** Where it really is. */
  readonly place: string;
  readonly outcome: Outcome;
  readonly before: string | undefined;
  /** Undefined: there is no such file any more. */
  readonly after: string | undefined;
  /** Folders above it that are there because of it. */
  readonly folders: readonly string[];
}

export interface InitWorld {
  readonly root: string;
  readonly hash: Intent["hash"];
  readonly disk: HostDisk;
}

export interface HostDisk extends PlanDisk {
  /** Durably, if `proceed` says so at the last moment. */
  remove(file: string, proceed: () => boolean): Promise<boolean>;
}

/** What would become of each file, and nothing written. */
export function planInit(
  { root, hash }: Pick<InitWorld, "root" | "hash">,
  request: InitRequest,
): Result<PlannedFile[]> {
  const planned = new Map<string, PlannedFile>();
  for (const { wanted, file } of filesFor(root, request)) {
    const seen = lookAtFile(root, file);
    if (request.do === "take" && isNeverOurs(seen)) continue;
    if (!seen.ok) return seen;
    // One may be a link to another: CLAUDE.md to AGENTS.md, say. The first has a say.
    if (planned.has(seen.value.place)) continue;
    const outcome = planHostFile(wanted, seen.value, { ...request, hash });
    if (!outcome.ok) return outcome;
    planned.set(seen.value.place, plannedFile(seen.value, outcome.value));
  }
  return succeed([...planned.values()]);
}

/** Whatever is wrong with such a file: there is nothing of ours in it to be taken away. */
const isNeverOurs = (seen: Result<SeenFile>): boolean =>
  seen.ok
    ? seen.value.text?.includes(serverName) !== true
    : seen.failure.code === "host-file-invalid";

/** What was chosen for `.autobuild/` before; undefined: nothing was. */
export function presentChoice(root: string): AutobuildChoice | undefined {
  const seen = lookAtFile(root, ".gitignore");
  return seen.ok ? autobuildChoiceIn(seen.value.text ?? "") : undefined;
}

function filesFor(root: string, request: InitRequest): { wanted: Wanted; file: string }[] {
  const isThere = (file: string): boolean => whatStands(path.join(root, file)) !== undefined;
  if (request.do === "take") {
    return wantedOnlyBy(request.hosts).flatMap((wanted) =>
      [wanted.file, ...(wanted.rather === undefined ? [] : [wanted.rather])].map((file) => ({
        wanted,
        file,
      })),
    );
  }
  return wantedFiles(request.hosts, request.autobuild).map((wanted) => {
    const { file, rather } = wanted;
    return { wanted, file: rather !== undefined && isThere(rather) ? rather : file };
  });
}

function plannedFile({ file, place, text, missing }: SeenFile, outcome: Outcome): PlannedFile {
  const after =
    outcome.is === "create"
      ? outcome.text
      : outcome.is === "edit"
        ? applyEdits(text ?? "", outcome.edits)
        : outcome.is === "remove"
          ? undefined
          : text;
  const made = outcome.is === "create" ? missing : outcome.is === "remove" ? outcome.made : 0;
  return { file, place, outcome, before: text, after, folders: foldersAbove(place, made) };
}

/** The innermost first. */
function foldersAbove(place: string, count: number): string[] {
  const folder = path.dirname(place);
  return count === 0 ? [] : [folder, ...foldersAbove(folder, count - 1)];
}

const patience = 20;

export function writeInit(world: InitWorld, request: InitRequest): Promise<Result<PlannedFile[]>> {
  return world.disk.alone(fs.realpathSync(world.root), async () => {
    const done: PlannedFile[] = [];
    const undone = async (failure: ReturnType<typeof fail>): Promise<typeof failure> => {
      for (const each of done.reverse()) await putBack(each, world);
      return failure;
    };
    for (let round = 0; round < patience; round++) {
      const planned = planInit(world, request);
      if (!planned.ok) return undone(planned);
      const written = await writeAll(planned.value, world, done);
      if (!written.ok) return undone(written);
      if (!written.value) continue;
      const places = new Set(done.map(({ place }) => place));
      return succeed([...done, ...planned.value.filter(({ place }) => !places.has(place))]);
    }
    const [last] = done;
    return undone(
      fail("disk", "the files are being changed by somebody else all the time", {
        ...(last && { file: last.file }),
        hint: "close the program that writes them, and try again",
      }),
    );
  });
}

/** False: one was no longer what had been read. */
async function writeAll(
  planned: readonly PlannedFile[],
  world: InitWorld,
  done: PlannedFile[],
): Promise<Result<boolean>> {
  const changes = planned.filter(({ outcome }) => outcome.is !== "same" && outcome.is !== "left");
  const closed = changes.find(({ place }) => !mayWrite(place));
  if (closed) return notWritten(closed.file, "permission is denied");
  // Also beside those that are as they should be: he may have been killed with the file in its place.
  for (const { place } of planned) clearLeftovers(place);
  for (const change of changes) {
    try {
      if (!(await write(change, change.before, change.after, world))) return succeed(false);
    } catch (error) {
      if (change.before === undefined) clear(change.folders);
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      return notWritten(change.file, code);
    }
    done.push(change);
  }
  for (const { after, folders } of changes) if (after === undefined) clear(folders);
  return succeed(true);
}

/** What somebody left who was killed while he wrote this file: he is gone, or we would wait for him. */
function clearLeftovers(place: string): void {
  const folder = path.dirname(place);
  try {
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith(temporaryPrefix) && name.endsWith(`-${path.basename(place)}`))
        fs.rmSync(path.join(folder, name), { force: true });
    }
  } catch {
    // No such folder yet, or none that we may write in: whoever writes there is told.
  }
}

/** From one text to another; undefined: no file. */
async function write(
  { place }: PlannedFile,
  from: string | undefined,
  to: string | undefined,
  { disk }: InitWorld,
): Promise<boolean> {
  const isStill = (): boolean =>
    fs.existsSync(place) && fs.readFileSync(place).equals(Buffer.from(from ?? ""));
  if (to === undefined) return disk.remove(place, isStill);
  return from === undefined
    ? disk.create(place, Buffer.from(to))
    : disk.replace(place, Buffer.from(to), isStill);
}

/** As well as it can be done: the disk has refused something already. */
async function putBack(change: PlannedFile, world: InitWorld): Promise<void> {
  await write(change, change.after, change.before, world).catch(() => false);
  if (change.before === undefined) clear(change.folders);
}

/** Those of them that nothing else is in. */
function clear(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      fs.rmdirSync(folder);
    } catch {
      return;
    }
  }
}

/** A file that is there, and the folder that it is, or will be, in. */
function mayWrite(place: string): boolean {
  const may = (each: string): boolean => {
    try {
      fs.accessSync(each, fs.constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  let folder = path.dirname(place);
  while (!fs.existsSync(folder)) folder = path.dirname(folder);
  return may(folder) && (!fs.existsSync(place) || may(place));
}

const notWritten = (file: string, reason: string): ReturnType<typeof fail> =>
  fail("disk", `${file} cannot be written (${reason}); all files are as they were`, {
    file,
    hint: "mend the permissions or free some space, then run the same command again",
  });
