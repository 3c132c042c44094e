/**
 * Plan runs among bad plans, bad gates, bad agents, full disks and people who go on working
 * meanwhile. In each case: a clear sentence with the way out, the right exit code, nothing lost,
 * nothing left behind, and it works again afterwards.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  config,
  decide,
  executionLog,
  expectComplete,
  expectTidy,
  hashIn,
  makeBuildRepo,
  makeMailbox,
  makeToken,
  onePhase,
  openDecision,
  type PhaseFileView,
  phaseFile,
  plan,
  planOf,
  type Surroundings,
  spelled,
  startBuild,
  startTrusted,
  subjects,
  survivors,
  trustHash,
  twoPhases,
  vaguePhase,
  working,
} from "./build-rig.ts";
import {
  autodevIn,
  errorOf,
  expectNoCrash,
  gitIn,
  giveToNobody,
  makeFolder,
  makeRepo,
  pictureOf,
  type Ran,
  type Repo,
  repoAt,
  smallDisk,
} from "./rig.ts";

/** A busy machine is no reason to fail. */
const patience = 120_000;

/** Refused with this code; both ways of saying it agree; there is a way out. */
async function expectRefused(
  repo: Repo,
  wanted: { exit: number; says: RegExp; hint: RegExp },
  args: readonly string[] = [],
  around: Surroundings = {},
): Promise<void> {
  const said = await build(repo, args, around);
  expectNoCrash(said);
  expect(said.code, said.all).toBe(wanted.exit);
  expect(said.err).toMatch(wanted.says);
  expect(said.err).toMatch(wanted.hint);
  const json = await build(repo, [...args, "--json"], around);
  expect(json.code, json.all).toBe(wanted.exit);
  const error = errorOf(json);
  expect(error.message).toMatch(wanted.says);
  expect(error.hint).toMatch(wanted.hint);
}

// ── places and plans ───────────────────────────────────────────────────────────────────────────

describe("places in which nothing can be built:", { timeout: patience }, () => {
  it("a folder that is no repository", async () => {
    const folder = makeFolder("plain");
    fs.writeFileSync(path.join(folder, "plan.md"), onePhase);
    const ran = await autodevIn({ cwd: folder }, "build", "plan.md", "--commit=auto");
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("not in a git repository");
    expect(ran.err).toContain("git init");
    expect(fs.readdirSync(folder)).toEqual(["plan.md"]);
  });

  it("a bare repository", async () => {
    const folder = makeFolder("bare");
    gitIn(folder)("init", "--quiet", "--bare", ".");
    const ran = await autodevIn({ cwd: folder }, "build", "plan.md", "--commit=auto");
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("bare");
    expect(ran.err).toContain("git clone");
  });

  it("a repository without a commit", async () => {
    const root = makeFolder("empty");
    const git = gitIn(root);
    git("init", "--quiet", "--initial-branch=main");
    fs.writeFileSync(path.join(root, "plan.md"), onePhase);
    const ran = await autodevIn({ cwd: root }, "build", "plan.md", "--commit=auto");
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("no commit yet");
    git("add", "--all");
    git("commit", "--quiet", "--message=first");
    expectComplete(
      await autodevIn({ cwd: root }, "build", "plan.md", "--commit=auto", "--decide=recommended"),
    );
  });

  it("a repository in the middle of a merge", async () => {
    const repo = makeBuildRepo();
    repo.write(".git/MERGE_HEAD", repo.git("rev-parse", "HEAD"));
    await expectRefused(repo, { exit: 4, says: /a merge is under way/, hint: /finish or abort/ });
    fs.rmSync(repo.at(".git/MERGE_HEAD"));
    expectComplete(await build(repo));
  });

  it("a repository that cannot be written", async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip("only root can give the folder away");
    const repo = makeBuildRepo();
    spawnSync("chmod", ["-R", "go+rX", repo.root]);
    const ran = await build(repo, [], { asNobody: true });
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(1);
    expect(ran.err).toMatch(/permission|dubious|owner/i);
    expect(subjects(repo)).toEqual(["plan", "first"]);
    expectComplete(await build(repo));
  });
});

describe("plans that cannot be built:", { timeout: patience }, () => {
  const cycle = planOf([spelled("1", ["2"]), spelled("2", ["1"])]);
  const cases: [string, string | Buffer | null, number, RegExp][] = [
    ["missing", null, 2, /feature-plan\.md/],
    ["empty", "", 1, /feature-plan\.md/],
    ["binary", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), 1, /feature-plan\.md/],
    ["not UTF-8", Buffer.from(onePhase.replace("part", "p\u00e4rt"), "latin1"), 1, /UTF-8/],
    ["a cycle", cycle, 1, /1 -> 2 -> 1|2 -> 1 -> 2/],
    ["no phases", "# Just words\n\nNothing to do.\n", 1, /feature-plan\.md/],
  ];
  it("missing, empty, binary, not UTF-8, a cycle, no phases", async () => {
    const repo = makeBuildRepo("# To come\n");
    const before = repo.git("rev-parse", "HEAD");
    for (const [name, content, exit, says] of cases) {
      if (content === null) fs.rmSync(repo.at(plan));
      else repo.write(plan, content);
      const ran = await build(repo);
      expectNoCrash(ran);
      expect(ran.code, `${name}: ${ran.all}`).toBe(exit);
      expect(ran.err, name).toMatch(says);
      expect(ran.err, `${name}: a way out`).toMatch(/→ \w+/);
      expect(repo.exists(".autobuild"), name).toBe(false);
    }
    expect(repo.git("rev-parse", "HEAD")).toBe(before);
    repo.write(plan, onePhase);
    expectComplete(await build(repo));
  });

  it("a folder without a plan in it", async () => {
    const repo = makeBuildRepo();
    const ran = await build(repo, [], { plan: ".autodev" });
    expectNoCrash(ran);
    expect([1, 2]).toContain(ran.code);
    expect(ran.err).toContain(".autodev");
  });

  it("an agent that nobody knows, a phase that is not there", async () => {
    const repo = makeBuildRepo(twoPhases);
    await expectRefused(
      repo,
      { exit: 2, says: /there is no agent "nobody"/, hint: /known: apply, mine/ },
      ["--agent", "nobody"],
    );
    for (const option of ["--only", "--from"]) {
      const ran = await build(repo, [option, "9"]);
      expect(ran.code, ran.all).toBe(2);
      expect(ran.err).toContain("there is no phase 9");
      expect(ran.err).toContain("it has 1, 2");
    }
    expect(repo.exists(".autobuild")).toBe(false);
  });

  it("phases that spell nothing out, and two agents to choose from", async () => {
    const repo = makeBuildRepo(vaguePhase, {
      ".autodev/config.yaml": "agents: { one: { command: a }, two: { command: b } }\n",
    });
    await expectRefused(repo, {
      exit: 3,
      says: /which agent shall do the work\? several are in the settings/,
      hint: /autodev decide/,
    });
  });
});

