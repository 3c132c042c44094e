import { describe, expect, it } from "vitest";
import { BoundedInput } from "./bounded-input.ts";

/** In pieces of `size` bytes; what came through, and what was answered. */
async function through(
  text: string,
  { most = 64, size = 7 }: { most?: number; size?: number } = {},
): Promise<{ out: string; answers: { id: unknown; error: { message: string } }[] }> {
  const answers: string[] = [];
  const input = new BoundedInput((answer) => answers.push(answer), most);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) input.write(bytes.subarray(at, at + size));
  input.end();
  const out: Buffer[] = [];
  for await (const chunk of input) out.push(chunk as Buffer);
  return {
    out: Buffer.concat(out).toString("utf8"),
    answers: answers.map((each) => JSON.parse(each)),
  };
}

const long = "x".repeat(200);

describe("what a client writes", () => {
  it.each([1, 3, 7, 1000])("comes through as it is, in pieces of %i", async (size) => {
    const text = '{"a":1}\n\n{"b":"ü"}\r\nno end';
    expect(await through(text, { size })).toEqual({ out: text, answers: [] });
  });

  it.each([
    [`{"jsonrpc":"2.0","id":5,"method":"m","params":"${long}"}`, 5],
    [`{"jsonrpc":"2.0","method":"m","id":"five","params":"${long}"}`, "five"],
    [`{"method":"m","params":"${long}","jsonrpc":"2.0","id":7}`, 7],
    [`{"method":"m","params":"${long}","id":7,"jsonrpc":"2.0"}`, 7],
    [`{"method":"m","params":{"id":9,"x":"${long}"}}`, null],
    [`{"method":"m","params":{"x":"${long}","id":9}}`, null],
    [long, null],
  ])("and is too long is answered, and nothing else is lost: %.40s", async (line, id) => {
    for (const size of [1, 50, 10_000]) {
      const { out, answers } = await through(`{"a":1}\n${line}\n{"b":2}\n`, { size });
      expect(out).toBe('{"a":1}\n{"b":2}\n');
      expect(answers.map((each) => each.id)).toEqual([id]);
      expect(answers[0]?.error.message).toContain(`a message of ${line.length} bytes is too long`);
    }
  });
});
