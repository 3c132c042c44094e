/** `autodev clean`, through the built binary, on what real runs leave. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  expectComplete,
  expectSchema,
  makeBuildRepo,
  makeMailbox,
  startTrusted,
  vaguePhase,
} from "./build-rig.ts";
import {
  asNobody,
  atTerminal,
  autodevIn,
  binary,
  errorOf,
  expectNoCrash,
  giveToNobody,
  jsonOf,
  makeFolder,
  makeRepo,
  memoryOf,
  pictureOf,
  plainEnvironment,
  prompt,
  type Repo,
  segmentsOf,
  smallDisk,
} from "./rig.ts";

const mine = ["--agent=mine"];

interface Kept {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly why: string;
}
interface Clean {
  readonly dryRun: boolean;
  readonly removed: readonly Kept[];
  readonly kept: readonly Kept[];
  readonly failed: readonly { readonly name: string; readonly message: string }[];
  readonly freedBytes: number;
  readonly keptBytes: number;
}

async function clean(repo: Repo, ...args: string[]): Promise<Clean> {
  const cleaned = jsonOf<Clean>(await repo.autodev("clean", ...args, "--json"));
  expectSchema(cleaned, "clean");
  return cleaned;
}

const namesOf = (things: readonly Kept[], kind: string): string[] =>
  things.filter((thing) => thing.kind === kind).map(({ name }) => name);

const refs = (repo: Repo): string[] =>
  repo.git("for-each-ref", "--format=%(refname)", "refs/autobuild").split("\n").filter(Boolean);

const runs = (repo: Repo): string[] => [
  ...new Set(refs(repo).flatMap((ref) => /\/(r[0-9a-f]{10})\//.exec(ref)?.[1] ?? [])),
];

const transcriptsOf = (repo: Repo): string[] => {
  const folder = repo.at(".git/autodev/transcripts");
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".log"))
    .sort();
};

const failing = 'mkdir -p src; echo "try $AUTODEV_ATTEMPT" > src/1.txt; finish';
/** Something that no run before has made. */
const another = 'mkdir -p src; echo "$AUTODEV_RESULT" > src/1.txt; finish';
const fails = { agent: failing, gate: "false" };

/** A run that failed and was set aside, and one that is complete. */
async function twoRuns(): Promise<Repo> {
  const repo = makeBuildRepo(vaguePhase);
  expect((await build(repo, mine, fails)).code).toBe(4);
  expectComplete(await build(repo, [...mine, "--fresh"]));
  expect(runs(repo)).toHaveLength(2);
  return repo;
}

/** As if it had been done so many days ago. */
function age(repo: Repo, name: string, days: number): void {
  const then = new Date(Date.now() - days * 24 * 60 * 60_000);
  fs.utimesSync(repo.at(`.git/autodev/transcripts/${name}`), then, then);
}

