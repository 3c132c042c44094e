import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lack } from "../../core/fleet/lacks.ts";
import { idlePatienceMs, watchIdle } from "./idle.ts";

const behind: Lack = { is: "turn", task: "r1/0/1/1/work/0", lane: "lane" };
const nobody: Lack = { is: "nobody", needs: ["gpu"] };

describe("a drive of which nothing is with a worker", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A move that never ends, and waits for these; long enough for whoever has patience. */
  const madeRoom = async (
    lacks: readonly Lack[],
    at: { readonly drives: readonly string[]; readonly free: boolean; readonly moves?: number },
  ): Promise<boolean> => {
    const idle = watchIdle({ waitingDrives: async () => at.drives }, async () => at.free);
    for (let move = 0; move < (at.moves ?? lacks.length); move++)
      void idle.during(new Promise(() => {}));
    for (const [number, lack] of lacks.entries())
      idle.waits(String(number), { lack, why: "it waits" });
    await vi.advanceTimersByTimeAsync(2 * idlePatienceMs);
    idle.end();
    return idle.madeRoom.aborted;
  };
  const drives = ["r2/drive/1"];

  it("makes room when others wait to be driven", async () => {
    expect(await madeRoom([nobody], { drives, free: false })).toBe(true);
    expect(await madeRoom([nobody], { drives: [], free: true })).toBe(false);
  });

  it("makes none as long as one of its moves is with somebody", async () => {
    expect(await madeRoom([nobody], { drives, free: true, moves: 2 })).toBe(false);
  });

  it("keeps its place behind the work of others while nobody has nothing to do", async () => {
    expect(await madeRoom([behind], { drives, free: false })).toBe(false);
    expect(await madeRoom([nobody, behind], { drives, free: false })).toBe(false);
    expect(await madeRoom([behind], { drives, free: true })).toBe(true);
  });
});
