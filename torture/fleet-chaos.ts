/**
 * A fleet whose workers are killed and stopped and whose database is torn down, all the time, while
 * agents fail and lie. Every run has to come to its end nevertheless, with every phase once.
 *
 * Agents and gates are processes of their own groups: those of a killed worker go on for a while, as
 * they would beside a program that has crashed, and whatever they leave has to count for nothing.
 *
 * A take-over is measured from the moment in which a worker is killed or stopped to the moment in
 * which another one claims a task or a drive that it had. What it had is what the engine's own table
 * (dbos.workflow_status) said at the last look, at most a tenth of a second before; when it was
 * claimed is the engine's own word too (started_at_epoch_ms, by the clock of the database, which is
 * this machine's). What a stopped worker finishes by itself when it goes on is no take-over.
 */
import type { Fleet, RunRow } from "../src/project/fleet.ts";
import {
  type FleetProject,
  type FleetRig,
  type FleetWorker,
  findPostgres,
  finish,
  pause,
  processesOf,
  startFleet,
} from "./fleet-rig.ts";
import {
  countBy,
  eventsIn,
  judgeRun,
  layered,
  noPostgres,
  openFleetOf,
  type PhaseWish,
  planText,
  quantile,
  submit,
  workersAreReady,
} from "./fleet-runs.ts";
import {
  again,
  type Context,
  judged,
  type Outcome,
  type Random,
  type Row,
  randomFrom,
  shippedProgram,
  skipped,
} from "./rig.ts";

export const fleetChaos: Row = {
  name: "fleet-chaos",
  promise:
    "whatever happens to workers and to the database, every run ends, with every phase exactly once",
  budgetSeconds: { ci: 29, full: 1200 },
  run: (context) =>
    findPostgres() === undefined ? Promise.resolve(skipped(noPostgres)) : chaos(context),
};

interface Effort {
  readonly workers: number;
  readonly projects: number;
  readonly phases: number;
  /** How long it goes on; whatever comes to its end before that is followed by another like it. */
  readonly seconds: number;
  readonly afterwards: number;
  /** The least and the most between two ends of the database, in milliseconds. */
  readonly databaseMs: readonly [number, number];
}

const efforts: Record<Context["tier"], Effort> = {
  ci: {
    workers: 3,
    projects: 2,
    phases: 8,
    seconds: 20,
    afterwards: 90,
    databaseMs: [7000, 11_000],
  },
  full: {
    workers: 5,
    projects: 10,
    phases: 50,
    seconds: 15 * 60,
    afterwards: 10 * 60,
    databaseMs: [20_000, 40_000],
  },
};

const jobs = 2;
const leaseSeconds = 3;

async function chaos(context: Context): Promise<Outcome> {
  const effort = efforts[context.tier];
  const rig = await startFleet(`${context.scratch}/fleet`, await shippedProgram(context.scratch));
  try {
    return await rage(context, rig, effort);
  } finally {
    await rig.end();
  }
}

