/** A flow on a fleet: followed by a worker, answered from elsewhere, taken over when that is killed. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { wantRun } from "../src/engines/postgres/want.ts";
import { openFleet } from "../src/project/fleet.ts";
import { type FleetRig, findPostgres, startFleet, until } from "../torture/fleet-rig.ts";
import { type FlowProject, makeFlowProject } from "./flow-rig.ts";
import { binary, makeFolder, type Ran, run } from "./rig.ts";

/** Whole machines are waited for here, on one that other tests keep busy too. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

describe.skipIf(findPostgres() === undefined)("a flow on a fleet", () => {
  let rig: FleetRig;
  beforeAll(async () => {
    rig = await startFleet(makeFolder("fleet"), binary());
  });
  afterAll(() => rig?.end());

  const withRemote = async (): Promise<{ project: FlowProject; remote: string }> => {
    const project = await makeFlowProject();
    const remote = `${project.root}.git`;
    project.git("clone", "--quiet", "--bare", "--template=", project.root, remote);
    project.git("remote", "add", "origin", remote);
    return { project, remote };
  };
  const fleetEnv = (): Record<string, string> => {
    const { NODE_PATH = "", AUTODEV_DATABASE_URL = "" } = rig.env();
    return { NODE_PATH, AUTODEV_DATABASE_URL };
  };
  const flow = (project: FlowProject): Promise<Ran> =>
    run(process.execPath, [...project.command, "--agent=mine", "--engine=postgres"], {
      cwd: project.root,
      env: { ...project.environment, ...fleetEnv() },
      timeout: 120_000,
    });
  const subjects = (project: FlowProject, remote: string): string[] =>
    project.git("--git-dir", remote, "log", "--reverse", "--format=%s", "main").trim().split("\n");
  const decisionIn = ({ all }: Ran): string =>
    /autodev decide (d-[0-9a-f]{12})/.exec(all)?.[1] ?? "";

  it("goes to its next rest, tells its documents by commits, and is answered from any machine", async () => {
    const { project, remote } = await withRemote();
    rig.worker("a", { env: project.environment });
    const asked = await flow(project);
    expect([asked.code, asked.all]).toEqual([3, expect.stringContaining("DECISION REQUIRED")]);
    const before = subjects(project, remote);
    expect(before.length).toBeGreaterThan(1);
    // The state file came along, and says where the flow stands.
    const shown = project.git("--git-dir", remote, "show", "main:_docs/_autodev_state.md");
    expect(shown).toContain("flow: greenfield");
    const [worker] = rig.workers;
    await worker?.kill();
    rig.worker("b", { env: project.environment });
    const away = makeFolder("away");
    const decided = await rig.autodev(["decide", decisionIn(asked), "B", "--engine=postgres"], {
      cwd: away,
    });
    expect(decided.code).toBe(0);
    const run = /\br[0-9a-f]{10}\b/.exec(asked.all)?.[0] ?? "";
    const state = (): string =>
      rig.sql<{ state: string }>(`SELECT state FROM autodev.runs WHERE id = '${run}'`)[0]?.state ??
      "";
    await until("it goes on", () => subjects(project, remote).length > before.length, 90_000);
    await until("it rests", () => !["waiting", "driving"].includes(state()), 90_000);
    const said = await rig.autodev(["attach", "--run", run], { cwd: away });
    expect(said.all).toContain(`flow ${run}: `);
    // What somebody has approved meanwhile stands when it is said anew.
    const trusted = `submitted ->> 'trust' AS trust FROM autodev.runs WHERE id = '${run}'`;
    rig.sqlRun(
      `UPDATE autodev.runs SET submitted = submitted || '{"trust": "elsewhere"}' WHERE id = '${run}'`,
    );
    expect((await flow(project)).code).toBe(3);
    expect(rig.sql<{ trust: string }>(`SELECT ${trusted}`)[0]?.trust).toContain("elsewhere");
  });

  it("goes on elsewhere when its worker is killed, even where nobody of its kind is left", async () => {
    const { project } = await withRemote();
    for (const worker of rig.workers) await worker.kill();
    rig.worker("c", { env: project.environment, jobs: 1 });
    const asked = flow(project);
    const driving = (): string | undefined =>
      rig.sql<{ id: string }>("SELECT id FROM autodev.runs WHERE state = 'driving'")[0]?.id;
    await until("it is at work", () => driving() !== undefined);
    const run = driving() ?? "";
    await [...rig.workers].at(-1)?.kill();
    rig.worker("d", { env: project.environment, jobs: 3 });
    expect((await asked).code).toBe(3);
    const places = rig.sql<{ agent: string; ended_at: string | null }>(
      `SELECT agent, ended_at FROM autodev.agent_uses WHERE run = '${run}'`,
    );
    expect(places).toEqual([{ agent: "mine", ended_at: expect.any(String) }]);
  });

  it("is let alone by a second wish for as long as somebody is at it", async () => {
    const { project } = await withRemote();
    for (const worker of rig.workers) await worker.kill();
    project.behave({ "1": { slow: 2500 } });
    rig.worker("e", { env: project.environment, jobs: 2 });
    const asked = flow(project);
    const driving = (): string | undefined =>
      rig.sql<{ id: string }>("SELECT id FROM autodev.runs WHERE state = 'driving'")[0]?.id;
    await until("it is at work", () => driving() !== undefined);
    const run = driving() ?? "";
    const cache = path.join(rig.folder, "cache-e", "autodev-worker", "e");
    const clone = fs
      .readdirSync(cache, { recursive: true, encoding: "utf8" })
      .find((name) => name.endsWith(`${run}-drive`));
    // Each time that its tree is made anew, what nobody has committed yet is gone.
    const madeAnew = (): number =>
      fs
        .readFileSync(path.join(cache, clone ?? "", ".git", "logs", "HEAD"), "utf8")
        .split("\n")
        .filter((line) => line.includes("\tcheckout:")).length;
    const before = madeAnew();
    // Somebody has wanted it once more.
    const fleet = await openFleet({ url: rig.url });
    if (!fleet.ok) throw new Error(fleet.failure.message);
    await wantRun(fleet.value, run);
    await fleet.value.close();
    const second = `SELECT 1 AS taken FROM dbos.workflow_status WHERE workflow_uuid LIKE '${run}/flow/%' AND status = 'SUCCESS'`;
    await until("the second was taken", () => rig.sql(second).length > 0, 20_000);
    expect(madeAnew()).toBe(before);
    expect((await asked).code).toBe(3);
  });

  it("leaves its place on a machine to others while its agent has none", async () => {
    const { project } = await withRemote();
    for (const worker of rig.workers) await worker.kill();
    rig.worker("g", { env: project.environment, jobs: 1 });
    rig.sqlRun("INSERT INTO autodev.agents (agent, at_once) VALUES ('mine', 0)");
    const asked = flow(project);
    const waits = (): string | undefined =>
      rig.sql<{ waits: string }>(
        "SELECT waits FROM autodev.runs WHERE state = 'waiting' AND lacks IS NOT NULL",
      )[0]?.waits;
    await until("it has made room", () => waits() !== undefined, 90_000);
    expect(waits()).toBe("0 of 0 places for mine are taken");
    rig.sqlRun("DELETE FROM autodev.agents WHERE agent = 'mine'");
    expect((await asked).code).toBe(3);
  });

  it("begins no further step while it is paused, and goes on when it is resumed", async () => {
    const { project, remote } = await withRemote();
    for (const worker of rig.workers) await worker.kill();
    project.behave({ "1": { slow: 1500 } });
    rig.worker("f", { env: project.environment });
    const asked = flow(project);
    const stateOf = (run: string): string =>
      rig.sql<{ state: string }>(`SELECT state FROM autodev.runs WHERE id = '${run}'`)[0]?.state ??
      "";
    const driving = (): string | undefined =>
      rig.sql<{ id: string }>("SELECT id FROM autodev.runs WHERE state = 'driving'")[0]?.id;
    await until("it is at work", () => driving() !== undefined);
    const run = driving() ?? "";
    await rig.autodev(["fleet", "pause", run]);
    await until("it rests", () => stateOf(run) !== "driving", 90_000);
    expect(stateOf(run)).toBe("paused");
    const before = subjects(project, remote).length;
    await rig.autodev(["fleet", "resume", run]);
    await until("it goes on", () => stateOf(run) === "asking", 90_000);
    expect(subjects(project, remote).length).toBeGreaterThan(before);
    await asked;
  });

  it("refuses what workers would not see", async () => {
    const { project } = await withRemote();
    project.write("notes.md", "not committed\n");
    const refused = await flow(project);
    expect([refused.code, refused.all]).toEqual([4, expect.stringContaining("notes.md")]);
  });
});
