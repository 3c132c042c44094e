/** Anthropic's Messages. */
import {
  cwdIn,
  type Entry,
  type ObjectSchema,
  type Protocol,
  type Reply,
  type StreamEvent,
  textOf,
} from "./protocol.ts";

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string; readonly input_schema?: ObjectSchema }[];
  readonly messages: readonly { readonly role: string; readonly content: string | Block[] }[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export const anthropic: Protocol = {
  name: "anthropic",
  speaksAt: (path) => path === "/v1/messages",
  read(body) {
    const { model, stream, tools, messages } = body as Body;
    return {
      model,
      streamed: stream === true,
      tools: (tools ?? []).map(({ name, input_schema }) => ({
        name,
        ...(input_schema && { schema: input_schema }),
      })),
      entries: messages
        .filter(({ role }) => role === "user")
        .flatMap(({ content }) =>
          typeof content === "string"
            ? [{ is: "said" as const, text: content }]
            : content.flatMap(entriesOf),
        ),
      ...cwdIn(body),
    };
  },
  write: (reply, { model }) => ({
    ...envelope(reply, model),
    content: blocks(reply),
    stop_reason: stopReason(reply),
    usage: usage(reply),
  }),
  stream(reply, { model }) {
    const events: StreamEvent[] = [
      named("message_start", {
        message: {
          ...envelope(reply, model),
          content: [],
          stop_reason: null,
          usage: { ...usage(reply), output_tokens: 1 },
        },
      }),
    ];
    blocks(reply).forEach((block, index) => {
      const [empty, delta] =
        block.type === "text"
          ? [
              { ...block, text: "" },
              { type: "text_delta", text: block.text },
            ]
          : [
              { ...block, input: {} },
              { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
            ];
      events.push(
        named("content_block_start", { index, content_block: empty }),
        named("content_block_delta", { index, delta }),
        named("content_block_stop", { index }),
      );
    });
    events.push(
      named("message_delta", {
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: usage(reply),
      }),
      named("message_stop", {}),
    );
    return events;
  },
  error: (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "api_error", message },
  }),
  failure: (code, message) => named("error", { error: { type: code, message } }),
};

const named = (type: string, rest: object): StreamEvent => ({
  event: type,
  data: { type, ...rest },
});

function entriesOf(block: Block): Entry[] {
  if (block.type === "tool_result") return [{ is: "tool-result", text: textOf(block.content) }];
  return block.type === "text" ? [{ is: "said", text: block.text ?? "" }] : [];
}

const envelope = (reply: Reply, model: string) => ({
  id: `msg_${reply.call?.id ?? "text"}`,
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
});

const blocks = ({ text, call }: Reply) => [
  ...(text === undefined ? [] : [{ type: "text" as const, text }]),
  ...(call
    ? [{ type: "tool_use" as const, id: `toolu_${call.id}`, name: call.name, input: call.input }]
    : []),
];

function stopReason({ call, refused }: Reply): string {
  if (refused) return "refusal";
  return call ? "tool_use" : "end_turn";
}

const usage = ({ usage: { input, output, cached = 0 } }: Reply) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
});
