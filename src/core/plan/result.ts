/**
 * What an agent says of its own work. It is a claim: nothing follows from it but what we check.
 */
import { z } from "zod";
import { errorTypes, type PhaseError } from "./phase-error.ts";

export const AgentResult = z.object({
  phase_id: z.string(),
  status: z.enum(["complete", "failed"]),
  tasks: z.object({ total: z.int().min(0), completed: z.int().min(0) }),
  /** Gates that the agent ran itself, and what it says of them. */
  gates: z.record(z.string(), z.boolean().nullable()).default({}),
  /** Conventional: `feat(api): …`, then a blank line and a body. */
  commit_message: z.string().default(""),
  files: z
    .object({
      created: z.array(z.string()).default([]),
      modified: z.array(z.string()).default([]),
      deleted: z.array(z.string()).default([]),
    })
    .default({ created: [], modified: [], deleted: [] }),
  plan_updated: z.boolean().default(false),
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      details: z.string().optional(),
    })
    .nullable()
    .default(null),
});
export type AgentResult = z.infer<typeof AgentResult>;

/** It has done every task, and says that it failed all the same: by a gate, or without a reason. */
export const isPessimistic = ({ status, tasks, error }: AgentResult): boolean =>
  status === "failed" &&
  tasks.total > 0 &&
  tasks.completed >= tasks.total &&
  (error === null || gateErrors.has(error.type));

const gateErrors: ReadonlySet<string> = new Set([
  "test_failure",
  "lint_error",
  "typecheck_error",
  "format_error",
  "gate_failure",
]);

/** Its own word that it failed, with the error that it names. */
export function failureSaid(
  name: string,
  result: AgentResult,
): { is: "failed"; error: PhaseError; result: AgentResult } {
  const { error, tasks } = result;
  const type = errorTypes.find((each) => each === error?.type) ?? "task_incomplete";
  const message =
    error?.message || `${name} says that it has done ${tasks.completed} of ${tasks.total} tasks`;
  const details = error?.details;
  return {
    is: "failed",
    error: { type, message, ...(details === undefined ? {} : { details }) },
    result,
  };
}

let schema: string | undefined;
/** What an agent is told about it. */
export const resultSchema = (): string => {
  schema ??= JSON.stringify(z.toJSONSchema(AgentResult, { io: "input" }), null, 2);
  return schema;
};
