/**
 * Plans that nobody would write and somebody will: half of them grown from a grammar of nasty
 * fragments in the style of every format, half of them real ones (test/plans) with bytes, lines
 * and halves exchanged. A seed brings a document back.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Source } from "../src/formats/read-plan.ts";
import { type Random, randomFrom, repositoryRoot } from "./rig.ts";

export type Sources = readonly Source[];

export const pick = <T>(random: Random, items: readonly T[]): T =>
  items[random.below(items.length)] as T;

const many = <T>(random: Random, low: number, high: number, make: (at: number) => T): T[] =>
  Array.from({ length: random.between(low, high) }, (_, at) => make(at));

/** Odd seeds are grown, even ones are changed from what people wrote. */
export const generate = (seed: number, corpus: readonly Sources[]): Sources =>
  seed % 2 === 0 && corpus.length > 0 ? mutated(seed, corpus) : grown(seed);

// ── words ──────────────────────────────────────────────────────────────────────────────────────

const words = [
  "Schema",
  "Backend API",
  "Pilot",
  "x",
  "naïve café",
  "数据库",
  "👩‍👩‍👧 family",
  "🧱𝔘𝔫𝔦",
  "**bold** part",
  "`code | bar`",
  "a \\| b",
  "[link](a/b.md)",
  "![img](i.png)",
  "~~gone~~",
  "<b>html</b>",
  "_under_ score",
  "see [^1]",
  "www.example.com",
  "T001",
  "‮rtl",
  "a\xA0b",
  "&amp; &#91;",
  "*",
  "ẹ́",
  "Setup",
  "checkpoint",
  "{brace}",
  "1. one",
  "C:\\dir",
  "🏳️‍🌈",
];
const text = (random: Random): string => many(random, 1, 3, () => pick(random, words)).join(" ");

const statuses = [
  "⬜",
  "✅",
  "🔄",
  "❌",
  "⏸️",
  "⏭️",
  "⬜ Pending",
  "✅ Complete",
  "🔄 In Progress",
  "Done",
  "done",
  "DONE",
  "In Progress",
  "`todo`",
  "**Complete**",
  "Not started",
  "blocked",
  "Skipped",
  "",
  "-",
  "—",
  "N/A",
  "[ ]",
  "[x]",
  "[~]",
  "50%",
  "3/5",
  "✅*",
  "~~pending~~ done",
  "完成",
  "进行中",
  "готово",
  "Complete (2026-01-02)",
  "🟢",
  "🟡 WIP",
  "whatever",
  "✔️",
  "☐",
  "TODO | later",
  "*done*",
  "Fertig",
  "✅ Complete — shipped",
  "_In progress_",
  "done, see [notes](n.md)",
  "Blocked by 2",
];
const status = (random: Random): string => pick(random, statuses);

const marks = [
  ..." ,x, ,x,X, , ,x".split(","),
  ..."~,-,✓,✔,✅,☑,🔄,/,>,!,?,.,•,é,y,0,\t".split(","),
];
const plainMark = (random: Random): string => pick(random, [" ", " ", " ", "x", "X"]);
const box = (random: Random): string =>
  random.chance(0.75)
    ? `[${plainMark(random)}] `
    : pick(random, [
        `[${pick(random, marks)}] `,
        "[ ]* ",
        "[x]* ",
        "[~]* ",
        "[ ]",
        "[]",
        "[  ] ",
        "[x]	",
        "[ ]\xA0",
        "\\[ ] ",
        "**[ ]** ",
        "[x](l) ",
        "[x][r] ",
        "[ ]: ",
        "[ ]  ",
        "~~[ ]~~ ",
        "`[ ]` ",
      ]);
const bullet = (random: Random): string =>
  random.chance(0.8)
    ? pick(random, ["- ", "- ", "- ", "* ", "+ ", "1. "])
    : pick(random, [
        "-  ",
        "-   ",
        "-    ",
        "-     ",
        "-\t",
        "10) ",
        "1) ",
        "- - ",
        "1. - ",
        "- > ",
        "> - ",
      ]);
