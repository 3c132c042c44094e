/**
 * The agent's door: the same project, the same run, the same guarantees, for somebody who never
 * leaves his own agent. Tools that work call the project; tools that look ask our own command line.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { McpServer, ResourceTemplate, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { currentRun } from "../core/evolve.ts";
import { unwatchedSkill, watchSkill, zoneOf } from "../core/flow/zone.ts";
import { autobuildCall, autodevCall, statusCall } from "../core/host/calls.ts";
import { AgentResult } from "../core/plan/result.ts";
import { commitModes } from "../core/plan/run-event.ts";
import { type LentWork, openProject, pullerFor, readState, shownLine } from "../project.ts";
import { type Answer, refusedWith, told } from "./answer.ts";
import { askPerson } from "./ask-person.ts";
import type { Caller } from "./caller.ts";
import { fetchWork } from "./fetch-work.ts";
import { ownCommand } from "./own-command.ts";
import { reportBack, stillAtIt } from "./report-back.ts";

export interface Conversation {
  readonly cwd: string;
  readonly version: string;
  /** The client has gone, or we are told to end. */
  readonly signal: AbortSignal;
}

interface About {
  readonly title: string;
  readonly description: string;
  readonly annotations: typeof looks;
}

/** Short, since it stands in every conversation. */
const instructions = `autodev keeps the place of long work: a flow's steps, a plan's phases. It gives the work, you do it, it checks it.
The loop: next → do exactly what the brief says, in the folder it names → sub_step now and then → report → next, until there is nothing to do.
Your report is a claim: autodev runs the gates itself on a clean checkout and commits what holds. Do not commit, and do not edit _docs/_autodev_state.md, .autobuild/ or the plan's boxes.
Decisions are the person's: show the question as it stands, pass the answer on with decide, never choose yourself.`;

const longConversation =
  "Context is getting long — recommend continuing in a fresh conversation for better results";

/** Nothing here reaches beyond this machine; without saying so, some hosts refuse to call it. */
const looks = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const works = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const again = { ...works, idempotentHint: true };

const Client = z.object({ name: z.string(), version: z.string() });

const planFile = z
  .string()
  .min(1)
  .max(1000)
  .describe("The plan's file, from the repository's root");
const lease = z.string().min(1).max(200).describe("As `next` has given it");

