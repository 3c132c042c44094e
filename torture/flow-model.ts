/**
 * What a flow should do, written from the specification's words and without a line of the program:
 * where it stands after each thing that happens, on what it rests, what it asks, and every event on
 * the way there. Whoever reads this file has read sections 4 to 7.
 */
import {
  type Beginning,
  backFrom,
  driftSaid,
  flows,
  isOwed,
  isThere,
  type Look,
  order,
  type Place,
  type Row,
  rowOf,
  skillOf,
  stepsOf,
  withFact,
  withoutFact,
  workDone,
} from "./flow-tables.ts";

// ── what happens ───────────────────────────────────────────────────────────────────────────────

/** `dies`: the process is killed when it is about to record for the (n + 1)th time. */
export type Action = { readonly dies?: number } & (
  | {
      readonly do: "start";
      readonly through?: true;
      readonly decides?: true;
      readonly waits?: true;
    }
  /** What a person types; `key`: and answers at once. `to`: so many steps before this one. */
  | { readonly do: "skip"; readonly key?: "A" | "B" }
  | { readonly do: "back" | "rollback"; readonly to: number; readonly key?: "A" | "B" }
  | { readonly do: "answer"; readonly key: "A" | "B" | "C" | "D" }
  /** The agent at work … */
  | { readonly do: "finish"; readonly says?: "yes" | "no" }
  | { readonly do: AgentEnd; readonly says?: never }
  | { readonly do: "report" }
  | { readonly do: "kill" }
  /** The state file, by hand or with git. */
  | { readonly do: "edit"; readonly as: Edit; readonly git?: true }
  | { readonly do: "lose-file" }
  /** Documents and state file as they were so many rests ago. */
  | { readonly do: "checkout"; readonly back: number }
  | { readonly do: "add" | "delete"; readonly fact: string }
  | { readonly do: "clock"; readonly hours: number }
);
export type AgentEnd =
  | "claim"
  | "stray"
  | "fail"
  | "corrupt"
  | "ask"
  | "limit"
  | "unable"
  | "stuck"
  | "context"
  | "stop";
type AgentAction = Action & { readonly do: "finish" | AgentEnd };
export interface Edit {
  readonly flow?: string;
  readonly step?: string;
  readonly status?: string;
  readonly retry?: number;
}

// ── the model ──────────────────────────────────────────────────────────────────────────────────

interface Question {
  readonly id: string;
  readonly kind: string;
  readonly keys: string;
  readonly recommends: string;
  readonly destructive?: boolean;
  readonly about: Pick<Place, "flow" | "step" | "cycle">;
  readonly to?: string;
}
interface Memory {
  facts: Set<string>;
  hours: number;
  place?: Place;
  /** What the file says: after a kill it may be behind. Absent: there is none. */
  shown?: Place;
  /** Bytes that we never wrote. */
  edit?: Edit;
  /** What people did. */
  skipped: Set<string>;
  reopened: Set<string>;
  redoneUntil?: string;
  chosen?: string;
  placed: boolean;
  flowChosen?: string;
  entry?: string;
  rollingBack?: string;
  since?: number;
  seen: Set<string>;
  said: Map<string, string[]>;
  series: Map<string, number>;
  stuck: number;
  session?: { ended?: string; until?: number; asks?: number };
  sessions: number;
  /** So many things have happened; at which of them … */
  count: number;
  occasion: number;
  enteredAt: number;
  adoptedAt: number;
  restsAt: number;
  abortedAt: number;
  begun: number;
  asked: Map<string, Question & { state: "open" | "answered" | "withdrawn" }>;
  answers: Map<string, string>;
  rest: string;
  /** The question on which it rests. */
  asks?: Question;
  past: { readonly facts: ReadonlySet<string>; readonly place: Place }[];
}
interface Way {
  readonly through: boolean;
  readonly decides: boolean;
  readonly waits: boolean;
  stopping: boolean;
}

class Died extends Error {}
const isInvocation = (action: Action): boolean =>
  ["start", "skip", "back", "rollback"].includes(action.do);
const opening = ["which-flow", "which-step", "unknown-status"];

export class FlowModel {
  private m: Memory;
  private readonly root: Beginning;
  private way: Way = { through: false, decides: false, waits: false, stopping: false };
  private told: string[] = [];
  private most = Infinity;

  constructor(root: Beginning) {
    this.root = root;
    this.m = {
      ...nobody(),
      facts: new Set(root.facts),
      hours: 0,
      skipped: new Set(),
      sessions: 0,
      count: 0,
      begun: 0,
      adoptedAt: 0,
      asked: new Map(),
      answers: new Map(),
      rest: "fresh",
      past: [],
    };
  }

