/**
 * What every row of the torture table stands on: the shape of a row, programs bundled from the
 * source as it is (or with one bug planted in it), child processes, and randomness that a seed
 * brings back.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";

// ── rows ───────────────────────────────────────────────────────────────────────────────────────

export interface Row {
  readonly name: string;
  /** What the product promises, and this row tries to break. */
  readonly promise: string;
  readonly budgetSeconds: { readonly ci: number; readonly full: number };
  run(context: Context): Promise<Outcome>;
}

export interface Context {
  readonly tier: "ci" | "full";
  readonly seed: number;
  /** A fresh folder; it is removed afterwards. */
  readonly scratch: string;
  /** The one case to run again (`--only row:case`); absent: all of them. */
  readonly onlyCase?: string;
  note(line: string): void;
}

export interface Outcome {
  readonly is: "passed" | "failed" | "skipped";
  readonly figures: Record<string, number | string>;
  /** Each says what went wrong and what to type to see it again. */
  readonly failures: string[];
  readonly reason?: string;
}

export const judged = (figures: Outcome["figures"], failures: string[]): Outcome => ({
  is: failures.length > 0 ? "failed" : "passed",
  figures,
  failures,
});

export const skipped = (reason: string): Outcome => ({
  is: "skipped",
  figures: {},
  failures: [],
  reason,
});

/** What to type to see one case again; a planted bug is not part of what one can type. */
export const again = (
  { tier, seed }: Pick<Context, "tier" | "seed">,
  row: string,
  caseName: string,
): string => `npm run torture -- --tier ${tier} --seed ${seed} --only ${row}:${caseName}`;

// ── the repository ─────────────────────────────────────────────────────────────────────────────

let foundRoot: string | undefined;

/** Found from where we run, not from where this code lies: it may run out of a bundle. */
export function repositoryRoot(): string {
  if (foundRoot !== undefined) return foundRoot;
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, "package.json");
    if (fs.existsSync(manifest)) {
      const { name } = JSON.parse(fs.readFileSync(manifest, "utf8")) as { name?: string };
      if (name === "autodev") {
        foundRoot = folder;
        return folder;
      }
    }
    if (folder === path.dirname(folder)) {
      throw new Error(`${process.cwd()} is not inside the autodev repository`);
    }
  }
}

/** A repository with one commit, to be copied. */
export async function makeRepository(folder: string): Promise<void> {
  const git = async (...args: string[]): Promise<void> => {
    const ran = await run(["git", "-C", folder, ...args], { env: plainGit });
    if (ran.code !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr}`);
  };
  fs.mkdirSync(folder, { recursive: true });
  await git("init", "--quiet", "--initial-branch=main", "--template=");
  fs.writeFileSync(path.join(folder, "README.md"), "# A project\n");
  await git("add", "README.md");
  await git("commit", "--quiet", "--message=first");
}

const plainGit = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Torture",
  GIT_AUTHOR_EMAIL: "torture@example.invalid",
  GIT_COMMITTER_NAME: "Torture",
  GIT_COMMITTER_EMAIL: "torture@example.invalid",
};

// ── programs ───────────────────────────────────────────────────────────────────────────────────

/** A bug put into the source on its way into a bundle; the source itself stays as it is. */
export interface Plant {
  /** From the root of the repository. */
  readonly file: string;
  /** Must occur in it exactly once. */
  readonly find: string;
  readonly replace: string;
}

/**
 * One CommonJS file for Node 20 from a TypeScript entry; resolves with its path. `beside`: what it
 * reads lies beside it, as in the package; else it reads the repository's.
 */
export async function bundle(
  entry: string,
  options: { out?: string; plant?: Plant; beside?: true } = {},
): Promise<string> {
  const root = repositoryRoot();
  // By name at run time: esbuild cannot be bundled into the program that runs this.
  const { build } = createRequire(path.join(root, "package.json"))(
    "esbuild",
  ) as typeof import("esbuild");
  const { plant } = options;
  const planted = { times: 0 };
  const outfile =
    options.out ??
    path.join(temporaryFolder("bundle"), `${path.basename(entry, path.extname(entry))}.cjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [path.resolve(root, entry)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "silent",
    define: { "import.meta.dirname": options.beside ? "__dirname" : JSON.stringify(root) },
    plugins: plant
      ? [
          {
            name: "plant",
            setup({ onLoad }) {
              onLoad({ filter: /\.ts$/ }, (module) => {
                if (module.path !== path.join(root, plant.file)) return undefined;
                planted.times++;
                return { contents: plantedSource(module.path, plant), loader: "ts" };
              });
            },
          },
        ]
      : [],
  });
  if (plant && planted.times === 0) {
    throw new Error(`${entry} does not use ${plant.file}: nothing was planted`);
  }
  return outfile;
}

/** Throws if there is no place for it, or more than one. */
export function plantedSource(file: string, plant: Plant): string {
  const source = fs.readFileSync(file, "utf8");
  const parts = source.split(plant.find);
  if (parts.length !== 2) {
    throw new Error(
      `${plant.file} holds ${parts.length - 1} times what the planted bug replaces: ${plant.find}`,
    );
  }
  return parts.join(plant.replace);
}

/** The shipped program as it is now: nobody's rebuild disturbs us. */
export async function shippedProgram(scratch: string): Promise<string> {
  const given = process.env["AUTODEV_TEST_BINARY"];
  if (given) return given;
  shipped ??= buildProgram();
  fs.cpSync(await shipped, scratch, { recursive: true });
  return path.join(scratch, "cli", "main.cjs");
}

/** Once for all rows: two that are tried at the same time would build into each other's hands. */
let shipped: Promise<string> | undefined;

