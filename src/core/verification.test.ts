/** Each check with what it must find, and with what looks like it and must not be found. */
import { describe, expect, it } from "vitest";
import type { TestChange } from "./compare-tests.ts";
import type { Phase, Place } from "./plan/plan.ts";
import type { Claim } from "./plan/progress.ts";
import type { GateOutcome, TestCounts } from "./plan/run-event.ts";
import { claimedFiles, claimedStatus } from "./verification/claims.ts";
import {
  declaredFiles,
  definitionOfDone,
  filesNamedIn,
  somethingChanged,
} from "./verification/declared.ts";
import type { ChangedFile, Facts, SurfaceChange } from "./verification/facts.ts";
import {
  type FindingCode,
  failure,
  findingLine,
  findingTable,
  note,
  type VerificationFinding,
} from "./verification/finding-table.ts";
import { gateResults, testCounts } from "./verification/gates.ts";
import { gateSurface, tools } from "./verification/surface.ts";
import { snapshots, testCode } from "./verification/tests.ts";
import {
  history,
  leftovers,
  planUntouched,
  processes,
  stateUntouched,
} from "./verification/traces.ts";
import { type Check, checks, errorFrom, isFailure, verify } from "./verification.ts";

// ── facts ──────────────────────────────────────────────────────────────────────────────────────

const place: Place = { file: "docs/plan.md", line: 7, column: 1, from: 0, to: 0 };

type Declares = Readonly<Record<string, Phase["files"][number]["change"]>>;

interface Asks {
  readonly files?: Declares;
  readonly text?: string;
  readonly tasks?: readonly string[];
  readonly done?: readonly string[];
  readonly optional?: readonly string[];
  readonly commands?: readonly string[];
}

function phaseThat(asks: Asks): Phase {
  const { files = {}, text = "", tasks = ["Add up"], done = [], optional = [] } = asks;
  const item = (each: string) => ({ text: each, done: false, place });
  return {
    id: "2a",
    written: "2A",
    name: "Cart",
    dependsOn: [],
    parallelWith: [],
    status: "pending",
    statuses: [],
    tasks: tasks.map(item),
    definitionOfDone: [
      ...done.map(item),
      ...optional.map((each) => ({ ...item(each), optional: true as const })),
    ],
    checkpoints: [],
    files: Object.entries(files).map(([path, change]) => ({ path, change, blocks: [], place })),
    commands: (asks.commands ?? []).map((each) => ({ text: each, place })),
    place,
    text,
    hasWork: true,
  };
}

const claimOf = (some: Partial<Claim> = {}): Claim => ({
  status: "complete",
  tasksTotal: 1,
  tasksCompleted: 1,
  message: "feat: a cart",
  ...some,
});
const claiming = (some: Partial<NonNullable<Claim["files"]>>): Claim =>
  claimOf({ files: { created: [], modified: [], deleted: [], ...some } });

const factsOf = (some: Partial<Facts> = {}): Facts => ({
  phase: phaseThat({}),
  claim: claimOf(),
  traces: {},
  changes: [],
  there: new Set(),
  others: new Map(),
  surface: [],
  toolsChanged: [],
  hooksChanged: [],
  tests: [],
  testsAdded: 0,
  unreadable: [],
  gates: [],
  countsBefore: {},
  ...some,
});

const file = (path: string, some: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  change: "modified",
  kind: "code",
  ...some,
});
const created = (path: string, some: Partial<ChangedFile> = {}): ChangedFile =>
  file(path, { change: "created", ...some });
const deleted = (path: string, some: Partial<ChangedFile> = {}): ChangedFile =>
  file(path, { change: "deleted", ...some });

const counted = (
  passed: number,
  { failed = 0, skipped = 0, runner = "vitest" } = {},
): TestCounts => ({ runner, passed, failed, skipped });
const gate = (name: string, some: Partial<GateOutcome> = {}): GateOutcome => ({
  name,
  command: `npm run ${name}`,
  passed: true,
  summary: "exit code 0",
  ...some,
});
const red = (name: string, some: Partial<GateOutcome> = {}): GateOutcome =>
  gate(name, { passed: false, summary: "ended with 1", ...some });

// ── findings ───────────────────────────────────────────────────────────────────────────────────

/** `code place`, a note in brackets: short enough for a table. */
const short = ({ code, level, file: where, line }: VerificationFinding): string => {
  const told = [code, line === undefined ? where : `${where}:${line}`].filter(Boolean).join(" ");
  return level === "note" ? `(${told})` : told;
};

type Row = readonly [says: string, found: readonly string[], facts: Partial<Facts>];

const seen = new Set<string>();

function finds(check: Check, rows: readonly Row[]): void {
  for (const [, found] of rows) {
    for (const each of found) seen.add(/[\w-]+/.exec(each)?.[0] ?? "");
  }
  it.each(rows)("%s → %j", (_, found, facts) => {
    expect(check(factsOf(facts)).map(short)).toEqual(found);
  });
}

// ── the checks ─────────────────────────────────────────────────────────────────────────────────