  get place(): Place | undefined {
    return this.m.place;
  }
  get rest(): string {
    return this.m.rest;
  }
  get asks(): string | undefined {
    return this.m.asks?.kind;
  }
  get facts(): ReadonlySet<string> {
    return this.m.facts;
  }

  /** The same: nothing has changed. */
  fingerprint(): string {
    const { past: _, ...rest } = this.m;
    return JSON.stringify(rest, (_key, value: unknown) =>
      value instanceof Set || value instanceof Map ? [...value] : value,
    );
  }

  /** What is put on record by it; `most`: killed after so much of that. */
  apply(action: Action, most = Infinity): string[] {
    [this.told, this.most] = [[], most];
    try {
      this.act(action);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
    if (most < Infinity) this.died();
    else if (this.m.place && (this.told.length > 0 || isInvocation(action)) && !this.m.edit)
      this.m.shown = this.m.place;
    const { rest, edit, place, facts } = this.m;
    if (rest !== "working" && !edit && place) this.m.past.push({ facts: new Set(facts), place });
    return this.told;
  }

  /** The process is dead; what it had put on record is there. */
  private died(): void {
    this.m.rest = "killed";
    delete this.m.asks;
  }

  private act(action: Action): void {
    const { m } = this;
    const atWork = m.rest === "working";
    switch (action.do) {
      case "start":
      case "skip":
      case "back":
      case "rollback":
        if (!atWork) this.start(action);
        return;
      case "answer":
        if (m.asks?.keys.includes(action.key) && !m.answers.has(m.asks.id))
          m.answers.set(m.asks.id, action.key);
        return;
      case "kill":
        if (atWork) m.rest = "killed";
        return;
      case "edit":
        if (!atWork && m.place) m.edit = { ...m.edit, ...action.as };
        return;
      case "lose-file":
        if (atWork) return;
        delete m.edit;
        delete m.shown;
        return;
      case "checkout": {
        const then = m.past.at(-action.back);
        if (atWork || !m.place || !then) return;
        m.facts = new Set(then.facts);
        m.shown = then.place;
        delete m.edit;
        return;
      }
      case "add":
        m.facts = withFact(m.facts, action.fact);
        return;
      case "delete":
        m.facts = withoutFact(m.facts, action.fact);
        return;
      case "clock":
        m.hours += action.hours;
        return;
      case "report":
        if (atWork && m.place)
          this.at({ phase: m.place.phase + 1 }, `at ${m.place.phase + 1}`, () => (m.stuck = 0));
        return;
      default:
        if (atWork) this.ended(action);
    }
  }

  // ── an invocation ────────────────────────────────────────────────────────────────────────────

  private start(action: Extract<Action, { do: "start" | "skip" | "back" | "rollback" }>): void {
    const { m } = this;
    const flags: Extract<Action, { do: "start" }> =
      action.do === "start" ? action : { do: "start" };
    this.way = {
      through: flags.through === true,
      decides: flags.decides === true,
      waits: flags.waits === true,
      stopping: false,
    };
    delete m.asks;
    this.adopt();
    for (const [id, key] of m.answers) {
      const question = m.asked.get(id);
      if (question?.state === "open") this.answered(question, key);
    }
    if (!this.open()) return;
    if (action.do !== "start" && !this.wanted(action)) return;
    m.begun = m.count;
    this.goOn();
  }

  /** A hand edit is taken over; of the same step, what is known stays. */
  private adopt(): void {
    const { m } = this;
    const { place, edit } = m;
    if (!place || !edit) return;
    const file = { ...place, ...m.shown, ...edit };
    const { flow } = file;
    const hasCycles = flow === "existing-code";
    this.say("adopted", () => {
      m.place = {
        ...file,
        cycle: hasCycles ? file.cycle : 1,
      };
      delete m.edit;
      m.shown = m.place;
      m.adoptedAt = m.count;
      if (flow !== place.flow) {
        Object.assign(m, nobody());
        for (const key of [
          "session",
          "since",
          "entry",
          "chosen",
          "redoneUntil",
          "rollingBack",
        ] as const)
          delete m[key];
        m.skipped = new Set();
      } else if (m.place.step !== place.step || m.place.cycle !== place.cycle) {
        this.leaveSession();
        m.placed = false;
        delete m.chosen;
      }
      if (flow !== place.flow || m.place.step !== place.step || m.place.cycle !== place.cycle)
        m.occasion = m.enteredAt = m.count;
      if (m.place.status === "skipped") m.skipped.add(m.place.step);
    });
  }

  /** Is it so that the flow can go on? */
  private open(): boolean {
    const { m } = this;
    for (;;) {
      if (!m.place) {
        if (!this.create()) return false;
        continue;
      }
      if (!statuses.includes(m.place.status)) {
        const question = this.question("unknown-status", "ABC", "A", `${m.adoptedAt}`);
        if (this.ask(question) === undefined) return false;
        continue;
      }
      const check = this.crossCheck();
      if (check === undefined) break;
      if (check.ask === undefined) {
        this.enter(check.to ?? "done", { corrected: true, newCycle: check.newCycle });
        continue;
      }
      const to = this.choose(check.ask, `${m.enteredAt}`);
      if (to === undefined) return false;
      const here = m.place.step;
      if (to === here) {
        this.say(`excused ${check.owed.join(" ")}`, () => {
          for (const step of check.owed) m.skipped.add(step);
          m.chosen = here;
        });
      } else {
        const skips = check.owed.includes(to) ? [] : check.owed;
        this.enter(to, { answered: true, skips, newCycle: check.newCycle && to === check.to });
      }
    }
    for (const question of m.asked.values())
      if (question.state === "open" && opening.includes(question.kind))
        this.say(`withdrawn ${question.kind}`, () => (question.state = "withdrawn"));
    return true;
  }

  /** What the folders say to it. Undefined: they agree; `ask`: only a person knows. */
  private crossCheck():
    | { to: string | undefined; newCycle: boolean; owed: string[]; ask?: string[] }
    | undefined {
    const { m } = this;
    const place = m.place as Place;
    if (place.step === "done") return undefined;
    const here = order(place.step);
    const part = (flows[place.flow]?.parts ?? []).find(([from, to]) => here >= from && here <= to);
    const entry = order(m.entry ?? "0");
    // Entered in a later part: whoever is in this one by hand is in the whole of it.
    const first = Math.max(part?.[0] ?? 1, entry <= (part?.[1] ?? 99) ? entry : 0);
    const steps = stepsOf(place.flow).filter(
      (step) => order(step) >= first && order(step) <= (part?.[1] ?? 99),
    );
    const look = this.look();
    const holds = (step: string, past = false): boolean => {
      const { proof, stays } = rowOf({ flow: place.flow, step });
      return ((past ? stays : undefined) ?? proof)?.(look) === true;
    };
    const exempt =
      m.chosen === place.step || m.reopened.has(place.step) || here < order(m.redoneUntil ?? "0");
    const proven = exempt
      ? undefined
      : steps.findLast(
          (step) => holds(step) && (order(step) > here || (step === place.step && this.isOver())),
        );
    const past = (step: string): boolean =>
      order(step) < here || (step === place.step && place.status === "completed");
    const owed = steps.filter(
      (step) =>
        (past(step) || order(step) < order(proven ?? "0")) &&
        isOwed(rowOf({ flow: place.flow, step })) &&
        !m.skipped.has(step) &&
        !holds(step, past(step)),
    );
    const missing = owed.find(past);
    if (proven === undefined && missing === undefined) return undefined;
    const to = proven === undefined ? undefined : this.after(place.flow, proven);
    const newCycle =
      proven !== undefined && rowOf({ flow: place.flow, step: proven }).newCycle === true;
    if (proven !== undefined && owed.length === 0) return { to, newCycle, owed };
    if (proven === undefined && !m.placed) return { to: missing, newCycle: false, owed };
    const places = [owed[0], place.step, to].filter((step) => step !== undefined);
    const ask = [...new Set(places)];
    return ask.length < 2 ? undefined : { to, newCycle, owed, ask };
  }

  /** Not begun, it is proved by what it leaves; under way, only by what ends it. */
  private isOver(): boolean {
    const { place, session } = this.m;
    if (place?.status === "not_started") return true;
    if (place?.status !== "in_progress" || session) return false;
    return rowOf(place).end?.(this.look()) === true;
  }

  private after(flow: string, step: string): string | undefined {
    const next = rowOf({ flow, step }).next ?? String(order(step) + 1);
    return next === "done" ? undefined : next;
  }

  // ── nothing there yet ────────────────────────────────────────────────────────────────────────

  private create(): boolean {
    const { m, root } = this;
    const has = (...facts: string[]): boolean => facts.some((fact) => m.facts.has(fact));
    const problem = has("problem", "input");
    const documents =
      has("architecture", "final-report", "mockups", "marker", "baseline", "matrix") ||
      [...m.facts].some((fact) => fact.startsWith("ripple@"));
    const inCycles = has("plans") || [...m.facts].some((fact) => /^(?:report|ripple)@/.test(fact));
    const own =
      m.facts.size === 0
        ? [root.source ? "existing-code" : "greenfield"]
        : documents && !problem
          ? ["existing-code"]
          : problem && inCycles
            ? ["existing-code", "greenfield"]
            : ["greenfield"];
    const suite = has("config") || (root.members >= 2 && !root.source);
    const fitting = !suite ? own : problem || documents ? ["meta-repo", ...own] : ["meta-repo"];
    if (fitting.length > 1 && m.flowChosen === undefined) {
      const about = { flow: "", step: "flow", cycle: 1 };
      const to = fitting.join(" ");
      const keys = "ABC".slice(0, fitting.length);
      const question = { id: `which-flow ${to}`, kind: "which-flow", keys, recommends: "A" };
      if (this.ask({ ...question, about, to }) === undefined) return false;
    }
    const flow = m.flowChosen ?? (fitting[0] as string);
    const cycles = [...m.facts].map((fact) =>
      Number(/^(?:report|ripple)@(\d+)$/.exec(fact)?.[1] ?? 1),
    );
    const cycle = flow === "existing-code" ? Math.max(1, ...cycles) : 1;
    const look = { ...this.look(cycle), dated: () => false, said: () => false };
    const met = (step: string): boolean => rowOf({ flow, step }).proof?.(look) === true;
    const inPart = ([from, to]: readonly [number, number]): string[] =>
      stepsOf(flow).filter((step) => order(step) >= from && order(step) <= to);
    const parts = (flows[flow]?.parts ?? []).map(inPart);
    const steps = parts.findLast((each) => each.some(met)) ?? parts[0] ?? [];
    const proven = steps.findLastIndex(met);
    const owed = steps.filter(
      (step, at) => at < proven && isOwed(rowOf({ flow, step })) && !met(step),
    );
    const isIdle = ({ proof, applies }: Row): boolean =>
      proof !== undefined && applies?.(look) === "no";
    const open = steps.slice(proven + 1).filter((step) => !isIdle(rowOf({ flow, step })));
    // A retrospective that lies there may be this cycle's: then it is the next one.
    const mayBeOver = (step: string): boolean =>
      rowOf({ flow, step }).newCycle === true && isThere(m.facts, "retro", cycle);
    const unmet = open.findIndex(
      (step) => rowOf({ flow, step }).proof !== undefined && !met(step) && !mayBeOver(step),
    );
    const next = (step: string | undefined): string[] =>
      [step === undefined ? undefined : this.after(flow, step)].filter(
        (each) => each !== undefined,
      );
    const [gap] = owed;
    const places =
      gap !== undefined
        ? [gap, ...next(steps[proven])]
        : proven < 0
          ? steps.slice(0, 1)
          : unmet >= 0
            ? open.slice(0, unmet + 1)
            : [...new Set([...open, ...next(steps.at(-1))])];
    const anew = gap === undefined && proven >= 0 && unmet < 0 && mayBeOver(steps.at(-1) ?? "");
    const first = places[0] ?? "done";
    const made = (): void =>
      this.say(`created ${flow} ${first}`, () => {
        m.place = {
          flow,
          step: first,
          status: first === "done" ? "completed" : "not_started",
          retry: 0,
          cycle,
          phase: 0,
        };
        m.occasion = m.enteredAt = m.count;
      });
    if (places.length < 2) {
      made();
      return true;
    }
    const to = this.choose(places, "scan", { flow, step: first, cycle });
    if (to === undefined) return false;
    made();
    const newCycle = anew && to === places.at(-1);
    const skips = owed.filter((step) => order(step) < order(to));
    this.enter(to, { answered: true, newCycle, skips });
    return true;
  }

  // ── going on ─────────────────────────────────────────────────────────────────────────────────

  private goOn(): void {
    const { m } = this;
    for (;;) {
      const place = m.place as Place;
      if (m.rollingBack !== undefined) this.reopen(m.rollingBack, "rollback");
      else if (place.step === "done") {
        if (!flows[place.flow]?.onward || m.enteredAt > m.begun) return void this.restOn("done");
        this.enter("9", { onward: true });
      } else if (m.abortedAt > m.begun) return void this.restOn("aborted");
      else if (!this.goOnAt(place, rowOf(place))) return;
    }
  }

  /** False: it rests, or an agent is at work. */
  private goOnAt(place: Place, row: Row): boolean {
    switch (place.status) {
      case "completed":
      case "skipped":
        return this.onward(place, row);
      case "failed": {
        const broken = (this.m.series.get(place.step) ?? 0) >= 3;
        return this.afterFailure(
          this.question("skill-failed", "ABC", "A", `${this.m.occasion}`, { destructive: broken }),
        );
      }
      case "in_progress":
        return row.person || row.rests ? this.before(place, row) : this.underWay(place);
      default:
        return this.before(place, row);
    }
  }

  private onward(place: Place, row: Row): boolean {
    if (row.research && place.status === "completed" && this.isOpenRound()) {
      const done = this.researchDecision("2");
      if (done !== undefined) return done;
    }
    const next = this.after(place.flow, place.step);
    if (next === undefined) this.enter("done", {});
    else this.enter(next, { boundary: row.boundary, newCycle: row.newCycle });
    return true;
  }

  private isOpenRound(): boolean {
    const { has } = this.look();
    return has("draft") && !has("solution", "architecture");
  }

  /** Undefined: it is over, the last draft is the solution. */
  private researchDecision(step: string): boolean | undefined {
    const { m } = this;
    const drafts = [...m.facts].filter((fact) => fact.startsWith("draft")).length;
    const key = this.ask(
      this.question("research-round", "AB", drafts > 1 ? "B" : "A", `${m.occasion}`),
    );
    if (key === undefined) return false;
    if (key === "A") this.reopen(step, "re-run");
    else m.facts.add("solution");
    return true;
  }

  private before(place: Place, row: Row): boolean {
    const { m, way } = this;
    if (m.restsAt > m.begun) {
      const ends = Object.entries(flows[place.flow]?.rows ?? {}).some(
        ([step, each]) => each.boundary && this.after(place.flow, step) === place.step,
      );
      if (!ends || !way.through) return this.restOn(ends ? "boundary" : "round");
    }
    if (way.stopping) return this.restOn("stopped");
    const wanted = m.reopened.has(place.step);
    const entered = `${m.enteredAt}`;
    if (row.person) {
      if (row.proof?.(this.look())) return this.complete();
      const key = this.ask(
        this.question("confirmation", "AB", "B", `${m.occasion}`, { destructive: true }),
      );
      if (key === "B") return this.abort();
      if (key === "A" && !m.facts.has("config")) return this.restOn("refused");
      if (key === "A") m.facts.add("confirmed");
      return key === "A";
    }
    if (row.rests) {
      if (m.enteredAt > m.begun) return this.restOn("round");
      this.enter(row.next as string, {});
      return true;
    }
    // The round of research is open, however the flow came here.
    if (
      place.flow === "greenfield" &&
      place.step === "3" &&
      !m.skipped.has("2") &&
      this.isOpenRound()
    )
      return this.researchDecision("2") === true;
    if (row.applies && !wanted) {
      let answer: string | undefined = row.applies(this.look());
      if (answer === "ask")
        answer = this.ask(this.question("conditional-step", "AB", "A", entered));
      if (answer === undefined) return false;
      if (answer === "no" || answer === "B") {
        if (row.marker) m.facts.add("marker");
        return this.skip();
      }
    }
    if (row.optional && !wanted) {
      const answer = this.ask(this.question("optional-step", "AB", "A", entered));
      if (answer === undefined) return false;
      if (answer === "B") return this.skip();
    }
    const { lacks, there } = skillOf(m.facts, place);
    const without = this.withoutNeeds(place, lacks);
    if (without !== undefined) return without;
    if (row.proof && there.length > 0 && !wanted && this.isOwnWork(place)) {
      const answer = this.ask(this.question("artifacts-exist", "ABC", "A", entered));
      if (answer === undefined) return false;
      if (answer === "C") return this.skip();
    }
    this.at({ status: "in_progress", phase: 0, retry: 0 }, "started", () => {
      this.leaveSession();
      m.occasion = m.count;
      m.since ??= this.day;
    });
    return true;
  }

  /** What lies there is of this stretch: not of the cycle or the flow before. */
  private isOwnWork({ step, cycle }: Place): boolean {
    const { entry, redoneUntil } = this.m;
    return (cycle === 1 && entry === undefined) || order(step) < order(redoneUntil ?? "0");
  }

  /** A) go on all the same B) without the step C) not now; undefined: it goes on. */
  private withoutNeeds({ status }: Place, lacks: readonly string[]): boolean | undefined {
    const { enteredAt, abortedAt } = this.m;
    if (lacks.length === 0) return undefined;
    const cause = `${Math.max(enteredAt, abortedAt)} ${lacks.join()}`;
    const usual = status === "in_progress" ? "A" : "C";
    const key = this.ask(this.question("needs-missing", "ABC", usual, cause));
    if (key === undefined) return false;
    if (key === "A") return undefined;
    return key === "B" ? this.skip() : this.abort();
  }

  private blockedBy(why: string): Question {
    return this.question("skill-blocked", "ABC", "C", `${this.m.occasion} ${why}`);
  }

  private underWay(place: Place): boolean {
    const { m, way } = this;
    if (way.stopping) return this.restOn("stopped");
    const { lacks } = skillOf(m.facts, place);
    const without = m.session ? undefined : this.withoutNeeds(place, lacks);
    if (without !== undefined) return without;
    switch (m.session?.ended) {
      case undefined:
        break;
      case "asked":
        if (this.ask(this.question("skill-gate", "AB", "A", `session ${m.sessions}`)) === undefined)
          return false;
        break;
      case "limited":
        if ((m.session.until ?? 0) <= m.hours) break;
        if (!way.waits) return this.restOn("parked");
        m.hours = m.session.until ?? 0;
        break;
      case "unable":
        return this.afterFailure(this.blockedBy("unable"));
      case "stuck":
        if (m.stuck <= 2) break;
        return this.afterFailure(this.question("stuck", "ABC", "A", `${m.occasion}`));
    }
    this.say("session", () => {
      m.sessions++;
      m.session = {};
    });
    return this.restOn("working");
  }

  /** A) once more B) without it C) not now. */
  private afterFailure(question: Question): boolean {
    const { m } = this;
    const place = m.place as Place;
    const key = this.ask(question);
    if (key === undefined) return false;
    if (key === "A") return this.reopen(place.step, "retry");
    if (key === "C") return this.abort();
    if (question.kind !== "stuck") return this.skip();
    this.at({ phase: place.phase + 1 }, "sub-step skipped", () => (m.stuck = 0));
    return true;
  }

  // ── how a skill ends ─────────────────────────────────────────────────────────────────────────

  private ended(action: AgentAction): void {
    const { m } = this;
    const place = m.place as Place;
    const says = action.do === "finish" ? action.says : undefined;
    if (action.do === "finish" || action.do === "stray")
      m.facts = workDone(m.facts, place, { day: this.day, says });
    const how =
      { ask: "asked", limit: "limited", stop: "stopped" }[action.do as string] ?? action.do;
    const end = (as: string, and?: () => void): void =>
      this.say(`ended ${as}`, () => {
        m.session = { ...m.session, ended: as };
        m.occasion = m.count;
        and?.();
      });
    switch (action.do) {
      case "finish":
      case "claim": {
        const { proof, end: proves } = rowOf(place);
        // A skill that says so is believed about a day on which another has ended, too.
        const look = { ...this.look(), dated: () => this.hasRetro(new Set()) };
        if ((proof && !proof(look)) || (proves && !proves(look))) {
          end("failed");
          this.failure(false);
          break;
        }
        const reports = place.flow === "meta-repo" && place.step === "3" ? driftSaid(says) : [];
        end("done", () => m.said.set(place.step, reports));
        this.complete();
        break;
      }
      case "stray":
      case "fail":
      case "corrupt":
        end("failed");
        this.failure(action.do === "corrupt");
        break;
      case "limit":
        end(how, () => (m.session = { ...m.session, until: m.hours + 1 }));
        break;
      case "stuck":
        end(how, () => m.stuck++);
        break;
      case "stop":
        this.way.stopping = true;
        end(how);
        break;
      default:
        end(how);
    }
    this.goOn();
  }

  private failure(corrupt: boolean): void {
    const { m } = this;
    const { retry, step } = m.place as Place;
    if (retry < 3) {
      this.at({ retry: retry + 1 }, "retried");
      if (corrupt) this.at({ phase: 0 }, "at 0", () => (m.stuck = 0));
      return;
    }
    const series = (m.series.get(step) ?? 0) + 1;
    this.at({ status: "failed" }, "failed", () => {
      m.series.set(step, series);
      m.occasion = m.count;
    });
    if (series === 3) this.say("broken");
  }

  // ── what people want ─────────────────────────────────────────────────────────────────────────

  private wanted(action: Extract<Action, { do: "skip" | "back" | "rollback" }>): boolean {
    const { m } = this;
    const { flow, step, status } = m.place as Place;
    const kind = { skip: "skip-step", back: "go-back", rollback: "rollback" }[action.do];
    let to: string | undefined;
    if (action.do === "skip") {
      if (step === "done" || status === "completed" || status === "skipped")
        return this.restOn("refused");
    } else {
      to = backFrom(flow, step, m.entry, action.to);
      if (to === undefined) return this.restOn("refused");
    }
    const cause = `${m.occasion}${to === undefined ? "" : ` ${to}`}`;
    const question = {
      ...this.question(kind, "AB", "B", cause, { destructive: true }),
      ...(to !== undefined && { to }),
    };
    const known = m.asked.get(question.id);
    if (known?.state === "answered") return true;
    if (!known) this.putOnRecord(question);
    if (action.key === undefined) return this.restOn("asking", question);
    m.answers.set(question.id, action.key);
    this.answered(m.asked.get(question.id) as Question & { state: "open" }, action.key);
    return true;
  }

  /** What an answer brings about at once, if the flow is still where it was asked. */
  private answered(question: Question & { state: string }, key: string): void {
    const { m } = this;
    this.say(`answered ${question.kind} ${key}`, () => {
      question.state = "answered";
      // What a person has confirmed is ours to complete, whatever lies there by then.
      const { flow, step } = question.about;
      const isHere = m.place?.flow === flow && m.place.step === step;
      if (question.kind === "confirmation" && key === "A" && isHere) m.chosen = step;
    });
    const { place } = m;
    const { about, kind, to } = question;
    if (kind === "which-flow") m.flowChosen = to?.split(" ")["ABC".indexOf(key)] as string;
    if (kind === "unknown-status") {
      const status = { A: "in_progress", B: "not_started" }[key] ?? "completed";
      this.at({ status }, `status ${status}`);
    }
    const same =
      about.flow === place?.flow && about.step === place.step && about.cycle === place.cycle;
    if (key !== "A" || !same) return;
    if (kind === "skip-step") this.skip();
    if (kind === "go-back") this.reopen(to as string, "back");
    if (kind === "rollback") this.say(`rollback ${to}`, () => (m.rollingBack = to as string));
  }

  // ── questions ────────────────────────────────────────────────────────────────────────────────

  private question(
    kind: string,
    keys: string,
    recommends: string,
    cause: string,
    more: { destructive?: boolean; about?: Question["about"] } = {},
  ): Question {
    const { flow, step, cycle } = more.about ?? (this.m.place as Place);
    const id = `${kind} ${flow} ${step} ${cycle} ${cause}`;
    return { id, kind, keys, recommends, about: { flow, step, cycle }, ...more };
  }

  /** Asked once, ever; undefined: nobody has answered, and it rests on that. */
  private ask(question: Question): string | undefined {
    const { m } = this;
    const known = m.asked.get(question.id);
    if (known?.state === "answered") return m.answers.get(question.id);
    if (known?.state !== "open") this.putOnRecord(question);
    if (!m.answers.has(question.id)) {
      if (!this.way.decides || question.destructive) {
        this.restOn("asking", question);
        return undefined;
      }
      m.answers.set(question.id, question.recommends);
    }
    const key = m.answers.get(question.id) as string;
    this.answered(m.asked.get(question.id) as Question & { state: "open" }, key);
    return key;
  }

  private putOnRecord(question: Question): void {
    this.say(`asked ${question.kind}`, () =>
      this.m.asked.set(question.id, { ...question, state: "open" }),
    );
  }

  /** Four at a time: behind the last letter are those that are left. */
  private choose(
    places: readonly string[],
    cause: string,
    about?: Question["about"],
  ): string | undefined {
    const shown = places.length > 4 ? 4 : places.length;
    const { flow, cycle } = about ?? (this.m.place as Place);
    const key = this.ask(
      this.question("which-step", "ABCD".slice(0, shown), "A", `${cause}: ${places.join(" ")}`, {
        about: { flow, step: "", cycle },
      }),
    );
    if (key === undefined) return undefined;
    if (places.length > 4 && key === "D") return this.choose(places.slice(3), cause, about);
    return places["ABCD".indexOf(key)];
  }

  // ── what changes ─────────────────────────────────────────────────────────────────────────────

  private enter(
    step: string,
    how: {
      boundary?: boolean | undefined;
      newCycle?: boolean | undefined;
      corrected?: true;
      answered?: true;
      onward?: true;
      skips?: readonly string[];
    },
  ): void {
    const { m } = this;
    const before = m.place as Place;
    const flow = how.onward ? "existing-code" : before.flow;
    const cycle = how.onward ? 1 : before.cycle + (how.newCycle ? 1 : 0);
    const isNew = flow !== before.flow || cycle !== before.cycle;
    this.say(`entered ${flow} ${step} ${cycle}`, () => {
      const status = step === "done" ? "completed" : "not_started";
      m.place = { flow, step, status, retry: 0, cycle, phase: 0 };
      this.leaveSession();
      m.occasion = m.enteredAt = m.count;
      m.restsAt = how.boundary || (how.newCycle && !how.corrected && !how.answered) ? m.count : 0;
      if (flow !== before.flow)
        Object.assign(m, { ...nobody(), occasion: m.count, enteredAt: m.count });
      if (isNew) {
        m.since = this.day;
        m.seen = new Set([...m.facts].filter((fact) => fact.startsWith("retro@")));
        m.skipped = new Set();
        m.said = new Map();
        m.reopened = new Set();
      }
      delete m.chosen;
      if (how.answered || how.onward) m.placed = true;
      if (how.answered) m.chosen = step;
      if (how.onward) {
        m.entry = step;
        for (const each of stepsOf(flow)) if (order(each) < order(step)) m.skipped.add(each);
      }
      for (const each of how.skips ?? []) m.skipped.add(each);
      if (isNew || order(step) >= order(m.redoneUntil ?? "0")) delete m.redoneUntil;
    });
  }

  private reopen(step: string, how: "retry" | "back" | "rollback" | "re-run"): true {
    const { m } = this;
    const before = m.place as Place;
    this.say(`reopened ${step} ${how}`, () => {
      const status = how === "retry" || how === "rollback" ? "in_progress" : "not_started";
      m.place = { ...before, step, status, retry: 0, phase: how === "retry" ? before.phase : 0 };
      this.leaveSession();
      m.occasion = m.count;
      if (how !== "retry") m.enteredAt = m.count;
      if (how === "back" || how === "rollback") {
        if (order(before.step) > order(m.redoneUntil ?? "0")) m.redoneUntil = before.step;
      }
      if (how !== "retry" || (m.series.get(step) ?? 0) >= 3) m.series.delete(step);
      m.placed = true;
      m.reopened.add(step);
      m.skipped.delete(step);
      delete m.rollingBack;
      delete m.chosen;
    });
    return true;
  }

  private complete(): true {
    const { m } = this;
    this.at({ status: "completed", retry: 0 }, "completed", () => {
      const { step } = m.place as Place;
      m.placed = false;
      m.reopened.delete(step);
      m.series.delete(step);
      delete m.chosen;
      m.occasion = m.count;
    });
    return true;
  }

  private skip(): true {
    const { m } = this;
    this.at({ status: "skipped", retry: 0 }, "skipped", () => {
      const { step } = m.place as Place;
      this.leaveSession();
      m.placed = true;
      m.reopened.delete(step);
      m.skipped.add(step);
      m.occasion = m.count;
    });
    return true;
  }

  private abort(): true {
    this.say("aborted", () => (this.m.abortedAt = this.m.occasion = this.m.count));
    return true;
  }

  private leaveSession(): void {
    delete this.m.session;
    this.m.stuck = 0;
  }

  private at(change: Partial<Place>, token: string, and?: () => void): void {
    this.say(token, () => {
      this.m.place = { ...(this.m.place as Place), ...change };
      and?.();
    });
  }

  private say(token: string, change?: () => void): void {
    if (this.told.length >= this.most) throw new Died();
    if (this.told.length > 500) throw new Error("the model does not come to rest");
    this.told.push(token);
    this.m.count++;
    change?.();
  }

  private restOn(rest: string, asks?: Question): false {
    this.m.rest = rest;
    if (asks) this.m.asks = asks;
    return false;
  }

  // ── what is seen ─────────────────────────────────────────────────────────────────────────────

  private get day(): number {
    return Math.floor(this.m.hours / 24);
  }

  private hasRetro(seen: ReadonlySet<string>): boolean {
    const { facts, since } = this.m;
    if (since === undefined) return false;
    return [...facts].some(
      (fact) => fact.startsWith("retro@") && Number(fact.slice(6)) >= since && !seen.has(fact),
    );
  }

  private look(cycle = this.m.place?.cycle ?? 1): Look {
    const { facts, said, seen } = this.m;
    return {
      cycle,
      has: (...names) => names.some((name) => isThere(facts, name, cycle)),
      todo: () => facts.has("todo") || facts.has("test-todo"),
      report: () => [...facts].some((fact) => fact.startsWith("report")),
      dated: () => this.hasRetro(seen),
      said: (what) => [...said.values()].some((each) => each.includes(what)),
    };
  }
}

const statuses = ["not_started", "in_progress", "completed", "skipped", "failed"];

/** What a project knows of a flow that it has just come to. */
const nobody = () => ({
  reopened: new Set<string>(),
  placed: false,
  seen: new Set<string>(),
  said: new Map<string, string[]>(),
  series: new Map<string, number>(),
  stuck: 0,
  occasion: 0,
  enteredAt: 0,
  restsAt: 0,
  abortedAt: 0,
});
