/** Why a phase failed (`error.type` in its file and in `build --json`), and what it takes then. */
import type { ErrorType } from "../plan/phase-error.ts";
import type { Trouble } from "./explained.ts";

const again = "the same command goes on: a phase that failed begins a new series of attempts";
const itsLog = "`.autobuild/logs/phase-<id>.log` holds what the agent and the gates said";

export const phaseErrors: Readonly<Record<ErrorType, Trouble>> = {
  test_failure: {
    what: "the gate `test` fails on the tree that the phase would commit",
    causes: [
      "the work is wrong or not finished",
      "a test that depends on the machine, the time, or files that git ignores",
    ],
    wayOut: [
      itsLog,
      "files that git ignores and tests need: `checkout: { files: [.env.test] }` in `.autodev/config.yaml`",
      again,
    ],
  },
  lint_error: {
    what: "the gate `lint` fails on the tree that the phase would commit",
    causes: ["the work breaks a rule of the project"],
    wayOut: [itsLog, again],
  },
  typecheck_error: {
    what: "the gate `typecheck` fails on the tree that the phase would commit",
    causes: ["types that do not fit", "a dependency that the set-up does not install"],
    wayOut: [itsLog, again],
  },
  format_error: {
    what: "the gate `format` fails on the tree that the phase would commit",
    causes: ["the agent does not format what it writes"],
    wayOut: [
      "have the agent run the project's formatter at its end, or drop the gate: `gates: { format: false }`",
      again,
    ],
  },
  gate_failure: {
    what: "a gate of another name fails: a build, an end-to-end test, your commit hooks",
    causes: ["the work is wrong", "the gate needs something that a clean checkout does not have"],
    wayOut: [itsLog, "`autodev doctor` shows each gate and its origin", again],
  },
  task_incomplete: {
    what: "the phase is not done: files, tasks or points of its definition of done are open",
    causes: [
      "the agent stopped early, or says itself that tasks are open",
      "a phase that is too large for one attempt",
      "the plan names a file that the work does not need",
    ],
    wayOut: ["split the phase, or correct what it declares, in the plan", again],
  },
  verification_mismatch: {
    what: "what the agent says is not what was found",
    causes: [
      "a gate that is claimed to pass and fails",
      "files that are claimed and are not there, or were changed without a word",
      "history or files of autodev's own were touched",
    ],
    wayOut: [
      "the findings in the phase's file name each; `autodev help <code>` explains it",
      again,
    ],
  },
  gate_changed: {
    what: "something that decides what the gates do was changed, and the phase does not declare it",
    causes: [
      "scripts of `package.json`, a test runner's settings, a Makefile were edited in passing",
      "a tool on PATH was replaced while the run was under way",
    ],
    wayOut: ["if it is part of the work, declare that file in the phase", again],
  },
  tests_weakened: {
    what: "tests check less than before: deleted, skipped, emptied, weakened, or no longer run",
    causes: [
      "an agent that made a red test green the short way",
      "a change of behaviour that the plan does not mention",
    ],
    wayOut: [
      "if the plan means it, say so in the phase: name the test, and that it goes or expects something else",
      again,
    ],
  },
  timeout: {
    what: "the attempt, or one of its gates, took longer than it may",
    causes: ["a command that waits for input", "a phase that is too large", "a slow machine"],
    wayOut: [
      "`--attempt-minutes` and `--gate-minutes`, or `build` in the settings, give more time",
      again,
    ],
  },
  parse_error: {
    what: "the agent ended well, and left no result that can be read",
    causes: ["a program that does not write to `$AUTODEV_RESULT`", "JSON of another shape"],
    wayOut: [
      "`schemas/agent-result.schema.json` is the shape; docs/plan-runs.md has the rest",
      again,
    ],
  },
  agent_crash: {
    what: "the agent could not be started, was killed, or ended with an error",
    causes: ["a command that is not installed", "no login, no network", "out of memory"],
    wayOut: ["run the agent's command by hand, in the project's folder", itsLog, again],
  },
  dependency_missing: {
    what: "the agent says that something is not there that the phase needs",
    causes: [
      "a program, a package or a service that the machine lacks",
      "an earlier phase that does less than the plan says",
    ],
    wayOut: [
      "provide it, or name the phase that makes it as a dependency; it is not tried again by itself",
      again,
    ],
  },
  circular_dependency: {
    what: "the agent says that what it is to build needs itself",
    causes: ["modules that import each other by design of the plan"],
    wayOut: ["change the plan; it is not tried again by itself", again],
  },
  file_conflict: {
    what: "the phase changes the same lines as another that landed meanwhile, twice",
    causes: ["two phases that run at once and share a file (`autodev plan check` warns of it)"],
    wayOut: [
      "let one depend on the other in the plan",
      "`--jobs 1` runs one phase at a time",
      again,
    ],
  },
  plan_invalid: {
    what: "the phase cannot be done as it is written",
    causes: [
      "`apply` needs every file in full or as a diff that fits, and something is missing",
      "a path that leads out of the repository, or to files of autodev's own",
      "a command of the plan that is not trusted",
    ],
    wayOut: [
      "mend the plan at the line that is named",
      "or `--agent <name>`: one that can think",
      again,
    ],
  },
  interrupted: {
    what: "the phase was given up: autodev died five times in a row while it was under way",
    causes: ["something in it takes the whole machine down: memory, disk, a reboot"],
    wayOut: [itsLog, again],
  },
  blocked: {
    what: "the phase waits for one that failed",
    causes: ["`blocking_phase` in its file names it"],
    wayOut: ["mend the other one; this one starts by itself when that is complete"],
  },
};
