/**
 * What a run costs beside its agents and gates: plans of phases that do next to nothing, against the
 * very same git commands without us.
 *
 * The peer is a recording. One run is made with a `git` in front of git that notes every call (its
 * arguments, settings, input, beginning and end); played back in a copy of the repository, at the
 * same place, the same calls make the same objects, because everything that goes into them was
 * noted. Each waits for those that had ended before it began, and for nothing else. Objects that a
 * git which stays was asked to write are written again one by one; what it was asked to read is
 * left out.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { cp, rm } from "node:fs/promises";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { program } from "./plans.ts";
import { median, type Row } from "./row.ts";

const planFile = "docs/plan.md";

interface Effort {
  /** Phases of the run that is compared with its recording, and how often both take turns. */
  readonly compared: number;
  readonly turns: number;
  /** Phases of the two runs that tell the growth. */
  readonly few: number;
  readonly many: number;
  readonly printed: number;
  readonly resumed: number;
}
const efforts: Record<"short" | "full", Effort> = {
  short: { compared: 20, turns: 2, few: 20, many: 60, printed: 200e6, resumed: 30 },
  full: { compared: 500, turns: 1, few: 50, many: 500, printed: 1e9, resumed: 500 },
};

export async function* runRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  const effort = efforts[short ? "short" : "full"];
  const bench = openBench(path.join(scratch, "runs"));
  yield* overhead(bench, effort);
  yield await memory(bench, effort.printed);
  yield await resuming(bench, effort.resumed);
}

// ── the project ────────────────────────────────────────────────────────────────────────────────

interface Bench {
  readonly folder: string;
  /** The built program, in a copy that nobody rebuilds meanwhile. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where every repository lies while it is used: a recording knows no other place. */
  readonly root: string;
}

function openBench(folder: string): Bench {
  const at = (name: string): string => path.join(folder, name);
  for (const name of ["home", "tmp"]) fs.mkdirSync(at(name), { recursive: true });
  fs.cpSync(path.dirname(program), at("cli"), { recursive: true });
  const [name, email] = ["Bench", "bench@example.invalid"];
  return {
    folder,
    program: path.join(at("cli"), path.basename(program)),
    root: at("repo"),
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: at("home"),
      XDG_CONFIG_HOME: at("config"),
      XDG_CACHE_HOME: at("cache"),
      TMPDIR: at("tmp"),
      LANG: "C.UTF-8",
      AUTODEV_NO_NOTIFY: "1",
      AUTODEV_NO_INPUT: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    },
  };
}

/** Noted by a recording, nothing otherwise. */
const noting = (what: string): string => `\${BENCH_NOTE:-:} ${what}`;

/**
 * A fixed number of files, so that the last phases have no larger tree to check out than the first;
 * even, so that the two chains never share one.
 */
const files = 20;

const agent = [
  noting("agent"),
  `echo "$AUTODEV_PHASE" > "file-$((AUTODEV_PHASE % ${files})).txt"`,
  `printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1}}' "$AUTODEV_PHASE" > "$AUTODEV_RESULT"`,
  noting("end"),
].join("; ");
const gate = [noting("gate"), "true", noting("end")].join("; ");

/** Two chains side by side: of two phases at work, neither waits for the other. */
function planOf(phases: number): string {
  const row = (n: number): string => `| ${n} | P${n} | ${n > 2 ? n - 2 : "-"} | - | 1 | ⬜ |`;
  const phase = (n: number): string =>
    `### Phase ${n}: P${n}\n#### Tasks\n- [ ] Write file-${n % files}.txt\n#### Definition of Done\n- [ ] It is there\n`;
  const numbers = Array.from({ length: phases }, (_, at) => at + 1);
  return [
    "# A plan that asks for little\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...numbers.map(row),
    "",
    ...numbers.map(phase),
  ].join("\n");
}

