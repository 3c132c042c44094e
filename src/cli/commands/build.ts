/** `autodev build PLAN`: runs a plan, phase by phase, and says how it went. */
import type { Forecast } from "../../core/agent/forecast.ts";
import type { SandboxMode } from "../../core/agent/sandbox.ts";
import { type Failure, succeed } from "../../core/failure.ts";
import type { CommitMode } from "../../core/plan/run-event.ts";
import { branchFor } from "../../core/pull-request.ts";
import type { EngineName } from "../../core/settings.ts";
import { type BuildOptions, mayRequestPull, openProject, previewBuild } from "../../project.ts";
import { startBeside } from "../beside.ts";
import { buildAndTell, exitCodeOf, summaryOf, tellSummary } from "../building.ts";
import { detach } from "../detach.ts";
import { fleetDoor, isFleet } from "../fleet-door.ts";
import { beginStep, type Ended } from "../github-step.ts";
import { print, printError, printJson, printJsonLine } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { previewLines } from "../render/run.ts";
import { styleFor } from "../render/style.ts";
import { requestedLines, requestFor } from "../requesting.ts";
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
  retries?: readonly { readonly phase: string; readonly note?: string }[];
  live?: boolean;
  detach?: boolean;
  ui?: boolean;
  github?: boolean;
  pr?: boolean;
  into?: string;
  engine?: EngineName;
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
  if (options.detach && (options.github || options.pr)) {
    const message = "--github and --pr tell how a run ended; --detach does not wait for that";
    return reportFailure({ code: "usage", message }, json);
  }
  if (options.detach && options.ui) {
    const message = "--ui ends with the command that it was said to; --detach ends it at once";
    return reportFailure({ code: "usage", message, hint: "autodev ui shows the run" }, json);
  }
  const branch = options.branch ?? (options.pr ? branchFor(plan) : undefined);
  const wanted: BuildOptions = { plan, ...given(options), ...(branch !== undefined && { branch }) };
  if (options.dryRun) return preview(wanted, options);
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
  if (fleet.value) {
    if (options.ui || options.github || options.pr) {
      const message = "--ui, --github and --pr are of runs on this machine";
      return reportFailure({ code: "usage", message, hint: "autodev fleet shows the run" }, json);
    }
    return fleetDoor().build(process.cwd(), wanted, options);
  }
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
    ui: ___________,
    github: ________,
    pr: _________,
    into: __________,
    engine: ____________,
    ...rest
  } = options;
  return rest;
}

async function buildIt(wanted: BuildOptions, options: Options): Promise<number> {
  const step = options.github ? beginStep(process.cwd()) : undefined;
  if (step && !step.ok) return reportFailure(step.failure, options.json === true);
  const beside = options.ui ? await startBeside() : undefined;
  const { code, ...told } = await buildAndRequest(process.cwd(), wanted, options);
  step?.value.end(told, code);
  beside?.end();
  return code;
}

async function buildAndRequest(
  cwd: string,
  wanted: BuildOptions,
  options: Options,
): Promise<Ended & { readonly code: number }> {
  const json = options.json === true;
  const refused = (failure: Failure): Ended & { readonly code: number } => ({
    code: reportFailure(failure, json, { oneLine: true }),
    failure,
    said: [],
  });
  // Before hours of work, not after them.
  const ready = options.pr ? await mayRequestPull(cwd) : succeed(undefined);
  if (!ready.ok) return refused(ready.failure);
  const built = await buildAndTell(cwd, wanted, options);
  if (!built.ok) return refused(built.failure);
  const { run, said } = built.value;
  const { pr, into } = options;
  const branch = wanted.branch ?? "";
  const requested = pr ? await requestFor(cwd, run, { branch, into }) : undefined;
  const pull = requested?.ok && requested.value.is !== "none" ? requested.value : undefined;
  if (json) printJsonLine(summaryOf(built.value, pull));
  else tellSummary(built.value, styleFor(options.color));
  const more = requested?.ok ? requestedLines(requested.value) : [];
  for (const line of more) printError(line);
  if (requested && !requested.ok) return { ...refused(requested.failure), run, said };
  const told = { run, said: [...said, ...more], ...(pull && { pullRequest: pull.url }) };
  return { ...told, code: exitCodeOf(run) };
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
