/**
 * Nothing from a repository runs before it is trusted. What was approved lies outside the
 * repository, in a file for each working tree; what is about to run is compared with it.
 *
 * 1. An approval belongs to the real path of a working tree's root, and to nothing that the
 *    repository could write: no pointer inside `.git`, no link, no setting of its own.
 * 2. Trusted means: the hash of what would run is the hash of what was approved. Whatever else
 *    is found (no file, half a file, another's file) is not that.
 * 3. Looking creates nothing. An approval appears whole and durable, or not at all.
 * 4. The only maker of a `Trusted` is here, and it makes them of approved text alone.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "./core/failure.ts";
import {
  entryKey,
  isSurface,
  linesInSettings,
  namedFiles,
  type Surface,
  type SurfaceEntry,
  surfaceDifference,
  surfaceText,
  unreadable,
} from "./core/trust.ts";
import { mintTrusted, type Trusted } from "./exec.ts";

export interface TrustPlace {
  /** The working tree's top. */
  readonly root: string;
  /** Where approvals lie: `trustFolder()`, or a test's own. */
  readonly folder: string;
}

export type TrustState =
  | { readonly is: "trusted"; readonly hash: string }
  | {
      readonly is: "unknown" | "changed";
      readonly hash: string;
      /** For people; text of the repository is in it, so it is cleaned before it is shown. */
      readonly difference: string[];
    };

/** Chosen by the user's own surroundings, never by a variable of ours that a project could set. */
export function userFolder(env: NodeJS.ProcessEnv = process.env): string {
  const given = env["XDG_CONFIG_HOME"];
  const config = given && path.isAbsolute(given) ? given : path.join(os.homedir(), ".config");
  return path.join(config, "autodev");
}

export const trustFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  path.join(userFolder(env), "trust");

/** Where the dashboard keeps its addresses and tokens: for the user alone, not even to be read by agents. */
export const uiFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  path.join(userFolder(env), "ui");

export const surfaceHash = (surface: Surface): string => sha256(surfaceText(surface));

export function trustState(place: TrustPlace, surface: Surface): Result<TrustState> {
  const checked = checkedPlace(place);
  if (!checked.ok) return checked;
  const hash = surfaceHash(surface);
  const approval = readApproval(checked.value);
  switch (approval.is) {
    case "absent":
      return succeed({ is: "unknown", hash, difference: surfaceDifference(undefined, surface) });
    case "damaged":
      return succeed({
        is: "unknown",
        hash,
        difference: [
          `The approval in ${checked.value.file} counts for nothing: ${approval.why}.`,
          ...surfaceDifference(undefined, surface),
        ],
      });
    case "whole":
      if ([approval.hash, ...approval.also].includes(hash)) return succeed({ is: "trusted", hash });
      return succeed({
        is: "changed",
        hash,
        difference: surfaceDifference(approval.surface, surface),
      });
  }
}

/** Undefined: nothing was ever approved here, or what is kept of it counts for nothing. */
export function approvedSurface(place: TrustPlace): Surface | undefined {
  const checked = checkedPlace(place);
  const approval = checked.ok ? readApproval(checked.value) : undefined;
  return approval?.is === "whole" ? approval.surface : undefined;
}

export async function grantTrust(
  place: TrustPlace,
  surface: Surface,
  how: {
    readonly by: string;
    readonly at: string;
    /** Hashes of what is a part of it, and may be run alone: the gates, for an audit. */
    readonly also?: readonly string[];
  },
): Promise<Result<void>> {
  const before = checkedPlace(place);
  if (!before.ok) return before;
  try {
    await makeFolderDurably(before.value.folder);
    // Once more, now that there is a folder to look at.
    const checked = checkedPlace(place);
    if (!checked.ok) return checked;
    const { file, root } = checked.value;
    const approval = { version, root, hash: surfaceHash(surface), surface, ...how };
    await writeDurably(file, `${JSON.stringify(approval)}\n`);
    return succeed(undefined);
  } catch (error) {
    return diskFailure(error, before.value.file, "the approval cannot be kept");
  }
}

