/**
 * What autodev keeps on disk, and for how long. A listing and a rule go in; what to remove comes out,
 * with the reason for each: nothing is looked up here, and time is an argument.
 *
 *  1. What holds people's own bytes goes only when that was asked for by name.
 *  2. What nobody needs any more (checkouts, trees that are as they were made) goes at once.
 *  3. Everything else goes when it is old; and the oldest first, until the rest is under the cap.
 *  4. The current run's go by no age, and by the cap only when nothing else is left.
 */
export const keptKinds = [
  "transcript",
  "checkout",
  "dependencies",
  "shell",
  "set-aside",
  "rescue",
  "run",
] as const;
export type KeptKind = (typeof keptKinds)[number];

export interface KeptThing {
  readonly kind: KeptKind;
  /** For people. */
  readonly name: string;
  /** A path, or a run's id. */
  readonly place: string;
  readonly bytes: number;
  /** When it was last of use, in milliseconds. */
  readonly at: number;
  /** Why it stays, whatever is asked for. */
  readonly stays?: string;
  /** Nobody needs it, however new it is. */
  readonly spent?: true;
  /** Holds what people have made themselves. */
  readonly precious?: true;
  readonly current?: true;
}

export interface KeepRule {
  readonly now: number;
  readonly days: number;
  /** Absent: no cap. */
  readonly mostBytes?: number;
  /** Changed work trees of `shell` go too. */
  readonly shells: boolean;
  /** What was set aside for people goes too, when it is old. */
  readonly rescue: boolean;
}

export interface Judged {
  readonly thing: KeptThing;
  readonly why: string;
}

export interface Cleaning {
  readonly remove: readonly Judged[];
  readonly keep: readonly Judged[];
}

export function whatToRemove(things: readonly KeptThing[], rule: KeepRule): Cleaning {
  const first = things.map((thing) => ({ thing, ...verdictOn(thing, rule) }));
  const over = overCap(
    first.filter(({ goes, thing }) => !goes && mayGo(thing)).map(({ thing }) => thing),
    rule.mostBytes,
  );
  const judged = first.map(({ thing, goes, why }) =>
    over.has(thing)
      ? { thing, goes: true, why: `more than ${sizeText(rule.mostBytes ?? 0)} are kept` }
      : { thing, goes, why },
  );
  const those = (wanted: boolean): Judged[] =>
    judged.flatMap(({ thing, goes, why }) => (goes === wanted ? [{ thing, why }] : []));
  return { remove: those(true), keep: those(false) };
}

const mayGo = ({ stays, precious }: KeptThing): boolean => stays === undefined && !precious;

function verdictOn(thing: KeptThing, rule: KeepRule): { goes: boolean; why: string } {
  const { kind, stays, precious, spent, current, at } = thing;
  const isOld = rule.now - at >= rule.days * day;
  if (stays !== undefined) return { goes: false, why: stays };
  if (kind === "shell" && precious) {
    return rule.shells
      ? { goes: true, why: "asked for" }
      : { goes: false, why: "you changed something in it (--force-shells)" };
  }
  if (precious && !rule.rescue) return { goes: false, why: "it may be somebody's (--rescue)" };
  if (spent) return { goes: true, why: "nobody needs it" };
  if (current) return { goes: false, why: "of the current run" };
  return isOld
    ? { goes: true, why: `${rule.days} days old or older` }
    : { goes: false, why: `not ${rule.days} days old` };
}

const day = 24 * 60 * 60_000;

/** The oldest, until the rest is under the cap; what takes no room is no help. */
function overCap(
  things: readonly KeptThing[],
  mostBytes: number | undefined,
): ReadonlySet<KeptThing> {
  const over = new Set<KeptThing>();
  if (mostBytes === undefined) return over;
  let sum = things.reduce((total, { bytes }) => total + bytes, 0);
  const oldestFirst = things
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => Number(a.current ?? false) - Number(b.current ?? false) || a.at - b.at);
  for (const thing of oldestFirst) {
    if (sum <= mostBytes) break;
    over.add(thing);
    sum -= thing.bytes;
  }
  return over;
}

// ── sizes ──────────────────────────────────────────────────────────────────────────────────────

const units = ["B", "KB", "MB", "GB", "TB"];

/** "2GB", "500 MB"; undefined: it is none. */
export function bytesIn(text: string): number | undefined {
  const [, count, unit] = sizePattern.exec(text.trim()) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Math.floor(Number(count) * 1024 ** units.indexOf(unit.toUpperCase()));
}

/** Without a flag: editors are told the same pattern. */
export const sizePattern = /^(\d{1,9}(?:\.\d{1,3})?) ?([kKmMgGtT]?[bB])$/;

export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const count = bytes / 1024 ** power;
  return `${count >= 10 || power === 0 ? Math.round(count) : Math.round(count * 10) / 10} ${units[power]}`;
}
