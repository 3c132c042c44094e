/**
 * What has to be true after six weeks, told by the bytes of the journal and by the team's own log, with
 * nothing of the program: a reader of its lines, and a bookkeeper who knows only what was promised.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";

/** Something that happened, as it stands in the journal. */
interface Happened {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Entry {
  readonly seq: number;
  readonly at: string;
  readonly run: string;
  readonly events: readonly Happened[];
  readonly payload: string;
}

export interface Promised {
  readonly maxAttempts: number;
  /** Of a run, in tokens. */
  readonly runBudget: number;
  readonly mostOfAttempt: number;
  readonly mostJobs: number;
}

// ── the journal's lines ────────────────────────────────────────────────────────────────────────

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

interface Line {
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  readonly payload: string;
}

/** `autodev1 <seq> <events> <epoch> <bytes> <prev> <hash> <payload>` */
function lineOf(text: string): Line | undefined {
  const [, seq, events, epoch, bytes, prev, hash, payload] =
    /^autodev1 (\d+) (\d+) (\d+) (\d+) (\w+) (\w+) (.*)$/s.exec(text) ?? [];
  if (prev === undefined || hash === undefined || payload === undefined) return undefined;
  if (Buffer.byteLength(payload) !== Number(bytes)) return undefined;
  const whole = sha256(`${seq} ${events} ${epoch} ${prev}\n${payload}`).startsWith(hash);
  return whole ? { seq: Number(seq), prev, hash, payload } : undefined;
}

/** From its last line back to the first, each by the name that the one after it gives it. */
export function readJournal(folder: string): Entry[] {
  const lines = new Map<string, Line>();
  let last: Line | undefined;
  const segments = fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".log"))
    .sort();
  for (const segment of segments) {
    for (const text of fs.readFileSync(path.join(folder, segment), "utf8").split("\n")) {
      const line = lineOf(text);
      if (!line) break;
      lines.set(line.hash, line);
      last = line;
    }
  }
  const entries: Entry[] = [];
  for (let line = last; line; line = lines.get(line.prev)) {
    const told = JSON.parse(line.payload) as Pick<Entry, "at" | "run" | "events">;
    entries.push({ ...told, seq: line.seq, payload: sha256(line.payload).slice(0, 16) });
  }
  return entries.reverse();
}

// ── what was acknowledged, and what was done ───────────────────────────────────────────────────

export interface LogFigures {
  readonly acknowledged: number;
  readonly deaths: number;
  readonly breaches: string[];
}

/** Whatever was acknowledged is there, as it was; whatever was begun had been on record before. */
export function judgeLog(file: string, journal: readonly Entry[]): LogFigures {
  const breaches: string[] = [];
  const bySeq = new Map(journal.map((entry) => [entry.seq, entry]));
  const begun = new Set<string>();
  const done = new Set<string>();
  let [acknowledged, deaths] = [0, 0];
  const doing = (what: string): void => {
    if (!begun.has(what)) breaches.push(`${what} is done before it is on record`);
    if (done.has(what)) breaches.push(`${what} is done twice`);
    done.add(what);
  };
  for (const text of fs.readFileSync(file, "utf8").trimEnd().split("\n")) {
    const line = JSON.parse(text) as Record<string, string | number>;
    if (line["is"] === "died") deaths++;
    if (line["is"] === "worked") doing(`${line["run"]} ${line["phase"]} ${line["attempt"]}`);
    if (line["is"] === "skill") doing(`session ${line["session"]}`);
    if (line["is"] !== "acked") continue;
    acknowledged++;
    const entry = bySeq.get(Number(line["seq"]));
    if (entry?.payload !== line["payload"])
      breaches.push(
        `transition ${line["seq"]} was acknowledged and is ${entry ? "another" : "lost"}`,
      );
    for (const { type, ...event } of entry?.events ?? []) {
      if (type === "attempt-started")
        begun.add(`${entry?.run} ${String(event["phase"])} ${String(event["attempt"])}`);
      if (type === "skill-started") begun.add(`session ${String(event["session"])}`);
    }
  }
  const nobodys = journal.length - acknowledged;
  if (nobodys > deaths)
    breaches.push(`${nobodys} transitions that nobody was told of, with ${deaths} deaths`);
  return { acknowledged, deaths, breaches };
}

// ── the books ──────────────────────────────────────────────────────────────────────────────────

type Standing = "pending" | "working" | "delivered" | "verified" | "landed" | "failed";

interface Phase {
  standing: Standing;
  attempts: number;
  failures: number;
  interruptions: number;
  onto: string;
  published: number;
}

interface Run {
  readonly phases: Map<string, Phase>;
  tip: string;
  spent: number;
  raised: number;
  begunOverBudget: number;
  limitedUntil: string;
  begunWhileLimited: number;
}

export interface Place {
  flow: string;
  step: string;
  status: string;
  retry: number;
  cycle: number;
}

/** Series of a step: its first try and three retries. */
const mostFailures = 4;
const mostInterruptions = 5;