describe("settings that cannot be used are named with their line:", { timeout: patience }, () => {
  const cases: [string, string, number, RegExp][] = [
    ["no YAML", "gates:\n\ttest: 'true'\nsetup: x\n", 2, /not YAML/],
    ["a key that is unknown", "gates: {}\ngatez: {}\n", 2, /gatez/],
    ["a number that is none", "build:\n  jobs: many\n", 2, /build\.jobs/],
    ["too many jobs", "build:\n  commit: auto\n  jobs: 100000\n", 3, /build\.jobs/],
    ["no time at all", "build:\n  gate_minutes: -1\n", 2, /build\.gate_minutes/],
    ["a list", "- a\n- b\n", 1, /cannot be used/],
    ["a gate's name that is a path", "gates:\n  ../../x: 'true'\n", 2, /gates/],
    ["an agent without a command", "agents:\n  mine: {}\n", 2, /agents\.mine .*needs a `command`/],
    ["a bomb", bomb(), 1, /config\.yaml/],
  ];
  /** Each line holds the one before nine times over. */
  function bomb(): string {
    const lines = Array.from(
      { length: 9 },
      (_, at) => `k${at + 1}: &k${at + 1} [${`*k${at},`.repeat(9)}]`,
    );
    return `k0: &k0 [x,x]\n${lines.join("\n")}\n`;
  }
  for (const [name, text, line, says] of cases) {
    it(name, async () => {
      const repo = makeBuildRepo(onePhase, { ".autodev/config.yaml": text });
      const ran = await startBuild(repo, ["--json"]).ended;
      expect(ran.code, ran.all).toBe(2);
      const error = errorOf(ran);
      expect(error).toMatchObject({ code: "usage", file: ".autodev/config.yaml" });
      expect(error.message).toMatch(says);
      expect(error.hint).toContain(".autodev/config.yaml");
      if (name !== "a bomb") expect(error.line, error.message).toBe(line);
      expect(repo.exists(".autobuild")).toBe(false);
    });
  }

  it("hostile values stay values: no text of theirs is a file's name, an option or an escape", async () => {
    const mailbox = makeMailbox();
    const repo = makeBuildRepo(
      planOf([{ ...spelled("1"), name: "$(touch x) `touch y` \u001b[31mred" }]),
      {
        ".autodev/config.yaml": `gates:\n  test: "true # \\e[2J\\x07 \${HOME} $(touch \\"$MAILBOX/z\\")"\n`,
      },
    );
    const around = { env: { MAILBOX: mailbox } };
    const ran = await build(repo, [], around);
    expectComplete(ran);
    expect(ran.all).not.toContain("\u001b");
    expect(ran.all).not.toContain("\u0007");
    expect(fs.readdirSync(mailbox)).toEqual([]);
    expect(repo.exists("x") || repo.exists("y")).toBe(false);
    expect(executionLog(repo)).not.toContain("\u001b");
  });
});

// ── gates and agents that misbehave ────────────────────────────────────────────────────────────

interface Misbehaviour extends Pick<Surroundings, "agent" | "gate" | "timeout"> {
  readonly exit: number;
  readonly error?: Partial<PhaseFileView["error"] & object>;
  /** Looked at before it is run again. */
  check?(repo: Repo): void;
}

/** One attempt each, in a world of their own; then again with everybody as they should be. */
async function misbehave(
  ...all: readonly Misbehaviour[]
): Promise<{ repo: Repo; ran: Ran; mailbox: string; peak: number }> {
  const repo = makeBuildRepo(vaguePhase);
  const [mailbox, token] = [makeMailbox(), makeToken()];
  const env = { MAILBOX: mailbox, TEST_TOKEN: token, USERS: repo.root };
  let last: { ran: Ran; peak: number } | undefined;
  for (const { exit, error, check, ...around } of all) {
    const under = await startTrusted(repo, ["--attempts=1"], { agent: working, ...around, env });
    const ran = await under.ended;
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(exit);
    expect(survivors(token)).toEqual([]);
    if (error) expect(phaseFile(repo, "1").error).toMatchObject(error);
    check?.(repo);
    last = { ran, peak: under.peak() };
    if (exit === 0) continue;
    expect(subjects(repo)).toEqual(["plan", "first"]);
    expectTidy(repo);
  }
  if (all.at(-1)?.exit !== 0) {
    expectComplete(await build(repo, [], { agent: working, env }));
    expect(repo.read("src/1.txt")).toBe("part 1\n");
  }
  expect(subjects(repo)).toHaveLength(3);
  expectTidy(repo);
  if (!last) throw new Error("nobody has misbehaved");
  return { repo, mailbox, ...last };
}

