/** A fleet through the real door: the built binary, real PostgreSQL, workers that are killed. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Decision } from "../src/core/decision.ts";
import type { RunState } from "../src/core/fleet/told.ts";
import { inheritPlace, leavePlace, takePlace } from "../src/engines/postgres/rows/agents.ts";
import {
  describeAnew,
  retryTaken,
  retryWanted,
  runDriving,
  runRests,
  runsDue,
  stopRun,
  unheardRuns,
  wantDriven,
} from "../src/engines/postgres/rows/runs.ts";
import { forgetWhatIsOver } from "../src/engines/postgres/worker.ts";
import { answerRun, openFleet, submitPlan } from "../src/project/fleet.ts";
import type { Database } from "../src/stores/postgres/database.ts";
import {
  type FleetProject,
  type FleetRig,
  type FleetWorker,
  findPostgres,
  finish,
  gitIn,
  landedIn,
  pause,
  processesOf,
  startFleet,
  until,
  working,
} from "../torture/fleet-rig.ts";
import { planOf, spelled } from "./build-rig.ts";
import { binary, makeFolder } from "./rig.ts";

/** Whole machines are waited for here, on one that other tests keep busy too. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const one = planOf([{ id: "1" }]);
const chain = planOf([{ id: "1" }, { id: "2", needs: ["1"] }]);

const settings = (more = "", gate = 'eval "$FLEET_GATE"'): string => `gates:
  test: ${gate}
agents:
  mine:
    command: eval "$FLEET_AGENT"
    confined: false
${more}`;

/** A way to a port, on which what is under way at a given moment is never heard of again. */
interface Hole {
  readonly port: number;
  /** Whoever has come by one of these waits for ever. */
  swallow(): readonly net.Socket[];
  end(): void;
}

