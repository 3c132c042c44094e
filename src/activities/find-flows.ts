/**
 * The flows that there are: ours, and the project's own in `.autodev/flows`, which win over ours of
 * the same name. They come with the repository and may be a stranger's: nothing outside it is read,
 * nothing large, nothing that is no file.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Flow } from "../core/flow/flow.ts";
import { type FlowFinding, faultsOf } from "../core/flow/flow-file.ts";
import { builtInFlows } from "../core/flow/flows/index.ts";
import { type FlowDocument, parseFlow } from "../formats/flow-file.ts";
import { contains } from "../trust.ts";
import { utf8Text } from "./plan-files.ts";

export const flowsFolder = ".autodev/flows";

/** A flow of a hundred steps has 30 KB. */
const largest = 128 * 1024;
const mostFiles = 100;

export interface FoundFlow {
  readonly flow: Flow;
  /** A path, as it is shown, or: it is one of ours. */
  readonly from: "built-in" | (string & {});
}

export interface FlowExamination {
  /** All that can be followed, ours first. */
  readonly flows: readonly FoundFlow[];
  /** Files that were looked at. */
  readonly files: readonly string[];
  readonly findings: readonly FlowFinding[];
}

/** For whoever follows one: all of them are sound, or it is said which is not. */
export function findFlows(root: string): Result<readonly FoundFlow[]> {
  const { flows, findings } = examineFlows(root);
  const [first, ...others] = findings;
  if (!first) return succeed(flows);
  const { file, line, message } = first;
  const more = others.length === 0 ? "" : `; autodev flow check shows ${others.length} more`;
  const rest = { file, line, hint: `${first.hint}${more}` };
  const words = `${file}:${line}: ${message}`;
  switch (first.code) {
    case "flow-invalid":
      return fail("flow-invalid", words, rest);
    case "flow-unreadable":
      return fail("flow-unreadable", words, rest);
    case "flow-twice":
      return fail("flow-twice", words, rest);
  }
}

/** The project's own, each with everything that is wrong with it. */
export function examineFlows(root: string): FlowExamination {
  const names = namesIn(root);
  if (!Array.isArray(names)) return { flows: ours, files: [], findings: [names] };
  if (names.length === 0) return { flows: ours, files: [], findings: [] };
  if (names.length > mostFiles) {
    const [most, found] = [`at most ${mostFiles} flows`, String(names.length)];
    const tooMany = unreadable(flowsFolder, most, found, "remove those that nobody follows");
    return { flows: ours, files: [], findings: [tooMany] };
  }
  const files = names.map((name) => `${flowsFolder}/${name}`);
  const read = files.map((file) => readWithin(root, file));
  return examined(read, files);
}

/** Files that somebody names, wherever they lie, seen beside the project's own. */
export function examineFlowFiles(
  root: string,
  cwd: string,
  given: readonly string[],
): Result<FlowExamination> {
  const among = examineFlows(root);
  const folder = path.join(root, flowsFolder);
  const results: FlowExamination[] = [];
  for (const file of given) {
    const where = path.resolve(cwd, file);
    if (!fs.existsSync(where))
      return fail("not-found", `there is no ${file}`, {
        file,
        hint: `name a flow's file; those of the project are in ${flowsFolder}`,
      });
    const own = path.dirname(where) === folder ? `${flowsFolder}/${path.basename(where)}` : "";
    if (among.files.includes(own)) {
      const findings = among.findings.filter((each) => each.file === own);
      results.push({ ...among, files: [own], findings });
    } else {
      const others = among.flows.filter(({ from }) => from !== "built-in");
      results.push(examined([readFlowFile(where, file)], [file], others));
    }
  }
  return succeed({
    flows: results.at(-1)?.flows ?? among.flows,
    files: results.flatMap((each) => each.files),
    findings: results.flatMap((each) => each.findings),
  });
}

const ours: readonly FoundFlow[] = builtInFlows.map((flow) => ({ flow, from: "built-in" }));

/** The one look that it takes where there are none. */
function namesIn(root: string): string[] | FlowFinding {
  try {
    return fs
      .readdirSync(path.join(root, flowsFolder))
      .filter((name) => /^[^.].*\.ya?ml$/i.test(name))
      .sort();
  } catch (error) {
    const reason = reasonOf(error);
    return reason === "ENOENT" || reason === "ENOTDIR" ? [] : unopened(flowsFolder, error);
  }
}

// ── together ───────────────────────────────────────────────────────────────────────────────────

type Read = FlowDocument | FlowFinding;

