/**
 * Every form of a state file, at every step and status, over all combinations of what the steps of
 * that part of the flow leave: where the flow is, and the line that says why it is not where the file
 * says. What should be comes from the tables here, which are those of the specification.
 */
import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../event.ts";
import { evolveCourse } from "./course.ts";
import { type Check, crossCheck } from "./cross-check.ts";
import type { Survey } from "./flow.ts";
import { flowNamed } from "./flows/index.ts";
import { renderStateFile } from "./render.ts";
import { awaitingInvocation, type FlowState, flowStateAt } from "./state.ts";
import { type Facts, type Whereabouts, whereabouts } from "./whereabouts.ts";

// ── the tables ─────────────────────────────────────────────────────────────────────────────────

interface Row {
  readonly step: string;
  readonly name: string;
  /** Its numbers in generation 2, in 12, 13 and 14 steps; "-": it had none. */
  readonly second?: string;
  /** Its code in generation 1. */
  readonly first?: string;
  /** `must`: once the flow is past it, its proof has to be there. */
  readonly proof?: "must" | "may";
}

/** step | name | generation 1 | generation 2 (12 / 13 / 14) | whether it leaves a proof */
const tableOf = (text: string): readonly Row[] =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [step = "", name = "", first = "", second = "", proof = ""] = line
        .split("|")
        .map((cell) => cell.trim());
      return {
        step,
        name,
        ...(first !== "" && { first }),
        ...(second !== "" && { second }),
        ...(proof !== "" && { proof: proof as "must" | "may" }),
      };
    });

const tables: Readonly<Record<string, readonly Row[]>> = {
  greenfield: tableOf(`
    1  | Problem          | 0  | 1  | must
    2  | Research         | 1  | 2  | must
    3  | Plan             | 2  | 3  | must
    4  | UI Design        | 2a | 4  | may
    5  | Decompose        | 3  | 5  | must
    6  | Implement        | 4  | 6  | must
    7  | Run Tests        | 5  | 7  |
    8  | Security Audit   | 5b | 8  |
    9  | Performance Test | 5c | 9  |
    10 | Deploy           | 6  | 10 |
    11 | Retrospective    |    |    |`),
  "existing-code": tableOf(`
    1  | Document                   | pre | 1/1/1    | must
    2  | Architecture Baseline Scan |     |          | must
    3  | Test Spec                  | 2b  | 2/2/2    | must
    4  | Code Testability Revision  |     | -/3/3    | may
    5  | Decompose Tests            | 2c  | 3/4/4    | must
    6  | Implement Tests            | 2d  | 4/5/5    | must
    7  | Run Tests                  |     | 5/6/6    |
    8  | Refactor                   | 2e  | 6/7/7    |
    9  | New Task                   | 2f  | 7/8/8    | must
    10 | Implement                  | 2g  | 8/9/9    | must
    11 | Run Tests                  | 2h  | 9/10/10  |
    12 | Test-Spec Sync             |     |          |
    13 | Update Docs                |     | -/-/11   | must
    14 | Security Audit             | 2hb | 10/11/12 |
    15 | Performance Test           | 2hc | 11/12/13 |
    16 | Deploy                     | 2i  | 12/13/14 |
    17 | Retrospective              |     |          | must`),
  "meta-repo": tableOf(`
    1 | Discover      | | | must
    2 | Config Review | | | must
    3 | Status        | | |
    4 | Document Sync | | |
    5 | CICD Sync     | | |
    6 | Loop          | | |`),
};

/** What is judged together: phase A and phase B of existing code are two things. */
const parts: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  greenfield: [[1, 11]],
  "existing-code": [
    [1, 8],
    [9, 17],
  ],
  "meta-repo": [[1, 6]],
};

const partOf = (flow: string, step: string): readonly Row[] => {
  const [from, to] = (parts[flow] ?? []).find(([, end]) => Number(step) <= end) ?? [1, 99];
  return (tables[flow] ?? []).filter((row) => Number(row.step) >= from && Number(row.step) <= to);
};

