/**
 * A flow that people wrote, from YAML. Whatever is wrong with it is told with its line: what should
 * stand there, what does, and what to do. It may be a stranger's: what YAML can hide in a few lines
 * (a value that holds itself, or a billion of them) is refused before it is looked into.
 *
 * Numbers are read as they are written: step 3.10 is not step 3.1.
 */
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  type Scalar,
} from "yaml";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Flow } from "../core/flow/flow.ts";
import { type FlowFault, type FlowFinding, flowFrom } from "../core/flow/flow-file.ts";

export interface FlowDocument {
  readonly file: string;
  /** Undefined: the findings say why. */
  readonly flow: Flow | undefined;
  readonly findings: readonly FlowFinding[];
  /** A fault that was found later, when it was seen beside other flows. */
  placed(fault: FlowFault): FlowFinding;
}

export function readFlow(text: string, file: string): Result<Flow> {
  const { flow, findings } = parseFlow(text, file);
  const [first] = findings;
  if (flow || !first) return succeed(flow as Flow);
  const { line, message, hint } = first;
  return fail("flow-invalid", `${file}:${line}: ${message}`, { file, line, hint });
}

/** Far more than any flow has, and checked in no time. */
const deepest = 50;
const mostNodes = 20_000;

type Document = ReturnType<typeof parseDocument>;

export function parseFlow(text: string, file: string): FlowDocument {
  const lines = new LineCounter();
  const lineAt = (offset: number): number =>
    lines.linePos(Math.min(offset, Math.max(0, text.trimEnd().length - 1))).line;
  const broken = (offset: number, fault: Omit<FlowFault, "path">): FlowDocument => {
    const placed = (each: FlowFault): FlowFinding => findingAt(file, lineAt(offset), each);
    return { file, flow: undefined, findings: [placed({ path: [], ...fault })], placed };
  };
  let document: Document;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      logLevel: "silent",
      prettyErrors: false,
      // We look for keys that are there twice ourselves: the parser compares each with each.
      uniqueKeys: false,
      customTags: (tags) =>
        tags.filter((tag) => typeof tag === "string" || !/:(?:int|float)$/.test(tag.tag)),
    });
  } catch (error) {
    if (error instanceof RangeError) return broken(0, excess);
    throw error;
  }
  const [error] = document.errors;
  if (error) {
    return broken(error.pos[0], {
      expected: "YAML",
      found: `something else (${error.message})`,
      wayOut: "mend the line; a text with a colon or a # in it goes between quotes",
    });
  }
  const trap = trapIn(document);
  if (trap) return broken(trap.offset, trap.fault);
  const placed = (fault: FlowFault): FlowFinding =>
    findingAt(file, lineAt(offsetOf(document, fault.path)), fault);
  // How often an alias may be used has been seen to.
  const read = flowFrom(document.toJS({ maxAliasCount: -1 }));
  if ("flow" in read) return { file, flow: read.flow, findings: [], placed };
  const findings = read.faults.map(placed).sort((a, b) => a.line - b.line);
  return { file, flow: undefined, findings, placed };
}

const findingAt = (file: string, line: number, fault: FlowFault): FlowFinding => {
  const field = fault.path.reduce<string>((words, part) => {
    if (typeof part === "number") return `${words}[${part}]`;
    return words === "" ? part : `${words}.${part}`;
  }, "");
  const where = field === "" ? "" : `${field.slice(0, 200)}: `;
  return {
    code: "flow-invalid",
    message: `${where}expected ${fault.expected}, found ${fault.found}`,
    file,
    line,
    field,
    expected: fault.expected,
    found: fault.found,
    hint: fault.wayOut,
  };
};

const excess = {
  expected: `at most ${deepest} levels and ${mostNodes} values`,
  found: "more (each alias, *name, counts for all that it stands for)",
  wayOut: "write the probes beside each other, in one list, and repeat less",
};

/**
 * What has to be seen before the document is made a value: that it is not too deep or too much, and
 * that no key is there twice. Aliases are followed, and nothing is remembered of what they led to
 * before: what holds itself is too deep, what multiplies itself is too much.
 */
function trapIn(
  document: Document,
): { offset: number; fault: Omit<FlowFault, "path"> } | undefined {
  const open: { node: unknown; depth: number; offset: number }[] = [
    { node: document.contents, depth: 0, offset: 0 },
  ];
  let count = 0;
  for (let top = open.pop(); top; top = open.pop()) {
    const { node, depth } = top;
    const offset = isNode(node) && depth < deepest ? (node.range?.[0] ?? top.offset) : top.offset;
    // Finding out what an alias stands for takes a look at the whole document.
    count += isAlias(node) ? mostNodes / 100 : 1;
    if (depth > deepest || count > mostNodes) return { offset, fault: excess };
    if (isAlias(node)) open.push({ node: node.resolve(document), depth: depth + 1, offset });
    else if (isPair(node))
      for (const each of [node.key, node.value]) open.push({ node: each, depth, offset });
    else if (isCollection(node)) {
      const second = isMap(node) ? secondOf(node.items.map(({ key }) => key)) : undefined;
      if (second) return { offset: second.range?.[0] ?? offset, fault: keyTwice(second) };
      for (const item of node.items) open.push({ node: item, depth: depth + 1, offset });
    }
  }
  return undefined;
}

/** The first key that was there before. */
function secondOf(keys: readonly unknown[]): Scalar | undefined {
  const seen = new Set<string>();
  return keys.filter(isScalar).find((key) => {
    const name = String(key.value);
    if (seen.has(name)) return true;
    seen.add(name);
    return false;
  });
}

const keyTwice = (key: Scalar): Omit<FlowFault, "path"> => ({
  expected: "each key once",
  found: `a second ${String(key.value).slice(0, 60)}`,
  wayOut: "remove one of the two",
});

/** Of what is there, or of the nearest that is; of a key that should not be there, the key. */
function offsetOf(document: Document, path: FlowFault["path"]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const pair = isCollection(parent)
      ? parent.items.find((item) => isPair(item) && String(item.key) === String(path[length - 1]))
      : undefined;
    if (isPair(pair) && isNode(pair.key) && pair.key.range) return pair.key.range[0];
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