async function rage(context: Context, rig: FleetRig, effort: Effort): Promise<Outcome> {
  const { seed } = context;
  const failures: string[] = [];
  const plans = Array.from({ length: effort.projects }, (_, project) => {
    const ids = Array.from({ length: effort.phases }, (__, at) =>
      String((project + 1) * 100 + at + 1),
    );
    return layered(ids, randomFrom(seed, project));
  });
  const all = plans.flatMap((phases) => phases.map(({ id }) => id));
  const natures = naturesOf(all, randomFrom(seed, 1000));
  const env = { FLEET_AGENT: agentOf(natures), FLEET_GATE: gate };

  const crew = crewOf(rig, effort.workers, env);
  await workersAreReady(rig);
  const fleet = await openFleetOf(rig);
  const stories: Story[] = [];
  const runs: string[] = [];
  const begin = async (at: number, phases: readonly PhaseWish[]): Promise<void> => {
    const plan = planText(phases, false);
    const name = `p${at + 1}-${stories.length}`;
    const project = await rig.project(name, { plan, agent: "mine" });
    const run = await submit(fleet, project, "mine");
    stories.push({ at, run, project, ids: phases.map(({ id }) => id) });
    runs.push(run);
  };
  for (const [at, phases] of plans.entries()) await begin(at, phases);

  const began = performance.now();
  const watched = watch(fleet);
  const answering = answer(rig, fleet, runs);
  const openRuns = async (): Promise<Set<string>> =>
    new Set((await rowsOf(fleet, runs)).flatMap(({ id, is_open }) => (is_open ? [id] : [])));
  const until = began + effort.seconds * 1000;
  const calm = { now: false };
  const raging = [
    harmWorkers(crew, watched, randomFrom(seed, 2000), calm),
    harmDatabase(rig, effort, { watched, random: randomFrom(seed, 3000), calm }),
  ];
  const tell = everyMinute((minute) => `minute ${minute}: ${runs.length} runs begun`, context);
  while (performance.now() < until) {
    const open = await openRuns();
    const busy = new Set(stories.flatMap(({ at, run }) => (open.has(run) ? [at] : [])));
    for (const [at, phases] of plans.entries()) if (!busy.has(at)) await begin(at, phases);
    tell();
    await pause(500);
  }
  calm.now = true;
  await Promise.all(raging);
  const calmAt = performance.now();
  const patience = calmAt + effort.afterwards * 1000;
  const still = stillness(fleet);
  while (performance.now() < patience && (await still()) < stuckSeconds) {
    if ((await openRuns()).size === 0) break;
    await pause(500);
  }
  const minutes = (performance.now() - began) / 60_000;
  await Promise.all([watched.end(), answering.end()]);
  // From here on nothing changes any more.
  await Promise.all([...rig.workers].map((worker) => worker.kill()));

  const figures = { lost: 0, twice: 0, "falsely complete": 0 };
  let [landed, interrupted, failed, lies] = [0, 0, 0, 0];
  const rows = await rowsOf(fleet, runs);
  for (const { run, project, ids } of stories) {
    const row = rows.find(({ id }) => id === run);
    const events = await eventsIn(fleet, run);
    const count = countBy(events.map(({ type }) => type));
    landed += count.get("phase-landed") ?? 0;
    interrupted += count.get("attempt-interrupted") ?? 0;
    failed += count.get("attempt-failed") ?? 0;
    const isLie = ({ phase = "", attempt }: { phase?: string; attempt?: number }): boolean =>
      natures.get(phase) === "liar" && attempt === 1;
    lies += events.filter((event) => event.type === "attempt-delivered" && isLie(event)).length;
    for (const event of events) {
      if (event.type === "phase-verified" && isLie(event))
        failures.push(`${run}: phase ${event.phase} has lied and was verified`);
    }
    const isComplete = row?.state === "over" && row.outcome?.how === "complete";
    if (!isComplete) failures.push(`${run} is ${await toldOf(fleet, row, run)}`);
    const verdict = judgeRun(rig, project, { run, ids, events });
    figures.lost += verdict.lost;
    figures.twice += verdict.twice;
    figures["falsely complete"] += verdict.falselyComplete;
    // Of one that has not come to its end, it is no news that something is missing.
    if (isComplete || verdict.twice + verdict.falselyComplete > 0) failures.push(...verdict.wrong);
  }
  failures.push(...watched.wrong, ...answering.wrong);
  await fleet.close();
  if (failures.length > 0) for (const line of crew.said()) context.note(line);
  await rig.end();
  const left = await remaining(rig);
  if (left.length > 0) failures.push(`${left.length} processes are left: ${left.join(", ")}`);

  const { undisturbed, disturbed } = watched.takeOvers();
  return judged(
    {
      runs: runs.length,
      phases: stories.reduce((sum, { ids }) => sum + ids.length, 0),
      landed,
      ...figures,
      "processes left": left.length,
      kills: crew.kills,
      stops: crew.stops,
      "database restarts": watched.restarts,
      "take-overs": undisturbed.length + disturbed.length,
      ...spread("take-over", undisturbed),
      ...spread("with a restart meanwhile", disturbed),
      "attempts interrupted": interrupted,
      "attempts failed": failed,
      "lies caught": lies,
      decisions: answering.given,
      "most at once": `${watched.most} of ${jobs}`,
      "chaos s": Math.round((calmAt - began) / 1000),
      "phases a minute": (landed / minutes).toFixed(1),
    },
    failures.map(
      (failure) => `${failure}; to see it again: ${again(context, fleetChaos.name, "all")}`,
    ),
  );
}