/** `others`: flows that are there besides, and are not looked at. */
function examined(
  read: readonly Read[],
  files: readonly string[],
  others: readonly FoundFlow[] = [],
): FlowExamination {
  const findings: FlowFinding[] = [];
  const own = new Map<string, FlowDocument & { flow: Flow }>();
  for (const each of read) {
    if ("code" in each) {
      findings.push(each);
      continue;
    }
    findings.push(...each.findings);
    const { flow } = each;
    if (!flow) continue;
    const before = own.get(flow.name);
    if (before) findings.push(twice(each, before.file, flow.name));
    else own.set(flow.name, { ...each, flow });
  }
  const theirs = [...own.values()].map(({ flow, file }): FoundFlow => ({ flow, from: file }));
  const flows = merged([...others.filter(({ flow }) => !own.has(flow.name)), ...theirs]);
  const all = flows.map(({ flow }) => flow);
  for (const document of own.values())
    findings.push(...faultsOf(document.flow, all).map((fault) => document.placed(fault)));
  findings.push(...missedBy(flows, own));
  const bad = new Set(findings.map(({ file }) => file));
  return { flows: flows.filter(({ from }) => !bad.has(from)), files, findings };
}

/** Ours in their order, each replaced by one of the same name; then those that are new. */
function merged(own: readonly FoundFlow[]): FoundFlow[] {
  const named = (name: string): FoundFlow | undefined => own.find(({ flow }) => flow.name === name);
  const isOurs = ({ flow }: FoundFlow): boolean =>
    builtInFlows.some(({ name }) => name === flow.name);
  return [
    ...ours.map((each) => named(each.flow.name) ?? each),
    ...own.filter((each) => !isOurs(each)).sort((a, b) => (a.flow.name < b.flow.name ? -1 : 1)),
  ];
}

/** One of ours goes on at a step that the flow which replaced its target does not have. */
function missedBy(
  flows: readonly FoundFlow[],
  own: ReadonlyMap<string, FlowDocument & { flow: Flow }>,
): FlowFinding[] {
  return flows.flatMap(({ flow, from }) => {
    const { onward } = flow;
    const target = onward && own.get(onward.flow);
    if (from !== "built-in" || !target) return [];
    if (target.flow.steps.some(({ step }) => step === onward.step)) return [];
    return [
      target.placed({
        path: ["steps"],
        expected: `a step ${onward.step}, at which ${flow.name} goes on`,
        found: target.flow.steps.map(({ step }) => step).join(", "),
        wayOut: `add a step ${onward.step}, give the flow another name, or replace ${flow.name} too`,
      }),
    ];
  });
}

const twice = (document: FlowDocument, before: string, name: string): FlowFinding => ({
  ...document.placed({
    path: ["name"],
    expected: "a name of its own",
    found: `${name}, as in ${before}`,
    wayOut: `remove one of ${before} and ${document.file}, or rename its flow`,
  }),
  code: "flow-twice",
});

// ── one file ───────────────────────────────────────────────────────────────────────────────────

function readWithin(root: string, file: string): Read {
  const where = path.join(root, file);
  try {
    if (!contains(fs.realpathSync(root), fs.realpathSync(where)))
      return unreadable(
        file,
        "a file of this repository",
        "a link that leads out of it",
        `put the file itself at ${file}`,
      );
  } catch (error) {
    return unopened(file, error);
  }
  return readFlowFile(where, file);
}

/** `file`: how it is called in messages. */
function readFlowFile(where: string, file: string): Read {
  let bytes: Buffer;
  try {
    // A pipe without a writer must not make us wait.
    const fd = fs.openSync(where, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      if (!stat.isFile())
        return unreadable(file, "a file", "something else", "remove it, or put the flow there");
      if (stat.size > largest)
        return unreadable(
          file,
          `at most ${largest / 1024} KB`,
          `${Math.ceil(stat.size / 1024)} KB`,
          "remove it if it is no flow",
        );
      bytes = fs.readFileSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    return unopened(file, error);
  }
  const text = utf8Text(bytes);
  if (text === undefined || text.includes("\u0000"))
    return unreadable(file, "text in UTF-8", "other bytes", "save the file as UTF-8");
  return parseFlow(text.replace(/^\uFEFF/, ""), file);
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

const unopened = (file: string, error: unknown): FlowFinding =>
  unreadable(
    file,
    "a file that can be read",
    reasonOf(error),
    "mend its permissions, or the link that leads to it",
  );

const unreadable = (file: string, expected: string, found: string, hint: string): FlowFinding => ({
  code: "flow-unreadable",
  message: `expected ${expected}, found ${found}`,
  file,
  line: 1,
  field: "",
  expected,
  found,
  hint,
});
