import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Place } from "./place.ts";
import { type RecordedLine, recordingOf } from "./recording.ts";

const place: Place = {
  home: "/tmp/autodev-e2e-x/home",
  tree: "/tmp/autodev-e2e-x/tree",
  tmp: "/tmp/autodev-e2e-x/tmp",
  remove: () => {},
};
const header = { agent: "a", version: "1", case: "c", argv: ["a", "-p"], exit: 0, signal: null };

const recorded = (...lines: RecordedLine[]): unknown[] =>
  recordingOf(header, lines, { place, programs: "/opt/here", ports: [34567] })
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a recording", () => {
  it("has a header, then what was said, by whom", () => {
    const lines = recorded(
      { stream: "in", text: "Do it." },
      { stream: "out", text: '{"type":"result"}' },
      { stream: "out", text: "a banner" },
      { stream: "err", text: "a warning" },
      { stream: "err", text: "    at itsOwnCode (file.js:1:2)" },
    );
    expect(lines).toEqual([
      header,
      { stdin: "Do it." },
      { type: "result" },
      { stdout: "a banner" },
      { stderr: "a warning" },
    ]);
  });

  it("is the same on another machine and on another day", () => {
    const [, line] = recorded({
      stream: "out",
      text: JSON.stringify({
        cwd: `${place.tree}/a.txt`,
        store: `${place.home}/projects/-tmp-autodev-e2e-x-tree`,
        url: "http://127.0.0.1:34567/v1",
        session: "b2177b47-465b-4a95-a875-7e6d253723cf",
        again: "b2177b47-465b-4a95-a875-7e6d253723cf",
        at: "2026-11-16T14:04:18.215Z",
        created: 1_794_837_873,
        duration_ms: 83,
        retry_delay_ms: 535,
        resetsAt: 2_000_000_000,
      }),
    });
    expect(line).toEqual({
      cwd: "/srv/tree/a.txt",
      store: "/home/dev/projects/-srv-tree",
      url: "http://127.0.0.1:4000/v1",
      session: "00000000-0000-4000-8000-000000000001",
      again: "00000000-0000-4000-8000-000000000001",
      at: "2026-01-01T00:00:00.000Z",
      created: 1,
      duration_ms: 1,
      retry_delay_ms: 535,
      resetsAt: 2_000_000_000,
    });
  });

  it("cuts what is long", () => {
    const [, line] = recorded({
      stream: "out",
      text: JSON.stringify({ tools: "abcdefghijk".split(""), description: "x".repeat(100) }),
    });
    expect(line).toEqual({ tools: ["a", "b", "c"], description: `${"x".repeat(60)}…` });
  });
});

const folder = join(import.meta.dirname, "recorded");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".jsonl"),
);

describe("what is kept of the real programs", () => {
  it.each(files)("%s has its own name in its header, and nothing of the machine", (file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const [first, ...lines] = text.trimEnd().split("\n");
    const { agent, case: name } = JSON.parse(first ?? "{}") as typeof header;
    expect(`${agent}/${name}.jsonl`).toBe(file);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    expect(text).not.toMatch(/autodev-e2e-|scripted-key|127\.0\.0\.1:(?!4000|9\b)/);
  });
});