interface Story {
  /** Which of the plans. */
  readonly at: number;
  readonly run: string;
  readonly project: FleetProject;
  readonly ids: readonly string[];
}

function everyMinute(line: (minute: number) => string, { note }: Context): () => void {
  const began = performance.now();
  let told = 0;
  return () => {
    const minute = Math.floor((performance.now() - began) / 60_000);
    if (minute === told) return;
    told = minute;
    note(line(minute));
  };
}

/** Calm, and nothing has happened anywhere for so long: nothing will. */
const stuckSeconds = 90;

/** Resolves with the seconds since anything was last recorded. */
function stillness({ database }: Fleet): () => Promise<number> {
  let [count, since] = ["", performance.now()];
  return async () => {
    const [row] = await database.query<{ count: string }>("SELECT count(*) FROM autodev.journal");
    if (row?.count !== count) [count, since] = [row?.count ?? "", performance.now()];
    return (performance.now() - since) / 1000;
  };
}

const spread = (name: string, values: readonly number[]): Record<string, string> => ({
  [`${name} p50/p95/most s`]: [0.5, 0.95, 1]
    .map((share) => quantile(values, share).toFixed(1))
    .join("/"),
});

/** What an agent left behind may take a moment to notice that nobody waits for it. */
async function remaining(rig: FleetRig): Promise<number[]> {
  for (const end = performance.now() + 15_000; ; await pause(200)) {
    const left = processesOf(rig.folder);
    if (left.length === 0 || performance.now() > end) return left;
  }
}

const rowsOf = ({ database }: Fleet, runs: readonly string[]): Promise<readonly RunRow[]> =>
  database.query<RunRow>("SELECT * FROM autodev.runs WHERE id = ANY($1)", [runs]);

/** Everything that one has to know about a run that has not come to its end. */
async function toldOf({ database }: Fleet, row: RunRow | undefined, run: string): Promise<string> {
  const open = await database.query(
    "SELECT workflow_uuid, status, executor_id, queue_name FROM dbos.workflow_status WHERE workflow_uuid LIKE $1 AND status IN ('PENDING', 'ENQUEUED', 'CANCELLED')",
    [`${run}/%`],
  );
  const last = await database.query(
    "SELECT seq, epoch, transition ->> 'at' AS \"at\", transition -> 'events' -> -1 ->> 'type' AS type, transition -> 'events' -> -1 ->> 'phase' AS phase FROM autodev.journal WHERE run = $1 ORDER BY seq DESC LIMIT 3",
    [run],
  );
  const { state, outcome, waits, wanted, driven, epoch, holder, asking, progress } = row ?? {};
  const asked = asking?.map(({ id, question }) => ({ id, question }));
  return JSON.stringify({
    state,
    outcome,
    waits,
    wanted,
    driven,
    epoch,
    holder,
    progress,
    asked,
    last,
    open,
  });
}

// ── agents ─────────────────────────────────────────────────────────────────────────────────────

type Nature = "flaky" | "liar";

/** 30 of 100 fail at first, 5 say at first that they are done and have not written what they should. */
function naturesOf(ids: readonly string[], random: Random): Map<string, Nature> {
  const shuffled = random.shuffled(ids);
  const [flaky, liars] = [Math.round(ids.length * 0.3), Math.max(1, Math.round(ids.length * 0.05))];
  return new Map(
    shuffled
      .slice(0, flaky + liars)
      .map((id, at): [string, Nature] => [id, at < flaky ? "flaky" : "liar"]),
  );
}

function agentOf(natures: ReadonlyMap<string, Nature>): string {
  const those = (nature: Nature): string =>
    [...natures].flatMap(([id, each]) => (each === nature ? [id] : [])).join("|");
  return `${finish}mkdir -p src
sleep 0.1
if [ "$AUTODEV_ATTEMPT" = 1 ]; then
  case $AUTODEV_PHASE in
    ${those("flaky")}) echo half > "src/$AUTODEV_PHASE.txt"; exit 1 ;;
    ${those("liar")}) echo "all is done" > "src/$AUTODEV_PHASE.note"; finish; exit 0 ;;
  esac
fi
rm -f "src/$AUTODEV_PHASE.note"
echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"
finish`;
}

