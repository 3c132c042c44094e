/** OpenAI's Chat Completions. */
import {
  type Conversation,
  cwdIn,
  type Entry,
  type ObjectSchema,
  type OfferedTool,
  type Protocol,
  type Reply,
  type ToolCall,
  textOf,
} from "./protocol.ts";

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly Tool[];
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly response_format?: { readonly type: string };
}

/** A custom one takes plain text. */
type Tool =
  | {
      readonly type: "function";
      readonly function: { readonly name: string; readonly parameters?: ObjectSchema };
    }
  | { readonly type: "custom"; readonly custom: { readonly name: string } };

export const chat: Protocol = {
  name: "chat",
  speaksAt: (path) => path === "/v1/chat/completions",
  read(body) {
    const { model, stream, tools, messages, response_format } = body as Body;
    return {
      model,
      streamed: stream === true,
      tools: (tools ?? []).map(offered),
      entries: messages.flatMap(({ role, content }): Entry[] => {
        if (role === "tool") return [{ is: "tool-result", text: textOf(content) }];
        return role === "user" ? [{ is: "said", text: textOf(content) }] : [];
      }),
      ...cwdIn(body),
      wantsJson: response_format?.type === "json_schema",
    };
  },
  write: (reply, conversation) => ({
    ...envelope(reply, conversation, "chat.completion"),
    choices: [{ index: 0, message: message(reply), finish_reason: finishReason(reply) }],
    usage: usage(reply),
  }),
  stream(reply, conversation) {
    const chunk = envelope(reply, conversation, "chat.completion.chunk");
    const { tool_calls, ...delta } = message(reply);
    const calls = tool_calls?.map((call, index) => ({ index, ...call }));
    return [
      {
        data: {
          ...chunk,
          choices: [choice({ ...delta, ...(calls && { tool_calls: calls }) }, null)],
        },
      },
      { data: { ...chunk, choices: [choice({}, finishReason(reply))] } },
      { data: { ...chunk, choices: [], usage: usage(reply) } },
      { data: "[DONE]" },
    ];
  },
  error: (status, message) => ({ error: { message, type: "error", code: `scripted_${status}` } }),
  failure: (code, message) => ({ data: { error: { message, type: "error", code } } }),
};

function offered(tool: Tool): OfferedTool {
  if (tool.type === "custom") return { name: tool.custom.name };
  const { name, parameters } = tool.function;
  return { name, ...(parameters && { schema: parameters }) };
}

const choice = (delta: object, finish_reason: string | null) => ({
  index: 0,
  delta,
  finish_reason,
});

const envelope = (reply: Reply, { model }: Conversation, object: string) => ({
  id: `chatcmpl-${reply.call?.id ?? "text"}`,
  object,
  created: 1_700_000_000,
  model,
});

const message = ({ text, call }: Reply) => ({
  role: "assistant",
  content: text ?? null,
  ...(call && { tool_calls: [{ id: `call_${call.id}`, ...called(call) }] }),
});

const called = ({ name, input }: ToolCall) =>
  typeof input === "string"
    ? { type: "custom", custom: { name, input } }
    : { type: "function", function: { name, arguments: JSON.stringify(input) } };

function finishReason({ call, refused }: Reply): string {
  if (refused) return "content_filter";
  return call ? "tool_calls" : "stop";
}

const usage = ({ usage: { input, output, cached = 0 } }: Reply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});
