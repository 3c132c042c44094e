/**
 * Which of the tools that an agent offers does what a script asks for, and how it wants to be
 * called. Tools are told by their names; what they take, by their schemas.
 */
import type { Conversation, ObjectSchema, OfferedTool, ToolCall } from "./protocols/protocol.ts";

type Call = Omit<ToolCall, "id">;

/** By preference. */
const writers = ["Write", "write_file", "write", "developer__write", "create"];
const shells = [
  "Bash",
  "bash",
  "exec_command",
  "shell_command",
  "run_shell_command",
  "shell",
  "developer__shell",
];
/** What Claude adds for --json-schema, and Qwen. */
const resultTools = ["StructuredOutput", "structured_output"];
/** Our own tool for agents that have none, and the server that has it. */
const [submitTool, submitServer] = ["submit_result", "autodev"];

export function callWrite(
  file: { readonly path: string; readonly content: string },
  { tools, cwd }: Conversation,
): Call {
  const patch = tools.find(({ name, schema }) => name === "apply_patch" && !schema);
  if (patch) {
    const lines = file.content.replace(/\n$/, "").split("\n");
    const added = lines.map((line) => `+${line}`).join("\n");
    return {
      name: patch.name,
      input: `*** Begin Patch\n*** Add File: ${file.path}\n${added}\n*** End Patch\n`,
    };
  }
  const tool = offered(tools, writers);
  const path = file.path.startsWith("/") ? file.path : [cwd, file.path].filter(Boolean).join("/");
  return {
    name: tool.name,
    input: filled(tool.schema, [
      [/path/i, path],
      [/content|text/i, file.content],
    ]),
  };
}

export function callBash(command: string, { tools }: Conversation): Call {
  const tool = offered(tools, shells);
  return { name: tool.name, input: filled(tool.schema, [[/^(?:command|cmd)$/, command]]) };
}

export function callMcp(
  { server, tool, args }: { readonly server: string; readonly tool: string; readonly args: object },
  { tools, namespaced }: Conversation,
): Call {
  const input = { ...args };
  const known = tools.find(
    ({ name, namespace = "" }) => name.endsWith(tool) && `${namespace}${name}`.includes(server),
  );
  if (known) {
    return { name: known.name, input, ...(known.namespace && { namespace: known.namespace }) };
  }
  // Some agents show the tools of servers only to who searches for them; they answer all the same.
  return namespaced
    ? { name: tool, namespace: `mcp__${server}`, input }
    : { name: `mcp__${server}__${tool}`, input };
}

export function callSubmit(json: object, server: string | undefined, to: Conversation): Call {
  const own = to.tools.find(({ name }) => resultTools.includes(name));
  if (own) return { name: own.name, input: { ...json } };
  return callMcp({ server: server ?? submitServer, tool: submitTool, args: json }, to);
}

function offered(tools: readonly OfferedTool[], names: readonly string[]): OfferedTool {
  const found = names.flatMap((name) => tools.filter((tool) => tool.name === name))[0];
  if (found) return found;
  const all = tools.map(({ name }) => name).join(", ");
  throw new Error(`none of ${names.join(", ")} is offered, only: ${all}`);
}

/** The named values under the names that the schema has for them; whatever else it requires. */
function filled(
  schema: ObjectSchema | undefined,
  values: readonly (readonly [RegExp, string])[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const properties = Object.keys(schema?.properties ?? {});
  const isRequired = (name: string): boolean => schema?.required?.includes(name) === true;
  for (const [pattern, value] of values) {
    const fitting = properties.filter((name) => pattern.test(name) && !(name in input));
    const name = fitting.find(isRequired) ?? fitting[0];
    if (name !== undefined) input[name] = value;
  }
  for (const name of properties.filter(
    (property) => isRequired(property) && !(property in input),
  )) {
    input[name] = schema?.properties?.[name]?.type === "boolean" ? false : "scripted";
  }
  return input;
}
