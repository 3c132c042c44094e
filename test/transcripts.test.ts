/** What agents and gates printed, and `autodev log PHASE`: through the built binary. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  config,
  expectComplete,
  expectSchema,
  expectTidy,
  makeBuildRepo,
  makeMailbox,
  onePhase,
  plan,
  planOf,
  startTrusted,
  trustHash,
  vaguePhase,
} from "./build-rig.ts";
import {
  atTerminal,
  autodevIn,
  binary,
  errorOf,
  eventually,
  expectNoCrash,
  giveToNobody,
  jsonOf,
  makeFolder,
  makeRepo,
  type Repo,
  repoAt,
  smallDisk,
} from "./rig.ts";

const mine = ["--agent=mine"];
const patience = 180_000;

interface PhaseLog {
  readonly run: string | null;
  readonly phase: string;
  readonly attempt: number | null;
  readonly source: string;
  readonly file: string | null;
  readonly text: string | null;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly how: string;
    readonly startedAt: string;
    readonly endedAt: string | null;
    readonly seconds: number | null;
    readonly lines: readonly string[];
  }[];
}

async function phaseLog(repo: Repo, ...args: string[]): Promise<PhaseLog> {
  const log = jsonOf<PhaseLog>(await repo.autodev("log", ...args, "--json"));
  expectSchema(log, "phase-log");
  return log;
}

const transcripts = (repo: Repo): string[] => {
  const folder = repo.at(".git/autodev/transcripts");
  return fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".log"))
        .map((name) => path.join(folder, name))
        .sort()
    : [];
};

/** Fails once, then does its work; says which attempt it is. */
const secondTry =
  'echo "agent, try $AUTODEV_ATTEMPT"; mkdir -p src; echo "$AUTODEV_ATTEMPT" > src/1.txt; finish';
const gateOfSecond = 'echo "gate saw $(cat src/1.txt)"; [ "$(cat src/1.txt)" = 2 ]';

