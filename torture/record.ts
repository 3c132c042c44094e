/**
 * What a run of the table came to, as `--json` keeps it. A row that is run by itself takes its own
 * place in what is kept already, so that a table of hours can be run in pieces; a row that is no longer
 * in the table takes nobody's place, and a single case or another tier is refused where a table is kept.
 */
import * as fs from "node:fs";
import { type Context, type Outcome, writeJson } from "./rig.ts";

export interface RecordedRow extends Outcome {
  readonly name: string;
  readonly promise: string;
  readonly budgetSeconds: number;
  readonly seconds: number;
  readonly seed: number;
  readonly node: string;
  /** ISO 8601, UTC: when it ended. */
  readonly date: string;
}

export interface TortureRecord {
  readonly tier: Context["tier"];
  /** The one case that was run; absent: whole rows. */
  readonly onlyCase?: string;
  readonly rows: readonly RecordedRow[];
}

/** Where the last full run of each row is kept; `docs/guarantees.md` is made from it. */
export const fullRecord = "torture/results/full.json";

/** `names`: the rows of the table, in its order. */
export function merged(
  before: TortureRecord | undefined,
  now: TortureRecord,
  names: readonly string[],
): TortureRecord {
  if (!before) return now;
  if (isOfAnotherKind(before, now)) throw new Error("another kind of run is kept there");
  const rows = new Map([...before.rows, ...now.rows].map((row) => [row.name, row]));
  return { ...now, rows: names.flatMap((name) => rows.get(name) ?? []) };
}

/** What the one tells would be lost under the other. */
export const isOfAnotherKind = (
  before: Pick<TortureRecord, "tier" | "onlyCase">,
  now: Pick<TortureRecord, "tier" | "onlyCase">,
): boolean => before.tier !== now.tier || before.onlyCase !== now.onlyCase;

/** Undefined: there is none, or it is nothing of the kind. */
export function readRecord(file: string): TortureRecord | undefined {
  if (!fs.existsSync(file)) return undefined;
  const kept = JSON.parse(fs.readFileSync(file, "utf8")) as Partial<TortureRecord>;
  const { tier, rows } = kept;
  const isRecord = (tier === "ci" || tier === "full") && Array.isArray(rows);
  return isRecord ? { ...kept, tier, rows } : undefined;
}

export function writeRecord(file: string, now: TortureRecord, names: readonly string[]): void {
  writeJson(file, merged(readRecord(file), now, names));
}
