/**
 * How long a person waits for the least that a program does: ours, bare node, and those of others
 * that are about agents and plans. Each is called as its users type it, in turns, by a process that
 * has no network.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { bigTaskList } from "./big-plan.ts";
import { install, type Peer, peerName, silent, withoutNetwork } from "./peers.ts";
import { program } from "./plans.ts";
import { repositoryWith } from "./repositories.ts";
import { type ChartName, median, type Row, ratioRow } from "./row.ts";

export const measureStartsFlag = "--measure-starts";

interface CalledPeer extends Peer {
  /** As its users type it. */
  readonly command: string;
  /** What tells where things stand, if it has that; in a folder where little is to be told. */
  readonly look?: { readonly args: readonly string[]; readonly proof: string };
}

export const taskMaster: Peer = {
  name: "task-master-ai",
  version: "0.43.1",
  proof: "dist/task-master.js",
  omitOptional: true,
};

const peers: readonly CalledPeer[] = [
  { name: "turbo", version: "2.11.11", proof: "bin/turbo", command: "turbo" },
  { name: "@openai/codex", version: "0.166.0", proof: "bin/codex.js", command: "codex" },
  {
    name: "@anthropic-ai/claude-code",
    version: "2.1.325",
    proof: "package.json",
    command: "claude",
    needsScript: true,
  },
  {
    name: "backlog.md",
    version: "1.52.0",
    proof: "cli.js",
    command: "backlog",
    look: { args: ["task", "list", "--plain"], proof: "Invoice reader" },
  },
  {
    name: "@fission-ai/openspec",
    version: "1.13.2",
    proof: "bin/openspec.js",
    command: "openspec",
    look: { args: ["list"], proof: "invoice-reader" },
  },
  {
    ...taskMaster,
    command: "task-master",
    look: { args: ["list"], proof: "Invoice reader" },
  },
];

/** What is called, again and again. */
interface Call {
  readonly name: string;
  readonly argv: readonly string[];
  /** Stands in what it prints. */
  readonly proof: string;
}
/** Of each call, in turns; a string says why there are none. */
type Times = Record<string, number[] | string>;

export async function* peerStartRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  if (short) {
    yield {
      name: "autodev --version / others",
      figure: null,
      unit: "×",
      detail: "others are run in the full form only",
    };
    return;
  }
  const folder = path.join(scratch, "starts");
  const project = await makeProject(folder);
  const commands = path.join(folder, "bin");
  fs.mkdirSync(commands);
  fs.symlinkSync(program, path.join(commands, "autodev"));
  const missing = new Map<string, string>();
  const versions: Call[] = [
    { name: "autodev", argv: [path.join(commands, "autodev"), "--version"], proof: "." },
    { name: "bare node", argv: [process.execPath, "-e", "console.log('.')"], proof: "." },
  ];
  const looks: Call[] = [
    { name: "autodev", argv: [path.join(commands, "autodev"), "status"], proof: "Implement" },
  ];
  for (const peer of peers) {
    const name = peerName(peer);
    const installed = install(peer);
    if (typeof installed === "string") {
      missing.set(name, installed);
      continue;
    }
    const command = path.join(installed.folder, "node_modules", ".bin", peer.command);
    versions.push({ name, argv: [command, "--version"], proof: peer.version });
    if (peer.look) looks.push({ name, argv: [command, ...peer.look.args], proof: peer.look.proof });
  }
  for (const [chart, what, calls] of [
    ["cold-start", "--version", versions],
    ["looking", "status", looks],
  ] as const) {
    const others = peers.filter(({ look }) => chart === "cold-start" || look).map(peerName);
    const names = [...(chart === "cold-start" ? ["bare node"] : []), ...others];
    yield* compared(chart, what, names, measured(folder, project, calls), missing);
  }
}

