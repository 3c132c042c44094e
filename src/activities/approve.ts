/** What a run will start, whether people have approved it, and the values that may be run. */
import * as fs from "node:fs";
import { join, posix } from "node:path";
import { readBy } from "../core/agent/known.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Phase } from "../core/plan/plan.ts";
import type { Gate } from "../core/plan/run-event.ts";
import type { Settings } from "../core/settings.ts";
import { type FoundTracker, serverLine } from "../core/tracker/servers.ts";
import { entryKey, filesRead, type Surface, type SurfaceEntry } from "../core/trust.ts";
import type { Trusted } from "../exec.ts";
import type { Git } from "../git/call.ts";
import { checkedOut, fileAt } from "../git/objects.ts";
import {
  approvedSurface,
  grantPart,
  grantTrust,
  surfaceHash,
  surfaceOf,
  type TrustPlace,
  trustedCommands,
  trustState,
} from "../trust.ts";
import { type ApprovedHooks, approvedHooks, hookFiles, hookLines } from "./commit-hooks.ts";

export interface Approval {
  readonly surface: Surface;
  readonly hash: string;
  gate(name: string): Trusted | undefined;
  readonly setup: Trusted | undefined;
  /** The command of an agent that people have named. */
  agent(name: string): Trusted | undefined;
  /** What the repository would have run for each notice. */
  readonly notify: Trusted | undefined;
  /** An MCP server that the repository names. */
  tracker(name: string): Trusted | undefined;
  /** A command that the plan spells out. */
  plan(text: string): Trusted | undefined;
  /** What a commit has git run; none: people have something else under that name, or nothing. */
  readonly hooks: ApprovedHooks;
}

/** One screen, one key; undefined: nobody is there. */
export type AskTrust = (
  difference: readonly string[],
  hash: string,
  known: boolean,
) => Promise<Result<boolean | undefined>>;

export interface ApprovalOptions {
  readonly git: Git;
  /** What the commands will be run on: the scripts that define them are read from there. */
  readonly commit: string;
  readonly place: TrustPlace;
  readonly gates: readonly Gate[];
  /** What fills a fresh checkout with what the gates need. */
  readonly setup?: string;
  readonly settings: Settings;
  /** Whoever may come to work. */
  readonly agents: readonly string[];
  readonly phases: readonly Phase[];
  /** Patterns of files that whoever works is told to follow: skills and flows of the project's own. */
  readonly follows?: readonly string[];
  readonly trackers?: readonly FoundTracker[];
  /** `false`: as it is on a machine where nobody has put hooks into git. */
  readonly hooks?: false;
}

export async function surfaceFor(options: ApprovalOptions): Promise<Result<Surface>> {
  const { git, commit, settings } = options;
  const hooked = options.hooks !== false && settings.gates?.["hooks"] === undefined;
  const lines = hooked ? await hookLines(git, commit) : succeed([]);
  if (!lines.ok) return lines;
  const commands = [...entriesOf(options), ...lines.value];
  const hooks = commands.length > 0 && options.hooks !== false ? await hooksOf(git) : succeed([]);
  if (!hooks.ok) return hooks;
  const entries = [...commands, ...hooks.value];
  const patterns = [
    ...options.agents.flatMap((name) => readBy(name, settings.agents?.[name])),
    ...(options.follows ?? []),
  ];
  let obeyed: readonly string[] | undefined;
  return readingTree(git, commit, (paths, read, links) => {
    obeyed ??= filesRead(patterns, paths, links);
    return surfaceOf(entries, read, paths, obeyed);
  });
}

/** What a pure reader makes of a commit's files; it is asked again until all that it wants is read. */
export async function readingTree<T>(
  git: Git,
  commit: string,
  understand: (
    paths: readonly string[],
    read: (path: string) => Buffer | undefined,
    links: ReadonlyMap<string, string>,
  ) => T,
): Promise<Result<T>> {
  const listed = await modesIn(git, commit);
  if (!listed.ok) return listed;
  const modes = listed.value;
  const paths = [...modes.keys()];
  const links = await linksIn(git, commit, modes);
  const texts = new Map<string, Buffer>();
  // Reading is asynchronous, following the commands is not: again until nothing more is missed.
  for (;;) {
    const missed = new Set<string>();
    const read = (file: string): Buffer | undefined => {
      const { path, via, leadsOut } = followed(file, links);
      if (!modes.has(path) && !leadsOut) return undefined;
      const text = texts.get(path);
      if (text === undefined && modes.has(path)) missed.add(path);
      // The way there belongs to it: who changes a link changes what is run.
      return Buffer.concat([
        Buffer.from(via.map((link) => `${link}\n`).join("")),
        text ?? Buffer.alloc(0),
      ]);
    };
    const found = understand(paths, read, links);
    if (missed.size === 0) return succeed(found);
    for (const file of missed) {
      texts.set(file, (await checkedOut(git, commit, file)) ?? Buffer.alloc(0));
    }
  }
}

