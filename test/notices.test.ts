/** Notices through the built binary: who hears of what, by which way, and what can go wrong. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  build,
  config,
  expectSchema,
  hashIn,
  makeBuildRepo,
  makeMailbox,
  plan,
  planOf,
  type Surroundings,
  spelled,
  startBuild,
  startTrusted,
  vaguePhase,
  working,
} from "./build-rig.ts";
import {
  atTerminal,
  autodevIn,
  former,
  generation1,
  makeFolder,
  makeRepo,
  prompt,
  type Repo,
} from "./rig.ts";

interface NoticeView {
  readonly kind: string;
  readonly text: string;
  readonly [key: string]: unknown;
}

interface Person {
  readonly env: Readonly<Record<string, string>>;
  /** What their command was given, in the order of its coming. */
  notices(): NoticeView[];
  at(name: string): string;
}

/** Each notice becomes a file of what was read, and one of the variables. */
const keepIt = (mailbox: string): string =>
  `n=$(ls ${mailbox} | grep -c json$); cat > ${mailbox}/$n.json; env -0 > ${mailbox}/$n.env`;

/** Somebody with a configuration of their own. */
function makePerson(settings: (mailbox: string) => string): Person {
  const [home, mailbox] = [makeFolder("person"), makeMailbox()];
  fs.mkdirSync(path.join(home, "autodev"));
  fs.writeFileSync(path.join(home, "autodev", "config.yaml"), settings(mailbox));
  return personAt(home, mailbox);
}

const personAt = (home: string, mailbox: string): Person => ({
  env: { XDG_CONFIG_HOME: home, AUTODEV_NO_NOTIFY: "", DISPLAY: "", WAYLAND_DISPLAY: "" },
  notices: () =>
    fs
      .readdirSync(mailbox)
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => JSON.parse(fs.readFileSync(path.join(mailbox, name), "utf8")) as NoticeView),
  at: (name) => path.join(mailbox, name),
});

const withCommand = (command: string, more = ""): string =>
  `notify:\n  command: ${JSON.stringify(command)}\n${more}`;

const listening = (more = ""): Person =>
  makePerson((mailbox) => withCommand(keepIt(mailbox), more));

const around = (person: Person, more: Surroundings = {}): Surroundings => ({
  ...more,
  env: { ...person.env, ...more.env },
});

