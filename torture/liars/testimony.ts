/**
 * What a real run judged by, written down while it judged: the shipped program with one line more,
 * which keeps the facts of every verification beside the trial. Nobody makes facts up: whoever
 * simulates runs takes them from here, and has first shown that judging them again says what the
 * run itself has put on record.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { deserialize } from "node:v8";
import type { RunEvent } from "../../src/core/plan/run-event.ts";
import type { Facts } from "../../src/core/verification/facts.ts";
import { bundle, freshFolder, type Plant, shippedProgram } from "../rig.ts";

const factsFile = "facts";
const judging = "  const findings = verify(facts);\n";

/** Sets and maps are among the facts: they are kept as they are, not as JSON. */
const recorder: Plant = {
  file: "src/activities/verify-phase.ts",
  find: judging,
  replace: `  require("node:fs").appendFileSync(
    require("node:path").join(process.env["LIARS"] ?? "", "${factsFile}"),
    require("node:v8").serialize(facts).toString("base64") + "\\n",
  );
${judging}`,
};

/** A copy of the shipped program, its `build` with that line in it. */
export async function recordingProgram(scratch: string): Promise<string> {
  const commands = path.dirname(await shippedProgram(scratch));
  const folder = path.join(freshFolder(scratch, "recording"), "cli");
  fs.cpSync(commands, folder, { recursive: true });
  const out = path.join(folder, "build.cjs");
  await bundle("src/cli/commands/build.ts", { out, plant: recorder, beside: true });
  return path.join(folder, "main.cjs");
}

/** By phase, in the order of its verifications; nothing where another program was tried. */
export function factsIn(folder: string): ReadonlyMap<string, readonly Facts[]> {
  const file = path.join(folder, factsFile);
  const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : [];
  const all = lines.map((line) => deserialize(Buffer.from(line, "base64")) as Facts);
  const phases = [...new Set(all.map(({ phase }) => phase.id))];
  return new Map(phases.map((id) => [id, all.filter(({ phase }) => phase.id === id)]));
}

/** What became of an attempt, as the run told it, and what that was judged by. */
export interface Hearing {
  readonly told: Told;
  /** Absent: it came to no verification, or nobody wrote it down. */
  readonly facts?: Facts;
}

export type Told = Extract<RunEvent, { type: "attempt-failed" | "phase-verified" }>;

/** Each verification that was told of, with the facts that were judged at its turn. */
export function hearingsOf(told: readonly Told[], facts: readonly Facts[]): Hearing[] {
  let next = 0;
  return told.map((each) => {
    const own = each.gates === undefined ? undefined : facts[next++];
    return { told: each, ...(own && { facts: own }) };
  });
}
