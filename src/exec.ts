/**
 * Starts programs of others and ends them, whatever they do about it. Everything that the product
 * runs is run here; what may be run at all is decided elsewhere (`Trusted`, `OwnProgram`).
 *
 * 1. Nothing outlives its `exec`. When the first process ends, what it has left behind is killed.
 * 2. Nothing outlives us, not even when we are killed with SIGKILL at the worst moment.
 * 3. Data never becomes code: a command reaches a shell as an argument, never inside a script.
 * 4. Memory does not grow with what a program prints, nor with the length of its lines.
 * 5. No secret of the environment that a program was given is in a line that leaves this file.
 *
 * On Linux a pid namespace keeps 1 and 2: the kernel ends whatever is in it, together with its
 * first process. Where we may not have one (containers, hardened kernels, other systems), a process
 * group, a walk over the process table and a reaper do what can be done: see "without a namespace".
 */
import { setMaxListeners } from "node:events";
import * as fs from "node:fs";
import type { Writable } from "node:stream";
import { type Enclosure, idName, nextId, openInput, type Start, shell } from "./exec/enclosure.ts";
import { foundOutside, pathOutside } from "./exec/find-program.ts";
import { inGroup } from "./exec/group.ts";
import { inNamespace, namespaceLauncher } from "./exec/namespace.ts";
import { outputOf } from "./exec/output.ts";
import { carries, killUntilGone } from "./exec/process-table.ts";
import { type Access, type Arranged, arranged, type Layer } from "./exec/sight.ts";
import { secretsIn } from "./safe-text.ts";

declare const approved: unique symbol;

/** A shell line of a repository's that a person has approved. Only trust.ts makes these. */
export interface Trusted {
  readonly shell: string;
  readonly [approved]: true;
}

/**
 * A program of the user's machine, found on PATH, with arguments that we built. Never a path: a
 * name with a slash could lie in the repository.
 */
export interface OwnProgram {
  readonly program: string;
  readonly args: readonly string[];
}

/** For trust.ts only, after a person has said yes; test/architecture.test.ts sees to that. */
export const mintTrusted = (shell: string): Trusted => ({ shell }) as Trusted;

export interface ExecOptions {
  readonly cwd: string;
  /** On top of the user's, which is given without what is `withheld`; undefined: taken away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Folders that look empty to the command, and cannot be written by it. Where there is no
   * namespace for us, it sees them all the same (`canHide`).
   */
  readonly hide?: readonly string[];
  /** Folders inside hidden ones that stay readable. */
  readonly keep?: readonly string[];
  /** A folder that shows more than lies in it; without a namespace for us nothing is started. */
  readonly layer?: Layer;
  /** Where it can write and where not, where there is a namespace for us (`canHide`). */
  readonly access?: readonly Access[];
  /** `off`: it has a network of its own, of which only the loopback is up; else nothing is started. */
  readonly network?: "off" | undefined;
  /** A folder in which no program is looked for, by us or by what we start, whatever PATH says. */
  readonly outside?: string | undefined;
  /** What the command reads; absent: nothing at all. */
  readonly input?: string;
  /** Its input stays open instead, and is written to whenever there is something to say. */
  readonly talk?: ((to: Talk) => void) | undefined;
  /** Then all of it is killed, without being asked. */
  readonly timeoutMs?: number;
  /** The same, when it has printed nothing at all for so long. */
  readonly idleMs?: number;
  /** All are asked to stop (SIGTERM); after `graceMs`, 5 s by default, they are killed. */
  readonly signal?: AbortSignal;
  readonly graceMs?: number;
  /** All are killed at once. */
  readonly killNow?: AbortSignal;
  /** In the environment as AUTODEV_RUN_ID: whatever carries it is ours to kill (`sweep`). */
  readonly marker: string;
  /** Each line as it comes: masked, but otherwise as it was printed (a display needs `shown`). */
  readonly onLine?: (line: string, stream: "out" | "err") => void;
  /** How many of the last lines are kept; 200 by default. */
  readonly tailLines?: number;
  /** Longer ones are cut; 8 KB by default. */
  readonly lineBytes?: number;
}