describe.concurrent("the user's own command hears", () => {
  it("of the end, with everything that there is to know", async () => {
    const person = listening();
    const repo = makeBuildRepo();
    const ran = await build(repo, [], around(person));
    expect(ran.code, ran.all).toBe(0);
    const [notice] = person.notices();
    expect(person.notices()).toHaveLength(1);
    expectSchema(notice, "notice");
    expect(notice).toMatchObject({
      kind: "end",
      title: "autodev: the run is complete",
      text: `${plan}: 1 of 1 phases complete`,
      root: repo.root,
      plan,
      run: expect.stringMatching(/^r[0-9a-f]{10}$/),
      decision: null,
    });
  });

  it("of a halt, and how it goes on", async () => {
    const person = listening();
    const repo = makeBuildRepo(vaguePhase);
    const more = { agent: "echo out of ideas; exit 9", gate: "true" };
    const ran = await build(repo, ["--agent", "mine", "--attempts", "1"], around(person, more));
    expect(ran.code, ran.all).toBe(4);
    expect(person.notices()).toMatchObject([
      { kind: "halt", command: `autodev build ${plan}`, title: "autodev: the run has halted" },
    ]);
    expect(person.notices()[0]?.text).toContain("1 failed: ");
  });

  it("of a usage limit, once", async () => {
    const person = listening();
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2" }]));
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const agent = `echo AUTODEV_LIMITED_UNTIL=${until}; exit 75`;
    const args = ["--agent", "mine", "--no-wait"];
    const ran = await build(repo, args, around(person, { agent }));
    expect(ran.code, ran.all).toBe(5);
    expect(person.notices()).toMatchObject([{ kind: "park" }]);
    expect(person.notices()[0]?.text).toContain(`parked until ${until}`);
  });

  it("of an interruption", async () => {
    const person = listening();
    const repo = makeBuildRepo(vaguePhase);
    const box = makeMailbox();
    const agent = `: > ${box}/began; sleep 60`;
    const underway = await startTrusted(repo, ["--agent", "mine"], around(person, { agent }));
    await underway.until("▸ 1");
    underway.kill("SIGINT");
    const ran = await underway.ended;
    expect(ran.code, ran.all).toBe(130);
    expect(person.notices()).toMatchObject([
      { kind: "end", title: "autodev: the run was interrupted" },
    ]);
  });

  it("of a decision in a run, with the command that answers it", async () => {
    const person = listening();
    const repo = makeBuildRepo();
    repo.write("README.md", "changed\n");
    const ran = await build(repo, [], around(person));
    expect(ran.code, ran.all).toBe(3);
    const [{ command, decision } = {} as NoticeView] = person.notices();
    expect(person.notices()).toMatchObject([{ kind: "decision", root: repo.root }]);
    expect(command).toMatch(/^autodev decide d-[0-9a-f]{12} [A-D]$/);
    expect((await repo.decisions()).map(({ id }) => id)).toEqual([decision]);
    const answered = await repo.autodev(...String(command).split(" ").slice(1));
    expect(answered.code, answered.all).toBe(0);
  });

  it("of a decision in a flow, but not of one that a recommendation answers", async () => {
    const person = listening();
    const repo = makeRepo({ [former]: generation1 });
    const ran = await repo.with(person.env);
    expect(ran.code).toBe(3);
    expect(person.notices()).toMatchObject([{ kind: "decision", run: null, plan: null }]);
    expect((await repo.with(person.env, "--decide", "recommended")).code).toBe(0);
    expect(person.notices()).toHaveLength(1);
  });

  it("only of what they want to hear of", async () => {
    const person = listening("  on: [halt]\n");
    const ran = await build(makeBuildRepo(), [], around(person));
    expect(ran.code, ran.all).toBe(0);
    expect(person.notices()).toEqual([]);
  });

  it("nothing in quiet hours, and nothing with AUTODEV_NO_NOTIFY", async () => {
    const hour = new Date().getHours();
    const pad = (each: number): string => String((each + 24) % 24).padStart(2, "0");
    const quiet = `  quiet: { from: "${pad(hour - 1)}:00", to: "${pad(hour + 2)}:00" }\n`;
    for (const person of [listening(quiet), listening()]) {
      const silent = person.env["XDG_CONFIG_HOME"];
      const env = silent && fs.readFileSync(path.join(silent, "autodev/config.yaml"), "utf8");
      const loud = env?.includes("quiet") ? {} : { AUTODEV_NO_NOTIFY: "1" };
      const repo = makeRepo({ [former]: generation1 });
      const started = Date.now();
      expect((await repo.with({ ...person.env, ...loud })).code).toBe(3);
      // What is held back keeps nobody waiting.
      expect(Date.now() - started).toBeLessThan(8000);
      expect(person.notices()).toEqual([]);
    }
  });
});

