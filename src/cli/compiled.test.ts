import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiled } from "./compiled.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-compiled-"));
  vi.stubEnv("XDG_CACHE_HOME", at("cache"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  fs.rmSync(folder, { recursive: true, force: true });
});

const bundle = (text = "exports.answer = () => 42;"): string => {
  fs.writeFileSync(at("bundle.cjs"), text);
  return at("bundle.cjs");
};
const answerOf = (file: string): number => {
  const { exports, keep } = compiled(file, createRequire(import.meta.url));
  const answer = (exports as { answer(): number }).answer();
  keep();
  return answer;
};
const kept = (): string[] => {
  const place = at("cache", "autodev", "compiled");
  return fs.existsSync(place) ? fs.readdirSync(place).map((name) => path.join(place, name)) : [];
};

describe("a bundle", () => {
  it("is kept as it was compiled, once, and runs the same", () => {
    const file = bundle();
    expect(answerOf(file)).toBe(42);
    const [only = ""] = kept();
    const before = fs.statSync(only);
    expect(before.mode & 0o777).toBe(0o600);
    expect(answerOf(file)).toBe(42);
    expect(kept()).toEqual([only]);
    expect(fs.statSync(only).ino).toBe(before.ino);
  });

  it("that has changed is compiled anew, though it is as long as before", () => {
    answerOf(bundle());
    const file = bundle("exports.answer = () => 43;");
    fs.utimesSync(file, 1, 1);
    expect(answerOf(file)).toBe(43);
  });

  it.each<[string, (file: string) => void]>([
    ["is cut off", (file) => fs.truncateSync(file, 50)],
    ["is empty", (file) => fs.truncateSync(file, 0)],
    ["has three bytes", (file) => fs.truncateSync(file, 3)],
    ["is rubbish", (file) => fs.writeFileSync(file, "x".repeat(500))],
    [
      "has one bit that is wrong",
      (file) => {
        const bytes = fs.readFileSync(file);
        const middle = bytes.length >> 1;
        bytes[middle] = (bytes[middle] ?? 0) ^ 1;
        fs.writeFileSync(file, bytes);
      },
    ],
    [
      "has zeros where a block was never written",
      (file) => fs.writeFileSync(file, fs.readFileSync(file).fill(0, 40, 240)),
    ],
    ["others could write", (file) => fs.chmodSync(file, 0o666)],
    [
      "is a link",
      (file) => {
        fs.renameSync(file, at("elsewhere"));
        fs.symlinkSync(at("elsewhere"), file);
      },
    ],
  ])("is compiled where what was kept %s, and then kept again", (_, spoil) => {
    const file = bundle();
    answerOf(file);
    const [only = ""] = kept();
    spoil(only);
    expect(answerOf(file)).toBe(42);
    const stat = fs.lstatSync(only);
    expect(stat.isFile() && stat.size > 100 && (stat.mode & 0o777) === 0o600).toBe(true);
  });

  it("runs where nothing can be kept", () => {
    vi.stubEnv("XDG_CACHE_HOME", "/dev/null/nowhere");
    expect(answerOf(bundle())).toBe(42);
    vi.stubEnv("XDG_CACHE_HOME", "relative");
    vi.stubEnv("HOME", "");
    expect(answerOf(bundle())).toBe(42);
    expect(kept()).toEqual([]);
  });
});