/** What the command's input is, while it runs. After its end nobody listens, and nothing happens. */
export interface Talk {
  say(line: string): void;
  hangUp(): void;
}

export interface Ended {
  /** Null: it did not end by itself, or never began. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** It was its silence that ended it. */
  readonly idle?: true;
  readonly aborted: boolean;
  /** Why nothing was started, in words. */
  readonly notStarted?: string;
  /** How many processes were still at it when the command had ended; they were killed. */
  readonly left?: number;
  /** The last lines of both streams, in the order in which they came. */
  readonly tail: readonly string[];
  readonly lines: number;
  readonly bytes: number;
}

export { type Access, canHide, canLayer, enclosedBy, type Layer } from "./exec/sight.ts";

/** Runs it to its end, whatever that is; never rejects. */
export async function exec(what: Trusted | OwnProgram, options: ExecOptions): Promise<Ended> {
  const id = nextId();
  const env = environmentFor(options, id);
  const command = commandOf(what, env.PATH, options.outside);
  if (command === undefined) return neverBegan(`${(what as OwnProgram).program} is not on PATH`);
  if (!isFolder(options.cwd)) return neverBegan(`${options.cwd} is not a folder`);
  const launcher = await namespaceLauncher();
  if (options.signal?.aborted || options.killNow?.aborted) {
    return { ...neverBegan("it was to stop before it began"), aborted: true };
  }
  const input = options.talk ? openInput : options.input;
  const start: Start = { id, command, env, cwd: options.cwd, input };
  const talk = options.talk && repeating(options.talk);
  try {
    for (let tries = 1; ; tries++) {
      const view = await viewFor(options);
      if (typeof view === "string") return neverBegan(view);
      const enclosure = await (launcher ? inNamespace(launcher, start, view) : inGroup(start));
      const ended = await ending(enclosure, { ...options, talk }, secretsIn(env));
      const again = ended.notStarted !== undefined && view?.fickle === true && !ended.aborted;
      if (!again || tries === mostTries) return ended;
    }
  } catch (error) {
    // No memory, no process left to have, a NUL in an argument …
    return neverBegan(reasonOf(error));
  }
}

const mostTries = 4;

/**
 * Kills everything alive that carries this marker, and all that descends from it: what a killed
 * run has left. Resolves with how many there were.
 */
export const sweep = (marker: string): Promise<number> =>
  killUntilGone((each) => carries(each, `AUTODEV_RUN_ID=${marker}`));

/** From the first process's start to the last byte. */
function ending(
  enclosure: Enclosure,
  options: ExecOptions,
  secrets: readonly string[],
): Promise<Ended> {
  const { child } = enclosure;
  const output = outputOf(enclosure, options, secrets);
  options.talk?.(talkTo(child.stdin));
  let timedOut = false;
  let idle = false;
  let aborted = false;
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, act: () => void): void => {
    timers.push(setTimeout(act, ms));
  };
  const onTimeout = (): void => {
    timedOut = true;
    enclosure.kill();
  };
  const onKillNow = (): void => {
    aborted = true;
    enclosure.kill();
  };
  const onStop = (): void => {
    aborted = true;
    enclosure.askToStop();
    after(options.graceMs ?? 5000, () => enclosure.kill());
  };
  const onSilence = (): void => {
    idle = true;
    enclosure.kill();
  };
  if (options.timeoutMs !== undefined) after(options.timeoutMs, onTimeout);
  const watch = silenceOf(output.bytes, options.idleMs, onSilence);
  // All commands of a run listen to the same two, and Node would take that for a leak.
  for (const each of [options.signal, options.killNow]) if (each) setMaxListeners(0, each);
  options.signal?.addEventListener("abort", onStop);
  options.killNow?.addEventListener("abort", onKillNow);
  if (options.killNow?.aborted) onKillNow();
  else if (options.signal?.aborted) onStop();
  const letGo = (): void => {
    for (const timer of timers) clearTimeout(timer);
    clearInterval(watch);
    options.signal?.removeEventListener("abort", onStop);
    options.killNow?.removeEventListener("abort", onKillNow);
  };
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      letGo();
      const ended = async (): Promise<Ended> => {
        const how = await enclosure.empty(code, signal);
        await output.drained();
        for (const stream of child.stdio) stream?.destroy();
        return { ...how, timedOut, ...(idle && { idle }), aborted, ...output.taken() };
      };
      resolve(ended());
    });
  });
}