describe.concurrent("texts of others arrive as data", () => {
  const hostile = `it's "q" $(touch OWNED) \`touch OWNED\` ; touch OWNED & \\ %s \u001b[31mred é`;

  it("in the variables and in the JSON, byte by byte", async () => {
    const person = listening();
    const name = `$(touch OWNED) 'x' "y"\n\u001b]0;owned\u0007.md`;
    const repo = makeBuildRepo(undefined, { [`docs/${name}`]: planOf([spelled("1")]) });
    const ran = await build(repo, [], { ...around(person), plan: `docs/${name}` });
    expect(ran.code, ran.all).toBe(0);
    const [notice] = person.notices();
    expect(notice).toMatchObject({
      plan: `docs/${name}`,
      text: `docs/${name}: 1 of 1 phases complete`,
    });
    const variables = fs.readFileSync(person.at("0.env"), "utf8").split("\0");
    expect(variables).toContain(`AUTODEV_NOTICE_PLAN=docs/${name}`);
    expect(variables).toContain(`AUTODEV_NOTICE_TEXT=${notice?.text ?? ""}`);
    expect(variables).toContain("AUTODEV_NOTICE_KIND=end");
    expect(fs.existsSync(repo.at("OWNED"))).toBe(false);
  });

  it("also what an agent says", async () => {
    const person = listening();
    const repo = makeBuildRepo(vaguePhase);
    const result = JSON.stringify({
      phase_id: "1",
      status: "failed",
      tasks: { total: 1, completed: 0 },
      commit_message: "feat: none",
      error: { type: "test_failure", message: hostile },
    });
    const agent = `printf '%s' "$SAID" > "$AUTODEV_RESULT"`;
    const more = { agent, env: { SAID: result } };
    const ran = await build(repo, ["--agent", "mine", "--attempts", "1"], around(person, more));
    expect(ran.code, ran.all).toBe(4);
    expect(person.notices()[0]?.text).toContain(`it's "q" $(touch OWNED) \`touch OWNED\``);
    expect(fs.existsSync(repo.at("OWNED"))).toBe(false);
  });
});

describe.concurrent("a command that does not work", () => {
  it("is told in one line, and changes nothing", async () => {
    const person = makePerson(() => withCommand("echo no such webhook >&2; exit 7"));
    const repo = makeBuildRepo();
    const ran = await build(repo, [], around(person));
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err.match(/notify\.command/g)).toHaveLength(1);
    expect(ran.err).toContain("notify.command ended with exit code 7: no such webhook");
    expect(ran.out).toContain("1 of 1 phases complete");
  });

  it("is ended after ten seconds, and nobody waits for it meanwhile", async () => {
    const person = makePerson(() => withCommand("trap '' TERM INT; sleep 300 & sleep 300"));
    const repo = makeBuildRepo();
    const underway = await startTrusted(repo, [], around(person));
    await underway.until("1 of 1 phases complete");
    // The run is over, and the repository is free.
    const other = await repo.autodev("status");
    expect(other.code).toBe(0);
    const started = Date.now();
    const ran = await underway.ended;
    expect(Date.now() - started).toBeLessThan(14_000);
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err).toContain("notify.command took longer than 10 s and was ended");
  });

  it("is not there", async () => {
    const person = makePerson(() => withCommand("no-such-program-of-mine"));
    const ran = await build(makeBuildRepo(), [], around(person));
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err).toMatch(/notify\.command ended with exit code 127: .*not found/);
  });
});

