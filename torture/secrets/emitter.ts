/**
 * A program that tells canaries to whoever starts it, in the part that it is given: an agent, a gate,
 * Claude Code, an agent that speaks ACP, a tracker's server. Whatever it says it writes down beside,
 * where nobody looks but the row: that it was said is known before it is looked for.
 *
 *   node emitter.cjs <part>, with $CANARIES: the folder with `canaries.json`, and with what was said
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Canary } from "./canaries.ts";

const folder = process.env["CANARIES"] ?? "";
const phase = process.env["AUTODEV_PHASE"] ?? "";
const attempt = Number(process.env["AUTODEV_ATTEMPT"] ?? 1);

/** A canary, and how it is written in each form that is tried with it. */
export interface ToldCanary extends Canary {
  readonly forms: Readonly<Record<string, string>>;
}

export interface Told {
  readonly canaries: readonly ToldCanary[];
  /** A secret in pieces: cut at each of so many places. */
  readonly cuts: number;
}
const { canaries, cuts } = JSON.parse(
  fs.readFileSync(path.join(folder, "canaries.json"), "utf8"),
) as Told;

// ── what is said ───────────────────────────────────────────────────────────────────────────────

/** Before whatever is said: where, how, and of which; it is looked for where it has to arrive. */
const tagOf = (place: string, form: string, { number }: Canary): string =>
  `way-${place}-${form}-${number}. `;

function saying(place: string, form: string, canary: Canary, text: string): string {
  const said = `${tagOf(place, form, canary)}${text}`;
  fs.appendFileSync(path.join(folder, "said", `${place}-${form}`), `${said}\n`);
  return said;
}

const inForm = (place: string, form: string, canary: ToldCanary): string =>
  saying(place, form, canary, canary.forms[form] ?? "");

/** Of each canary a few forms, at every place others: all of them come about. */
const some = (place: string, count: number, most = Number.POSITIVE_INFINITY): string[] =>
  canaries.flatMap((canary) => {
    const all = Object.keys(canary.forms);
    const first = Array.from(place).reduce(
      (sum, letter) => sum + letter.charCodeAt(0),
      canary.number,
    );
    return Array.from({ length: count }, (_, at) => all[(first + at * 5) % all.length] ?? "")
      .filter((form) => (canary.forms[form] ?? "").length <= most)
      .map((form) => inForm(place, form, canary));
  });

/** Where there is room for one line: another canary each time, and now and then across its end. */
function oneLine(place: string, turn: number, room: number): string {
  const late = `late${room}`;
  const form = turn % 2 === 1 && late in (fitting[0]?.forms ?? {}) ? late : "plain";
  return inForm(place, form, fitting[turn % fitting.length] as ToldCanary);
}

/** Long enough that half of one is still told apart, short enough for a question. */
const fitting = canaries.filter(
  ({ value }) => value.length > 24 && value.length < 130 && !value.includes("\n"),
);

const put = (stream: 1 | 2, text: string): void => {
  for (let bytes = Buffer.from(text); bytes.length > 0; )
    bytes = bytes.subarray(fs.writeSync(stream, bytes));
};
const line = (stream: 1 | 2, text: string): void => put(stream, `${text}\n`);
const pause = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

/** Written piece by piece, with a pause in which whoever listens reads the first. */
function inPieces(canary: Canary): void {
  const bytes = Buffer.from(canary.value);
  const step = Math.max(1, Math.ceil(bytes.length / cuts));
  for (let cut = 1; cut < bytes.length; cut += step) {
    const head = Buffer.from(tagOf("out", "pieces", canary));
    saying("out", "pieces", canary, canary.value);
    const stream = cut % 2 === 0 ? 1 : 2;
    fs.writeSync(stream, Buffer.concat([head, bytes.subarray(0, cut)]));
    pause(3);
    fs.writeSync(stream, Buffer.concat([bytes.subarray(cut), Buffer.from("\n")]));
  }
}

// ── the parts ──────────────────────────────────────────────────────────────────────────────────

const write = (file: string, text: string): void => {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, text);
};

/** What it does is people's own, and is kept; what is shown of it is not. */
function work(file: string, text: string): void {
  write(file, text);
  write(path.join(folder, "works", path.basename(file)), text);
}

