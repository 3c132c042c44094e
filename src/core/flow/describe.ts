/** A flow's next move in words: what it is, and why. */
import type { FlowMove, Rest } from "./next-move.ts";
import type { FlowState } from "./state.ts";

export interface Described {
  /** The move's name, for programs. */
  readonly move: string;
  readonly what: string;
  readonly why: string;
}

export function describeMove(move: FlowMove, state: FlowState): Described {
  const here = `step ${state.step} ${state.name} is ${state.status.replaceAll("_", " ")}`;
  const told = (what: string, why = here): Described => ({ move: move.is, what, why });
  switch (move.is) {
    case "ask":
      return told(
        `ask: ${move.question.question}`,
        move.question.blocks === "" ? here : `${here}, and only a person can say`,
      );
    case "record": {
      const [first] = move.events;
      const last = move.events.at(-1) ?? first;
      if (last?.type === "step-entered") {
        return told(
          `go on to step ${last.step} ${last.name}${last.flow === state.flow ? "" : ` of ${last.flow}`}`,
        );
      }
      if (last?.type === "step-started") return told(`start step ${last.step} ${last.name}`);
      if (last?.type === "step-skipped")
        return told(`skip step ${state.step} ${state.name}`, last.reason);
      return told((last?.type ?? "nothing").replaceAll("-", " "));
    }
    case "run-skill": {
      const { work } = move;
      const { phase, name } = state.subStep;
      const from = phase > 0 ? ` from sub-step ${phase} ${name}` : "";
      const again = work.resumes ? "; its session goes on" : "";
      return told(
        `run the skill ${work.skill}${work.mode === undefined ? "" : ` (${work.mode})`}${from}${again}`,
      );
    }
    case "judge-skill":
      return told("look at what was reported", "whoever came for it says that he has ended");
    case "run-tasks":
      return told(`run the tasks of _docs/${move.runs.tasks} as a plan`);
    case "write-batches":
      return told(`report ${move.batches.map(({ number }) => `batch ${number}`).join(", ")}`);
    case "report-tasks":
      return told("report what the tasks have become", "none of them is left to be done");
    case "confirm":
      return told(`set "${move.line}" in _docs/${move.file}`, "a person said that it is right");
    case "mark-skipped":
      return told(`skip step ${state.step} ${state.name}`, move.reason);
    case "promote-draft":
      return told(`make ${move.draft} the solution`, "a person said that research is over");
    case "open-tracker":
      return told(
        `connect to the tracker ${move.tracker.name}`,
        `${here}, and its items are to be there`,
      );
    case "track":
      return told(
        move.tracker ? `create items in ${move.tracker.name}` : "say what no tracker has",
        `step ${move.step} is complete`,
      );
    case "commit":
      return told(`commit what step ${move.what.step} ${move.what.name} left`, "it is complete");
    case "roll-back":
      return told(`roll back step ${move.step.step} ${move.step.name}`, "a person said so");
    case "wait":
      return told(`wait until ${move.until}`, move.reason);
    case "rest":
      return told(...restWords(move.rest, state));
  }
}

export function restWords(rest: Rest, state: FlowState): [what: string, why: string] {
  switch (rest.is) {
    case "done":
      return ["nothing: the flow is done", `${state.flow} has no step left`];
    case "boundary":
      return [
        `end the session before step ${rest.next.step} ${rest.next.name}`,
        "a fresh conversation is worth more there",
      ];
    case "round":
      return [
        "end the session",
        rest.next
          ? `the next one goes on at step ${rest.next.step} ${rest.next.name}`
          : "the round is complete",
      ];
    case "aborted":
      return ["nothing", "a person wants to look at it first"];
    case "stopped":
      return ["nothing", "it was stopped; the next invocation goes on"];
    case "parked":
      return [`nothing before ${rest.until}`, rest.reason];
    case "lent":
      return [`nothing before ${rest.until}`, `${rest.by} has come for it and is at work`];
    case "unknown":
      return ["nothing", `there is no ${rest.flow} here: autodev flow list`];
  }
}
