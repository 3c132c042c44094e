/** `autodev doctor`: what is wrong, where, and the one command that mends it. */
import type { Finding } from "../../core/finding.ts";
import {
  examine,
  examineSandbox,
  examineStack,
  masked,
  mend,
  openProject,
  type Side,
  shown,
} from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { DoctorOutput } from "../shapes.ts";

export interface DoctorOptions {
  json?: boolean;
  color?: boolean;
  fix?: boolean;
  report?: boolean;
  take?: Side;
}

export async function run(options: DoctorOptions): Promise<number> {
  if (options.take && !options.fix) {
    const message = "--take says which side --fix keeps; without --fix it means nothing";
    return reportFailure(
      { code: "usage", message, hint: `autodev doctor --fix --take ${options.take}` },
      options.json === true,
    );
  }
  const project = openProject(process.cwd());
  const mended: string[] = [];
  if (options.fix) {
    const result = await mend(project, options.take ? { take: options.take } : {});
    if (!result.ok) return reportFailure(result.failure, options.json === true);
    mended.push(...result.value);
  }
  const { stack, findings: stackFindings } = examineStack(project);
  const findings = [...examine(project), await examineSandbox(), ...stackFindings];
  const healthy = !findings.some((finding) => finding.level === "error");
  const output: DoctorOutput = {
    version: 1,
    root: project.root,
    healthy,
    findings,
    mended,
    stack: { ...stack, gates: [...stack.gates] },
  };
  if (options.json && options.report) printJson(maskedValues(output));
  else if (options.json) printJson(output);
  else if (options.report) print(masked(report(output)));
  else show(output, styleFor(options.color));
  return healthy ? exitCodes.finished : exitCodes.failure;
}

/** Value by value, so that masking never breaks the JSON around it. */
const maskedValues = (output: DoctorOutput): unknown =>
  JSON.parse(
    JSON.stringify(output, (_, value: unknown) =>
      typeof value === "string" ? masked(value) : value,
    ),
  );

const marks: Record<Finding["level"], string> = { ok: "✓", note: "·", warning: "!", error: "✗" };

function show({ findings, mended, healthy }: DoctorOutput, style: Style): void {
  const paint = { ok: style.green, note: style.dim, warning: style.yellow, error: style.red };
  for (const line of mended) print(style.green(`+ ${shown(line)}`));
  for (const { level, message, fix } of findings) {
    print(paint[level](`${marks[level]} ${shown(message)}`));
    if (fix) print(`  → ${shown(fix)}`);
  }
  print(healthy ? "Healthy." : "Not healthy: see the marks above.");
}

/** Something to attach to a question, without the asker's name, home or secrets in it. */
function report(output: DoctorOutput): string {
  const { findings, root, mended } = output;
  return [
    "# autodev doctor report",
    `node ${process.versions.node}, ${process.platform} ${process.arch}`,
    `root ${root}`,
    ...mended.map((line) => `mended: ${line}`),
    ...findings.map(
      ({ level, code, message, fix }) => `${level} ${code}: ${message}${fix ? ` → ${fix}` : ""}`,
    ),
  ].join("\n");
}
