/** A plan carried out by somebody's own agent: fetched, reported, checked; alone and beside the terminal. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { build, makeBuildRepo, plan, planOf, type Surroundings, startBuild } from "./build-rig.ts";
import { type Called, connect, type Era, type Host } from "./mcp-rig.ts";
import { autodevIn, eventually, gitIn, type Repo, sleep } from "./rig.ts";

const patience = 180_000;

/** Nobody spells anything out: only an agent can do it. */
const three = planOf([{ id: "1" }, { id: "2A", needs: ["1"] }, { id: "2B", needs: ["1"] }]);

const open: Host[] = [];
afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
});

async function host(repo: Repo, how: Parameters<typeof connect>[1] = {}): Promise<Host> {
  const connected = await connect(repo, { ...how, env: { ...gates(), ...how.env } });
  open.push(connected);
  return connected;
}

/** Passes on what is there before, and on a phase that has left its file. */
const gates = (gate = "true"): Record<string, string> => ({
  TEST_GATE: `[ -n "$AUTODEV_PHASE" ] || exit 0; ${gate}`,
  TEST_AGENT: "exit 1",
});

/** A repository whose commands a person has approved. */
async function makeTrusted(text = three, files: Record<string, string> = {}): Promise<Repo> {
  const repo = makeBuildRepo(text, files);
  await approve(repo);
  return repo;
}

async function approve(repo: Repo): Promise<void> {
  const asked = await repo.autodev("trust", plan, "--agent", "mine");
  const [, hash = ""] = /--sha256 ([0-9a-f]{64})/.exec(asked.all) ?? [];
  const granted = await repo.autodev("trust", plan, "--agent", "mine", "--sha256", hash);
  expect(granted.code, granted.all).toBe(0);
}

const fetch = (from: Host): Promise<Called> => from.call("next", { plan, commit: "auto" });

/** What an honest agent does with what it was given. */
function workIn({ folder, lease }: Called): void {
  const [, phase = ""] = lease.split("/");
  fs.mkdirSync(path.join(folder, "src"), { recursive: true });
  fs.writeFileSync(path.join(folder, "src", `${phase}.txt`), `part ${phase}\n`);
}

const reported = (from: Host, { lease }: Called): Promise<Called> =>
  from.call("report", {
    lease,
    status: "complete",
    commit_message: `feat: ${lease.split("/")[1]}`,
  });

const subjects = (repo: Repo): string[] =>
  repo.git("log", "--reverse", "--format=%s").trim().split("\n").slice(2);

const refs = (repo: Repo, under: string): string[] =>
  repo.git("for-each-ref", "--format=%(refname)", under).split("\n").filter(Boolean);

describe.each<Era>(["v1", "v2 as v1", "v2"])("with the official client, %s,", (era) => {
  it("a plan goes from its first phase to its verified end", { timeout: patience }, async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { era });
    expect((await agent.tools()).map(({ name }) => name).sort()).toEqual(
      "build_start,build_status,build_stop,decide,decisions,log,next,plan_check,report,status,sub_step".split(
        ",",
      ),
    );
    const heard: string[] = [];
    for (let phase = 0; phase < 3; phase++) {
      const work = await fetch(agent);
      expect(work.isError, work.text).toBe(false);
      expect(work.folder.startsWith(`${repo.root}/.autodev/var/`)).toBe(true);
      workIn(work);
      expect((await agent.call("sub_step", { lease: work.lease, name: "a-task" })).text).toContain(
        "yours until",
      );
      const { lease } = work;
      const told = await agent.call(
        "report",
        { lease, status: "complete", commit_message: `feat: ${lease.split("/")[1]}` },
        (line) => heard.push(line),
      );
      expect(told.text).toContain("Verified: phase");
    }
    expect(heard.filter((line) => line.startsWith("gate test"))).toHaveLength(3);
    expect((await fetch(agent)).text).toContain("3 of 3 phases");
    expect(subjects(repo)).toEqual(["feat: 1", "feat: 2a", "feat: 2b"]);
    expect(repo.git("status", "--porcelain")).not.toMatch(/^.M/m);
    expect(fs.existsSync(repo.at(".autodev/var"))).toBe(false);
    // What it says is what the terminal says.
    expect((await build(repo)).code).toBe(0);
    expect((await repo.autodev("audit", "HEAD~2..HEAD", "--no-gates")).code).toBe(0);
  });

  it("resources and prompts tell what there is", { timeout: patience }, async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { era });
    const work = await fetch(agent);
    expect(await agent.read("autodev://brief")).toContain("# Phase 1: Part 1");
    expect(await agent.read("autodev://plan")).toBe(three);
    expect(await agent.read("autodev://state")).toBe("");
    workIn(work);
    await reported(agent, work);
    expect(await agent.read("autodev://transcript/1")).toContain("has reported: complete");
    expect((await agent.prompts()).sort()).toEqual(["autobuild", "autodev", "status"]);
    expect(await agent.prompt("autobuild", { plan: "x.md" })).toContain("The plan: x.md");
  });
});

