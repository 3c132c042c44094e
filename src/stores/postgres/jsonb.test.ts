import { expect, it } from "vitest";
import { jsonbOf } from "./jsonb.ts";

const through = (value: unknown): unknown => JSON.parse(jsonbOf(value));

it("text that jsonb would refuse goes in with a replacement, all other text as it is", () => {
  expect(through({ "a\ud83d": ["\0", "x\udc00y", "\ud83d\ude00 stays"] })).toEqual({
    "a\ufffd": ["\ufffd", "x\ufffdy", "\ud83d\ude00 stays"],
  });
  const spelled = ["\\u0000", "\\\\ud83d", "\\\0", '\n\t"\\'];
  expect(through(spelled)).toEqual(["\\u0000", "\\\\ud83d", "\\\ufffd", '\n\t"\\']);
});