/** In place of the repository before; nothing of an earlier run is left. */
function newRepository({ folder, root, env }: Bench, phases: number, command = agent): void {
  for (const each of [root, path.join(folder, "cache"), path.join(folder, "config")])
    fs.rmSync(each, { recursive: true, force: true });
  for (const name of ["docs", ".autodev"]) fs.mkdirSync(path.join(root, name), { recursive: true });
  fs.writeFileSync(path.join(root, planFile), planOf(phases));
  const settings = {
    gates: { test: gate },
    agents: { mine: { command } },
    agent: "mine",
    build: { commit: "auto", jobs: 2 },
  };
  // JSON is YAML.
  fs.writeFileSync(path.join(root, ".autodev", "config.yaml"), `${JSON.stringify(settings)}\n`);
  // The same bytes at the same time make the same commit: a recording begins with it.
  const date = {
    GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
    GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
  };
  for (const args of [
    ["init", "--quiet", "--initial-branch=main", "--template="],
    ["add", "."],
    ["commit", "--quiet", "--message=first"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: root, env: { ...env, ...date } });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`);
  }
}

const tipOf = ({ root, env }: Bench): string =>
  spawnSync("git", ["rev-parse", "main"], { cwd: root, env, encoding: "utf8" }).stdout.trim();

const commitsOf = ({ root, env }: Bench): number =>
  Number(
    spawnSync("git", ["rev-list", "--count", "main"], { cwd: root, env, encoding: "utf8" }).stdout,
  );

function start(bench: Bench, args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [bench.program, "build", planFile, ...args], {
    cwd: bench.root,
    env: { ...bench.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** What has to be given to run it; asking takes the place of a person's look. */
async function approvalOf(bench: Bench): Promise<string[]> {
  const { said } = await ended(start(bench, [], {}));
  const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(said)?.[1];
  if (hash === undefined) throw new Error(`no hash to approve: ${said.slice(-300)}`);
  return ["--trust-sha256", hash];
}

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-10_000);
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, said }));
  });
}

/** From the start of the process to its end, every phase published. */
async function timeRun(
  bench: Bench,
  phases: number,
  env: Record<string, string> = {},
): Promise<number> {
  newRepository(bench, phases);
  const approval = await approvalOf(bench);
  const began = performance.now();
  const { code, said } = await ended(start(bench, approval, env));
  const ms = performance.now() - began;
  if (code !== 0 || commitsOf(bench) !== phases + 1)
    throw new Error(`a run of ${phases} phases ended with ${code}: ${said.slice(-500)}`);
  return ms;
}

// ── over the bare commands ─────────────────────────────────────────────────────────────────────

async function* overhead(bench: Bench, effort: Effort): AsyncGenerator<Row> {
  const { compared, turns, few, many } = effort;
  const name = `run of ${compared} phases / its git commands alone`;
  const times: Record<number, number[]> = {};
  const timed = async (phases: number): Promise<number> => {
    const ms = await timeRun(bench, phases);
    (times[phases] ??= []).push(ms);
    return ms;
  };
  const recording = await record(bench, compared);
  if (typeof recording === "string") {
    yield { name, figure: null, unit: "×", target: 1.5, detail: recording };
  } else {
    const bare: number[] = [];
    const ours: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      ours.push(await timed(compared));
      bare.push(await playBack(bench, compared, recording));
    }
    const [us, them] = [Math.min(...ours), Math.min(...bare)];
    const each = (kind: Op["kind"]): string =>
      (recording.ops.filter((op) => op.kind === kind).length / compared).toFixed(1);
    yield {
      name,
      figure: us / them,
      unit: "×",
      target: 1.5,
      detail: `fastest of ${turns}, in turns: ${(us / 1000).toFixed(2)} s and ${(them / 1000).toFixed(2)} s; per phase ${(us / compared).toFixed(1)} ms and ${(them / compared).toFixed(1)} ms, ${each("git")} git, ${each("write")} objects, ${each("agent")} agents, ${each("gate")} gates; --jobs 2`,
      versus: {
        chart: "whole-run",
        ours: { name: `autodev build, ${compared} phases`, figure: us / 1000 },
        theirs: { name: "its git commands, agents and gates alone", figure: them / 1000 },
      },
    };
    yield {
      name: "git processes per phase",
      figure: recording.ops.filter(({ kind }) => kind === "git").length / compared,
      unit: "",
      detail: kindsOf(recording.ops, compared),
    };
  }
  for (let turn = times[few]?.length ?? 0; turn < 2; turn++) await timed(few);
  if (!times[many]) await timed(many);
  const [small, large] = [Math.min(...(times[few] ?? [])), Math.min(...(times[many] ?? []))];
  yield {
    name: `growth of a run, ${many} / ${few} phases`,
    figure: large / small / (many / few),
    unit: "×",
    target: 1.3,
    detail: `linear is 1: ${(large / 1000).toFixed(2)} s and ${(small / 1000).toFixed(2)} s`,
  };
}

/** What git is called for, most often first. */
function kindsOf(ops: readonly Op[], phases: number): string {
  const sums = new Map<string, { count: number; ms: number }>();
  for (const { kind, argv, from, to } of ops) {
    const word = argv.find((arg) => /^[a-z]/.test(arg) && !arg.includes("=")) ?? "";
    const name =
      kind === "git"
        ? word === "worktree"
          ? `worktree ${argv[argv.indexOf(word) + 1]}`
          : word
        : kind;
    const sum = sums.get(name) ?? { count: 0, ms: 0 };
    sums.set(name, { count: sum.count + 1, ms: sum.ms + (to - from) / 1000 });
  }
  return [...sums]
    .sort(([, a], [, b]) => b.ms - a.ms)
    .map(
      ([name, { count, ms }]) =>
        `${name} ${(count / phases).toFixed(1)} × ${(ms / count).toFixed(1)} ms`,
    )
    .join(", ");
}

// ── the recording ──────────────────────────────────────────────────────────────────────────────

interface Op {
  readonly kind: "git" | "write" | "agent" | "gate";
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | undefined;
  /** Where copies lie of what was there before: the object to be written, a checkout's own `.git`. */
  readonly note: string;
  /** Microseconds; when it began and ended in the recording. */
  readonly from: number;
  readonly to: number;
  readonly code: number;
}

interface Recording {
  readonly ops: readonly Op[];
  readonly tip: string;
}

/** Shell functions alone: what is noted must not take long. */
const gitInFront = `#!/bin/bash
at=$EPOCHREALTIME
note=$BENCH_RECORD/$at-$$
noted() { printf '%s\\0' "$@"; for name in \${!GIT_@}; do printf '%s=%s\\0' "$name" "\${!name}"; done; }
case "$*" in
  *--batch-command*) exec "$BENCH_GIT" "$@" ;;
  *--stdin-paths*)
    coproc "$BENCH_GIT" "$@"
    for ((n = 1; ; n++)); do
      IFS= read -r file || exit 0
      at=$EPOCHREALTIME
      cp "$file" "$note-$n.object"
      noted write "$PWD" "$#" "$@" > "$note-$n.call"
      printf '%s\\n' "$file" >&"\${COPROC[1]}"
      IFS= read -r id <&"\${COPROC[0]}"
      printf '%s %s 0' "\${at/./}" "\${EPOCHREALTIME/./}" > "$note-$n.end"
      printf '%s\\n' "$id"
    done ;;