describe("a report", { timeout: patience }, () => {
  it("is a claim: what the gates refuse is given again, with what was wrong, and then no more", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { env: gates('grep -q right "src/$AUTODEV_PHASE.txt"') });
    const first = await fetch(agent);
    workIn(first);
    const refused = await reported(agent, first);
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain("Not accepted: phase 1 failed its verification");
    const second = await fetch(agent);
    expect(second.text).toContain("## What went wrong before");
    expect(second.folder).not.toBe(first.folder);
    workIn(second);
    expect((await reported(agent, second)).text).toContain("That was the last attempt");
    expect((await fetch(agent)).text).toContain("none can begin");
    // A person's word gives it another series.
    await repo.autodev("retry", "1", "--note", "write right", "--no-input");
    expect(subjects(repo)).toEqual([]);
  });

  it("without any work is not believed", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const told = await reported(agent, await fetch(agent));
    expect(told.isError).toBe(true);
    expect(subjects(repo)).toEqual([]);
  });

  it("counts once: a second one is told what became of the first", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    await reported(agent, work);
    const again = await reported(agent, work);
    expect(again.isError).toBe(true);
    expect(again.text).toContain("phase 1 was reported before, and has landed as");
    expect(subjects(repo)).toEqual(["feat: 1"]);
  });

  it.each([
    ["nonsense", "is no lease"],
    ["../../etc/passwd", "is no lease"],
    ["r0123456789/1/1/1", "there is no run r0123456789"],
    ["flow/1/1", "was never begun"],
  ])("with the lease %s is refused", async (lease, why) => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    await fetch(agent);
    const told = await agent.call("report", { lease, status: "complete" });
    expect(told.isError).toBe(true);
    expect(told.text).toContain(why);
    expect(told.text).toContain("next");
  });

  it("of a lease that was never given is refused", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const { lease } = await fetch(agent);
    const [run] = lease.split("/");
    for (const wrong of [`${run}/1/9/1`, `${run}/1/1/9`, `${run}/2a/1/1`, `${run}/zz/1/1`]) {
      const told = await agent.call("report", { lease: wrong, status: "complete" });
      expect(told.isError, wrong).toBe(true);
      expect(told.text, wrong).toContain("lease-lost");
    }
  });

  it("that says failed is a failed attempt, with its reason for the next one", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const { lease } = await fetch(agent);
    const error = { type: "dependency_missing", message: "there is no database" };
    const told = await agent.call("report", { lease, status: "failed", error });
    expect(told.text).toContain("there is no database");
    expect((await agent.call("build_status")).text).toContain("failed: dependency_missing");
  });

  it("of fifty megabytes ends nothing", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    const commit_message = "x".repeat(50 * 1024 * 1024);
    await expect(
      agent.call("report", { lease: work.lease, status: "complete", commit_message }),
    ).rejects.toThrow(/too long/);
    const large = { lease: work.lease, status: "complete", commit_message: "x".repeat(400_000) };
    expect((await agent.call("report", large)).text).toContain("is not taken");
    workIn(work);
    expect((await reported(agent, work)).text).toContain("Verified");
  });
});

