/**
 * What a project has to have in its tracker, created there, each once: the ledger says what is called
 * next, and everything is on record before anything follows from it. Then our own files say so.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Event } from "../core/event.ts";
import { type Result, succeed } from "../core/failure.ts";
import {
  epicFor,
  epicsFile,
  itemsIn,
  tableFile,
  taskFile,
  type Wanted,
} from "../core/tracker/items.ts";
import {
  deferredIn,
  effectKey,
  type LedgerEntry,
  type NewItem,
  nextCall,
  nothingSeen,
  nothingTracked,
  type Seen,
  type TrackedItem,
  type Tracking,
} from "../core/tracker/ledger.ts";
import { leftoverFile, leftoverText, renamePlan } from "../core/tracker/rename.ts";
import type { Git } from "../git/call.ts";
import { moveFile } from "../git/move-file.ts";
import type { Outcome, Tracker } from "../tracker.ts";
import { documentAt } from "./docs-tree.ts";
import { type FlowSite, recordFlow } from "./flow-site.ts";

export type TrackSite = Pick<FlowSite, "project" | "held" | "git" | "signal" | "happened" | "tell">;

export interface Tracked {
  readonly created: number;
  readonly pending: number;
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

/** `done`: tasks that have landed too, and they are moved to where such items are. */
export async function trackItems(
  site: TrackSite,
  tracker: Tracker,
  { done = false } = {},
): Promise<Result<Tracked>> {
  const ledger = await openLedger(site, tracker);
  const folders = done ? ["todo", "done"] : ["todo"];
  const items = itemsIn(documentsAt(site, folders));
  const before = receipts(ledger.tracking());
  const epics = new Map<string, string>();
  // Of these, people have written something that is no id: nothing can be linked to it.
  const foreign = new Set<string>();
  for (const epic of epicsOf(items)) {
    const settled =
      epic.id === undefined ? await ledger.created(epic, undefined) : succeed(idIn(epic.id));
    if (!settled.ok) return settled;
    for (const name of namesOf(epic, items)) {
      if (settled.value !== undefined) epics.set(name, settled.value);
      else if (epic.id !== undefined) foreign.add(name);
    }
  }
  for (const task of items.filter(({ kind }) => kind === "task")) {
    // One that is there already may still have to be linked.
    if (task.id !== undefined && !ledger.owes("link", task)) continue;
    const epic = task.epic === undefined ? undefined : (epics.get(task.epic) ?? idIn(task.epic));
    const settled =
      task.id !== undefined
        ? succeed(task.id)
        : task.epic !== undefined && epic === undefined && !foreign.has(task.epic)
          ? await ledger.left(task, "its epic is not created yet")
          : await ledger.created(task, epic);
    if (!settled.ok) return settled;
    if (settled.value === undefined || epic === undefined) continue;
    const linked = await ledger.repeated("link", task, settled.value, (id) =>
      tracker.link(id, epic),
    );
    if (!linked.ok) return linked;
  }
  const renamed = await writeIds(site, folders, epics);
  if (!renamed.ok) return renamed;
  for (const task of itemsIn(documentsAt(site, folders)).filter(({ file }) => isOver(file))) {
    const id = idIn(task.id ?? "");
    if (id === undefined) continue;
    const moved = await ledger.repeated("move", task, id, () => tracker.move(id, "done"));
    if (!moved.ok) return moved;
  }
  const left = await tellLeftovers(site, ledger.tracking());
  if (!left.ok) return left;
  const pending = pendingIn(site, folders);
  const created = receipts(ledger.tracking()) - before;
  return succeed({ created, pending, renamed: renamed.value });
}

const isOver = (file: string): boolean => taskFile.exec(file)?.[1] === "done";

const receipts = ({ entries }: Tracking): number =>
  Object.values(entries).filter(({ does, receipt }) => does === "create" && receipt).length;

/** How many of a project's items are in no tracker. */
export const pendingIn = (
  site: Pick<TrackSite, "project">,
  folders: readonly string[] = ["todo", "done"],
): number => itemsIn(documentsAt(site, folders)).filter(({ id }) => id === undefined).length;

/** Those of the table, and those that only a task names. */
function epicsOf(items: readonly Wanted[]): Wanted[] {
  const epics = new Map<string, Wanted>();
  for (const item of items) {
    const epic = item.kind === "epic" ? item : item.id === undefined && item.epic !== undefined;
    const meant = epic === true ? epicFor(item.epic ?? "", items) : epic || undefined;
    const id = meant?.id ?? idIn(meant?.of ?? "");
    if (meant) epics.set(meant.of, { ...meant, ...(id !== undefined && { id }) });
  }
  return [...epics.values()];
}

/** `AZ-12`, as a person may have written it: it is there already. */
const idIn = (text: string): string | undefined =>
  /^[A-Z][A-Z0-9_]{0,19}-[0-9]{1,12}$/.test(text) ? text : undefined;

