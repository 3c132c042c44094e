/**
 * node e2e/install.mjs: the agent programs of package.json, as the lockfile has them, into
 * e2e/node_modules. Each program is then asked for its version; what is missing is said and is no
 * error: its tests are skipped.
 *
 * OpenCode and Goose are taken as the packages of their binaries: nothing has to run to unpack
 * them. The overrides in package.json name the one clipboard that Qwen could use on Linux, since
 * `npm ci` wants every optional package in the lockfile, and not every registry has the others.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
/** Without its postinstall it leaves a stub where the program should be. */
const needsItsScript = "@anthropic-ai/claude-code";
const programs = {
  "@aaif/goose-binary-linux-x64": "@aaif/goose-binary-linux-x64/bin/goose",
  "@anthropic-ai/claude-code": ".bin/claude",
  "@github/copilot": ".bin/copilot",
  "@google/gemini-cli": ".bin/gemini",
  "@openai/codex": ".bin/codex",
  "@qwen-code/qwen-code": ".bin/qwen",
  "opencode-linux-x64": "opencode-linux-x64/bin/opencode",
};

const npm = (...args) => spawnSync("npm", args, { cwd: folder, encoding: "utf8" });

const installed = npm("ci", "--ignore-scripts");
if (installed.status !== 0) {
  console.error(installed.stderr);
  console.error(
    "npm could not install the agents; is the registry in reach? Then: node e2e/install.mjs",
  );
  process.exit(1);
}
const rebuilt = npm("rebuild", "--ignore-scripts=false", needsItsScript);
if (rebuilt.status !== 0) console.error(rebuilt.stderr);

const { dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(folder, "package.json"), "utf8"),
);
for (const [name, version] of Object.entries({
  ...dependencies,
  ...optionalDependencies,
})) {
  const program = join(folder, "node_modules", programs[name]);
  const missing = whyMissing(program);
  console.log(`${missing ? "✗" : "✓"} ${name} ${version}${missing ? `: ${missing}` : ""}`);
}

function whyMissing(program) {
  if (!existsSync(program)) return `npm did not install it for ${process.platform}-${process.arch}`;
  const { status, error, stderr } = spawnSync(program, ["--version"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  if (error) return error.message;
  return status === 0 ? null : `--version exits with ${status}: ${stderr.trim().split("\n")[0]}`;
}
