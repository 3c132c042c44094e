/** Nothing new begins, or it does again: in one run, or in the whole fleet. */
import { openFleet, pauseIn } from "../project/fleet.ts";
import { print, printJson } from "./output.ts";
import { exitCodes, reportFailure } from "./render/failure.ts";
import type { FleetPauseOutput } from "./shapes.ts";

export const pauseOrResume =
  (what: "pause" | "resume") =>
  async (id: string | undefined, options: { json?: boolean }): Promise<number> => {
    const json = options.json === true;
    const fleet = await openFleet();
    if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
    const done = await pauseIn(fleet.value, id, what === "pause");
    await fleet.value.close();
    if (!done.ok) return reportFailure(done.failure, json, { oneLine: true });
    const paused = what === "pause";
    const output: FleetPauseOutput = {
      version: 1,
      run: id ?? null,
      paused,
      goesOn: [...done.value],
    };
    if (json) printJson(output);
    else {
      const who = id === undefined ? "the fleet" : `run ${id}`;
      print(
        paused
          ? `${who} is paused: what is under way comes to its end, nothing new begins`
          : `${who} goes on${done.value.length > 0 ? `: ${done.value.join(", ")}` : ""}`,
      );
    }
    return exitCodes.finished;
  };
