/** `autodev build PLAN`: runs a plan, phase by phase, and says how it went. */
import { blockers, type PlanRun, standingOf, unverified } from "../../core/plan/progress.ts";
import type { CommitMode } from "../../core/plan/run-event.ts";
import {
  type BuildOptions,
  type Built,
  buildPlan,
  openProject,
  previewBuild,
  shown,
} from "../../project.ts";
import { type Display, openDisplay } from "../display.ts";
import { print, printError, printJson, printJsonLine } from "../output.ts";
import { answeredBy, askerFor, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { previewLines, summaryLines } from "../render/run.ts";
import { styleFor } from "../render/style.ts";
import type { BuildOutput, BuildPreviewOutput } from "../shapes.ts";

interface Options {
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
  gateMinutes?: number;
  wait?: boolean;
  trustSha256?: string;
  input?: boolean;
  decide?: string;
  json?: boolean;
  color?: boolean;
  live?: boolean;
}

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
  return options.dryRun ? preview(wanted, options) : buildIt(wanted, options);
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
    ...rest
  } = options;
  return rest;
}

async function buildIt(wanted: BuildOptions, options: Options): Promise<number> {
  const json = options.json === true;
  const display = openDisplay(options);
  const stop = new AbortController();
  const kill = new AbortController();
  const onSignal = (): void => {
    const stopping = "stopping: agents are asked to end (once more: at once)";
    if (stop.signal.aborted) kill.abort();
    else if (json) printError(stopping);
    else display.notice(stopping);
    stop.abort();
  };
  const [ask, askTrust] = [askerFor(options), trustAsker(options)];
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const built = await buildPlan(process.cwd(), wanted, {
      ask: (...asked) => display.suspend(() => ask(...asked)),
      askTrust: (...asked) => display.suspend(() => askTrust(...asked)),
      by: answeredBy(options),
      signal: stop.signal,
      killNow: kill.signal,
      onEvent: display.event,
      onNews: display.news,
    });
    if (built.ok) for (const line of built.value.said) display.notice(line);
    const view = display.end(built.ok ? built.value.run : undefined);
    if (!built.ok) return reportFailure(built.failure, json, { oneLine: true });
    return report(built.value, view, options);
  } finally {
    display.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

function report(built: Built, view: ReturnType<Display["end"]>, options: Options): number {
  const { run, asking } = built;
  const json = options.json === true;
  if (json) printJsonLine(output(built));
  else {
    for (const failure of asking) {
      if (failure.code === "run-halted") printError(shown(failure.message));
      for (const line of failure.details ?? []) printError(shown(line));
      if (failure.hint) printError(`  → ${shown(failure.hint)}`);
    }
    for (const line of summaryLines(run, view, styleFor(options.color))) print(line);
  }
  switch (run.ended) {
    case "halted":
      return exitCodes.blocked;
    case "interrupted":
      return exitCodes.interrupted;
    case "parked":
      return exitCodes.parked;
    case "asking":
      return exitCodes.decision;
    default:
      return exitCodes.finished;
  }
}

const output = ({ run, asking, said }: Built): BuildOutput => {
  const blocked = blockers(run);
  const unseen = new Set(unverified(run));
  return {
    version: 1,
    type: "summary",
    run: run.id,
    plan: run.plan,
    status: run.ended === "asking" ? "decision" : (run.ended ?? "complete"),
    mode: run.mode,
    ...(run.parkedUntil === undefined ? {} : { until: run.parkedUntil }),
    phases: run.phases.map((phase, index) => ({
      id: phase.id,
      name: run.order[index]?.name ?? "",
      status: standingOf(phase, blocked),
      ...(unseen.has(phase.id) && { unverified: true as const }),
      attempts: phase.attempts,
      commit: commitOf(run, phase.id),
      error:
        phase.state.is === "failed"
          ? { type: phase.state.error.type, message: phase.state.error.message }
          : null,
      blockedBy: blocked.get(phase.id) ?? null,
    })),
    landed: run.tip,
    usage: {},
    asking: asking.map(({ message, hint }) => ({ message, command: hint ?? null })),
    notices: [...said],
  };
};

const commitOf = (run: PlanRun, id: string): string | null =>
  run.landed.find(({ phase }) => phase === id)?.commit ?? null;

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
    stack: preview.stack,
    commands: Object.fromEntries(preview.gates.map(({ name, command }) => [name, command])),
    batches: preview.compiled.batches.map((batch) =>
      batch.map((id) => ({
        id,
        name: byId.get(id)?.name ?? "",
        points: byId.get(id)?.estimate ?? null,
        tasks: byId.get(id)?.tasks.length ?? 0,
        runs: preview.toRun.includes(id),
      })),
    ),
    warnings: [...preview.compiled.warnings],
  };
  printJson(shape);
  return exitCodes.finished;
}
