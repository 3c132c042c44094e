/**
 * A made-up world for the real core of flows: documents and state file in memory, a journal folded
 * by `evolve`, people's answers, a clock, and agents that end as a history says. It is driven as
 * the program drives a real one: what happened to the file, people's answers, the moves before a
 * flow goes on, then `runFlow`. Dying is stopping before a record, with everything that was
 * written until then.
 */
import { decisionId, isOpen, type Question } from "../src/core/decision.ts";
import type { Event, RecordedEvent } from "../src/core/event.ts";
import {
  evolve,
  nothingYet,
  openDecisions,
  type ProjectState,
  renderedStateFile,
} from "../src/core/evolve.ts";
import { fail, type Result, succeed } from "../src/core/failure.ts";
import { type Check, crossCheck } from "../src/core/flow/cross-check.ts";
import { effectsOf } from "../src/core/flow/effects.ts";
import { type Survey, stepIn } from "../src/core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../src/core/flow/flows/index.ts";
import { afterSkill, type SkillEnd } from "../src/core/flow/judge.ts";
import type { SkillWork } from "../src/core/flow/next-move.ts";
import { openingKinds, openingMove } from "../src/core/flow/opening.ts";
import { readPosition } from "../src/core/flow/position.ts";
import { whetherToGoBack, whetherToRollBack, whetherToSkip } from "../src/core/flow/questions.ts";
import { renderStateFile } from "../src/core/flow/render.ts";
import { type FlowOutcome, type Performable, runFlow } from "../src/core/flow/run-flow.ts";
import { parseStateFile } from "../src/core/flow/state-file.ts";
import { noTaskFacts } from "../src/core/flow/tasks.ts";
import { type Whereabouts, whereabouts } from "../src/core/flow/whereabouts.ts";
import type { Action, Edit } from "./flow-model.ts";
import {
  type Beginning,
  backFrom,
  driftSaid,
  type Place,
  skillOf,
  withFact,
  withoutFact,
  workDone,
} from "./flow-tables.ts";

/** Where a step runs tasks, a history here knows only how that ends: as if an agent did all of it. */
const flows = builtInFlows.map((flow) => ({
  ...flow,
  steps: flow.steps.map((step) => {
    const { runs: _, ...plain } = step;
    return plain;
  }),
}));

/** More than any history of ours can bring about. */
const mostEvents = 3000;
const stateFile = "_docs/_autodev_state.md";

class Died extends Error {}
class Asking extends Error {}

/** Words of others, which nothing may follow from; a history is the same whatever they are. */
export interface FlowWords {
  /** In every document that no condition of a flow looks into. */
  readonly document: string;
  /** Who answers, as he calls himself. */
  readonly by: string;
  /** Where an agent says it is, in its own words. */
  readonly detail: string;
  /** What an agent's end is, once it has been said in words. */
  said(end: SkillEnd, work: SkillWork): Promise<SkillEnd>;
}

const plainWords: FlowWords = {
  document: "Words.\n",
  by: "somebody",
  detail: "",
  said: async (end) => end,
};

/** An agent at work, until the history says how it ends. */
interface AtWork {
  readonly work: SkillWork;
  end(events: Result<readonly Event[]>): void;
  abandon(): void;
}

export class FlowWorld {
  readonly log: RecordedEvent[] = [];
  /** What cannot be, whatever the model says. */
  readonly breaches: string[] = [];
  rest = "fresh";
  asks: Question | undefined;
  state: ProjectState = nothingYet;
  private facts: ReadonlySet<string>;
  private readonly root: Beginning;
  private readonly words: FlowWords;
  private hours = 0;
  private file: string | undefined;
  private gitMoved = false;
  private readonly renderings = new Set<string>();
  private readonly answers = new Map<string, { key: string; by: string; at: string }>();
  private readonly past: { facts: ReadonlySet<string>; file: string }[] = [];
  private edits = 0;
  private atWork: AtWork | undefined;
  private running: Promise<FlowOutcome | "died"> | undefined;
  private left = Infinity;
  private limits = { begun: 0, through: false, decides: false, waits: false, stopping: false };

  constructor(root: Beginning, words: FlowWords = plainWords) {
    this.root = root;
    this.words = words;
    this.facts = new Set(root.facts);
  }

