/** A flow as the terminal's door sees it: what is told meanwhile, and how it ended. */
import * as path from "node:path";
import { decisionBlock } from "../core/decision.ts";
import type { Event } from "../core/event.ts";
import type { Result } from "../core/failure.ts";
import { restWords } from "../core/flow/describe.ts";
import type { FlowOutcome } from "../core/flow/run-flow.ts";
import type { FlowState } from "../core/flow/state.ts";
import {
  type Ask,
  type FlowOptions,
  followFlow,
  type Held,
  hold,
  type Look,
  openFlow,
  type Project,
  shown,
  withFlows,
} from "../project.ts";
import { statusOutput } from "./commands/status.ts";
import { openDisplay } from "./display.ts";
import { eventsAfter } from "./follow.ts";
import { print, printError, printJson, printJsonLine } from "./output.ts";
import { type AskOptions, answeredBy, flowAsker, openRepository, trustAsker } from "./prompt.ts";
import { exitCodes, reportFailure } from "./render/failure.ts";
import { styleFor } from "./render/style.ts";
import { summary } from "./render/summary.ts";

export interface FollowOptions extends AskOptions, FlowOptions {
  flow?: string;
  /** False: nothing is started. */
  work?: boolean;
  json?: boolean;
  color?: boolean;
}

/** Opened, shown, carried on to the next rest; `first` is done before that. */
export async function follow(
  options: FollowOptions,
  command: string,
  first?: (project: Project, held: Held) => Promise<Result<unknown>>,
): Promise<number> {
  const json = options.json === true;
  const found = await openRepository(options);
  if (!found.ok) return reportFailure(found.failure, json);
  const known = withFlows(found.value, options.flow);
  if (!known.ok) return reportFailure(known.failure, json);
  const project = known.value;
  const held = await hold(project, command);
  if (!held.ok) return reportFailure(held.failure, json);
  const code = await carryOn(project, held.value, options, first);
  const released = await held.value.release();
  return released.ok ? code : reportFailure(released.failure, json);
}

