/** One transition, from its event to the moment in which it is true, beside the least that this takes. */
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { hold, openProject } from "../src/project.ts";
import { created, newRepository, subStep } from "./repositories.ts";
import { median, type Row } from "./row.ts";

export async function transitionRows(scratch: string, short: boolean): Promise<Row[]> {
  const root = newRepository(scratch, "transition");
  const project = openProject(root);
  const held = await hold(project, "bench");
  if (!held.ok) throw new Error(held.failure.message);
  await created(held.value.record);
  const file = fs.openSync(path.join(root, ".git", "autodev", "bare.log"), "a");
  const line = Buffer.alloc(400, "x");
  const ours: number[] = [];
  const bare: number[] = [];
  const blocking: number[] = [];
  const rounds = short ? 400 : 1000;
  const warmUp = 50;
  for (let round = -warmUp; round < rounds; round++) {
    let began = performance.now();
    await new Promise<void>((resolve, reject) => {
      fs.write(file, line, 0, line.length, null, (error) => {
        if (error) reject(error);
        else fs.fsync(file, (failed) => (failed ? reject(failed) : resolve()));
      });
    });
    bare.push(performance.now() - began);
    began = performance.now();
    fs.writeSync(file, line);
    fs.fsyncSync(file);
    blocking.push(performance.now() - began);
    began = performance.now();
    const recorded = await held.value.record(subStep(round));
    ours.push(performance.now() - began);
    if (!recorded.ok) throw new Error(recorded.failure.message);
    if (round < 0) for (const times of [ours, bare, blocking]) times.length = 0;
  }
  fs.closeSync(file);
  await held.value.release();
  const detail = `medians of ${rounds}, in turns: ${median(ours).toFixed(3)} ms, asynchronous ${median(bare).toFixed(3)}, blocking ${median(blocking).toFixed(3)}; the state file is rendered behind it`;
  return [
    {
      name: "transition / append + fsync",
      figure: median(ours) / median(bare),
      unit: "×",
      target: 1.3,
      detail,
    },
    {
      name: "transition / blocking append + fsync",
      figure: median(ours) / median(blocking),
      unit: "×",
      detail: "the same, against the call that stops the whole process",
    },
  ];
}
