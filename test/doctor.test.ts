/** `autodev doctor`: every kind of damage is found and named with the one command that mends it. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  asNobody,
  autodevIn,
  binary,
  dropSnapshot,
  errorOf,
  expectNoCrash,
  forgedLine,
  former,
  generation1,
  generation3,
  giveToNobody,
  type JournalRecord,
  type LoggedEvent,
  makeFolder,
  makeHolder,
  makeRepo,
  makeRepoWithHistory,
  makeRepoWithOneSession,
  memoryOf,
  pictureOf,
  plainEnvironment,
  present,
  type Ran,
  type Repo,
  recordsIn,
  run,
  segmentsOf,
  seqsOf,
} from "./rig.ts";

interface Finding {
  readonly code: string;
  readonly level: "ok" | "note" | "warning" | "error";
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly fix?: string;
}

interface Examination {
  readonly version: number;
  readonly root: string;
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
  readonly mended: readonly string[];
}

function examinationOf(ran: Ran): Examination {
  expectNoCrash(ran);
  const examination = JSON.parse(ran.out) as Examination;
  expect(ran.code).toBe(examination.healthy ? 0 : 1);
  return examination;
}

const examine = async (repo: Repo): Promise<Examination> =>
  examinationOf(await repo.autodev("doctor", "--json"));

const wrong = ({ findings }: Examination): Finding[] =>
  findings.filter(({ level }) => level === "error" || level === "warning");

/** Types a command as a person would: `autodev` is on the path. */
let shim: string | undefined;
function type(repo: Repo, command: string): Promise<Ran> {
  if (shim === undefined) {
    shim = makeFolder("bin");
    const script = `#!/bin/sh\n[ $# -gt 0 ] || set -- --no-work\nexec "${process.execPath}" "${binary()}" "$@"\n`;
    fs.writeFileSync(path.join(shim, "autodev"), script, { mode: 0o755 });
  }
  const env = { PATH: `${shim}:${plainEnvironment["PATH"]}` };
  return run("sh", ["-c", command], { cwd: repo.root, env });
}

/** Found, by code, with a place and one command; the command mends it; then all is well. */
async function expectMended(
  repo: Repo,
  code: string | RegExp,
  wanted: { file?: string; line?: number; healthy?: boolean } = {},
): Promise<Finding> {
  const before = pictureOf(repo.root);
  const ill = await examine(repo);
  const finding = wrong(ill).find((each) => each.code.match(code));
  expect(finding, JSON.stringify(ill.findings, null, 1)).toBeDefined();
  const found = finding as Finding;
  if (wanted.file !== undefined) expect(found.file).toBe(wanted.file);
  if (wanted.line !== undefined) expect(found.line).toBe(wanted.line);
  if (found.file !== undefined) expect(found.message).toContain(path.basename(found.file));
  expect(ill.healthy).toBe(wanted.healthy ?? found.level !== "error");
  expect(pictureOf(repo.root), "examining changes nothing").toEqual(before);

  expect(found.fix, "one command that mends it").toBeDefined();
  const fixed = await type(repo, found.fix as string);
  expectNoCrash(fixed);
  expect(fixed.code, `${found.fix}: ${fixed.all}`).toBe(0);
  const well = await examine(repo);
  expect(well.healthy, JSON.stringify(well.findings, null, 1)).toBe(true);
  expect(wrong(well).filter((each) => each.level === "error" || each.code.match(code))).toEqual([]);
  expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
  return found;
}

const content = (event: LoggedEvent): string => JSON.stringify({ ...event, seq: 0 });

/** Every event that could still be read is still there, in order; what could not is marked. */
async function expectKept(repo: Repo, before: LoggedEvent[], lost: number[]): Promise<void> {
  const after = await repo.events();
  for (const event of before) {
    if (lost.includes(event.seq)) continue;
    const same = after.find((each) => each.seq === event.seq);
    expect(same && content(same), `event ${event.seq}`).toBe(content(event));
  }
  if (lost.length > 0) {
    expect(after.some((event) => event.type === "journal-repaired")).toBe(true);
    expect((await repo.autodev("log")).out).toMatch(/journal repaired/);
  }
}

