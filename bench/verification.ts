/**
 * What a verification costs beside its gates: from the event that tells of a delivery to the one
 * that tells of the verdict, against the same commands in a plain checkout of the same commit.
 *
 * Both take turns, phase by phase: the agent of a phase waits until the bare commands of the phase
 * before have ended. The first phase is not counted: it meets every cache cold.
 */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { RecordedEvent } from "../src/core/event.ts";
import type { Evidence } from "../src/core/evidence.ts";
import { program } from "./plans.ts";
import { median, type Row } from "./row.ts";

/** Phases until there are enough, or until the time for them is spent; never less than two. */
interface Effort {
  readonly phases: number;
  readonly seconds: number;
}
const efforts: Record<"short" | "full", Effort> = {
  short: { phases: 4, seconds: 6 },
  full: { phases: 25, seconds: 90 },
};

export async function* verificationRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  const row = { name: "verification / bare gate", unit: "×", target: 1.3 };
  const { phases, seconds } = efforts[short ? "short" : "full"];
  const bench = openBench(path.join(scratch, "verification"));
  const lacking = makeProject(bench, phases);
  if (lacking !== undefined) {
    yield { ...row, figure: null, detail: lacking };
    return;
  }
  const [, ...counted] = await measure(bench, phases, seconds);
  const of = (what: keyof Checked): number => median(counted.map((each) => each[what]));
  const fastest = (what: keyof Checked): number => Math.min(...counted.map((each) => each[what]));
  yield {
    ...row,
    figure: of("whole") / of("bare"),
    detail: `medians of ${counted.length}, in turns: ${ms(of("whole"))} and ${ms(of("bare"))}; of the fastest ${(fastest("whole") / fastest("bare")).toFixed(2)} ×; --jobs 1, dependencies from the cache`,
    versus: {
      chart: "verification",
      ours: { name: "autodev, from delivery to verdict", figure: of("whole") },
      theirs: { name: "the same gates in a plain checkout", figure: of("bare") },
    },
  };
  const [best] = counted.toSorted((one, other) => one.whole - other.whole);
  if (!best) throw new Error("no phase was counted");
  const { whole, gates, git, calls, checkout } = best;
  yield {
    name: "verification without its gates",
    figure: whole - gates,
    unit: "ms",
    detail: `the fastest: gates ${ms(gates)}; git ${ms(git)} in ${calls} processes, ${ms(checkout)} of it to check out; all else, starting them included, ${ms(whole - gates - git)}`,
  };
}

const ms = (time: number): string => `${time.toFixed(0)} ms`;

// ── the project ────────────────────────────────────────────────────────────────────────────────

interface Bench {
  readonly folder: string;
  /** The built program, in a copy that nobody rebuilds meanwhile. */
  readonly program: string;
  readonly root: string;
  /** The same commits, checked out by git alone. */
  readonly plain: string;
  /** What the agent of a phase delivers; it waits for it. */
  readonly ready: string;
  /** Where git notes its own calls: some tenths of a millisecond each, at our cost. */
  readonly trace: string;
  readonly env: Readonly<Record<string, string>>;
}

const planFile = "docs/plan.md";
const dependency = "zod";
const parts = ["orders", "prices", "stock"] as const;

function openBench(folder: string): Bench {
  const at = (name: string): string => path.join(folder, name);
  for (const name of ["home", "tmp", "ready", "repo"]) fs.mkdirSync(at(name), { recursive: true });
  fs.cpSync(path.dirname(program), at("cli"), { recursive: true });
  fs.writeFileSync(at("home/.gitconfig"), `[trace2]\n\teventTarget = ${at("trace")}\n`);
  const [name, email] = ["Bench", "bench@example.invalid"];
  return {
    folder,
    program: path.join(at("cli"), path.basename(program)),
    root: at("repo"),
    plain: at("plain"),
    ready: at("ready"),
    trace: at("trace"),
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: at("home"),
      XDG_CONFIG_HOME: at("config"),
      XDG_CACHE_HOME: at("cache"),
      TMPDIR: at("tmp"),
      LANG: "C.UTF-8",
      AUTODEV_NO_NOTIFY: "1",
      AUTODEV_NO_INPUT: "1",
      BENCH_READY: at("ready"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      npm_config_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    },
  };
}

