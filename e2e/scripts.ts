/** The scripts by name, for every agent the same; a prompt asks for one with `[[script:NAME]]`. */
import type { Script } from "./script.ts";

/** When a limit of a subscription ends: far away, so that a recording never becomes the past. */
const resetsAt = 2_000_000_000;

/** The same as a limit ends that is near: agents say it in other words. */
const resetsSoon = Math.round(Date.now() / 1000) + 40;

const usageLimit = (end: object): Script => [
  {
    status: 429,
    body: {
      error: {
        type: "usage_limit_reached",
        message: "The usage limit has been reached",
        plan_type: "plus",
        ...end,
      },
    },
  },
];

const result = { status: "complete", summary: "hello.txt says hello" };

export const scripts = {
  edit: [
    { say: "I write the file." },
    { write: { path: "hello.txt", content: "hello\n" } },
    { bash: "cat hello.txt" },
    { json: result },
    { say: "The file is written." },
  ],
  again: [
    { write: { path: "again.txt", content: "again\n" } },
    { json: { status: "complete", summary: "again.txt says again" } },
    { say: "And again." },
  ],
  text: [{ say: "I have thought about it." }],
  "write-only": [{ write: { path: "asked.txt", content: "asked\n" } }, { say: "That was it." }],
  "three-turns": [{ bash: "echo 1" }, { bash: "echo 2" }, { bash: "echo 3" }, { say: "Counted." }],
  expensive: [
    { usage: { input: 900_000, output: 20_000 } },
    { bash: "echo 1" },
    { bash: "echo 2" },
    { say: "That was not cheap." },
  ],
  /** Whoever waits for the tool to run waits for `started`. */
  slow: [{ bash: "touch started; sleep 60" }, { say: "Slept." }],
  hang: [{ hang: true }],
  drop: [{ drop: true }],
  refused: [{ refuse: "I cannot help with that." }],
  unauthorized: [{ status: 401 }],
  limited: [{ status: 429 }],
  "limited-once": [
    { status: 429, times: 1, headers: { "retry-after": "1" } },
    { say: "The second time it went well." },
  ],
  broken: [{ status: 500 }],
  "broken-once": [{ status: 500, times: 1 }, { say: "The second time it went well." }],
  overloaded: [{ status: 529 }],
  "too-long": [
    {
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 210000 tokens > 200000 maximum",
        },
      },
    },
  ],
  "context-length": [
    {
      status: 400,
      body: {
        error: {
          type: "invalid_request_error",
          code: "context_length_exceeded",
          message: "Your input exceeds the context window of this model.",
        },
      },
    },
  ],
  "claude-limit": [
    {
      status: 429,
      headers: {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": `${resetsAt}`,
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-reset": `${resetsAt}`,
        "anthropic-ratelimit-unified-5h-utilization": "1.0",
        "retry-after": "3600",
      },
    },
  ],
  "claude-limit-near": [
    {
      headers: {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-reset": `${resetsAt}`,
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-status": "allowed_warning",
        "anthropic-ratelimit-unified-5h-reset": `${resetsAt}`,
        "anthropic-ratelimit-unified-5h-utilization": "0.93",
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
      },
    },
    { say: "There is little left." },
  ],
  "codex-limit": usageLimit({ resets_at: resetsAt }),
  "codex-limit-today": usageLimit({ resets_at: resetsSoon, resets_in_seconds: 40 }),
  "codex-limit-without-end": usageLimit({}),
  "stream-overloaded": [{ fail: { code: "overloaded_error", message: "Overloaded" } }],
  "stream-context-length": [
    {
      fail: {
        code: "context_length_exceeded",
        message: "Your input exceeds the context window of this model.",
      },
    },
  ],
  "stream-quota": [
    { fail: { code: "insufficient_quota", message: "You exceeded your current quota." } },
  ],
  "stream-rate": [
    {
      fail: {
        code: "rate_limit_exceeded",
        message: "Rate limit reached for the model. Please try again in 20s.",
      },
    },
  ],
} satisfies Record<string, Script>;

export type ScriptName = keyof typeof scripts;

export const asking = (script: ScriptName, words = "Do what is asked."): string =>
  `${words} [[script:${script}]]`;
