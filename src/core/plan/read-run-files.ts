/**
 * Reading what other hands have written into `.autobuild`: people, other tools, a merge, a disk
 * that filled up. Nothing here throws and nothing is guessed: a file is read as a whole, or every
 * problem is named with its line, the field, what was expected and what was found.
 *
 * `JSON.parse` would keep the last of two equal keys without a word and tells no lines, so the
 * text is walked here first; only what has been walked to its end is given to `JSON.parse`.
 */
import type { z } from "zod";
import { type Failure, fail, type Result, succeed } from "../failure.ts";
import type { Node } from "./graph.ts";
import { normaliseId } from "./ids.ts";
import { PhaseFile, RunConfigFile } from "./phase-file.ts";

interface Problem {
  readonly line: number;
  /** In the words of the format's own description: “Missing required field 'status'”. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export const readPhaseFile = (text: string, file: string): Result<PhaseFile> =>
  read(PhaseFile, text, file);

export const readRunConfig = (text: string, file: string): Result<RunConfigFile> =>
  read(RunConfigFile, text, file);

function read<T>(schema: z.ZodType<T>, withMark: string, file: string): Result<T> {
  const text = withMark.startsWith("\uFEFF") ? withMark.slice(1) : withMark;
  const walked = walk(text);
  if ("broken" in walked) return invalid(file, [walked.broken]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Not reached as long as `walk` is right; if it isn't, a file of theirs must not bring us down.
    const found = error instanceof Error ? error.message : String(error);
    return invalid(file, [{ line: 1, what: "Not JSON", expected: "JSON", found }]);
  }
  const checked = schema.safeParse(value);
  const wrong = checked.success ? [] : checked.error.issues.map((issue) => told(issue, walked));
  const problems = [...walked.twice, ...wrong].sort((a, b) => a.line - b.line);
  if (checked.success && problems.length === 0) return succeed(checked.data);
  return invalid(file, problems);
}

function invalid(
  file: string,
  problems: readonly Problem[],
): { readonly ok: false; readonly failure: Failure } {
  const [first] = problems;
  const line = first?.line ?? 1;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const said = first ? `${first.what}: expected ${first.expected}, found ${first.found}` : "";
  return fail("run-file-invalid", `${file}:${line}: ${said}${more}`, {
    file,
    line,
    hint: "correct that line, or set the file aside and let the phase run again",
    details: [
      "STATE FILE VALIDATION FAILED",
      "============================",
      "",
      `File: ${file}`,
      ...problems.map(
        (each) =>
          `Error: ${each.what} (line ${each.line}: expected ${each.expected}, found ${each.found})`,
      ),
    ],
  });
}

// ---- what a schema says, in words and with a line

type Issue = z.core.$ZodIssue;

function told(issue: Issue, walked: Walked): Problem {
  const path = issue.path.map(String);
  const place = walked.places.get(pathKey(path));
  const field = excerpt(path.join("."));
  const expected = expectation(issue);
  if (place) {
    return {
      line: walked.lineAt(place.from),
      what: path.length === 0 ? "Not an object" : `Wrong value in field '${field}'`,
      expected,
      found: excerpt(walked.text.slice(place.from, Math.min(place.to, place.from + 80))),
    };
  }
  const parent = walked.places.get(pathKey(path.slice(0, -1)));
  return {
    line: walked.lineAt(parent?.from ?? 0),
    what: `Missing required field '${field}'`,
    expected,
    found: "nothing",
  };
}

const typeWords: Readonly<Record<string, string>> = {
  string: "a text in quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list […]",
  object: "an object {…}",
  record: "an object {…}",
};

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeWords[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? "a text that is not empty" : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

// ---- walking JSON

interface Walked {
  readonly text: string;
  /** Where each value stands, by its path. */
  readonly places: ReadonlyMap<string, { readonly from: number; readonly to: number }>;
  readonly twice: readonly Problem[];
  readonly lineAt: (offset: number) => number;
}

const pathKey = (path: readonly string[]): string => JSON.stringify(path);

/** Deeper than anything that these files hold; it keeps the walk from running out of stack. */
const deepest = 64;

/** How the walk is left from any depth; it never leaves `walk`. */
class Broken {
  readonly problem: Problem;
  constructor(problem: Problem) {
    this.problem = problem;
  }
}

