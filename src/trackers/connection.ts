/**
 * The wire to an MCP server: a program of its own behind `exec`, or an address. The library speaks the
 * protocol; the process is ours, so that it is started, watched and ended like everything else.
 */
import {
  Client,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { fieldsOf } from "../core/tracker/tools.ts";
import { exec, type OwnProgram, type Talk, type Trusted } from "../exec.ts";

export type Place =
  | { readonly is: "program"; readonly what: Trusted | OwnProgram; readonly root: string }
  | {
      readonly is: "address";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface Connection {
  tools(timeoutMs: number): Promise<readonly unknown[]>;
  call(name: string, given: Readonly<Record<string, unknown>>, timeoutMs: number): Promise<unknown>;
  close(): Promise<void>;
}

export async function connect(place: Place, timeoutMs: number): Promise<Connection> {
  const client = new Client({ name: "autodev", version: "1" });
  const { transport, lastWords, ended } = transportTo(place);
  try {
    await client.connect(transport, { timeout: timeoutMs });
  } catch (error) {
    await transport.close();
    await ended();
    const words = lastWords();
    throw new Error([reasonOf(error), words].filter(Boolean).join(": "), { cause: error });
  }
  return {
    tools: async (timeout) => (await client.listTools(undefined, { timeout })).tools,
    call: (name, given, timeout) => client.callTool({ name, arguments: { ...given } }, { timeout }),
    async close() {
      await client.close();
      await ended();
    },
  };
}

/** With the number that an address answered with, which the library keeps beside its words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status } = fieldsOf((error as { readonly data?: unknown }).data);
  return typeof status === "number" ? `${status} ${error.message}` : error.message;
}

interface Wire {
  readonly transport: Transport;
  lastWords(): string;
  /** Resolves when nothing of it is left. */
  ended(): Promise<unknown>;
}

function transportTo(place: Place): Wire {
  if (place.is === "program") return programWire(place);
  const transport = new StreamableHTTPClientTransport(new URL(place.url), {
    requestInit: { headers: { ...place.headers }, redirect: "error" },
  });
  return { transport, lastWords: () => "", ended: async () => undefined };
}

/** One message a line, as the protocol has it over pipes. */
function programWire({ what, root }: Extract<Place, { is: "program" }>): Wire {
  const stop = new AbortController();
  let talk: Talk | undefined;
  let running: ReturnType<typeof exec> | undefined;
  let words = "";
  const transport: Transport = {
    async start() {
      const begun = new Promise<void>((resolve) => {
        running = exec(what, {
          cwd: root,
          outside: root,
          marker: "tracker",
          killNow: stop.signal,
          tailLines: 5,
          lineBytes: mostLine,
          talk(to) {
            talk = to;
            resolve();
          },
          onLine(line, stream) {
            if (stream === "err") words = line;
            else hear(line);
          },
        });
        void running.then((how) => {
          words = how.notStarted ?? words;
          talk = undefined;
          resolve();
          transport.onclose?.();
        });
      });
      await begun;
    },
    async send(message) {
      if (!talk) throw new Error("the server has ended");
      talk.say(JSON.stringify(message));
    },
    async close() {
      stop.abort();
    },
  };
  const hear = (line: string): void => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // Many print a banner where only messages belong.
      return;
    }
    try {
      transport.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return { transport, lastWords: () => words, ended: async () => running };
}

const mostLine = 8_000_000;
