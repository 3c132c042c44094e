/** A minute with autodev, in folders of its own: a plan is run, and what happens when things go wrong. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const program = resolve("dist/cli/main.cjs");
const folder = mkdtempSync(join(tmpdir(), "autodev-tour-"));
const state = join(folder, "_docs", "_autodev_state.md");
const { CI: _ci, ...environment } = process.env;
const env = { ...environment, AUTODEV_NO_NOTIFY: "1", AUTODEV_NO_INPUT: "1" };
/** Stays: there is much to look at in it. */
const example = mkdtempSync(join(tmpdir(), "autodev-example-"));

const say = (text) => console.log(`\n── ${text}`);
const autodev = (...args) => {
  console.log(`$ autodev ${args.join(" ")}`);
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  console.log((stdout + stderr).trimEnd());
  if (status !== 0) console.log(`(exit code ${status})`);
};

try {
  say(
    "A plan of six phases is run, offline and without a model. Six commits, each with a receipt.",
  );
  console.log(`$ autodev example typescript ${example}`);
  const args = [program, "example", "typescript", example];
  const { status } = spawnSync(process.execPath, args, { env, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  spawnSync("git", ["init", "-q", folder]);
  for (const left of ["00_problem/problem.md", "01_solution/solution.md"]) {
    mkdirSync(dirname(join(folder, "_docs", left)), { recursive: true });
    writeFileSync(join(folder, "_docs", left), "# What the steps before left\n");
  }
  say("A project that an older tool left in the middle of its plan:");
  writeFileSync(
    join(folder, "_docs", "_autopilot_state.md"),
    "# Autopilot State\n\n## Current Step\nstep: 2\nname: Plan\nstatus: in_progress\nsub_step: 4 — Architecture Review & Risk Assessment\nretry_count: 1\n\n## Notes of ours\nthe budget is tight\n",
  );
  autodev("status");
  say("Going on: the one question that only a person can answer is put on record (exit code 3).");
  // Nobody who only wants to look around pays for an agent.
  autodev("--no-work");
  say("It is answered, here by its recommendation; the file is migrated, our notes stay.");
  autodev("--no-work", "--decide", "recommended");
  console.log(`\n$ cat _docs/_autodev_state.md\n${readFileSync(state, "utf8").trimEnd()}`);
  say("Somebody deletes the file. The journal has the position.");
  rmSync(state);
  autodev("status", "--no-color");
  say("A byte of the journal goes bad. Nothing is guessed; one command mends it.");
  const journal = join(folder, ".git", "autodev", "journal", "0000", "00000001.log");
  const bytes = readFileSync(journal);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(journal, bytes);
  appendFileSync(journal, "");
  autodev("doctor", "--fix");
  autodev("log");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\nThat was the tour. The example stays in ${example}`);
console.log("npm link puts autodev into your PATH; then, in any folder: autodev example");