async function buildProgram(): Promise<string> {
  const root = repositoryRoot();
  const built = await run([process.execPath, "scripts/build.mjs", "--cli-only"], { cwd: root });
  if (built.code !== 0) throw new Error(`the program cannot be built: ${ending(built)}`);
  const folder = temporaryFolder("shipped");
  // What it reads lies beside it, as in the package.
  for (const [from, to] of [
    ["dist/cli", "cli"],
    ["dist/web", "web"],
    ["skills", "skills"],
  ] as const) {
    fs.cpSync(path.join(root, from), path.join(folder, to), { recursive: true });
  }
  return folder;
}

export const noCompiler = "gcc is not on this machine";

const compiled = new Map<string, Promise<string | undefined>>();

/** torture/native/<name>.c: a library to preload or a program; undefined: there is no compiler. */
export function compileNative(name: "inject" | "godown"): Promise<string | undefined> {
  const done = compiled.get(name) ?? compile(name);
  compiled.set(name, done);
  return done;
}

async function compile(name: "inject" | "godown"): Promise<string | undefined> {
  const source = path.join(repositoryRoot(), "torture", "native", `${name}.c`);
  const out = path.join(temporaryFolder("native"), name);
  const asLibrary = name === "inject" ? ["-shared", "-fPIC", "-ldl", "-pthread"] : [];
  const gcc = await run(["gcc", "-O2", "-o", out, source, ...asLibrary]);
  if (gcc.missing) return undefined;
  if (gcc.code !== 0) throw new Error(`${source} does not compile:\n${gcc.stderr}`);
  return out;
}

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** There is no such program. */
  readonly missing: boolean;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** What has to be printed before the input ends; absent: it ends at once. */
  readonly inputEnds?: string;
  readonly timeoutMs?: number;
}

/** Runs a program to its end, whatever that is; never rejects. */
export function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: "pipe",
    });
    let stdout = "";
    let stderr = "";
    let timedOut = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (options.inputEnds !== undefined && stdout.includes(options.inputEnds)) child.stdin.end();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    // A program that dies before it has read its input is none of our business.
    child.stdin.on("error", () => {});
    child.stdin.write(options.input ?? "");
    if (options.inputEnds === undefined) child.stdin.end();
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, options.timeoutMs ?? 60_000);
    const end = (code: number | null, signal: NodeJS.Signals | null, missing: boolean): void => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr, timedOut, missing });
    };
    child.on("error", () => end(null, null, true));
    child.on("close", (code, signal) => end(code, signal, false));
  });
}

/** How a program ended, for people. */
export const ending = ({ code, signal, timedOut, stderr }: Ran): string => {
  const how = timedOut ? "did not end in time" : signal ? `died by ${signal}` : `exit ${code}`;
  const said = stderr.trim().split("\n").slice(-3).join(" / ");
  return said === "" ? how : `${how}: ${said}`;
};

// ── folders and endings ────────────────────────────────────────────────────────────────────────

/** Gone when this process ends. */
export function temporaryFolder(name: string): string {
  const folder = freshFolder(os.tmpdir(), `autodev-${name}`);
  whenEnding(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new one on every call, without links in its path: the shim compares paths. */
export const freshFolder = (parent: string, name: string): string =>
  fs.realpathSync(fs.mkdtempSync(path.join(parent, `${name}-`)));

const cleanups = new Set<() => void>();

/**
 * Whatever ends us short of SIGKILL, this is done first, newest first; call the result once it
 * has been done or is no longer needed.
 */
export function whenEnding(cleanup: () => void): () => void {
  if (cleanups.size === 0) listenForEndings();
  cleanups.add(cleanup);
  return () => cleanups.delete(cleanup);
}

let listening = false;

function listenForEndings(): void {
  if (listening) return;
  listening = true;
  process.on("exit", () => {
    for (const cleanup of [...cleanups].reverse()) {
      try {
        cleanup();
      } catch (error) {
        console.error(`cleaning up: ${String(error)}`);
      }
    }
  });
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => process.exit(code));
  }
}

// ── work ───────────────────────────────────────────────────────────────────────────────────────

export const cores = 2;

/** All of it, a few at a time, in order of beginning. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
  width: number = cores,
): Promise<void> {
  let [next, done] = [0, 0];
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      await work(items[index] as T, index);
      done++;
    }
  };
  // A row of the full tier takes an hour: whoever waits for it sees that it goes on.
  const told = setInterval(() => console.error(`  … ${done} of ${items.length}`), 60_000);
  try {
    await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  } finally {
    clearInterval(told);
  }
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

// ── randomness ─────────────────────────────────────────────────────────────────────────────────

export interface Random {
  /** From 0 up to, not including, 1. */
  fraction(): number;
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  shuffled<T>(items: readonly T[]): T[];
}

/** mulberry32; more numbers make independent streams of one seed. */
export function randomFrom(...seeds: readonly number[]): Random {
  let state = seeds.reduce(
    (mixed, seed) => Math.imul(mixed ^ seed, 0x9e3779b1) ^ (mixed >>> 15),
    1,
  );
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (probability) => fraction() < probability,
    shuffled(items) {
      const shuffled = [...items];
      for (let at = shuffled.length - 1; at > 0; at--) {
        const other = below(at + 1);
        const moved = shuffled[at] as (typeof items)[number];
        shuffled[at] = shuffled[other] as (typeof items)[number];
        shuffled[other] = moved;
      }
      return shuffled;
    },
  };
}

// ── reports ────────────────────────────────────────────────────────────────────────────────────

/** Columns as wide as their widest cell, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export const figuresLine = (figures: Outcome["figures"]): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

export function writeJson(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