describe("what the gates are made of", () => {
  const scripts = (some: Partial<SurfaceChange> = {}): Partial<Facts> => ({
    surface: [{ name: "package.json#scripts", file: "package.json", is: "changed", ...some }],
  });
  const declaring = (files: Declares): Partial<Facts> => ({ phase: phaseThat({ files }) });
  finds(gateSurface, [
    ["nothing differs", [], {}],
    ["scripts changed in passing", ["gate-changed package.json"], scripts()],
    ["scripts removed in passing", ["gate-changed package.json"], scripts({ is: "removed" })],
    ["scripts added in passing", ["gate-changed package.json"], scripts({ is: "added" })],
    [
      "a gate that was not there",
      ["(gate-introduced package.json)"],
      scripts({ is: "added", introduces: true }),
    ],
    [
      "as the phase declares",
      ["(gate-changed package.json)"],
      { ...scripts(), ...declaring({ "package.json": "modify" }) },
    ],
    [
      "in a folder that the phase declares",
      ["(gate-changed config/vitest.config.ts)"],
      {
        ...scripts({ name: "config/vitest.config.ts", file: "config/vitest.config.ts" }),
        ...declaring({ "config/": "touch" }),
      },
    ],
    [
      "the phase declares another one",
      ["gate-changed package.json"],
      { ...scripts(), ...declaring({ "web/package.json": "modify" }) },
    ],
    [
      "two of them",
      ["gate-changed package.json", "gate-changed .eslintrc"],
      {
        surface: [
          { name: "package.json#scripts", file: "package.json", is: "changed" },
          { name: ".eslintrc", file: ".eslintrc", is: "removed" },
        ],
      },
    ],
  ]);

  it("is told with the first line that differs", () => {
    const [found] = gateSurface(factsOf(scripts({ detail: "test: “vitest” → “true”" })));
    expect(found?.message).toContain("test: “vitest” → “true”");
  });
});

describe("programs and hooks", () => {
  finds(tools, [
    ["as they were", [], {}],
    ["another program", ["tool-changed"], { toolsChanged: ["node is now /tmp/node"] }],
    ["another hook", ["hook-planted"], { hooksChanged: ["pre-commit is new"] }],
    [
      "all of it",
      ["tool-changed", "tool-changed", "hook-planted"],
      { toolsChanged: ["node is gone", "sh is gone"], hooksChanged: ["pre-commit is new"] },
    ],
  ]);
});

describe("what an agent leaves beside its work", () => {
  finds(history, [
    ["nothing", [], {}],
    ["a branch that was moved", ["history-rewritten"], { traces: { history: ["main was moved"] } }],
    [
      "a branch and a tag",
      ["history-rewritten", "history-rewritten"],
      { traces: { history: ["main was moved", "v1 was deleted"] } },
    ],
  ]);
  finds(stateUntouched, [
    ["no file of ours", [], { traces: { plan: ["docs/plan.md"], leftOut: ["docs/plan.md"] } }],
    [
      "a file of ours",
      ["state-touched .autobuild/config.json"],
      { traces: { state: [".autobuild/config.json"] } },
    ],
  ]);
  finds(planUntouched, [
    ["the plan as it was", [], {}],
    [
      "boxes that it ticked",
      ["(plan-edited docs/plan.md)"],
      { traces: { plan: ["docs/plan.md"] } },
    ],
  ]);
  finds(processes, [
    ["no process", [], { traces: { processes: 0 } }],
    ["processes", ["(process-left)"], { traces: { processes: 2 } }],
  ]);
  finds(leftovers, [
    ["files like any other", [], { changes: [file("src/a.ts"), created("src/b.ts")] }],
    [
      "marks of a conflict",
      ["conflict-markers src/a.ts:12"],
      { changes: [file("src/a.ts", { marker: 12 })] },
    ],
    [
      "a link out of the tree",
      ["leads-outside src/a.ts"],
      { changes: [created("src/a.ts", { leadsTo: "/etc/passwd" })] },
    ],
    ["a repository in the tree", ["nested-repository vendor"], { traces: { nested: ["vendor"] } }],
    [
      "all of them",
      ["conflict-markers src/a.ts:1", "leads-outside b", "nested-repository vendor"],
      {
        changes: [file("src/a.ts", { marker: 1 }), created("b", { leadsTo: "../../b" })],
        traces: { nested: ["vendor"] },
      },
    ],
  ]);
});

