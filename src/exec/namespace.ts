/** In a pid namespace: when its first process ends, nothing in it is left, whatever it forked. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { bubblewrap, wrapped } from "./bubblewrap.ts";
import { type Enclosure, type Start, shell, spawned, unshelled } from "./enclosure.ts";
import { found } from "./find-program.ts";
import { carriesId, kill, killUntilGone, processTable } from "./process-table.ts";
import type { Arranged } from "./sight.ts";
import { wordsOf } from "./streams.ts";

/**
 * The first process of the namespace. It has no handlers, and the kernel lets no signal from inside
 * reach a first process without handlers. It runs the command in the foreground (in the background
 * a shell takes away its input and lets it ignore SIGINT), says how that ended and how many are
 * left, and by ending takes them along. Anywhere else it refuses to begin: there, `kill -1` is the whole machine.
 *
 * The listener beside it turns each line from us into a SIGTERM to all. When our end of the pipe is
 * gone, so are we, and it kills until it is killed itself: the command may not have begun yet. That
 * closes the moments which the signals of parents' deaths leave open (we may die before setpriv has
 * asked for ours, and unshare before its child has), and they close what a killed listener opens.
 */
const firstProcess = (arrange: string): string => `
[ $$ = 1 ] || exit 125
{
  while read -r asked; do kill -TERM -1; done
  while :; do kill -KILL -1; done
} <&3 3<&- 4<&- >/dev/null 2>&1 &
listener=$!
exec 3<&-
${arrange}(echo began >&2; exec "$@" 2>&4 4<&-)
code=$?
left=0
for each in /proc/[0-9]*; do
  case $each in /proc/1 | /proc/$listener) continue ;; esac
  { read -r about <"$each/stat"; } 2>/dev/null || continue
  # Who is dead already and only not waited for is not at work.
  case \${about##*) } in Z* | X*) ;; *) left=$((left + 1)) ;; esac
done
echo "ended $left" >&2
exit $code`;

export const inFirstProcess = (command: readonly string[], arranged?: Arranged): string[] => [
  shell,
  "-c",
  firstProcess(arranged?.script ?? ""),
  "autodev",
  ...(arranged?.orders ?? []),
  ...(arranged?.asOurselves ?? []),
  ...command,
];

/** `arranged`: what the command sees of the machine is not what we see. */
export async function inNamespace(
  { before, user, after }: Launcher,
  start: Start,
  arranged?: Arranged,
): Promise<Enclosure> {
  const launcher = arranged?.launcher ?? [...before, ...user, ...after];
  const argv = [...launcher, ...inFirstProcess(start.command, arranged)];
  const child = await spawned(argv, start, "pipe");
  let killed = false;
  const listener = child.stdio[3] as Writable;
  // It may have gone before we ask it to stop.
  listener.on("error", () => {});
  const words = wordsOf(child.stderr as Readable);
  return {
    child,
    stdout: child.stdout as Readable,
    stderr: child.stdio[4] as Readable,
    askToStop() {
      // Before it has begun, there would be nobody to hear it.
      void words.until(/^began$/m).then(() => listener.write("stop\n"));
    },
    kill() {
      killed = true;
      // unshare (or bwrap) is the first process's parent and waits for it, and that takes until all
      // are gone. Killed itself, it would take the others along too, but nobody would wait for them.
      const first = processTable().find(({ parent }) => parent === child.pid);
      const parentItself = (): void => {
        child.kill("SIGKILL");
        listener.destroy();
      };
      if (!first) return parentItself();
      kill(first.pid, "SIGKILL");
      // A process that hangs in the kernel cannot be waited for.
      setTimeout(parentItself, 1000).unref();
    },
    async empty(code, signal) {
      if (signal !== null) await killUntilGone((each) => carriesId(each, start.id));
      const told = await words.all();
      const left = /^ended (\d+)$/m.exec(told)?.[1];
      if (left !== undefined) return { ...unshelled(code, signal), left: Number(left) };
      if (!killed && signal === null && !/^began$/m.test(told)) {
        return { code: null, signal: null, notStarted: told.trim() };
      }
      return { code: null, signal: signal ?? "SIGKILL" };
    },
  };
}

/** The arguments in front of a command that give it a namespace. */
export interface Launcher {
  readonly by: Means;
  readonly before: readonly string[];
  /** Empty: we are root, and stay it. */
  readonly user: readonly string[];
  readonly after: readonly string[];
}

/** By whose means something is enclosed: ours, or those of a program that is let do more. */
export type Means = "namespaces" | "bubblewrap";

/** What may be tried, in this order. AUTODEV_NO_NAMESPACE: 1 takes all away, own what is ours. */
export function meansAllowed(): readonly Means[] {
  if (process.platform !== "linux") return [];
  const unwanted = process.env.AUTODEV_NO_NAMESPACE;
  if (unwanted === "1") return [];
  return unwanted === "own" ? ["bubblewrap"] : ["namespaces", "bubblewrap"];
}

/** Undefined: there is none for us. */
export async function namespaceLauncher(): Promise<Launcher | undefined> {
  for (const means of meansAllowed()) {
    const launcher = await launcherBy(means);
    if (launcher) return launcher;
  }
  return undefined;
}

/** Kernels, containers and util-linux versions differ: whether it works is found out by doing it. */
export const launcherBy = (means: Means): Promise<Launcher | undefined> =>
  means === "namespaces" ? ownLauncher() : bubblewrapLauncher();

const ownLauncher = once(async () => {
  const searchPath = process.env.PATH ?? "";
  const [setpriv, unshare] = ["setpriv", "unshare"].map((name) => found(name, searchPath));
  if (setpriv === undefined || unshare === undefined) return undefined;
  const asOurselves = ["--user", "--map-current-user"];
  for (const user of process.geteuid?.() === 0 ? [[], asOurselves] : [asOurselves]) {
    const launcher: Launcher = {
      by: "namespaces",
      before: [setpriv, "--pdeathsig", "KILL", unshare],
      user,
      after: ["--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"],
    };
    if (await works(launcher)) return launcher;
  }
  return undefined;
});

const bubblewrapLauncher = once(async () => {
  const bwrap = bubblewrap();
  if (bwrap === undefined) return undefined;
  const launcher: Launcher = { by: "bubblewrap", before: [], user: [], after: wrapped(bwrap) };
  return (await works(launcher)) ? launcher : undefined;
});

/** What a machine lets us do does not change under us. */
export function once<T>(find: () => Promise<T>): () => Promise<T> {
  let finding: Promise<T> | undefined;
  return () => {
    finding ??= find();
    return finding;
  };
}

function works({ before, user, after }: Launcher): Promise<boolean> {
  const argv = [...before, ...user, ...after, ...inFirstProcess([shell, "-c", "exit 7"])];
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      timeout: 5000,
      killSignal: "SIGKILL",
    });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      for (const stream of child.stdio) stream?.destroy();
      resolve(code === 7);
    });
  });
}