const listings = new Map<string, ReadonlyMap<string, string>>();
const mostListings = 4;

/** Mode by path. A commit never changes, and several readers want the same one after another. */
async function modesIn(git: Git, commit: string): Promise<Result<ReadonlyMap<string, string>>> {
  const key = `${git.place.commonDir} ${commit}`;
  const known = listings.get(key);
  if (known) return succeed(known);
  const listed = await git.call({ args: ["ls-tree", "-r", "-z", commit] });
  if (!listed.ok) return listed;
  const modes = new Map<string, string>();
  for (const line of listed.value.text.split("\0")) {
    const tab = line.indexOf("\t");
    if (tab > 0) modes.set(line.slice(tab + 1), line.slice(0, 6));
  }
  const [oldest] = listings.size < mostListings ? [] : listings.keys();
  if (oldest !== undefined) listings.delete(oldest);
  listings.set(key, modes);
  return succeed(modes);
}

/**
 * A command that calls git would start these: what the repository's configuration and its hooks
 * have git run is approved with the commands.
 */
export async function hooksOf(git: Git): Promise<Result<SurfaceEntry[]>> {
  const programs = await git.programs();
  if (!programs.ok) return programs;
  const files = await hookFiles(git);
  if (!files.ok) return files;
  return succeed([
    ...programs.value.map(
      ([key, text]): SurfaceEntry => ({ kind: "hook", name: `git config ${key}`, text }),
    ),
    ...files.value,
  ]);
}

async function linksIn(
  git: Git,
  commit: string,
  modes: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  for (const [file, mode] of modes) {
    if (mode === "120000")
      links.set(file, (await fileAt(git, commit, file))?.toString("utf8") ?? "");
  }
  return links;
}

/** Through the tree's own links; what leads out of it stays where it leads. */
function followed(
  file: string,
  links: ReadonlyMap<string, string>,
): { path: string; via: readonly string[]; leadsOut: boolean } {
  const via: string[] = [];
  let at = posix.normalize(file);
  for (let hops = 0; hops < 40 && links.size > 0; hops++) {
    const parts = at.split("/");
    const length =
      parts.findIndex((_, index) => links.has(parts.slice(0, index + 1).join("/"))) + 1;
    if (length === 0) break;
    const link = parts.slice(0, length).join("/");
    const target = links.get(link) ?? "";
    via.push(`${link} -> ${target}`);
    at = posix.normalize(posix.join(posix.dirname(link), target, ...parts.slice(length)));
    if (posix.isAbsolute(target) || at.startsWith("..")) return { path: at, via, leadsOut: true };
  }
  return { path: at, via, leadsOut: false };
}

function entriesOf(options: ApprovalOptions): SurfaceEntry[] {
  const { gates, setup, settings, agents, phases, trackers = [] } = options;
  const notify = settings.notify?.command;
  return [
    ...gates.flatMap(({ name, command: text }): SurfaceEntry[] =>
      text === null ? [] : [{ kind: "gate", name, text }],
    ),
    ...(setup === undefined ? [] : [{ kind: "setup" as const, name: "setup", text: setup }]),
    ...agents.flatMap((name) => agentEntries(name, settings)),
    ...(settings.sandbox?.mode === "off"
      ? [{ kind: "agent" as const, name: "the sandbox", text: "off: agents are not confined" }]
      : []),
    // Whether or not the user's own is run in its place: what is trusted is the same for everybody.
    ...(notify === undefined ? [] : [{ kind: "notify" as const, name: "command", text: notify }]),
    ...trackers.map(
      (each): SurfaceEntry => ({ kind: "tracker", name: each.name, text: serverLine(each) }),
    ),
    ...(agents.includes("apply")
      ? phases.flatMap((phase) =>
          phase.commands.map(
            ({ text }): SurfaceEntry => ({ kind: "plan", name: phase.id, text: asScript(text) }),
          ),
        )
      : []),
  ];
}

