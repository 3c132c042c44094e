/**
 * What people, disks and other programs do to the files. In each case: a clear sentence with
 * path, line and way out, the right exit code, the user's bytes untouched, no crash.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  asNobody,
  atTerminal,
  autodevIn,
  binary,
  dropSnapshot,
  errorOf,
  eventually,
  expectNoCrash,
  forgedLine,
  former,
  generation1,
  generation3,
  gitIn,
  giveToNobody,
  jsonOf,
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
  repoAt,
  run,
  type Status,
  segmentsOf,
  sleep,
  smallDisk,
  stateText,
} from "./rig.ts";

/** Another file of tests may have been there before. */
const atHome = (): string[] => fs.readdirSync(plainEnvironment["HOME"] as string);
const homeBefore = atHome();

/** Looking and starting both refuse, both ways of saying it agree, and nothing changes. */
async function expectRefused(
  repo: Repo,
  wanted: { code: string | RegExp; file: string | RegExp; line?: number; says?: RegExp },
): Promise<void> {
  const before = pictureOf(repo.at("."));
  const said = await repo.autodev("status");
  expectNoCrash(said);
  expect(said.code, said.all).toBe(1);
  expect(said.out).toBe("");
  const json = await repo.autodev("--json");
  expect(json.code, json.all).toBe(1);
  const error = errorOf(json);
  expect(error.code).toMatch(wanted.code);
  expect(error.file).toMatch(wanted.file);
  if (wanted.line !== undefined) expect(error.line).toBe(wanted.line);
  expect(error.hint, "a way out").toMatch(/\w+ \w+/);
  if (wanted.says) expect(error.message).toMatch(wanted.says);
  // People are told the same, with the path and the way out.
  expect(said.err).toContain(error.message);
  expect(said.err).toContain(error.hint);
  expect(error.message).toContain(error.file);
  if (error.line !== undefined && error.line > 1) {
    expect(error.message).toContain(`:${error.line}`);
  }
  const after = pictureOf(repo.at("."));
  // The lock file says who asked last, and it and its folder may be new; nothing else changes.
  for (const picture of [before, after]) {
    for (const key of [".git/autodev", ".git/autodev/lock"]) delete picture[key];
  }
  expect(after).toEqual(before);
}

describe.concurrent("a state file that cannot be relied on is refused and stays as it is:", () => {
  const utf16 = (text: string, bigEndian: boolean): Buffer => {
    const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
    return bigEndian ? bytes.swap16() : bytes;
  };
  const conflict = generation3.replace(
    "step: 10\nname: Implement\n",
    "<<<<<<< HEAD\nstep: 10\nname: Implement\n=======\nstep: 11\nname: Run Tests\n>>>>>>> theirs\n",
  );
  const contents: [string, string | Buffer, { code: string; line?: number; says?: RegExp }][] = [
    [
      "binary",
      Buffer.concat([Buffer.from(generation3), Buffer.from([0, 1, 2, 255])]),
      { code: "state-file", line: 14 },
    ],
    ["an image", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), { code: "state-file" }],
    [
      "bytes that are not UTF-8",
      Buffer.from(generation3.replace("batch", "b\u00e4tch"), "latin1"),
      { code: "state-file-encoding", line: 10 },
    ],
    [
      "UTF-16, little end first",
      utf16(generation3, false),
      { code: "state-file-encoding", line: 1, says: /UTF-16/ },
    ],
    [
      "UTF-16, big end first",
      utf16(generation3, true),
      { code: "state-file-encoding", line: 1, says: /UTF-16/ },
    ],
    ["UTF-16 without a mark", utf16(generation3, false).subarray(2), { code: "state-file" }],
    ["conflict markers", conflict, { code: "state-file-conflict", line: 5 }],
    [
      "conflict markers and CRLF",
      conflict.replaceAll("\n", "\r\n"),
      { code: "state-file-conflict", line: 5 },
    ],
    [
      "conflict markers around the whole file",
      `<<<<<<< ours\n${generation3}=======\n${generation1}>>>>>>> theirs\n`,
      { code: "state-file-conflict", line: 1 },
    ],
    [
      "a duplicated block",
      generation3 + generation3.replace("# Autodev State\n\n", ""),
      { code: "state-file-duplicate", line: 14, says: /\b3\b/ },
    ],
    [
      "a duplicated key",
      generation3.replace("cycle: 3", "cycle: 3\nstep: 11"),
      { code: "state-file-duplicate", line: 14, says: /\b5\b/ },
    ],
    [
      "a duplicated section",
      `${generation3}\n## Blockers\n- a\n\n## Blockers\n- b\n`,
      { code: "state-file-duplicate", line: 18, says: /\b15\b/ },
    ],
    [
      "a file about something else",
      "# Shopping\n\n- milk\n",
      { code: "state-file-no-position", line: 1 },
    ],
    [
      "10 MB",
      `${generation3}${"- filler\n".repeat(1_200_000)}`,
      { code: "state-file-too-large", line: 1 },
    ],
    ["10 MB in one line", Buffer.alloc(10_000_000, "a"), { code: "state-file-too-large", line: 1 }],
  ];
  for (const [what, content, wanted] of contents) {
    for (const file of what === "conflict markers" ? [present, former] : [present]) {
      it(`${what}${file === former ? ", under the former name" : ""}`, async () => {
        await expectRefused(makeRepo({ [file]: content }), { file, ...wanted });
      });
    }
  }

  it("conflict markers: both sides are shown as options", async () => {
    const repo = makeRepo({ [present]: conflict });
    for (const command of [["status"], [], ["doctor"]]) {
      const { all } = await repo.autodev(...command);
      expect(all, command.join()).toMatch(/step 10 Implement/);
      expect(all, command.join()).toMatch(/step 11 Run Tests/);
      expect(all, command.join()).toMatch(/--take[= ](ours|theirs)/);
    }
  });

  it("conflict markers that a real merge made, over a journal", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.git("add", ".");
    repo.git("commit", "-qm", "state");
    repo.git("checkout", "-qb", "other");
    repo.write(present, generation3.replace("phase: 7", "phase: 8"));
    repo.git("commit", "-qam", "theirs");
    repo.git("checkout", "-q", "main");
    repo.write(present, generation3.replace("phase: 7", "phase: 9"));
    repo.git("commit", "-qam", "ours");
    expect(() => repo.git("merge", "-q", "other")).toThrow();
    await expectRefused(repo, { code: "state-file-conflict", file: present, line: 9 });
  });

  it("a symbolic link out of the repository, whose target is not touched", async () => {
    const outside = path.join(makeFolder("outside"), "theirs.md");
    fs.writeFileSync(outside, generation3);
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    fs.symlinkSync(outside, repo.stateFile);
    await expectRefused(repo, { code: "state-file-outside", file: present });
    expect(fs.readFileSync(outside, "utf8")).toBe(generation3);
  });

  it("a symbolic link to a place outside where nothing is yet: nothing is made there", async () => {
    const outside = path.join(makeFolder("outside"), "new.md");
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    fs.symlinkSync(outside, repo.stateFile);
    await expectRefused(repo, { code: /state-file/, file: present });
    expect(fs.existsSync(outside)).toBe(false);
  });

  it("a _docs that leads out of the repository: nothing is made there", async () => {
    const outside = makeFolder("outside");
    const repo = makeRepo();
    fs.symlinkSync(outside, repo.at("_docs"));
    const ran = await repo.autodev();
    expectNoCrash(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/_docs.*out of the repository/);
    expect(fs.readdirSync(outside)).toEqual([]);
  });

  it("a link that leads to itself", async () => {
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    fs.symlinkSync("_autodev_state.md", repo.stateFile);
    await expectRefused(repo, { code: /state-file/, file: present });
  });

  it("a folder in its place", async () => {
    const repo = makeRepo({ [`${present}/keep.txt`]: "mine" });
    await expectRefused(repo, { code: "state-file-not-a-file", file: present, says: /folder/ });
  });

  it("a file in the place of _docs", async () => {
    const repo = makeRepo({ _docs: "mine" });
    const status = await repo.autodev("status");
    expectNoCrash(status);
    const ran = await repo.autodev();
    expectNoCrash(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/_docs/);
    expect(ran.err).toMatch(/not a folder|is a file|in the way|no folder/);
    expect(repo.read("_docs")).toBe("mine");
  });

  it("a pipe in its place: nobody waits for its writer", async () => {
    const repo = makeRepo();
    fs.mkdirSync(repo.at("_docs"));
    spawnSync("mkfifo", [repo.stateFile]);
    await expectRefused(repo, { code: "state-file-not-a-file", file: present });
  });

  it("one that this user may not read", async () => {
    const repo = makeRepo({ [present]: generation3 });
    fs.chmodSync(repo.stateFile, 0o000);
    giveToNobody(repo.root);
    for (const command of [["status"], []]) {
      const ran = await asNobody(repo.root, ...command, "--json");
      expect(ran.code, ran.all).toBe(1);
      const error = errorOf(ran);
      expect(error).toMatchObject({ code: "state-file-unreadable", file: present });
      expect(error.message).toContain(present);
      expect(error.message).toMatch(/permission/i);
      expect(error.hint).toContain("chmod");
    }
    expect(repo.read(present)).toBe(generation3);
  });

  it("one in a folder that this user may not enter", async () => {
    const repo = makeRepo({ [present]: generation3 });
    giveToNobody(repo.root);
    fs.chmodSync(repo.at("_docs"), 0o000);
    const ran = await asNobody(repo.root, "status", "--json");
    const error = errorOf(ran);
    expect(ran.code).toBe(1);
    // What mends it is the folder's permission, not the file's.
    expect(error.hint).toMatch(/chmod u\+\S+ _docs(?!\/)/);
    fs.chmodSync(repo.at("_docs"), 0o755);
  });
});