esac
noted git "$PWD" "$#" "$@" > "$note.call"
case $GIT_DIR in */autodev/checks/*) cp -r "$GIT_DIR" "$note.git" ;; esac
if [ -c /dev/stdin ]; then "$BENCH_GIT" "$@"; else tee "$note.in" | "$BENCH_GIT" "$@"; fi
code=$?
printf '%s %s %s' "\${at/./}" "\${EPOCHREALTIME/./}" "$code" > "$note.end"
exit $code
`;
const noteInFront = `#!/bin/bash
note=$BENCH_RECORD/$AUTODEV_EXEC_ID
if [ "$1" = end ]; then
  printf '%s %s 0' "$(< "$note.from")" "\${EPOCHREALTIME/./}" > "$note.end"
else
  printf '%s' "\${EPOCHREALTIME/./}" > "$note.from"
  printf '%s\\0' "$1" "$PWD" 0 "AUTODEV_PHASE=$AUTODEV_PHASE" > "$note.call"
fi
`;

/** A string says why there is none. */
async function record(bench: Bench, phases: number): Promise<Recording | string> {
  const has = (name: string): string =>
    spawnSync("sh", ["-c", 'command -v "$0"', name], { encoding: "utf8" }).stdout.trim();
  if (has("bash") === "") return "bash is not on this machine: nothing can be recorded";
  const notes = path.join(bench.folder, "notes");
  const front = path.join(bench.folder, "front");
  for (const folder of [notes, front]) fs.mkdirSync(folder);
  fs.writeFileSync(path.join(front, "git"), gitInFront, { mode: 0o755 });
  fs.writeFileSync(path.join(front, "note"), noteInFront, { mode: 0o755 });
  await timeRun(bench, phases, {
    PATH: `${front}:${bench.env["PATH"]}`,
    BENCH_RECORD: notes,
    BENCH_NOTE: path.join(front, "note"),
    BENCH_GIT: has("git"),
  });
  const ops = fs
    .readdirSync(notes)
    .filter((name) => name.endsWith(".call"))
    .map((name) => readOp(path.join(notes, name.replace(/\.call$/, ""))))
    .sort((a, b) => a.from - b.from);
  return { ops, tip: tipOf(bench) };
}