const indent = (random: Random): string =>
  random.chance(0.7)
    ? ""
    : pick(random, [
        "  ",
        "  ",
        "    ",
        " ",
        "   ",
        "\t",
        "      ",
        "\t\t",
        "> ",
        "  \t",
        "        ",
      ]);
const tail = (random: Random): string =>
  random.chance(0.7)
    ? text(random)
    : pick(random, [
        "[P] parallel",
        "[P] [US1] story",
        "",
        " ",
        "~~struck~~",
        "**bold**: rest",
        "a  ",
        "b\\",
        "1.1 numbered",
        "2. second",
        "T003 [P] with id",
        "**CHECKPOINT**: stop",
        "Checkpoint",
        "🎯",
        "Acceptance criteria:",
        "- [ ] twice",
        "[ ] again",
        "# no heading",
        "| a | b |",
        "`unclosed",
        "<!-- hidden -->",
        "<!-- open",
        "[unclosed",
        "**unclosed",
        "x".repeat(300),
        "_Requirements: 1_",
      ]);

const item = (random: Random): string =>
  `${indent(random)}${bullet(random)}${random.chance(0.85) ? box(random) : ""}${tail(random)}`;

// ── fragments ──────────────────────────────────────────────────────────────────────────────────

type Fragment = (random: Random) => string[];

const fence = (random: Random): string => pick(random, ["```", "```", "````", "~~~", "~~~~~"]);
const info = (random: Random): string =>
  pick(random, ["", "", "js", "markdown", "md", "mermaid", "text", " ts {1}", "MDX", "a`b"]);

