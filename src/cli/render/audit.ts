/** What an audit found, a commit after the other. */
import { type AuditedCommit, shown } from "../../project.ts";
import type { Style } from "./style.ts";

export function auditLines(each: AuditedCommit, style: Style): string[] {
  const title = `${each.commit.slice(0, 10)} ${shown(each.subject)}`;
  if (each.is === "not-ours") return [style.dim(`· ${title}: no run made it`)];
  const mark = each.holds ? style.green("✓") : style.red("✗");
  const counts = (each.gates ?? []).flatMap(({ name, passed, tests }) => {
    if (passed === null) return [];
    return [tests ? `${name}: ${tests.passed} passed` : `${name}: ${passed ? "passed" : "failed"}`];
  });
  return [
    `${mark} ${title}  ${style.dim(`phase ${each.phases.join(", ")}`)}`,
    ...(counts.length > 0 ? [style.dim(`    ${counts.join(", ")}`)] : []),
    ...each.findings.map(({ level, message, file, line }) => {
      const place =
        file === undefined ? "" : `${shown(file)}${line === undefined ? "" : `:${line}`}: `;
      const text = `    ${place}${shown(message)}`;
      return level === "error" ? style.red(text) : style.dim(text);
    }),
  ];
}

export function auditClosing(audited: readonly AuditedCommit[], style: Style): string {
  const ours = audited.filter((each) => each.is === "ours");
  const held = ours.filter((each) => each.holds).length;
  if (ours.length === 0) return "No run made any of these commits.";
  const said = `${held} of ${ours.length} ${ours.length === 1 ? "commit holds" : "commits hold"}`;
  return held === ours.length ? said : style.red(said);
}