/** All that tasks call it by. */
const namesOf = (epic: Wanted, items: readonly Wanted[]): string[] => [
  epic.of,
  ...items.flatMap(({ kind, epic: named }) =>
    kind === "task" && named !== undefined && epicFor(named, items).of === epic.of ? [named] : [],
  ),
];

// ── the ledger ─────────────────────────────────────────────────────────────────────────────────

interface Ledger {
  tracking(): Tracking;
  /** Its id; undefined: not now, and that is on record. */
  created(item: Wanted, epic: string | undefined): Promise<Result<string | undefined>>;
  /** What can be done twice: until it is done, a few times. */
  repeated(
    does: "link" | "move",
    item: Wanted,
    id: string,
    call: (id: string) => Promise<Outcome<undefined>>,
  ): Promise<Result<undefined>>;
  left(item: Wanted, why: string): Promise<Result<undefined>>;
  /** It was to be done, and there is no receipt. */
  owes(does: "link", item: Wanted): boolean;
}

async function openLedger(site: TrackSite, tracker: Tracker): Promise<Ledger> {
  const { held, project } = site;
  const repository = await identityOf(site.git);
  const tracking = (): Tracking => held.state.tracking ?? nothingTracked;
  const { flow = "none", cycle = 1 } = held.state.flow ?? {};
  // Where nobody is logged in any more, the rest is not even tried.
  let givenUp: string | undefined;
  const effectFor = (does: LedgerEntry["does"], { kind, of }: Wanted): Effect => {
    const about = { tracker: tracker.name, does, kind, of };
    // Begun in an earlier cycle, it is the same thing.
    const known = Object.values(tracking().entries).find(
      (entry) =>
        !entry.receipt &&
        entry.tracker === tracker.name &&
        entry.does === does &&
        entry.kind === kind &&
        entry.of === of,
    );
    const key = known?.key ?? effectKey({ repository, flow, cycle, ...about }, project.world.hash);
    return { key, ...about };
  };
  const record = async (...events: Event[]): Promise<Result<undefined>> => {
    const recorded = await recordFlow(site, events);
    return recorded.ok ? succeed(undefined) : recorded;
  };
  const defer = async (effect: Effect, why: string): Promise<Result<undefined>> => {
    site.tell(`${effect.kind} ${effect.of} is left for later: ${why}`);
    return record({ type: "effect-deferred", ...effect, why });
  };
  return {
    tracking,
    left: (item, why) => defer(effectFor("create", item), why),
    owes(does, item) {
      const entry = tracking().entries[effectFor(does, item).key];
      return entry !== undefined && !entry.receipt;
    },
    async created(item, epic) {
      const effect = effectFor("create", item);
      const { key } = effect;
      const wanted: NewItem = {
        key,
        kind: item.kind,
        title: item.title,
        body: item.body,
        ...(epic !== undefined && { epic }),
      };
      const mostWaitMs = Math.max(tracker.lagMs * 2, leastPatienceMs);
      let seen: Seen = nothingSeen;
      for (;;) {
        const entry = tracking().entries[key];
        if (entry?.receipt) return succeed(entry.receipt.id);
        if (site.signal.aborted) givenUp ??= "stopped before it was created";
        if (givenUp !== undefined) return defer(effect, givenUp);
        const sinceMs = Date.parse(project.world.now()) - Date.parse(entry?.intendedAt ?? "");
        const next = nextCall(entry, seen, { sinceMs, lagMs: tracker.lagMs, mostWaitMs });
        const { searches, calls, waitedMs, made } = seen;
        switch (next.is) {
          case "find": {
            const found = await tracker.find(key);
            const looked = { searches: searches + 1, calls, waitedMs, ...(made && { made }) };
            seen =
              found.is === "done"
                ? { ...looked, items: found.value }
                : { ...looked, trouble: found };
            break;
          }
          case "call": {
            const intended = await record({ type: "effect-intended", ...effect });
            if (!intended.ok) return intended;
            const answered = await tracker.create(wanted);
            const called = { searches, calls: calls + 1, waitedMs };
            seen =
              answered.is === "done"
                ? { ...called, made: answered.value }
                : { ...called, trouble: answered };
            break;
          }
          case "wait":
            await pause(next.ms, site.signal);
            seen = { searches, calls, waitedMs: waitedMs + next.ms };
            break;
          case "receipt": {
            const got = await record(receipted(effect, next.item, next.others));
            if (!got.ok) return got;
            if (next.others.length > 0) site.tell(twice(effect, next.item.id, next.others));
            break;
          }
          case "defer":
            if (seen.trouble?.is === "auth") givenUp = next.why;
            return defer(effect, next.why);
        }
      }
    },
    async repeated(does, item, id, call) {
      const effect = effectFor(does, item);
      if (givenUp !== undefined || hasReceipt(tracking(), does, id)) return succeed(undefined);
      const intended = await record({ type: "effect-intended", ...effect });
      if (!intended.ok) return intended;
      for (let tries = 1; ; tries++) {
        const answered = await call(id);
        if (answered.is === "done") return record(receipted(effect, { id }, []));
        if (answered.is === "cannot" || answered.is === "auth" || tries === mostRepeats) {
          if (does === "link") return defer(effect, answered.why);
          // Where it stands people can see; the next sync tries again.
          site.tell(`${id} is not moved: ${answered.why}`);
          return succeed(undefined);
        }
        await pause(answered.is === "limited" ? (answered.afterMs ?? 2000) : 500, site.signal);
      }
    },
  };
}

