import { describe, expect, it } from "vitest";
import type { WorkerSeen } from "./capabilities.ts";
import { couldGoOn, type FleetAtHand, type Lack } from "./lacks.ts";

const worker = (labels: string[], version = "1"): WorkerSeen => ({
  lane: "lane",
  jobs: 2,
  version,
  capabilities: { agents: [], labels, os: "linux", arch: "x64", memoryGb: 8 },
});
const fleet = (at: Partial<FleetAtHand>): FleetAtHand => ({
  workers: [],
  hasPlace: () => false,
  isQueued: () => true,
  ...at,
});

describe("what keeps a run from going on", () => {
  const gpu: Lack = { is: "nobody", needs: ["gpu", "os:linux"] };
  const place: Lack = { is: "place", agent: "codex", task: "r1/1/1" };
  const turn: Lack = { is: "turn", task: "r1/0/1/1/work/0", lane: "lane" };

  it("lasts until somebody of its version has all that is asked for", () => {
    expect(couldGoOn([gpu], "1", fleet({ workers: [worker([])] }))).toBe(false);
    expect(couldGoOn([gpu], "1", fleet({ workers: [worker(["gpu"], "2")] }))).toBe(false);
    expect(couldGoOn([gpu], "1", fleet({ workers: [worker([]), worker(["gpu"])] }))).toBe(true);
  });

  it("lasts until its agent has a place", () => {
    expect(couldGoOn([place], "1", fleet({ hasPlace: (agent) => agent !== "codex" }))).toBe(false);
    expect(couldGoOn([place], "1", fleet({ hasPlace: (agent) => agent === "codex" }))).toBe(true);
  });

  it("lasts until somebody has taken what lies behind the work of others", () => {
    const workers = [worker([])];
    expect(couldGoOn([turn], "1", fleet({ workers }))).toBe(false);
    const isQueued = (task: string): boolean => task !== turn.task;
    expect(couldGoOn([turn], "1", fleet({ workers, isQueued }))).toBe(true);
  });

  it("lasts no longer than somebody works in its lane: whoever drives it moves it to another", () => {
    expect(couldGoOn([turn], "1", fleet({}))).toBe(true);
    const elsewhere = { ...worker([]), lane: "another" };
    expect(couldGoOn([turn], "1", fleet({ workers: [elsewhere, worker([], "2")] }))).toBe(true);
  });

  it("is over as soon as one piece of the run can be done", () => {
    const workers = [worker([])];
    const all = [gpu, place, turn];
    expect(couldGoOn(all, "1", fleet({ workers }))).toBe(false);
    expect(couldGoOn(all, "1", fleet({ workers, hasPlace: () => true }))).toBe(true);
  });
});