function readOp(note: string): Op {
  const [kind = "", cwd = "", count = "0", ...rest] = fs
    .readFileSync(`${note}.call`, "utf8")
    .split("\0")
    .slice(0, -1);
  const [from = 0, to = 0, code = 0] = fs
    .readFileSync(`${note}.end`, "utf8")
    .split(" ")
    .map(Number);
  const argv = rest.slice(0, Number(count));
  const env = rest.slice(Number(count)).map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return {
    kind: kind as Op["kind"],
    argv,
    cwd,
    env: Object.fromEntries(env) as Record<string, string>,
    input: fs.existsSync(`${note}.in`) ? fs.readFileSync(`${note}.in`, "utf8") : undefined,
    note,
    from,
    to,
    code,
  };
}

/** The same calls, as many at a time as then; they must end as they did then, in the same commit. */
async function playBack(bench: Bench, phases: number, recorded: Recording): Promise<number> {
  const { ops, tip } = recorded;
  newRepository(bench, phases);
  const before = new Set(ops.map(({ cwd }) => cwd).filter((cwd) => cwd !== bench.root));
  for (const { argv, env } of ops) {
    if (env["GIT_INDEX_FILE"]) before.add(env["GIT_INDEX_FILE"]);
    if (argv.includes("worktree")) before.add(argv.find((arg) => path.isAbsolute(arg)) ?? "");
  }
  const folders = new Set([...before].map((file) => path.dirname(file)));
  for (const folder of folders)
    if (path.isAbsolute(folder)) fs.mkdirSync(folder, { recursive: true });
  const ending = ops.map((_, at) => at).sort((a, b) => (ops[a]?.to ?? 0) - (ops[b]?.to ?? 0));
  const playing: Promise<void>[] = [];
  const writers = new Writers(bench);
  const wrong: string[] = [];
  let next = 0;
  const began = performance.now();
  for (const [at, op] of ops.entries()) {
    for (; next < ending.length; next++) {
      const earlier = ending[next] ?? 0;
      if ((ops[earlier]?.to ?? 0) > op.from) break;
      await playing[earlier];
    }
    // Two clocks can disagree by a moment about what came first.
    if (!fs.existsSync(op.cwd)) await Promise.all(playing);
    playing[at] = play(bench, writers, op).then((code) => {
      if (code !== op.code)
        wrong.push(`${op.argv.join(" ").slice(0, 200)}: ${code}, not ${op.code}`);
    });
  }
  await Promise.all(playing);
  const ms = performance.now() - began;
  writers.end();
  if (tipOf(bench) !== tip) wrong.push(`main is ${tipOf(bench)}, not ${tip}`);
  if (wrong.length > 0)
    throw new Error(
      `the recording cannot be played back (${wrong.length}): ${wrong.slice(0, 3).join("; ")}`,
    );
  return ms;
}

