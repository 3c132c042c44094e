/** `autodev build PLAN`: runs a plan, phase by phase, and says how it went. */
import type { Forecast } from "../../core/agent/forecast.ts";
import type { SandboxMode } from "../../core/agent/sandbox.ts";
import type { CommitMode } from "../../core/plan/run-event.ts";
import { type BuildOptions, openProject, previewBuild } from "../../project.ts";
import { buildAndTell, exitCodeOf, summaryOf, tellSummary } from "../building.ts";
import { detach } from "../detach.ts";
import { print, printJson, printJsonLine } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { previewLines } from "../render/run.ts";
import { styleFor } from "../render/style.ts";
import type { BuildPreviewOutput } from "../shapes.ts";

export interface BuildCommandOptions {
  commit?: CommitMode;
  resume?: boolean;
  fresh?: boolean;
  dryRun?: boolean;
  agent?: string;
  jobs?: number;
  from?: string;
  only?: string[];
  branch?: string;
  review?: boolean;
  attempts?: number;
  attemptMinutes?: number;
  idleMinutes?: number;
  gateMinutes?: number;
  wait?: boolean;
  trustSha256?: string;
  sandbox?: SandboxMode;
  input?: boolean;
  decide?: string;
  json?: boolean;
  color?: boolean;
  retry?: { readonly phase: string; readonly note?: string };
  live?: boolean;
  detach?: boolean;
}
type Options = BuildCommandOptions;

export async function run(plan: string | undefined, options: Options): Promise<number> {
  const json = options.json === true;
  if (plan === undefined) {
    const message = "no plan was named";
    return reportFailure(
      { code: "usage", message, hint: "autodev build docs/feature-plan.md --commit=message-only" },
      json,
    );
  }
  if (options.resume && options.fresh) {
    const message = "--resume and --fresh exclude each other";
    return reportFailure({ code: "usage", message, hint: "resume is the default" }, json);
  }
  if (options.jobs === 0 || options.attempts === 0) {
    const message = "--jobs and --attempts are at least 1";
    return reportFailure({ code: "usage", message }, json);
  }
  const wanted: BuildOptions = { plan, ...given(options) };
  if (options.dryRun) return preview(wanted, options);
  return options.detach ? detach(wanted, options) : buildIt(wanted, options);
}

/** Commander's names are ours, but for what is not about the build. */
function given(options: Options): Omit<BuildOptions, "plan"> {
  const {
    dryRun: _,
    input: __,
    decide: ___,
    json: ____,
    color: _____,
    live: ______,
    detach: _______,
    ...rest
  } = options;
  return rest;
}

async function buildIt(wanted: BuildOptions, options: Options): Promise<number> {
  const json = options.json === true;
  const built = await buildAndTell(process.cwd(), wanted, options);
  if (!built.ok) return reportFailure(built.failure, json, { oneLine: true });
  if (json) printJsonLine(summaryOf(built.value));
  else tellSummary(built.value, styleFor(options.color));
  return exitCodeOf(built.value.run);
}

const forecastOutput = ({
  seen,
  tokens,
  cost,
  ms,
}: Forecast): NonNullable<BuildPreviewOutput["forecast"]> => ({
  phases: seen,
  tokens: [...tokens],
  cost_usd: cost ? [...cost] : null,
  seconds: [Math.round(ms[0] / 1000), Math.round(ms[1] / 1000)],
});

async function preview(wanted: BuildOptions, options: Options): Promise<number> {
  const json = options.json === true;
  const found = await previewBuild(openProject(process.cwd()), process.cwd(), wanted);
  if (!found.ok) return reportFailure(found.failure, json);
  const preview = found.value;
  if (!json) {
    for (const line of previewLines(preview, styleFor(options.color))) print(line);
    return exitCodes.finished;
  }
  const byId = new Map(preview.compiled.plan.phases.map((phase) => [phase.id, phase]));
  const shape: BuildPreviewOutput = {
    version: 1,
    plan: preview.plan,
    mode: preview.mode,
    agent: preview.agent,
    sandbox: preview.sandbox && {
      mode: preview.sandbox.mode,
      by: preview.sandbox.by ?? null,
      network: preview.sandbox.network,
      free: [...preview.sandbox.free],
    },
    stack: preview.stack,
    commands: Object.fromEntries(preview.gates.map(({ name, command }) => [name, command])),
    batches: preview.compiled.batches.map((batch) =>
      batch.map((id) => ({
        id,
        name: byId.get(id)?.name ?? "",
        points: byId.get(id)?.estimate ?? null,
        tasks: byId.get(id)?.tasks.length ?? 0,
        runs: preview.toRun.includes(id),
        agent: preview.by.get(id) ?? preview.agent,
      })),
    ),
    forecast: preview.forecast ? forecastOutput(preview.forecast) : null,
    warnings: [...preview.compiled.warnings],
  };
  printJson(shape);
  return exitCodes.finished;
}
