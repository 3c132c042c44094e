/** A place with an agent, which all workers together have so many of: waited for where it is wanted. */
import type { Admission } from "../../core/fleet/admission.ts";
import type { Database } from "../../stores/postgres/database.ts";
import { type PlaceWish, takePlace } from "./rows/agents.ts";
import { runWaits } from "./rows/runs.ts";

/** `stopped`: whoever asked no longer wants it. `waits`: told why, and that it no longer does. */
export async function admitted(
  database: Database,
  wish: PlaceWish,
  { isWanted, waits }: { isWanted(): boolean; waits(why: string | undefined): void },
): Promise<Exclude<Admission, { is: "waits" }> | { readonly is: "stopped" }> {
  for (let said = ""; ; ) {
    const judged = await takePlace(database, wish);
    if (judged.is !== "waits") {
      if (said) await runWaits(database, wish.run, null);
      waits(undefined);
      return judged;
    }
    if (!isWanted()) return { is: "stopped" };
    if (said !== judged.why) await runWaits(database, wish.run, judged.why);
    said = judged.why;
    waits(judged.why);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

const lookEveryMs = 1000;
