/**
 * What a run should be like, worked out from its log alone and without a line of the driver's:
 * a second opinion on every event, every move, every rest and every ending.
 */
import type { RecordedEvent } from "../src/core/event.ts";
import type { Move } from "../src/core/plan/next-moves.ts";
import type { CommitMode, RunPhase } from "../src/core/plan/run-event.ts";

/** waiting → out (an agent has it) → handed in → checked → in; or lost. */
type Place = "waiting" | "out" | "handed" | "checked" | "in" | "lost" | "skipped";

interface Record_ {
  readonly id: string;
  readonly needs: readonly string[];
  place: Place;
  /** The highest that an attempt has had. */
  number: number;
  charged: number;
  conflicts: number;
  /** Deaths since an attempt last ended by itself; `row`: since anything was heard of one. */
  deaths: number;
  row: number;
  until: string;
  onto: string;
  commit: string;
}

/** What is known about the session beside the log. */
export interface Facts {
  readonly jobs: number;
  readonly only: ReadonlySet<string> | undefined;
  readonly review: boolean;
  readonly wait: boolean;
  readonly stopping: boolean;
  readonly now: string;
  /** Subjects that nobody was there to decide about. */
  readonly withheld: ReadonlySet<string>;
}

/** What the fold has come to, for comparison. */
export interface FoldedRun {
  readonly tip: string;
  readonly published: number;
  readonly landed: readonly { readonly phase: string; readonly commit: string }[];
  readonly phases: readonly {
    readonly id: string;
    readonly attempts: number;
    readonly charged: number;
    readonly state: { readonly is: string };
  }[];
}

export type Standing = "complete" | "failed" | "blocked" | "open";

const lasting: ReadonlySet<string> = new Set(
  "dependency_missing circular_dependency file_conflict plan_invalid interrupted blocked".split(
    " ",
  ),
);
const placeNames: Readonly<Record<Place, string>> = {
  waiting: "pending",
  out: "working",
  handed: "delivered",
  checked: "verified",
  in: "landed",
  lost: "failed",
  skipped: "skipped",
};
const mostDeaths = 5;
const slotted = (move: Move): move is Extract<Move, { slot: number }> => "slot" in move;
const isAbout = (busy: readonly Move[], { id }: Record_): boolean =>
  busy.some((move) => "phase" in move && move.do !== "publish" && move.phase === id);
const isBaseline = (move: Move): boolean => move.do === "baseline";
const publishes = (move: Move): boolean =>
  move.do === "publish" || move.do === "publish-run" || move.do === "review";

export class RunModel {
  readonly breaches = new Map<string, string>();
  private readonly all: readonly Record_[];
  private readonly records: ReadonlyMap<string, Record_>;
  private landed: { phase: string; commit: string }[] = [];
  private published = 0;
  private reviewed = "";
  tip: string;
  /** The gates were seen on the tip that people's commits, or the beginning, have given. */
  private seen = false;
  private readonly mode: CommitMode;
  private readonly most: number;

  constructor(phases: readonly RunPhase[], mode: CommitMode, most: number, base: string) {
    this.mode = mode;
    this.most = most;
    this.tip = base;
    this.all = phases.map(({ id, dependsOn, skipped }) => ({
      id,
      needs: dependsOn,
      place: skipped === undefined ? "waiting" : "skipped",
      number: 0,
      charged: 0,
      conflicts: 0,
      deaths: 0,
      row: 0,
      until: "",
      onto: "",
      commit: "",
    }));
    this.records = new Map(this.all.map((each) => [each.id, each]));
  }

  // ── the log ────────────────────────────────────────────────────────────────────────────────

  observe(event: RecordedEvent): void {
    switch (event.type) {
      case "run-resumed":
        for (const each of this.all) {
          if (each.place === "out") this.died(each);
          else if (each.place === "lost") this.anew(each);
        }
        return;
      case "run-ended":
        for (const each of this.all) if (each.place === "out") each.place = "waiting";
        return;
      case "target-moved":
        for (const { phase } of this.landed.splice(this.published)) this.at(phase).place = "handed";
        this.tip = event.commit;
        this.seen = false;
        return;
      case "baseline-taken":
        // Found out too late that people's commits came first: it does not count.
        this.seen ||= event.commit === this.tip;
        return;
      case "review-passed":
        this.reviewed = event.commit;
        return;
      case "run-published":
        this.must(
          this.all.every(isDone) && this.mode === "single",
          "published as one before the end",
          event.commit,
        );
        this.published = this.landed.length;
        return;
      case "phase-published": {
        const next = this.landed[this.published++];
        const right =
          next?.phase === event.phase &&
          event.commit === (this.mode === "message-only" ? null : next.commit);
        this.must(right, "published out of order", `${event.phase}, and next is ${next?.phase}`);
        return;
      }
      default:
        if ("phase" in event) this.observePhase(this.at(event.phase), event);
    }
  }

