import { describe, expect, it } from "vitest";
import { makeScreen } from "../../test/screen.ts";
import { randomFrom } from "../../torture/rig.ts";
import { redraw } from "./live-terminal.ts";

describe("from one frame to the next", () => {
  it("nothing is written when nothing has changed", () => {
    expect(redraw(["a", "b"], ["a", "b"])).toBe("");
  });

  it("only what has changed is written", () => {
    const text = redraw(["first line", "second line"], ["first line", "second word"]);
    expect(text).toContain("second word");
    expect(text).not.toContain("first");
  });

  it("the screen shows the frame and what was there before it, wherever it stands", () => {
    const random = randomFrom(11);
    const words = ["", "a", "a longer line", "監査ログ", "x".repeat(28)];
    for (let round = 0; round < 200; round++) {
      const screen = makeScreen(30, 10);
      const before = Array.from({ length: random.below(15) }, (_, at) => `before ${at}`);
      for (const line of before) screen.write(`${line}\r\n`);
      let drawn: string[] = [];
      for (let frame = 0; frame < 6; frame++) {
        const next = Array.from(
          { length: random.below(9) },
          () => words[random.below(words.length)] ?? "",
        );
        screen.write(redraw(drawn, next));
        drawn = next;
        const expected = [...before, ...next];
        while (expected.at(-1) === "") expected.pop();
        expect(screen.all()).toEqual(expected);
      }
    }
  });
});
