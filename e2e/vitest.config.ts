import { defineConfig } from "vitest/config";

/** With the real programs, which `node e2e/install.mjs` puts here: npm run e2e:agents. */
export default defineConfig({
  test: {
    include: ["e2e/*.e2e.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 180_000,
  },
});
