import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, expect, it } from "vitest";
import { openGit } from "./call.ts";
import { type Patch, patchBetween } from "./differences.ts";
import { createStarters } from "./starters.ts";

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-differences-")));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const bare = (...args: string[]): string =>
  execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();

it("of a patch that is too long, the rest is not even waited for", async () => {
  bare("init", "-q", "--template=");
  const empty = bare("hash-object", "-w", "-t", "tree", "/dev/null");
  fs.writeFileSync(path.join(folder, "a.txt"), `one\n${"x".repeat(20 * 1024 ** 2)}\n`);
  bare("add", "a.txt");
  const tree = bare("write-tree");
  const gitDir = path.join(folder, ".git");
  const git = openGit({ gitDir, commonDir: gitDir, workTree: folder });
  const patch = async (mostBytes?: number): Promise<Patch> => {
    const told = await patchBetween(git, empty, tree, { mostBytes });
    if (!told.ok) throw new Error(told.failure.message);
    return told.value;
  };
  const whole = await patch();
  expect([whole.bytes.length > 20 * 1024 ** 2, whole.cut]).toEqual([true, undefined]);
  const some = await patch(1000);
  expect([some.bytes.equals(whole.bytes.subarray(0, 1000)), some.cut]).toEqual([true, true]);
  const just = await patch(whole.bytes.length);
  expect([just.bytes.equals(whole.bytes), just.cut]).toEqual([true, undefined]);
});

it("nor by those who are started elsewhere", async () => {
  const starters = createStarters(() => 1);
  const args = ["-c", "yes"];
  const { env } = process;
  const call = { program: "sh", args, cwd: folder, env, timeoutMs: 20_000, mostBytes: 1000 };
  const { error, out } = await starters.start(call);
  await starters.end();
  expect(error).toBe("ENOBUFS");
  expect(out.length).toBeLessThan(1024 ** 2);
});