type Effect = Pick<LedgerEntry, "key" | "tracker" | "does" | "kind" | "of">;

const leastPatienceMs = 120_000;
const mostRepeats = 3;

const hasReceipt = ({ entries }: Tracking, does: string, id: string): boolean =>
  Object.values(entries).some((entry) => entry.does === does && entry.receipt?.id === id);

const receipted = (effect: Effect, { id, url }: TrackedItem, others: readonly string[]): Event => ({
  type: "effect-receipted",
  ...effect,
  id,
  ...(url !== undefined && { url }),
  ...(others.length > 0 && { others: [...others] }),
});

const twice = ({ kind, of }: Effect, id: string, others: readonly string[]): string =>
  `${kind} ${of} is there more than once: ${id} is kept, ${others.join(", ")} can be closed`;

/** Other clones and worktrees have the same; a shallow one does not know it. */
async function identityOf(git: Git): Promise<string> {
  const roots = await git.call({ args: ["rev-list", "--max-parents=0", "HEAD"] });
  const [first] = roots.ok ? roots.value.text.split("\n").filter(Boolean).sort() : [];
  return first ?? git.place.commonDir;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done);
  });

// ── our own files ──────────────────────────────────────────────────────────────────────────────

function documentsAt(
  { project }: Pick<TrackSite, "project">,
  folders: readonly string[],
): ReadonlyMap<string, string> {
  const names = folders.flatMap((folder) => {
    try {
      return fs
        .readdirSync(path.join(project.root, "_docs", "02_tasks", folder))
        .filter((name) => name.endsWith(".md"))
        .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
        .map((name) => `02_tasks/${folder}/${name}`);
    } catch {
      return [];
    }
  });
  const documents = new Map<string, string>();
  for (const file of [epicsFile, tableFile, ...names]) {
    const text = documentAt(project.root, file);
    if (text !== undefined) documents.set(file, text);
  }
  return documents;
}

/** From what lies there now: done half, it is gone on with. */
async function writeIds(
  site: TrackSite,
  folders: readonly string[],
  epics: ReadonlyMap<string, string>,
): Promise<Result<Tracked["renamed"]>> {
  const { project, held } = site;
  const documents = documentsAt(site, folders);
  const changes = renamePlan(documents, {
    epics: new Map([...epics, ...idsIn(held.state.tracking ?? nothingTracked, "epic")]),
    tasks: tasksToName(documents, held.state.tracking ?? nothingTracked),
  });
  for (const { file, text } of changes.writes) {
    const written = await held.write({ path: `_docs/${file}`, text }, { durable: true });
    if (!written.ok) return written;
  }
  for (const { from, to } of changes.renames) {
    if (!project.repository) continue;
    const moved = await moveFile(project.repository, `_docs/${from}`, `_docs/${to}`);
    if (!moved.ok) return moved;
    site.tell(`${path.basename(from)} is ${path.basename(to)} now`);
  }
  return succeed(changes.renames);
}

function idsIn({ entries }: Tracking, kind: LedgerEntry["kind"]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const entry of Object.values(entries)) {
    if (entry.kind === kind && entry.does === "create" && entry.receipt)
      ids.set(entry.of, entry.receipt.id);
  }
  return ids;
}

/** A file that says another id is a person's, or of an earlier cycle: it stays as it is. */
function tasksToName(
  documents: ReadonlyMap<string, string>,
  tracking: Tracking,
): ReadonlyMap<string, string> {
  const ids = idsIn(tracking, "task");
  for (const { kind, of, id } of itemsIn(documents)) {
    if (kind === "task" && id !== undefined && id !== ids.get(of)) ids.delete(of);
  }
  return ids;
}

async function tellLeftovers(site: TrackSite, tracking: Tracking): Promise<Result<void>> {
  const left = deferredIn(tracking).map(({ kind, of, deferred }) => ({
    kind,
    of,
    why: deferred?.why ?? "",
  }));
  const file = `_docs/${leftoverFile}`;
  if (left.length > 0) {
    return site.held.write({ path: file, text: leftoverText(left) }, { durable: true });
  }
  fs.rmSync(path.join(site.project.root, file), { force: true });
  return succeed(undefined);
}
