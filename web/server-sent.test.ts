import { describe, expect, it } from "vitest";
import { messagesIn } from "./server-sent.ts";

const stream =
  'retry: 500\n\n: hello\n\nid: 7\nevent: events\ndata: [{"seq":7}]\n\nevent: pulse\r\ndata: {}\r\n\r\n';

describe("messages of a server", () => {
  it.each([1, 2, 3, 7, 1000])("are the same in pieces of %i", (size) => {
    const take = messagesIn();
    const found = [];
    for (let at = 0; at < stream.length; at += size)
      found.push(...take(stream.slice(at, at + size)));
    expect(found).toEqual([
      { event: "events", data: '[{"seq":7}]' },
      { event: "pulse", data: "{}" },
    ]);
  });

  it("are not told before they are whole", () => {
    const take = messagesIn();
    expect(take("event: line\ndata: a\ndata: b\n")).toEqual([]);
    expect(take("\n")).toEqual([{ event: "line", data: "a\nb" }]);
  });
});