  get place(): Place | undefined {
    const { flow } = this.state;
    if (!flow) return undefined;
    const { step, status, retryCount: retry, cycle, subStep } = flow;
    return { flow: flow.flow, step, status, retry, cycle, phase: subStep.phase };
  }

  get documents(): string {
    return [...this.facts].sort().join(" ");
  }

  /** The state file as it lies there; absent: there is none. */
  get shown(): string | undefined {
    return this.file;
  }

  /** Whether these bytes were ever ours. */
  wasShown(text: string): boolean {
    return this.renderings.has(text);
  }

  /** What git has put there: another file, other documents; HEAD has moved. */
  receive(file: string | undefined, documents: readonly string[]): void {
    [this.file, this.facts, this.gitMoved] = [file, new Set(documents), true];
  }

  /** What is put on record by it, in the model's words; `died`: the process was killed. */
  async apply(action: Action, { again = false } = {}): Promise<{ told: string[]; died: boolean }> {
    const before = this.log.length;
    this.left = action.dies ?? Infinity;
    let died = false;
    try {
      await this.act(action, again);
    } catch (error) {
      if (error instanceof Died) died = true;
      else if (!(error instanceof Asking)) throw error;
    }
    if (died) [this.rest, this.asks] = ["killed", undefined];
    const isInvocation = ["start", "skip", "back", "rollback"].includes(action.do);
    if (!died && (this.log.length > before || (isInvocation && !this.atWork))) this.show();
    const untouched = this.file === undefined || this.renderings.has(this.file);
    const file = this.shownAs();
    if (this.rest !== "working" && untouched && file !== undefined) {
      this.renderings.add(file);
      this.past.push({ facts: this.facts, file });
    }
    const told = this.log.slice(before).flatMap((event) => tokenOf(event, this.kinds));
    return { told, died };
  }

  private async act(action: Action, again: boolean): Promise<void> {
    const { atWork } = this;
    switch (action.do) {
      case "start":
      case "skip":
      case "back":
      case "rollback":
        if (!atWork) await this.start(action, again);
        return;
      case "answer": {
        const { asks } = this;
        if (!asks?.options.some(({ key }) => key === action.key)) return;
        const id = decisionId(asks, hash);
        if (!this.answers.has(id)) this.answers.set(id, this.answer(action.key));
        return;
      }
      case "kill":
        if (!atWork) return;
        atWork.abandon();
        [this.atWork, this.rest, this.asks] = [undefined, "killed", undefined];
        return;
      case "edit":
        if (atWork || !this.state.flow) return;
        this.file = this.edited(action.as);
        if (action.git) this.gitMoved = true;
        return;
      case "lose-file":
        if (!atWork) this.file = undefined;
        return;
      case "checkout": {
        const then = this.past.at(-action.back);
        if (atWork || !this.state.flow || !then) return;
        [this.facts, this.file, this.gitMoved] = [then.facts, then.file, true];
        return;
      }
      case "add":
        this.facts = withFact(this.facts, action.fact);
        return;
      case "delete":
        this.facts = withoutFact(this.facts, action.fact);
        return;
      case "clock":
        this.hours += action.hours;
        return;
      case "report": {
        const { flow } = this.state;
        if (!atWork || !flow) return;
        const phase = flow.subStep.phase + 1;
        try {
          this.record([
            {
              type: "sub-step-reported",
              subStep: { phase, name: `part-${phase}`, detail: this.words.detail },
            },
          ]);
        } catch (error) {
          atWork.abandon();
          this.atWork = undefined;
          throw error;
        }
        return;
      }
      default:
        if (atWork) await this.ended(atWork, action);
    }
  }

  // ── an invocation ────────────────────────────────────────────────────────────────────────────

  /** `again`: as if the last one, which was killed, had not been. */
  private async start(
    action: Extract<Action, { do: "start" | "skip" | "back" | "rollback" }>,
    again: boolean,
  ): Promise<void> {
    const { through = false, decides = false, waits = false } = action.do === "start" ? action : {};
    if (!again) this.limits = { begun: 0, through, decides, waits, stopping: false };
    this.asks = undefined;
    this.catchUp();
    this.open();
    if (action.do !== "start" && !this.want(action)) return;
    if (!again || this.limits.begun === 0) this.limits.begun = this.log.length;
    this.running = runFlow({
      look: async () => succeed({ state: this.state, facts: this.factsNow() }),
      limits: () => {
        const { begun, through: throughBoundaries, waits: waiting, stopping } = this.limits;
        return { begun, now: this.now, throughBoundaries, commits: true, waits: waiting, stopping };
      },
      hash,
      perform: (move) => this.perform(move),
      record: async (events) => succeed(this.record(events)),
    }).catch((error: unknown) => {
      if (error instanceof Died) return "died" as const;
      throw error;
    });
    await this.untilQuiet();
  }

