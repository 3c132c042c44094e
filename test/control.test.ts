/** A run that is under way, and people who interfere from another terminal. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  expectComplete,
  expectSchema,
  expectTidy,
  makeBuildRepo,
  makeMailbox,
  makeToken,
  phaseFile,
  plan,
  planOf,
  startTrusted,
  subjects,
  survivors,
  vaguePhase,
  working,
} from "./build-rig.ts";
import { binary, errorOf, expectNoCrash, jsonOf, type Repo } from "./rig.ts";

const patience = 120_000;

/** Two that wait for nobody, and one that waits for both. */
const three = planOf([{ id: "1" }, { id: "2" }, { id: "3", needs: ["1", "2"] }]);

/** Says that it has begun, and works only when somebody has opened the door. */
const atTheDoor = `touch "$MAILBOX/began-$AUTODEV_PHASE"
  while [ ! -e "$MAILBOX/open" ]; do sleep 0.05; done; ${working}`;
const stubborn = `trap 'asked=1' TERM; touch "$MAILBOX/began-$AUTODEV_PHASE"
  while :; do sleep 0.1; [ -z "$asked" ] || echo tick >> "$MAILBOX/ticks"; done`;

async function underWay(repo: Repo, agent: string, ...args: string[]) {
  const [mailbox, token] = [makeMailbox(), makeToken()];
  const env = { MAILBOX: mailbox, TEST_TOKEN: token };
  const run = await startTrusted(repo, args, { agent, env });
  await arrived(mailbox, "began-1");
  const open = (): void => fs.writeFileSync(path.join(mailbox, "open"), "");
  return { ...run, mailbox, token, env, open };
}

const typesOf = async (repo: Repo): Promise<string[]> =>
  (await repo.events()).map(({ type }) => type);

describe("autodev stop", { timeout: patience }, () => {
  it("has the agents asked to end, waits for it, and the run goes on later", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const run = await underWay(repo, atTheDoor);
    const stopped = await repo.autodev("stop");
    expect(stopped.code, stopped.all).toBe(0);
    expect(stopped.out).toContain(`0 of 1 phases of ${plan} complete`);
    expect(stopped.out).toContain(`autodev build ${plan}`);
    const ran = await run.ended;
    expectNoCrash(ran);
    expect(ran.code).toBe(130);
    expect(survivors(run.token)).toEqual([]);
    expect(await typesOf(repo)).toContain("stop-asked");
    expectTidy(repo);
    expectComplete(await build(repo, [], { agent: working }));
  });

  it("a second time ends it at once, however stubborn the agent is", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const run = await underWay(repo, stubborn);
    expect((await repo.autodev("stop", "--no-wait")).code).toBe(0);
    await arrived(run.mailbox, "ticks");
    expect((await repo.autodev("stop")).code).toBe(0);
    expect((await run.ended).code).toBe(130);
    expect(survivors(run.token)).toEqual([]);
  });

  it("--after-phase lets what is under way land, and begins nothing more", async () => {
    const repo = makeBuildRepo(three);
    const run = await underWay(repo, atTheDoor, "--jobs=2");
    await arrived(run.mailbox, "began-2");
    const asked = await repo.autodev("stop", "--after-phase", "--no-wait", "--json");
    expectSchema(jsonOf(asked), "stop");
    expect(jsonOf(asked)).toMatchObject({ asked: "after-phase", status: "stopping" });
    run.open();
    const ran = await run.ended;
    expect(ran.code, ran.all).toBe(0);
    expect(subjects(repo)).toEqual([
      expect.stringMatching(/part [12]/),
      expect.stringMatching(/part [12]/),
      "plan",
      "first",
    ]);
    expect(phaseFile(repo, "3").status).toBe("pending");
    expectTidy(repo);
    expectComplete(await build(repo, [], { agent: working }));
  });

  it("says so where nothing is running, and leaves nothing in the inbox for later", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect((await repo.autodev("stop")).out).toBe("nothing is running here\n");
    expectComplete(await build(repo, [], { agent: working }));
    const ran = await repo.autodev("stop", "--json");
    expect(jsonOf(ran)).toMatchObject({ running: false, asked: null, status: "complete" });
    expectSchema(jsonOf(ran), "stop");
    const inbox = repo.at(".git/autodev/inbox");
    expect(fs.existsSync(inbox) ? fs.readdirSync(inbox) : []).toEqual([]);
  });

  it("names a run that does not answer, takes its word back, and tells how to end it", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const run = await underWay(repo, atTheDoor);
    run.kill("SIGSTOP");
    const stopped = await repo.autodev("stop", "--json");
    expect(stopped.code).toBe(4);
    expect(errorOf(stopped)).toMatchObject({
      code: "locked",
      hint: expect.stringContaining("kill"),
    });
    run.kill("SIGCONT");
    run.open();
    const ran = await run.ended;
    // What nobody heard in time is not obeyed later.
    expect(ran.code, ran.all).toBe(0);
    expect(await typesOf(repo)).not.toContain("stop-asked");
  });

  it("that was meant for a run which was killed does not stop the next one", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const run = await underWay(repo, atTheDoor);
    const holder = JSON.parse(repo.read(".git/autodev/lock")) as Record<string, string>;
    run.kill("SIGKILL");
    await run.ended;
    const message = { say: "stop", how: "now", by: "x", at: new Date(0).toISOString() };
    const to = `${holder["pid"]} ${holder["host"]} ${holder["since"]}`;
    repo.write(".git/autodev/inbox/1.json", JSON.stringify({ to, message }));
    repo.write(".git/autodev/inbox/2.json", "no message at all");
    expectComplete(await build(repo, [], { agent: working }));
    expect(fs.readdirSync(repo.at(".git/autodev/inbox"))).toEqual([]);
  });
});

