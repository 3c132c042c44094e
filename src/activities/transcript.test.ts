import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { openTranscript, readTranscript } from "./transcript.ts";

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-transcript-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
const newFile = (): string => path.join(scratch, `${count++}`, "run", "1-1.log");
const text = (file: string): string => fs.readFileSync(file, "utf8");
const small = { mostBytes: 100, lastLines: 2, lastBytes: 1000, spareBytes: 0 };

function linesOf(file: string, from = 0, rest = false): { lines: string[]; end?: number } {
  const lines: string[] = [];
  const end = readTranscript(file, from, (line) => lines.push(line), { rest });
  return { lines, ...(end !== undefined && { end }) };
}

describe("a transcript", () => {
  it("keeps no end of lines that are long: how it ended is enough", () => {
    const file = newFile();
    const transcript = openTranscript(file, { ...small, lastLines: 50, lastBytes: 40 });
    for (let at = 0; at < 60; at++) transcript.add(`${at} ${"x".repeat(90)}`);
    transcript.add("almost");
    transcript.add("ended");
    transcript.end();
    const { lines } = linesOf(file);
    expect(lines).toHaveLength(4);
    expect(lines.slice(-2)).toEqual(["almost", "ended"]);
  });

  it("is written within a second, without being ended", async () => {
    const file = newFile();
    const transcript = openTranscript(file);
    transcript.add("one");
    expect(fs.existsSync(file)).toBe(false);
    await vi.waitFor(() => expect(text(file)).toBe("one\n"), 2000);
    transcript.end();
  });

  it("goes on where an earlier session ended, also in the middle of a line", () => {
    const file = newFile();
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "whole\nhal");
    const transcript = openTranscript(file);
    transcript.add("next");
    transcript.end();
    expect(text(file)).toBe("whole\nhal\nnext\n");
  });

  it("ends at its cap with one line that says so, and the last ones", () => {
    const file = newFile();
    const transcript = openTranscript(file, small);
    for (let at = 1; at <= 40; at++) transcript.add(`line ${at}`);
    transcript.end();
    const { lines } = linesOf(file);
    expect(lines.slice(0, 3)).toEqual(["line 1", "line 2", "line 3"]);
    expect(lines.at(-3)).toMatch(/^── the rest is left out, but for its last 2 lines/);
    expect(lines.slice(-2)).toEqual(["line 39", "line 40"]);
    expect(lines.length).toBeLessThan(20);
    // Another part of the same attempt: how it ended is kept as well.
    const more = openTranscript(file, small);
    for (const line of ["a", "b", "c"]) more.add(line);
    more.end();
    expect(linesOf(file).lines.slice(-2)).toEqual(["b", "c"]);
  });

  it("keeps of long last lines only as many as are little, but always how it ended", () => {
    const file = newFile();
    const transcript = openTranscript(file, { ...small, lastLines: 50, lastBytes: 100 });
    transcript.add("x".repeat(90));
    for (let at = 1; at <= 40; at++) transcript.add(`${at} ${"y".repeat(40)}`);
    transcript.end();
    const { lines } = linesOf(file);
    expect(lines.slice(2).map((line) => line.split(" ")[0])).toEqual(["39", "40"]);
    const longest = newFile();
    const one = openTranscript(longest, { ...small, lastBytes: 100 });
    for (const letter of ["a", "b"]) one.add(letter.repeat(5000));
    one.end();
    expect(linesOf(longest).lines.at(-1)).toBe("b".repeat(5000));
    expect(linesOf(longest).lines).toHaveLength(2);
  });

  it("that no disk takes is no reason to fail, and says afterwards what is missing", () => {
    const full = openTranscript("/dev/full");
    full.add("x".repeat(100_000));
    expect(() => full.end()).not.toThrow();
    const file = newFile();
    const greedy = openTranscript(file, { ...small, mostBytes: 1e6, spareBytes: 1e18 });
    greedy.add("lost");
    greedy.end();
    expect(fs.existsSync(file) ? text(file) : "").toBe("");
    const blocked = openTranscript(newFile());
    const elsewhere = path.join(scratch, "elsewhere");
    fs.mkdirSync(elsewhere);
    blocked.end();
    const linked = newFile();
    fs.mkdirSync(path.dirname(path.dirname(linked)), { recursive: true });
    fs.symlinkSync(elsewhere, path.dirname(linked));
    const astray = openTranscript(linked);
    astray.add("x");
    astray.end();
    expect(fs.readdirSync(elsewhere)).toEqual([]);
  });

  it("counts what it could not write, once it can write again", () => {
    const file = newFile();
    fs.mkdirSync(path.dirname(path.dirname(file)), { recursive: true });
    // A file where the folder should be: gone after a while.
    fs.writeFileSync(path.dirname(file), "");
    const transcript = openTranscript(file);
    transcript.add("x".repeat(70_000));
    transcript.add("y".repeat(70_000));
    fs.rmSync(path.dirname(file));
    transcript.add("here");
    transcript.end();
    expect(text(file)).toBe("── 2 lines could not be written\nhere\n");
  });
});

describe("reading one", () => {
  it("gives whole lines, and where to go on", () => {
    const file = newFile();
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "one\ntwo\nthr");
    const first = linesOf(file);
    expect(first).toEqual({ lines: ["one", "two"], end: 8 });
    fs.appendFileSync(file, "ee\nfo");
    expect(linesOf(file, first.end)).toEqual({ lines: ["three"], end: 14 });
    expect(linesOf(file, 14, true).lines).toEqual(["fo"]);
  });

  it("is no trouble with long lines, letters across pieces, and what is no file", () => {
    const file = newFile();
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const line = "ä€😀".repeat(40_000);
    fs.writeFileSync(file, `${line}\n\n${line}\n`);
    expect(linesOf(file).lines).toEqual([line, "", line]);
    fs.writeFileSync(file, "z".repeat(3 * 1024 ** 2));
    expect(linesOf(file, 0, true).lines.join("")).toHaveLength(3 * 1024 ** 2);
    expect(linesOf(path.dirname(file))).toEqual({ lines: [] });
    expect(linesOf(newFile())).toEqual({ lines: [] });
  });
});