export class Books {
  readonly breaches: string[] = [];
  readonly figures = {
    attempts: 0,
    failures: 0,
    interruptions: 0,
    parked: 0,
    decisions: 0,
    "runs complete": 0,
    "steps complete": 0,
    "breakers tripped": 0,
  };
  seq = 0;
  private readonly promised: Promised;
  private readonly runs = new Map<string, Run>();
  private current = "none";
  private place: Place | undefined;
  private failures = 0;
  private mayRetry = false;
  private session = 0;
  private readonly asked = new Map<string, "open" | "withdrawn" | { readonly key: string }>();
  private at = "";

  constructor(promised: Promised) {
    this.promised = promised;
  }

  enter({ seq, at, run, events }: Entry): void {
    if (seq !== this.seq + 1) this.breach(`transition ${this.seq + 1} is missing before ${seq}`);
    this.seq = seq + events.length - 1;
    this.at = at;
    for (const event of events) {
      if (event.type.startsWith("decision-")) this.decision(event);
      else if (run === "flow") this.step(event);
      else this.build(run, event);
    }
  }

  /** As the program is to tell it. */
  get told(): {
    seq: number;
    place: string;
    run: string;
    phases: Record<string, string>;
    open: string[];
    answered: Record<string, string>;
  } {
    const { place } = this;
    const phases = [...(this.runs.get(this.current)?.phases ?? [])];
    const asked = [...this.asked];
    return {
      seq: this.seq,
      place: place
        ? `${place.flow} ${place.step} ${place.status} ${place.retry}/3 cycle ${place.cycle}`
        : "nowhere",
      run: this.current,
      phases: Object.fromEntries(
        phases.map(([id, { standing, attempts, failures }]) => [
          id,
          `${standing} ${attempts} ${failures}`,
        ]),
      ),
      open: asked.flatMap(([id, how]) => (how === "open" ? [id] : [])).sort(),
      answered: Object.fromEntries(
        asked.flatMap(([id, how]) => (typeof how === "object" ? [[id, how.key]] : [])),
      ),
    };
  }

  private breach(what: string): void {
    if (this.breaches.length < 20) this.breaches.push(`${what} (transition ${this.seq})`);
  }

  // ── decisions ────────────────────────────────────────────────────────────────────────────────

  private decision(event: Happened): void {
    if (event.type === "decision-asked") {
      const { id } = event["decision"] as { id: string };
      const known = this.asked.get(id);
      if (known !== undefined && known !== "withdrawn") this.breach(`${id} is asked twice`);
      this.figures.decisions++;
      this.asked.set(id, "open");
      return;
    }
    const id = String(event["id"]);
    if (this.asked.get(id) !== "open") this.breach(`${id} is not open, and gets ${event.type}`);
    if (event.type === "decision-withdrawn") this.asked.set(id, "withdrawn");
    else this.asked.set(id, { key: String(event["key"]) });
    this.mayRetry = true;
  }

  // ── the flow ─────────────────────────────────────────────────────────────────────────────────

  private step(event: Happened): void {
    if (event.type === "state-file-adopted") {
      const { flow, step, status, retryCount, cycle } = event["state"] as Place & {
        retryCount: number;
      };
      this.place = { flow, step, status, retry: retryCount, cycle };
      return;
    }
    const place = (this.place ??= { flow: "", step: "", status: "", retry: 0, cycle: 1 });
    const name = `step ${place.step} of cycle ${place.cycle}`;
    const becomes = (status: string): void => {
      [place.status, place.retry] = [status, 0];
    };
    switch (event.type) {
      case "step-entered":
        place.flow = String(event["flow"]);
        place.step = String(event["step"]);
        place.cycle = Number(event["cycle"]);
        becomes(place.step === "done" ? "completed" : "not_started");
        this.failures = 0;
        return;
      case "step-started":
        becomes("in_progress");
        this.failures = 0;
        return;
      case "step-reopened":
        if (event["how"] === "retry" && !this.mayRetry) this.breach(`${name} is retried unasked`);
        place.step = String(event["step"]);
        becomes(
          ["retry", "rollback"].includes(String(event["how"])) ? "in_progress" : "not_started",
        );
        this.failures = 0;
        return;
      case "sub-step-reported":
        place.status = "in_progress";
        return;
      case "skill-started":
        if (place.status === "failed") this.breach(`${name} is tried again silently`);
        if (this.failures >= mostFailures) this.breach(`${name} is tried a fifth time`);
        if (Number(event["session"]) <= this.session) this.breach("a session's number comes again");
        this.session = Number(event["session"]);
        return;
      case "skill-ended":
        if (event["how"] === "failed") this.failures++;
        return;
      case "step-retried":
        place.retry = Math.min(3, place.retry + 1);
        return;
      case "step-failed":
        place.status = "failed";
        this.mayRetry = false;
        return;
      case "blocker-raised":
        this.figures["breakers tripped"]++;
        return;
      case "step-completed":
        this.figures["steps complete"]++;
        becomes("completed");
        return;
      case "step-skipped":
        becomes("skipped");
        return;
      case "status-set":
        place.status = String(event["status"]);
        return;
      default:
        return;
    }
  }

