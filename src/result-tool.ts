/**
 * A tool of ours that an agent hands its result in with, for agents that have no way of their own
 * to give one: an MCP server on loopback, for one attempt, with the one tool `submit_result`.
 *
 *  1. Who does not know the path has nothing here: it holds a random token. A page in a browser has
 *     nothing here even with it: the Host must be ours, and an Origin must be of this machine.
 *  2. What does not fit is refused with a sentence, to the model itself: it can mend it and come
 *     again. The last result that was taken counts.
 *  3. No state but that result: no sessions, no streams; each reply is JSON and whole.
 *  4. Whatever is sent, the reply is small, and nothing is kept of it that was not taken.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ResultToolDeps {
  /** Of a result, as JSON Schema; its root is an object. */
  readonly schema: unknown;
  /** Why this is no result, in a sentence for the model; undefined: it is one. */
  accept(value: unknown): string | undefined;
}

export interface OpenResultTool {
  readonly url: string;
  /** What was handed in last, and taken. */
  submitted(): unknown;
  close(): Promise<void>;
}

export const resultToolName = "submit_result";

export async function openResultTool(deps: ResultToolDeps): Promise<OpenResultTool> {
  const token = randomBytes(24).toString("hex");
  let taken: unknown;
  const offer: Offer = {
    schema: objectSchema(deps.schema),
    submit(value) {
      const wrong = deps.accept(value);
      if (wrong === undefined) taken = value;
      return wrong;
    },
  };
  const server = createServer((request, response) => {
    const refused = whyRefused(request, token, portOf(server));
    if (refused) return refuse(response, ...refused);
    void bodyOf(request).then((body) => {
      if (body === undefined) return refuse(response, 413, "this is too much");
      reply(response, body, offer);
    });
  });
  // A request that never ends is no reason to stay.
  server.requestTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}/${token}/mcp`,
    submitted: () => taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Offer {
  readonly schema: object;
  submit(value: unknown): string | undefined;
}

/** MCP wants an object at the root; `$schema` makes some agents refuse the whole tool. */
function objectSchema(schema: unknown): object {
  const { $schema: _, ...rest } = isObject(schema) ? schema : {};
  return { ...rest, type: "object" };
}

// ── Who may speak ───────────────────────────────────────────────────────────────────────────

const mostBytes = 4 * 1024 ** 2;

type Refusal = readonly [status: number, why: string];

function whyRefused(request: IncomingMessage, token: string, port: number): Refusal | undefined {
  const { host = "", origin } = request.headers;
  // Without this a page could come here under a name of its own that leads to this address.
  const isOurs = loopbackNames.some((name) => host === `${name}:${port}`);
  if (!isOurs) return [403, "this is not its name"];
  if (origin !== undefined && !isLoopback(origin)) return [403, "not from there"];
  if (!isSame(request.url ?? "", `/${token}/mcp`)) return [404, "there is nothing here"];
  if (request.method !== "POST") return [405, "only POST: there is no stream to listen to"];
  return undefined;
}

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

function isLoopback(origin: string): boolean {
  try {
    const { protocol, hostname } = new URL(origin);
    return protocol.startsWith("http") && loopbackNames.includes(hostname);
  } catch {
    return false;
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function refuse(response: ServerResponse, status: number, why: string): void {
  // What may still come is not read: there could be no end to it.
  response.writeHead(status, {
    "content-type": "text/plain",
    connection: "close",
    ...(status === 405 && { allow: "POST" }),
  });
  response.end(`${why}\n`, () => response.req.destroy());
}

/** Undefined: it is too long. One that breaks off is empty, and nobody waits for the reply. */
function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= mostBytes) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", () => resolve(""));
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo | null)?.port ?? 0;

// ── What is said ────────────────────────────────────────────────────────────────────────────

function reply(response: ServerResponse, body: string, offer: Offer): void {
  const replies = repliesTo(body, offer);
  // Only notifications: taken, and nothing to say.
  if (replies === undefined) {
    response.writeHead(202);
    response.end();
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(replies));
}

function repliesTo(body: string, offer: Offer): unknown {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return failure(null, -32700, "this is not JSON");
  }
  // The protocol of March 2025 sends several at once.
  if (!Array.isArray(message)) return replyTo(message, offer);
  if (message.length === 0 || message.length > mostAtOnce) {
    return failure(null, -32600, "this is no request");
  }
  const replies = message.flatMap((each) => replyTo(each, offer) ?? []);
  return replies.length > 0 ? replies : undefined;
}

const mostAtOnce = 100;

function replyTo(message: unknown, offer: Offer): object | undefined {
  if (!isObject(message)) return failure(null, -32600, "this is no request");
  const { id, method, params } = message;
  // A notification, or a reply to what we never asked.
  if (id === undefined || typeof method !== "string") return undefined;
  if (typeof id !== "string" && typeof id !== "number") {
    return failure(null, -32600, "this is no request");
  }
  const given = isObject(params) ? params : {};
  switch (method) {
    case "initialize":
      return success(id, {
        protocolVersion: spokenVersion(given.protocolVersion),
        capabilities: { tools: {} },
        serverInfo: { name: "autodev", version: "1" },
        instructions: `When the work is done, hand in the result with ${resultToolName}.`,
      });
    case "ping":
      return success(id, {});
    case "tools/list":
      return success(id, { tools: [toolOf(offer)] });
    case "tools/call":
      return called(id, given, offer);
    default:
      // New clients first ask for `server/discover`, and take this for an older server: it is one.
      return failure(id, -32601, "this is not known here");
  }
}

/** What we say is the same in all of them. */
const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const spokenVersion = (asked: unknown): string | undefined =>
  versions.find((each) => each === asked) ?? versions[0];

const toolOf = ({ schema }: Offer): object => ({
  name: resultToolName,
  description:
    "Hands in the result of your work. Call it once, when everything is done or cannot be done; " +
    "only a result that was handed in counts. If it is refused, mend what is said and call it again.",
  inputSchema: schema,
  // Without these, agents that may not ask refuse to call it.
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
});

function called(id: Id, { name, arguments: given }: Fields, { submit }: Offer): object {
  if (name !== resultToolName) return failure(id, -32602, `there is only ${resultToolName}`);
  let wrong: string | undefined;
  try {
    wrong = submit(given ?? {});
  } catch {
    // A mistake of ours; nobody is above us to hear of it, and the agent's work is not lost by it.
    return failure(id, -32603, "the result could not be looked at");
  }
  const text =
    wrong === undefined
      ? "The result was taken."
      : `The result was not taken: ${wrong}. Mend it and call ${resultToolName} again.`;
  return success(id, {
    content: [{ type: "text", text }],
    isError: wrong !== undefined,
  });
}

type Id = string | number;
type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const success = (id: Id, result: object): object => ({ jsonrpc: "2.0", id, result });

const failure = (id: Id | null, code: number, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
