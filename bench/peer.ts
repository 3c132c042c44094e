/**
 * claude-task-master lists 1,000 tasks; `autodev plan check` reads and compiles the very same file.
 * The peer is installed from the registry on the first full run and kept in `.peers/`.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { bigTaskList } from "./big-plan.ts";
import { program, timeOf } from "./plans.ts";
import { median, type Row } from "./row.ts";

const peer = { name: "task-master-ai", version: "0.43.1", bin: "dist/task-master.js" };
const row = { name: "1,000 tasks: ours / task-master", unit: "×" };
const tasks = 1_000;
const rounds = 7;
const limit = 60_000;
const installLimit = 300_000;

export function* peerRows(scratch: string, short: boolean): Generator<Row> {
  if (short) {
    yield { ...row, figure: null, detail: "the peer is run in the full form only" };
    return;
  }
  try {
    yield compare(scratch, installed());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    yield { ...row, figure: null, detail: why.replace(/\s+/g, " ") };
  }
}

function compare(scratch: string, theirs: string): Row {
  const root = path.join(scratch, "peer");
  const list = path.join(".taskmaster", "tasks", "tasks.json");
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  write(list, bigTaskList(tasks));
  // What it asks of the network is switched off: its reports, and the look for a newer version.
  write(".taskmaster/config.json", '{"global":{"anonymousTelemetry":false}}\n');
  write(".taskmaster/state.json", '{"currentTag":"master","migrationNoticeShown":true}\n');
  const env = { HOME: path.join(root, "home"), TASKMASTER_SKIP_AUTO_UPDATE: "1" };
  fs.mkdirSync(env.HOME);
  const run = (argv: string[], proof: RegExp): number => {
    const done = timeOf(argv, { cwd: root, limit, env });
    const called = argv.map((each) => path.basename(each)).join(" ");
    if (!done) throw new Error(`${called} was stopped after ${limit / 1000} s`);
    if (!proof.test(done.stdout)) throw new Error(`${called} does not tell of ${tasks} tasks`);
    return done.ms;
  };
  const calls = {
    ours: () => run([program, "plan", "check", list], /1,?000 phases/u),
    theirs: () => run([theirs, "list"], /\/1000\b/u),
    "our start": () => run([program, "--version"], /\d/u),
    "their start": () => run([theirs, "--version"], /\d/u),
  };
  const times: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, call] of Object.entries(calls)) {
      const took = call();
      if (round >= 0) (times[name] ??= []).push(took);
    }
  }
  const of = (name: keyof typeof calls): number => median(times[name] ?? []);
  const ms = (name: keyof typeof calls): string => `${of(name).toFixed(0)} ms`;
  return {
    ...row,
    figure: of("ours") / of("theirs"),
    detail: `medians of ${rounds}, in turns: plan check ${ms("ours")}, ${peer.name} ${peer.version} ${ms("theirs")}; of which to start (--version) ${ms("our start")} and ${ms("their start")}`,
  };
}

/** The peer's program; installed beside this file's source if it is not there yet. */
function installed(): string {
  const folder = path.resolve("bench", ".peers", `${peer.name}-${peer.version}`);
  const at = path.join("node_modules", peer.name, peer.bin);
  if (fs.existsSync(path.join(folder, at))) return path.join(folder, at);
  const fresh = `${folder}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  console.log(`installing ${peer.name}@${peer.version} into ${path.relative("", folder)} …`);
  // Without its optional parts, which are other companies' agents and are not run by a list.
  const flags = "--ignore-scripts --no-save --no-audit --no-fund --omit=optional".split(" ");
  const { status, error, stderr } = spawnSync(
    "npm",
    ["install", ...flags, "--prefix", fresh, `${peer.name}@${peer.version}`],
    { cwd: fresh, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: installLimit },
  );
  if (status !== 0 || !fs.existsSync(path.join(fresh, at))) {
    fs.rmSync(fresh, { recursive: true, force: true });
    const told = /npm error (?!code|errno|syscall).*/u.exec(stderr ?? "")?.[0];
    const why = error?.message ?? told ?? `npm ended with ${status}`;
    throw new Error(`${peer.name}@${peer.version} could not be installed: ${why}`);
  }
  fs.renameSync(fresh, folder);
  return path.join(folder, at);
}