const failing = (type: string, message: RegExp) => ({
  exit: 4,
  error: { type, message: expect.stringMatching(message) as string },
});

describe("a gate that", { timeout: patience }, () => {
  it(
    "prints a gigabyte is read in memory that does not grow",
    async () => {
      const line = "0123456789".repeat(400);
      const { peak, repo } = await misbehave({
        gate: `yes ${line} | head -c 1000000000; echo; echo the end`,
        exit: 0,
        timeout: 2 * patience,
      });
      expect(peak).toBeGreaterThan(20);
      expect(peak).toBeLessThan(250);
      const gates = phaseFile(repo, "1")["quality_gates"] as Record<string, object>;
      expect(gates["test"]).toMatchObject({ passed: true, output_summary: "the end" });
    },
    3 * patience,
  );

  it("kills its parent fails, and nobody else does", async () => {
    await misbehave({
      gate: "kill -9 $PPID; sleep 0.2; exit 1",
      ...failing("test_failure", /failed/),
    });
  });

  it("leaves a daemon behind leaves nothing behind", async () => {
    const { mailbox } = await misbehave({
      gate: '(setsid nohup sleep 1000 >/dev/null 2>&1 &) ; touch "$MAILBOX/ran"',
      exit: 0,
    });
    expect(fs.existsSync(path.join(mailbox, "ran"))).toBe(true);
  });

  it("deletes its own checkout has passed, if it says so", async () => {
    await misbehave({ gate: 'rm -rf "$PWD"', exit: 0 });
  });

  it("deletes its checkout in the first phase does not harm the second", async () => {
    const repo = makeBuildRepo(twoPhases);
    expectComplete(await build(repo, [], { gate: 'test -e src/1.txt && rm -rf "$PWD"' }));
    expect(subjects(repo)).toHaveLength(4);
    expectTidy(repo);
  });

  it("changes files in its checkout changes nothing that is committed", async () => {
    const { repo } = await misbehave({
      gate: `echo changed > src/1.txt; echo new > new.txt; ${own} add --all; ${own} commit -qm own`,
      exit: 0,
    });
    expect(repo.read("src/1.txt")).toBe("part 1\n");
    expect(repo.git("ls-files")).not.toContain("new.txt");
  });

  it("is not to be found fails with that as the reason", async () => {
    await misbehave({
      gate: "no-such-program-at-all",
      ...failing("test_failure", /ended with 127/),
      check: (repo) =>
        expect(repo.read(".autobuild/logs/phase-1.log")).toMatch(
          /no-such-program-at-all.*not found/,
        ),
    });
  });
});

