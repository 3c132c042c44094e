/** OpenAI's Responses. */
import {
  type Conversation,
  cwdIn,
  type Entry,
  type ObjectSchema,
  type OfferedTool,
  type Protocol,
  type Reply,
  type StreamEvent,
  type ToolCall,
  textOf,
} from "./protocol.ts";

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly Tool[];
  readonly input: string | readonly Item[];
  readonly text?: { readonly format?: { readonly type: string } };
}

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: ObjectSchema;
  /** Of a namespace. */
  readonly tools?: readonly Tool[];
}

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

export const responses: Protocol = {
  name: "responses",
  speaksAt: (path) => path === "/v1/responses",
  read(body) {
    const { model, stream, tools, input, text } = body as Body;
    return {
      model,
      streamed: stream === true,
      tools: (tools ?? []).flatMap(offered),
      entries: typeof input === "string" ? [{ is: "said", text: input }] : input.flatMap(entriesOf),
      ...cwdIn(body),
      namespaced: true,
      wantsJson: text?.format?.type === "json_schema",
    };
  },
  write: response,
  stream(reply, conversation) {
    const whole = response(reply, conversation);
    const events: StreamEvent[] = [
      named("response.created", { response: { ...whole, status: "in_progress", output: [] } }),
    ];
    whole.output.forEach((item, output_index) => {
      events.push(named("response.output_item.added", { output_index, item }));
      if (item.type === "message") {
        events.push(
          named(reply.refused ? "response.refusal.delta" : "response.output_text.delta", {
            output_index,
            content_index: 0,
            item_id: item.id,
            delta: reply.text,
          }),
        );
      }
      events.push(named("response.output_item.done", { output_index, item }));
    });
    return [...events, named("response.completed", { response: whole })];
  },
  error: (status, message) => ({ error: { message, type: "error", code: `scripted_${status}` } }),
  failure: (code, message) =>
    named("response.failed", {
      response: {
        id: "resp_failed",
        object: "response",
        status: "failed",
        error: { code, message },
      },
    }),
};

const named = (type: string, rest: object): StreamEvent => ({
  event: type,
  data: { type, ...rest },
});

function offered(tool: Tool): OfferedTool[] {
  if (tool.type === "namespace" && tool.name !== undefined) {
    const namespace = tool.name;
    return (tool.tools ?? []).flatMap(offered).map((inner) => ({ ...inner, namespace }));
  }
  if (tool.name === undefined) return [];
  return [{ name: tool.name, ...(tool.parameters && { schema: tool.parameters }) }];
}

function entriesOf(item: Item): Entry[] {
  if (item.type?.endsWith("_call_output")) {
    return [{ is: "tool-result", text: textOf(item.output) }];
  }
  return item.role === "user" ? [{ is: "said", text: textOf(item.content) }] : [];
}

function response(reply: Reply, { model }: Conversation) {
  const { text, call, refused, usage } = reply;
  return {
    id: `resp_${call?.id ?? "text"}`,
    object: "response",
    model,
    status: "completed",
    output: [
      ...(text === undefined ? [] : [message(text, refused === true)]),
      ...(call ? [callItem(call)] : []),
    ],
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}

const message = (text: string, refused: boolean) => ({
  type: "message" as const,
  id: "msg_text",
  role: "assistant",
  status: "completed",
  content: [
    refused ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] },
  ],
});

function callItem({ id, name, namespace, input }: ToolCall) {
  const call = { id: `fc_${id}`, call_id: `call_${id}`, name, ...(namespace && { namespace }) };
  return typeof input === "string"
    ? { type: "custom_tool_call" as const, ...call, input }
    : { type: "function_call" as const, ...call, arguments: JSON.stringify(input) };
}