describe("the code of the tests", () => {
  const change = (kind: TestChange["kind"], some: Partial<TestChange> = {}): TestChange => ({
    kind,
    test: "money › adds prices",
    file: "src/money.test.ts",
    line: 4,
    message: "`total(cart)` was 30 and is 31",
    ...some,
  });
  const plan = (text: string, ...tests: readonly TestChange[]): Partial<Facts> => ({
    phase: phaseThat({ text }),
    tests,
  });
  const kinds: readonly TestChange["kind"][] = [
    "test-deleted",
    "test-skipped",
    "test-focused",
    "test-emptied",
    "assertions-gone",
    "test-weakened",
    "expectation-changed",
    "constant-test",
  ];
  finds(testCode, [
    ["nothing changed", [], {}],
    ...kinds.map(
      (kind): Row => [
        `${kind}, and the plan is silent`,
        [`${kind} src/money.test.ts:4`],
        plan("Add a cart. All tests pass.", change(kind)),
      ],
    ),
    ...kinds
      .filter((kind) => kind === "test-focused" || kind === "constant-test")
      .map(
        (kind): Row => [
          `${kind}, whatever the plan says`,
          [`${kind} src/money.test.ts:4`],
          plan("Change, remove, skip and relax the tests: focus on one.", change(kind)),
        ],
      ),
    [
      "a file of tests that cannot be read any more",
      ["tests-unreadable src/money.test.ts"],
      { unreadable: ["src/money.test.ts"] },
    ],
    [
      "a test is gone with its file, which the phase deletes",
      [],
      {
        phase: phaseThat({ files: { "src/money.test.ts": "delete" } }),
        tests: [change("test-deleted")],
      },
    ],
    [
      "a test is gone from a file that the phase only changes",
      ["test-deleted src/money.test.ts:4"],
      {
        phase: phaseThat({ files: { "src/money.test.ts": "modify" } }),
        tests: [change("test-deleted")],
      },
    ],
    [
      "a test is skipped in a file that the phase deletes",
      ["test-skipped src/money.test.ts:4"],
      {
        phase: phaseThat({ files: { "src/money.test.ts": "delete" } }),
        tests: [change("test-skipped")],
      },
    ],
    [
      "the plan removes the test by its name",
      [],
      plan('Remove the test "Adds prices".', change("test-deleted")),
    ],
    [
      "the plan removes another test",
      ["test-deleted src/money.test.ts:4"],
      plan('Remove the case "subtracts prices".', change("test-deleted")),
    ],
    [
      "the plan names the file and what happens to it",
      [],
      plan("Merge `src/money.test.ts` into the others", change("test-deleted")),
    ],
    [
      "the plan names the file in one sentence and removes in another",
      ["test-deleted src/money.test.ts:4"],
      plan("Remove the cart. See src/money.test.ts for more", change("test-deleted")),
    ],
    [
      "the plan speaks of the old tests as such",
      [],
      plan("Delete the old unit tests.", change("test-deleted"), change("test-emptied")),
    ],
    ...(
      [
        ["test-deleted", "Replace the parser so that all the existing tests pass."],
        ["test-deleted", "Remove the old route and keep the tests green."],
        ["test-emptied", "Drop the cache without breaking existing tests."],
        ["test-skipped", "Do not skip the existing tests."],
        ["expectation-changed", "All the tests pass now."],
        ["expectation-changed", "Update the README and make sure that the tests pass."],
      ] as const
    ).map(
      ([kind, text]): Row => [
        `the plan only speaks of tests: ${text}`,
        [`${kind} src/money.test.ts:4`],
        plan(text, change(kind)),
      ],
    ),
    [
      "the plan removes, and the test is skipped",
      ["test-skipped src/money.test.ts:4"],
      plan("Delete the old unit tests.", change("test-skipped")),
    ],
    [
      "the plan skips",
      [],
      plan("Skip `adds prices` until the new API is there.", change("test-skipped")),
    ],
    [
      "the plan skips, and an assertion is weaker",
      ["test-weakened src/money.test.ts:4"],
      plan("Skip `adds prices` for now", change("test-weakened")),
    ],
    ["the plan relaxes", [], plan("Relax the existing tests.", change("test-weakened"))],
    [
      "the plan changes what the test is about, by a name in code marks",
      [],
      plan("Change `total` so that it rounds up", change("expectation-changed")),
    ],
    [
      "the plan changes something else",
      ["expectation-changed src/money.test.ts:4"],
      plan("Change `label` so that it is shorter", change("expectation-changed")),
    ],
    [
      "the plan changes what the test is about, and the test is gone",
      ["test-deleted src/money.test.ts:4"],
      plan("Change `total` so that it rounds up", change("test-deleted")),
    ],
    [
      "of two, only one is asked for",
      ["test-deleted src/stock.test.ts:9"],
      plan(
        "Remove src/money.test.ts",
        change("test-deleted"),
        change("test-deleted", { file: "src/stock.test.ts", line: 9, test: "is left" }),
      ),
    ],
  ]);
});

describe("recorded output", () => {
  const shot = "src/__snapshots__/a.snap";
  const kept = (change: ChangedFile["change"]): Partial<Facts> => ({
    changes: [file(shot, { change, kind: "snapshot" })],
  });
  finds(snapshots, [
    ["replaced", [`snapshot-changed ${shot}`], kept("modified")],
    ["deleted", [`snapshot-changed ${shot}`], kept("deleted")],
    ["new", [], kept("created")],
    ["code that was changed", [], { changes: [file("src/a.ts")] }],
    ["declared", [], { ...kept("modified"), phase: phaseThat({ files: { [shot]: "modify" } }) }],
    [
      "the plan says so",
      [],
      { ...kept("modified"), phase: phaseThat({ text: "Update the snapshots" }) },
    ],
    [
      "the plan only speaks of them",
      [`snapshot-changed ${shot}`],
      { ...kept("modified"), phase: phaseThat({ text: "Keep the snapshots. Update the label." }) },
    ],
  ]);
});