/** A part of what people have approved, as it is now: their approval stays what it is. */
export async function grantPart(
  place: TrustPlace,
  part: Surface,
  how: { readonly by: string; readonly at: string },
): Promise<Result<void>> {
  const checked = checkedPlace(place);
  if (!checked.ok) return checked;
  const approval = readApproval(checked.value);
  if (approval.is !== "whole") return grantTrust(place, part, how);
  const hash = surfaceHash(part);
  const known = [approval.hash, ...approval.also];
  if (known.includes(hash)) return succeed(undefined);
  // As many as anybody can still be at work on.
  const also = [...approval.also.slice(-20), hash];
  return grantTrust(place, approval.surface, { ...how, also });
}

/** False: there was nothing to take back. */
export async function revokeTrust(place: TrustPlace): Promise<Result<boolean>> {
  const checked = checkedPlace(place);
  if (!checked.ok) return checked;
  const { file, folder } = checked.value;
  try {
    await promises().unlink(file);
    await syncFolder(folder);
    return succeed(true);
  } catch (error) {
    if (isMissing(error)) return succeed(false);
    return diskFailure(error, file, "the approval cannot be taken back");
  }
}

/**
 * The commands of an approved surface, as values that exec accepts. `sha256` is an approval given
 * on the command line (in CI, where there is nobody to ask): all 64 digits of the surface's hash.
 */
export function trustedCommands(
  place: TrustPlace,
  surface: Surface,
  options: { readonly sha256?: string } = {},
): Result<{ command(entry: SurfaceEntry): Trusted }> {
  // Copied before it is judged: what is approved cannot change afterwards.
  const approved = surface.map(({ kind, name, text }) => ({ kind, name, text }));
  const hash = surfaceHash(approved);
  if (options.sha256?.toLowerCase() !== hash) {
    const state = trustState(place, approved);
    if (!state.ok) return state;
    if (state.value.is !== "trusted") return untrusted(place, state.value, options.sha256);
  }
  const commands = new Map(
    approved.filter(({ kind }) => kind !== "script").map((each) => [entryKey(each), each.text]),
  );
  return succeed({
    command(entry) {
      const shell = commands.get(entryKey(entry));
      if (shell !== undefined) return mintTrusted(shell);
      throw new Error(`${entry.kind} ${entry.name} is no command of the approved surface`);
    },
  });
}

function untrusted(
  place: TrustPlace,
  state: Exclude<TrustState, { is: "trusted" }>,
  given: string | undefined,
): { readonly ok: false; readonly failure: Failure } {
  const what =
    state.is === "changed"
      ? `What would run in ${place.root} has changed since it was approved`
      : `What would run in ${place.root} was never approved`;
  const also = given === undefined ? "" : `, and the hash given is not its hash (${state.hash})`;
  return fail("untrusted", `${what}${also}`, { hint: "autodev trust", details: state.difference });
}

// ── The surface of a tree ───────────────────────────────────────────────────────────────────

/**
 * The commands, and with them every file that defines what they do. `readFile` reads from the git
 * tree that will be run, not from the working tree; undefined: there is no such file. Bytes are
 * better than text: two files that are no UTF-8 must not become one. `paths` lists the tree's
 * files, for patterns (`sh scripts/*.sh`, every workspace's package.json); without it they find none.
 *
 * Shell scripts, Makefiles and the like are read for the files that they name in turn. A program
 * in another language stands for itself: what it imports is the project's code, not its gates.
 *
 * `obeyed` are files that nobody names and a program reads all the same: an agent's own settings.
 */
