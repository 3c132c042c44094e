import { hostNames } from "../core/host/hosts.ts";
import { planFormats } from "../core/plan/plan.ts";

/** As core/plan/run-event has them; written out, since the schemas there take time to load. */
const commitModes = ["auto", "message-only", "single"];

/**
 * Every command, its options and an example: the program, the completion and the reference are
 * made from this table, so that they cannot disagree.
 */
export interface OptionRow {
  readonly flags: string;
  readonly what: string;
  readonly choices?: readonly string[];
  readonly number?: true;
  /** Not necessarily a whole number. */
  readonly decimal?: true;
}

export interface CommandRow {
  /** "plan check": a command of the family `plan`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: "flow" | "plans" | "decisions" | "fleet" | "care";
  readonly what: string;
  /** As commander writes them: `<id>` required, `[topic]` optional. */
  readonly arguments?: readonly { readonly name: string; readonly what: string }[];
  readonly options?: readonly OptionRow[];
  readonly examples: readonly string[];
  /** The schema of its `--json`, in `schemas/`. */
  readonly shape?: string | readonly string[];
}

const json: OptionRow = { flags: "--json", what: "machine-readable output" };
const noColor: OptionRow = { flags: "--no-color", what: "no colours" };
const noLive: OptionRow = {
  flags: "--no-live",
  what: "a line for each thing that happens instead of a view that changes in place",
};
const noInput: OptionRow = {
  flags: "--no-input",
  what: "never ask; a decision ends with exit code 3",
};
const decide: OptionRow = {
  flags: "--decide <how>",
  what: "answer decisions by their recommendation, and record that nobody chose",
  choices: ["recommended"],
};

const yes: OptionRow = {
  flags: "-y, --yes",
  what: "do it: the decision is answered by you, with A",
};

/** As core/settings has them. */
const engine: OptionRow = {
  flags: "--engine <engine>",
  what: "by what runs are carried: this machine, or a fleet on PostgreSQL",
  choices: ["local", "postgres"],
};
const fleetRun: OptionRow = { flags: "--run <id>", what: "of a fleet's runs, this one" };

const planArgument = { name: "<plan>", what: "the plan's file, or a folder that holds one" };
const planFormat: OptionRow = {
  flags: "--format <format>",
  what: "read it as this format instead of finding out",
  choices: planFormats,
};

const phaseArgument = { name: "<phase>", what: "its id, as in the plan: 2A, 2b, 4.5" };
const attempt: OptionRow = {
  flags: "--attempt <number>",
  what: "that attempt at the phase, not the last",
  number: true,
};

const trustTracker: OptionRow = {
  flags: "--trust-sha256 <hash>",
  what: "in CI: start the repository's own MCP server if this is its hash",
};

const flowOptions: readonly OptionRow[] = [
  { flags: "--flow <name>", what: "the flow that this project is in (autodev flow list)" },
  { flags: "--agent <name>", what: "who does all of the work: claude, codex … (autodev agents)" },
  { flags: "--no-work", what: "put right and ask what has to be, show where it is; start nothing" },
  { flags: "--through-boundaries", what: "go on by itself where a session would end" },
  {
    flags: "--idle-minutes <minutes>",
    what: "an agent that was silent for so long is ended (default 20)",
    decimal: true,
  },
  { flags: "--no-wait", what: "end with exit code 5 instead of waiting for a usage limit" },
  {
    flags: "--sandbox <mode>",
    what: "keep agents from your files: where that can be had (auto, the default), or do not run",
    choices: ["off", "auto", "required"],
  },
  {
    flags: "--trust-sha256 <hash>",
    what: "in CI: follow the repository's settings and skills if this is their hash",
  },
];