export function createServer({ cwd, version, signal }: Conversation): McpServer {
  const server = new McpServer(
    { name: "autodev", title: "autodev", version },
    { instructions, capabilities: { tools: {}, resources: {}, prompts: {} } },
  );
  const holding: { work?: LentWork; plan?: string } = {};
  const puller = pullerFor("an agent", cwd);
  let watch = unwatchedSkill(Date.now());
  const inTurn = oneAfterTheOther();

  /** The old protocol says it once, the new one with each request. */
  const clientOf = ({ mcpReq }: ServerContext): { name: string; version: string } | undefined => {
    const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
    const told = Client.safeParse(envelope?.["io.modelcontextprotocol/clientInfo"]);
    return told.success ? told.data : server.server.getClientVersion();
  };

  const callerOf = (ctx: ServerContext): Caller => {
    const client = clientOf(ctx);
    const by = client ? shownLine(`${client.name} ${client.version}`).slice(0, 100) : puller.by;
    return {
      cwd,
      puller: { ...puller, by },
      signal: AbortSignal.any([signal, ctx.mcpReq.signal]),
      progress: progressOf(ctx),
      lent: (work) => {
        holding.work = work;
      },
    };
  };

  /** One at a time; what was told meanwhile has left before the answer does. */
  const working = (ctx: ServerContext, act: (caller: Caller) => Promise<Answer>): Promise<Answer> =>
    inTurn(async () => {
      watch = watchSkill(watch, { is: "tool", ok: true });
      const answer = await act(callerOf(ctx));
      await new Promise((resolve) => setTimeout(resolve, 20));
      // What an agent that pulls has called besides, nobody tells us: what we see is enough to say so.
      const isLong = zoneOf(watch) !== "safe" && !answer.isError;
      return isLong
        ? { ...answer, content: [...answer.content, { type: "text", text: longConversation }] }
        : answer;
    });

  /** What our own command line says, as it says it. */
  const asking = (args: readonly string[], ctx: ServerContext): Promise<Answer> =>
    ownCommand(args, { cwd, signal: AbortSignal.any([signal, ctx.mcpReq.signal]) }).then(
      ({ code, out, error }) => {
        // Whoever has the hash of what a repository runs could approve it by himself.
        const text = [out.trimEnd(), error.trimEnd()]
          .filter((each) => each !== "")
          .map((each) => each.replace(/\b[0-9a-f]{64}\b/g, "<hash>"));
        return code === 0 ? told(...text) : refusedWith(...text, `(exit code ${code})`);
      },
    );

  const tool = <Shape extends z.ZodRawShape>(
    name: string,
    about: About,
    shape: Shape,
    act: (given: z.infer<z.ZodObject<Shape>>, ctx: ServerContext) => Promise<Answer>,
  ): void => {
    // Strict: a word that is not understood is said, not passed over.
    const inputSchema: z.ZodType<z.infer<z.ZodObject<Shape>>> = z.strictObject(shape) as never;
    server.registerTool(name, { ...about, inputSchema }, (given, ctx) => act(given, ctx));
  };

  tool(
    "status",
    {
      title: "Where the project is",
      description: "Where the flow and the runs are, open decisions, blockers. Changes nothing.",
      annotations: looks,
    },
    {},
    (_, ctx) => asking(["status", "--json"], ctx),
  );

  tool(
    "next",
    {
      title: "Fetch the next piece of work",
      description:
        "Gives one piece of work: a brief, the folder to do it in, and a lease to report with; or says why there is none. Without `plan`: the project's flow, or the plan fetched last. Calling it again gives the same work again.",
      annotations: again,
    },
    {
      plan: planFile.optional(),
      commit: z
        .enum(commitModes)
        .optional()
        .describe(
          "How phases are committed; only for a plan's first call, and only if not configured",
        ),
    },
    ({ plan, commit }, ctx) =>
      working(ctx, async (caller) => {
        const wanted = plan ?? holding.plan ?? planUnderWay(cwd);
        const answer = await fetchWork(caller, { plan: wanted, commit });
        if (wanted !== undefined && !answer.isError) holding.plan = wanted;
        return answer;
      }),
  );

  const { tasks, gates, commit_message, files, asks, reports } = AgentResult.shape;
  tool(
    "report",
    {
      title: "Report a piece of work",
      description:
        "Says how the work of a lease went. It is verified now, by autodev itself, which can take minutes; the answer says whether it was accepted and what to do next.",
      annotations: works,
    },
    {
      lease,
      status: z.enum(["complete", "failed"]),
      commit_message: commit_message.describe(
        "Conventional: `feat(api): …`, a blank line, what and why",
      ),
      tasks: tasks.optional().describe("Absent: all of them"),
      gates: gates.describe("Gates that you ran yourself, and whether they passed"),
      files: files.describe("What you created, modified, deleted, from the work's folder"),
      error: z
        .object({ type: z.string(), message: z.string() })
        .nullish()
        .describe("With `failed`: what kept you from finishing"),
      asks: asks.describe("Of a step: a question that only a person can answer; with `failed`"),
      reports: reports.describe("Of a step: what its brief wants reported"),
    },
    (said, ctx) =>
      working(ctx, async (caller) => {
        if (JSON.stringify(said).length > mostReported) {
          return refusedWith(
            `A report of more than ${mostReported} characters is not taken.`,
            "Your work is what lies in its folder: report the lease, the status and a short message.",
          );
        }
        return reportBack(caller, said);
      }),
  );

  tool(
    "sub_step",
    {
      title: "Say where you are",
      description:
        "Says which sub-step or task you are at, and renews the lease. Whoever takes over goes on there.",
      annotations: again,
    },
    {
      lease,
      number: z
        .number()
        .min(0)
        .max(9999)
        .optional()
        .describe("Of the sub-step, as the brief has it"),
      name: z.string().max(80).optional().describe("Of the sub-step, in kebab-case"),
      detail: z.string().max(300).optional(),
    },
    ({ lease: name, ...said }, ctx) =>
      working(ctx, async (caller) => {
        const { number = 0, name: subStep = "", detail = "" } = said;
        const at = subStep === "" ? undefined : { number, name: subStep, detail };
        const renewed = await stillAtIt(caller, name, at);
        if (renewed.ok) return told(`Noted; it is yours until ${renewed.value}.`);
        const { message, hint } = renewed.failure;
        return refusedWith(message, hint && `→ ${hint}`);
      }),
  );

  tool(
    "decisions",
    {
      title: "What is asked of people",
      description: "Open and answered decisions. Changes nothing.",
      annotations: looks,
    },
    {},
    (_, ctx) => asking(["decisions", "--json"], ctx),
  );

  server.registerTool(
    "decide",
    {
      title: "Pass on a person's answer",
      description:
        "Answers a decision with the letter that the person chose. Without `answer` the person is asked directly, where the host can. The first answer stands.",
      annotations: works,
      inputSchema: z.strictObject({
        id: z.string().regex(/^d-[0-9a-f]{1,12}$/, "an id such as d-3f9c01ab22cd"),
        answer: z
          .string()
          .regex(/^[A-Da-d]$/, "one letter, A to D")
          .optional(),
      }),
    },
    ({ id, answer }, ctx) =>
      askPerson({ cwd, id, answer }, ctx, (letter) => {
        const client = shownLine(clientOf(ctx)?.name ?? puller.by).slice(0, 100);
        const who = process.env.USER || process.env.LOGNAME || "somebody";
        return asking(["decide", id, letter, "--as", `${who}, through ${client}`, "--json"], ctx);
      }),
  );

  tool(
    "plan_check",
    {
      title: "Check a plan",
      description: "What a plan says and what is wrong with it: phases, order, errors, warnings.",
      annotations: looks,
    },
    { plan: planFile },
    ({ plan }, ctx) => asking(["plan", "check", asFile(plan)], ctx),
  );

  tool(
    "build_start",
    {
      title: "Have a plan carried out by other agents",
      description:
        "Starts a run of the plan in the background, with the agents that autodev starts itself, and returns at once. To do the phases yourself, use next instead.",
      annotations: works,
    },
    {
      plan: planFile,
      commit: z.enum(commitModes).optional(),
      agent: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,47}$/)
        .optional(),
      jobs: z.int().min(1).max(64).optional(),
    },
    ({ plan, commit, agent, jobs }, ctx) =>
      asking(
        [
          "build",
          asFile(plan),
          "--detach",
          "--no-input",
          "--json",
          ...(commit ? ["--commit", commit] : []),
          ...(agent ? ["--agent", agent] : []),
          ...(jobs ? ["--jobs", String(jobs)] : []),
        ],
        ctx,
      ),
  );

  tool(
    "build_status",
    {
      title: "How a run goes",
      description: "How far the last run of a plan is, phase by phase. Changes nothing.",
      annotations: looks,
    },
    {},
    async () => tellRuns(cwd),
  );

  tool(
    "build_stop",
    {
      title: "Stop the run that is under way",
      description:
        "Asks the run in the background to come to an end; what it has done is kept, and a later build goes on.",
      annotations: again,
    },
    { after_phase: z.boolean().optional().describe("What is under way comes to its end first") },
    ({ after_phase }, ctx) =>
      asking(["stop", "--json", ...(after_phase ? ["--after-phase"] : [])], ctx),
  );

  tool(
    "log",
    {
      title: "What happened",
      description:
        "The last things that are on record; with a phase, what its last attempt printed. Changes nothing.",
      annotations: looks,
    },
    {
      phase: z
        .string()
        .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,60}$/u)
        .optional(),
      lines: z.int().min(1).max(500).optional().describe("The last so many; 30"),
    },
    ({ phase, lines = 30 }, ctx) =>
      asking(["log", ...(phase === undefined ? [] : [phase]), "-n", String(lines)], ctx),
  );

  addResources(server, cwd, () => holding.work);
  addPrompts(server);
  return server;
}

