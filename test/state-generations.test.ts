/** Every generation and variant of the state file, through the built binary. */
import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import {
  former,
  generation1,
  generation2,
  generation3,
  makeRepo,
  present,
  type Status,
  stateText,
} from "./rig.ts";

const waiting = { phase: 0, name: "awaiting-invocation", detail: "" };

type Position = Partial<Status>;

async function expectStatus(
  file: string,
  text: string | Buffer,
  wanted: Position,
): Promise<Status> {
  const repo = makeRepo({ [file]: text });
  const status = await repo.status();
  expect(status).toMatchObject(wanted);
  expect(repo.bytes(file)).toEqual(Buffer.from(text));
  expect(fs.existsSync(repo.at(".git/autodev"))).toBe(false);
  return status;
}

describe.concurrent("the eight examples of the original documents", () => {
  const plan = { phase: 4, name: "architecture-review-risk-assessment", detail: "" };
  const testCases = { phase: 1, name: "test-case-generation", detail: "variant 1b" };
  const examples: [seed: string, file: string, block: string, wanted: Position][] = [
    [
      "000: Plan in progress",
      former,
      `step: 2
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 0`,
      {
        flow: "greenfield",
        step: "3",
        name: "Plan",
        status: "in_progress",
        subStep: plan,
        retryCount: 0,
        cycle: 1,
        generation: 1,
      },
    ],
    [
      "000: Blackbox Test Spec failed after 3 retries",
      former,
      `step: 2b
name: Blackbox Test Spec
status: failed
sub_step: 1b — Test Case Generation
retry_count: 3`,
      {
        flow: "existing-code",
        step: "3",
        name: "Test Spec",
        status: "failed",
        subStep: testCases,
        retryCount: 3,
        cycle: 1,
        generation: 1,
      },
    ],
    [
      "001: Plan in progress",
      former,
      `flow: greenfield
step: 3
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 0`,
      {
        flow: "greenfield",
        step: "3",
        name: "Plan",
        status: "in_progress",
        subStep: plan,
        retryCount: 0,
        cycle: 1,
        generation: 2,
      },
    ],
    [
      "001: Test Spec failed",
      former,
      `flow: existing-code
step: 2
name: Test Spec
status: failed
sub_step: 1b — Test Case Generation
retry_count: 3`,
      {
        flow: "existing-code",
        step: "3",
        name: "Test Spec",
        status: "failed",
        subStep: testCases,
        retryCount: 3,
        cycle: 1,
        generation: 2,
      },
    ],
    [
      "002: Plan in progress",
      present,
      `flow: greenfield
step: 3
name: Plan
status: in_progress
sub_step:
  phase: 4
  name: architecture-review-risk-assessment
  detail: ""
retry_count: 0
cycle: 1`,
      {
        flow: "greenfield",
        step: "3",
        name: "Plan",
        status: "in_progress",
        subStep: plan,
        retryCount: 0,
        cycle: 1,
        generation: 3,
      },
    ],
    [
      "002: Test Spec failed",
      present,
      `flow: existing-code
step: 3
name: Test Spec
status: failed
sub_step:
  phase: 1
  name: test-case-generation
  detail: "variant 1b"
retry_count: 3
cycle: 1`,
      {
        flow: "existing-code",
        step: "3",
        name: "Test Spec",
        status: "failed",
        subStep: testCases,
        retryCount: 3,
        cycle: 1,
        generation: 3,
      },
    ],
    [
      "002: Config Review waits for a person",
      present,
      `flow: meta-repo
step: 2
name: Config Review
status: in_progress
sub_step:
  phase: 0
  name: awaiting-human-review
  detail: "awaiting review of _docs/_repo-config.yaml"
retry_count: 0
cycle: 1`,
      {
        flow: "meta-repo",
        step: "2",
        name: "Config Review",
        status: "in_progress",
        subStep: {
          phase: 0,
          name: "awaiting-human-review",
          detail: "awaiting review of _docs/_repo-config.yaml",
        },
        retryCount: 0,
        cycle: 1,
        generation: 3,
      },
    ],
    [
      "002: Implement, third cycle",
      present,
      `flow: existing-code
step: 10
name: Implement
status: in_progress
sub_step:
  phase: 7
  name: batch-loop
  detail: "batch 2 of ~4"
retry_count: 0
cycle: 3`,
      {
        flow: "existing-code",
        step: "10",
        name: "Implement",
        status: "in_progress",
        subStep: { phase: 7, name: "batch-loop", detail: "batch 2 of ~4" },
        retryCount: 0,
        cycle: 3,
        generation: 3,
      },
    ],
  ];

  for (const [seed, file, block, wanted] of examples) {
    it(`${seed} gives the right status`, async () => {
      const title = file === present ? "Autodev State" : "Autopilot State";
      const status = await expectStatus(file, stateText(block, title), {
        version: 1,
        source: "state",
        tracker: null,
        corrections: [],
        decisions: [],
        blockers: [],
        ...wanted,
      });
      const current = status.steps.find((step) => step.step === status.step);
      expect(current).toMatchObject({ name: wanted.name, status: wanted.status });
      expect(status.steps).toHaveLength(
        { greenfield: 11, "existing-code": 17, "meta-repo": 6 }[status.flow] ?? -1,
      );
    });
  }
});

