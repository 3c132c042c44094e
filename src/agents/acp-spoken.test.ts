/** The dialect at work: with real processes, which speak ACP through the official library. */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { readClaim } from "../core/plan/read-result.ts";
import { resultSchema } from "../core/plan/result.ts";
import { exec, mintTrusted } from "../exec.ts";
import { openResultTool } from "../result-tool.ts";
import { agentContract } from "../testing/agent-contract.ts";
import { createAcpDialect } from "./acp.ts";
import { type AcpProfile, acpProfileOf, acpProfiles } from "./acp-profiles.ts";
import type { Permission } from "./dialect.ts";
import { createSpokenAgent } from "./spoken.ts";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-acp-"));
const program = path.join(folder, "acp-agent.mjs");

beforeAll(async () => {
  await build({
    entryPoints: [path.join(import.meta.dirname, "../../test/acp-agent.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
});

const brief: Brief = { phase: "2a", name: "Two", text: "# The brief\n", tasks: 1, attempt: 1 };

const agentFor = (
  what: string,
  profile: Partial<AcpProfile> = {},
  permission: Permission = "full",
): Agent =>
  createSpokenAgent({
    name: "puppet",
    dialect: createAcpDialect({
      ...acpProfileOf(mintTrusted(`exec "${process.execPath}" "${program}" ${what} "${folder}"`)),
      ...profile,
    }),
    exec,
    settings: { permission },
    schema: JSON.parse(resultSchema()),
    openResultTool: ({ phase }) =>
      openResultTool({
        schema: JSON.parse(resultSchema()),
        accept(value) {
          const claim = readClaim(JSON.stringify(value), phase);
          return typeof claim === "string" ? claim : undefined;
        },
      }),
    moment: () => ({ now: "2026-01-01T00:00:00Z", zoneMinutes: 0 }),
  });

const doing = (what: string) => () => {
  fs.writeFileSync(path.join(folder, "known-session.txt"), "said before\n");
  return { brief, agent: agentFor(what) };
};

agentContract(
  "an agent that speaks ACP",
  (work) => ({ brief, agent: agentFor(work) }),
  { describe, it, expect },
  {
    session: doing("work"),
    usage: doing("work"),
    resume: doing("old-only"),
    lostSession: doing("work"),
    limited: doing("limited"),
    unable: doing("unauthorised"),
    silent: doing("deaf"),
  },
);

interface Ran {
  readonly outcome: AgentOutcome;
  readonly events: AgentEvent[];
  readonly cwd: string;
}

async function ran(agent: Agent, more: Partial<AgentRun> = {}): Promise<Ran> {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-acp-run-"));
  const [cwd, events]: [string, AgentEvent[]] = [path.join(base, "tree"), []];
  fs.mkdirSync(cwd);
  const { emit, ...rest } = more;
  const run: AgentRun = {
    cwd,
    scratch: path.join(base, "scratch"),
    env: {},
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    killNow: new AbortController().signal,
    marker: "acp-test",
    ...rest,
    emit(event) {
      events.push(event);
      emit?.(event);
    },
  };
  return { outcome: await agent.run(brief, run), events, cwd };
}

const shown = (events: readonly AgentEvent[]): AgentEvent[] =>
  events.filter(({ type }) => type !== "raw");

describe("an agent that speaks ACP", () => {
  it("tells what it does, in the order in which it does it", async () => {
    const { outcome, events, cwd } = await ran(agentFor("work"));
    expect(outcome.is).toBe("done");
    expect(shown(events)).toEqual([
      { type: "session", id: expect.stringMatching(/^session-\d+$/) },
      { type: "plan", steps: [{ text: "Make it", done: false }] },
      { type: "thought", text: "Hm" },
      { type: "text", text: "I make it" },
      { type: "tool", name: "edit", what: "made.txt", state: "started" },
      { type: "permission", tool: "edit", what: "made.txt", allowed: true },
      { type: "tool", name: "edit", what: "made.txt", state: "done" },
      { type: "usage", tokens: 700, cost: 5.25 },
      expect.objectContaining({ type: "window" }),
      {
        type: "tool",
        name: "tool",
        what: "submit_result (autodev MCP Server)",
        state: "started",
      },
      {
        type: "permission",
        tool: "other",
        what: "submit_result (autodev MCP Server)",
        allowed: true,
      },
      { type: "text", text: "It is done." },
    ]);
    expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
  });

  it("can be shown again from its lines", async () => {
    const { events } = await ran(agentFor("work"));
    const { translate } = createAcpDialect(acpProfileOf(mintTrusted("")));
    const again = events.flatMap((event) => (event.type === "raw" ? translate(event.line) : []));
    for (const type of ["session", "plan", "thought", "tool"] as const) {
      const found = again.filter((event) => event.type === type);
      expect(found.length, type).toBeGreaterThan(0);
    }
    const texts = again.flatMap((event) => (event.type === "text" ? [event.text] : []));
    expect(texts.join("")).toBe("I make itIt is done.");
  });

  it("mends a result that was not taken", async () => {
    expect(await ran(agentFor("clumsy"))).toMatchObject({ outcome: { is: "done" } });
  });

  it("gives its result as text when it takes no tool of ours", async () => {
    const { outcome, events } = await ran(agentFor("toolless"));
    expect(outcome.is).toBe("done");
    expect(events.filter(({ type }) => type === "permission").length).toBe(1);
  });

  it("without a result has failed, whatever it says", async () => {
    expect((await ran(agentFor("says-nothing"))).outcome).toMatchObject({
      is: "failed",
      error: { type: "parse_error", kind: "schema" },
    });
  });

  it("goes on when it is refused what we do not offer", async () => {
    const { outcome, events } = await ran(agentFor("asking-for-more"));
    expect(outcome.is).toBe("done");
    const [first] = shown(events).filter(({ type }) => type === "text");
    expect(first).toEqual({
      type: "text",
      text: "fs/read_text_file: -32601\nterminal/create: -32601\nprivate/thing: -32601\n",
    });
  });

  it("may print what it likes before it speaks", async () => {
    expect((await ran(agentFor("banner"))).outcome.is).toBe("done");
  });
});

describe("what it may do", () => {
  const ranShell = (permission: Permission) => ran(agentFor("shell", {}, permission));

  it("is everything", async () => {
    const { cwd } = await ranShell("full");
    expect(fs.readdirSync(cwd).sort()).toEqual(["made.txt", "ran.txt"]);
  });

  it("is to edit, and to run nothing", async () => {
    const { cwd, outcome, events } = await ranShell("edit");
    expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
    expect(outcome.is).toBe("done");
    const asked = events.flatMap((event) => (event.type === "permission" ? [event.allowed] : []));
    expect(asked).toEqual([true, false, true]);
  });

  it("is to read, and to say so in a mode in which it asks", async () => {
    const modes = { "read-only": "asking" };
    const { cwd, outcome } = await ran(agentFor("shell", { modes }, "read-only"));
    expect(fs.readdirSync(cwd)).toEqual([]);
    expect(outcome).toMatchObject({
      is: "failed",
      error: { message: "not made, in mode asking" },
    });
  });
});

describe("when it is told to stop", () => {
  it("it ends its tool, keeps its session, and hears that what it asks is off", async () => {
    const stop = new AbortController();
    const { outcome, events } = await ran(agentFor("tool"), {
      signal: stop.signal,
      emit: ({ type }) => {
        if (type === "tool") stop.abort();
      },
    });
    expect(outcome).toEqual({ is: "stopped" });
    expect(fs.readFileSync(path.join(folder, "asked-late.txt"), "utf8")).toBe("false");
    const last = events.findLast(({ type }) => type === "raw");
    expect(last).toMatchObject({ line: expect.stringContaining('"stopReason":"cancelled"') });
  });

  it("and does not listen, it is ended", async () => {
    const stop = new AbortController();
    const { outcome } = await ran(agentFor("deaf"), {
      signal: stop.signal,
      emit: ({ type }) => {
        if (type === "session") stop.abort();
      },
    });
    expect(outcome).toEqual({ is: "stopped" });
  });
});

describe("a session", () => {
  const sessionOf = ({ events }: Ran): string =>
    events.flatMap((event) => (event.type === "session" ? [event.id] : []))[0] ?? "";

  it("goes on in another process, and its past is not told again", async () => {
    const session = sessionOf(await ran(agentFor("work")));
    const { outcome, events } = await ran(agentFor("work"), { resume: { session, tokens: 500 } });
    expect(outcome.is).toBe("done");
    expect(JSON.stringify(events)).toContain("said before");
    expect(JSON.stringify(shown(events))).not.toContain("said before");
    expect(JSON.stringify(shown(events))).not.toContain("an old tool");
    expect(shown(events)[0]).toEqual({ type: "session", id: session });
    // It stood at 500 tokens and 5 dollars.
    expect(events.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", tokens: 200, cost: 0.25 },
    ]);
  });

  it("goes on without a look at its past, where that can be had", async () => {
    const session = sessionOf(await ran(agentFor("work")));
    const { outcome, events } = await ran(agentFor("resume"), { resume: { session, tokens: 0 } });
    expect(outcome.is).toBe("done");
    expect(JSON.stringify(events)).not.toContain("said before");
  });

  it("that is gone, or that nobody can go back to, is begun anew", async () => {
    const gone = await ran(agentFor("work"), { resume: { session: "nowhere", tokens: 0 } });
    expect(gone.outcome.is).toBe("done");
    expect(shown(gone.events)[0]).toMatchObject({ type: "text", text: /begins anew/ });
    const other = await ran(agentFor("forgetful"), { resume: { session: "x", tokens: 0 } });
    expect(other.outcome.is).toBe("done");
  });
});

describe("what stands in its way", () => {
  it.each<[string, string, object]>([
    ["that nobody is logged in", "unauthorised", { is: "unable", trouble: { kind: "auth" } }],
    ["the same, in the middle", "unauthorised-later", { is: "unable", trouble: { kind: "auth" } }],
    ["a limit", "limited", { is: "limited", trouble: { kind: "rate_limit" } }],
  ])("is told apart: %s", async (_, what, outcome) => {
    expect((await ran(agentFor(what))).outcome).toMatchObject(outcome);
  });

  it("is told apart when it comes as an answer", async () => {
    const { outcome } = await ran(
      agentFor("error-as-answer", { error: acpProfiles.copilot.error }),
    );
    expect(outcome).toMatchObject({ is: "unable", trouble: { kind: "auth", status: 401 } });
  });

  it("is said when it ends without a word of its protocol", async () => {
    const { outcome } = await ran(agentFor("crash"));
    expect(outcome).toMatchObject({
      is: "failed",
      error: { type: "agent_crash", details: "Error: cannot find the configuration" },
    });
  });

  it("is its own silence", async () => {
    expect((await ran(agentFor("silent"), { idleMs: 500 })).outcome).toMatchObject({
      is: "failed",
      error: { type: "timeout", kind: "idle_timeout" },
    });
  });

  it("is that it is not there", async () => {
    const agent = createSpokenAgent({
      name: "nobody",
      dialect: createAcpDialect({ program: "no-such-agent", args: [] }),
      exec,
      settings: {},
      schema: {},
      openResultTool: () => openResultTool({ schema: {}, accept: () => undefined }),
      moment: () => ({ now: "2026-01-01T00:00:00Z", zoneMinutes: 0 }),
    });
    expect((await ran(agent)).outcome).toMatchObject({
      is: "unable",
      trouble: { kind: "spawn" },
    });
  });
});
