/** Whether a commit that a run made is what its receipt says: judged from the commit alone. */
import type { Evidence, Trailers } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import type { GateOutcome } from "./plan/run-event.ts";

export interface AuditFacts {
  readonly parent: string;
  readonly tree: string;
  readonly trailers: Trailers;
  /** As far as they can be read here; the last is of this very tree. */
  readonly evidence: readonly Evidence[];
  /** Named in the commit, and not in this repository. */
  readonly absent: readonly string[];
  /** Named in the commit, and no evidence. */
  readonly unreadable: readonly string[];
  /** What the checks found between the commit and its parent. */
  readonly found: readonly Finding[];
  /** Named in the commit, and not in its plan; undefined: no plan was found. */
  readonly unknownPhases: readonly string[] | undefined;
  /** It lies on the tree that it was verified on top of, whatever that commit is called now. */
  readonly onSameTree: boolean;
  /** What the gates say now; undefined: they were not run. */
  readonly gates: readonly GateOutcome[] | undefined;
}

export interface Audited {
  readonly holds: boolean;
  readonly findings: readonly Finding[];
}

export function auditCommit(facts: AuditFacts): Audited {
  const findings = [...receipt(facts), ...ofPlan(facts), ...facts.found, ...gatesAgain(facts)];
  return { holds: findings.every(({ level }) => level !== "error"), findings };
}

const ofPlan = ({ unknownPhases }: AuditFacts): Finding[] =>
  unknownPhases === undefined
    ? [
        note(
          "plan-not-found",
          "the plan is not in the commit: what the phase declares is not known here",
        ),
      ]
    : unknownPhases.map((id) => wrong("no-such-phase", `there is no phase ${id} in the plan`));

function receipt(facts: AuditFacts): Finding[] {
  const { trailers, evidence, absent, unreadable, tree, parent, onSameTree, gates } = facts;
  const findings: Finding[] = [
    ...absent.map((id) =>
      note(
        "evidence-absent",
        `the evidence ${id.slice(0, 12)} is not in this repository: git fetch origin 'refs/autobuild/evidence/*:refs/autobuild/evidence/*'`,
      ),
    ),
    ...unreadable.map((id) =>
      wrong("evidence-unreadable", `${id.slice(0, 12)} is named as evidence and is none`),
    ),
  ];
  if (trailers.evidence.length === 0) {
    findings.push(note("evidence-absent", "the commit names no evidence"));
  }
  if (evidence.length === 0 && !gates) {
    findings.push(
      wrong(
        "not-checked",
        "neither is the evidence here nor were the gates run: nothing speaks for it",
      ),
    );
  }
  const last = evidence.at(-1);
  if (last && absent.length === 0 && last.tree !== tree) {
    findings.push(
      wrong(
        "tree-differs",
        `the gates ran on the tree ${last.tree.slice(0, 12)}, and the commit holds ${tree.slice(0, 12)}`,
      ),
    );
  }
  if (last && evidence.length === 1 && last.onto !== parent && !onSameTree) {
    findings.push(
      note(
        "parent-differs",
        `it was verified on top of ${last.onto.slice(0, 12)} and lies on ${parent.slice(0, 12)} now`,
      ),
    );
  }
  for (const each of evidence) {
    if (each.run !== trailers.run || !trailers.phases.includes(each.phase)) {
      findings.push(
        wrong("evidence-of-another", `the evidence is of phase ${each.phase} in run ${each.run}`),
      );
    } else if (
      trailers.attempt !== undefined &&
      evidence.length === 1 &&
      each.attempt !== trailers.attempt
    ) {
      findings.push(
        wrong("evidence-of-another", `the evidence is of another attempt, ${each.attempt}`),
      );
    }
    for (const { name, passed } of each.gates) {
      if (passed === false)
        findings.push(wrong("gate-failed", `${name} had failed when it was verified`));
    }
    if (each.unverified)
      findings.push(
        note("unverified", `phase ${each.phase} landed without any gate, as was accepted`),
      );
  }
  return findings;
}

function gatesAgain({ gates, evidence }: AuditFacts): Finding[] {
  if (!gates) return [note("gates-not-run", "the gates were not run again")];
  const before = evidence.at(-1)?.gates ?? [];
  return gates.flatMap((gate): Finding[] => {
    if (gate.passed === false)
      return [
        wrong("gate-failed", `${gate.name} fails: \`${gate.command ?? ""}\` ${gate.summary}`),
      ];
    const was = before.find(({ name }) => name === gate.name)?.tests?.passed;
    const is = gate.tests?.passed;
    return was === undefined || is === undefined || is >= was
      ? []
      : [wrong("fewer-tests", `${gate.name}: ${is} tests pass; when it was verified, ${was} did`)];
  });
}

const wrong = (code: string, message: string): Finding => ({ code, level: "error", message });
const note = (code: string, message: string): Finding => ({ code, level: "note", message });
