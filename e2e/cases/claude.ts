/** What Claude is recorded doing: its stream of JSON both ways, with permissions asked on it. */
import type { Reins } from "../run-program.ts";
import { asking, type ScriptName } from "../scripts.ts";
import { appears, type Played, type Stage, type Turn } from "../stage.ts";

const base = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"].concat(
  "--verbose",
  "--permission-prompt-tool",
  "stdio",
);
const edits = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"];
const schema = {
  type: "object",
  properties: { status: { type: "string" }, summary: { type: "string" } },
  required: ["status", "summary"],
  additionalProperties: false,
};
const structured = ["--json-schema", JSON.stringify(schema)];

interface Line {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id?: string;
  readonly request_id?: string;
  readonly request?: { readonly subtype: string; readonly input?: unknown };
}

const say = (reins: Reins, text: string): void =>
  reins.send(JSON.stringify({ type: "user", message: { role: "user", content: text } }));

/** One prompt; the input stays open until there is a result, as it has to for permissions. */
const ask = (script: ScriptName, args: readonly string[], more: Partial<Turn> = {}): Turn => ({
  args: [...base, ...args],
  begin: (reins) => say(reins, asking(script)),
  onOutput(line, reins) {
    const { type, request_id, request } = JSON.parse(line) as Line;
    if (type === "result") reins.endInput();
    if (type === "control_request" && request?.subtype === "can_use_tool" && request_id) {
      answer(reins, request_id, { behavior: "allow", updatedInput: request.input });
    }
  },
  ...more,
});

const answer = (reins: Reins, request_id: string, response: object): void =>
  reins.send(
    JSON.stringify({
      type: "control_response",
      response: { subtype: "success", request_id, response },
    }),
  );

/** Does something to it once its tool runs. */
const whileSlow = (stage: Stage, act: (reins: Reins) => void, args = edits): Promise<Played> =>
  stage.play(
    ask("slow", args, {
      begin(reins) {
        say(reins, asking("slow"));
        void appears(stage.place, "started").then(() => act(reins));
      },
    }),
  );

export const sessionOf = ({ lines }: Played): string => {
  const line = lines.find(({ text }) => text.includes('"session_id"'))?.text ?? "{}";
  return (JSON.parse(line) as Line).session_id ?? "";
};

const withRetries = (count: number) => ({ env: { CLAUDE_CODE_MAX_RETRIES: `${count}` } });
/** As with a subscription: limits are told only to who has one. */
const subscribed = { env: { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "scripted-token" } };

export const claudeCases: Readonly<Record<string, (stage: Stage) => Promise<Played>>> = {
  "edit-and-result": (stage) => stage.play(ask("edit", [...edits, ...structured])),
  "edit-and-result-by-mcp": (stage) =>
    stage.play(
      ask("edit", [
        ...edits,
        "--mcp-config",
        JSON.stringify({ mcpServers: { autodev: { type: "http", url: stage.results.url } } }),
        "--strict-mcp-config",
        "--allowedTools",
        "mcp__autodev__submit_result",
      ]),
    ),
  "text-instead-of-result": (stage) => stage.play(ask("text", [...edits, ...structured])),
  async resume(stage) {
    const first = await stage.play(ask("edit", [...edits, ...structured]));
    return stage.play(ask("again", [...edits, ...structured, "--resume", sessionOf(first)]));
  },
  "second-prompt": (stage) => {
    let results = 0;
    return stage.play(
      ask("text", [...edits, ...structured], {
        onOutput(line, reins) {
          if ((JSON.parse(line) as Line).type !== "result") return;
          results++;
          if (results === 1) say(reins, asking("again", "The result is missing."));
          else reins.endInput();
        },
      }),
    );
  },
  async "resume-after-kill"(stage) {
    const first = await whileSlow(stage, (reins) => reins.kill("SIGKILL"));
    return stage.play(ask("again", [...edits, ...structured, "--resume", sessionOf(first)]));
  },
  "unknown-session": (stage) =>
    stage.play(ask("text", ["--resume", "11111111-2222-4333-8444-555555555555"])),
  "status-401": (stage) => stage.play(ask("unauthorized", [])),
  "status-401-retried": (stage) => stage.play(ask("unauthorized", [], withRetries(2))),
  "status-429": (stage) => stage.play(ask("limited", [])),
  "status-429-retried": (stage) => stage.play(ask("limited", [], withRetries(2))),
  "status-429-then-well": (stage) => stage.play(ask("limited-once", [], withRetries(2))),
  "status-500": (stage) => stage.play(ask("broken", [])),
  "status-529": (stage) => stage.play(ask("overloaded", [])),
  "stream-says-overloaded": (stage) => stage.play(ask("stream-overloaded", [])),
  "connection-dropped": (stage) => stage.play(ask("drop", [])),
  "model-out-of-reach": (stage) =>
    stage.play(ask("text", [], { env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } })),
  "not-logged-in": (stage) => stage.play(ask("text", [], { env: { ANTHROPIC_API_KEY: "" } })),
  "permission-allowed": (stage) => stage.play(ask("write-only", [])),
  "permission-denied": (stage) =>
    stage.play(
      ask("write-only", [], {
        onOutput(line, reins) {
          const { type, request_id, request } = JSON.parse(line) as Line;
          if (type === "result") reins.endInput();
          if (request?.subtype !== "can_use_tool" || !request_id) return;
          answer(reins, request_id, { behavior: "deny", message: "Not in this phase." });
        },
      }),
    ),
  "permission-nobody-to-ask": (stage) =>
    stage.play({
      args: ["-p", asking("write-only"), "--output-format", "stream-json", "--verbose"],
    }),
  "interrupted-by-control": (stage) =>
    whileSlow(stage, (reins) =>
      reins.send(
        JSON.stringify({
          type: "control_request",
          request_id: "interrupt-1",
          request: { subtype: "interrupt" },
        }),
      ),
    ),
  "sigterm-in-tool": (stage) => whileSlow(stage, (reins) => reins.kill("SIGTERM")),
  "sigint-in-tool": (stage) => whileSlow(stage, (reins) => reins.kill("SIGINT")),
  "model-hangs-sigterm": (stage) =>
    stage.play(
      ask("hang", [], {
        onOutput: (_line, reins) => void setTimeout(() => reins.kill("SIGTERM"), 1500),
      }),
    ),
  "max-turns": (stage) => stage.play(ask("three-turns", [...edits, "--max-turns", "2"])),
  "max-budget": (stage) => stage.play(ask("expensive", [...edits, "--max-budget-usd", "0.01"])),
  "context-overflow": (stage) => stage.play(ask("too-long", [])),
  refusal: (stage) => stage.play(ask("refused", [])),
  "usage-limit": (stage) => stage.play(ask("claude-limit", [], subscribed)),
  "usage-limit-with-api-key": (stage) => stage.play(ask("claude-limit", [])),
  "usage-limit-near": (stage) => stage.play(ask("claude-limit-near", [], subscribed)),
};
