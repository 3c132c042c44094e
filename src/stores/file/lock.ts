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
  try {
    const holder = JSON.parse(fs.readFileSync(file, "utf8")) as Partial<Holder>;
    if (typeof holder.pid !== "number") return undefined;
    return {
      pid: holder.pid,
      host: holder.host ?? "",
      since: holder.since ?? "",
      command: holder.command ?? "",
    };
  } catch {
    return undefined;
  }
}

/** A look that takes nothing, so that looking is in nobody's way; where it cannot tell: no. */
export function isLocked(file: string): boolean {
  try {
    const { dev, ino } = fs.statSync(file);
    const major = (dev >> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
    const hex = (part: number): string => part.toString(16).padStart(2, "0");
    const place = ` ${hex(major)}:${hex(minor)}:${ino} `;
    const locks = fs.readFileSync("/proc/locks", "utf8");
    return locks.split("\n").some((line) => / FLOCK /.test(line) && line.includes(place));
  } catch {
    return false;
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
    fs.writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
  } catch {
    // On a full disk the lock still holds; only the message to others is poorer.
  }
}

function lockedFailure(file: string, shown: string): ReturnType<typeof fail> {
  const found = holderOf(file);
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
function isGone({ pid, host }: Holder): boolean {
  if (host !== process.getBuiltinModule("node:os").hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** For the message only. */
function isStopped(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^[Tt]$/.test(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[0] ?? "");
  } catch {
    return false;
  }
}