/** Its first phase is wrong at first; its second says that it failed, and then breaks down. */
function agent(): void {
  if (process.env["AUTODEV_SUB_STEP"] !== undefined) return skill();
  const result = process.env["AUTODEV_RESULT"] ?? "";
  const isFirst = phase === "3";
  if (isFirst && attempt === 1) {
    for (const canary of canaries) {
      for (const form of Object.keys(canary.forms)) line(1, inForm("out", form, canary));
      line(2, inForm("err", "plain", canary));
      inPieces(canary);
    }
    for (const text of some("err", 6)) line(2, text);
    // All of it at once, as people do who look for something else.
    line(1, spawnSync("env", { encoding: "utf8" }).stdout);
    line(2, JSON.stringify(process.env));
  }
  const made = `src/part-${phase}.txt`;
  write(made, isFirst && attempt === 1 ? "wrong\n" : `part ${phase}, attempt ${attempt}\n`);
  if (isFirst) {
    write(result, JSON.stringify(claimed({ commit_message: messageOf("message") })));
    return;
  }
  const lines = canaries.map((canary) => saying("file", "plain", canary, canary.value));
  work("src/private.txt", `${lines.join("\n\n")}\n`);
  if (attempt > 1) throw new Error(some("thrown", 2).join("\n"));
  const error = {
    type: "task_incomplete",
    message: some("failed", 1).join("\n"),
    details: some("details", 2).join("\n"),
  };
  write(result, JSON.stringify({ ...claimed({}), status: "failed", error }));
}

const claimed = (more: object): object => ({
  phase_id: phase,
  status: "complete",
  tasks: { total: 1, completed: 1 },
  ...more,
});

const messageOf = (place: string): string => `feat: part ${phase}\n\n${some(place, 2).join("\n")}`;

/** A skill at work: where it is, what it asks, why it failed; a document that is not as promised. */
function skill(): void {
  const report = process.env["AUTODEV_SUB_STEP"] ?? "";
  for (let turn = 0; turn < 8; turn++) {
    const number = 10 * attempt + turn;
    spawnSync(report, [String(number), `part-${number}`, oneLine("detail", turn + attempt, 300)]);
  }
  for (const text of some("session", 2)) line(1, text);
  const columns = ["Id", "Restriction", "Kind"].join(" | ");
  if (attempt === 2)
    work(
      "_docs/00_problem/restrictions.md",
      `# Restrictions\n\n| ${columns} | ${documented(attempt)} |\n|---|---|---|---|\n| a | b | c | d |\n`,
    );
  const asks = {
    question: oneLine("asked", 0, 500),
    options: [oneLine("option", 2, 300), oneLine("option", 4, 300)],
    recommendation: "A",
    reason: oneLine("reason", 6, 300),
  };
  const result = process.env["AUTODEV_RESULT"] ?? "";
  if (attempt === 1) return write(result, JSON.stringify({ ...claimed({}), asks }));
  if (attempt === 2) return write(result, JSON.stringify(claimed({})));
  const error = { type: "task_incomplete", message: oneLine("retried", attempt, 200) };
  write(result, JSON.stringify({ ...claimed({}), status: "failed", error }));
}

/** Words that a table may have at its head. */
const documented = (turn: number): string => {
  const words = fitting.filter(({ value }) => !/[|\\`<>&_*[\]]/.test(value));
  return inForm("document", "plain", words[turn % words.length] as ToldCanary);
};

/** It passes, unless the first phase is wrong; then it names tests after canaries. */
function gate(): void {
  for (const text of some("gate", 3)) line(1, text);
  for (const text of some("gateerr", 1)) line(2, text);
  const made = "src/part-3.txt";
  if (!fs.existsSync(made) || fs.readFileSync(made, "utf8") !== "wrong\n") return;
  const names = some("test", 1, 250).map((name) => name.replaceAll("\n", " "));
  line(1, "TAP version 13");
  for (const [at, name] of names.entries()) line(1, `not ok ${at + 1} - ${name}`);
  line(1, `1..${names.length}\n# tests ${names.length}\n# pass 0\n# fail ${names.length}`);
  process.exitCode = 1;
}

const json = (value: object): void => line(1, JSON.stringify(value));

/** As Claude Code speaks: whole events, with words wherever they have room for some. */
function claude(): void {
  if (process.argv.includes("--version")) return line(1, "2.1.325 (Claude Code)");
  if (process.argv.includes("auth")) return json({ loggedIn: true });
  createInterface({ input: process.stdin }).once("line", () => {
    json({ type: "system", subtype: "init", session_id: "s-1", model: "m" });
    const message = (...content: object[]): void =>
      json({ type: "assistant", message: { id: "m", content } });
    for (const text of some("text", 2)) message({ type: "text", text });
    for (const text of some("thought", 1)) message({ type: "thinking", thinking: text });
    for (const [at, text] of some("tool", 2).entries()) {
      const id = `t${at}`;
      message({ type: "tool_use", id, name: "Bash", input: { command: text } });
      const content = at % 2 === 0 ? text : [{ type: "text", text }];
      json({
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: id, is_error: true, content }] },
      });
    }
    for (const text of some("beside", 1)) line(2, text);
    write(`src/part-${phase}.txt`, `part ${phase}\n`);
    json({
      type: "result",
      subtype: "success",
      is_error: false,
      result: some("result", 1).join("\n"),
      structured_output: claimed({ commit_message: messageOf("claim") }),
    });
    process.exit(0);
  });
}

