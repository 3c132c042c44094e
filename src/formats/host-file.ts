/** What becomes of a file that a host reads: by the way in which it holds what is ours. */
import { fail, type Result } from "../core/failure.ts";
import { planBlock } from "../core/host/block.ts";
import { type Found, type Intent, lineAt, type Outcome } from "../core/host/outcome.ts";
import type { Wanted } from "../core/host/wanted.ts";
import { planWhole } from "../core/host/whole.ts";
import { conflictIn } from "./conflict.ts";
import { planJsonEntry } from "./json-entry.ts";
import { planTomlEntry } from "./toml-entry.ts";

export function planHostFile(wanted: Wanted, found: Found, intent: Intent): Result<Outcome> {
  const { file, text = "" } = found;
  const conflict = conflictIn(text);
  if (conflict !== undefined) {
    const line = lineAt(text, conflict);
    const hint = "resolve the conflict; then run the same command again";
    const message = `${file}:${line}: git left conflict markers`;
    return fail("host-file-invalid", message, { file, line, hint });
  }
  if (wanted.is === "block") return planBlock(wanted, found, intent);
  if (wanted.is === "whole") return planWhole(wanted, found, intent);
  return wanted.format === "json"
    ? planJsonEntry(wanted, found, intent)
    : planTomlEntry(wanted, found, intent);
}
