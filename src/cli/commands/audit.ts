/** `autodev audit COMMIT`: whether what a run committed is what its receipt says. */
import { type AuditedCommit, auditRange, shown } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, trustAsker } from "../prompt.ts";
import { auditClosing, auditLines } from "../render/audit.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
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
          if (!json) for (const line of auditLines(each, style)) print(line);
        },
        tell: (text) => {
          if (!json) printError(style.dim(shown(text)));
        },
      },
    );
    if (!audited.ok) return reportFailure(audited.failure, json);
    const holds = audited.value.every((each) => each.is === "not-ours" || each.holds);
    if (json) printJson(outputOf(audited.value, holds));
    else print(auditClosing(audited.value, style));
    return holds ? exitCodes.finished : exitCodes.failure;
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
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
