import { request } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { type OpenResultTool, openResultTool } from "./result-tool.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"],
};

let open: OpenResultTool[] = [];
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  open = [];
});

async function opened(): Promise<OpenResultTool> {
  const tool = await openResultTool({
    schema,
    accept: (value) =>
      Number.isInteger((value as { count?: unknown }).count) ? undefined : "count: not a number",
  });
  open.push(tool);
  return tool;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

async function said(url: string, method: string, params?: unknown): Promise<unknown> {
  const response = await post(url, { jsonrpc: "2.0", id: 7, method, params });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  return response.json();
}

const submit = (url: string, value: unknown) =>
  said(url, "tools/call", { name: "submit_result", arguments: value });

/** fetch chooses its Host by itself. */
const statusWith = (url: string, headers: Record<string, string>, method = "POST") =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });

describe("the tool that takes results", () => {
  it("is offered with the schema it was given, and says that it is harmless", async () => {
    const { url } = await opened();
    expect(await said(url, "tools/list")).toMatchObject({
      id: 7,
      result: {
        tools: [
          {
            name: "submit_result",
            inputSchema: {
              type: "object",
              properties: { count: { type: "integer" } },
              required: ["count"],
            },
            annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
          },
        ],
      },
    });
    expect(JSON.stringify(await said(url, "tools/list"))).not.toContain("$schema");
  });

  it("keeps what fits", async () => {
    const { url, submitted } = await opened();
    expect(submitted()).toBe(undefined);
    expect(await submit(url, { count: 3 })).toMatchObject({ result: { isError: false } });
    expect(submitted()).toEqual({ count: 3 });
  });

  it("tells the model what is wrong, and takes what was mended", async () => {
    const { url, submitted } = await opened();
    const text = "The result was not taken: count: not a number. Mend it and call submit_result";
    for (const wrong of [{ count: "3" }, {}, undefined]) {
      expect(await submit(url, wrong)).toMatchObject({
        result: { isError: true, content: [{ type: "text", text: expect.stringContaining(text) }] },
      });
    }
    expect(submitted()).toBe(undefined);
    await submit(url, { count: 4 });
    expect(submitted()).toEqual({ count: 4 });
  });

  it("goes by the last one that was taken", async () => {
    const { url, submitted } = await opened();
    for (const value of [{ count: 1 }, { count: 2 }, { count: "three" }]) await submit(url, value);
    expect(submitted()).toEqual({ count: 2 });
  });

  it("survives a look at a result that fails", async () => {
    const tool = await openResultTool({
      schema,
      accept: () => {
        throw new Error("a mistake of ours");
      },
    });
    open.push(tool);
    expect(await submit(tool.url, { count: 1 })).toMatchObject({ error: { code: -32603 } });
    expect(tool.submitted()).toBe(undefined);
  });

  it("has a port, a path and a result of its own each time", async () => {
    const [one, other] = [await opened(), await opened()];
    expect(one.url).not.toBe(other.url);
    await submit(one.url, { count: 1 });
    expect(other.submitted()).toBe(undefined);
    const crossed = other.url.replace(/:\d+/, `:${new URL(one.url).port}`);
    expect((await post(crossed, {})).status).toBe(404);
  });

  it("is gone when it is closed, whoever is still connected", async () => {
    const { url, close } = await opened();
    await said(url, "ping");
    await close();
    await expect(post(url, {})).rejects.toThrow();
  });
});