/** It has nothing against what was there before. */
const gate = 'sleep 0.05; [ -z "$AUTODEV_PHASE" ] || [ -e "src/$AUTODEV_PHASE.txt" ]';

// ── what happens to them ───────────────────────────────────────────────────────────────────────

interface Crew {
  kills: number;
  stops: number;
  /** Neither stopped nor gone. */
  up(): FleetWorker[];
  kill(worker: FleetWorker, backAfterMs: number): void;
  stop(worker: FleetWorker, forMs: number): void;
  /** All are there and go on. */
  whole(): Promise<unknown>;
  /** The end of what each has said. */
  said(): string[];
}

function crewOf(rig: FleetRig, count: number, env: Readonly<Record<string, string>>): Crew {
  const up = new Map<string, FleetWorker>();
  const stories = new Map<string, FleetWorker[]>();
  const returning = new Set<Promise<void>>();
  const start = (name: string): void => {
    const worker = rig.worker(name, { jobs, leaseSeconds, env });
    up.set(name, worker);
    stories.set(name, [...(stories.get(name) ?? []), worker]);
  };
  const later = (ms: number, act: () => void): void => {
    const returns = pause(ms).then(act);
    returning.add(returns);
    void returns.then(() => returning.delete(returns));
  };
  for (let at = 1; at <= count; at++) start(`w${at}`);
  return {
    kills: 0,
    stops: 0,
    up: () => [...up.values()],
    kill(worker, backAfterMs) {
      this.kills++;
      up.delete(worker.name);
      rig.workers.delete(worker);
      void worker.kill();
      later(backAfterMs, () => start(worker.name));
    },
    stop(worker, forMs) {
      this.stops++;
      up.delete(worker.name);
      worker.signal("SIGSTOP");
      later(forMs, () => {
        worker.signal("SIGCONT");
        up.set(worker.name, worker);
      });
    },
    whole: () => Promise.all(returning),
    said: () =>
      [...stories].flatMap(([name, workers]) => {
        const lines = workers
          .map(({ said }) => said())
          .join("")
          .trim()
          .split("\n");
        return [
          `${name}, ${workers.length} times:`,
          ...lines.slice(-20).map((line) => `  ${line}`),
        ];
      }),
  };
}

async function harmWorkers(
  crew: Crew,
  watched: Watched,
  random: Random,
  calm: { readonly now: boolean },
): Promise<void> {
  for (;;) {
    await unlessCalm(random.between(2000, 4000), calm);
    if (calm.now) break;
    const [victim] = random.shuffled(crew.up());
    const [isKill, back, stopped] = [
      random.chance(0.6),
      random.between(500, 2000),
      random.between(4000, 8000),
    ];
    if (!victim) continue;
    watched.harmed(victim.name);
    if (isKill) crew.kill(victim, back);
    else crew.stop(victim, stopped);
  }
  await crew.whole();
}

async function harmDatabase(
  { postgres }: FleetRig,
  { databaseMs }: Effort,
  {
    watched,
    random,
    calm,
  }: {
    readonly watched: Watched;
    readonly random: Random;
    readonly calm: { readonly now: boolean };
  },
): Promise<void> {
  for (;;) {
    await unlessCalm(random.between(...databaseMs), calm);
    if (calm.now) break;
    watched.restarts++;
    if (random.chance(0.7)) await postgres.stop("immediate");
    else await postgres.kill();
    await pause(random.between(500, 3000));
    await postgres.start();
  }
}

async function unlessCalm(ms: number, calm: { readonly now: boolean }): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end && !calm.now; ) await pause(100);
}

// ── what is seen of it ─────────────────────────────────────────────────────────────────────────

interface Watched {
  restarts: number;
  /** The most that one worker did at once. */
  most: number;
  readonly wrong: string[];
  /** From this moment on, what it has is to be taken over. */
  harmed(name: string): void;
  /** In seconds; `disturbed`: the database was away meanwhile, too. */
  takeOvers(): { undisturbed: number[]; disturbed: number[] };
  end(): Promise<void>;
}

