/**
 * The dashboard while a run of five hundred phases records ten thousand events a minute: how long a
 * person waits for the page after each touch, in a real browser, while fifty clients watch; whether
 * the server's memory grows; whether anybody misses an event.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Event } from "../src/core/event.ts";
import { type Held, hold, openProject } from "../src/project.ts";
import { program } from "./plans.ts";
import { median, type Row } from "./row.ts";

const phases = 500;
const clients = 50;
const eventsAMinute = 10_000;
const run = "r0000be9c44";

interface Effort {
  readonly seconds: number;
  /** Before memory is compared. */
  readonly warmUp: number;
}
const efforts: Record<"short" | "full", Effort> = {
  short: { seconds: 20, warmUp: 6 },
  full: { seconds: 120, warmUp: 30 },
};

export async function* dashboardRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((file) =>
    fs.existsSync(file),
  );
  if (executablePath === undefined) {
    yield {
      name: "dashboard: a touch",
      figure: null,
      unit: "ms",
      detail: "there is no Chromium here",
    };
    return;
  }
  const effort = efforts[short ? "short" : "full"];
  const root = repositoryIn(path.join(scratch, "dashboard"));
  const held = await heldIn(root);
  await begin(held);
  const server = await serve(root);
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  try {
    yield* underLoad(held, server, browser, effort);
  } finally {
    await browser.close();
    server.process.kill("SIGKILL");
    await held.release();
  }
}

async function* underLoad(
  held: Held,
  server: Server,
  browser: Browser,
  { seconds, warmUp }: Effort,
): AsyncGenerator<Row> {
  const watchers = Array.from({ length: clients - 1 }, () => watcher(server));
  const page = await opened(browser, server);
  const load = recording(held, seconds);
  const memory = memoryOf(server.process, warmUp * 1000);
  const touches = await touchUntil(page, load.over);
  const recorded = await load.over;
  const grown = memory.end();
  await until(() => watchers.every(({ last }) => last() >= held.head.seq), 10_000);
  const missed = watchers.filter(({ gaps, last }) => gaps() > 0 || last() < held.head.seq).length;
  for (const { close } of watchers) close();
  const rate = Math.round((recorded / seconds) * 60);
  const about = `${phases} phases, ${rate} events a minute, ${clients} clients`;
  const sorted = touches.toSorted((a, b) => a.duration - b.duration);
  const p98 = sorted[Math.floor(sorted.length * 0.98)]?.duration ?? 0;
  const worst = sorted.at(-1);
  yield {
    name: "dashboard: a touch, 98 of 100",
    figure: sorted.length > 0 ? p98 : null,
    unit: "ms",
    target: 100,
    detail: `${about}; ${sorted.length} touches, median ${median(sorted.map(({ duration }) => duration))} ms, worst ${worst?.duration ?? 0} ms (${worst?.what ?? ""}), until it is painted`,
  };
  yield {
    name: "dashboard: the server's memory grows",
    figure: grown.mb,
    unit: "MB",
    target: 20,
    detail: `${about}; ${grown.from.toFixed(0)} MB after ${warmUp} s, ${grown.to.toFixed(0)} MB at the end`,
  };
  yield {
    name: "dashboard: clients that missed an event",
    figure: missed,
    unit: "clients",
    target: 0,
    detail: `${about}; ${recorded} events each`,
  };
}

// ── the project ────────────────────────────────────────────────────────────────────────────────

function repositoryIn(root: string): string {
  fs.mkdirSync(root, { recursive: true });
  spawnSync("git", ["init", "--quiet", "--template=", root]);
  return root;
}

async function heldIn(root: string): Promise<Held> {
  const held = await hold(openProject(root), "bench");
  if (!held.ok) throw new Error(held.failure.message);
  return held.value;
}

const id = (at: number): string => `p${at}`;
const sha = (at: number): string => at.toString(16).padStart(40, "0");

/** Ten wide, each waiting for one or two of the row before. */
async function begin(held: Held): Promise<void> {
  const nothing = { language: null, framework: null, package_manager: null };
  const started: Event = {
    type: "run-started",
    plan: "docs/plan.md",
    format: "superplan",
    title: "Five hundred phases",
    mode: "auto",
    target: "refs/heads/main",
    base: sha(0),
    targetAt: sha(0),
    agent: "claude",
    maxAttempts: 2,
    stack: { ...nothing, test_framework: null, linter: null, formatter: null },
    gates: [{ name: "test", command: "npm test" }],
    phases: Array.from({ length: phases }, (_, at) => ({
      id: id(at),
      written: id(at).toUpperCase(),
      name: `Part ${at} of the work`,
      dependsOn: at < 10 ? [] : at % 3 === 0 ? [id(at - 10), id(at - 9)] : [id(at - 10)],
      parallelWith: [],
      tasks: 3,
      estimate: 1 + (at % 5),
      asks: "",
    })),
    planFiles: {},
  };
  await held.recordIn(run, [started]);
  await held.recordIn(run, [{ type: "baseline-taken", commit: sha(0), gates: [] }]);
}

