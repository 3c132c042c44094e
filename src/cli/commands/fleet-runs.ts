/** Runs of a fleet's, as the terminal's door sees them: submitted, followed, answered, stopped. */
import { type Decision, decisionBlock, isOpen } from "../../core/decision.ts";
import type { RecordedEvent } from "../../core/event.ts";
import { evolve, nothingYet, type ProjectState } from "../../core/evolve.ts";
import { fail, type Result } from "../../core/failure.ts";
import type { PlanRun } from "../../core/plan/progress.ts";
import type { RunNews } from "../../core/plan/run-news.ts";
import {
  answerIn,
  answerRun,
  type Fleet,
  findRunRow,
  openFleet,
  type RunRow,
  retryIn,
  seeFleet,
  stopIn,
  submitFlow,
  submitPlan,
  watchRun,
} from "../../project/fleet.ts";
import { type BuildOptions, type Built, eventsOf, shown } from "../../project.ts";
import { askInPlace } from "../answering.ts";
import { exitCodeOf, summaryOf, type TellOptions, tellSummary } from "../building.ts";
import { openDisplay } from "../display.ts";
import type { FleetDoor } from "../fleet-door.ts";
import { codeOfRest, lineOf } from "../following.ts";
import { isOutputGone, print, printError, printJson, printJsonLine } from "../output.ts";
import { answeredBy, askerFor, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { retryTold } from "../render/run.ts";
import { styleFor } from "../render/style.ts";
import type { RetryOutput } from "../shapes.ts";

/** With the fleet, and without it again whatever happens. */
async function withFleet(json: boolean, act: (fleet: Fleet) => Promise<number>): Promise<number> {
  const fleet = await openFleet();
  if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
  try {
    return await act(fleet.value);
  } finally {
    await fleet.value.close();
  }
}

export const build: FleetDoor["build"] = (cwd, wanted, options) =>
  withFleet(options.json === true, (fleet) => submitAndFollow(fleet, cwd, wanted, options));

async function submitAndFollow(
  fleet: Fleet,
  cwd: string,
  wanted: BuildOptions,
  options: TellOptions & { detach?: boolean },
): Promise<number> {
  const json = options.json === true;
  const never = new AbortController().signal;
  const submitted = await submitPlan(fleet, cwd, wanted, {
    ask: askerFor(options),
    askTrust: trustAsker(options),
    by: answeredBy(options),
    signal: never,
    killNow: never,
    onEvent: () => {},
    onNews: () => {},
  });
  if (!submitted.ok) return reportFailure(submitted.failure, json, { oneLine: true });
  const { run, created, said } = submitted.value;
  if (!json) {
    for (const line of said) printError(shown(line));
    printError(
      `run ${run} ${created ? "is submitted" : "goes on"}; autodev attach --run ${run} follows it`,
    );
  }
  if (options.detach) {
    if (json) printJsonLine({ version: 1, type: "submitted", run, created });
    return exitCodes.finished;
  }
  return followRow(cwd, run, options);
}

export const flow: FleetDoor["flow"] = (cwd, options) =>
  withFleet(options.json === true, async (fleet) => {
    const { agent, throughBoundaries, sandbox, trustSha256, idleMinutes, flow: named } = options;
    const wish = {
      ...(agent !== undefined && { agent }),
      ...(throughBoundaries !== undefined && { throughBoundaries }),
      ...(sandbox !== undefined && { sandbox }),
      ...(trustSha256 !== undefined && { trustSha256 }),
      ...(idleMinutes !== undefined && { idleMinutes }),
      ...(named !== undefined && { flow: named }),
    };
    const submitted = await submitFlow(fleet, cwd, wish, answeredBy(options));
    if (!submitted.ok) return reportFailure(submitted.failure, options.json === true);
    const { run } = submitted.value;
    if (!options.json) printError(`flow ${run} goes on; autodev attach --run ${run} follows it`);
    return followRow(cwd, run, options);
  });

export const attach: FleetDoor["attach"] = (options) =>
  withFleet(options.json === true, async (fleet) => {
    const row = await findRunRow(fleet, options.run);
    if (!row.ok) return reportFailure(row.failure, options.json === true);
    return followRow(process.cwd(), row.value.id, options);
  });

const lookMs = 200;
const busy = new Set<RunRow["state"]>(["opening", "waiting", "driving"]);

/** Also what was refused and is tried again by itself. */
const isAtWork = ({ is_open, state, outcome }: RunRow): boolean =>
  busy.has(state) || (is_open && outcome?.how === "refused" && outcome.until !== undefined);

/** To its next rest, or until we are told to leave; the run does not mind. */
async function followRow(cwd: string, id: string, options: TellOptions): Promise<number> {
  const display = openDisplay({ ...options, isFleet: true });
  // The run waits for a database that is away, and so does whoever follows it.
  const patient = await openFleet({
    patienceMs: Number.POSITIVE_INFINITY,
    told: (line) => display.notice(line),
  });
  try {
    if (patient.ok) return await followBy(patient.value, display, { cwd, id, options });
    return reportFailure(patient.failure, options.json === true, { oneLine: true });
  } finally {
    display.end();
    if (patient.ok) await patient.value.close();
  }
}

async function followBy(
  fleet: Fleet,
  display: ReturnType<typeof openDisplay>,
  what: { readonly cwd: string; readonly id: string; readonly options: TellOptions },
): Promise<number> {
  const { cwd, id, options } = what;
  const json = options.json === true;
  const watched = await watchRun(fleet, cwd, id);
  if (!watched.ok) return reportFailure(watched.failure, json);
  const { project, store, end } = watched.value;
  const gone = Symbol("gone");
  let leave = (): void => {};
  const leaving = new Promise<typeof gone>((resolve) => {
    leave = () => resolve(gone);
  });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, leave);
  const by = answeredBy(options);
  const asking = askInPlace(project, display, options, (decision, { key }) =>
    answerRun(fleet, id, { id: decision }, { key, by }),
  );
  const asked = new Set<string>();
  let state: ProjectState = nothingYet;
  let isFirst = true;
  const tail = store.tail();
  const look = (): void => {
    const grown = tail.next();
    const events = grown.ok ? grown.value.transitions.flatMap(eventsOf) : [];
    // Told as one piece: what happened hours ago is no news.
    if (isFirst && events.length > 1)
      display.news({ opened: { history: events.slice(0, -1), jobs: 16 } });
    events.forEach((event, at) => {
      state = evolve(state, event);
      const run = state.runs?.[id];
      const isNews = !isFirst || at === events.length - 1;
      if (run && isNews) display.event(event, run);
      else if (isNews) tellFlow(event, options);
    });
    isFirst = false;
    for (const decision of Object.values(state.decisions)) {
      if (!isOpen(decision) || asked.has(decision.id)) continue;
      asked.add(decision.id);
      asking(decision);
    }
  };
  try {
    for (let waits = ""; ; ) {
      // Whoever leaves need not wait for the database's return.
      const found = await Promise.race([watched.value.row(), leaving]);
      const told = found === gone ? gone : await Promise.race([watched.value.news(), leaving]);
      if (found === gone || told === gone) return goneAway(id, json, display.end());
      look();
      for (const each of [found, told]) if (!each.ok) return reportFailure(each.failure, json);
      const row = found.ok ? found.value : undefined;
      for (const news of told.ok ? told.value : []) display.news(news as RunNews);
      if (row?.waits && row.waits !== waits) display.notice(row.waits);
      waits = row?.waits ?? "";
      if (!row || isOutputGone()) return goneAway(id, json, display.end());
      if (isAtWork(row)) {
        await new Promise((resolve) => setTimeout(resolve, lookMs));
        continue;
      }
      // What was recorded before it came to its rest is told before its end is.
      await store.refresh();
      look();
      const waiting = row.state === "asking" && row.asking.some((each) => isHere(each, asked));
      if (waiting && mayAsk(options)) {
        await new Promise((resolve) => setTimeout(resolve, lookMs));
        continue;
      }
      return tellRest(row, state.runs?.[id], display.end(state.runs?.[id]), options);
    }
  } finally {
    end();
    for (const signal of signals) process.off(signal, leave);
  }
}

