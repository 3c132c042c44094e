/**
 * `.autodev/config.yaml`: a project's settings, written by people. Looked at, never run; what is
 * wrong in it is told with its line. Loaded only by commands that write.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { fail, type Result, succeed } from "./core/failure.ts";
import { Settings } from "./core/settings.ts";

export const configPath = ".autodev/config.yaml";
const file = configPath;

export function readConfig(root: string): Result<Settings> {
  let text: string;
  try {
    text = fs.readFileSync(path.join(root, file), "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT" || code === "ENOTDIR") return succeed({});
    return fail("usage", `${file} cannot be read (${code})`, { file, hint: `chmod u+r ${file}` });
  }
  return parseConfig(text);
}

export function parseConfig(text: string): Result<Settings> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  const lineAt = (offset: number): number =>
    lines.linePos(Math.min(offset, Math.max(0, text.trimEnd().length - 1))).line;
  if (broken) {
    const [first = ""] = broken.message.split("\n");
    return wrong(lineAt(broken.pos[0]), `it is not YAML: ${first.replace(/ at line.*$/, "")}`);
  }
  let value: unknown;
  try {
    value = document.toJS() ?? {};
  } catch (error) {
    return wrong(1, error instanceof Error ? error.message : String(error));
  }
  const read = Settings.safeParse(value);
  if (read.success) return succeed(read.data);
  const [issue] = read.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const at = [...(issue?.path ?? []), ...unknown];
  return wrong(lineAt(offsetOf(document, at)), `${at.join(".") || "it"} ${wordsFor(issue)}`);
}

/** Of what is there, or of the nearest that is. */
function offsetOf(document: ReturnType<typeof parseDocument>, at: readonly PropertyKey[]): number {
  for (let length = at.length; length > 0; length--) {
    const node = document.getIn(at.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function wordsFor(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return "is not known";
  if (issue?.code === "invalid_type" && issue.input === undefined) return "is missing";
  return `is not right: ${issue?.message ?? "it is not understood"}`;
}

const wrong = (line: number, reason: string): ReturnType<typeof fail> =>
  fail("usage", `${file}:${line} cannot be used: ${reason}`, {
    file,
    line,
    hint: `mend line ${line} of ${file}`,
  });
