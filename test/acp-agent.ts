/**
 * An agent that speaks ACP through the official library, as a program: `node acp-agent.mjs <what>
 * <folder>`. What it does is its first argument; its sessions lie in the folder, so that another
 * process of it can go on with them. The library refuses whatever the protocol does not allow.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { Readable, Writable } from "node:stream";
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

const [what = "work", folder = "."] = process.argv.slice(2);
const { agent: own, client } = methods;

interface Session {
  readonly cwd: string;
  readonly url: string | undefined;
}
const sessions = new Map<string, Session>();
const historyOf = (id: string): string => path.join(folder, `${path.basename(id)}.txt`);
const cancelled = new AbortController();

const said = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});

const urlIn = (servers: readonly object[] = []): string | undefined =>
  servers.flatMap((each) => ("url" in each ? [String(each.url)] : []))[0];

if (what === "banner") process.stdout.write("  __( O)>  a banner\n{not json\n\n");
if (what === "crash") {
  process.stderr.write("Error: cannot find the configuration\n");
  process.exit(3);
}
const modes = {
  currentModeId: "free",
  availableModes: [
    { id: "free", name: "Free" },
    { id: "asking", name: "Asking" },
  ],
};
let mode = "free";

const app = agent({ name: "scripted" })
  .onRequest(own.initialize, ({ params }) => {
    if (what === "silent") return new Promise<never>(() => {});
    // What we may not be asked for must not be offered.
    const { fs: files, terminal } = params.clientCapabilities ?? {};
    if (files?.readTextFile || files?.writeTextFile || terminal)
      throw new Error("offered too much");
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: what !== "forgetful",
        mcpCapabilities: { http: what !== "toolless" },
        sessionCapabilities: what === "resume" ? { resume: {} } : {},
      },
    };
  })
  .onRequest(own.session.new, ({ params }) => {
    if (what === "unauthorised") throw RequestError.authRequired();
    if (what === "old-only") throw new Error("no new sessions here");
    const sessionId = `session-${process.pid}`;
    sessions.set(sessionId, { cwd: params.cwd, url: urlIn(params.mcpServers) });
    fs.writeFileSync(historyOf(sessionId), "said before\n");
    return { sessionId, modes };
  })
  .onRequest(own.session.load, async ({ params, client: to }) => {
    const { sessionId, cwd } = params;
    const history = read(sessionId);
    sessions.set(sessionId, { cwd, url: urlIn(params.mcpServers) });
    for (const update of [
      said(history),
      { sessionUpdate: "tool_call", toolCallId: "old", title: "an old tool", kind: "edit" },
      {
        sessionUpdate: "usage_update",
        used: 500,
        size: 1000,
        cost: { amount: 5, currency: "USD" },
      },
    ] satisfies SessionUpdate[]) {
      await to.notify(client.session.update, { sessionId, update });
    }
    return {};
  })
  .onRequest(own.session.resume, ({ params }) => {
    read(params.sessionId);
    sessions.set(params.sessionId, { cwd: params.cwd, url: urlIn(params.mcpServers) });
    return {};
  })
  .onRequest(own.session.setMode, ({ params }) => {
    mode = params.modeId;
    return {};
  })
  .onNotification(own.session.cancel, () => cancelled.abort())
  .onRequest(own.session.prompt, async ({ params, client: to }) => {
    const { sessionId } = params;
    const { cwd, url } = sessions.get(sessionId) as Session;
    const tell = (update: SessionUpdate): Promise<void> =>
      to.notify(client.session.update, { sessionId, update });
    const asked = async (kind: "edit" | "execute" | "other", title: string): Promise<boolean> => {
      const toolCallId = `call-${title}`;
      const answer = await to.request(client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId, kind, title },
        options: [
          { optionId: "b", name: "Always", kind: "allow_always" },
          { optionId: "a", name: "Yes", kind: "allow_once" },
          { optionId: "c", name: "No", kind: "reject_once" },
        ],
      });
      return answer.outcome.outcome === "selected" && answer.outcome.optionId === "a";
    };
    const tool = async (kind: "edit" | "execute", title: string, work: () => void) => {
      const toolCallId = `call-${title}`;
      await tell({ sessionUpdate: "tool_call", toolCallId, title, kind, status: "pending" });
      const isYes = await asked(kind, title);
      if (isYes) work();
      const status = isYes ? "completed" : "failed";
      await tell({ sessionUpdate: "tool_call_update", toolCallId, status });
      return isYes;
    };
    const submit = async (result: object): Promise<void> => {
      if (url === undefined) {
        await tell(said(JSON.stringify(result)));
        return;
      }
      if (await asked("other", "submit_result (autodev MCP Server)")) await handIn(url, result);
    };
    const cancel = new Promise<void>((resolve) =>
      cancelled.signal.addEventListener("abort", () => resolve()),
    );

    switch (what) {
      case "endless":
        await tell(said("going on"));
        await cancel;
        return { stopReason: "cancelled" };
      case "deaf":
        await tell(said("going on"));
        return new Promise<never>(() => {});
      case "tool": {
        const child = spawn("sleep", ["300"]);
        await tell({
          sessionUpdate: "tool_call",
          toolCallId: "1",
          title: `sleeping as ${child.pid}`,
          kind: "execute",
          status: "in_progress",
        });
        await cancel;
        // What was asked for while it was told to leave off is answered, too.
        fs.writeFileSync(path.join(folder, "asked-late.txt"), String(await asked("edit", "late")));
        child.kill();
        return { stopReason: "cancelled" };
      }
      case "limited":
        await tell(said("working"));
        throw new RequestError(-32603, "Internal error", {
          errorKind: "rate_limit",
          details: "too many requests",
        });
      case "unauthorised-later":
        throw new RequestError(-32000, "Authentication required");
      case "error-as-answer":
        await tell(said("Error: Authentication failed (HTTP 401)."));
        return { stopReason: "end_turn" };
      case "asking-for-more":
        for (const method of ["fs/read_text_file", "terminal/create", "private/thing"]) {
          const code = await to.request(method, { sessionId, path: "/x", command: "x" }).then(
            () => "answered",
            (error: { code?: number }) => error.code,
          );
          await tell(said(`${method}: ${code}\n`));
        }
        break;
      case "says-nothing":
        return { stopReason: "end_turn" };
    }

    await tell({
      sessionUpdate: "plan",
      entries: [{ content: "Make it", priority: "high", status: "in_progress" }],
    });
    await tell({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm" } });
    for (const piece of ["I ", "make ", "it"]) await tell(said(piece));
    const isMade =
      what !== "fail" &&
      (await tool("edit", `${cwd}/made.txt`, () =>
        fs.writeFileSync(path.join(cwd, "made.txt"), "made\n"),
      ));
    if (what === "shell") {
      await tool("execute", "touch ran.txt # submit_result", () =>
        fs.writeFileSync(path.join(cwd, "ran.txt"), ""),
      );
    }
    await tell({
      sessionUpdate: "usage_update",
      used: 700,
      size: 1000,
      cost: { amount: 5.25, currency: "USD" },
    });
    const done = {
      phase_id: process.env.AUTODEV_PHASE,
      status: isMade ? "complete" : "failed",
      tasks: { total: 1, completed: isMade ? 1 : 0 },
      files: { created: isMade ? ["made.txt"] : [] },
      error: isMade ? null : { type: "task_incomplete", message: `not made, in mode ${mode}` },
    };
    if (what === "clumsy") await submit({ ...done, status: "perhaps" });
    await submit(done);
    await tell(said("It is done."));
    return { stopReason: "end_turn" };
  });

function read(sessionId: string): string {
  try {
    return fs.readFileSync(historyOf(sessionId), "utf8");
  } catch {
    throw RequestError.resourceNotFound(sessionId);
  }
}

async function handIn(url: string, result: object): Promise<void> {
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "submit_result", arguments: result },
    }),
  });
}

const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
void connection.closed.then(() => process.exit(0));