/** A flow has no view of its own: line by line, as where it is carried by this machine. */
function tellFlow(event: RecordedEvent, { json }: TellOptions): void {
  const { seq, at, run, ...rest } = event;
  const line = lineOf(event);
  if (json) printJsonLine({ version: 1, seq, at, run, ...rest });
  else if (line !== undefined) printError(shown(line));
}

const isHere = ({ id }: Decision, asked: ReadonlySet<string>): boolean => asked.has(id);

/** At a terminal the question stands there: its answer has the run go on. */
const mayAsk = (options: TellOptions): boolean =>
  options.input !== false && process.stdin.isTTY && !options.json;

function goneAway(id: string, json: boolean, _seen: unknown): number {
  if (json) printJsonLine({ version: 1, type: "detached", run: id });
  else print(`run ${id} goes on without you; autodev attach --run ${id} comes back to it`);
  return exitCodes.finished;
}

function tellFlowRest({ id, state, outcome, asking }: RunRow, json: boolean): number {
  const how = outcome?.how ?? state;
  if (json) printJsonLine({ version: 1, type: "flow", run: id, state, how });
  else {
    for (const decision of asking) for (const line of decisionBlock(decision)) print(shown(line));
    for (const { id: decision, recommendation } of asking)
      print(` autodev decide ${decision} ${recommendation} --engine postgres`);
    print(`flow ${id}: ${how}`);
  }
  if (state === "asking") return exitCodes.decision;
  return state === "parked" || state === "paused" ? exitCodes.parked : codeOfRest(how);
}