// ── the table ──────────────────────────────────────────────────────────────────────────────────

/** The steps by generation; a dash or nothing: that generation has no such step. */
const table = `
Problem                    | 0     |     | 1  |              | 1  |
Research                   | 1, 1b |     | 2  |              | 2  |
Plan                       | 2     |     | 3  |              | 3  |
UI Design                  | 2a    |     | 4  |              | 4  |
Document                   |       | pre |    | 1 / 1 / 1    |    | 1
Test Spec                  |       | 2b  |    | 2 / 2 / 2    |    | 3
Code Testability Revision  |       |     |    | - / 3 / 3    |    | 4
Decompose Tests            |       | 2c  |    | 3 / 4 / 4    |    | 5
Implement Tests            |       | 2d  |    | 4 / 5 / 5    |    | 6
Run Tests                  |       |     |    | 5 / 6 / 6    |    | 7
Refactor                   |       | 2e  |    | 6 / 7 / 7    |    | 8
New Task                   |       | 2f  |    | 7 / 8 / 8    |    | 9
Decompose                  | 3     |     | 5  |              | 5  |
Implement                  | 4     | 2g  | 6  | 8 / 9 / 9    | 6  | 10
Run Tests                  | 5     | 2h  | 7  | 9 / 10 / 10  | 7  | 11
Update Docs                |       |     |    | - / - / 11   |    | 13
Security Audit             | 5b    | 2hb | 8  | 10 / 11 / 12 | 8  | 14
Performance Test           | 5c    | 2hc | 9  | 11 / 12 / 13 | 9  | 15
Deploy                     | 6     | 2i  | 10 | 12 / 13 / 14 | 10 | 16
`;

interface OldPlace {
  readonly column: string;
  readonly flow: string;
  readonly old: string;
  readonly name: string;
  readonly step: string;
}

const places: OldPlace[] = table
  .trim()
  .split("\n")
  .flatMap((row) => {
    const [name = "", gen1g = "", gen1e = "", gen2g = "", gen2e = "", gen3g = "", gen3e = ""] = row
      .split("|")
      .map((cell) => cell.trim());
    const make = (column: string, flow: string, olds: string[], step: string): OldPlace[] =>
      olds
        .filter((old) => old !== "" && old !== "-")
        .map((old) => ({ column, flow, old, name, step }));
    const variants = gen2e.split("/").map((cell) => cell.trim());
    return [
      ...make(
        "generation 1, greenfield",
        "greenfield",
        gen1g.split(",").map((old) => old.trim()),
        gen3g,
      ),
      ...make("generation 1, existing code", "existing-code", [gen1e], gen3e),
      ...make("generation 2, greenfield", "greenfield", [gen2g], gen3g),
      ...(["12", "13", "14"] as const).flatMap((length, at) =>
        make(
          `generation 2, existing code in ${length} steps`,
          "existing-code",
          [variants[at] ?? ""],
          gen3e,
        ),
      ),
    ];
  });

