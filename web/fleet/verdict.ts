/** The one sentence about a fleet: does it need me, does it work? */
import type { FleetAnswer } from "../../src/core/board/wire.ts";

export interface FleetVerdict {
  readonly tone: "ok" | "warn" | "bad" | "info" | "quiet";
  readonly title: string;
}

export function fleetVerdict({ paused, runs, workers }: FleetAnswer): FleetVerdict {
  const asked = runs.reduce((sum, { decisions }) => sum + decisions.length, 0);
  const halted = runs.filter(({ state }) => state === "halted").length;
  const open = runs.filter(({ state }) => state !== "over");
  const driven = open.filter(({ state }) => state === "driving").length;
  const isStaffed = workers.some(({ state }) => state === "active");
  if (asked + halted > 0) {
    const title =
      asked + halted === 1 ? "One thing needs you" : `${asked + halted} things need you`;
    return { tone: halted > 0 ? "bad" : "warn", title };
  }
  if (paused) return { tone: "warn", title: "The fleet is paused" };
  if (!isStaffed && open.length > 0) return { tone: "bad", title: "Nobody is there to work" };
  if (driven > 0)
    return {
      tone: "info",
      title: driven === 1 ? "One run is under way" : `${driven} runs are under way`,
    };
  if (open.length > 0) return { tone: "quiet", title: "Nothing is under way" };
  return isStaffed
    ? { tone: "ok", title: "Nothing is left to do" }
    : { tone: "quiet", title: "Nobody is there" };
}
