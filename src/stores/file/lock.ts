/**
 * One writer per repository, by a lock that the kernel holds for us: it is gone the instant we
 * die, however we die, and it stays while we are merely stopped. What is written in the lock
 * file is for messages only; nothing is ever decided by a process id.
 *
 * Linux: flock(1) locks the open file that we hand to it. The lock belongs to the open file
 * description, which we share with it, so it stays ours after the helper has ended; we open
 * files close-on-exec, so no agent inherits it. macOS and Windows lock on open.
 */
import * as fs from "node:fs";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import type { Holder } from "../../store.ts";
import { codeOf, reasonFor } from "./disk.ts";
import { isThere, lookAtProcess } from "./writer.ts";

export interface Lock {
  release(): void;
}

type Attempt = { is: "held" | "taken" } | { is: "refused"; failure: Failure };

/** O_EXLOCK of macOS and the BSDs; libuv's "share with nobody" on Windows. */
const lockOnOpen: Partial<Record<NodeJS.Platform, number>> = {
  darwin: 0x20,
  freebsd: 0x20,
  openbsd: 0x20,
  win32: 0x10000000,
};

/** O_SHLOCK; on Windows whoever holds it shares it with nobody. */
const sharedOnOpen: Partial<Record<NodeJS.Platform, number>> = {
  darwin: 0x10,
  freebsd: 0x10,
  openbsd: 0x10,
  win32: 0,
};

export function acquireLock(file: string, shown: string, holder: Holder): Result<Lock> {
  for (;;) {
    let fd: number;
    try {
      fd = openLockFile(file);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EAGAIN" || code === "EBUSY") return lockedFailure(file, shown);
      return fail("disk", `${shown} cannot be opened: ${reasonFor(code)} (${code})`, {
        file: shown,
        hint: "mend the permissions of the folder, then run the same command again",
      });
    }
    const attempt: Attempt =
      lockOnOpen[process.platform] === undefined ? flock(fd) : { is: "held" };
    if (attempt.is === "held" && sameFile(fd, file)) {
      writeHolder(fd, holder);
      return succeed({ release: () => fs.closeSync(fd) });
    }
    fs.closeSync(fd);
    if (attempt.is === "taken") return lockedFailure(file, shown);
    if (attempt.is === "refused") return { ok: false, failure: attempt.failure };
    // The file was replaced between open and lock: what we hold guards nothing. Again.
  }
}

/** Who holds it, as far as the file tells; undefined: nobody wrote it down. */
export function holderOf(file: string): Holder | undefined {
  const written = writtenIn(file);
  if (!written) return undefined;
  const { started: _, ...holder } = written;
  return holder;
}

/** `started`: the tick at which its process began, so that nobody takes a later one for it. */
type WrittenHolder = Holder & { readonly started?: number };

function writtenIn(file: string): WrittenHolder | undefined {
  try {
    const holder = JSON.parse(fs.readFileSync(file, "utf8")) as Partial<WrittenHolder>;
    if (typeof holder.pid !== "number") return undefined;
    return {
      pid: holder.pid,
      host: holder.host ?? "",
      since: holder.since ?? "",
      command: holder.command ?? "",
      ...(typeof holder.started === "number" && { started: holder.started }),
    };
  } catch {
    return undefined;
  }
}

