import { defineConfig } from "vitest/config";

/** With the real programs, which `node e2e/install.mjs` puts here: npm run e2e:agents. */
export default defineConfig({
  test: {
    include: ["e2e/*.e2e.ts"],
    pool: "forks",
    // Two files and two agents of each at a time: they are heavy, but wait for much of their time.
    maxWorkers: 2,
    maxConcurrency: 2,
    setupFiles: ["e2e/bare-environment.ts"],
    testTimeout: 180_000,
  },
});
