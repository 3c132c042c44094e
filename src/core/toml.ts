/**
 * A reader of TOML that knows as much of it as manifests use: tables, lists of tables, dotted
 * keys, all four kinds of strings, lists and inline tables. Numbers, dates and booleans stay
 * text: they are compared, never computed with.
 */
export type Toml = string | readonly Toml[] | { readonly [key: string]: Toml };

interface Table {
  [key: string]: Toml | Table | (Toml | Table)[];
}

type TomlTable = { readonly [key: string]: Toml };

/** Undefined: it is no TOML, or more of it than is known here. */
export function readToml(text: string): TomlTable | undefined {
  const read = tomlOr(text);
  return "table" in read ? read.table : undefined;
}

/** `line`: where it is no TOML any more, or more of it than is known here. */
export function tomlOr(text: string): { readonly table: TomlTable } | { readonly line: number } {
  const at: Place = {
    text: text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"),
    index: 0,
    closed: new Set(),
  };
  const root = newTable();
  let table: Table | undefined = root;
  for (skipBlank(at); at.index < at.text.length; skipBlank(at)) {
    const began = at.index;
    table = at.text[at.index] === "[" ? readHeader(at, root) : readPair(at, table);
    if (!table || !/^[ \t]*(?:#[^\n]*)?(?:\n|$)/.test(restOfLine(at))) {
      return { line: at.text.slice(0, began).split("\n").length };
    }
  }
  return { table: root as TomlTable };
}

interface Place {
  readonly text: string;
  index: number;
  /** Inline tables: all that is in them stands between their braces. */
  readonly closed: Set<Table>;
}

/** Without a prototype: `constructor` is a key like any other. */
const newTable = (): Table => Object.create(null) as Table;

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function restOfLine({ text, index }: Place): string {
  const end = text.indexOf("\n", index);
  return end < 0 ? text.slice(index) : text.slice(index, end + 1);
}

function skipBlank(at: Place): void {
  const blank = /(?:[ \t\n]|#[^\n]*)*/y;
  blank.lastIndex = at.index;
  at.index += blank.exec(at.text)?.[0].length ?? 0;
}

function take(at: Place, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = at.index;
  const match = pattern.exec(at.text);
  if (match) at.index += match[0].length;
  return match ?? undefined;
}

/** `[a.b]` opens a table, `[[a.b]]` the next of a list of them. */
function readHeader(at: Place, root: Table): Table | undefined {
  const isList = take(at, /\[\[?/y)?.[0] === "[[";
  const keys = readKeys(at);
  if (!keys || !take(at, isList ? /[ \t]*\]\]/y : /[ \t]*\]/y)) return undefined;
  const last = keys.pop() as string;
  const parent = tableAt(at, root, keys);
  if (!parent || !isList) return parent && tableAt(at, parent, [last]);
  const list = (parent[last] ??= []);
  if (!Array.isArray(list)) return undefined;
  const next = newTable();
  list.push(next);
  return next;
}

function tableAt({ closed }: Place, from: Table, keys: readonly string[]): Table | undefined {
  let table = from;
  for (const key of keys) {
    const next = (table[key] ??= newTable());
    const inside = Array.isArray(next) ? next.at(-1) : next;
    if (!isTable(inside) || closed.has(inside)) return undefined;
    table = inside;
  }
  return table;
}

/** Gives the table back that the pair was put into. */
function readPair(at: Place, table: Table): Table | undefined {
  const keys = readKeys(at);
  if (!keys || !take(at, /[ \t]*=[ \t]*/y)) return undefined;
  const last = keys.pop() as string;
  const inside = tableAt(at, table, keys);
  const value = readValue(at, 0);
  if (!inside || value === undefined || inside[last] !== undefined) return undefined;
  inside[last] = value;
  return table;
}

function readKeys(at: Place): string[] | undefined {
  const keys: string[] = [];
  do {
    take(at, /[ \t]*/y);
    const key = /["']/.test(at.text[at.index] ?? "")
      ? readString(at)
      : take(at, /[A-Za-z0-9_-]+/y)?.[0];
    if (key === undefined) return undefined;
    keys.push(key);
  } while (take(at, /[ \t]*\./y));
  return keys;
}

/** Deeper than any manifest; not as deep as the stack. */
const deepest = 64;

function readValue(at: Place, depth: number): Toml | undefined {
  const char = at.text[at.index];
  if (depth > deepest) return undefined;
  if (char === '"' || char === "'") return readString(at);
  if (char === "[") return readList(at, depth);
  if (char === "{") return readInlineTable(at, depth);
  return take(at, /[^\s,\]}#]+(?: \d[\d:.+Z-]*)?/y)?.[0];
}

function readList(at: Place, depth: number): Toml[] | undefined {
  const list: Toml[] = [];
  at.index++;
  for (;;) {
    skipBlank(at);
    if (take(at, /\]/y)) return list;
    const value = readValue(at, depth + 1);
    if (value === undefined) return undefined;
    list.push(value);
    skipBlank(at);
    if (!take(at, /,/y) && at.text[at.index] !== "]") return undefined;
  }
}

function readInlineTable(at: Place, depth: number): Toml | undefined {
  const table = newTable();
  at.index++;
  for (;;) {
    skipBlank(at);
    if (take(at, /\}/y)) {
      at.closed.add(table);
      return table as Toml;
    }
    const keys = readKeys(at);
    if (!keys || !take(at, /[ \t]*=[ \t]*/y)) return undefined;
    const value = readValue(at, depth + 1);
    const last = keys.pop() as string;
    const inside = tableAt(at, table, keys);
    if (value === undefined || !inside) return undefined;
    inside[last] = value;
    skipBlank(at);
    if (!take(at, /,/y) && at.text[at.index] !== "}") return undefined;
  }
}

function readString(at: Place): string | undefined {
  const long = take(at, /("""|''')\n?/y)?.[1];
  if (long !== undefined) {
    const body = take(
      at,
      long === '"""' ? /((?:[^"\\]|\\[^]|"(?!""))*"{0,2})"""/y : /((?:[^']|'(?!''))*'{0,2})'''/y,
    )?.[1];
    return long === '"""' ? body && unescaped(body.replace(/\\[ \t]*\n\s*/g, "")) : body;
  }
  const literal = take(at, /'([^'\n]*)'/y);
  if (literal) return literal[1];
  const basic = take(at, /"((?:[^"\\\n]|\\[^\n])*)"/y);
  return basic && unescaped(basic[1] ?? "");
}

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
};

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/g, (_, short, long, char: string) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    if (char !== undefined) return escapes[char] ?? char;
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