describe("what is asked for in a wrong way", { timeout: patience }, () => {
  it("is told what is wrong with it", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    for (const [tool, args] of [
      ["next", { plan, colour: "red" }],
      ["report", { status: "complete" }],
      ["report", { lease: "x", status: "perhaps" }],
      ["decide", { id: "rm -rf", answer: "A" }],
      ["decide", { id: "d-000000000000", answer: "Z" }],
      ["log", { phase: "--follow" }],
      ["build_start", { plan, agent: "--json" }],
      ["no_such_tool", {}],
    ] as const) {
      const told = await agent.call(tool, args).catch((error: unknown) => ({
        isError: true,
        text: String(error),
      }));
      expect(told.isError, tool).toBe(true);
      expect(told.text.length, tool).toBeGreaterThan(20);
    }
    expect((await agent.call("next", { plan: "no-plan.md" })).text).toContain("no-plan.md");
    expect((await agent.call("plan_check", { plan: "--help" })).text).toContain("--help");
  });

  it("is nothing that a line of garbage could not be followed by", async () => {
    const repo = await makeTrusted();
    const input = ["not json", '{"jsonrpc":"2.0"', "\u0000\u0001", "[]", '{"id":1}'].join("\n");
    const ping =
      '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
    const ran = await autodevIn({ cwd: repo.root, input: `${input}\n${ping}\n` }, "mcp");
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('"id":7');
    expect(ran.out).toContain('"serverInfo"');
  });
});

describe("a repository that nobody has approved", { timeout: patience }, () => {
  it("runs nothing, and its agent cannot approve it", async () => {
    const repo = makeBuildRepo(three);
    const agent = await host(repo, { env: gates(`echo ran > ${repo.at("ran")}`) });
    const told = await fetch(agent);
    expect(told.isError).toBe(true);
    expect(told.text).toContain(`autodev trust ${plan}`);
    expect(told.text).not.toMatch(/[0-9a-f]{64}/);
    const started = await agent.call("build_start", { plan, commit: "auto", agent: "mine" });
    expect(started.isError).toBe(true);
    expect(started.text).not.toMatch(/[0-9a-f]{64}/);
    expect(repo.exists("ran")).toBe(false);
  });
});

describe("a lease", { timeout: patience }, () => {
  const short = (minutes: number): Record<string, string> => ({
    ".autodev/config.yaml": `gates:\n  test: eval "$TEST_GATE"\nagents:\n  mine:\n    command: eval "$TEST_AGENT"\n    confined: false\nbuild:\n  lease_minutes: ${minutes}\n`,
  });

  it("is given again, as it was, to whoever has it", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const first = await fetch(agent);
    workIn(first);
    const again = await agent.call("next");
    expect(again.lease).toBe(first.lease);
    expect(again.folder).toBe(first.folder);
    expect((await reported(agent, again)).text).toContain("Verified");
  });

  it("is never with two hosts: the second gets something else, or nothing", async () => {
    const repo = await makeTrusted();
    const [one, two] = [await host(repo), await host(repo)];
    const first = await fetch(one);
    const nothing = await fetch(two);
    expect(nothing.lease).toBe("");
    expect(nothing.text).toContain("phase 1 is with tester 1.0.0 until");
    workIn(first);
    await reported(one, first);
    const [a, b] = await Promise.all([fetchUntilGiven(one), fetchUntilGiven(two)]);
    expect(new Set([a, b].map(({ lease }) => lease.split("/")[1]))).toEqual(new Set(["2a", "2b"]));
    for (const [agent, work] of [
      [one, a],
      [two, b],
    ] as const) {
      workIn(work);
      expect((await reportedUntilTaken(agent, work)).text).toContain("Verified");
    }
    expect(subjects(repo).sort()).toEqual(["feat: 1", "feat: 2a", "feat: 2b"]);
  });

  it("that lapses gives the phase to the next who comes; the late report is refused and kept", async () => {
    const repo = await makeTrusted(three, short(0.02));
    const [one, two] = [await host(repo), await host(repo)];
    const first = await fetch(one);
    workIn(first);
    fs.writeFileSync(path.join(first.folder, "half.txt"), "half\n");
    await sleep(1500);
    const second = await fetch(two);
    expect(second.lease.split("/").slice(1)).toEqual(["1", "2", "1"]);
    fs.writeFileSync(path.join(first.folder, "later.txt"), "later\n");
    const late = await reported(one, first);
    expect(late.isError).toBe(true);
    const [, ref = ""] = /kept at (refs\/\S+)/.exec(late.text) ?? [];
    expect(repo.git("show", `${ref}:later.txt`)).toBe("later\n");
    expect(fs.existsSync(first.folder)).toBe(false);
    expect(refs(repo, "refs/autobuild").some((each) => each.includes("/interrupted/1-1"))).toBe(
      true,
    );
    workIn(second);
    expect((await reported(two, second)).text).toContain("Verified");
    expect(subjects(repo)).toEqual(["feat: 1"]);
  });

  it("that lapsed is still his whose it was, as long as nobody has taken it", async () => {
    const repo = await makeTrusted(three, short(0.02));
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    await sleep(1500);
    expect((await reported(agent, work)).text).toContain("Verified");
  });

  it("of a host that is gone goes on where it lay, with the next one", async () => {
    const repo = await makeTrusted();
    const gone = await host(repo);
    const first = await fetch(gone);
    fs.writeFileSync(path.join(first.folder, "half.txt"), "half\n");
    process.kill(gone.pid, "SIGKILL");
    const next = await host(repo);
    await eventually("it is given", async () => (await fetch(next)).lease !== "");
    const second = await next.call("next");
    expect(second.folder).toBe(first.folder);
    expect(second.lease.endsWith("/1/1/2")).toBe(true);
    // The first one's word does not count any more.
    const old = await next.call("report", { lease: first.lease, status: "complete" });
    expect(old.text).toContain("is with tester 1.0.0 now");
    workIn(second);
    expect((await reported(next, second)).text).toContain("Verified");
    expect(repo.git("show", "HEAD:half.txt")).toBe("half\n");
  });
});

