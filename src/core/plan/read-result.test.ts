import { describe, expect, it } from "vitest";
import { parseResult, readClaim } from "./read-result.ts";

const result = {
  phase_id: "2a",
  status: "complete",
  tasks: { total: 2, completed: 2 },
  gates: { test: true },
  commit_message: 'feat: x {not a brace}\n\n- "quoted"',
  files: { created: ["a.ts"], modified: [], deleted: [] },
  plan_updated: false,
  error: null,
};
const json = JSON.stringify(result);
const pretty = JSON.stringify(result, undefined, 2);

describe("a result is found", () => {
  it.each([
    ["alone", json],
    ["with space and a byte order mark", `\uFEFF\n ${pretty} \n`],
    ["after prose", `I am done {really}. "Here" it's:\n${pretty}`],
    ["before prose", `${pretty}\nThat's all } folks { "`],
    ["in a fence", `Done.\n\n\`\`\`json\n${pretty}\n\`\`\`\nBye.`],
    ["after others", `{"a":1}\n{"status":"working"}\n${json}`],
    ["before others", `${json}\n{"a":{"status":1}}\n{}`],
    ["behind an apostrophe and a lone quotation mark", `it's 5" wide\n${json}`],
    ["behind an open brace", `function f() {\n  if ("x") {\n${pretty}`],
    ["in a line of a log", `12:00 result=${json} ok`],
    [
      "with the status last",
      `x ${JSON.stringify({ ...result, status: undefined, error: null, status2: 1 }).replace('"status2":1', '"status":"complete"')}`,
    ],
    ["with a gate of that name", JSON.stringify({ ...result, gates: { status: true } })],
    ["twice: the last one", `${json.replace("complete", "failed")}\n${json}`],
    ["under the id as it is written", json.replace("2a", "Phase 2-A")],
  ])("%s", (_, text) => {
    expect(parseResult(text, "2a")).toMatchObject({ phase_id: "2a", status: "complete" });
  });

  it("with what it left out filled in", () => {
    const least = '{"phase_id":"1","status":"failed","tasks":{"total":1,"completed":0}}';
    expect(parseResult(least, "1")).toEqual({
      phase_id: "1",
      status: "failed",
      tasks: { total: 1, completed: 0 },
      gates: {},
      commit_message: "",
      files: { created: [], modified: [], deleted: [] },
      plan_updated: false,
      error: null,
    });
  });

  it("at the end of a text of any length", () => {
    expect(parseResult(`${"noise {\n".repeat(500_000)}${json}`, "2a")).toMatchObject(result);
  });
});

describe("no result is found", () => {
  it.each([
    ["in nothing", " \n", /nothing/],
    ["in prose", "I have finished the phase.", /no JSON object/],
    ["in an array", `[${"1,".repeat(9)}1]`, /no JSON object/],
    ["in a torn object", json.slice(0, -20), /no JSON object/],
    ["in an object of another kind", '{"phase_id":"2a","status":"great"}', /^status: /],
    [
      "where a number is missing",
      '{"phase_id":"2a","status":"complete","tasks":{"total":1}}',
      /^tasks\.completed: /,
    ],
    ["of this phase", json.replace("2a", "2b"), /result of phase "2b", not of 2a/],
    ["among limits", '{"status":"limited","until":"2026-01-01T00:00:00Z"}', /usage limit/],
  ])("%s", (_, text, reason) => {
    expect(parseResult(text, "2a")).toMatch(reason);
  });

  it.each([
    ["braces", "{".repeat(1_000_000)],
    ["nested keys", '{"status":'.repeat(100_000)],
    ["keys with strings", '{"status":"'.repeat(90_000)],
    ["keys", '"status"'.repeat(120_000)],
    ["closed braces", `${"{".repeat(500_000)}${"}".repeat(500_000)}`],
    ["objects", '{"status":1} '.repeat(80_000)],
    ["backslashes", `{"status":"${"\\".repeat(1_000_000)}`],
  ])("in a hostile heap of %s, and soon", (_, text) => {
    expect(typeof parseResult(text, "2a")).toBe("string");
  });
});

describe("a limit", () => {
  it("is told from a result", () => {
    expect(readClaim('x {"status":"limited","until":"2026-01-01T00:00:00+02:00"}', "2a")).toEqual({
      status: "limited",
      until: "2026-01-01T00:00:00+02:00",
    });
  });

  it("without a time is none", () => {
    expect(readClaim('{"status":"limited","until":"soon"}', "2a")).toMatch(/^until: /);
  });
});