describe.concurrent("autodev clean", { timeout: 180_000 }, () => {
  it("says what is kept, and removes nothing that is new", async () => {
    const repo = await twoRuns();
    const before = pictureOf(memoryOf(repo));
    const { removed, kept } = await clean(repo);
    expect(removed).toEqual([]);
    expect(namesOf(kept, "transcript")).toHaveLength(3);
    expect(namesOf(kept, "run")).toHaveLength(2);
    expect(namesOf(kept, "set-aside")).toHaveLength(1);
    const after = pictureOf(memoryOf(repo));
    expect({ ...after, lock: "" }).toEqual({ ...before, lock: "" });
    const ran = await repo.autodev("clean");
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/^transcripts: 0 removed, 3 \(.+\) kept$/m);
    expect(ran.out).toMatch(/0 B freed, .+ kept\n$/);
  });

  it("removes what is old, and never the journal, answers, receipts and the current run's refs", async () => {
    const repo = await twoRuns();
    const [first = "", second = ""] = await runsInOrder(repo);
    const journal = pictureOf(repo.at(".git/autodev/journal"));
    const evidence = refs(repo).filter((ref) => ref.startsWith("refs/autobuild/evidence/"));
    expect(evidence.length).toBeGreaterThan(0);
    const dry = await clean(repo, "--keep-days", "0", "--dry-run");
    expect(dry.dryRun).toBe(true);
    expect(refs(repo)).toEqual(expect.arrayContaining(evidence));
    expect(transcriptsOf(repo)).toHaveLength(3);
    const { removed, kept } = await clean(repo, "--keep-days", "0");
    expect(removed).toEqual(dry.removed);
    expect(namesOf(removed, "transcript")).toEqual([`${first}/1-1.log`, `${first}/1-2.log`]);
    expect(namesOf(removed, "set-aside")).toHaveLength(1);
    expect(runs(repo)).toEqual([second]);
    expect(refs(repo)).toEqual(expect.arrayContaining(evidence));
    expect(transcriptsOf(repo)).toEqual([`${second}/1-1.log`]);
    expect(fs.readdirSync(repo.at(".git/autodev/transcripts"))).toEqual([second]);
    expect(kept.find(({ kind }) => kind === "run")).toMatchObject({
      path: second,
      why: "the current run",
    });
    expect(pictureOf(repo.at(".git/autodev/journal"))).toEqual(journal);
    expect(segmentsOf(repo).length).toBeGreaterThan(0);
    // Everything still works: the log, the audit of receipts, the next run.
    expect((await repo.autodev("log", "1")).code).toBe(0);
    const audited = await repo.autodev("audit", "HEAD", "--no-gates");
    expect(audited.code, audited.all).toBe(0);
    repo.git("fsck", "--strict", "--no-dangling");
    expectComplete(await build(repo, mine));
  });

  it("goes by age and by the project's own settings, which the command line overrides", async () => {
    const repo = await twoRuns();
    const [first = ""] = await runsInOrder(repo);
    age(repo, `${first}/1-1.log`, 10);
    age(repo, `${first}/1-2.log`, 40);
    expect(namesOf((await clean(repo, "--dry-run")).removed, "transcript")).toEqual([
      `${first}/1-2.log`,
    ]);
    repo.write(".autodev/config.yaml", `${repo.read(".autodev/config.yaml")}keep: { days: 5 }\n`);
    expect(namesOf((await clean(repo, "--dry-run")).removed, "transcript")).toHaveLength(2);
    const younger = await clean(repo, "--dry-run", "--keep-days", "50");
    expect(namesOf(younger.removed, "transcript")).toEqual([]);
    repo.write(
      ".autodev/config.yaml",
      repo.read(".autodev/config.yaml").replace("{ days: 5 }", "{ days: 99, size: 1 B }"),
    );
    // All go, the current run's last; what is not over a cap stays.
    const capped = await clean(repo, "--dry-run");
    expect(namesOf(capped.removed, "transcript")).toHaveLength(3);
    const roomy = await clean(repo, "--dry-run", "--max-size", "1 TB");
    expect(roomy.removed).toEqual([]);
    repo.write(".autodev/config.yaml", "keep: { size: lots }\n");
    const wrong = await repo.autodev("clean", "--json");
    expect(wrong.code).toBe(2);
    expect(errorOf(wrong)).toMatchObject({ file: ".autodev/config.yaml", line: 1 });
  });

  it("with a cap removes the oldest until the rest is under it", async () => {
    const repo = await twoRuns();
    const [first = "", second = ""] = await runsInOrder(repo);
    const put = (name: string, bytes: number, days: number): void => {
      fs.writeFileSync(repo.at(`.git/autodev/transcripts/${name}`), "x".repeat(bytes));
      age(repo, name, days);
    };
    put(`${first}/1-1.log`, 3_000_000, 2);
    put(`${first}/1-2.log`, 3_000_000, 1);
    put(`${second}/1-1.log`, 3_000_000, 3);
    const { removed, keptBytes } = await clean(repo, "--max-size", "7MB");
    expect(namesOf(removed, "transcript")).toEqual([`${first}/1-1.log`]);
    expect(keptBytes).toBeLessThan(7 * 1024 ** 2);
    expect(transcriptsOf(repo)).toEqual([`${first}/1-2.log`, `${second}/1-1.log`].sort());
  });

  it("at the end of a run keeps transcripts under the cap, without a word", async () => {
    const repo = await twoRuns();
    const [first = ""] = await runsInOrder(repo);
    const [file = ""] = transcriptsOf(repo).filter((name) => name.startsWith(first));
    fs.writeFileSync(repo.at(`.git/autodev/transcripts/${file}`), "x".repeat(2_000_000));
    age(repo, file, 2);
    repo.write(".autodev/config.yaml", `${repo.read(".autodev/config.yaml")}keep: { size: 1MB }\n`);
    repo.git("commit", "--quiet", "--all", "--message=settings");
    const ran = await build(repo, [...mine, "--fresh"], { agent: another });
    expectComplete(ran);
    expect(ran.all).not.toMatch(/transcript/);
    expect(transcriptsOf(repo)).not.toContain(file);
    expect(transcriptsOf(repo)).toHaveLength(3);
  });

  it("leaves what was set aside for people, unless it is asked for and said yes to", async () => {
    const repo = await twoRuns();
    const rescued = repo.at(".git/autodev/rescue/20200101T000000000Z-notes\u001b[2J.txt");
    fs.writeFileSync(rescued, "mine");
    fs.mkdirSync(repo.at(".git/autodev/rescue/folder"));
    fs.writeFileSync(repo.at(".git/autodev/rescue/folder/deep.txt"), "mine too");
    const { kept } = await clean(repo, "--keep-days", "0");
    expect(namesOf(kept, "rescue")).toHaveLength(2);
    const shown = await repo.autodev("clean");
    expect(shown.out).toMatch(/rescue\/folder, .*B: it may be somebody's \(--rescue\)/);
    expect(shown.all).not.toContain("\u001b");
    // Asked for, but nobody is there to say yes.
    const asked = await repo.autodev("clean", "--keep-days", "0", "--rescue", "--json");
    expect(asked.code).toBe(2);
    expect(errorOf(asked).hint).toContain("--yes");
    expect(fs.existsSync(rescued)).toBe(true);
    // New: it stays, whatever is said.
    const young = await clean(repo, "--rescue", "--yes");
    expect(namesOf(young.removed, "rescue")).toEqual([]);
    const terminal = atTerminal(repo.root, ["clean", "--keep-days", "0", "--rescue"]);
    await terminal.until(prompt);
    terminal.type("b");
    expect((await terminal.ended).code).toBe(130);
    expect(fs.existsSync(rescued)).toBe(true);
    const agreed = atTerminal(repo.root, ["clean", "--keep-days", "0", "--rescue"]);
    await agreed.until(prompt);
    agreed.type("a");
    expect((await agreed.ended).code).toBe(0);
    expect(fs.existsSync(rescued)).toBe(false);
    expect(fs.existsSync(repo.at(".git/autodev/rescue/folder"))).toBe(false);
  });

  it("removes work trees of shells that are as they were made; changed ones only by force", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect((await build(repo, mine, fails)).code).toBe(4);
    for (const attempt of ["1", "2"]) {
      expect((await repo.autodev("shell", "1", "--attempt", attempt, "--json")).code).toBe(0);
    }
    repo.write(".autodev/var/shell-1-1/mine.txt", "mine");
    const { removed, kept } = await clean(repo);
    expect(namesOf(removed, "shell")).toEqual([".autodev/var/shell-1-2"]);
    expect(namesOf(kept, "shell")).toEqual([".autodev/var/shell-1-1"]);
    expect(repo.exists(".autodev/var/shell-1-2")).toBe(false);
    const asked = await repo.autodev("clean", "--force-shells", "--no-input");
    expect(asked.code).toBe(2);
    expect(repo.read(".autodev/var/shell-1-1/mine.txt")).toBe("mine");
    const forced = await clean(repo, "--force-shells", "--yes");
    expect(namesOf(forced.removed, "shell")).toEqual([".autodev/var/shell-1-1"]);
    expect(repo.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(repo.exists(".autodev/var")).toBe(false);
  });

  it("does not take a shell's tree from under somebody", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect((await build(repo, mine, fails)).code).toBe(4);
    const mailbox = makeMailbox();
    const waits = `touch "${mailbox}/in"; while [ ! -e "${mailbox}/go" ]; do sleep 0.05; done`;
    const inside = repo.autodev("shell", "1", "--", "sh", "-c", waits);
    await arrived(mailbox, "in");
    const { kept } = await clean(repo, "--force-shells", "--yes");
    expect(kept.find(({ kind }) => kind === "shell")?.why).toBe("somebody is in it");
    expect(repo.exists(".autodev/var/shell-1-2/src/1.txt")).toBe(true);
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expect((await inside).code).toBe(0);
  });

  it("removes checkouts, half-made entries and old dependencies from the cache", async () => {
    const repo = await twoRuns();
    const cache = makeFolder("own-cache");
    const env = { XDG_CACHE_HOME: cache };
    const checks = path.join(cache, "autodev", "checks");
    // As it is named for this repository, outside of it.
    const own = createHash("sha256").update(repo.at(".git")).digest("hex").slice(0, 16);
    const base = path.join(checks, own);
    const put = (file: string, text = "x"): void => {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    };
    put(path.join(base, "slot-0", "file.txt"), "checkout");
    put(path.join(`${base}-audit-4194999`, "slot-0", "file.txt"));
    put(path.join(`${base}-dependencies`, "gone-4194999-x", "tree", "a"));
    put(path.join(`${base}-dependencies`, "old", "tree", "a"));
    put(
      path.join(`${base}-dependencies`, "old", "label.json"),
      JSON.stringify({ seal: "s", bytes: 123, ours: true }),
    );
    put(path.join(checks, "0123456789abcdef", "slot-0", "another repository's"));
    const ran = jsonOf<Clean>(await repo.with(env, "clean", "--json", "--keep-days", "0"));
    expect(namesOf(ran.removed, "checkout")).toHaveLength(2);
    expect(namesOf(ran.removed, "dependencies").sort()).toEqual(["gone-4194999-x", "old"]);
    expect(ran.failed).toEqual([]);
    expect(fs.readdirSync(`${base}-dependencies`)).toEqual([]);
    expect(fs.existsSync(path.join(checks, "0123456789abcdef", "slot-0"))).toBe(true);
  });

  it("is kept out by a run under way, with exit code 4; a dry run is not", async () => {
    const repo = await twoRuns();
    const mailbox = makeMailbox();
    const agent = `touch "$MAILBOX/begun"; while [ ! -e "$MAILBOX/go" ]; do sleep 0.05; done; ${another}`;
    const around = { agent, env: { MAILBOX: mailbox } };
    const underway = await startTrusted(repo, [...mine, "--fresh"], around);
    await arrived(mailbox, "begun");
    const before = refs(repo);
    const ran = await repo.autodev("clean", "--keep-days", "0", "--json");
    expect(ran.code).toBe(4);
    expect(errorOf(ran)).toMatchObject({ code: "locked" });
    expect(errorOf(ran).message).toContain("autodev build");
    expect((await repo.autodev("clean", "--dry-run")).code).toBe(0);
    expect(refs(repo)).toEqual(before);
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expectComplete(await underway.ended);
  });

  it("killed at any moment is finished by the next, and nothing that stays is harmed", async () => {
    const repo = await twoRuns();
    const [, second = ""] = await runsInOrder(repo);
    expect((await repo.autodev("shell", "1", "--json")).code).toBe(0);
    const many = repo.at(`.git/autodev/transcripts/${(await runsInOrder(repo))[0]}`);
    for (let at = 0; at < 3000; at++) fs.writeFileSync(path.join(many, `9-${at}.log`), "x");
    let killed = 0;
    for (const wait of [60, 110, 150, 180, 210, 240, 270, 300, 350, 400]) {
      const child = spawn(process.execPath, [binary(), "clean", "--keep-days", "0"], {
        cwd: repo.root,
        env: plainEnvironment,
        stdio: "ignore",
      });
      const ended = new Promise<string | null>((resolve) =>
        child.once("exit", (_, signal) => resolve(signal)),
      );
      const timer = setTimeout(() => child.kill("SIGKILL"), wait);
      if ((await ended) === "SIGKILL") killed++;
      clearTimeout(timer);
      expect((await repo.autodev("status")).code).toBe(0);
    }
    expect(killed).toBeGreaterThan(0);
    const { failed } = await clean(repo, "--keep-days", "0");
    expect(failed).toEqual([]);
    expect(runs(repo)).toEqual([second]);
    expect(transcriptsOf(repo)).toEqual([`${second}/1-1.log`]);
    expect(repo.exists(".autodev/var")).toBe(false);
    repo.git("fsck", "--strict", "--no-dangling");
    const audited = await repo.autodev("audit", "HEAD", "--no-gates");
    expect(audited.code, audited.all).toBe(0);
  });

  it("works on a disk that is full, which is when it is needed", async ({ skip }) => {
    const disk = await smallDisk(16);
    if (typeof disk === "string") return skip(disk);
    try {
      const source = await twoRuns();
      const root = path.join(disk.folder, "project");
      await disk.run("cp", "-a", source.root, root);
      await disk.run(
        "sh",
        "-c",
        `for f in ${root}/.git/autodev/transcripts/*/1-2.log; do cat /dev/zero > "$f"; done`,
      );
      const ran = await disk.autodev(root, "clean", "--keep-days", "0");
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(0);
      expect(ran.out).toMatch(/1\d MB freed/);
    } finally {
      disk.end();
    }
  });

  it("says what it cannot remove, removes the rest, and ends with 1", async () => {
    const repo = await twoRuns();
    const [first = ""] = await runsInOrder(repo);
    giveToNobody(repo.root);
    fs.chmodSync(repo.at(`.git/autodev/transcripts/${first}`), 0o500);
    const ran = await asNobody(repo.root, "clean", "--keep-days", "0", "--json");
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(1);
    const { failed, removed } = JSON.parse(ran.out) as Clean;
    expect(failed.map(({ name }) => name)).toEqual([`${first}/1-1.log`, `${first}/1-2.log`]);
    expect(namesOf(removed, "set-aside")).toHaveLength(1);
  });

  it("follows no link out of our folders", async () => {
    const repo = await twoRuns();
    const precious = makeFolder("precious");
    fs.mkdirSync(path.join(precious, "r0123456789"));
    fs.writeFileSync(path.join(precious, "r0123456789", "1-1.log"), "mine");
    const before = pictureOf(precious);
    for (const name of ["transcripts", "rescue"]) {
      fs.renameSync(repo.at(`.git/autodev/${name}`), repo.at(`.git/autodev/${name}.aside`));
      fs.symlinkSync(precious, repo.at(`.git/autodev/${name}`));
    }
    fs.mkdirSync(repo.at(".autodev/var"));
    fs.symlinkSync(precious, repo.at(".autodev/var/shell-1-1"));
    const flags = ["--keep-days", "0", "--rescue", "--force-shells", "--yes"];
    expect((await repo.autodev("clean", ...flags)).code).toBe(0);
    expect(pictureOf(precious)).toEqual(before);
    fs.rmSync(repo.at(".git/autodev/rescue"));
    fs.mkdirSync(repo.at(".git/autodev/rescue"));
    fs.symlinkSync(precious, repo.at(".git/autodev/rescue/link"));
    expect((await repo.autodev("clean", ...flags)).code).toBe(0);
    expect(pictureOf(precious)).toEqual(before);
  });

  it("refuses what it does not understand, and leaves an untouched repository untouched", async () => {
    const repo = makeRepo({ "a.txt": "a" });
    const before = pictureOf(repo.root);
    const ran = await repo.autodev("clean");
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toBe("autodev keeps nothing here that could go.\n");
    for (const bad of [
      ["--max-size", "lots"],
      ["--max-size", "-1GB"],
      ["--keep-days", "x"],
      ["--keep-days", "-1"],
      ["everything"],
    ]) {
      const refused = await repo.autodev("clean", ...bad);
      expect(refused.code, bad.join(" ")).toBe(2);
      expectNoCrash(refused);
    }
    expect(pictureOf(repo.root)).toEqual(before);
    const nowhere = await autodevIn({ cwd: makeFolder("nowhere") }, "clean");
    expect(nowhere.code).toBe(2);
  });
});

async function runsInOrder(repo: Repo): Promise<string[]> {
  const started = (await repo.events()).filter(({ type }) => type === "run-started");
  return started.map((event) => String(event.run));
}
