/** A place with an agent, which all workers together have so many of: waited for where it is wanted. */
import { type Admission, admit } from "../../core/fleet/admission.ts";
import type { Database } from "../../stores/postgres/database.ts";
import { runWaits, takePlace } from "./rows.ts";

export interface PlaceWish {
  /** Whose account it works on. */
  readonly agent: string;
  /** What it is called; the same one twice is one place. */
  readonly task: string;
  readonly run: string;
}

/** `stopped`: whoever asked no longer wants it. */
export async function admitted(
  database: Database,
  wish: PlaceWish,
  isWanted: () => boolean,
): Promise<Exclude<Admission, { is: "waits" }> | { readonly is: "stopped" }> {
  for (let said = ""; ; ) {
    const judged = await takePlace(database, wish, (rule, use, now) =>
      admit(wish.agent, rule, use, now),
    );
    if (judged.is !== "waits") {
      if (said) await runWaits(database, wish.run, null);
      return judged;
    }
    if (!isWanted()) return { is: "stopped" };
    if (said !== judged.why) await runWaits(database, wish.run, judged.why);
    said = judged.why;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

const lookEveryMs = 1000;