describe.concurrent("the table of generations", () => {
  for (const { column, flow, old, name, step } of places) {
    it(`${column}: ${old} ${name} is step ${step}`, async () => {
      const generation = column.startsWith("generation 1") ? 1 : 2;
      const oldName = generation === 1 && name === "Test Spec" ? "Blackbox Test Spec" : name;
      const block = `${generation === 1 ? "" : `flow: ${flow}\n`}step: ${old}
name: ${oldName}
status: in_progress
sub_step: 2 — Something Else
retry_count: 1`;
      await expectStatus(former, stateText(block, "Autopilot State"), {
        flow,
        step,
        name,
        status: "in_progress",
        subStep: { phase: 2, name: "something-else", detail: "" },
        retryCount: 1,
        cycle: 1,
        generation,
        source: "state",
        corrections: [],
      });
    });
  }

  it("generation 1's UI Design of existing code goes on at New Task, and says so", async () => {
    const block = "step: 2ea\nname: UI Design\nstatus: completed\nsub_step: 0\nretry_count: 0";
    const status = await expectStatus(former, stateText(block, "Autopilot State"), {
      flow: "existing-code",
      step: "9",
      name: "New Task",
      source: "state",
    });
    expect(status.corrections.join("\n")).toContain("_docs/_autopilot_state.md:4");
  });

  const finished: [string, string, string, string][] = [
    ["1", former, "step: done\nname: Done\nstatus: completed\nretry_count: 0", "greenfield"],
    [
      "2",
      former,
      "flow: existing-code\nstep: done\nname: Done\nstatus: completed\nsub_step: done\nretry_count: 0",
      "existing-code",
    ],
    [
      "3",
      present,
      'flow: greenfield\nstep: done\nname: Done\nstatus: completed\nsub_step:\n  phase: 0\n  name: awaiting-invocation\n  detail: ""\nretry_count: 0\ncycle: 1',
      "greenfield",
    ],
  ];
  for (const [generation, file, block, flow] of finished) {
    it(`a finished flow of generation ${generation} is done`, async () => {
      const title = file === present ? "Autodev State" : "Autopilot State";
      await expectStatus(file, stateText(block, title), {
        flow,
        step: "done",
        status: "completed",
        source: "state",
        generation: Number(generation),
      });
    });
  }

  it("a step is found by its name where its number is another's", async () => {
    // "Deploy" with a number of the wrong list: the name decides.
    const block =
      "flow: existing-code\nstep: 3\nname: Deploy\nstatus: not_started\nsub_step: 0\nretry_count: 0";
    await expectStatus(former, stateText(block, "Autopilot State"), { step: "16", name: "Deploy" });
  });

  it("a number that no list has is not guessed: the folders decide and the line is named", async () => {
    const block =
      "flow: existing-code\nstep: 15\nname: Nonsense\nstatus: in_progress\nsub_step: 0\nretry_count: 0";
    const status = await expectStatus(former, stateText(block, "Autopilot State"), {
      source: "scan",
    });
    expect(status.corrections.join("\n")).toContain("_docs/_autopilot_state.md:5");
  });
});

// ── what reading accepts ───────────────────────────────────────────────────────────────────────

const implement: Position = {
  flow: "existing-code",
  step: "10",
  name: "Implement",
  status: "in_progress",
  subStep: { phase: 7, name: "batch-loop", detail: "batch 2 of ~4" },
  retryCount: 0,
  cycle: 3,
  generation: 3,
  source: "state",
};

