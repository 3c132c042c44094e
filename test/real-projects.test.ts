/**
 * Detection and reading on real projects with real tools: what is detected is run through a shell,
 * in a passing and in a failing form. What is not on the machine is skipped, and the reason is the
 * name of the skipped test.
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createReportReader } from "../src/core/runners/read-report.ts";
import type { TestReport } from "../src/core/test-report.ts";
import { detectStack, treeIn } from "../src/stack.ts";
import { type RealProject, realProjects } from "./real-projects/projects.ts";

const packageRoot = path.join(import.meta.dirname, "..");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-projects-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

// ── what is on the machine ─────────────────────────────────────────────────────────────────────

/** Installed once, beside other caches of this user: they are large, and no part of the package. */
const fetched = { jest: "30.2.0", mocha: "11.7.5", pnpm: "10.34.9" };
const versions = Object.entries(fetched).map(([name, version]) => `${name}@${version}`);
const cache = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
  "autodev-test",
  versions.join("+"),
);

function fetchPackages(): string | undefined {
  if (fs.existsSync(cache)) return undefined;
  const filling = `${cache}.${process.pid}`;
  fs.mkdirSync(filling, { recursive: true });
  fs.writeFileSync(path.join(filling, "package.json"), "{}");
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
  const { status } = spawnSync("npm", ["install", ...options, ...versions], {
    cwd: filling,
    timeout: 180_000,
    stdio: "ignore",
  });
  // Whoever was first: it holds the same.
  if (status === 0 && !fs.existsSync(cache)) fs.renameSync(filling, cache);
  else fs.rmSync(filling, { recursive: true, force: true });
  return fs.existsSync(cache) ? undefined : "npm could not fetch it";
}

/** Undefined: it is there. */
function lackOf(need: string): string | undefined {
  const [kind, what = ""] = need.split(":");
  if (kind === "file") return fs.existsSync(what) ? undefined : `there is no ${what}`;
  if (kind === "python3") {
    const check = what === "" ? "" : `import ${what}`;
    return spawnSync("python3", ["-c", check]).status === 0 ? undefined : `Python has no ${what}`;
  }
  const { status } = spawnSync("sh", ["-c", 'command -v "$1"', "sh", need]);
  return status === 0 ? undefined : `${need} is not on this machine`;
}

const fetching = realProjects.some(({ packages = [] }) => packages.some((each) => each in fetched))
  ? fetchPackages()
  : undefined;

function lackIn({ programs, packages = [] }: RealProject): string | undefined {
  const lacking = programs.map(lackOf).find((each) => each !== undefined);
  const unfetched = packages.find((each) => each in fetched);
  return lacking ?? (unfetched && fetching && `${unfetched}: ${fetching}`);
}

// ── a project on disk ──────────────────────────────────────────────────────────────────────────

/** Tools lie in the folder above, where node and npm look as well: the project stays small. */
const above = path.join(scratch, "above");
function provideTools(): void {
  const bin = path.join(above, "node_modules", ".bin");
  fs.mkdirSync(bin, { recursive: true });
  for (const [from, names] of [
    [path.join(packageRoot, "node_modules"), ["vitest", "typescript"]],
    [path.join(cache, "node_modules"), Object.keys(fetched)],
  ] as const) {
    for (const name of names) {
      const folder = path.join(from, name);
      if (!fs.existsSync(folder)) continue;
      fs.symlinkSync(folder, path.join(above, "node_modules", name));
      const program = name === "typescript" ? "tsc" : name;
      fs.symlinkSync(path.join(from, ".bin", program), path.join(bin, program));
    }
  }
}
provideTools();

let made = 0;
function makeProject(...files: readonly Readonly<Record<string, string>>[]): string {
  const root = path.join(above, `project-${++made}`);
  for (const [name, text] of Object.entries(
    Object.assign({}, ...files) as Record<string, string>,
  )) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

interface Ran {
  readonly code: number | null;
  readonly all: string;
  readonly report: TestReport | undefined;
}

/** Nobody is there, as when a gate is run: no terminal, no input. */
function runIn(root: string, command: string): Promise<Ran> {
  const { CI: _, NODE_OPTIONS: __, ...env } = process.env;
  for (const name of Object.keys(env))
    if (/^(?:npm_|VITEST|JEST|NODE_ENV|TEST$)/.test(name)) delete env[name];
  const PATH = [path.join(above, "node_modules", ".bin"), env["PATH"]].join(":");
  const child = spawn("sh", ["-c", command], {
    cwd: root,
    env: { ...env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let all = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (all += text));
  }
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const reader = createReportReader();
      for (const line of all.split("\n")) reader.line(line);
      resolve({ code, all, report: reader.report() });
    });
  });
}

const detectIn = (root: string) => {
  const { paths, read } = treeIn(root);
  return detectStack(paths, read);
};

const commandOf = (root: string, gate: string): string =>
  detectIn(root).gates.find(({ name }) => name === gate)?.command ?? "false";

// ── the tests ──────────────────────────────────────────────────────────────────────────────────

describe.concurrent.each(realProjects)("$name", { timeout: 240_000 }, (project) => {
  const lack = lackIn(project);
  const suffix = lack === undefined ? "" : ` (skipped: ${lack})`;
  const tried = it.skipIf(lack !== undefined);

  async function setUp(root: string): Promise<void> {
    if (!project.setsUp) return;
    const { code, all } = await runIn(root, project.setup ?? "false");
    expect(code, all).toBe(0);
  }

  it("is known for what it is", () => {
    const { stack, gates, setup } = detectIn(makeProject(project.files));
    expect(stack).toMatchObject(project.stack);
    const commands = Object.fromEntries(gates.map(({ name, command }) => [name, command]));
    expect(commands).toMatchObject(project.commands);
    expect(setup).toBe(project.setup);
  });

  tried(`passes all its gates as it is${suffix}`, async () => {
    const root = makeProject(project.files);
    await setUp(root);
    for (const { name, command } of detectIn(root).gates) {
      if (command === null) continue;
      const ran = await runIn(root, command);
      expect(ran.code, `${name}: ${ran.all}`).toBe(0);
      if (name === "test") {
        expect(ran.report, ran.all).toMatchObject({ ...project.passing, failures: [] });
      }
    }
  });

  tried(`fails its tests when it is broken, and says which${suffix}`, async () => {
    const root = makeProject(project.files, project.broken);
    await setUp(root);
    const ran = await runIn(root, commandOf(root, "test"));
    expect(ran.code, ran.all).not.toBe(0);
    const { names, file, ...counts } = project.failing;
    expect(ran.report, ran.all).toMatchObject(counts);
    const failures = ran.report?.failures ?? [];
    expect(failures.map(({ name }) => name)).toEqual(names);
    if (file !== undefined)
      expect(path.relative(root, path.resolve(root, failures[0]?.file ?? ""))).toBe(file);
  });

  const { spoilt } = project;
  if (spoilt === undefined) return;
  tried(`fails ${spoilt.gate} when that is spoilt${suffix}`, async () => {
    const root = makeProject(project.files, spoilt.files);
    const ran = await runIn(root, commandOf(root, spoilt.gate));
    expect(ran.code, ran.all).not.toBe(0);
  });
});