describe.concurrent("a state file with something odd in it is read all the same:", () => {
  for (const [what, content] of [
    ["empty", ""],
    ["blank", " \n\t\n\r\n"],
    ["a BOM and nothing else", "\uFEFF"],
  ] as const) {
    it(`${what}: the folders decide, it is said, and autodev writes it`, async () => {
      const repo = makeRepo({ [present]: content });
      const status = await repo.status();
      expect(status).toMatchObject({ source: "scan", flow: "greenfield", step: "1" });
      expect(status.corrections.join()).toContain("_docs/_autodev_state.md:1");
      expect(repo.read(present)).toBe(content);
      expect((await repo.autodev()).code).toBe(0);
      expect(await repo.status()).toMatchObject({ source: "state", step: "1", corrections: [] });
    });
  }

  for (const [what, from, to, line] of [
    ["a step out of range", "step: 10", "step: 99", 5],
    ["retry_count 7", "retry_count: 0", "retry_count: 7", 12],
  ] as const) {
    it(`${what}: the autodev that puts it right says so, with the line, in words and as JSON`, async () => {
      const text = generation3.replace(from, to);
      const said = await makeRepo({ [present]: text }).autodev();
      expect(said.code, said.all).toBe(0);
      expect(said.all).toContain(`_docs/_autodev_state.md:${line}`);
      const json = await makeRepo({ [present]: text }).autodev("--json");
      expect((JSON.parse(json.out) as Status).corrections.join()).toContain(
        `_docs/_autodev_state.md:${line}`,
      );
    });
  }

  it("a status of one's own: status shows it, autodev asks, the answer changes that line alone", async () => {
    const crlf = `\uFEFF${generation3.replace("in_progress", "paused").replaceAll("\n", "\r\n")}\r\n## My Notes\r\nkeep: me\r\n`;
    const repo = makeRepo({ [present]: crlf });
    expect(await repo.status()).toMatchObject({ status: "paused", source: "state" });
    const asked = await repo.autodev();
    expect(asked.code).toBe(3);
    expect(asked.err).toContain('"paused"');
    expect(repo.read(present)).toBe(crlf);
    const [decision] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", decision?.id ?? "", "A")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    const text = repo.read(present);
    const wanted = crlf.replace("status: paused", "status: in_progress");
    expect(text.startsWith(wanted), text).toBe(true);
    // What is added says what was decided, in the file's own line ending.
    expect(text.slice(wanted.length)).toMatch(/^\r\n## Key Decisions\r\n- .+\r\n$/);
  });

  it("escape sequences in its values never reach a terminal", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[31mred\u202e";
    const repo = makeRepo({
      [present]: generation3
        .replace("in_progress", `${evil}paused`)
        .replace("batch 2", `batch ${evil}`)
        .replace("cycle: 3", `cycle: 3\ntracker: ${evil}`)
        .concat(`\n## Blockers\n- ${evil}blocked\n`),
    });
    for (const command of [
      ["status"],
      [],
      ["decisions"],
      ["doctor"],
      ["log"],
      ["migrate", "--dry-run"],
      ["migrate", "--to", "2"],
    ]) {
      const { all } = await repo.autodev(...command);
      expect(all, command.join()).not.toMatch(/[\u001b\u0007\u202e]/);
    }
  });

  it("a link inside the repository stays a link, and its target is written", async () => {
    const repo = makeRepo({
      "elsewhere/state.md": generation3.replace("in_progress", "paused"),
      "_docs/02_task_plans/feature.md": "# A feature\n",
    });
    fs.symlinkSync("../elsewhere/state.md", repo.stateFile);
    expect(await repo.status()).toMatchObject({ step: "10", source: "state" });
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    expect(fs.readlinkSync(repo.stateFile)).toBe("../elsewhere/state.md");
    expect(repo.read("elsewhere/state.md")).toContain("status: in_progress");
  });

  it("its permissions stay as they are", async () => {
    const repo = makeRepo({ [present]: generation3.replace("in_progress", "paused") });
    fs.chmodSync(repo.stateFile, 0o640);
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    expect(fs.statSync(repo.stateFile).mode & 0o777).toBe(0o640);
  });
});

// ── the journal ────────────────────────────────────────────────────────────────────────────────

const flip = (file: string, at: number, to?: number): void => {
  const bytes = fs.readFileSync(file);
  bytes[at] = to ?? (bytes[at] as number) ^ 0x01;
  fs.writeFileSync(file, bytes);
};

describe.concurrent("a damaged journal", () => {
  it("torn at its end goes on: nothing is lost, and the torn bytes are kept", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    const last = segmentsOf(repo).at(-1) as string;
    const torn = "autodev1 99 1 9 4000 0000";
    fs.appendFileSync(last, torn);
    const bytes = fs.readFileSync(last);
    for (const forget of [false, true]) {
      if (forget) dropSnapshot(repo);
      expect(await repo.status()).toMatchObject({ step: "3", generation: 3, corrections: [] });
      expect(await repo.events()).toEqual(before);
    }
    repo.write(present, repo.read(present).replace("phase: 4", "phase: 5"));
    expect((await repo.autodev()).code).toBe(0);
    const after = await repo.events();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBe(before.length + 1);
    expect(fs.readFileSync(last)).toEqual(bytes);
  });

  it("torn at every length of its last line: the same", async () => {
    const repo = await makeRepoWithHistory();
    const last = segmentsOf(repo).at(-1) as string;
    const whole = fs.readFileSync(last);
    const record = recordsIn(last).at(-1) as ReturnType<typeof recordsIn>[number];
    const { line } = forgedLine({ ...record, seq: record.seq + record.events, prev: record.hash });
    const lengths = [1, 8, 30, 120, line.length - 2];
    await Promise.all(
      lengths.map(async (length) => {
        const copy = repoAt(makeFolder("copy"));
        fs.cpSync(repo.root, copy.root, { recursive: true });
        fs.writeFileSync(
          path.join(copy.root, path.relative(repo.root, last)),
          Buffer.concat([whole, Buffer.from(line.slice(0, length))]),
        );
        dropSnapshot(copy);
        const status = await copy.autodev("status", "--json");
        expect(jsonOf<Status>(status)).toMatchObject({ step: "3", corrections: [] });
      }),
    );
  });

  const flips: [string, (repo: Repo) => { file: string; at: number; to?: number }][] = [
    [
      "a flipped byte in a payload in the middle",
      (repo) => ({ file: segmentsOf(repo)[0] as string, at: 300 }),
    ],
    [
      "a flipped byte in a line's first words",
      (repo) => ({ file: segmentsOf(repo)[0] as string, at: 3 }),
    ],
    [
      "a line break in the middle that is none any more",
      (repo) => {
        const file = segmentsOf(repo)[0] as string;
        return { file, at: fs.readFileSync(file).indexOf(10), to: 11 };
      },
    ],
    [
      "a byte in the middle that became NUL",
      (repo) => ({ file: segmentsOf(repo)[0] as string, at: 300, to: 0 }),
    ],
  ];
  for (const [what, where] of flips) {
    it(`with ${what}, whole lines after it, is refused with path and line; nothing is changed`, async () => {
      const repo = await makeRepoWithOneSession();
      const { file, at, to } = where(repo);
      flip(file, at, to);
      dropSnapshot(repo);
      const segment = path.relative(repo.root, file);
      await expectRefused(repo, { code: "journal-damaged", file: segment, line: 1 });
      const log = errorOf(await repo.autodev("log", "--json"));
      expect(log).toMatchObject({ code: "journal-damaged", file: segment });
      expect(log.hint).toContain("doctor --fix");
    });
  }

  it("with a flipped byte behind the snapshot: status goes on, log and doctor say so", async () => {
    const repo = await makeRepoWithHistory();
    flip(segmentsOf(repo)[0] as string, 300);
    expect(await repo.status()).toMatchObject({ step: "3" });
    expect(errorOf(await repo.autodev("log", "--json")).code).toBe("journal-damaged");
    expect((await repo.autodev("doctor")).code).toBe(1);
  });

  it("with a flipped byte in its very last line is never built upon", async () => {
    const repo = await makeRepoWithHistory();
    const last = segmentsOf(repo).at(-1) as string;
    flip(last, fs.readFileSync(last).length - 20);
    repo.write(present, repo.read(present).replace("phase: 4", "phase: 5"));
    const ran = await repo.autodev("--json");
    // Either refused, or whatever was acknowledged upon it can still be read.
    if (ran.code === 0) {
      dropSnapshot(repo);
      expect(await repo.status()).toMatchObject({ subStep: { phase: 5 } });
    } else expect(errorOf(ran)).toMatchObject({ code: "journal-damaged" });
  });

  it("with a missing record is refused", async () => {
    const repo = await makeRepoWithOneSession();
    const [file] = segmentsOf(repo) as [string];
    const lines = fs.readFileSync(file, "utf8").split("\n");
    fs.writeFileSync(file, [...lines.slice(0, 1), ...lines.slice(2)].join("\n"));
    dropSnapshot(repo);
    await expectRefused(repo, {
      code: "journal-damaged",
      file: path.relative(repo.root, file),
      line: 2,
      says: /missing/,
    });
  });

  it("with a missing segment is refused", async () => {
    const repo = await makeRepoWithHistory();
    const [first, second] = segmentsOf(repo) as [string, string];
    fs.rmSync(first);
    dropSnapshot(repo);
    await expectRefused(repo, {
      code: "journal-damaged",
      file: path.relative(repo.root, second),
      says: /missing/,
    });
  });

  it("that lost its end is refused as long as the snapshot knows better", async () => {
    const repo = await makeRepoWithOneSession();
    const [file] = segmentsOf(repo) as [string];
    const lines = fs.readFileSync(file, "utf8").split("\n");
    fs.writeFileSync(file, `${lines.slice(0, 2).join("\n")}\n`);
    await expectRefused(repo, { code: "journal-damaged", file: /\.git\/autodev\/journal/ });
  });

  it("emptied, while the snapshot knows better, is refused like one that lost its end", async () => {
    const repo = await makeRepoWithOneSession();
    const [file] = segmentsOf(repo) as [string];
    fs.writeFileSync(file, "");
    await expectRefused(repo, { code: "journal-damaged", file: /\.git\/autodev\/journal/ });
  });

  it("with two epochs in one segment is refused", async () => {
    const repo = await makeRepoWithOneSession();
    const [file] = segmentsOf(repo) as [string];
    const last = recordsIn(file).at(-1) as ReturnType<typeof recordsIn>[number];
    const forged = forgedLine({
      ...last,
      seq: last.seq + last.events,
      prev: last.hash,
      epoch: last.epoch + 7,
    });
    fs.appendFileSync(file, forged.line);
    const lines = fs.readFileSync(file, "utf8").split("\n").length - 1;
    await expectRefused(repo, {
      code: "journal-damaged",
      file: path.relative(repo.root, file),
      line: lines,
      says: /epoch/,
    });
  });

  it("to which an overtaken writer added something goes on without it, and keeps it", async () => {
    const repo = await makeRepoWithHistory();
    const before = await repo.events();
    const [first] = segmentsOf(repo) as [string];
    const last = recordsIn(first).at(-1) as ReturnType<typeof recordsIn>[number];
    const payload = JSON.stringify({
      at: "2026-01-01T00:00:00.000Z",
      run: "flow",
      events: [{ type: "blocker-raised", text: "from a late writer" }],
    });
    const { line } = forgedLine({
      ...last,
      seq: last.seq + last.events,
      events: 1,
      prev: last.hash,
      payload,
    });
    fs.appendFileSync(first, line);
    dropSnapshot(repo);
    expect((await repo.status()).blockers).toEqual([]);
    expect(await repo.events()).toEqual(before);
    expect(fs.readFileSync(first, "utf8").endsWith(line)).toBe(true);
    expect((await repo.autodev("doctor")).all).toMatch(
      /written after another autodev had taken over/,
    );
  });

  it("of a newer format is refused: update, nothing is changed", async () => {
    const repo = await makeRepoWithHistory();
    const last = segmentsOf(repo).at(-1) as string;
    fs.appendFileSync(last, 'autodev2 something {"of":"the future"}\n');
    await expectRefused(repo, {
      code: "journal-newer",
      file: path.relative(repo.root, last),
      says: /newer/,
    });
    const before = pictureOf(path.join(memoryOf(repo), "journal"));
    const fixed = await repo.autodev("doctor", "--fix", "--json");
    expect(fixed.code).toBe(1);
    expect(pictureOf(path.join(memoryOf(repo), "journal"))).toEqual(before);
  });

  it("deleted: the files are taken as the truth, and it goes on", async () => {
    const repo = await makeRepoWithHistory();
    const text = repo.read(present);
    fs.rmSync(path.join(memoryOf(repo), "journal"), { recursive: true });
    expect(await repo.status()).toMatchObject({ step: "3", source: "state", generation: 3 });
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(text);
    expect(await repo.events()).toMatchObject([{ type: "state-file-adopted", why: "imported" }]);
  });

  it("deleted with all its memory: the same", async () => {
    const repo = await makeRepoWithHistory();
    fs.rmSync(memoryOf(repo), { recursive: true });
    expect(await repo.status()).toMatchObject({ step: "3", source: "state", generation: 3 });
    expect((await repo.autodev()).code).toBe(0);
  });

  it("with an event of a type that it does not know passes over it, and keeps it", async () => {
    const repo = await makeRepoWithOneSession();
    const [file] = segmentsOf(repo) as [string];
    const last = recordsIn(file).at(-1) as ReturnType<typeof recordsIn>[number];
    const payload = JSON.stringify({
      at: "2026-01-01T00:00:00.000Z",
      run: "flow",
      events: [{ type: "moon-landed", by: "us" }],
    });
    const { line } = forgedLine({
      ...last,
      seq: last.seq + last.events,
      events: 1,
      prev: last.hash,
      payload,
    });
    fs.appendFileSync(file, line);
    expect(await repo.status()).toMatchObject({ step: "10" });
    const log = await repo.autodev("log");
    expectNoCrash(log);
    expect(log.out).toContain("moon-landed");
    expect((await repo.autodev()).code).toBe(0);
  });

  it("beside a snapshot that is garbage does not need it", async () => {
    for (const garbage of ["", "autodev-snapshot1 0-0-2 {}\n"]) {
      const repo = await makeRepoWithOneSession();
      fs.writeFileSync(path.join(memoryOf(repo), "snapshot"), garbage);
      expect(await repo.status()).toMatchObject({ step: "10", corrections: [] });
      expect((await repo.autodev()).code).toBe(0);
    }
  });

  it("that this user may not read is named, with the reason", async () => {
    const repo = await makeRepoWithHistory();
    giveToNobody(repo.root);
    fs.chmodSync(path.join(memoryOf(repo), "journal"), 0o000);
    dropSnapshot(repo);
    for (const command of [["status"], []]) {
      const ran = await asNobody(repo.root, ...command, "--json");
      expect(ran.code, ran.all).toBe(1);
      const error = errorOf(ran);
      expect(error.message).toMatch(/journal.*permission/);
      expect(error.hint).toBeTruthy();
    }
    fs.chmodSync(path.join(memoryOf(repo), "journal"), 0o700);
  });

  it("of somebody else's repository: looking works, writing says why it cannot", async () => {
    const repo = makeRepo({ [present]: generation3.replace("in_progress", "paused") });
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    if (process.getuid?.() !== 0) return;
    spawnSync("chmod", ["-R", "go+rX", repo.root]);
    const status = await asNobody(repo.root, "status", "--json");
    expect(jsonOf<Status>(status)).toMatchObject({ step: "10" });
    const ran = await asNobody(repo.root, "--json");
    expect(ran.code).toBe(1);
    expect(errorOf(ran).message).toMatch(/permission/);
  });
});