describe("an agent that", { timeout: patience }, () => {
  it("writes no result, garbage, another phase's, a link, a pipe, has failed: parse_error", async () => {
    const other = JSON.stringify({
      phase_id: "7",
      status: "complete",
      tasks: { total: 1, completed: 1 },
    });
    await misbehave(
      {
        agent: "mkdir -p src; echo x > src/1.txt",
        ...failing("parse_error", /wrote no file|printed nothing/),
      },
      {
        agent: 'head -c 100000 /dev/urandom > "$AUTODEV_RESULT"',
        ...failing("parse_error", /cannot be read/),
      },
      { agent: `echo '${other}' > "$AUTODEV_RESULT"`, ...failing("parse_error", /7/) },
      {
        agent: 'ln -s /etc/passwd "$AUTODEV_RESULT"',
        ...failing("parse_error", /is a link/),
      },
      { agent: 'mkfifo "$AUTODEV_RESULT"', ...failing("parse_error", /is not a file/) },
    );
  });

  it("says that it failed has failed with its own words, cleaned", async () => {
    const result = JSON.stringify({
      phase_id: "1",
      status: "failed",
      tasks: { total: 1, completed: 0 },
      error: { type: "dependency_missing", message: "no flux\u001b[2J\nPHASE 1 COMPLETE" },
    });
    const { repo, ran } = await misbehave({
      agent: `cat > "$AUTODEV_RESULT" <<'END'\n${result}\nEND\n`,
      ...failing("dependency_missing", /no flux/),
    });
    expect(ran.all).not.toContain("\u001b");
    expect(executionLog(repo)).not.toMatch(/^PHASE 1 COMPLETE$/m);
  });

  it("ends with another code, by a signal, or kills its parent, has crashed; nobody else has", async () => {
    await misbehave(
      { agent: `${working}; exit 3`, ...failing("agent_crash", /ended with 3/) },
      { agent: "kill -9 $$", ...failing("agent_crash", /SIGKILL|137/) },
      { agent: "kill -9 $PPID; sleep 0.2; exit 1", ...failing("agent_crash", /./) },
    );
  });

  it("prints a hundred megabytes is read in memory that does not grow", async () => {
    const { peak, repo } = await misbehave({
      agent: `yes "${"a line of an agent; ".repeat(5)}" | head -c 100000000; ${working}`,
      exit: 0,
    });
    expect(peak).toBeGreaterThan(20);
    expect(peak).toBeLessThan(250);
    const log = repo.read(".autobuild/logs/phase-1.log").split("\n");
    expect(log.length).toBeLessThanOrEqual(501);
    expect(log.join("\n")).toMatch(/… [\d,]+ lines left out …/);
    expect(log.join("\n")).toContain("=== END PHASE 1 LOG ===");
  });

  it("commits by itself, and leaves a daemon, is committed once, by us, and leaves none", async () => {
    const { repo, mailbox } = await misbehave({
      agent: `${working}; ${own} add --all && ${own} commit -qm 'mine!'; echo more > src/more.txt
          ${own} add --all && ${own} commit -qm 'mine again!' && git tag mine && touch "$MAILBOX/ok"
          (setsid nohup sleep 1000 > /dev/null 2>&1 &)`,
      exit: 0,
    });
    expect(fs.readdirSync(mailbox), "it did commit").toEqual(["ok"]);
    expect(subjects(repo)[0]).toBe("feat: part 1");
    expect(repo.read("src/more.txt")).toBe("more\n");
  });

  it("makes a repository inside the repository has failed, with the folder's name", async () => {
    const nest = "git init -q nested; echo x > nested/file";
    await misbehave(
      {
        agent: `${nest}; ${own} -C nested add . && ${own} -C nested commit -qm x; ${working}`,
        ...failing("task_incomplete", /nested is a git repository of its own/),
      },
      // One that has no commit yet, which git refuses to add.
      { agent: `${nest}; ${working}`, ...failing("task_incomplete", /nested/) },
    );
  });

  it("names its files as nobody should has them all committed and published", async () => {
    const names = [
      "new\nline",
      "quote'\"s",
      "-rf",
      "ünï—文字",
      "tab\there",
      "back\\slash",
      " blank ",
    ];
    const make = names.map((name) => `printf x > ./'src/${name.replaceAll("'", "'\\''")}'`);
    const agent = `mkdir -p src; ${make.join("; ")}; printf x > ./-n; ${working}`;
    const wanted = [...names.map((name) => `src/${name}`), "src/1.txt", "-n"].sort();
    const { repo } = await misbehave({ agent, exit: 0 });
    for (const file of wanted) expect(repo.exists(file), file).toBe(true);
    expect([...(phaseFile(repo, "1").commit?.files_created ?? [])].sort()).toEqual(wanted);
    const other = makeBuildRepo(vaguePhase);
    expectComplete(await build(other, ["--commit=message-only"], { agent }));
    const { status, stderr } = spawnSync("sh", [".autobuild/commits.sh"], {
      cwd: other.root,
      env: { ...process.env, HOME: makeFolder("home"), GIT_CONFIG_GLOBAL: "/dev/null", ...author },
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect(other.git("rev-parse", "HEAD^{tree}")).toBe(repo.git("rev-parse", "HEAD^{tree}"));
    expectTidy(other);
  });

  it("makes links that lead out has failed, and nothing is written through them", async () => {
    const outside = makeFolder("outside");
    fs.writeFileSync(path.join(outside, "1.txt"), "theirs\n");
    const repo = makeBuildRepo(vaguePhase);
    const agent = `ln -s "${outside}" src; ln -s /etc/passwd secret; finish`;
    const ran = await build(repo, ["--attempts=1"], { agent });
    expect(ran.code, ran.all).toBe(4);
    expect(phaseFile(repo, "1").error).toMatchObject({ type: "task_incomplete" });
    expect(findingCodes(repo, "1")).toEqual(["leads-outside", "leads-outside"]);
    expect(repo.exists("secret")).toBe(false);
    expect(fs.readdirSync(outside)).toEqual(["1.txt"]);
    expectComplete(await build(repo));
    expect(fs.readFileSync(path.join(outside, "1.txt"), "utf8")).toBe("theirs\n");
    expectTidy(repo);
  });

  it("removes the .git of its work tree, or makes another of it, is committed all the same", async () => {
    await misbehave({ agent: `rm .git; ${working}`, exit: 0 });
    const { repo } = await misbehave({
      agent: `rm .git; git init -q .; ${working}; ${own} add --all; ${own} commit -qm own`,
      exit: 0,
    });
    expect(repo.read("src/1.txt")).toBe("part 1\n");
  });

  it("names programs in git's configuration has none of them run", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const evil = 'touch "$MAILBOX/evil"; cat';
    const agent = `top=$(git rev-parse --path-format=absolute --git-common-dir)
      for key in core.fsmonitor core.sshCommand core.pager core.editor diff.external \\
        filter.x.clean filter.x.smudge filter.x.process diff.x.textconv merge.x.driver; do
        git config "$key" '${evil}'
      done
      mkdir -p "$top/hooks" "$top/info"; echo '* filter=x diff=x merge=x' > "$top/info/attributes"
      for hook in post-checkout pre-commit reference-transaction post-index-change; do
        printf '#!/bin/sh\\n${evil}\\n' > "$top/hooks/$hook"; chmod +x "$top/hooks/$hook"
      done; touch "$MAILBOX/set"; ${working}`;
    const settings = repo.read(".git/config");
    const ran = await build(repo, ["--attempts=1"], { agent, env: { MAILBOX: mailbox } });
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(4);
    expect(fs.readdirSync(mailbox)).toEqual(["set"]);
    expect(phaseFile(repo, "1").error).toMatchObject({ type: "gate_changed" });
    expect(new Set(findingCodes(repo, "1"))).toEqual(new Set(["hook-planted"]));
    // Only now is it safe to look with a git of our own.
    repo.write(".git/config", settings);
    fs.rmSync(repo.at(".git/info/attributes"));
    fs.rmSync(repo.at(".git/hooks"), { recursive: true });
    expectComplete(await build(repo));
    expect(subjects(repo)).toHaveLength(3);
    expectTidy(repo);
  });

  it("deletes its work tree, or what git knows of it, has failed; nothing of the user's is gone", async () => {
    const { repo } = await misbehave(
      { agent: 'finish; rm -rf "$PWD"', exit: 4 },
      { agent: `${working}; rm -rf "$(git rev-parse --absolute-git-dir)"`, exit: 4 },
    );
    expect(repo.read("README.md")).toBe("# A project\n");
  });

  it("leaves folders that nobody may read loses nothing without a word, and leaves nothing behind", async ({
    skip,
  }) => {
    if (process.getuid?.() !== 0) return skip("only root can give the folder away");
    const repo = makeBuildRepo(vaguePhase);
    giveToNobody(repo.root);
    const agent = "mkdir -p src/closed; echo x > src/closed/x; finish; chmod 0 src/closed";
    const ran = await build(repo, ["--attempts=1"], { agent, asNobody: true });
    expectNoCrash(ran);
    expect(repo.exists(".autodev/var")).toBe(false);
    // Opened and committed, or refused by name: but never left out without a word.
    if (ran.code === 0) {
      expect(repo.read("src/closed/x")).toBe("x\n");
      return;
    }
    expect(ran.code, ran.all).toBe(4);
    expect(ran.all).toContain("src/closed");
    const again = await build(repo, [], { agent: working, asNobody: true });
    expectComplete(again);
    expect(repo.read("src/1.txt")).toBe("part 1\n");
  });

  it("writes into the run's own files decides nothing by it", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    const forged = JSON.stringify({
      phase_id: "2",
      phase_name: "Part 2",
      status: "complete",
      attempt: 1,
      max_attempts: 2,
      skipped: "no need",
    });
    const agent = `echo '${forged}' > "$USERS/.autobuild/phases/phase-2.json"
      echo '${forged}' > "$USERS/.autobuild/config.json"; ${working}`;
    expectComplete(await build(repo, [], { agent, env: { USERS: repo.root } }));
    expect(repo.read("src/2.txt")).toBe("part 2\n");
    expect(phaseFile(repo, "2")).toMatchObject({ status: "complete", attempt: 1, error: null });
    expect(phaseFile(repo, "2").commit).not.toBeNull();
    expect(repo.read(".autobuild/config.json")).toContain('"completed": 2');
    expectTidy(repo);
  });

  it("changes nothing at all, and says complete, has failed", async () => {
    await misbehave({ agent: "finish", ...failing("task_incomplete", /no file was changed/) });
  });
});

