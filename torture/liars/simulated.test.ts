/** That the simulation can fail: whoever is put in under a false name is found out. */
import { describe, expect, it } from "vitest";
import type { Place } from "../../src/core/plan/plan.ts";
import type { Facts } from "../../src/core/verification/facts.ts";
import { errorFrom, verify } from "../../src/core/verification.ts";
import { joinedFacts } from "./joined-facts.ts";
import { DoesNotFit, type Liar } from "./kind.ts";
import { type Pool, simulate, type Witness, wrongAboutHearing } from "./simulated.ts";

const place: Place = { file: "docs/plan.md", line: 7, column: 1, from: 0, to: 0 };

const plain: Facts = {
  phase: {
    id: "1",
    written: "1",
    name: "Cart",
    dependsOn: [],
    parallelWith: [],
    status: "pending",
    statuses: [],
    tasks: [],
    definitionOfDone: [],
    checkpoints: [],
    files: [{ path: "src/cart.js", change: "create", blocks: [], place }],
    commands: [],
    place,
    text: "",
    hasWork: true,
  },
  claim: { status: "complete", tasksTotal: 1, tasksCompleted: 1, message: "feat: a cart" },
  traces: {},
  changes: [{ path: "src/cart.js", change: "created", kind: "code" }],
  there: new Set(),
  others: new Map(),
  surface: [],
  toolsChanged: [],
  hooksChanged: [],
  tests: [],
  testsAdded: 0,
  unreadable: [],
  gates: [{ name: "test", command: "node --test", passed: true, summary: "exit code 0" }],
  countsBefore: {},
};
const red: Facts = {
  ...plain,
  gates: plain.gates.map((gate) => ({ ...gate, passed: false, summary: "ended with 1" })),
};
const moved: Facts = { ...plain, traces: { history: ["main was moved"] } };

/** As the run would have told it. */
function witness(name: string, facts: Facts, code?: string): Witness {
  const findings = verify(facts).map(({ gateError: _gateError, ...finding }) => finding);
  const error = errorFrom(verify(facts));
  const { claim } = facts;
  const told = { phase: "1", attempt: 1, gates: [...facts.gates], findings };
  const lie: Liar = { name, what: name, tree: (tree) => tree, expect: { codes: [code ?? ""] } };
  return {
    name,
    project: "node",
    common: true,
    facts,
    told: error
      ? { type: "attempt-failed", ...told, error, claim }
      : {
          type: "phase-verified",
          ...told,
          onto: "c0",
          commit: "c1",
          message: "feat: a cart",
          created: ["src/cart.js"],
          modified: [],
          deleted: [],
          tasksChecked: 0,
          doneChecked: 0,
          statusUpdated: true,
        },
    ...(code !== undefined && { lie }),
  };
}

function poolOf(...witnesses: readonly Witness[]): Pool {
  const sources = (isLie: boolean) =>
    witnesses
      .filter(({ lie }) => (lie !== undefined) === isLie)
      .map((each) => ({ project: each.project, ask: () => Promise.resolve(each) }));
  return {
    liars: sources(true),
    honest: sources(false),
    plain: () => Promise.resolve(witness("plain", plain)),
  };
}

async function wrongWith(...witnesses: readonly Witness[]): Promise<string> {
  const pool = poolOf(...witnesses);
  const all = await Promise.all(Array.from({ length: 40 }, (_, at) => simulate(pool, 1, at)));
  return all.flatMap(({ wrong }) => wrong).join("\n");
}

const honest = witness("plain", plain);
const failing = witness("tests-not-run", red, "gate-failed");

describe("a simulated run", () => {
  it("is as it should be where everybody is who he is said to be", async () => {
    const other = witness("moves-the-branch", moved, "history-rewritten");
    expect(await wrongWith(honest, failing, other)).toBe("");
  });

  it("tells of a lie that was believed", async () => {
    const unnoticed = witness("unnoticed", plain, "gate-failed");
    expect(await wrongWith(honest, unnoticed)).toContain("unnoticed in node: believed");
  });

  it("tells of honest work that was refused", async () => {
    const unlucky = witness("unlucky", red);
    expect(await wrongWith(unlucky, failing)).toContain("unlucky in node: refused");
  });

  it("tells of a lie that is called by another name", async () => {
    const renamed = witness("renamed", red, "test-deleted");
    expect(await wrongWith(honest, renamed)).toContain("renamed is named wrongly: test_failure");
  });
});

describe("what a run has put on record", () => {
  it("is what judging its facts again says", () => {
    expect(wrongAboutHearing(honest)).toBeUndefined();
    expect(wrongAboutHearing(failing)).toBeUndefined();
  });

  it("is not, where the facts are those of another", () => {
    expect(wrongAboutHearing({ ...failing, facts: plain })).toContain("judged again it differs");
    expect(wrongAboutHearing({ ...honest, facts: moved })).toContain("history-rewritten");
  });
});

describe("two in one", () => {
  it("have left what each of them has left", () => {
    const codes = verify(joinedFacts(plain, red, moved)).map(({ code }) => code);
    expect(codes).toEqual(["history-rewritten", "gate-failed"]);
  });

  it("are nobody, where one excludes the other", () => {
    const said = (message: string): Facts => ({ ...plain, claim: { ...plain.claim, message } });
    expect(() => joinedFacts(plain, said("one thing"), said("another"))).toThrow(DoesNotFit);
  });
});