describe("terminal and agent in one run", { timeout: patience }, () => {
  const byTerminal: Surroundings = {
    agent: 'mkdir -p src; echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; finish',
  };
  const args = ["--commit=auto", "--agent", "mine"];

  it.each([
    ["by the agent, then by the terminal", "agent"],
    ["by the terminal, then by the agent", "terminal"],
  ])("half %s: the same end", async (_, first) => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const one = async (): Promise<void> => {
      const work = await fetch(agent);
      workIn(work);
      expect((await reported(agent, work)).text).toContain("Verified");
    };
    if (first === "agent") {
      await one();
      expect((await build(repo, args, byTerminal)).code).toBe(0);
    } else {
      expect((await build(repo, [...args, "--only", "1"], byTerminal)).code).toBe(0);
      await one();
      await one();
    }
    expect((await fetch(agent)).text).toContain("3 of 3 phases");
    expect(repo.git("ls-tree", "-r", "--name-only", "HEAD", "src").split("\n").sort()).toEqual([
      "",
      "src/1.txt",
      "src/2a.txt",
      "src/2b.txt",
    ]);
    expect(repo.read(plan)).not.toContain("- [ ] Make part");
    expect(refs(repo, "refs/heads")).toEqual(["refs/heads/main"]);
    expect(fs.existsSync(repo.at(".autodev/var"))).toBe(false);
  });

  it("what was approved for the terminal is so after an agent has worked", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    await reported(agent, work);
    const ran = await startBuild(repo, args, byTerminal).ended;
    expect(ran.code, ran.all).toBe(0);
  });

  it("the terminal leaves alone what an agent has, and takes up its report while it runs", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const first = await fetch(agent);
    workIn(first);
    const run = startBuild(repo, [...args, "--jobs", "2"], { ...byTerminal, mode: false });
    await run.until(/phase 1 is with tester/);
    const told = await reported(agent, first);
    expect(told.text, told.text).toContain("Verified: phase 1 has landed");
    const ended = await run.ended;
    expect(ended.code, ended.all).toBe(0);
    expect(subjects(repo)).toHaveLength(3);
    expect((await reported(agent, first)).text).toContain("reported before");
  });

  it("with --no-wait the terminal says who has it, and leaves", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    await fetch(agent);
    const ran = await build(repo, [...args, "--no-wait"], byTerminal);
    expect(ran.code, ran.all).toBe(5);
    expect((await repo.autodev("status")).out).toContain("parked until");
  });

  it("a build that the agent starts runs in the background, and can be stopped", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { env: { TEST_AGENT: "sleep 60" } });
    const started = await agent.call("build_start", { plan, commit: "auto", agent: "mine" });
    expect(started.text, started.text).toContain('"run"');
    expect((await agent.call("next")).text).toMatch(/locked|holds/);
    await eventually("it works", async () =>
      (await agent.call("build_status")).text.includes("- 1 Part 1: working"),
    );
    expect((await agent.call("build_stop")).text).toContain('"running": true');
    expect((await agent.call("build_status")).text).toContain("interrupted");
  });
});

