/** What an agent's end is worth: pure, the same for every dialect. */
import type { AgentOutcome, AgentRun } from "../agent.ts";
import type { Said, Trouble, TroubleKind } from "../core/agent/trouble.ts";
import type { ErrorType } from "../core/plan/phase-error.ts";
import { readClaim } from "../core/plan/read-result.ts";
import { failureSaid } from "../core/plan/result.ts";
import type { Ended } from "../exec.ts";
import type { Ending } from "./dialect.ts";

/** What the matter was, if anything; a result that was handed in settles that nothing was. */
export function troubleOf(
  ended: Ended,
  ending: Ending | undefined,
  told: {
    said(said: Said): Trouble | undefined;
    answered(text: string): Trouble | undefined;
    readonly submitted: unknown;
    /** Why it was trying again, when that is the last that was heard of it. */
    readonly waitingFor: string | undefined;
    readonly lastWords: readonly string[];
  },
): Trouble | undefined {
  if (ended.notStarted !== undefined) return { kind: "spawn", message: ended.notStarted };
  if (ending?.trouble) {
    const { trouble } = ending;
    const known = told.said(trouble);
    const kind = trouble.kind ?? known?.kind ?? "crash";
    const until = trouble.until ?? known?.until;
    return {
      kind,
      message: trouble.text,
      ...(trouble.status !== undefined && { status: trouble.status }),
      ...(until !== undefined && { until }),
    };
  }
  if (ending) {
    const isAnswered = ending.structured !== undefined || told.submitted !== undefined;
    if (isAnswered) return undefined;
    return (ending.seeming && told.said(ending.seeming)) ?? told.answered(ending.text);
  }
  if (ended.idle || ended.timedOut) {
    // Whom it was waiting for is at fault, not the work: trying again at once would be in vain too.
    const { waitingFor } = told;
    if (waitingFor)
      return told.said({ text: waitingFor }) ?? { kind: "network", message: waitingFor };
  }
  if (ended.idle) return { kind: "idle_timeout", message: "it was silent for too long" };
  if (ended.timedOut) return { kind: "timeout", message: "it was not done in time" };
  // Some say it on their way out, and only there.
  return told.said({ text: told.lastWords.join("\n") });
}

export interface EndOfWork {
  readonly name: string;
  readonly phase: string;
  readonly run: Pick<AgentRun, "timeoutMs" | "idleMs">;
  readonly ended: Ended;
  readonly ending: Ending | undefined;
  readonly submitted: unknown;
  readonly trouble: Trouble | undefined;
  /** What it said beside its dialect. */
  readonly lastWords: readonly string[];
}

export function outcomeOf(end: EndOfWork): AgentOutcome {
  const { name, ended, ending, trouble } = end;
  // In its own words: the lines of a dialect are for programs, and the transcript has them.
  const details = [...(ending?.text ? [ending.text] : []), ...end.lastWords.slice(-40)]
    .join("\n")
    .slice(-mostDetails);
  if (ended.aborted) return { is: "stopped" };
  if (trouble) return inTrouble(end, trouble, details);
  if (!ending) {
    const how = ended.code === null ? `was ended by ${ended.signal}` : `ended with ${ended.code}`;
    return failed("crash", `${name} ${how}, without a word about how its work went`, details);
  }
  if (ending.cancelled) return failed("crash", `${name} broke off by itself`, details);
  return resultOf(end, ending, details);
}

const mostDetails = 8000;

function resultOf(
  { name, phase, ended, submitted }: EndOfWork,
  { structured, text, model }: Ending,
  details: string,
): AgentOutcome {
  const given = submitted ?? structured;
  const claim = readClaim(given === undefined ? text : JSON.stringify(given), phase);
  if (typeof claim === "string") {
    return failed("schema", `the result of ${name} cannot be read: ${claim}`, details);
  }
  if (claim.status === "limited") {
    const reason = claim.reason ?? `${name} has reached a usage limit`;
    return { is: "limited", until: claim.until, reason };
  }
  if (claim.status === "failed") return failureSaid(name, claim);
  return {
    is: "done",
    result: claim,
    ...(model !== undefined && { model }),
    ...(ended.left ? { left: ended.left } : {}),
  };
}

function inTrouble(end: EndOfWork, trouble: Trouble, details: string): AgentOutcome {
  const { name, run } = end;
  const { kind, message, until } = trouble;
  switch (kind) {
    case "usage_limit":
    case "rate_limit":
    case "overloaded":
    case "server":
    case "network":
      return {
        is: "limited",
        reason: `${name}: ${firstLine(message)}`,
        trouble,
        ...(until !== undefined && { until }),
      };
    case "auth":
      return { is: "unable", trouble, hint: `log in to ${name}, or set its key, then try again` };
    case "spawn":
      // No folder to work in, no memory: that the program is installed would not help.
      if (!message.endsWith(" is not on PATH")) {
        return failed(kind, `${name} could not be started: ${message}`, details);
      }
      return { is: "unable", trouble, hint: `install ${name}, or choose another agent (--agent)` };
    case "idle_timeout":
      return failed(kind, `${name} was silent for ${seconds(run.idleMs ?? 0)}`, details);
    case "timeout":
      return failed(kind, `${name} was not done after ${seconds(run.timeoutMs)}`, details);
    default:
      return failed(kind, `${name}: ${sentences[kind]}: ${firstLine(message)}`, details);
  }
}

const sentences = {
  budget: "it has used up what it may cost",
  turn_limit: "it has used up its turns",
  context: "the conversation has become too long for its model",
  refusal: "its model refuses the work",
  session_not_found: "its session is gone",
  schema: "its result is not as asked for",
  crash: "it failed",
} as const satisfies Partial<Record<TroubleKind, string>>;

const typeOf = (kind: TroubleKind): ErrorType => {
  switch (kind) {
    case "idle_timeout":
    case "timeout":
      return "timeout";
    case "schema":
      return "parse_error";
    case "context":
    case "refusal":
    case "turn_limit":
    case "budget":
      return "task_incomplete";
    default:
      return "agent_crash";
  }
};

const failed = (kind: TroubleKind, message: string, details: string): AgentOutcome => ({
  is: "failed",
  error: { type: typeOf(kind), kind, message, ...(details === "" ? {} : { details }) },
});

const firstLine = (text: string): string => (text.trim().split("\n")[0] ?? "").slice(0, 300);

const seconds = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 60_000)} min`;