export function surfaceOf(
  commands: readonly SurfaceEntry[],
  readFile: (path: string) => string | Uint8Array | undefined,
  paths: readonly string[] = [],
  obeyed: readonly string[] = [],
): Surface {
  const scripts = new Map<string, SurfaceEntry>();
  const seen = new Set<string>();
  const manifests: Manifest[] = [];
  const texts: string[] = [];
  const open: { text: string; from: string }[] = commands.map(({ text }) => ({ text, from: "" }));

  const enter = (name: string, text: string): void => {
    scripts.set(name, { kind: "script", name, text });
  };
  const visitFile = (file: string, isObeyed = false): void => {
    const content = readFile(file);
    if (content === undefined) return;
    const text = textOf(content);
    // A `#` in a file's own name must not pass for a part of a JSON file.
    enter(file.includes("#") ? `./${file}` : file, text);
    if (text.startsWith(unreadable)) return;
    const from = path.posix.dirname(file);
    if (isObeyed && /\.(?:jsonc?|toml|ya?ml)$/i.test(file)) {
      for (const line of linesInSettings(text)) open.push({ text: line, from });
    } else if (namesCommands(file, text)) open.push({ text, from });
  };
  const visitPart = (reference: string, file: string, key: string): void => {
    const content = readFile(file);
    if (content === undefined) return;
    const part = partOf(textOf(content), key);
    if (part === undefined) return;
    enter(reference, part.text);
    const from = path.posix.dirname(file);
    if (part.strings) manifests.push({ from, waiting: part.strings });
    else open.push({ text: part.text, from });
  };
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    if (name.includes("*")) for (const each of matching(name, paths)) visit(each);
    const [, file, key] = /^(.+\.json)#([\w-]+)$/.exec(name) ?? [];
    if (file !== undefined && key !== undefined) visitPart(name, file, key);
    visitFile(name);
  };

  for (const file of obeyed) {
    seen.add(file);
    visitFile(file, true);
  }
  for (let next = open.shift(); next; next = open.shift()) {
    texts.push(next.text);
    for (const name of namedFiles(next.text, next.from === "." ? "" : next.from)) visit(name);
    if (open.length > 0) continue;
    // All scripts of a package are approved; only those that are called are followed.
    for (const { from, waiting } of manifests) {
      for (const [name, text] of waiting) {
        if (!texts.some((each) => calls(each, name))) continue;
        waiting.delete(name);
        open.push({ text, from });
      }
    }
  }
  return [...commands, ...[...scripts.values()].sort((a, b) => (a.name < b.name ? -1 : 1))];
}

interface Manifest {
  readonly from: string;
  /** Scripts by their names, as long as nothing has called them. */
  readonly waiting: Map<string, string>;
}

/**
 * Whether a text may call the script of that name: it has its name in it, or the beginning up to
 * a colon (`run-s "lint:*"`). Some are called by installing alone.
 */
function calls(text: string, script: string): boolean {
  if (/^(?:pre|post)?(?:install|prepare|prepublish|dependencies)$/.test(script)) return true;
  if (/^(?:pre|post)?test$/.test(script) && /\bts?t\b/.test(text)) return true;
  if (/^(?:pre|post)?stop$/.test(script) && text.includes("restart")) return true;
  return [script, script.replace(/^(?:pre|post)/, "")].some((name) =>
    text.includes(name.split(":")[0] || name),
  );
}

/** A program's source would name half the project; a shell's names what is run. */
const namesCommands = (file: string, text: string): boolean => {
  if (text.startsWith("#!")) return /^#!.*\b(?:ba|da|z|k|fi|a)?sh\b/.test(text);
  const name = path.posix.basename(file);
  return (
    !name.slice(1).includes(".") ||
    /\.(?:sh|bash|zsh|ksh|fish|bats|mk|just|cmd|bat|ps1|ya?ml|toml|ini)$/i.test(name)
  );
};