/**
 * How it rests: what people have stopped or paused before anybody drove it on has no word of that in
 * its history.
 */
function asItRests(run: PlanRun, { id, state, outcome }: RunRow): Pick<Built, "run" | "said"> {
  const said = outcome?.said ?? [];
  if (state === "paused") {
    const { parkedUntil: _, ...paused } = run;
    return {
      run: { ...paused, ended: "parked" },
      said: [...said, `run ${id} is paused: autodev fleet resume ${id} lets it go on`],
    };
  }
  const isStopped = state === "halted" && outcome?.how === "interrupted";
  return { run: isStopped ? { ...run, ended: "interrupted" } : run, said };
}

function tellRest(
  row: RunRow,
  run: PlanRun | undefined,
  view: ReturnType<ReturnType<typeof openDisplay>["end"]>,
  options: TellOptions,
): number {
  const json = options.json === true;
  const { outcome, asking } = row;
  if (outcome?.failure) return reportFailure(outcome.failure, json, { oneLine: true });
  if (!outcome && !row.is_open) {
    const gone = fail("not-found", `run ${row.id} was set aside before anything came of it`, {
      hint: "autodev fleet lists the runs that there are",
    });
    return reportFailure(gone.failure, json);
  }
  if (!run) return tellFlowRest(row, json);
  const rests = asItRests(run, row);
  const built = {
    ...rests,
    asking: asking.map((decision) => ({
      code: "decision-required" as const,
      message: `a decision is open: ${decision.question}`,
      hint: `autodev decide ${decision.id} ${decision.recommendation} --engine postgres`,
    })),
    view,
    isFleet: true,
  };
  if (json) printJsonLine(summaryOf(built));
  else tellSummary(built, styleFor(options.color));
  if (!json && row.state === "paused") print(rests.said.at(-1) ?? "");
  return exitCodeOf(rests.run);
}

