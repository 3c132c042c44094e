import { describe, expect, it } from "vitest";
import { chartsOf } from "./charts.ts";
import type { Environment } from "./environment.ts";
import type { Results } from "./results.ts";
import { type ChartName, charts, type Measure, ratioRow } from "./row.ts";

const environment: Environment = {
  date: "2026-01-02T03:04:05.678Z",
  node: "v20.0.0",
  cpu: "2 × Somebody's",
  memory: "8 GB",
  kernel: "Linux 6",
  fileSystem: "ext4",
  load: 0.1,
};

/** Ours takes 20; the others what they are said to take. */
const resultsOf = (
  chart: ChartName,
  others: Readonly<Record<string, number | null>>,
  ours: Measure = { name: "autodev --version", figure: 20 },
): Results => ({
  form: "full",
  groups: [
    {
      name: "any",
      environment,
      rows: Object.entries(others).map(([name, figure]) =>
        ratioRow({ chart, ours, theirs: { name, figure } }, "measured"),
      ),
    },
  ],
});

const drawn = (...given: Parameters<typeof resultsOf>): string =>
  chartsOf(resultsOf(...given)).get(`${given[0]}.svg`) ?? "";

/** Of the bars, from the first to the last. */
const widths = (svg: string): number[] =>
  [...svg.matchAll(/<rect[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width));

describe("a chart", () => {
  it("has a bar for ours and for each of the others, as long as they take", () => {
    const [ours = 0, slow = 0, quick = 0] = widths(drawn("cold-start", { slow: 40, quick: 10 }));
    expect(slow / ours).toBeCloseTo(2);
    expect(quick / ours).toBeCloseTo(0.5);
  });

  it("says what everybody takes, and how many times as long as ours that is", () => {
    const svg = drawn("cold-start", { "slow 1.2.3": 2789, quick: 10 });
    for (const text of [">20.0 ms<", ">2,789 ms  139 ×<", ">10.0 ms  0.500 ×<", ">slow 1.2.3<"])
      expect(svg).toContain(text);
  });

  it("highlights ours and nobody else", () => {
    const svg = drawn("cold-start", { slow: 40, quick: 10 });
    expect(svg.match(/<rect class="ours"/g)).toHaveLength(1);
    expect(svg.match(/<rect /g)).toHaveLength(3);
  });

  it("names who could not be measured, without a bar", () => {
    const svg = drawn("cold-start", { slow: 40, absent: null });
    expect(svg).toContain(">absent<");
    expect(svg).toContain(">not measured<");
    expect(widths(svg)).toHaveLength(2);
  });

  it("leaves a speck of what is very much less than the longest", () => {
    expect(Math.min(...widths(drawn("cold-start", { slow: 1e6 })))).toBeGreaterThan(1);
  });

  it("is none where nothing was compared", () => {
    expect(chartsOf(resultsOf("cold-start", { absent: null })).size).toBe(0);
    const unmeasured = { name: "autodev --version", figure: null };
    expect(chartsOf(resultsOf("cold-start", { slow: 40 }, unmeasured)).size).toBe(0);
  });

  it("is the same for the same figures, also when they were written and read again", () => {
    const results = resultsOf("durable-step", { slow: 1 / 3 });
    const again = JSON.parse(JSON.stringify(results)) as Results;
    expect(chartsOf(again)).toEqual(chartsOf(results));
  });

  it("says where and when, and can be read on a dark page too", () => {
    const svg = drawn("cold-start", { slow: 40 });
    expect(svg).toContain("2026-01-02 03:04 UTC, node v20.0.0");
    expect(svg).toContain("@media (prefers-color-scheme: dark)");
    expect(svg).toMatch(/<desc id="about">autodev --version: 20\.0 ms; slow: 40\.0 ms<\/desc>/);
  });

  it("takes no name for a tag", () => {
    const svg = drawn("cold-start", { '<script>alert("&")</script>': 40 });
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;");
  });

  it.each(Object.keys(charts) as ChartName[])("of %s is in a file of that name", (chart) => {
    expect([...chartsOf(resultsOf(chart, { slow: 40 })).keys()]).toEqual([`${chart}.svg`]);
  });
});