/** At a steady rate: attempts that begin, use, fail or land, one phase after the other. */
function recording(held: Held, seconds: number): { readonly over: Promise<number> } {
  let [at, tip, attempt, recorded] = [0, sha(0), 1, 0];
  const next = (step: number): Event[] => {
    const phase = id(at % phases);
    const of = { phase, attempt };
    if (step === 0)
      return [
        { type: "attempt-started", ...of, uuid: `${at}-${attempt}`, base: tip, slot: at % 4 },
      ];
    if (step < 16) return [{ type: "usage-counted", ...of, tokens: 900, cost: 0.01 }];
    const claim = { status: "complete" as const, tasksTotal: 3, tasksCompleted: 3, message: "x" };
    if (step === 16) return [{ type: "attempt-delivered", ...of, commit: sha(at + 1), claim }];
    const gates = [{ name: "test", command: "npm test", passed: true, summary: "12 passed" }];
    const files = { created: [`src/${phase}.ts`], modified: [], deleted: [] };
    const ticks = { tasksChecked: 3, doneChecked: 0, statusUpdated: true };
    const commit = sha(100_000 + at);
    const verified: Event = {
      type: "phase-verified",
      ...of,
      onto: tip,
      commit,
      message: "feat: x",
      ...files,
      gates,
      ...ticks,
    };
    tip = commit;
    return [verified, { type: "phase-landed", ...of, commit }];
  };
  const over = (async () => {
    const began = performance.now();
    for (let step = 0; performance.now() - began < seconds * 1000; step = (step + 1) % 18) {
      const events = next(step);
      await held.recordIn(run, events);
      recorded += events.length;
      if (step === 17 && ++at % phases === 0) attempt++;
      const due = began + (recorded / eventsAMinute) * 60_000;
      const early = due - performance.now();
      if (early > 0) await sleep(early);
    }
    return recorded;
  })();
  return { over };
}

// ── the server and those who watch ─────────────────────────────────────────────────────────────

interface Server {
  readonly process: ChildProcess;
  readonly url: URL;
  readonly token: string;
}

async function serve(root: string): Promise<Server> {
  const child = spawn(process.execPath, [program, "ui", "--no-open", "--json", "--port=0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  await until(() => out.includes("\n"), 10_000);
  const url = new URL((JSON.parse(out.split("\n")[0] ?? "") as { url: string }).url);
  const token = new URLSearchParams(url.hash.slice(1)).get("token") ?? "";
  return { process: child, url, token };
}

interface Watcher {
  last(): number;
  /** How often the number after the last was not the next one. */
  gaps(): number;
  close(): void;
}

function watcher({ url, token }: Server): Watcher {
  let [last, gaps, half] = [0, 0, ""];
  const request = http.get(
    {
      host: url.hostname,
      port: url.port,
      path: "/api/stream?p=.&after=0",
      headers: { authorization: `Bearer ${token}` },
    },
    (answer) => {
      answer.setEncoding("utf8").on("data", (text: string) => {
        const lines = (half + text).split("\n");
        half = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: [{")) continue;
          for (const [, found] of line.matchAll(/"seq":(\d+)/g)) {
            const seq = Number(found);
            if (seq !== last + 1) gaps++;
            last = seq;
          }
        }
      });
    },
  );
  request.on("error", () => {});
  return { last: () => last, gaps: () => gaps, close: () => request.destroy() };
}

function memoryOf({ pid }: ChildProcess, warmUpMs: number) {
  const read = (): number => {
    const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  };
  const began = performance.now();
  const [early, late]: [number[], number[]] = [[], []];
  const timer = setInterval(() => {
    (performance.now() - began < warmUpMs ? early : late).push(read());
  }, 250);
  return {
    end(): { from: number; to: number; mb: number } {
      clearInterval(timer);
      // A collector's teeth: what counts is what is left between its bites.
      const third = Math.max(1, Math.floor(late.length / 3));
      const [from, to] = [Math.min(...late.slice(0, third)), Math.min(...late.slice(-third))];
      return { from, to, mb: Math.max(0, to - from) };
    },
  };
}

// ── the page ───────────────────────────────────────────────────────────────────────────────────

interface Touch {
  readonly duration: number;
  readonly what: string;
}

/** In the browser: how long it took from a touch until what came of it was painted. */
const observing = `
  globalThis.touches = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name } of list.getEntries())
      if (interactionId > 0) touches.push({ duration, what: name + " in " + location.hash.split("/")[1] });
  }).observe({ type: "event", durationThreshold: 16, buffered: true });`;

async function opened(browser: Browser, { url }: Server): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url.href);
  await page.evaluate(observing);
  return page;
}

/** What a person does who looks at a run: opens phases, moves about, changes the view. */
async function touchUntil(page: Page, over: Promise<unknown>): Promise<Touch[]> {
  const load = { isOver: false };
  void over.then(() => {
    load.isOver = true;
  });
  const views = ["g r", "g t", "g n", "g f", "g r"];
  for (let round = 0; !load.isOver; round++) {
    for (const key of (views[round % views.length] ?? "").split(" "))
      await page.keyboard.press(key);
    for (const key of ["Tab", "ArrowRight", "+", "-", "ArrowDown", "Enter", "Escape"]) {
      await page.keyboard.press(key);
      await sleep(60);
      if (load.isOver) break;
    }
    await page.mouse.move(700, 450);
    await page.mouse.down();
    await page.mouse.move(620, 420, { steps: 4 });
    await page.mouse.up();
    await page.mouse.wheel(0, -120);
    await sleep(60);
  }
  await sleep(300);
  return page.evaluate<Touch[]>("touches");
}

// ── waiting ────────────────────────────────────────────────────────────────────────────────────

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean, within: number): Promise<void> {
  for (const end = performance.now() + within; !holds() && performance.now() < end; )
    await sleep(50);
}