describe.concurrent("a transcript", { timeout: patience }, () => {
  it("holds what the agent and all gates printed, one file for each attempt, in no commit", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const ran = await build(repo, mine, { agent: secondTry, gate: gateOfSecond });
    expectComplete(ran);
    const files = transcripts(repo);
    expect(files.map((file) => path.basename(file))).toEqual(["1-1.log", "1-2.log"]);
    const [first = "", second = ""] = files.map((file) => fs.readFileSync(file, "utf8"));
    expect(first).toContain("agent, try 1\n");
    expect(first).toContain("gate saw 1\n");
    expect(first).not.toContain("try 2");
    // A gate that passes leaves no line in .autobuild/logs; here it does.
    expect(second).toContain("agent, try 2\n");
    expect(second).toContain("gate saw 2\n");
    expect(repo.git("log", "--all", "--name-only", "--format=")).not.toContain("transcripts");
    expectTidy(repo);
  });

  it("is raw but for secrets, and what is shown of it is neither raw nor secret", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `printf '\\033]0;pwned\\007\\033[31mred\\033[0m\\tindented ghp_${"a".repeat(36)}\\n'; ${secondTry}`;
    expectComplete(await build(repo, mine, { agent }));
    const raw = fs.readFileSync(transcripts(repo)[0] ?? "", "utf8");
    expect(raw).toContain("\u001b[31mred\u001b[0m\tindented [masked]\n");
    const ran = await repo.autodev("log", "1");
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toContain("red\tindented [masked]\n");
    expect(ran.all).not.toMatch(/\u001b|\u0007|pwned|ghp_/);
  });

  it("of 50 MB is cut at 20, keeps its last 200 lines, and takes no memory", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const line = "x".repeat(999);
    const agent = `echo first; yes ${line} | head -c 52428800; for i in $(seq 1 300); do echo "last $i"; done; ${secondTry}`;
    const underway = await startTrusted(repo, mine, { agent });
    const ran = await underway.ended;
    expectComplete(ran);
    const [file = ""] = transcripts(repo);
    const text = fs.readFileSync(file, "utf8");
    expect(text.length).toBeGreaterThan(19 * 1024 ** 2);
    expect(text.length).toBeLessThan(21 * 1024 ** 2);
    expect(text).toContain("\nfirst\n");
    expect(text.match(/the rest is left out/g)).toHaveLength(2);
    // 200 at the end of the agent's part; the gates' words have a place beyond the cap as well.
    expect(text).not.toContain("\nlast 90\n");
    expect(text).toContain("\nlast 200\n");
    expect(text).toContain("\nlast 300\nagent, try 1\n");
    expect(text).toMatch(/gate test passed/);
    expect(underway.peak()).toBeLessThan(250);
    const shown = await repo.autodev("log", "1", "-n", "3");
    expect(shown.out.split("\n")).toHaveLength(4);
  });

  it("that cannot be written stops nothing: read-only, a link, a file in its place", async () => {
    const elsewhere = makeFolder("elsewhere");
    const run = async (prepare: (folder: string) => void): Promise<Repo> => {
      const repo = makeBuildRepo(vaguePhase);
      fs.mkdirSync(repo.at(".git/autodev"));
      prepare(repo.at(".git/autodev/transcripts"));
      const ran = await build(repo, mine);
      expectNoCrash(ran);
      if (ran.code === 0) expect(repo.read("src/1.txt")).toBe("part 1\n");
      else expect(ran.err).toMatch(/transcripts is a link or a file/);
      expect(ran.code === 0 || ran.code === 1, ran.all).toBe(true);
      return repo;
    };
    const file = await run((folder) => fs.writeFileSync(folder, "mine"));
    expect(file.read(".git/autodev/transcripts")).toBe("mine");
    await run((folder) => fs.symlinkSync(elsewhere, folder));
    expect(fs.readdirSync(elsewhere)).toEqual([]);
    const closed = makeBuildRepo(vaguePhase);
    const hash = await trustHash(closed, mine);
    fs.mkdirSync(closed.at(".git/autodev/transcripts"), { recursive: true });
    giveToNobody(closed.root);
    fs.chmodSync(closed.at(".git/autodev/transcripts"), 0o500);
    const ran = await build(closed, [...mine, "--trust-sha256", hash], { asNobody: true });
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(0);
    expect(transcripts(closed)).toEqual([]);
    const log = await closed.autodev("log", "1");
    expect(log.code, log.all).toBe(0);
    expect(log.err).toContain("no transcript of attempt 1 is kept");
  });

  it("never takes the last of a disk: the run is complete, though its agent prints more than fits", async ({
    skip,
  }) => {
    const disk = await smallDisk(64);
    if (typeof disk === "string") return skip(disk);
    try {
      const source = makeBuildRepo(planOf([{ id: "1" }, { id: "2" }]));
      const root = path.join(disk.folder, "project");
      await disk.run("cp", "-a", source.root, root);
      const script = `mkdir -p src; yes ${"y".repeat(4000)} | head -c 26214400; echo "$AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: x"}' "$AUTODEV_PHASE" > "$AUTODEV_RESULT"`;
      const env = ["env", `TEST_AGENT=${script}`, "TEST_GATE=true"];
      const go = (...args: string[]) =>
        disk.run(
          "sh",
          "-c",
          'cd "$0" && exec "$@"',
          root,
          ...env,
          process.execPath,
          binary(),
          "build",
          plan,
          "--commit=auto",
          "--agent=mine",
          "--jobs=1",
          ...args,
        );
      const asked = await go();
      const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.all)?.[1] ?? "";
      const ran = await go("--trust-sha256", hash);
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(0);
      const kept = fs.statfsSync(disk.seen);
      expect(kept.bavail * kept.bsize).toBeGreaterThan(16 * 1024 ** 2);
      const size = await disk.run("du", "-sk", `${root}/.git/autodev/transcripts`);
      expect(Number(size.out.split("\t")[0])).toBeGreaterThan(10 * 1024);
    } finally {
      disk.end();
    }
  });

  it("is out of a confined agent's reach", async () => {
    const repo = makeBuildRepo(vaguePhase, {
      ".autodev/config.yaml": config.replace("    confined: false\n", ""),
    });
    const agent = `for f in "$ROOT"/.git/autodev/transcripts/*/*; do echo forged >> "$f"; done 2>/dev/null; echo "$ROOT"/.git/autodev/transcripts/*/*; sleep 1; for f in "$ROOT"/.git/autodev/transcripts/*/*; do echo forged >> "$f"; done; ${secondTry}`;
    const ran = await build(repo, mine, { agent, env: { ROOT: repo.root } });
    expectNoCrash(ran);
    const [file = ""] = transcripts(repo);
    expect(fs.readFileSync(file, "utf8")).not.toMatch(/^forged$/m);
  });
});