describe.concurrent("a repository's own command", () => {
  const repoWith = (mailbox: string, files: Readonly<Record<string, string>> = {}): Repo =>
    makeBuildRepo(undefined, {
      ".autodev/config.yaml": `${config}${withCommand(`sh scripts/tell.sh ${mailbox}`)}`,
      "scripts/tell.sh": 'cat > "$1/0.json"\n',
      ...files,
    });

  it("is not run before it is trusted, and is shown to whoever is asked", async () => {
    const mailbox = makeMailbox();
    const person = personAt(makeFolder("person"), mailbox);
    const repo = repoWith(mailbox);
    const refused = await startBuild(repo, [], around(person)).ended;
    expect(refused.code, refused.all).toBe(3);
    expect(refused.err).toContain(`notify command: sh scripts/tell.sh ${mailbox}`);
    expect(refused.err).toContain("script scripts/tell.sh");
    expect(person.notices()).toEqual([]);
    const hash = hashIn(refused) ?? "";
    const ran = await startBuild(repo, ["--trust-sha256", hash], around(person)).ended;
    expect(ran.code, ran.all).toBe(0);
    expect(person.notices()).toMatchObject([{ kind: "end" }]);
  });

  it("is not run when a script of it is not what was approved", async () => {
    const mailbox = makeMailbox();
    const person = personAt(makeFolder("person"), mailbox);
    const repo = repoWith(mailbox);
    const mine = ["--agent", "mine"];
    const hash = hashIn(await startBuild(repo, mine, around(person)).ended) ?? "";
    // In the user's own tree, as an agent can that is not confined.
    const agent = `printf 'touch "$1/owned"' > ${repo.at("scripts/tell.sh")}; ${working}`;
    const args = [...mine, "--trust-sha256", hash];
    const ran = await startBuild(repo, args, around(person, { agent })).ended;
    expect(person.notices()).toEqual([]);
    expect(fs.readdirSync(mailbox)).toEqual([]);
    expect(ran.err).toContain(
      "notify.command was not run: scripts/tell.sh is not what was approved",
    );
  });

  it("gives way to the user's own, and has to be trusted all the same", async () => {
    const theirs = makeMailbox();
    const person = listening();
    const repo = repoWith(theirs);
    const ran = await build(repo, [], around(person));
    expect(ran.code, ran.all).toBe(0);
    expect(fs.readdirSync(theirs)).toEqual([]);
    expect(person.notices()).toMatchObject([{ kind: "end" }]);
  });

  it("is never run for a flow, where nobody was asked to trust it", async () => {
    const mailbox = makeMailbox();
    const repo = makeRepo({
      [former]: generation1,
      ".autodev/config.yaml": withCommand(`touch ${mailbox}/owned`),
    });
    expect((await repo.with({ AUTODEV_NO_NOTIFY: "" })).code).toBe(3);
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });
});

describe.concurrent("a user's settings", () => {
  it("hold for every project, until the project says otherwise", async () => {
    const person = makePerson(() => "build: { commit: single, attempts: 7 }\nagent: nobody\n");
    const repo = makeRepo({ [plan]: planOf([spelled("1")]) });
    const preview = async (): Promise<object> => {
      const ran = await repo.with(person.env, "build", plan, "--dry-run", "--json");
      expect(ran.code, ran.all).toBe(0);
      return JSON.parse(ran.out) as object;
    };
    expect(await preview()).toMatchObject({ mode: "single", agent: null });
    repo.write(".autodev/config.yaml", "build: { commit: auto }\nagent: apply\n");
    expect(await preview()).toMatchObject({ mode: "auto", agent: "apply" });
  });

  it.each([
    ["notify:\n  on: [everything]\n", ":2 ", "notify.on.0"],
    ["notify:\n  quiet: { from: '25:00', to: '07:00' }\n", ":2 ", "a time is written like 22:00"],
    ["build: { jobs: 2 }\ngates: { test: x }\n", ":2 ", "belongs in a project's"],
    ["notify: [\n", ":", "it is not YAML"],
  ])("that are wrong are told with their line: %j", async (text, line, reason) => {
    const person = makePerson(() => text);
    const repo = makeRepo({ [plan]: planOf([spelled("1")]) });
    const ran = await repo.with(person.env, "build", plan, "--dry-run");
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain(`autodev/config.yaml${line}`);
    expect(ran.err).toContain(reason);
    const doctor = await repo.with(person.env, "doctor");
    expect(doctor.all).toContain(reason);
  });

  it("inside a repository are the repository's: their command is not run", async () => {
    const mailbox = makeMailbox();
    const repo = makeRepo({
      [former]: generation1,
      "home/autodev/config.yaml": withCommand(`touch ${mailbox}/owned`),
    });
    const env = { AUTODEV_NO_NOTIFY: "", XDG_CONFIG_HOME: repo.at("home") };
    const ran = await repo.with(env);
    expect(ran.code).toBe(3);
    expect(ran.err).toContain("its notify.command is not run: it lies inside the repository");
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });
});

