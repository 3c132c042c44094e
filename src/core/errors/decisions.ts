/** What people are asked (`Decision.kind`): when, and what the answers lead to. */
import type { Trouble } from "./explained.ts";

export const decisionKinds = {
  clean: {
    what: "`autodev clean` would remove something that may be somebody's work",
    causes: ["`--rescue`: copies that were put aside", "`--force-shells`: trees that you changed"],
    wayOut: ["A: it is removed for good", "B: nothing is removed; `--dry-run` lists what would go"],
  },
  "dirty-tree": {
    what: "the tree has changes that are not committed, and a run needs something to build on",
    causes: ["you were at work"],
    wayOut: [
      "A: a snapshot of it is the base; your tree, index and branch stay as they are",
      "B: it is committed, as one commit on your branch",
      "C: stop; commit or stash it yourself",
    ],
  },
  "red-baseline": {
    what: "a gate fails before anybody has worked",
    causes: ["the base is broken", "the gate needs something that a clean checkout does not have"],
    wayOut: [
      "A: stop; mend it, commit, and run the same command again",
      "B: drop the gate for this run; it is shown as skipped",
      "C, where the failing tests have names: accept these; a phase that adds another fails",
    ],
  },
  "no-gates": {
    what: "no gate runs here: nothing would check what the agents do",
    causes: ["a new project", "a stack that we do not recognise"],
    wayOut: [
      "A: go on; what is complete is shown as unverified everywhere",
      "B: stop, and name a gate in `.autodev/config.yaml`: `gates: { test: <command> }`",
    ],
  },
  agent: {
    what: "several agents could do the work, and none was named",
    causes: ["several are logged in on this machine", "the settings name several in `agents`"],
    wayOut: [
      "A, B …: that one, for every run of this project from now on",
      "`--agent`, or `agent` in `.autodev/config.yaml`, go before the answer",
    ],
  },
  "agent-unable": {
    what: "an agent cannot work before somebody has done something about it",
    causes: ["nobody is logged in, or the key is refused", "its program is not on PATH"],
    wayOut: [
      "A: try again; `autodev agents` says how to log in and how to install it",
      "B: the phase is given up; whatever does not wait for it goes on",
      "without an answer, the same `autodev build` tries again",
    ],
  },
  budget: {
    what: "a phase or a run has used up what it may",
    causes: [
      "`budget` in the settings, or its usual limits",
      "an agent that goes round in circles",
    ],
    wayOut: [
      "A: it may use as much again, and goes on where it was",
      "B: the phase is given up, or the run stops; `autodev log` shows what it was at",
    ],
  },
  review: {
    what: "verified phases wait for you before they are published",
    causes: ["`--review`"],
    wayOut: [
      "A: publish them; `git diff` with the commits that are shown says what they are",
      "B: leave them at `refs/autobuild/<run>/landed`",
    ],
  },
  "target-rewritten": {
    what: "the branch no longer holds what was published to it",
    causes: ["it was rebased, reset or deleted meanwhile"],
    wayOut: ["A: the rest goes to a new branch", "B: it stays at `refs/autobuild/<run>/landed`"],
  },
  "changed-meanwhile": {
    what: "a phase and you have both changed a file",
    causes: ["you were at work in the same tree"],
    wayOut: [
      "A: keep yours; the phase's version is in its commit",
      "B: take the phase's; yours is kept in `.git/autodev/rescue`",
      "C: leave the phase unpublished",
    ],
  },
  interrupted: {
    what: "autodev died five times in a row while a phase was under way",
    causes: ["something in it takes the machine down", "you killed it five times"],
    wayOut: ["A: try again", "B: give the phase up; what does not wait for it goes on"],
  },
  "run-file-invalid": {
    what: "a file of `.autobuild/` cannot be understood",
    causes: ["an edit by hand", "a merge"],
    wayOut: [
      "A: go on without it; it is kept in `.git/autodev/rescue` and written anew",
      "B: stop, and mend it by hand",
      "C: stop, and begin anew with `--fresh`",
    ],
  },
  migrate: {
    what: "the state file is of an older generation",
    causes: ["the project was begun with older skills"],
    wayOut: [
      "A: migrate it; `autodev migrate --to 2` goes back",
      "B: keep its name and form, for skills that read it",
    ],
  },
  "both-names": {
    what: "there are two state files, under the old name and the new one",
    causes: ["a merge", "older and newer skills in one project"],
    wayOut: ["A or B: that one is right; the other is kept in `.git/autodev/rescue`"],
  },
  "unknown-status": {
    what: "the state file has a status that nobody knows",
    causes: ["an edit by hand", "an agent that wrote the file by itself"],
    wayOut: ["A: the step is under way", "B: it has not begun", "C: it is done"],
  },
  trust: {
    what: "the repository wants to run commands that you have not approved",
    causes: ["the first run here", "they have changed; the difference is shown"],
    wayOut: ["A: trust exactly these; a change asks again", "B: nothing is run"],
  },
  "no-repository": {
    what: "there is no git repository to keep autodev's memory in",
    causes: ["the first command in a new folder"],
    wayOut: ["A: `git init` here", "B: nothing is written"],
  },
} as const satisfies Readonly<Record<string, Trouble>>;