describe("how many tests ran", () => {
  const counts = (
    before: TestCounts | undefined,
    now: TestCounts | undefined,
    some: Partial<Facts> = {},
  ): Partial<Facts> => ({
    gates: [gate("test", now ? { tests: now } : {})],
    countsBefore: before ? { test: before } : {},
    ...some,
  });
  finds(testCounts, [
    ["as many as before", [], counts(counted(5), counted(5))],
    ["more than before", [], counts(counted(5), counted(7))],
    ["one fewer", ["fewer-tests"], counts(counted(5), counted(4))],
    [
      "as many, some of them skipped",
      ["fewer-tests"],
      counts(counted(5), counted(3, { skipped: 2 })),
    ],
    ["none at all", ["no-tests-run"], counts(counted(5), counted(0))],
    ["none at all, as before", ["no-tests-run"], counts(counted(0), counted(0))],
    [
      "none at all, and nothing is known of before",
      ["no-tests-run"],
      counts(undefined, counted(0)),
    ],
    ["all of them skipped", ["no-tests-run"], counts(counted(5), counted(0, { skipped: 5 }))],
    ["nothing is told, as before", [], counts(undefined, undefined)],
    ["nothing is told any more", ["no-tests-run"], counts(counted(5), undefined)],
    ["nothing is told, and none ran before", [], counts(counted(0), undefined)],
    ["the first tests of all", [], counts(counted(0), counted(3), { testsAdded: 3 })],
    ["as many more as were added", [], counts(counted(5), counted(8), { testsAdded: 3 })],
    [
      "fewer more than were added",
      ["fewer-tests"],
      counts(counted(5), counted(7), { testsAdded: 3 }),
    ],
    [
      "a runner that counts packages does not count what was added",
      [],
      counts(counted(5, { runner: "go test" }), counted(5, { runner: "go test" }), {
        testsAdded: 3,
      }),
    ],
    [
      "a runner that counts packages has fewer",
      ["fewer-tests"],
      counts(counted(5, { runner: "go test" }), counted(4, { runner: "go test" }), {
        testsAdded: 3,
      }),
    ],
    ["fewer by those that the code lost", [], counts(counted(5), counted(3), { testsAdded: -2 })],
    [
      "fewer than what the code lost",
      ["fewer-tests"],
      counts(counted(5), counted(2), { testsAdded: -2 }),
    ],
    [
      "fewer, as the plan says",
      [],
      counts(counted(5), counted(4), { phase: phaseThat({ text: "Drop the tests of the label" }) }),
    ],
    [
      "none, whatever the plan says",
      ["no-tests-run"],
      counts(counted(5), counted(0), { phase: phaseThat({ text: "Drop the tests of the label" }) }),
    ],
    [
      "fewer passed before, and the failing ones still fail",
      [],
      counts(counted(4, { failed: 1 }), counted(4, { failed: 1 })),
    ],
    [
      "a gate that failed is told of elsewhere",
      [],
      { gates: [red("test", { tests: counted(0) })], countsBefore: { test: counted(5) } },
    ],
    [
      "a gate that was skipped",
      [],
      { gates: [gate("test", { passed: null })], countsBefore: { test: counted(5) } },
    ],
    [
      "each gate is compared with itself",
      ["fewer-tests"],
      {
        gates: [gate("e2e", { tests: counted(2) }), gate("test", { tests: counted(4) })],
        countsBefore: { e2e: counted(2), test: counted(5) },
      },
    ],
    [
      "what was added runs in one of two gates",
      [],
      {
        gates: [gate("e2e", { tests: counted(3) }), gate("test", { tests: counted(8) })],
        countsBefore: { e2e: counted(3), test: counted(5) },
        testsAdded: 3,
      },
    ],
    [
      "what was added runs in neither of two gates",
      ["fewer-tests"],
      {
        gates: [gate("e2e", { tests: counted(3) }), gate("test", { tests: counted(5) })],
        countsBefore: { e2e: counted(3), test: counted(5) },
        testsAdded: 3,
      },
    ],
    ...[
      "Drop the old endpoint and add tests of the new one",
      "Replace the parser; all tests pass",
      "Delete the user whom only some of our older tests use",
    ].map(
      (text): Row => [
        `fewer, and the plan only speaks of tests: ${text}`,
        ["fewer-tests"],
        counts(counted(5), counted(2), { phase: phaseThat({ text }) }),
      ],
    ),
    [
      "code that could print a runner's last word",
      ["no-tests-run src/a.ts:3"],
      { changes: [file("src/a.ts", { forged: 3 })] },
    ],
  ]);

  it("is told with what was skipped, or with what was added", () => {
    const said = (facts: Partial<Facts>): string[] =>
      testCounts(factsOf(facts)).map(({ message }) => message);
    expect(said(counts(counted(5), counted(3, { skipped: 2 })))).toEqual([
      "test: 3 tests pass where 5 did, and 2 more are skipped",
    ]);
    expect(said(counts(counted(5), counted(7), { testsAdded: 3 }))).toEqual([
      "3 tests were added to the 5 that passed, and 7 pass",
    ]);
  });
});

describe("what the gates said", () => {
  const claimed = (passes: boolean): Claim => claimOf({ gates: { test: passes } });
  finds(gateResults, [
    ["all passed", [], { gates: [gate("test"), gate("lint")] }],
    ["one failed", ["gate-failed"], { gates: [gate("lint"), red("test")] }],
    ["the first of two failed", ["gate-failed"], { gates: [red("lint"), gate("test")] }],
    ["two failed", ["gate-failed", "gate-failed"], { gates: [red("lint"), red("test")] }],
    ["one was skipped", [], { gates: [gate("test", { passed: null })] }],
    [
      "one failed that is claimed to pass",
      ["claimed-pass", "gate-failed"],
      { gates: [red("test")], claim: claimed(true) },
    ],
    [
      "one failed that is claimed to fail",
      ["gate-failed"],
      { gates: [red("test")], claim: claimed(false) },
    ],
    [
      "one failed, and another is claimed to pass",
      ["gate-failed"],
      { gates: [red("lint")], claim: claimed(true) },
    ],
    [
      "where to begin",
      ["gate-failed src/a.test.ts:12"],
      { gates: [red("test", { failures: ["src/a.test.ts:12 adds", "src/b.test.ts:3 cuts"] })] },
    ],
    [
      "failures without a place",
      ["gate-failed"],
      { gates: [red("test", { failures: ["adds", "src/b.test.ts:3 cuts"] })] },
    ],
    [
      "what failed before the run and was accepted",
      ["(known-failures)"],
      { gates: [gate("test", { known: ["src/a.test.ts:12 adds"] })] },
    ],
    [
      "what failed before the run, and more",
      ["gate-failed"],
      { gates: [red("test", { known: ["adds"] })] },
    ],
  ]);
});

