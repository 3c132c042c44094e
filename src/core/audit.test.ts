import { describe, expect, it } from "vitest";
import { type AuditFacts, auditCommit } from "./audit.ts";
import type { Evidence } from "./evidence.ts";
import type { GateOutcome } from "./plan/run-event.ts";

const [parent, tree, id] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];

const gate = (passed: boolean | null, tests?: number, name = "test"): GateOutcome => ({
  name,
  command: "npm test",
  passed,
  summary: passed ? "exit code 0" : "ended with 1",
  ...(tests !== undefined && { tests: { runner: "vitest", passed: tests, failed: 0, skipped: 0 } }),
});

const evidenceOf = (some: Partial<Evidence> = {}): Evidence => ({
  version: 1,
  run: "r1",
  plan: "docs/plan.md",
  phase: "1",
  attempt: "u-1",
  onto: parent,
  tree,
  verified_at: "2026-01-01T12:00:00.000Z",
  by: "autodev",
  platform: "linux x64",
  surface: "d".repeat(64),
  tools: {},
  gates: [gate(true, 5)],
  receipts: [],
  findings: [],
  claim: { status: "complete", gates: {} },
  unverified: false,
  previous: null,
  ...some,
});

const factsOf = (some: Partial<AuditFacts> = {}): AuditFacts => ({
  parent,
  tree,
  trailers: { run: "r1", phases: ["1"], attempt: "u-1", evidence: [id] },
  evidence: [evidenceOf()],
  absent: [],
  unreadable: [],
  found: [],
  unknownPhases: [],
  onSameTree: false,
  gates: [gate(true, 5)],
  ...some,
});

/** Of two phases in one commit: the last receipt is of the tree that was committed. */
const squashed = (first: Partial<Evidence> = {}, last: Partial<Evidence> = {}): AuditFacts =>
  factsOf({
    trailers: { run: "r1", phases: ["1", "2"], evidence: [id, "d".repeat(40)] },
    evidence: [
      evidenceOf({ tree: "e".repeat(40), ...first }),
      evidenceOf({ phase: "2", attempt: "u-2", onto: "f".repeat(40), ...last }),
    ],
  });

type Row = readonly [says: string, found: readonly string[], facts: AuditFacts];

/** Notes are in brackets; what holds has nothing else. */
const rows: readonly Row[] = [
  ["all is as its receipt says", [], factsOf()],
  ["the commit holds another tree", ["tree-differs"], factsOf({ tree: "0".repeat(40) })],
  ["it lies on another commit", ["(parent-differs)"], factsOf({ parent: "0".repeat(40) })],
  [
    "the receipt is of another run",
    ["evidence-of-another"],
    factsOf({ evidence: [evidenceOf({ run: "r2" })] }),
  ],
  [
    "the receipt is of another phase",
    ["evidence-of-another"],
    factsOf({ evidence: [evidenceOf({ phase: "2" })] }),
  ],
  [
    "the receipt is of another attempt",
    ["evidence-of-another"],
    factsOf({ evidence: [evidenceOf({ attempt: "u-2" })] }),
  ],
  [
    "the commit names no attempt",
    [],
    factsOf({ trailers: { run: "r1", phases: ["1"], evidence: [id] } }),
  ],
  [
    "a gate had failed when it landed",
    ["gate-failed"],
    factsOf({ evidence: [evidenceOf({ gates: [gate(false)] })] }),
  ],
  [
    "a gate had been skipped when it landed",
    [],
    factsOf({ evidence: [evidenceOf({ gates: [gate(null)] })] }),
  ],
  [
    "no gate ran, as was accepted",
    ["(unverified)"],
    factsOf({ evidence: [evidenceOf({ unverified: true })] }),
  ],
  [
    "the commit names no evidence",
    ["(evidence-absent)"],
    factsOf({ trailers: { run: "r1", phases: ["1"], evidence: [] }, evidence: [] }),
  ],
  ["the evidence was not fetched", ["(evidence-absent)"], factsOf({ evidence: [], absent: [id] })],
  [
    "what is named as evidence is none",
    ["evidence-unreadable"],
    factsOf({ evidence: [], unreadable: [id] }),
  ],
  ["the plan was not found", ["(plan-not-found)"], factsOf({ unknownPhases: undefined })],
  ["the plan has no such phase", ["no-such-phase"], factsOf({ unknownPhases: ["9"] })],
  [
    "it lies on another commit with the same tree",
    [],
    factsOf({ parent: "0".repeat(40), onSameTree: true }),
  ],
  [
    "no evidence is here, and the gates were not run",
    ["(evidence-absent)", "not-checked", "(gates-not-run)"],
    factsOf({ evidence: [], absent: [id], gates: undefined }),
  ],
  [
    "a check finds something",
    ["gate-changed", "(extra-file)"],
    factsOf({
      found: [
        { code: "gate-changed", level: "error", message: "package.json was changed" },
        { code: "extra-file", level: "note", message: "b.md was created" },
      ],
    }),
  ],
  ["the gates were not run", ["(gates-not-run)"], factsOf({ gates: undefined })],
  ["a gate fails now", ["gate-failed"], factsOf({ gates: [gate(false)] })],
  [
    "the second of two gates fails now",
    ["gate-failed"],
    factsOf({ gates: [gate(true), gate(false, undefined, "lint")] }),
  ],
  ["a gate is skipped now", [], factsOf({ gates: [gate(null)] })],
  ["fewer tests pass now", ["fewer-tests"], factsOf({ gates: [gate(true, 4)] })],
  ["more tests pass now", [], factsOf({ gates: [gate(true, 6)] })],
  ["another gate has fewer tests", [], factsOf({ gates: [gate(true, 4, "e2e")] })],
  [
    "nothing is known of the tests before",
    [],
    factsOf({ evidence: [evidenceOf({ gates: [gate(true)] })], gates: [gate(true, 1)] }),
  ],
  ["two phases in one commit", [], squashed()],
  [
    "two phases in one commit, with another tree",
    ["tree-differs"],
    squashed({ tree }, { tree: "0".repeat(40) }),
  ],
  ["two phases, the first of another run", ["evidence-of-another"], squashed({ run: "r2" })],
  [
    "two phases, and a gate had failed for the first",
    ["gate-failed"],
    squashed({ gates: [gate(false)] }),
  ],
  [
    "two phases, and the last one's evidence was not fetched",
    ["(evidence-absent)"],
    { ...squashed(), evidence: squashed().evidence.slice(0, 1), absent: ["d".repeat(40)], parent },
  ],
];

describe("an audited commit", () => {
  it.each(rows)("%s → %j", (_, found, facts) => {
    const { holds, findings } = auditCommit(facts);
    expect(findings.map(({ code, level }) => (level === "error" ? code : `(${code})`))).toEqual(
      found,
    );
    expect(holds).toBe(found.every((each) => each.startsWith("(")));
  });

  it("is told with what differs, short", () => {
    const { findings } = auditCommit(factsOf({ tree: "0".repeat(40) }));
    expect(findings[0]?.message).toBe(
      "the gates ran on the tree bbbbbbbbbbbb, and the commit holds 000000000000",
    );
  });

  it("is told with how to fetch the evidence", () => {
    const { findings } = auditCommit(factsOf({ evidence: [], absent: [id] }));
    expect(findings[0]?.message).toContain("git fetch origin 'refs/autobuild/evidence/*:");
  });
});
