/** `autodev next`: the move that comes next, and why; nothing is done, with `--dry-run` or without. */
import { describeMove } from "../../core/flow/describe.ts";
import { nextMove } from "../../core/flow/next-move.ts";
import { openingMove } from "../../core/flow/opening.ts";
import { flowFacts, look, openProject, shown, shownPlace, withFlows } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import type { NextOutput } from "../shapes.ts";

interface Options {
  json?: boolean;
  color?: boolean;
}

export function run({ json = false, color }: Options): number {
  const known = withFlows(openProject(process.cwd()));
  if (!known.ok) return reportFailure(known.failure, json);
  const project = known.value;
  const looked = look(project);
  if (!looked.ok) return reportFailure(looked.failure, json);
  const { state: position } = shownPlace(looked.value);
  const { here, check, state, head } = looked.value;
  const opening = openingMove(state, here, project.world.hash, {
    ...(check && { check }),
    ...(project.flows && { flows: project.flows }),
  });
  const told =
    opening.is === "ask"
      ? { move: "ask", what: `ask: ${opening.question.question}`, why: "it has to be known first" }
      : state.flow === undefined
        ? {
            move: "start",
            what: `begin ${position.flow} at step ${position.step} ${position.name}`,
            why: "nothing is on record here yet",
          }
        : opening.is === "move"
          ? {
              move: "correct",
              what: `go on at step ${position.step} ${position.name}`,
              why: opening.line,
            }
          : describeMove(
              nextMove(
                state,
                flowFacts(project, state),
                {
                  begun: head.seq,
                  now: project.world.now(),
                  throughBoundaries: false,
                  commits: true,
                  waits: true,
                  stopping: false,
                },
                project.world.hash,
              ),
              position,
            );
  const output: NextOutput = {
    version: 1,
    flow: position.flow,
    step: position.step,
    name: position.name,
    ...told,
  };
  if (json) printJson(output);
  else {
    print(styleFor(color).bold(shown(told.what)));
    print(`  because ${shown(told.why)}`);
  }
  return exitCodes.finished;
}
