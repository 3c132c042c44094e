/** The one gate: each check by name, what it printed only when it fails. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "autodev-check-"));
const report = join(folder, "tests.json");

const bin = (name) => `node_modules/.bin/${name}`;
const checks = [
  ["format", bin("biome"), ["check", "."]],
  ["lint", bin("oxlint"), ["--type-aware"]],
  ["types", bin("tsc"), ["--noEmit"]],
  ["types of core, without Node", bin("tsc"), ["-p", "src/core"]],
  ["dead code", bin("knip"), []],
  ["build", process.execPath, ["scripts/build.mjs"]],
  ["generated files", process.execPath, ["scripts/run.mjs", "scripts/docs.ts", "--check"]],
  ["package", bin("publint"), ["--strict"]],
  [
    "package types",
    bin("attw"),
    ["--pack", ".", "--profile", "esm-only", "--exclude-entrypoints", "./schemas/*"],
  ],
  [
    "tests",
    bin("vitest"),
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    { show: true },
  ],
];

let failed = 0;
for (const [name, command, args, { show = false } = {}] of checks) {
  const began = Date.now();
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
  });
  const ok = status === 0;
  if (!ok) failed++;
  console.log(`${ok ? "✓" : "✗"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  if (!ok) console.log(stdout + stderr);
  else if (show) console.log(stdout.trim().split("\n").slice(-6).join("\n"));
}
if (existsSync(report)) slowest();
rmSync(folder, { recursive: true, force: true });
if (failed > 0) {
  console.log(`${failed} of ${checks.length} checks failed`);
  process.exit(1);
}

/** Where the time goes: whoever adds a test sees what it costs. */
function slowest() {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const files = testResults.map(({ name, startTime, endTime }) => [endTime - startTime, name]);
  files.sort(([a], [b]) => b - a);
  for (const [ms, name] of files.slice(0, 12)) {
    console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), name)}`);
  }
}