const fragments: readonly Fragment[] = [
  // lists
  (random) => many(random, 1, 5, () => item(random)),
  (random) => many(random, 2, 5, (at) => `${"  ".repeat(at)}- ${box(random)}${tail(random)}`),
  (random) => many(random, 2, 4, (at) => `${"\t".repeat(at)}* ${box(random)}${tail(random)}`),
  (random) => many(random, 2, 4, (at) => `${at + 1}. ${box(random)}${tail(random)}`),
  (random) => ["-", `  ${box(random)}${tail(random)}`],
  (random) => ["- text", `${box(random)}lazy`, `  - ${box(random)}inner`],
  (random) => [
    `- ${box(random)}lead`,
    "",
    `  second paragraph ${box(random)}`,
    "",
    `  - ${box(random)}in`,
  ],
  (random) => [`- ${box(random)}a`, "===", `- ${box(random)}b`, "---"],
  (random) => [`- ${box(random)}${tail(random)}`, "  continued", "lazily", `${box(random)}more`],
  (random) => [`${"- ".repeat(random.between(2, 6))}${box(random)}deep`],
  (random) => ["para", `- ${box(random)}${tail(random)}`, `2. ${box(random)}not a start`],
  (random) => [
    `- ${box(random)}one`,
    "",
    "",
    `- ${box(random)}two`,
    "",
    "    code?",
    "",
    "      code!",
  ],
  (random) => [
    "-   a",
    "",
    `    ${pick(random, ["- ", "1. "])}${box(random)}inner`,
    "",
    `     - ${box(random)}x`,
  ],
  // quotes
  (random) => many(random, 1, 4, () => `> ${item(random)}`),
  (random) => [
    "> quoted",
    `lazy ${box(random)}`,
    `> > - ${box(random)}${tail(random)}`,
    `> - ${box(random)}b`,
  ],
  (random) => [`- > ${box(random)}in`, `  > - ${box(random)}deeper`, `- ${box(random)}out`],
  (random) => ["> ```", `> - ${box(random)}in code`, `- ${box(random)}after the quote`],
  // fences
  (random) => [`${fence(random)}${info(random)}`, item(random), fence(random)],
  (random) => [`${fence(random)}${info(random)}`, item(random), item(random)],
  (random) => [
    "```markdown",
    item(random),
    `\`\`\`${pick(random, ["js", "", "bash"])}`,
    item(random),
    "```",
    item(random),
    ...(random.chance(0.7) ? ["```"] : []),
    item(random),
  ],
  (random) => ["````md", "```js", item(random), "```", item(random), "````", item(random)],
  (random) => [
    `- ${box(random)}a`,
    "  ```",
    `  - ${box(random)}in code`,
    random.chance(0.5) ? "  ```" : "```",
  ],
  (random) => [
    `${indent(random)}${fence(random)}`,
    `${indent(random)}${item(random)}`,
    `${indent(random)}${fence(random)}`,
  ],
  (random) => ["~~~", "```", item(random), "~~~", item(random)],
  (random) => ["", `    - ${box(random)}indented code`, `\t- ${box(random)}tabbed`, ""],
  // HTML
  (random) => [`<!-- - ${box(random)}hidden -->`],
  (random) => ["<!--", item(random), "-->", item(random)],
  (random) => ["<!-- never closed", item(random)],
  (random) => ["<div>", item(random), "</div>", item(random), "", item(random)],
  (random) => ["<details>", "<summary>more</summary>", "", item(random), "", "</details>"],
  (random) => [`- <b>x</b> ${box(random)}`, `- <!-- c --> ${box(random)}y`, "<br>", item(random)],
  (random) => ["<script>", item(random), "", item(random), "</script>", item(random)],
  (random) => [
    pick(random, ["<?php", "<![CDATA[", "<!DOCTYPE x", "<pre>", "</div"]),
    item(random),
    "",
    item(random),
  ],
  // headings, rules, definitions
  (random) => [text(random), pick(random, ["===", "---", "-", "= =", "- - -"]), item(random)],
  (random) => [
    `${"#".repeat(random.between(1, 7))} ${text(random)} ${pick(random, ["", "#", "✅", "— DONE", "[COMPLETE]"])}`,
  ],
  (random) => [
    pick(random, ["---", "***", "- - -", "* * *", "___", "-----", "--- ---"]),
    item(random),
  ],
  (random) => [
    "[^1]: a note",
    `    - ${box(random)}in the note`,
    "",
    `[^2]: - ${box(random)}beside`,
    item(random),
  ],
  (random) => ["[x]: http://example.com", "[ ]: <b> 'title'", "[r]: /u", item(random)],
  (random) => ["[r]:", item(random), "[s]: /u 'open", item(random), "'"],
  // tables
  (random) => ["| a | b |", "|---|:-:|", `| ${box(random)}| ${tail(random)} |`, item(random)],
  (random) => ["a | b", "--|--", `${tail(random)} | x | y`, "|", `- ${box(random)}| in a row`],
  (random) => [
    `- ${box(random)}| a | b |`,
    "  |---|---|",
    `  | ${box(random)}| c |`,
    `  - ${box(random)}d`,
  ],
  // space
  () => ["", " ", "\t", ""],
  (random) => [
    pick(random, ["\u000c", "\u2028", "\u0085", "\u00a0", "\u200b", "\ufeff"]),
    item(random),
  ],
  (random) => [`${text(random)}  `, `${box(random)}${text(random)}\\`, item(random)],
];

/** Rare, because they are slow to judge: long lines, deep nests, many rows. */
const heavy: readonly Fragment[] = [
  (random) => [
    `- ${box(random)}${pick(random, ["x", "[", "*a ", "` ", "<", "_a_ ", "| "]).repeat(1500)}`,
  ],
  (random) => Array.from({ length: 40 }, (_, at) => `${"  ".repeat(at)}- ${box(random)}d${at}`),
  (random) => [`${">".repeat(random.between(20, 110))} - ${box(random)}deep`],
  (random) => [`${"- ".repeat(random.between(20, 110))}${box(random)}deep`],
  (random) => Array.from({ length: 120 }, () => item(random)),
  (random) => [
    "| Phase | Status |",
    "|-|-|",
    ...Array.from({ length: 150 }, (_, at) => `| ${at} | ${status(random)} |`),
  ],
];

