/** `autodev mcp`: speaks MCP on standard input and output until whoever started it goes away. */
import { PassThrough } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { BoundedInput, mostLineBytes } from "./bounded-input.ts";
import { createServer } from "./server.ts";

declare const AUTODEV_VERSION: string;

export async function run(): Promise<number> {
  const ending = new AbortController();
  const input = new BoundedInput((answer) => process.stdout.write(`${answer}\n`));
  process.stdin.pipe(input);
  const transport = new StdioServerTransport(input.pipe(new PassThrough()), process.stdout, {
    maxBufferSize: 2 * mostLineBytes,
  });
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      ending.abort();
      resolve();
    };
    process.stdin.once("end", end).once("close", end).once("error", end);
    process.stdout.once("error", end);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  });
  const serving = serveStdio(
    () => createServer({ cwd: process.cwd(), version: AUTODEV_VERSION, signal: ending.signal }),
    {
      transport,
      // Garbage is the sender's trouble: standard error tells, and we listen on.
      onerror: (error) => process.stderr.write(`autodev mcp: ${error.message.slice(0, 300)}\n`),
    },
  );
  await ended;
  await serving.close();
  return 0;
}
