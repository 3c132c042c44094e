import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "torture/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    testTimeout: 30_000,
  },
});
