/**
 * The settings that people write: a project's in `.autodev/config.yaml`, and a person's own for all
 * projects in their configuration folder. Looked at, never run; what is wrong in them is told with
 * its line. Loaded only by commands that write.
 *
 * The project's word goes before the user's, except about `notify.command`: who runs what on a
 * person's machine to reach that person is theirs to say. So the user's command stands apart here,
 * and `notify.command` among the settings is always the repository's, which has to be trusted.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { fail, type Result, succeed } from "./core/failure.ts";
import { mergedSettings, Settings, UserSettings } from "./core/settings.ts";
import type { OwnProgram } from "./exec.ts";
import { readSmallFile } from "./stack/small-file.ts";
import { contains, userFolder } from "./trust.ts";

export const configPath = ".autodev/config.yaml";

export interface Config extends Settings {
  /** The user's own `notify.command`. */
  readonly ownNotify?: OwnProgram;
  /** Why the user's own is not run. */
  readonly ownNotifyRefused?: string;
}

export function readConfig(root: string, env: NodeJS.ProcessEnv = process.env): Result<Config> {
  const project = readSettings(path.join(root, configPath), configPath, Settings);
  if (!project.ok) return project;
  const file = path.join(userFolder(env), "config.yaml");
  const user = readSettings(file, file, UserSettings);
  if (!user.ok) return user;
  const { notify, ...rest } = user.value;
  const { command, ...others } = notify ?? {};
  const settings = mergedSettings({ ...rest, ...(notify && { notify: others }) }, project.value);
  if (command === undefined) return succeed(settings);
  const refused = notTheUsers(file, root);
  return succeed({
    ...settings,
    ...(refused === undefined
      ? { ownNotify: { program: "sh", args: ["-c", command, "autodev"] } }
      : { ownNotifyRefused: `${file}: its notify.command is not run: ${refused}` }),
  });
}

/** What others can write is not the user's word: a repository, a folder that is open to all. */
function notTheUsers(file: string, root: string): string | undefined {
  try {
    const real = fs.realpathSync(file);
    if (contains(fs.realpathSync(root), path.dirname(real))) return "it lies inside the repository";
    const { uid, mode } = fs.statSync(real);
    const us = process.getuid?.();
    if (us === undefined) return undefined;
    if (uid !== us && uid !== 0) return `it belongs to user ${uid}, not to you (${us})`;
    return (mode & 0o002) === 0 ? undefined : "everybody may write it";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `shown`: how it is called in messages. */
function readSettings<T>(file: string, shown: string, shape: z.ZodType<T>): Result<T> {
  let text: ReturnType<typeof readSmallFile>;
  try {
    text = readSmallFile(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT" || code === "ENOTDIR") return succeed(shape.parse({}));
    return fail("usage", `${shown} cannot be read (${code})`, {
      file: shown,
      hint: `chmod u+r ${shown}`,
    });
  }
  if (typeof text === "string") return parseSettings(text, shown, shape);
  return fail("usage", `${shown} cannot be used: ${text.why}`, {
    file: shown,
    hint: `remove ${shown}, or write a file there`,
  });
}

export const parseConfig = (text: string): Result<Settings> =>
  parseSettings(text, configPath, Settings);

function parseSettings<T>(text: string, file: string, shape: z.ZodType<T>): Result<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  const lineAt = (offset: number): number =>
    lines.linePos(Math.min(offset, Math.max(0, text.trimEnd().length - 1))).line;
  const wrong = (line: number, reason: string): ReturnType<typeof fail> =>
    fail("usage", `${file}:${line} cannot be used: ${reason}`, {
      file,
      line,
      hint: `mend line ${line} of ${file}`,
    });
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
  const read = shape.safeParse(value);
  if (read.success) return succeed(read.data);
  const [issue] = read.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const at = [...(issue?.path ?? []), ...unknown];
  return wrong(lineAt(offsetOf(document, at)), `${at.join(".") || "it"} ${wordsFor(issue, file)}`);
}

/** Of what is there, or of the nearest that is. */
function offsetOf(document: ReturnType<typeof parseDocument>, at: readonly PropertyKey[]): number {
  for (let length = at.length; length > 0; length--) {
    const node = document.getIn(at.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function wordsFor(issue: z.core.$ZodIssue | undefined, file: string): string {
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const projects = file !== configPath && issue.path.length === 0 && key in Settings.shape;
    return projects ? `belongs in a project's ${configPath}` : "is not known";
  }
  if (issue?.code === "invalid_type" && issue.input === undefined) return "is missing";
  return `is not right: ${issue?.message ?? "it is not understood"}`;
}