  /** Until it rests, has died, or an agent is at work. */
  private async untilQuiet(): Promise<void> {
    const working = new Promise<"working">((resolve) => {
      this.begins = () => resolve("working");
    });
    const outcome = await Promise.race([this.running as Promise<FlowOutcome | "died">, working]);
    if (outcome === "working") {
      this.rest = "working";
      return;
    }
    this.atWork = undefined;
    if (outcome === "died") throw new Died();
    if (outcome.is === "rested") this.rest = outcome.rest.is;
    else this.rest = outcome.is === "asking" ? "asking" : "refused";
  }
  private begins: () => void = () => {};

  private catchUp(): void {
    const { here } = this.look();
    if (here.verdict.is === "to-adopt") {
      const { because, path, text } = here.verdict;
      this.record([adoption(here, because, path, text)]);
      this.renderings.add(this.shownAs() ?? "");
    }
    for (const [id, answer] of this.answers) {
      const decision = this.state.decisions[id];
      if (!decision || !isOpen(decision)) continue;
      this.record([
        { type: "decision-answered", id, ...answer },
        ...effectsOf(this.state, decision, answer.key),
      ]);
    }
  }

  private open(): void {
    const asked = new Set<string>();
    for (;;) {
      const { here, check } = this.look();
      const move = openingMove(this.state, here, hash, check && { check });
      switch (move.is) {
        case "go-on": {
          const lapsed = openDecisions(this.state).filter(({ kind }) =>
            openingKinds.includes(kind),
          );
          if (lapsed.length > 0)
            this.record(lapsed.map(({ id }) => ({ type: "decision-withdrawn", id, reason: "" })));
          return;
        }
        case "create": {
          const text = renderStateFile(undefined, move.state);
          if (!text.ok) throw new Error(text.failure.message);
          const created = adoption(
            { ...here, state: move.state },
            "created",
            stateFile,
            text.value,
          );
          this.record([created, ...(move.then ? [move.then] : [])]);
          break;
        }
        case "move":
          this.record([move.event]);
          break;
        case "ask":
          if (asked.has(move.id)) throw new Error(`the answer to ${move.id} changed nothing`);
          asked.add(move.id);
          if (!this.put(move.question)) throw new Asking();
          break;
        default:
          throw new Error(`nobody has given a reason to ${move.is}`);
      }
    }
  }

  /** False: nobody has answered it, and it rests on that. */
  private put(question: Question, key?: string): boolean {
    const id = decisionId(question, hash);
    const known = this.state.decisions[id];
    if (known?.answer) return true;
    if (!known || known.withdrawn !== undefined) {
      const { facts, options, ...rest } = question;
      const decision = {
        ...rest,
        id,
        askedAt: this.now,
        ...(facts && { facts: [...facts] }),
        options: options.map(({ notes, ...option }) => ({
          ...option,
          ...(notes && { notes: [...notes] }),
        })),
      };
      this.record([{ type: "decision-asked", decision }]);
    }
    const recommended =
      this.limits.decides && !question.destructive ? question.recommendation : undefined;
    const chosen = this.answers.get(id)?.key ?? key ?? recommended;
    if (chosen === undefined) {
      [this.rest, this.asks] = ["asking", question];
      return false;
    }
    const answer = this.answers.get(id) ?? this.answer(chosen);
    this.answers.set(id, answer);
    this.record([
      { type: "decision-answered", id, ...answer },
      ...effectsOf(this.state, question, answer.key),
    ]);
    return true;
  }

  private answer(key: string): { key: string; by: string; at: string } {
    return { key, by: this.words.by, at: this.now };
  }

