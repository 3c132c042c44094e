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
import { fail, type Result, succeed } from "../../core/failure.ts";
import type { Holder } from "../../store.ts";
import { codeOf } from "./disk.ts";

export interface Lock {
  release(): void;
}

type Attempt = "held" | "taken" | "no-helper";

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
      return fail("disk", `${shown} cannot be opened: ${code}`, {
        file: shown,
        hint: "mend the permissions of the folder, then run the same command again",
      });
    }
    const attempt = lockOnOpen[process.platform] === undefined ? flock(fd) : "held";
    if (attempt === "held" && sameFile(fd, file)) {
      writeHolder(fd, holder);
      return succeed({ release: () => fs.closeSync(fd) });
    }
    fs.closeSync(fd);
    if (attempt === "taken") return lockedFailure(file, shown);
    if (attempt === "no-helper") {
      return fail(
        "lock-unavailable",
        "flock(1) is not on this machine, and without it nothing is safe from a second autodev",
        {
          hint: "install util-linux (or busybox), which brings flock",
        },
      );
    }
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

/** A look without taking it. */
export function isLocked(file: string): boolean {
  if (!fs.existsSync(file)) return false;
  let fd: number;
  try {
    fd = openLockFile(file);
  } catch (error) {
    return codeOf(error) === "EAGAIN" || codeOf(error) === "EBUSY";
  }
  try {
    return lockOnOpen[process.platform] === undefined && flock(fd) === "taken";
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
  const helper = process.getBuiltinModule("node:child_process").spawnSync("flock", ["-n", "3"], {
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  if (helper.error) return "no-helper";
  return helper.status === 0 ? "held" : "taken";
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
  const holder = holderOf(file);
  const who = holder
    ? `process ${holder.pid}${holder.host ? ` on ${holder.host}` : ""} (${holder.command || "autodev"}) since ${holder.since}`
    : "another autodev";
  const stopped = holder !== undefined && isStopped(holder.pid);
  return fail("locked", `this repository is held by ${who}${stopped ? ", which is stopped" : ""}`, {
    file: shown,
    hint: holder
      ? stopped
        ? `let it go on: kill -CONT ${holder.pid}; or end it: kill -9 ${holder.pid}`
        : `wait for it, or end it: kill ${holder.pid}`
      : "wait for it to end",
  });
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
