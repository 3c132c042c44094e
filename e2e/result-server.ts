/** An MCP server over HTTP with the one tool `submit_result`: how agents without a schema flag report. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface ResultServer {
  readonly url: string;
  readonly results: readonly unknown[];
  close(): Promise<void>;
}

interface Call {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: unknown };
}

const tool = {
  name: "submit_result",
  description: "Submit the result of the work; call it exactly once, at the end.",
  inputSchema: {
    type: "object",
    properties: { status: { type: "string" }, summary: { type: "string" } },
    required: ["status", "summary"],
  },
  // Without these Codex asks for an approval that nobody can give.
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};

export async function startResultServer(): Promise<ResultServer> {
  const results: unknown[] = [];
  const server = createServer((request, response) => {
    void read(request).then((call) => {
      if (request.method !== "POST" || call.id === undefined) {
        response.writeHead(request.method === "POST" ? 202 : 405).end();
        return;
      }
      const answer = JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answerTo(call, results) });
      response.writeHead(200, { "content-type": "application/json" }).end(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    results,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo({ method, params }: Call, results: unknown[]): object {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: params?.protocolVersion ?? "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "autodev", version: "1" },
        },
      };
    case "tools/list":
      return { result: { tools: [tool] } };
    case "tools/call":
      results.push(params?.arguments);
      return { result: { content: [{ type: "text", text: "accepted" }] } };
    case "ping":
      return { result: {} };
    default:
      return { error: { code: -32601, message: `no method ${method}` } };
  }
}

async function read(request: IncomingMessage): Promise<Call> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Call);
}
