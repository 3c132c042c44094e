/**
 * What a careless agent leaves behind, skill by skill: artifacts that keep the contract, with one
 * thing wrong. It is caught, and the sentence that the next attempt is given says where and what.
 *
 * The artifacts are the skills' own examples, as far as they have some; what is missing is written
 * as the front matter asks for it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readWrittenSkill } from "../../formats/skill.ts";
import { existing, reportsUnmet, sentenceOf, unmetBy, writtenBetween } from "./contract.ts";
import { fencesOf, outlineOf, plainWords, type Table } from "./outline.ts";
import { type Artifact, type Skill, skillOf } from "./skill.ts";

type Files = Readonly<Record<string, string>>;

/** The skills' examples are of this cycle and of days after this one. */
const time = { cycle: 2, date: "2026-03-01" };

const docsOf = (files: Files) =>
  new Map(Object.entries(files).map(([path, text]) => [path, text.length]));

/** A file whose text is this is no UTF-8: whoever reads it has nothing to pass on. */
const notUtf8 = "\uFFFD";

function told(artifacts: readonly Artifact[], files: Files): string[] {
  const texts = new Map(Object.entries(files).filter(([, text]) => text !== notUtf8));
  return unmetBy(artifacts, { docs: docsOf(files), texts }, time).map(sentenceOf);
}

// ── the skills, and artifacts that keep their contracts ────────────────────────────────────────

interface Way {
  readonly name: string;
  readonly skill: Skill;
}

const folder = join(import.meta.dirname, "../../../skills");

/** Each skill, and each of its modes that promises something of its own. */
const ways: Way[] = readdirSync(folder).flatMap((name) => {
  const text = readFileSync(join(folder, name, "SKILL.md"), "utf8");
  const read = readWrittenSkill(text, `skills/${name}/SKILL.md`);
  if (!read.ok) throw new Error(read.failure.message);
  const { head } = read.value;
  const modes = Object.entries(head.modes).filter(([, { produces }]) => produces !== undefined);
  return [
    { name, skill: skillOf(head, read.value) },
    ...modes.map(([mode]) => ({
      name: `${name}, ${mode}`,
      skill: skillOf(head, { ...read.value, mode }),
    })),
  ];
});

const matches = ({ path }: Artifact, file: string): boolean =>
  existing([{ ...exact, path }], new Map([[file, 1]]), time).length > 0;

const exact = { least: 1, optional: false, sections: [], columns: [], fields: [] };

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** As a skill shows it somewhere in its text, or else with a row of ours. */
function tableFor(columns: readonly string[], skill: Skill): string[] {
  const wanted = columns.map(plainWords);
  const shown = outlineOf(skill.text).tables.find(
    (table) => table.columns.join() === wanted.join(),
  );
  const rows = shown?.rows.map(({ cells }) => cells) ?? [columns.map((name) => `a ${name}`)];
  return [row(columns), `|${columns.map(() => "---|").join("")}`, ...rows.map(row)];
}

/** A line for each expression that a skill of ours has. */
const sayings = [
  "**Verdict**: PASS",
  "**Testability**: testable as it is",
  "confirmed_by_user: false",
  "- 2026-03-11 · tasks: copy the signatures",
  "<main>A page</main>",
  '{ "phase": 8 }',
];

function writtenFor(promised: readonly Artifact[], skill: Skill): string {
  const all = (what: "sections" | "columns" | "fields"): string[] => [
    ...new Set(promised.flatMap((each) => each[what])),
  ];
  const [sections, columns, fields] = [all("sections"), all("columns"), all("fields")];
  const says = promised.flatMap((each) => each.says ?? []);
  return [
    "# About it",
    "",
    "What it is about.",
    "",
    ...fields.map((name) => `**${name}**: ${name === "Complexity" ? "3 points" : `a ${name}`}`),
    "",
    ...(columns.length > 0 ? tableFor(columns, skill) : []),
    "",
    ...sections.flatMap((name) => [`## ${name}`, `What is to be said of ${name}.`, ""]),
    ...says.flatMap((each) => sayings.filter((line) => new RegExp(each).test(line)).slice(0, 1)),
    "",
  ].join("\n");
}

