/** The one gate: each check by name, what it printed only when it fails. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "autodev-check-"));
const report = join(folder, "tests.json");

const bin = (name) => `node_modules/.bin/${name}`;
const build = ["build", process.execPath, ["scripts/build.mjs"]];
// Whoever packs must not build again while the tests use what is built.
const asBuilt = { env: { npm_config_ignore_scripts: "true" } };
const still = [
  ["format", bin("biome"), ["check", "."]],
  ["types", bin("tsc"), ["--noEmit"]],
  ["types of core, without Node", bin("tsc"), ["-p", "src/core"]],
  ["types of the page", bin("tsc"), ["-p", "web"]],
  ["lint", bin("oxlint"), ["--type-aware"]],
  ["dead code", bin("knip"), []],
  ["generated files", process.execPath, ["scripts/run.mjs", "scripts/docs.ts", "--check"]],
  ["package", bin("publint"), ["--strict"], asBuilt],
  [
    "package types",
    bin("attw"),
    ["--pack", ".", "--profile", "esm-only", "--exclude-entrypoints", "./schemas/*"],
    asBuilt,
  ],
];
const tests = [
  "tests",
  bin("vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
  { show: true },
];

let failed = 0;
await check(build);
// Tests wait for processes and disks much of their time: the rest is done meanwhile.
await Promise.all([check(tests), oneByOne(still)]);
if (existsSync(report)) slowest();
rmSync(folder, { recursive: true, force: true });
if (failed > 0) {
  console.log(`${failed} of ${still.length + 2} checks failed`);
  process.exit(1);
}

async function oneByOne(checks) {
  for (const each of checks) await check(each);
}

function check([name, command, args, { show = false, env = {} } = {}]) {
  const began = Date.now();
  const child = spawn(command, args, {
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  return new Promise((resolve) => {
    const ended = (ok) => {
      if (!ok) failed++;
      console.log(`${ok ? "✓" : "✗"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      if (!ok) console.log(said);
      else if (show) console.log(said.trim().split("\n").slice(-6).join("\n"));
      resolve();
    };
    child.once("error", (error) => {
      said += String(error);
      ended(false);
    });
    child.once("close", (code) => ended(code === 0));
  });
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
