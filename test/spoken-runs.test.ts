/** Runs by agents that are spoken to: limits, hand-overs, logins, budgets, deaths in the middle. */
import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import {
  build,
  decide,
  expectComplete,
  expectTidy,
  hashIn,
  makeBuildRepo,
  openDecision,
  phaseFile,
  plan as planFile,
  planOf,
  startBuild,
  startTrusted,
} from "./build-rig.ts";
import { makePuppets } from "./puppet-agents.ts";
import { binary, eventually, jsonOf, type LoggedEvent, type Repo, smallDisk } from "./rig.ts";

const patience = 120_000;
const gates = 'gates:\n  test: eval "$TEST_GATE"\n';
const one = planOf([{ id: "1" }]);
const two = planOf([{ id: "1" }, { id: "2", needs: ["1"] }]);

const repoWith = (plan: string, settings: string): Repo =>
  makeBuildRepo(plan, { ".autodev/config.yaml": gates + settings });

const eventsIn = async (repo: Repo): Promise<LoggedEvent[]> =>
  (await repo.autodev("log", "--json")).out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

const startsIn = async (repo: Repo): Promise<unknown[]> =>
  (await eventsIn(repo))
    .filter(({ type }) => type === "attempt-started")
    .map(({ phase, agent, continues }) => [phase, agent, continues]);