const flip = (file: string, at: number, to?: number): void => {
  const bytes = fs.readFileSync(file);
  bytes[at] = to ?? (bytes[at] as number) ^ 0x01;
  fs.writeFileSync(file, bytes);
};

interface OneSession extends Repo {
  readonly segment: string;
  readonly records: readonly JournalRecord[];
  readonly before: LoggedEvent[];
}

async function makeOneSession(): Promise<OneSession> {
  const repo = await makeRepoWithOneSession();
  const [segment] = segmentsOf(repo) as [string];
  return { ...repo, segment, records: recordsIn(segment), before: await repo.events() };
}

describe.concurrent("a healthy project", () => {
  it("is healthy, exit 0, in words and as JSON", async () => {
    for (const repo of [
      makeRepo(),
      makeRepo({ [present]: generation3 }),
      await makeRepoWithHistory(),
    ]) {
      const before = pictureOf(repo.root);
      const examination = await examine(repo);
      expect(examination).toMatchObject({ version: 1, root: repo.root, healthy: true, mended: [] });
      expect(wrong(examination)).toEqual([]);
      const words = await repo.autodev("doctor");
      expect(words.code).toBe(0);
      expect(words.out).toContain("Healthy");
      expect(pictureOf(repo.root)).toEqual(before);
    }
  });

  it("--fix has nothing to do and loses nothing", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    const fixed = examinationOf(await repo.autodev("doctor", "--fix", "--json"));
    expect(fixed).toMatchObject({ healthy: true, mended: [] });
    expect(await repo.events()).toEqual(before);
  });

  it("has torn bytes at its end, which are a note", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    fs.appendFileSync(segmentsOf(repo).at(-1) as string, "autodev1 99 1");
    const examination = await examine(repo);
    expect(examination.healthy).toBe(true);
    expect(examination.findings.find((each) => each.code === "journal-torn")?.level).toBe("note");
    expect((await repo.autodev("doctor", "--fix")).code).toBe(0);
    expect(await repo.events()).toEqual(before);
  });

  it("that is held says by whom; --fix then waits for nobody, exit 4", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const holder = await makeHolder(repo);
    try {
      const examination = await examine(repo);
      expect(examination.findings.find((each) => each.code === "held")?.message).toContain(
        String(holder.pid),
      );
      expect(examination.healthy).toBe(true);
      const fixed = await repo.autodev("doctor", "--fix", "--json");
      expect(fixed.code).toBe(4);
      expect(errorOf(fixed).code).toBe("locked");
    } finally {
      holder.kill("SIGKILL");
      await holder.ended;
    }
  });
});