describe("its protocol", () => {
  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "is that of %s when that is asked for",
    async (protocolVersion) => {
      const { url } = await opened();
      expect(await said(url, "initialize", { protocolVersion })).toMatchObject({
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "autodev" } },
      });
    },
  );

  it("is the newest that we know when another is asked for", async () => {
    const { url } = await opened();
    for (const params of [{ protocolVersion: "2099-01-01" }, { protocolVersion: 5 }, {}, [], 1]) {
      expect(await said(url, "initialize", params)).toMatchObject({
        result: { protocolVersion: "2025-11-25" },
      });
    }
  });

  it("answers a ping, and says that it does not know the rest", async () => {
    const { url } = await opened();
    expect(await said(url, "ping")).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
    for (const method of ["server/discover", "resources/list", "__proto__", "toString"]) {
      expect(await said(url, method)).toMatchObject({ id: 7, error: { code: -32601 } });
    }
    expect(await said(url, "tools/call", { name: "other" })).toMatchObject({
      error: { code: -32602 },
    });
  });

  it("takes notifications, and answers of nobody's questions, without a word", async () => {
    const { url } = await opened();
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", id: 1, result: {} },
      [{ jsonrpc: "2.0", method: "notifications/initialized" }],
    ]) {
      const response = await post(url, message);
      expect(response.status).toBe(202);
      expect(await response.text()).toBe("");
    }
  });

  it("answers several at once", async () => {
    const { url } = await opened();
    const response = await post(url, [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: "b", method: "nothing" },
    ]);
    expect(await response.json()).toMatchObject([{ id: 1, result: {} }, { id: "b" }]);
  });

  it("answers what is none of it with an error, and goes on", async () => {
    const { url, submitted } = await opened();
    for (const [body, code] of [
      ["", -32700],
      ["{", -32700],
      ["null", -32600],
      ["[]", -32600],
      ["[[]]", -32600],
      ["1", -32600],
      ['{"id":{},"method":"ping"}', -32600],
      [`[${"1,".repeat(1000)}1]`, -32600],
    ] as const) {
      const answer: unknown = await (await post(url, body)).json();
      expect(Array.isArray(answer) ? answer[0] : answer).toMatchObject({ error: { code } });
    }
    await post(
      url,
      '{"id":1,"method":"tools/call","params":{"name":"submit_result","arguments":{"__proto__":{"count":1}}}}',
    );
    expect(submitted()).toBe(undefined);
    expect(({} as { count?: unknown }).count).toBe(undefined);
  });
});

describe("nobody else gets in:", () => {
  it("who does not know the path", async () => {
    const { url } = await opened();
    const { origin } = new URL(url);
    for (const path of ["/", "/mcp", `/${"0".repeat(48)}/mcp`, `${url.slice(origin.length)}/x`]) {
      expect((await post(origin + path, {})).status).toBe(404);
    }
  });

  it("who comes by another name", async () => {
    const { url } = await opened();
    const { port } = new URL(url);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", "127.0.0.1:1"]) {
      expect(await statusWith(url, { host })).toBe(403);
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      expect(await statusWith(url, { host })).toBe(200);
    }
  });

  it("a page of another machine", async () => {
    const { url } = await opened();
    for (const origin of [
      "https://evil.example",
      "null",
      "file://",
      "http://127.0.0.1.evil.example",
    ]) {
      expect((await post(url, {}, { origin })).status).toBe(403);
    }
    for (const origin of ["http://127.0.0.1:3000", "http://localhost"]) {
      expect(await statusWith(url, { origin })).toBe(200);
    }
  });

  it("who wants a stream, or to end a session", async () => {
    const { url } = await opened();
    for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
      const response = await fetch(url, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    }
  });

  it("who sends without end", async () => {
    const { url, submitted } = await opened();
    const huge = JSON.stringify({ id: 1, method: "ping", padding: "x".repeat(5 * 1024 ** 2) });
    // Whether the refusal is read before the connection ends is a matter of luck.
    const status = await post(url, huge).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    await submit(url, { count: 1 });
    expect(submitted()).toEqual({ count: 1 });
  });
});

describe("the official client", () => {
  it("finds the tool, is refused, mends it and is taken", async () => {
    const { url, submitted } = await opened();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["submit_result"]);
    const call = (count: unknown) =>
      client.callTool({ name: "submit_result", arguments: { count } });
    expect((await call("many")).isError).toBe(true);
    expect((await call(5)).isError).toBe(false);
    await client.close();
    expect(submitted()).toEqual({ count: 5 });
  });
});
