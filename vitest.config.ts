import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "torture/**/*.test.ts", "e2e/*.test.ts"],
    pool: "threads",
    isolate: false,
    // Most tests wait for processes of theirs: one more than there are cores keeps all of them busy.
    maxWorkers: 3,
    // Also what tells that something which has to be quick is not: no test looks at a clock for that.
    testTimeout: 60_000,
  },
});
