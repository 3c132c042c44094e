/** What the commits say about a flow: when a step was completed last, and what it left. */
import { type Result, succeed } from "../core/failure.ts";
import type { Git } from "../git/call.ts";
import { trailersOf } from "./own-commit.ts";

export interface Completion {
  readonly flow: string;
  readonly step: string;
  /** Any, unless told. */
  readonly cycle?: number;
}

/** Years of a team's work; further back, nobody wants a document as it was. */
const farthest = 10_000;

/** The newest commit that can be reached from HEAD and says so; undefined: none does. */
export async function lastCompletion(
  git: Git,
  { flow, step, cycle }: Completion,
): Promise<Result<{ commit: string; date: string } | undefined>> {
  const keys = ["Autodev-Flow", "Autodev-Step", "Autodev-Cycle"];
  const told = await trailersOf(git, farthest, keys);
  if (!told.ok) return told;
  const found = told.value.find(
    ({ values: [flows = [], steps = [], cycles = []] }) =>
      flows.includes(flow) &&
      steps.includes(step) &&
      (cycle === undefined || cycles.includes(String(cycle))),
  );
  return succeed(found && { commit: found.commit, date: found.date });
}