export const decide: FleetDoor["decide"] = (id, key, { json = false, by }) =>
  withFleet(json, async (fleet) => {
    const answered = await answerIn(fleet, { wanted: id, key, by });
    if (!answered.ok) return reportFailure(answered.failure, json);
    const { run, id: decision, answer } = answered.value;
    const said = { id: decision, answer: answer.key, answeredBy: answer.by };
    if (json) printJson({ version: 1, ...said, recorded: true, run });
    else print(`${decision}: ${answer.key} (${shown(answer.by)}), recorded; run ${run} goes on`);
    return exitCodes.finished;
  });

export const decisions: FleetDoor["decisions"] = ({ json = false }) =>
  withFleet(json, async (fleet) => {
    const seen = await seeFleet(fleet, 10_000);
    if (!seen.ok) return reportFailure(seen.failure, json);
    const open = seen.value.runs
      .filter(({ is_open }) => is_open)
      .flatMap(({ id: run, asking }) => asking.map((decision) => ({ run, decision })));
    if (json) {
      printJson(
        open.map(({ run, decision: { id, question, options, recommendation, reason } }) => ({
          id,
          question,
          options,
          recommendation,
          reason,
          status: "open",
          run,
        })),
      );
      return exitCodes.finished;
    }
    if (open.length === 0) print("no decision is open");
    for (const { run, decision } of open) {
      print(`${decision.id}  run ${run}: ${shown(decision.question)}`);
      for (const { key, text } of decision.options) print(`  ${key}) ${shown(text)}`);
      print(`  → autodev decide ${decision.id} ${decision.recommendation} --engine postgres`);
    }
    return exitCodes.finished;
  });

export const retry: FleetDoor["retry"] = (phase, { note, run, ...options }) =>
  withFleet(options.json === true, async (fleet) => {
    const json = options.json === true;
    const row = await findRunRow(fleet, run);
    if (!row.ok) return reportFailure(row.failure, json);
    const { id } = row.value;
    const word = { phase, ...(note !== undefined && { note }), by: answeredBy(options) };
    const said = await retryIn(fleet, row.value, word);
    if (!said.ok) return reportFailure(said.failure, json);
    if (said.value === "goes on") {
      if (!json) printError(`run ${id} goes on; autodev attach --run ${id} follows it`);
      return followRow(process.cwd(), id, options);
    }
    const told: RetryOutput = { version: 1, run: id, phase, told: null };
    if (json) printJson(told);
    else print(`whoever drives run ${id} was told: ${retryTold}`);
    return exitCodes.finished;
  });

export const stop: FleetDoor["stop"] = ({ run, afterPhase, wait, json = false }) =>
  withFleet(json, async (fleet) => {
    const row = await findRunRow(fleet, run);
    if (!row.ok) return reportFailure(row.failure, json);
    const { id, plan } = row.value;
    const how = afterPhase ? "after-phase" : "now";
    const stopped = await stopIn(fleet, row.value, { how, by: answeredBy({}) });
    if (!stopped.ok) return reportFailure(stopped.failure, json);
    const running = stopped.value === "asked";
    const seen = running && wait !== false ? restedRow(fleet, id) : findRunRow(fleet, id);
    const found = await seen;
    if (!found.ok) return reportFailure(found.failure, json);
    const now = found.value;
    const status = running && wait === false ? "stopping" : (now.outcome?.how ?? now.state);
    if (json) {
      const asked = running ? how : null;
      printJson({ version: 1, running, asked, process: null, run: id, plan, status });
    } else print(running ? `run ${id}: ${status}` : `run ${id} rests: ${now.state}`);
    return exitCodes.finished;
  });

async function restedRow(fleet: Fleet, id: string): Promise<Result<RunRow>> {
  for (;;) {
    const found = await findRunRow(fleet, id);
    if (!found.ok || !isAtWork(found.value)) return found;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