function goodFiles({ skill }: Way): Files {
  const examples = new Map(
    fencesOf(skill.text).fences.map(({ info, text }) => [info.split(/\s+/)[1] ?? "", `${text}\n`]),
  );
  const files: Record<string, string> = {};
  for (const artifact of skill.produces) {
    const names = [...examples.keys()].filter((path) => matches(artifact, path));
    const words = ["first", "second"].map((word) =>
      artifact.path
        .replaceAll("{cycle}", String(time.cycle))
        .replaceAll("{date}", "2026-03-10")
        .replaceAll("*", word),
    );
    for (const path of [...names, ...words].slice(0, Math.max(names.length, artifact.least))) {
      const promised = skill.produces.filter((each) => matches(each, path));
      files[path] ??= examples.get(path) ?? writtenFor(promised, skill);
    }
  }
  for (const { mentions, path, in: column, columns } of skill.produces) {
    if (mentions === undefined) continue;
    const named = Object.keys(files).filter((file) => matches({ ...exact, path: mentions }, file));
    for (const file of named) {
      const cells = columns.map((name) => (name === column ? stemOf(file) : "x"));
      files[path] = afterTable(files[path] ?? "", columns, row(cells));
    }
  }
  return files;
}

const nameOf = (file: string): string => file.slice(file.lastIndexOf("/") + 1);
const stemOf = (file: string): string => nameOf(file).replace(/\.md$/, "");

// ── one thing wrong ────────────────────────────────────────────────────────────────────────────

interface Wrong {
  readonly what: string;
  readonly files: Files;
  readonly told: string;
}

interface Case {
  readonly artifact: Artifact;
  readonly file: string;
  readonly text: string;
  readonly files: Files;
}

/** What the text becomes, and what is said of it after the file's name; `:3` is a line. */
type Spoilt = readonly [what: string, text: string, told: string];

const spoilt = ({ file, files }: Case, all: readonly Spoilt[]): Wrong[] =>
  all.map(([what, text, words]) => ({
    what,
    files: { ...files, [file]: text },
    told: `${file}${words.startsWith(":") ? "" : " "}${words}`,
  }));

const linesOf = (text: string): string[] => text.split("\n");
const lineOf = (text: string, is: (line: string) => boolean): number => {
  const at = linesOf(text).findIndex(is);
  if (at < 0) throw new Error(`no such line in ${text}`);
  return at;
};
const spliced = (text: string, at: number, count: number, ...lines: string[]): string =>
  linesOf(text)
    .toSpliced(at, count, ...lines)
    .join("\n");

const hidden = "this line stands in a code fence, a comment or the front matter";

/** The whole file: it is not there, not here, or not what it should be. */
function wrongFile({ artifact, file, text, files }: Case): Wrong[] {
  const pattern = artifact.path
    .replaceAll("{cycle}", String(time.cycle))
    .replaceAll("{date}", "<YYYY-MM-DD>");
  const rest = Object.fromEntries(
    Object.entries(files).filter(([path]) => !matches(artifact, path)),
  );
  const there = Object.keys(files).length - Object.keys(rest).length;
  const since = artifact.path.includes("{date}") ? ", of 2026-03-01 or later" : "";
  const missing =
    artifact.least > 1
      ? `there are 0 files like ${pattern}, and ${artifact.least} are needed`
      : /[*<]/.test(pattern)
        ? `there is no file like ${pattern}${since}`
        : `${pattern} is missing`;
  const instead = (path: string): Wrong => ({
    what: `is called ${path}`,
    files: { ...rest, [path]: text },
    told: `${missing}; there is ${path}`,
  });
  const isNamed = /[a-z]{3}/.test(artifact.path.replace(/.*\/|\.\w+$|\{\w+\}/g, ""));
  const renamed = file.replace(/(\.\w+)$/, (ending) =>
    ending === ".yaml" ? ".yml" : `s${ending}`,
  );
  const absent = [
    { what: "is not there", files: rest, told: missing },
    ...(isNamed ? [instead(`drafts/${nameOf(file)}`)] : []),
    ...(isNamed && !artifact.path.includes("*") ? [instead(renamed)] : []),
    ...(since === ""
      ? []
      : ["2026-13-45", "2026-02-29", "2025-12-31", "today"].map((date) =>
          instead(file.replace(/\d{4}-\d{2}-\d{2}/, date)),
        )),
    ...(artifact.path.includes("cycle{cycle}") ? [instead(file.replace("cycle2", "cycle1"))] : []),
    ...(artifact.least === 2 && there === 2
      ? [
          {
            what: "is alone, and two are needed",
            files: { ...rest, [file]: text },
            told: `there is 1 file like ${pattern}, and 2 are needed`,
          },
        ]
      : []),
  ];
  const isAsked = artifact.path.endsWith(".md") || artifact.says !== undefined;
  return [
    ...(artifact.optional ? [] : absent),
    ...spoilt({ artifact, file, text, files }, [["has no byte", "", "is empty"]]),
    ...(isAsked
      ? spoilt({ artifact, file, text, files }, [
          ["has only spaces", " \n\t\r\n", "is empty"],
          ["is not UTF-8", notUtf8, "cannot be read as text: it has to be UTF-8"],
          ["is UTF-16", text.replaceAll("", "\0"), "cannot be read as text: it has to be UTF-8"],
          [
            "has a conflict in it",
            `${text}\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n`,
            `:${linesOf(text).length + 1} has the marks of a merge conflict`,
          ],
        ])
      : []),
  ];
}

