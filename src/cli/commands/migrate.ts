/** `autodev migrate`: the state file in another generation, and back. */

import { type Result, succeed } from "../../core/failure.ts";
import { type Migration, planMigration } from "../../core/flow/migration.ts";
import type { Form } from "../../core/flow/render.ts";
import { splitLines } from "../../core/flow/state-file.ts";
import {
  hold,
  keptInJournal,
  look,
  type Migrated,
  migrate,
  openFlow,
  openProject,
  shown,
} from "../../project.ts";
import { print, printJson } from "../output.ts";
import { type AskOptions, answeredBy, flowAsker, openRepository } from "../prompt.ts";
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
  const to: Form = { generation: Number(options.to ?? 3) as Form["generation"], variant: 13 };
  // What cannot be done, or need not be, is known before anything is made or changed.
  const looked = look(openProject(process.cwd()));
  if (!looked.ok) return looked;
  const planned = planMigration(looked.value.here, looked.value.rendered, to);
  if (!planned.ok) return planned;
  if (options.dryRun || (!planned.value.changed && !looked.value.here.bothNames)) {
    const notes = planned.value.lost.map((each) => keptInJournal(each, to.generation));
    return succeed(output(planned.value, { dryRun: options.dryRun === true, notes }));
  }
  const found = await openRepository(options);
  if (!found.ok) return found;
  const project = found.value;
  const held = await hold(project, "autodev migrate");
  if (!held.ok) return held;
  const done = await (async (): Promise<Result<Migrated>> => {
    if (looked.value.here.bothNames) {
      const opened = await openFlow(project, held.value, {
        ask: flowAsker(project.root, options),
        by: answeredBy(options),
      });
      if (!opened.ok) return opened;
    }
    return migrate(project, held.value, to);
  })();
  const released = await held.value.release();
  if (!done.ok) return done;
  if (!released.ok) return released;
  const { migration, said } = done.value;
  return succeed(output(migration, { dryRun: false, notes: [...said] }));
}

const output = (
  { from, to, changed }: Migration,
  rest: Pick<MigrateOutput, "dryRun" | "notes">,
): MigrateOutput => ({
  version: 1,
  changed,
  from: { path: from.path, generation: from.generation },
  to: { path: to.path, generation: to.generation },
  difference: difference(texts(from.text), texts(to.text)),
  ...rest,
});

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
