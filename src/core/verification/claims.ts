/** The agent's word against the facts: it never makes anything true, but it can be found false. */

import type { Facts } from "./facts.ts";
import { failure, note, type VerificationFinding } from "./finding-table.ts";
import { plainPath } from "./paths.ts";

export function claimedFiles({ claim, changes, there, traces }: Facts): VerificationFinding[] {
  const { created = [], modified = [], deleted = [] } = claim.files ?? {};
  const changed = new Map(changes.map((each) => [each.path, each.change]));
  const touches = (path: string): boolean =>
    changed.has(path) || changes.some((each) => each.path.startsWith(`${path}/`));
  const ignored = new Set(traces.ignored ?? []);
  const findings: VerificationFinding[] = [];
  for (const said of new Set([...created, ...modified])) {
    const file = plainPath(said);
    if (file === "" || (traces.leftOut ?? []).includes(file) || touches(file)) {
      if (changed.get(file) === "deleted") {
        findings.push(failure("file-missing", `${file} is claimed, and it is not there`, { file }));
      }
      continue;
    }
    findings.push(
      ignored.has(file)
        ? failure(
            "file-ignored",
            `${file} is claimed, and git ignores it: it would not be committed`,
            { file },
          )
        : there.has(file)
          ? failure("file-unchanged", `${file} is claimed to be changed, and it is as it was`, {
              file,
            })
          : failure("file-missing", `${file} is claimed, and it is not there`, { file }),
    );
  }
  for (const said of new Set(deleted)) {
    const file = plainPath(said);
    if (file === "" || (traces.leftOut ?? []).includes(file)) continue;
    if (there.has(file) || changed.get(file) === "created" || changed.get(file) === "modified") {
      // Named as deleted and changed as well: in the wrong list, which is no lie.
      if (touches(file)) continue;
      findings.push(
        failure("file-unchanged", `${file} is claimed to be deleted, and it is there`, { file }),
      );
    }
  }
  return findings;
}

/** Tasks that it leaves open by its own word; a pessimist whose work holds is right all the same. */
export function claimedStatus({ claim, phase, gates }: Facts): VerificationFinding[] {
  const findings: VerificationFinding[] = [];
  const { tasksCompleted: completed, tasksTotal: total } = claim;
  if (completed < total) {
    findings.push(
      failure(
        "tasks-open",
        `the agent says itself that it has done ${completed} of ${total} tasks of phase ${phase.written}`,
      ),
    );
  } else if (claim.status === "failed" && gates.every(({ passed }) => passed !== false)) {
    findings.push(note("claimed-fail", "the agent says that it failed; what it left passes"));
  }
  for (const { name, passed } of gates) {
    if (claim.gates?.[name] === false && passed === true) {
      findings.push(note("claimed-fail", `${name} is claimed to fail, and it passes`));
    }
  }
  return findings;
}
