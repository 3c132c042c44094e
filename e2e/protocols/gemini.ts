/** Google's generateContent and streamGenerateContent. */
import { cwdIn, type Entry, type ObjectSchema, type Protocol, type Reply } from "./protocol.ts";

interface Body {
  readonly contents: readonly { readonly role?: string; readonly parts: readonly Part[] }[];
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly {
      readonly name: string;
      readonly parametersJsonSchema?: ObjectSchema;
      readonly parameters?: ObjectSchema;
    }[];
  }[];
}

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly response?: unknown };
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

const path = /^\/v1(?:alpha|beta)?\/models\/([^/:]+):(generate|streamGenerate)Content$/;

export const gemini: Protocol = {
  name: "gemini",
  speaksAt: (at) => path.test(at),
  read(body, at) {
    const { contents, tools } = body as Body;
    const [, model = "", verb] = path.exec(at) ?? [];
    return {
      model,
      streamed: verb === "streamGenerate",
      tools: (tools ?? []).flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name, parametersJsonSchema, parameters }) => {
          const schema = parametersJsonSchema ?? parameters;
          return { name, ...(schema && { schema }) };
        }),
      ),
      entries: contents
        .filter(({ role }) => role !== "model")
        .flatMap(({ parts }) => parts.flatMap(entriesOf)),
      ...cwdIn(body),
    };
  },
  write: (reply, { model }) => candidate(reply, model),
  stream: (reply, { model }) => [{ data: candidate(reply, model) }],
  error: (status, message) => ({
    error: { code: status, message, status: statusNames[status] ?? "INTERNAL" },
  }),
  failure: (code, message) => ({ data: { error: { code: 500, message, status: code } } }),
};

function entriesOf({ text, functionResponse }: Part): Entry[] {
  if (functionResponse) {
    return [{ is: "tool-result", text: JSON.stringify(functionResponse.response) ?? "" }];
  }
  return text === undefined ? [] : [{ is: "said", text }];
}

const candidate = ({ text, call, refused, usage }: Reply, modelVersion: string) => ({
  candidates: [
    {
      index: 0,
      content: {
        role: "model",
        parts: [
          ...(text === undefined ? [] : [{ text }]),
          ...(call ? [{ functionCall: { id: call.id, name: call.name, args: call.input } }] : []),
        ],
      },
      finishReason: refused ? "SAFETY" : "STOP",
    },
  ],
  modelVersion,
  usageMetadata: {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    cachedContentTokenCount: usage.cached ?? 0,
    totalTokenCount: usage.input + usage.output,
  },
});