interface Claimed {
  readonly id: string;
  readonly worker: string | null;
  readonly status: string;
  readonly since: string | null;
}

function watch({ database }: Fleet): Watched {
  const orphans = new Map<string, { worker: string; at: number; restarts: number }>();
  let claimed: readonly Claimed[] = [];
  const seconds = { undisturbed: [] as number[], disturbed: [] as number[] };

  const look = async (): Promise<void> => {
    const rows = await database.query<Claimed>(
      `SELECT workflow_uuid AS id, executor_id AS worker, status, started_at_epoch_ms AS since
       FROM dbos.workflow_status WHERE status = 'PENDING' OR workflow_uuid = ANY($1)`,
      [[...orphans.keys()]],
    );
    const now = Date.now();
    claimed = rows.filter(({ status }) => status === "PENDING");
    for (const { id, worker, status, since } of rows) {
      const orphan = orphans.get(id);
      if (!orphan) continue;
      if (worker === orphan.worker && (status === "PENDING" || status === "ENQUEUED")) continue;
      if (status === "ENQUEUED") continue;
      orphans.delete(id);
      // It had come to its end before, or whoever was stopped has gone on with it.
      if (worker === orphan.worker) continue;
      const at = Math.max(orphan.at, since === null ? now : Number(since));
      const isDisturbed = watched.restarts > orphan.restarts;
      seconds[isDisturbed ? "disturbed" : "undisturbed"].push((at - orphan.at) / 1000);
    }
    const [busiest] = await database.query<{ id: string; doing: number }>(
      `SELECT id, jsonb_array_length(doing) AS doing FROM autodev.workers
       WHERE state IN ('active', 'draining') ORDER BY 2 DESC LIMIT 1`,
    );
    const { id = "", doing = 0 } = busiest ?? {};
    watched.most = Math.max(watched.most, doing);
    if (doing > jobs && !watched.wrong.some((each) => each.startsWith(id))) {
      watched.wrong.push(`${id} does ${doing} at once, and has ${jobs} places`);
    }
  };
  const looking = repeatedly(100, look);
  const watched: Watched = {
    restarts: 0,
    most: 0,
    wrong: [],
    harmed(name) {
      for (const { id, worker } of claimed) {
        if (worker?.replace(/-[0-9a-f]{8}$/, "") !== name || orphans.has(id)) continue;
        orphans.set(id, { worker, at: Date.now(), restarts: watched.restarts });
      }
    },
    takeOvers: () => seconds,
    end: looking.end,
  };
  return watched;
}

function repeatedly(everyMs: number, look: () => Promise<void>): { end(): Promise<void> } {
  const order = { isOver: false };
  const looking = (async () => {
    for (; !order.isOver; await pause(everyMs)) await look();
  })();
  return {
    end() {
      order.isOver = true;
      return looking;
    },
  };
}

// ── people ─────────────────────────────────────────────────────────────────────────────────────

interface Answering {
  given: number;
  readonly wrong: string[];
  end(): Promise<void>;
}

/** A phase that was interrupted five times in a row is a person's to judge: this one says "again". */
function answer(rig: FleetRig, { database }: Fleet, runs: readonly string[]): Answering {
  const answered = new Set<string>();
  const look = async (): Promise<void> => {
    const asked = await database.query<{ id: string; question: string }>(
      `SELECT d ->> 'id' AS id, d ->> 'question' AS question
       FROM autodev.runs r, jsonb_array_elements(r.asking) d WHERE r.is_open AND r.id = ANY($1)`,
      [runs],
    );
    for (const { id, question } of asked) {
      if (answered.has(id)) continue;
      const isExpected = /interrupted \d+ times in a row/.test(question);
      if (!isExpected) answering.wrong.push(`nobody expected to be asked: ${question}`);
      const { code } = await rig.autodev(["decide", id, "A", "--engine=postgres"]);
      // The database may be away for longer than one call waits: asked again at the next look.
      if (code !== 0 && isExpected) continue;
      answered.add(id);
      answering.given++;
    }
  };
  const looking = repeatedly(1000, look);
  const answering: Answering = {
    given: 0,
    wrong: [],
    end: looking.end,
  };
  return answering;
}