function wrongDocument(given: Case): Wrong[] {
  const { artifact, file, text } = given;
  if (!file.endsWith(".md")) return [];
  const nothing = "has nothing in it but comments or words like TBD";
  const { sections, columns, fields, says } = artifact;
  const isAsked = sections.length + columns.length + fields.length > 0 || says !== undefined;
  return spoilt(given, [
    ["is a comment", `<!--\n${text.replaceAll("-->", "")}\n-->\n`, nothing],
    ["is a front matter", "---\ntitle: x\nstatus: draft\n---\n", nothing],
    ["is a word for nothing", "TBD\n", nothing],
    isAsked
      ? [
          "is one fence",
          `\`\`\`\`\`md\n${text}\n\`\`\`\`\`\n`,
          ":1 is a code fence and nothing else: what it says has to stand outside of it",
        ]
      : ["is a heading", "# What it is\n\n## More of it\n", "has headings and no text"],
  ]);
}

function wrongSections(given: Case): Wrong[] {
  const { artifact, text } = given;
  const { headings } = outlineOf(text);
  // One in which nothing else stands that is promised.
  const plain = artifact.sections
    .map((name) => ({ name, at: lineOf(text, (line) => line === `## ${name}`) }))
    .map((each) => ({
      ...each,
      end: (headings.find(({ line }) => line > each.at + 1)?.line ?? linesOf(text).length) - 1,
    }))
    .find(
      ({ at, end }) =>
        !linesOf(text)
          .slice(at, end)
          .some((line) => /[|*]/.test(line)),
    );
  if (!plain) return [];
  const { name, at, end } = plain;
  const body = linesOf(text).slice(at + 1, end);
  const to = (...lines: string[]): string => spliced(text, at, end - at, ...lines);
  const head = `## ${name}`;
  const lacks = `has no section "${name}"`;
  const noText = `:${at + 1} has no text in its section "${name}"`;
  return spoilt(given, [
    ["lacks a section", to(), lacks],
    ["has nothing in a section", to(head, ""), noText],
    ["has a word for nothing in a section", to(head, "- **TBD**"), noText],
    ["has a blank in a section", to(head, `[describe ${name.toLowerCase()}]`), noText],
    ["has a promise in a section", to(head, "TODO: write this"), noText],
    ["has dots in a section", to(head, "…"), noText],
    ["has a comment in a section", to(head, "<!-- what goes here -->"), noText],
    ["has a section in a fence", to("```", head, ...body, "```"), `:${at + 2} ${lacks}: ${hidden}`],
    [
      "has a section that is bold",
      to(`**${name}**`, ...body),
      `:${at + 1} ${lacks}: this line is no heading: one begins with #, up to six of them, and a space`,
    ],
    [
      "has a section under another name",
      to(`${head}x`, ...body),
      `:${at + 1} ${lacks}: this one is called "${head}x"`,
    ],
  ]);
}

function wrongFields(given: Case): Wrong[] {
  const { artifact, text } = given;
  return artifact.fields
    .filter((name) => name !== "Complexity")
    .flatMap((name) => {
      const at = lineOf(text, (line) => line.startsWith(`**${name}**:`));
      const to = (...lines: string[]): string => spliced(text, at, 1, ...lines);
      const lacks = `has no line "**${name}**: …"`;
      return spoilt(given, [
        [`lacks ${name}`, to(), lacks],
        [`has no ${name}`, to(`**${name}**:`), `:${at + 1} has no value for **${name}**`],
        [
          `has a blank for ${name}`,
          to(`**${name}**: [${name}]`),
          `:${at + 1} has no value for **${name}**`,
        ],
        [
          `has ${name} without its marks`,
          to(`${name}: x`),
          `:${at + 1} ${lacks}: this line is not like it`,
        ],
      ]);
    });
}