  // ── plans ────────────────────────────────────────────────────────────────────────────────────

  private build(id: string, event: Happened): void {
    if (event.type === "run-started") {
      const ids = (event["phases"] as { id: string }[]).map((phase) => phase.id);
      const begun = (): Phase => ({
        standing: "pending",
        attempts: 0,
        failures: 0,
        interruptions: 0,
        onto: "",
        published: 0,
      });
      this.current = id;
      this.runs.set(id, {
        phases: new Map(ids.map((each) => [each, begun()])),
        tip: String(event["base"]),
        spent: 0,
        raised: 0,
        begunOverBudget: 0,
        limitedUntil: "",
        begunWhileLimited: 0,
      });
      return;
    }
    const run = this.runs.get(id);
    if (!run) return this.breach(`${event.type} of a run that has not begun`);
    const phase = run.phases.get(String(event["phase"]));
    if (phase) return this.phase(id, run, phase, event);
    switch (event.type) {
      case "run-resumed":
        for (const each of run.phases.values()) resume(each, this.figures);
        return;
      case "run-budget-raised":
        run.raised++;
        run.begunOverBudget = 0;
        return;
      case "run-ended":
        if (event["how"] === "complete") this.complete(id, run);
        for (const each of run.phases.values())
          if (each.standing === "working") each.standing = "pending";
        return;
      case "run-set-aside":
        this.runs.delete(id);
        this.current = "none";
        return;
      default:
        return;
    }
  }

  private complete(id: string, run: Run): void {
    this.figures["runs complete"]++;
    for (const [name, { standing, published }] of run.phases)
      if (standing !== "landed" || published !== 1)
        this.breach(`${id} is complete, and ${name} ${standing}, published ${published} times`);
  }

  private phase(id: string, run: Run, phase: Phase, event: Happened): void {
    const { maxAttempts, runBudget, mostOfAttempt, mostJobs } = this.promised;
    const name = `${id} ${String(event["phase"])}`;
    switch (event.type) {
      case "attempt-started":
        this.figures.attempts++;
        if (Number(event["attempt"]) !== phase.attempts + 1)
          this.breach(`${name}: attempt ${String(event["attempt"])} after ${phase.attempts}`);
        if (phase.standing !== "pending") this.breach(`${name} is begun, and ${phase.standing}`);
        if (phase.failures >= maxAttempts) this.breach(`${name} has more attempts than promised`);
        if (phase.interruptions >= mostInterruptions)
          this.breach(`${name} is begun after ${phase.interruptions} interruptions`);
        // Whoever was about to begin when a limit was met may still do so.
        if (run.spent >= runBudget * (run.raised + 1) && ++run.begunOverBudget >= mostJobs)
          this.breach(`${name} is begun, and ${run.spent} was spent`);
        if (this.at < run.limitedUntil && ++run.begunWhileLimited >= mostJobs)
          this.breach(`${name} is begun before ${run.limitedUntil}`);
        phase.attempts = Number(event["attempt"]);
        phase.standing = "working";
        return;
      case "usage-counted":
        run.spent += Number(event["tokens"]);
        if (run.spent > runBudget * (run.raised + 1) + mostOfAttempt * mostJobs)
          this.breach(`${id} has spent ${run.spent} of ${runBudget * (run.raised + 1)}`);
        return;
      case "attempt-parked":
        this.figures.parked++;
        run.limitedUntil = String(event["until"]);
        run.begunWhileLimited = 0;
        phase.standing = "pending";
        return;
      case "attempt-unable":
        phase.standing = "pending";
        return;
      case "attempt-failed": {
        this.figures.failures++;
        const { type } = event["error"] as { type: string };
        const isRetryable = type === "agent_crash" || type === "test_failure";
        phase.failures++;
        phase.interruptions = 0;
        phase.standing = phase.failures >= maxAttempts || !isRetryable ? "failed" : "pending";
        return;
      }
      case "attempt-delivered":
        phase.interruptions = 0;
        phase.standing = "delivered";
        return;
      case "phase-verified":
        phase.standing = "verified";
        phase.onto = String(event["onto"]);
        return;
      case "phase-landed":
        if (phase.onto !== run.tip) return;
        run.tip = String(event["commit"]);
        phase.standing = "landed";
        return;
      case "phase-published":
        if (phase.standing !== "landed" || phase.published > 0)
          this.breach(`${name} is published, ${phase.standing}, the ${phase.published + 1}. time`);
        phase.published++;
        return;
      case "phase-reset":
        [phase.standing, phase.failures, phase.interruptions] = ["pending", 0, 0];
        return;
      default:
        return;
    }
  }
}

/** What was under way has no outcome; what had failed may try again. */
function resume(phase: Phase, figures: Books["figures"]): void {
  if (phase.standing === "working") {
    phase.standing = "pending";
    phase.interruptions++;
    figures.interruptions++;
  } else if (phase.standing === "failed") {
    [phase.standing, phase.failures, phase.interruptions] = ["pending", 0, 0];
  }
}
