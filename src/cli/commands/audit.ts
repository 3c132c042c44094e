/** `autodev audit COMMIT`: whether what a run committed is what its receipt says. */
import { type AuditedCommit, auditRange, shown } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { AuditOutput } from "../shapes.ts";

interface Options extends AskOptions {
  gates?: boolean;
  gateMinutes?: number;
  trustSha256?: string;
  json?: boolean;
  color?: boolean;
}

export async function run(commits: string, options: Options): Promise<number> {
  const json = options.json === true;
  const style = styleFor(options.color);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    const audited = await auditRange(
      process.cwd(),
      {
        commits,
        gates: options.gates !== false,
        gateMinutes: options.gateMinutes ?? 10,
        ...(options.trustSha256 !== undefined && { sha256: options.trustSha256 }),
      },
      {
        askTrust: trustAsker(options),
        by: answeredBy(options),
        signal: stop.signal,
        onCommit: (each) => {
          if (!json) for (const line of linesOf(each, style)) print(line);
        },
        tell: (text) => {
          if (!json) printError(style.dim(shown(text)));
        },
      },
    );
    if (!audited.ok) return reportFailure(audited.failure, json);
    const holds = audited.value.every((each) => each.is === "not-ours" || each.holds);
    if (json) printJson(outputOf(audited.value, holds));
    else print(closing(audited.value, style));
    return holds ? exitCodes.finished : exitCodes.failure;
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

function linesOf(each: AuditedCommit, style: Style): string[] {
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

function closing(audited: readonly AuditedCommit[], style: Style): string {
  const ours = audited.filter((each) => each.is === "ours");
  const held = ours.filter((each) => each.holds).length;
  if (ours.length === 0) return "No run made any of these commits.";
  const said = `${held} of ${ours.length} ${ours.length === 1 ? "commit holds" : "commits hold"}`;
  return held === ours.length ? said : style.red(said);
}

const outputOf = (audited: readonly AuditedCommit[], holds: boolean): AuditOutput => ({
  version: 1,
  holds,
  commits: audited.map((each) =>
    each.is === "not-ours"
      ? { commit: each.commit, subject: each.subject, ours: false }
      : {
          commit: each.commit,
          subject: each.subject,
          ours: true,
          holds: each.holds,
          run: each.run,
          phases: [...each.phases],
          findings: [...each.findings],
          ...(each.gates && { gates: [...each.gates] }),
        },
  ),
});