export const commandTable: readonly CommandRow[] = [
  {
    name: "start",
    aliases: ["continue"],
    group: "flow",
    what: "find out where the project is, and go on with its flow until there is a reason to rest",
    options: [...flowOptions, noInput, decide, engine, json, noColor],
    examples: ["autodev", "autodev --through-boundaries --decide recommended"],
    shape: "status",
  },
  {
    name: "status",
    group: "flow",
    what: "show where the project is; changes nothing",
    options: [json, noColor],
    examples: ["autodev status", "autodev status --json"],
    shape: "status",
  },
  {
    name: "flow list",
    group: "flow",
    what: "list the flows: the built-in ones, and the project's own in .autodev/flows",
    options: [json, noColor],
    examples: ["autodev flow list"],
    shape: "flow-list",
  },
  {
    name: "flow check",
    group: "flow",
    what: "say what is wrong with the project's own flows, with its line and the way out",
    arguments: [{ name: "[file...]", what: "these instead of all in .autodev/flows" }],
    options: [json, noColor],
    examples: ["autodev flow check", "autodev flow check .autodev/flows/fix.yaml --json"],
    shape: "flow-check",
  },
  {
    name: "skills list",
    group: "flow",
    what: "list the skills: ours, the project's own, and those of other tools; who uses each",
    options: [json, noColor],
    examples: ["autodev skills list"],
    shape: "skills-list",
  },
  {
    name: "skills show",
    group: "flow",
    what: "print a skill as an agent is given it",
    arguments: [{ name: "<name>", what: "one of autodev skills list" }],
    options: [json, noColor],
    examples: ["autodev skills show decompose"],
    shape: "skills-show",
  },
  {
    name: "skills check",
    group: "flow",
    what: "say where skills and flows do not fit together, before anybody runs them",
    options: [json, noColor],
    examples: ["autodev skills check", "autodev skills check --json"],
    shape: "skills-check",
  },
  {
    name: "skills eject",
    group: "flow",
    what: "copy one of our skills into .autodev/skills, to change it; it is used from then on",
    arguments: [{ name: "<name>", what: "one of ours" }],
    options: [json, noColor],
    examples: ["autodev skills eject test-spec"],
    shape: "skills-eject",
  },
  {
    name: "flow graph",
    group: "flow",
    what: "draw a flow: its steps, who does each, what proves it, where it stops and where it loops",
    arguments: [{ name: "[name]", what: "one of autodev flow list; without it, all of them" }],
    options: [
      {
        flags: "--as <form>",
        what: "how (default text)",
        choices: ["text", "mermaid", "svg", "json"],
      },
      { flags: "-o, --output <file>", what: "into a new file instead of the terminal" },
      json,
      noColor,
    ],
    examples: [
      "autodev flow graph existing-code",
      "autodev flow graph greenfield --as svg -o greenfield.svg",
    ],
    shape: "flow-graph",
  },
  {
    name: "next",
    group: "flow",
    what: "say what autodev would do next, and why; changes nothing",
    options: [{ flags: "--dry-run", what: "the same: it never changes anything" }, json, noColor],
    examples: ["autodev next", "autodev next --json"],
    shape: "next",
  },
  {
    name: "skip",
    group: "flow",
    what: "leave the present step out, after naming what needs it",
    arguments: [{ name: "[step]", what: "its number or name, to be sure" }],
    options: [yes, noInput, decide, json, noColor],
    examples: ["autodev skip", "autodev skip 8 --yes"],
    shape: "flow-act",
  },
  {
    name: "back",
    group: "flow",
    what: "do an earlier step once more, after naming what will be overwritten",
    arguments: [{ name: "<step>", what: "its number or name" }],
    options: [yes, noInput, decide, json, noColor],
    examples: ["autodev back 3", "autodev back Research --yes"],
    shape: "flow-act",
  },
  {
    name: "rollback",
    group: "flow",
    what: "put a step's documents back to what it left when it was last complete, and do it again",
    arguments: [{ name: "<step>", what: "its number or name" }],
    options: [yes, noInput, decide, json, noColor],
    examples: ["autodev rollback 3", "autodev rollback Plan --yes"],
    shape: "flow-act",
  },
  {
    name: "plan check",
    group: "plans",
    what: "read a plan and say what is wrong with it, before anything is spent on it",
    arguments: [planArgument],
    options: [planFormat, { flags: "--strict", what: "warnings count as errors" }, json, noColor],
    examples: ["autodev plan check docs/feature-plan.md", "autodev plan check tasks.json --json"],
    shape: "plan-check",
  },
  {
    name: "plan graph",
    group: "plans",
    what: "draw who waits for whom",
    arguments: [planArgument],
    options: [
      planFormat,
      {
        flags: "--as <form>",
        what: "how (default text)",
        choices: ["text", "mermaid", "svg", "json"],
      },
      { flags: "-o, --output <file>", what: "into a new file instead of the terminal" },
      json,
      noColor,
    ],
    examples: [
      "autodev plan graph docs/feature-plan.md",
      "autodev plan graph docs/feature-plan.md --as svg -o plan.svg",
    ],
    shape: "plan-graph",
  },
  {
    name: "plan tick",
    group: "plans",
    what: "tick a phase's boxes and set its status; no other byte changes",
    arguments: [planArgument, { name: "<phase...>", what: "ids of phases: 2A, 2b, 4.5" }],
    options: [
      planFormat,
      { flags: "--untick", what: "untick the boxes, and set the status back to pending" },
      {
        flags: "--only <part>",
        what: "only these boxes, or only the status",
        choices: ["tasks", "done", "status"],
      },
      {
        flags: "--status <status>",
        what: "set this status and leave the boxes alone",
        choices: ["pending", "running", "complete", "failed", "blocked", "skipped"],
      },
      { flags: "--dry-run", what: "show the lines, change nothing" },
      json,
      noColor,
    ],
    examples: [
      "autodev plan tick docs/feature-plan.md 2A 2B",
      "autodev plan tick docs/feature-plan.md 3 --status running",
    ],
    shape: "plan-tick",
  },
  {
    name: "plan import",
    group: "plans",
    what: "write a plan of another format as one of ours",
    arguments: [planArgument],
    options: [
      planFormat,
      {
        flags: "--to <format>",
        what: "the format to write (default superplan)",
        choices: ["superplan"],
      },
      { flags: "-o, --output <file>", what: "into a new file instead of the terminal" },
      json,
      noColor,
    ],
    examples: ["autodev plan import specs/001-login/tasks.md --to superplan -o docs/login-plan.md"],
    shape: "plan-import",
  },
  {
    name: "plan new",
    group: "plans",
    what: "write a small plan with comments, to begin with",
    arguments: [{ name: "[file]", what: "a new file; without it, the terminal" }],
    options: [{ flags: "--title <title>", what: "the plan's title" }, json, noColor],
    examples: ["autodev plan new docs/feature-plan.md"],
    shape: "plan-new",
  },
  {
    name: "build",
    group: "plans",
    what: "run a plan: each phase by an agent, checked by gates, landed as a commit",
    arguments: [{ name: "[plan]", what: "the plan's file, or a folder that holds one" }],
    options: [
      {
        flags: "--commit <mode>",
        what: "how phases are committed; message-only leaves your branch alone",
        choices: commitModes,
      },
      { flags: "--resume", what: "go on with the run (the default when there is one)" },
      { flags: "--fresh", what: "set the earlier run aside and begin anew" },
      { flags: "--dry-run", what: "show what would be done; touch nothing" },
      {
        flags: "--agent <name>",
        what: "who does all of the work: apply, claude, codex … (autodev agents)",
      },
      { flags: "--jobs <count>", what: "phases at once (default 2)", number: true },
      { flags: "--from <phase>", what: "this phase and all that come after it" },
      { flags: "--only <phase...>", what: "only these phases" },
      { flags: "--branch <name>", what: "publish to this branch instead of the one checked out" },
      {
        flags: "--pr",
        what: "push what a complete run made (to --branch, or autodev/<plan>) and open a pull request; GITHUB_TOKEN",
      },
      { flags: "--into <branch>", what: "what the pull request goes into (the default branch)" },
      { flags: "--review", what: "publish nothing before you have said so" },
      { flags: "--detach", what: "go on in the background; autodev attach shows it" },
      { flags: "--ui", what: "show it in a browser meanwhile, as autodev ui does" },
      {
        flags: "--attempts <count>",
        what: "failures of a phase before it counts as failed (default 2)",
        number: true,
      },
      {
        flags: "--attempt-minutes <minutes>",
        what: "the longest that an attempt may take (default 60)",
        decimal: true,
      },
      {
        flags: "--idle-minutes <minutes>",
        what: "an agent that was silent for so long is ended (default 20)",
        decimal: true,
      },
      {
        flags: "--gate-minutes <minutes>",
        what: "the longest that a gate may take (default 10)",
        decimal: true,
      },
      { flags: "--no-wait", what: "end with exit code 5 instead of waiting for a usage limit" },
      {
        flags: "--sandbox <mode>",
        what: "keep agents from your files: where that can be had (auto, the default), or do not run",
        choices: ["off", "auto", "required"],
      },
      {
        flags: "--trust-sha256 <hash>",
        what: "in CI: run the repository's commands if this is their hash",
      },
      {
        flags: "--github",
        what: "in a step of GitHub Actions: a summary, outputs and annotations, as its runner reads them",
      },
      noLive,
      noInput,
      decide,
      engine,
      json,
      noColor,
    ],
    examples: [
      "autodev build docs/feature-plan.md --commit=message-only",
      "autodev build docs/feature-plan.md --dry-run",
      "autodev build docs/feature-plan.md --only 2A 2B --jobs 4",
      "autodev build docs/feature-plan.md --commit=auto --pr",
    ],
    shape: "build",
  },
  {
    name: "attach",
    group: "plans",
    what: "follow the run that is under way, wherever it was started, and answer its questions",
    options: [noLive, noInput, engine, fleetRun, json, noColor],
    examples: ["autodev attach", "autodev attach --json"],
    shape: "build",
  },
  {
    name: "stop",
    group: "plans",
    what: "ask the run that is under way to come to an end; a second time: at once",
    options: [
      { flags: "--after-phase", what: "what is under way is finished first; nothing new begins" },
      { flags: "--no-wait", what: "do not wait until it has ended" },
      engine,
      fleetRun,
      json,
      noColor,
    ],
    examples: ["autodev stop", "autodev stop --after-phase --no-wait"],
    shape: "stop",
  },
  {
    name: "retry",
    group: "plans",
    what: "have a phase, or the step that has failed, tried again; the work goes on with it",
    arguments: [
      {
        name: "[phase]",
        what: "its id in a plan: 2A; absent: the step of the flow that has failed",
      },
    ],
    options: [
      { flags: "--note <text>", what: "what whoever tries it should mind; it stands in the brief" },
      { flags: "--agent <name>", what: "who does the work from now on" },
      { flags: "--jobs <count>", what: "phases at once (default 2)", number: true },
      {
        flags: "--trust-sha256 <hash>",
        what: "in CI: run the repository's commands if this is their hash",
      },
      noInput,
      decide,
      noLive,
      engine,
      fleetRun,
      json,
      noColor,
    ],
    examples: ['autodev retry 2A --note "the date is in UTC: see docs/dates.md"'],
    shape: "retry",
  },
  {
    name: "example",
    group: "plans",
    what: "make a small project of ours in a new folder and run its plan, offline and without a model",
    arguments: [
      { name: "[name]", what: "typescript (the default) or python" },
      { name: "[folder]", what: "a new or empty folder (default ./autodev-example-<name>)" },
    ],
    options: [
      { flags: "--list", what: "show which examples there are" },
      { flags: "--no-run", what: "only make the folder" },
      noInput,
      json,
      noColor,
    ],
    examples: ["autodev example", "autodev example python /tmp/ledger", "autodev example --list"],
    shape: "example",
  },
  {
    name: "diff",
    group: "plans",
    what: "show what a phase changed: as it landed, as its last attempt left it, or as it stands now",
    arguments: [phaseArgument],
    options: [
      attempt,
      { flags: "--stat", what: "only which files, and how many lines" },
      json,
      noColor,
    ],
    examples: ["autodev diff 2A", "autodev diff 2A --attempt 1 --stat"],
    shape: "diff",
  },
  {
    name: "shell",
    group: "plans",
    what: "go into a work tree of what an attempt left, to look around and to mend it",
    arguments: [
      phaseArgument,
      { name: "[command...]", what: "after --: run this there instead of your shell" },
    ],
    options: [
      attempt,
      { flags: "--json", what: "make the work tree and say where it is; start nothing" },
      noColor,
    ],
    examples: ["autodev shell 2A", "autodev shell 2A --attempt 1 -- npm test"],
    shape: "shell",
  },
  {
    name: "trust",
    group: "plans",
    what: "show what a build would run, and approve exactly that",
    arguments: [planArgument],
    options: [
      { flags: "--agent <name>", what: "for this agent" },
      { flags: "--sha256 <hash>", what: "approve it if this is its hash" },
      { flags: "--revoke", what: "take every approval for this folder back" },
      noInput,
      json,
      noColor,
    ],
    examples: ["autodev trust docs/feature-plan.md", "autodev trust docs/feature-plan.md --revoke"],
    shape: "trust",
  },
  {
    name: "audit",
    group: "plans",
    what: "check commits of a run once more, from the commits alone",
    arguments: [{ name: "<commits>", what: "a commit, or a range: main~5..main" }],
    options: [
      { flags: "--no-gates", what: "only read: do not run the gates again" },
      {
        flags: "--gate-minutes <minutes>",
        what: "the longest that a gate may take (default 10)",
        decimal: true,
      },
      {
        flags: "--trust-sha256 <hash>",
        what: "in CI: run the repository's commands if this is their hash",
      },
      noInput,
      json,
      noColor,
    ],
    examples: ["autodev audit HEAD", "autodev audit main~5..main --json"],
    shape: "audit",
  },
  {
    name: "decisions",
    group: "decisions",
    what: "show the open decisions",
    options: [
      { flags: "--all", what: "the answered ones too (--json always lists all)" },
      engine,
      json,
      noColor,
    ],
    examples: ["autodev decisions", "autodev decisions --json"],
    shape: "decisions",
  },
  {
    name: "decide",
    group: "decisions",
    what: "answer a decision; the first answer stands",
    arguments: [
      { name: "<id>", what: "the decision's id, or how it begins" },
      { name: "<letter>", what: "the option: A, B, C or D" },
    ],
    options: [
      { flags: "--as <name>", what: "record the answer under this name" },
      engine,
      json,
      noColor,
    ],
    examples: ["autodev decide d-6840c3fa0775 A"],
    shape: "decide",
  },
  {
    name: "migrate",
    group: "flow",
    what: "rewrite the state file into another generation and rename it",
    options: [
      { flags: "--to <generation>", what: "1, 2 or 3 (default 3)", choices: ["1", "2", "3"] },
      { flags: "--dry-run", what: "show the difference, change nothing" },
      noInput,
      decide,
      json,
      noColor,
    ],
    examples: ["autodev migrate --dry-run", "autodev migrate --to 2"],
    shape: "migrate",
  },
  {
    name: "log",
    group: "flow",
    what: "show what happened; of a phase, everything that its agent and its gates printed",
    arguments: [{ name: "[phase]", what: "its id: 2A, 2b, 4.5; without it, all that happened" }],
    options: [
      { flags: "-n, --lines <count>", what: "only the last so many events or lines", number: true },
      { flags: "-f, --follow", what: "go on as it happens; of a phase, until the attempt ends" },
      attempt,
      { flags: "--attempts", what: "list the attempts at the phase, and how each ended" },
      { flags: "--raw", what: "what its agent printed to the letter, not in words" },
      json,
      noColor,
    ],
    examples: [
      "autodev log -n 20",
      "autodev log --follow --json",
      "autodev log 2A --follow",
      "autodev log 2A --attempts",
    ],
    shape: ["event", "phase-log"],
  },
  {
    name: "ui",
    group: "flow",
    what: "show what goes on here in a browser: what needs you, the flow, runs, spending, all of the past",
    options: [
      {
        flags: "--port <port>",
        what: "listen on this port of 127.0.0.1 (default: one of its own for each repository)",
        number: true,
      },
      { flags: "--no-open", what: "only print the address" },
      {
        flags: "--until-input-ends",
        what: "end when standard input does: for programs that start this",
      },
      { flags: "--json", what: "print the address as JSON on one line, then serve" },
      noColor,
    ],
    examples: ["autodev ui", "autodev ui --no-open --port 4711", "autodev ui --json"],
    shape: "ui",
  },
  {
    name: "mcp",
    group: "care",
    what: "serve your own agent over MCP on standard input and output (a host starts this)",
    examples: ["autodev mcp", "claude mcp add autodev -- autodev mcp"],
  },
  {
    name: "doctor",
    group: "care",
    what: "find damage and name the one command that mends it",
    options: [
      { flags: "--fix", what: "mend what can be mended; what is replaced is kept" },
      {
        flags: "--take <side>",
        what: "with --fix: which side of a git conflict to keep",
        choices: ["ours", "theirs"],
      },
      { flags: "--report", what: "a report without names and secrets, to attach to a question" },
      json,
      noColor,
    ],
    examples: ["autodev doctor", "autodev doctor --fix", "autodev doctor --fix --take ours"],
    shape: "doctor",
  },
  {
    name: "init",
    group: "care",
    what: "make autodev known to the agents that you work inside of: its MCP server, /autodev, /autobuild, a few lines in AGENTS.md",
    options: [
      {
        flags: "--hosts <names>",
        what: `for these, with commas between them (default: those that are found): ${hostNames.join(", ")}`,
      },
      {
        flags: "--autobuild <choice>",
        what: "whether .autobuild/ goes into git: not at all, or all but its logs",
        choices: ["ignore", "track"],
      },
      { flags: "--remove", what: "take away what init has written; each file is as it was before" },
      { flags: "--dry-run", what: "show each file and the lines that would change; write nothing" },
      { flags: "-y, --yes", what: "do not ask: the hosts that are found; what differs is left" },
      {
        flags: "--no-input",
        what: "never ask; what has to be said is named, and nothing is written",
      },
      json,
      noColor,
    ],
    examples: [
      "autodev init",
      "autodev init --yes --hosts claude,codex --autobuild=ignore",
      "autodev init --remove --dry-run",
    ],
    shape: "init",
  },
  {
    name: "agents",
    group: "care",
    what: "list the agents: which are installed, of what version, logged in or not, what each can do",
    options: [
      { flags: "--all", what: "those that are not installed too, and how to get them" },
      json,
      noColor,
    ],
    examples: ["autodev agents", "autodev agents --all", "autodev agents --json"],
    shape: "agents",
  },
  {
    name: "agents test",
    group: "care",
    what: "have an agent do a piece of work that takes seconds, and say whether it works; it may cost a few cents",
    arguments: [{ name: "<name>", what: "one of autodev agents" }],
    options: [
      {
        flags: "--trust-sha256 <hash>",
        what: "in CI: run the repository's own command if this is its hash",
      },
      noInput,
      json,
      noColor,
    ],
    examples: ["autodev agents test apply", "autodev agents test claude --json"],
    shape: "agents-test",
  },
  {
    name: "tracker",
    group: "care",
    what: "show which tracker is used and how it was found, what is pending, and what was created there",
    options: [json, noColor],
    examples: ["autodev tracker", "autodev tracker --json"],
    shape: "tracker",
  },
  {
    name: "tracker sync",
    group: "care",
    what: "create in the tracker what is pending, and call the files of tasks by its ids",
    options: [trustTracker, noInput, json, noColor],
    examples: ["autodev tracker sync"],
    shape: "tracker-sync",
  },
  {
    name: "tracker tools",
    group: "care",
    what: "connect to the tracker, and show by which of its tools each thing would be done",
    options: [trustTracker, noInput, json, noColor],
    examples: ["autodev tracker tools"],
    shape: "tracker-tools",
  },
  {
    name: "clean",
    group: "care",
    what: "say what autodev keeps on disk, and remove what is old",
    options: [
      {
        flags: "--keep-days <days>",
        what: "how old things may become (default 30)",
        number: true,
      },
      { flags: "--max-size <size>", what: "2GB, say: the oldest go until the rest is under it" },
      { flags: "--force-shells", what: "work trees of autodev shell too that you changed" },
      { flags: "--rescue", what: "what was set aside for you too, when it is old" },
      { flags: "--dry-run", what: "show what would go; remove nothing" },
      { flags: "--yes", what: "remove what may be somebody's without asking" },
      noInput,
      json,
      noColor,
    ],
    examples: ["autodev clean --dry-run", "autodev clean --keep-days 7 --max-size 2GB"],
    shape: "clean",
  },
  {
    name: "fleet",
    group: "fleet",
    what: "show what many machines do together: runs, workers, what waits and for whom",
    options: [{ flags: "--all", what: "runs that ended long ago too" }, json, noColor],
    examples: ["autodev fleet", "autodev fleet --json"],
    shape: "fleet",
  },
  {
    name: "fleet pause",
    group: "fleet",
    what: "begin nothing new; what is under way comes to its end",
    arguments: [{ name: "[run]", what: "only this one; without it, the whole fleet" }],
    options: [json, noColor],
    examples: ["autodev fleet pause", "autodev fleet pause r0123456789"],
    shape: "fleet-pause",
  },
  {
    name: "fleet resume",
    group: "fleet",
    what: "go on with what was paused",
    arguments: [{ name: "[run]", what: "only this one; without it, the whole fleet" }],
    options: [json, noColor],
    examples: ["autodev fleet resume"],
    shape: "fleet-pause",
  },
  {
    name: "fleet limit",
    group: "fleet",
    what: "settle what all workers together may ask of an agent; without options: no limit",
    arguments: [{ name: "<agent>", what: "its name: claude, codex …" }],
    options: [
      { flags: "--at-once <count>", what: "attempts under way at the same time", number: true },
      { flags: "--per-minute <count>", what: "attempts that begin within a minute", number: true },
      { flags: "--dollars-a-day <amount>", what: "from midnight to midnight, UTC", decimal: true },
      json,
      noColor,
    ],
    examples: ["autodev fleet limit claude --at-once 4 --dollars-a-day 50"],
    shape: "fleet-limit",
  },
  {
    name: "fleet log",
    group: "fleet",
    what: "print what the agents and gates of a run have said, from wherever it is kept",
    arguments: [
      { name: "<run>", what: "its id" },
      { name: "[phase]", what: "only of this one" },
    ],
    options: [
      { flags: "--transcripts <address>", what: "where that is (default: AUTODEV_TRANSCRIPTS)" },
      json,
      noColor,
    ],
    examples: ["autodev fleet log r0123456789 2a"],
    shape: "fleet-log",
  },
  {
    name: "worker",
    group: "fleet",
    what: "take work of a fleet's until it is told to end; the first Ctrl-C drains, the second is at once",
    options: [
      { flags: "--jobs <count>", what: "tasks at once (default 2)", number: true },
      { flags: "--name <name>", what: "what it is called (default: the machine's name)" },
      { flags: "--label <label...>", what: "what it has that runs may ask for: gpu, staging" },
      {
        flags: "--lease-seconds <seconds>",
        what: "so long without a sign of life, and others take over (default 15)",
        decimal: true,
      },
      {
        flags: "--transcripts <address>",
        what: "where all that agents print is kept: a folder, or s3://bucket/prefix?endpoint=…",
      },
      json,
      noColor,
    ],
    examples: ["autodev worker --jobs 4", "autodev worker --label gpu --name builder-3"],
    shape: "worker",
  },
  {
    name: "engine migrate",
    group: "fleet",
    what: "make or update the tables of a fleet; the only command that may change them",
    options: [
      { flags: "--role <role>", what: "give this role what a worker needs, and no more" },
      json,
      noColor,
    ],
    examples: ["autodev engine migrate", "autodev engine migrate --role autodev_worker"],
    shape: "engine-migrate",
  },
];

