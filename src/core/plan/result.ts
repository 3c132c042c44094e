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
  /** A skill's question to people: the session ends with it, and goes on with the answer. */
  asks: z
    .object({
      question: z.string().min(1).max(500),
      options: z.array(z.string().min(1).max(300)).min(2).max(4),
      recommendation: z.enum(["A", "B", "C", "D"]),
      reason: z.string().min(1).max(300),
    })
    .nullable()
    .exactOptional(),
  /** What a skill has found that later steps depend on, by the names that it is told. */
  reports: z
    .array(z.string().regex(/^[a-z][a-z0-9-]{0,63}(?:: ?[\w./@-]{1,100})?$/))
    .exactOptional(),
});
export type AgentResult = z.infer<typeof AgentResult>;

/** Who does a phase of a plan has nobody to ask and nothing to report. */
const PhaseResult = AgentResult.omit({ asks: true, reports: true });

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

const schemas = new Map<"phase" | "skill", string>();
/** What an agent is told about it. */
export function resultSchema(of: "phase" | "skill" = "phase"): string {
  const known = schemas.get(of);
  if (known !== undefined) return known;
  const shape = of === "phase" ? PhaseResult : AgentResult;
  const schema = JSON.stringify(z.toJSONSchema(shape, { io: "input" }), null, 2);
  schemas.set(of, schema);
  return schema;
}