/** What follows a step, as "cycle.step"; "done" behind greenfield's last. */
function following(flow: string, step: string, cycle: number): string {
  if (flow === "existing-code" && step === "17") return `${cycle + 1}.9`;
  if (flow === "meta-repo" && step === "6") return `${cycle}.3`;
  return flow === "greenfield" && step === "11" ? "done" : `${cycle}.${Number(step) + 1}`;
}

/** The documents, where these steps have left what proves them. */
function documentsOf(flow: string, there: ReadonlySet<string>, cycle: number): Map<string, string> {
  const docs = new Map<string, string>();
  const add = (...paths: readonly string[]): void => {
    for (const path of paths) docs.set(path, "# It is there\n");
  };
  const has = (step: string): boolean => there.has(step);
  if (flow === "greenfield") {
    const problem = ["problem.md", "restrictions.md", "acceptance_criteria.md", "input_data/a.csv"];
    if (has("1")) add(...problem.map((name) => `00_problem/${name}`));
    if (has("2")) add("01_solution/solution_draft01.md");
    if (has("3")) add("02_document/architecture.md");
    if (has("4")) add("02_document/ui_mockups/page.html");
    if (has("5")) {
      add("02_tasks/_dependencies_table.md", `02_tasks/${has("6") ? "done" : "todo"}/01_a.md`);
    }
    if (has("6")) add("03_implementation/implementation_report_a.md");
  } else if (flow === "existing-code") {
    if (has("1")) add("02_document/FINAL_report.md");
    if (has("2")) add("02_document/architecture_compliance_baseline.md");
    if (has("3")) add("02_document/tests/traceability-matrix.md");
    const revision = "04_refactoring/01-testability-refactoring";
    if (has("4")) add(`${revision}/testability_assessment.md`);
    if (has("5")) add(`02_tasks/${has("6") ? "done" : "todo"}/01_test_infrastructure.md`);
    if (has("6")) add("03_implementation/implementation_report_tests.md");
    if (has("9")) add(`02_task_plans/cycle${cycle}_a.md`);
    if (has("9") && !has("10")) add("02_tasks/todo/01_a.md");
    if (has("10")) add(`03_implementation/implementation_report_a_cycle${cycle}.md`);
    if (has("13")) add(`02_document/ripple_log_cycle${cycle}.md`);
    if (has("17")) add("06_metrics/retro_2026-01-02.md");
  } else {
    if (has("1")) docs.set("_repo-config.yaml", "confirmed_by_user: false\n");
    if (has("2")) docs.set("_repo-config.yaml", "confirmed_by_user: true\n");
  }
  return docs;
}

const surveyOf = (texts: ReadonlyMap<string, string>): Survey => ({
  docs:
    texts.size === 0 ? undefined : new Map([...texts].map(([path, { length }]) => [path, length])),
  texts,
  hasSource: false,
  members: 0,
});

// ── what should be ─────────────────────────────────────────────────────────────────────────────

interface Claim {
  readonly flow: string;
  readonly step: string;
  readonly status: string;
  readonly cycle: number;
}

/** `here`, or "cycle.step" where the flow is in truth, or all places that fit, with a space between. */
interface Truth {
  readonly is: "here" | "elsewhere" | "asked";
  readonly at: string;
  /** Whose documents contradict the file. */
  readonly because?: string;
}

function truthOf({ flow, step, status, cycle }: Claim, there: ReadonlySet<string>): Truth {
  const part = partOf(flow, step);
  const at = part.findIndex((row) => row.step === step);
  const isThere = (row: Row): boolean => there.has(row.step) && row.step !== "17";
  const settled = (row: Row): boolean =>
    isThere(row) || (row.step === step && status === "skipped") || row.proof !== "must";
  const past = status === "completed" ? at + 1 : at;
  // A step that has begun is not over because something of it is there.
  const ahead = part.findLastIndex(
    (row, index) => isThere(row) && (index > at || (index === at && status === "not_started")),
  );
  const gap = part.find((row, index) => index < Math.max(past, ahead) && !settled(row));
  const here = `${cycle}.${step}`;
  const behind = ahead < 0 ? undefined : following(flow, part[ahead]?.step ?? "", cycle);
  if (!gap) {
    return behind === undefined
      ? { is: "here", at: here }
      : { is: "elsewhere", at: behind, because: part[ahead]?.step ?? "" };
  }
  const back = `${cycle}.${gap.step}`;
  if (behind === undefined) {
    return { is: part.indexOf(gap) < past ? "elsewhere" : "here", at: back, because: gap.step };
  }
  const places = [...new Set([back, here, behind])];
  return { is: "asked", at: places.join(" "), because: gap.step };
}

