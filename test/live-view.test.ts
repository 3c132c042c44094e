/** `autodev build` as somebody sees it who sits before it: real runs, a real terminal, its screen. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  build,
  environmentOf,
  makeBuildRepo,
  makeMailbox,
  plan,
  planOf,
  type Surroundings,
  spelled,
  trustHash,
} from "./build-rig.ts";
import { atTerminal, eventually, type Repo, sleep, type Terminal } from "./rig.ts";
import { makeScreen, type ScreenOf } from "./screen.ts";

const patience = 120_000;

const phases = [
  { ...spelled("1"), name: "Ground work" },
  { ...spelled("2A", ["1"]), name: "Backend API" },
  { ...spelled("2B", ["1"]), name: "監査ログ 🔒" },
  { ...spelled("3", ["2A", "2B"]), name: "Integration" },
  { ...spelled("4", ["3"]), name: "A name that is much longer than anybody would want it to be" },
];
const ids = ["1", "2A", "2B", "3", "4"];
const spelledPlan = planOf(phases);
const vaguePlan = planOf(phases.map(({ id, name, needs }) => ({ id, name, needs })));

/** Works when the test says so: a file of the phase's name in the mailbox. */
const patiently = `echo "thinking about $AUTODEV_PHASE"
until [ -e "$MAILBOX/$AUTODEV_PHASE" ] || [ -e "$MAILBOX/all" ]; do sleep 0.05; done
mkdir -p src; echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; finish`;

interface Watched extends Terminal {
  readonly screen: ScreenOf;
  /** The screen, up to what was written by now. */
  look(): string[];
  sees(what: string | RegExp): Promise<void>;
  resizeTo(columns: number, rows: number): void;
  trust(): Promise<void>;
}