  private observePhase(
    each: Record_,
    event: Extract<RecordedEvent, { readonly phase: string }>,
  ): void {
    if ("attempt" in event && event.type !== "attempt-started") {
      const right = event.attempt === each.number;
      this.must(right, "an event of another attempt", () => JSON.stringify(event));
    }
    switch (event.type) {
      case "attempt-started":
        this.must(event.attempt > each.number, "an attempt's number used again", each);
        this.must(each.place === "waiting", "an attempt at what is not waiting", each);
        Object.assign(each, { place: "out", number: event.attempt });
        return;
      case "attempt-delivered":
        this.must(each.place === "out", "delivered by nobody", each);
        Object.assign(each, { place: "handed", deaths: 0, row: 0 });
        return;
      case "attempt-failed": {
        each.charged++;
        const over = lasting.has(event.error.type) || each.charged >= this.most;
        this.must(each.charged <= this.most, "charged more often than allowed", each);
        this.must(!isDone(each), "complete, and then failed", each);
        Object.assign(each, { place: over ? "lost" : "waiting", deaths: 0, row: 0 });
        return;
      }
      case "attempt-conflicted":
        each.place = ++each.conflicts > 1 ? "lost" : "waiting";
        return;
      case "attempt-parked":
        Object.assign(each, { place: "waiting", until: event.until, row: 0 });
        return;
      case "attempt-interrupted":
        each.place = "waiting";
        return;
      case "phase-verified":
        this.must(
          each.place === "handed" || each.place === "checked",
          "verified, but not delivered",
          each,
        );
        Object.assign(each, { place: "checked", onto: event.onto, commit: event.commit });
        return;
      case "phase-landed":
        this.must(each.place === "checked", "landed, but not verified", each);
        this.must(event.commit === each.commit, "what landed is not what was verified", each.id);
        // Found out too late that people's commits came first: it does not count.
        if (each.onto !== this.tip) return;
        this.must(this.isMet(each), "landed before what it depends on", each);
        each.place = "in";
        this.tip = event.commit;
        this.landed.push({ phase: each.id, commit: event.commit });
        return;
      case "phase-reset":
        this.anew(each);
        return;
      default:
    }
  }

  private died(each: Record_): void {
    Object.assign(each, { place: "waiting", deaths: each.deaths + 1, row: each.row + 1 });
    this.must(each.row <= mostDeaths, "more deaths in a row than allowed", each);
  }

  private anew(each: Record_): void {
    Object.assign(each, {
      place: "waiting",
      charged: 0,
      conflicts: 0,
      deaths: 0,
      row: 0,
      until: "",
    });
  }

  // ── moves ──────────────────────────────────────────────────────────────────────────────────

  /** A move was chosen while `busy` were under way. */
  move(move: Move, busy: readonly Move[], facts: Facts): void {
    this.must(!facts.stopping, "something new after a stop", move);
    const subject =
      "phase" in move && move.do !== "publish" ? this.records.get(move.phase) : undefined;
    if (slotted(move)) {
      const others = busy.filter(slotted);
      this.must(
        others.length < facts.jobs,
        "more than jobs at once",
        () => `${JSON.stringify(move)} beside ${others.length}`,
      );
      this.must(
        others.every(({ slot }) => slot !== move.slot),
        "a slot used twice",
        () => JSON.stringify([move, ...others]),
      );
    }
    if (subject) {
      this.must(!isAbout(busy, subject), "two moves about one phase", subject);
      this.must(this.isChosen(subject, facts), "a phase that was not chosen", subject);
      this.must(
        move.do === "work" || this.isMet(subject),
        `${move.do} before what it depends on`,
        subject,
      );
    }
    this.must(
      this.seen || publishes(move) || move.do === "baseline" || move.do === "end",
      `${move.do} before the gates were seen on what it builds on`,
      move,
    );
    switch (move.do) {
      case "baseline":
        this.must(!this.seen && !busy.some(isBaseline), "the baseline taken twice", move);
        return;
      case "begin": {
        if (!subject) return;
        const ready = subject.place === "waiting" && subject.until <= facts.now;
        this.must(ready, "begun although it is not ready", subject);
        this.must(move.attempt === subject.number + 1, "a number left out", subject);
        this.must(
          subject.row < mostDeaths,
          "begun after too many deaths without a question",
          subject,
        );
        this.must(this.begun(busy, facts) < facts.jobs, "begun beyond jobs", subject);
        return;
      }
      case "ask-again":
        if (subject) this.must(subject.deaths >= mostDeaths, "asked too early", subject);
        return;
      case "land":
        this.must(
          busy.every((other) => other.do !== "land"),
          "two landings at once",
          move.phase,
        );
        return;
      case "publish":
      case "publish-run":
        this.must(!facts.review || this.reviewed === this.tip, "published without review", move);
        this.must(
          (move.do === "publish-run") === (this.mode === "single"),
          "published in another mode",
          move.do,
        );
        this.must(!busy.some(publishes), "two publishings at once", move);
        return;
      default:
    }
  }

