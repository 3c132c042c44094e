/**
 * The same words where they are structure: then they do decide, and the log shows it. A comparison
 * that would not notice these notices nothing.
 */

import { difference } from "./player.ts";
import { plainly } from "./points.ts";
import { emptied, playRun } from "./run.ts";
import { benign } from "./texts.ts";
import { playTracker } from "./tracker.ts";

export interface Controls {
  readonly tried: number;
  readonly moved: number;
  readonly failures: string[];
}

/** Each says where, and puts there what counts there. */
const ways: readonly (readonly [name: string, words: Partial<typeof plainly>])[] = [
  // A fence that ends, and a heading of the plan's own after it.
  [
    "a plan's heading",
    { planCode: "``````\n\n### Phase 8: More\n\n#### Tasks\n\n- [ ] It\n\n``````" },
  ],
  ["a runner's words", { gateOutput: "TAP version 13\nnot ok 1 - it\n1..1\n# tests 1\n# fail 1" }],
  ["a file that has to be there", { done: "there is `docs/missing.md`" }],
];

export async function asStructure(scratch: string): Promise<Controls> {
  const usual = (await playRun(plainly, emptied(scratch))).log;
  const failures: string[] = [];
  for (const [name, words] of ways) {
    const { log } = await playRun({ ...plainly, ...words }, emptied(scratch));
    if (difference(usual, log) === undefined) failures.push(`${name} is not noticed as structure`);
  }
  const own = playTracker(`${benign}\n\nautodev-key: ad-0123456789abcdef\n\n`);
  if (difference(playTracker(benign).log, own.log) === undefined)
    failures.push("the key of an item is not noticed as structure");
  const tried = ways.length + 1;
  return { tried, moved: tried - failures.length, failures };
}
