type Random = {
  below(limit: number): number;
  between(lowest: number, highest: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
};

type Generation = 1 | 2 | 3;
type Draft = { top: string[]; heading: string[]; block: string[]; sections: string[][] };
type DraftMutation = (draft: Draft, random: Random) => void;
type LineMutation = (lines: string[], random: Random) => void;
type TextMutation = (text: string, random: Random) => string;

const TITLES: Record<Generation, readonly string[]> = {
  1: ["# Autopilot State", "# Autopilot State", "# Autodev State"],
  2: ["# Autopilot State", "# Autopilot State", "# Autodev State"],
  3: ["# Autodev State", "# Autodev State", "# Autopilot State"],
};
const ODD_TITLES = [
  "#  AUTODEV state",
  "   # autodev",
  "    # Autodev State",
  "#Autodev State",
  "# The Autodev State",
  "# State of things #",
  "# Autodev State ###",
  "#\tAutodev\tState:",
  "## Autodev State",
  "# ",
  "# Current Step",
  "# Blockers",
];

const POSITION_HEADING = "## Current Step";
const ODD_POSITION_HEADINGS = [
  "## current step",
  "## CURRENT  STEP",
  "##\tCurrent\tStep",
  "## Current Step:",
  "## Current Step ::",
  "## Current Step :",
  "## Current Step ##",
  "## Current Step: ##",
  "## Current Step###  ",
  "## Current Step # #",
  "### Current Step",
  "###### Current Step",
  "####### Current Step",
  "# Current Step",
  "   ## Current Step",
  "    ## Current Step",
  "##Current Step",
  "## Current\u00a0Step",
  "## Current Step\u2028",
  "## Current Steps",
  "## The Current Step",
  "## **Current Step**",
];

const FLOWS = ["greenfield", "existing-code", "existing-code", "meta-repo", "house-rules"];
const STEP_NAMES = [
  "Problem",
  "Research",
  "Plan",
  "UI Design",
  "Test Spec",
  "Decompose Tests",
  "Refactor",
  "New Task",
  "Implement",
  "Run Tests",
  "Security Audit",
  "Deploy",
  "Retrospective",
  "Done",
];
const LETTERED_STEPS = ["0", "1", "2", "2a", "2b", "2ea", "2hb", "2i", "4", "5b", "6", "done"];
const STATUSES = ["not_started", "in_progress", "in_progress", "completed", "skipped", "failed"];
const ODD_STATUSES = [
  "In Progress",
  "in-progress",
  "IN_PROGRESS",
  "in \t- progress",
  "not\tstarted",
  "Not--Started",
  "in__progress",
  "in_ progress",
  "s\u212Aipped",
  "-completed",
  "in\u00a0progress",
  "blocked",
  "Waiting for review",
  "`failed`",
  "' skipped '",
  "completed ✅",
  "completed.",
];
const PHASE_TITLES = [
  "Architecture Review & Risk Assessment",
  "Test Case Generation",
  "Batch Loop",
  "Solution draft (2nd)",
  "Component decomposition",
];
const ODD_SCALARS = [
  "",
  "0",
  "00",
  "done",
  "DONE",
  "Done.",
  "4",
  "4b",
  "4B",
  "4bb — Loop",
  "0 — Waiting",
  "0a",
  "4 – Loop",
  "4: Loop",
  "4-loop",
  "4—Loop",
  "4 -- Loop",
  "4b:Loop: again",
  "4 — —",
  "4 — Ünder Übung",
  "4 — \u212Aelvin",
  "4 —",
  "4 -\u00a0",
  "4\u00a0—\u00a0Loop",
  "4 Loop",
  "4.5 — Half",
  "Loop",
  "— Loop",
  "123456789 — Long",
  "1234567890 — Too Long",
  "007 - Bond",
  "007x - Bond",
  '"4 — Quoted"',
  "'0'",
  '""',
  "`done`",
  "\u0664 — Loop",
  "4 — a\rb",
  "4ſ",
];
const ODD_OPENINGS = ['sub_step: ""', "sub_step: ''", "sub_step:  ", "sub_step :", "- sub_step:\t"];
const PHASE_NAMES = ["awaiting-invocation", "batch-loop", "auto-fix-gate", "test-case-generation"];
const DETAILS = ['""', '"batch 2 of ~4"', '"variant 1b"', "batch 1", "", '"waiting: review"'];
const ODD_DETAILS = [
  '"a \\"quoted\\" word"',
  '"back\\\\slash"',
  '"two\\nlines\\tand a tab"',
  '"\\\\n is not a newline"',
  '"other \\x \\u0041 \\r"',
  '"ends in \\"',
  '"\\\\"',
  '"',
  '"unfinished',
  'unfinished"',
  "'single \\n quoted'",
  "'",
  "''",
  "`ticks`",
  '"  padded  "',
  "\\n bare",
  '"""',
  "\"mixed'",
  "😀 — ok",
  '"\\\\\\""',
];
const COUNTS = ["0", "0", "0", "1", "2", "3"];
const ODD_COUNTS = ["4", "17", "00", "007", "-1", "+1", "1.5", "three", "", '"2"', "2 of 3", "１"];
const ODD_PHASES = ["", "x", "1.5", "-1", '"2"', "007", "123456789", "1234567890", "1b", "''"];
const ODD_CYCLES = ["0", "00", "-2", "two", "", '"3"', "999999999", "1000000000", "2.0", "''"];
const TRACKERS = ["jira", "ado", "github", "linear", "local"];
const ODD_VALUES = [
  "",
  '""',
  "''",
  "` `",
  '"',
  '"quoted"',
  "' spaced '",
  "`tick`",
  "\"mixed'",
  '""twice""',
  "a: b",
  "a : b :",
  ": c",
  "one — two",
  "\u00a0",
  "\u00a0padded\u00a0",
  '"\u00a0padded\u00a0"',
  "tab\tinside",
  "half\rline",
  "ends\r",
  "para\u2029graph",
  "😀",
  "# not a heading",
  "```",
  "[a / b]",
  "- dash",
  "3",
  "3.5",
  "done",
  "META-REPO",
  "ﬁ\u0301",
  "\ud83d",
];

const UNKNOWN_KEY_LINES = [
  "owner: team a",
  "updated_at: 2025-04-01T10:00:00Z",
  "note : see below",
  "Step2: 4",
  "sub_steps: 3",
  "x:",
  "https://example.org/step: 3",
  "url: https://example.org",
  "sub_step_name: loop",
  "_step: 3",
  "step-name: Plan",
  "2step: 3",
];
const SUB_KEY_LINES = [
  "  phase: 2",
  "phase: 3",
  "  name: inner-name",
  "name: Outer Name",
  '  detail: "inner"',
  "detail:",
  "  name:",
  "phase:",
  "sub_step:",
  "sub_step: 2 — Other",
];
const NOT_KEY_LINES = [
  "",
  "   ",
  "(a remark in the middle)",
  "> step: 9",
  "| step: 9 |",
  "**step**: 9",
  "-step: 9",
  "- - step: 9",
  "1. step: 9",
  "- [ ] step: 9",
  "step 9",
  "step：9",
  "\u00a0step: 9",
  "étape: 9",
  "<!-- step: 9 -->",
  "=======",
  "---",
  "#step: 9",
  "#",
];
const HEADING_LINES = [
  "# Notes",
  "## Notes",
  "### Details",
  "#### Deeper",
  "###### Deepest",
  "####### Too deep",
  "## ",
  "##",
  "# #",
  "## ##",
  "  ## Indented ##",
  "    ## Too far in",
  "\t## Tabbed",
  "## Blockers",
  "### blockers:",
  "## Retry  Log ##",
  "# Last Session",
  "#### KEY DECISIONS",
  "## Completed\tSteps",
  "## Current Step",
  "# Autodev State",
  "## Bloc\u212Aers",
];
const FENCE_LINES = [
  "```",
  "```",
  "```markdown",
  "````",
  "``````",
  "~~~",
  "~~~~",
  "~~~ text",
  "   ```",
  "    ```",
  "\t```",
  "``",
  "```  ",
  "```\u00a0",
  "```\r",
  "``` `x`",
  "```~~~",
  "- ```",
];
const CONFLICT_LINES = [
  "<<<<<<< HEAD",
  "<<<<<<<",
  ">>>>>>> other-branch",
  ">>>>>>>",
  "<<<<<<<HEAD",
  "<<<<<<<<",
  ">>>>>> ",
  " <<<<<<< HEAD",
  ">>>>>>>\tother",
  "||||||| base",
  "=======",
];
const INSERTED_CHARACTERS = [
  "\u2028",
  "\u2029",
  "\r",
  "\n",
  "\r\n",
  "\t",
  " ",
  "\u00a0",
  "\uFEFF",
  "\v",
  "\u0085",
  "😀",
  "—",
  "–",
  ":",
  "#",
  "`",
  "~~~",
  "```",
  '"',
  "'",
  "\\",
  "-",
  "0",
  "9",
  "a",
  "S",
  "é",
  "\ud83d",
  "\u0301",
];

export function generate(seed: number): string {
  const random = createRandom(seed);
  if (random.chance(0.015)) return blankDocument(random);
  if (random.chance(0.02)) return garbage(random);

  const generation = random.pick([1, 2, 3, 3] as const);
  const oddness = random.pick([0, 0, 0.08, 0.3]);
  const mutations = random.pick([0, 0, 1, 1, 2, 3, random.between(4, 9)]);

  const draft = wellFormedDraft(random, generation, oddness);
  const stages = Array.from({ length: mutations }, () => random.pick(STAGES));
  for (const stage of stages) {
    if (stage === "draft") random.pick(DRAFT_MUTATIONS)(draft, random);
  }

  const lines = [...draft.top, ...draft.heading, ...draft.block, ...draft.sections.flat()];
  for (const stage of stages) {
    if (stage === "lines") random.pick(LINE_MUTATIONS)(lines, random);
  }

  let text = joinLines(lines, random);
  for (const stage of stages) {
    if (stage === "text") text = random.pick(TEXT_MUTATIONS)(text, random);
  }
  if (random.chance(0.003)) text = lengthenOneLine(text, random);
  return random.chance(0.08) ? `\uFEFF${text}` : text;
}

const STAGES = ["draft", "draft", "draft", "draft", "lines", "lines", "text"] as const;

const DRAFT_MUTATIONS: readonly DraftMutation[] = [
  (draft, random) => duplicateOne(draft.block, random),
  (draft, random) => duplicateOne(draft.block, random),
  (draft, random) => removeOne(draft.block, random),
  (draft, random) => removeOne(draft.block, random),
  (draft, random) => swapTwo(draft.block, random),
  (draft, random) => swapTwo(draft.block, random),
  (draft, random) => shuffle(draft.block, random),
  (draft, random) => insertOne(draft.block, random.pick(UNKNOWN_KEY_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(SUB_KEY_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(SUB_KEY_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(NOT_KEY_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(NOT_KEY_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(FENCE_LINES), random),
  (draft, random) => insertOne(draft.block, random.pick(HEADING_LINES), random),
  (draft, random) => restyleOne(draft.block, random),
  (draft, random) => restyleOne(draft.block, random),
  crowdSubStep,
  crowdSubStep,
  moveNameBelowSubStep,
  moveNameBelowSubStep,
  restyleAll,
  restyleAll,
  (draft, random) => fenceIn(draft.block, random),
  (draft, random) => fenceIn(draft.block, random),
  (draft, random) => fenceIn(draft.top, random),
  (draft, random) => {
    draft.heading = random.pick([[], [random.pick(ODD_POSITION_HEADINGS)]]);
  },
  (draft, random) => {
    draft.heading = [random.pick(ODD_POSITION_HEADINGS)];
  },
  (draft) => {
    draft.heading = [];
  },
  (draft, random) => {
    draft.top = random.pick([[], [random.pick(ODD_TITLES), ""], [random.pick(ODD_TITLES)]]);
  },
  (draft, random) => insertOne(draft.top, random.pick(SUB_KEY_LINES), random),
  (draft, random) => insertOne(draft.top, random.pick(HEADING_LINES), random),
  (draft, random) => swapTwo(draft.sections, random),
  (draft, random) => duplicateOne(draft.sections, random),
  repeatPositionLater,
  moveSectionsToTheTop,
  moveSectionsToTheTop,
  hidePositionInAnotherSection,
  (draft, random) => {
    draft.sections.push(referenceSection(random));
  },
];

const LINE_MUTATIONS: readonly LineMutation[] = [
  duplicateOne,
  removeOne,
  swapTwo,
  fenceIn,
  fenceInRange,
  fenceInRange,
  fenceInRange,
  restyleOne,
  (lines, random) => insertOne(lines, random.pick(HEADING_LINES), random),
  (lines, random) => insertOne(lines, random.pick(FENCE_LINES), random),
  (lines, random) => insertOne(lines, random.pick(FENCE_LINES), random),
  (lines, random) => insertOne(lines, random.pick(NOT_KEY_LINES), random),
  (lines, random) => insertOne(lines, random.pick(UNKNOWN_KEY_LINES), random),
  (lines, random) => insertOne(lines, random.pick(CONFLICT_LINES), random),
  insertConflict,
  (lines, random) => {
    for (let count = random.between(2, 8); count > 0; count -= 1) {
      insertOne(lines, random.pick(FENCE_LINES), random);
    }
  },
];

const TEXT_MUTATIONS: readonly TextMutation[] = [
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) => text.slice(random.below(text.length + 1)),
  insertCharacters,
  insertCharacters,
  insertCharacters,
  deleteCharacters,
  deleteCharacters,
  (text, random) => insertAt(text, random.below(text.length + 1), "\0"),
  (text, random) => {
    const from = random.below(text.length + 1);
    return insertAt(text, from, text.slice(from, from + random.below(60)));
  },
  (text, random) => text.replaceAll(" ", random.pick(["\t", "  ", "\u00a0"])),
  (text, random) => text.replaceAll("\n", random.pick(["\r", "\n\n", "\r\r\n", "\u2028\n"])),
  (text) => text.toUpperCase(),
];

function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.floor(seed / 0x100000000);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    between: (lowest, highest) => lowest + below(highest - lowest + 1),
    chance: (probability) => next() < probability,
    pick: <Item>(items: readonly Item[]): Item => {
      if (items.length === 0) throw new Error("nothing to pick from");
      return items[below(items.length)] as Item;
    },
  };
}

function wellFormedDraft(random: Random, generation: Generation, oddness: number): Draft {
  const hasOddTitle = random.chance(oddness / 2);
  const title = hasOddTitle ? random.pick(ODD_TITLES) : random.pick(TITLES[generation]);
  const hasOddHeading = random.chance(oddness / 2);
  return {
    top: random.chance(0.95) ? [title, ""] : [],
    heading: [hasOddHeading ? random.pick(ODD_POSITION_HEADINGS) : POSITION_HEADING],
    block: wellFormedBlock(random, generation, oddness),
    sections: optionalSections(random, generation),
  };
}

function wellFormedBlock(random: Random, generation: Generation, oddness: number): string[] {
  const valueOf = (usual: readonly string[], odd: readonly string[]): string => {
    if (!random.chance(oddness)) return random.pick(usual);
    return random.chance(0.25) ? random.pick(ODD_VALUES) : random.pick(odd);
  };
  const keyLine = (key: string, usual: readonly string[], odd: readonly string[]): string => {
    const value = valueOf(usual, odd);
    return value === "" && random.chance(0.7) ? `${key}:` : `${key}: ${value}`;
  };
  const scalars = [
    `${random.between(1, 9)} — ${random.pick(PHASE_TITLES)}`,
    `${random.between(1, 9)}${random.pick(["a", "b", "c"])} — ${random.pick(PHASE_TITLES)}`,
    random.pick(["0", "done", "", "4"]),
  ];
  const numberedSteps = [String(random.between(1, 17)), String(random.between(1, 9)), "done"];

  const block: string[] = [];
  if (generation > 1) {
    const flows = generation === 2 ? ["greenfield", "existing-code"] : FLOWS;
    block.push(keyLine("flow", flows, ODD_VALUES));
  }
  block.push(
    keyLine("step", generation === 1 ? LETTERED_STEPS : numberedSteps, ODD_VALUES),
    keyLine("name", STEP_NAMES, ODD_VALUES),
    keyLine("status", STATUSES, ODD_STATUSES),
  );
  if (generation === 3 && random.chance(0.9)) {
    block.push(random.chance(oddness / 2) ? random.pick(ODD_OPENINGS) : "sub_step:");
    const subLines = [
      keyLine("  phase", [String(random.between(0, 12))], ODD_PHASES),
      keyLine("  name", PHASE_NAMES, ODD_VALUES),
      keyLine("  detail", DETAILS, ODD_DETAILS),
    ];
    block.push(...subLines.filter(() => !random.chance(oddness / 2)));
  } else if (random.chance(0.85)) {
    block.push(keyLine("sub_step", scalars, ODD_SCALARS));
  }
  if (random.chance(generation === 1 ? 0.75 : 0.95)) {
    block.push(keyLine("retry_count", COUNTS, ODD_COUNTS));
  }
  if (generation === 3 && random.chance(0.9)) {
    block.push(keyLine("cycle", ["1", "1", "2", "14"], ODD_CYCLES));
  }
  if (random.chance(0.12)) block.push(keyLine("tracker", TRACKERS, ODD_VALUES));
  return block;
}

function optionalSections(random: Random, generation: Generation): string[][] {
  const share = generation === 1 ? 0.7 : 0.25;
  const sections: string[][] = [];
  if (generation === 1 && random.chance(0.6)) sections.push(referenceSection(random));
  if (random.chance(share)) sections.push(completedSection(random));
  if (random.chance(share)) {
    sections.push(["", "## Key Decisions", "- 2025-03-02 store: Postgres", "- queue: none"]);
  }
  if (random.chance(share)) sections.push(lastSessionSection(random));
  if (random.chance(share / 2)) sections.push(retrySection(random));
  if (random.chance(share)) {
    sections.push(["", "## Blockers", random.pick(["- none", "- name: x"])]);
  }
  return sections;
}

function completedSection(random: Random): string[] {
  const header = random.chance(0.2)
    ? ["| Step | Name | SubStep | Completed | Key Outcome |", "|---|---|---|---|---|"]
    : ["| Step | Name | Completed | Key Outcome |", "|------|------|-----------|-------------|"];
  const rows = Array.from(
    { length: random.below(3) },
    (_, index) => `| ${index} | ${random.pick(STEP_NAMES)} | 2025-03-0${index + 1} | written |`,
  );
  return ["", "## Completed Steps", "", ...header, ...rows];
}

function lastSessionSection(random: Random): string[] {
  return [
    "",
    "## Last Session",
    "date: 2025-03-04",
    `ended_at: Step 2 Plan — SubStep ${random.between(1, 9)} review`,
    `reason: ${random.pick(["completed step", "session boundary", "user paused"])}`,
    "notes: look at step: 3 first",
  ];
}

function retrySection(random: Random): string[] {
  return [
    "",
    "## Retry Log",
    "| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |",
    "|---------|------|------|---------|----------------|-----------|",
    `| 1 | 4 | ${random.pick(STEP_NAMES)} | 7 | tests: red | 2025-03-04T09:10 |`,
  ];
}

function referenceSection(random: Random): string[] {
  const example = [
    "step: 3",
    "name: Decompose",
    "status: failed",
    `sub_step: 2c — ${random.pick(PHASE_TITLES)}`,
    "retry_count: 3",
  ];
  if (random.chance(0.3)) example.unshift("# Autodev State", "", POSITION_HEADING);
  else if (random.chance(0.2)) example.push("", "## Blockers", "- example");
  if (random.chance(0.6)) fenceIn(example, random);
  const remark = random.pick(["Example:", "step: N is the step", "retry_count: 0 after success"]);
  return ["", "## Step ↔ SubStep Reference", remark, ...example];
}

function crowdSubStep(draft: Draft, random: Random): void {
  const opening = draft.block.indexOf("sub_step:");
  if (opening === -1) draft.block.push("sub_step:");
  const from = opening === -1 ? draft.block.length : opening + 1;
  const others = [SUB_KEY_LINES, SUB_KEY_LINES, SUB_KEY_LINES, NOT_KEY_LINES, UNKNOWN_KEY_LINES];
  for (let count = random.between(1, 4); count > 0; count -= 1) {
    draft.block.splice(from + random.below(4), 0, random.pick(random.pick(others)));
  }
}

function moveNameBelowSubStep(draft: Draft, random: Random): void {
  const from = draft.block.findIndex((line) => line.startsWith("name:"));
  const opening = draft.block.indexOf("sub_step:");
  if (from === -1 || opening === -1) return;
  const moved = draft.block.splice(from, 1);
  draft.block.splice(opening + random.below(4), 0, ...moved);
}

function repeatPositionLater(draft: Draft, random: Random): void {
  draft.sections.push([random.pick([...ODD_POSITION_HEADINGS, POSITION_HEADING]), "step: 9"]);
}

function moveSectionsToTheTop(draft: Draft, random: Random): void {
  const moved = draft.sections.splice(0, random.between(1, draft.sections.length));
  draft.top.push(...moved.flat());
}

function hidePositionInAnotherSection(draft: Draft, random: Random): void {
  const hidden = [...draft.heading, ...draft.block];
  fenceIn(hidden, random);
  const section = ["", random.pick(HEADING_LINES), ...hidden];
  if (random.chance(0.5)) draft.top.push(...section);
  else draft.sections.push(section);
}

function restyleAll(draft: Draft, random: Random): void {
  const restyle = pickRestyling(random);
  draft.block = draft.block.map((line) => restyle(line));
}

function restyleOne(lines: string[], random: Random): void {
  if (lines.length === 0) return;
  const index = random.below(lines.length);
  lines[index] = pickRestyling(random)(lines[index] ?? "");
}

function pickRestyling(random: Random): (line: string) => string {
  const margin = random.pick(["", " ", "  ", "\t", "        ", " \t "]);
  const marker = random.pick(["- ", "* ", "+ ", "-\t", "-   ", "-"]);
  const quote = random.pick(['"', "'", "`"]);
  const aroundColon = random.pick([":", " : ", "\t:\t", ":   ", " :", ":\t \t"]);
  const tail = random.pick([" ", "   ", "\t", " \t ", "\u00a0", "\r"]);
  return random.pick<(line: string) => string>([
    (line) => `${margin}${line}`,
    (line) => `${margin}${marker}${line.trimStart()}`,
    (line) => `${marker}${line}`,
    (line) => line.trim(),
    (line) => line.replace(/: ?/, () => aroundColon),
    (line) => `${line}${tail}`,
    (line) => line.toUpperCase(),
    (line) => line.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    (line) => line.replace(/: (.+)$/, (_whole, value: string) => `: ${quote}${value}${quote}`),
    (line) => line.replace(/: .*$/, ":"),
    (line) => line.replace(/: .*$/, () => `: ${random.pick(ODD_VALUES)}`),
    (line) => line.replaceAll(" ", "\t"),
    (line) => line.replaceAll("-", "—"),
  ]);
}

function fenceIn(lines: string[], random: Random): void {
  lines.unshift(random.pick(FENCE_LINES));
  if (random.chance(0.85)) lines.push(random.chance(0.7) ? "```" : random.pick(FENCE_LINES));
}

function fenceInRange(lines: string[], random: Random): void {
  const from = random.below(lines.length + 1);
  const range = lines.splice(from, random.below(10));
  fenceIn(range, random);
  lines.splice(from, 0, ...range);
}

function insertConflict(lines: string[], random: Random): void {
  const from = random.below(lines.length + 1);
  const ours = lines.slice(from, from + random.between(1, 4));
  const theirs = ours.map((line) => line.replace(/\d/, "8"));
  const conflict = ["<<<<<<< HEAD", ...ours, "=======", ...theirs, ">>>>>>> side"];
  if (random.chance(0.2)) conflict.splice(random.pick([0, conflict.length - 1]), 1);
  lines.splice(from, ours.length, ...conflict);
}

function duplicateOne<Item>(items: Item[], random: Random): void {
  if (items.length > 0) insertOne(items, random.pick(items), random);
}

function insertOne<Item>(items: Item[], item: Item, random: Random): void {
  items.splice(random.below(items.length + 1), 0, item);
}

function removeOne<Item>(items: Item[], random: Random): void {
  items.splice(random.below(items.length), 1);
}

function swapTwo<Item>(items: Item[], random: Random): void {
  if (items.length < 2) return;
  const [moved] = items.splice(random.below(items.length), 1) as [Item];
  insertOne(items, moved, random);
}

function shuffle<Item>(items: Item[], random: Random): void {
  for (const item of items.splice(0)) insertOne(items, item, random);
}

function joinLines(lines: string[], random: Random): string {
  const endings = random.pick([
    ...Array.from({ length: 6 }, () => ["\n"]),
    ["\r\n"],
    ["\r\n"],
    ["\n", "\r\n"],
    ["\n", "\n", "\n", "\n", "\r\n", "\r", "\r\r\n"],
  ]);
  let text = "";
  for (const line of lines) text += line + random.pick(endings);
  return random.chance(0.15) ? text.replace(/(?:\r?\n)+$/, "") : text;
}

function insertAt(text: string, offset: number, inserted: string): string {
  return text.slice(0, offset) + inserted + text.slice(offset);
}

function insertCharacters(text: string, random: Random): string {
  let changed = text;
  for (let count = random.pick([1, 1, 2, 5]); count > 0; count -= 1) {
    const inserted = random.pick(INSERTED_CHARACTERS);
    changed = insertAt(changed, random.below(changed.length + 1), inserted);
  }
  return changed;
}

function deleteCharacters(text: string, random: Random): string {
  let changed = text;
  for (let count = random.pick([1, 1, 2, 5]); count > 0; count -= 1) {
    const from = random.below(changed.length + 1);
    changed = changed.slice(0, from) + changed.slice(from + random.pick([1, 1, 1, 2, 12]));
  }
  return changed;
}

function lengthenOneLine(text: string, random: Random): string {
  const units = ["x", " ", "\t", "#", "`", "-", "9", "word ", ": ", "— ", '"', "\\", " \r"];
  const unit = random.pick(units);
  const length = random.pick([2_000, 2_000, 20_000]);
  const longPart = unit.repeat(length / unit.length);
  return insertAt(text, random.below(text.length + 1), longPart);
}

function blankDocument(random: Random): string {
  const blanks = ["", "", "\n", "\r\n", " ", "\t", "\u00a0", "\uFEFF", "\u2028", "\r", "\n\n\n"];
  let text = "";
  for (let count = random.below(4); count > 0; count -= 1) text += random.pick(blanks);
  return text;
}

function garbage(random: Random): string {
  const pieces = [
    INSERTED_CHARACTERS,
    INSERTED_CHARACTERS,
    NOT_KEY_LINES,
    FENCE_LINES,
    HEADING_LINES,
    SUB_KEY_LINES,
    ["step: 1", "\nstep: 2\n", "\0", "<<<<<<<", "\n", "\n", "\n", "\r\n"],
  ];
  let text = "";
  for (let count = random.below(40); count > 0; count -= 1) {
    text += random.pick(random.pick(pieces));
    if (random.chance(0.4)) text += "\n";
  }
  return text;
}
