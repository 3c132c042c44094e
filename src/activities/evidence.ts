/** Stores what was seen when a phase was verified; the ref comes with the landing. */
import { type Evidence, evidenceText } from "../core/evidence.ts";
import type { Result } from "../core/failure.ts";
import type { Claim, PlanRun } from "../core/plan/progress.ts";
import type { GateOutcome } from "../core/plan/run-event.ts";
import type { VerificationFinding } from "../core/verification/finding-table.ts";
import { writeBlob } from "../git/objects.ts";
import type { GateReceipt } from "./run-gates.ts";
import type { RunSite } from "./run-site.ts";

export interface Seen {
  readonly phase: string;
  /** The attempt's own id. */
  readonly attempt: string;
  readonly onto: string;
  readonly tree: string;
  readonly at: string;
  readonly claim: Claim;
  readonly findings: readonly VerificationFinding[];
  readonly outcomes: readonly GateOutcome[];
  readonly receipts: readonly GateReceipt[];
}

export async function storeEvidence(
  site: RunSite,
  run: PlanRun,
  seen: Seen,
): Promise<Result<string>> {
  const surface = await site.surfaceHash(seen.onto);
  if (!surface.ok) return surface;
  const evidence: Evidence = {
    version: 1,
    run: run.id,
    plan: run.plan,
    phase: seen.phase,
    attempt: seen.attempt,
    onto: seen.onto,
    tree: seen.tree,
    verified_at: seen.at,
    by: "autodev",
    platform: `${process.platform} ${process.arch}`,
    surface: surface.value,
    tools: Object.fromEntries(
      [...site.tools].flatMap(([name, tool]) => (tool ? [[name, tool.print]] : [])),
    ),
    gates: [...seen.outcomes],
    receipts: [...seen.receipts],
    findings: [...seen.findings],
    claim: { status: seen.claim.status, gates: seen.claim.gates ?? {} },
    unverified: !seen.outcomes.some(({ passed }) => passed === true),
    previous: run.evidence ?? null,
  };
  return writeBlob(site.git, Buffer.from(evidenceText(evidence)));
}

/** Kept for as long as somebody may ask: not a branch, not pushed unless one says so. */
export const evidenceRef = (evidence: string): string => `refs/autobuild/evidence/${evidence}`;