/** Fails until its brief holds what somebody told it. */
const wiser = `cp "$AUTODEV_BRIEF" "$MAILBOX/brief-$AUTODEV_ATTEMPT.md"
  if grep -q "mind the gap" "$AUTODEV_BRIEF"; then ${working}; else exit 9; fi`;

describe("autodev retry", { timeout: patience }, () => {
  it("has a failed phase tried again, with the note in its brief, and the run goes on", async () => {
    const repo = makeBuildRepo(planOf([{ id: "2A" }, { id: "3", needs: ["2A"] }]));
    const mailbox = makeMailbox();
    const around = { agent: wiser, env: { MAILBOX: mailbox } };
    const first = await build(repo, ["--attempts=1"], around);
    expect(first.code, first.all).toBe(4);
    const retried = await build(repo, ["--note", "mind the gap\n```\n# not mine"], {
      ...around,
      program: [binary(), "retry"],
      plan: "2A",
      mode: false,
    });
    // Phase 3 was not told anything.
    expect(retried.code, retried.all).toBe(4);
    expect(phaseFile(repo, "2a").status).toBe("complete");
    expect(fs.readFileSync(path.join(mailbox, "brief-2.md"), "utf8")).toMatch(
      /says:\n\n````+text\nmind the gap\n```\n# not mine\n````+\n/,
    );
    const logged = await repo.events();
    expect(logged.find(({ type }) => type === "note-given")).toMatchObject({ phase: "2a" });
  });

  it("reaches a run that is under way: a phase that had failed for good is begun anew", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2" }]));
    const agent = `if [ "$AUTODEV_PHASE" = 1 ]; then ${atTheDoor}
      elif grep -q "mind the gap" "$AUTODEV_BRIEF"; then ${working}; else exit 9; fi`;
    const run = await underWay(repo, agent, "--attempts=1", "--jobs=2");
    await run.until("✗");
    const told = await repo.autodev("retry", "2", "--note", "mind the gap", "--json");
    expect(told.code, told.all).toBe(0);
    expectSchema(jsonOf(told), "retry");
    await run.until(/✓ 2 /);
    run.open();
    const ran = await run.ended;
    expect(ran.code, ran.all).toBe(0);
    expectTidy(repo);
  });

  it("refuses what cannot be tried again, by name", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect(errorOf(await repo.autodev("retry", "1", "--json"))).toMatchObject({ code: "usage" });
    expectComplete(await build(repo, [], { agent: working }));
    for (const [phase, words] of [
      ["1", "is complete"],
      ["9", "there is no phase 9"],
    ] as const) {
      const ran = await repo.autodev("retry", phase, "--json");
      expect(ran.code).toBe(2);
      expect(errorOf(ran).message).toContain(words);
    }
  });
});

describe("autodev build --detach and autodev attach", { timeout: patience }, () => {
  it("goes on without the terminal; attach follows it to its end, with its exit code", async () => {
    const repo = makeBuildRepo(three);
    const mailbox = makeMailbox();
    const around = { agent: atTheDoor, env: { MAILBOX: mailbox } };
    const started = await build(repo, ["--detach", "--json"], around);
    expect(started.code, started.all).toBe(0);
    const told = jsonOf<{ process: number; run: string; log: string }>(started);
    expectSchema(told, "build-detach");
    await arrived(mailbox, "began-1");
    expect((await repo.autodev("stop", "--json")).code).toBe(0);
    const again = await build(repo, ["--detach"], around);
    expect(again.out).toMatch(/is under way in process \d+\n.*autodev attach/);
    const attached = repo.autodev("attach");
    fs.writeFileSync(path.join(mailbox, "open"), "");
    const ran = await attached;
    expect(ran.code, `${ran.all}\n${fs.readFileSync(told.log, "utf8")}`).toBe(0);
    expect(ran.err).toMatch(/✓ 3 /);
    expect(ran.out).toContain("3 of 3 phases complete");
    expect(ran.all).not.toContain("\u001b");
    expect(subjects(repo)).toHaveLength(5);
    expectTidy(repo);
  });

  it("tells at once what keeps it from beginning", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const untrusted = await repo.autodev("build", plan, "--commit=auto", "--detach", "--json");
    expect(untrusted.code, untrusted.all).toBe(3);
    expect(errorOf(untrusted)).toMatchObject({ code: "untrusted" });
    const nonsense = await repo.autodev("build", "docs/none.md", "--commit=auto", "--detach");
    expect(nonsense.code).not.toBe(0);
    expect(nonsense.all).toContain("docs/none.md");
  });

  it("attach tells how the last run ended where nothing is under way", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect((await repo.autodev("attach")).code).toBe(2);
    expect((await build(repo, ["--attempts=1"], { agent: "exit 9" })).code).toBe(4);
    const ran = await repo.autodev("attach", "--json");
    const told = jsonOf(ran, 4);
    expectSchema(told, "build");
    expect(told).toMatchObject({ status: "halted" });
  });

  it("attach says so when whoever was at it is killed", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const run = await underWay(repo, atTheDoor);
    const attached = repo.autodev("attach");
    await new Promise((resolve) => setTimeout(resolve, 500));
    run.kill("SIGKILL");
    await run.ended;
    const ran = await attached;
    expect(ran.code, ran.all).toBe(130);
    expect(ran.out).toContain("0 of 1 phases complete");
  });
});