  /** What a person types beside `autodev`; false: it rests on that. */
  private want(action: Extract<Action, { do: "skip" | "back" | "rollback" }>): boolean {
    const { flow, course } = this.state;
    const definition = flowNamed(flow?.flow ?? "");
    if (!flow || !course || !definition) throw new Error("there is no flow to want anything of");
    const to =
      action.do === "skip" ? flow.step : backFrom(flow.flow, flow.step, course.entry, action.to);
    const step = to === undefined ? undefined : stepIn(definition, to);
    const isOver = action.do === "skip" && ["completed", "skipped"].includes(flow.status);
    if (!step || isOver) {
      this.rest = "refused";
      return false;
    }
    const question =
      action.do === "skip"
        ? { ...whetherToSkip(step, [], flow, course), destructive: true }
        : action.do === "back"
          ? whetherToGoBack(step, [], flow, course)
          : whetherToRollBack(step, { changes: [], stale: [], folder: "" }, flow, course);
    return this.put(question, action.key);
  }

  // ── what moves do ────────────────────────────────────────────────────────────────────────────

  private async perform(move: Performable): Promise<Result<readonly Event[]>> {
    switch (move.is) {
      case "ask":
        return this.put(move.question) ? succeed([]) : fail("decision-required", "nobody is there");
      case "confirm":
        if (!this.facts.has("config")) return fail("disk", "there is no such file");
        this.facts = withFact(this.facts, "confirmed");
        return succeed([]);
      case "mark-skipped":
        this.facts = withFact(this.facts, "marker");
        return succeed([{ type: "step-skipped", reason: move.reason }]);
      case "promote-draft":
        this.facts = withFact(this.facts, "solution");
        return succeed([]);
      case "commit":
        return succeed([{ type: "step-committed", step: move.what.step, commit: "c0" }]);
      case "roll-back": {
        const { step, name } = move.step;
        return succeed([{ type: "step-reopened", step, name, how: "rollback" }]);
      }
      case "wait":
        this.hours = Math.max(this.hours, hoursOf(move.until));
        return succeed([]);
      case "run-tasks":
      case "write-batches":
      case "report-tasks":
        throw new Error("there are no tasks in this world");
      case "judge-skill":
        throw new Error("nobody in this world comes for work");
      case "open-tracker":
      case "track":
        throw new Error("there is no tracker in this world");
      case "run-skill": {
        const { step, skill, session } = move.work;
        this.record([{ type: "skill-started", session, step: step.step, skill, agent: "puppet" }]);
        return new Promise((end, stop) => {
          this.atWork = { work: move.work, end, abandon: () => stop(new Died()) };
          this.begins();
        });
      }
    }
  }

  private async ended(atWork: AtWork, action: Action): Promise<void> {
    const { flow } = this.state;
    const definition = flowNamed(flow?.flow ?? "");
    if (!flow || !definition) throw new Error("an agent is at work in no flow");
    const says = action.do === "finish" ? action.says : undefined;
    if (action.do === "finish" || action.do === "stray")
      this.facts = workDone(this.facts, flow, { day: Math.floor(this.hours / 24), says });
    if (action.do === "stop") this.limits.stopping = true;
    const reports = atWork.work.skill === "monorepo-status" ? driftSaid(says) : [];
    const events = afterSkill(this.state, {
      flow: definition,
      step: atWork.work.step,
      session: atWork.work.session,
      end: await this.words.said(
        endOf(action.do, atWork.work, reports, iso(this.hours + 1)),
        atWork.work,
      ),
      unmet: [],
      strayed: action.do === "stray" ? ["src/a.ts was changed"] : [],
      survey: this.survey(),
      usualWait: iso(this.hours + 1),
    });
    this.atWork = undefined;
    const quiet = this.untilQuiet();
    atWork.end(succeed(events));
    await quiet;
  }

  private record(events: readonly Event[]): void {
    if (this.left-- <= 0) throw new Died();
    if (this.log.length > mostEvents) throw new Error("it does not come to rest");
    for (const event of events) {
      const recorded = {
        ...event,
        seq: this.log.length + 1,
        at: this.now,
        run: "flow",
      } as RecordedEvent;
      this.judge(recorded);
      this.log.push(recorded);
      this.state = evolve(this.state, recorded);
      if ((this.state.flow?.retryCount ?? 0) > 3) this.breaches.push("a fourth retry is counted");
    }
    this.gitMoved = false;
  }