function walk(text: string): Walked | { readonly broken: Problem } {
  const lineAt = lineCounter(text);
  const places = new Map<string, { from: number; to: number }>();
  const twice: Problem[] = [];
  let at = 0;
  try {
    lookForAccidents();
    value([], 0);
    space();
    if (at < text.length) throw broken("Not JSON", "the end of the file");
    return { text, places, twice, lineAt };
  } catch (error) {
    if (error instanceof Broken) return { broken: error.problem };
    throw error;
  }

  /** Two things that happen to files and that deserve words of their own. */
  function lookForAccidents(): void {
    if (text.trim() === "") {
      throw new Broken({ line: 1, what: "The file is empty", expected: "{", found: "nothing" });
    }
    // No string of JSON goes over the end of a line, so this is never somebody's text.
    const marker = /^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|$).*/m.exec(text);
    if (marker) {
      at = marker.index;
      throw broken("Unresolved merge conflict", "one version of the lines", excerpt(marker[0]));
    }
  }

  function value(path: readonly string[], depth: number): void {
    space();
    const from = at;
    if (depth > deepest) throw broken("Nested too deeply", `at most ${deepest} levels`, "more");
    const first = text[at];
    if (first === "{") object(path, depth);
    else if (first === "[") array(path, depth);
    else if (first === '"') string();
    else scalar();
    places.set(pathKey(path), { from, to: at });
  }

  function object(path: readonly string[], depth: number): void {
    const keys = new Map<string, number>();
    at++;
    space();
    if (text[at] === "}") {
      at++;
      return;
    }
    for (;;) {
      space();
      if (text[at] !== '"') throw broken("Not JSON", "a field's name in quotes");
      const from = at;
      const key = string();
      const earlier = keys.get(key);
      const field = [...path, key];
      if (earlier !== undefined) {
        twice.push({
          line: lineAt(from),
          what: `Field '${excerpt(field.join("."))}' is there twice`,
          expected: "it once",
          found: `it in line ${lineAt(earlier)} already`,
        });
      }
      keys.set(key, from);
      space();
      expect(":");
      value(field, depth + 1);
      space();
      if (text[at] === "}") break;
      expect(",", ", or }");
    }
    at++;
  }

  function array(path: readonly string[], depth: number): void {
    at++;
    space();
    if (text[at] === "]") {
      at++;
      return;
    }
    for (let index = 0; ; index++) {
      value([...path, String(index)], depth + 1);
      space();
      if (text[at] === "]") break;
      expect(",", ", or ]");
    }
    at++;
  }

  function string(): string {
    const from = at++;
    for (;;) {
      const char = text[at];
      if (char === undefined || char < " ") throw broken("Not JSON", 'a closing "');
      at++;
      if (char === '"') break;
      if (char === "\\") {
        const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
        escape.lastIndex = at;
        if (!escape.test(text)) throw broken("Not JSON", "a character that may follow \\");
        at = escape.lastIndex;
      }
    }
    return JSON.parse(text.slice(from, at)) as string;
  }

  function scalar(): void {
    const token = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
    token.lastIndex = at;
    if (!token.test(text)) throw broken("Not JSON", "a value");
    at = token.lastIndex;
  }

  function expect(char: string, words = char): void {
    if (text[at] !== char) throw broken("Not JSON", words);
    at++;
  }

  function space(): void {
    while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  }

  function broken(what: string, expected: string, found = foundHere()): Broken {
    const ended = at >= text.length;
    return new Broken({
      line: lineAt(ended ? text.trimEnd().length : at),
      what: ended ? "The file ends too early" : what,
      expected,
      found,
    });
  }

  function foundHere(): string {
    if (at >= text.length) return "the end of the file";
    const [token = ""] = /^[^\s,:{}[\]]+/.exec(text.slice(at, at + 40)) ?? [];
    return excerpt(token === "" ? (text[at] ?? "") : token);
  }
}

/** By halving: there may be many lines, and many values. */
function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

/** Somebody's text on one line of ours. */
function excerpt(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  if (line === "" && text !== "") return `the character U+${codeOf(text)}`;
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

const codeOf = (text: string): string =>
  (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

// ---- what the files say together

/** What cannot be true at once, a line each. */
export function inconsistencies(files: readonly PhaseFile[], plan: readonly Node[]): string[] {
  const found: string[] = [];
  const byId = new Map<string, PhaseFile>();
  for (const file of files) {
    const id = normaliseId(file.phase_id) || file.phase_id;
    if (byId.has(id)) found.push(`two files say that they are of phase ${id}`);
    else byId.set(id, file);
  }
  for (const { id, dependsOn } of plan) {
    const file = byId.get(id);
    if (!file) {
      found.push(`phase ${id} is in the plan, but has no file`);
      continue;
    }
    if (file.status !== "complete") continue;
    for (const need of new Set(dependsOn)) {
      const status = byId.get(need)?.status ?? "without a file";
      if (status !== "complete") {
        found.push(`phase ${id} is complete, but ${need}, which it depends on, is ${status}`);
      }
    }
    const skipped = file.skipped !== undefined && file.skipped !== null;
    if (!file.commit && !skipped) {
      found.push(`phase ${id} is complete, but its file has no record of a commit`);
    }
  }
  const planned = new Set(plan.map(({ id }) => id));
  for (const id of byId.keys()) {
    if (!planned.has(id)) found.push(`phase ${id} has a file, but is not in the plan`);
  }
  return found;
}
