/** What a gate says is counted, shown and believed only as far as it goes. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  auto,
  byAgent,
  codesIn,
  makeTested,
  type PlanProject,
  phaseIn,
  testsOf,
} from "./truth-rig.ts";

const nodeSummary = (tests: number, passed: number, skipped: number): string =>
  [
    `tests ${tests}`,
    "suites 0",
    `pass ${passed}`,
    "fail 0",
    "cancelled 0",
    `skipped ${skipped}`,
    "todo 0",
    "duration_ms 5",
  ]
    .map((line) => `# ${line}\\n`)
    .join("");

const bold = (text: string): string => `\\033[1m${text}\\033[22m`;

/** What the gate does for the phase of that name; it is green on the base. */
const gates = {
  none: `printf '${nodeSummary(0, 0, 0)}'`,
  skipped: `printf '${nodeSummary(3, 0, 3)}'`,
  zero: `printf '\\n Test Files  1 failed (1)\\n      Tests  1 failed | 2 passed (3)\\n   Start at  10:00:00\\n   Duration  1.00s\\n'; exit 0`,
  colours: `printf '${bold("Test Suites:")} \\033[32m1 passed\\033[39m, 1 total\\n${bold("Tests:")}       ${bold("\\033[32m3 passed\\033[39m")}, 3 total\\n${bold("Time:")}        0.5 s\\n'`,
  much: `yes "a line of output that nobody wants to read, over and over again" | head -c 20000000; printf '${nodeSummary(3, 3, 0)}'`,
  slow: "sleep 61 & sleep 61",
} as const;

const config = `gates:
  test: |
    case "$AUTODEV_PHASE" in
${Object.entries(gates)
  .map(([id, script]) => `      ${id}) ${script} ;;`)
  .join("\n")}
    esac
build: { attempts: 1, gate_minutes: 0.2 }
`;

describe("what a test runner says", () => {
  let project: PlanProject;
  beforeAll(async () => {
    const phases = Object.keys(gates).map((id) => ({ id, files: { [`${id}.txt`]: id } }));
    project = makeTested({ config, phases });
    const built = await project.build(...auto);
    expect(built.ran.code, built.ran.all).toBe(4);
  }, 120_000);
  const gateOf = (id: string) => phaseIn(project, id).quality_gates["test"];

  it("is not believed if it ran no test, or skipped all of them", () => {
    expect(codesIn(project, "none")).toEqual(["no-tests-run"]);
    expect(codesIn(project, "skipped")).toEqual(["no-tests-run"]);
  });

  it("counts against it, whatever it ended with", () => {
    expect(codesIn(project, "zero")).toContain("gate-failed");
    expect(gateOf("zero")).toMatchObject({ passed: false, tests_passed: 2, tests_failed: 1 });
    expect(phaseIn(project, "zero").error?.type).toBe("test_failure");
  });

  it("is read through its colours, and at the end of twenty megabytes", () => {
    expect(gateOf("colours")).toMatchObject({ passed: true, tests_passed: 3 });
    expect(gateOf("much")).toMatchObject({ passed: true, tests_passed: 3 });
  });

  it("is nothing if it takes too long", () => {
    expect(gateOf("slow")).toMatchObject({ passed: false });
    expect(gateOf("slow")?.output_summary).toContain("took too long");
    expect(phaseIn(project, "slow").error?.type).toBe("timeout");
  });
});

it("failures are told by file and line, coverage as a share, and the gate gives the failure its kind", async () => {
  const project = makeTested({
    config: `gates: { test: "node --test --experimental-test-coverage", typecheck: "! grep -s wrong types.js" }
build: { attempts: 1 }
`,
    files: { "test/a.test.js": testsOf("adds", "carries").replace("./sum", "../sum") },
    phases: [{ id: "1" }, { id: "2" }, { id: "3" }],
    agent: {
      "1": "echo part > part.txt",
      "2": "sed -i 's/a + b/a - b/' sum.js",
      "3": "echo wrong > types.js",
    },
  });
  const built = await project.build(...byAgent);
  expect(built.phases.map(({ error }) => error?.type)).toEqual([
    undefined,
    "test_failure",
    "typecheck_error",
  ]);
  const green = phaseIn(project, "1").quality_gates["test"];
  expect(green).toMatchObject({ passed: true, tests_passed: 2 });
  expect(green?.["coverage"]).toMatch(/^\d+(?:\.\d+)?%$/);
  expect(phaseIn(project, "2").quality_gates["test"]).toMatchObject({
    passed: false,
    tests_passed: 0,
    tests_failed: 2,
    failures: ["test/a.test.js:4 adds", "test/a.test.js:5 carries"],
  });
});