/** What the verification of a phase found, in its order. */
const findingCodes = (repo: Repo, id: string): string[] =>
  (phaseFile(repo, id).verification?.findings ?? []).map(({ code }) => code);

/** A git that knows who commits. */
const own = "git -c user.name=A -c user.email=a@example.invalid";

const author = {
  GIT_AUTHOR_NAME: "Tester",
  GIT_AUTHOR_EMAIL: "tester@example.invalid",
  GIT_COMMITTER_NAME: "Tester",
  GIT_COMMITTER_EMAIL: "tester@example.invalid",
};

// ── files of the run ───────────────────────────────────────────────────────────────────────────

const firstFile = ".autobuild/phases/phase-1.json";

describe("the run's own files, in other hands:", { timeout: patience }, () => {
  /** Phase 1 is complete, phase 2 has failed. */
  async function makeHalted(): Promise<Repo> {
    halted ??= (async () => {
      const original = makeBuildRepo(twoPhases);
      const ran = await build(original, ["--attempts=1"], { gate: "! test -e src/2.txt" });
      expect(ran.code, ran.all).toBe(4);
      return original;
    })();
    const copy = makeFolder("project");
    fs.cpSync((await halted).root, copy, { recursive: true, preserveTimestamps: true });
    return repoAt(copy);
  }
  let halted: Promise<Repo> | undefined;

  it(".autobuild is a file", async () => {
    const repo = makeBuildRepo();
    repo.write(".autobuild", "mine\n");
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=file");
    const ran = await build(repo);
    expectNoCrash(ran);
    expect(ran.all).toContain(".autobuild");
    expect(ran.code, ran.all).not.toBe(0);
    expect(repo.read(".autobuild")).toBe("mine\n");
    repo.git("rm", "--quiet", ".autobuild");
    repo.git("commit", "--quiet", "--message=gone");
    expectComplete(await build(repo));
    expect(phaseFile(repo, "1").status).toBe("complete");
  });

  const noStatus = (text: string): string => text.replace(/ {2}"status": .*\n/, "");

  it("damaged: what is wrong is told with its line, and the file stays as it is", async () => {
    const repo = await makeHalted();
    const sound = repo.read(firstFile);
    for (const [spoiled, says] of [
      ["}{ not JSON", /Error: .*line 1/],
      [noStatus(sound), /Error: Missing required field 'status'/],
      [
        sound.replace('"complete"', '"finished"'),
        /Error: .*'status'.*pending, running, complete, failed, blocked/,
      ],
      [`<<<<<<< HEAD\n${sound}=======\n${sound}>>>>>>> theirs\n`, /Error: .*line 1/],
    ] as const) {
      repo.write(firstFile, spoiled);
      const asked = await build(repo);
      expectNoCrash(asked);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.err).toContain("STATE FILE VALIDATION FAILED\n============================\n");
      expect(asked.err).toContain(`File: ${firstFile}`);
      expect(asked.err).toMatch(says);
      expect(repo.read(firstFile)).toBe(spoiled);
    }
  });

  it("damaged, A: the file is kept in the rescue folder, and it goes on", async () => {
    const repo = await makeHalted();
    const spoiled = noStatus(repo.read(firstFile));
    repo.write(firstFile, spoiled);
    expect((await build(repo)).code).toBe(3);
    const { options } = await openDecision(repo);
    expect(options.map(({ text }) => text).join("\n")).toMatch(
      /Delete.*\n.*fix the file by hand.*\n.*--fresh/,
    );
    await decide(repo, "A");
    expectComplete(await build(repo));
    expect(phaseFile(repo, "1").status).toBe("complete");
    const kept = repo.at(".git/autodev/rescue");
    const texts = Object.keys(pictureOf(kept))
      .map((file) => path.join(kept, file))
      .filter((file) => fs.statSync(file).isFile())
      .map((file) => fs.readFileSync(file, "utf8"));
    expect(texts).toContain(spoiled);
    expect(subjects(repo)).toHaveLength(4);
  });

  it("damaged, B: it stops; mended by hand, it goes on without a question", async () => {
    const repo = await makeHalted();
    const sound = repo.read(firstFile);
    repo.write(firstFile, "garbage");
    expect((await build(repo)).code).toBe(3);
    await decide(repo, "B");
    const stopped = await build(repo);
    expectNoCrash(stopped);
    expect(stopped.code, stopped.all).not.toBe(0);
    expect(stopped.err).toContain(firstFile);
    expect(repo.read(firstFile)).toBe("garbage");
    repo.write(firstFile, sound);
    expectComplete(await build(repo));
  });

  it("set back to pending by hand: the phase is done again, and that is said", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = `mkdir -p src; echo "$AUTODEV_ATTEMPT" > src/1.txt; finish`;
    const around = { agent, env: { MAILBOX: mailbox } };
    expectComplete(await build(repo, [], around));
    repo.write(firstFile, repo.read(firstFile).replace('"complete"', '"pending"'));
    const ran = await build(repo, [], around);
    expectComplete(ran);
    expect(ran.err).toContain(`${firstFile} was set to pending by hand`);
    expect(repo.read("src/1.txt")).toBe("2\n");
    expect(executionLog(repo)).toContain("PHASE 1 RESET - set to pending in");
    expect(subjects(repo)).toHaveLength(4);
    expect(phaseFile(repo, "1")).toMatchObject({ status: "complete", attempt: 1 });
    expectTidy(repo);
  });

  it("set to complete by hand: only with a word about who did it", async () => {
    const repo = await makeHalted();
    const second = ".autobuild/phases/phase-2.json";
    const failed = repo.read(second);
    repo.write(second, failed.replace('"failed"', '"complete"'));
    const refused = await build(repo);
    expectNoCrash(refused);
    expect(refused.code, refused.all).toBe(1);
    expect(refused.err).toContain(`${second} says complete, but has no record of a commit`);
    repo.write(
      second,
      failed.replace('"status": "failed"', '"status": "complete",\n  "skipped": "by hand"'),
    );
    expectComplete(await build(repo));
    expect(phaseFile(repo, "2")).toMatchObject({ status: "complete" });
    expect(subjects(repo)).toHaveLength(3);
  });

  it("removed or emptied: rendered anew", async () => {
    const repo = await makeHalted();
    fs.rmSync(repo.at(".autobuild/config.json"));
    fs.rmSync(repo.at(firstFile));
    repo.write(".autobuild/phases/phase-2.json", "");
    expectComplete(await build(repo));
    expect(phaseFile(repo, "1").status).toBe("complete");
    expect(phaseFile(repo, "2").status).toBe("complete");
    expect(repo.read(".autobuild/config.json")).toContain('"completed": 2');
    fs.rmSync(repo.at(".autobuild"), { recursive: true });
    expectComplete(await build(repo));
    expect(phaseFile(repo, "1").status).toBe("complete");
    expect(executionLog(repo)).toContain("AUTOBUILD COMPLETE");
    expect(subjects(repo)).toHaveLength(4);
  });

  it("without a journal (a clone that has .autobuild): what is complete there stays complete", async () => {
    const repo = await makeHalted();
    fs.rmSync(repo.at(".git/autodev"), { recursive: true });
    expectComplete(await build(repo));
    expect(phaseFile(repo, "1").status).toBe("complete");
    expect(phaseFile(repo, "2").status).toBe("complete");
    expect(subjects(repo)).toHaveLength(4);
  });
});

