/**
 * What an agent printed, made the same on every machine: a file of lines. The first is the header,
 * then what the program printed, line by line: JSON as it is, other text as {"stdout": …} or
 * {"stderr": …}, and what it was told as {"stdin": …}.
 */
import type { Place } from "./place.ts";

export interface Header {
  readonly agent: string;
  readonly version: string;
  readonly case: string;
  readonly argv: readonly string[];
  /** Beside what the agent always has. */
  readonly env?: Readonly<Record<string, string>>;
  readonly exit: number | null;
  readonly signal: string | null;
}

export interface RecordedLine {
  readonly stream: "in" | "out" | "err";
  readonly text: string;
}

export interface Surroundings {
  readonly place: Place;
  /** Where the agents are installed. */
  readonly programs: string;
  readonly ports: readonly number[];
}

export function recordingOf(
  header: Header,
  lines: readonly RecordedLine[],
  around: Surroundings,
): string {
  const steady = steadier(around);
  const printed = lines.filter(({ text }) => !isNoise(text)).map(recorded);
  const all = [steady(header), ...printed.map((line) => trimmed(steady(line)))];
  return `${all.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Empty lines, and where in its own code an agent stumbled. */
const isNoise = (text: string): boolean => /^\s*(?:(?:at |\d+ \| ).*)?$/.test(text);

function recorded({ stream, text }: RecordedLine): unknown {
  if (stream === "err") return { stderr: text };
  const json = parsed(text);
  if (stream === "in") return { stdin: json ?? text };
  return json ?? { stdout: text };
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What is different each time, and what stands for it. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, "2026-01-01T00:00:00.000Z"],
  [/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z/g, "2026-01-01T00-00-00-000Z"],
  [/\b\d?\d:\d\d [AP]M\b/g, "3:33 AM"],
  // The sessions of Goose, and the sockets of Claude, which have its process's id.
  [/\b20\d{6}_(\d+)\b/g, "20260101_$1"],
  [/\b\d+\.sock\b/g, "1.sock"],
  [/\bPGID: \d+/g, "PGID: 1"],
  // The ids of OpenCode.
  [/\b(ses|prt|msg|evt)_[0-9a-f]{8,}[0-9A-Za-z]*\b(?!-)/g, "$1_1"],
];

/** Names of this machine and of this moment, replaced by ones that stay. */
function steadier({ place, programs, ports }: Surroundings): (value: unknown) => unknown {
  const ids = new Map<string, string>();
  const stableId = (id: string): string => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${`${ids.size + 1}`.padStart(12, "0")}`;
    ids.set(id, known);
    return known;
  };
  const folders: (readonly [string, string])[] = [
    [place.tree, "/srv/tree"],
    [place.home, "/home/dev"],
    [place.tmp, "/home/dev/tmp"],
    [programs, "/opt/agents"],
  ];
  const text = (value: string): string => {
    let steady = value;
    for (const [here, there] of folders) {
      steady = steady.replaceAll(here, there).replaceAll(dashed(here), dashed(there));
      // OpenCode names files from the root without saying so.
      steady = steady.replaceAll(here.slice(1), there.slice(1));
    }
    for (const port of ports) steady = steady.replaceAll(`:${port}`, ":4000");
    steady = steady.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, stableId);
    return passing.reduce((said, [what, instead]) => said.replace(what, instead), steady);
  };
  const walk = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return isMoment(value, key) ? 1 : value;
    if (Array.isArray(value)) return value.map((item) => walk(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [text(name), walk(inner, name)]),
    );
  };
  return (value) => walk(value);
}

/** How a path is written where it names a folder. */
const dashed = (path: string): string => path.replace(/[^A-Za-z0-9]/g, "-");

const isMoment = (value: number, key: string): boolean =>
  (/(?:_ms|Ms|duration|Duration)$/.test(key) && !/retry|delay/i.test(key)) ||
  // Milliseconds and seconds of this decade; what a script says lies after it.
  (value > 1_600_000_000_000 && value < 2_000_000_000_000) ||
  (value > 1_600_000_000 && value < 1_999_999_999);

const mostItems = 8;
const mostText = 700;
/** Of texts that are long and tell nothing: some agents print their own source when they stumble. */
const most: Readonly<Record<string, number>> = { description: 60, stderr: 300 };

/** Lists of tools and the like are long, and nobody looks at more than a few. */
function trimmed(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    const length = most[key] ?? mostText;
    return value.length > length ? `${value.slice(0, length)}…` : value;
  }
  if (Array.isArray(value)) {
    return (value.length > mostItems ? value.slice(0, 3) : value).map((item) => trimmed(item));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, trimmed(inner, name)]),
  );
}