describe.concurrent("autodev log PHASE", { timeout: patience }, () => {
  it("prints the last attempt, another one with --attempt, from a subfolder, by any spelling", async () => {
    const repo = makeBuildRepo(planOf([{ id: "2A" }]));
    const agent = secondTry.replace("src/1.txt", "src/1.txt");
    expectComplete(await build(repo, mine, { agent, gate: gateOfSecond }));
    const last = await repo.autodev("log", "2A");
    expect(last).toMatchObject({ code: 0, err: "" });
    expect(last.out).toContain("gate saw 2");
    expect(last.out).not.toContain("gate saw 1");
    const first = await autodevIn({ cwd: repo.at("src") }, "log", "Phase 2a", "--attempt", "1");
    expect(first.out).toContain("gate saw 1");
    const two = await repo.autodev("log", "2a", "-n", "2");
    expect(last.out.endsWith(two.out)).toBe(true);
    expect(two.out.split("\n")).toHaveLength(3);
    repo.git("worktree", "add", "--quiet", "--detach", makeFolder("linked"));
    const tree = repo.git("worktree", "list", "--porcelain").match(/^worktree (.*linked)$/m)?.[1];
    expect((await autodevIn({ cwd: tree ?? "" }, "log", "2A")).out).toBe(last.out);
  });

  it("lists attempts with how each ended, when, how long and why", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const gate = 'echo "broken at line 7"; [ "$(cat src/1.txt)" = 2 ]';
    expectComplete(await build(repo, mine, { agent: secondTry, gate }));
    const { attempts, text, source } = await phaseLog(repo, "1", "--attempts");
    expect({ text, source }).toEqual({ text: null, source: "none" });
    expect(attempts.map(({ attempt, how }) => [attempt, how])).toEqual([
      [1, "failed"],
      [2, "landed"],
    ]);
    expect(attempts[0]?.lines[0]).toMatch(/^test_failure: /);
    expect(attempts[0]?.lines.join("\n")).toContain("broken at line 7");
    expect(attempts[0]?.seconds).toBeGreaterThan(0);
    expect(Date.parse(attempts[0]?.endedAt ?? "")).toBeGreaterThan(
      Date.parse(attempts[0]?.startedAt ?? ""),
    );
    const ran = await repo.autodev("log", "1", "--attempts");
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/^ {2}1 {2}failed .*\n {5}test_failure: /m);
    expect(ran.out).toMatch(/^ {2}2 {2}landed .* s$/m);
  });

  it("as JSON is the whole text, with what a terminal would obey written as escapes", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `printf 'a\\033[2Jb\\302\\2332Jc\\n'; ${secondTry}`;
    expectComplete(await build(repo, mine, { agent }));
    const log = await phaseLog(repo, "1");
    expect(log).toMatchObject({ phase: "1", attempt: 1, source: "transcript" });
    expect(log.text).toBe(fs.readFileSync(log.file ?? "", "utf8"));
    expect((await repo.autodev("log", "1", "--json")).out).not.toMatch(/[\u001b\u009b]/);
  });

  it("names the phases and attempts that there are when it is asked for another", async () => {
    const repo = makeBuildRepo(planOf([{ id: "2A" }, { id: "3", needs: ["2A"] }]));
    const none = await repo.autodev("log", "2A", "--json");
    expect(none.code).toBe(2);
    expect(errorOf(none).message).toContain("no plan was run here yet");
    expectComplete(await build(repo, [...mine, "--only", "2A"]));
    const phase = await repo.autodev("log", "9\u001b[2J", "--json");
    expect(errorOf(phase)).toMatchObject({ code: "no-such-phase", hint: "it has 2A, 3" });
    expect((await repo.autodev("log", "9\u001b[2J")).all).not.toContain("\u001b");
    const attempt = await repo.autodev("log", "2A", "--attempt", "7", "--json");
    expect(attempt.code).toBe(2);
    expect(errorOf(attempt).hint).toContain("it has had 1");
    const pending = await repo.autodev("log", "3", "--json");
    expect(errorOf(pending).message).toBe("phase 3 has had no attempt yet");
    for (const bad of [["--attempt", "x"], ["--attempt"], ["--nonsense"]]) {
      expect((await repo.autodev("log", "2A", ...bad)).code, bad.join(" ")).toBe(2);
    }
    const stray = await repo.autodev("log", "--attempts");
    expect(stray.code).toBe(2);
    expect(stray.err).toContain("attempts are of a phase");
  });

  it("falls back to .autobuild/logs where there is no transcript, and in a fresh clone", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expectComplete(await build(repo, mine, { agent: secondTry }));
    fs.rmSync(repo.at(".git/autodev/transcripts"), { recursive: true });
    const ran = await repo.autodev("log", "1");
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("agent, try 1");
    expect(ran.err).toContain(".autobuild/logs/phase-1.log");
    expect(await phaseLog(repo, "1")).toMatchObject({ source: "phase-log", attempt: 1 });
    repo.git("add", "--force", ".autobuild");
    repo.git("commit", "--quiet", "--message=files");
    const clone = path.join(makeFolder("clone"), "project");
    repo.git("clone", "--quiet", repo.root, clone);
    const there = await autodevIn({ cwd: clone }, "log", "1");
    expect(there.code, there.all).toBe(0);
    expect(there.out).toContain("agent, try 1");
    expect(await phaseLog(repoAt(clone), "1")).toMatchObject({ run: null, attempt: null });
    fs.rmSync(repo.at(".autobuild"), { recursive: true });
    const gone = await repo.autodev("log", "1", "--json");
    expect(gone.code).toBe(2);
    expect(errorOf(gone).message).toContain("no longer kept");
  });

  it("does not follow a link that somebody put in the place of a transcript", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expectComplete(await build(repo, mine, { agent: secondTry }));
    const [file = ""] = transcripts(repo);
    const secret = path.join(makeFolder("secret"), "gold");
    fs.writeFileSync(secret, "gold\n");
    fs.rmSync(file);
    fs.symlinkSync(secret, file);
    const ran = await repo.autodev("log", "1");
    expect(ran.all).not.toContain("gold");
    expect(ran.err).toContain("no transcript");
  });

  it("follows an attempt of another process to its end, through the gates", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = `echo one; touch "$MAILBOX/begun"; while [ ! -e "$MAILBOX/go" ]; do sleep 0.05; done; echo two; ${secondTry}`;
    const around = { agent, gate: 'echo "the gate speaks"', env: { MAILBOX: mailbox } };
    const underway = await startTrusted(repo, mine, around);
    await arrived(mailbox, "begun");
    const follower = atTerminal(repo.root, ["log", "1", "--follow"]);
    const json = repo.autodev("log", "1", "--follow", "--json");
    await follower.until("one");
    expect(follower.shown()).not.toContain("two");
    fs.writeFileSync(path.join(mailbox, "go"), "");
    await follower.until("the gate speaks");
    await follower.until("attempt 1 at phase 1: landed");
    expect((await follower.ended).code).toBe(0);
    expectComplete(await underway.ended);
    expect(jsonOf<PhaseLog>(await json).text).toContain("the gate speaks");
  });

  it("does not follow for ever what was killed, and Ctrl-C ends it", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = 'echo one; touch "$MAILBOX/begun"; sleep 60';
    const underway = await startTrusted(repo, mine, { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "begun");
    const impatient = atTerminal(repo.root, ["log", "1", "-f"]);
    await impatient.until("one");
    impatient.type("\u0003");
    expect((await impatient.ended).code).toBe(130);
    const follower = atTerminal(repo.root, ["log", "1", "-f"]);
    await follower.until("one");
    underway.kill("SIGKILL");
    await underway.ended;
    await follower.until("nobody is at it any more");
    expect((await follower.ended).code).toBe(0);
    const { attempts } = await phaseLog(repo, "1", "--attempts");
    expect(attempts).toMatchObject([{ attempt: 1, how: "working" }]);
    expectComplete(await build(repo, mine));
    const after = await phaseLog(repo, "1", "--attempts");
    expect(after.attempts.map(({ how }) => how)).toEqual(["interrupted", "landed"]);
  });

  it("waits for an attempt that has not begun", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    const mailbox = makeMailbox();
    const agent = `touch "$MAILBOX/begun"; while [ ! -e "$MAILBOX/go" ]; do sleep 0.05; done; echo "I am $AUTODEV_PHASE"; mkdir -p src; echo x > "src/$AUTODEV_PHASE.txt"; finish`;
    const underway = await startTrusted(repo, mine, { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "begun");
    const following = repo.autodev("log", "2", "--follow");
    fs.writeFileSync(path.join(mailbox, "go"), "");
    const ran = await following;
    expect(ran.code, ran.all).toBe(0);
    expect(ran.out).toContain("I am 2");
    expectComplete(await underway.ended);
  });

  it("outside a repository says so, and reads nothing", async () => {
    const folder = makeFolder("nowhere");
    const ran = await autodevIn({ cwd: folder }, "log", "1");
    expect(ran.code).toBe(2);
    expectNoCrash(ran);
    expect(fs.readdirSync(folder)).toEqual([]);
    const bare = await makeRepo({}).autodev("log", "..");
    expect(bare.code).toBe(2);
  });

  it("leaves the events of `autodev log` as they are", async () => {
    const repo = makeBuildRepo(onePhase);
    expectComplete(await build(repo));
    const ran = await repo.autodev("log");
    expect(ran.out).toContain("phase 1: landed as");
    await eventually("events", async () => (await repo.events()).length > 4);
  });
});