export const exitCodeTable: readonly (readonly [number, string])[] = [
  [0, "finished, or at rest: there is nothing to do right now"],
  [1, "failure: the message says what, where, and the way out"],
  [2, "usage: the command line, or a place that autodev cannot work in"],
  [3, "a decision is required: it is on record, autodev decide answers it"],
  [4, "blocked, halted or locked: mend what is named, or wait for whoever has the repository"],
  [5, "parked on a usage limit"],
  [70, "a bug of ours"],
  [130, "interrupted"],
];

export const environmentTable: readonly (readonly [string, string])[] = [
  ["NO_COLOR", "no colours"],
  ["FORCE_COLOR", "colours even without a terminal; 0 turns them off"],
  ["AUTODEV_NO_LIVE", "a line for each thing that happens instead of the live view"],
  ["AUTODEV_NO_INPUT", "never ask: a decision ends with exit code 3"],
  ["AUTODEV_NO_NOTIFY", "no notices: no bell, nothing that pops up, no notify.command"],
  [
    "AUTODEV_NO_NAMESPACE",
    "1: process groups and a reaper instead of namespaces; nothing is hidden. own: bubblewrap",
  ],
  [
    "AUTODEV_DATABASE_URL",
    "of a fleet: postgres://user:password@host:5432/name; nothing that is started is given it",
  ],
  [
    "AUTODEV_DATABASE_URL_FILE",
    "of a fleet: a file that holds it, so that no environment does; where it is set, it counts",
  ],
  [
    "AUTODEV_TRANSCRIPTS",
    "to a worker, and to `fleet log`: where all that agents print is kept, as --transcripts",
  ],
  ["CI", "never ask, no live view, open no browser"],
  ["BROWSER", "what autodev ui opens its page with; without it, what the desktop does"],
  ["GITHUB_TOKEN", "with --pr: pushes and opens it; no agent and no gate is given it. Or GH_TOKEN"],
  ["GITHUB_REPOSITORY", "with --pr: owner/name, where origin does not tell"],
  ["GITHUB_SERVER_URL", "with --pr: the server that the token is for, if not https://github.com"],
  ["GITHUB_API_URL", "with --pr: that server's REST API"],
  ["GITHUB_STEP_SUMMARY", "with --github: the file that the summary goes to"],
  ["GITHUB_OUTPUT", "with --github: the file that outputs go to"],
];

/** What we set for others: agents, gates and a notify.command read it. */
export const givenEnvironmentTable: readonly (readonly [string, string])[] = [
  ["AUTODEV_BRIEF", "to an agent: the file with what it has to do; also its standard input"],
  ["AUTODEV_RESULT", "to an agent: the file that its result goes to"],
  ["AUTODEV_PHASE", "to agents, gates and hooks: the phase's id, such as 2a"],
  ["AUTODEV_ATTEMPT", "to an agent: which attempt this is, from 1"],
  [
    "AUTODEV_LIMITED_UNTIL",
    "by an agent that ends with 75: NAME=time as its last line, when to try again",
  ],
  ["AUTODEV_SLOT", "to agents and gates: which of those at work at the same time, from 0"],
  ["AUTODEV_PORT_BASE", "to agents and gates: the first port of their own"],
  ["AUTODEV_PORT_COUNT", "to agents and gates: how many ports are their own"],
  ["AUTODEV_RUN_ID", "to everything that a run starts: the run"],
  [
    "AUTODEV_NOTICE_*",
    "to a notify.command: KIND, TITLE, TEXT, ROOT, RUN, PLAN, DECISION, COMMAND",
  ],
];
