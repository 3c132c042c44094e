import { describe, expect, it } from "vitest";
import { type MeasuredGroup, type Results, withGroup } from "./results.ts";

const names = ["first", "second"];
const group = (name: string, load = 0): MeasuredGroup => ({
  name,
  environment: {
    date: "2026-01-02T03:04:05.678Z",
    node: "v20.0.0",
    cpu: "2",
    memory: "8 GB",
    kernel: "Linux 6",
    fileSystem: "ext4",
    load,
  },
  rows: [],
});
const full = (...groups: MeasuredGroup[]): Results => ({ form: "full", groups });

describe("what is kept of the figures", () => {
  it("is what was measured last of each group, in their order", () => {
    const kept = withGroup(full(group("second"), group("first")), "full", group("first", 7), names);
    expect(kept.groups.map(({ name, environment }) => [name, environment.load])).toEqual([
      ["first", 7],
      ["second", 0],
    ]);
  });

  it("forgets a group that there is no longer, and mixes no short figures with full ones", () => {
    expect(withGroup(full(group("gone")), "full", group("first"), names).groups).toHaveLength(1);
    expect(withGroup(full(group("second")), "short", group("first"), names)).toEqual({
      form: "short",
      groups: [group("first")],
    });
  });
});
