/**
 * A project with an epic and tasks, an MCP server of ours with faults, and the product's own code between
 * them. The truth is the server's file of items: each key once.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { readState } from "../src/activities/hold.ts";
import { trackItems } from "../src/activities/track.ts";
import { nothingTracked, type Tracking } from "../src/core/tracker/ledger.ts";
import type { TrackerKind } from "../src/core/tracker/servers.ts";
import { openGit } from "../src/git/call.ts";
import { hold, openProject } from "../src/project.ts";
import type { Tracker } from "../src/tracker.ts";
import { createMcpTracker } from "../src/trackers/mcp.ts";
import { makeRepository, repositoryRoot } from "./rig.ts";

export const shapes = ["jira", "ado", "github", "linear"] as const satisfies readonly TrackerKind[];

/** What can happen to a call that creates; `lag` and the like take an amount. */
export const createFaults = [
  "die-before",
  "die-during",
  "die-after",
  "answer-twice",
  "silent",
  "silent-before",
  "error-before",
  "error-after",
  "limit",
  "lag 1000",
  "garbage",
  "path",
] as const;
export const findFaults = ["die", "silent", "limit", "error", "garbage"] as const;

/** Where things go, by kind. */
const projects: Readonly<Record<TrackerKind, string>> = {
  jira: "AZ",
  ado: "Shop",
  github: "acme/shop",
  linear: "Engineering",
};

export interface ServerOptions {
  /** A search sees everything within this. */
  readonly lagSeconds?: number;
  readonly callMs?: number;
}

export const serverProgram = (): string =>
  path.join(repositoryRoot(), "test", "tracker-servers", "server.mjs");

export const makeServer = (
  kind: TrackerKind,
  folder: string,
  { lagSeconds = 1.5, callMs = 400 }: ServerOptions = {},
): Tracker => {
  fs.mkdirSync(folder, { recursive: true });
  return createMcpTracker({
    kind,
    settings: { project: projects[kind], search_lag_seconds: lagSeconds },
    place: {
      is: "program",
      what: { program: "node", args: [serverProgram(), kind, folder] },
      root: folder,
    },
    callMs,
  });
};

/** What the server has, by key. */
export function itemsByKey(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  const file = path.join(folder, "items");
  const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n") : [];
  for (const line of lines.filter(Boolean)) {
    const { labels } = JSON.parse(line) as { labels: string[] };
    const key = labels.find((label) => label.startsWith("ad-")) ?? "no key";
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

export async function makeProject(root: string, tasks: number): Promise<void> {
  await makeRepository(root);
  const write = (file: string, text: string): void => {
    const full = path.join(root, "_docs", file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
  };
  write(
    "02_document/epics.md",
    "# Epics\n\n| Epic | Name | Component | Points | Tracker |\n|---|---|---|---|---|\n| E1 | Orders | 01_orders | 8 | pending |\n",
  );
  const ids = Array.from({ length: tasks }, (_, at) => `0${at + 1}_part`);
  for (const [at, id] of ids.entries()) {
    const waits = at === 0 ? "None" : `01, ${ids[at - 1]}`;
    write(`02_tasks/todo/${id}.md`, taskText(id, waits));
  }
  write(
    "02_tasks/_dependencies_table.md",
    [
      "# Dependencies",
      "",
      "| Task | Name | Complexity | Dependencies | Epic |",
      "|---|---|---|---|---|",
      ...ids.map((id, at) => `| ${id} | Part | 2 | ${at === 0 ? "–" : "01_part"} | E1 |`),
      "",
    ].join("\n"),
  );
}

const taskText = (id: string, waits: string): string =>
  [
    `# ${id}`,
    "",
    `**Task**: ${id}`,
    `**Name**: Part ${id}`,
    "**Description**: It does its part.",
    "**Complexity**: 2",
    `**Dependencies**: ${waits}`,
    "**Component**: 01_orders",
    "**Tracker**: pending",
    "**Epic**: E1",
    "",
    "## Tasks",
    "- [ ] It is done",
    "",
  ].join("\n");

/** One life: opens, does what is left to do, lets go. */
export async function trackOnce(root: string, tracker: Tracker): Promise<string | undefined> {
  const project = openProject(root);
  const held = await hold(project, "torture");
  if (!held.ok) return held.failure.message;
  try {
    const opened = await tracker.open();
    if (opened.is !== "open") return opened.why;
    const { repository } = project;
    if (!repository) return "there is no repository";
    const tracked = await trackItems(
      {
        project,
        held: held.value,
        git: openGit({ ...repository, workTree: root }),
        signal: new AbortController().signal,
        happened: () => undefined,
        tell: () => undefined,
      },
      tracker,
    );
    return tracked.ok ? undefined : tracked.failure.message;
  } finally {
    await tracker.close();
    await held.value.release();
  }
}

export function trackingOf(root: string): Tracking {
  const state = readState(openProject(root));
  if (!state.ok) throw new Error(state.failure.message);
  return state.value.tracking ?? nothingTracked;
}

/** What is wrong with how it has ended; empty: every item is there once, and our files say so. */
export function wrongWith(root: string, folder: string, tasks: number): string[] {
  const wrong: string[] = [];
  const counts = itemsByKey(folder);
  for (const [key, count] of counts) {
    if (count !== 1) wrong.push(`${key} is there ${count} times`);
  }
  if (counts.size !== tasks + 1) wrong.push(`${counts.size} items instead of ${tasks + 1}`);
  const receipts = Object.values(trackingOf(root).entries).filter(({ does }) => does === "create");
  for (const { key, of, receipt } of receipts) {
    if (!receipt) wrong.push(`${of} has no receipt`);
    else if (!counts.has(key)) wrong.push(`${of} has a receipt for nothing`);
  }
  const todo = fs.readdirSync(path.join(root, "_docs", "02_tasks", "todo"));
  const names = todo.filter((name) => /^[A-Z]+-\d+_part\.md$/.test(name));
  if (names.length !== tasks) wrong.push(`the files are called ${todo.join(", ")}`);
  const table = fs.readFileSync(path.join(root, "_docs/02_tasks/_dependencies_table.md"), "utf8");
  for (const name of names) {
    if (!table.includes(`| ${name.slice(0, -3)} |`)) wrong.push(`the table has no ${name}`);
  }
  const pending = fs.existsSync(path.join(root, "_docs/_process_leftovers/tracker.md"));
  if (pending) wrong.push("something is said to be left to do");
  return wrong;
}
