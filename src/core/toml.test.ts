import { describe, expect, it } from "vitest";
import { readToml, tomlOr } from "./toml.ts";

const plain = (text: string): unknown => JSON.parse(JSON.stringify(readToml(text) ?? null));

describe("readToml", () => {
  it("reads what manifests hold", () => {
    expect(
      plain(`
# a comment
title = "a \\"quoted\\" \\u00e9"
'odd key' = 'C:\\path'
count = 1_000
when = 1979-05-27 07:32:00Z
[project]
name = "x" # behind
dependencies = [
  "a>=1", # one
  "b[extra]",
]
optional-dependencies.dev = ["pytest"]
[tool.pytest.ini_options]
addopts = """
-q \\
   --strict"""
[[test]]
name = "one"
[[test]]
name = "two"
harness = false
[test.more]
deep = { a = 1, b = { c = [] } }
`),
    ).toEqual({
      title: 'a "quoted" é',
      "odd key": "C:\\path",
      count: "1_000",
      when: "1979-05-27 07:32:00Z",
      project: {
        name: "x",
        dependencies: ["a>=1", "b[extra]"],
        "optional-dependencies": { dev: ["pytest"] },
      },
      tool: { pytest: { ini_options: { addopts: "-q --strict" } } },
      test: [
        { name: "one" },
        { name: "two", harness: "false", more: { deep: { a: "1", b: { c: [] } } } },
      ],
    });
  });

  it.each([
    "a = ",
    "a = 1 2 3",
    "[a",
    'a = "open',
    "a = [1, ",
    "a = 1\na = 2",
    "a = 1\n[a.b]",
    "= 1",
    "a = { b = 1",
    `a = ${"[".repeat(100_000)}`,
  ])("says of %j that it is none", (text) => {
    expect(readToml(text)).toBeUndefined();
  });

  it("takes a key called constructor or __proto__ for a key", () => {
    const read = readToml("constructor = 1\n[__proto__]\nx = 2") as Record<string, unknown>;
    expect(Object.keys(read)).toEqual(["constructor", "__proto__"]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("reads line ends of Windows and a byte order mark", () => {
    expect(plain('\uFEFF[a]\r\nb = "c"\r\n')).toEqual({ a: { b: "c" } });
  });
});

describe("tomlOr", () => {
  it.each([
    ["a header without an end", "a = 1\n\n[b\nc = 2\n", 3],
    ["a string without an end", 'a = 1\r\nb = "x\r\n', 2],
    ["no value", "\uFEFFa =\n", 1],
    ["an inline table that is added to", "a = { b = 1 }\n[a.c]\nd = 1\n", 2],
    ["conflict markers", "a = 1\n<<<<<<< HEAD\nb = 1\n", 2],
  ])("names the line of %s", (_, text, line) => {
    expect(tomlOr(text)).toEqual({ line });
  });
});
