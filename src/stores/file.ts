/**
 * The store on a local disk, in git's common directory:
 *
 *   journal/0000/00000007.log   one segment for each session that wrote (see file/journal.ts)
 *   snapshot                    the fold at some head: a cache that proves itself or is ignored
 *   answers/<decision>.json     the first answer, for ever: link(2) decides who was first
 *   inbox/<message>.json        a word to the holder, until it is taken up (see file/inbox.ts)
 *   lock                        held by the kernel while a session is open (see file/lock.ts)
 */
import * as path from "node:path";
import { type Answer, isAnswer } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import {
  type Holder,
  type Reading,
  type Session,
  type Snapshot,
  type Store,
  since,
  Unreadable,
} from "../store.ts";
import {
  createDurably,
  type Disk,
  isMissing,
  realDisk,
  reasonFor,
  replaceFile,
  temporaryMark,
} from "./file/disk.ts";
import { inboxIn, isWaiting, received, remove, send } from "./file/inbox.ts";
import {
  allEpochs,
  diskFailure,
  emptyHead,
  type History,
  journalFolder,
  newestFolder,
  openTail,
  openWriter,
  type Place,
  readAfter,
  readSince,
  readWhole,
  segmentFile,
} from "./file/journal.ts";
import { acquireLock, holderOf, isLocked, isTaken, type Lock } from "./file/lock.ts";
import { leftovers, readProjection, writeProjection } from "./file/projection.ts";
import { examineJournal, mendedFolder, repairJournal } from "./file/repair.ts";
import { readSnapshot, writeSnapshot } from "./file/snapshot.ts";
import { isThere, writerName } from "./file/writer.ts";

/** So often, and after so long, a lock that is taken is tried again. */
const [looks, lookMs] = [4, 15];

export interface FileStoreOptions {
  /** `<git common dir>/autodev` */
  readonly folder: string;
  /** The working tree, where the projections stand. */
  readonly root: string;
  /** What people are shown instead, relative to the repository. */
  readonly shown?: string;
  /** The simulator's door. */
  readonly disk?: Disk;
  readonly lock?: typeof acquireLock;
  /** For the names of temporary files. */
  readonly unique?: () => string;
}

