/**
 * The machine-readable shapes: what `--json` prints. Stable and versioned; keys may be added,
 * these do not change. `schemas/` is generated from here.
 */
import { z } from "zod";

const DecisionOption = z.object({ key: z.string(), text: z.string() });

const DecisionView = z.object({
  id: z.string(),
  question: z.string(),
  options: z.array(DecisionOption),
  recommendation: z.string(),
  reason: z.string(),
});

export const StatusOutput = z.object({
  version: z.literal(1),
  root: z.string(),
  flow: z.string(),
  step: z.string().describe('the step\'s number as text ("3", "16.5"), or "done"'),
  name: z.string(),
  status: z.string(),
  subStep: z.object({ phase: z.int(), name: z.string(), detail: z.string() }),
  retryCount: z.int(),
  cycle: z.int(),
  tracker: z.string().nullable(),
  source: z.enum(["state", "scan", "rebuilt"]),
  generation: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  corrections: z.array(z.string()),
  steps: z.array(
    z.object({ step: z.string(), name: z.string(), status: z.string(), optional: z.boolean() }),
  ),
  decisions: z.array(DecisionView),
  blockers: z.array(z.string()),
  runs: z.array(z.object({ run: z.string(), plan: z.string(), status: z.string() })),
});
export type StatusOutput = z.infer<typeof StatusOutput>;

export const DecisionsOutput = z.array(
  DecisionView.extend({
    status: z.enum(["open", "answered", "withdrawn"]),
    answer: z.string().nullable(),
    answeredBy: z.string().nullable(),
    askedAt: z.string(),
    blocks: z.string(),
  }),
);
export type DecisionsOutput = z.infer<typeof DecisionsOutput>;

export const DoctorOutput = z.object({
  version: z.literal(1),
  root: z.string(),
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      code: z.string(),
      level: z.enum(["ok", "note", "warning", "error"]),
      message: z.string(),
      file: z.string().exactOptional(),
      line: z.int().exactOptional(),
      fix: z.string().exactOptional().describe("the one command that mends it"),
    }),
  ),
  mended: z.array(z.string()),
});
export type DoctorOutput = z.infer<typeof DoctorOutput>;

export const MigrateOutput = z.object({
  version: z.literal(1),
  changed: z.boolean(),
  dryRun: z.boolean(),
  from: z.object({ path: z.string(), generation: z.int() }),
  to: z.object({ path: z.string(), generation: z.int() }),
  difference: z.array(z.string()),
  notes: z.array(z.string()),
});
export type MigrateOutput = z.infer<typeof MigrateOutput>;

export const DecideOutput = z.object({
  version: z.literal(1),
  id: z.string(),
  answer: z.string(),
  answeredBy: z.string(),
  recorded: z.boolean().describe("false: kept durably, the running autodev takes it up"),
});
export type DecideOutput = z.infer<typeof DecideOutput>;

export const ErrorOutput = z.object({
  version: z.literal(1),
  error: z.object({
    code: z.string(),
    message: z.string(),
    file: z.string().exactOptional(),
    line: z.int().exactOptional(),
    hint: z.string().exactOptional(),
    details: z.array(z.string()).exactOptional(),
  }),
});
