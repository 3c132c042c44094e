import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Dependencies,
  dependencyKey,
  type Entry,
  fillEntry,
  findEntry,
  isInstallation,
  putEntry,
  trimEntries,
} from "./dependency-cache.ts";
import { openGit } from "./git/call.ts";
import { removeFolder } from "./git/worktrees.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-cache-")));
afterAll(() => removeFolder(scratch));

let counter = 0;
let cache: string;
let place: string;

beforeEach(() => {
  counter++;
  cache = path.join(scratch, `${counter}`, "cache");
  place = path.join(scratch, `${counter}`, "checkout");
  fs.mkdirSync(place, { recursive: true });
});

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
}

describe("a set-up command that only installs", () => {
  it.each([
    "npm ci",
    "npm ci --ignore-scripts --no-audit",
    "CI=1 npm install --omit=optional",
    "pnpm install --frozen-lockfile",
    "corepack enable && pnpm i",
    "yarn",
    "yarn install --immutable",
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    ".venv/bin/python -m pip install -e '.'".replaceAll("'", '"'),
    'pip install -e ".[dev]" pytest==8.0 "ruff>=0.5"',
    "uv sync --frozen",
    "poetry install --no-root",
    "bundle install; composer install",
  ])("is known: %s", (line) => {
    expect(isInstallation(line)).toBe(true);
  });

  it.each([
    "npm ci && npm run build",
    "npm run setup",
    "make setup",
    "./setup.sh",
    "npm ci || true",
    "npm ci & docker compose up -d",
    "npm ci $(cat flags)",
    "npm ci > log.txt",
    "pip install .",
    "pip install ./packages/a",
    "pip install --target $X -r a.txt",
    "yarn build",
    "npm ci `id`",
  ])("is not: %s", (line) => {
    expect(isInstallation(line)).toBe(false);
  });

  it("is told from another in no time, however long it is", () => {
    expect(isInstallation(`pip install${" --a-b".repeat(5000)} $`)).toBe(false);
  });
});

describe("a key", () => {
  const dependencies: Dependencies = {
    folders: ["node_modules"],
    keyFiles: ["deps.lock"],
    tools: ["node"],
  };
  const given: Parameters<typeof dependencyKey>[2] = {
    dependencies,
    setup: "npm ci",
    versions: ["v20"],
    more: [],
  };

  /** Of a tree with these files; the rest of it changes every time. */
  async function keyOf(
    files: Readonly<Record<string, string>>,
    more: Partial<typeof given> = {},
  ): Promise<string> {
    const root = path.join(scratch, `tree-${++counter}`);
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...args], {
        cwd: root,
        encoding: "utf8",
      });
    write(root, { "source.txt": `${counter}`, ...files });
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message=tree");
    const gitDir = path.join(root, ".git");
    const opened = openGit({ gitDir, commonDir: gitDir, workTree: root });
    const key = await dependencyKey(opened, "HEAD", { ...given, ...more });
    if (!key.ok) throw new Error(key.failure.message);
    return key.value;
  }

  const base = { "package.json": "{}", "deps.lock": "1" };

  it("is the same for the same key files, whatever else the tree holds", async () => {
    expect(await keyOf(base)).toBe(await keyOf(base));
  });

  it.each<[string, Readonly<Record<string, string>>, Partial<typeof given>]>([
    ["a key file", { ...base, "deps.lock": "2" }, {}],
    ["a key file that is gone", { "package.json": "{}" }, {}],
    ["a key file deeper down", { ...base, "packages/a/deps.lock": "1" }, {}],
    ["a workspace's manifest", { ...base, "packages/a/package.json": "{}" }, {}],
    ["settings of the package manager", { ...base, ".npmrc": "legacy-peer-deps=true" }, {}],
    ["a patch", { ...base, "patches/a.patch": "x" }, {}],
    ["the command", base, { setup: "npm ci --omit=dev" }],
    ["a tool's version", base, { versions: ["v22"] }],
    ["the folders", base, { dependencies: { ...dependencies, folders: ["vendor"] } }],
    ["a file of the user's", base, { more: [".env", "x"] }],
  ])("is another with %s", async (_, files, more) => {
    expect(await keyOf(files, more)).not.toBe(await keyOf(base));
  });

  it.each<[string, Readonly<Record<string, string>>, string?]>([
    [
      "a script runs that may read anything",
      { "package.json": '{"scripts":{"postinstall":"node x.js"}}' },
    ],
    [
      "a workspace's script does",
      { ...base, "packages/a/package.json": '{"scripts":{"prepare":"tsc"}}' },
    ],
    ["a manifest cannot be read", { "package.json": "{" }],
    ["files of the tree are copied", { ...base, "yarn.lock": '"a@file:./a":' }],
    ["a requirement is a folder", { "requirements.txt": "pytest\n./local\n" }],
    ["packages are packed before they are linked", { ...base, ".npmrc": "install-links=true" }],
  ])("is the whole tree's when %s", async (_, files) => {
    expect(await keyOf(files)).not.toBe(await keyOf(files));
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      "scripts only set up git's hooks",
      { "package.json": '{"scripts":{"prepare":"husky"}}' },
      "npm ci",
    ],
    [
      "scripts are not run",
      { "package.json": '{"scripts":{"postinstall":"x"}}' },
      "npm ci --ignore-scripts",
    ],
    ["scripts are for later", { "package.json": '{"scripts":{"test":"x","build":"y"}}' }, "npm ci"],
    [
      "requirements come from an index",
      { "requirements.txt": "pytest==8.0\n-e .\n" },
      "pip install -r requirements.txt",
    ],
  ])("is that of the key files when %s", async (_, files, setup) => {
    expect(await keyOf(files, { setup })).toBe(await keyOf(files, { setup }));
  });

  it("is the whole tree's when a key file is a link", async () => {
    const linked = async (): Promise<string> => {
      const root = path.join(scratch, `tree-${counter + 1}`);
      fs.mkdirSync(root);
      fs.symlinkSync("source.txt", path.join(root, "deps.lock"));
      return keyOf({ "package.json": "{}" });
    };
    expect(await linked()).not.toBe(await linked());
  });
});