// ── styles ─────────────────────────────────────────────────────────────────────────────────────

interface Grown {
  readonly file: string;
  readonly lines: string[];
}
type Style = (random: Random) => Grown;

const dependency = (random: Random): string =>
  pick(random, [
    "-",
    "1",
    "Phase 1",
    "1, 2",
    "None",
    "",
    "2A–2C",
    "all",
    "9",
    "`0`",
    "1 | 2",
    "Setup",
  ]);
const ids = [
  "0",
  "1",
  "2",
  "2A",
  "2B",
  "3",
  "1.1",
  "11",
  "IV",
  "A",
  "WU-01",
  "Setup",
  "第1",
  "1",
  "x y",
];
const heads = [
  "Name",
  "Depends On",
  "Parallel With",
  "Estimate",
  "Status",
  "Notes",
  "Done?",
  "",
  "**Status**",
];

const section: Fragment = (random) => [
  ...(random.chance(0.4) ? [`> **Depends On**: ${dependency(random)}`] : []),
  ...(random.chance(0.5) ? [statusLine(random)] : []),
  ...(random.chance(0.6)
    ? [pick(random, ["#### Tasks", "**Tasks**:", "Tasks:", "**Tasks**", ""])]
    : []),
  ...many(random, 0, 4, () => item(random)),
  ...(random.chance(0.4)
    ? [
        pick(random, ["#### Definition of Done", "**Acceptance Criteria:**", "Done when:"]),
        ...many(random, 1, 2, () => item(random)),
      ]
    : []),
];

const statusLine = (random: Random): string => {
  const value = status(random);
  return pick(random, [
    `**Status**: ${value}`,
    `**Status:** ${value}`,
    `> **Status**: ${value}`,
    `- **Status**: ${value}`,
    `Status: ${value}`,
    `*Status*: ${value} | **Estimate**: 5`,
    `**Estimate**: 3 · **Status**: ${value}`,
    `- Status: ${value}  `,
    `| **Status** | ${value} |`,
    `**Status** ${value}`,
    `_Status_: _${value}_`,
  ]);
};

const overview: Fragment = (random) => {
  const columns = [
    pick(random, ["Phase", "#", "ID", "**Phase**", "阶段"]),
    ...random.shuffled(heads).slice(0, random.between(1, 5)),
  ];
  const bare = random.chance(0.1);
  const row = (cells: readonly string[]): string =>
    bare
      ? cells.join(" | ")
      : `${pick(random, ["| ", "|", "|  "])}${cells.join(pick(random, [" | ", "|", " |  "]))}${pick(random, [" |", "|", "", " | "])}`;
  const cell = (head: string): string => {
    if (/Status|Done/u.test(head))
      return status(random).replace(/(?<!\\)\|/gu, random.chance(0.5) ? "\\|" : "|");
    if (/Depends|Parallel/u.test(head)) return dependency(random);
    if (head === "Estimate") return pick(random, ["5", "8 pts", "", "XL"]);
    return text(random).replace(/(?<!\\)\|/gu, "\\|");
  };
  return [
    row(columns),
    row(columns.map(() => pick(random, ["---", ":-:", "--:", "-"]))),
    ...many(random, 1, 5, (at) => {
      const id = random.chance(0.8) ? String(at) : pick(random, ids);
      const cells = [
        pick(random, [id, id, `Phase ${id}`, `**${id}**`, `~~${id}~~`, `[${id}](#p)`]),
        ...columns.slice(1).map(cell),
      ];
      if (random.chance(0.1)) cells.pop();
      if (random.chance(0.1)) cells.push("more");
      return row(cells);
    }),
  ];
};