export function createFileStore(options: FileStoreOptions): Store {
  const place: Place = {
    disk: options.disk ?? realDisk,
    folder: options.folder,
    shown: options.shown ?? options.folder,
    sha256,
  };
  // The process is in the name, so that others know whether its writer still lives.
  const unique =
    options.unique ?? (() => `${writerName()}-${builtin("node:crypto").randomUUID().slice(0, 8)}`);
  const lockFile = path.join(place.folder, "lock");
  const snapshotFile = path.join(place.folder, "snapshot");
  const answersFolder = path.join(place.folder, "answers");

  /** Somebody may only be looking, which takes a moment; whoever holds it stays. */
  const acquireSoon = async (holder: Holder): Promise<Result<Lock>> => {
    for (let left = looks; ; left--) {
      const shown = path.join(place.shown, "lock");
      const acquired = (options.lock ?? acquireLock)(lockFile, shown, holder);
      if (acquired.ok || acquired.failure.code !== "locked" || left === 0) return acquired;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  };

  /** Where a crash can leave a temporary file of ours. */
  const folders = [
    place.folder,
    answersFolder,
    inboxIn(place),
    ...["_docs", ".autobuild", ".autobuild/phases", ".autobuild/logs"].map((folder) =>
      path.join(options.root, folder),
    ),
  ];
  const abandoned = (): string[] =>
    folders.flatMap((folder) => leftovers(place.disk, folder)).filter((file) => !hasWriter(file));
  const unreadableAnswers = (): string[] =>
    place.disk
      .list(answersFolder)
      .filter((name) => !name.startsWith(temporaryMark))
      .map((name) => path.join(answersFolder, name))
      .filter((file) => !parseAnswer(place.disk.read(file)));

  /** Our memory is a folder of ours: a link would have us write into somebody else's. */
  const linkInTheWay = (): ReturnType<typeof fail> | undefined => {
    const own = [
      place.folder,
      journalFolder(place),
      newestFolder(place),
      answersFolder,
      inboxIn(place),
      rescueIn(place),
    ];
    const link = own.find((folder) => place.disk.kind(folder) === "link");
    if (link === undefined) return undefined;
    const name = path.join(place.shown, path.relative(place.folder, link));
    return fail("disk", `${name} is a link; a folder of ours has to be there`, {
      file: name,
      hint: `mv ${name} ${name}.aside`,
    });
  };

  const looking = <T>(look: () => T): T => {
    try {
      return look();
    } catch (error) {
      throw new Unreadable(unreadable(place, error).failure);
    }
  };

  const readNewest = (whole: boolean): Result<{ history: History; snapshot?: Snapshot }> => {
    const saved = whole ? undefined : readSnapshot(place.disk.read(snapshotFile));
    if (saved) {
      const after = readAfter(place, saved.mark);
      if (after?.ok) return succeed({ history: after.value, snapshot: saved.snapshot });
    }
    const history = readWhole(place);
    if (!history.ok) return history;
    if (history.value.head.seq === 0 && place.disk.exists(mendedFolder(place))) {
      return fail(
        "journal-damaged",
        `${path.join(place.shown, "journal")} was being mended when the machine stopped`,
        {
          file: path.join(place.shown, "journal"),
          hint: "autodev doctor --fix finishes it",
        },
      );
    }
    // What a snapshot has seen was acknowledged: a journal that is shorter has lost it.
    const shorter = saved && history.value.head.seq < saved.mark.head.seq;
    if (shorter && allEpochs(place).length > 0) {
      return fail(
        "journal-damaged",
        `${path.join(place.shown, "journal")} ends at ${history.value.head.seq}, but ${saved.mark.head.seq} was recorded: transitions are missing`,
        {
          file: path.join(place.shown, "journal"),
          hint: "autodev doctor --fix keeps the damaged journal aside and goes on with all that can be read",
        },
      );
    }
    return succeed({ history: history.value });
  };

  return {
    read(options = {}) {
      try {
        // Where that cannot be told from a part, it is told from all of it.
        const part = "from" in options ? readSince(place, options.from) : undefined;
        if (part) {
          const { head, transitions } = part;
          return succeed({ head, snapshot: undefined, after: transitions });
        }
        const newest = readNewest("from" in options || options.whole === true);
        if (!newest.ok) return newest;
        const { history, snapshot } = newest.value;
        const after =
          "from" in options ? since(history.transitions, options.from) : history.transitions;
        const reading: Reading = { head: history.head, snapshot, after };
        return succeed(reading);
      } catch (error) {
        return unreadable(place, error);
      }
    },

    tail() {
      const tail = openTail(place);
      return {
        next() {
          try {
            return tail.next();
          } catch (error) {
            return unreadable(place, error);
          }
        },
      };
    },

    everRendered(file, hash) {
      const needle = `${JSON.stringify(file)}:${JSON.stringify(hash)}`;
      // The newest first: a file that is behind is so by the little that a death has cost it.
      return looking(() =>
        allEpochs(place)
          .reverse()
          .some((epoch) => place.disk.read(segmentFile(place, epoch))?.includes(needle)),
      );
    },

    readProjection: (file) => readProjection(place.disk, options.root, file),

    async open(holder) {
      const link = linkInTheWay();
      if (link) return link;
      let lock: Lock | undefined;
      try {
        await place.disk.makeFolder(place.folder);
        const acquired = await acquireSoon(holder);
        if (!acquired.ok) return acquired;
        lock = acquired.value;
        // A journal that somebody deleted takes its snapshot with it.
        if (allEpochs(place).length === 0 && place.disk.exists(snapshotFile)) {
          await place.disk.remove(snapshotFile);
        }
        const opened = await openWriter(place, () => {
          const newest = readNewest(false);
          return newest.ok ? succeed(newest.value.history) : newest;
        });
        if (!opened.ok) {
          lock.release();
          return opened;
        }
        const writer = opened.value;
        const held = lock;
        for (const file of abandoned()) {
          await place.disk.remove(file).catch(() => {});
        }
        const session: Session = {
          get epoch() {
            return writer.epoch;
          },
          get head() {
            return writer.mark?.head ?? emptyHead;
          },
          append: (expectedSeq, transition) => writer.append(expectedSeq, transition),
          writeProjection: (file, text, { durable }) =>
            writeProjection(place.disk, options.root, file, text, { unique: unique(), durable }),
          async setAside(file, at) {
            const kept = await keepCopy(place, options.root, file, at, unique());
            if (!kept.ok) return kept;
            try {
              await place.disk.remove(path.join(options.root, file));
              return kept;
            } catch (error) {
              return diskFailure(place, error);
            }
          },
          keepCopy: (file, at) => keepCopy(place, options.root, file, at, unique()),
          messages: () => received(place, holder),
          takenUp: (id) => remove(place, id),
          async saveSnapshot(snapshot) {
            const mark = writer.mark;
            if (!mark || mark.head.hash !== snapshot.head.hash) return;
            const bytes = writeSnapshot(mark, snapshot);
            // A cache: on a full disk the next reader folds a little more.
            await replaceFile(place.disk, snapshotFile, bytes, {
              unique: unique(),
              durable: false,
            }).catch(() => {});
          },
          async release() {
            try {
              await writer.close();
            } finally {
              held.release();
            }
          },
        };
        return succeed(session);
      } catch (error) {
        lock?.release();
        return diskFailure(place, error);
      }
    },

    async answer(id, answer) {
      if (!/^d-[0-9a-f]{12}$/.test(id)) return fail("usage", `"${id}" is no decision's id`);
      const link = linkInTheWay();
      if (link) return link;
      const file = path.join(answersFolder, `${id}.json`);
      try {
        await place.disk.makeFolder(answersFolder);
        await place.disk.syncFolder(place.folder);
        const bytes = Buffer.from(`${JSON.stringify(answer)}\n`);
        if (await createAnswer(place.disk, file, bytes, unique)) return succeed(answer);
        const first = parseAnswer(place.disk.read(file));
        if (first) return succeed(first);
        return fail("disk", `${file} holds no answer that can be read`, {
          file,
          hint: "autodev doctor --fix sets it aside",
        });
      } catch (error) {
        return diskFailure(place, error);
      }
    },

    answers(to) {
      return looking(() => {
        const answers = new Map<string, Answer>();
        for (const name of to?.map((id) => `${id}.json`) ?? place.disk.list(answersFolder)) {
          const id = /^(d-[0-9a-f]{12})\.json$/.exec(name)?.[1];
          const answer = id && parseAnswer(place.disk.read(path.join(answersFolder, name)));
          if (id && answer) answers.set(id, answer);
        }
        return answers;
      });
    },

    holder() {
      if (isLocked(lockFile)) return holderOf(lockFile);
      // Not every system tells who has locked what.
      return isTaken(lockFile) ? holderOf(lockFile) : undefined;
    },

    async send(to, message) {
      return linkInTheWay() ?? send(place, to, message, unique());
    },
    isWaiting: (id) => isWaiting(place, id),
    takeBack: (id) => remove(place, id),

    examine() {
      const saved = place.disk.read(snapshotFile);
      const findings = examineJournal(place, {
        present: saved !== undefined,
        mark: readSnapshot(saved)?.mark,
      });
      const own = [place.folder, journalFolder(place), answersFolder, newestFolder(place)];
      for (const folder of own.filter((each) => place.disk.exists(each))) {
        const refused = place.disk.refusesWrites(folder);
        if (!refused || refused === "EROFS") continue;
        const name = path.join(place.shown, path.relative(place.folder, folder));
        findings.push({
          code: "not-writable",
          level: "error",
          message: `${name} cannot be written: ${reasonFor(refused)} (${refused})`,
          file: name,
          fix: `chmod u+rwx ${name}`,
        });
      }
      for (const file of unreadableAnswers()) {
        const name = path.join(place.shown, "answers", path.basename(file));
        findings.push({
          code: "answer-unreadable",
          level: "error",
          message: `${name} holds no answer that can be read`,
          file: name,
          fix: "autodev doctor --fix",
        });
      }
      const holder = isLocked(lockFile) ? (holderOf(lockFile) ?? unknownHolder) : undefined;
      if (holder) {
        findings.push({
          code: "held",
          level: "note",
          message: `held by process ${holder.pid} on ${holder.host} (${holder.command}) since ${holder.since}`,
          file: path.join(place.shown, "lock"),
        });
      } else {
        for (const file of abandoned()) {
          findings.push({
            code: "leftover",
            level: "warning",
            message: `${path.basename(file)} was left behind by a crash`,
            file: path.relative(options.root, file),
            fix: "autodev doctor --fix",
          });
        }
      }
      return findings;
    },

    async repair(holder) {
      const link = linkInTheWay();
      if (link) return link;
      if (!place.disk.exists(place.folder)) return succeed([]);
      const acquired = (options.lock ?? acquireLock)(
        lockFile,
        path.join(place.shown, "lock"),
        holder,
      );
      if (!acquired.ok) return acquired;
      try {
        const known = readSnapshot(place.disk.read(snapshotFile))?.mark;
        const hadJournal = allEpochs(place).length > 0;
        const repaired = await repairJournal(place, known, holder.since);
        if (!repaired.ok) return repaired;
        const said = [...repaired.value];
        const fits = known && hadJournal && said.length === 0 && readAfter(place, known)?.ok;
        if (place.disk.exists(snapshotFile) && !fits) {
          await place.disk.remove(snapshotFile);
          said.push("removed a snapshot that did not fit the journal");
        }
        for (const file of unreadableAnswers()) {
          const aside = path.join(
            place.folder,
            "rescue",
            `${holder.since.replace(/[^0-9A-Za-z]/g, "")}-${path.basename(file)}`,
          );
          await place.disk.makeFolder(path.dirname(aside));
          await place.disk.rename(file, aside);
          said.push(`set aside ${path.basename(file)}`);
        }
        for (const file of abandoned()) {
          await place.disk.remove(file);
          said.push(`removed ${path.basename(file)}`);
        }
        return succeed(said);
      } catch (error) {
        return diskFailure(place, error);
      } finally {
        acquired.value.release();
      }
    },
  };
}

/** A holder that cannot see our process may sweep our temporary file away: once more, then. */
async function createAnswer(
  disk: Disk,
  file: string,
  bytes: Buffer,
  unique: () => string,
): Promise<boolean> {
  for (let tries = 3; ; tries--) {
    try {
      return await createDurably(disk, file, bytes, unique());
    } catch (error) {
      if (tries === 0 || !isMissing(error)) throw error;
    }
  }
}

/** Whether the process that is named in a temporary file may still be writing it. */
function hasWriter(file: string): boolean {
  const [, pid, started] = /-tmp-(\d+)(?:t(\d+))?-/.exec(path.basename(file)) ?? [];
  return isThere(Number(pid ?? 0), Number(started ?? 0));
}

const rescueIn = (place: Place): string => path.join(place.folder, "rescue");

/** Durable before anything happens to the original: no power cut finds it in neither place. */
async function keepCopy(
  place: Place,
  root: string,
  file: string,
  at: string,
  unique: string,
): Promise<Result<string>> {
  const rescue = rescueIn(place);
  const name = `${at.replace(/[^0-9A-Za-z]/g, "")}-${path.basename(file)}`;
  try {
    await place.disk.makeFolder(rescue);
    await place.disk.syncFolder(place.folder);
    const bytes = place.disk.read(path.join(root, file)) ?? Buffer.alloc(0);
    let kept = name;
    for (
      let more = 2;
      !(await createDurably(place.disk, path.join(rescue, kept), bytes, unique));
      more++
    ) {
      kept = `${name}-${more}`;
    }
    return succeed(path.join(place.shown, "rescue", kept));
  } catch (error) {
    return diskFailure(place, error);
  }
}

const unknownHolder: Holder = { pid: 0, host: "unknown", since: "unknown", command: "unknown" };

function parseAnswer(bytes: Buffer | undefined): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(bytes?.toString("utf8") ?? "");
    return isAnswer(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

const unreadable = (place: Place, error: unknown): ReturnType<typeof fail> => {
  const { failure } = diskFailure(place, error);
  return fail("disk", failure.message.replace("cannot be written", "cannot be read"), {
    ...(failure.file !== undefined && { file: failure.file }),
    hint: "mend the permissions or the disk, then run the same command again",
  });
};

/** Loaded where it is first needed: 4 ms that `status` does not have. */
const builtin = <T extends "node:crypto">(name: T): typeof import("node:crypto") =>
  process.getBuiltinModule(name);

export const sha256 = (text: string): string => builtin("node:crypto").hash("sha256", text, "hex");