// ── the forms of a state file ──────────────────────────────────────────────────────────────────

interface Form {
  readonly name: string;
  readonly path: string;
  /** Undefined: this form has no such step. */
  text(claim: Claim, row: Row): string | undefined;
}

const older = (claim: Claim, step: string, name: string, withFlow: boolean): string =>
  `# Autopilot State\n\n## Current Step\n${withFlow ? `flow: ${claim.flow}\n` : ""}step: ${step}
name: ${name}\nstatus: ${claim.status}\nsub_step: 0\nretry_count: 0\n`;

const forms: readonly Form[] = [
  {
    name: "generation 1",
    path: "_docs/_autopilot_state.md",
    text: (claim, { first, name }) =>
      first === undefined || claim.cycle > 1
        ? undefined
        : older(claim, first, name === "Test Spec" ? "Blackbox Test Spec" : name, false),
  },
  ...[0, 1, 2].map(
    (column): Form => ({
      name: `generation 2, in ${12 + column} steps`,
      path: "_docs/_autopilot_state.md",
      text(claim, { second, name }) {
        const cells = second?.split("/") ?? [];
        const step = cells.length === 1 && column > 0 ? "-" : (cells[column] ?? "-");
        return step === "-" || claim.cycle > 1 ? undefined : older(claim, step, name, true);
      },
    }),
  ),
  {
    name: "generation 3",
    path: "_docs/_autodev_state.md",
    text: ({ flow, step, status, cycle }, { name }) =>
      `# Autodev State\n\n## Current Step\nflow: ${flow}\nstep: ${step}\nname: ${name}
status: ${status}\nsub_step:\n  phase: 0\n  name: awaiting-invocation\n  detail: ""
retry_count: 0\ncycle: ${cycle}\n`,
  },
];

// ── looking ────────────────────────────────────────────────────────────────────────────────────

function look(more: Partial<Facts>, survey: Survey): Whereabouts {
  const found = whereabouts({
    files: [],
    everRendered: () => false,
    recentRenderings: () => [],
    gitMoved: () => false,
    survey: () => survey,
    ...more,
  });
  if (!found.ok) throw new Error(found.failure.message);
  return found.value;
}

/** As a project does it that has just taken the file over. */
function checked({ state }: Whereabouts, survey: Survey): Check {
  const event = { type: "state-file-adopted", state, seq: 1, at: "", run: "flow" };
  const course = evolveCourse(undefined, undefined, event as unknown as RecordedEvent);
  const flow = flowNamed(state.flow);
  if (!flow) throw new Error(`there is no ${state.flow}`);
  return crossCheck(flow, state, course, survey);
}

function told(check: Check, { flow, cycle, step }: FlowState): Truth & { line?: string } {
  switch (check.is) {
    case "elsewhere": {
      const { to, line } = check;
      return { is: "elsewhere", at: to.step ? `${to.cycle}.${to.step.step}` : "done", line };
    }
    case "doubtful": {
      const places = check.places.map((place) =>
        place === check.onward?.step
          ? `${check.onward.cycle}.${place.step}`
          : `${cycle}.${place.step}`,
      );
      return { is: "asked", at: places.join(" "), line: check.line };
    }
    default:
      return { is: "here", at: `${cycle}.${step}`, ...(check.is !== "agrees" && { line: flow }) };
  }
}

/** Every set of these. */
const setsOf = (steps: readonly string[]): Set<string>[] =>
  Array.from(
    { length: 2 ** steps.length },
    (_, bits) => new Set(steps.filter((_step, at) => Math.floor(bits / 2 ** at) % 2 === 1)),
  );

const statuses = ["not_started", "in_progress", "completed", "skipped", "failed"];

