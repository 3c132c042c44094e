import { afterEach, describe, expect, it } from "vitest";
import type { Script } from "./script.ts";
import { type ScriptedModel, type Scripts, startScriptedModel } from "./scripted-model.ts";

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function start(scripts: Scripts): Promise<ScriptedModel> {
  model = await startScriptedModel(scripts);
  return model;
}

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${model?.url}${path}`, { method: "POST", body: JSON.stringify(body) });

/** The data of a stream of events. */
async function events(response: Response): Promise<unknown[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) =>
    data === "[DONE]" ? data : JSON.parse(data),
  );
}

const schema = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});

const prompt = "Work in it. [[script:work]]";

describe("Anthropic's Messages", () => {
  const tools = [
    { name: "Write", input_schema: schema("file_path", "content") },
    { name: "Bash", input_schema: schema("command") },
  ];
  const asked = (...more: object[]) => ({
    model: "m",
    tools,
    system: "Working directory: /srv/tree",
    messages: [{ role: "user", content: prompt }, ...more],
  });
  const toolResult = { role: "user", content: [{ type: "tool_result", content: "fine" }] };
  const work: Script = [
    { say: "First this." },
    { write: { path: "a.txt", content: "a\n" } },
    { bash: "ls" },
    { say: "That was all." },
  ];

  it("calls the tool that is offered, with the names that it has for things", async () => {
    await start({ work });
    const answer = await (await post("/v1/messages", asked())).json();
    expect(answer).toMatchObject({
      stop_reason: "tool_use",
      content: [
        { type: "text", text: "First this." },
        { name: "Write", input: { file_path: "/srv/tree/a.txt", content: "a\n" } },
      ],
    });
  });

  it("tells from the conversation where it stands", async () => {
    await start({ work });
    const second = await (await post("/v1/messages", asked(toolResult))).json();
    expect(second).toMatchObject({ content: [{ name: "Bash", input: { command: "ls" } }] });
    const last = await (await post("/v1/messages", asked(toolResult, toolResult))).json();
    expect(last).toMatchObject({
      stop_reason: "end_turn",
      content: [{ text: "That was all." }],
    });
  });

  it("begins anew with a later marker", async () => {
    await start({ work, other: [{ bash: "pwd" }] });
    const later = { role: "user", content: "And now [[script:other]]" };
    const answer = await (await post("/v1/messages", asked(toolResult, later))).json();
    expect(answer).toMatchObject({ content: [{ name: "Bash", input: { command: "pwd" } }] });
  });

  it("streams what it says in pieces that add up", async () => {
    await start({ work });
    const streamed = await events(await post("/v1/messages", { ...asked(), stream: true }));
    expect(streamed.map((event) => (event as { type: string }).type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("gives a structured result through the tool for it, or through ours", async () => {
    await start({ work: [{ json: { status: "complete" } }] });
    const own = { ...asked(), tools: [{ name: "StructuredOutput" }] };
    expect(await (await post("/v1/messages", own)).json()).toMatchObject({
      content: [{ name: "StructuredOutput", input: { status: "complete" } }],
    });
    expect(await (await post("/v1/messages", asked())).json()).toMatchObject({
      content: [{ name: "mcp__autodev__submit_result" }],
    });
  });

  it("refuses, and says what it has used", async () => {
    await start({ work: [{ usage: { input: 7, output: 3 } }, { refuse: "No." }] });
    expect(await (await post("/v1/messages", asked())).json()).toMatchObject({
      stop_reason: "refusal",
      usage: { input_tokens: 7, output_tokens: 3 },
    });
  });

  it("answers with a status as often as the script says", async () => {
    await start({ work: [{ status: 529, times: 1, headers: { "retry-after": "3" } }] });
    const first = await post("/v1/messages", asked());
    expect([first.status, first.headers.get("retry-after")]).toEqual([529, "3"]);
    expect(await first.json()).toMatchObject({ error: { type: "overloaded_error" } });
    expect((await post("/v1/messages", asked())).status).toBe(200);
  });

  it("fails in the middle of a stream", async () => {
    await start({ work: [{ fail: { code: "overloaded_error", message: "Overloaded" } }] });
    const [event] = await events(await post("/v1/messages", { ...asked(), stream: true }));
    expect(event).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  });

  it("drops the connection, or never answers", async () => {
    await start({ work: [{ drop: true }], hang: [{ hang: true }] });
    const dropped = post("/v1/messages", asked()).then((response) => response.text());
    await expect(dropped).rejects.toThrow();
    const messages = [{ role: "user", content: "[[script:hang]]" }];
    const hung = fetch(`${model?.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ model: "m", tools, messages }),
      signal: AbortSignal.timeout(100),
    });
    await expect(hung).rejects.toThrow(/timeout/);
  });

  it("says ok to whoever offers no tools, and no to what it does not know", async () => {
    await start({ work });
    const titled = await post("/v1/messages", { ...asked(), tools: [] });
    expect(await titled.json()).toMatchObject({ content: [{ text: "ok" }] });
    expect((await post("/v1/elsewhere", {})).status).toBe(404);
    expect((await post("/v1/messages", {})).status).toBe(400);
  });

  it("asks a function for the script, and keeps every request", async () => {
    const { requests } = await start(({ protocol, conversation }) => [
      { say: `${protocol} in ${conversation.cwd}` },
    ]);
    const answer = await (await post("/v1/messages", asked())).json();
    expect(answer).toMatchObject({ content: [{ text: "anthropic in /srv/tree" }] });
    expect(requests).toMatchObject([
      { method: "POST", path: "/v1/messages", body: { model: "m" } },
    ]);
  });
});

