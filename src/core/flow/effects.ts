/** What an answer brings about at once: it is recorded with the answer, or not at all. */
import type { Question } from "../decision.ts";
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";

/** Nothing, if the flow has moved on meanwhile: it was another step that was meant. */
export function effectsOf(
  { flow, course }: ProjectState,
  { kind, subject, cycle, options }: Pick<Question, "kind" | "options" | "subject" | "cycle">,
  key: string,
): Event[] {
  if (kind === "unknown-status") {
    return [{ type: "status-set", status: statusMeant[key] ?? "not_started" }];
  }
  const brings = options.find((option) => option.key === key)?.brings;
  if (!brings || !flow) return [];
  if (subject !== `${flow.flow} ${flow.step}` || cycle !== flow.cycle) return [];
  const cleared: Event[] =
    course?.blocker === undefined ? [] : [{ type: "blocker-cleared", text: course.blocker }];
  const { step, name } = brings;
  switch (brings.do) {
    case "skip":
      return [...cleared, { type: "step-skipped", reason: "a person said so" }];
    case "back":
      return [...cleared, { type: "step-reopened", step, name, how: "back" }];
    case "roll-back":
      return [{ type: "rollback-chosen", step, name }];
  }
}

const statusMeant: Readonly<Record<string, string>> = {
  A: "in_progress",
  B: "not_started",
  C: "completed",
};
