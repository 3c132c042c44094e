/** `autodev migrate`: the state file in another generation, and back. */

import { type Result, succeed } from "../../core/failure.ts";
import { convertStateFile, type Form } from "../../core/flow/render.ts";
import { splitLines } from "../../core/flow/state-file.ts";
import { hold, look, migrate, openFlow, openProject, shown } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { type AskOptions, answeredBy, askerFor } from "../prompt.ts";
import { difference } from "../render/difference.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { MigrateOutput } from "../shapes.ts";

export interface MigrateOptions extends AskOptions {
  to?: "1" | "2" | "3";
  dryRun?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(options: MigrateOptions): Promise<number> {
  const result = await perform(options);
  if (!result.ok) return reportFailure(result.failure, options.json === true);
  if (options.json) printJson(result.value);
  else show(result.value, styleFor(options.color));
  return exitCodes.finished;
}

async function perform(options: MigrateOptions): Promise<Result<MigrateOutput>> {
  const project = openProject(process.cwd());
  const generation = Number(options.to ?? 3) as Form["generation"];
  const to: Form = { generation, variant: 13 };
  const looked = look(project);
  if (!looked.ok) return looked;
  const { here } = looked.value;
  const file = here.files.find((each) => each.text.trim() !== "");
  if (!file) {
    return {
      ok: false,
      failure: {
        code: "not-found",
        message: "there is no state file here to migrate",
        hint: "autodev makes one",
      },
    };
  }
  const converted = convertStateFile(file.text, file.path, to);
  if (!converted.ok) return converted;
  const path = `_docs/${generation === 3 ? "_autodev_state.md" : "_autopilot_state.md"}`;
  const output: MigrateOutput = {
    version: 1,
    changed: here.generation !== generation || file.path !== path,
    dryRun: options.dryRun === true,
    from: { path: file.path, generation: here.generation },
    to: { path, generation },
    difference: difference(texts(file.text), texts(converted.value.text)),
    notes: converted.value.lost.map(
      (lost) => `${lost} has no place in generation ${generation}; the journal keeps it`,
    ),
  };
  if (options.dryRun || !output.changed) return succeed(output);

  const held = await hold(project, "autodev migrate");
  if (!held.ok) return held;
  const done = await (async (): Promise<Result<string[]>> => {
    if (here.bothNames) {
      const opened = await openFlow(project, held.value, {
        ask: askerFor(options),
        by: answeredBy(options),
      });
      if (!opened.ok) return opened;
    }
    return migrate(project, held.value, to);
  })();
  const released = await held.value.release();
  if (!done.ok) return done;
  if (!released.ok) return released;
  return succeed({ ...output, notes: done.value });
}

const texts = (text: string): string[] => splitLines(text).map((line) => line.text);

function show(output: MigrateOutput, style: Style): void {
  const { from, to, changed, dryRun, notes } = output;
  if (!changed) {
    print(`${from.path} is of generation ${from.generation} already.`);
    return;
  }
  print(`${from.path} (generation ${from.generation}) → ${to.path} (generation ${to.generation})`);
  for (const line of output.difference) {
    const text = shown(line);
    print(line.startsWith("+") ? style.green(text) : line.startsWith("-") ? style.red(text) : text);
  }
  for (const note of notes) print(shown(note));
  if (dryRun) print("Nothing was changed (--dry-run).");
}
