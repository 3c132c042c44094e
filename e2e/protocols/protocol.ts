/**
 * What a way of talking to a model has to do: read a request into neutral terms, and write a
 * neutral reply in its own words. Nothing else in this folder knows about scripts.
 */

/** A tool that an agent offers in its request. */
export interface OfferedTool {
  readonly name: string;
  /** Where the Responses protocol files the tools of an MCP server. */
  readonly namespace?: string;
  /** A JSON schema; absent for a tool that takes plain text. */
  readonly schema?: ObjectSchema;
}

export interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>>;
  readonly required?: readonly string[];
}

/** What is in a conversation, as far as a script looks at it. */
export type Entry =
  | { readonly is: "said"; readonly text: string }
  | { readonly is: "tool-result"; readonly text: string };

export interface Conversation {
  readonly model: string;
  readonly streamed: boolean;
  readonly tools: readonly OfferedTool[];
  readonly entries: readonly Entry[];
  /** Where the agent says that it works. */
  readonly cwd?: string;
  /** The agent asks for JSON of a schema as its text. */
  readonly wantsJson?: boolean;
  /** Tools of servers are called by namespace and name. */
  readonly namespaced?: boolean;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
}

/** Either a JSON object, or the plain text that a tool without a schema takes. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: Readonly<Record<string, unknown>> | string;
}

export interface Reply {
  readonly text?: string;
  readonly call?: ToolCall;
  readonly refused?: boolean;
  readonly usage: Usage;
}

export interface Protocol {
  readonly name: "anthropic" | "responses" | "chat" | "gemini";
  /** The path without its query. */
  speaksAt(path: string): boolean;
  read(body: unknown, path: string): Conversation;
  /** One JSON document, or the events of a stream. */
  write(reply: Reply, conversation: Conversation): unknown;
  stream(reply: Reply, conversation: Conversation): readonly StreamEvent[];
  error(status: number, message: string): unknown;
  /** The end of a stream that fails on its way. */
  failure(code: string, message: string): StreamEvent;
}

/** `event` only where the protocol names its events; a string is sent as it is. */
export interface StreamEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** Content that is either a string or a list of parts with a text each. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("\n");
}

/** Each agent has its own words for it, somewhere in what it tells the model. */
export function cwdIn(body: unknown): { cwd?: string } {
  const words =
    /(?:working directory(?: is)?:?|working in the directory:?|<cwd>)[\s*`"\\]*(\/[^\s`"\\<]+)/i;
  const cwd = words.exec(JSON.stringify(body).replaceAll("\\n", " "))?.[1];
  return cwd === undefined ? {} : { cwd };
}
