/** What `docs/guarantees.md` may say: of a run that is on record, and of no other. */
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { aheadOf } from "../bench/ahead.ts";
import { latestResults, type MeasuredGroup, readResults } from "../bench/results.ts";
import { ratioRow } from "../bench/row.ts";
import { figures } from "../scripts/figures.ts";
import { guarantees, howOf, type Sources, sourcesIn } from "../scripts/guarantees.ts";
import type { RecordedRow, TortureRecord } from "../torture/record.ts";
import { packageRoot } from "./document.ts";

const row: RecordedRow = {
  name: "kill-sweep",
  promise: "nothing is lost",
  budgetSeconds: 300,
  seconds: 123.4,
  seed: 7,
  node: "v20.0.0",
  date: "2026-01-02T03:04:05.678Z",
  is: "passed",
  figures: { kills: 1234, lost: 0 },
  failures: [],
};
const pageOf = (record: TortureRecord | undefined): string => {
  const sources: Sources = {
    rows: [{ name: "kill-sweep", promise: "nothing is lost" }],
    record,
    sourceOf: () => "/** It is killed. */\n",
  };
  return guarantees(sources);
};
const full = (...recorded: RecordedRow[]): TortureRecord => ({ tier: "full", rows: recorded });

describe("a promise", () => {
  it("stands there with how it is tried, what came of it, when, and what to type", () => {
    const page = pageOf(full(row));
    expect(page).toContain("**Nothing is lost.**\n\nIt is killed.\n");
    expect(page).toContain("passed. 2026-01-02, node v20.0.0, seed 7, 123 s.");
    expect(page).toContain("| kills | 1,234 |\n| lost | 0 |");
    expect(page).toContain("npm run torture -- --tier full --only kill-sweep");
    expect(page).toContain("1 promises, 1 with a full run on record");
  });

  it.each<[string, TortureRecord | undefined]>([
    ["no run", undefined],
    ["no run of this row", full({ ...row, name: "another" })],
    ["a short run", { tier: "ci", rows: [row] }],
    ["a single case", { tier: "full", onlyCase: "7", rows: [row] }],
    ["a run of another promise", full({ ...row, promise: "little is lost" })],
  ])("of which there is %s on record says so, and shows no figure", (_, record) => {
    const page = pageOf(record);
    expect(page).toContain("not yet recorded");
    expect(page).not.toContain("| lost |");
    expect(page).toContain("1 promises, 0 with a full run on record");
  });

  it("that was broken, or not tried, is not called kept", () => {
    const broken = pageOf(full({ ...row, is: "failed", failures: ["it was lost"] }));
    expect(broken).toContain("Last full run: failed, 1 times.");
    const untried = pageOf(full({ ...row, is: "skipped", reason: "no gcc", figures: {} }));
    expect(untried).toContain("Last full run: skipped (no gcc).");
  });
});

describe("how something is tried", () => {
  it("is the comment that its file opens with: paragraphs, and its parts as a list", () => {
    const source =
      "/**\n * One\n * and on. Parts:\n *\n *   races   four\n *           of them\n *   fences  what if\n *\n * The end.\n */\ncode();\n";
    expect(howOf(source)).toEqual([
      "One and on. Parts:",
      "",
      "- races: four of them",
      "- fences: what if",
      "",
      "The end.",
    ]);
  });

  it("keeps a table a table, and a row that goes on in the next line one row", () => {
    const source =
      "/**\n * One:\n *\n * | a        | b  |\n * | -------- | -- |\n * | so long  | c  |\n * |   it is  |    |\n * | short    | d  |\n */\n";
    expect(howOf(source)).toEqual([
      "One:",
      "",
      "| a | b |",
      "| -------- | -- |",
      "| so long it is | c |",
      "| short | d |",
    ]);
  });

  it("is looked for in the file that has the row, and missed where none has", () => {
    const sourceOf = sourcesIn(path.join(packageRoot, "torture"));
    expect(howOf(sourceOf("kill-sweep"))[0]).toMatch(/^kill -9 at every write\./);
    expect(() => sourceOf("no-such-row")).toThrow("no-such-row");
  });
});

const starts = (theirs: number, who = "somebody 1.2.3"): MeasuredGroup => ({
  name: "peer-starts",
  environment: {
    date: "2026-01-02T03:04:05.678Z",
    node: "v20.0.0",
    cpu: "2 × Somebody's",
    memory: "8 GB",
    kernel: "Linux 6",
    fileSystem: "ext4",
    load: 0.1,
  },
  rows: [
    ratioRow(
      {
        chart: "cold-start",
        ours: { name: "autodev", figure: 40 },
        theirs: { name: who, figure: theirs },
      },
      "in turns",
    ),
    { name: "slow", figure: 9, unit: "ms", target: 8, detail: "a | b" },
  ],
});
const figuresPage = (...kept: MeasuredGroup[]): string =>
  figures({
    results: { form: "full", groups: kept },
    groups: { "peer-starts": { about: "beside others" }, runs: { about: "whole runs" } },
  });

describe("a figure", () => {
  it("stands there with where it was measured, beside whom, and whether it met its target", () => {
    const page = figuresPage(starts(80));
    expect(page).toContain("2026-01-02 03:04 UTC, node v20.0.0, 2 × Somebody's");
    expect(page).toContain("| autodev / somebody 1.2.3 | 0.50 × |");
    expect(page).toContain("| slow | 9.00 ms | ≤ 8 ms, **not met** | a \\| b |");
    expect(page).toContain("Nobody who was measured.");
    expect(page).toContain("## runs\n\nWhole runs.\n\nNot yet recorded.");
  });

  it("in which somebody is ahead of us says why, or that nobody knows it", () => {
    expect(figuresPage(starts(20))).toContain(
      "| cold-start: somebody 1.2.3 | 2.00 × as long | not known yet | find out |",
    );
    expect(figuresPage(starts(20, "bare node"))).toContain("It is the limit");
  });

  it("of the last full run that somebody leads in has a reason and a plan", () => {
    const ahead = (readResults(path.join(packageRoot, latestResults))?.groups ?? []).flatMap(
      aheadOf,
    );
    expect(ahead.filter(({ why, plan }) => !why || !plan).map(({ name }) => name)).toEqual([]);
  });
});
