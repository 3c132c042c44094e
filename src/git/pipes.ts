/**
 * Gits that stay: objects are read and written by asking one that is running, not by starting one
 * for each. A run asks dozens of times for every phase, and starting a process costs a hundred
 * times what the answer does.
 *
 *  1. What is read is what its name says: the bytes are hashed, for git itself does not look.
 *  2. What is written is on disk before git says so, as with every call.
 *  3. Each is a session of its own and ends when its input does: with us, or when nobody has asked
 *     for a while. One that dies is started again by whoever asks next.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";

export type ObjectType = "blob" | "tree" | "commit" | "tag";

export interface GitObject {
  readonly id: string;
  readonly type: ObjectType;
  readonly bytes: Buffer;
}

export type ObjectHead = Pick<GitObject, "id" | "type"> & { readonly size: number };

export interface Pipes {
  /** By an id or a whole ref's name, with what git lets follow (`^{tree}`, `:file`); undefined: none. */
  read(name: string): Promise<Result<GitObject | undefined>>;
  /** The same, without its bytes. */
  look(name: string): Promise<Result<ObjectHead | undefined>>;
  write(type: "blob" | "tree" | "commit", bytes: Buffer): Promise<Result<string>>;
  /** None of them runs any more; whoever asks afterwards starts one again. */
  end(): Promise<void>;
}

interface Start {
  readonly program: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface PipesOptions {
  start(): Start;
  /** Where a file may lie while it is handed over. */
  readonly scratch: string;
  /** What it means that git has refused something, in words that help. */
  refusal(command: string, said: string, signal: string | null): Failure;
}

export function openPipes(options: PipesOptions): Pipes {
  // Not a request a line: a file's name may hold a line break.
  const reader = openPipe(options, ["cat-file", "--batch-command", "-z"]);
  const writers = new Map<string, Pipe>();
  return {
    async read(name) {
      const found = await reader.ask(`contents ${name}\0`, (said) => readAnswer(said, name, true));
      return found.ok && found.value ? checked(found.value, found.value) : found;
    },
    look: (name) => reader.ask(`info ${name}\0`, (said) => readAnswer(said, name, false)),
    async write(type, bytes) {
      const args = ["hash-object", "-w", "--no-filters", "-t", type, "--stdin-paths"];
      const writer = writers.get(type) ?? openPipe(options, args);
      writers.set(type, writer);
      const file = path.join(options.scratch, `${handedOver}${process.pid}-${++files}`);
      try {
        fs.mkdirSync(options.scratch, { recursive: true });
        fs.writeFileSync(file, bytes);
        const written = await writer.ask(`${asLine(file)}\n`, lineIn);
        return written.ok ? checked({ id: written.value, type, bytes }, written.value) : written;
      } catch (error) {
        return cannotWrite(file, error);
      } finally {
        fs.rmSync(file, { force: true });
      }
    },
    async end() {
      await Promise.all([reader, ...writers.values()].map((pipe) => pipe.end()));
    },
  };
}

let files = 0;

/** Whoever was killed in between leaves a file of this name. */
export const handedOver = "object-";

function cannotWrite(file: string, error: unknown): ReturnType<typeof fail> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^E[A-Z0-9]+$/.test(code)) throw error;
  return fail("disk", `${file} cannot be written (${code})`, {
    file,
    hint: "free some space or mend the permissions, then run the same command again",
  });
}

// ── what is answered ───────────────────────────────────────────────────────────────────────────

interface Taken<T> {
  readonly value: T;
  /** How many bytes it took. */
  readonly length: number;
}

/** A number: not before there are that many bytes. */
type Take<T> = (said: Buffer) => Taken<T> | number;

interface Answer extends GitObject {
  readonly size: number;
}

