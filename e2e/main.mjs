/**
 * npm run e2e:agents: the real programs, through our own adapters and the built binary, against a
 * scripted model. What is not installed is installed first: that alone needs a network, and where
 * the kernel lets us there is none for the rest. `-- --record [agent [case]]` writes the
 * recordings anew; all else after `--` is for vitest (`-- -t claude`).
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const here = import.meta.dirname;
const root = join(here, "..");
process.chdir(root);

const node = (...args) => [process.execPath, ...args];
const run = ([program, ...args]) => {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

/** Nothing but loopback. */
const offline = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
const isPossible = ([program, ...args]) =>
  spawnSync(program, [...args, "true"], { stdio: "ignore" }).status === 0;

const args = process.argv.slice(2);
if (!existsSync(join(here, "node_modules"))) run(node(join(here, "install.mjs")));
run(node("scripts/build.mjs", "--cli-only"));

const without = isPossible(offline) ? offline : [];
if (without.length === 0) console.log("with the network as it is: there is no namespace for us");
const began = Date.now();
if (args[0] === "--record") {
  run([...without, ...node("scripts/run.mjs", "e2e/record.ts", ...args.slice(1))]);
} else {
  const config = relative(root, join(here, "vitest.config.ts"));
  run([...without, ...node("node_modules/vitest/vitest.mjs", "run", "--config", config, ...args)]);
}
console.log(`${Math.round((Date.now() - began) / 1000)} s`);