/** What a repository says of an agent decides what its program does and reaches, command or not. */
function agentEntries(name: string, settings: Settings): SurfaceEntry[] {
  const { command, use, model, args, permissions, confined } = settings.agents?.[name] ?? {};
  // Whether it can write the user's files is for the user to say.
  const told = { use, model, args, permissions, confined: confined === false ? false : undefined };
  const isTold = Object.values(told).some((value) => value !== undefined);
  return [
    ...(command === undefined ? [] : [{ kind: "agent" as const, name, text: command }]),
    ...(isTold
      ? [{ kind: "agent" as const, name: `${name} settings`, text: JSON.stringify(told) }]
      : []),
  ];
}

/** A block of commands is one script: its first failure ends it. */
const asScript = (text: string): string => `set -e\n${text}`;

export async function approve(
  options: ApprovalOptions,
  people: {
    readonly ask: AskTrust;
    readonly by: string;
    readonly now: () => string;
    readonly sha256?: string;
    /**
     * A part of what was approved is enough, and nothing new is remembered beside it: an audit runs
     * the same commands on commits at which some of the scripts were not there yet.
     */
    readonly partial?: true;
    /** What `autodev trust` is to be told. */
    readonly plan?: string;
    /** Commits from which `commit` came about by verified phases alone, latest first. */
    readonly verifiedSince?: readonly string[];
    /** What was run there: a phase may have brought commands along. */
    readonly commandsAt?: (
      commit: string,
    ) => Promise<Result<Pick<ApprovalOptions, "gates" | "setup">>>;
  },
): Promise<Result<Approval>> {
  const found = await surfaceFor(options);
  if (!found.ok) return found;
  const surface = found.value;
  const hash = surfaceHash(surface);
  if (surface.length === 0) return succeed(approvalOf(surface, hash, () => undefined));
  const state = trustState(options.place, surface);
  if (!state.ok) return state;
  const before = people.partial && approvedSurface(options.place);
  const isPart = before !== undefined && surface.every((each) => before.some(sameAs(each)));
  let sha256 = isGiven(people.sha256, hash) || isPart ? hash : undefined;
  if (state.value.is !== "trusted" && sha256 === undefined) {
    const earlier = await trustedBefore(options, people);
    if (!earlier.ok) return earlier;
    if (earlier.value) sha256 = hash;
    else {
      const { difference, is } = state.value;
      const answered = await people.ask(difference, hash, is === "changed");
      if (!answered.ok) return answered;
      if (answered.value !== true) {
        return notApproved(difference, hash, answered.value, people.plan);
      }
      const granted = before ? succeed(undefined) : await remember(options, surface, people);
      if (!granted.ok) return granted;
      if (before) sha256 = hash;
    }
  }
  const trusted = trustedCommands(options.place, surface, sha256 === undefined ? {} : { sha256 });
  if (!trusted.ok) return trusted;
  return succeed(approvalOf(surface, hash, (entry) => trusted.value.command(entry)));
}

const sameAs =
  ({ kind, name, text }: SurfaceEntry) =>
  (other: SurfaceEntry): boolean =>
    other.kind === kind && other.name === name && other.text === text;

async function remember(
  options: ApprovalOptions,
  surface: Surface,
  { by, now }: { readonly by: string; readonly now: () => string },
): Promise<Result<void>> {
  const also = await partsOf(options);
  if (!also.ok) return also;
  return grantTrust(options.place, surface, { by, at: now(), also: also.value });
}

/** Several, with commas between them: a flow and the plans that it runs have a hash each. */
const isGiven = (given: string | undefined, hash: string): boolean =>
  given !== undefined && given.split(",").includes(hash);