/** More than any honest report; a work tree says the rest. */
const mostReported = 256 * 1024;

/** A name that begins with a dash is no option. */
const asFile = (file: string): string => (file.startsWith("-") ? `./${file}` : file);

/** Where there is no flow, what is under way is what somebody wants to go on with. */
function planUnderWay(cwd: string): string | undefined {
  const state = readState(openProject(cwd));
  if (!state.ok || state.value.flow) return undefined;
  const run = currentRun(state.value);
  return run && run.ended !== "complete" && run.under === undefined ? run.plan : undefined;
}

function tellRuns(cwd: string): Answer {
  const state = readState(openProject(cwd));
  if (!state.ok) return refusedWith(state.failure.message, state.failure.hint);
  const run = currentRun(state.value);
  if (!run) return told("No plan was ever run here.");
  const phases = run.phases.map(({ id, state: now, attempts }) => {
    const { written = id, name = "" } = run.order.find((each) => each.id === id) ?? {};
    const lent = now.is === "working" && now.lease;
    const whose = lent ? `, with ${lent.by} until ${lent.until}` : "";
    const why = now.is === "failed" ? `: ${now.error.type}: ${now.error.message}` : "";
    return `- ${written} ${name}: ${now.is}${whose}${why}${attempts > 1 ? `, attempt ${attempts}` : ""}`;
  });
  return told(`${run.plan}: ${run.ended ?? "under way"}`, ...phases);
}