describe("the files that an agent claims", () => {
  const there = (...paths: readonly string[]): Partial<Facts> => ({ there: new Set(paths) });
  finds(claimedFiles, [
    ["nothing is claimed", [], { changes: [file("src/a.ts")] }],
    [
      "as it is",
      [],
      {
        claim: claiming({ created: ["src/b.ts"], modified: ["src/a.ts"], deleted: ["src/c.ts"] }),
        changes: [file("src/a.ts"), created("src/b.ts"), deleted("src/c.ts")],
      },
    ],
    [
      "created and modified confused",
      [],
      {
        claim: claiming({ created: ["src/a.ts"], modified: ["src/b.ts"] }),
        changes: [file("src/a.ts"), created("src/b.ts")],
      },
    ],
    [
      "a file that is not there",
      ["file-missing src/a.ts"],
      { claim: claiming({ created: ["src/a.ts"] }) },
    ],
    [
      "a file that is as it was",
      ["file-unchanged src/a.ts"],
      { claim: claiming({ modified: ["src/a.ts"] }), ...there("src/a.ts") },
    ],
    [
      "a file that git ignores",
      ["file-ignored dist/a.js"],
      { claim: claiming({ created: ["dist/a.js"] }), traces: { ignored: ["dist/a.js"] } },
    ],
    [
      "a file that was deleted instead",
      ["file-missing src/a.ts"],
      { claim: claiming({ modified: ["src/a.ts"] }), changes: [deleted("src/a.ts")] },
    ],
    [
      "a file of ours, which was left out",
      [],
      {
        claim: claiming({ modified: ["docs/plan.md"] }),
        traces: { leftOut: ["docs/plan.md"] },
        ...there("docs/plan.md"),
      },
    ],
    [
      "a folder in which something was changed",
      [],
      { claim: claiming({ created: ["src/cart/"] }), changes: [created("src/cart/a.ts")] },
    ],
    [
      "a folder beside the one in which something was changed",
      ["file-missing src/car"],
      { claim: claiming({ created: ["src/car/"] }), changes: [created("src/cart/a.ts")] },
    ],
    [
      "paths as agents write them",
      [],
      {
        claim: claiming({
          created: ["./src/a.ts", "src\\b.ts", "/p/.autodev/var/w-1/src/c.ts", ""],
        }),
        changes: [created("src/a.ts"), created("src/b.ts"), created("src/c.ts")],
      },
    ],
    [
      "a lie that is told twice is found once",
      ["file-missing src/a.ts"],
      { claim: claiming({ created: ["src/a.ts"], modified: ["src/a.ts"] }) },
    ],
    [
      "deleted, and it is there",
      ["file-unchanged src/a.ts"],
      { claim: claiming({ deleted: ["src/a.ts"] }), ...there("src/a.ts") },
    ],
    ["deleted, and it never was there", [], { claim: claiming({ deleted: ["src/a.ts"] }) }],
    [
      "deleted, and it was changed: only in the wrong list",
      [],
      { claim: claiming({ deleted: ["src/a.ts"] }), changes: [file("src/a.ts")] },
    ],
  ]);
});

describe("a phase that asks for work", () => {
  const files: Declares = { "src/a.ts": "create" };
  finds(somethingChanged, [
    ["something was changed", [], { changes: [file("src/a.ts")] }],
    ["nothing was changed", ["nothing-changed"], {}],
    ["no task and no file", [], { phase: phaseThat({ tasks: [] }) }],
    ["commands alone", [], { phase: phaseThat({ commands: ["npm run migrate"] }) }],
    [
      "commands, and files that it declares",
      ["nothing-changed"],
      { phase: phaseThat({ commands: ["npm run migrate"], files: { "src/a.ts": "modify" } }) },
    ],
    [
      "it says that there are no files",
      [],
      { phase: phaseThat({ text: "Look.\n\n**Files**: none\n" }) },
    ],
    [
      "a long rule behind the word",
      ["nothing-changed"],
      { phase: phaseThat({ text: `files ${"-".repeat(5000)}x` }) },
    ],
    [
      "none of the files is called none",
      ["nothing-changed"],
      { phase: phaseThat({ text: "Files: none of the old ones are kept" }) },
    ],
    [
      "what it creates is there already",
      [],
      { phase: phaseThat({ files }), there: new Set(["src/a.ts"]) },
    ],
    ["what it creates is not there", ["nothing-changed"], { phase: phaseThat({ files }) }],
    [
      "half of what it creates is there already",
      ["nothing-changed"],
      { phase: phaseThat({ files: { ...files, "b.ts": "create" } }), there: new Set(["b.ts"]) },
    ],
    [
      "what it changes is there, and is as it was",
      ["nothing-changed"],
      { phase: phaseThat({ files: { "src/a.ts": "modify" } }), there: new Set(["src/a.ts"]) },
    ],
    ["done to the letter, by ourselves", [], { toTheLetter: true }],
  ]);
});

