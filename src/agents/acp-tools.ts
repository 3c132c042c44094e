/** The tool calls of an ACP agent: each is told when it begins and when it ends, and once only. */
import * as path from "node:path";
import type { AgentEvent } from "../agent.ts";
import type { ToolKind } from "./acp-profiles.ts";
import { fieldsOf, wordsOf } from "./acp-wire.ts";
import { type Fields, inBrief, listOf } from "./json-line.ts";

export interface ToolCalls {
  tell(update: Fields): readonly AgentEvent[];
  known(call: Fields): KnownCall;
}

export interface KnownCall {
  readonly kind?: string | undefined;
  /** All that it was called: the title can change when more is known. */
  readonly titles: readonly string[];
  /** On what it is, in a few words. */
  readonly what: string;
}

interface ToolCall {
  kind?: string | undefined;
  name?: string | undefined;
  titles: readonly string[];
  /** What it runs, or where it is at it. */
  object?: string | undefined;
  files: readonly FileEvent[];
  is: "new" | "started" | "over";
}

type FileEvent = Extract<AgentEvent, { type: "file" }>;

export interface ToolsOf {
  readonly cwd: string;
  readonly kinds?: readonly ToolKind[] | undefined;
}

export function toolCalls({ cwd, kinds = [] }: ToolsOf): ToolCalls {
  const calls = new Map<string, ToolCall>();
  const callOf = (id: string): ToolCall => calls.get(id) ?? { titles: [], files: [], is: "new" };
  const whatOf = ({ object, titles }: ToolCall): string =>
    inBrief(within(cwd, object ?? titles.at(-1) ?? ""));
  const keep = (id: string, call: ToolCall): void => {
    calls.set(id, call);
    if (calls.size <= mostCalls) return;
    for (const oldest of calls.keys()) {
      calls.delete(oldest);
      return;
    }
  };
  return {
    tell(update) {
      const id = wordsOf(update.toolCallId);
      if (id === undefined) return [];
      const call = callOf(id);
      // Some go on about it when it is long done.
      if (call.is === "over") return [];
      learn(call, update, { cwd, kinds });
      keep(id, call);
      const told = (state: "started" | "done" | "failed"): AgentEvent => ({
        type: "tool",
        name: inBrief(call.name ?? (call.kind === "other" ? undefined : call.kind) ?? "tool"),
        what: whatOf(call),
        state,
      });
      const begun = call.is === "new" ? [told("started")] : [];
      const isDone = update.status === "completed";
      call.is = isDone || update.status === "failed" ? "over" : "started";
      if (call.is === "started") return begun;
      return isDone ? [...begun, told("done"), ...call.files] : [...begun, told("failed")];
    },
    known(update) {
      const call = callOf(wordsOf(update.toolCallId) ?? "");
      learn(call, update, { cwd, kinds });
      return { kind: call.kind, titles: call.titles, what: whatOf(call) };
    },
  };
}

/** That are remembered; memory does not grow with the length of the work. */
const mostCalls = 1000;

/** An update says only what has changed. */
function learn(call: ToolCall, update: Fields, { cwd, kinds = [] }: ToolsOf): void {
  const title = wordsOf(update.title);
  const told = wordsOf(update.kind);
  const known = kinds.find((each) => title !== undefined && each.title.test(title));
  // Who says `other` has no word for it.
  const kind = told === "other" ? undefined : told;
  call.kind = kind ?? known?.kind ?? call.kind ?? told;
  call.name = wordsOf(update.name) ?? call.name;
  // The first stays: it is the plainest.
  if (title !== undefined) call.titles = [call.titles[0] ?? title, title];
  call.object = objectIn(call.kind, update) ?? call.object;
  const files = listOf(update.content).flatMap((each) => changeIn(each, cwd));
  if (files.length > 0) call.files = files;
}

/** A title is what the agent, or even the model, makes of it: the thing itself says more. */
function objectIn(kind: string | undefined, update: Fields): string | undefined {
  if (kind === "execute") return wordsOf(fieldsOf(update.rawInput).command);
  if (!["read", "edit", "delete", "move"].includes(kind ?? "")) return undefined;
  return wordsOf(listOf(update.locations)[0]?.path);
}

function changeIn(content: Fields, cwd: string): readonly FileEvent[] {
  const where = wordsOf(content.path);
  if (content.type !== "diff" || where === undefined) return [];
  const inside = cwd === "" || !path.isAbsolute(where) ? where : path.relative(cwd, where);
  // Some have no word for a file that was not there: to them it was empty.
  const isNew = (content.oldText ?? "") === "";
  return [
    {
      type: "file",
      path: inside.startsWith("..") ? where : inside,
      change: isNew ? "create" : "modify",
    },
  ];
}

/** Paths in a title as they are in the tree; OpenCode leaves off even the first slash. */
const within = (cwd: string, text: string): string =>
  cwd.length < 2 ? text : text.replaceAll(`${cwd}/`, "").replaceAll(`${cwd.slice(1)}/`, "");