// ── progress ───────────────────────────────────────────────────────────────────────────────────

function progressOf(ctx: ServerContext): (line: string) => void {
  const progressToken = ctx.mcpReq["_meta"]?.["progressToken"] as string | number | undefined;
  let progress = 0;
  return (message) => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress: ++progress, message: message.slice(0, 200) };
    // Whoever does not hear it misses nothing: the answer tells all.
    void ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

function oneAfterTheOther(): <T>(act: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (act) => {
    const mine = turn.then(act);
    turn = mine.catch(() => {});
    return mine;
  };
}

// ── resources and prompts ──────────────────────────────────────────────────────────────────────

function addResources(server: McpServer, cwd: string, work: () => LentWork | undefined): void {
  const text = (uri: URL, words: string, mimeType = "text/markdown") => ({
    contents: [{ uri: uri.href, mimeType, text: words }],
  });
  server.registerResource(
    "state",
    "autodev://state",
    { title: "The state file", description: "Where the flow is", mimeType: "text/markdown" },
    (uri) => {
      const { root } = openProject(cwd);
      return text(uri, readBounded(path.join(root, "_docs", "_autodev_state.md")));
    },
  );
  server.registerResource(
    "plan",
    "autodev://plan",
    { title: "The plan of the last run", mimeType: "text/markdown" },
    (uri) => {
      const project = openProject(cwd);
      const state = readState(project);
      const plan = state.ok ? currentRun(state.value)?.plan : undefined;
      return text(uri, plan === undefined ? "" : readBounded(path.resolve(project.root, plan)));
    },
  );
  server.registerResource(
    "brief",
    "autodev://brief",
    { title: "The brief of the work that you have", mimeType: "text/markdown" },
    (uri) => text(uri, work()?.brief ?? ""),
  );
  server.registerResource(
    "transcript",
    new ResourceTemplate("autodev://transcript/{phase}", { list: undefined }),
    { title: "What the last attempt at a phase printed", mimeType: "text/plain" },
    async (uri, { phase }) => {
      const name = String(phase);
      if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,60}$/u.test(name)) return text(uri, "", "text/plain");
      const { out, error } = await ownCommand(["log", name], { cwd });
      return text(uri, out || error, "text/plain");
    },
  );
}

const mostRead = 1024 * 1024;

function readBounded(file: string): string {
  try {
    return fs.readFileSync(file, "utf8").slice(0, mostRead);
  } catch {
    return "";
  }
}

function addPrompts(server: McpServer): void {
  const said = (text: string) => ({
    messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  });
  for (const { name, about, text } of [autodevCall, statusCall])
    server.registerPrompt(name, { description: about }, () => said(text));
  const { name, about, text } = autobuildCall;
  server.registerPrompt(
    name,
    { description: about, argsSchema: z.object({ plan: planFile }) },
    ({ plan }) => said(`${text}\nThe plan: ${shownLine(plan)}`),
  );
}
