/**
 * Programs called `claude` and `codex` that do what a test tells them and speak as the real ones do
 * (e2e/recorded has what those print). What each is told, and with which arguments it was started,
 * it writes down.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { makeFolder, plainEnvironment } from "./rig.ts";

export interface Puppets {
  /** For PATH and for what they do: see `does`. */
  readonly env: Readonly<Record<string, string>>;
  /** Each start of a program of that name, oldest first. */
  told(name: string): { readonly args: readonly string[]; readonly prompt: string }[];
}

/**
 * `does`: JavaScript, by name, run with these:
 * `turn` (which start of it this is, from 1), `session`, `write(file, text)`, `used(tokens, dollars)`,
 * `limit(seconds)`, `refuse(status)`, `done(more)`, `pause(ms)`.
 */
export function makePuppets(does: Readonly<Record<string, string>>): Puppets {
  const folder = makeFolder("puppets");
  for (const [name, script] of Object.entries(does)) {
    fs.writeFileSync(path.join(folder, name), program(name, script), { mode: 0o755 });
    fs.mkdirSync(path.join(folder, `${name}-told`));
  }
  return {
    env: { PATH: `${folder}${path.delimiter}${plainEnvironment["PATH"]}` },
    told: (name) =>
      fs
        .readdirSync(path.join(folder, `${name}-told`))
        .sort((a, b) => Number(a) - Number(b))
        .map((file) =>
          JSON.parse(fs.readFileSync(path.join(folder, `${name}-told`, file), "utf8")),
        ),
  };
}

const program = (name: string, script: string): string => `#!${process.execPath}
const fs = require("node:fs");
const path = require("node:path");
const args = process.argv.slice(2);
if (args[0] === "--version") { console.log("2.1.325"); process.exit(0); }
if (["auth", "login"].includes(args[0])) process.exit(0);
const folder = path.join(__dirname, "${name}-told");
const say = (line) => fs.writeSync(1, JSON.stringify(line) + "\\n");
const speaks = ${JSON.stringify(name === "codex" ? "codex" : "claude")};
const argument = (flag) => (args.find((each) => each.startsWith(flag + "=")) ?? "").slice(flag.length + 1);
const session = speaks === "claude"
  ? argument("--resume") || "11111111-1111-4111-8111-" + String(process.pid).padStart(12, "0")
  : args[1] === "resume" ? args.at(-2) : "22222222-2222-4222-8222-" + String(process.pid).padStart(12, "0");
let input = "";
const textOf = (content) => typeof content === "string" ? content : content.map(({ text }) => text).join("");
process.stdin.setEncoding("utf8").on("data", (text) => {
  input += text;
  if (speaks === "claude" && input.includes("\\n")) begin(textOf(JSON.parse(input.split("\\n")[0]).message.content));
}).on("end", () => { if (speaks === "codex") begin(input); });
let begun = false;
async function begin(prompt) {
  if (begun) return;
  begun = true;
  const turn = fs.readdirSync(folder).length + 1;
  fs.writeFileSync(path.join(folder, String(turn)), JSON.stringify({ args, prompt }));
  const phase = process.env.AUTODEV_PHASE;
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const write = (file, text = "made\\n") => { fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true }); fs.writeFileSync(file, text); };
  let [tokens, cost] = [0, 0];
  const end = (line) => { if (speaks === "claude") say({ type: "result", session_id: session, num_turns: 1, total_cost_usd: cost, usage: { input_tokens: tokens, output_tokens: 0 }, ...line }); else say(line); process.exit(0); };
  const used = (more, dollars = 0) => {
    tokens += more; cost += dollars;
    if (speaks === "claude") say({ type: "assistant", session_id: session, message: { id: "m" + tokens, role: "assistant", content: [{ type: "text", text: "used " + more }], usage: { input_tokens: more, output_tokens: 0 } } });
  };
  const done = (more = {}) => {
    const result = { phase_id: phase, status: "complete", tasks: { total: 1, completed: 1 }, commit_message: "feat: part " + phase, ...more };
    if (speaks === "claude") end({ subtype: "success", is_error: false, result: "", structured_output: result });
    say({ type: "item.completed", item: { id: "i1", type: "agent_message", text: JSON.stringify(result) } });
    end({ type: "turn.completed", usage: { input_tokens: tokens, cached_input_tokens: 0, output_tokens: 0 } });
  };
  const limit = (seconds) => {
    const resetsAt = Math.round(Date.now() / 1000) + seconds;
    say({ type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt, rateLimitType: "five_hour" }, session_id: session });
    end({ subtype: "success", is_error: true, api_error_status: 429, api_error: "usage_limit_reached", terminal_reason: "api_error", result: "You've hit your session limit" });
  };
  const refuse = (status) => end({ subtype: "success", is_error: true, api_error_status: status, api_error_type: status === 401 ? "authentication_error" : "api_error", terminal_reason: "api_error", result: "API Error: " + status });
  if (speaks === "claude") say({ type: "system", subtype: "init", session_id: session, model: "puppet-1", tools: [] });
  else { say({ type: "thread.started", thread_id: session }); say({ type: "turn.started" }); }
  ${script}
}
`;
