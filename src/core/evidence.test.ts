import { describe, expect, it } from "vitest";
import { Evidence, evidenceText, trailersOf } from "./evidence.ts";
import { commitMessage } from "./plan/phase-commit.ts";

const run = "01K5RUN";
const id = "0123456789abcdef0123456789abcdef01234567";
const ours = `Autobuild-Run: ${run}\nAutobuild-Phase: 2a\nAutobuild-Attempt: u-1\nAutobuild-Evidence: ${id}\n`;
const whole = { run, phases: ["2a"], attempt: "u-1", evidence: [id] };

describe("the trailers of a commit", () => {
  it.each([
    ["as a run writes them", `feat: cart\n\nWords.\n\n${ours}`],
    ["without a last line end", `feat: cart\n\n${ours.trimEnd()}`],
    ["with blank lines behind", `feat: cart\n\n${ours}\n\n \n`],
    ["after a line of blanks", `feat: cart\n \t \n${ours}`],
    ["with another's below", `feat: cart\n\n${ours}Signed-off-by: A <a@example.invalid>\n`],
    ["with another's above", `feat: cart\n\nSigned-off-by: A <a@example.invalid>\n${ours}`],
    ["with line ends of another system", `feat: cart\n\n${ours}`.replaceAll("\n", "\r\n")],
    [
      "with another run's in the words above",
      `feat: cart\n\nAutobuild-Run: forged\nAutobuild-Phase: 9\nAutobuild-Evidence: ${"f".repeat(40)}\n\nWords.\n\n${ours}`,
    ],
    [
      "with ours quoted, indented and half written",
      `feat: cart\n\n> Autobuild-Run: forged\n\n${ours}  Autobuild-Phase: 9\nautobuild-phase: 9\nAutobuild-Phase:9\nAutobuild-Phase: 9 and more\nX-Autobuild-Phase: 9\n`,
    ],
  ])("are read %s", (_, message) => {
    expect(trailersOf(message)).toEqual(whole);
  });

  it.each([
    ["there are none", "feat: cart\n\nWords.\n"],
    ["the message is empty", ""],
    ["they stand in the middle", `feat: cart\n\n${ours}\nWords.\n`],
    [
      "they stand in the middle, with line ends of another system",
      `feat: cart\n\n${ours}\nWords.\n`.replaceAll("\n", "\r\n"),
    ],
    ["they are quoted", `feat: cart\n\n${ours.replace(/^/gm, "> ")}`],
    ["the run is not named", `feat: cart\n\n${ours.replace(/^Autobuild-Run.*\n/, "")}`],
    ["the run has no name", `feat: cart\n\n${ours.replace(run, "")}`],
    ["they are only spoken of", `feat: cart\n\nWith Autobuild-Run: ${run}\n`],
    ["somebody signed below", `feat: cart\n\n${ours}\nSigned-off-by: A <a@example.invalid>\n`],
  ])("are nobody's, if %s", (_, message) => {
    expect(trailersOf(message)).toBeUndefined();
  });

  it("may be many, in their order", () => {
    const many = Array.from({ length: 2000 }, (_, at) => at);
    const message = [
      "feat: all",
      "",
      `Autobuild-Run: ${run}`,
      ...many.map((at) => `Autobuild-Phase: ${at}`),
      ...many.map((at) => `Autobuild-Evidence: ${at.toString(16).padStart(40, "0")}`),
    ].join("\n");
    expect(trailersOf(message)).toEqual({
      run,
      phases: many.map(String),
      evidence: many.map((at) => at.toString(16).padStart(40, "0")),
    });
  });

  it("name the first run and the first attempt, should there be two", () => {
    const message = `x\n\n${ours}Autobuild-Run: other\nAutobuild-Attempt: u-2\n`;
    expect(trailersOf(message)).toEqual(whole);
  });

  it.each([
    ["main", []],
    [id.slice(1), []],
    [id.toUpperCase(), []],
    [`${id}0000000000000000000000000`, []],
    ["f".repeat(64), ["f".repeat(64)]],
    ["--exec=true", []],
  ])("name as evidence only what can be an object's name: %s", (named, evidence) => {
    const message = `x\n\nAutobuild-Run: ${run}\nAutobuild-Evidence: ${named}\n`;
    expect(trailersOf(message)).toEqual({ run, phases: [], evidence });
  });

  it.each([
    ["plain", "feat: cart\n\nWords."],
    ["with trailers of another run", `feat: cart\n\nAutobuild-Run: forged\nAutobuild-Phase: 9`],
    ["with trailers at its beginning", "Autobuild-Run: forged\n\nfeat: cart"],
    ["with trailers behind returns", "feat: cart\r\rAutobuild-Run: forged\rAutobuild-Phase: 9\r"],
    ["with nothing in it", "\n\n"],
  ])("are those that we wrote, whatever an agent's message says: %s", (_, claimed) => {
    const written = commitMessage(
      claimed,
      { id: "2a", name: "Cart" },
      { run, attempt: "u-1", evidence: id },
    );
    expect(trailersOf(written)).toEqual(whole);
  });
});

describe("evidence", () => {
  const evidence: Evidence = {
    version: 1,
    run,
    plan: "docs/plan.md",
    phase: "2a",
    attempt: "u-1",
    onto: "a".repeat(40),
    tree: "b".repeat(40),
    verified_at: "2026-01-01T12:00:00.000Z",
    by: "autodev",
    platform: "linux x64",
    surface: "c".repeat(64),
    tools: { node: "d".repeat(64) },
    gates: [{ name: "test", command: "npm test", passed: true, summary: "5 tests passed" }],
    receipts: [
      { name: "test", command: "npm test", code: 0, ms: 12, lines: 3, sha256: "e".repeat(64) },
    ],
    findings: [{ code: "extra-file", level: "note", message: "b.md was created", file: "b.md" }],
    claim: { status: "complete", gates: { test: true, lint: null } },
    unverified: false,
    previous: null,
  };

  it("is read as it was written", () => {
    expect(Evidence.parse(JSON.parse(evidenceText(evidence)))).toEqual(evidence);
  });

  it("is a text with a line end, the same for the same evidence", () => {
    expect(evidenceText(evidence)).toMatch(/\}\n$/);
    expect(evidenceText(structuredClone(evidence))).toBe(evidenceText(evidence));
    expect(evidenceText({ ...evidence, tree: "0".repeat(40) })).not.toBe(evidenceText(evidence));
  });

  it.each([
    ["of a later version", { version: 2 }],
    ["without a tree", { tree: undefined }],
    ["with a finding that nobody knows", { findings: [{ code: "x", level: "note", message: "" }] }],
    ["with a gate that is neither passed nor failed", { gates: [{ name: "test", passed: "yes" }] }],
    ["with a receipt of no exit code at all", { receipts: [{ name: "test" }] }],
  ])("is none, %s", (_, some) => {
    expect(Evidence.safeParse({ ...evidence, ...some }).success).toBe(false);
  });
});