interface Asked {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly mcpServers?: readonly { readonly url?: string }[] };
}

/** As an agent that streams: a message in chunks, and its result by a tool of ours. */
function acp(): void {
  let tool = "";
  createInterface({ input: process.stdin }).on("line", (text) => {
    const { id, method, params } = JSON.parse(text) as Asked;
    const answer = (result: object): void => json({ jsonrpc: "2.0", id, result });
    const tell = (update: object): void =>
      json({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
    if (method === "initialize")
      return answer({
        protocolVersion: 1,
        agentCapabilities: { mcpCapabilities: { http: true } },
      });
    if (method === "session/new") {
      tool = params?.mcpServers?.[0]?.url ?? "";
      return answer({ sessionId: "s" });
    }
    if (method !== "session/prompt") return id === undefined ? undefined : answer({});
    stream(tell);
    write(`src/part-${phase}.txt`, `part ${phase}\n`);
    void handIn(tool, claimed({ commit_message: messageOf("handed") })).then(() => {
      answer({ stopReason: "end_turn" });
    });
  });
}

function stream(tell: (update: object) => void): void {
  const chunk = (text: string): void =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  for (const canary of canaries) {
    const said = saying("chunks", "stream", canary, canary.value);
    chunk(`\n${tagOf("chunks", "stream", canary)}`);
    const rest = said.slice(tagOf("chunks", "stream", canary).length);
    const size = 3 + (canary.number % 9);
    for (let at = 0; at < rest.length; at += size) chunk(rest.slice(at, at + size));
  }
  for (const [at, text] of some("call", 1).entries())
    tell({
      sessionUpdate: "tool_call",
      toolCallId: `c${at}`,
      title: text,
      kind: "execute",
      status: "pending",
    });
}

async function handIn(url: string, result: object): Promise<void> {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "submit_result", arguments: result },
  };
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(body),
  });
}

/** A server that lets nobody in, and says with whose token: another one each time. */
function tracker(): void {
  const lives = path.join(folder, "lives");
  const life = fs.existsSync(lives) ? fs.readFileSync(lives, "utf8").length : 0;
  fs.appendFileSync(lives, "x");
  const refusal = oneLine("tracker", life, 200);
  line(2, refusal);
  createInterface({ input: process.stdin }).on("line", (text) => {
    const { id, method } = JSON.parse(text) as Asked;
    const answer = (result: object): void => json({ jsonrpc: "2.0", id, result });
    if (method === "initialize")
      return answer({
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "jira", version: "1" },
      });
    if (method === "tools/list")
      return answer({
        tools: [{ name: "mcp_auth", inputSchema: { type: "object", properties: {} } }],
      });
    if (method === "tools/call")
      return answer({ isError: true, content: [{ type: "text", text: refusal }] });
  });
}

/** The user's own command: what people are told, kept. */
function notice(): void {
  const told = Object.entries(process.env).filter(([name]) => name.startsWith("AUTODEV_NOTICE"));
  fs.appendFileSync(
    path.join(folder, "..", "notices"),
    `${fs.readFileSync(0, "utf8")}${JSON.stringify(told)}\n`,
  );
}

const parts: Readonly<Record<string, () => void>> = { agent, gate, claude, acp, tracker, notice };
parts[process.argv[2] ?? ""]?.();
