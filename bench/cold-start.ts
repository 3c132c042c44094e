/** How long a person waits for the least that we do, beside node itself. */
import { spawnSync } from "node:child_process";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { program } from "./plans.ts";
import { repositoryWith } from "./repositories.ts";
import type { Row } from "./row.ts";

export async function coldStartRows(scratch: string, short: boolean): Promise<Row[]> {
  const files = short ? 2000 : 100_000;
  const contents = { events: 10_000, artifacts: 500, files };
  const root = await repositoryWith(path.join(scratch, "cold-start"), contents);
  const bare = ["-e", "0"];
  const calls = {
    bare,
    version: [program, "--version"],
    status: [program, "status"],
    "status --json": [program, "status", "--json"],
  };
  // Parsed at every start of Node 20: 38 ms that are not ours, where it is set.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const best: Record<string, number> = {};
  const rounds = short ? 25 : 120;
  for (let round = 0; round < rounds; round++) {
    for (const [name, argv] of Object.entries(calls)) {
      const began = performance.now();
      const { status } = spawnSync(process.execPath, argv, { cwd: root, env, stdio: "pipe" });
      const took = performance.now() - began;
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, took);
    }
  }
  const over = (name: string): number => (best[name] ?? 0) - (best["bare"] ?? 0);
  const detail = `minimum of ${rounds}, in turns; bare node ${best["bare"]?.toFixed(1)} ms`;
  return [
    { name: "--version over bare node", figure: over("version"), unit: "ms", detail },
    { name: "status over bare node", figure: over("status"), unit: "ms", target: 8, detail },
    {
      name: "status --json over bare node",
      figure: over("status --json"),
      unit: "ms",
      target: 8,
      detail: `${detail}; 10,000 events, 500 artifacts, ${files} files`,
    },
  ];
}