const phaseTitle = (random: Random, id: string): string =>
  pick(random, [
    `Phase ${id}: ${text(random)}`,
    `Phase ${id}: ${text(random)} ${status(random)}`,
    `✅ Phase ${id} — ${text(random)}`,
    `Phase ${id}: ${text(random)} — ${status(random)}`,
    `Phase ${id}: ${text(random)} [${status(random)}]`,
    `Phase ${id} (${status(random)})`,
    `${id}. ${text(random)}`,
    `Step ${id}: ${text(random)}`,
    `[x] Phase ${id}: a`,
    `~~Phase ${id}: ${text(random)}~~`,
    `**Phase ${id}**: ${text(random)} - *in* progress`,
    `Phase ${id}: a **DONE**`,
  ]);

const superplan: Style = (random) => ({
  file: "plan.md",
  lines: [
    `# ${text(random)}`,
    "",
    ...(random.chance(0.2)
      ? ["Legend: ⬜ Not started | 🔄 In progress | ✅ Done | 🟡 Blocked", ""]
      : []),
    ...(random.chance(0.7) ? [...overview(random), ""] : []),
    ...many(random, 1, 4, (at) => [
      `${random.chance(0.9) ? "##" : pick(random, ["#", "###", "####"])} ${phaseTitle(random, random.chance(0.8) ? String(at) : pick(random, ids))}`,
      ...section(random),
      "",
    ]).flat(),
  ],
});

const specKit: Style = (random) => ({
  file: "tasks.md",
  lines: [
    ...many(random, 1, 3, (at) => [
      `## Phase ${at + 1}: ${text(random)}`,
      ...many(
        random,
        1,
        4,
        (task) =>
          `- ${box(random)}T${String(at * 10 + task).padStart(3, "0")} ${pick(random, ["", "[P] ", "[P] [US1] "])}${tail(random)}`,
      ),
      "**Checkpoint**: done",
      "",
    ]).flat(),
    "## Dependencies",
    "- Setup (Phase 1): No dependencies",
    `- Phase 2 depends on ${dependency(random)}`,
  ],
});

const openspec: Style = (random) => ({
  file: pick(random, ["tasks.md", "openspec/changes/x/tasks.md"]),
  lines: many(random, 1, 3, (at) => [
    `## ${at + 1}. ${text(random)}`,
    ...many(random, 1, 4, (task) => `- ${box(random)}${at + 1}.${task + 1} ${tail(random)}`),
    "",
  ]).flat(),
});

const kiro: Style = (random) => ({
  file: pick(random, ["tasks.md", ".kiro/specs/x/tasks.md"]),
  lines: [
    "# Implementation Plan",
    "",
    ...many(random, 1, 4, (at) => [
      `- ${box(random)}${at + 1}. ${tail(random)}`,
      ...many(
        random,
        0,
        3,
        (task) =>
          `${pick(random, ["  ", "  ", "", "\t"])}- ${random.chance(0.8) ? box(random) : ""}${at + 1}.${task + 1} ${tail(random)}`,
      ),
      ...(random.chance(0.6) ? ["  - _Requirements: 1.1_"] : []),
      ...(random.chance(0.2) ? [`  - _Depends: ${dependency(random)}_`] : []),
      ...(random.chance(0.3) ? [""] : []),
    ]).flat(),
  ],
});

const superpowers: Style = (random) => ({
  file: "plan.md",
  lines: [
    ...(random.chance(0.5)
      ? ["> **For Claude:** REQUIRED SUB-SKILL: superpowers:executing-plans", ""]
      : []),
    ...many(random, 1, 3, (at) => [
      `### Task ${at + 1}: ${text(random)} ${random.chance(0.3) ? status(random) : ""}`,
      "**Files:**",
      "- Create: `a/b.ts`",
      "",
      ...many(random, 1, 3, (step) =>
        random.chance(0.6)
          ? `- ${box(random)}**Step ${step + 1}: ${tail(random)}**`
          : `**Step ${step + 1}: ${tail(random)}**`,
      ),
      "```bash",
      item(random),
      "```",
    ]).flat(),
  ],
});

const yaml = (random: Random): string =>
  pick(random, [
    "To Do",
    "In Progress",
    "Done",
    "'Done'",
    '"To Do"',
    "done # note",
    "&a Done",
    "|\n  Done",
    "!!str Done",
    "[Done]",
    "~",
    "3",
  ]);

