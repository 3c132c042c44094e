/** Every engine keeps one contract, and its store another: this machine, and a fleet on a real PostgreSQL. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RunSite } from "../src/activities/run-site.ts";
import type { PlanRun } from "../src/core/plan/progress.ts";
import type { Carrier } from "../src/engines/postgres/carrier.ts";
import { dispatching } from "../src/engines/postgres/dispatch.ts";
import { agentLimited } from "../src/engines/postgres/rows/agents.ts";
import { newsAfter, tellNews } from "../src/engines/postgres/rows/news.ts";
import { createPostgresEngine, type Fleet, openFleet, protocol } from "../src/project/fleet.ts";
import { createLocalEngine } from "../src/project/local-engine.ts";
import { openPostgresStore, type PostgresStore } from "../src/stores/postgres.ts";
import { type EngineFiles, engineContract } from "../src/testing/engine-contract.ts";
import { storeContract } from "../src/testing/store-contract.ts";
import { type FleetRig, findPostgres, startFleet, until } from "../torture/fleet-rig.ts";
import { binary, makeFolder, plainEnvironment } from "./rig.ts";

/** Whole machines are waited for here, on one that other tests keep busy too. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const trusting = {
  askTrust: async () => ({ ok: true as const, value: true }),
  by: "the contract suite",
};

const gitIn =
  (repo: string) =>
  (...args: string[]): string => {
    const env = { ...plainEnvironment, GIT_CONFIG_GLOBAL: "/dev/null" };
    const named = ["-c", "user.name=Engines", "-c", "user.email=engines@example.invalid"];
    const { status, stdout, stderr } = spawnSync("git", [...named, ...args], {
      cwd: repo,
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout;
  };

function makeProject(files: EngineFiles): { repo: string; remote: string } {
  const repo = makeFolder("engine");
  const remote = `${repo}.git`;
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(repo, file)), { recursive: true });
    fs.writeFileSync(path.join(repo, file), text);
  }
  const git = gitIn(repo);
  git("init", "--quiet", "--initial-branch=main", "--template=");
  git("add", "--all");
  git("commit", "--quiet", "--message=first");
  git("clone", "--quiet", "--bare", "--template=", repo, remote);
  git("remote", "add", "origin", remote);
  return { repo, remote };
}

const publishedIn = (repo: string) => (): string[] =>
  gitIn(repo)("log", "--reverse", "--format=%s", "main").trim().split("\n").slice(1);

engineContract(
  "the local engine",
  async (files) => {
    const { repo } = makeProject(files);
    return {
      engine: createLocalEngine(repo, trusting),
      published: publishedIn(repo),
      end: async () => {},
    };
  },
  { describe, it, expect },
);

describe.skipIf(findPostgres() === undefined)("on PostgreSQL", () => {
  let rig: FleetRig;
  let fleet: Fleet;
  beforeAll(async () => {
    rig = await startFleet(makeFolder("fleet"), binary());
    for (const name of ["w1", "w2"]) rig.worker(name, { jobs: 3 });
    await until("two workers", () => [...rig.workers].every(({ said }) => said().includes("lane")));
    const opened = await openFleet({ url: rig.url });
    if (!opened.ok) throw new Error(opened.failure.message);
    fleet = opened.value;
  });
  afterAll(async () => {
    await fleet?.close();
    await rig?.end();
  });

  engineContract(
    "the engine on PostgreSQL",
    async (files) => {
      const { repo, remote } = makeProject(files);
      return {
        engine: createPostgresEngine(fleet, repo, trusting),
        published: publishedIn(remote),
        end: async () => {},
      };
    },
    { describe, it, expect },
  );

  let rows = 0;
  const openStore = async (): Promise<PostgresStore & { run: string }> => {
    const run = `r${String(rows++).padStart(10, "0")}`;
    rig.sqlRun(
      `INSERT INTO autodev.runs (id, kind, remote, plan, submitted, version) VALUES ('${run}', 'plan', '${run}', '', '{}', '1')`,
    );
    const store = await openPostgresStore({ database: fleet.database, run, leaseMs: 5000 });
    if (!store.ok) throw new Error(store.failure.message);
    return { ...store.value, run };
  };

  storeContract(
    "the store on PostgreSQL",
    openStore,
    { describe, it, expect },
    { snapshots: false },
  );

  it("a session that was overtaken can never write again", async () => {
    const store = await openStore();
    const holder = { pid: 1, host: "here", since: "now", command: "late" };
    const opened = await store.open(holder);
    if (!opened.ok) throw new Error(opened.failure.message);
    const session = opened.value;
    const said = (text: string) => ({
      at: "2026-01-01T00:00:00.000Z",
      run: "flow",
      events: [{ type: "blocker-raised" as const, text }],
    });
    expect((await session.append(0, said("in time"))).ok).toBe(true);
    rig.sqlRun(`UPDATE autodev.runs SET epoch = epoch + 1 WHERE id = '${store.run}'`);
    expect(await session.append(1, said("too late"))).toMatchObject({
      ok: false,
      failure: { code: "journal-fenced" },
    });
    const written = rig.sql(`SELECT seq FROM autodev.journal WHERE run = '${store.run}'`);
    expect(written.length).toBe(1);
    await session.release();
  });

  it("keeps all from an account that has nothing left, from no other that one had to wait for", async () => {
    /** What comes of an attempt that its worker has parked, as whoever drives the run takes it in. */
    const parks = async (run: string, kind: "usage_limit" | "overloaded", until: string) => {
      const [phase, attempt, agent] = ["1", 1, "limited"] as const;
      const event = { type: "attempt-parked", phase, attempt, until, reason: kind, agent, kind };
      const done = { is: "performed", performed: { is: "done", events: [event] } };
      const hands = dispatching({
        database: fleet.database,
        carrier: {
          known: async () => undefined,
          load: async () => new Map(),
          enqueueTask: async () => {},
          outcomeOf: async () => ({ is: "done", done }),
        } as unknown as Carrier,
        run,
        remote: "",
        rests: () => 0,
        noteStop: () => {},
        version: protocol,
        needs: [],
        needsOf: () => [],
        accountOf: (name) => name,
        limits: () => ({}),
        handOver: new AbortController().signal,
      });
      const { signal } = new AbortController();
      const site = { signal, killNow: signal, held: { head: { seq: 0 } }, tell() {} };
      const state = { is: "working", attempt, agent };
      const order = [{ id: phase, dependsOn: [] }];
      const phases = [{ id: phase, state, attempts: attempt }];
      const at = {
        site: site as unknown as RunSite,
        run: { tip: "", order, phases } as unknown as PlanRun,
      };
      expect(await hands.perform(at.site, { do: "work", phase, slot: 0 }, at.run)).toEqual(
        done.performed,
      );
    };
    const limit = (): unknown =>
      rig.sql("SELECT limited_until, reason FROM autodev.agents WHERE agent = 'limited'");
    const [soon, later] = ["2030-01-01T00:00:00+00:00", "2030-01-02T00:00:00+00:00"];
    await parks("rone", "overloaded", later);
    expect(limit()).toEqual([]);
    await parks("rtwo", "usage_limit", later);
    await agentLimited(fleet.database, "limited", soon, "an earlier one");
    expect(limit()).toEqual([{ limited_until: later, reason: "usage_limit" }]);
    // People may know that there is something left again.
    expect((await rig.autodev(["fleet", "limit", "limited"])).code).toBe(0);
    expect(limit()).toEqual([{ limited_until: null, reason: null }]);
  });

  it("takes half a character and U+0000, as a store of files does, and goes on", async () => {
    const store = await openStore();
    const opened = await store.open({ pid: 1, host: "here", since: "now", command: "odd" });
    if (!opened.ok) throw new Error(opened.failure.message);
    const said = (text: string) => ({
      at: "2026-01-01T00:00:00.000Z",
      run: "flow",
      events: [{ type: "blocker-raised" as const, text }],
    });
    expect(await opened.value.append(0, said("cut \ud83d, none \0"))).toMatchObject({ ok: true });
    expect(await opened.value.append(1, said("whole \ud83d\ude00"))).toMatchObject({ ok: true });
    const here = store.read();
    await opened.value.release();
    // Whoever wrote it reads what everybody else reads.
    const elsewhere = await openPostgresStore({ ...fleet, run: store.run, leaseMs: 5000 });
    if (!elsewhere.ok) throw new Error(elsewhere.failure.message);
    expect(elsewhere.value.read()).toEqual(here);
    expect(here).toMatchObject({
      value: { after: [said("cut \ufffd, none \ufffd"), said("whole \ud83d\ude00")] },
    });
    await tellNews(fleet.database, store.run, [{ line: "odd \udc00" }, { line: "even" }]);
    const told = await newsAfter(fleet.database, store.run, "0");
    expect(told.map(({ news }) => news)).toEqual([{ line: "odd \ufffd" }, { line: "even" }]);
  });
});
