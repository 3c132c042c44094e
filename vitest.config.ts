import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first, as `npm run check` names them: at the end none of them keeps all others waiting. */
const longest = [
  "test/fleet",
  "test/build-bad-input",
  "test/build",
  "test/flow",
  "test/ui-browser",
  "test/flow-tasks",
  "test/mcp",
  "test/flow-trackers",
  "test/clean-checkout",
  "test/examples",
  "test/spoken-runs",
  "test/pull-request",
  "test/matrix",
  "test/flow-stories",
  "test/ui",
  "test/plan-commands",
  "test/fleet-flow",
  "test/docs",
  "test/truth-receipts",
  "test/engines",
].map((name) => `/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? longest.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "web/**/*.test.ts",
      "test/**/*.test.ts",
      "torture/**/*.test.ts",
      "bench/**/*.test.ts",
      "e2e/*.test.ts",
    ],
    // Processes of their own: a child that one thread starts keeps, until it is itself, what another thread has locked.
    pool: "forks",
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Most tests wait for processes of theirs, and those for disks: two more than there are cores keep all of them busy.
    maxWorkers: 4,
    // Also what tells that something which has to be quick is not: no test looks at a clock for that.
    testTimeout: 60_000,
  },
});