// ── tables ─────────────────────────────────────────────────────────────────────────────────────

const tableIn = (text: string, columns: readonly string[]): Table => {
  const wanted = columns.map(plainWords).join();
  const table = outlineOf(text).tables.find((each) => each.columns.join() === wanted);
  if (!table) throw new Error(`no table ${wanted}`);
  return table;
};

function afterTable(text: string, columns: readonly string[], line: string): string {
  const { line: head, rows } = tableIn(text, columns);
  return spliced(text, head + 1 + rows.length, 0, line);
}

function wrongTables(given: Case): Wrong[] {
  const { artifact, text } = given;
  const { columns } = artifact;
  if (columns.length === 0) return [];
  const { line, rows } = tableIn(text, columns);
  const body = rows.map(({ cells }) => row(cells));
  const delimiter = `|${columns.map(() => "---|").join("")}`;
  // What is left of a section without its table has some text.
  const to = (...lines: string[]): string =>
    spliced(text, line - 1, 2 + rows.length, ...lines, "", "So it is.");
  const list = columns.join(", ");
  const [first = "", second = "", ...others] = columns;
  const lacks = `has no table with the columns ${list}, in this order`;
  const meant = (head: readonly string[]): string =>
    `it has ${head.join(", ")}, and has to have ${list}, in this order`;
  const swapped = [second, first, ...others];
  const renamed = [first, `${second} of it`, ...others];
  const headed = (head: readonly string[]): string => to(row(head), delimiter, ...body);
  const at = line + 2 + rows.length;
  const added = (cells: readonly string[]): string => afterTable(text, columns, row(cells));
  const filled = columns.map(() => "x");
  return spoilt(given, [
    ["has a list for a table", to("- one thing", "- another"), lacks],
    [
      "has a table without a row",
      to(row(columns), delimiter),
      `:${line} has no row in its table ${list}`,
    ],
    [
      "has a table of blanks",
      to(row(columns), delimiter, row(columns.map((name) => `[${name}]`))),
      `:${line} has no row in its table ${list}`,
    ],
    [
      "has columns in another order",
      headed(swapped),
      `:${line} has a table with its columns in another order: ${meant(swapped)}`,
    ],
    [
      "has a column under another name",
      headed(renamed),
      `:${line} has a table without the column ${second}: ${meant(renamed)}`,
    ],
    [
      "has a table without the line below its head",
      to(row(columns), ...body),
      `:${line} ${lacks}: this line has no |---| for each of its columns below it`,
    ],
    [
      "has a table in a fence",
      to("```", row(columns), delimiter, ...body, "```"),
      `:${line + 1} ${lacks}: ${hidden}`,
    ],
    [
      "has a table in a comment",
      to("<!--", row(columns), delimiter, ...body, "-->"),
      `:${line + 1} ${lacks}: ${hidden}`,
    ],
    [
      "has a row that is about nothing",
      added(["", ...filled.slice(1)]),
      `:${at} has a row with nothing under ${first}`,
    ],
    [
      "has a row that says nothing",
      added(["x9", ...filled.slice(1).fill("")]),
      `:${at} has a row with nothing but its ${first}, "x9"`,
    ],
    [
      "has a stroke in a cell",
      added([...filled, "y"]),
      `:${at} has a row of ${columns.length + 1} cells in a table of ${columns.length} columns: a stroke within a cell is written \\|`,
    ],
  ]);
}

// ── lines ──────────────────────────────────────────────────────────────────────────────────────