describe.concurrent("reading accepts", () => {
  const plan: Position = {
    flow: "greenfield",
    step: "3",
    name: "Plan",
    status: "in_progress",
    subStep: { phase: 4, name: "architecture-review-risk-assessment", detail: "" },
  };
  const cases: [what: string, file: string, text: string | Buffer, wanted: Position][] = [
    ["CRLF", present, generation3.replaceAll("\n", "\r\n"), implement],
    ["a BOM", present, `\uFEFF${generation3}`, implement],
    ["a BOM and CRLF", present, `\uFEFF${generation3.replaceAll("\n", "\r\n")}`, implement],
    ["no final newline", present, generation3.trimEnd(), implement],
    [
      "mixed line endings",
      present,
      generation3.replace(/\n/g, (_, at: number) => (at % 2 ? "\n" : "\r\n")),
      implement,
    ],
    ["an old form under the new name", present, generation1, { ...plan, generation: 1 }],
    ["a new form under the old name", former, generation3, implement],
    ["generation 2 under the new name", present, generation2, { ...plan, generation: 2 }],
    [
      "a code fence around the block",
      present,
      generation3
        .replace("## Current Step\n", "## Current Step\n```\n")
        .trimEnd()
        .concat("\n```\n"),
      implement,
    ],
    [
      "a code fence with a language",
      present,
      generation3
        .replace("## Current Step\n", "## Current Step\n```yaml\n")
        .trimEnd()
        .concat("\n```\n"),
      implement,
    ],
    [
      "a fence of tildes around the whole file",
      present,
      `~~~markdown\n${generation3}~~~\n`,
      implement,
    ],
    [
      "list markers before keys",
      present,
      generation3.replace(/^(\w+:)/gm, "- $1").replace(/^ {2}(\w+:)/gm, "  - $1"),
      implement,
    ],
    [
      "stars as list markers",
      present,
      generation3.replace(/^(flow|step|name|status|retry_count|cycle):/gm, "* $1:"),
      implement,
    ],
    ["sub_step keys without indentation", present, generation3.replaceAll("\n  ", "\n"), implement],
    ["sub_step keys behind tabs", present, generation3.replaceAll("\n  ", "\n\t\t"), implement],
    [
      "a detail without quotes",
      present,
      generation3.replace('"batch 2 of ~4"', "batch 2 of ~4"),
      implement,
    ],
    [
      "a detail with quotes in it",
      present,
      generation3.replace('"batch 2 of ~4"', '"say \\"hi\\" to C:\\\\tmp"'),
      { subStep: { phase: 7, name: "batch-loop", detail: 'say "hi" to C:\\tmp' } },
    ],
    [
      "a detail with a colon and a hash",
      present,
      generation3.replace("batch 2 of ~4", "see: #12"),
      { subStep: { phase: 7, name: "batch-loop", detail: "see: #12" } },
    ],
    [
      "unknown keys among the known ones",
      present,
      generation3.replace("status:", "owner: me\nmood: fine\nstatus:"),
      implement,
    ],
    [
      "a tracker",
      present,
      generation3.replace("cycle: 3", "cycle: 3\ntracker: jira"),
      { ...implement, tracker: "jira" },
    ],
    [
      "generation 1 without retry_count",
      former,
      generation1.replace("retry_count: 0\n", ""),
      { ...plan, retryCount: 0, generation: 1 },
    ],
    [
      "an empty sub_step",
      former,
      generation2.replace(/sub_step: .*/, "sub_step:"),
      { subStep: waiting },
    ],
    ["no sub_step at all", former, generation2.replace(/sub_step: .*\n/, ""), { subStep: waiting }],
    [
      "the sub_step 0",
      former,
      generation2.replace(/sub_step: .*/, "sub_step: 0"),
      { subStep: waiting, generation: 2 },
    ],
    ["a hyphen for the dash", former, generation2.replace("—", "-"), plan],
    [
      "trailing blanks",
      present,
      generation3.replace(/(name: Implement|status: in_progress|step: 10)/g, "$1  \t"),
      implement,
    ],
    ["no step name", present, generation3.replace("name: Implement\n", ""), implement],
    [
      "quotes around the values",
      present,
      generation3.replace("step: 10", 'step: "10"').replace("name: Implement", "name: 'Implement'"),
      implement,
    ],
    [
      "text before the section and sections after it",
      present,
      `${generation3.replace("## Current", "Some words.\n\n## Current")}\n## My Own Notes\nstep: 99\nflow: nonsense\n`,
      implement,
    ],
  ];
  for (const [what, file, text, wanted] of cases) {
    it(what, async () => {
      const status = await expectStatus(file, text, { source: "state", ...wanted });
      expect(status.corrections).toEqual([]);
    });
  }

  it("the reference section of generation 1, whose example lines are no keys", async () => {
    const text = `${generation1}
## Step ↔ SubStep Reference
When updating \`Current Step\`, always write it as:
step: N ← autopilot step
sub_step: M ← sub-skill's own internal step/phase number + name
retry_count: 0 ← reset on new step or success
Example:
  step: 2b
  name: Blackbox Test Spec
  status: failed
  sub_step: 1b — Test Case Generation
  retry_count: 3

## Completed Steps

| Step | Name | Completed | Key Outcome |
|------|------|-----------|-------------|
| 0 | Problem | 2026-01-02 | found |
| 1 | Research | 2026-01-03 | 2 drafts |

## Key Decisions
- Tech stack: Rust

## Last Session
date: 2026-01-04
ended_at: Step 2 Plan — SubStep 4 Architecture Review
reason: user paused
notes: none

## Retry Log
| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---------|------|------|---------|----------------|-----------|

## Blockers
- the licence is not clear
`;
    const status = await expectStatus(former, text, { ...plan, generation: 1, source: "state" });
    expect(status.blockers).toEqual(["the licence is not clear"]);
    expect(status.corrections).toEqual([]);
  });

  it("[none] among the blockers as none", async () => {
    const status = await expectStatus(former, `${generation1}\n## Blockers\n- [none]\n`, plan);
    expect(status.blockers).toEqual([]);
  });

  it("the older variant of generation 1, with a SubStep column and no retry_count", async () => {
    const text = `${generation1.replace("retry_count: 0\n", "")}
## Completed Steps

| Step | Name | SubStep | Completed | Key Outcome |
|------|------|---------|-----------|-------------|
| 0 | Problem | 4 | 2026-01-02 | found |
| 2a | UI Design | - | 2026-01-03 | skipped: no user interface |
`;
    const status = await expectStatus(former, text, { ...plan, generation: 1 });
    expect(status.steps.find((step) => step.name === "UI Design")?.status).toBe("skipped");
  });

  it("a status that it does not know: kept as it is written, and said with its line", async () => {
    const status = await expectStatus(present, generation3.replace("in_progress", "On Hold"), {
      status: "On Hold",
      step: "10",
      source: "state",
    });
    expect(status.corrections.join()).toContain("_docs/_autodev_state.md:7");
  });

  it("a flow of the project's own, with a decimal step", async () => {
    await expectStatus(
      present,
      generation3.replace("existing-code", "our-own").replace("step: 10", "step: 16.5"),
      {
        flow: "our-own",
        step: "16.5",
        source: "state",
      },
    );
  });

  it("retry_count 7 as 3, and reports it with its line", async () => {
    const status = await expectStatus(
      present,
      generation3.replace("retry_count: 0", "retry_count: 7"),
      { retryCount: 3 },
    );
    expect(status.corrections.join()).toContain("_docs/_autodev_state.md:12");
  });

  for (const [what, from, to, line] of [
    ["a step out of range", "step: 10", "step: 18", 5],
    ["step 0", "step: 10", "step: 0", 5],
    ["a step that is no number", "step: 10", "step: ten", 5],
    ["an empty step", "step: 10", "step:", 5],
    ["a decimal step in a built-in flow", "step: 10", "step: 9.5", 5],
    ["a phase that is no integer", "phase: 7", "phase: 4.5", 8],
    ["a negative phase", "phase: 7", "phase: -1", 8],
  ] as const) {
    it(`${what}: the folders decide, and the line is named`, async () => {
      const status = await expectStatus(present, generation3.replace(from, to), { source: "scan" });
      // A sub_step is one value: either of its lines will do.
      const named = line === 8 ? /_docs\/_autodev_state\.md:[89] / : /_docs\/_autodev_state\.md:5 /;
      expect(status.corrections.join("\n")).toMatch(named);
    });
  }

  it("a scalar sub_step that cannot be understood: the folders decide, no phase is guessed", async () => {
    const status = await expectStatus(
      former,
      generation2.replace(/sub_step: .*/, "sub_step: somewhere in the middle"),
      {
        source: "scan",
        subStep: waiting,
      },
    );
    expect(status.corrections.join("\n")).toContain("_docs/_autopilot_state.md:8");
  });

  it("greenfield and meta-repo in cycle 1 only", async () => {
    // "always 1 in greenfield and meta-repo"
    await expectStatus(
      present,
      generation3.replace("existing-code", "greenfield").replace("step: 10", "step: 6"),
      {
        flow: "greenfield",
        step: "6",
        cycle: 1,
      },
    );
  });
});