describe("OpenAI's Responses", () => {
  const tools = [
    { type: "custom", name: "apply_patch" },
    { type: "function", name: "exec_command", parameters: schema("cmd") },
    {
      type: "namespace",
      name: "mcp__autodev",
      tools: [{ type: "function", name: "submit_result" }],
    },
  ];
  const input = [
    { type: "message", role: "user", content: [{ type: "input_text", text: prompt }] },
  ];
  const asked = { model: "m", stream: true, tools, input };
  const completed = async (body: object): Promise<unknown> => {
    const last = (await events(await post("/v1/responses", body))).at(-1);
    return (last as { response: unknown }).response;
  };

  it("writes with a patch and runs with the command's own name", async () => {
    await start({ work: [{ write: { path: "a.txt", content: "a\nb\n" } }, { bash: "ls" }] });
    expect(await completed(asked)).toMatchObject({
      output: [
        {
          type: "custom_tool_call",
          input: "*** Begin Patch\n*** Add File: a.txt\n+a\n+b\n*** End Patch\n",
        },
      ],
    });
    const done = { type: "custom_tool_call_output", output: "fine" };
    expect(await completed({ ...asked, input: [...input, done] })).toMatchObject({
      output: [{ type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' }],
    });
  });

  it("gives a structured result as text where a schema asks for it, else by tool", async () => {
    await start({ work: [{ json: { status: "complete" } }] });
    const strict = { ...asked, text: { format: { type: "json_schema" } } };
    expect(await completed(strict)).toMatchObject({
      output: [{ type: "message", content: [{ text: '{"status":"complete"}' }] }],
    });
    expect(await completed(asked)).toMatchObject({
      output: [{ type: "function_call", name: "submit_result", namespace: "mcp__autodev" }],
    });
  });
});

describe("OpenAI's Chat Completions", () => {
  const functionTool = (name: string, ...names: string[]) => ({
    type: "function",
    function: { name, parameters: schema(...names) },
  });
  const tools = [
    functionTool("write", "filePath", "content"),
    functionTool("bash", "command", "description"),
    functionTool("autodev_submit_result", "status"),
  ];
  const asked = { model: "m", tools, messages: [{ role: "user", content: prompt }] };

  it("fills in what a tool requires", async () => {
    await start({ work: [{ bash: "ls" }] });
    expect(await (await post("/v1/chat/completions", asked)).json()).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            tool_calls: [
              {
                function: {
                  name: "bash",
                  arguments: JSON.stringify({ command: "ls", description: "scripted" }),
                },
              },
            ],
          },
        },
      ],
    });
  });

  it("streams a call, its end and its usage", async () => {
    await start({ work: [{ mcp: { server: "autodev", tool: "submit_result", args: {} } }] });
    const streamed = await events(await post("/v1/chat/completions", { ...asked, stream: true }));
    expect(streamed).toMatchObject([
      { choices: [{ delta: { tool_calls: [{ function: { name: "autodev_submit_result" } }] } }] },
      { choices: [{ finish_reason: "tool_calls" }] },
      { usage: { prompt_tokens: 1000 } },
      "[DONE]",
    ]);
  });
});

describe("Gemini", () => {
  const tools = [
    {
      functionDeclarations: [
        { name: "write_file", parametersJsonSchema: schema("file_path", "content") },
      ],
    },
  ];
  const asked = { tools, contents: [{ role: "user", parts: [{ text: prompt }] }] };
  const work: Script = [{ write: { path: "a.txt", content: "a" } }, { say: "Done." }];

  it("calls a function, and goes on after its response", async () => {
    await start({ work });
    const path = "/v1beta/models/gemini-x:generateContent";
    expect(await (await post(path, asked)).json()).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { name: "write_file" } }] } }],
    });
    const result = { role: "user", parts: [{ functionResponse: { response: { output: "ok" } } }] };
    const body = { ...asked, contents: [...asked.contents, result] };
    const [event] = await events(await post(path.replace(":g", ":streamG"), body));
    expect(event).toMatchObject({ candidates: [{ content: { parts: [{ text: "Done." }] } }] });
  });
});
