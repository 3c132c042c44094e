/**
 * A script: what the model does, in terms that hold for every agent. Where a conversation stands
 * in its script is read off the conversation itself (each tool step leaves one tool result), so an
 * agent that was killed and resumed goes on where it was.
 */
import type { Conversation, Reply, ToolCall, Usage } from "./protocols/protocol.ts";
import { callBash, callMcp, callSubmit, callWrite } from "./tool-choice.ts";

type Headers = Readonly<Record<string, string>>;

export type Step =
  /** Said together with the next tool call, or at the end. */
  | { readonly say: string }
  /** A file that is not there yet: some agents only overwrite what they have read. */
  | { readonly write: { readonly path: string; readonly content: string } }
  | { readonly bash: string }
  | { readonly mcp: { readonly server: string; readonly tool: string; readonly args: object } }
  /** A structured result, in whichever way this agent takes one. */
  | { readonly json: object; readonly server?: string }
  /** The end of the turn with the protocol's own word for a refusal. */
  | { readonly refuse: string }
  /** An HTTP status instead of an answer: always, or the first so many times. */
  | {
      readonly status: number;
      /** What is wrong, in the protocol's own form; `body`: in another. */
      readonly message?: string;
      readonly body?: unknown;
      readonly headers?: Headers;
      readonly times?: number;
    }
  /** A stream that begins well and then says that it has failed. */
  | { readonly fail: { readonly code: string; readonly message: string } }
  /** Nothing is ever sent. */
  | { readonly hang: true }
  /** The connection ends in the middle of an answer. */
  | { readonly drop: true }
  /** What each answer from here on says that it has used. */
  | { readonly usage: Usage }
  /** What is sent with each answer from here on. */
  | { readonly headers: Headers };

export type Script = readonly Step[];

export type StatusStep = Extract<Step, { readonly status: number }>;

export type Outcome =
  | { readonly is: "reply"; readonly reply: Reply; readonly headers?: Headers }
  | { readonly is: "status"; readonly step: StatusStep }
  | { readonly is: "fail"; readonly code: string; readonly message: string }
  | { readonly is: "hang" }
  | { readonly is: "drop" };

const marker = /\[\[script:([\w./-]+)\]\]/g;
const usualUsage: Usage = { input: 1000, output: 50 };

/** The last marker that was said, and how many tool results came after it. */
export function placeIn({ entries }: Conversation): { name: string; done: number } | undefined {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.is !== "said") continue;
    const name = [...entry.text.matchAll(marker)].at(-1)?.[1];
    if (name === undefined) continue;
    return { name, done: toolResults(entries.slice(at)) };
  }
  return undefined;
}

/** `isOver` is asked of a step with a status that it is to answer only a few times. */
export function nextOutcome(
  script: Script,
  done: number,
  conversation: Conversation,
  isOver: (step: StatusStep) => boolean,
): Outcome {
  let [ahead, usage]: [number, Usage] = [done, usualUsage];
  let headers: Headers = {};
  let said: string[] = [];
  const reply = (rest: Omit<Reply, "usage">): Outcome => ({
    is: "reply",
    reply: { ...rest, usage },
    headers,
  });
  for (const step of script) {
    if ("say" in step) said.push(step.say);
    else if ("usage" in step) usage = step.usage;
    // A status has headers too, which are its own.
    else if (!("status" in step) && "headers" in step) headers = step.headers;
    else if (isToolStep(step, conversation)) {
      if (ahead === 0) return reply({ ...text(said), call: callFor(step, conversation) });
      ahead--;
      said = [];
    } else if (ahead > 0) continue;
    else if ("json" in step) return reply({ text: JSON.stringify(step.json) });
    else if ("refuse" in step) return reply({ text: step.refuse, refused: true });
    else if ("fail" in step) return { is: "fail", ...step.fail };
    else if ("hang" in step) return { is: "hang" };
    else if ("drop" in step) return { is: "drop" };
    else if ("status" in step && !isOver(step)) return { is: "status", step };
  }
  return reply({ text: text(said).text ?? "done" });
}

type ToolStep = Extract<
  Step,
  { write: unknown } | { bash: unknown } | { mcp: unknown } | { json: unknown }
>;

function isToolStep(step: Step, { wantsJson }: Conversation): step is ToolStep {
  return "write" in step || "bash" in step || "mcp" in step || ("json" in step && !wantsJson);
}

function callFor(step: ToolStep, conversation: Conversation): ToolCall {
  // Unique in a conversation that goes on over several scripts, and the same in every recording.
  const id = `${toolResults(conversation.entries) + 1}_${conversation.entries.length}`;
  if ("write" in step) return { id, ...callWrite(step.write, conversation) };
  if ("bash" in step) return { id, ...callBash(step.bash, conversation) };
  if ("mcp" in step) return { id, ...callMcp(step.mcp, conversation) };
  return { id, ...callSubmit(step.json, step.server, conversation) };
}

/** Each tool step leaves one. */
export const toolResults = (entries: Conversation["entries"]): number =>
  entries.filter(({ is }) => is === "tool-result").length;

const text = (said: readonly string[]): { text?: string } =>
  said.length > 0 ? { text: said.join("\n") } : {};
