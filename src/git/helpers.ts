/**
 * Starting a process copies the page tables of whoever starts it and holds it up until the new
 * program has begun: milliseconds, for a program of our size, and a run starts twenty gits for each
 * phase. So they are started by a few small processes that have nothing else to do.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface HelperCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Buffer | undefined;
  readonly timeoutMs: number;
}

export interface HelperAnswer {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: Buffer;
  readonly err: Buffer;
  /** Why it was not started, or did not end by itself. */
  readonly error?: string;
}

export type Helpers = (call: HelperCall) => Promise<HelperAnswer>;

/** A session of its own for each: see call.ts. Without us it ends with what it is at. */
const source = `
const { spawnSync } = require("node:child_process");
const ours = process.env;
process.on("disconnect", () => process.exit());
process.on("message", ({ program, args, cwd, set, unset, input, timeoutMs }) => {
  const env = { ...ours, ...set };
  for (const name of unset) delete env[name];
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd, env, input, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: Infinity, detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const nothing = Buffer.alloc(0);
  process.send({ code: status, signal, out: stdout ?? nothing, err: stderr ?? nothing, error: error?.code });
});`;

export function createHelpers(most: number): Helpers {
  const idle: ChildProcess[] = [];
  const waiting: (() => void)[] = [];
  const atWork = new Map<ChildProcess, (answer: HelperAnswer) => void>();
  let made = 0;

  const answer = (helper: ChildProcess, what: HelperAnswer): void => {
    const answered = atWork.get(helper);
    atWork.delete(helper);
    waiting.shift()?.();
    answered?.(what);
  };

  const make = (): ChildProcess => {
    made++;
    const helper = spawn(process.execPath, ["-e", source], {
      cwd: "/",
      env: ours,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      // A key that interrupts us is for us alone: we end what we have begun.
      detached: true,
    });
    letGo(helper);
    helper.on("message", (what: HelperAnswer) => {
      letGo(helper);
      idle.push(helper);
      answer(helper, what);
    });
    // Somebody ended it: its call has no answer, and another takes its place.
    helper.once("exit", (_, signal) => {
      made--;
      if (idle.includes(helper)) idle.splice(idle.indexOf(helper), 1);
      answer(helper, { code: null, signal, out: nothing, err: nothing, error: "EPIPE" });
    });
    return helper;
  };

  const free = async (): Promise<ChildProcess> => {
    for (;;) {
      const helper = idle.pop() ?? (made < most ? make() : undefined);
      if (helper) return helper;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  };

  return async ({ args, env, ...rest }) => {
    const helper = await free();
    helper.ref();
    helper.channel?.ref();
    return new Promise((resolve) => {
      atWork.set(helper, resolve);
      helper.send({ ...rest, ...differences(env), args: [...args] });
    });
  };
}

/** Whoever has no work keeps nobody from ending. */
function letGo(helper: ChildProcess): void {
  helper.unref();
  helper.channel?.unref();
}

const nothing = Buffer.alloc(0);

/** A helper has our environment already, and copying all of it takes longer than asking. */
function differences(env: NodeJS.ProcessEnv): { set: NodeJS.ProcessEnv; unset: string[] } {
  const set = Object.entries(env).filter(([name, value]) => ours[name] !== value);
  return {
    set: Object.fromEntries(set),
    unset: Object.keys(ours).filter((name) => !(name in env)),
  };
}

/** As the helpers have it: reading the real one asks the system for each name. */
const ours = { ...process.env };
// For programs that we start, and not for those that start them.
delete ours["NODE_OPTIONS"];