describe("the files that a phase declares", () => {
  const declares = (files: Declares, some: Partial<Facts> = {}): Partial<Facts> => ({
    phase: phaseThat({ files }),
    ...some,
  });
  finds(declaredFiles, [
    [
      "all of them are as declared",
      [],
      declares(
        { "src/a.ts": "modify", "src/b.ts": "create", "src/c.ts": "delete" },
        { changes: [file("src/a.ts"), created("src/b.ts"), deleted("src/c.ts")] },
      ),
    ],
    ["not created", ["declared-missing src/b.ts"], declares({ "src/b.ts": "create" })],
    ["there already", [], declares({ "src/b.ts": "create" }, { there: new Set(["src/b.ts"]) })],
    [
      "created, and then deleted",
      ["declared-missing src/b.ts"],
      declares({ "src/b.ts": "create" }, { changes: [deleted("src/b.ts")] }),
    ],
    [
      "created with nothing in it",
      ["declared-missing src/b.ts"],
      declares({ "src/b.ts": "create" }, { changes: [created("src/b.ts", { empty: true })] }),
    ],
    [
      "created with nothing in it, as it has to be",
      [],
      declares(
        { "shop/__init__.py": "create", "logs/.gitkeep": "create" },
        {
          changes: ["shop/__init__.py", "logs/.gitkeep"].map((path) =>
            created(path, { empty: true }),
          ),
        },
      ),
    ],
    [
      "not modified",
      ["declared-missing src/a.ts"],
      declares({ "src/a.ts": "modify" }, { there: new Set(["src/a.ts"]) }),
    ],
    [
      "not modified, for a reason that the message gives",
      ["(extra-file src/a.ts)"],
      declares(
        { "src/a.ts": "modify" },
        {
          there: new Set(["src/a.ts"]),
          claim: claimOf({ message: "feat: cart\n\nsrc/a.ts was right." }),
        },
      ),
    ],
    [
      "to be modified, and it is not there",
      ["declared-missing src/a.ts"],
      declares({ "src/a.ts": "modify" }),
    ],
    [
      "not deleted",
      ["declared-missing src/c.ts"],
      declares({ "src/c.ts": "delete" }, { there: new Set(["src/c.ts"]) }),
    ],
    [
      "changed instead of deleted",
      ["declared-missing src/c.ts"],
      declares({ "src/c.ts": "delete" }, { changes: [file("src/c.ts")] }),
    ],
    ["only named", [], declares({ "src/a.ts": "touch" })],
    ["a folder and a pattern", [], declares({ "src/": "create", "src/*.ts": "modify" })],
    [
      "not modified, by ourselves and to the letter",
      [],
      declares({ "src/a.ts": "modify" }, { there: new Set(["src/a.ts"]), toTheLetter: true }),
    ],
  ]);
});

describe("a file that the phase does not declare", () => {
  const beside = (change: ChangedFile, some: Partial<Facts> & Asks = {}): Partial<Facts> => ({
    phase: phaseThat({ files: { "src/a.ts": "touch", ...some.files }, text: some.text ?? "" }),
    changes: [change],
    ...(some.claim && { claim: some.claim }),
    ...(some.others && { others: some.others }),
  });
  const nextPhases = new Map([["src/b.ts", "3"]]);
  it("has not been named by who changed it and calls it deleted", () => {
    const claim = claiming({ deleted: ["src/b.ts"] });
    const found = declaredFiles(factsOf(beside(file("src/b.ts"), { claim })));
    expect(found.map(short)).toEqual(["undeclared-file src/b.ts"]);
  });
  finds(declaredFiles, [
    ["changed without a word", ["undeclared-file src/b.ts"], beside(file("src/b.ts"))],
    ["created without a word", ["undeclared-file src/b.ts"], beside(created("src/b.ts"))],
    ["deleted without a word", ["undeclared-file src/b.ts"], beside(deleted("src/b.ts"))],
    [
      "the phase declares no files at all",
      [],
      { phase: phaseThat({}), changes: [file("src/b.ts"), deleted("src/c.ts")] },
    ],
    [
      "named in the result",
      ["(extra-file src/b.ts)"],
      beside(file("src/b.ts"), { claim: claiming({ modified: ["./src/b.ts"] }) }),
    ],
    [
      "deleted, and named as that",
      ["(extra-file src/b.ts)"],
      beside(deleted("src/b.ts"), { claim: claiming({ deleted: ["src/b.ts"] }) }),
    ],
    [
      "named in the message",
      ["(extra-file src/b.ts)"],
      beside(file("src/b.ts"), { claim: claimOf({ message: "feat: cart, and src/b.ts with it" }) }),
    ],
    [
      "named in the phase's text",
      ["(extra-file src/b.ts)"],
      beside(file("src/b.ts"), { text: "See `src/b.ts`." }),
    ],
    [
      "another of that name is named in the phase's text",
      ["undeclared-file src/db/index.ts"],
      beside(file("src/db/index.ts"), { text: "Change `src/api/index.ts`." }),
    ],
    [
      "named in the result, and another phase's",
      ["undeclared-file src/b.ts"],
      beside(created("src/b.ts"), {
        claim: claiming({ created: ["src/b.ts"] }),
        others: nextPhases,
      }),
    ],
    [
      "a note of another phase's",
      ["undeclared-file src/b.ts"],
      beside(created("src/b.ts", { kind: "document" }), { others: nextPhases }),
    ],
    [
      "another phase's, with a word in the message",
      ["(extra-file src/b.ts)"],
      beside(file("src/b.ts"), {
        claim: claimOf({ message: "src/b.ts had to come first" }),
        others: nextPhases,
      }),
    ],
    ["a test", [], beside(created("src/b.test.ts", { kind: "test" }))],
    ["recorded output", [], beside(created("a.snap", { kind: "snapshot" }))],
    [
      "a new document",
      ["(extra-file docs/b.md)"],
      beside(created("docs/b.md", { kind: "document" })),
    ],
    ["a new picture", ["(extra-file b.png)"], beside(created("b.png", { kind: "other" }))],
    [
      "a document that was there",
      ["undeclared-file README.md"],
      beside(file("README.md", { kind: "document" })),
    ],
    [
      "data that git ignores, put in by force",
      ["undeclared-file .cache/a.json"],
      beside(created(".cache/a.json", { kind: "other", ignored: true })),
    ],
    [
      "a lock file without its manifest",
      ["undeclared-file yarn.lock"],
      beside(file("yarn.lock", { kind: "lock" })),
    ],
    [
      "a lock file with its manifest",
      [],
      beside(file("yarn.lock", { kind: "lock" }), { files: { "package.json": "touch" } }),
    ],
    [
      "the marker of the package that it creates",
      [],
      beside(created("shop/__init__.py"), { files: { "shop/cart.py": "touch" } }),
    ],
    [
      "the marker of another package",
      ["undeclared-file shop/__init__.py"],
      beside(created("shop/__init__.py")),
    ],
    [
      "in a folder that it declares",
      [],
      beside(file("src/api/b.ts"), { files: { "src/api/": "touch" } }),
    ],
    [
      "in a folder whose name only begins so",
      ["undeclared-file src/apis/b.ts"],
      beside(file("src/apis/b.ts"), { files: { "src/api/": "touch" } }),
    ],
  ]);

  it("is told with whose it is", () => {
    const [found] = declaredFiles(factsOf(beside(file("src/b.ts"), { others: nextPhases })));
    expect(found?.message).toBe("src/b.ts was modified without a word, and it belongs to phase 3");
  });
});

