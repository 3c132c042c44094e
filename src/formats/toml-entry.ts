/**
 * One table of ours in somebody's TOML: a block between marks at the end of the file, where a table
 * may always begin. What the file says is read, so that nothing is taken for a table that only looks
 * like one, and an entry is found however it is written.
 */
import { fail, succeed } from "../core/failure.ts";
import { findBlock, planBlock } from "../core/host/block.ts";
import { lineAt, type PlanFile, same } from "../core/host/outcome.ts";
import type { BlockWanted, EntryWanted } from "../core/host/wanted.ts";
import { applyEdits } from "../core/plan/edits.ts";
import { type Toml, tomlOr } from "../core/toml.ts";

export const planTomlEntry: PlanFile<EntryWanted> = (wanted, found, intent) => {
  const { file, text } = found;
  const block = asBlock(wanted);
  if (text === undefined) return planBlock(block, found, intent);
  const read = tomlOr(text);
  if ("line" in read) {
    const { line } = read;
    const hint = "mend the line; then autodev init";
    return fail("host-file-invalid", `${file}:${line}: this is no TOML`, { file, line, hint });
  }
  const marked = findBlock(text, "#", file);
  if (!marked.ok) return marked;
  const entry = entryIn(read.table, wanted.path);
  const name = wanted.path.join(".");
  if (entry !== undefined && !marked.value) {
    if (intent.do === "take" || serves(entry, wanted)) return succeed(same);
    const line = lineOf(text, wanted.path);
    return succeed({
      is: "left",
      line,
      why: `there is another ${name}`,
      hint: `remove it from ${file}, line ${line}, and run the same command again`,
    });
  }
  const planned = planBlock(block, found, intent);
  if (!planned.ok || planned.value.is !== "edit" || intent.do === "take") return planned;
  const after = tomlOr(applyEdits(text, planned.value.edits));
  if ("table" in after && serves(entryIn(after.table, wanted.path), wanted)) return planned;
  // Written as one value, `mcp_servers = { … }`: a table of its own may not add to it.
  return succeed({
    is: "left",
    line: lineOf(text, wanted.path),
    why: `${wanted.path[0]} is one value, to which nothing can be added from outside`,
    hint: `add to it: ${wanted.path[1]} = ${inline(wanted)}`,
  });
};

const asBlock = ({ path, entry }: EntryWanted): BlockWanted => ({
  is: "block",
  comment: "#",
  body: [
    `[${path.join(".")}]`,
    ...Object.entries(entry).map(([key, value]) => `${key} = ${valueText(value)}`),
    "",
  ].join("\n"),
});

const inline = ({ entry }: EntryWanted): string =>
  `{ ${Object.entries(entry)
    .map(([key, value]) => `${key} = ${valueText(value)}`)
    .join(", ")} }`;

/** Of strings and lists of them TOML and JSON have the same notion. */
const valueText = (value: unknown): string => JSON.stringify(value).replaceAll(",", ", ");

function entryIn(table: Toml, path: readonly string[]): Toml | undefined {
  let at: Toml | undefined = table;
  for (const key of path) {
    if (typeof at !== "object" || Array.isArray(at)) return undefined;
    at = (at as { readonly [key: string]: Toml })[key];
  }
  return at;
}

/** It starts what ours starts, whatever else it says. */
const serves = (entry: Toml | undefined, wanted: EntryWanted): boolean =>
  typeof entry === "object" &&
  Object.entries(wanted.entry).every(
    ([key, value]) => JSON.stringify(entry[key as never]) === JSON.stringify(value),
  ) &&
  entry["enabled" as never] !== "false";

/** The first that looks like it; what it says has been read already. */
function lineOf(text: string, [outer, inner]: readonly [string, string]): number {
  const begin = "^[ \\t]*(?:\\[[ \\t]*)?[\"']?";
  const at = new RegExp(`${begin}(?:${outer}\\b.*)?\\b${inner}\\b`, "mu").exec(text);
  const holder = new RegExp(`${begin}${outer}\\b`, "mu").exec(text);
  return lineAt(text, (at ?? holder)?.index ?? 0);
}
