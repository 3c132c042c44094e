import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Said } from "../core/board/wire.ts";
import { briefIn } from "../project.ts";
import { conversationIn } from "./conversation.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-said-")));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let counter = 0;
function transcript(...lines: string[]): string {
  const file = path.join(scratch, `${++counter}.log`);
  fs.writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

const says = (text: string): string =>
  JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } });

const spoken = [
  "── attempt 1 at phase 2a, by claude speaking claude",
  "> # The brief",
  "> ",
  "> > a quote in it",
  says("I begin.\nTwo lines."),
  JSON.stringify({ stderr: "a warning \u001b[31min red" }),
  "{ no JSON at all",
  says("x".repeat(30_000)),
  "── claude has ended: done",
  "── gate test: npm test",
  "> project@1.0.0 test",
  "ok 1",
  " ── not a line of ours",
  "── gate test passed: 1 test",
];

const entriesFrom = (file: string, from: number): readonly Said[] => {
  const entries: Said[] = [];
  for (let at = from; ; ) {
    const said = conversationIn(file, at);
    if (!said) throw new Error("it cannot be read");
    entries.push(...said.entries);
    if (said.next === at) return entries;
    at = said.next;
  }
};

describe("a conversation", () => {
  it("is what was said, without the brief, which is told apart", () => {
    const file = transcript(...spoken);
    const entries = entriesFrom(file, 0);
    const long = entries.find((said) => said.is === "text" && said.text.startsWith("xx"));
    expect(long?.is === "text" && long.text.length).toBeLessThan(20_100);
    expect(long?.is === "text" && long.text).toContain("(10000 characters more)");
    expect(entries.filter((said) => said !== long)).toEqual([
      { is: "heading", text: "attempt 1 at phase 2a, by claude speaking claude" },
      { is: "text", text: "I begin.\nTwo lines." },
      { is: "line", text: "a warning in red" },
      { is: "heading", text: "claude has ended: done" },
      { is: "heading", text: "gate test: npm test" },
      { is: "line", text: "> project@1.0.0 test" },
      { is: "line", text: "ok 1" },
      { is: "line", text: " ── not a line of ours" },
      { is: "heading", text: "gate test passed: 1 test" },
    ]);
    expect(briefIn(file)?.text).toBe("# The brief\n\n> a quote in it");
  });

  it("is the same from any line on", () => {
    const file = transcript(...spoken);
    const all = entriesFrom(file, 0);
    const lines = fs.readFileSync(file, "utf8").split("\n").slice(0, -1);
    let at = 0;
    for (const line of lines) {
      const rest = entriesFrom(file, at);
      expect(rest).toEqual(rest.length === 0 ? [] : all.slice(-rest.length));
      at += Buffer.byteLength(line) + 1;
    }
    expect(entriesFrom(file, at)).toEqual([]);
    expect(conversationIn(file, at + 1000)?.next).toBe(at);
  });

  it("is told from its end, by whole lines", () => {
    const file = transcript(...spoken);
    const { entries = [], next } = conversationIn(file, -45) ?? {};
    expect(entries).toEqual([{ is: "heading", text: "gate test passed: 1 test" }]);
    expect(next).toBe(fs.statSync(file).size);
    expect(conversationIn(file, -1e9)?.entries).toEqual(entriesFrom(file, 0));
  });

  it("waits for the end of a line that is being written", () => {
    const file = transcript("── attempt 1 at phase 1, by mine", "one");
    const first = conversationIn(file, 0);
    fs.appendFileSync(file, "tw");
    expect(conversationIn(file, first?.next ?? 0)?.entries).toEqual([]);
    fs.appendFileSync(file, "o\n");
    expect(conversationIn(file, first?.next ?? 0)?.entries).toEqual([{ is: "line", text: "two" }]);
  });

  it("comes in parts that are not too large", () => {
    const file = transcript(
      ...Array.from({ length: 20_000 }, (_, at) => `line ${at} ${"y".repeat(50)}`),
    );
    const first = conversationIn(file, 0);
    expect(first?.next).toBeLessThan(500 * 1024);
    expect(entriesFrom(file, 0)).toHaveLength(20_000);
  });

  it("of whoever came for the work leaves out what he was told, too", () => {
    const file = transcript(
      "── attempt 1 at phase 1, fetched by somebody",
      "# The brief",
      "{}",
      "── somebody has reported: complete",
      "ok",
    );
    expect(entriesFrom(file, 0).map((said) => ("text" in said ? said.text : ""))).toEqual([
      "attempt 1 at phase 1, fetched by somebody",
      "somebody has reported: complete",
      "ok",
    ]);
    expect(briefIn(file)?.text).toBe("# The brief\n{}");
  });

  it("is not looked for behind a link", () => {
    const link = path.join(scratch, "link.log");
    fs.symlinkSync("/etc/passwd", link);
    expect(conversationIn(link, 0)).toBeUndefined();
    expect(conversationIn(link, -3)).toBeUndefined();
    expect(conversationIn(path.join(scratch, "nothing"), 0)).toBeUndefined();
    expect(briefIn(link)).toBeUndefined();
  });
});
