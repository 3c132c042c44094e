/** Without a namespace: a group, names that are inherited, and a reaper that waits for our death. */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Readable } from "node:stream";
import {
  type Enclosure,
  idName,
  type Start,
  shell,
  spawned,
  unshelled,
  usInAllIds,
} from "./enclosure.ts";
import {
  carriesId,
  isGiven,
  kill,
  killUntilGone,
  type Living,
  linkAt,
  listed,
  ourStart,
  processTable,
  withDescendants,
} from "./process-table.ts";
import { wordsOf } from "./streams.ts";

/**
 * The command's parent is a shell, so that one that kills its parent does not kill us. The shell
 * outlives a SIGTERM to all: the command may take its time to stop. What is open as 8 is the
 * command's tag; 3 is a number that scripts like to use themselves.
 */
const inBetween = `
trap : TERM INT HUP
exec 8<&3 3<&-
(echo began >&2; exec "$@" 2>&4 4<&-)
exit $?`;

/**
 * Who belongs to the command is told by any of these: group or session; a parent who does; our
 * name for it in the environment; the tag, an open file without a name that children inherit. A
 * process escapes that gave up all of them and whose parents have ended: without the kernel's help
 * nothing leads to it any more.
 */
export async function inGroup(start: Start): Promise<Enclosure> {
  watchOverUs();
  const tag = openTag(start.id);
  let child: ChildProcess;
  try {
    child = await spawned([shell, "-c", inBetween, "autodev", ...start.command], start, tag.file);
  } finally {
    fs.closeSync(tag.file);
  }
  const words = wordsOf(child.stderr as Readable);
  groupsUnderWay.add(start.id);
  // Its number is kept for as long as anybody is in its group: whoever has it after its end is a stranger.
  const isItsNumber = (): boolean =>
    (child.exitCode === null && child.signalCode === null) || !isGiven(child.pid);
  const ours = (each: Living): boolean =>
    ((each.group === child.pid || each.session === child.pid) && isItsNumber()) ||
    (each.started >= ourStart() &&
      isStray(each) &&
      (carriesId(each, start.id) || holds(each, tag.name)));
  const killAll = (): Promise<number> => killUntilGone(ours);
  return {
    child,
    stdout: child.stdout as Readable,
    stderr: child.stdio[4] as Readable,
    askToStop() {
      void words.until(/^began$/m).then(() => {
        for (const each of withDescendants(processTable(), ours)) kill(each.pid, "SIGTERM");
      });
    },
    kill: () => void killAll(),
    async empty(code, signal) {
      const left = await killAll();
      groupsUnderWay.delete(start.id);
      return { ...unshelled(code, signal), left };
    },
  };
}

/**
 * A child of our own is no stray of the command's: between two system calls it has everything that
 * we have open, the tag too, until it becomes the program that it was started for.
 */
const isStray = ({ parent }: Living): boolean => parent !== process.pid;

const groupsUnderWay = new Set<string>();

/** A file that is removed while it is open: its name shows in /proc and means nothing elsewhere. */
function openTag(id: string): { file: number; name: string } {
  const name = path.join(os.tmpdir(), `autodev-${id}`);
  try {
    const file = fs.openSync(name, "wx", 0o600);
    fs.unlinkSync(name);
    return { file, name };
  } catch {
    // A full or read-only disk: the other signs have to do.
    return { file: fs.openSync("/dev/null", "r"), name };
  }
}

function holds({ pid }: Living, tag: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return listed(folder).some((name) => linkAt(`${folder}/${name}`) === `${tag} (deleted)`);
}

/**
 * Waits for our death in a session of its own and kills whatever carries a name that we gave. A
 * word on its pipe says that we ended well.
 */
const reaperScript = `
read -r goodbye && exit
if [ -e /proc/self/environ ]; then
  ours() {
    grep -lzx "$1=$2\\.[0-9]*" /proc/[0-9]*/environ | tr -cd '0-9\\n'
    ls -l /proc/[0-9]*/fd | awk -F/ -v tag="autodev-$2." \\
      '/^\\/proc\\/[0-9]+\\/fd:$/ { pid = $3 } index($0, tag) { print pid }'
  }
else
  ours() { ps -axEww -o pid=,command= | awk -v name="$1=$2." 'index($0, " " name) { print $1 }'; }
fi
for round in 1 2 3 4 5 6 7 8 9 10; do
  pids=$(ours "$1" "$2")
  [ "$pids" ] || break
  kill -KILL $pids
done
rm -f "$3/autodev-$2".*`;

let reaper: ChildProcess | undefined;

function watchOverUs(): void {
  if (reaper?.pid !== undefined && reaper.exitCode === null && reaper.signalCode === null) return;
  if (reaper === undefined) process.once("exit", sayGoodbye);
  reaper = spawn(shell, ["-c", reaperScript, "autodev-reaper", idName, usInAllIds, os.tmpdir()], {
    cwd: "/",
    // Nothing in it that anybody kills by.
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // A machine that cannot start a shell will not start the command either, and says so there.
  reaper.on("error", () => {});
  reaper.stdin?.on("error", () => {});
  // It waits for us; we do not wait for it.
  reaper.unref();
  (reaper.stdin as unknown as { unref(): void } | null)?.unref();
}

/** An end with commands under way is no good end. */
function sayGoodbye(): void {
  if (groupsUnderWay.size === 0) reaper?.stdin?.write("goodbye\n");
}