function* compared(
  chart: ChartName,
  what: string,
  names: readonly string[],
  { times, network }: { readonly times: Times; readonly network: string },
  missing: ReadonlyMap<string, string>,
): Generator<Row> {
  const ours = { name: `autodev ${what}`, figure: figureOf(times["autodev"]) };
  for (const name of names) {
    const theirs = { name, figure: figureOf(times[name]) };
    const list = times[name];
    const detail =
      theirs.figure === null || ours.figure === null
        ? (missing.get(name) ?? (typeof list === "string" ? list : String(times["autodev"])))
        : `medians of ${list?.length ?? 0}, in turns: ${ours.figure.toFixed(1)} ms and ${theirs.figure.toFixed(1)} ms; ${network}`;
    yield ratioRow({ chart, ours, theirs }, detail);
  }
}

const figureOf = (times: number[] | string | undefined): number | null =>
  typeof times === "object" ? median(times) : null;

// ── a project that all of them can tell of ─────────────────────────────────────────────────────

/** A short history of ours, and a task in each one's own notation: what is one's is nothing to the others. */
async function makeProject(folder: string): Promise<string> {
  fs.mkdirSync(folder);
  const contents = { events: 10, artifacts: 5, files: 0 };
  const project = await repositoryWith(path.join(folder, "project"), contents);
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
    fs.writeFileSync(path.join(project, file), text);
  };
  write(".taskmaster/tasks/tasks.json", bigTaskList(1));
  write(".taskmaster/config.json", '{"global":{"anonymousTelemetry":false}}\n');
  write(".taskmaster/state.json", '{"currentTag":"master","migrationNoticeShown":true}\n');
  write("openspec/changes/invoice-reader/proposal.md", "# Invoice reader\n");
  write("openspec/changes/invoice-reader/tasks.md", "## 1. Reader\n- [ ] 1.1 Write it\n");
  write(
    "backlog/config.yml",
    'project_name: "shop"\ndefault_status: "To Do"\nstatuses: ["To Do", "In Progress", "Done"]\nlabels: []\ncheck_active_branches: false\nremote_operations: false\n',
  );
  write(
    "backlog/tasks/task-1 - Invoice-reader.md",
    '---\nid: task-1\ntitle: Invoice reader\nstatus: To Do\nassignee: []\ncreated_date: "2026-01-01"\nlabels: []\ndependencies: []\n---\n\n## Description\n\nWrite it.\n',
  );
  return project;
}

// ── in turns, in a process of its own ──────────────────────────────────────────────────────────

const [rounds, limit] = [15, 60_000];

function measured(
  folder: string,
  project: string,
  calls: readonly Call[],
): { readonly times: Times; readonly network: string } {
  const home = path.join(folder, "home");
  fs.mkdirSync(home, { recursive: true });
  const given = path.join(folder, "calls.json");
  fs.writeFileSync(given, JSON.stringify(calls));
  const cut = withoutNetwork();
  const self = [process.execPath, process.argv[1] ?? "", measureStartsFlag, given];
  const [command = "", ...args] = [...(cut ?? []), ...self];
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: project,
    env: {
      // Nobody's settings, and no certificates that node would parse at every start.
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: home,
      CODEX_HOME: path.join(home, "codex"),
      LANG: "C.UTF-8",
      ...silent,
    },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`the starts were not measured: ${stderr.slice(-500)}`);
  const network = cut
    ? "without a network"
    : "reports and looks for updates switched off; this machine does not let the network be cut off";
  return { times: JSON.parse(stdout) as Times, network };
}

/** What the child does; the first round finds every cache cold and is not counted. */
export function measureStarts([given = ""]: readonly string[]): void {
  const calls = JSON.parse(fs.readFileSync(given, "utf8")) as Call[];
  const times: Times = Object.fromEntries(calls.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const call of calls) {
      const list = times[call.name];
      if (typeof list !== "object") continue;
      const took = timeCall(call);
      if (typeof took === "string") times[call.name] = took;
      else if (round >= 0) list.push(took);
    }
  }
  console.log(JSON.stringify(times));
}

function timeCall({ name, argv, proof }: Call): number | string {
  const [command = "", ...args] = argv;
  const began = performance.now();
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    timeout: limit,
  });
  const took = performance.now() - began;
  const said = `${stdout}${stderr}`.replace(/\s+/gu, " ").slice(-200);
  const called = [name, ...args].join(" ");
  if (status !== 0) return `${called} ended with ${status}: ${error?.message ?? said}`;
  return stdout.includes(proof) ? took : `${called} does not tell of "${proof}": ${said}`;
}