describe("while a phase is out,", { timeout: patience }, () => {
  const args = ["--commit=auto", "--agent", "mine"];

  it("a report of a run that was set aside is nobody's word for the next one", async () => {
    const repo = await makeTrusted();
    const [one, two] = [await host(repo), await host(repo)];
    const old = await fetch(one);
    workIn(old);
    // A run that was stopped before anybody could begin: its first attempt is yet to be made.
    const fresh = startBuild(repo, [...args, "--fresh"], {
      env: { TEST_GATE: "sleep 30" },
    });
    await eventually(
      "it has begun",
      async () => (await repo.events()).filter(({ type }) => type === "run-started").length === 2,
    );
    fresh.kill("SIGINT");
    await fresh.ended;
    const now = await fetch(two);
    expect(now.lease.split("/").slice(1)).toEqual(["1", "1", "1"]);
    const run = startBuild(repo, args, { mode: false });
    await run.until(/phase 1 is with tester/);
    const told = await reported(one, old);
    expect(told.isError, told.text).toBe(true);
    expect(fs.existsSync(now.folder)).toBe(true);
    run.kill("SIGINT");
    await run.ended;
    expect(subjects(repo)).toEqual([]);
    const again = await reported(one, old);
    expect(again.text).toContain("was set aside");
    const [, ref = ""] = /kept at (refs\/\S+)/.exec(again.text) ?? [];
    expect(repo.git("show", `${ref}:src/1.txt`)).toBe("part 1\n");
  });

  it("and taken out of the plan, what was done is kept", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    repo.write(plan, planOf([{ id: "7" }]));
    repo.git("commit", "--all", "--quiet", "--message=another plan");
    expect((await fetch(await host(repo))).lease).toContain("/7/1/1");
    expect(fs.existsSync(work.folder)).toBe(true);
    const told = await reported(agent, work);
    expect(told.isError).toBe(true);
    const [, ref = ""] = /kept at (refs\/\S+)/.exec(told.text) ?? [];
    expect(repo.git("show", `${ref}:src/1.txt`)).toBe("part 1\n");
  });

  it("and asked for otherwise by the plan, it is not called done", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    repo.write(plan, three.replace("Make part 1", "Remove the back door"));
    repo.git("commit", "--all", "--quiet", "--message=something else");
    const told = await reported(agent, work);
    expect(told.isError).toBe(true);
    expect(told.text).toContain("asks for something else now");
    expect(repo.read(plan)).toContain("- [ ] Remove the back door");
    expect((await fetch(agent)).text).toContain("Remove the back door");
  });

  it("what its agent has committed itself is kept when it comes too late", async () => {
    const repo = await makeTrusted(three, {
      ".autodev/config.yaml": `gates:\n  test: eval "$TEST_GATE"\nagents:\n  mine:\n    command: eval "$TEST_AGENT"\n    confined: false\nbuild:\n  lease_minutes: 0.02\n`,
    });
    const [one, two] = [await host(repo), await host(repo)];
    const first = await fetch(one);
    await sleep(1500);
    expect((await fetch(two)).lease).not.toBe("");
    workIn(first);
    const inTree = gitIn(first.folder);
    inTree("add", "--all");
    inTree("commit", "--quiet", "--message=mine");
    const late = await reported(one, first);
    const [, ref = ""] = /kept at (refs\/\S+)/.exec(late.text) ?? [];
    expect(repo.git("show", `${ref}:src/1.txt`)).toBe("part 1\n");
  });

  it("its folder can be removed by somebody: it is given anew", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const { folder } = await fetch(agent);
    fs.rmSync(folder, { recursive: true });
    const again = await fetch(agent);
    expect(again.folder).toBe(folder);
    workIn(again);
    expect((await reported(agent, again)).text).toContain("Verified");
  });

  it("a killed terminal that had taken its report up leaves it to the one who reports", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo);
    const work = await fetch(agent);
    workIn(work);
    const run = startBuild(repo, args, { mode: false, gate: "sleep 20" });
    await run.until(/phase 1 is with tester/);
    const telling = reported(agent, work);
    await eventually("it is delivered", async () =>
      (await repo.events()).some(({ type }) => type === "attempt-delivered"),
    );
    run.kill("SIGKILL");
    await run.ended;
    expect((await telling).text).toContain("Verified: phase 1 has landed");
    expect(subjects(repo)).toEqual(["feat: 1"]);
  });
});