const backlog: Style = (random) => ({
  file: "backlog/tasks/task-7 - x.md",
  lines: [
    "---",
    ...random.shuffled([
      `id: ${pick(random, ["task-7", "'BACK-7'", "7", "task-7.1"])}`,
      `title: ${pick(random, ["Add dark mode", "'it''s'", '"a: b"', "ü 👍"])}`,
      `status: ${yaml(random)}`,
      pick(random, [
        "dependencies: []",
        "dependencies:\n  - task-1",
        "dependencies: [task-1, 'task-2']",
        "labels: [a]",
      ]),
    ]),
    pick(random, ["---", "---", "---", "..."]),
    "",
    "## Description",
    text(random),
    "## Acceptance Criteria",
    "<!-- AC:BEGIN -->",
    ...many(random, 1, 4, (at) => `- ${box(random)}#${at + 1} ${tail(random)}`),
    "<!-- AC:END -->",
    "## Implementation Plan",
    ...many(random, 0, 3, () => item(random)),
  ],
});

const story: Style = (random) => ({
  file: pick(random, ["1.2.story.md", "stories/story-1.2.md"]),
  lines: [
    `# Story 1.2: ${text(random)}`,
    "",
    ...pick(random, [
      ["## Status", "", status(random)],
      [`## Status: ${status(random)}`],
      [statusLine(random)],
    ]),
    "",
    "## Acceptance Criteria",
    ...many(random, 1, 3, () => item(random)),
    "",
    "## Tasks / Subtasks",
    ...many(random, 1, 5, () => item(random)),
  ],
});

const generic: Style = (random) => ({
  file: pick(random, ["TODO.md", "plan.md", "notes.markdown"]),
  lines: [
    ...(random.chance(0.5) ? [`# ${text(random)}`] : []),
    ...many(random, 0, 3, () => [
      `${"#".repeat(random.between(1, 4))} ${text(random)}`,
      ...many(random, 1, 4, () => item(random)),
    ]).flat(),
    ...many(random, 1, 3, () => item(random)),
  ],
});

const soup: Style = (random) => ({
  file: "plan.md",
  lines: many(random, 2, 7, () => pick(random, fragments)(random)).flat(),
});

const cards: Style = (random) => ({
  file: pick(random, ["todo/01_a.md", "done/AZ-12_b.md"]),
  lines: [
    `# ${text(random)}`,
    "**Complexity**: 3 points",
    `**Dependencies**: ${dependency(random)}`,
    ...section(random),
    ...section(random),
  ],
});

const taskMaster: Style = (random) => {
  const string = (): string => JSON.stringify(text(random));
  const word = (): string =>
    pick(random, [
      '"pending"',
      '"done"',
      '"in-progress"',
      '"cancelled"',
      '"\\u0064one"',
      '"whatever"',
      '""',
      "3",
      "null",
      '"done "',
    ]);
  const gap = pick(random, [" ", "", "\n  ", "\t"]);
  const subtask = (at: number): string =>
    `{"id":${at},${gap}"title":${string()},"status":${gap}${word()}${random.chance(0.1) ? ',"status":"done"' : ""}}`;
  const task = (at: number): string =>
    `{${gap}"id": ${pick(random, [String(at), `"${at}"`, "1"])}, "title": ${string()},${gap}"status": ${word()},${gap}"dependencies": ${pick(random, ["[]", "[1]", "null", '["1.2"]'])}, "subtasks": [${many(random, 0, 3, subtask).join(`,${gap}`)}]}`;
  const list = `{"tasks": [${gap}${many(random, 0, 4, task).join(`,${gap}`)}]}`;
  const whole = random.chance(0.3) ? `{"master": ${list},${gap}"other": ${list}}` : list;
  const broken = random.chance(0.1)
    ? whole.replace(pick(random, [",", "}", '"']), pick(random, ["", ",,", "//x\n"]))
    : whole;
  return {
    file: pick(random, ["tasks.json", ".taskmaster/tasks/tasks.json"]),
    lines: broken.split("\n"),
  };
};