/** One key of a JSON file, with its keys in order; the whole text where it is not quite JSON. */
function partOf(
  text: string,
  key: string,
): { text: string; strings?: Map<string, string> } | undefined {
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return { text };
  }
  if (typeof whole !== "object" || whole === null || !Object.hasOwn(whole, key)) return undefined;
  // Given twice, or spelt with escapes, it is not for us to say which one a tool believes.
  if (text.split(new RegExp(`"${key}"\\s*:`)).length !== 2) return { text };
  const value = (whole as Record<string, unknown>)[key];
  const canonical = `${JSON.stringify(inOrder(value), undefined, 2)}\n`;
  if (key !== "scripts") return { text: canonical };
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const strings = new Map(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  return { text: canonical, strings };
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each)]));
}

const mostBytes = 512 * 1024;

/** The file's text; its size and hash, if nobody would read it or no text can stand for it. */
function textOf(content: string | Uint8Array): string {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  const text = typeof content === "string" ? content : Buffer.from(content).toString("utf8");
  const isText =
    bytes.length <= mostBytes && !text.includes(unreadable) && Buffer.from(text).equals(bytes);
  // A NUL is in no text, so that no text can pass for the hash of a file, nor a hash for a text.
  return isText ? text : `${unreadable}${bytes.length} bytes, sha256 ${sha256(bytes)}`;
}

