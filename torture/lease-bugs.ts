/** Bugs about work that somebody comes for, each with the sentence of a test that has to notice it. */
import type { Plant } from "./rig.ts";

interface LeaseBug {
  readonly name: string;
  readonly plant: Plant;
  /** Of `src/core/plan/leases.test.ts`; else of `test/mcp.test.ts`, with the program itself. */
  readonly core?: true;
  readonly noticedBy: string;
}

const inActivities = (name: string): string => `src/activities/${name}.ts`;

export const leaseBugs: readonly LeaseBug[] = [
  {
    name: "lease-dies-with-our-session",
    core: true,
    noticedBy: "stays his through sessions of ours",
    plant: {
      file: "src/core/plan/progress.ts",
      find: 'state.is === "working" && state.lease === undefined;',
      replace: 'state.is === "working";',
    },
  },
  {
    name: "tried-for-ever",
    core: true,
    noticedBy: "stays so when somebody comes for work",
    plant: {
      file: "src/core/plan/progress.ts",
      find: 'phase.state.is === "failed" && !pulled',
      replace: 'phase.state.is === "failed"',
    },
  },
  {
    name: "lent-work-holds-a-place",
    core: true,
    noticedBy: "holds no place",
    plant: {
      file: "src/core/plan/next-moves.ts",
      find: 'if (lent === "theirs" && state.is === "working") {',
      replace: 'if (lent === "theirs" && state.is === "working") {\n      begun++;',
    },
  },
  {
    name: "late-report-believed",
    noticedBy: "of a host that is gone goes on where it lay",
    plant: {
      file: inActivities("hear"),
      find: "held?.lease?.epoch !== epoch || held.report",
      replace: "held?.lease === undefined || held.report",
    },
  },
  {
    name: "lent-tree-cleared-away",
    noticedBy: "is given again, as it was, to whoever has it",
    plant: {
      file: inActivities("recover"),
      find: " && !isOut.has(path.basename(file))",
      replace: "",
    },
  },
  {
    name: "late-tree-thrown-away",
    noticedBy: "the late report is refused and kept",
    plant: {
      file: inActivities("report-work"),
      find: "const kept = await keepWorkTree(",
      replace: "const kept = await (async (..._: unknown[]) => succeed(true))(",
    },
  },
  {
    name: "approval-of-others-dropped",
    noticedBy: "what was approved for the terminal is so after an agent has worked",
    plant: {
      file: inActivities("approve"),
      find: "if (options.agents.length === 0) return grantPart",
      replace: "if (options.agents.length < 0) return grantPart",
    },
  },
];