  /** The driver waits for one of `busy` to end: nothing that could be done is left undone. */
  rest(busy: readonly Move[], facts: Facts): void {
    if (facts.stopping) return;
    this.restOfPhases(busy, facts);
    const waits = this.published < this.landed.length && !facts.withheld.has("publishing");
    const mayBe = !facts.review || this.reviewed === this.tip;
    const whole = this.mode !== "single" || this.all.every(isDone);
    if (waits && mayBe && whole)
      this.must(busy.some(publishes), "nobody publishes", this.landed[this.published]?.phase ?? "");
  }

  private restOfPhases(busy: readonly Move[], facts: Facts): void {
    if (!this.seen) {
      const due = this.all.some(
        (each) =>
          !isDone(each) && each.place !== "lost" && this.isMet(each) && this.isChosen(each, facts),
      );
      const known = busy.some(isBaseline) || facts.withheld.has("baseline");
      this.must(!due || known, "nobody looks at the gates", this.tip);
      return;
    }
    const free = busy.filter(slotted).length < facts.jobs;
    const landing = busy.some((move) => move.do === "land");
    for (const each of this.all) {
      if (isAbout(busy, each) || !free || !this.isChosen(each, facts) || !this.isMet(each))
        continue;
      const idle =
        each.place === "out" ||
        each.place === "handed" ||
        (each.place === "checked" && !landing) ||
        (each.place === "waiting" &&
          each.until <= facts.now &&
          this.begun(busy, facts) < facts.jobs);
      this.must(!idle, `idle although it could go on: ${each.place}`, each);
    }
    const parked = this.parked(facts);
    if (facts.wait && parked !== undefined && this.begun(busy, facts) < facts.jobs) {
      this.must(
        busy.some((move) => move.do === "wait" && move.until <= parked),
        "nobody wakes what is parked",
        parked,
      );
    }
  }

  /** `how` is what the driver says about the end. */
  ended(how: string, until: string | undefined, facts: Facts): void {
    const all = this.all;
    const parked = this.parked(facts);
    const finished = all.every(isDone) && this.published === this.landed.length;
    const right = finished
      ? "complete"
      : facts.stopping
        ? "interrupted"
        : parked !== undefined
          ? "parked"
          : facts.withheld.size > 0
            ? "asking"
            : facts.only === undefined || all.some(({ place }) => place === "lost")
              ? "halted"
              : "stopped";
    this.must(
      how === right,
      "ended in another way",
      `${how}, and it is ${right}: ${this.summary()}`,
    );
    if (how === "parked") {
      this.must(until === parked, "parked until another time", `${until}, not ${parked}`);
      this.must(!facts.wait, "parked although it should wait", String(until));
    }
    if (how !== "halted" && how !== "stopped") return;
    const standing = this.standing();
    for (const each of all) {
      if (!this.isChosen(each, facts)) continue;
      const told = (): string => `${tellOf(each)}; ${this.summary()}`;
      const over = standing.get(each.id) !== "open" || this.isBeyond(each, facts);
      this.must(over, "halted although something could go on", told);
    }
    const reason = all.some(({ place }) => place === "lost") || facts.only !== undefined;
    this.must(reason, "halted although nothing failed", this.summary());
  }