function watch(
  repo: Repo,
  options: Surroundings & {
    readonly args?: readonly string[];
    /** Another command than a build. */
    readonly words?: readonly string[];
    readonly columns?: number;
    readonly rows?: number;
  } = {},
): Watched {
  const { columns = 100, rows = 30, args = [] } = options;
  const words = options.words ?? ["build", plan, "--commit=auto", ...args];
  const terminal = atTerminal(repo.root, words, environmentOf(options), { columns, rows });
  const screen = makeScreen(columns, rows);
  let fed = 0;
  const look = (): string[] => {
    const text = terminal.shown();
    screen.write(text.slice(fed));
    fed = text.length;
    return screen.seen();
  };
  const sees = (what: string | RegExp): Promise<void> =>
    eventually(
      `${String(what)} on the screen`,
      () => {
        const text = look().join("\n");
        return typeof what === "string" ? text.includes(what) : what.test(text);
      },
      20_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}, but:\n${look().join("\n")}`);
    });
  return {
    ...terminal,
    screen,
    look,
    sees,
    resizeTo(width, height) {
      look();
      screen.resize(width, height);
      terminal.resize(width, height);
    },
    async trust() {
      await sees("A/B?");
      terminal.type("a");
    },
  };
}

const say = (mailbox: string, name: string): void => fs.writeFileSync(path.join(mailbox, name), "");

/** The frame is gone, the terminal is as it was, and the story is told from top to bottom. */
function expectLeftTidy(watched: Watched): string {
  watched.look();
  const all = watched.screen.all().join("\n");
  expect(watched.screen.cursorHidden()).toBe(false);
  expect(watched.screen.lost(), "columns that were counted wrongly").toBe(0);
  expect(all).not.toMatch(/[▒░]/u);
  return all;
}

describe("a run at a terminal", { timeout: patience }, () => {
  for (const columns of [60, 200]) {
    it(`of ${columns} columns, by apply: ends with the story and the summary, and no frame`, async () => {
      const watched = watch(makeBuildRepo(spelledPlan), { columns, rows: 20 });
      await watched.trust();
      expect(await watched.ended).toMatchObject({ code: 0 });
      const all = expectLeftTidy(watched);
      expect(watched.screen.frames()).toBeGreaterThan(4);
      for (const id of ids) {
        expect(all.match(new RegExp(`^✓ ${id} .*[0-9a-f]{7}`, "gm")), all).toHaveLength(1);
      }
      expect(all).toMatch(/^5 of 5 phases complete, \d+ s$/m);
      expect(all).toMatch(/→ look at it: git log --oneline [0-9a-f]{9}\.\.[0-9a-f]{9}/);
    });

    it(`of ${columns} columns, by a program: shows who works, who waits, and what was said`, async () => {
      const mailbox = makeMailbox();
      const watched = watch(makeBuildRepo(vaguePlan), {
        columns,
        rows: 24,
        agent: patiently,
        args: ["--agent=mine"],
        env: { MAILBOX: mailbox },
      });
      await watched.trust();
      await watched.sees("thinking about 1");
      expect(watched.screen.cursorHidden()).toBe(true);
      expect(watched.look().join("\n")).toMatch(/░ {2}0 of 5 · 1 at work/);
      say(mailbox, "1");
      await watched.sees("thinking about 2b");
      const rows = watched.look().map((row) => row.trimEnd());
      const row = (id: string): string => rows.find((each) => each.startsWith(` ${id} `)) ?? "";
      expect(
        rows.filter((each) => /^✓ 1 Ground work {2}[0-9a-f]{7} {2}\d+ s$/.test(each)),
      ).toHaveLength(1);
      expect(row("✓ 1 ")).toMatch(/Ground work +[0-9a-f]{7} +\d:\d\d$/);
      expect(row("▸ 2A")).toMatch(/Backend API +working +\d:\d\d/);
      expect(row("▸ 2B")).toMatch(/監査ログ 🔒 +working +\d:\d\d/);
      expect(row("○ 3 ")).toMatch(/Integration +waits for 2A, 2B$/);
      expect(row("○ 4 ")).toMatch(columns === 60 ? /A name that .*… waits for 3$/ : /waits for 3$/);
      say(mailbox, "all");
      expect(await watched.ended).toMatchObject({ code: 0 });
      expectLeftTidy(watched);
    });
  }

  it("survives being resized, typed at and told to draw itself again", async () => {
    const mailbox = makeMailbox();
    const watched = watch(makeBuildRepo(vaguePlan), {
      columns: 120,
      rows: 30,
      agent: patiently,
      args: ["--agent=mine"],
      env: { MAILBOX: mailbox },
    });
    await watched.trust();
    await watched.sees("thinking about 1");
    for (const [columns, rows] of [
      [60, 24],
      [100, 30],
      [44, 40],
      [180, 35],
    ] as const) {
      watched.resizeTo(columns, rows);
      watched.type("\r\rxyz\u001b[A\u000c");
      await sleep(1300);
      const seen = watched.look();
      expect(
        seen.filter((row) => row.includes("A feature")),
        seen.join("\n"),
      ).toHaveLength(1);
      expect(
        seen.filter((row) => row.includes("Ground work")),
        seen.join("\n"),
      ).toHaveLength(1);
      expect(seen.join("\n")).not.toContain("xyz");
    }
    say(mailbox, "all");
    expect(await watched.ended).toMatchObject({ code: 0 });
    expectLeftTidy(watched);
  });

  it("writes nothing but the seconds while nothing happens", async () => {
    const mailbox = makeMailbox();
    const watched = watch(makeBuildRepo(vaguePlan), {
      agent: patiently,
      args: ["--agent=mine"],
      env: { MAILBOX: mailbox },
    });
    await watched.trust();
    await watched.sees("thinking about 1");
    await sleep(500);
    watched.look();
    const [frames, bytes] = [watched.screen.frames(), watched.shown().length];
    await sleep(2500);
    watched.look();
    expect(watched.screen.frames() - frames).toBeLessThan(5);
    expect(watched.shown().length - bytes).toBeLessThan(1500);
    say(mailbox, "all");
    await watched.ended;
  });

  it("is asked inline: the frame makes way for the question and comes back after the answer", async () => {
    const mailbox = makeMailbox();
    const settings = 'agents:\n  mine: { command: eval "$TEST_AGENT", confined: false }\n';
    const repo = makeBuildRepo(vaguePlan, { ".autodev/config.yaml": settings });
    const watched = watch(repo, {
      agent: patiently,
      args: ["--agent=mine"],
      env: { MAILBOX: mailbox },
    });
    await watched.trust();
    await watched.sees(/no gate runs here: nothing would check[^]*A\/B\? $|A\/B\?$/);
    await watched.sees("no gate runs here: nothing would check");
    expect(watched.look().join("\n")).not.toMatch(/░/u);
    expect(watched.screen.cursorHidden()).toBe(false);
    watched.type("a");
    await watched.sees("thinking about 1");
    expect(watched.screen.cursorHidden()).toBe(true);
    expect(watched.look().join("\n")).toContain(
      "! no gate runs here: what is complete is unverified",
    );
    say(mailbox, "all");
    expect(await watched.ended).toMatchObject({ code: 0 });
    expect(expectLeftTidy(watched)).toContain("5 of 5 phases complete, unverified");
  });

  it("Ctrl-C asks the agents to stop, and says how to go on", async () => {
    const mailbox = makeMailbox();
    const watched = watch(makeBuildRepo(vaguePlan), {
      agent: patiently,
      args: ["--agent=mine"],
      env: { MAILBOX: mailbox },
    });
    await watched.trust();
    await watched.sees("thinking about 1");
    watched.type("\u0003");
    expect(await watched.ended).toMatchObject({ code: 130 });
    const all = expectLeftTidy(watched);
    expect(all.match(/stopping: agents are asked to end \(once more: at once\)/g)).toHaveLength(1);
    expect(all).toMatch(/^0 of 5 phases complete, \d+ s; interrupted$/m);
    expect(all).toContain(`→ go on: autodev build ${plan}`);
  });

  it("Ctrl-C twice ends at once, whatever the agent makes of it", async () => {
    const mailbox = makeMailbox();
    const watched = watch(makeBuildRepo(vaguePlan), {
      agent: `trap '' TERM INT HUP; ${patiently}`,
      args: ["--agent=mine"],
      env: { MAILBOX: mailbox },
    });
    await watched.trust();
    await watched.sees("thinking about 1");
    watched.type("\u0003");
    await watched.sees("stopping: agents are asked to end");
    const began = Date.now();
    watched.type("\u0003");
    expect(await watched.ended).toMatchObject({ code: 130 });
    // An agent that is only asked has longer than that.
    expect(Date.now() - began).toBeLessThan(4500);
    expectLeftTidy(watched);
  });

  it("gives the terminal back when it is quit", async () => {
    const watched = watch(makeBuildRepo(vaguePlan), {
      agent: patiently,
      args: ["--agent=mine"],
      env: { MAILBOX: makeMailbox() },
    });
    await watched.trust();
    await watched.sees("thinking about 1");
    watched.type("\u001c");
    expect((await watched.ended).signal).toBe(3);
    expectLeftTidy(watched);
  });

  it("a whole day: trusted by a key, resized, followed from a second terminal, stopped, resumed, interrupted, finished", async () => {
    const mailbox = makeMailbox();
    const repo = makeBuildRepo(vaguePlan);
    const around = { agent: patiently, env: { MAILBOX: mailbox } };
    const morning = watch(repo, { ...around, args: ["--agent=mine"], columns: 120, rows: 30 });
    await morning.trust();
    await morning.sees("thinking about 1");
    morning.resizeTo(62, 20);
    say(mailbox, "1");
    await morning.sees("thinking about 2b");
    const second = watch(repo, { ...around, words: ["attach"], columns: 80, rows: 24 });
    await second.sees(/▸ 2A Backend API +working/);
    expect(second.look().join("\n")).toMatch(/1 of 5 · 2 at work/);
    say(mailbox, "2a");
    await second.sees(/✓ 2A Backend API +[0-9a-f]{7}/);
    // Whoever leaves the second terminal leaves the run alone.
    second.type("\u0003");
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(expectLeftTidy(second)).toContain("goes on without you");
    const third = watch(repo, { ...around, words: ["attach"], columns: 60, rows: 16 });
    await third.sees("2 of 5");
    expect((await repo.autodev("stop")).out).toContain("2 of 5 phases");
    for (const each of [morning, third]) {
      expect(await each.ended).toMatchObject({ code: 130 });
      expect(expectLeftTidy(each)).toMatch(/2 of 5 phases complete, \d+ s; interrupted/);
    }
    const noon = watch(repo, { ...around, args: ["--agent=mine"] });
    await noon.sees("thinking about 2b");
    noon.type("\u0003");
    expect(await noon.ended).toMatchObject({ code: 130 });
    say(mailbox, "all");
    const evening = watch(repo, { ...around, args: ["--agent=mine"] });
    expect(await evening.ended).toMatchObject({ code: 0 });
    const all = expectLeftTidy(evening);
    expect(all).toMatch(/^5 of 5 phases complete, \d+ s$/m);
    // What stands above need not be said again, and what was said in the morning neither.
    for (const id of ["2B", "3", "4"]) {
      expect(all.match(new RegExp(`^✓ ${id} .*[0-9a-f]{7}`, "gm"))).toHaveLength(1);
    }
    expect(repo.git("log", "--format=%s").trim().split("\n")).toHaveLength(7);
  });

  it("NO_COLOR: the same without colours", async () => {
    const watched = watch(makeBuildRepo(spelledPlan), { env: { NO_COLOR: "1" } });
    await watched.trust();
    expect(await watched.ended).toMatchObject({ code: 0 });
    expectLeftTidy(watched);
    expect(watched.screen.frames()).toBeGreaterThan(4);
    expect(watched.screen.colours()).toBe(0);
  });
});

describe("lines instead of a view that moves", { timeout: patience }, () => {
  it.each([
    ["TERM=dumb", { TERM: "dumb" }, []],
    ["CI=1", { CI: "1" }, []],
    ["AUTODEV_NO_LIVE=1", { AUTODEV_NO_LIVE: "1" }, []],
    ["inside an agent", { CLAUDECODE: "1" }, []],
    ["--no-live", {}, ["--no-live"]],
  ] as const)("%s", async (_, env, args) => {
    const repo = makeBuildRepo(planOf(phases.slice(0, 1)));
    const hash = await trustHash(repo);
    const watched = watch(repo, { args: [...args, "--trust-sha256", hash], env });
    expect(await watched.ended).toMatchObject({ code: 0 });
    watched.look();
    const all = watched.screen.all().join("\n");
    expect(watched.screen.frames()).toBe(0);
    expect(watched.shown()).not.toContain("\u001b[?25");
    expect(all).toMatch(/^▸ 1 Ground work$/m);
    expect(all.match(/^✓ 1 Ground work {2}[0-9a-f]{7} {2}\d+ s$/gm)).toHaveLength(1);
  });

  it("in a pipe, with the first useful lines of a failure and not its last", async () => {
    const gate = `printf 'TAP version 13\\nnot ok 1 - refuses a wrong challenge\\n  ---\\n'
printf "  location: '%s/test/passkey.test.js:41:3'\\n  ...\\n# tests 1\\n# pass 0\\n# fail 1\\n" "$PWD"
echo 'npm error a complete log of this run is somewhere'; exit 1`;
    const ran = await build(makeBuildRepo(spelledPlan), [], { gate });
    expect(ran.code).toBe(4);
    expect(ran.all).not.toContain("\u001b");
    const test = "    test/passkey.test.js:41 refuses a wrong challenge";
    expect(ran.err).toMatch(/^✗ 1 Ground work: test failed: .* \(attempt 1 of 2\)$/m);
    expect(ran.err.split("\n")).toContain(test);
    expect(ran.out.split("\n")).toContain(test);
    expect(ran.all).not.toContain("a complete log");
  });
});