// ── disks ──────────────────────────────────────────────────────────────────────────────────────

describe.concurrent("a disk", () => {
  it("that is read-only: looking works, writing names the reason, nothing changes", async ({
    skip,
  }) => {
    const disk = await smallDisk(8);
    if (typeof disk === "string") return skip(disk);
    try {
      const root = path.join(disk.folder, "project");
      const source = await makeRepoWithOneSession();
      await disk.run("cp", "-a", source.root, root);
      await disk.run("mount", "-o", "remount,ro", disk.folder);
      const before = pictureOf(disk.seen);
      const status = jsonOf<Status>(await disk.autodev(root, "status", "--json"));
      expect(status).toMatchObject({ step: "10", source: "state" });
      for (const command of [[], ["decide", "d-000000000000", "A"], ["migrate", "--to", "2"]]) {
        const ran = await disk.autodev(root, ...command, "--json");
        const error = errorOf(ran);
        if (command[0] === "decide") expect(ran.code).toBe(2);
        else {
          expect(ran.code).toBe(1);
          expect(error.message).toMatch(/read-only/);
          expect(error.message).toContain(".git/autodev");
        }
      }
      const doctor = await disk.autodev(root, "doctor", "--json");
      expectNoCrash(doctor);
      const findings = (
        JSON.parse(doctor.out) as { findings: { level: string; message: string; fix?: string }[] }
      ).findings;
      const bad = findings.filter((finding) => finding.level === "error");
      expect(bad.map((finding) => finding.message).join()).toMatch(/read-only/);
      // chmod does not mend a mount.
      expect(bad.map((finding) => finding.fix).join()).not.toContain("chmod");
      expect(pictureOf(disk.seen)).toEqual(before);
    } finally {
      disk.end();
    }
  });

  it("that is full: the old state stays, the reason is named, and it goes on when there is room", async ({
    skip,
  }) => {
    const disk = await smallDisk(2);
    if (typeof disk === "string") return skip(disk);
    try {
      const root = path.join(disk.folder, "project");
      const source = makeRepo({ [former]: generation1 });
      expect((await source.autodev()).code).toBe(3);
      const [decision] = (await source.status()).decisions;
      const id = decision?.id ?? "";
      await disk.run("cp", "-a", source.root, root);
      const file = path.join(disk.seen, "project", former);
      const fill = (): Promise<Ran> =>
        disk.run("sh", "-c", `cat /dev/zero > ${disk.folder}/filler`);
      await fill();
      // Looking works.
      expect(jsonOf<Status>(await disk.autodev(root, "status", "--json"))).toMatchObject({
        step: "3",
      });
      // Writing does not, and says so.
      for (const command of [[], ["decide", id, "A"], ["--decide", "recommended"]]) {
        const ran = await disk.autodev(root, ...command, "--json");
        expect(ran.code, `${command.join(" ")}: ${ran.all}`).toBe(1);
        const error = errorOf(ran);
        expect(error.message).toMatch(/no space is left/);
        expect(error.file).toBeTruthy();
        expect(error.hint).toMatch(/room/);
        expect(fs.readFileSync(file, "utf8")).toBe(generation1);
      }
      expect((await disk.autodev(root, "status", "--json")).code).toBe(0);
      // Room again: nothing was lost, nothing is asked twice.
      await disk.run("rm", path.join(disk.folder, "filler"));
      const decided = await disk.autodev(root, "decide", id, "A");
      expect(decided.code, decided.all).toBe(0);
      const ran = await disk.autodev(root, "--json");
      expect(ran.code, ran.all).toBe(0);
      expect(JSON.parse(ran.out)).toMatchObject({ step: "3", generation: 3 });
      const log = await disk.autodev(root, "log", "--json");
      expect(log.out.match(/"type":"decision-asked"/g)).toHaveLength(1);
      expect((await disk.autodev(root, "doctor")).code).toBe(0);
    } finally {
      disk.end();
    }
  });

  it("on which not even a folder can be made is told as full, not as a path that is missing", async ({
    skip,
  }) => {
    const disk = await smallDisk(2);
    if (typeof disk === "string") return skip(disk);
    try {
      const root = path.join(disk.folder, "project");
      await disk.run("cp", "-a", makeRepo({ [present]: generation3 }).root, root);
      const used = `used=$(($(stat -f -c '%c - %d' "$0")))`;
      await disk.run("sh", "-c", `${used} && mount -o remount,nr_inodes=$used "$0"`, disk.folder);
      const ran = await disk.autodev(root, "--json");
      expect(ran.code, ran.all).toBe(1);
      expect(errorOf(ran).message).toMatch(/\.git\/autodev cannot be written: .*\(ENOSPC\)/);
      await disk.run("mount", "-o", "remount,nr_inodes=1000", disk.folder);
      expect((await disk.autodev(root, "--json")).code).toBe(0);
    } finally {
      disk.end();
    }
  });

  it("that fills up at any point of a run loses nothing that was acknowledged", async ({
    skip,
  }) => {
    const disk = await smallDisk(2);
    if (typeof disk === "string") return skip(disk);
    try {
      const source = makeRepo({ [former]: generation1 });
      for (const free of [1, 2, 4]) {
        const root = path.join(disk.folder, `project-${free}`);
        await disk.run("cp", "-a", source.root, root);
        await disk.run(
          "sh",
          "-c",
          `cat /dev/zero > ${disk.folder}/filler; truncate -s -${free * 4096} ${disk.folder}/filler`,
        );
        const ran = await disk.autodev(root, "--decide", "recommended", "--json");
        expectNoCrash(ran);
        if (ran.code !== 0) {
          expect(ran.code, ran.all).toBe(1);
          expect(errorOf(ran).message).toMatch(/no space is left|ENOSPC/);
        }
        await disk.run("rm", path.join(disk.folder, "filler"));
        const again = await disk.autodev(root, "--decide", "recommended", "--json");
        expect(again.code, `${free}: ${again.all}`).toBe(0);
        expect(JSON.parse(again.out)).toMatchObject({ step: "3", generation: 3, source: "state" });
        const doctor = await disk.autodev(root, "doctor");
        expect(doctor.code, doctor.all).toBe(0);
        await disk.run("rm", "-r", root);
      }
    } finally {
      disk.end();
    }
  });

  it("on which the output does not fit ends with 1 and a sentence", async () => {
    const repo = makeRepo({ [present]: generation3 });
    const ran = await run(
      "sh",
      ["-c", '"$0" "$1" status > /dev/full', process.execPath, binary()],
      { cwd: repo.root },
    );
    expectNoCrash(ran);
    expect(ran.code).toBe(1);
  });
});