  /** Does the fold say the same? */
  compare(run: FoldedRun): void {
    this.must(run.tip === this.tip, "another tip", `${run.tip}, not ${this.tip}`);
    this.must(run.published === this.published, "published another number", `${run.published}`);
    const same =
      run.landed.length === this.landed.length &&
      run.landed.every(
        ({ phase, commit }, at) =>
          this.landed[at]?.phase === phase && this.landed[at]?.commit === commit,
      );
    this.must(same, "another list of landings", () =>
      run.landed.map(({ phase }) => phase).join(" "),
    );
    for (const { id, state, attempts, charged } of run.phases) {
      const each = this.at(id);
      const right = state.is === placeNames[each.place] && attempts === each.number;
      this.must(
        right && charged === each.charged,
        "a phase stands elsewhere",
        () => `${tellOf(each)}; the fold: ${state.is}, ${attempts} attempts, ${charged} charged`,
      );
    }
  }

  standing(): Map<string, Standing> {
    const standings = new Map<string, Standing>();
    // A phase may stand before what it depends on: as often as there are phases is enough.
    for (let again = true; again; ) {
      again = false;
      for (const each of this.all) {
        const blocked = each.needs.some((need) =>
          ["failed", "blocked"].includes(standings.get(need) ?? ""),
        );
        const now: Standing = isDone(each)
          ? "complete"
          : each.place === "lost"
            ? "failed"
            : blocked
              ? "blocked"
              : "open";
        again ||= standings.get(each.id) !== now;
        standings.set(each.id, now);
      }
    }
    return standings;
  }

  /** Everything on which a further session could have changed something. */
  summary(): string {
    const states = this.all.map((each) => `${each.id} ${placeNames[each.place]}`);
    return `${states.join(", ")}; ${this.published} of ${this.landed.length} published`;
  }

  get unpublished(): number {
    return this.landed.length - this.published;
  }

  // ── small words ────────────────────────────────────────────────────────────────────────────

  private at(id: string): Record_ {
    const each = this.records.get(id);
    if (!each) throw new Error(`the log tells of a phase ${id} that the plan does not have`);
    return each;
  }

  private isMet({ needs }: Record_): boolean {
    return needs.every((need) => isDone(this.at(need)));
  }

  /** What was begun goes on whoever was chosen. */
  private isChosen(each: Record_, { only, withheld }: Facts): boolean {
    if (withheld.has(`phase ${each.id}`)) return false;
    return each.place !== "waiting" || only?.has(each.id) !== false;
  }

  /** Waits, however far, for something that is open and was not chosen. */
  private isBeyond(each: Record_, facts: Facts): boolean {
    return each.needs.some((need) => {
      const other = this.at(need);
      return !isDone(other) && (facts.only?.has(need) === false || this.isBeyond(other, facts));
    });
  }

  /** Who has a claim to a place: begun, and at work or able to go on. */
  private begun(busy: readonly Move[], facts: Facts): number {
    const have = this.all.filter(
      (each) =>
        (each.place === "out" || each.place === "handed" || each.place === "checked") &&
        (isAbout(busy, each) || (this.isChosen(each, facts) && this.isMet(each))),
    );
    return have.length + busy.filter((move) => move.do === "begin").length;
  }

  /** What waits for a time and for nobody's answer. */
  private parked({ now, only, withheld }: Facts): string | undefined {
    if (!this.seen && withheld.has("baseline")) return undefined;
    return this.all
      .filter(
        (each) =>
          each.place === "waiting" &&
          each.until > now &&
          only?.has(each.id) !== false &&
          !withheld.has(`phase ${each.id}`) &&
          this.isMet(each),
      )
      .map(({ until }) => until)
      .sort()[0];
  }

  private must(
    right: boolean,
    kind: string,
    about: Record_ | Move | string | (() => string),
  ): void {
    if (right || this.breaches.has(kind)) return;
    const what = typeof about === "function" ? about() : about;
    const told =
      typeof what === "string" ? what : "id" in what ? tellOf(what) : JSON.stringify(what);
    this.breaches.set(kind, told);
  }
}

const isDone = ({ place }: Pick<Record_, "place">): boolean =>
  place === "in" || place === "skipped";

const tellOf = ({ id, place, number, charged, deaths, needs }: Record_): string =>
  `${id} (${placeNames[place]}, attempt ${number}, ${charged} charged, ${deaths} deaths, needs ${needs.join(" ") || "nothing"})`;