async function carryOn(
  project: Project,
  held: Held,
  options: FollowOptions,
  first?: Parameters<typeof follow>[2],
): Promise<number> {
  const json = options.json === true;
  const people = { ask: flowAsker(project.root, options), by: answeredBy(options) };
  const opened = await openFlow(project, held, people);
  if (!opened.ok) return reportFailure(opened.failure, json);
  const { look, said } = opened.value;
  for (const line of said) printError(shown(line));
  // Where the work goes on, what is open is asked anyway.
  const told = { decisions: options.work === false, flows: project.flows };
  if (!json) print(summary(look, path.basename(project.root), styleFor(options.color), told));
  const prepared = await first?.(project, held);
  if (prepared && !prepared.ok) return reportFailure(prepared.failure, json);
  if (options.work === false) {
    if (json) printJson(statusOutput(look, project.root, project.flows));
    return exitCodes.finished;
  }
  const [stop, kill] = [new AbortController(), new AbortController()];
  const onSignal = (): void => {
    if (stop.signal.aborted) kill.abort();
    else printError("stopping: the agent is asked to end (once more: at once)");
    stop.abort();
  };
  const inJson = json ? eventsInJson(project) : (): void => undefined;
  // Line by line: what the flow itself has to say stands between them.
  const display = openDisplay({ ...options, json: false, live: false });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const followed = await followFlow(project, held, options, {
      ...people,
      askTrust: trustAsker(options),
      signal: stop.signal,
      killNow: kill.signal,
      happened: (events) => {
        if (json) inJson();
        else for (const event of events) tell(event);
      },
      tell: (line) => {
        if (!json) printError(`  ${shown(line)}`);
      },
      onEvent: (event, run) => {
        if (json) inJson();
        else display.event(event, run);
      },
      onNews: (news) => {
        if (!json) display.news(news);
      },
    });
    if (!followed.ok) return reportFailure(followed.failure, json);
    const onward = await pastBoundary(followed.value, people.ask);
    if (onward) return carryOn(project, held, { ...options, sameConversation: true });
    return ended(project, held, followed.value, options);
  } finally {
    display.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** At a terminal, a person can go on in the same conversation; the next invocation is the other answer. */
async function pastBoundary(outcome: FlowOutcome, ask: Ask): Promise<boolean> {
  if (outcome.is !== "rested" || outcome.rest.is !== "boundary") return false;
  const chosen = await ask({ ...outcome.rest.question, id: "boundary" }, () => undefined);
  return chosen.ok && chosen.value === "B";
}

/** As `autodev log --json` prints them: each call, what is new on record. */
function eventsInJson(project: Project): () => void {
  const known = eventsAfter(project, 0);
  let last = known.ok ? (known.value.at(-1)?.seq ?? 0) : 0;
  return () => {
    const news = eventsAfter(project, last);
    for (const { seq, at, run, ...rest } of news.ok ? news.value : []) {
      printJsonLine({ version: 1, seq, at, run, ...rest });
      last = seq;
    }
  };
}

/** One line for what people want to know while it goes on. */
function tell(event: Event): void {
  const line = lineOf(event);
  if (line !== undefined) printError(shown(line));
}

export function lineOf(event: Event): string | undefined {
  switch (event.type) {
    case "batch-reported":
      return `  batch ${event.number}: ${event.tasks.map(({ task, result }) => `${task} ${result}`).join(", ")}`;
    case "tasks-ran":
      return event.trouble === undefined ? undefined : `✗ ${event.trouble}`;
    case "skill-started":
      return `▸ Starting ${event.skill}${event.mode === undefined ? "" : ` (${event.mode})`}…${event.resumes === undefined ? "" : " its session goes on"}`;
    case "sub-step-reported": {
      const { phase, name, detail } = event.subStep;
      return `  ${phase} ${name}${detail === "" ? "" : `: ${detail}`}`;
    }
    case "step-completed":
      return `✓ complete${event.outcome === "" ? "" : `: ${event.outcome}`}`;
    case "step-skipped":
      return `– skipped: ${event.reason}`;
    case "step-retried":
      return `✗ it failed, and is tried again: ${event.reason}`;
    case "step-failed":
      return `✗ ${event.blocker}`;
    case "step-entered":
      return event.step === "done" ? undefined : `→ step ${event.step} ${event.name}`;
    case "step-committed":
      return event.commit === undefined ? undefined : `  committed as ${event.commit.slice(0, 9)}`;
    case "tracker-chosen":
      return `  tracker: ${event.tracker}${event.why === undefined ? "" : ` (${event.why})`}`;
    case "effect-receipted":
      return event.does === "create" ? `  ${event.kind} ${event.of} is ${event.id}` : undefined;
    case "skill-ended":
      return event.how === "context" || event.how === "stuck"
        ? `  ${event.reason ?? event.how}: a fresh session goes on`
        : undefined;
    default:
      return undefined;
  }
}

async function ended(
  project: Project,
  held: Held,
  outcome: FlowOutcome,
  options: FollowOptions,
): Promise<number> {
  const json = options.json === true;
  if (outcome.is !== "rested") return reportFailure(outcome.failure, json);
  const looked = await held.look();
  if (!looked.ok) return reportFailure(looked.failure, json);
  const { state } = looked.value.here;
  const { rest } = outcome;
  if (json) {
    const [what, why] = restWords(rest, state);
    const status = statusOutput(looked.value, project.root, project.flows);
    printJsonLine({ ...status, outcome: { is: rest.is, what, why } });
  } else tellRest(outcome, looked.value, options);
  return codeOfRest(rest.is);
}

function tellRest(
  { rest }: Extract<FlowOutcome, { is: "rested" }>,
  { here }: Look,
  options: FollowOptions,
): void {
  const style = styleFor(options.color);
  if (rest.is === "boundary") {
    for (const line of decisionBlock(rest.question)) print(shown(line));
    print("Next: autodev");
    return;
  }
  const [what, why] = restWords(rest, here.state);
  print(`${style.bold(shown(what))}: ${shown(why)}`);
  const next = nextCommand(rest.is, here.state);
  if (next !== undefined) print(`Next: ${next}`);
}

const nextCommand = (how: string, { step }: FlowState): string | undefined =>
  how === "aborted"
    ? "autodev, when it is mended; autodev skip leaves the step out"
    : how === "done" && step === "done"
      ? undefined
      : "autodev";

/** How a flow rests; `interrupted`: of a fleet's, stopped before that was in its history. */
export function codeOfRest(how: string): number {
  switch (how) {
    case "aborted":
      return exitCodes.blocked;
    case "stopped":
    case "interrupted":
      return exitCodes.interrupted;
    case "parked":
    case "lent":
      return exitCodes.parked;
    case "unknown":
      return exitCodes.usage;
    default:
      return exitCodes.finished;
  }
}