const styles: readonly Style[] = [
  superplan,
  superplan,
  superplan,
  superplan,
  specKit,
  openspec,
  kiro,
  kiro,
  superpowers,
  backlog,
  story,
  generic,
  generic,
  soup,
  soup,
  soup,
  cards,
  taskMaster,
];

export function grown(seed: number, only?: "markdown"): Sources {
  const random = randomFrom(seed, 1);
  const style = only ? pick(random, styles.slice(0, -1)) : pick(random, styles);
  const { file, lines } = style(random);
  const isJson = file.endsWith(".json");
  const nasty = isJson ? 0 : random.chance(0.35) ? 0 : random.between(1, 3);
  for (let round = 0; round < nasty; round++) {
    const from = random.chance(0.01) && only === undefined ? heavy : fragments;
    lines.splice(random.below(lines.length + 1), 0, ...pick(random, from)(random));
  }
  if (!isJson && style !== backlog && random.chance(0.05)) {
    lines.unshift(
      "---",
      pick(random, ["status: done", "title: x", "- [ ] a", "", "a: [", "status: 'to do'"]),
      "---",
    );
  }
  return [{ file, text: written(lines.join("\n"), random) }];
}

/** Line ends, a byte order mark, an end without one. */
function written(joined: string, random: Random): string {
  const how = random.fraction();
  const end = (): string => pick(random, ["\n", "\r\n", "\r"]);
  const ended =
    how < 0.62
      ? joined
      : how < 0.82
        ? joined.replaceAll("\n", "\r\n")
        : how < 0.9
          ? joined.replaceAll("\n", "\r")
          : joined.replaceAll("\n", end);
  const last = random.chance(0.8) ? (how < 0.62 ? "\n" : end()) : "";
  return (random.chance(0.05) ? "\uFEFF" : "") + ended + last;
}

// ── mutation ───────────────────────────────────────────────────────────────────────────────────

const salt = [
  "[",
  "]",
  "[ ]",
  "[x] ",
  "- ",
  "- [ ] ",
  "* [X] ",
  "> ",
  "|",
  "| ",
  "\\|",
  "`",
  "```",
  "~~~\n",
  "\n",
  "\n\n",
  "\r",
  "\r\n",
  "	",
  "    ",
  "#",
  "## ",
  "<!--",
  "-->",
  "<div>\n",
  "---\n",
  "===\n",
  "~~",
  "**",
  "_",
  "✅",
  "🔄",
  "﻿",
  "👩‍👩‍👧",
  "𝔘",
  "́",
  "[~] ",
  "[-] ",
  "[ ]* ",
  "[^1]: ",
  "\n- [ ]\n",
  "Status: ",
  "1. ",
  ":",
  "é",
  "{",
  '"',
];

type Mutation = (text: string, random: Random, other: string) => string;

const byLines =
  (change: (lines: string[], random: Random) => void): Mutation =>
  (whole, random) => {
    const lines = whole.split("\n");
    change(lines, random);
    return lines.join("\n");
  };
const span = (whole: string, random: Random): [number, number] => {
  const from = random.below(whole.length + 1);
  return [from, Math.min(whole.length, from + random.between(1, random.chance(0.8) ? 4 : 60))];
};

