import { defineConfig } from "vitest/config";

/** With the real programs, which `node e2e/install.mjs` puts here: npm run e2e:agents. */
export default defineConfig({
  test: {
    include: ["e2e/*.e2e.ts"],
    pool: "forks",
    // One file after the other, two agents at a time: they are heavy.
    fileParallelism: false,
    maxConcurrency: 2,
    setupFiles: ["e2e/bare-environment.ts"],
    testTimeout: 180_000,
  },
});