describe("the definition of done", () => {
  const point = "`docs/cart.md` says what a cart is.";
  const unmet = ["done-unmet docs/plan.md:7"];
  finds(definitionOfDone, [
    ["names a file that is not there", unmet, { phase: phaseThat({ done: [point] }) }],
    [
      "names a file that is there",
      [],
      { phase: phaseThat({ done: [point] }), there: new Set(["docs/cart.md"]) },
    ],
    [
      "names a file that was created",
      [],
      { phase: phaseThat({ done: [point] }), changes: [created("docs/cart.md")] },
    ],
    [
      "names a file that was deleted",
      unmet,
      {
        phase: phaseThat({ done: [point] }),
        changes: [deleted("docs/cart.md")],
        there: new Set(["docs/cart.md"]),
      },
    ],
    [
      "names two files",
      [...unmet, ...unmet],
      { phase: phaseThat({ done: ["docs/a.md, docs/b.md"] }) },
    ],
    ["names no file", [], { phase: phaseThat({ done: ["All tests pass", "README.md is nice"] }) }],
    ["wants a file gone", [], { phase: phaseThat({ done: ["`src/old.ts` is removed"] }) }],
    ["is optional", [], { phase: phaseThat({ optional: [point] }) }],
  ]);

  it.each([
    ["`src/a.ts`, 'src/b.ts' and (src/c.ts).", ["src/a.ts", "src/b.ts", "src/c.ts"]],
    ["Is ./src/a.ts there? See src/deep/er/b.test.ts:", ["src/a.ts", "src/deep/er/b.test.ts"]],
    ["README.md and a.ts", []],
    ["and/or, 1/2, n/a, src/", []],
    ["https://example.com/a.html www.example.org/b.html example.io/c.html", []],
    ["../a.ts ../../b.ts /etc/passwd.d/c.ts", []],
    ["src/*.ts and src/{a,b}.ts", []],
    ["", []],
  ])("names in %j the files %j", (text, files) => {
    expect(filesNamedIn(text)).toEqual(files);
  });
});

describe("what an agent says of itself", () => {
  const undone = claimOf({ tasksTotal: 3, tasksCompleted: 2 });
  finds(claimedStatus, [
    ["it is done", [], { gates: [gate("test")] }],
    ["a task is open", ["tasks-open"], { claim: undone }],
    ["it has done more than it was asked for", [], { claim: claimOf({ tasksCompleted: 9 }) }],
    [
      "it failed, and all passes",
      ["(claimed-fail)"],
      { claim: claimOf({ status: "failed" }), gates: [gate("test")] },
    ],
    ["it failed, and so it is", [], { claim: claimOf({ status: "failed" }), gates: [red("test")] }],
    [
      "it failed with a task open",
      ["tasks-open"],
      { claim: { ...undone, status: "failed" }, gates: [gate("test")] },
    ],
    [
      "a gate fails, and it passes",
      ["(claimed-fail)"],
      {
        claim: claimOf({ gates: { test: false, lint: true } }),
        gates: [gate("test"), gate("lint")],
      },
    ],
    [
      "a gate fails, and it does",
      [],
      { claim: claimOf({ gates: { test: false } }), gates: [red("test")] },
    ],
    [
      "a gate fails that was skipped",
      [],
      { claim: claimOf({ gates: { test: false } }), gates: [gate("test", { passed: null })] },
    ],
  ]);
});

// ── all of them ────────────────────────────────────────────────────────────────────────────────

