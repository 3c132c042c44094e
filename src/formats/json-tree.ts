/**
 * JSON with the range of every value, which `JSON.parse` does not tell. It reads only what
 * `JSON.parse` has accepted, so it checks nothing; ADR 6 says why it is not a library.
 */
export interface JsonNode {
  readonly type: "object" | "array" | "string" | "number" | "boolean" | "null";
  readonly from: number;
  readonly to: number;
  /** Of a scalar. */
  readonly value?: string | number | boolean | null;
  /** Of an object, by key; of an array, under its indices. */
  readonly members: ReadonlyMap<string, JsonNode>;
}

const tooDeep = Symbol("too deep");
const none: ReadonlyMap<string, JsonNode> = new Map();

const deepest = 100;

/** Undefined: nested deeper than anything that people write. */
export function jsonTree(text: string, start: number): JsonNode | undefined {
  let at = start;
  let depth = 0;
  try {
    return value();
  } catch (error) {
    if (error === tooDeep) return undefined;
    throw error;
  }

  function value(): JsonNode {
    if (depth > deepest) throw tooDeep;
    skip();
    const from = at;
    const first = text[at];
    if (first === "{" || first === "[") return container(first === "{" ? "object" : "array", from);
    if (first === '"') {
      const read = string();
      return { type: "string", from, to: at, value: read, members: none };
    }
    const word = /[^\s,\]}]+/y;
    word.lastIndex = at;
    const [token = ""] = word.exec(text) ?? [];
    at += token.length;
    const read = JSON.parse(token) as number | boolean | null;
    const type = read === null ? "null" : typeof read === "number" ? "number" : "boolean";
    return { type, from, to: at, value: read, members: none };
  }

  function container(type: "object" | "array", from: number): JsonNode {
    const members = new Map<string, JsonNode>();
    at++;
    depth++;
    for (;;) {
      skip();
      if (text[at] === "}" || text[at] === "]") break;
      if (text[at] === ",") {
        at++;
        continue;
      }
      let key = String(members.size);
      if (type === "object") {
        key = string();
        skip();
        at++;
      }
      members.set(key, value());
    }
    at++;
    depth--;
    return { type, from, to: at, members };
  }

  function string(): string {
    const from = at++;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at++;
    return JSON.parse(text.slice(from, at)) as string;
  }

  function skip(): void {
    while (/\s/.test(text[at] ?? "x")) at++;
  }
}