describe("a state file over all that may lie below _docs/", () => {
  for (const flow of Object.keys(tables)) {
    it(`says where ${flow} is, or is corrected with a line, or a person is asked`, () => {
      const wrong: string[] = [];
      let cases = 0;
      for (const row of tables[flow] ?? []) {
        const proofs = partOf(flow, row.step).flatMap(({ step, proof }) => (proof ? [step] : []));
        for (const cycle of flow === "existing-code" && Number(row.step) > 8 ? [1, 3] : [1]) {
          for (const there of setsOf(proofs)) {
            const survey = surveyOf(documentsOf(flow, there, cycle));
            // One line of the configuration is the proof of step 2: there is none without step 1's.
            if (flow === "meta-repo" && there.has("2") && !there.has("1")) continue;
            for (const status of statuses) {
              const claim: Claim = { flow, step: row.step, status, cycle };
              const truth = truthOf(claim, there);
              for (const form of forms) {
                const text = form.text(claim, row);
                if (text === undefined) continue;
                cases++;
                const here = look({ files: [{ path: form.path, text }] }, survey);
                const { line, ...is } = told(checked(here, survey), here.state);
                const { because, ...wanted } = truth;
                const isSaid =
                  wanted.is === "here"
                    ? line === undefined
                    : line?.includes(`what step ${because} `) === true;
                const isRead = here.source === "state" && here.corrections.length === 0;
                if (isRead && isSaid && is.is === wanted.is && is.at === wanted.at) continue;
                wrong.push(
                  `${form.name}, ${flow} ${cycle}.${row.step} ${status}, with ${[...there].join(" ")}: ${is.is} ${is.at}, not ${wanted.is} ${wanted.at} (${line} ${here.corrections.join()})`,
                );
              }
            }
          }
        }
      }
      expect({ count: wrong.length, first: wrong.slice(0, 5) }).toEqual({ count: 0, first: [] });
      expect(cases).toBeGreaterThan({ greenfield: 9000, "existing-code": 9000 }[flow] ?? 80);
    });
  }
});

// ── nothing but the folders ────────────────────────────────────────────────────────────────────

/** The places that are left when a step is the next one and all before it are done. */
const byFolders: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["1", "2", "3", "4", "5", "6"].flatMap((step) => [
      [`greenfield 1.${step}`, step],
      [`existing-code 1.${step}`, step],
    ]),
  ),
  ...Object.fromEntries(
    ["7", "8", "9", "10", "11"].map((step) => [`greenfield 1.${step}`, "7 8 9 10 11"]),
  ),
  ...Object.fromEntries(["7", "8", "9"].map((step) => [`existing-code 1.${step}`, "7 8 9"])),
  ...Object.fromEntries(
    ["1", "2", "3"].flatMap((cycle) => [
      [`existing-code ${cycle}.10`, "10"],
      ...["11", "12", "13"].map((step) => [`existing-code ${cycle}.${step}`, "11 12 13"]),
      ...["14", "15", "16", "17"].map((step) => [
        `existing-code ${cycle}.${step}`,
        cycle === "1" ? "14 15 16 17" : "14 15 16 17 9",
      ]),
    ]),
  ),
  "existing-code 2.9": "14 15 16 17 9",
  "existing-code 3.9": "14 15 16 17 9",
  "meta-repo 1.1": "1",
  "meta-repo 1.2": "2",
  ...Object.fromEntries(["3", "4", "5", "6"].map((step) => [`meta-repo 1.${step}`, "3 4 5 6"])),
};

/** All that was left on the way to a step: of earlier cycles too. */
function onTheWay(flow: string, to: string, cycle: number): Map<string, string> {
  const docs = new Map<string, string>();
  for (let each = 1; each <= cycle; each++) {
    const steps = (tables[flow] ?? []).map(({ step }) => step);
    const done = steps.filter((step) => each < cycle || to === "done" || Number(step) < Number(to));
    for (const [path, text] of documentsOf(flow, new Set(done), each)) docs.set(path, text);
    // What a cycle has implemented is not to be done any more.
    if (done.includes("10") && flow === "existing-code") docs.delete("02_tasks/todo/01_a.md");
  }
  return docs;
}

const everyPlace = Object.entries(tables).flatMap(([flow, rows]) =>
  rows.flatMap(({ step, name }) =>
    (flow === "existing-code" && Number(step) > 8 ? [1, 2, 3] : [1]).map((cycle) => ({
      flow,
      step,
      name,
      cycle,
    })),
  ),
);

