/**
 * Reads a `SKILL.md`: front matter, then instructions.
 *
 * 1. A skill is called what its folder is called: that is how it is looked up.
 * 2. `phases` make it one of ours. Whatever is wrong in such a front matter is told with its line,
 *    for a contract that was half read would be kept by nobody.
 * 3. Without them it is another system's and works as it is, however its front matter is written:
 *    half of those that people have are no YAML (`description: Use this: when …`).
 * 4. What promises artifacts or asks people, and has forgotten its phases, is not another system's.
 */
import { isNode, LineCounter, parseDocument } from "yaml";
import { fail, type Result, succeed } from "../core/failure.ts";
import {
  type Artifact,
  type Skill,
  type SkillGate,
  SkillHead,
  type SkillPhase,
  skillOf,
} from "../core/flow/skill.ts";
import { nearest } from "../core/nearest.ts";

/** A skill in all its modes. */
export interface WrittenSkill {
  readonly head: SkillHead;
  readonly file: string;
  /** The instructions, without the front matter. */
  readonly text: string;
  /** Of the whole file. */
  readonly lines: number;
}

export function readSkill(text: string, file: string, mode?: string): Result<Skill> {
  const written = readWrittenSkill(text, file);
  return written.ok ? succeed(skillOf(written.value.head, { ...written.value, mode })) : written;
}

/** `file`: with forward slashes, as it is shown. */
export function readWrittenSkill(text: string, file: string): Result<WrittenSkill> {
  const parts = partsOf(text);
  const written = (head: SkillHead): Result<WrittenSkill> =>
    succeed({ head, file, text: parts.body, lines: text.trimEnd().split("\n").length });
  if (parts.front === undefined) {
    const meant = /^\s*---[ \t]*\r?\n[\s\S]*?^phases[ \t]*:/mu.test(text);
    return meant
      ? invalid(file, [{ line: 1, reason: "its front matter has no end: a line `---` is missing" }])
      : written(foreignHead({}, file));
  }
  const front = readFront(parts.front, parts.line);
  const { value } = front;
  if (value === undefined || front.broken) {
    return /^phases[ \t]*:/mu.test(parts.front)
      ? invalid(file, [front.broken ?? { line: parts.line, reason: "it is no map of keys" }])
      : written(foreignHead(wordsIn(parts.front), file));
  }
  if (!("phases" in value)) {
    const promise = ["produces", "gates"].find(
      (key) =>
        key in value && SkillHead.shape[key as "produces" | "gates"].safeParse(value[key]).success,
    );
    if (promise === undefined) return written(foreignHead(value, file));
    const reason = `it has ${promise} and no phases: a list of { name, reads, break }, in their order`;
    return invalid(file, [{ line: front.lineOf([promise]), reason }]);
  }
  const read = SkillHead.safeParse(value);
  if (!read.success) {
    return invalid(
      file,
      read.error.issues.map((issue) => {
        const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
        const at = [...issue.path, ...unknown];
        return {
          line: front.lineOf(at),
          reason: `${at.join(".") || "it"} ${wordsFor(issue, front.has(at))}`,
        };
      }),
    );
  }
  const faults = faultsOf(read.data, file);
  if (faults.length === 0) return written(read.data);
  return invalid(
    file,
    faults.map(({ at, reason }) => ({
      line: front.lineOf(at),
      reason: `${at.join(".")} ${reason}`,
    })),
  );
}

/** Of `…/plan/SKILL.md`: plan. */
const folderOf = (file: string): string => file.split("/").at(-2) ?? file;

interface Wrong {
  readonly line: number;
  readonly reason: string;
}

const mostTold = 6;

