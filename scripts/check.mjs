/** The one gate: each check by name, what it printed only when it fails. */
import { spawnSync } from "node:child_process";

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
  ["tests", bin("vitest"), ["run"], { show: true }],
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
if (failed > 0) {
  console.log(`${failed} of ${checks.length} checks failed`);
  process.exit(1);
}
