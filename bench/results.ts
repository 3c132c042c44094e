/**
 * What a run of the benchmarks came to, as `--json` keeps it: group by group, each with where and when
 * it was measured. A group that is run by itself takes its own place in what is kept already.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Environment } from "./environment.ts";
import type { Row } from "./row.ts";

export interface Results {
  readonly form: "short" | "full";
  readonly groups: readonly MeasuredGroup[];
}

export interface MeasuredGroup {
  readonly name: string;
  readonly environment: Environment;
  readonly rows: readonly Row[];
}

/** Where the figures of the last full run are kept; `docs/guarantees.md` shows them. */
export const latestResults = "bench/results/latest.json";

/** Undefined: there are none. */
export const readResults = (file: string): Results | undefined =>
  fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as Results) : undefined;

/** `names`: all groups, in their order; one that is no longer among them takes no place. */
export function withGroup(
  before: Results | undefined,
  form: Results["form"],
  now: MeasuredGroup,
  names: readonly string[],
): Results {
  const kept = before?.form === form ? before.groups : [];
  const groups = new Map([...kept, now].map((group) => [group.name, group]));
  return { form, groups: names.flatMap((name) => groups.get(name) ?? []) };
}

export function writeResults(file: string, results: Results): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