describe.concurrent("damage to the journal", () => {
  for (const [what, at, to] of [
    ["a flipped byte in the middle", 300, undefined],
    ["a byte in the middle that became NUL", 300, 0],
    ["a flipped byte in a line's first words", 2, undefined],
  ] as const) {
    for (const cached of [true, false]) {
      it(`${what}, ${cached ? "with" : "without"} the snapshot: the rest is kept`, async () => {
        const repo = await makeOneSession();
        flip(repo.segment, at, to);
        if (!cached) dropSnapshot(repo);
        const file = path.relative(repo.root, repo.segment);
        await expectMended(repo, "journal-flipped", { file, line: 1 });
        await expectKept(repo, repo.before, [1]);
        expect(await repo.status()).toMatchObject({ step: "10", status: "in_progress" });
        const rescued = fs.readdirSync(path.join(memoryOf(repo), "rescue"));
        expect(rescued.some((name) => name.startsWith("journal-"))).toBe(true);
      });
    }
  }

  it("a flipped byte in the last line: all before it is kept", async () => {
    const repo = await makeOneSession();
    flip(repo.segment, fs.readFileSync(repo.segment).length - 20);
    dropSnapshot(repo);
    await expectMended(repo, "journal-flipped", { line: repo.records.length });
    await expectKept(repo, repo.before, repo.records.slice(-1).flatMap(seqsOf));
  });

  it("a missing record: all others are kept", async () => {
    const repo = await makeOneSession();
    const lines = fs.readFileSync(repo.segment, "utf8").split("\n");
    fs.writeFileSync(repo.segment, [...lines.slice(0, 1), ...lines.slice(2)].join("\n"));
    dropSnapshot(repo);
    await expectMended(repo, "journal-missing", { line: 2 });
    await expectKept(repo, repo.before, repo.records.slice(1, 2).flatMap(seqsOf));
  });

  it("a missing segment: all others are kept", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    const [first] = segmentsOf(repo) as [string];
    const seqs = recordsIn(first).map((record) => record.seq);
    fs.rmSync(first);
    dropSnapshot(repo);
    await expectMended(repo, "journal-missing");
    // The next segment begins with a copy of the last transition.
    await expectKept(repo, before, seqs.slice(0, -1));
  });

  it("a missing end that only the snapshot remembers", async () => {
    const repo = await makeOneSession();
    const lines = fs.readFileSync(repo.segment, "utf8").split("\n");
    fs.writeFileSync(repo.segment, `${lines.slice(0, 2).join("\n")}\n`);
    await expectMended(repo, "journal-missing");
    await expectKept(repo, repo.before, repo.records.slice(2).flatMap(seqsOf));
    expect(await repo.status()).toMatchObject({ step: "10", status: "in_progress" });
  });

  it("two epochs in one segment", async () => {
    const repo = await makeOneSession();
    const last = recordsIn(repo.segment).at(-1) as ReturnType<typeof recordsIn>[number];
    const { line } = forgedLine({
      ...last,
      seq: last.seq + last.events,
      prev: last.hash,
      epoch: 9,
    });
    fs.appendFileSync(repo.segment, line);
    await expectMended(repo, "journal-two-epochs");
    await expectKept(repo, repo.before, []);
  });

  it("a newer format: named, and --fix leaves it alone", async () => {
    const repo = await makeRepoWithHistory();
    const last = segmentsOf(repo).at(-1) as string;
    fs.appendFileSync(last, "autodev2 x\n");
    const ill = await examine(repo);
    const finding = wrong(ill).find((each) => each.code === "journal-newer");
    expect(finding).toMatchObject({ level: "error", file: path.relative(repo.root, last) });
    expect(finding?.fix).toMatch(/update autodev|npm install/);
    const before = fs.readFileSync(last);
    const fixed = await repo.autodev("doctor", "--fix", "--json");
    expect(fixed.code).toBe(1);
    expect(errorOf(fixed).code).toBe("journal-newer");
    expect(fs.readFileSync(last)).toEqual(before);
  });

  it("a journal that is gone", async () => {
    const repo = await makeRepoWithHistory();
    fs.rmSync(path.join(memoryOf(repo), "journal"), { recursive: true });
    await expectMended(repo, "journal-gone");
    expect(await repo.status()).toMatchObject({ step: "3" });
  });

  it("a repair that the machine did not finish: the history is not lost, whatever is typed next", async () => {
    const interrupted = async (): Promise<Repo & { before: LoggedEvent[] }> => {
      const repo = await makeRepoWithHistory();
      const before = await repo.events();
      const memory = memoryOf(repo);
      // The old journal is aside, the new one is whole but not yet in its place.
      fs.mkdirSync(path.join(memory, "rescue"), { recursive: true });
      fs.cpSync(path.join(memory, "journal"), path.join(memory, "rescue/journal-x"), {
        recursive: true,
      });
      fs.renameSync(path.join(memory, "journal"), path.join(memory, "journal-mended"));
      return { ...repo, before };
    };
    const mended = await interrupted();
    await expectMended(mended, "journal-half-mended");
    await expectKept(mended, mended.before, []);

    const started = await interrupted();
    const ran = await started.autodev();
    expectNoCrash(ran);
    const fixed = await started.autodev("doctor", "--fix");
    expect(fixed.code, fixed.all).toBe(0);
    await expectKept(started, started.before, []);
  });

  it("a snapshot that does not fit", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    fs.writeFileSync(path.join(memoryOf(repo), "snapshot"), "nonsense");
    await expectMended(repo, "snapshot");
    await expectKept(repo, before, []);
  });

  it("an answer that cannot be read is set aside", async () => {
    const repo = await makeRepoWithHistory();
    fs.writeFileSync(path.join(memoryOf(repo), "answers", "d-0123456789ab.json"), "{");
    await expectMended(repo, "answer-unreadable", {
      file: ".git/autodev/answers/d-0123456789ab.json",
    });
  });

  it("what a crash left behind", async () => {
    const repo = await makeRepoWithHistory();
    for (const folder of [memoryOf(repo), path.join(memoryOf(repo), "answers"), repo.at("_docs")]) {
      fs.writeFileSync(path.join(folder, ".autodev-tmp-1-x"), "half");
    }
    expect(wrong(await examine(repo)).filter((each) => each.code === "leftover")).toHaveLength(3);
    await expectMended(repo, "leftover");
    const files = fs.readdirSync(repo.at("_docs"), { withFileTypes: true });
    expect(files.flatMap((each) => (each.isFile() ? [each.name] : []))).toEqual([
      "_autodev_state.md",
    ]);
  });

  it("several damages at once", async () => {
    const repo = await makeOneSession();
    flip(repo.segment, 300);
    fs.writeFileSync(path.join(memoryOf(repo), "snapshot"), "nonsense");
    fs.appendFileSync(repo.segment, "autodev1 9");
    repo.write(present, Buffer.from([0, 1, 2]));
    const fixed = await repo.autodev("doctor", "--fix", "--json");
    expectNoCrash(fixed);
    expect(await examine(repo)).toMatchObject({ healthy: true });
    await expectKept(repo, repo.before, [1]);
  });

  it("--fix after damage keeps decisions: nothing is asked a second time", async () => {
    const repo = await makeRepoWithHistory();
    const decisions = await repo.decisions();
    const [first] = segmentsOf(repo) as [string];
    flip(first, 300);
    dropSnapshot(repo);
    expect((await repo.autodev("doctor", "--fix")).code).toBe(0);
    expect(await repo.decisions()).toEqual(decisions);
    expect((await repo.autodev()).code).toBe(0);
  });
});