/** `*` stays within a folder, `**` does not; a part of a JSON file keeps its key. */
function matching(pattern: string, paths: readonly string[]): string[] {
  const [, files = pattern, key = ""] = /^(.*?)(#[\w-]+)?$/.exec(pattern) ?? [];
  const source = files
    .split(/(\*\*\/|\*+)/)
    .map((part) => {
      if (part === "**/") return "(?:.*/)?";
      return part.startsWith("*") ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    })
    .join("");
  const wanted = new RegExp(`^${source}$`, "s");
  return paths
    .filter((each) => wanted.test(each) && !each.includes("*"))
    .map((each) => `${each}${key}`);
}

// ── The approval on disk ────────────────────────────────────────────────────────────────────

const version = 1;

interface CheckedPlace {
  /** Both without any link left in them. */
  readonly root: string;
  readonly folder: string;
  readonly file: string;
}

type Approval =
  | { readonly is: "absent" }
  | { readonly is: "damaged"; readonly why: string }
  | {
      readonly is: "whole";
      readonly hash: string;
      readonly surface: Surface;
      readonly also: readonly string[];
    };

/** The folder is ours, and out of the repository's reach; or why it is not. */
function checkedPlace(place: TrustPlace): Result<CheckedPlace> {
  const refuse = (why: string, hint: string): ReturnType<typeof fail> =>
    fail("untrusted", `Approvals cannot be kept in ${place.folder}: ${why}`, {
      file: place.folder,
      hint,
    });
  let root: string;
  let folder: string | undefined;
  try {
    root = fs.realpathSync.native(place.root);
    folder = realPathOfWhatExists(path.resolve(place.folder));
    if (folder === undefined) {
      return refuse("a link on the way leads nowhere", "remove the link, or mend it");
    }
    if (contains(root, path.resolve(place.folder)) || contains(root, folder)) {
      return refuse(
        `it lies inside ${root}, which could then vote on its own trust`,
        "set XDG_CONFIG_HOME to a folder outside the repository",
      );
    }
    const stat = fs.statSync(folder, { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) return refuse("it is not a folder", `mv ${folder} elsewhere`);
    const why = stat && notOurs(stat);
    if (why) return refuse(why, `chown and chmod 700 ${folder}, if you know who made it so`);
  } catch (error) {
    return diskFailure(error, place.folder, "the place of approvals cannot be looked at");
  }
  return succeed({ root, folder, file: path.join(folder, `${sha256(root)}.json`) });
}

/** Links resolved as far as there is anything; the rest would be made by us. */
function realPathOfWhatExists(target: string): string | undefined {
  try {
    return fs.realpathSync.native(target);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // A link that leads nowhere could lead into the repository tomorrow.
    if (fs.lstatSync(target, { throwIfNoEntry: false })) return undefined;
    const parent = realPathOfWhatExists(path.dirname(target));
    return parent === undefined ? undefined : path.join(parent, path.basename(target));
  }
}

/** By name and by identity: a second mount or another spelling is the same folder. */
export function contains(root: string, folder: string): boolean {
  const { dev, ino } = fs.statSync(root, { bigint: true });
  for (let each = folder; ; each = path.dirname(each)) {
    const stat = fs.statSync(each, { bigint: true, throwIfNoEntry: false });
    if (each === root || (stat && stat.dev === dev && stat.ino === ino)) return true;
    if (each === path.dirname(each)) return false;
  }
}

/** Exported for its test: a file of somebody else's cannot be made without being root. */
export function notOurs(
  { uid, mode }: Pick<fs.Stats, "uid" | "mode">,
  us: number | undefined = process.getuid?.(),
): string | undefined {
  // Windows knows neither; its folders of a user are that user's.
  if (us === undefined) return undefined;
  if (uid !== us) return `it belongs to user ${uid}, not to you (${us})`;
  if ((mode & 0o022) !== 0) return "others may write there";
  return undefined;
}

function readApproval({ file, root }: CheckedPlace): Approval {
  const damaged = (why: string): Approval => ({ is: "damaged", why });
  let text: string;
  try {
    const read = readRegularFile(file);
    if (typeof read !== "string") return damaged(read.why);
    text = read;
  } catch (error) {
    if (isMissing(error)) return { is: "absent" };
    const code = codeOf(error);
    // What O_NOFOLLOW says of a link.
    return damaged(code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return damaged("it is damaged (no JSON)");
  }
  if (typeof value !== "object" || value === null) return damaged("it is damaged (no object)");
  const approval = value as Record<string, unknown>;
  if (approval["version"] !== version) return damaged("another version of autodev wrote it");
  if (approval["root"] !== root) return damaged("it was given to another folder");
  const { hash, surface } = approval;
  if (!isSurface(surface)) return damaged("it is damaged (no surface)");
  if (hash !== surfaceHash(surface))
    return damaged("it is damaged (its hash is not its content's)");
  const also = Array.isArray(approval["also"]) ? approval["also"] : [];
  return { is: "whole", hash, surface, also: also.filter((each) => typeof each === "string") };
}

/** Never through a link, never waiting for a pipe, never what others could have written. */
function readRegularFile(file: string): string | { why: string } {
  // On Windows the last two are undefined, which adds nothing.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) return { why: "it is not a file" };
    const why = notOurs(stat);
    return why === undefined ? fs.readFileSync(descriptor, "utf8") : { why };
  } finally {
    fs.closeSync(descriptor);
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const { open, rename, rm } = promises();
  const unique = process.getBuiltinModule("node:crypto").randomUUID();
  const temporary = path.join(path.dirname(file), `.autodev-tmp-${unique}`);
  try {
    // "wx": a new file, never one that is there, never through a link.
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

async function makeFolderDurably(folder: string): Promise<void> {
  const first = await promises().mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let each = folder; each.length >= first.length; each = path.dirname(each)) {
    await syncFolder(path.dirname(each));
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return; // a folder cannot be opened there
  const handle = await promises().open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Loaded with the first write: looking never needs it. */
const promises = (): typeof import("node:fs/promises") =>
  process.getBuiltinModule("node:fs/promises");

const sha256 = (content: string | Uint8Array): string =>
  process.getBuiltinModule("node:crypto").hash("sha256", content, "hex");

function diskFailure(error: unknown, file: string, what: string): ReturnType<typeof fail> {
  const code = codeOf(error);
  if (code === "") throw error;
  return fail("disk", `${file}: ${what} (${code})`, { file });
}

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && /^E[A-Z0-9]+$/.test(String(error.code))
    ? String(error.code)
    : "";
