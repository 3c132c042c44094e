/**
 * A model on loopback that does what a script says, in the words of four protocols. The script is
 * the one whose name the prompt has as `[[script:NAME]]` (the last such marker counts), or what a
 * function makes of the request. Requests without tools are for titles and summaries: "ok".
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./protocols/anthropic.ts";
import { chat } from "./protocols/chat.ts";
import { gemini } from "./protocols/gemini.ts";
import type { Conversation, Protocol, StreamEvent } from "./protocols/protocol.ts";
import { responses } from "./protocols/responses.ts";
import {
  nextOutcome,
  type Outcome,
  placeIn,
  type Script,
  type StatusStep,
  toolResults,
} from "./script.ts";

/** A request as it came, for asserts; `conversation` when it was one to a model. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly protocol?: Protocol["name"];
  readonly conversation?: Conversation;
}

type Asked = Required<ModelRequest>;

export type Scripts = Readonly<Record<string, Script>> | ((request: Asked) => Script);

export interface ScriptedModel {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

const protocols = [anthropic, responses, chat, gemini];

export async function startScriptedModel(scripts: Scripts): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const answered = new Map<StatusStep, number>();
  const isOver = (step: StatusStep): boolean => {
    const times = answered.get(step) ?? 0;
    answered.set(step, times + 1);
    return step.times !== undefined && times >= step.times;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request);
    const path = new URL(request.url ?? "/", "http://model").pathname;
    const { method = "GET", headers } = request;
    const protocol = method === "POST" ? protocols.find((one) => one.speaksAt(path)) : undefined;
    if (!protocol) {
      requests.push({ method, path, headers, body });
      sendJson(response, path.endsWith("/models") ? 200 : 404, { data: [] });
      return;
    }
    const conversation = protocol.read(body, path);
    const asked = { method, path, headers, body, protocol: protocol.name, conversation };
    requests.push(asked);
    answer(response, protocol, conversation, outcomeOf(scripts, asked, isOver));
  };
  const server = createServer((request, response) => {
    // A request or a script that we do not understand: the agent shows this, and fails.
    serve(request, response).catch((error: unknown) => {
      sendJson(response, 400, { error: { message: String(error) } });
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function outcomeOf(scripts: Scripts, asked: Asked, isOver: (step: StatusStep) => boolean): Outcome {
  const { conversation } = asked;
  const say = (text: string): Outcome => ({
    is: "reply",
    reply: { text, usage: { input: 10, output: 1 } },
  });
  if (conversation.tools.length === 0) return say("ok");
  const place = placeIn(conversation);
  const script = typeof scripts === "function" ? scripts(asked) : scripts[place?.name ?? ""];
  if (!script) return say(`there is no script ${place?.name ?? "without a marker"}`);
  const done = place?.done ?? toolResults(conversation.entries);
  return nextOutcome(script, done, conversation, isOver);
}

function answer(
  response: ServerResponse,
  protocol: Protocol,
  conversation: Conversation,
  outcome: Outcome,
): void {
  switch (outcome.is) {
    case "hang":
      return;
    case "drop":
      // The head first: a connection that ends before it looks like a server that is not there.
      response.writeHead(200, { "content-type": streamType });
      response.write(": \n\n", () => response.destroy());
      return;
    case "fail": {
      const failure = protocol.failure(outcome.code, outcome.message);
      // Some agents try again without a stream.
      if (!conversation.streamed) return sendJson(response, 529, failure.data);
      response.writeHead(200, { "content-type": streamType });
      response.end(eventText(failure));
      return;
    }
    case "status": {
      const { status, message = `scripted ${status}`, body, headers = {} } = outcome.step;
      sendJson(response, status, body ?? protocol.error(status, message), headers);
      return;
    }
    case "reply":
      send(response, protocol, conversation, outcome);
  }
}

const streamType = "text/event-stream";

function send(
  response: ServerResponse,
  protocol: Protocol,
  conversation: Conversation,
  { reply, headers = {} }: Extract<Outcome, { is: "reply" }>,
): void {
  if (!conversation.streamed) {
    sendJson(response, 200, protocol.write(reply, conversation), headers);
    return;
  }
  response.writeHead(200, { "content-type": streamType, ...headers });
  response.end(protocol.stream(reply, conversation).map(eventText).join(""));
}

function eventText({ event, data }: StreamEvent): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
