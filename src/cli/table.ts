/**
 * Every command, its options and an example: the program, the completion and the reference are
 * made from this table, so that they cannot disagree.
 */
export interface OptionRow {
  readonly flags: string;
  readonly what: string;
  readonly choices?: readonly string[];
  readonly number?: true;
}

export interface CommandRow {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: "flow" | "decisions" | "care";
  readonly what: string;
  /** As commander writes them: `<id>` required, `[topic]` optional. */
  readonly arguments?: readonly { readonly name: string; readonly what: string }[];
  readonly options?: readonly OptionRow[];
  readonly examples: readonly string[];
  /** The schema of its `--json`, in `schemas/`. */
  readonly shape?: string;
}

const json: OptionRow = { flags: "--json", what: "machine-readable output" };
const noColor: OptionRow = { flags: "--no-color", what: "no colours" };
const noInput: OptionRow = {
  flags: "--no-input",
  what: "never ask; a decision ends with exit code 3",
};
const decide: OptionRow = {
  flags: "--decide <how>",
  what: "answer decisions by their recommendation, and record that nobody chose",
  choices: ["recommended"],
};

export const commandTable: readonly CommandRow[] = [
  {
    name: "start",
    aliases: ["continue"],
    group: "flow",
    what: "find out where the project is, put right what can be, ask what only a person can say",
    options: [noInput, decide, json, noColor],
    examples: ["autodev", "autodev --decide recommended"],
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
    name: "decisions",
    group: "decisions",
    what: "show the open decisions",
    options: [
      { flags: "--all", what: "the answered ones too (--json always lists all)" },
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
    options: [{ flags: "--as <name>", what: "record the answer under this name" }, json, noColor],
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
    what: "show what happened",
    options: [
      { flags: "-n, --lines <count>", what: "only the last so many events", number: true },
      { flags: "-f, --follow", what: "go on as it happens" },
      json,
      noColor,
    ],
    examples: ["autodev log -n 20", "autodev log --follow --json"],
    shape: "event",
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
];

export const exitCodeTable: readonly (readonly [number, string])[] = [
  [0, "finished, or at rest: there is nothing to do right now"],
  [1, "failure: the message says what, where, and the way out"],
  [2, "usage: the command line, or a place that autodev cannot work in"],
  [3, "a decision is required: it is on record, autodev decide answers it"],
  [4, "blocked, halted or locked: somebody else has the repository"],
  [5, "parked on a usage limit"],
  [70, "a bug of ours"],
  [130, "interrupted"],
];

export const environmentTable: readonly (readonly [string, string])[] = [
  ["NO_COLOR", "no colours"],
  ["FORCE_COLOR", "colours even without a terminal; 0 turns them off"],
  ["AUTODEV_NO_INPUT", "never ask: a decision ends with exit code 3"],
  ["AUTODEV_NO_NOTIFY", "no desktop notifications"],
  ["CI", "never ask"],
];
