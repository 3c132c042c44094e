/** What agents that speak the Agent Client Protocol are recorded doing. */
import { type Conversation, converse, type Peer } from "../acp.ts";
import { type AgentName, agents } from "../agents.ts";
import { asking, type ScriptName } from "../scripts.ts";
import { appears, type Played, type Stage } from "../stage.ts";

const initialize = (peer: Peer) =>
  peer.ask("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "autodev", version: "1" },
    // No files: with them Gemini reads through us what it is about to create.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });

const world = ({ place, results }: Stage) => ({
  cwd: place.tree,
  mcpServers: [{ type: "http", name: "autodev", url: results.url, headers: [] }],
});

async function newSession(peer: Peer, stage: Stage): Promise<string | undefined> {
  await initialize(peer);
  const { result } = await peer.ask("session/new", world(stage));
  return (result as { sessionId?: string } | undefined)?.sessionId;
}

const prompt = (peer: Peer, sessionId: string, script: ScriptName) =>
  peer.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: asking(script) }] });

function talk(stage: Stage, more: Omit<Conversation, "args">): Promise<Played> {
  const { acp = [], asks = {} } = agents[stage.agent];
  return converse(stage, { args: acp, ...more, env: { ...asks, ...more.env } });
}

export const acpCaseOf =
  (script: ScriptName, more: Partial<Conversation> = {}) =>
  (stage: Stage): Promise<Played> =>
    talk(stage, {
      timeoutMs: 45_000,
      ...more,
      async drive(peer) {
        const session = await newSession(peer, stage);
        if (session !== undefined) await prompt(peer, session, script);
      },
    });

/** A first process that has a session and ends; a second one that loads it. */
async function loaded(stage: Stage, waitMs: number): Promise<Played> {
  let sessionId: string | undefined;
  await talk(stage, {
    async drive(peer) {
      sessionId = await newSession(peer, stage);
      if (sessionId !== undefined) await prompt(peer, sessionId, "edit");
    },
  });
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return talk(stage, {
    async drive(peer) {
      await initialize(peer);
      const { error } = await peer.ask("session/load", { sessionId, ...world(stage) });
      if (!error && sessionId !== undefined) await prompt(peer, sessionId, "again");
    },
  });
}

/** Gemini names the file of a session by the minute, and erases one that it loads in the same. */
const pastTheMinute = 62_000;

const acpCases: Readonly<Record<string, (stage: Stage) => Promise<Played>>> = {
  "edit-and-result": acpCaseOf("edit"),
  "text-instead-of-result": acpCaseOf("text"),
  "permission-denied": acpCaseOf("write-only", { permission: "reject_once" }),
  load: (stage) => loaded(stage, stage.agent === "gemini" ? pastTheMinute : 0),
  "load-unknown": (stage) =>
    talk(stage, {
      async drive(peer) {
        await initialize(peer);
        const sessionId = "11111111-2222-4333-8444-555555555555";
        await peer.ask("session/load", { sessionId, ...world(stage) });
      },
    }),
  "cancelled-in-tool": (stage) =>
    talk(stage, {
      async drive(peer) {
        const sessionId = await newSession(peer, stage);
        if (sessionId === undefined) return;
        const answered = prompt(peer, sessionId, "slow");
        await appears(stage.place, "started");
        peer.tell("session/cancel", { sessionId });
        await answered;
      },
    }),
  "status-401": acpCaseOf("unauthorized"),
  // Some try again for a minute before they say so, one for ten.
  "status-429": acpCaseOf("limited", { timeoutMs: 90_000 }),
  refusal: acpCaseOf("refused"),
};

/** Not every agent can be logged out by its environment. */
export function acpCasesOf(agent: AgentName): typeof acpCases {
  const { loggedOut } = agents[agent];
  if (!loggedOut) return acpCases;
  return { ...acpCases, "not-logged-in": acpCaseOf("text", { env: loggedOut }) };
}
