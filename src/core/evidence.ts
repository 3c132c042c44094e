/**
 * A receipt: everything that was seen when a phase was verified, kept as a blob whose id stands in
 * the commit. Git's ids are hashes, so neither can be changed without the other; and each names the
 * one before, so that none can be left out.
 */
import { z } from "zod";
import { GateOutcome, VerificationFinding } from "./plan/run-event.ts";

const GateReceipt = z.object({
  name: z.string(),
  command: z.string(),
  code: z.int().nullable().describe("the exit code; null: it was ended"),
  ms: z.int().min(0).describe("how long it took, in milliseconds"),
  lines: z.int().min(0),
  sha256: z.string().describe("of everything that it printed, line by line, secrets masked"),
});

export const Evidence = z
  .object({
    version: z.literal(1),
    run: z.string(),
    plan: z.string().describe("the plan, from the project's folder"),
    phase: z.string(),
    attempt: z.string().describe("the attempt's own id, as in the commit's trailers"),
    onto: z.string().describe("the commit that it was verified on top of: the parent"),
    tree: z.string().describe("the tree that the gates ran on: the commit's"),
    verified_at: z.string(),
    by: z.string().describe("the program that verified"),
    platform: z.string(),
    surface: z.string().describe("a hash of everything that defines the gates"),
    tools: z
      .record(z.string(), z.string())
      .describe("programs that the gates use, and their hashes"),
    gates: z.array(GateOutcome),
    receipts: z.array(GateReceipt),
    findings: z.array(VerificationFinding).describe("notes: nothing that kept it from landing"),
    claim: z.object({
      status: z.string(),
      gates: z.record(z.string(), z.boolean().nullable()),
    }),
    unverified: z.boolean().describe("true: no gate has said yes to it, and that was accepted"),
    previous: z.string().nullable().describe("the evidence of the landing before, in the same run"),
  })
  .describe("What was seen when a phase was verified");
export type Evidence = z.infer<typeof Evidence>;

/** The same evidence gives the same bytes, and so the same id. */
export const evidenceText = (evidence: Evidence): string =>
  `${JSON.stringify(evidence, undefined, 1)}\n`;

export interface Trailers {
  readonly run: string;
  readonly phases: readonly string[];
  readonly attempt?: string;
  readonly evidence: readonly string[];
}

/** Of a commit that a run made; undefined: it is somebody else's. Only the last paragraph counts. */
export function trailersOf(message: string): Trailers | undefined {
  const last =
    message
      .replaceAll("\r\n", "\n")
      .trimEnd()
      .split(/\n[ \t]*\n/)
      .at(-1) ?? "";
  const all = (name: string): string[] =>
    [...last.matchAll(new RegExp(`^Autobuild-${name}: (\\S+)$`, "gm"))].map(
      (match) => match[1] ?? "",
    );
  const [run] = all("Run");
  if (run === undefined) return undefined;
  const [attempt] = all("Attempt");
  return {
    run,
    phases: all("Phase"),
    evidence: all("Evidence").filter((id) => /^[0-9a-f]{40,64}$/.test(id)),
    ...(attempt !== undefined && { attempt }),
  };
}
