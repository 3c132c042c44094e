/** Our MCP server as a host sees it: the built binary, and the official clients, the old and the new. */
import { Client as NewClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { binary, plainEnvironment, type Repo } from "./rig.ts";

export type Era = "v1" | "v2 as v1" | "v2";

export interface Called {
  readonly text: string;
  readonly isError: boolean;
  /** Of `next`: what was given. */
  readonly lease: string;
  readonly folder: string;
}

export interface Host {
  readonly pid: number;
  tools(): Promise<
    { name: string; annotations?: object | undefined; description?: string | undefined }[]
  >;
  call(name: string, args?: object, onprogress?: (message: string) => void): Promise<Called>;
  read(uri: string): Promise<string>;
  prompt(name: string, args?: Record<string, string>): Promise<string>;
  prompts(): Promise<string[]>;
  protocol(): string | undefined;
  close(): Promise<void>;
}

const information = { name: "tester", version: "1.0.0" };

export async function connect(
  repo: Pick<Repo, "root">,
  {
    era = "v2",
    env = {},
    answers,
  }: {
    readonly era?: Era;
    readonly env?: Readonly<Record<string, string>>;
    /** What the person says to a form; absent: the host can show none. */
    readonly answers?: (message: string) => string | undefined;
  } = {},
): Promise<Host> {
  const how = {
    command: process.execPath,
    args: [binary(), "mcp"],
    cwd: repo.root,
    env: { ...plainEnvironment, ...env },
    stderr: "pipe" as const,
  };
  const capabilities = answers ? { elicitation: {} } : {};
  const client =
    era === "v1"
      ? new OldClient(information, { capabilities })
      : new NewClient(information, {
          capabilities,
          ...(era === "v2" && { versionNegotiation: { mode: "auto" as const } }),
        });
  const transport = era === "v1" ? new OldTransport(how) : new NewTransport(how);
  if (answers) await listen(client, era, answers);
  // Both are the same here, as far as we use them.
  const any = client as NewClient;
  await any.connect(transport as NewTransport);
  const pid = (transport as NewTransport).pid ?? 0;
  return {
    pid,
    tools: async () => (await any.listTools()).tools,
    async call(name, args = {}, onprogress) {
      const params = { name, arguments: args as Record<string, unknown> };
      const options = {
        timeout: 120_000,
        ...(onprogress && {
          onprogress: ({ message = "" }: { message?: string | undefined }) => onprogress(message),
        }),
      };
      const result = await (era === "v1"
        ? (client as OldClient).callTool(params, undefined, options)
        : any.callTool(params, options));
      const parts = result.content as { text: string }[];
      const text = parts.map((part) => part.text).join("\n");
      return {
        text,
        isError: result.isError === true,
        lease: /^lease: (\S+)$/m.exec(text)?.[1] ?? "",
        folder: /^folder: (.+)$/m.exec(text)?.[1] ?? "",
      };
    },
    async read(uri) {
      const { contents } = await any.readResource({ uri });
      return (contents as { text: string }[]).map(({ text }) => text).join("\n");
    },
    async prompt(name, args) {
      const { messages } = await any.getPrompt({ name, ...(args && { arguments: args }) });
      return messages.map(({ content }) => ("text" in content ? content.text : "")).join("\n");
    },
    prompts: async () => (await any.listPrompts()).prompts.map(({ name }) => name),
    protocol: () =>
      "getNegotiatedProtocolVersion" in any ? any.getNegotiatedProtocolVersion() : undefined,
    close: () => any.close(),
  };
}

async function listen(
  client: OldClient | NewClient,
  era: Era,
  answers: (message: string) => string | undefined,
): Promise<void> {
  const answer = ({ params }: { params: { message: string } }) => {
    const letter = answers(params.message);
    return letter === undefined
      ? { action: "decline" as const }
      : { action: "accept" as const, content: { letter } };
  };
  if (era === "v1") {
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    (client as OldClient).setRequestHandler(ElicitRequestSchema, async (request) =>
      answer(request),
    );
  } else {
    (client as NewClient).setRequestHandler("elicitation/create", async (request) =>
      answer(request as { params: { message: string } }),
    );
  }
}