const agent = [
  'touch "$BENCH_READY/$AUTODEV_PHASE.wanted"',
  'until [ -d "$BENCH_READY/$AUTODEV_PHASE" ]; do sleep 0.1; done',
  'cp -r "$BENCH_READY/$AUTODEV_PHASE/." .',
  `printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1}}' "$AUTODEV_PHASE" > "$AUTODEV_RESULT"`,
].join("; ");

/** A string says what this machine lacks for it. */
function makeProject(bench: Bench, phases: number): string | undefined {
  const { folder, root, env } = bench;
  if (spawnSync("npm", ["--version"], { env }).status !== 0) return "npm is not on this machine";
  const { archive, version } = packDependency(bench);
  const manifest = {
    name: "shop",
    version: "1.0.0",
    dependencies: { [dependency]: `file:${archive}` },
  };
  const packed = { version, resolved: `file:${archive}`, integrity: integrityOf(root, archive) };
  const lock = {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    packages: { "": manifest, [`node_modules/${dependency}`]: packed },
  };
  const scripts = { test: "node --test", lint: "node lint.mjs" };
  const settings = {
    agents: { mine: { command: agent } },
    agent: "mine",
    build: { commit: "auto", jobs: 1 },
  };
  write(root, {
    ".gitignore": "node_modules\n",
    // JSON is YAML.
    ".autodev/config.yaml": jsonText(settings),
    "package.json": jsonText({ ...manifest, private: true, type: "module", scripts }),
    "package-lock.json": jsonText(lock),
    "lint.mjs": lint,
    [planFile]: planOf(phases),
  });
  for (const part of parts) write(root, filesOf(part, 3));
  call(bench, root, "git", "init", "--quiet", "--initial-branch=main", "--template=");
  call(bench, root, "git", "add", ".");
  call(bench, root, "git", "commit", "--quiet", "--message=first");
  call(bench, folder, "git", "clone", "--quiet", "--shared", root, bench.plain);
  call(bench, bench.plain, "npm", "ci", "--silent");
  return undefined;
}

