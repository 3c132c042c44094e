/** `autodev agents test NAME`: a piece of work that takes seconds, and whether it was done. */

import { duration } from "../../core/amounts.ts";
import { type AgentEvent, type FoundAgent, shown, type Tried, testAgent } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, trustAsker } from "../prompt.ts";
import { eventLine, trialLines } from "../render/agents.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import { cutTo } from "../render/width.ts";
import type { AgentsTestOutput } from "../shapes.ts";

interface Options extends AskOptions {
  trustSha256?: string;
  json?: boolean;
  color?: boolean;
}

export async function run(name: string, options: Options): Promise<number> {
  const json = options.json === true;
  const waiting = tellMeanwhile(name, json, styleFor(options.color, 2));
  const [stop, kill] = [new AbortController(), new AbortController()];
  const onSignal = (): void => {
    if (stop.signal.aborted) kill.abort();
    stop.abort();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const tested = await testAgent(process.cwd(), name, {
      askTrust: trustAsker(options),
      by: answeredBy(options),
      ...(options.trustSha256 !== undefined && { trustSha256: options.trustSha256 }),
      signal: stop.signal,
      killNow: kill.signal,
      ...waiting,
    });
    waiting.end();
    if (!tested.ok) return reportFailure(tested.failure, json);
    if (json) printJson(outputOf(name, tested.value));
    else for (const line of trialLines(tested.value, styleFor(options.color))) print(line);
    if (tested.value.outcome === "stopped") return exitCodes.interrupted;
    return tested.value.works ? exitCodes.finished : exitCodes.failure;
  } finally {
    waiting.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

const everyMs = 5000;
const mostColumns = 100;

interface Waiting {
  begins(found: FoundAgent | undefined): void;
  emit(event: AgentEvent): void;
  end(): void;
}

/** Whoever waits for a minute wants to see that something happens. */
function tellMeanwhile(name: string, json: boolean, style: Style): Waiting {
  if (json) return { begins() {}, emit() {}, end() {} };
  let beat: NodeJS.Timeout | undefined;
  const say = (text: string): void => printError(style.dim(`  ${cutTo(shown(text), mostColumns)}`));
  return {
    begins(found) {
      const { version, login } = found ?? {};
      const words = [
        ...(version === undefined ? [] : [version]),
        ...(login ? [`${loginWords[login.is]} (${login.by})`] : []),
      ];
      printError(`${shown([name, ...words].join(", "))}: it is asked to write a word into a file`);
      const began = performance.now();
      beat = setInterval(() => say(`${duration(performance.now() - began)} …`), everyMs);
    },
    emit(event) {
      const line = eventLine(event)?.trim();
      if (line) say(line);
    },
    end: () => clearInterval(beat),
  };
}

const loginWords = { yes: "logged in", no: "not logged in", unknown: "perhaps logged in" } as const;

const outputOf = (name: string, tried: Tried): AgentsTestOutput => ({
  version: 1,
  name,
  works: tried.works,
  outcome: tried.outcome,
  checks: tried.checks.map((check) => ({ ...check })),
  message: tried.verdict.message,
  hint: tried.verdict.hint,
  seconds: Math.round(tried.milliseconds / 100) / 10,
  model: tried.model ?? null,
  usage: tried.tokens === undefined ? null : { tokens: tried.tokens, cost: tried.cost ?? null },
});