/** What verified phases made of something that was trusted is trusted: a night's run goes on. */
async function trustedBefore(
  options: ApprovalOptions,
  people: Pick<Parameters<typeof approve>[1], "sha256" | "verifiedSince" | "commandsAt">,
): Promise<Result<boolean>> {
  for (const commit of people.verifiedSince ?? []) {
    const commands = await people.commandsAt?.(commit);
    if (commands && !commands.ok) return commands;
    const earlier = await surfaceFor({ ...options, ...commands?.value, commit });
    if (!earlier.ok) return earlier;
    if (earlier.value.length > 0 && isGiven(people.sha256, surfaceHash(earlier.value)))
      return succeed(true);
    const state = trustState(options.place, earlier.value);
    if (!state.ok) return state;
    if (state.value.is === "trusted") return succeed(true);
  }
  return succeed(false);
}

const notApproved = (
  difference: readonly string[],
  hash: string,
  answer: boolean | undefined,
  plan?: string,
): ReturnType<typeof fail> =>
  fail(
    "untrusted",
    answer === false
      ? "not trusted, as you decided: nothing was run"
      : "these commands of the repository are not trusted yet: nothing was run",
    {
      details: difference,
      hint: `read them; then add --trust-sha256 ${hash}, or ${plan === undefined ? "run this" : `autodev trust ${plan}`} at a terminal`,
    },
  );

function approvalOf(
  surface: Surface,
  hash: string,
  command: (entry: SurfaceEntry) => Trusted | undefined,
): Approval {
  const find = (is: (entry: SurfaceEntry) => boolean): Trusted | undefined => {
    const entry = surface.find(is);
    return entry && command(entry);
  };
  return {
    surface,
    hash,
    gate: (name) => find((entry) => entry.kind === "gate" && entry.name === name),
    setup: find((entry) => entry.kind === "setup"),
    agent: (name) => find((entry) => entry.kind === "agent" && entry.name === name),
    notify: find((entry) => entry.kind === "notify"),
    tracker: (name) => find((entry) => entry.kind === "tracker" && entry.name === name),
    plan: (text) => find((entry) => entry.kind === "plan" && entry.text === asScript(text)),
    hooks: approvedHooks(surface, command),
  };
}

/**
 * Gates run in a checkout of what was approved; a notice's command runs in the user's own tree. What
 * it names there has to be what was approved, or else: why it is not run.
 */
export function changedSince({ surface }: Approval, root: string): string | undefined {
  const command = surface.find(({ kind }) => kind === "notify");
  if (!command) return "it was never approved";
  const approved = new Set(surface.map(entryKey));
  const read = (file: string): Buffer | undefined => {
    try {
      return fs.readFileSync(join(root, file));
    } catch {
      return undefined;
    }
  };
  const names = surface.flatMap(({ kind, name }) => (kind === "script" ? [name] : []));
  const now = surfaceOf([command], read, names);
  const other = now.find((entry) => !approved.has(entryKey(entry)));
  return other && `${other.name} is not what was approved`;
}

/**
 * What a phase brings along is run with the approval that its run has; undefined: it has none, for
 * there was nothing to approve.
 */
export async function approveAlong(
  options: ApprovalOptions,
  approval: Approval,
): Promise<Result<Approval | undefined>> {
  if (approval.surface.length === 0) return succeed(undefined);
  const surface = await surfaceFor(options);
  if (!surface.ok) return surface;
  const hash = surfaceHash(surface.value);
  const trusted = trustedCommands(options.place, surface.value, { sha256: hash });
  if (!trusted.ok) return trusted;
  return succeed(approvalOf(surface.value, hash, (entry) => trusted.value.command(entry)));
}

/** What verified phases made of the commands is trusted with them, from the next run on. */
export async function rememberTrust(
  options: ApprovalOptions,
  granted: { readonly by: string; readonly at: string },
): Promise<Result<void>> {
  const surface = await surfaceFor(options);
  if (!surface.ok) return surface;
  if (surface.value.length === 0) return succeed(undefined);
  // Without anybody of ours to do it, only what checks it was run: the rest was approved for others.
  if (options.agents.length === 0) return grantPart(options.place, surface.value, granted);
  const also = await partsOf(options);
  return also.ok
    ? grantTrust(options.place, surface.value, { ...granted, also: also.value })
    : also;
}

/** What an audit of the phases will run: the same, without whoever did the work. */
export async function partsOf(options: ApprovalOptions): Promise<Result<string[]>> {
  const gates = await surfaceFor({ ...options, agents: [], phases: [] });
  return gates.ok ? succeed([surfaceHash(gates.value)]) : gates;
}
