import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type Capabilities,
  chooseLane,
  hasFreeLane,
  laneOf,
  missing,
  whyNobody,
} from "./capabilities.ts";

const has: Capabilities = {
  agents: ["codex"],
  labels: ["gpu", "zone:eu"],
  os: "linux",
  arch: "x64",
  memoryGb: 16,
};
const worker = (lane: string, jobs: number, more: Partial<Capabilities> = {}, version = "1") => ({
  lane,
  jobs,
  version,
  capabilities: { ...has, ...more },
});

describe("what a worker lacks", () => {
  it.each([
    [[], []],
    [["agent:codex", "os:linux", "arch:x64", "memory:16", "gpu", "zone:eu"], []],
    [["agent:claude", "os:darwin", "arch:arm64", "memory:17", "tpu", "zone:us"], "all"],
    // What nobody can understand, nobody has.
    [["memory:much", "agent:", ""], "all"],
  ] as const)("of %j is %j", (needs, lacks) => {
    expect(missing(has, needs)).toEqual(lacks === "all" ? needs : lacks);
  });
});

describe("a lane", () => {
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

  it("is that of all who are alike, however they name what they have", () => {
    const other = { ...has, labels: has.labels.toReversed() };
    expect(laneOf(other, 2, hash)).toBe(laneOf(has, 2, hash));
    expect(laneOf(has, 3, hash)).not.toBe(laneOf(has, 2, hash));
  });

  it("is free as long as less lies in it than its workers have places for", () => {
    const at = (lane: string, jobs: number, isLeaving = false) => ({
      ...worker(lane, jobs),
      isLeaving,
    });
    const two = [at("a", 2), at("a", 2), at("b", 1)];
    expect(
      hasFreeLane(
        two,
        "1",
        new Map([
          ["a", 4],
          ["b", 0],
        ]),
      ),
    ).toBe(true);
    expect(
      hasFreeLane(
        two,
        "1",
        new Map([
          ["a", 3],
          ["b", 1],
        ]),
      ),
    ).toBe(true);
    expect(
      hasFreeLane(
        two,
        "1",
        new Map([
          ["a", 4],
          ["b", 7],
        ]),
      ),
    ).toBe(false);
    expect(hasFreeLane(two, "2", new Map())).toBe(false);
    // What lies there is with whoever is about to go: the other one has nothing to do.
    expect(hasFreeLane([at("a", 4, true), at("a", 4)], "1", new Map([["a", 4]]))).toBe(true);
    expect(hasFreeLane([at("a", 4, true)], "1", new Map())).toBe(false);
  });

  const wanted = { needs: ["gpu"], version: "1" };

  it("is chosen where work waits the least, by places, and alike by everybody", () => {
    const workers = [worker("b", 1), worker("a", 4), worker("a", 4)];
    expect(chooseLane(workers, wanted, new Map([["a", 7]]))).toBe("b");
    expect(
      chooseLane(
        workers,
        wanted,
        new Map([
          ["a", 7],
          ["b", 1],
        ]),
      ),
    ).toBe("a");
    expect(chooseLane(workers.toReversed(), wanted, new Map())).toBe("a");
  });

  it("of those who lack something, or are of another version, is never chosen", () => {
    const workers = [worker("a", 1, { labels: [] }), worker("b", 1, {}, "2")];
    expect(chooseLane(workers, wanted, new Map())).toBe(undefined);
  });
});

it("why nobody takes it names what nobody has", () => {
  expect(whyNobody([], ["gpu"])).toBe("no worker is running");
  expect(whyNobody([worker("a", 1)], ["gpu", "tpu"])).toBe("none of 1 workers has tpu");
  const apart = [worker("a", 1, { labels: ["one"] }), worker("b", 1, { labels: ["two"] })];
  expect(whyNobody(apart, ["one", "two"])).toBe("no worker has all of one, two");
  expect(whyNobody(apart, [])).toBe("no worker of this version is running");
});
