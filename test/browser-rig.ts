/**
 * What the tests of the dashboard stand on: the built binary's server and a real Chromium. A page
 * that says anything on its console, asks anybody else for anything, or throws, fails its test.
 * Screenshots are kept in `test-results/`, for people to look at.
 */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { binary, eventually, plainEnvironment } from "./rig.ts";

const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (file) => fs.existsSync(file),
);

/** Absent on machines where nobody installed it: then these tests are skipped, and say so. */
export const hasBrowser = program !== undefined;

let started: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: program ?? "",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return started;
}

export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
  started = undefined;
}

// ── the server ─────────────────────────────────────────────────────────────────────────────────

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Killed, not asked. */
  kill(): Promise<void>;
}

const servers = new Set<ChildProcess>();

export async function serve(
  root: string,
  env: Readonly<Record<string, string>> = {},
  ...args: readonly string[]
): Promise<Served> {
  const child = spawn(process.execPath, [binary(), "ui", "--no-open", "--json", ...args], {
    cwd: root,
    env: { ...plainEnvironment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  servers.add(child);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  await eventually(
    "the server tells its address",
    () => {
      if (child.exitCode !== null) throw new Error(`the server has ended: ${out}${err}`);
      return out.includes("\n");
    },
    30_000,
  );
  const { url, port } = JSON.parse(out.split("\n")[0] ?? "") as { url: string; port: number };
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    url,
    port,
    process: child,
    async kill() {
      child.kill("SIGKILL");
      await gone;
      servers.delete(child);
    },
  };
}

export function endServers(): void {
  for (const child of servers) child.kill("SIGKILL");
  servers.clear();
}

// ── the page ───────────────────────────────────────────────────────────────────────────────────

export interface Viewed {
  readonly page: Page;
  /** What it has said that a page in order does not say. */
  readonly complaints: readonly string[];
  /** While the server is away, requests fail: that is not the page's fault. */
  away<T>(act: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ViewOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
}

export async function view(url: string, options: ViewOptions = {}): Promise<Viewed> {
  const { width = 1280, height = 800, theme = "light" } = options;
  const context = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  let isAway = false;
  const complain = (text: string): void => {
    if (!isAway) complaints.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complain(message.text());
  });
  page.on("pageerror", (error) => complain(`thrown: ${error.message}`));
  const own = new URL(url).origin;
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(own) && !/^(?:data|blob|about):/.test(asked)) complain(`asked ${asked}`);
  });
  await page.goto(url);
  return {
    page,
    complaints,
    async away(act) {
      isAway = true;
      try {
        return await act();
      } finally {
        isAway = false;
      }
    },
    close: () => context.close(),
  };
}

const results = path.resolve("test-results");

export async function screenshot(page: Page, name: string): Promise<void> {
  fs.mkdirSync(results, { recursive: true });
  await page.screenshot({ path: path.join(results, `${name}.png`) });
}

interface AxeReport {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** What a person with another way of seeing or typing would stumble over. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  // The page's own policy would refuse a script that is put in: it is evaluated from outside.
  await page.evaluate(axe.source);
  const report = await page.evaluate<AxeReport>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  const serious = report.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => ({
      id,
      nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
    }));
  expect({ where, serious }).toEqual({ where, serious: [] });
}
