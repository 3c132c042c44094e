/**
 * What a host makes of us, seen from both sides: a program called `autodev` on PATH that speaks MCP
 * and writes down where it was started and what was called; and a model that calls `next`.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type AgentName, programOf, settle } from "./agents.ts";
import { makePlace, type Place } from "./place.ts";
import { type Run, runProgram } from "./run-program.ts";
import { startScriptedModel } from "./scripted-model.ts";

const here = join(process.cwd(), "e2e");

export interface HostStage {
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  /** Its own command line, such as `plugin list`. */
  host(...args: readonly string[]): Promise<Run>;
  /** What was asked of the model, as text. */
  asked(): string;
  /** What reached the server: `started <folder>`, then the names of the tools that were called. */
  heard(): readonly string[];
}

/** `server`: what the host calls ours. */
export async function onHostStage(
  name: AgentName,
  act: (stage: HostStage) => Promise<void>,
  server = "autodev",
): Promise<void> {
  const place = makePlace();
  const model = await startScriptedModel(() => [
    { mcp: { server, tool: "next", args: {} } },
    { say: "There is a reason to rest." },
  ]);
  const [bin, log] = [join(place.home, "bin"), join(place.home, "heard")];
  mkdirSync(bin);
  writeFileSync(log, "");
  writeFileSync(join(bin, "autodev"), serverProgram(log), { mode: 0o755 });
  symlinkSync(programOf(name, here), join(bin, name));
  const settled = settle(name, place, model.url);
  const env = { ...settled, PATH: `${bin}${delimiter}${settled["PATH"]}` };
  try {
    await act({
      place,
      env,
      host: (...args) =>
        runProgram({
          program: programOf(name, here),
          args,
          cwd: place.tree,
          env,
          timeoutMs: 90_000,
          begin: (reins) => reins.endInput(),
        }),
      asked: () => model.requests.map(({ body }) => JSON.stringify(body)).join("\n"),
      heard: () => readFileSync(log, "utf8").trim().split("\n"),
    });
  } finally {
    await model.close();
    place.remove();
  }
}

const serverProgram = (log: string): string => `#!${process.execPath}
const fs = require("node:fs");
const heard = (line) => fs.appendFileSync(${JSON.stringify(log)}, line + "\\n");
heard("started " + process.cwd() + " " + process.argv.slice(2).join(" "));
const tool = {
  name: "next",
  description: "What is to be done next",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "autodev", version: "0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ name }) => {
    heard(name);
    return { content: [{ type: "text", text: "rest: nothing is to be done" }] };
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const told = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...told }) + "\\n");
});
`;
