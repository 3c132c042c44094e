/** What a verification finds; the sentences are `findingTable`'s. */
import type { FindingCode } from "../verification/finding-table.ts";
import type { Remedy } from "./explained.ts";

const sayIt =
  "if the plan means it, say so in a sentence of the phase that names the test or its file";
const declareIt = "if it is part of the work, declare the file in the phase";
const told = "nothing: the next attempt is told, with file and line";

export const verificationRemedies: Readonly<Record<FindingCode, Remedy>> = {
  "gate-changed": {
    causes: ["scripts, settings of a test runner or linter, Makefiles edited in passing"],
    wayOut: [declareIt, told],
  },
  "tool-changed": {
    causes: ["a tool was upgraded while the run was under way", "an agent that replaced it"],
    wayOut: ["see what changed; then run the same command again: it looks at the tools anew"],
  },
  "hook-planted": {
    causes: [
      "a tool that installs git hooks or sets `core.hooksPath` (husky, lefthook)",
      "an agent that means harm",
    ],
    wayOut: [
      "look at `.git/hooks` and `git config --local --list`; keep it or undo it, then run again",
    ],
  },
  "history-rewritten": {
    causes: ["an agent that rebased, reset or deleted branches or tags"],
    wayOut: ["`git reflog` finds what was there; tell the agent to leave history alone"],
  },
  "state-touched": {
    causes: ["an agent that edits `.autobuild/`, `.autodev/` or the state file by itself"],
    wayOut: ["nothing of it is taken over; tell the agent so, or drop `confined: false`"],
  },
  "test-deleted": { causes: ["a test in the way of the change"], wayOut: [sayIt, told] },
  "test-skipped": { causes: ["a test that could not be made to pass"], wayOut: [sayIt, told] },
  "test-focused": { causes: ["`.only` left from debugging"], wayOut: [told] },
  "test-emptied": { causes: ["a body that was commented out"], wayOut: [sayIt, told] },
  "assertions-gone": { causes: ["a check in the way of the change"], wayOut: [sayIt, told] },
  "test-weakened": {
    causes: ["`toBe(3)` that became `toBeDefined()`, and the like"],
    wayOut: [sayIt, told],
  },
  "expectation-changed": {
    causes: ["the code gives another answer, and the test was made to agree"],
    wayOut: [sayIt, told],
  },
  "constant-test": { causes: ["`expect(true).toBe(true)`"], wayOut: [told] },
  "snapshot-changed": {
    causes: ["snapshots that were written anew because they did not fit"],
    wayOut: [sayIt, "or declare the snapshot file in the phase", told],
  },
  "tests-unreadable": { causes: ["a syntax error in a test file"], wayOut: [told] },
  "tests-do-not-bite": {
    causes: ["new tests that do not call the new code (`verify: { bite: on }`)"],
    wayOut: [told, "`verify: { bite: off }` stops asking"],
  },
  "no-tests-run": {
    causes: [
      "a filter that matches nothing",
      "a runner that looks elsewhere",
      "code that prints a runner's summary",
    ],
    wayOut: ["run the gate's command by hand: it has to name the tests that it ran", told],
  },
  "fewer-tests": {
    causes: ["tests that are no longer found, collected or registered"],
    wayOut: [sayIt, told],
  },
  "claimed-pass": {
    causes: ["an agent that did not run the gate, or not on its last change"],
    wayOut: [told],
  },
  "gate-failed": {
    causes: ["the work is wrong", "something that is on your machine and not in a clean checkout"],
    wayOut: ["`.autobuild/logs/phase-<id>.log` holds the gate's output", told],
  },
  "file-missing": { causes: ["an agent that reports what it meant to do"], wayOut: [told] },
  "file-unchanged": { causes: ["an agent that reports what it meant to do"], wayOut: [told] },
  "file-ignored": {
    causes: ["a rule of `.gitignore` that covers more than it should"],
    wayOut: ["`git check-ignore -v <file>` names the rule"],
  },
  "undeclared-file": {
    causes: ["a change beside the phase, or in a file that another phase owns"],
    wayOut: [declareIt, "or have the agent name it in its commit message", told],
  },
  "nothing-changed": {
    causes: ["the work was done already", "an agent that only talked"],
    wayOut: ["a phase that changes no file says so: `Files: none`", told],
  },
  "declared-missing": {
    causes: ["the agent stopped early", "the plan names a path that the work does not need"],
    wayOut: ["correct the phase's files in the plan, if they are wrong", told],
  },
  "done-unmet": {
    causes: ["a point of the definition of done names a file under another path"],
    wayOut: ["correct the point in the plan, if it is wrong", told],
  },
  "tasks-open": {
    causes: ["a phase that is too large for one attempt"],
    wayOut: ["split the phase", told],
  },
  "conflict-markers": {
    causes: ["a merge of the agent's own that it did not finish"],
    wayOut: [told],
  },
  "nested-repository": {
    causes: ["a scaffolding tool that ran `git init`, or a clone inside the tree"],
    wayOut: [told],
  },
  "leads-outside": { causes: ["a link to a file of the machine"], wayOut: [told] },
  "claimed-fail": {
    causes: ["an agent that is too modest"],
    wayOut: ["nothing: it is only noted"],
  },
  "extra-file": {
    causes: ["documents, data, or files that the commit message explains"],
    wayOut: ["nothing: it is only noted"],
  },
  "known-failures": {
    causes: ["you accepted them when the gates were red before the run"],
    wayOut: ["nothing; `--fresh` asks again"],
  },
  "gate-introduced": {
    causes: ["a phase that adds the first tests or linter"],
    wayOut: ["nothing: from then on it is a gate"],
  },
  "plan-edited": {
    causes: ["an agent that ticks its own boxes"],
    wayOut: ["nothing: autodev ticks the plan itself, once the phase is verified"],
  },
  "process-left": {
    causes: ["a server or watcher that was left running"],
    wayOut: ["nothing: they were ended"],
  },
};
