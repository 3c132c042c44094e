import { fail, type Result, succeed } from "../failure.ts";
import type { Generation } from "./generations.ts";
import { convertStateFile, type Form } from "./render.ts";
import { generationIn, type Whereabouts } from "./whereabouts.ts";

export interface Migration {
  readonly from: { readonly path: string; readonly text: string; readonly generation: Generation };
  readonly to: { readonly path: string; readonly text: string; readonly generation: Generation };
  /** What the older form has no place for. */
  readonly lost: readonly string[];
  readonly changed: boolean;
}

export const pathIn = (generation: Generation): string =>
  generation === 3 ? "_docs/_autodev_state.md" : "_docs/_autopilot_state.md";

/** Decided once, shown and done from the same plan: of the file as it is, or as it should be. */
export function planMigration(
  here: Whereabouts,
  rendered: { readonly path: string; readonly text: string } | undefined,
  form: Form,
): Result<Migration> {
  const file = here.verdict.is === "to-adopt" ? here.verdict : rendered;
  if (!file || here.verdict.is === "nothing") {
    return fail("not-found", "there is no state file here to migrate", { hint: "autodev" });
  }
  const converted = convertStateFile(file.text, file.path, form);
  if (!converted.ok) return converted;
  const { text, lost } = converted.value;
  const path = pathIn(form.generation);
  return succeed({
    from: { path: file.path, text: file.text, generation: generationIn(file) },
    to: { path, text, generation: form.generation },
    lost,
    changed: text !== file.text || path !== file.path,
  });
}
