/** claude-task-master lists tasks; `autodev plan check` reads and compiles the very same file. */
import * as fs from "node:fs";
import * as path from "node:path";
import { bigTaskList } from "./big-plan.ts";
import { taskMaster } from "./peer-starts.ts";
import { install, peerName } from "./peers.ts";
import { program, timeOf } from "./plans.ts";
import { median, type Row } from "./row.ts";

const sizes = [100, 1_000, 10_000] as const;
type Size = (typeof sizes)[number];
const rowOf = (tasks: Size) => ({
  name: `${tasks.toLocaleString("en")} tasks: ours / task-master`,
  unit: "×",
});
const rounds = 7;
const limit = 120_000;

export function* peerRows(scratch: string, short: boolean): Generator<Row> {
  if (short) {
    yield { ...rowOf(1_000), figure: null, detail: "the peer is run in the full form only" };
    return;
  }
  const installed = install(taskMaster);
  const { name, proof } = taskMaster;
  for (const tasks of sizes) {
    if (typeof installed === "string") {
      yield { ...rowOf(tasks), figure: null, detail: installed };
      continue;
    }
    try {
      const theirs = path.join(installed.folder, "node_modules", name, proof);
      yield compare(path.join(scratch, `peer-${tasks}`), theirs, tasks);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      yield { ...rowOf(tasks), figure: null, detail: why.replace(/\s+/g, " ") };
    }
  }
}

function compare(root: string, theirs: string, tasks: Size): Row {
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
    ours: () =>
      run(
        [program, "plan", "check", list],
        new RegExp(`\\b${tasks.toLocaleString("en").replace(",", ",?")} phases`, "u"),
      ),
    theirs: () => run([theirs, "list"], new RegExp(`/${tasks}\\b`, "u")),
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
    ...rowOf(tasks),
    figure: of("ours") / of("theirs"),
    detail: `medians of ${rounds}, in turns: plan check ${ms("ours")}, ${peerName(taskMaster)} ${ms("theirs")}; of which to start (--version) ${ms("our start")} and ${ms("their start")}`,
    versus: {
      chart: `task-list-${tasks}`,
      ours: { name: "autodev plan check", figure: of("ours") },
      theirs: { name: `${peerName(taskMaster)} list`, figure: of("theirs") },
    },
  };
}
