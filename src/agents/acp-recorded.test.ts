/** What the real programs were recorded saying (`e2e/recorded`), heard by the dialect. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent.ts";
import { troubleAsAnswer, troubleIn } from "../core/agent/trouble.ts";
import type { Ended } from "../exec.ts";
import { isEvent } from "../testing/agent-contract.ts";
import { createAcpDialect } from "./acp.ts";
import { type AcpProfile, acpProfiles } from "./acp-profiles.ts";
import type { Ask, Ending } from "./dialect.ts";
import { troubleOf } from "./ending.ts";

const recorded = path.join(import.meta.dirname, "../../e2e/recorded");

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly stdin?: Line;
  readonly stderr?: string;
  readonly result?: { readonly outcome?: { readonly outcome: string } };
}

interface Replayed {
  readonly events: AgentEvent[];
  readonly ending: Ending | undefined;
  readonly lastWords: string[];
  /** What it was told when it asked. */
  readonly answers: Line[];
}

/** The recorded lines, as answers to our own requests: ours have other ids, and may be others. */
function replayed(profile: AcpProfile, file: string, permission: Ask["permission"]): Replayed {
  const lines = fs.readFileSync(file, "utf8").trim().split("\n").slice(1);
  const loaded = lines.some((line) => line.includes('"method":"session/load"'));
  const session = /"sessionId":"([^"]+)"/.exec(lines.join("\n"))?.[1] ?? "";
  const talk = createAcpDialect(profile).converse({
    prompt: "Do it.",
    schema: {},
    cwd: "/srv/tree",
    scratch: "/srv/scratch",
    permission,
    resultTool: { url: "http://127.0.0.1:4000/mcp" },
    ...(loaded && { resume: { session, tokens: 0 } }),
  });
  const all: Replayed & { ending: Ending | undefined } = {
    events: [],
    ending: undefined,
    lastWords: [],
    answers: [],
  };
  const waiting = new Map<string, number>();
  const hear = (line: string): void => {
    const heard = talk.hear(line);
    all.events.push(...heard.events);
    all.ending ??= heard.ending;
    keep(heard.say);
  };
  const keep = (said: readonly string[] = []): void => {
    for (const each of said) {
      const { id, method, ...rest } = JSON.parse(each) as Line & { id: number };
      if (method === undefined) all.answers.push(rest);
      else if (/set_/.test(method)) hear(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      else waiting.set(method === "session/resume" ? "session/load" : method, id);
    }
  };
  const asked = new Map<number | undefined, string>();
  keep(talk.begin().say);
  for (const line of lines) {
    const message = JSON.parse(line) as Line;
    if (message.stderr !== undefined) all.lastWords.push(message.stderr);
    else if (message.stdin?.method === "session/cancel") keep(talk.interrupt());
    else if (message.stdin) asked.set(message.stdin.id, message.stdin.method ?? "");
    else if (message.method === undefined && message.id !== undefined) {
      const id = waiting.get(asked.get(message.id) ?? "");
      hear(JSON.stringify({ ...message, id }));
    } else hear(line);
  }
  return all;
}

const moment = { now: "2026-01-01T00:00:00Z", zoneMinutes: 0 };
const well = { notStarted: undefined, idle: undefined, timedOut: false } as unknown as Ended;

const kindOf = ({ ending, lastWords }: Replayed): string | undefined =>
  troubleOf(well, ending, {
    said: (said) => troubleIn(said, moment),
    answered: (text) => troubleAsAnswer(text, moment),
    submitted: undefined,
    waitingFor: undefined,
    lastWords,
  })?.kind;

describe.each(["copilot", "gemini", "goose", "opencode", "qwen"] as const)("%s", (agent) => {
  const files = new Map(
    (fs.existsSync(path.join(recorded, agent))
      ? fs.readdirSync(path.join(recorded, agent))
      : []
    ).map((name) => [name.replace(/\.jsonl$/, ""), path.join(recorded, agent, name)]),
  );
  const of = (name: string, permission: Ask["permission"] = "full"): Replayed =>
    replayed(acpProfiles[agent], files.get(name) as string, permission);
  const itDoes = (name: string, sentence: string, body: (heard: Replayed) => void): void =>
    it.skipIf(!files.has(name))(`${sentence} (${name})`, () => body(of(name)));

  // It hands on what its model's service said, without the status; ours says only a number.
  const unclear = agent === "opencode" ? ["crash"] : [];

  it("tells only of what an event can be", () => {
    for (const name of files.keys()) {
      for (const permission of ["full", "edit", "read-only"] as const) {
        expect(of(name, permission).events.filter((event) => !isEvent(event))).toEqual([]);
      }
    }
  });

  itDoes("edit-and-result", "edits, and says so", ({ events, ending, answers }) => {
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe("session");
    expect(types.filter((type) => type === "session").length).toBe(1);
    for (const type of ["tool", "usage"] as const) expect(types).toContain(type);
    const done = events.filter((event) => event.type === "tool" && event.state === "done");
    expect(done.length).toBeGreaterThan(1);
    const refused = answers.filter(
      ({ result }) => result && result.outcome?.outcome !== "selected",
    );
    expect(refused).toEqual([]);
    expect(ending?.trouble).toBe(undefined);
    expect(ending?.text).not.toBe("");
  });

  itDoes("permission-denied", "asks, where it may only read, and hears no", () => {
    const { events } = of("permission-denied", "read-only");
    const asked = events.flatMap((event) => (event.type === "permission" ? [event.allowed] : []));
    expect(asked.filter((allowed) => allowed)).toEqual([]);
    expect(asked.length).toBeGreaterThan(0);
  });

  itDoes("load", "goes on with a session, and tells nothing of its past", ({ events, ending }) => {
    expect(events[0]?.type).toBe("session");
    const texts = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
    expect(new Set(texts).size).toBe(texts.length);
    expect(ending?.trouble).toBe(undefined);
  });

  itDoes("load-unknown", "does not know a session", (heard) => {
    expect(kindOf(heard)).toBe("session_not_found");
  });

  itDoes("cancelled-in-tool", "says that it left off", ({ ending }) => {
    expect(ending?.cancelled).toBe(true);
  });

  itDoes("text-instead-of-result", "ends with a text", (heard) => {
    expect(heard.ending?.text).not.toBe("");
    expect(kindOf(heard)).toBe(undefined);
  });

  itDoes("status-401", "is not let in", (heard) => {
    expect(["auth", ...unclear]).toContain(kindOf(heard));
  });

  itDoes("status-429", "is limited, if it says anything at all", (heard) => {
    // Who was silent for too long was told to leave off.
    if (!heard.ending || heard.ending.cancelled) return;
    expect(["rate_limit", "usage_limit", ...unclear]).toContain(kindOf(heard));
  });
});
