/**
 * Every failure that a command can end with (`Failure.code`). A code that is not here does not
 * compile; a row that nobody uses fails a test. Loaded only by whoever explains: `failure.ts` knows
 * it as a type.
 */
import type { FailureRow } from "./explained.ts";

export const failureTable = {
  // what the user gave us
  usage: {
    exit: 2,
    what: "the command line, or a settings file, asks for something that there is not",
    causes: [
      "a misspelt command or option, or two options that exclude each other",
      "`autodev build` without a plan or without a commit mode",
      "a line of `.autodev/config.yaml`, or of your own `autodev/config.yaml`, that cannot be used",
      "a run of another plan is not finished",
      "`plan new`, `plan graph -o` or `plan import -o` would overwrite a file",
    ],
    wayOut: [
      "`autodev help <command>` shows its options and an example",
      "a settings file is named with its line: mend that line",
    ],
  },
  "not-found": {
    exit: 2,
    what: "something that was named is not there: a plan, a decision, a state file to migrate",
    causes: ["a misspelt path or id", "the command was started in another folder"],
    wayOut: [
      "`autodev decisions --all` lists the ids of decisions; how one begins is enough",
      "`autodev plan new docs/feature-plan.md` makes a plan",
    ],
  },
  "no-repository": {
    exit: 2,
    what: "there is no git repository to work in: autodev keeps its memory in `.git`, and plans become commits",
    causes: [
      "the folder is in no repository",
      "it is a bare repository: there is no tree to build in",
      "`.git` leads to a repository that does not know of this folder: it was copied or moved",
    ],
    wayOut: [
      "`git init`",
      "of a bare repository: `git clone` it, and run there",
      "of a moved folder that is yours: the `git … config core.worktree` that the message shows",
    ],
  },
  "host-file-invalid": {
    exit: 1,
    what: "a file that `autodev init` has to add a line to cannot be read, so nothing was written anywhere",
    causes: [
      "a comma too many, a bracket too few, a key twice in a file of settings",
      "conflict markers that git has left",
      "the file is not UTF-8, or is larger than such a file can be",
      "in its place there is a folder, or a link that leads nowhere or out of the repository",
      "one of our two marks, `autodev:start` and `autodev:end`, is gone",
    ],
    wayOut: [
      "mend the line that is named; then run the same command again",
      "`autodev init --hosts` without the host that reads this file leaves it alone",
    ],
  },
  // the project's own flows
  "flow-invalid": {
    exit: 1,
    what: "a flow in `.autodev/flows` is not one that can be followed; file, line and field are named",
    causes: [
      "a misspelt key, or a key in the wrong place",
      "a step that leads to one that is not there, or to none that ends",
      "a pattern that looks ahead, behind or back, which would make some texts take for ever",
    ],
    wayOut: [
      "mend the line; the message says what should stand there",
      "`autodev flow check` shows everything that is wrong, `autodev flow graph` what it comes to",
    ],
  },
  "flow-unreadable": {
    exit: 1,
    what: "a file in `.autodev/flows` is there and is not read",
    causes: [
      "its permissions, or a link that leads out of the repository or nowhere",
      "it is no file, not UTF-8, or far larger than a flow can be",
    ],
    wayOut: ["put the file itself there, as UTF-8, readable", "or `rm` it if it is no flow"],
  },
  "flow-twice": {
    exit: 1,
    what: "two files in `.autodev/flows` have a flow of the same name",
    causes: ["a copy that was kept beside the original, under its old `name:`"],
    wayOut: ["remove one of the two files that are named, or give its flow another name"],
  },
  "tracker-unavailable": {
    exit: 4,
    what: "items are to be created in a tracker, and there is none that can be used now",
    causes: [
      "no MCP server of a tracker is configured, or none of the name that the settings have",
      "it does not start, does not answer, or nobody is logged in",
      "its tools cannot do what is wanted, or it is not said in which project: `tracker.project`",
      "a step carries out tasks right now: their files keep their names until it is complete",
    ],
    wayOut: [
      "`autodev tracker` shows what is configured, `autodev tracker tools` what it offers",
      "`tracker: local` in `.autodev/config.yaml` goes on without one; nothing is lost",
    ],
  },
  // the state file
  "state-file-unreadable": {
    exit: 1,
    what: "the state file is there and cannot be read",
    causes: ["its permissions", "a disk that fails"],
    wayOut: [
      "`chmod u+r _docs/_autodev_state.md`",
      "`autodev doctor` says what else is in the way",
    ],
  },
  "state-file-binary": {
    exit: 1,
    what: "the state file holds a NUL byte: it is no text",
    causes: [
      "a crash of the machine while another program wrote it",
      "a wrong file under its name",
    ],
    wayOut: [
      "`autodev doctor --fix` keeps it aside and writes the position anew, from the journal",
    ],
  },
  "state-file-encoding": {
    exit: 1,
    what: "the state file is not UTF-8",
    causes: ["an editor saved it as UTF-16 or in a code page"],
    wayOut: [
      "save it as UTF-8",
      "or `autodev doctor --fix`: it is kept aside and the position written anew",
    ],
  },
  "state-file-too-large": {
    exit: 1,
    what: "the state file is far larger than one can be",
    causes: ["a log or another document was written to its path"],
    wayOut: ["`autodev doctor --fix` keeps it aside and writes the position anew"],
  },
  "state-file-outside": {
    exit: 1,
    what: "the state file, or a folder above it, is a link that leads out of the repository",
    causes: ["`_docs` was replaced by a link", "a hostile repository"],
    wayOut: ["`rm` the link that the message names, and put the file itself there"],
  },
  "state-file-not-a-file": {
    exit: 1,
    what: "in the place of the state file, or of `_docs`, there is something else",
    causes: ["a folder, a socket, or a link to nothing has its name", "`_docs` is a file"],
    wayOut: ["`mv` it aside, as the message shows; then `autodev`"],
  },
  "state-file-conflict": {
    exit: 1,
    what: "git left conflict markers in the state file",
    causes: ["a merge or rebase of two branches that both moved on"],
    wayOut: [
      "`autodev doctor` shows where each side stands",
      "`autodev doctor --fix --take=ours`, or `--take=theirs`, keeps one side",
    ],
  },
  "state-file-duplicate": {
    exit: 1,
    what: "the state file says something twice",
    causes: ["a merge that kept both sides", "an edit by hand"],
    wayOut: ["delete one of the two lines that are named", "or `autodev doctor --fix`"],
  },
  "state-file-no-position": {
    exit: 1,
    what: "the state file has no position: no `## Current Step`, or none that can be carried over",
    causes: ["the section was deleted or renamed", "the file is empty but for its title"],
    wayOut: ["`autodev doctor` names the line", "`autodev doctor --fix` writes the position anew"],
  },
  "no-such-column": {
    exit: 1,
    what: "the present step has no number in the generation that was asked for",
    causes: ["`autodev migrate --to 1` or `--to 2` at a step that only generation 3 knows"],
    wayOut: ["stay with generation 3 until that step is done"],
  },
  // plans
  "plan-unreadable": {
    exit: 1,
    what: "there is no plan to read there",
    causes: [
      "the file is empty, or cannot be read",
      "the folder holds no plan of a kind that we know",
      "git has left a conflict open in it",
      "a document that is nested too deeply",
      "`plan import` and `plan graph` need a plan that has phases",
    ],
    wayOut: [
      "name the plan's own file",
      "`autodev plan check <plan> --format <format>` if it is taken for another format",
      "`autodev plan new` shows what a plan looks like",
    ],
  },
  "plan-encoding": {
    exit: 1,
    what: "the plan is not UTF-8 text",
    causes: ["it was saved in another encoding", "it is a binary file"],
    wayOut: ["save it as UTF-8; the message names the line"],
  },
  "plan-too-large": {
    exit: 1,
    what: "the plan is larger than what we read",
    causes: ["a log or an archive was named", "a task folder that was never tidied"],
    wayOut: ["split it into `x-plan-1.md`, `x-plan-2.md` …", "archive the tasks that are done"],
  },
  "plan-wrong-shape": {
    exit: 1,
    what: "a `tasks.json` that is not JSON, or not of Task Master's shape",
    causes: ["a comma too many, a bracket too few", "a key of another type than Task Master's"],
    wayOut: ["mend the line that is named; then `autodev plan check tasks.json`"],
  },
  "plan-changed": {
    exit: 1,
    what: "the plan's file was changed by somebody else each time that we were about to write it",
    causes: ["an editor or a tool that saves it all the time", "several `plan tick` at once"],
    wayOut: ["close the program that writes it, and run the same command again"],
  },
  "no-such-phase": {
    exit: 1,
    what: "the plan has no phase of that id",
    causes: ["a misspelt id", "the phase was renamed or removed in the plan"],
    wayOut: [
      "`autodev plan check <plan>` lists the phases; `2a`, `2A` and `Phase 2A` are the same",
    ],
  },
  "plan-invalid": {
    exit: 1,
    what: "the plan has errors, and a plan with errors is not run",
    causes: ["phases that wait for each other, or for one that is not there", "an id used twice"],
    wayOut: [
      "`autodev plan check <plan>` names each with its line and what to change",
      "`autodev help <code>` explains each: `autodev help cycle`, say",
    ],
  },
  // runs
  "no-commits": {
    exit: 2,
    what: "the repository has no commit yet: there is nothing to build on",
    causes: ["`git init` was the last thing that happened here"],
    wayOut: ["`git add -A && git commit -m 'First commit'`"],
  },
  "busy-repository": {
    exit: 4,
    what: "the repository is in the middle of something of yours",
    causes: [
      "a merge, rebase, cherry-pick or revert is under way",
      "conflicts that nobody has resolved",
      "you chose to stop because of changes that are not committed",
    ],
    wayOut: [
      "`git status` says what is under way; finish it or abort it",
      "commit or stash what is changed, then run the same command again",
    ],
  },
  git: {
    exit: 1,
    what: "a git command failed",
    causes: [
      "a lock that a killed git has left (`index.lock`)",
      "permissions, or a repository that is damaged",
      "commits that the run was built on were pruned",
      "git is not installed",
    ],
    wayOut: [
      "`git fsck` tells whether the repository is sound",
      "if no other git runs: `rm` the lock that the message names",
      "then run the same command again: it goes on where it was",
    ],
  },
  "git-died": {
    exit: 1,
    what: "a git command was killed, or did not end in time",
    causes: ["the machine ran out of memory", "a disk or network drive that hangs"],
    wayOut: ["run the same command again: it goes on where it was"],
  },
  "git-too-old": {
    exit: 1,
    what: "git is too old for runs, which need 2.38",
    causes: ["the git of an older system comes first on PATH"],
    wayOut: ["install a newer git; `git --version` shows the one that is found"],
  },
  untrusted: {
    exit: 3,
    what: "what would run in this repository is not approved, so nothing was run",
    causes: [
      "the first run here, without a terminal to ask at",
      "gates, set-up, scripts, hooks or the agent's command have changed since they were approved",
      "the hash given by `--trust-sha256` is that of another content",
      "the place of approvals lies inside the repository, or others can write it",
    ],
    wayOut: [
      "`autodev trust <plan>` shows all of it, and asks",
      "in CI: `--trust-sha256` with the hash that the message shows, once you have read what it stands for",
    ],
  },
  "no-sandbox": {
    exit: 2,
    what: "a sandbox is required, and there is none for the agents on this machine",
    causes: [
      "`--sandbox=required`, or `sandbox: { mode: required }` in a settings file, where neither namespaces of users nor bubblewrap can be had: some containers and hardened kernels, macOS",
      "`sandbox: { network: off }` where no network namespace can be had",
      "an agent with `confined: false` beside a required sandbox",
    ],
    wayOut: [
      "install bubblewrap: it may be let do what we are not",
      "`autodev doctor` says what confines agents here",
      "`--sandbox=auto`: confined where that can be had, with a warning where it cannot",
    ],
  },
  "no-agent": {
    exit: 2,
    what: "it is not clear who shall do the work",
    causes: [
      "phases that do not spell out their files, and no agent that could think of something",
      "several agents in the settings and none chosen",
      "`--agent` names one that is not in the settings",
    ],
    wayOut: [
      "`autodev build <plan> --agent <name>`",
      "name one in `.autodev/config.yaml`: `agents: { mine: { command: … } }`",
    ],
  },
  "run-file-invalid": {
    exit: 1,
    what: "a file of `.autobuild/` was changed into something that cannot be understood",
    causes: ["an edit by hand", "a merge", "a phase set to complete without a commit"],
    wayOut: [
      "mend the line that is named",
      "or remove the file, and the next `autodev build` writes it anew",
      'a phase that was done elsewhere: `"status": "complete"` with `"skipped": "<reason>"`',
    ],
  },
  "run-halted": {
    exit: 4,
    what: "the run stopped before its end, and waits for somebody",
    causes: [
      "you decided so: a gate that was red before, a review, files that you changed too",
      "another git holds the index of this repository",
    ],
    wayOut: [
      "mend what is named, then run the same command again: what is complete stays",
      "what is verified and not published lies at `refs/autobuild/<run>/landed`",
    ],
  },
  "push-refused": {
    exit: 1,
    what: "the run is complete, and its commits could not be pushed; nothing at the remote was changed",
    causes: [
      "the branch at the remote holds commits that the run is not based on: an earlier run's, or somebody's",
      "the token or the key may not push there, or the branch is protected",
      "the remote cannot be reached",
    ],
    wayOut: [
      "`git fetch`, look at what is there, and name another branch with `--branch`",
      "in Actions: `permissions: { contents: write, pull-requests: write }`",
      "run the same command again: nothing is built twice",
    ],
  },
  "pull-request": {
    exit: 1,
    what: "the commits are pushed, and the pull request could not be opened or brought up to date",
    causes: [
      "the token lacks `pull-requests: write`, or Actions may not create pull requests in this repository",
      "GitHub cannot be reached, fails, or asks to wait for longer than a minute",
      "the branch that it should go into is not there",
    ],
    wayOut: [
      "in the repository's settings, under Actions: allow GitHub Actions to create pull requests",
      "run the same command again: an open one of this branch is found, never a second one made",
    ],
  },
  "skill-invalid": {
    exit: 1,
    what: "a skill is there and cannot be used: a `SKILL.md` that promises something unclear, or is no text of its own",
    causes: [
      "its front matter is not YAML, or has a key that is not known there",
      "a gate that comes after a phase that there is not, or a phase twice",
      "a path that is not relative to `_docs/`",
      "it is larger than 256 KB, not UTF-8, or a link that leads out of the repository",
    ],
    wayOut: [
      "mend the line that is named",
      "`phases: [{ name: draft }]`, `needs: [00_problem/problem.md]`, `produces: [{ path: 01_solution/solution_draft*.md }]` is all that ours has to have beside `name` and `description`",
      "without `phases`, `produces` and `gates` it is run as it is, and nothing is checked but the step itself",
      "a link: put a copy of the skill at `.autodev/skills/<name>/SKILL.md`",
    ],
  },
  // the journal
  "journal-damaged": {
    exit: 1,
    what: "the journal cannot be relied on: a record is changed, missing, or written twice",
    causes: ["a disk that fails", "files under `.git/autodev` were edited, deleted or restored"],
    wayOut: [
      "`autodev doctor` says what is damaged",
      "`autodev doctor --fix` keeps the damaged journal aside and goes on with all that can be read",
    ],
  },
  "journal-newer": {
    exit: 1,
    what: "the journal was written by a newer autodev",
    causes: ["several versions on one machine, or on machines that share the repository"],
    wayOut: ["`npm install --global autodev@latest`"],
  },
  "journal-moved-on": {
    exit: 1,
    what: "history went on while this command decided: what it was about to record is no longer so",
    causes: ["a bug of ours, or a program that writes the journal by itself"],
    wayOut: ["run the same command again: nothing was written"],
  },
  "journal-fenced": {
    exit: 4,
    what: "another autodev has taken over this repository, and this one writes nothing more",
    causes: ["the lock was lost: a network drive, a removed lock file, a machine that slept"],
    wayOut: ["`autodev status` shows where it stands now; leave the work to the other one"],
  },
  // the machine
  locked: {
    exit: 4,
    what: "another autodev is at work in this repository",
    causes: ["a run in another terminal", "one that is stopped (Ctrl-Z), which is never overtaken"],
    wayOut: [
      "wait for it, or end it: the message names its process",
      "`autodev status`, `log`, `decisions` and `decide` work all the same",
    ],
  },
  "lock-unavailable": {
    exit: 1,
    what: "the lock cannot be taken on this machine, and without it nothing is safe",
    causes: ["`flock` is not installed", "a file system that knows no locks"],
    wayOut: ["install util-linux, which brings `flock`", "or work on a local disk"],
  },
  disk: {
    exit: 1,
    what: "the machine refuses to read or write a file that is needed",
    causes: [
      "the disk is full, or read-only",
      "permissions",
      "a link or a file where a folder of ours has to be",
    ],
    wayOut: [
      "make room, mend the permissions, or move aside what is in the way: the message names it",
      "then run the same command again: what was acknowledged is not lost",
      "`autodev doctor` shows what else is not writable",
    ],
  },
  // people
  "decision-required": {
    exit: 3,
    what: "a decision is open that only a person can take, and nobody was there to take it",
    causes: ["no terminal, CI, `--no-input`, or the terminal was closed at the question"],
    wayOut: [
      "the `autodev decide <id> <letter>` that is printed, from anywhere; then the same command again",
      "`autodev decisions` shows what is open",
      "`--decide recommended` takes the recommendations, and records that nobody chose",
    ],
  },
  "decision-taken": {
    exit: 1,
    what: "the decision was answered before, or no longer arises; the first answer stands",
    causes: ["somebody else was quicker", "what raised the question is gone"],
    wayOut: ["`autodev decisions --all` shows who chose what"],
  },
  "lease-lost": {
    exit: 4,
    what: "the work that is reported is not, or no longer, with whoever reports it",
    causes: [
      "it was silent for longer than its lease, and somebody else has it now",
      "it was reported before",
      "the lease is not one that `next` has given",
    ],
    wayOut: [
      "call `next` (or run `autodev`) for what is to be done now",
      "what lay in the work tree is kept under the ref that the message names: `git show <ref>`",
    ],
  },
  // a fleet
  database: {
    exit: 1,
    what: "the PostgreSQL that a fleet shares cannot be used",
    causes: [
      "`AUTODEV_DATABASE_URL` (or the file that `AUTODEV_DATABASE_URL_FILE` names) is missing or wrong",
      "the server does not run, cannot be reached, or does not let this user in",
      "the role has no right to the tables",
    ],
    wayOut: [
      "set the address: `postgres://user:password@host:5432/name`",
      "`autodev engine migrate --role <role>`, by the owner of the schemas, grants what a worker needs",
      "runs that are under way wait for a server that was stopped: nothing is lost",
    ],
  },
  "database-schema": {
    exit: 4,
    what: "the tables in the database are not those that this autodev reads and writes",
    causes: [
      "nobody has made them yet",
      "they are older: the fleet was updated, the database was not",
      "they are newer: this machine has an older autodev than the rest",
    ],
    wayOut: [
      "`autodev engine migrate`, once, by a role that owns the schemas",
      "where they are newer: install the same autodev as the rest of the fleet",
    ],
  },
  "engine-missing": {
    exit: 2,
    what: "the engine on PostgreSQL needs packages that are not installed with autodev",
    causes: ["they are optional: whoever works on one machine never loads them"],
    wayOut: ["`npm install @dbos-inc/dbos-sdk pg`, beside autodev"],
  },
  "no-remote": {
    exit: 2,
    what: "a fleet gets code by git, and there is no remote that it could get it from",
    causes: ["the repository has no remote `origin`", "another one was named and is not there"],
    wayOut: [
      "`git remote add origin <address>`, one that the workers can reach too",
      "`engine: { remote: <name> }` in `.autodev/config.yaml` names another",
    ],
  },
  "fetch-refused": {
    exit: 1,
    what: "a remote does not give what is asked of it",
    causes: [
      "it cannot be reached from this machine, or its address is wrong",
      "this machine's git has no login there",
      "a ref of the run is gone: somebody has deleted `refs/autobuild/<run>/…`",
    ],
    wayOut: [
      "`git ls-remote <address>` on the worker's machine shows what it says",
      "then run the same command again: nothing is lost",
    ],
  },
  "object-store": {
    exit: 1,
    what: "the object store, where transcripts and logs of all machines are kept, refuses or cannot be reached",
    causes: [
      "AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is missing, wrong, or may not read and write there",
      "there is no such bucket, or it is in another region than the address says",
      "its endpoint cannot be reached from this machine, fails, or is no S3 API",
      "a reference was made when the object store had another address",
    ],
    wayOut: [
      "mend the part of the address or the variable that the hint names",
      "then run the same command again: what is recorded does not depend on it",
    ],
  },
  "no-object": {
    exit: 1,
    what: "the transcript or log that a reference leads to is not in the object store",
    causes: [
      "it was removed, by somebody or by a rule of the bucket that removes what is old",
      "the machine that made it ended before it had put it there",
    ],
    wayOut: ["go on without it: nothing is decided by a transcript, and all else is recorded"],
  },
  "worker-failed": {
    exit: 1,
    what: "several workers have tried a part of a run, and none has come to an end with it",
    causes: ["a bug of ours", "machines that lack something that the run needs"],
    wayOut: [
      "`autodev fleet` shows which workers there are; the message has what the last one said",
      "`autodev build <plan> --engine postgres` goes on where it was",
    ],
  },
  "workers-lost": {
    exit: 1,
    what: "one worker after the other was lost with the same part of a run, so it is not given to yet another",
    causes: [
      "the agent or the gates take more memory than the machines have, and the system ends the worker with them",
      "they end processes that are not theirs, or restart the machine",
      "workers are killed by somebody else again and again while they are at it",
    ],
    wayOut: [
      "`autodev fleet log` and the system's own log of these machines show what happened last",
      "`engine: { needs: [memory:16] }` in .autodev/config.yaml has it done where there is more memory",
      "`autodev build <plan> --engine postgres` tries it again, as often as before",
    ],
  },
  "no-worker": {
    exit: 4,
    what: "there is no worker that could do it",
    causes: [
      "no worker is running",
      "none of those that run has the agent or the label that is asked for",
    ],
    wayOut: [
      "`autodev fleet` shows who is there and what each can do",
      "`autodev worker` on a machine that has it; the run goes on by itself then",
    ],
  },
  interrupted: {
    exit: 130,
    what: "it was stopped by Ctrl-C or a signal",
    causes: ["you, or whatever started autodev"],
    wayOut: ["run the same command again: it goes on where it was"],
  },
} as const satisfies Readonly<Record<string, FailureRow>>;