describe.concurrent("at a terminal", () => {
  const question = "_docs/_autopilot_state.md is of generation 1";

  it.each([
    ["iTerm.app", {}, `\u001b]9;autodev: a decision is required: ${question}`],
    ["WezTerm", {}, `\u001b]9;autodev: a decision is required: ${question}`],
    ["ghostty", {}, `\u001b]777;notify;autodev: a decision is required;${question}`],
    ["", { TERM: "xterm-kitty" }, `\u001b]99;i=autodev:p=body;${question}`],
    ["", { TERM: "foot" }, `\u001b]777;notify;`],
    ["tmux", { TMUX: "x", KITTY_WINDOW_ID: "1" }, "\u001bPtmux;\u001b\u001b]99;i=autodev"],
  ] as const)("of %j %j: its own sequence, and the bell", async (program, env, wanted) => {
    const repo = makeRepo({ [former]: generation1 });
    const quiet = { AUTODEV_NO_NOTIFY: "", DISPLAY: "", WAYLAND_DISPLAY: "" };
    const terminal = atTerminal(repo.root, [], { ...quiet, TERM_PROGRAM: program, ...env });
    await terminal.until(prompt);
    terminal.type("a");
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(terminal.shown()).toContain(`\u0007${wanted.slice(0, 4)}`);
    expect(terminal.shown()).toContain(wanted);
  });

  it("that nobody knows: the bell alone", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const env = { AUTODEV_NO_NOTIFY: "", DISPLAY: "", WAYLAND_DISPLAY: "" };
    const terminal = atTerminal(repo.root, [], { ...env, TERM_PROGRAM: "Apple_Terminal" });
    await terminal.until(prompt);
    terminal.type("a");
    await terminal.ended;
    expect(terminal.shown()).toContain("\u0007");
    expect(terminal.shown()).not.toContain("\u001b]");
  });

  it("the end of a run rings too, and hears nothing of it with `bell: false`", async () => {
    for (const [settings, rings] of [
      ["", true],
      ["notify: { bell: false, desktop: false }\n", false],
    ] as const) {
      const person = makePerson(() => settings);
      const repo = makeBuildRepo();
      const env = { ...person.env, TEST_GATE: "true", TEST_AGENT: working };
      const asked = await autodevIn({ cwd: repo.root, env }, "build", plan, "--commit=auto");
      const args = ["build", plan, "--commit=auto", "--trust-sha256", hashIn(asked) ?? ""];
      const terminal = atTerminal(repo.root, args, env);
      expect(await terminal.ended).toMatchObject({ code: 0 });
      expect(terminal.shown().includes("\u0007"), settings).toBe(rings);
    }
  });
});

describe.concurrent("the desktop", () => {
  it("is told without a terminal, the text as data", async () => {
    const [tools, mailbox] = [makeFolder("tools"), makeMailbox()];
    const script = `#!/bin/sh\nfor each in "$@"; do printf '%s\\0' "$each"; done > ${mailbox}/args\n`;
    fs.writeFileSync(path.join(tools, "notify-send"), script, { mode: 0o755 });
    const repo = makeRepo({ [former]: generation1 });
    const env = {
      AUTODEV_NO_NOTIFY: "",
      WSL_DISTRO_NAME: "",
      WSL_INTEROP: "",
      DISPLAY: ":9",
      PATH: `${tools}:${process.env["PATH"] ?? ""}`,
    };
    expect((await repo.with(env)).code).toBe(3);
    const args = fs.readFileSync(path.join(mailbox, "args"), "utf8").split("\0");
    expect(args.slice(0, 3)).toEqual([
      "--app-name=autodev",
      "--",
      "autodev: a decision is required",
    ]);
    expect(args[3]).toContain("is of generation 1");
    fs.rmSync(path.join(mailbox, "args"));
    expect((await repo.with({ ...env, WSL_DISTRO_NAME: "Debian" })).code).toBe(3);
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });
});
