/**
 * The phase files on disk against what the journal says. What we rendered ourselves, now or
 * earlier, is ours to replace; anything else somebody wrote, and means something by it.
 */
import { fail, type Result, succeed } from "../failure.ts";
import type { PhaseFile } from "./phase-file.ts";
import { readPhaseFile } from "./read-run-files.ts";
import type { RunPhase } from "./run-event.ts";

export interface RunFilesFound {
  /** To be written anew: absent, empty or old. */
  readonly stale: readonly string[];
  /** By hand, or by another program: what they say now. */
  readonly edited: readonly { readonly id: string; readonly says: PhaseFile }[];
}

export function compareRunFiles(facts: {
  readonly phases: readonly Pick<RunPhase, "id">[];
  readonly texts: ReadonlyMap<string, string>;
  fileOf(id: string): string;
  /** How it should look; undefined: there is no journal to tell. */
  rendered(id: string): string | undefined;
  wasRendered(id: string, text: string): boolean;
}): Result<RunFilesFound> {
  const stale: string[] = [];
  const edited: { id: string; says: PhaseFile }[] = [];
  for (const { id } of facts.phases) {
    const text = facts.texts.get(id);
    const wanted = facts.rendered(id);
    if (text !== undefined && text === wanted) continue;
    if (text === undefined || text.trim() === "" || facts.wasRendered(id, text)) {
      stale.push(id);
      continue;
    }
    const read = readPhaseFile(text, facts.fileOf(id));
    if (!read.ok) return read;
    if (read.value.phase_id !== id) {
      const file = facts.fileOf(id);
      return fail(
        "run-file-invalid",
        `${file}: phase_id is "${read.value.phase_id}", expected "${id}"`,
        { file, hint: "mend the file, or remove it: it is written anew" },
      );
    }
    edited.push({ id, says: read.value });
  }
  return succeed({ stale, edited });
}