/** Gits that write objects, one for each type, as long as a playback takes. */
class Writers {
  readonly #bench: Bench;
  readonly #running = new Map<string, { child: ChildProcess; waiting: (() => void)[] }>();
  constructor(bench: Bench) {
    this.#bench = bench;
  }
  write({ argv, cwd, env, note }: Op): Promise<number> {
    const writer = this.#running.get(argv.join(" ")) ?? this.#start(argv, cwd, env);
    this.#running.set(argv.join(" "), writer);
    return new Promise((resolve) => {
      writer.waiting.push(() => resolve(0));
      writer.child.stdin?.write(`${note}.object\n`);
    });
  }
  #start(argv: readonly string[], cwd: string, env: Op["env"]) {
    const child = spawn("git", argv, {
      cwd,
      env: { ...this.#bench.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const waiting: (() => void)[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      for (let lines = text.split("\n").length - 1; lines > 0; lines--) waiting.shift()?.();
    });
    return { child, waiting };
  }
  end(): void {
    for (const { child } of this.#running.values()) child.stdin?.end();
  }
}

async function play(bench: Bench, writers: Writers, op: Op): Promise<number | null> {
  if (op.kind === "write") return writers.write(op);
  const { GIT_DIR: gitDir, GIT_INDEX_FILE: index } = op.env;
  // As we do before a tree is captured: an index that knows what has not changed, with its time, so
  // that git looks again at what changed in the moment in which it was written.
  const own = gitDir === undefined ? undefined : path.join(gitDir, "index");
  if (op.argv.includes("add") && index && own !== undefined && fs.existsSync(own)) {
    const { atime, mtimeMs } = fs.statSync(own);
    fs.copyFileSync(own, index);
    fs.utimesSync(index, atime, new Date(Math.floor(mtimeMs / 1000) * 1000));
  }
  // A verification's checkout is made anew, with a repository of its own in it.
  if (op.kind === "git" && gitDir && fs.existsSync(`${op.note}.git`)) {
    await rm(path.dirname(gitDir), { recursive: true, force: true });
    await cp(`${op.note}.git`, gitDir, { recursive: true });
  }
  const result = path.join(bench.folder, "tmp", `result-${op.env["AUTODEV_PHASE"]}`);
  const [command, args] =
    op.kind === "git"
      ? (["git", op.argv] as const)
      : (["/bin/sh", ["-c", op.kind === "agent" ? agent : gate]] as const);
  const child = spawn(command, [...args], {
    cwd: op.cwd,
    // A checkout is not synced (clean-checkout.ts).
    env: { ...bench.env, ...op.env, AUTODEV_RESULT: result, FSYNC: "none" },
    stdio: [op.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: true,
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(op.input);
  for (const stream of [child.stdout, child.stderr]) stream?.resume();
  return new Promise((resolve) => {
    // Told with all that went otherwise than then: it is seldom the first.
    child.on("error", () => resolve(null));
    child.on("close", resolve);
  });
}

// ── an agent that talks ────────────────────────────────────────────────────────────────────────

async function memory(bench: Bench, bytes: number): Promise<Row> {
  const name = `memory while an agent prints ${bytes / 1e6} MB`;
  const row = { name, unit: "MB", target: 40 };
  if (!fs.existsSync("/proc/self/status"))
    return { ...row, figure: null, detail: "no /proc on this machine" };
  const line = "The quick brown fox jumps over the lazy dog, again and again and again and again.";
  const talk = (much: number): string => `yes '${line}' | head -c ${much}; ${agent}`;
  const peaks: number[] = [];
  const times: number[] = [];
  for (const command of [agent, talk(bytes / 10), talk(bytes)]) {
    newRepository(bench, 1, command);
    const approval = await approvalOf(bench);
    const began = performance.now();
    const child = start(bench, approval, {});
    const over = ended(child);
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, highWater(child.pid ?? 0));
    }, 20);
    const { code, said } = await over;
    clearInterval(watch);
    if (code !== 0) throw new Error(`an agent that talks: ${code}: ${said.slice(-300)}`);
    peaks.push(peak);
    times.push(performance.now() - began);
  }
  const [silent = 0, little = 0, talking = 0] = peaks;
  const [quick = 0, , long = 0] = times;
  return {
    ...row,
    figure: (talking - silent) / 1e6,
    detail: `peak ${(talking / 1e6).toFixed(0)} MB, ${(little / 1e6).toFixed(0)} MB for a tenth, ${(silent / 1e6).toFixed(0)} MB when it prints nothing; ${(bytes / 1e6 / ((long - quick) / 1000)).toFixed(0)} MB/s`,
  };
}

function highWater(pid: number): number {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+)/mu.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

// ── after a death ──────────────────────────────────────────────────────────────────────────────

/**
 * Killed when nine tenths are published; from the next start until a phase is at work again, in turns
 * with the first start of the same plan, which has nothing to remember.
 */
async function resuming(bench: Bench, phases: number): Promise<Row> {
  newRepository(bench, phases);
  const approval = await approvalOf(bench);
  const killed = start(bench, approval, {});
  const over = ended(killed);
  const wanted = Math.floor(phases * 0.9);
  await untilSaid(killed, /^✓/gmu, wanted);
  killed.kill("SIGKILL");
  await over;
  const fresh = openBench(path.join(bench.folder, "fresh"));
  const times: { resumed: number[]; first: number[] } = { resumed: [], first: [] };
  for (let round = 0; round < 5; round++) {
    times.resumed.push(await untilFirstMove(bench, approval));
    newRepository(fresh, phases);
    times.first.push(await untilFirstMove(fresh, await approvalOf(fresh)));
  }
  const [resumed, first] = [median(times.resumed), median(times.first)];
  return {
    name: `resume of a killed run, ${phases} phases`,
    figure: resumed / first,
    unit: "×",
    detail: `until the first move ${resumed.toFixed(0)} ms, of a first start ${first.toFixed(0)} ms; medians of ${times.first.length}; ${commitsOf(bench) - 1} phases were published`,
  };
}

async function untilFirstMove(bench: Bench, approval: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = start(bench, approval, {});
  const end = ended(child);
  await untilSaid(child, /^▸/gmu, 1);
  const took = performance.now() - began;
  child.kill("SIGKILL");
  await end;
  return took;
}

function untilSaid(child: ChildProcess, pattern: RegExp, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let found = 0;
    let rest = "";
    const look = (text: string): void => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.search(pattern) >= 0) found++;
      if (found >= times) resolve();
    };
    child.stderr?.setEncoding("utf8").on("data", look);
    child.on("close", () => reject(new Error(`it ended after ${found} of ${times} lines`)));
  });
}