// ── people, meanwhile ──────────────────────────────────────────────────────────────────────────

describe("while people go on working:", { timeout: patience }, () => {
  /** Their git, in their tree, from a script in the middle of an attempt. */
  const theirGit =
    'env -u GIT_DIR -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git -C "$USERS" -c user.name=U -c user.email=u@u';
  const around = (repo: Repo, agent: string): Surroundings => ({
    agent,
    env: { USERS: repo.root },
  });

  it("a second run is told who has the repository", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = `touch "$MAILBOX/began"; until [ -e "$MAILBOX/go" ]; do sleep 0.05; done; ${working}`;
    const first = await startTrusted(repo, [], { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "began");
    const second = await build(repo, [], { agent: working });
    expectNoCrash(second);
    expect(second.code, second.all).toBe(4);
    expect(second.err).toContain(String(first.pid));
    expect(second.err).toContain(`autodev build ${plan}`);
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expectComplete(await first.ended);
    expect(subjects(repo)).toHaveLength(3);
    expectTidy(repo);
  });

  for (const mode of ["auto", "single"]) {
    it(`${mode}: commits that come first stay, and the phase is put on top`, async () => {
      const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
      const published = mode === "auto" ? `${theirGit} ls-files | grep -q src/1.txt` : "true";
      const agent = `if [ $AUTODEV_PHASE = 2 ]; then
          until ${published}; do sleep 0.05; done
          echo theirs > "$USERS/theirs.txt"; ${theirGit} add theirs.txt; ${theirGit} commit -qm theirs
        fi; ${working}`;
      const ran = await build(repo, [`--commit=${mode}`], around(repo, agent));
      expectComplete(ran);
      expect(ran.err).toContain("somebody's commits came first");
      expect(subjects(repo)).toContain("theirs");
      for (const file of ["theirs.txt", "src/1.txt", "src/2.txt"]) {
        expect(repo.git("show", `HEAD:${file}`), file).not.toBe("");
        expect(repo.exists(file), file).toBe(true);
      }
      expect(repo.read(plan)).not.toMatch(/⬜|\[ \]/);
      expectTidy(repo);
    });
  }

  it("a commit in the very moment in which a phase is published takes nothing of it back", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    // As phase 2 begins, phase 1 is being published; git may ask them to try again.
    const agent = `if [ $AUTODEV_PHASE = 2 ]; then
        for name in a b c d e f; do
          echo theirs > "$USERS/$name.txt"
          until ${theirGit} add $name.txt && ${theirGit} commit -qm $name; do sleep 0.02; done
        done
      fi; ${working}`;
    expectComplete(await build(repo, [], around(repo, agent)));
    expect(repo.git("ls-tree", "--name-only", "-r", "HEAD").trim().split("\n")).toEqual(
      expect.arrayContaining(["a.txt", "f.txt", "src/1.txt", "src/2.txt"]),
    );
    expect(repo.git("log", "--diff-filter=D", "--format=%s", "--name-only").trim()).toBe("");
    expectTidy(repo);
  });

  for (const mode of ["auto", "single"]) {
    it(`${mode}: commits that change what is run are run once they are trusted, and not before`, async () => {
      const settings = config.replace(/test: .*/, "test: sh check.sh");
      const files = { ".autodev/config.yaml": settings, "check.sh": "true\n" };
      const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]), files);
      const canary = path.join(makeFolder("canary"), "sang");
      const published = mode === "auto" ? `${theirGit} ls-files | grep -q src/1.txt` : "true";
      const agent = `if [ $AUTODEV_PHASE = 2 ] && [ ! -e "$USERS/theirs.txt" ]; then
          until ${published}; do sleep 0.05; done
          echo theirs > "$USERS/theirs.txt"; echo 'touch "${canary}"' > "$USERS/check.sh"
          ${theirGit} add theirs.txt; ${theirGit} commit -qam theirs
        fi; ${working}`;
      const args = [`--commit=${mode}`];
      const known = await trustHash(repo, args);
      const refused = await startBuild(
        repo,
        [...args, "--trust-sha256", known],
        around(repo, agent),
      ).ended;
      expect(refused.code, refused.all).toBe(3);
      expect(refused.err).toContain("changes what the run would start: nothing of it was run");
      expect(refused.err).toContain("check.sh");
      expect(fs.existsSync(canary)).toBe(false);
      // Again, with nothing said about it: the same.
      const still = await startBuild(repo, [...args, "--trust-sha256", known], around(repo, agent))
        .ended;
      expect([still.code, hashIn(still)]).toEqual([3, hashIn(refused)]);
      expect(fs.existsSync(canary)).toBe(false);
      const trusted = [...args, "--trust-sha256", hashIn(refused) ?? ""];
      expectComplete(await startBuild(repo, trusted, around(repo, agent)).ended);
      expect(fs.existsSync(canary)).toBe(true);
      for (const file of ["theirs.txt", "src/1.txt", "src/2.txt"]) {
        expect(repo.git("show", `HEAD:${file}`), file).not.toBe("");
      }
      expectTidy(repo);
    });
  }

  it("a branch that was set back: asked where to, and nothing is lost", async () => {
    for (const letter of ["A", "B"]) {
      const repo = makeBuildRepo(vaguePhase);
      const agent = `${theirGit} reset --quiet --soft HEAD~1; ${working}`;
      const asked = await build(repo, [], around(repo, agent));
      expectNoCrash(asked);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.err).toContain("main no longer holds what was published");
      expect(subjects(repo)).toEqual(["first"]);
      await decide(repo, letter);
      const ran = await build(repo, [], { agent: working });
      expectNoCrash(ran);
      expect(subjects(repo)).toEqual(["first"]);
      const refs = repo.git("for-each-ref", "--format=%(refname)").split("\n");
      const made = refs.find((ref) => ref.startsWith("refs/heads/autobuild-"));
      if (letter === "A") {
        expectComplete(ran);
        expect(repo.git("show", `${made}:src/1.txt`)).toBe("part 1\n");
      } else {
        expect(made).toBeUndefined();
        expect(ran.all).toContain("unpublished, as you decided: 1");
        expect(ran.all).toContain("/landed");
        expect(ran.code, ran.all).toBe(4);
      }
    }
  });

  it("a branch that was deleted: the same question", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `${theirGit} checkout --quiet --detach; ${theirGit} branch -qD main; ${working}`;
    const asked = await build(repo, [], around(repo, agent));
    expectNoCrash(asked);
    expect(asked.code, asked.all).toBe(3);
    await decide(repo, "A");
    expectComplete(await build(repo, [], { agent: working }));
    expect(repo.git("for-each-ref", "--format=%(refname)", "refs/heads")).toMatch(
      /^refs\/heads\/autobuild-\w+\n$/,
    );
  });

  it("another branch that they check out is not touched", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `${theirGit} checkout --quiet -b elsewhere; ${working}`;
    expectComplete(await build(repo, [], around(repo, agent)));
    expect(subjects(repo, "main")).toHaveLength(3);
    expect(subjects(repo, "elsewhere")).toEqual(["plan", "first"]);
    expect(repo.exists("src/1.txt")).toBe(false);
    expectTidy(repo);
  });

  describe("the very file that a phase changes, edited before it is published:", () => {
    async function makeContested(mode: string): Promise<Repo> {
      const repo = makeBuildRepo(vaguePhase);
      const agent = `mkdir -p "$USERS/src"; echo mine > "$USERS/src/1.txt"; ${working}`;
      const asked = await build(repo, [`--commit=${mode}`], around(repo, agent));
      expectNoCrash(asked);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.err).toMatch(/DECISION REQUIRED: \w.* and you have both changed src\/1\.txt/);
      expect(asked.err).not.toContain("phase the whole run");
      expect(repo.read("src/1.txt")).toBe("mine\n");
      expect(subjects(repo)).toEqual(["plan", "first"]);
      return repo;
    }

    for (const mode of ["auto", "message-only", "single"]) {
      it(`${mode}, A: theirs stays; the phase's version is in its commit`, async () => {
        const repo = await makeContested(mode);
        await decide(repo, "A");
        expectComplete(await build(repo, [`--commit=${mode}`], { agent: working }));
        expect(repo.read("src/1.txt")).toBe("mine\n");
        if (mode === "message-only") return;
        expect(repo.git("show", "HEAD:src/1.txt")).toBe("part 1\n");
        expectTidy(repo, [" M src/1.txt"]);
      });
    }

    it("B: the phase's version is taken; theirs is kept and named", async () => {
      const repo = await makeContested("auto");
      await decide(repo, "B");
      const ran = await build(repo, [], { agent: working });
      expectComplete(ran);
      expect(repo.read("src/1.txt")).toBe("part 1\n");
      const [, kept = ""] = /your src\/1\.txt is kept at (\S+)/.exec(ran.err) ?? [];
      expect(fs.readFileSync(repo.at(kept), "utf8")).toBe("mine\n");
      expectTidy(repo);
    });

    it("C: the phase stays unpublished, and that is said", async () => {
      const repo = await makeContested("auto");
      await decide(repo, "C");
      const ran = await build(repo, [], { agent: working });
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(4);
      expect(ran.all).toContain("phase 1 is verified but not published, as you decided");
      expect(repo.read("src/1.txt")).toBe("mine\n");
      expect(subjects(repo)).toEqual(["plan", "first"]);
      // The way out: out of its way.
      fs.rmSync(repo.at("src/1.txt"));
      expectComplete(await build(repo, [], { agent: working }));
      expect(repo.read("src/1.txt")).toBe("part 1\n");
    });
  });

  it("what they have staged stays staged", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `echo staged > "$USERS/staged.txt"; ${theirGit} add staged.txt; ${working}`;
    expectComplete(await build(repo, [], around(repo, agent)));
    expect(repo.git("show", "--format=", "--name-only", "HEAD").trim().split("\n")).toEqual([
      plan,
      "src/1.txt",
    ]);
    expectTidy(repo, ["A  staged.txt"]);
  });
});