  // ── what cannot be ───────────────────────────────────────────────────────────────────────────

  private readonly kinds = new Map<string, string>();
  private failedAt: string | undefined;
  private restsSince: number | undefined;

  private judge(event: RecordedEvent): void {
    switch (event.type) {
      case "decision-asked": {
        const { id, kind } = event.decision;
        const known = this.state.decisions[id];
        this.kinds.set(id, kind);
        if (known && known.withdrawn === undefined) this.breaches.push(`${kind} is asked twice`);
        return;
      }
      case "step-failed":
        this.failedAt = this.state.flow?.step;
        return;
      case "step-reopened":
      case "step-skipped":
      case "state-file-adopted":
        this.failedAt = undefined;
        return;
      case "step-entered":
        this.failedAt = undefined;
        this.restsSince = event.boundary ? this.limits.begun : undefined;
        return;
      case "skill-started":
        if (this.failedAt !== undefined)
          this.breaches.push(`step ${event.step} is retried silently`);
        if (this.restsSince === this.limits.begun && this.limits.begun > 0 && !this.limits.through)
          this.breaches.push(`the boundary before step ${event.step} is passed`);
        return;
      default:
        return;
    }
  }

  /** The state file as it stands after everything on record, and read again. */
  private show(): void {
    const text = this.shownAs();
    if (text === undefined) return;
    const isNew = !this.renderings.has(text);
    this.renderings.add(text);
    this.file = text;
    if (!isNew) return;
    const parsed = parseStateFile(text, stateFile);
    const read = parsed.ok ? readPosition(parsed.value, stateFile).state : undefined;
    const { flow } = this.state;
    if (!read || !flow) return void this.breaches.push("the state file cannot be read");
    for (const field of ["flow", "step", "name", "status", "retryCount", "cycle"] as const)
      if (read[field] !== flow[field])
        this.breaches.push(`the state file says ${field} ${read[field]}, not ${flow[field]}`);
    if (read.subStep.phase !== flow.subStep.phase)
      this.breaches.push("the state file says another sub-step");
  }

  private rendered: { of: ProjectState; text: string | undefined } | undefined;

  private shownAs(): string | undefined {
    if (this.rendered?.of !== this.state)
      this.rendered = { of: this.state, text: renderedStateFile(this.state)?.text };
    return this.rendered.text;
  }

  // ── what is there ────────────────────────────────────────────────────────────────────────────

  private get now(): string {
    return iso(this.hours);
  }

  private look(): { here: Whereabouts; check: Check | undefined } {
    const found = this.glance();
    if (!found.ok) throw new Error(found.failure.message);
    const here = found.value;
    const flow = flowNamed(here.state.flow);
    const isOut = here.verdict.is === "nothing" || here.verdict.is === "to-adopt";
    const check =
      isOut || !flow || here.state.step === "done"
        ? undefined
        : crossCheck(flow, here.state, this.state.course, this.survey());
    return { here, check };
  }

  /** What is found there, and whom we believe; refused: it cannot be read. */
  glance(): Result<Whereabouts> {
    const { state } = this;
    const text = this.shownAs();
    const chosen = Object.values(state.decisions).findLast(
      ({ kind, answer }) => kind === "which-flow" && answer,
    );
    const wanted = chosen?.options
      .find(({ key }) => key === chosen.answer?.key)
      ?.text.split(":")[0];
    return whereabouts({
      files: this.file === undefined ? [] : [{ path: stateFile, text: this.file }],
      ...(state.flow && state.stateFile && text !== undefined
        ? { recorded: { flow: state.flow, file: state.stateFile, text } }
        : {}),
      everRendered: (_, each) => this.renderings.has(each),
      recentRenderings: () => [],
      gitMoved: () => this.gitMoved,
      survey: () => this.survey(),
      ...(wanted !== undefined && { wanted }),
    });
  }

  private factsNow(): Parameters<typeof runFlow>[0] extends { look(): Promise<Result<infer L>> }
    ? L extends { facts: infer F }
      ? F
      : never
    : never {
    const { flow } = this.state;
    const { lacks, there } = flow ? skillOf(this.facts, flow) : { lacks: [], there: [] };
    return {
      flows,
      survey: this.survey(),
      skill: { phases: [], lacks, there },
      tasks: noTaskFacts,
      ahead: [],
    };
  }

