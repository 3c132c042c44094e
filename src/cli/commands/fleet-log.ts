/** `autodev fleet log`: what was printed on other machines. */

import { keptTranscripts, openFleet } from "../../project/fleet.ts";
import { shown } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { FleetLogOutput } from "../shapes.ts";

export async function run(
  id: string,
  phase: string | undefined,
  options: { transcripts?: string; json?: boolean },
): Promise<number> {
  const json = options.json === true;
  const address = options.transcripts ?? process.env["AUTODEV_TRANSCRIPTS"];
  if (address === undefined) {
    const message = "where transcripts are kept was not said";
    const hint = "--transcripts <address> or AUTODEV_TRANSCRIPTS: where the workers keep theirs";
    return reportFailure({ code: "usage", message, hint }, json);
  }
  const fleet = await openFleet();
  if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
  const wanted = { run: id, address, ...(phase !== undefined && { phase: phase.toLowerCase() }) };
  const transcripts: FleetLogOutput["transcripts"] = [];
  const kept = await keptTranscripts(fleet.value, wanted, (each) => {
    const { attempt, part, reference, text } = each;
    const lines = text.trimEnd().split("\n");
    // One document has all of it; a screen has them as they come.
    if (json) transcripts.push({ phase: each.phase, attempt, part, reference, lines });
    else for (const line of lines) print(shown(line));
  });
  await fleet.value.close();
  if (!kept.ok) return reportFailure(kept.failure, json, { oneLine: true });
  const output: FleetLogOutput = { version: 1, run: id, transcripts };
  if (json) printJson(output);
  return exitCodes.finished;
}