/** A look that takes nothing, so that looking is in nobody's way; where it cannot tell: no. */
export function isLocked(file: string, look: () => Locks = lookAtLocks): boolean {
  try {
    const { dev, ino } = fs.statSync(file);
    const major = (dev >> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
    const hex = (part: number): string => part.toString(16).padStart(2, "0");
    const place = ` ${hex(major)}:${hex(minor)}:${ino} `;
    // Shared ones are others who look.
    const isHeld = (line: string): boolean => / FLOCK +\w+ +WRITE /.test(line);
    for (let looks = 0; looks < mostLooks; looks++) {
      const { text, isWhole } = look();
      if (text.split("\n").some((line) => isHeld(line) && line.includes(place))) return true;
      if (isWhole) return false;
    }
    return false;
  } catch {
    return false;
  }
}

interface Locks {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * The kernel tells its locks page by page: of those that come after the first, one is left out
 * whenever an earlier one is let go between two pages. Only who is there can be believed then.
 */
function lookAtLocks(): Locks {
  const fd = fs.openSync("/proc/locks", "r");
  try {
    const page = Buffer.alloc(64 * 1024);
    const parts: string[] = [];
    for (;;) {
      const read = fs.readSync(fd, page);
      if (read === 0) break;
      parts.push(page.toString("utf8", 0, read));
    }
    const [first = ""] = parts;
    return { text: parts.join(""), isWhole: parts.length <= 1 && first.length < smallestPage / 2 };
  } finally {
    fs.closeSync(fd);
  }
}

const smallestPage = 4096;
/** Left out of one look in a hundred on a machine that does nothing but lock: never of so many. */
const mostLooks = 8;

/**
 * The same where the kernel does not tell who has locked what: shared for a moment, so that two who
 * look do not take each other for a holder, and nothing is written. Whoever wants to hold it in that
 * moment finds it taken, and tries again.
 */
export function isTaken(file: string): boolean {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
  const shared = sharedOnOpen[process.platform];
  let fd: number;
  try {
    fd = fs.openSync(file, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0) | (shared ?? 0));
  } catch (error) {
    return ["EAGAIN", "EBUSY"].includes(codeOf(error) ?? "");
  }
  try {
    if (shared !== undefined) return false;
    const { spawnSync } = process.getBuiltinModule("node:child_process");
    const looked = spawnSync("flock", ["-n", "-s", "3"], {
      stdio: ["ignore", "ignore", "ignore", fd],
    });
    return looked.status === 1;
  } finally {
    fs.closeSync(fd);
  }
}

function openLockFile(file: string): number {
  const { O_RDWR, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
  const flags = O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0);
  const exclusive = lockOnOpen[process.platform];
  return fs.openSync(
    file,
    exclusive === undefined ? flags : flags | exclusive | (O_NONBLOCK ?? 0),
    0o600,
  );
}

function flock(fd: number): Attempt {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { error, status } = spawnSync("flock", ["-n", "3"], {
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  if (!error && status === 0) return { is: "held" };
  if (!error && status === 1) return { is: "taken" };
  const code = codeOf(error);
  const { failure } =
    code === "ENOENT"
      ? fail(
          "lock-unavailable",
          "flock is not on this machine, and without it nothing is safe from a second autodev",
          {
            hint: "install util-linux (or busybox), which brings flock",
          },
        )
      : fail(
          "lock-unavailable",
          `the lock cannot be taken: ${code ? `${reasonFor(code)} (${code})` : `flock ended with ${status}`}`,
          {
            hint: "nothing was changed: run the same command again when that is mended",
          },
        );
  return { is: "refused", failure };
}

function sameFile(fd: number, file: string): boolean {
  try {
    const [ours, there] = [fs.fstatSync(fd), fs.statSync(file)];
    return ours.ino === there.ino && ours.dev === there.dev;
  } catch {
    return false;
  }
}

function writeHolder(fd: number, holder: Holder): void {
  try {
    fs.ftruncateSync(fd, 0);
    const { started } = lookAtProcess(holder.pid) ?? {};
    fs.writeSync(fd, `${JSON.stringify({ ...holder, started })}\n`, 0);
  } catch {
    // On a full disk the lock still holds; only the message to others is poorer.
  }
}

function lockedFailure(file: string, shown: string): ReturnType<typeof fail> {
  const found = writtenIn(file);
  // Between taking the lock and writing it down, the file names the holder before: a dead one.
  const holder = found && isGone(found) ? undefined : found;
  const who = holder
    ? `process ${holder.pid}${holder.host ? ` on ${holder.host}` : ""} (${holder.command || "autodev"}) since ${holder.since}`
    : "another autodev";
  const stopped = holder !== undefined && isStopped(holder.pid);
  return fail("locked", `this repository is held by ${who}${stopped ? ", which is stopped" : ""}`, {
    file: shown,
    hint: holder
      ? stopped
        ? `let it go on: kill -CONT ${holder.pid}; or end it: kill -9 ${holder.pid}`
        : holder.command.startsWith("autodev build")
          ? "autodev attach shows it, autodev stop ends it"
          : `wait for it, or end it: kill ${holder.pid}`
      : "wait for it to end",
  });
}

/** For the message only; a process on another host or in another container is not seen. */
const isGone = ({ pid, host, started = 0 }: WrittenHolder): boolean =>
  host === process.getBuiltinModule("node:os").hostname() && !isThere(pid, started);

/** For the message only. */
const isStopped = (pid: number): boolean => /^[Tt]$/.test(lookAtProcess(pid)?.state ?? "");