const mutations: readonly Mutation[] = [
  // bytes
  (whole, random) => {
    const bytes = Buffer.from(whole);
    const at = random.below(bytes.length + 1);
    return Buffer.concat([
      bytes.subarray(0, at),
      bytes.subarray(at + random.between(1, 3)),
    ]).toString();
  },
  (whole, random) => {
    const bytes = Buffer.from(whole);
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.between(9, 255);
    return bytes.toString();
  },
  // characters
  (whole, random) => {
    const [from, to] = span(whole, random);
    return whole.slice(0, from) + whole.slice(to);
  },
  (whole, random) => {
    const [from, to] = span(whole, random);
    return whole.slice(0, to) + whole.slice(from, to) + whole.slice(to);
  },
  ...Array.from(
    { length: 3 },
    (): Mutation => (whole, random) => {
      const at = random.below(whole.length + 1);
      return whole.slice(0, at) + pick(random, salt) + whole.slice(at);
    },
  ),
  (whole, random) =>
    whole.replace(/\[[ xX]\]/gu, (found) => (random.chance(0.3) ? box(random).trimEnd() : found)),
  (whole, random) =>
    whole.replace(/[⬜✅🔄]|\b(?:pending|done|complete)\b/giu, (found) =>
      random.chance(0.4) ? status(random) : found,
    ),
  // lines
  byLines((lines, random) => void lines.splice(random.below(lines.length), random.between(1, 3))),
  byLines((lines, random) => {
    const [a, b] = [random.below(lines.length), random.below(lines.length)];
    [lines[a], lines[b]] = [lines[b] ?? "", lines[a] ?? ""];
  }),
  byLines(
    (lines, random) =>
      void lines.splice(random.below(lines.length + 1), 0, ...pick(random, fragments)(random)),
  ),
  byLines((lines, random) => {
    const at = random.below(lines.length);
    lines[at] = pick(random, ["  ", "    ", "\t", "> ", "- "]) + (lines[at] ?? "");
  }),
  byLines((lines, random) => {
    const at = random.below(lines.length);
    lines[at] = (lines[at] ?? "").trimStart();
  }),
  // whole
  (whole) => whole.replace(/(?<!\r)\n/gu, "\r\n"),
  (whole) => whole.replace(/\r?\n/gu, "\r"),
  (whole, random) => whole.replace(/\n/gu, () => pick(random, ["\n", "\n", "\r\n", "\r"])),
  (whole) => `\uFEFF${whole}`,
  (whole, random, other) =>
    whole.slice(0, random.below(whole.length + 1)) + other.slice(random.below(other.length + 1)),
  (whole, random, other) => {
    const [mine, theirs] = [whole.split("\n"), other.split("\n")];
    return [
      ...mine.slice(0, random.below(mine.length)),
      ...theirs.slice(random.below(theirs.length)),
    ].join("\n");
  },
];

function mutated(seed: number, corpus: readonly Sources[]): Sources {
  const random = randomFrom(seed, 2);
  const sources = pick(random, corpus);
  const at = random.below(sources.length);
  const other = pick(random, pick(random, corpus)).text;
  let { text: whole } = sources[at] as Source;
  for (let round = random.between(1, 4); round > 0; round--) {
    whole = pick(random, mutations)(whole, random, other);
  }
  return sources.map((source, index) =>
    index === at ? { ...source, text: storable(whole) } : source,
  );
}

/** What a file that was read can hold: no half characters, no zero bytes. */
const storable = (whole: string): string => Buffer.from(whole).toString().replaceAll("\0", "0");

/** The documents of test/plans, in the order of their names; parts of one plan together. */
export function loadCorpus(): Sources[] {
  const root = path.join(repositoryRoot(), "test", "plans");
  const files = fs
    .readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => /\.(?:md|json)$/u.test(file))
    .sort();
  const plans = files
    .filter((file) => file.endsWith("/expected.json"))
    .map((file) => file.slice(0, -"expected.json".length));
  return plans.flatMap((plan) => {
    const own = files.filter((file) => file.startsWith(plan) && !file.endsWith("/expected.json"));
    const sources = own.map((file) => ({
      file: file.slice(plan.length),
      text: storable(fs.readFileSync(path.join(root, file), "utf8")),
    }));
    // A state.json is no plan by itself, and a proposal is no list of tasks.
    const main = sources.filter(
      ({ file }) =>
        !/(?:^|\/)(?:state\.json|proposal\.md|design\.md|requirements\.md)$/u.test(file),
    );
    return main.length > 0 ? [main] : [];
  });
}