/** As the journal remembers the file that we wrote. */
const ownFile: NonNullable<Facts["recorded"]>["file"] = {
  path: "_docs/_autodev_state.md",
  generation: 3,
  variant: 13,
  text: "",
  adoptedAt: 1,
  generationSince: 1,
};

describe("without its state file", () => {
  it.each(everyPlace)(
    "$flow $cycle.$step is where the journal says",
    ({ flow, step, name, cycle }) => {
      const survey = surveyOf(onTheWay(flow, step, cycle));
      const path = "_docs/_autodev_state.md";
      for (const status of statuses) {
        const state = flowStateAt({
          flow,
          step,
          name,
          status,
          cycle,
          subStep: awaitingInvocation,
          retryCount: 0,
        });
        const text = renderStateFile(undefined, state);
        if (!text.ok) throw new Error(text.failure.message);
        const here = look({ recorded: { flow: state, file: ownFile, text: text.value } }, survey);
        expect(here).toMatchObject({ source: "rebuilt", state, verdict: { is: "stale" } });
        expect(here.corrections.join()).toContain(`${path} is gone`);
      }
    },
  );

  it.each(everyPlace)(
    "and without the journal $flow $cycle.$step is where the folders say, or is asked about",
    ({ flow, step, cycle }) => {
      const survey = surveyOf(onTheWay(flow, step, cycle));
      const here = look({ wanted: flow }, survey);
      const places = here.places?.map((place) => place.step) ?? [here.state.step];
      expect(places.join(" ")).toBe(byFolders[`${flow} ${cycle}.${step}`]);
      // The right one is always among them, in the right cycle.
      const isOnward = here.onward?.step?.step === step;
      expect(isOnward ? here.onward?.cycle : here.state.cycle).toBe(cycle);
      expect(here.corrections).toHaveLength(places.length > 1 ? 1 : 0);
    },
  );

  it.each(everyPlace)(
    "and with a number in it that is nobody's, $flow $cycle.$step is where the folders say",
    ({ flow, step, cycle }) => {
      const survey = surveyOf(onTheWay(flow, step, cycle));
      const path = "_docs/_autodev_state.md";
      const text = `# Autodev State\n\n## Current Step\nflow: ${flow}\nstep: 99\nname: x\nstatus: in_progress\nsub_step:\n  phase: 0\nretry_count: 0\ncycle: ${cycle}\n`;
      const here = look({ files: [{ path, text }] }, survey);
      expect(here).toMatchObject({ source: "scan", state: { flow, cycle } });
      expect(here.corrections[0]).toMatch(/^_docs\/_autodev_state\.md:5 step 99 is not in /);
      const places = here.places?.map((place) => place.step) ?? [here.state.step];
      expect(places).toContain(step);
    },
  );
});

describe("without anything that tells its flow", () => {
  const fitting = (docs: ReadonlyMap<string, string>, more: Partial<Survey> = {}): string =>
    look({}, { ...surveyOf(docs), ...more }).fitting?.join(" ") ?? "";

  it("code is existing code, also where _docs/ is empty or has the rest of a state file", () => {
    const none = new Map<string, number>();
    expect(fitting(new Map(), { hasSource: true })).toBe("existing-code");
    expect(fitting(new Map(), { hasSource: true, docs: none })).toBe("existing-code");
    expect(fitting(new Map([["_autodev_state.md", ""]]), { hasSource: true })).toBe(
      "existing-code",
    );
    expect(fitting(new Map(), { docs: none })).toBe("greenfield");
  });

  it("a project that has come from greenfield to its features is one of two; a suite of three", () => {
    const begun = onTheWay("greenfield", "done", 1);
    expect(fitting(begun)).toBe("greenfield");
    const later = new Map([...begun, ["02_task_plans/cycle1_a.md", "# A plan\n"] as const]);
    expect(fitting(later)).toBe("existing-code greenfield");
    expect(fitting(later, { members: 3 })).toBe("meta-repo existing-code greenfield");
    expect(fitting(onTheWay("existing-code", "17", 2))).toBe("existing-code");
  });
});
