/**
 * `.autodev/config.yaml`: a project's settings, written by people. Looked at, never run; what is
 * wrong in it is told with its line. Loaded only by commands that write.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { fail, type Result, succeed } from "./core/failure.ts";
import type { Sections } from "./core/flow/state.ts";

export interface Config {
  readonly sections: Sections;
}

const file = ".autodev/config.yaml";
const standard: Config = { sections: "pointer" };

export function readConfig(root: string): Result<Config> {
  let text: string;
  try {
    text = fs.readFileSync(path.join(root, file), "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT" || code === "ENOTDIR") return succeed(standard);
    return fail("usage", `${file} cannot be read (${code})`, { file, hint: `chmod u+r ${file}` });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken) {
    return wrong(lines.linePos(broken.pos[0]).line, `it is not YAML: ${broken.code}`);
  }
  const value = document.getIn(["state", "sections"], true);
  if (value === undefined || value === null) return succeed(standard);
  const line = isScalar(value) || isMap(value) ? lines.linePos(value.range?.[0] ?? 0).line : 1;
  const sections = isScalar(value) ? value.value : undefined;
  if (sections === "pointer" || sections === "full") return succeed({ sections });
  return wrong(
    line,
    `state.sections is "${String(sections)}", but only pointer and full are known`,
  );
}

const wrong = (line: number, reason: string): ReturnType<typeof fail> =>
  fail("usage", `${file}:${line} cannot be used: ${reason}`, {
    file,
    line,
    hint: `mend line ${line} of ${file}`,
  });