// ── two at once ────────────────────────────────────────────────────────────────────────────────

describe.concurrent("two at once:", () => {
  it("of eight that start together, each ends well or is told who holds it; the file is made once", async () => {
    const repo = makeRepo();
    const all = await Promise.all(Array.from({ length: 8 }, () => repo.autodev("--json")));
    expect(all.some((ran) => ran.code === 0)).toBe(true);
    for (const ran of all) {
      if (ran.code === 0) continue;
      expect(ran.code, ran.all).toBe(4);
      const error = errorOf(ran);
      expect(error.code).toBe("locked");
      expect(error.hint).toBeTruthy();
    }
    const events = await repo.events();
    expect(events.filter((event) => event["why"] === "created")).toHaveLength(1);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1));
    expect((await repo.autodev("doctor")).code).toBe(0);
  });

  it("a second is told who holds it and since when, exit 4; looking needs no lock", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const holder = await makeHolder(repo);
    try {
      for (const command of [[], ["migrate"], ["doctor", "--fix"]]) {
        const ran = await repo.autodev(...command, "--json");
        expect(ran.code, ran.all).toBe(4);
        const error = errorOf(ran);
        expect(error.code).toBe("locked");
        expect(error.file).toBe(".git/autodev/lock");
        expect(error.message).toContain(String(holder.pid));
        expect(error.message).toMatch(/since \d{4}-\d\d-\d\dT/);
        expect(error.hint).toContain(`kill ${holder.pid}`);
      }
      expect((await repo.autodev("status")).code).toBe(0);
      expect((await repo.autodev("decisions")).code).toBe(0);
      expect((await repo.autodev("log")).code).toBe(0);
      expect((await repo.autodev("doctor")).all).toContain(`process ${holder.pid}`);
    } finally {
      holder.kill("SIGKILL");
      await holder.ended;
    }
  });

  it("a holder that is killed is succeeded at once", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const holder = await makeHolder(repo);
    holder.kill("SIGKILL");
    await eventually("the next one has it", async () => (await repo.autodev()).code === 3, 10_000);
    expect((await repo.autodev("doctor")).code).toBe(0);
  });

  it("a holder that is stopped is never overtaken; the waiter says so, and it goes on when woken", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const holder = await makeHolder(repo);
    try {
      holder.kill("SIGSTOP");
      await eventually("it is stopped", () =>
        / T /.test(fs.readFileSync(`/proc/${holder.pid}/stat`, "utf8")),
      );
      for (let times = 0; times < 3; times++) {
        const ran = await repo.autodev("--json");
        expect(ran.code).toBe(4);
        const error = errorOf(ran);
        expect(error.message).toContain(String(holder.pid));
        expect(error.message).toContain("stopped");
        expect(error.hint).toContain(`kill -CONT ${holder.pid}`);
        expect(error.hint).toContain(`kill -9 ${holder.pid}`);
      }
      holder.kill("SIGCONT");
      holder.type("a");
      expect(await holder.ended).toMatchObject({ code: 0 });
      expect(await repo.status()).toMatchObject({ generation: 3, source: "state" });
    } finally {
      try {
        holder.kill("SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  });

  it("a lock file with nonsense in it locks nobody out", async () => {
    const repo = makeRepo({ [present]: generation3 });
    fs.mkdirSync(memoryOf(repo), { recursive: true });
    fs.writeFileSync(path.join(memoryOf(repo), "lock"), '{"pid": "1; rm -rf /"}');
    expect((await repo.autodev()).code).toBe(0);
    expect((await repo.autodev("doctor")).code).toBe(0);
  });

  it("a lock file that names a living process which does not hold it locks nobody out", async () => {
    const repo = makeRepo({ [present]: generation3 });
    fs.mkdirSync(memoryOf(repo), { recursive: true });
    const holder = { pid: process.pid, host: "here", since: "2026-01-01", command: "autodev" };
    fs.writeFileSync(path.join(memoryOf(repo), "lock"), JSON.stringify(holder));
    expect((await repo.autodev()).code).toBe(0);
  });
});

// ── places ─────────────────────────────────────────────────────────────────────────────────────

describe.concurrent("a place", () => {
  it("without git: status works, the first write says git init, exit 2, and makes nothing", async () => {
    const folder = makeFolder("plain");
    fs.mkdirSync(path.join(folder, "_docs", "02_task_plans"), { recursive: true });
    fs.writeFileSync(path.join(folder, "_docs", "02_task_plans", "feature.md"), "# A feature\n");
    fs.writeFileSync(path.join(folder, present), generation3);
    const before = pictureOf(folder);
    const status = jsonOf<Status>(await autodevIn({ cwd: folder }, "status", "--json"));
    expect(status).toMatchObject({ step: "10", source: "state", root: folder });
    for (const command of [[], ["migrate", "--to", "2"]]) {
      const ran = await autodevIn({ cwd: folder }, ...command, "--json");
      expect(ran.code).toBe(2);
      const error = errorOf(ran);
      expect(error.hint).toContain("git init");
    }
    expect(pictureOf(folder)).toEqual(before);
    gitIn(folder)("init", "--quiet");
    expect((await autodevIn({ cwd: folder })).code).toBe(0);
  });

  it("that is empty: the step that autodev would begin with, by a scan", async () => {
    const folder = makeFolder("empty");
    const status = jsonOf<Status>(await autodevIn({ cwd: folder }, "status", "--json"));
    expect(status).toMatchObject({
      flow: "greenfield",
      step: "1",
      name: "Problem",
      status: "not_started",
      source: "scan",
      generation: 3,
    });
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it("that is a repository without a commit works", async () => {
    const folder = makeFolder("unborn");
    gitIn(folder)("init", "--quiet");
    const repo = repoAt(folder);
    expect(await repo.status()).toMatchObject({ source: "scan" });
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ source: "state", step: "1" });
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    expect(await repo.status()).toMatchObject({ source: "state", step: "1", corrections: [] });
  });

  it("that is a bare repository: nothing is made in it, and the way out is one that helps", async () => {
    const folder = makeFolder("bare.git");
    gitIn(folder)("init", "--quiet", "--bare");
    const before = pictureOf(folder);
    expectNoCrash(await autodevIn({ cwd: folder }, "status"));
    const ran = await autodevIn({ cwd: folder }, "--json");
    expect(ran.code).toBe(2);
    const error = errorOf(ran);
    expect(`${error.message} ${error.hint}`).toMatch(/bare|working tree|clone/);
    expect(pictureOf(folder)).toEqual(before);
  });

  it("below the root finds the root", async () => {
    const repo = makeRepo({ [present]: generation3, "src/deep/down/x.txt": "" });
    const cwd = repo.at("src/deep/down");
    const status = jsonOf<Status>(await autodevIn({ cwd }, "status", "--json"));
    expect(status).toMatchObject({ root: repo.root, step: "10" });
    expect((await autodevIn({ cwd })).code).toBe(0);
    expect(fs.readdirSync(cwd)).toEqual(["x.txt"]);
  });

  it("inside git's own folder: nothing is made there", async () => {
    const repo = makeRepo({ [present]: generation3 });
    const ran = await autodevIn({ cwd: repo.at(".git") });
    expectNoCrash(ran);
    expect(fs.existsSync(repo.at(".git/_docs"))).toBe(false);
  });

  for (const name of [
    "with spaces",
    "ünïcödé ☃",
    "new\nline",
    "$(touch pwned) `id` ; &",
    "-rf",
    "a'b\"c",
    "[1]*?",
  ]) {
    it(`called ${JSON.stringify(name)} works`, async () => {
      const repo = repoAt(path.join(makeFolder("odd"), name));
      fs.mkdirSync(repo.root);
      repo.git("init", "--quiet");
      repo.write(former, generation1);
      repo.write("_docs/00_problem/problem.md", "# The problem\n");
      repo.write("_docs/01_solution/solution.md", "# The solution\n");
      repo.git("add", ".");
      repo.git("commit", "-qm", "first");
      expect(await repo.status()).toMatchObject({ root: repo.root, step: "3" });
      const ran = await repo.autodev("--decide", "recommended");
      expect(ran.code, ran.all).toBe(0);
      expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
      expect((await repo.autodev("doctor")).code).toBe(0);
      expect(fs.readdirSync(repo.root).sort()).toEqual([".git", "_docs"]);
      expect(fs.readdirSync(path.dirname(repo.root))).toEqual([name]);
    });
  }

  it("whose .git points to a folder that is gone is no repository, and nothing is made there", async () => {
    const folder = makeFolder("pruned");
    const gone = path.join(makeFolder("gone"), "worktrees", "x");
    fs.writeFileSync(path.join(folder, ".git"), `gitdir: ${gone}\n`);
    expectNoCrash(await autodevIn({ cwd: folder }, "status"));
    const ran = await autodevIn({ cwd: folder });
    expectNoCrash(ran);
    expect([1, 2]).toContain(ran.code);
    expect(fs.existsSync(gone)).toBe(false);
    expect(fs.existsSync(path.join(folder, "_docs"))).toBe(false);
  });

  it("where a hook has set GIT_DIR is the same place", async () => {
    const repo = makeRepo({ [former]: generation1 });
    repo.git("add", ".");
    repo.git("commit", "-qm", "state");
    const env = { GIT_DIR: ".git", GIT_INDEX_FILE: ".git/index", GIT_PREFIX: "" };
    expect((await repo.with(env, "--decide", "recommended")).code).toBe(0);
    expect(fs.existsSync(repo.at(".git/autodev/journal"))).toBe(true);
  });

  it("where GIT_DIR names another repository does not touch that one", async () => {
    const other = makeRepo();
    const repo = makeRepo({ [former]: generation1 });
    repo.git("add", ".");
    repo.git("commit", "-qm", "state");
    const before = pictureOf(other.root);
    expect(
      (
        await repo.with(
          { GIT_DIR: other.at(".git"), GIT_WORK_TREE: other.root },
          "--decide",
          "recommended",
        )
      ).code,
    ).toBe(0);
    expect(pictureOf(other.root)).toEqual(before);
    expect(repo.git("status", "--porcelain")).toMatch(/^R/m);
  });

  it("whose configuration is hostile runs nothing", async () => {
    const repo = makeRepo({ [former]: generation1 });
    repo.git("add", ".");
    repo.git("commit", "-qm", "state");
    const trap = repo.at("trap.sh");
    fs.writeFileSync(trap, `#!/bin/sh\ntouch "${repo.at("sprung")}"\n`, { mode: 0o755 });
    repo.git("config", "core.fsmonitor", trap);
    repo.git("config", "core.hooksPath", repo.root);
    repo.git("config", "core.sshCommand", trap);
    repo.git("config", "core.pager", trap);
    repo.git("config", "filter.evil.clean", trap);
    repo.git("config", "filter.evil.smudge", trap);
    repo.git("config", "alias.mv", `!${trap}`);
    repo.write(".gitattributes", "* filter=evil\n");
    // Makes git look at the content, and so at the filters.
    fs.utimesSync(repo.at(former), 1, 1);
    for (const command of [["status"], ["--decide", "recommended"], ["doctor"], ["log"]]) {
      await repo.autodev(...command);
    }
    expect(repo.exists("sprung")).toBe(false);
    expect(await repo.status()).toMatchObject({ generation: 3 });
  });
});

// ── the command line ───────────────────────────────────────────────────────────────────────────

describe.concurrent("the command line", () => {
  it("answers an unknown command with 2 and what was probably meant", async () => {
    const repo = makeRepo();
    const ran = await repo.autodev("stauts");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("status");
    expect(ran.err).toMatch(/did you mean/i);
    expectNoCrash(ran);
    const error = errorOf(await repo.autodev("stauts", "--json"));
    expect(error).toMatchObject({ code: "usage" });
    expect(error.message).toMatch(/stauts/);
  });

  for (const args of [
    ["status", "--jsno"],
    ["--frobnicate"],
    ["doctor", "--fixx"],
    ["status", "extra"],
    ["decide"],
    ["decide", "d-1"],
    ["migrate", "--to", "4"],
    ["migrate", "--to"],
    ["--decide", "randomly"],
    ["log", "-n", "three"],
    ["doctor", "--fix", "--take", "mine"],
    ["help", "nonsense"],
  ]) {
    it(`answers autodev ${args.join(" ")} with 2 and a sentence, and makes nothing`, async () => {
      const repo = makeRepo();
      const ran = await repo.autodev(...args);
      expect(ran.code, ran.all).toBe(2);
      expectNoCrash(ran);
      expect(ran.out).toBe("");
      expect(ran.err).toMatch(/^autodev: .+/);
      expect(fs.existsSync(memoryOf(repo))).toBe(false);
    });
  }

  it("suggests the flag that was probably meant", async () => {
    const ran = await makeRepo().autodev("status", "--jsno");
    expect(ran.err).toMatch(/did you mean --json/i);
  });

  it("gives every command its --json, and nothing but JSON on standard output", async () => {
    const repo = makeRepo({ [former]: generation1 });
    for (const [code, ...args] of [
      [3],
      [3, "start"],
      [3, "continue"],
      [0, "status"],
      [0, "decisions"],
      [0, "decisions", "--all"],
      [2, "decide", "d-nonsense", "A"],
      [0, "migrate", "--dry-run"],
      [0, "doctor"],
      [0, "doctor", "--fix"],
      [0, "doctor", "--report"],
    ] as [number, ...string[]][]) {
      const ran = await repo.autodev(...args, "--json");
      expect(ran.code, `${args.join(" ")}: ${ran.all}`).toBe(code);
      expect(() => JSON.parse(ran.out) as unknown, args.join(" ")).not.toThrow();
      expect(ran.err, args.join(" ")).toBe("");
    }
    for (const line of (await repo.autodev("log", "--json")).out.trim().split("\n")) {
      expect(JSON.parse(line)).toMatchObject({
        version: 1,
        run: expect.any(String),
        at: expect.any(String),
      });
    }
  });

  it("accepts --json before the command's other words", async () => {
    const repo = makeRepo({ [present]: generation3 });
    for (const args of [["status", "--json"], ["--json"]]) {
      expect(JSON.parse((await repo.autodev(...args)).out)).toMatchObject({ step: "10" });
    }
  });

  it("explains the exit codes", async () => {
    const { code, out } = await makeRepo().autodev("help", "exit-codes");
    expect(code).toBe(0);
    for (const exit of [0, 1, 2, 3, 4, 5, 70, 130]) {
      expect(out).toMatch(new RegExp(`^\\s*${exit}\\s+\\S`, "m"));
    }
  });

  it("has help for every command, with an example", async () => {
    const repo = makeRepo();
    const { out } = await repo.autodev("help");
    for (const name of [
      "start",
      "status",
      "decisions",
      "decide",
      "migrate",
      "log",
      "doctor",
      "completion",
      "help",
    ]) {
      expect(out).toContain(name);
    }
    for (const args of [["status", "--help"], ["help", "migrate"], ["--help"], ["-h"]]) {
      const ran = await repo.autodev(...args);
      expect(ran.code, args.join(" ")).toBe(0);
      expect(ran.out).toContain("autodev");
      expect(ran.err).toBe("");
    }
    expect((await repo.autodev("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(repo.exists(".git/autodev")).toBe(false);
  });

  for (const shell of ["bash", "zsh", "fish"]) {
    it(`completes in ${shell}`, async () => {
      const { code, out, err } = await makeRepo().autodev("completion", shell);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("autodev");
      if (shell === "bash") {
        expect(spawnSync("bash", ["-n"], { input: out }).status).toBe(0);
      }
    });
  }

  it("completes commands and flags", async () => {
    const repo = makeRepo();
    const commands = await repo.autodev("complete", "--", "st");
    expect(commands.out).toContain("status");
    const flags = await repo.autodev("complete", "--", "doctor", "--");
    expect(flags.out).toContain("--fix");
  });

  it("refuses to complete in a shell that it does not know, with 2", async () => {
    const ran = await makeRepo().autodev("completion", "tcsh");
    expectNoCrash(ran);
    expect(ran.code).toBe(2);
  });

  it("survives a reader that has gone away", async () => {
    const repo = await makeRepoWithHistory();
    for (const command of [
      "status",
      "status --json",
      "log",
      "help",
      "doctor",
      "decisions --json",
      "--no-work",
    ]) {
      const ran = await run(
        "bash",
        [
          "-c",
          `set -o pipefail; "$0" "$1" ${command} | head -0; echo "\${PIPESTATUS[0]}"`,
          process.execPath,
          binary(),
        ],
        { cwd: repo.root },
      );
      expectNoCrash(ran);
      expect(ran.err, command).toBe("");
      expect(["0", "141"], command).toContain(ran.out.trim());
    }
  });

  it("has colours at a terminal only, and obeys NO_COLOR, FORCE_COLOR and --no-color", async () => {
    const repo = makeRepo({ [present]: generation3 });
    const escape = "\u001b[";
    expect((await repo.autodev("status")).out).not.toContain(escape);
    expect((await repo.with({ FORCE_COLOR: "1" }, "status")).out).toContain(escape);
    expect((await repo.with({ FORCE_COLOR: "1", NO_COLOR: "1" }, "status")).out).not.toContain(
      escape,
    );
    const shownWith = async (args: string[], env: Record<string, string>): Promise<string> => {
      const terminal = atTerminal(repo.root, args, env);
      await terminal.ended;
      await sleep(50);
      expect(terminal.shown()).toContain("Implement");
      return terminal.shown();
    };
    expect(await shownWith(["status"], {})).toContain(escape);
    expect(await shownWith(["status"], { NO_COLOR: "1" })).not.toContain(escape);
    expect(await shownWith(["status", "--no-color"], {})).not.toContain(escape);
    expect(await shownWith(["status"], { TERM: "dumb" })).not.toContain(escape);
    // The machine-readable form has none, whatever is asked for.
    expect((await repo.with({ FORCE_COLOR: "1" }, "status", "--json")).out).not.toContain(escape);
  });

  it("says in words what it says in colours", async () => {
    const repo = makeRepo({ [present]: generation3 });
    const { out } = await repo.autodev("status");
    expect(out).toMatch(/✓ +9 New Task/);
    expect(out).toMatch(/▶ 10 Implement — in progress · 7 batch-loop: batch 2 of ~4/);
    expect(out).toMatch(/○ 11 Run Tests/);
    expect(out).toContain("existing-code · cycle 3");
  });

  it("follows the log as it happens, and ends with 130 when interrupted", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    const follower = atTerminal(repo.root, ["log", "--follow", "--json"]);
    await follower.until("imported");
    repo.write(present, generation3.replace("phase: 7", "phase: 8"));
    expect((await repo.autodev()).code).toBe(0);
    await follower.until("hand-edit");
    follower.type("\u0003");
    expect(await follower.ended).toMatchObject({ code: 130 });
  });

  it("ends a followed log with 130 on SIGTERM too, and never counts it as a bug", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    const follower = atTerminal(repo.root, ["log", "--follow"]);
    await follower.until("found and taken over");
    follower.kill("SIGTERM");
    const { code, signal } = await follower.ended;
    expect(code === 130 || code === 143 || signal === 15).toBe(true);
  });

  it("does nothing to the user's home", () => {
    expect(atHome()).toEqual(homeBefore);
  });

  it("reads a state file that was piped into nothing: standard input is left alone", async () => {
    const repo = makeRepo({
      [present]: stateText("flow: greenfield\nstep: 1\nname: Problem\nstatus: wat\ncycle: 1"),
    });
    const ran = await autodevIn({ cwd: repo.root, input: "A\nA\nA\n" });
    expect(ran.code).toBe(3);
  });
});
