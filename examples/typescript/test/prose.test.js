import assert from "node:assert/strict";
import { test } from "node:test";
import { proseLines, withoutCode } from "../src/prose.js";

const inFence = (...lines) => proseLines(lines.join("\n")).map((line) => line.trim());

test("fenced code is blank, what stands around it is not", () => {
  assert.deepEqual(inFence("before", "```js", "[a](b.md)", "```", "after"), [
    "before",
    "",
    "",
    "",
    "after",
  ]);
});

test("a fence is closed by as many marks as opened it, of the same kind", () => {
  assert.deepEqual(inFence("````", "```", "~~~~", "````", "after"), ["", "", "", "", "after"]);
});

test("a fence that is never closed goes to the end", () => {
  assert.deepEqual(inFence("~~~", "one", "two"), ["", "", ""]);
});

test("lines keep their numbers and columns, whatever ends them", () => {
  assert.deepEqual(proseLines("a\r\n```\r\ncode\r\n```\r\nb"), ["a", "   ", "    ", "   ", "b"]);
});

test("code spans are blank, whatever marks they have, and a lone backtick is not one", () => {
  assert.equal(withoutCode("a `b` c"), "a     c");
  assert.equal(withoutCode("a ``b`c`` d"), "a         d");
  assert.equal(withoutCode("a ` b"), "a ` b");
});
