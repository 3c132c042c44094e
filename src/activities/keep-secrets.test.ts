import { describe, expect, it, vi } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief, Piece } from "../agent.ts";
import type { Tracker } from "../tracker.ts";
import {
  keepingSecrets,
  patchWithoutSecrets,
  trackerKeepingSecrets,
  withoutSecrets,
} from "./keep-secrets.ts";

const secret = "hush-hush-0123456789";
const brief: Brief = { phase: "1", name: "One", text: "", tasks: 1, attempt: 1 };

async function told(
  events: readonly AgentEvent[],
  outcome: AgentOutcome,
  pieceIn?: Agent["pieceIn"],
): Promise<{ events: AgentEvent[]; outcome: AgentOutcome }> {
  const agent: Agent = {
    name: "mine",
    speaks: "words",
    ...(pieceIn && { pieceIn }),
    async run(_, { emit }) {
      for (const event of events) emit(event);
      return outcome;
    },
  };
  const heard: AgentEvent[] = [];
  const run: AgentRun = {
    cwd: "/",
    scratch: "/",
    env: { MY_API_KEY: secret },
    timeoutMs: 1000,
    signal: new AbortController().signal,
    killNow: new AbortController().signal,
    marker: "test",
    emit: (event) => heard.push(event),
  };
  return { events: heard, outcome: await keepingSecrets(agent).run(brief, run) };
}

describe("what leaves an agent", () => {
  it("holds no secret of its environment, wherever it would stand", async () => {
    const { events, outcome } = await told(
      [
        { type: "text", text: `put together: ${secret}` },
        { type: "plan", steps: [{ text: secret, done: false }] },
        { type: "usage", tokens: 5 },
      ],
      {
        is: "done",
        result: {
          phase_id: "1",
          status: "complete",
          tasks: { total: 1, completed: 1 },
          gates: { [secret]: true },
          commit_message: `feat: ${secret}`,
          files: { created: [], modified: [], deleted: [] },
          plan_updated: false,
          error: null,
        },
      },
    );
    expect(JSON.stringify([events, outcome])).not.toContain(secret);
    expect(events).toEqual([
      { type: "text", text: "put together: [masked]" },
      { type: "plan", steps: [{ text: "[masked]", done: false }] },
      { type: "usage", tokens: 5 },
    ]);
    expect(outcome).toMatchObject({
      result: { commit_message: "feat: [masked]", gates: { "[masked]": true } },
    });
  });

  it("is otherwise as it was: lines that are masked already, ids, all other outcomes", async () => {
    const events: AgentEvent[] = [
      { type: "raw", line: "{}" },
      { type: "session", id: "s-1" },
    ];
    const outcome: AgentOutcome = { is: "stopped" };
    expect(await told(events, outcome)).toEqual({ events, outcome });
  });
});

describe("a message that comes in pieces", () => {
  /** `a:text` is a part of message a; `-` leaves it open; all else ends it. */
  const pieceIn = (line: string): Piece | undefined => {
    const [, of, text] = /^([a-z]):(.*)$/.exec(line) ?? [];
    if (of === undefined || text === undefined) return line === "-" ? { is: "beside" } : undefined;
    return { is: "part", of, text, saying: (other) => `${of}:${other}` };
  };
  const linesOf = async (...lines: readonly string[]): Promise<string[]> => {
    const said = lines.map((line): AgentEvent => ({ type: "raw", line }));
    const { events } = await told(said, { is: "stopped" }, pieceIn);
    return events.flatMap((event) => (event.type === "raw" ? [event.line] : []));
  };
  const [one, two, three] = [secret.slice(0, 7), secret.slice(7, 12), secret.slice(12)];

  it("is kept line by line as it came", async () => {
    const lines = ["-", "x", "a:so", "-", "a: it", "b:is", "y", "a:and", "a: so"];
    expect(await linesOf(...lines)).toEqual(lines);
  });

  it("is kept as one line where a secret is in it, and nothing beside it is lost", async () => {
    expect(
      await linesOf("x", `a:is ${one}`, "-", `a:${two}`, `a:${three}.`, "b:more", "y"),
    ).toEqual(["x", "a:is [masked].", "-", "b:more", "y"]);
    // Nobody said that it is over.
    expect(await linesOf(`a:${one}${two}`, `a:${three}`)).toEqual(["a:[masked]"]);
  });

  it("is not put together with another, nor with what comes after it", async () => {
    const lines = [`a:${one}${two}`, `b:${three}`, `a:${one}`, "x", `a:${two}${three}`];
    expect(await linesOf(...lines)).toEqual(lines);
  });
});

describe("what comes by no line of ours", () => {
  it("holds no secret of our own environment, in any of its texts", () => {
    vi.stubEnv("MY_API_KEY", secret);
    expect(withoutSecrets({ name: "a", said: [`is ${secret}`, { [secret]: 1 }] })).toEqual({
      name: "a",
      said: ["is [masked]", { "[masked]": 1 }],
    });
    const patch = ["@@ -1 +1 @@", "-a", `+key=${secret}`, `+${secret.slice(0, 12)}`];
    expect(patch.map(patchWithoutSecrets())).toEqual([
      "@@ -1 +1 @@",
      "-a",
      "+key=[masked]",
      "+[masked]",
    ]);
    vi.unstubAllEnvs();
  });
});

describe("a tracker", () => {
  const created: object[] = [];
  const why = `refused: ${secret}, dG9rZW4tMDEyMzQ1Njc4OQ, in-a-header-0123456789`;
  const refusing: Tracker = {
    name: "jira",
    lagMs: 0,
    open: async () => ({ is: "auth", why }),
    find: async () => ({ is: "done", value: [] }),
    async create(item) {
      created.push(item);
      return { is: "unknown", why };
    },
    link: async () => ({ is: "limited", why, afterMs: 5 }),
    move: async () => ({ is: "cannot", why }),
    close: async () => {},
  };
  const given = {
    JIRA_TOKEN: secret,
    SITE: "example",
    Authorization: "Basic dG9rZW4tMDEyMzQ1Njc4OQ",
    "X-Api-Key": "in-a-header-0123456789",
  };
  const told = "refused: [masked], [masked], [masked]";

  it("that refuses says why, without what it was told to log in with", async () => {
    const tracker = trackerKeepingSecrets(refusing, given);
    expect([
      await tracker.open(),
      await tracker.find("k"),
      await tracker.link("A-1", "A-2"),
      await tracker.move("A-1", "done"),
    ]).toEqual([
      { is: "auth", why: told },
      { is: "done", value: [] },
      { is: "limited", why: told, afterMs: 5 },
      { is: "cannot", why: told },
    ]);
  });

  it("that refuses at length is cut short only when what is secret in it is gone", async () => {
    const long = `${"so much ".repeat(23)}or ${secret} ${"to say ".repeat(50)}`;
    const talking = { ...refusing, move: async () => ({ is: "cannot" as const, why: long }) };
    const moved = await trackerKeepingSecrets(talking, given).move("A-1", "done");
    const said = "why" in moved ? moved.why : "";
    expect(said).toHaveLength(200);
    expect(said.endsWith("so much or [masked] to s")).toBe(true);
  });

  it("is told of no secret that stands in a task", async () => {
    const tracker = trackerKeepingSecrets(refusing, given);
    const item = { key: secret, kind: "task" as const, title: `Use ${secret}`, body: secret };
    expect(await tracker.create(item)).toEqual({ is: "unknown", why: told });
    expect(created).toEqual([{ ...item, title: "Use [masked]", body: "[masked]" }]);
  });
});