function readAnswer(
  said: Buffer,
  name: string,
  withBytes: boolean,
): Taken<Answer | undefined> | number {
  // The name comes back as it was given, line breaks and all.
  for (const none of [`${name} missing\n`, `${name} ambiguous\n`]) {
    const length = Buffer.byteLength(none);
    if (said.length >= length && said.toString("utf8", 0, length) === none)
      return { value: undefined, length };
  }
  const end = said.indexOf(10);
  const line = said.toString("latin1", 0, Math.max(end, 0));
  // A submodule's commit is another repository's.
  if (/^[0-9a-f]{40,64} submodule$/.test(line)) return { value: undefined, length: end + 1 };
  const match = /^([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)$/.exec(line);
  if (!match) return said.length + 1;
  const [, id = "", type, digits] = match;
  const size = Number(digits);
  const head = { id, type: type as ObjectType, size };
  if (!withBytes) return { value: { ...head, bytes: nothing }, length: end + 1 };
  const length = end + 1 + size + 1;
  if (said.length < length) return length;
  // A copy: the buffer around it may be much larger, and would stay for as long as this does.
  return { value: { ...head, bytes: Buffer.from(said.subarray(end + 1, length - 1)) }, length };
}

const nothing = Buffer.alloc(0);

function lineIn(said: Buffer): Taken<string> | number {
  const end = said.indexOf(10);
  return end < 0 ? said.length + 1 : { value: said.toString("latin1", 0, end), length: end + 1 };
}

function checked<T>({ id, type, bytes }: GitObject, value: T): Result<T> {
  if (idOf(type, bytes, id.length) === id) return succeed(value);
  return fail("git", `git's object ${id} does not hold what its name says`, {
    hint: "somebody has written into the repository's own files: git fsck tells what is damaged",
  });
}

/** As git reads a name that is not plain: a line break in it would begin another. */
export const asLine = (file: string): string => (/[\n"\\]|^#/.test(file) ? quoted(file) : file);

export const quoted = (text: string): string =>
  `"${text.replace(/["\\]/g, (each) => `\\${each}`).replaceAll("\n", "\\n")}"`;

/** `digits`: 40, or 64 in a repository that uses sha256. */
export const idOf = (type: ObjectType, bytes: Buffer, digits: number): string =>
  createHash(digits === 64 ? "sha256" : "sha1")
    .update(`${type} ${bytes.length}\0`)
    .update(bytes)
    .digest("hex");

// ── one that stays ─────────────────────────────────────────────────────────────────────────────

interface Pipe {
  /** Answers come in the order of the requests. */
  ask<T>(request: string, take: Take<T>): Promise<Result<T>>;
  end(): Promise<void>;
}

const idleMs = 5000;
const patienceMs = 10 * 60_000;

function openPipe(options: PipesOptions, args: readonly string[]): Pipe {
  let running: Pipe | undefined;
  const begin = (): Pipe => {
    const mine = runningGit(options.start(), args, options.refusal, () => {
      if (running === mine) running = undefined;
    });
    return mine;
  };
  return {
    async ask(request, take) {
      for (let tries = 2; ; tries--) {
        running ??= begin();
        const answer = await running.ask(request, take);
        // Killed by somebody, or by what another had asked: asking twice does no harm.
        if (answer.ok || answer.failure.code !== "git-died" || tries === 0) return answer;
      }
    },
    end: () => running?.end() ?? Promise.resolve(),
  };
}

interface Waiting {
  /** A number: not before there are that many bytes. */
  offer(said: Buffer): { readonly length: number } | number;
  refuse(failure: Failure): void;
}

function runningGit(
  { program, cwd, env }: Start,
  args: readonly string[],
  refusal: PipesOptions["refusal"],
  over: () => void,
): Pipe {
  const child = spawn(program, [...args], { cwd, env, stdio: "pipe", detached: true });
  const queue: Waiting[] = [];
  const idle = setTimeout(() => {
    if (queue.length > 0) return;
    over();
    child.stdin.end();
  }, idleMs);
  const late = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  /** Whoever waits is waited for; nobody else is kept from ending. */
  const settle = (): void => {
    for (const each of streamsOf(child)) {
      if (queue.length > 0) each.ref();
      else each.unref();
    }
    for (const timer of [idle, late]) timer.refresh().unref();
  };
  child.unref();
  settle();
  let said = "";
  child.stderr.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("utf8")).slice(-4000);
  });
  let parts: Buffer[] = [];
  let have = 0;
  let wanted = 1;
  child.stdout.on("data", (bytes: Buffer) => {
    parts.push(bytes);
    have += bytes.length;
    while (queue[0] && have >= wanted) {
      const all = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const taken = queue[0].offer(all);
      const rest = typeof taken === "number" ? all : all.subarray(taken.length);
      wanted = typeof taken === "number" ? taken : 1;
      if (typeof taken !== "number") queue.shift();
      parts = rest.length > 0 ? [rest] : [];
      have = rest.length;
    }
    settle();
  });
  child.stdin.on("error", () => {});
  const end = (signal: string | null): void => {
    over();
    for (const timer of [idle, late]) clearTimeout(timer);
    // Only the first of them can have been too much for it.
    for (const [index, each] of queue.splice(0).entries()) {
      each.refuse(refusal(args[0] ?? "", said, index === 0 ? signal : "another request"));
    }
  };
  child.once("error", (error) => end("code" in error ? String(error.code) : "unknown"));
  child.once("close", (code, signal) => end(signal ?? (code === 0 ? "no answer" : null)));
  return {
    ask: (request, take) =>
      new Promise((resolve) => {
        queue.push({
          offer(all) {
            const taken = take(all);
            if (typeof taken !== "number") resolve(succeed(taken.value));
            return taken;
          },
          refuse: (failure) => resolve({ ok: false, failure }),
        });
        settle();
        child.stdin.write(request);
      }),
    end: () =>
      new Promise((resolve) => {
        over();
        child.once("close", () => resolve());
        for (const each of streamsOf(child)) each.ref();
        child.ref();
        child.stdin.end();
      }),
  };
}

interface Held {
  ref(): unknown;
  unref(): unknown;
}

/** Pipes to a child are sockets, whatever their type says. */
const streamsOf = ({ stdin, stdout, stderr }: ChildProcessWithoutNullStreams): Held[] =>
  [stdin, stdout, stderr] as unknown as Held[];