  private surveyed:
    | { of: ReadonlySet<string>; docs: Map<string, number>; texts: Map<string, string> }
    | undefined;

  private survey(): Survey {
    if (this.surveyed?.of !== this.facts) {
      this.surveyed = { of: this.facts, docs: new Map(), texts: new Map() };
      for (const fact of this.facts)
        for (const path of pathsOf(fact)) {
          const text = textOf(fact, this.facts) ?? this.words.document;
          this.surveyed.docs.set(path, text.length);
          this.surveyed.texts.set(path, text);
        }
    }
    const { texts } = this.surveyed;
    const docs =
      this.file === undefined
        ? this.surveyed.docs
        : new Map(this.surveyed.docs).set("_autodev_state.md", this.file.length);
    const { source, members } = this.root;
    return { docs: docs.size > 0 ? docs : undefined, texts, hasSource: source, members };
  }

  /** A line of a person's own makes bytes that we never wrote. */
  private edited({ flow, step, status, retry }: Edit): string {
    const lines = (this.file ?? this.shownAs() ?? "")
      .split("\n")
      .filter((line) => !line.startsWith("by-hand:"));
    const set = (key: string, value: string | number | undefined): void => {
      const at = lines.findIndex((line) => line.startsWith(`${key}:`));
      if (value !== undefined && at >= 0) lines[at] = `${key}: ${value}`;
    };
    set("flow", flow);
    set("step", step);
    if (step !== undefined) {
      const named = flowNamed(valueIn(lines, "flow"));
      set("name", step === "done" ? "Done" : named && stepIn(named, step)?.name);
    }
    set("status", status);
    set("retry_count", retry);
    const after = lines.findIndex((line) => line.startsWith("cycle:"));
    lines.splice(after + 1, 0, `by-hand: ${++this.edits}`);
    return lines.join("\n");
  }
}

const valueIn = (lines: readonly string[], key: string): string =>
  lines
    .find((line) => line.startsWith(`${key}:`))
    ?.slice(key.length + 1)
    .trim() ?? "";

function adoption(
  here: Whereabouts,
  why: Extract<Event, { type: "state-file-adopted" }>["why"],
  path: string,
  text: string,
): Event {
  const { generation, variant, corrections } = here;
  const state = structuredClone(here.state) as Extract<
    Event,
    { type: "state-file-adopted" }
  >["state"];
  return {
    type: "state-file-adopted",
    why,
    path,
    text,
    generation,
    variant,
    state,
    corrections: [...corrections],
  };
}

function endOf(
  how: Action["do"],
  { session }: SkillWork,
  reports: readonly string[],
  until: string,
): SkillEnd {
  switch (how) {
    case "finish":
    case "claim":
    case "stray":
      return { is: "done", outcome: "done", reports };
    case "fail":
      return { is: "failed", reason: "it broke" };
    case "corrupt":
      return { is: "failed", reason: "it broke", corrupt: true };
    case "ask":
      return {
        is: "asked",
        asks: {
          // Who asks the same twice goes round, which is another kind of end.
          question: `which one, in session ${session}?`,
          options: ["this", "that"],
          recommendation: "A",
          reason: "it is first",
        },
      };
    case "limit":
      return { is: "limited", reason: "too much", until };
    case "unable":
      return { is: "unable", reason: "it is not logged in" };
    case "stuck":
      return { is: "stuck", reason: "nothing new" };
    case "context":
      return { is: "context", reason: "too long" };
    case "stop":
      return { is: "stopped" };
    default:
      throw new Error(`${how} is no end of an agent`);
  }
}

// ── events in the model's words ────────────────────────────────────────────────────────────────

function tokenOf(event: RecordedEvent, kinds: ReadonlyMap<string, string>): string[] {
  switch (event.type) {
    case "state-file-adopted":
      return [
        event.why === "created" ? `created ${event.state.flow} ${event.state.step}` : "adopted",
      ];
    case "step-entered":
      return [`entered ${event.flow} ${event.step} ${event.cycle}`];
    case "sub-step-reported":
      return [`at ${event.subStep.phase}`];
    case "step-reopened":
      return [`reopened ${event.step} ${event.how}`];
    case "rollback-chosen":
      return [`rollback ${event.step}`];
    case "steps-excused":
      return [`excused ${event.steps.join(" ")}`];
    case "status-set":
      return [`status ${event.status}`];
    case "skill-ended":
      return [`ended ${event.how}`];
    case "decision-asked":
      return [`asked ${event.decision.kind}`];
    case "decision-answered":
      return [`answered ${kinds.get(event.id) ?? "nothing"} ${event.key}`];
    case "decision-withdrawn":
      return [`withdrawn ${kinds.get(event.id) ?? "nothing"}`];
    default: {
      const word = plainly[event.type];
      return word === undefined ? [] : [word];
    }
  }
}