/** What an agent writes instead, by what the line begins with. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  "**Verdict**:": ["MAYBE", "PASS, mostly", "", "PASSED"],
  "**Complexity**:": [
    "8 points",
    "3-5",
    "3 – 5 points",
    "3 to 5",
    "0",
    "5+",
    "13",
    "",
    "a day",
    "TBD",
  ],
  "**Testability**:": ["partly", "testable", "yes"],
  "confirmed_by_user:": ["maybe", "yes", '"false"', "", "false # not yet"],
};

function wrongLine(given: Case): Wrong[] {
  const { artifact, file, text } = given;
  const { says } = artifact;
  const [begins, words] =
    Object.entries(otherWords).find(
      ([each]) => says !== undefined && says.replaceAll("\\", "").startsWith(`^${each}`),
    ) ?? [];
  if (says === undefined || begins === undefined || words === undefined) return [];
  const at = lineOf(text, (line) => line.startsWith(begins));
  const line = linesOf(text)[at] ?? "";
  const to = (...lines: string[]): string => spliced(text, at, 1, ...lines);
  const like = `like /${says}/`;
  const instead = (other: string): Spoilt => [
    `says ${JSON.stringify(other)}`,
    to("x", other),
    `:${at + 2} says "${other.trim()}", and the line has to be ${like}`,
  ];
  const [word = ""] = words;
  const isDocument = file.endsWith(".md");
  return spoilt(given, [
    ...words.map((each) => instead(`${begins} ${each}`)),
    instead(`It is said: ${line}`),
    instead(isDocument ? `- ${line}` : `  ${line}`),
    ...(isDocument ? [] : [instead(`# ${line}`)]),
    [`does not say ${begins}`, to("x"), `has no line ${like}`],
    [
      `says ${begins} twice, and not the same`,
      to(line, `${begins} ${word}`),
      `:${at + 2} says "${begins} ${word}", and line ${at + 1} says "${line}": it is said once, ${like}`,
    ],
    ...(isDocument
      ? ([
          [
            "says it in a fence",
            to("x", "```", line, "```"),
            `:${at + 3} has no line ${like}: ${hidden}`,
          ],
          [
            "says it in a comment",
            to("x", `<!-- ${line} -->`),
            `:${at + 2} has no line ${like}: ${hidden}`,
          ],
        ] satisfies Spoilt[])
      : []),
  ]);
}

/** Of other expressions: files that are none of what they are called. */
const otherFiles: readonly [path: RegExp, what: string, text: string][] = [
  [/LESSONS\.md$/, "has no lesson", "# Lessons\n\nNone this time.\n"],
  [/LESSONS\.md$/, "has lessons that are no list", "# Lessons\n\n1. copy the signatures\n"],
  [/LESSONS\.md$/, "has its lessons in a comment", "# Lessons\n\nSome.\n<!--\n- copy\n-->\n"],
  [/\.html$/, "is a fragment", "<p>A page</p>\n"],
  [/\.html$/, "has its page in a comment", "<p>x</p>\n<!-- <main>A page</main> -->\n"],
  [/\.html$/, "is a description", "The screen shows the flat.\n"],
  [/state\.json$/, "has no place in it", "{}\n"],
];

function wrongContent(given: Case): Wrong[] {
  const { says } = given.artifact;
  if (says === undefined) return [];
  return spoilt(
    given,
    otherFiles
      .filter(([path]) => path.test(given.file))
      .map(([, what, text]) => [what, text, `has no line like /${says}/`]),
  );
}

/** A file that the table has to list, and does not. */
function wrongMentions({ artifact, file, text, files }: Case): Wrong[] {
  const { mentions, columns, in: column } = artifact;
  if (mentions === undefined || column === undefined) return [];
  const [like = ""] = Object.keys(files).filter((path) =>
    matches({ ...exact, path: mentions }, path),
  );
  const other = like.replace(/[^/]*(?=\.\w+$)/, "77_forgotten");
  const cells = columns.map((name) => (name === column ? "x9" : "77_forgotten"));
  const cases: [what: string, text: string][] = [
    ["forgets a file", text],
    ["names a file in a sentence only", `${text}\nThen 77_forgotten and ${nameOf(other)}.\n`],
    ["names a file in a comment only", `${text}\n<!-- 77_forgotten, ${nameOf(other)} -->\n`],
    ["names a file in another column", afterTable(text, columns, row(cells))],
    ["names a file by half", afterTable(text, columns, row(columns.map(() => "77_forgot")))],
  ];
  return cases.map(([what, changed]) => ({
    what,
    files: { ...files, [other]: files[like] ?? "", [file]: changed },
    told: `${file} does not name ${nameOf(other)} under ${column}`,
  }));
}

/** Everything that can be wrong with one of the files that a promise is about. */
function wrongsOf(artifact: Artifact, files: Files): (Wrong & { file: string })[] {
  const [file] = Object.keys(files).filter((path) => matches(artifact, path));
  if (file === undefined) throw new Error(`no file for ${artifact.path}`);
  const given = { artifact, file, text: files[file] ?? "", files };
  return [
    wrongFile,
    wrongDocument,
    wrongSections,
    wrongFields,
    wrongTables,
    wrongLine,
    wrongContent,
    wrongMentions,
  ].flatMap((kind) => kind(given).map((wrong) => ({ ...wrong, file })));
}