// ── disks ──────────────────────────────────────────────────────────────────────────────────────

/** Nobody is there to say whether a project without gates may be built. */
const unwatched = ["--commit=auto", "--decide=recommended"];

describe("a disk", { timeout: patience }, () => {
  it("that is full at any point of a run: named, nothing lost, and it goes on when there is room", async ({
    skip,
  }) => {
    const disk = await smallDisk(8);
    if (typeof disk === "string") return skip(disk);
    try {
      const source = makeRepo({ [plan]: twoPhases });
      source.git("add", "--all");
      source.git("commit", "--quiet", "--message=plan");
      const codes: (number | null)[] = [];
      for (const free of [0, 20, 50, 90]) {
        const root = path.join(disk.folder, `project-${free}`);
        await disk.run("cp", "-a", source.root, root);
        await disk.run(
          "sh",
          "-c",
          `cat /dev/zero > ${disk.folder}/filler; truncate -s -${free * 4096} ${disk.folder}/filler`,
        );
        const ran = await disk.autodev(root, "build", plan, ...unwatched);
        expectNoCrash(ran);
        codes.push(ran.code);
        if (ran.code !== 0) {
          expect(ran.code, ran.all).toBe(1);
          expect(ran.err, `${free}`).toMatch(/no space|ENOSPC/i);
          expect(ran.err, `${free}`).toMatch(/→ .*(?:space|room)/);
        }
        await disk.run("rm", path.join(disk.folder, "filler"));
        const again = await disk.autodev(root, "build", plan, ...unwatched);
        expect(again.code, `${free}: ${again.all}`).toBe(0);
        const log = await disk.run("git", "-C", root, "log", "--format=%s");
        expect(log.out.trim().split("\n"), `${free}`).toHaveLength(4);
        const status = await disk.run("git", "-C", root, "status", "--porcelain");
        expect(status.out, `${free}`).toBe("?? .autobuild/\n");
        await disk.run("rm", "-r", root);
      }
      expect(codes[0]).toBe(1);
    } finally {
      disk.end();
    }
  });

  it("that is read-only: named, and nothing is begun", async ({ skip }) => {
    const disk = await smallDisk(8);
    if (typeof disk === "string") return skip(disk);
    try {
      const source = makeRepo({ [plan]: twoPhases });
      source.git("add", "--all");
      source.git("commit", "--quiet", "--message=plan");
      const root = path.join(disk.folder, "project");
      await disk.run("cp", "-a", source.root, root);
      await disk.run("mount", "-o", "remount,ro", disk.folder);
      const dry = await disk.autodev(root, "build", plan, "--dry-run");
      expect(dry.code, dry.all).toBe(0);
      const ran = await disk.autodev(root, "build", plan, ...unwatched);
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(1);
      expect(ran.err).toMatch(/read-only/i);
      await disk.run("mount", "-o", "remount,rw", disk.folder);
      const again = await disk.autodev(root, "build", plan, ...unwatched);
      expect(again.code, again.all).toBe(0);
    } finally {
      disk.end();
    }
  });
});