describe("a review that a person wants", { timeout: patience }, () => {
  it("is not passed by an agent that comes for work", async () => {
    const repo = await makeTrusted();
    const held = await build(repo, ["--review", "--only", "1", "--agent", "mine", "--no-input"]);
    expect(held.code, held.all).toBe(3);
    const agent = await host(repo);
    for (const _ of ["2a", "2b"]) {
      const work = await fetch(agent);
      workIn(work);
      await reported(agent, work);
    }
    expect((await fetch(agent)).text).toContain("3 verified phases wait for review");
    expect(subjects(repo)).toEqual([]);
  });
});

describe("a decision", { timeout: patience }, () => {
  const red = { ...gates(), TEST_GATE: "exit 1" };

  it.each<Era>(["v1", "v2 as v1", "v2"])(
    "is asked the person directly where the host can, %s",
    async (era) => {
      const repo = await makeTrusted();
      let asked = "";
      const agent = await host(repo, {
        era,
        env: red,
        answers: (message) => {
          asked = message;
          return "A";
        },
      });
      const told = await fetch(agent);
      expect(told.isError).toBe(true);
      const [, id = ""] = /(d-[0-9a-f]{12})/.exec(told.text) ?? [];
      const answered = await agent.call("decide", { id });
      expect(answered.text, answered.text).toContain('"answer": "A"');
      expect(asked).toContain("A) ");
    },
  );

  it("is told, answered once, and its first answer stands", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { env: red });
    const told = await fetch(agent);
    expect(told.text).toContain("Do not answer it yourself.");
    const [, id = ""] = /(d-[0-9a-f]{12})/.exec(told.text) ?? [];
    expect((await agent.call("decisions")).text).toContain(id);
    expect((await agent.call("decide", { id, answer: "b" })).isError).toBe(false);
    expect((await agent.call("decide", { id, answer: "B" })).isError).toBe(false);
    const other = await agent.call("decide", { id, answer: "A" });
    expect(other.text).toContain("the first answer stands");
    // Without a form there is nobody to ask.
    const none = await agent.call("decide", { id: "d-0123456789ab" });
    expect(none.isError).toBe(true);
  });
});

describe("a client that vanishes", { timeout: patience }, () => {
  it("in the middle of a verification leaves nothing running, and nothing lost", async () => {
    const repo = await makeTrusted();
    const agent = await host(repo, { env: gates("sleep 30") });
    const work = await fetch(agent);
    workIn(work);
    void reported(agent, work).catch(() => {});
    await eventually("it is delivered", async () =>
      (await repo.events()).some(({ type }) => type === "attempt-delivered"),
    );
    await open.pop()?.close();
    await eventually("it has ended", () => !fs.existsSync(`/proc/${agent.pid}`));
    const next = await host(repo);
    const told = await fetch(next);
    expect(told.lease.split("/")[1]).toMatch(/^2/);
    expect(subjects(repo)).toEqual(["feat: 1"]);
  });
});

async function fetchUntilGiven(agent: Host): Promise<Called> {
  for (let tries = 0; tries < 60; tries++) {
    const work = await fetch(agent);
    if (work.lease !== "") return work;
    await sleep(250);
  }
  throw new Error("nothing was given");
}

async function reportedUntilTaken(agent: Host, work: Called): Promise<Called> {
  for (let tries = 0; ; tries++) {
    const told = await reported(agent, work);
    if (!/locked|does not answer/.test(told.text) || tries > 60) return told;
    await sleep(250);
  }
}