// ── the skills ─────────────────────────────────────────────────────────────────────────────────

const promising = ways.filter(({ skill }) => skill.produces.length > 0);

describe.each(promising.map((way) => [way.name, way] as const))("%s", (_, way) => {
  const { produces } = way.skill;
  const files = goodFiles(way);
  const wrongs = produces.flatMap((artifact) => wrongsOf(artifact, files));
  /** Where one file is promised twice, or lists others, one mistake may break two promises. */
  const isAlone = (file: string): boolean =>
    produces
      .filter((each) => matches(each, file))
      .every((each, nth) => nth === 0 && each.mentions === undefined);

  it("is content with artifacts that keep its contract", () => {
    expect(told(produces, files)).toEqual([]);
  });

  it("can be violated in ten ways and more", () => {
    expect(new Set(wrongs.map(({ what }) => what)).size).toBeGreaterThanOrEqual(10);
  });

  it.each(wrongs.map((wrong) => [`${wrong.file} ${wrong.what}`, wrong] as const))(
    "notices that %s",
    (_, wrong) => {
      const sentences = told(produces, wrong.files);
      if (isAlone(wrong.file)) expect(sentences).toEqual([wrong.told]);
      else expect(sentences).toContain(wrong.told);
    },
  );
});

describe("monorepo-status", () => {
  const skill = ways.find(({ name }) => name === "monorepo-status")?.skill;
  const before = new Map([
    ["_repo-config.yaml", "confirmed_by_user: true"],
    ["unified/orders.md", "# Orders"],
    ["_sync/documents_2026-03-11.md", "# Documents"],
  ]);
  const after = (...changes: [path: string, text: string | undefined][]): Map<string, string> => {
    const files = new Map(before);
    for (const [path, text] of changes) {
      if (text === undefined) files.delete(path);
      else files.set(path, text);
    }
    return files;
  };

  it("promises to write nothing, and to report one of two words", () => {
    expect(skill).toMatchObject({ writes: "nothing", reports: ["document-drift", "cicd-drift"] });
    expect(skill?.produces).toEqual([]);
  });

  it.each<[what: string, files: Map<string, string>, told: string[]]>([
    ["a report", after(["_sync/status.md", "x"]), ["_sync/status.md was added"]],
    ["an empty file", after(["drift.md", ""]), ["drift.md was added"]],
    ["a hidden file", after(["_sync/.seen", "x"]), ["_sync/.seen was added"]],
    [
      "a document that is mended",
      after(["unified/orders.md", "# Order"]),
      ["unified/orders.md was changed"],
    ],
    [
      "one that is as long as before",
      after(["unified/orders.md", "# orders"]),
      ["unified/orders.md was changed"],
    ],
    [
      "a configuration that is confirmed anew",
      after(["_repo-config.yaml", "confirmed_by_user: false"]),
      ["_repo-config.yaml was changed"],
    ],
    [
      "a report less",
      after(["_sync/documents_2026-03-11.md", undefined]),
      ["_sync/documents_2026-03-11.md was removed"],
    ],
    [
      "a document under another name",
      after(["unified/orders.md", undefined], ["unified/Orders.md", "# Orders"]),
      ["unified/Orders.md was added", "unified/orders.md was removed"],
    ],
  ])("notices that it left %s", (_, files, sentences) => {
    expect(writtenBetween(before, files).map(sentenceOf)).toEqual(
      sentences.map((each) => `${each}, and this skill writes nothing`),
    );
  });

  it.each([
    "documents-drift",
    "doc-drift",
    "ci-drift",
    "drift",
    "no-drift",
    "document-sync",
    "none",
  ])("notices that it reports %s", (word) => {
    expect(reportsUnmet(skill?.reports, ["cicd-drift", word])).toEqual([
      `its result reports "${word}", and may report only document-drift, cicd-drift or nothing`,
    ]);
  });

  it.each([[[]], [["document-drift"]], [["document-drift", "cicd-drift"]]])(
    "is content with %j and nothing written",
    (words) => {
      expect(reportsUnmet(skill?.reports, words)).toEqual([]);
      expect(writtenBetween(before, after())).toEqual([]);
    },
  );
});