describe.concurrent("damage to the state file", () => {
  const conflict = generation3.replace(
    "step: 10\nname: Implement\n",
    "<<<<<<< HEAD\nstep: 10\nname: Implement\n=======\nstep: 11\nname: Run Tests\n>>>>>>> theirs\n",
  );
  const kinds: [string, string | Buffer, string, number][] = [
    ["binary", Buffer.from([1, 2, 0, 3]), "state-file-binary", 1],
    [
      "bytes that are not UTF-8",
      Buffer.from("## Current Step\nstep: \xe9", "latin1"),
      "state-file-encoding",
      2,
    ],
    ["UTF-16", Buffer.from(`\uFEFF${generation3}`, "utf16le"), "state-file-encoding", 1],
    ["a duplicated block", generation3 + generation3, "state-file-duplicate", 16],
    ["no position", "# Shopping\n", "state-file-no-position", 1],
    ["too large", Buffer.alloc(10_000_000, "x"), "state-file-too-large", 1],
  ];
  for (const [what, bytes, code, line] of kinds) {
    it(`${what}: set aside as it was, and written anew from the journal`, async () => {
      const repo = makeRepo({ [present]: generation3 });
      expect((await repo.autodev()).code).toBe(0);
      repo.write(present, bytes);
      await expectMended(repo, code, { file: present, line });
      expect(repo.read(present)).toBe(generation3);
      const rescue = path.join(memoryOf(repo), "rescue");
      const kept = fs.readdirSync(rescue).map((name) => fs.readFileSync(path.join(rescue, name)));
      expect(kept.some((each) => each.equals(Buffer.from(bytes)))).toBe(true);
    });

    if (code === "state-file-encoding" || code === "state-file-too-large") continue;
    it(`${what}, with no journal: set aside, and the folders decide`, async () => {
      const repo = makeRepo();
      repo.write(present, bytes);
      await expectMended(repo, code, { file: present, line });
      expect(await repo.status()).toMatchObject({ step: "1" });
    });
  }

  for (const [side, step] of [
    ["ours", "10"],
    ["theirs", "11"],
  ] as const) {
    it(`conflict markers: both sides are shown, --take ${side} keeps that one`, async () => {
      const report = "_docs/03_implementation/implementation_report_search_cycle3.md";
      const repo = makeRepo({ [present]: conflict, [report]: "# Done\n" });
      const finding = wrong(await examine(repo)).find(
        (each) => each.code === "state-file-conflict",
      );
      expect(finding).toMatchObject({ file: present, line: 5 });
      expect(finding?.message).toMatch(/step 10 Implement/);
      expect(finding?.message).toMatch(/step 11 Run Tests/);
      expect(finding?.fix).toContain("--take");
      // Without saying which side, nothing is chosen.
      const undecided = await repo.autodev("doctor", "--fix", "--json");
      expect(undecided.code).toBe(1);
      expect(repo.read(present)).toBe(conflict);
      const fixed = await repo.autodev("doctor", "--fix", "--take", side);
      expect(fixed.code, fixed.all).toBe(0);
      expect(await repo.status()).toMatchObject({ step, source: "state" });
      expect(await examine(repo)).toMatchObject({ healthy: true });
    });
  }

  it("conflict markers: the command that is named mends it", async () => {
    await expectMended(makeRepo({ [present]: conflict }), "state-file-conflict", {
      file: present,
      line: 5,
    });
  });

  it("a folder in its place: the command that is named moves it away", async () => {
    const repo = makeRepo({ [`${present}/mine.txt`]: "mine" });
    await expectMended(repo, "state-file-not-a-file", { file: present });
    const kept = Object.values(pictureOf(repo.at("_docs"))).length;
    expect(kept).toBeGreaterThan(1);
  });

  it("a link to nothing: the command that is named mends it", async () => {
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    fs.symlinkSync("nowhere.md", repo.stateFile);
    await expectMended(repo, "state-file-not-a-file", { file: present });
  });

  it("a link out of the repository: the command that is named mends it, the target stays", async () => {
    const outside = path.join(makeFolder("outside"), "theirs.md");
    fs.writeFileSync(outside, generation3);
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    fs.symlinkSync(outside, repo.stateFile);
    await expectMended(repo, "state-file-outside", { file: present });
    expect(fs.readFileSync(outside, "utf8")).toBe(generation3);
  });

  it("one that may not be read: the command that is named mends it", async () => {
    const repo = makeRepo({ [present]: generation3 });
    fs.chmodSync(repo.stateFile, 0o000);
    giveToNobody(repo.root);
    const ill = examinationOf(await asNobody(repo.root, "doctor", "--json"));
    const finding = wrong(ill).find((each) => each.code === "state-file-unreadable");
    expect(finding).toMatchObject({ file: present, level: "error" });
    const fix = finding?.fix ?? "";
    expect(spawnSync("sh", ["-c", fix], { cwd: repo.root }).status, fix).toBe(0);
    expect(examinationOf(await asNobody(repo.root, "doctor", "--json")).healthy).toBe(true);
  });

  it("a memory that may not be written is found: the command that is named mends it", async () => {
    const repo = await makeRepoWithHistory();
    giveToNobody(repo.root);
    fs.chmodSync(path.join(memoryOf(repo), "journal/0000"), 0o500);
    expect((await asNobody(repo.root)).code).toBe(1);
    const ill = examinationOf(await asNobody(repo.root, "doctor", "--json"));
    expect(ill.healthy).toBe(false);
    const [finding] = wrong(ill);
    expect(spawnSync("sh", ["-c", finding?.fix ?? "false"], { cwd: repo.root }).status).toBe(0);
    expect((await asNobody(repo.root)).code).toBe(0);
  });

  it("deleted, or behind the journal: a warning, and autodev or --fix writes it", async () => {
    for (const command of [[], ["doctor", "--fix"]]) {
      const repo = await makeRepoWithHistory();
      const text = repo.read(present);
      fs.rmSync(repo.stateFile);
      const [finding] = wrong(await examine(repo));
      expect(finding).toMatchObject({ level: "warning" });
      expect(finding?.message).toContain(present);
      expect((await repo.autodev(...command)).code).toBe(0);
      expect(repo.read(present)).toBe(text);
      expect(wrong(await examine(repo))).toEqual([]);
    }
  });

  it("a value that cannot be understood: a warning with its line, and the named command mends it", async () => {
    const repo = makeRepo({ [present]: generation3.replace("step: 10", "step: 99") });
    const finding = await expectMended(repo, "correction");
    expect(finding.message).toContain("_docs/_autodev_state.md:5");
  });

  it("the former name is examined, too", async () => {
    const repo = makeRepo({ [former]: conflict });
    expect(wrong(await examine(repo))).toMatchObject([
      { code: "state-file-conflict", file: former },
    ]);
  });

  it("outside a repository: git init is the command, and it helps", async () => {
    const folder = makeFolder("plain");
    const ill = examinationOf(await autodevIn({ cwd: folder }, "doctor", "--json"));
    const [finding] = wrong(ill);
    expect(finding).toMatchObject({ code: "no-repository", fix: "git init" });
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

describe.concurrent("--report", () => {
  const secrets = [
    "sk-ant-api03-abcdefghijklmnopqrstuv",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "password=hunter2secret",
    "Authorization: Bearer abcdef123456",
    "https://bob:s3cretpass@example.com/x",
    "ann.smith@example.com",
  ];
  it("masks what looks like a secret", async ({ expect }) => {
    const all = secrets.join(" ");
    const repo = makeRepo({ [present]: generation3.replace("in_progress", all) });
    expect((await repo.autodev("doctor")).out).toContain(all);
    const { code, out } = await repo.autodev("doctor", "--report");
    expect(code).toBe(0);
    for (const secret of secrets) {
      const value = secret
        .replace(/^(password=|Authorization: Bearer |https:\/\/)/, "")
        .split("@")[0];
      expect.soft(out, secret).not.toContain(value);
      expect.soft(out, secret).not.toContain(value?.slice(-8));
    }
  });

  it("masks home, user and host, and says what it is about", async () => {
    const home = makeFolder("people/ann-secretname");
    const root = path.join(home, "work");
    fs.mkdirSync(root);
    spawnSync("git", ["init", "-q"], { cwd: root });
    const env = { HOME: home, USER: "ann-secretname", LOGNAME: "ann-secretname" };
    const { out } = await autodevIn({ cwd: root, env }, "doctor", "--report");
    expect(out).not.toContain("ann-secretname");
    expect(out).toContain("~/work");
    if (os.hostname().length > 2) expect(out).not.toContain(os.hostname());
    expect(out).toMatch(/node \d+/);
    expect(out).toMatch(/ok git/);
  });

  it("masks the same with --json", async () => {
    const home = makeFolder("people/ann-secretname");
    const root = path.join(home, "work");
    fs.mkdirSync(path.join(root, "_docs"), { recursive: true });
    spawnSync("git", ["init", "-q"], { cwd: root });
    fs.writeFileSync(
      path.join(root, present),
      generation3.replace("in_progress", secrets[1] as string),
    );
    const { out } = await autodevIn(
      { cwd: root, env: { HOME: home } },
      "doctor",
      "--report",
      "--json",
    );
    expect(() => JSON.parse(out) as unknown).not.toThrow();
    expect(out).not.toContain("ann-secretname");
    expect(out).not.toContain(secrets[1]);
  });
});
