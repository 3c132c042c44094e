/**
 * Starting a process holds up whoever starts it until the new program has begun, some milliseconds
 * each time on a busy machine; a run starts thirty gits for each phase. So they are started
 * by a few threads that have nothing else to do.
 */
import { Worker } from "node:worker_threads";

export interface ThreadCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Buffer | undefined;
  readonly timeoutMs: number;
}

export interface ThreadAnswer {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: Buffer;
  readonly err: Buffer;
  /** Why it was not started, or did not end by itself. */
  readonly error?: string;
}

export type Threads = (call: ThreadCall) => Promise<ThreadAnswer>;

/** A session of its own for each: see call.ts. */
const source = `
const { parentPort } = require("node:worker_threads");
const { spawnSync } = require("node:child_process");
const ours = process.env;
parentPort.on("message", ({ id, program, args, cwd, set, unset, input, timeoutMs }) => {
  const env = { ...ours, ...set };
  for (const name of unset) delete env[name];
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd, env, input, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: Infinity, detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const nothing = Buffer.alloc(0);
  parentPort.postMessage({ id, code: status, signal, out: stdout ?? nothing, err: stderr ?? nothing, error: error?.code });
});`;

export function createThreads(most: number): Threads {
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  const answers = new Map<number, (answer: ThreadAnswer) => void>();
  let made = 0;
  let calls = 0;

  const make = (): Worker => {
    made++;
    const worker = new Worker(source, { eval: true, stdin: false, env: ours });
    // A thread without work keeps nobody from ending.
    worker.unref();
    worker.on("message", ({ id, ...answer }: ThreadAnswer & { id: number }) => {
      worker.unref();
      idle.push(worker);
      waiting.shift()?.();
      const { out, err } = answer;
      answers.get(id)?.({ ...answer, out: Buffer.from(out), err: Buffer.from(err) });
      answers.delete(id);
    });
    return worker;
  };

  const free = async (): Promise<Worker> => {
    for (;;) {
      const worker = idle.pop() ?? (made < most ? make() : undefined);
      if (worker) return worker;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  };

  return async ({ args, env, ...rest }) => {
    const worker = await free();
    const id = calls++;
    worker.ref();
    return new Promise((resolve) => {
      answers.set(id, resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage({ id, ...rest, ...differences(env), args: [...args] });
    });
  };
}

/** A thread has our environment already, and copying all of it takes longer than asking. */
function differences(env: NodeJS.ProcessEnv): { set: NodeJS.ProcessEnv; unset: string[] } {
  const set = Object.entries(env).filter(([name, value]) => ours[name] !== value);
  return {
    set: Object.fromEntries(set),
    unset: Object.keys(ours).filter((name) => !(name in env)),
  };
}

/** As the threads have it: reading the real one asks the system for each name. */
const ours = { ...process.env };