describe("a verification", () => {
  const wrong: Partial<Facts> = {
    phase: phaseThat({ files: { "src/a.ts": "create" }, done: ["docs/a.md is there"] }),
    claim: claimOf({
      tasksCompleted: 0,
      gates: { lint: true },
      files: { created: ["src/z.ts"], modified: [], deleted: [] },
    }),
    traces: { history: ["main was moved"], state: ["x"], plan: ["p"], nested: ["n"], processes: 1 },
    changes: [file("src/b.ts", { marker: 1 }), file("a.snap", { kind: "snapshot" })],
    surface: [{ name: "a", file: "a", is: "changed" }],
    toolsChanged: ["t"],
    hooksChanged: ["h"],
    tests: [{ kind: "test-deleted", test: "adds", file: "a.test.ts", line: 1, message: "gone" }],
    gates: [gate("test", { tests: counted(0) }), red("lint")],
  };

  it("finds nothing in honest work", () => {
    const honest = factsOf({
      phase: phaseThat({ files: { "src/a.ts": "create" }, done: ["`src/a.ts` adds up"] }),
      claim: claiming({ created: ["src/a.ts", "src/a.test.ts"] }),
      changes: [created("src/a.ts"), created("src/a.test.ts", { kind: "test" })],
      testsAdded: 2,
      gates: [gate("test", { tests: counted(7) }), gate("lint")],
      countsBefore: { test: counted(5) },
    });
    expect(verify(honest)).toEqual([]);
  });

  it("tells everything that is wrong, what makes the rest worthless first", () => {
    expect(verify(factsOf(wrong)).map(({ code }) => code)).toEqual([
      "gate-changed",
      "tool-changed",
      "hook-planted",
      "history-rewritten",
      "state-touched",
      "test-deleted",
      "snapshot-changed",
      "no-tests-run",
      "claimed-pass",
      "gate-failed",
      "file-missing",
      "declared-missing",
      "undeclared-file",
      "done-unmet",
      "tasks-open",
      "conflict-markers",
      "nested-repository",
      "plan-edited",
      "process-left",
    ]);
  });

  it("asks every check", () => {
    const asked = new Set(Object.values(checks));
    const all = [
      gateSurface,
      tools,
      history,
      stateUntouched,
      testCode,
      snapshots,
      testCounts,
      gateResults,
      claimedFiles,
      somethingChanged,
      declaredFiles,
      definitionOfDone,
      claimedStatus,
      leftovers,
      planUntouched,
      processes,
    ];
    expect(all.filter((check) => !asked.has(check))).toEqual([]);
  });

  it("can find whatever the table of findings lists, but for what needs a second run", () => {
    const listed = findingTable.map(([code]): string => code);
    expect(listed.filter((code) => !seen.has(code))).toEqual(["tests-do-not-bite"]);
  });
});

describe("what a phase fails with", () => {
  const all = findingTable.map(([code, type]) => ({ code, type }));
  const failing = all.filter(({ type }) => type !== null);

  it("is nothing, if nothing or only notes were found", () => {
    expect(errorFrom([])).toBeUndefined();
    expect(errorFrom(all.map(({ code }) => note(code, "a note")))).toBeUndefined();
    expect(errorFrom([note("extra-file", "a note")], "much output")).toBeUndefined();
    expect(
      [failure("gate-failed", "it failed"), note("extra-file", "a note")].map(isFailure),
    ).toEqual([true, false]);
  });

  it.each(failing.filter(({ type }) => type !== "gate"))(
    "is of the type $type for $code",
    ({ code, type }) => {
      expect(errorFrom([failure(code, "it is wrong")])).toEqual({ type, message: "it is wrong" });
    },
  );

  it.each([
    ["test", {}, "test_failure"],
    ["lint", {}, "lint_error"],
    ["typecheck", {}, "typecheck_error"],
    ["format", {}, "format_error"],
    ["e2e", {}, "gate_failure"],
    ["lint", { timedOut: true }, "timeout"],
  ] as const)("is, if the gate %s fails (%j), %s", (name, some, type) => {
    expect(errorFrom(gateResults(factsOf({ gates: [red(name, some)] })))?.type).toBe(type);
  });

  it("is a mismatch, if a gate that is claimed to pass fails", () => {
    const facts = factsOf({ gates: [red("test")], claim: claimOf({ gates: { test: true } }) });
    expect(errorFrom(gateResults(facts))?.type).toBe("verification_mismatch");
  });

  it("is told by the worst of all findings, in whatever order they were found", () => {
    for (const [at, { code }] of failing.entries()) {
      const rest = failing.slice(at).map((each) => failure(each.code, each.code));
      expect(errorFrom([note("process-left", "a note"), ...rest.reverse()])?.message).toMatch(
        new RegExp(`^${code}(?: |$)`),
      );
    }
  });

  it("names the first of two that are as bad", () => {
    const both = [failure("file-missing", "a is missing"), failure("file-missing", "b is missing")];
    expect(errorFrom(both)?.message).toBe("a is missing (and 1 more finding)");
  });

  it.each<[string, VerificationFinding[], string, string | undefined]>([
    ["one without a place", [failure("no-tests-run", "none ran")], "", undefined],
    ["output that is empty", [failure("no-tests-run", "none ran")], " \n", undefined],
    ["output", [failure("no-tests-run", "none ran")], "last words", "last words"],
    [
      "one with a place",
      [failure("test-deleted", "it is gone", { file: "a.test.ts", line: 3 })],
      "last words",
      "a.test.ts:3: it is gone [test-deleted]\nlast words",
    ],
    [
      "several, and notes that are left out",
      [
        failure("gate-failed", "test failed"),
        note("extra-file", "b"),
        failure("test-deleted", "gone"),
      ],
      "",
      "test failed [gate-failed]\ngone [test-deleted]",
    ],
  ])("has details: %s", (_, findings, output, details) => {
    expect(errorFrom(findings, output)?.details).toBe(details);
  });

  it("says how many more there are", () => {
    const three = Array.from({ length: 3 }, () => failure("gate-failed", "test failed"));
    expect(errorFrom(three)?.message).toBe("test failed (and 2 more findings)");
  });
});

describe("a finding as a line", () => {
  const code: FindingCode = "test-deleted";
  it.each([
    [failure(code, "it is gone"), "it is gone [test-deleted]"],
    [failure(code, "it is gone", { file: "a.ts" }), "a.ts: it is gone [test-deleted]"],
    [failure(code, "it is gone", { file: "a.ts", line: 3 }), "a.ts:3: it is gone [test-deleted]"],
    [note(code, "it is gone", { file: "a.ts", line: 0 }), "a.ts:0: it is gone [test-deleted]"],
  ])("%j → %s", (finding, line) => {
    expect(findingLine(finding)).toBe(line);
  });
});