async function throughHole(to: number): Promise<Hole> {
  const ways = new Set<net.Socket>();
  const came = new Set<net.Socket>();
  const server = net.createServer((here) => {
    const there = net.connect(to, "127.0.0.1");
    here.pipe(there);
    there.pipe(here);
    came.add(here);
    for (const each of [here, there]) {
      ways.add(each);
      each.on("error", () => {});
      each.on("close", () => ways.delete(each));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    swallow() {
      for (const way of ways) way.unpipe().resume();
      return [...came].filter((way) => ways.has(way));
    },
    end() {
      server.close();
      for (const way of ways) way.destroy();
    },
  };
}

describe.skipIf(findPostgres() === undefined)("a fleet", () => {
  let rig: FleetRig;
  let notes: string;
  let count = 0;
  beforeAll(async () => {
    rig = await startFleet(makeFolder("fleet"), binary());
    notes = makeFolder("notes");
  });
  afterAll(async () => {
    await rig.end();
    await until("no process is left", () => processesOf(rig.folder).length === 0, 10_000);
  });

  /** Rows that nobody has submitted are nobody else's to read. */
  afterEach(() => {
    rig.sqlRun("DELETE FROM autodev.runs WHERE remote = 'nowhere'");
    rig.sqlRun("UPDATE autodev.fleet SET paused = false");
  });

  /** What an agent has seen is told outside of every repository. */
  const at = (name: string): string => path.join(notes, name);
  const read = (name: string): string[] =>
    fs.existsSync(at(name)) ? fs.readFileSync(at(name), "utf8").trim().split("\n") : [];
  const project = (plan: string, config = settings()): Promise<FleetProject> =>
    rig.project(`p${++count}`, { plan, agent: "mine", config });
  const agent = (script: string) => ({
    FLEET_AGENT: `${finish}NOTES='${notes}'\n${script}`,
  });
  /** Only these, ready to work. */
  const workers = async (
    wishes: Readonly<Record<string, Parameters<FleetRig["worker"]>[1]>>,
  ): Promise<void> => {
    await Promise.all([...rig.workers].map((worker) => worker.kill()));
    rig.workers.clear();
    rig.sqlRun("UPDATE autodev.workers SET state = 'gone' WHERE state IN ('active', 'draining')");
    for (const [name, wish] of Object.entries(wishes)) rig.worker(name, wish);
    await until("workers", () => [...rig.workers].every(({ said }) => said().includes("lane")));
  };
  const workerOf = (name: string) => {
    const found = [...rig.workers].find((each) => each.name === name);
    if (!found) throw new Error(`there is no worker ${name}`);
    return found;
  };
  /** Whoever has an attempt of it, as soon as he has said so. */
  const atWorkOn = async (run: string): Promise<FleetWorker> => {
    const busy = () =>
      rig.sql<{ name: string }>(
        `SELECT name FROM autodev.workers WHERE state = 'active' AND doing::text LIKE '%${run}%/work%'`,
      )[0]?.name;
    await until("somebody says that he is at work", () => busy() !== undefined, 20_000);
    return workerOf(busy() ?? "");
  };
  const eventsOf = (run: string): { type: string; phase?: string; reason?: string }[] =>
    rig
      .sql<{ events: { type: string; phase?: string; reason?: string }[] }>(
        `SELECT transition -> 'events' AS events FROM autodev.journal WHERE run = '${run}' ORDER BY seq`,
      )
      .flatMap(({ events }) => events);
  const runIn = (text: string): string => /\br[0-9a-f]{10}\b/.exec(text)?.[0] ?? "";
  const submit = async (of: FleetProject, args: readonly string[] = []): Promise<string> => {
    const said = await rig.build(of, ["--agent=mine", "--detach", ...args]);
    if (said.code !== 0) throw new Error(said.all);
    return runIn(said.all);
  };
  const stateOf = (run: string): string =>
    rig.sql<{ state: string }>(`SELECT state FROM autodev.runs WHERE id = '${run}'`)[0]?.state ??
    "";
  /** As whoever drives it says it; of one that was made up for that. */
  const rested = (database: Database, run: string, state: RunState, until?: string) =>
    runRests(database, run, {
      driven: wantedOf(run),
      epoch: 0,
      state,
      outcome: { how: state, ...(until !== undefined && { until }) },
      asking: [],
      progress: {},
    });
  const wantedOf = (run: string): number =>
    rig.sql<{ wanted: number }>(`SELECT wanted FROM autodev.runs WHERE id = '${run}'`)[0]?.wanted ??
    0;
  const rests = (run: string, state = "over", ms = 60_000): Promise<void> =>
    until(`${run} is ${state}`, () => stateOf(run) === state, ms).catch((error: Error) => {
      throw new Error(`${error.message}\n${situationOf(run)}`);
    });
  /** For whoever has to find out why a run does not go on. */
  const situationOf = (run: string): string =>
    [
      ...rig.sql(
        `SELECT state, wanted, driven, waits, stopping, epoch, holder, held_until, now() FROM autodev.runs WHERE id = '${run}'`,
      ),
      ...rig.sql(
        `SELECT workflow_uuid, status, executor_id, queue_name FROM dbos.workflow_status WHERE workflow_uuid LIKE '${run}%'`,
      ),
      ...rig.sql("SELECT id, state, doing, beat_at FROM autodev.workers WHERE state <> 'gone'"),
      ...eventsOf(run).map(({ type }) => type),
      ...[...rig.workers].map(({ name, said }) => `${name} said: ${said()}`),
    ]
      .map((each) => (typeof each === "string" ? each : JSON.stringify(each)))
      .join("\n");

  it("carries a run on when a worker is killed, and counts what was cut off as interrupted", async () => {
    const env = agent(
      `echo "$AUTODEV_ATTEMPT" >> "$NOTES/killed"; [ "$AUTODEV_ATTEMPT" = 1 ] && sleep 60; ${working}`,
    );
    await workers({ a: { env }, b: { env } });
    const of = await project(one);
    const run = await submit(of);
    await until("it is at work", () => read("killed").length === 1);
    await (await atWorkOn(run)).kill();
    await rests(run);
    expect(read("killed")).toEqual(["1", "2"]);
    const interrupted = eventsOf(run).filter(({ type }) => type === "attempt-interrupted");
    expect(interrupted).toMatchObject([
      { phase: "1", reason: expect.stringContaining("was lost") },
    ]);
    expect(landedIn(of.remote, rig.env()).map(({ subject }) => subject)).toEqual(["feat: part 1"]);
  });

  it("gives a verification that ten workers were lost with to no other, and says so", async () => {
    const hangs = `echo x >> '${at("deadly")}'; sleep 60`;
    const env = { ...agent(working), FLEET_GATE: `[ ! -e src/1.txt ] || { ${hangs}; }` };
    await workers({ a: { env }, b: { env } });
    const of = await project(one);
    const run = await submit(of);
    const busy = (): string[] =>
      rig
        .sql<{ name: string }>(
          `SELECT name FROM autodev.workers WHERE state = 'active' AND doing::text LIKE '%${run}%/verify%'`,
        )
        .map(({ name }) => name);
    for (const lost of [1, 2]) {
      await until(`it is at work the ${lost}. time`, () => read("deadly").length === lost);
      await until("somebody says so", () => busy().length === 1, 30_000);
      const [name = ""] = busy();
      // Eight others, of another day.
      if (lost === 2)
        rig.sqlRun(
          `INSERT INTO autodev.losses (task, worker) SELECT workflow_uuid, 'former-' || n
           FROM dbos.workflow_status, generate_series(1, 8) n
           WHERE workflow_uuid LIKE '${run}/%/verify@%' AND status = 'PENDING'`,
        );
      await workerOf(name).kill();
      rig.workers.delete(workerOf(name));
      rig.worker(`${name}${lost}`, { env });
    }
    await rests(run, "halted");
    const [row] = rig.sql<{ outcome: { failure: { code: string; message: string } } }>(
      `SELECT outcome FROM autodev.runs WHERE id = '${run}'`,
    );
    expect(row?.outcome.failure).toMatchObject({
      code: "workers-lost",
      message: "10 workers were lost, one after the other, with the verification of phase 1",
    });
    expect(read("deadly").length).toBe(2);
    // Whoever has mended it says the same again, and it is tried again.
    await workers({ c: { env: agent(working) } });
    expect((await rig.build(of, ["--agent=mine"])).code).toBe(0);
  });

  it("refuses what a worker brings that was taken for dead, and has its agent stopped", async () => {
    // Its own process may be called otherwise where it is confined: it is told by its pulse.
    const pulse = 'for beat in $(seq 3000); do echo "$beat" > "$NOTES/pulse"; sleep 0.1; done';
    const env = agent(
      `echo $$ >> "$NOTES/zombie"; [ "$AUTODEV_ATTEMPT" = 1 ] && { ${pulse}; }; ${working}`,
    );
    await workers({ a: { env, leaseSeconds: 2 }, b: { env, leaseSeconds: 2 } });
    const of = await project(one);
    const run = await submit(of);
    await until("it is at work", () => read("zombie").length === 1);
    const hung = await atWorkOn(run);
    hung.signal("SIGSTOP");
    await rests(run);
    const before = read("pulse");
    await until("its agent is still there", () => read("pulse").join() !== before.join(), 10_000);
    hung.signal("SIGCONT");
    await until("it knows", () => hung.said().includes("taken for dead"), 20_000);
    // It begins anew in the very moment in which nothing can be begun.
    await rig.postgres.stop("immediate");
    const after = read("pulse");
    await pause(1000);
    expect(read("pulse")).toEqual(after);
    await pause(3000);
    await rig.postgres.start();
    expect(landedIn(of.remote, rig.env()).length).toBe(1);
    expect(eventsOf(run).filter(({ type }) => type === "attempt-delivered").length).toBe(1);
    // It serves again, under another name.
    await until("it is back", () => (hung.said().match(/: 2 at once/g)?.length ?? 0) === 2, 60_000);
  });

  it("lets agents go on while PostgreSQL is stopped and started again, and has nothing done twice", async () => {
    const env = agent(`echo "$AUTODEV_PHASE" >> "$NOTES/restart"; sleep 4; ${working}`);
    await workers({ a: { env }, b: { env } });
    const of = await project(chain);
    const run = await submit(of);
    await until("it is at work", () => read("restart").length === 1);
    await rig.postgres.stop("immediate");
    await pause(6000);
    await rig.postgres.start();
    await rests(run);
    expect(read("restart")).toEqual(["1", "2"]);
    expect(landedIn(of.remote, rig.env()).length).toBe(2);
    expect(eventsOf(run).some(({ type }) => type === "attempt-interrupted")).toBe(false);
  });

  it("gives up connections on which nothing comes back, and goes on over others", async () => {
    const hole = await throughHole(rig.postgres.port);
    try {
      const env = agent(
        `echo "$AUTODEV_PHASE" >> "$NOTES/hole"; while [ ! -e "$NOTES/hole-over" ]; do sleep 0.1; done; ${working}`,
      );
      const url = rig.url.replace(`:${rig.postgres.port}/`, `:${hole.port}/`);
      await workers({ a: { env, url, leaseSeconds: 60 } });
      const run = await submit(await project(chain));
      await until("it is at work", () => read("hole").length === 1);
      const swallowed = hole.swallow();
      expect(swallowed.length).toBeGreaterThan(1);
      const cut = Date.now();
      const beatAt = (): number =>
        Date.parse(
          rig.sql<{ beat_at: string }>(
            "SELECT beat_at FROM autodev.workers WHERE state = 'active'",
          )[0]?.beat_at ?? "",
        );
      await until("it says again that it is there", () => beatAt() > cut + 2000, 16_000);
      fs.writeFileSync(at("hole-over"), "");
      await rests(run, "over", 90_000);
      expect(read("hole")).toEqual(["1", "2"]);
      // All but the one over which the engine only listens: nothing of ours is told there.
      const left = (): number => swallowed.filter((way) => !way.destroyed).length;
      await until("they are given up", () => left() <= 1, 30_000);
    } finally {
      hole.end();
    }
  });

  it("follows a run on when the database comes back, however long it was away", async () => {
    const env = agent(
      `touch "$NOTES/followed"; while [ ! -e "$NOTES/followed-over" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env } });
    const followed = rig.build(await project(one), ["--agent=mine"]);
    await until("it is at work", () => fs.existsSync(at("followed")));
    await rig.postgres.stop("immediate");
    await pause(8000);
    await rig.postgres.start();
    fs.writeFileSync(at("followed-over"), "");
    const { code, all } = await followed;
    expect([code, all]).toEqual([0, expect.stringContaining("1 of 1 phases complete")]);
    expect(all.match(/is away: .*; waiting for it/g)?.length).toBe(1);
    expect(all).toContain("is back");
  });

  it("drains: what is under way comes to its end, drives go to others, nothing new is taken", async () => {
    const env = agent(`echo "$AUTODEV_PHASE" >> "$NOTES/drain"; sleep 3; ${working}`);
    await workers({ a: { env } });
    const of = await project(chain);
    const run = await submit(of);
    await until("it is at work", () => read("drain").length === 1);
    const first = workerOf("a");
    rig.worker("b", { env });
    first.signal("SIGTERM");
    expect([await first.ended, first.said()]).toEqual([0, expect.any(String)]);
    expect(first.said()).toContain("draining: 1 tasks come to their end");
    await rests(run);
    expect(read("drain")).toEqual(["1", "2"]);
    expect(eventsOf(run).some(({ type }) => type === "attempt-interrupted")).toBe(false);
  });

  it("takes what a worker brings that drains, though nobody else could have done it", async () => {
    const env = agent(
      `echo x >> "$NOTES/only"; while [ ! -e "$NOTES/only-over" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env, labels: ["gpu"] } });
    const run = await submit(
      await project(one, settings("engine: { use: postgres, needs: [gpu] }\n")),
    );
    const only = await atWorkOn(run);
    const [before] = rig.sql<{ epoch: number }>(
      `SELECT epoch FROM autodev.runs WHERE id = '${run}'`,
    );
    rig.worker("plain", { env });
    await until("there are two", () => workerOf("plain").said().includes("lane"), 30_000);
    only.signal("SIGTERM");
    const driven = `SELECT 1 FROM autodev.runs WHERE id = '${run}' AND state = 'driving' AND epoch > ${before?.epoch}`;
    await until("the other one drives it", () => rig.sql(driven).length > 0, 30_000);
    fs.writeFileSync(at("only-over"), "");
    const brought = () => eventsOf(run).some(({ type }) => type === "attempt-delivered");
    await until("what it brought is on record", brought, 30_000);
    await rig.autodev(["stop", "--engine=postgres", "--run", run]);
    await rests(run, "halted");
    expect(read("only")).toEqual(["x"]);
  });

  it("lets come to its end what is at work when nobody drives it just then, and begins nothing more", async () => {
    const env = agent(
      `echo "$AUTODEV_PHASE" >> "$NOTES/undriven"; while [ ! -e "$NOTES/undriven-over" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env } });
    const run = await submit(await project(chain));
    const driver = await atWorkOn(run);
    // He hands it over, and nobody is there yet to take it.
    driver.signal("SIGTERM");
    const handedOver = `SELECT 1 FROM autodev.runs WHERE id = '${run}' AND state = 'waiting' AND holder IS NULL`;
    await until("nobody drives it", () => rig.sql(handedOver).length > 0, 30_000);
    const stopped = rig.autodev(["stop", "--after-phase", "--engine=postgres", "--run", run]);
    const written = `SELECT 1 FROM autodev.runs WHERE id = '${run}' AND stopping = 'after-phase'`;
    await until("it is written down", () => rig.sql(written).length > 0, 30_000);
    expect(stateOf(run)).toBe("waiting");
    rig.worker("b", { env });
    fs.writeFileSync(at("undriven-over"), "");
    await rests(run, "halted");
    expect((await stopped).code).toBe(0);
    expect(read("undriven")).toEqual(["1"]);
    expect(eventsOf(run).some(({ type }) => type === "attempt-interrupted")).toBe(false);
    expect(eventsOf(run).some(({ type }) => type === "phase-published")).toBe(true);
  });

  it("gives work to whoever has what it needs, and says at once when nobody has", async () => {
    const env = agent(`echo "$WHO" >> "$NOTES/label"; ${working}`);
    await workers({ plain: { env: { ...env, WHO: "plain" } } });
    const of = await project(one, settings("engine: { use: postgres, needs: [gpu] }\n"));
    const refused = await rig.build(of, ["--agent=mine", "--no-wait"]);
    expect(refused.code).toBe(4);
    expect(refused.all).toContain("none of 1 workers has gpu");
    const run = await submit(of);
    await until("said", () => {
      const [row] = rig.sql<{ waits: string | null }>(
        `SELECT waits FROM autodev.runs WHERE id = '${run}'`,
      );
      return row?.waits?.includes("gpu") === true;
    });
    expect((await rig.autodev(["fleet"])).out).toContain("none of 1 workers has gpu");
    rig.worker("strong", { env: { ...env, WHO: "strong" }, labels: ["gpu"] });
    await rests(run);
    expect(read("label")).toEqual(["strong"]);
  });

  it("drives others while more runs than it can drive wait for what nobody has", async () => {
    const env = agent(working);
    await workers({ plain: { env } });
    const of = await project(one, settings("engine: { use: postgres, needs: [gpu] }\n"));
    const stuck: string[] = [];
    // One more than a worker drives at once.
    for (let branch = 0; branch < 21; branch += 3) {
      const some = [0, 1, 2].map((at) => submit(of, [`--branch=b${branch + at}`]));
      stuck.push(...(await Promise.all(some)));
    }
    await rests(await submit(await project(one)));
    const lacking = (): { id: string; waits: string }[] =>
      rig.sql("SELECT id, waits FROM autodev.runs WHERE state = 'waiting' AND lacks IS NOT NULL");
    await until("they have made room", () => lacking().length > 0, 30_000);
    expect(lacking()[0]?.waits).toContain("none of 1 workers has gpu");
    // What has made room is as much a run as any other.
    const [first = { id: "" }] = lacking();
    const stopped = await rig.autodev(["stop", "--engine=postgres", "--run", first.id]);
    expect([stopped.code, stateOf(first.id)]).toEqual([0, "halted"]);
    rig.worker("strong", { env, labels: ["gpu"], jobs: 4 });
    for (const run of stuck) if (run !== first.id) await rests(run, "over", 120_000);
    expect(stateOf(first.id)).toBe("halted");
    expect(lacking()).toEqual([]);
  });

  it("takes the same plan, submitted by two at once, for one run; anybody attaches from anywhere", async () => {
    const env = agent(`echo x >> "$NOTES/twice"; ${working}`);
    await workers({ a: { env } });
    const of = await project(one);
    const both = await Promise.all([1, 2, 3].map(() => rig.build(of, ["--agent=mine"])));
    expect(both.map(({ code, all }) => (code === 0 ? 0 : all))).toEqual([0, 0, 0]);
    expect(new Set(both.map(({ all }) => runIn(all))).size).toBe(1);
    expect(read("twice")).toEqual(["x"]);
    const run = runIn(both[0]?.all ?? "");
    const attached = await rig.autodev(["attach", "--run", run, "--json"], { cwd: notes });
    expect(attached.code).toBe(0);
    expect(JSON.parse(attached.out.trim().split("\n").at(-1) ?? "{}")).toMatchObject({
      type: "summary",
      status: "complete",
    });
  });

  it("has decisions answered from any machine, by whoever comes first", async () => {
    await workers({ a: { env: agent(working) } });
    const of = await project(one, settings("", "false"));
    const asked = await rig.build(of, ["--agent=mine"]);
    expect(asked.code).toBe(3);
    const id = /autodev decide (d-[0-9a-f]{12})/.exec(asked.all)?.[1] ?? "";
    const listed = await rig.autodev(["decisions", "--engine=postgres", "--json"], { cwd: notes });
    expect(JSON.parse(listed.out)).toMatchObject([{ id, status: "open" }]);
    const answers = await Promise.all(
      ["A", "B"].map((key) =>
        rig.autodev(["decide", id, key, "--engine=postgres"], { cwd: notes }),
      ),
    );
    expect(answers.map(({ code }) => String(code)).toSorted()).toEqual(["0", "1"]);
    // Asked for once when it was submitted, and once by the answer that stands.
    expect(wantedOf(runIn(asked.all))).toBe(2);
    await until("it rests", () => ["over", "halted"].includes(stateOf(runIn(asked.all))));
  });

  it("leaves an answer to whoever drives the run; who has heard it comes to his rest, who has not goes on", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const { database } = fleet.value;
    const run = "r00000000aa";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, wanted, driven, asking)
      VALUES ('${run}', 'plan', 'nowhere', 'p', '{}', '1', 'driving', 2, 1, '[{"id": "d-1"}, {"id": "d-2"}]')`);
    const answer = (id: string, by: string) =>
      answerRun(fleet.value, run, { id }, { key: "A", by });
    const rest = (...awaits: string[]) =>
      runRests(database, run, {
        driven: 2,
        epoch: 0,
        state: "asking",
        outcome: { how: "asking" },
        asking: awaits.map((id) => ({ id }) as Decision),
        awaits,
        progress: {},
      });
    await answer("d-1", "alice");
    expect(wantedOf(run)).toBe(2);
    // Given a moment after whoever drove it had last looked.
    expect(await rest("d-1", "d-2")).toBe("wanted");
    // Heard meanwhile: what had failed in the same drive is not tried again for it.
    expect(await rest("d-2")).toBe("rests");
    await answer("d-1", "bob");
    expect(wantedOf(run)).toBe(2);
    await answer("d-2", "bob");
    expect(wantedOf(run)).toBe(3);
    await answer("d-2", "alice");
    expect(wantedOf(run)).toBe(3);
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false WHERE id = '${run}'`);
    await fleet.value.close();
  });

  it("stays stopped when whoever drove it comes back", async () => {
    const env = agent(`echo x >> "$NOTES/back"; sleep 60; ${working}`);
    await workers({ a: { env, leaseSeconds: 2 } });
    const run = await submit(await project(one));
    const driver = await atWorkOn(run);
    driver.signal("SIGSTOP");
    const stopped = await rig.autodev(["stop", "--engine=postgres", "--run", run]);
    driver.signal("SIGCONT");
    expect([stopped.code, stateOf(run)]).toEqual([0, "halted"]);
    await pause(6000);
    expect([stateOf(run), read("back").length]).toEqual(["halted", 1]);
  });

  it("stays stopped when whoever was asked to stop it dies first", async () => {
    const env = agent(`echo x >> "$NOTES/asked"; sleep 60; ${working}`);
    await workers({ a: { env, leaseSeconds: 2 } });
    const run = await submit(await project(one));
    const driver = await atWorkOn(run);
    driver.signal("SIGSTOP");
    // As it has just written down.
    rig.sqlRun(`UPDATE autodev.runs SET stopping = 'now' WHERE id = '${run}'`);
    await driver.kill();
    await workers({ b: { env, leaseSeconds: 2 } });
    await rests(run, "halted");
    await pause(3000);
    expect([stateOf(run), read("asked").length]).toEqual(["halted", 1]);
  });

  it("begins nothing after a phase that it was to stop after, whoever drives it then", async () => {
    const env = agent(
      `echo "$AUTODEV_PHASE" >> "$NOTES/last"; while [ ! -e "$NOTES/last-over" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env, leaseSeconds: 2 } });
    const run = await submit(await project(chain));
    const driver = await atWorkOn(run);
    const stopped = rig.autodev(["stop", "--after-phase", "--engine=postgres", "--run", run]);
    const stopping = `SELECT 1 AS said FROM autodev.runs WHERE id = '${run}' AND stopping = 'after-phase'`;
    await until("it is written down", () => rig.sql(stopping).length > 0, 20_000);
    await driver.kill();
    fs.writeFileSync(at("last-over"), "");
    await workers({ b: { env, leaseSeconds: 2 } });
    await rests(run, "halted");
    expect((await stopped).code).toBe(0);
    expect(read("last")).toEqual(["1"]);
  });

  it("tries a phase again for whom nobody drove it just then", async () => {
    const phases = planOf([{ id: "1" }, { id: "2" }]);
    const fails = `[ "$AUTODEV_PHASE" = 2 ] || [ -e "$NOTES/unheard" ] || exit 1`;
    const env = agent(`${fails}; [ -e "$NOTES/unheard" ] || sleep 60; ${working}`);
    await workers({ a: { env, leaseSeconds: 2 } });
    const run = await submit(await project(phases), ["--attempts=1"]);
    const failed = () => eventsOf(run).filter(({ type }) => type === "attempt-failed");
    await until("phase 1 has failed", () => failed().length === 1, 30_000);
    await workerOf("a").kill();
    rig.workers.clear();
    fs.writeFileSync(at("unheard"), "");
    await pause(2500);
    const again = rig.autodev(["retry", "1", "--run", run, "--note=mind the gap"], { cwd: notes });
    const said = `SELECT 1 AS said FROM autodev.runs WHERE id = '${run}' AND submitted #> '{options,retries,0}' IS NOT NULL`;
    await until("it is said", () => rig.sql(said).length > 0, 20_000);
    await workers({ b: { env, leaseSeconds: 2 } });
    await rests(run);
    expect((await again).all).toContain("2 of 2 phases complete");
    expect(eventsOf(run).filter(({ type }) => type === "note-given").length).toBe(1);
    expect(rig.sql(said)).toEqual([]);
  });

  it("is not driven on by a look that is older than its stop", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const { database } = fleet.value;
    const run = "r00000000ae";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, wanted, driven)
      VALUES ('${run}', 'plan', 'nowhere', 't', '{}', '1', 'halted', 2, 2)`);
    expect(await wantDriven(database, run, "1", { unheard: 2 })).toBe(undefined);
    expect(await wantDriven(database, run, "1", { isDue: true })).toBe(undefined);
    expect(await wantDriven(database, run, "1", {})).toBe(3);
    rig.sqlRun(`UPDATE autodev.runs SET stopping = 'now' WHERE id = '${run}'`);
    expect(await runDriving(database, { id: run, epoch: 0 })).toBe(undefined);
    rig.sqlRun(`UPDATE autodev.runs SET stopping = 'after-phase' WHERE id = '${run}'`);
    expect(await runDriving(database, { id: run, epoch: 0 })).toEqual({ stopping: "after-phase" });
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false WHERE id = '${run}'`);
    await fleet.value.close();
  });

  it("keeps an agent's place for whoever is woken up for it, and no longer than that takes", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const { database } = fleet.value;
    rig.sqlRun("INSERT INTO autodev.agents (agent, at_once) VALUES ('kept', 1)");
    for (const id of ["r00000000af", "r00000000b0"])
      rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state)
        VALUES ('${id}', 'flow', 'nowhere', '${id}', '{}', '1', 'waiting')`);
    const wish = (run: string, task: string) => ({ agent: "kept", run, task: `${run}/${task}` });
    const [first, second] = [wish("r00000000af", "flow/1"), wish("r00000000b0", "flow/1")];
    const take = async (...at: [typeof first, number?]) => (await takePlace(database, ...at)).is;
    const isOver = ({ task }: typeof first): void =>
      rig.sqlRun(`UPDATE autodev.agent_uses SET kept_until = now() WHERE task = '${task}'`);
    expect([await take(first, 30), await take(second)]).toEqual(["admitted", "waits"]);
    isOver(first);
    expect([await take(second, 30), await take(first)]).toEqual(["admitted", "waits"]);
    // It is woken up under another name, and has it for as long as it takes.
    const woken = wish("r00000000b0", "flow/2");
    await inheritPlace(database, woken);
    expect([await take(woken), await take(first, 30)]).toEqual(["admitted", "waits"]);
    isOver(first);
    expect(await take(first)).toBe("waits");
    // Whoever takes it over from one that was killed has his place, too.
    const takenOver = wish("r00000000b0", "flow/3");
    await inheritPlace(database, takenOver);
    expect([await take(takenOver), await take(first)]).toEqual(["admitted", "waits"]);
    // Whoever has left it, and asks again, is one more.
    await leavePlace(database, takenOver.task);
    expect([await take(first), await take(takenOver)]).toEqual(["admitted", "waits"]);
    // As long as it is tried again in a moment, its agents may be at work; else there are none.
    const state = (now: string): void =>
      rig.sqlRun(`UPDATE autodev.runs SET state = '${now}' WHERE id = '${first.run}'`);
    state("parked");
    expect(await take(takenOver)).toBe("waits");
    state("driving");
    expect(await rested(database, first.run, "halted")).toBe("rests");
    expect([await take(takenOver), await take(first)]).toEqual(["admitted", "waits"]);
    rig.sqlRun("DELETE FROM autodev.agents WHERE agent = 'kept'");
    await fleet.value.close();
  });

  it("does not go on by itself when it was stopped on its way to a rest from which it would", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const run = "r00000000b1";
    for (const how of ["now", "after-phase"]) {
      rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, stopping, wanted)
        VALUES ('${run}', 'flow', 'nowhere', 't', '{}', '1', 'driving', '${how}', 1)`);
      const until = "2020-01-01T00:00:00Z";
      expect(await rested(fleet.value.database, run, "parked", until)).toBe("rests");
      expect(await wantDriven(fleet.value.database, run, "1", { isDue: true })).toBe(undefined);
      const [row] = rig.sql(`SELECT state, outcome FROM autodev.runs WHERE id = '${run}'`);
      expect(row).toEqual({ state: "halted", outcome: { how: "interrupted" } });
      rig.sqlRun(`DELETE FROM autodev.runs WHERE id = '${run}'`);
    }
    await fleet.value.close();
  });

  it("is at no pause's rest that has been let go on meanwhile", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const run = "r00000000ac";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, wanted)
      VALUES ('${run}', 'plan', 'nowhere', 'r', '{}', '1', 'driving', 1)`);
    const rest = () => rested(fleet.value.database, run, "paused");
    expect(await rest()).toBe("wanted");
    rig.sqlRun("UPDATE autodev.fleet SET paused = true");
    expect(await rest()).toBe("rests");
    rig.sqlRun("UPDATE autodev.fleet SET paused = false");
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false WHERE id = '${run}'`);
    await fleet.value.close();
  });

  it("says that it is paused, with the way out, and stays stopped when all others go on", async () => {
    await workers({ a: { env: agent(working) } });
    await rig.autodev(["fleet", "pause"]);
    const of = await project(one);
    const built = await rig.build(of, ["--agent=mine", "--json"]);
    const summary = JSON.parse(built.out.trim().split("\n").at(-1) ?? "");
    const run = summary.run;
    expect([built.code, summary.status]).toEqual([5, "parked"]);
    expect(summary.notices).toEqual([expect.stringContaining(`autodev fleet resume ${run}`)]);
    const stopped = await rig.autodev(["stop", "--engine=postgres", "--run", run, "--json"]);
    expect([stopped.code, JSON.parse(stopped.out).status]).toEqual([0, "interrupted"]);
    await rig.autodev(["fleet", "resume"]);
    await pause(2000);
    expect(stateOf(run)).toBe("halted");
    const attached = await rig.autodev(["attach", "--run", run], { cwd: notes });
    expect(attached.code).toBe(130);
    // Over, and refused once on its way there: whoever follows it does not wait for more.
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false, state = 'parked',
      outcome = '{"how": "refused", "until": "2020-01-01T00:00:00Z"}' WHERE id = '${run}'`);
    await rig.autodev(["attach", "--run", run], { cwd: notes });
  });

  it("does the rest of a plan of which only a part was wanted before", async () => {
    await workers({ a: { env: agent(working) } });
    const of = await project(chain);
    expect((await rig.build(of, ["--agent=mine", "--only=1"])).code).toBe(0);
    expect(landedIn(of.remote, rig.env()).length).toBe(1);
    const whole = await rig.build(of, ["--agent=mine", "--json"]);
    expect([whole.code, whole.all]).toEqual([0, expect.not.stringContaining("as you wished")]);
    expect(landedIn(of.remote, rig.env()).length).toBe(2);
  });

  it("gives back what the queue says is ours and nobody has told us of", async () => {
    await workers({ a: { env: agent(working), leaseSeconds: 60 } });
    workerOf("a").signal("SIGSTOP");
    const run = await submit(await project(one));
    // As if the connection had broken behind the COMMIT of whoever took it.
    rig.sqlRun(`UPDATE dbos.workflow_status SET status = 'PENDING', executor_id =
      (SELECT id FROM autodev.workers WHERE state = 'active') WHERE workflow_uuid LIKE '${run}/drive/%'`);
    workerOf("a").signal("SIGCONT");
    await rests(run);
  });

  it("drives a run no further with which one worker after the other was lost", async () => {
    await workers({});
    const run = await submit(await project(one));
    rig.sqlRun(`INSERT INTO autodev.losses (task, worker)
      SELECT '${run}/drive/1', 'former-' || n FROM generate_series(1, 10) n`);
    await workers({ a: { env: agent(working) } });
    await rests(run, "halted");
    const outcome = `SELECT outcome -> 'failure' ->> 'code' AS code FROM autodev.runs WHERE id = '${run}'`;
    expect(rig.sql(outcome)).toEqual([{ code: "workers-lost" }]);
  });

  it("does not count workers against a run that it was driven by all the same", async () => {
    await workers({});
    const run = await submit(await project(one));
    rig.sqlRun(`INSERT INTO autodev.losses (task, worker)
      SELECT '${run}/drive/1', 'former-' || n FROM generate_series(1, 9) n`);
    await workers({ a: { env: agent(working) } });
    await rests(run);
    expect(rig.sql(`SELECT FROM autodev.losses WHERE task = '${run}/drive/1'`)).toEqual([]);
  });

  it("begins nothing that still lies there of a run that was stopped meanwhile", async () => {
    const env = agent(`echo x >> "$NOTES/stopped-late"; ${working}`);
    await workers({ a: { env, leaseSeconds: 2 }, b: { env, labels: ["gpu"], leaseSeconds: 60 } });
    workerOf("b").signal("SIGSTOP");
    const run = await submit(
      await project(one, settings("engine: { use: postgres, needs: [gpu] }\n")),
    );
    const lies = `SELECT 1 AS lies FROM dbos.workflow_status
      WHERE workflow_uuid LIKE '${run}/%' AND name = 'task' AND status = 'ENQUEUED'`;
    await until("its first task lies there", () => rig.sql(lies).length === 1, 30_000);
    await workerOf("a").kill();
    expect((await rig.autodev(["stop", "--engine=postgres", "--run", run])).code).toBe(0);
    workerOf("b").signal("SIGCONT");
    await until("it was taken", () => rig.sql(lies).length === 0, 30_000);
    await pause(2000);
    expect([stateOf(run), read("stopped-late"), eventsOf(run).at(-1)?.type]).toEqual([
      "halted",
      [],
      expect.not.stringContaining("baseline"),
    ]);
  });

  it("is wanted again neither while somebody holds it, nor because nobody could while the server was away", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const { database } = fleet.value;
    const run = "r00000000b2";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, wanted, epoch, holder, held_until, updated_at)
      VALUES ('${run}', 'plan', 'nowhere', 'u', '{"order": 1}', '1', 'waiting', 2, 1, '{}', now() + interval '1 minute', now() - interval '2 minutes')`);
    expect((await unheardRuns(database)).map(({ id }) => id)).not.toContain(run);
    rig.sqlRun(
      `UPDATE autodev.runs SET held_until = now() - interval '1 second' WHERE id = '${run}'`,
    );
    expect((await unheardRuns(database)).map(({ id }) => id)).toContain(run);
    // How it is to stop is known to whoever begins to drive it, whenever that was said.
    expect(await stopRun(database, { id: run, epoch: 1 }, "after-phase")).toBe(true);
    expect(await runDriving(database, { id: run, epoch: 1 })).toEqual({ stopping: "after-phase" });
    const silent = `UPDATE autodev.runs SET held_until = now() - interval '2 minutes', updated_at = now() - interval '2 minutes' WHERE id = '${run}'`;
    await rig.postgres.stop("immediate");
    await rig.postgres.start();
    rig.sqlRun(silent);
    expect(await runsDue(database)).not.toContain(run);
    await fleet.value.close();
  });

  it("is stopped for good though it was to be paused as well", async () => {
    const env = agent(`echo x >> "$NOTES/both"; sleep 60; ${working}`);
    await workers({ a: { env } });
    const run = await submit(await project(one));
    await atWorkOn(run);
    await rig.autodev(["fleet", "pause", run]);
    await pause(1500);
    await rig.autodev(["stop", "--engine=postgres", "--run", run]);
    await rests(run, "halted");
    await rig.autodev(["fleet", "resume", run]);
    await pause(2000);
    expect([stateOf(run), read("both").length]).toEqual(["halted", 1]);
  });

  it("keeps what others have said of it meanwhile when it is said anew, and the trust that comes with that", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const { database } = fleet.value;
    const run = "r00000000ad";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version)
      VALUES ('${run}', 'plan', 'nowhere', 's', '{"options": {"plan": "s", "jobs": 1}, "trust": "old"}', '1')`);
    const [first, second] = [{ phase: "1" }, { phase: "2", note: "mind the gap" }];
    await retryWanted(database, run, first);
    await describeAnew(database, run, { options: { jobs: 2 }, trust: "new" });
    await retryWanted(database, run, second);
    const [row] = rig.sql<{ submitted: unknown }>(
      `SELECT submitted FROM autodev.runs WHERE id = '${run}'`,
    );
    expect(row?.submitted).toEqual({
      options: { plan: "s", jobs: 2, retries: [first, second] },
      // Both: parts of the run were made with what was approved before.
      trust: "new,old",
    });
    await retryTaken(database, run, [first]);
    const left = `SELECT submitted #> '{options,retries}' AS retries FROM autodev.runs WHERE id = '${run}'`;
    expect(rig.sql(left)).toEqual([{ retries: [second] }]);
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false WHERE id = '${run}'`);
    await fleet.value.close();
  });

  it("is handed over only by whoever still has it, and nobody else has brought it to a rest", async () => {
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const run = "r00000000ab";
    rig.sqlRun(`INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version, state, wanted, epoch)
      VALUES ('${run}', 'plan', 'nowhere', 'q', '{}', '1', 'driving', 1, 5)`);
    const handOver = (epoch: number) =>
      wantDriven(fleet.value.database, run, "1", { handedOver: { epoch } });
    expect(await handOver(4)).toBe(undefined);
    expect(await handOver(5)).toBe(2);
    rig.sqlRun(`UPDATE autodev.runs SET state = 'halted' WHERE id = '${run}'`);
    expect(await handOver(5)).toBe(undefined);
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false WHERE id = '${run}'`);
    await fleet.value.close();
  });

  it("is stopped whatever was wanted of it before", async () => {
    const env = agent(`echo x >> "$NOTES/halted"; sleep 60; ${working}`);
    await workers({ a: { env } });
    const run = await submit(await project(one));
    await atWorkOn(run);
    rig.sqlRun(`UPDATE autodev.runs SET wanted = wanted + 1 WHERE id = '${run}'`);
    expect((await rig.autodev(["stop", "--engine=postgres", "--run", run])).code).toBe(0);
    await rests(run, "halted");
    await pause(2000);
    expect([stateOf(run), read("halted").length]).toEqual(["halted", 1]);
  });

  it("tries a phase again that had failed, with a word for whoever tries it, from any folder", async () => {
    const env = agent(
      `cat "$AUTODEV_BRIEF" > "$NOTES/brief"; [ -e "$NOTES/again" ] || exit 1; ${working}`,
    );
    await workers({ a: { env } });
    const of = await project(one);
    const failed = await rig.build(of, ["--agent=mine", "--attempts=1"]);
    const run = runIn(failed.all);
    expect([failed.code, failed.all]).toEqual([
      4,
      expect.stringContaining(`autodev retry 1 --run ${run}`),
    ]);
    const nowhere = await rig.autodev(["retry", "7", "--run", run], { cwd: notes });
    expect([nowhere.code, nowhere.all]).toEqual([2, expect.stringContaining("no phase 7")]);
    fs.writeFileSync(at("again"), "");
    const word = ["retry", "1", "--run", run, "--note=mind the gap"];
    const again = await rig.autodev(word, { cwd: notes });
    expect([again.code, again.all]).toEqual([0, expect.stringContaining("1 of 1 phases complete")]);
    expect(read("brief").join("\n")).toContain("mind the gap");
    const over = await rig.autodev(word, { cwd: notes });
    expect([over.code, over.all]).toEqual([2, expect.stringContaining("nothing to try again")]);
  });

  it("pauses a run or all of it, and goes on", async () => {
    const env = agent(`echo "$AUTODEV_PHASE" >> "$NOTES/pause"; sleep 1; ${working}`);
    await workers({ a: { env } });
    const of = await project(chain);
    const run = await submit(of);
    await until("it is at work", () => read("pause").length === 1);
    expect((await rig.autodev(["fleet", "pause", run])).code).toBe(0);
    await rests(run, "paused");
    expect(read("pause")).toEqual(["1"]);
    expect((await rig.autodev(["fleet", "pause"])).code).toBe(0);
    await rig.autodev(["fleet", "resume", run]);
    await pause(1500);
    expect(stateOf(run)).toBe("paused");
    expect((await rig.autodev(["fleet", "resume"])).code).toBe(0);
    await rests(run);
    expect(read("pause")).toEqual(["1", "2"]);
  });

  it("goes on with what was paused and let go on before it had come to its rest", async () => {
    const env = agent(
      `echo "$AUTODEV_PHASE" >> "$NOTES/briefly"; while [ ! -e "$NOTES/resumed" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env } });
    const run = await submit(await project(chain));
    await until("it is at work", () => read("briefly").length === 1);
    await rig.autodev(["fleet", "pause", run]);
    await pause(2500);
    await rig.autodev(["fleet", "resume", run]);
    fs.writeFileSync(at("resumed"), "");
    await rests(run);
    expect(read("briefly")).toEqual(["1", "2"]);
  });

  it("stops what nobody drives any more, and what would go on by itself", async () => {
    const env = agent(`echo $$ >> "$NOTES/orphan"; sleep 60; ${working}`);
    await workers({ a: { env } });
    const of = await project(one);
    const run = await submit(of);
    await until("it is at work", () => read("orphan").length === 1);
    await (await atWorkOn(run)).kill();
    const stopped = await rig.autodev(["stop", "--engine=postgres", "--run", run]);
    expect([stopped.code, stateOf(run)]).toEqual([0, "halted"]);
    // Whoever comes now finds nothing that is wanted.
    await workers({ b: { env: agent(working) } });
    await pause(3000);
    expect([stateOf(run), read("orphan").length]).toEqual(["halted", 1]);
    expect((await rig.build(of, ["--agent=mine"])).code).toBe(0);
  });

  it("keeps to what was settled for an agent on all workers together", async () => {
    const env = agent(`echo + >> "$NOTES/limit"; sleep 0.5; echo - >> "$NOTES/limit"; ${working}`);
    await workers({ a: { env, jobs: 3 }, b: { env, jobs: 3 } });
    await rig.autodev(["fleet", "limit", "mine", "--at-once=2"]);
    const of = await project(planOf(["1", "2", "3", "4"].map((id) => ({ id }))));
    const run = await submit(of);
    await rests(run);
    await rig.autodev(["fleet", "limit", "mine"]);
    let [now, most] = [0, 0];
    for (const mark of read("limit")) most = Math.max(most, (now += mark === "+" ? 1 : -1));
    expect(read("limit").length).toBe(8);
    expect(most).toBeLessThanOrEqual(2);
  });

  it("tells no agent and no gate where the database is", async () => {
    const dump = (name: string) =>
      `env > "${at(name)}"; cat /proc/$PPID/environ >> "${at(name)}" 2>/dev/null; true`;
    const env = { ...agent(`${dump("agent-env")}; ${working}`), FLEET_GATE: dump("gate-env") };
    const secret = rig.url.replace("autodev@", "autodev:hidden-word@");
    await workers({ a: { env: { ...env, PGPASSWORD: "hidden-word" }, url: secret } });
    await rests(await submit(await project(one)));
    for (const name of ["agent-env", "gate-env"]) {
      const seen = read(name).join("\n");
      expect(seen).toContain("AUTODEV_RUN_ID");
      expect(seen).not.toContain("hidden-word");
      expect(seen).not.toContain("AUTODEV_DATABASE_URL");
    }
  });

  it("never takes what it cannot replay, and goes on with what an older one left", async () => {
    await workers({ a: { env: agent(`echo "$AUTODEV_PHASE" >> "$NOTES/version"; ${working}`) } });
    const submitAs = async (version: string): Promise<string> => {
      const fleet = await openFleet({ url: rig.url, version });
      if (!fleet.ok) throw new Error(fleet.failure.message);
      const never = new AbortController().signal;
      const of = await project(one);
      const submitted = await submitPlan(
        fleet.value,
        of.repo,
        { plan: of.plan, commit: "auto", agent: "mine", trustSha256: of.trust },
        {
          ask: async () => ({ ok: true, value: undefined }),
          askTrust: async () => ({ ok: true, value: undefined }),
          by: "another version",
          signal: never,
          killNow: never,
          onEvent: () => {},
          onNews: () => {},
        },
      );
      await fleet.value.close();
      if (!submitted.ok) throw new Error(submitted.failure.message);
      return submitted.value.run;
    };
    const newer = await submitAs("2");
    const older = await submitAs("0");
    await rests(older);
    expect(stateOf(newer)).toBe("waiting");
    expect(read("version")).toEqual(["1"]);
    rig.sqlRun(`UPDATE autodev.runs SET is_open = false, state = 'over' WHERE id = '${newer}'`);
  });

  it("asks anew for what was left to a version that nobody has any more", async () => {
    const hangs = agent(`echo "$AUTODEV_PHASE" >> "$NOTES/left"; sleep 60; ${working}`);
    await workers({ a: { env: hangs, jobs: 1 } });
    const run = await submit(await project(planOf([{ id: "1" }, { id: "2" }])));
    await until("one is at work", () => read("left").length === 1);
    const waiting = `SELECT workflow_uuid FROM dbos.workflow_status WHERE workflow_uuid LIKE '${run}/%/work%' AND status = 'ENQUEUED'`;
    await until("the other waits", () => rig.sql(waiting).length === 1);
    await (await atWorkOn(run)).kill();
    rig.sqlRun(`UPDATE dbos.workflow_status SET application_version = '0' WHERE workflow_uuid LIKE '${run}/%/work%';
      UPDATE autodev.runs SET version = '0' WHERE id = '${run}'`);
    await workers({ b: { env: agent(working), jobs: 1 } });
    await rests(run);
    expect(eventsOf(run)).toContainEqual(
      expect.objectContaining({ reason: expect.stringContaining("of an older version") }),
    );
  });

  it("forgets what nobody asks for again, and keeps the history", async () => {
    await workers({ a: { env: agent(working) } });
    const run = await submit(await project(one));
    await rests(run);
    rig.sqlRun(`UPDATE autodev.runs SET updated_at = now() - interval '2 days' WHERE id = '${run}';
      UPDATE autodev.news SET at = now() - interval '2 days';
      INSERT INTO autodev.workers (id, name, host, pid, version, lane, jobs, capabilities, lease_ms, state, beat_at)
        VALUES ('yesterdays', 'y', 'h', 1, '1', 'l', 1, '{}', 1, 'gone', now() - interval '2 days')`);
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    const rowsIn = (table: string, where: string): number =>
      Number(rig.sql<{ n: string }>(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)[0]?.n);
    const tasks = (): number => rowsIn("dbos.workflow_status", `workflow_uuid LIKE '${run}/%'`);
    expect(tasks()).toBeGreaterThan(0);
    await forgetWhatIsOver(fleet.value);
    await fleet.value.close();
    expect(tasks()).toBe(0);
    // What the worker says last of all may come after that, and is of today.
    const past = "at < now() - interval '1 day'";
    expect(rowsIn("autodev.news", `run = '${run}' AND ${past}`)).toBe(0);
    expect(rowsIn("autodev.workers", "id = 'yesterdays'")).toBe(0);
    expect(eventsOf(run).at(-1)).toMatchObject({ type: "run-ended" });
  });

  const hasFaketime = spawnSync("faketime", ["--version"]).status === 0;
  it.skipIf(!hasFaketime)("agrees about the time on machines that do not", async () => {
    const env = { ...agent(working), FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    await workers({
      early: { env, through: ["faketime", "-f", "-10m"] },
      late: { env, through: ["faketime", "-f", "+10m"] },
    });
    const of = await project(chain);
    const run = await submit(of);
    await rests(run);
    const times = rig
      .sql<{ at: string }>(
        `SELECT transition ->> 'at' AS at FROM autodev.journal WHERE run = '${run}' ORDER BY seq`,
      )
      .map(({ at: when }) => Date.parse(when));
    const now = Date.now();
    // Not the first: it is of whoever submitted it.
    for (const time of times.slice(1)) expect(Math.abs(now - time)).toBeLessThan(60_000);
    expect(eventsOf(run).some(({ type }) => type === "attempt-interrupted")).toBe(false);
  });

  // ── what can be wrong ────────────────────────────────────────────────────────────────────────

  it("says which branch of the remote refuses, and goes on when it no longer does", async () => {
    await workers({ a: { env: agent(working) } });
    const of = await project(one);
    const hook = path.join(of.remote, "hooks", "update");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    fs.writeFileSync(
      hook,
      '#!/bin/sh\ncase "$1" in refs/heads/*) echo "protected"; exit 1;; esac\n',
      {
        mode: 0o755,
      },
    );
    const said = await rig.build(of, ["--agent=mine"]);
    expect(said.code).toBe(1);
    expect(said.all).toContain("refuses: remote: protected");
    fs.rmSync(hook);
    const again = await rig.build(of, ["--agent=mine"]);
    expect(again.code).toBe(0);
    expect(landedIn(of.remote, rig.env()).length).toBe(1);
  });

  it("does not do an attempt again because the remote was busy when it was sent", async () => {
    await workers({ a: { env: agent(`echo x >> "$NOTES/busy"; ${working}`) } });
    const of = await project(one);
    const hook = path.join(of.remote, "hooks", "update");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    const tries = at("busy-tries");
    fs.writeFileSync(
      hook,
      `#!/bin/sh\ncase "$1 $3" in *" 0000000"*) ;; refs/autobuild/*/1/1" "*) echo x >> '${tries}'; [ "$(wc -l < '${tries}')" -gt 2 ];; esac\n`,
      { mode: 0o755 },
    );
    const run = await submit(of);
    await rests(run);
    expect([read("busy"), read("busy-tries").length]).toEqual([["x"], 3]);
  });

  it("is not bound by what machines refused before; what is parked by that can be stopped", async () => {
    await workers({ a: { env: agent(working) } });
    const of = await project(one);
    const hook = path.join(of.remote, "hooks", "update");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    fs.writeFileSync(hook, '#!/bin/sh\ncase "$1" in *verified*) exit 1;; esac\n', { mode: 0o755 });
    const run = await submit(of);
    await rests(run, "parked");
    fs.rmSync(hook);
    expect((await rig.autodev(["stop", "--engine=postgres", "--run", run])).code).toBe(0);
    expect(stateOf(run)).toBe("halted");
    const again = await rig.build(of, ["--agent=mine"]);
    expect([again.code, again.all]).toEqual([0, expect.stringContaining(run)]);
    expect(landedIn(of.remote, rig.env()).length).toBe(1);
  });

  it("waits for a database that is too slow for a while", async () => {
    rig.sqlRun("ALTER DATABASE fleet SET statement_timeout = '400ms'");
    try {
      await workers({ a: { env: agent(`touch "$NOTES/slow"; ${working}`) } });
      const run = await submit(await project(chain));
      await until("it is at work", () => fs.existsSync(at("slow")));
      rig.sqlRun(
        "SET statement_timeout = 0; BEGIN; LOCK TABLE autodev.journal, autodev.runs, autodev.workers; SELECT pg_sleep(3); COMMIT",
      );
      await rests(run);
      expect(eventsOf(run).filter(({ type }) => type === "attempt-failed")).toEqual([]);
    } finally {
      rig.sqlRun("ALTER DATABASE fleet RESET statement_timeout");
    }
  });

  it("lets nobody begin anew what somebody still submits, however long that takes", async () => {
    await workers({ a: { env: agent(working) } });
    const of = await project(one);
    const hook = path.join(of.remote, "hooks", "pre-receive");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    const waits = `touch '${at("receiving")}'; while [ ! -e '${at("received")}' ]; do sleep 0.1; done`;
    fs.writeFileSync(hook, `#!/bin/sh\n${waits}\n`, { mode: 0o755 });
    const first = rig.build(of, ["--agent=mine", "--detach"]);
    await until("it is being sent", () => fs.existsSync(at("receiving")));
    rig.sqlRun("UPDATE autodev.runs SET created_at = now() - interval '1 minute' WHERE is_open");
    const second = rig.build(of, ["--agent=mine", "--detach"]);
    await pause(2000);
    fs.writeFileSync(at("received"), "");
    const said = await Promise.all([first, second]);
    expect(said.map(({ code, all }) => [code, runIn(all)])).toEqual([
      [0, expect.stringMatching(/^r/)],
      [0, runIn(said[0].all)],
    ]);
    await rests(runIn(said[0].all));
  });

  it("verifies anew on what somebody has pushed meanwhile", async () => {
    const env = agent(
      `touch "$NOTES/diverge"; while [ ! -e "$NOTES/pushed" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env } });
    const of = await project(one);
    const run = await submit(of);
    await until("it is at work", () => fs.existsSync(at("diverge")));
    const git = gitIn(of.repo, rig.env());
    fs.writeFileSync(path.join(of.repo, "theirs.txt"), "theirs\n");
    git("add", "theirs.txt");
    git("commit", "--quiet", "--message=theirs");
    git("push", "--quiet", "origin", "main");
    fs.writeFileSync(at("pushed"), "");
    await rests(run);
    expect(landedIn(of.remote, rig.env()).map(({ subject }) => subject)).toEqual([
      "theirs",
      "feat: part 1",
    ]);
  });

  it("runs nothing that was only pushed before people have approved it, and goes on then", async () => {
    const env = agent(
      `touch "$NOTES/theirs-$AUTODEV_PHASE"; while [ ! -e "$NOTES/theirs" ]; do sleep 0.1; done; ${working}`,
    );
    await workers({ a: { env, jobs: 1 }, b: { env, jobs: 1 } });
    const of = await rig.project(`p${++count}`, {
      plan: chain,
      agent: "mine",
      config: settings("", "sh check.sh"),
      files: { "check.sh": "true\n" },
    });
    const run = await submit(of);
    await until("it is at work", () => fs.existsSync(at("theirs-1")));
    const git = gitIn(of.repo, rig.env());
    fs.writeFileSync(path.join(of.repo, "check.sh"), `touch '${at("canary")}'\n`);
    git("commit", "--quiet", "--all", "--message=theirs");
    git("push", "--quiet", "origin", "main");
    fs.writeFileSync(at("theirs"), "");
    await rests(run, "asking");
    const refused = await rig.build(of, ["--agent=mine"]);
    expect([refused.code, refused.all]).toEqual([
      3,
      expect.stringMatching(/main has moved to .*, which changes what the run would start/),
    ]);
    expect(refused.all).toContain("check.sh");
    expect(landedIn(of.remote, rig.env()).map(({ subject }) => subject)).toEqual(["theirs"]);
    expect(fs.existsSync(at("canary"))).toBe(false);
    const trust = /--trust-sha256 ([0-9a-f]{64})/.exec(refused.all)?.[1] ?? "";
    const again = await rig.build({ ...of, trust }, ["--agent=mine"]);
    expect([again.code, again.all]).toEqual([0, expect.stringContaining(run)]);
    expect(landedIn(of.remote, rig.env()).map(({ subject }) => subject)).toEqual([
      "theirs",
      "feat: part 1",
      "feat: part 2",
    ]);
    expect(fs.existsSync(at("canary"))).toBe(true);
  });

  it("makes a damaged clone anew", async () => {
    const env = agent(`touch "$NOTES/damage-$AUTODEV_PHASE"; ${working}`);
    await workers({ a: { env, jobs: 1 } });
    const of = await project(chain);
    const run = await submit(of);
    await until("the first is done", () => fs.existsSync(at("damage-1")));
    const cache = path.join(rig.folder, "cache-a", "autodev-worker");
    // What all clones of a remote share, for whichever worker folder there is.
    for (const worker of fs.readdirSync(cache)) {
      for (const remote of fs.readdirSync(path.join(cache, worker))) {
        const shared = path.join(cache, worker, remote, "objects-1", "objects");
        if (!fs.existsSync(shared)) continue;
        for (const file of fs.readdirSync(shared, { recursive: true, encoding: "utf8" })) {
          const full = path.join(shared, file);
          if (!fs.statSync(full).isFile() || file.startsWith("info")) continue;
          fs.chmodSync(full, 0o600);
          fs.writeFileSync(full, "damaged");
        }
      }
    }
    await rests(run);
    expect(landedIn(of.remote, rig.env()).length).toBe(2);
  });

  it.each([
    [
      "an address that is none",
      { AUTODEV_DATABASE_URL: "mysql://x/y" },
      1,
      "none that can be used",
    ],
    ["no address", { AUTODEV_DATABASE_URL: "" }, 1, "needs to know where the database is"],
    [
      "nobody there",
      { AUTODEV_DATABASE_URL: "postgres://a@127.0.0.1:1/x" },
      1,
      "cannot be reached",
    ],
    ["a file that is not there", { AUTODEV_DATABASE_URL_FILE: "/nowhere" }, 1, "cannot be read"],
  ])("refuses %s, with the way out", async (_, env, code, words) => {
    const commands = [["fleet"], ["worker"], ["engine", "migrate"]];
    for (const said of await Promise.all(commands.map((each) => rig.autodev(each, { env })))) {
      expect([said.code, said.all]).toEqual([code, expect.stringContaining(words)]);
      expect(said.all).not.toContain("postgres://a@");
    }
  });

  it("refuses a user that there is not, tables that are absent, older or newer, a role without rights", async () => {
    const as = (url: string) => ({ env: { AUTODEV_DATABASE_URL: url } });
    const stranger = await rig.autodev(["fleet"], as(rig.url.replace("autodev@", "stranger@")));
    expect([stranger.code, stranger.all]).toEqual([
      1,
      expect.stringContaining("does not let us in"),
    ]);
    const empty = await rig.postgres.createDatabase("empty");
    const absent = await Promise.all(
      Array.from({ length: 10 }, () => rig.autodev(["worker"], as(empty))),
    );
    for (const { code, all } of absent) {
      expect([code, all]).toEqual([4, expect.stringContaining("has no tables of ours")]);
    }
    const migrated = await Promise.all(
      Array.from({ length: 10 }, () => rig.autodev(["engine", "migrate", "--json"], as(empty))),
    );
    expect(migrated.map(({ code, all }) => (code === 0 ? 0 : all))).toEqual(Array(10).fill(0));
    const fresh = migrated.filter(({ out }) => JSON.parse(out).from === 0);
    expect(fresh.length).toBe(1);
    rig.sqlRun("UPDATE autodev.schema_version SET version = 0", empty);
    const older = await rig.autodev(["fleet"], as(empty));
    expect([older.code, older.all]).toEqual([4, expect.stringContaining("autodev engine migrate")]);
    rig.sqlRun("UPDATE autodev.schema_version SET version = 99", empty);
    for (const command of [["fleet"], ["engine", "migrate"]]) {
      const newer = await rig.autodev(command, as(empty));
      expect([newer.code, newer.all]).toEqual([
        4,
        expect.stringContaining("newer than this autodev"),
      ]);
    }
    rig.sqlRun("UPDATE autodev.schema_version SET version = 1", empty);
    const hasty = `${empty}?options=-c%20synchronous_commit%3Doff`;
    const forgetful = await rig.autodev(["worker"], as(hasty));
    expect([forgetful.code, forgetful.all]).toEqual([
      1,
      expect.stringContaining("synchronous_commit is off"),
    ]);
    rig.sqlRun("CREATE ROLE nothing LOGIN");
    const without = await rig.autodev(["worker"], as(rig.url.replace("autodev@", "nothing@")));
    expect([without.code, without.all]).toEqual([1, expect.stringContaining("no right")]);
  });

  it("connects as the environment has it, and in the clear only when that was not forbidden", async () => {
    const nameless = rig.url.replace("autodev@", "");
    const plain = { AUTODEV_DATABASE_URL: nameless, PGUSER: "autodev" };
    const listed = await rig.autodev(["fleet"], { env: plain });
    expect([listed.code, listed.all]).toEqual([0, expect.any(String)]);
    for (const command of [["fleet"], ["worker"], ["engine", "migrate"]]) {
      const refused = await rig.autodev(command, { env: { ...plain, PGSSLMODE: "verify-full" } });
      expect([refused.code, refused.all]).toEqual([1, expect.stringContaining("SSL")]);
    }
  });

  it("works as a role that can neither make nor drop a table", async () => {
    rig.sqlRun("CREATE ROLE least LOGIN");
    const unknown = await rig.autodev(["engine", "migrate", "--role=nobody"]);
    expect([unknown.code, unknown.all]).toEqual([
      1,
      expect.stringContaining('CREATE ROLE "nobody"'),
    ]);
    expect(unknown.all).not.toContain("    at ");
    const granted = await rig.autodev(["engine", "migrate", "--role=least"]);
    expect(granted.code).toBe(0);
    const url = rig.url.replace("autodev@", "least@");
    await workers({ a: { env: agent(working), url } });
    const of = await project(one);
    const said = await rig.build(of, ["--agent=mine"], { env: { AUTODEV_DATABASE_URL: url } });
    expect([said.code, said.all]).toEqual([0, expect.stringContaining("1 of 1 phases complete")]);
    for (const act of [
      "CREATE TABLE autodev.mine (x int)",
      "DROP TABLE autodev.journal",
      "UPDATE autodev.schema_version SET version = 2",
      "CREATE SCHEMA mine",
    ]) {
      expect(() => rig.sqlRun(act, url)).toThrow(/permission denied|must be owner/);
    }
  });

  it.each([".", "..", ".hidden", "a/b", ""])("lets no worker be called %j", async (name) => {
    const refused = await rig.autodev(["worker", `--name=${name}`]);
    expect([refused.code, refused.all]).toEqual([2, expect.stringContaining("--name")]);
  });

  it.each([
    ["say that it is there", "UPDATE ON autodev.workers"],
    ["look after the others", "SELECT ON autodev.runs"],
  ])("ends a worker with an error that may no longer %s", async (_, right) => {
    const role = `former${++count}`;
    rig.sqlRun(`CREATE ROLE ${role} LOGIN`);
    await rig.autodev(["engine", "migrate", `--role=${role}`]);
    await workers({ a: { url: rig.url.replace("autodev@", `${role}@`) } });
    const worker = workerOf("a");
    rig.sqlRun(`REVOKE ${right} FROM ${role}`);
    await until("it says so", () => worker.said().includes("no right to that"), 10_000);
    expect(worker.isAlive()).toBe(true);
    await until("it has ended", () => !worker.isAlive(), 40_000);
    expect(await worker.ended).toBe(1);
    // Once while it waits, and as what it ends with.
    expect(worker.said().match(/no right to that: permission denied for table/g)?.length).toBe(2);
    expect(worker.said()).toContain("autodev engine migrate --role");
  });

  it("refuses what a fleet cannot do, before anything is begun", async () => {
    const of = await project(one);
    const files = await rig.build(of, ["--agent=mine", "--commit=message-only"]);
    expect([files.code, files.all]).toEqual([2, expect.stringContaining("message-only")]);
    gitIn(of.repo, rig.env())("remote", "remove", "origin");
    const lonely = await rig.build(of, ["--agent=mine"]);
    expect([lonely.code, lonely.all]).toEqual([2, expect.stringContaining("no remote origin")]);
    gitIn(of.repo, rig.env())("remote", "add", "origin", path.join(rig.folder, "nowhere.git"));
    const nowhere = await rig.build(of, ["--agent=mine"]);
    expect([nowhere.code, nowhere.all]).toEqual([1, expect.stringContaining("refuses")]);
    const left = `SELECT id FROM autodev.runs WHERE is_open AND remote LIKE '%${path.basename(of.remote)}'`;
    expect(rig.sql(left)).toEqual([]);
  });

  it("keeps what agents print where it was told, and what phases spell out needs no agent", async () => {
    const store = makeFolder("transcripts");
    await workers({ a: { args: [`--transcripts=${store}`] } });
    const of = await rig.project("spelled", { plan: planOf([spelled("1")]) });
    const said = await rig.build(of);
    expect(said.code).toBe(0);
    const kept = rig.sql<{ part: string; reference: string }>(
      "SELECT part, reference FROM autodev.transcripts ORDER BY part",
    );
    expect(kept.map(({ part }) => part)).toEqual(["verify", "work"]);
    const file = (kept[1]?.reference ?? "").replace("file://", "");
    expect(fs.readFileSync(file, "utf8")).toContain("attempt 1 at phase 1");
    const printed = await rig.autodev(["fleet", "log", runIn(said.all), "1"], {
      env: { AUTODEV_TRANSCRIPTS: store },
    });
    expect(printed.out).toContain("what it left is verified");
    // As they come: what cannot be had is said after what could.
    fs.rmSync((kept[0]?.reference ?? "").replace("file://", ""));
    const torn = await rig.autodev(["fleet", "log", runIn(said.all), "1"], {
      env: { AUTODEV_TRANSCRIPTS: store },
    });
    expect([torn.code, torn.out]).toEqual([1, expect.stringContaining("attempt 1 at phase 1")]);
    const none = await rig.autodev(["fleet", "log", runIn(said.all), "7"], {
      env: { AUTODEV_TRANSCRIPTS: store },
    });
    expect([none.code, none.all]).toEqual([
      2,
      expect.stringContaining("nothing is kept of phase 7"),
    ]);
  });
});
