/** What Codex is recorded doing: `exec --json`. */
import { join } from "node:path";
import { putFiles } from "../place.ts";
import type { Reins } from "../run-program.ts";
import { asking, type ScriptName } from "../scripts.ts";
import { appears, type Played, type Stage, type Turn } from "../stage.ts";

const base = ["exec", "--json", "--skip-git-repo-check"];
const writable = ["--sandbox", "workspace-write"];
const schema = {
  type: "object",
  properties: { status: { type: "string" }, summary: { type: "string" } },
  required: ["status", "summary"],
  additionalProperties: false,
};

/** The prompt on standard input: it may be longer than an argument can be. */
const ask = (script: ScriptName, args: readonly string[], more: Partial<Turn> = {}): Turn => ({
  args: [...base, ...args, "-"],
  begin: (reins) => tell(reins, script),
  ...more,
});

function tell(reins: Reins, script: ScriptName): void {
  reins.send(asking(script));
  reins.endInput();
}

function structured({ place }: Stage): string[] {
  putFiles(place.home, { "result.schema.json": JSON.stringify(schema) });
  return ["--output-schema", join(place.home, "result.schema.json")];
}

const threadOf = ({ lines }: Played): string => {
  const line = lines.find(({ text }) => text.includes('"thread.started"'))?.text ?? "{}";
  return (JSON.parse(line) as { thread_id?: string }).thread_id ?? "";
};

/** It has no --sandbox of its own. */
const resuming = (thread: string, args: readonly string[] = []): Partial<Turn> => ({
  args: ["exec", "resume", "--json", "--skip-git-repo-check"].concat(
    "-c",
    'sandbox_mode="workspace-write"',
    ...args,
    thread,
    "-",
  ),
});

const whileSlow = (stage: Stage, act: (reins: Reins) => void): Promise<Played> =>
  stage.play(
    ask("slow", writable, {
      begin(reins) {
        tell(reins, "slow");
        void appears(stage.place, "started").then(() => act(reins));
      },
    }),
  );

const withRetries = (count: number): string[] => [
  "-c",
  `model_providers.scripted.request_max_retries=${count}`,
  "-c",
  `model_providers.scripted.stream_max_retries=${count}`,
];

export const codexCases: Readonly<Record<string, (stage: Stage) => Promise<Played>>> = {
  "edit-and-result": (stage) => stage.play(ask("edit", [...writable, ...structured(stage)])),
  "edit-and-result-by-mcp": (stage) =>
    stage.play(ask("edit", [...writable, "-c", `mcp_servers.autodev.url="${stage.results.url}"`])),
  "text-instead-of-result": (stage) => stage.play(ask("text", structured(stage))),
  async resume(stage) {
    const first = await stage.play(ask("edit", [...writable, ...structured(stage)]));
    return stage.play(ask("again", [], resuming(threadOf(first), structured(stage))));
  },
  async "resume-after-kill"(stage) {
    const first = await whileSlow(stage, (reins) => reins.kill("SIGKILL"));
    return stage.play(ask("again", [], resuming(threadOf(first), structured(stage))));
  },
  "unknown-session": (stage) =>
    stage.play(ask("text", [], resuming("11111111-2222-7333-8444-555555555555"))),
  "status-401": (stage) => stage.play(ask("unauthorized", [])),
  "status-429": (stage) => stage.play(ask("limited", [])),
  "status-429-with-retries": (stage) => stage.play(ask("limited", withRetries(2))),
  "status-500": (stage) => stage.play(ask("broken", [])),
  "status-500-retried": (stage) => stage.play(ask("broken", withRetries(2))),
  "status-500-then-well": (stage) => stage.play(ask("broken-once", withRetries(2))),
  "status-529": (stage) => stage.play(ask("overloaded", [])),
  "connection-dropped": (stage) => stage.play(ask("drop", [])),
  "connection-dropped-retried": (stage) => stage.play(ask("drop", withRetries(2))),
  "model-out-of-reach": (stage) =>
    // It waits for the network for as long as one lets it.
    stage.play(
      ask("text", ["-c", 'model_providers.scripted.base_url="http://127.0.0.1:9/v1"'], {
        timeoutMs: 15_000,
      }),
    ),
  "not-logged-in": (stage) =>
    stage.play(
      ask("unauthorized", [
        "-c",
        `model_providers.account={ name = "account", base_url = "${stage.model.url}/v1", wire_api = "responses", requires_openai_auth = true, request_max_retries = 0, stream_max_retries = 0 }`,
        "-c",
        'model_provider="account"',
      ]),
    ),
  "key-missing": (stage) => stage.play(ask("text", [], { env: { SCRIPTED_KEY: "" } })),
  "sandbox-read-only": (stage) => stage.play(ask("write-only", ["--sandbox", "read-only"])),
  "sigterm-in-tool": (stage) => whileSlow(stage, (reins) => reins.kill("SIGTERM")),
  "sigint-in-tool": (stage) => whileSlow(stage, (reins) => reins.kill("SIGINT")),
  "model-hangs-sigterm": (stage) =>
    stage.play(
      ask("hang", [], {
        onOutput: (_line, reins) => void setTimeout(() => reins.kill("SIGTERM"), 1500),
      }),
    ),
  "context-overflow": (stage) => stage.play(ask("context-length", [])),
  refusal: (stage) => stage.play(ask("refused", [])),
  "usage-limit": (stage) => stage.play(ask("codex-limit", [])),
  "usage-limit-today": (stage) => stage.play(ask("codex-limit-today", [])),
  "usage-limit-without-end": (stage) => stage.play(ask("codex-limit-without-end", [])),
  "stream-says-context-overflow": (stage) => stage.play(ask("stream-context-length", [])),
  "stream-says-quota": (stage) => stage.play(ask("stream-quota", [])),
  "stream-says-rate-limit": (stage) => stage.play(ask("stream-rate", [])),
};
