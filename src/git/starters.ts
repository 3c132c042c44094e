/**
 * Starting a process copies the page tables of whoever starts it and holds it up until the new
 * program has begun: milliseconds, for a program of our size, and a run starts twenty gits for each
 * phase. So they are started by a few small processes that have nothing else to do.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface StartCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Buffer | undefined;
  readonly timeoutMs: number;
  /** Absent: whatever it says. */
  readonly mostBytes?: number | undefined;
}

export interface StartAnswer {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: Buffer;
  readonly err: Buffer;
  /** Why it was not started, or did not end by itself. */
  readonly error?: string;
}

export interface Starters {
  start(call: StartCall): Promise<StartAnswer>;
  /** Nobody of them is left. */
  end(): Promise<void>;
}

/** A session of its own for each: see call.ts. Without us it ends with what it is at. */
const source = `
const { spawnSync } = require("node:child_process");
const ours = process.env;
process.on("disconnect", () => process.exit());
process.on("message", ({ program, args, cwd, set, unset, input, timeoutMs, mostBytes }) => {
  const env = { ...ours, ...set };
  for (const name of unset) delete env[name];
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd, env, input, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: mostBytes ?? Infinity, detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const nothing = Buffer.alloc(0);
  process.send({ code: status, signal, out: stdout ?? nothing, err: stderr ?? nothing, error: error?.code });
});`;

let shared: { readonly starters: Starters; most: number; borrowers: number } | undefined;

/**
 * The starters of this process: a worker has the repositories of many runs open, and what is idle
 * for one of them serves another. `most`: how many more of them there may be at once. The last to end
 * them ends them.
 */
export function borrowStarters(most: number): Starters {
  shared ??= { starters: createStarters(() => shared?.most ?? most), most: 0, borrowers: 0 };
  const pool = shared;
  pool.most += most;
  pool.borrowers++;
  let isOver = false;
  return {
    start: pool.starters.start,
    async end() {
      if (isOver) return;
      isOver = true;
      pool.most -= most;
      if (--pool.borrowers > 0) return;
      if (shared === pool) shared = undefined;
      await pool.starters.end();
    },
  };
}

/** Those that nobody needs for the moment; any more of them only take up room. */
const mostIdle = 3;

export function createStarters(most: () => number): Starters {
  const idle: ChildProcess[] = [];
  const waiting: (() => void)[] = [];
  const atWork = new Map<ChildProcess, (answer: StartAnswer) => void>();
  const all = new Set<ChildProcess>();

  const answer = (starter: ChildProcess, what: StartAnswer): void => {
    const answered = atWork.get(starter);
    atWork.delete(starter);
    waiting.shift()?.();
    answered?.(what);
  };

  const make = (): ChildProcess => {
    const starter = spawn(process.execPath, ["-e", source], {
      cwd: "/",
      env: ours,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      // A key that interrupts us is for us alone: we end what we have begun.
      detached: true,
    });
    all.add(starter);
    letGo(starter);
    starter.on("message", (what: StartAnswer) => {
      letGo(starter);
      if (idle.length < mostIdle) idle.push(starter);
      else starter.disconnect();
      answer(starter, what);
    });
    // Somebody ended it, or it never began: its call has no answer, and another takes its place.
    const lost = (): void => {
      all.delete(starter);
      if (idle.includes(starter)) idle.splice(idle.indexOf(starter), 1);
      answer(starter, { code: null, signal: null, out: nothing, err: nothing, error: "EPIPE" });
    };
    starter.on("exit", lost);
    starter.on("error", lost);
    return starter;
  };

  const free = async (): Promise<ChildProcess> => {
    for (;;) {
      const starter = idle.pop() ?? (all.size < most() ? make() : undefined);
      if (starter) return starter;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  };

  return {
    async start({ args, env, ...rest }) {
      const starter = await free();
      starter.ref();
      starter.channel?.ref();
      return new Promise((resolve) => {
        atWork.set(starter, resolve);
        starter.send({ ...rest, ...differences(env), args: [...args] });
      });
    },
    async end() {
      const ended = [...all].map(
        (starter) => new Promise((resolve) => starter.once("exit", resolve)),
      );
      for (const starter of all) {
        starter.ref();
        if (starter.connected) starter.disconnect();
      }
      await Promise.all(ended);
    },
  };
}

/** Whoever has no work keeps nobody from ending. */
function letGo(starter: ChildProcess): void {
  starter.unref();
  starter.channel?.unref();
}

const nothing = Buffer.alloc(0);

/** A starter has our environment already, and copying all of it takes longer than asking. */
function differences(env: NodeJS.ProcessEnv): { set: NodeJS.ProcessEnv; unset: string[] } {
  const set = Object.entries(env).filter(([name, value]) => ours[name] !== value);
  return {
    set: Object.fromEntries(set),
    unset: Object.keys(ours).filter((name) => !(name in env)),
  };
}

/** As the starters have it: reading the real one asks the system for each name. */
const ours = { ...process.env };
// For programs that we start, and not for those that start them.
delete ours["NODE_OPTIONS"];