describe("an entry", () => {
  const key = "a".repeat(64);
  const fill = (folders = ["deps"], copies = false): Promise<Entry> =>
    fillEntry(cache, key, { place, folders, copies, marker: "test" });

  it("holds the folders, and is found again", async () => {
    write(place, { "deps/a/x": "x", "packages/p/deps/y": "y" });
    const { tree } = await fill(["deps", "packages/p/deps"]);
    expect(fs.existsSync(path.join(place, "deps"))).toBe(false);
    expect(fs.readFileSync(path.join(tree, "packages/p/deps/y"), "utf8")).toBe("y");
    expect(await findEntry(cache, key, "/anywhere/else")).toMatchObject({ tree });
    expect(await findEntry(cache, "b".repeat(64), place)).toBeUndefined();
  });

  it("is put into a checkout as a copy, which is nobody else's", async () => {
    write(place, { "deps/a/x": "x" });
    const entry = await fill(["deps"], true);
    expect(fs.existsSync(path.join(place, "deps/a/x"))).toBe(true);
    const other = path.join(scratch, `${counter}`, "other");
    fs.mkdirSync(other);
    await putEntry(entry, other, "test");
    const [copy, kept] = [path.join(other, "deps/a/x"), path.join(entry.tree, "deps/a/x")];
    expect(fs.statSync(copy).ino).not.toBe(fs.statSync(kept).ino);
    fs.writeFileSync(copy, "scribble");
    expect(fs.readFileSync(kept, "utf8")).toBe("x");
  });

  it.each<[string, () => void]>([
    [
      "a file names the place where it was made",
      () => write(place, { "deps/bin/run": `#!${place}/deps/bin/python\n` }),
    ],
    [
      "a link leads there",
      () => {
        write(place, { "deps/x": "x" });
        fs.symlinkSync(path.join(place, "deps/x"), path.join(place, "deps/link"));
      },
    ],
  ])("is for that place alone if %s", async (_, make) => {
    make();
    await fill();
    expect(await findEntry(cache, key, "/anywhere/else")).toBeUndefined();
    expect(await findEntry(cache, key, place)).toBeDefined();
  });

  it.each<[string, (tree: string) => void]>([
    ["written into", (tree) => fs.writeFileSync(path.join(tree, "deps/x"), "y")],
    ["added to", (tree) => fs.writeFileSync(path.join(tree, "deps/y"), "y")],
    ["taken from", (tree) => fs.rmSync(path.join(tree, "deps/x"))],
    ["closed", (tree) => fs.chmodSync(path.join(tree, "deps/x"), 0o600)],
  ])("is gone once somebody has %s it", async (_, scribble) => {
    write(place, { "deps/x": "x" });
    scribble((await fill()).tree);
    expect(await findEntry(cache, key, place)).toBeUndefined();
    expect(fs.readdirSync(cache)).toEqual([]);
  });

  it("that the disk does not take is no entry", async () => {
    await expect(fill(["nothing-there"])).rejects.toThrow();
    expect(await findEntry(cache, key, place)).toBeUndefined();
  });

  it("takes away what a dead process has left, and nothing of a living one", async () => {
    const child = execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }).trim();
    write(cache, { [`filling-${child}-x/tree/a`]: "", [`filling-${process.ppid}-x/tree/a`]: "" });
    write(place, { "deps/x": "x" });
    await fill();
    const left = fs.readdirSync(cache).filter((name) => name.startsWith("filling-"));
    expect(left).toEqual([`filling-${process.ppid}-x`]);
  });
});

describe("the cap", () => {
  /** As another process would have left it, so many hours ago. */
  function plant(id: string, bytes: number, hoursAgo: number): void {
    const label = path.join(cache, id, "label.json");
    write(cache, { [`${id}/label.json`]: JSON.stringify({ seal: "", bytes, ours: true }) });
    const then = new Date(Date.now() - hoursAgo * 3_600_000);
    fs.utimesSync(label, then, then);
  }

  it("sends away the oldest until the rest is within it", async () => {
    for (const [id, hours] of [
      ["a", 5],
      ["b", 3],
      ["c", 4],
      ["d", 2],
    ] as const)
      plant(id, 100, hours);
    await trimEntries(cache, 250);
    expect(fs.readdirSync(cache).sort()).toEqual(["b", "d"]);
  });

  it("spares what is in use, here or anywhere else", async () => {
    write(place, { "deps/x": "x".repeat(100) });
    const key = "c".repeat(64);
    const { folder } = await fillEntry(cache, key, {
      place,
      folders: ["deps"],
      copies: false,
      marker: "test",
    });
    const long = new Date(Date.now() - 100 * 3_600_000);
    fs.utimesSync(path.join(folder, "label.json"), long, long);
    plant("recent", 100, 0.1);
    plant("old", 100, 50);
    await trimEntries(cache, 10);
    expect(fs.readdirSync(cache).sort()).toEqual([path.basename(folder), "recent"].sort());
  });
});
