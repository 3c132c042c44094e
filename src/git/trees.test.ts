import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Git, openGit } from "./call.ts";
import { commitAt, commitTree, fileAt, readBlobs, writeBlob } from "./objects.ts";
import { type Change, changesBetween, type Entry, treeWith } from "./trees.ts";

let folder: string;
let git: Git;

const bare = (args: readonly string[], input?: string | Buffer): string =>
  execFileSync("git", args, {
    cwd: folder,
    env: { ...process.env, GIT_INDEX_FILE: path.join(folder, "an-index") },
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
    ...(input === undefined ? {} : { input }),
  });

beforeAll(() => {
  // A line break in its path: files are handed over by name.
  folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-trees-\n-"));
  execFileSync("git", ["init", "-q", "--template=", folder]);
  const gitDir = path.join(folder, ".git");
  git = openGit({ gitDir, commonDir: gitDir, workTree: folder });
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const must = <T>(result: { ok: true; value: T } | { ok: false; failure: unknown }): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
};

/** As git itself compares them. */
function comparedByGit(from: string, to: string): Change[] {
  const words = bare(["diff-tree", "-r", "-z", "--no-renames", from, to]).split("\0");
  const changes: Change[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [oldMode = "", mode = "", oldBlob = "", blob = ""] = (words[at] ?? "")
      .slice(1)
      .split(" ");
    changes.push({
      path: words[at + 1] ?? "",
      old: /^0+$/.test(oldMode) ? null : { mode: oldMode, blob: oldBlob },
      now: /^0+$/.test(mode) ? null : { mode, blob },
    });
  }
  return changes;
}

/** As git itself makes it, by way of an index. */
function madeByGit(tree: string, entries: ReadonlyMap<string, Entry | null>): string {
  bare(["read-tree", tree]);
  // What goes makes room for what comes.
  const inOrder = [...entries].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  const input = inOrder
    .map(([name, entry]) => `${entry?.mode ?? "0"} ${entry?.blob ?? "0".repeat(40)}\t${name}\0`)
    .join("");
  bare(["update-index", "-z", "--index-info"], input);
  return bare(["write-tree"]).trim();
}

describe("trees", () => {
  it("are made and compared exactly as git does it, whatever stands in the place of what", async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return Math.floor((seed / 0x7fffffff) * below) % below;
    };
    const blobs = await Promise.all(
      ["one", "two", "three"].map(async (text) => must(await writeBlob(git, Buffer.from(text)))),
    );
    const modes = ["100644", "100755", "120000"];
    const names = ["a", "a.b", "a-b", "a0", "b", "c d", "ü", "x\ny", "日本"];
    const anyPath = (): string =>
      Array.from({ length: 1 + random(3) }, () => names[random(names.length)]).join("/");
    let tree = must(await treeWith(git, bare(["mktree"], "").trim(), new Map()));
    let compared = 0;
    for (let round = 0; round < 60; round++) {
      const entries = new Map<string, Entry | null>();
      for (let count = 1 + random(6); count > 0; count--) {
        const name = anyPath();
        // No path may be below another: that would be no tree.
        if (
          [...entries.keys()].some(
            (each) => each.startsWith(`${name}/`) || name.startsWith(`${each}/`),
          )
        )
          continue;
        const entry = { mode: modes[random(3)] ?? "", blob: blobs[random(3)] ?? "" };
        entries.set(name, random(3) === 0 ? null : entry);
      }
      const next = must(await treeWith(git, tree, entries));
      expect(next).toBe(madeByGit(tree, entries));
      const changes = must(await changesBetween(git, tree, next));
      expect(changes).toEqual(comparedByGit(tree, next));
      // Taken back, entry by entry, it is what it was.
      const back = new Map(changes.map((change) => [change.path, change.old]));
      expect(must(await treeWith(git, next, back))).toBe(tree);
      compared += changes.length;
      tree = next;
    }
    expect(compared).toBeGreaterThan(80);
    expect(bare(["fsck", "--strict", "--no-dangling"])).toBe("");
  });

  it("take no path that git would not take", async () => {
    const blob = must(await writeBlob(git, Buffer.from("x")));
    const empty = bare(["mktree"], "").trim();
    for (const odd of [".git/config", "a/../b", "a//b", "./a", "A/.GIT", ""]) {
      const made = await treeWith(git, empty, new Map([[odd, { mode: "100644", blob }]]));
      expect(made).toMatchObject({ ok: false, failure: { code: "git" } });
    }
  });
});

