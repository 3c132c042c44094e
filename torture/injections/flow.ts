/**
 * A flow played in the world of ../flow-world.ts, the same history every time: documents, answers,
 * sub-steps and what agents say of themselves hold somebody's words. What an agent says goes through
 * its real adapter, what it promised through the real contract of its skill.
 */
import * as path from "node:path";
import { endOf } from "../../src/activities/run-skill.ts";
import { unmetBy } from "../../src/core/flow/contract.ts";
import type { SkillEnd } from "../../src/core/flow/judge.ts";
import type { SkillWork } from "../../src/core/flow/next-move.ts";
import type { Artifact } from "../../src/core/flow/skill.ts";
import type { AgentResult } from "../../src/core/plan/result.ts";
import type { Action } from "../flow-model.ts";
import { type FlowWords, FlowWorld } from "../flow-world.ts";
import { type PuppetName, puppet } from "./puppets.ts";
import type { Played } from "./run.ts";

export interface SkillWords {
  readonly artifact: string;
  /** Of whoever answers, and of an agent about itself. */
  readonly around: string;
}

const begins = { facts: [], source: false, members: 0 } as const;

/** Every kind of end that is said in words, again and again, through the first steps of a flow. */
const round: readonly Action[] = [
  { do: "start", through: true, decides: true },
  { do: "report" },
  { do: "fail" },
  { do: "report" },
  { do: "ask" },
  { do: "answer", key: "B" },
  { do: "start", through: true, decides: true },
  { do: "claim" },
  { do: "finish" },
  { do: "stray" },
  { do: "corrupt" },
  { do: "finish" },
  { do: "stop" },
];

export async function playFlow(words: SkillWords, scratch: string): Promise<Played> {
  const seen: string[] = [];
  const log: string[] = [];
  let turn = 0;
  const spoken: FlowWords = {
    document: `# What it is\n\n${words.artifact}\n`,
    by: words.around,
    detail: words.around,
    said: (end, work) => said(end, work, words.around, { scratch, turn: turn++ }),
  };
  const world = new FlowWorld(begins, spoken);
  for (const action of [...round, ...round, ...round]) {
    const { told } = await world.apply(action);
    log.push(`${action.do}: ${told.join(", ")}; ${world.rest} ${world.asks?.kind ?? ""}`);
    log.push(JSON.stringify(world.place ?? "nowhere"));
  }
  log.push(...world.breaches);
  seen.push(...world.log.map((event) => JSON.stringify(event)));
  const text = documentText(words.artifact);
  seen.push(text);
  const facts = { docs: new Map([["a.md", text.length]]), texts: new Map([["a.md", text]]) };
  log.push(`unmet ${JSON.stringify(unmetBy([promised], facts, { cycle: 1 }))}`);
  return { log, seen: seen.join("\n") };
}

/** In the words of an agent's own format, and back through the adapter that reads it. */
async function said(
  end: SkillEnd,
  { step, session }: SkillWork,
  words: string,
  { scratch, turn }: { readonly scratch: string; readonly turn: number },
): Promise<SkillEnd> {
  if (end.is !== "done" && end.is !== "failed" && end.is !== "asked") return end;
  const isFailed = end.is === "failed";
  const result: AgentResult = {
    phase_id: step.step,
    status: isFailed ? "failed" : "complete",
    tasks: { total: 1, completed: isFailed ? 0 : 1 },
    gates: {},
    commit_message: `docs: a step\n\n${words}`,
    files: { created: [], modified: [], deleted: [] },
    plan_updated: false,
    error: isFailed
      ? { type: end.corrupt ? "corruption" : "task_incomplete", message: words || "it broke" }
      : null,
    ...(end.is === "done" && { reports: [...end.reports] }),
    ...(end.is === "asked" && {
      asks: {
        options: [...end.asks.options],
        recommendation: "A",
        question: `${end.asks.question} ${words}`.slice(0, 500),
        reason: words.slice(0, 300) || end.asks.reason,
      },
    }),
  };
  const name = names[turn % names.length] ?? "script";
  const act = { name, end: "done", result, words, stderr: words, reason: words } as const;
  const signal = new AbortController().signal;
  const outcome = await puppet(act, "2026-01-01T00:00:00Z", "skill").run(
    { phase: step.step, name: step.name, text: "# The brief\n", tasks: 1, attempt: session },
    {
      cwd: scratch,
      scratch: path.join(scratch, "session"),
      env: {},
      timeoutMs: 60_000,
      signal,
      killNow: signal,
      marker: "flow",
      emit: () => {},
    },
  );
  return endOf(outcome);
}

const names: readonly PuppetName[] = ["script", "claude", "codex", "gemini"];

// ── an artifact ────────────────────────────────────────────────────────────────────────────────

const promised: Artifact = {
  path: "a.md",
  least: 1,
  optional: false,
  sections: ["Summary", "Risks"],
  columns: [],
  fields: ["Status"],
};

/** One section is missing: no words can make up for it. What others say is quoted. */
const documentText = (words: string): string =>
  [
    "# A document",
    "",
    "**Status**: draft",
    "",
    "## Summary",
    "",
    ...words.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => `> ${line}`),
    "",
  ].join("\n");
