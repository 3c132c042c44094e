/** The one gate: each check by name, what it printed only when it fails. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { inMemory } from "./in-memory.mjs";

const folder = mkdtempSync(join(tmpdir(), "autodev-check-"));
const report = join(folder, "tests.json");
/** More than these have not failed because they were in each other's way. */
const mostAgain = 3;

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
const vitest = (...which) => [
  bin("vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...which],
  { show: true, env, minutes: 45 },
];
const env = { TMPDIR: inMemory() };

let failed = 0;
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
process.on("exit", () => running.forEach(endGroup));
if (!(await check(build))) failed++;
// Tests wait for processes and disks much of their time: the rest is done meanwhile.
const [passed] = await Promise.all([check(["tests", ...vitest()]), oneByOne(still)]);
if (existsSync(report)) slowest();
if (!passed && !(await passesAlone())) failed++;
rmSync(folder, { recursive: true, force: true });
if (failed > 0) {
  console.log(`${failed} of ${still.length + 2} checks failed`);
  // Not at once: what was said may still be on its way.
  process.exitCode = 1;
}

async function oneByOne(checks) {
  for (const each of checks) if (!(await check(each))) failed++;
}

/**
 * Hundreds of processes share a few cores in there. What has failed beside others runs once more by
 * itself: what fails again is broken; what does not is told, so that somebody makes it patient.
 */
async function passesAlone() {
  const { files, told } = wrong();
  console.log(told);
  if (files.length === 0 || files.length > mostAgain) return false;
  if (await check([`${files.join(", ")} alone`, ...vitest("--maxWorkers=1", ...files)])) {
    console.log(`failed beside others and passed alone: ${files.join(", ")}`);
    return true;
  }
  console.log(wrong().told);
  return false;
}

/**
 * What a check leaves behind has its output still open: nobody waits for that. Each is a process
 * group of its own, so that it ends as a whole, in its time or when that is over.
 */
function check([name, command, args, { show = false, env = {}, minutes = 10 } = {}]) {
  const began = Date.now();
  const seconds = () => ((Date.now() - began) / 1000).toFixed(1);
  const child = spawn(command, args, {
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      said += `\nnot at its end after ${minutes} minutes`;
      if (show) said += `; nothing was heard of ${unheard(said).join(", ")}`;
      endGroup(child);
    }, minutes * 60_000);
    const tell = setInterval(() => {
      if (show) console.log(`  ${name}: ${filesIn(said).size} files, ${seconds()} s`);
    }, 60_000);
    const ended = (ok) => {
      clearTimeout(limit);
      clearInterval(tell);
      running.delete(child);
      endGroup(child);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      console.log(`${ok ? "✓" : "✗"} ${name} (${seconds()} s)`);
      if (!ok) console.log(said);
      else if (show) console.log(said.trim().split("\n").slice(-6).join("\n"));
      resolve(ok);
    };
    child.once("error", (error) => {
      said += String(error);
      ended(false);
    });
    // Its last words are on their way still.
    child.once("exit", (code, signal) => {
      if (signal) said += `\nended by ${signal}`;
      setTimeout(() => ended(code === 0), 500);
    });
  });
}

function endGroup({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

function filesIn(said) {
  return new Set(said.match(/(?<=^ [✓❯×] )\S+\.test\.ts/gm));
}

function unheard(said) {
  const { stdout } = spawnSync("git", ["ls-files", "*.test.ts"], { encoding: "utf8" });
  const heard = filesIn(said);
  return stdout.split("\n").filter((file) => file !== "" && !heard.has(file));
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

/** Once more at the end, where people look first: what has failed, and why. */
function wrong() {
  const found = { files: [], told: "" };
  if (!existsSync(report)) return found;
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  for (const { name, status, message, assertionResults } of testResults) {
    if (status !== "failed") continue;
    const file = relative(process.cwd(), name);
    found.files.push(file);
    if (message) found.told += `✗ ${file}: ${message}\n`;
    for (const { status, fullName, failureMessages } of assertionResults) {
      if (status === "failed")
        found.told += `✗ ${file} › ${fullName}\n${failureMessages.join("\n")}\n`;
    }
  }
  return found;
}