describe("objects", () => {
  const by = { name: "Someone <else>\n", email: "someone@example.invalid" };

  it("are read back as they were written: commits with any message, files with any name", async () => {
    const name = "odd\nname  missing";
    const blob = must(await writeBlob(git, Buffer.from("in it")));
    const empty = bare(["mktree"], "").trim();
    const tree = must(await treeWith(git, empty, new Map([[name, { mode: "100644", blob }]])));
    const first = must(
      await commitTree(git, {
        tree,
        parent: blob,
        message: "x\n",
        at: "2026-01-02T03:04:05.678Z",
        by,
      }),
    );
    const message = "feat: ü\n\n\ttabs, $(no shell) and a \u0000 that no commit can hold\n";
    const commit = must(
      await commitTree(git, { tree, parent: first, message, at: "2026-01-02T03:04:05Z", by }),
    );
    expect(bare(["log", "-1", "--format=%an|%ae|%ad|%cd|%B", "--date=iso-strict", commit])).toBe(
      `Someone else|someone@example.invalid|2026-01-02T03:04:05+00:00|2026-01-02T03:04:05+00:00|${message.replace("\0", "")}\n`,
    );
    expect((await fileAt(git, commit, name))?.toString()).toBe("in it");
    expect(await fileAt(git, commit, "not there\n")).toBeUndefined();
    expect(await fileAt(git, commit, "")).toBeUndefined();
    expect(await commitAt(git, commit)).toBe(commit);
    expect(await commitAt(git, blob)).toBeUndefined();
    expect(await commitAt(git, "refs/heads/none")).toBeUndefined();
  });

  it("of any size go through, in the order in which they were asked for", async () => {
    const sizes = [0, 1, 65_536, 3_000_000, 17];
    const blobs = await Promise.all(
      sizes.map(async (size) => must(await writeBlob(git, Buffer.alloc(size, size % 251)))),
    );
    const read = must(await readBlobs(git, blobs, 100_000));
    expect(blobs.map((blob) => read.get(blob)?.length)).toEqual([0, 1, 65_536, undefined, 17]);
    const large = must(await git.read(blobs[3] ?? ""));
    expect(large?.bytes.equals(Buffer.alloc(3_000_000, 3_000_000 % 251))).toBe(true);
  });

  it("are asked for again when the git that was asked is killed", async () => {
    const blob = must(await writeBlob(git, Buffer.from("still here")));
    for (let round = 0; round < 3; round++) {
      for (const pid of pipesOf(folder)) process.kill(pid, "SIGKILL");
      const [read, written] = await Promise.all([
        git.read(blob),
        git.write("blob", Buffer.from("a")),
      ]);
      expect(must(read)?.bytes.toString()).toBe("still here");
      expect(must(written)).toHaveLength(40);
    }
  });

  it("that somebody has overwritten are not believed; git itself would have", async () => {
    const text = `only here ${Math.random()}`;
    const blob = must(await writeBlob(git, Buffer.from(text)));
    const other = must(await writeBlob(git, Buffer.from("something else")));
    const fileOf = (id: string): string =>
      path.join(folder, ".git", "objects", id.slice(0, 2), id.slice(2));
    fs.rmSync(fileOf(blob), { force: true });
    fs.copyFileSync(fileOf(other), fileOf(blob));
    expect(bare(["cat-file", "blob", blob])).toBe("something else");
    const read = await git.read(blob);
    expect(read).toMatchObject({ ok: false, failure: { code: "git" } });
    fs.rmSync(fileOf(blob), { force: true });
  });
});

/** The gits that stay, by the folder that they were started in. */
const pipesOf = (root: string): number[] =>
  fs.readdirSync("/proc").flatMap((name) => {
    try {
      const here = fs.readlinkSync(`/proc/${name}/cwd`) === path.join(root, ".git");
      return /^\d+$/.test(name) && here ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