const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** One of our own, as it is installed here: an archive in the repository needs no registry. */
function packDependency(bench: Bench): { readonly archive: string; readonly version: string } {
  const from = path.resolve("node_modules", dependency);
  const manifest = fs.readFileSync(path.join(from, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const archive = `vendor/${dependency}-${version}.tgz`;
  fs.mkdirSync(path.join(bench.root, "vendor"));
  // All that is in it lies in one folder, whatever that is called.
  const to = path.join(bench.root, archive);
  call(bench, path.dirname(from), "tar", "-czf", to, dependency);
  return { archive, version };
}

const integrityOf = (root: string, archive: string): string =>
  `sha512-${createHash("sha512")
    .update(fs.readFileSync(path.join(root, archive)))
    .digest("base64")}`;

function planOf(phases: number): string {
  const row = (n: number): string => `| ${n} | P${n} | ${n > 1 ? n - 1 : "-"} | - | 1 | ⬜ |`;
  const phase = (n: number): string =>
    [
      `### Phase ${n}: P${n}`,
      "#### Tasks",
      `- [ ] One more function for ${partOf(n)}`,
      ...Object.keys(deliveryOf(n)).map((file) => `##### File: \`${file}\` (MODIFY)`),
      "#### Definition of Done",
      "- [ ] It is tested\n",
    ].join("\n");
  const numbers = Array.from({ length: phases }, (_, at) => at + 1);
  return [
    "# A shop that grows by a function at a time\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...numbers.map(row),
    "",
    ...numbers.map(phase),
  ].join("\n");
}

type Files = Readonly<Record<string, string>>;

const partOf = (phase: number): string => parts[phase % parts.length] ?? parts[0];

const deliveryOf = (phase: number): Files =>
  filesOf(partOf(phase), 4 + Math.floor(phase / parts.length));

/** A module with that many functions, and its tests. */
function filesOf(part: string, functions: number): Files {
  const numbers = Array.from({ length: functions }, (_, at) => at + 1);
  const name = (n: number): string => `${part}Times${n}`;
  const code = [
    `import { z } from "${dependency}";`,
    "const Amount = z.object({ amount: z.number().int().min(0), currency: z.string() });",
    ...numbers.map(
      (n) =>
        `export function ${name(n)}(value) {\n  const { amount, currency } = Amount.parse(value);\n  return { amount: amount * ${n}, currency };\n}`,
    ),
  ];
  const tests = [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    `import { ${numbers.map(name).join(", ")} } from "../src/${part}.js";`,
    ...numbers.map(
      (n) =>
        `test("${name(n)} multiplies and refuses debts", () => {\n  assert.equal(${name(n)}({ amount: 2, currency: "EUR" }).amount, ${2 * n});\n  assert.throws(() => ${name(n)}({ amount: -1, currency: "EUR" }));\n});`,
    ),
  ];
  return {
    [`src/${part}.js`]: `${code.join("\n")}\n`,
    [`test/${part}.test.js`]: `${tests.join("\n")}\n`,
  };
}

const lint = `import { readdirSync, readFileSync } from "node:fs";
const wrong = [];
for (const folder of ["src", "test"])
  for (const name of readdirSync(folder)) {
    const text = readFileSync(folder + "/" + name, "utf8");
    const [, names = ""] = /^import \\{ (.*) \\} from "\\.\\./m.exec(text) ?? [];
    for (const each of names.split(", "))
      if (text.split(each).length < 3) wrong.push(name + ": " + each + " is not used");
    if (/\\bvar\\b|[ \\t]$/m.test(text)) wrong.push(name + ": var, or space at the end of a line");
  }
for (const each of wrong) console.error(each);
process.exitCode = wrong.length > 0 ? 1 : 0;
`;

function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
}

function call({ env }: Bench, cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr.slice(-500)}`);
  return stdout;
}

// ── the run ────────────────────────────────────────────────────────────────────────────────────

/** In milliseconds, but for the number of git's processes. */
interface Checked {
  readonly whole: number;
  readonly bare: number;
  /** As the evidence tells it. */
  readonly gates: number;
  readonly git: number;
  readonly calls: number;
  readonly checkout: number;
}

type Verified = Extract<RecordedEvent, { type: "phase-verified" }>;
interface Verdict {
  readonly event: Verified;
  readonly delivered: number;
  readonly verified: number;
}

async function measure(bench: Bench, phases: number, seconds: number): Promise<Checked[]> {
  const child = start(bench, "--json", ...approvalOf(bench));
  const over = ended(child);
  const began = performance.now();
  const delivered = new Map<string, number>();
  const verdicts: Verdict[] = [];
  const bare: number[] = [];
  const catchUp = (): void => {
    for (const { event } of verdicts.slice(bare.length)) bare.push(timeBare(bench, event));
  };
  let spent = false;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const event = JSON.parse(line) as RecordedEvent;
      if (event.type === "baseline-taken") deliver(bench, 1);
      else if (event.type === "phase-published" && Number(event.phase) < phases) {
        const next = Number(event.phase) + 1;
        await untilAgentWaits(bench, next, child);
        catchUp();
        spent = bare.length >= fewest && performance.now() - began > seconds * 1000;
        if (spent) child.kill("SIGTERM");
        else deliver(bench, next);
      } else if (event.type === "attempt-delivered") {
        delivered.set(event.phase, Date.parse(event.at));
      } else if (event.type === "phase-verified") {
        const verified = Date.parse(event.at);
        verdicts.push({ event, delivered: delivered.get(event.phase) ?? verified, verified });
      }
    }
  } finally {
    child.kill("SIGTERM");
  }
  const { code, said } = await over;
  catchUp();
  if (!spent && (code !== 0 || verdicts.length !== phases))
    throw new Error(`${verdicts.length} of ${phases} phases were verified (${code}): ${said}`);
  if (lastUse(bench) < (verdicts.at(-1)?.delivered ?? 0))
    throw new Error("the dependencies of the last phase did not come from the cache");
  const calls = gitCalls(bench);
  return verdicts.map((verdict, at) => checked(bench, verdict, calls, bare[at] ?? 0));
}

type Run = ChildProcessByStdio<null, Readable, Readable>;

/** The one that is not counted, and two that are. */
const fewest = 3;

function start({ program: ours, root, env }: Bench, ...args: string[]): Run {
  return spawn(process.execPath, [ours, "build", planFile, ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** What has to be given to run it; asking takes the place of a person's look. */
function approvalOf({ program: ours, root, env }: Bench): string[] {
  const argv = [ours, "build", planFile];
  const { stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: root,
    env,
    encoding: "utf8",
  });
  const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(`${stdout}${stderr}`)?.[1];
  if (hash === undefined) throw new Error(`no hash to approve: ${stderr.slice(-300)}`);
  return ["--trust-sha256", hash];
}

function ended(child: Run): Promise<{ code: number | null; said: string }> {
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-1000);
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, said }));
  });
}

/** Nothing of ours is at work then: the bare commands have the machine as the gates had it. */
async function untilAgentWaits({ ready }: Bench, phase: number, child: Run): Promise<void> {
  for (let round = 0; !fs.existsSync(path.join(ready, `${phase}.wanted`)); round++) {
    // How it ended is told where it ends.
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (round > 600) throw new Error(`the agent of phase ${phase} has not begun within a minute`);
    await setTimeout(100);
  }
}

/** Whole when it appears: the agent is waiting for it. */
function deliver({ folder, ready }: Bench, phase: number): void {
  const made = path.join(folder, "delivery");
  write(made, deliveryOf(phase));
  fs.renameSync(made, path.join(ready, String(phase)));
}

/** The gates that the verdict tells of, one after the other, as their people would run them. */
function timeBare(bench: Bench, { commit, gates }: Verified): number {
  const { plain, env } = bench;
  call(bench, plain, "git", "checkout", "--quiet", "--detach", commit);
  const commands = gates.flatMap(({ command }) => command ?? []);
  const began = performance.now();
  for (const command of commands) {
    const { status } = spawnSync("/bin/sh", ["-c", command], { cwd: plain, env, stdio: "pipe" });
    if (status !== 0) throw new Error(`${command} ended with ${status} in a plain checkout`);
  }
  return performance.now() - began;
}

// ── where the time goes ────────────────────────────────────────────────────────────────────────

interface GitCall {
  readonly argv: readonly string[];
  readonly from: number;
  readonly to: number;
}

function checked(
  bench: Bench,
  { event, delivered, verified }: Verdict,
  calls: readonly GitCall[],
  bare: number,
): Checked {
  const text = call(bench, bench.root, "git", "cat-file", "blob", event.evidence ?? "");
  const { receipts } = JSON.parse(text) as Evidence;
  const own = calls.filter(({ from, to }) => from >= delivered && to <= verified);
  return {
    whole: verified - delivered,
    bare,
    gates: receipts.reduce((sum, { ms }) => sum + ms, 0),
    git: covered(own),
    calls: own.length,
    checkout: covered(own.filter(({ argv }) => argv.includes("read-tree") && argv.includes("-u"))),
  };
}

/** Some run side by side: what two cover is counted once. */
function covered(calls: readonly GitCall[]): number {
  let [sum, until] = [0, 0];
  for (const { from, to } of calls.toSorted((one, other) => one.from - other.from)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

/** As git itself has noted them; what a call of git's starts is part of it. */
function gitCalls({ trace }: Bench): GitCall[] {
  const started = new Map<string, readonly string[]>();
  const calls: GitCall[] = [];
  for (const line of fs.readFileSync(trace, "utf8").split("\n")) {
    if (line === "") continue;
    const noted = JSON.parse(line) as Noted;
    if (noted.sid.includes("/")) continue;
    if (noted.event === "start") started.set(noted.sid, noted.argv ?? []);
    if (noted.event !== "atexit") continue;
    const to = Date.parse(noted.time);
    const from = to - (noted.t_abs ?? 0) * 1000;
    calls.push({ argv: started.get(noted.sid) ?? [], from, to });
  }
  return calls;
}

interface Noted {
  readonly event: string;
  readonly sid: string;
  readonly time: string;
  readonly argv?: readonly string[];
  /** Seconds since the process began. */
  readonly t_abs?: number;
}

/** When a kept set of dependencies was last taken; 0: there is none. */
function lastUse({ folder }: Bench): number {
  const names = fs.readdirSync(path.join(folder, "cache"), { recursive: true, encoding: "utf8" });
  const labels = names.filter((name) => /-dependencies\/[0-9a-f]+\/label\.json$/.test(name));
  return Math.max(
    0,
    ...labels.map((name) => fs.statSync(path.join(folder, "cache", name)).mtimeMs),
  );
}