/** All that is wrong is told at once: whoever mends it would come back for each. */
function invalid(file: string, wrong: readonly Wrong[]): ReturnType<typeof fail> {
  const [{ line, reason } = { line: 1, reason: "it is not understood" }, ...more] = wrong;
  return fail("skill-invalid", `${file}:${line} cannot be used: ${reason}`, {
    file,
    line,
    hint: `mend line ${line} of ${file}; autodev help skill-invalid says what a skill looks like`,
    ...(more.length > 0 && {
      details: more.slice(0, mostTold).map((each) => `${file}:${each.line}: ${each.reason}`),
    }),
  });
}

// ── the two parts ──────────────────────────────────────────────────────────────────────────────

/** `line`: where the front matter's first line is. */
function partsOf(text: string): { front?: string; body: string; line: number } {
  const match =
    /^(\uFEFF?\s*---[ \t]*\r?\n)(?:([\s\S]*?)\r?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/u.exec(text);
  if (!match) return { body: text.replace(/^\uFEFF/u, ""), line: 1 };
  const [all, opening = "", front = ""] = match;
  return { front, body: text.slice(all.length), line: opening.split("\n").length };
}

interface Front {
  /** Undefined: it is no map. */
  readonly value?: Readonly<Record<string, unknown>>;
  readonly broken?: Wrong;
  readonly has: (at: readonly PropertyKey[]) => boolean;
  readonly lineOf: (at: readonly PropertyKey[]) => number;
}

function readFront(text: string, firstLine: number): Front {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, logLevel: "silent" });
  const end = Math.max(0, text.trimEnd().length - 1);
  const lineAt = (offset: number): number =>
    counter.linePos(Math.min(offset, end)).line + firstLine - 1;
  /** Of what is there, or of the nearest that is. */
  const lineOf = (at: readonly PropertyKey[]): number => {
    for (let length = at.length; length > 0; length--) {
      const node = document.getIn(at.slice(0, length), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return firstLine;
  };
  const has = (at: readonly PropertyKey[]): boolean => document.hasIn(at);
  const [error] = document.errors;
  if (error) {
    const [first = ""] = error.message.split("\n");
    const reason = `it is not YAML: ${first.replace(/ at line.*$/u, "")}`;
    return { broken: { line: lineAt(error.pos[0]), reason }, has, lineOf };
  }
  try {
    // Aliases that would grow beyond measure are refused here, by throwing.
    const value: unknown = document.toJS() ?? {};
    const isMap = typeof value === "object" && !Array.isArray(value);
    return { ...(isMap && { value: value as Record<string, unknown> }), has, lineOf };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { broken: { line: firstLine, reason }, has, lineOf };
  }
}

// ── another system's ───────────────────────────────────────────────────────────────────────────

/** Without a contract: keys of the same name mean something else there. */
function foreignHead(front: Readonly<Record<string, unknown>>, file: string): SkillHead {
  const { description } = front;
  const name = folderOf(file);
  const words = typeof description === "string" ? description.trim().slice(0, 1024) : "";
  return {
    name,
    description: words || `the skill ${name}`,
    needs: [],
    produces: [],
    gates: [],
    modes: {},
  };
}

/** What can be told of a front matter that is no YAML. */
function wordsIn(front: string): Readonly<Record<string, unknown>> {
  const [, description] = /^description[ \t]*:[ \t]*([^\r\n]+)/mu.exec(front) ?? [];
  return { description: description?.trim().replace(/^(["'])(.*)\1$/u, "$2") };
}

// ── ours ───────────────────────────────────────────────────────────────────────────────────────

interface Fault {
  readonly at: readonly (string | number)[];
  readonly reason: string;
}

/** What a schema cannot say. */
function faultsOf(head: SkillHead, file: string): Fault[] {
  const faults: Fault[] = [];
  const folder = folderOf(file);
  if (head.name !== folder) {
    faults.push({ at: ["name"], reason: `has to be ${folder}, as its folder is called` });
  }
  const ways = [
    { at: [] as string[], way: head },
    ...Object.entries(head.modes).map(([mode, way]) => ({ at: ["modes", mode], way })),
  ];
  for (const { at, way } of ways) {
    const phases = way.phases ?? head.phases ?? [];
    faults.push(...(way.phases ?? []).flatMap((_, nth) => phaseFaults(phases, nth, at)));
    for (const [nth, need] of (way.needs ?? []).entries()) {
      faults.push(...pathFaults(need, [...at, "needs", nth]));
    }
    for (const [nth, artifact] of (way.produces ?? []).entries()) {
      const here = [...at, "produces", nth];
      faults.push(...pathFaults(artifact.path, [...here, "path"]));
      if (artifact.mentions !== undefined)
        faults.push(...pathFaults(artifact.mentions, [...here, "mentions"]));
      if (artifact.says !== undefined && !isExpression(artifact.says))
        faults.push({ at: [...here, "says"], reason: "is no regular expression" });
      if (artifact.in !== undefined) faults.push(...inFaults(artifact, [...here, "in"]));
    }
    // A mode with phases of its own and the skill's gates has to have the phases that they follow.
    const gates = way.gates ?? (way.phases ? head.gates : []);
    faults.push(...gates.flatMap((gate, nth) => gateFaults(gate, phases, [...at, "gates", nth])));
  }
  return faults;
}

const reserved = ["awaiting-invocation", "awaiting-human-review"];

function phaseFaults(
  phases: readonly SkillPhase[],
  nth: number,
  at: readonly (string | number)[],
): Fault[] {
  const phase = phases[nth];
  if (!phase) return [];
  const here = [...at, "phases", nth];
  const before = phases.findIndex(({ name }) => name === phase.name);
  return [
    ...(before < nth
      ? [{ at: [...here, "name"], reason: `is taken: phase ${before + 1} is called ${phase.name}` }]
      : []),
    ...(reserved.includes(phase.name)
      ? [{ at: [...here, "name"], reason: `${phase.name} is what is said before any phase` }]
      : []),
    ...phase.reads.flatMap((path, each) => pathFaults(path, [...here, "reads", each])),
  ];
}

function gateFaults(
  gate: SkillGate,
  phases: readonly SkillPhase[],
  at: readonly (string | number)[],
): Fault[] {
  const names = phases.map(({ name }) => name);
  const options = ["A", "B", "C", "D"].slice(0, gate.options.length);
  return [
    ...(names.includes(gate.after)
      ? []
      : [{ at: [...at, "after"], reason: `${gate.after} is no phase: ${names.join(", ")}` }]),
    ...(options.includes(gate.recommendation)
      ? []
      : [{ at: [...at, "recommendation"], reason: `has to be one of ${options.join(", ")}` }]),
  ];
}

const inFaults = (
  { in: column = "", columns, mentions }: Artifact,
  at: readonly (string | number)[],
): Fault[] =>
  mentions !== undefined && columns.includes(column)
    ? []
    : [{ at, reason: "is one of its columns, and says where it mentions files" }];

const pathFaults = (path: string, at: readonly (string | number)[]): Fault[] =>
  /^[^/\\][^\\]*$/u.test(path) && !path.split("/").includes("..") && !path.startsWith("_docs/")
    ? []
    : [{ at, reason: "is a path relative to _docs/, with forward slashes, and stays below it" }];

function isExpression(text: string): boolean {
  try {
    return new RegExp(text, "i") instanceof RegExp;
  } catch {
    return false;
  }
}

const keys =
  "name description phases needs produces gates modes reads break path least optional sections columns fields says mentions in writes reports after question options recommendation reason".split(
    " ",
  );

type Issue = NonNullable<ReturnType<typeof SkillHead.safeParse>["error"]>["issues"][number];

function wordsFor(issue: Issue, isThere: boolean): string {
  if (issue.code === "unrecognized_keys") {
    const [near] = nearest(issue.keys[0] ?? "", keys);
    return near === undefined ? "is not known here" : `is not known here: did you mean ${near}?`;
  }
  if (!isThere) return "is missing";
  return `is not right: ${issue.message}`;
}
