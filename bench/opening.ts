/** A long journal is opened: by its snapshot, and all of it. */
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { look, openProject } from "../src/project.ts";
import { repositoryWith } from "./repositories.ts";
import type { Row } from "./row.ts";

export async function openingRows(scratch: string, short: boolean): Promise<Row[]> {
  const events = short ? 20_000 : 100_000;
  const project = openProject(
    await repositoryWith(path.join(scratch, "opening"), {
      events,
      artifacts: 0,
      files: short ? 2000 : 100_000,
    }),
  );
  const timed = (what: () => unknown): number => {
    const began = performance.now();
    what();
    return performance.now() - began;
  };
  const quick = Math.min(...Array.from({ length: 5 }, () => timed(() => look(project))));
  fs.rmSync(path.join(project.root, ".git", "autodev", "snapshot"));
  const whole = Math.min(...Array.from({ length: 3 }, () => timed(() => look(project))));
  const detail = `${events} events`;
  return [
    { name: "opening with a snapshot", figure: quick, unit: "ms", detail },
    {
      name: "opening without one",
      figure: whole,
      unit: "ms",
      detail: `${detail}, all read, checked and folded`,
    },
  ];
}