/** A look now and then: a timer for each line would cost more than the lines. */
function silenceOf(
  bytes: () => number,
  idleMs: number | undefined,
  then: () => void,
): NodeJS.Timeout | undefined {
  if (idleMs === undefined) return undefined;
  let [seen, since] = [bytes(), performance.now()];
  return setInterval(
    () => {
      if (bytes() !== seen) [seen, since] = [bytes(), performance.now()];
      else if (performance.now() - since >= idleMs) then();
    },
    Math.min(1000, Math.max(10, idleMs / 10)),
  );
}

function talkTo(input: Writable | null): Talk {
  return {
    say(line) {
      if (input?.writable) input.write(`${line}\n`);
    },
    hangUp() {
      if (input?.writable) input.end();
    },
  };
}

/** To whoever begins in the place of one that never did, the same is said again. */
function repeating(talk: (to: Talk) => void): (to: Talk) => void {
  let listening: Talk | undefined;
  const said: string[] = [];
  let hungUp = false;
  return (to) => {
    const isFirst = listening === undefined;
    listening = to;
    if (isFirst) {
      talk({
        say(line) {
          // What nobody has answered yet is short; later on nobody begins again.
          if (said.length < 10) said.push(line);
          listening?.say(line);
        },
        hangUp() {
          hungUp = true;
          listening?.hangUp();
        },
      });
    } else {
      for (const line of said) to.say(line);
      if (hungUp) to.hangUp();
    }
  };
}

const neverBegan = (why: string): Ended => ({
  code: null,
  signal: null,
  timedOut: false,
  aborted: false,
  notStarted: why,
  tail: [],
  lines: 0,
  bytes: 0,
});

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

// ── what is started ────────────────────────────────────────────────────────────────────────────

function commandOf(
  what: Trusted | OwnProgram,
  searchPath = "",
  outside?: string,
): readonly string[] | undefined {
  if ("shell" in what) return [shell, "-c", what.shell, "sh"];
  const program = foundOutside(what.program, searchPath, outside);
  return program === undefined ? undefined : [program, ...what.args];
}

function isFolder(name: string): boolean {
  try {
    return fs.statSync(name).isDirectory();
  } catch {
    return false;
  }
}

/** A text: why nothing may be started. */
async function viewFor({
  cwd,
  hide = [],
  keep = [],
  layer,
  access = [],
  network,
}: ExecOptions): Promise<Arranged | string | undefined> {
  const there = hide.filter((each) => fs.existsSync(each));
  if (there.length === 0 && !layer && access.length === 0 && !network) return undefined;
  const present = access.filter((each) => fs.existsSync(each.path));
  const sight = { hide: there, keep: keep.filter(isFolder), layer, access: present, network };
  const view = await arranged(sight, cwd);
  if (view) return view;
  if (layer) return "layers of folders cannot be had here";
  return network && "the network cannot be taken away here";
}

/**
 * A hook's GIT_* variables would send git to another repository. With GitHub's tokens one pushes, and
 * what is written into a step's files rules the steps after it: neither is for agents and gates.
 */
const withheld =
  /^(?:GIT_|ACTIONS_|AUTODEV_DATABASE_URL|(?:GITHUB|GH)_(?:ENTERPRISE_)?TOKEN$|GITHUB_(?:ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)$)/;

function environmentFor(options: ExecOptions, id: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !withheld.test(name)) env[name] = value;
  }
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  if (env.PATH !== undefined) env.PATH = pathOutside(env.PATH, options.outside);
  return { ...env, AUTODEV_RUN_ID: options.marker, [idName]: id };
}