describe("an agent whose account has nothing left", { timeout: patience }, () => {
  it("is followed by the next, who goes on with what it had done and is told so", async () => {
    const puppets = makePuppets({
      claude: 'write("src/half.txt", "half\\n"); used(100); limit(3600);',
      codex: 'write("src/rest-" + phase + ".txt"); done();',
    });
    const repo = repoWith(two, "agent: claude\nagents: { claude: { fallback: [codex] } }\n");
    const ran = await build(repo, [], { env: puppets.env });
    expectComplete(ran);
    expect(await startsIn(repo)).toEqual([
      ["1", undefined, undefined],
      ["1", "codex", 1],
      // Nobody asks claude again: its account is known to be empty.
      ["2", "codex", undefined],
    ]);
    expect(puppets.told("claude")).toHaveLength(1);
    const [first] = puppets.told("codex");
    expect(first?.prompt).toContain("Somebody else began this");
    expect(first?.prompt).toContain("(claude)");
    expect(repo.read("src/half.txt")).toBe("half\n");
    expect(phaseFile(repo, "1")).toMatchObject({ attempt: 1, execution: { agent: "codex" } });
    expectTidy(repo);
  });

  it("is waited for where there is no other, and the same conversation goes on", async () => {
    const puppets = makePuppets({
      claude: `if (turn === 1) { write("src/half.txt"); limit(6); }
        if (!fs.existsSync("src/half.txt")) process.exit(1);
        write("src/rest.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\n");
    const parked = await build(repo, ["--no-wait"], { env: puppets.env });
    expect(parked.code, parked.all).toBe(5);
    const { runs } = jsonOf<{ runs: { until?: string }[] }>(await repo.autodev("status", "--json"));
    expect(runs[0]?.until).toMatch(/^2\d{3}-/);
    const ran = await build(repo, [], { env: puppets.env });
    expectComplete(ran);
    expect(await startsIn(repo)).toEqual([
      ["1", undefined, undefined],
      ["1", undefined, 1],
    ]);
    const [, second] = puppets.told("claude");
    expect(second?.args.join(" ")).toContain("--resume");
    expect(second?.prompt).toContain("You were interrupted");
    expect(repo.exists("src/half.txt")).toBe(true);
  });
});

describe("an agent that names a moment which is over", { timeout: patience }, () => {
  it("is asked once more, and then left alone for longer each time", async () => {
    const puppets = makePuppets({ claude: 'write("src/half.txt"); limit(-100);' });
    const repo = repoWith(one, "agent: claude\n");
    const parked = await build(repo, ["--no-wait"], { env: puppets.env });
    expect(parked.code, parked.all).toBe(5);
    expect(puppets.told("claude")).toHaveLength(2);
  });
});

describe("an agent that nobody is logged in to", { timeout: patience }, () => {
  it("is not asked again and again because nobody is there to log in", async () => {
    const puppets = makePuppets({ claude: "refuse(401);" });
    const repo = repoWith(one, "agent: claude\n");
    const asked = await build(repo, ["--decide=recommended"], { env: puppets.env });
    expect(asked.code, asked.all).toBe(3);
    expect(puppets.told("claude")).toHaveLength(1);
  });

  it("is a question, not a failure; when somebody has logged in it goes on", async () => {
    const puppets = makePuppets({ claude: 'turn === 1 ? refuse(401) : (write("a.txt"), done());' });
    const repo = repoWith(one, "agent: claude\n");
    const asked = await build(repo, [], { env: puppets.env });
    expect(asked.code, asked.all).toBe(3);
    expect((await openDecision(repo)).question).toContain("claude cannot work on phase 1");
    const ran = await build(repo, [], { env: puppets.env });
    expectComplete(ran);
    expect(phaseFile(repo, "1").attempt).toBe(1);
  });

  it("whose program is not there is one too, and it can be given up", async () => {
    const repo = repoWith(one, "agent: goose\n");
    const asked = await build(repo, [], {});
    expect(asked.code, asked.all).toBe(3);
    expect((await openDecision(repo)).question).toContain("goose is not on PATH");
    await decide(repo, "B");
    const ran = await build(repo, [], {});
    expect(ran.code, ran.all).toBe(4);
    expect(ran.all).toContain("given up: goose is not on PATH");
  });
});

describe("what agents may use up", { timeout: patience }, () => {
  it("stops an attempt that goes beyond it, keeps its work, and asks", async () => {
    const puppets = makePuppets({
      claude: `if (turn === 1) { write("src/half.txt"); used(900); used(900); await pause(60000); }
        used(10); write("src/rest.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\nbudget: { attempt: { tokens: 1000 } }\n");
    const asked = await build(repo, [], { env: puppets.env });
    expect(asked.code, asked.all).toBe(3);
    expect((await openDecision(repo)).question).toContain("1.8 k tokens used, of 1 k");
    await decide(repo, "A");
    const ran = await build(repo, [], { env: puppets.env });
    expectComplete(ran);
    expect(repo.exists("src/half.txt")).toBe(true);
    expect(phaseFile(repo, "1")).toMatchObject({ execution: { usage: { tokens: 1810 } } });
    expect(ran.all).toContain("1.8k tokens");
  });

  it("is asked anew when somebody takes up again what was given up", async () => {
    const puppets = makePuppets({
      claude: `used(900); if (turn === 1) { used(900); await pause(60000); } write("a.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\nbudget: { phase: { tokens: 1000 } }\n");
    await build(repo, [], { env: puppets.env });
    await decide(repo, "B");
    const givenUp = await build(repo, [], { env: puppets.env });
    expect(givenUp.code, givenUp.all).toBe(4);
    const again = await build(repo, [], { env: puppets.env });
    expect(again.code, again.all).toBe(3);
    await decide(repo, "A");
    await build(repo, [], { env: puppets.env });
    expect(puppets.told("claude")).toHaveLength(2);
  });

  it("is told to an agent that minds it itself, with what was added; it asks too", async () => {
    const puppets = makePuppets({
      claude: `const most = Number(argument("--max-budget-usd"));
        if (turn === 1) { used(10, 0.9); end({ subtype: "error_max_budget_usd", is_error: true }); }
        used(10, 1.5); if (most < 2) process.exit(1); write("a.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\nbudget: { attempt: { cost: 1 } }\n");
    const asked = await build(repo, [], { env: puppets.env });
    expect(asked.code, asked.all).toBe(3);
    await decide(repo, "A");
    expectComplete(await build(repo, [], { env: puppets.env }));
    expect(puppets.told("claude")).toHaveLength(2);
  });

  it("stays a number, whatever an agent says", async () => {
    const puppets = makePuppets({ claude: 'used(1e308); used(1.1e308); write("a.txt"); done();' });
    const none = "{ tokens: false, cost: false }";
    const repo = repoWith(
      one,
      `agent: claude\nbudget: { attempt: ${none}, phase: ${none}, run: ${none} }\n`,
    );
    expectComplete(await build(repo, [], { env: puppets.env }));
    const { usage } = jsonOf<{ runs: { usage: { tokens: number } }[] }>(
      await repo.autodev("status", "--json"),
    ).runs[0] as { usage: { tokens: number } };
    expect(usage.tokens).toBeGreaterThan(1e12);
    expect((await repo.autodev("doctor")).all).not.toContain("is not of a form");
  });

  it("is counted over all phases and all sessions", async () => {
    const puppets = makePuppets({ claude: 'write(phase + ".txt"); used(700, 0.5); done();' });
    const repo = repoWith(
      planOf([{ id: "1" }, { id: "2", needs: ["1"] }, { id: "3", needs: ["2"] }]),
      "agent: claude\nbudget: { run: { cost: 0.9 } }\n",
    );
    const asked = await build(repo, [], { env: puppets.env });
    expect(asked.code, asked.all).toBe(3);
    expect((await openDecision(repo)).question).toContain("$1.00 spent, of $0.90");
    const again = await build(repo, [], { env: puppets.env });
    expect(again.code, again.all).toBe(3);
    await decide(repo, "A");
    expectComplete(await build(repo, [], { env: puppets.env }));
    const { usage } = jsonOf<{ runs: { usage: object }[] }>(await repo.autodev("status", "--json"))
      .runs[0] as { usage: object };
    expect(usage).toMatchObject({ tokens: 2100, cost_usd: 1.5 });
  });
});

describe("a conversation that was cut off", { timeout: patience }, () => {
  it("by our own death goes on with what was there", async () => {
    const puppets = makePuppets({
      claude: `if (turn === 1) { used(50); write("src/half.txt"); await pause(60000); }
        if (!fs.existsSync("src/half.txt")) process.exit(1);
        write("src/rest.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\n");
    const first = await startTrusted(repo, [], { env: puppets.env });
    await eventually(
      "its session and its file",
      async () =>
        (await eventsIn(repo)).some(({ type }) => type === "session-opened") &&
        fs
          .readdirSync(repo.at(".autodev/var"))
          .some((name) => repo.exists(`.autodev/var/${name}/src/half.txt`)),
      20_000,
    );
    first.kill("SIGKILL");
    await first.ended;
    const ran = await build(repo, [], { env: puppets.env });
    expectComplete(ran);
    const [, second] = puppets.told("claude");
    expect(second?.args.join(" ")).toContain("--resume");
    expect(await startsIn(repo)).toEqual([
      ["1", undefined, undefined],
      ["1", undefined, 1],
    ]);
    expectTidy(repo);
  });
});

describe("what an agent says", { timeout: patience }, () => {
  it("is not taken for our own words", async () => {
    const puppets = makePuppets({
      claude: `fs.writeSync(1, "── gate test passed: exit code 0\\n"); write("a.txt"); done();`,
    });
    const repo = repoWith(one, "agent: claude\n");
    expectComplete(await build(repo, [], { env: puppets.env }));
    const { out } = await repo.autodev("log", "1", "--raw");
    expect(out.match(/^── gate test passed/gm)).toHaveLength(1);
    expect(out.match(/^ ── gate test passed/gm)).toHaveLength(1);
  });

  it("about what it used is on record soon, though it says nothing more", async () => {
    const puppets = makePuppets({ claude: "used(900); await pause(60000);" });
    const repo = repoWith(one, "agent: claude\n");
    const first = await startTrusted(repo, [], { env: puppets.env });
    const counted = async (): Promise<boolean> =>
      (await eventsIn(repo)).some(({ type }) => type === "usage-counted");
    await eventually("what it used", counted, 20_000);
    first.kill("SIGINT");
    await first.ended;
  });
});

describe("half-done work that git does not take up as it is", { timeout: patience }, () => {
  const commits = `require("node:child_process").execSync("git add -A && git commit -qm mine");`;
  const repository = `require("node:child_process").execSync("git init -q fixture");`;
  const goesOn = `if (!fs.existsSync("src/half.txt")) process.exit(1);
    fs.rmSync("fixture", { recursive: true, force: true }); write("src/rest.txt"); done();`;

  it.each([
    ["committed by the agent itself", commits],
    ["with a repository without commits in it", repository],
  ])("is there again after our death: %s", async (_, does) => {
    const puppets = makePuppets({
      claude: `if (turn === 1) { used(50); write("src/half.txt"); ${does} write("src/ready.txt"); await pause(60000); }
        ${goesOn}`,
    });
    const repo = repoWith(one, "agent: claude\n");
    const first = await startTrusted(repo, [], { env: puppets.env });
    await eventually(
      "its session and its file",
      async () =>
        (await eventsIn(repo)).some(({ type }) => type === "session-opened") &&
        fs
          .readdirSync(repo.at(".autodev/var"))
          .some((name) => repo.exists(`.autodev/var/${name}/src/ready.txt`)),
      20_000,
    );
    first.kill("SIGKILL");
    await first.ended;
    expectComplete(await build(repo, [], { env: puppets.env }));
    expect(puppets.told("claude")).toHaveLength(2);
    expect(repo.exists("src/half.txt")).toBe(true);
    expectTidy(repo);
  });

  it("is there again after a wait", async () => {
    const puppets = makePuppets({
      claude: `if (turn === 1) { write("src/half.txt"); ${repository} limit(2); }
        ${goesOn}`,
    });
    const repo = repoWith(one, "agent: claude\n");
    expectComplete(await build(repo, [], { env: puppets.env }));
    expect(puppets.told("claude")).toHaveLength(2);
    expect(repo.exists("src/half.txt")).toBe(true);
  });
});

describe("a disk that is full when an agent has ended", { timeout: patience }, () => {
  it("costs nothing of what it had done: it goes on with that when there is room", async ({
    skip,
  }) => {
    const disk = await smallDisk(24);
    if (typeof disk === "string") return skip(disk);
    try {
      const puppets = makePuppets({
        claude: `if (turn === 1) { write("src/half.txt"); limit(1); }
          if (turn === 2) {
            write("src/more.txt");
            try { for (let at = 0; ; at++) write("../../../filler/" + at, "x".repeat(100000)); } catch {}
            limit(1);
          }
          if (!fs.existsSync("src/more.txt")) process.exit(1);
          write("src/rest.txt"); done();`,
      });
      const source = repoWith(one, "agent: claude\nagents: { claude: { confined: false } }\n");
      const root = `${disk.folder}/project`;
      await disk.run("cp", "-a", source.root, root);
      const inPlace = ["env", `PATH=${puppets.env["PATH"]}`, "TEST_GATE=true", "sh", "-c"];
      const go = (...more: string[]): ReturnType<typeof disk.run> => {
        const words = [process.execPath, binary(), "build", planFile, "--commit=auto", ...more];
        const [command = "", ...args] = inPlace;
        return disk.run(command, ...args, 'cd "$0" && exec "$@"', root, ...words);
      };
      const trust = ["--trust-sha256", hashIn(await go()) ?? ""];
      const full = await go(...trust);
      expect(full.code, full.all).toBe(1);
      expect(full.err).toMatch(/space|ENOSPC/);
      const still = await go(...trust);
      expect(still.code, still.all).toBe(1);
      await disk.run("rm", "-r", `${root}/filler`);
      const ran = await go(...trust);
      expect(ran.code, ran.all).toBe(0);
      expect(puppets.told("claude")).toHaveLength(3);
      const files = await disk.run("ls", `${root}/src`);
      expect(files.out.split("\n")).toEqual(expect.arrayContaining(["half.txt", "more.txt"]));
    } finally {
      disk.end();
    }
  });
});

describe("walls around an agent", { timeout: patience }, () => {
  it("are not taken down by a repository without anybody's approval", async () => {
    const repo = repoWith(one, "agent: claude\nagents: { claude: { confined: false } }\n");
    const told = await startBuild(repo).ended;
    expect(told.code, told.all).toBe(3);
    expect(told.all).toContain('+ agent claude settings: {"confined":false}');
  });
});

describe("who does what", { timeout: patience }, () => {
  it("stands in the plan, else in the routes, else in the settings", async () => {
    const puppets = makePuppets({
      claude: 'write(phase + ".txt"); done();',
      codex: 'write(phase + ".txt"); done();',
    });
    const plan = planOf([{ id: "1" }, { id: "2" }, { id: "3" }]).replace(
      "### Phase 3: Part 3\n",
      "### Phase 3: Part 3\n\n**Agent**: codex\n",
    );
    const repo = repoWith(plan, "agent: claude\nroutes: [{ phase: '2', agent: codex }]\n");
    expectComplete(await build(repo, ["--jobs", "1"], { env: puppets.env }));
    expect(await startsIn(repo)).toEqual([
      ["1", undefined, undefined],
      ["2", "codex", undefined],
      ["3", "codex", undefined],
    ]);
    const forced = repoWith(plan, "agent: claude\nroutes: [{ phase: '2', agent: codex }]\n");
    expectComplete(await build(forced, ["--agent", "claude"], { env: puppets.env }));
    expect(new Set((await startsIn(forced)).map((each) => (each as unknown[])[1]))).toEqual(
      new Set([undefined]),
    );
  });

  it("names an agent that nobody knows, and where", async () => {
    const plan = one.replace("### Phase 1: Part 1\n", "### Phase 1: Part 1\n\nAgent: nobody\n");
    const ran = await build(repoWith(plan, "agent: claude\n"), [], {});
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain('phase 1 asks for the agent "nobody"');
  });
});

describe("an agent that is silent", { timeout: patience }, () => {
  it("is taken for dead, and that is a failed attempt", async () => {
    const puppets = makePuppets({
      claude: 'if (turn === 1) await pause(60000); write("a.txt"); done();',
    });
    const repo = repoWith(one, "agent: claude\nbuild: { idle_minutes: 0.03 }\n");
    expectComplete(await build(repo, [], { env: puppets.env }));
    const failed = (await eventsIn(repo)).find(({ type }) => type === "attempt-failed");
    expect(failed).toMatchObject({ error: { type: "timeout", kind: "idle_timeout" } });
  });
});

describe("quiet hours", { timeout: patience }, () => {
  it("begin nothing, and say when they end", async () => {
    const puppets = makePuppets({ claude: 'write("a.txt"); done();' });
    const now = new Date();
    const clock = (minutes: number): string => {
      const at = new Date(now.getTime() + minutes * 60_000);
      return at.toTimeString().slice(0, 5);
    };
    const quiet = `{ from: "${clock(-60)}", to: "${clock(60)}" }`;
    const repo = repoWith(one, `agent: claude\nbuild: { quiet: ${quiet} }\n`);
    const ran = await build(repo, ["--no-wait"], { env: puppets.env });
    expect(ran.code, ran.all).toBe(5);
    expect(puppets.told("claude")).toEqual([]);
  });
});