const plainly: Readonly<Record<string, string>> = {
  "step-started": "started",
  "sub-step-skipped": "sub-step skipped",
  "step-retried": "retried",
  "step-failed": "failed",
  "blocker-raised": "broken",
  "step-completed": "completed",
  "step-skipped": "skipped",
  "step-aborted": "aborted",
  "skill-started": "session",
};

// ── facts as files ─────────────────────────────────────────────────────────────────────────────

const paths: Readonly<Record<string, readonly string[]>> = {
  problem: ["problem", "restrictions", "acceptance_criteria"].map(
    (name) => `00_problem/${name}.md`,
  ),
  input: ["00_problem/input_data/a.csv"],
  solution: ["01_solution/solution.md"],
  architecture: ["02_document/architecture.md"],
  "final-report": ["02_document/FINAL_report.md"],
  mockups: ["02_document/ui_mockups/a.html"],
  marker: ["02_document/ui_mockups/.autodev-step4-marker"],
  todo: ["02_tasks/todo/01_first.md"],
  done: ["02_tasks/done/01_first.md"],
  "test-todo": ["02_tasks/todo/02_test_infrastructure.md"],
  "test-done": ["02_tasks/done/02_test_infrastructure.md"],
  table: ["02_tasks/_dependencies_table.md"],
  report: ["03_implementation/implementation_report_app.md"],
  "report-tests": ["03_implementation/implementation_report_tests.md"],
  baseline: ["02_document/architecture_compliance_baseline.md"],
  matrix: ["02_document/tests/traceability-matrix.md"],
  assessment: ["04_refactoring/01-testability-refactoring/testability_assessment.md"],
  plans: ["02_task_plans/a.md"],
  config: ["_repo-config.yaml"],
};

function pathsOf(fact: string): readonly string[] {
  const [kind = "", number = ""] = fact.split("@");
  if (kind === "report" && number !== "")
    return [`03_implementation/implementation_report_a_cycle${number}.md`];
  if (kind === "ripple") return [`02_document/ripple_log_cycle${number}.md`];
  if (kind === "retro") return [`06_metrics/retro_${iso(24 * Number(number)).slice(0, 10)}.md`];
  if (kind.startsWith("draft"))
    return [`01_solution/solution_draft${kind.slice(5).padStart(2, "0")}.md`];
  return paths[kind] ?? [];
}

const texts: Readonly<Record<string, readonly (readonly [part: string, text: string])[]>> = {
  architecture: [
    ["ui-yes", "There is a dashboard.\n"],
    ["ui-no", "It is a library without UI.\n"],
  ],
  baseline: [
    ["testable-no", "**Testability**: not testable\n"],
    ["testable-yes", "**Testability**: testable as it is\n"],
  ],
  config: [["confirmed", "confirmed_by_user: true\n"]],
  marker: [["marker", "skipped: nobody sees it\n"]],
};

/** Undefined: nobody looks into it. */
const textOf = (fact: string, facts: ReadonlySet<string>): string | undefined =>
  texts[fact] && (texts[fact].find(([part]) => facts.has(part))?.[1] ?? "Words.\n");

const begin = Date.UTC(2026, 0, 1);
const iso = (hours: number): string => new Date(begin + hours * 3_600_000).toISOString();
const hoursOf = (at: string): number => Math.ceil((Date.parse(at) - begin) / 3_600_000);

/** Enough for the few decisions of a history. */
function hash(text: string): string {
  let [one, two] = [0x811c9dc5, 0x9e3779b1];
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
    two = Math.imul(two ^ text.charCodeAt(at), 0x85ebca6b) ^ (two >>> 13);
  }
  const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");
  return hex(one) + hex(two);
}
