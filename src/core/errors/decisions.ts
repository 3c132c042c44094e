/** What people are asked (`Decision.kind`): when, and what the answers lead to. */
import type { Trouble } from "./explained.ts";

export const decisionKinds = {
  "which-tracker": {
    what: "several trackers are configured, and items go into one",
    causes: ["several MCP servers of trackers in `.mcp.json` or your agents' settings"],
    wayOut: [
      "A, B …: that one, for this project from now on",
      "the last: none; tasks are saved locally, and `autodev tracker sync` creates them later",
      "`tracker:` in `.autodev/config.yaml` goes before the answer",
    ],
  },
  "tracker-auth": {
    what: "the tracker cannot be used: nobody is logged in, or it does not answer",
    causes: ["a token that has expired", "its server does not start", "no network"],
    wayOut: [
      "A: try again, when you have logged in or mended it",
      "B: go on without; tasks are saved locally, and `autodev tracker sync` creates them later",
    ],
  },
  "tracker-tools": {
    what: "what the tracker's tools say of themselves is not what it was",
    causes: ["a new version of its server", "a server that somebody has tampered with"],
    wayOut: [
      "A: use them as they are now; the difference is shown",
      "B: go on without a tracker",
      "C: stop, and look at the server first",
    ],
  },
  clean: {
    what: "`autodev clean` would remove something that may be somebody's work",
    causes: ["`--rescue`: copies that were put aside", "`--force-shells`: trees that you changed"],
    wayOut: ["A: it is removed for good", "B: nothing is removed; `--dry-run` lists what would go"],
  },
  "init-hosts": {
    what: "`autodev init` wants to know inside of which agents it shall be called",
    causes: ["`--hosts` names none"],
    wayOut: [
      "A: those that were found, by their files here or on PATH",
      "B: all that are known; C: stop, and nothing is written",
    ],
  },
  "init-autobuild": {
    what: "`autodev init` wants to know whether what a run shows in `.autobuild/` goes into git",
    causes: ["`.gitignore` does not say, and neither does `--autobuild`"],
    wayOut: [
      "A: it stays out of git; the truth is in the journal, and every commit has its evidence",
      "B: all but its logs may be committed; C: stop, and nothing is written",
    ],
  },
  "init-replace": {
    what: "where `autodev init` would write, something else stands under the same name",
    causes: ["another server called autodev", "a file or a block of ours that somebody changed"],
    wayOut: ["A: it stays, and the rest is written", "B: it is replaced by ours"],
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
  "which-flow": {
    what: "several flows fit this project",
    causes: ["a suite of repositories that has documents of its own"],
    wayOut: ["A or B: that flow, from now on", "`--flow <name>` chooses another"],
  },
  "which-step": {
    what: "the folders and the state file do not say the same, or not enough",
    causes: ["artifacts were removed or came with git", "the state file is gone"],
    wayOut: ["A, B …: the work goes on at that step; what is missing before it counts as skipped"],
  },
  boundary: {
    what: "a session ends before a long step; nothing is open, and the next `autodev` goes on",
    causes: ["the flow has a boundary there"],
    wayOut: [
      "A: run `autodev` again, in a fresh conversation",
      "B: go on in this one; `--through-boundaries` goes on by itself",
    ],
  },
  "optional-step": {
    what: "the next step is optional",
    causes: ["the flow says so"],
    wayOut: ["A: it is done", "B: it is skipped, and counts as satisfied"],
  },
  "conditional-step": {
    what: "the next step is done only where it has something to do, and the documents do not say",
    causes: ["the plan speaks neither for nor against it"],
    wayOut: ["A: it is done", "B: it is skipped"],
  },
  "artifacts-exist": {
    what: "a step begins, and some of what it makes is there already",
    causes: ["you went back", "people wrote it themselves"],
    wayOut: [
      "A: the agent goes on with what is there",
      "B: it does the step anew and overwrites it",
      "C: the step is skipped",
    ],
  },
  confirmation: {
    what: "a document has to be confirmed by a person before anything rests on it",
    causes: ["it was made by an agent"],
    wayOut: ["A: it is marked as confirmed", "B: stop; edit it, then run `autodev` again"],
  },
  "research-round": {
    what: "there is a draft of a solution: is another round of research worth it?",
    causes: ["a round of research is complete"],
    wayOut: ["A: the draft is examined and improved", "B: the last draft becomes `solution.md`"],
  },
  "skill-failed": {
    what: "a skill has failed four times in a row",
    causes: ["something that it needs is broken", "what it left does not keep its promise"],
    wayOut: [
      "A: once more, in a fresh session; `autodev retry` is the same",
      "B: without this step; `autodev back` comes back to it",
      "C: not now; mend it, then run `autodev` again",
    ],
  },
  "skill-blocked": {
    what: "a step cannot begin or go on as things are",
    causes: ["an artifact that its skill needs is not there", "its agent cannot work"],
    wayOut: ["A: try again", "B: without this step", "C: not now"],
  },
  "needs-missing": {
    what: "a step's skill needs artifacts that are not there",
    causes: ["an earlier step was skipped", "another tool made them otherwise"],
    wayOut: [
      "A: go on; the agent is told what is missing",
      "B: without this step",
      "C: not now; make them, then run `autodev` again",
    ],
  },
  stuck: {
    what: "an agent is at work, and nothing comes of it",
    causes: ["it rewrites the same file", "no new artifact for 20 minutes"],
    wayOut: [
      "A: the sub-step once more, in a fresh session",
      "B: without this sub-step",
      "C: not now",
    ],
  },
  "skip-step": {
    what: "you want to leave a step out",
    causes: ["`autodev skip`"],
    wayOut: ["A: it is skipped; what needs it is named above", "B: it is done"],
  },
  "go-back": {
    what: "you want to do an earlier step once more",
    causes: ["`autodev back`"],
    wayOut: ["A: it is done again, and overwrites what is named", "B: nothing changes"],
  },
  rollback: {
    what: "you want a step's documents back as they were when it was last complete",
    causes: ["`autodev rollback`"],
    wayOut: [
      "A: they are restored by a commit; what would be lost is kept under `refs/autodev/rescue/`",
      "B: nothing changes",
    ],
  },
  "skill-gate": {
    what: "a skill asks something that only a person can decide",
    causes: ["it has a gate there", "there is a real choice to make"],
    wayOut: ["any letter: the agent goes on with that answer"],
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
