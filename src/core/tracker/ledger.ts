/**
 * The effects ledger: what was to be created in a tracker, and what came of it.
 *
 *  1. An intent is on record before its call; a receipt after it. Whatever happens between the two
 *     leaves an intent without a receipt: the call may have been made.
 *  2. The key of an effect stands in the item itself. So nothing is created before it was looked for,
 *     and after an intent without a receipt it is looked for as long as a search may lag behind.
 *  3. Two items with one key: the oldest is ours, the others are named, and there is never a third.
 */
import type { RecordedEvent } from "../event.ts";

export interface TrackedItem {
  readonly id: string;
  readonly url?: string;
}

export interface NewItem {
  readonly key: string;
  readonly kind: "epic" | "task";
  readonly title: string;
  readonly body: string;
  /** The id of the epic that it belongs to. */
  readonly epic?: string;
}

/** What is done to the outside world, once. */
export interface LedgerEntry {
  readonly key: string;
  readonly tracker: string;
  readonly does: "create" | "link" | "move";
  readonly kind: "epic" | "task";
  /** What it is about, as our own files call it: `E2`, `03_outbox`. */
  readonly of: string;
  /** How many calls were intended, and when the last one was. */
  readonly tries: number;
  readonly intendedAt: string;
  readonly receipt?: TrackedItem & { readonly others?: readonly string[] };
  readonly deferred?: { readonly at: number; readonly why: string };
}

/** Everything that the journal knows of trackers. */
export interface Tracking {
  /** The server that was chosen, where several could be the same kind of tracker. */
  readonly server?: string;
  /** The event by which it was last opened. */
  readonly openedAt?: number;
  /** It could not be used, and nobody has said what follows from that. */
  readonly refused?: Refusal;
  /** The event by which a step's items were last seen to. */
  readonly trackedAt?: number;
  readonly entries: Readonly<Record<string, LedgerEntry>>;
}

export interface Refusal {
  readonly at: number;
  readonly how: "auth" | "unreachable" | "unable" | "tools";
  readonly why: string;
  /** How often in a row. */
  readonly times: number;
  /** Of the tools as they are now. */
  readonly tools?: string;
  readonly difference?: readonly string[];
}

export const nothingTracked: Tracking = { entries: {} };

/** Its own events; anything else leaves it as it is. */
export function evolveTracking(
  tracking: Tracking | undefined,
  event: RecordedEvent,
): Tracking | undefined {
  const known = tracking ?? nothingTracked;
  switch (event.type) {
    case "tracker-chosen": {
      if (!tracking && event.server === undefined) return tracking;
      const { refused: _, openedAt: __, server: ___, ...rest } = known;
      return { ...rest, ...(event.server !== undefined && { server: event.server }) };
    }
    case "tracker-opened": {
      const { refused: _, ...rest } = known;
      return { ...rest, openedAt: event.seq };
    }
    case "tracker-refused": {
      const { how, why, tools, difference } = event;
      const { openedAt: _, ...rest } = known;
      return {
        ...rest,
        refused: {
          at: event.seq,
          how,
          why,
          times: (known.refused?.times ?? 0) + 1,
          ...(tools !== undefined && { tools }),
          ...(difference && { difference }),
        },
      };
    }
    case "step-tracked":
      return { ...known, trackedAt: event.seq };
    case "effect-intended": {
      const tries = (known.entries[event.key]?.tries ?? 0) + 1;
      return withEntry(known, { ...entryOf(event), tries });
    }
    case "effect-receipted": {
      const { key, id, url, others } = event;
      const entry = known.entries[key] ?? entryOf(event);
      // The first receipt stands: what our files say must not change under people.
      if (entry.receipt) return tracking;
      const { deferred: _, ...rest } = entry;
      const receipt = { id, ...(url !== undefined && { url }), ...(others && { others }) };
      return withEntry(known, { ...rest, receipt });
    }
    case "effect-deferred": {
      const { key, seq, why } = event;
      const entry = known.entries[key] ?? entryOf(event);
      return withEntry(known, { ...entry, deferred: { at: seq, why } });
    }
    default:
      return tracking;
  }
}

type EffectEvent = Extract<RecordedEvent, { readonly type: `effect-${string}` }>;

/** Nothing was called for yet. */
const entryOf = ({ key, tracker, does, kind, of, at }: EffectEvent): LedgerEntry => ({
  key,
  tracker,
  does,
  kind,
  of,
  tries: 0,
  intendedAt: at,
});

const withEntry = (tracking: Tracking, entry: LedgerEntry): Tracking => ({
  ...tracking,
  entries: { ...tracking.entries, [entry.key]: entry },
});

/** The same for the same thing, whoever asks, from whichever clone; a later cycle's is another thing. */
export const effectKey = (
  about: {
    readonly repository: string;
    readonly tracker: string;
    readonly flow: string;
    readonly cycle: number;
    readonly does: LedgerEntry["does"];
    readonly kind: LedgerEntry["kind"];
    readonly of: string;
  },
  hash: (text: string) => string,
): string => {
  const { repository, tracker, flow, cycle, does, kind, of } = about;
  const text = JSON.stringify([repository, tracker, flow, cycle, does, kind, of]);
  return `ad-${hash(text).slice(0, 16)}`;
};

/** What is on record as left to do. */
export const deferredIn = ({ entries }: Tracking): LedgerEntry[] =>
  Object.values(entries).filter(({ receipt, deferred }) => !receipt && deferred);

// ── the next call ──────────────────────────────────────────────────────────────────────────────

/** What has been seen of an effect in this session; nothing of it is remembered. */
export interface Seen {
  readonly searches: number;
  readonly calls: number;
  /** What the last search has shown, if nothing was called since. */
  readonly items?: readonly TrackedItem[];
  /** What the call itself has answered. */
  readonly made?: TrackedItem;
  /** The last call was no success. */
  readonly trouble?: Trouble;
  readonly waitedMs: number;
}

export interface Trouble {
  readonly is: "unknown" | "limited" | "auth" | "cannot";
  readonly why: string;
  readonly afterMs?: number;
}

export const nothingSeen: Seen = { searches: 0, calls: 0, waitedMs: 0 };

export type NextCall =
  | { readonly is: "find" }
  /** On record as intended first. */
  | { readonly is: "call" }
  | { readonly is: "wait"; readonly ms: number }
  | { readonly is: "receipt"; readonly item: TrackedItem; readonly others: readonly string[] }
  | { readonly is: "defer"; readonly why: string };

export interface Patience {
  /** How long ago the last call was intended. */
  readonly sinceMs: number;
  /** So long a search may not see what was created. */
  readonly lagMs: number;
  /** No longer in all than this, for one effect. */
  readonly mostWaitMs: number;
}

/** So often something is called for in one session; the next start goes on. */
const mostCalls = 3;
/** So often a search is asked that shows nothing. */
const mostSearches = 60;

/** Of an item to be created: look, call, look again, until there is a receipt or a reason to leave it. */
export function nextCall(
  entry: LedgerEntry | undefined,
  seen: Seen,
  { sinceMs, lagMs, mostWaitMs }: Patience,
): NextCall {
  const { items, made, trouble, searches, calls } = seen;
  const tries = entry?.tries ?? 0;
  const wait = (ms: number, why: string): NextCall =>
    seen.waitedMs + ms > mostWaitMs ? { is: "defer", why } : { is: "wait", ms };
  if (made) {
    // What was called for more than once may be there twice: one more look says so.
    if (tries > 1 && !items && !trouble) return { is: "find" };
    const [item = made, ...others] = items ?? [];
    const more = item.id === made.id ? others : [...others, made];
    return receipt(item, more);
  }
  const [oldest, ...others] = items ?? [];
  if (oldest) return receipt(oldest, others);
  if (trouble?.is === "auth" || trouble?.is === "cannot") return { is: "defer", why: trouble.why };
  if (trouble?.is === "limited") return wait(trouble.afterMs ?? usualPauseMs, trouble.why);
  if (searches >= mostSearches) return { is: "defer", why: trouble?.why ?? "it is not found" };
  if (trouble) return wait(pause(searches), trouble.why);
  if (!items) return { is: "find" };
  if (!entry || tries === 0) return { is: "call" };
  if (sinceMs < lagMs) {
    const ms = Math.min(pause(searches), lagMs - sinceMs);
    return wait(ms, "whether it was created is not known, and no search shows it");
  }
  if (calls >= mostCalls) return { is: "defer", why: `called for ${calls} times, and never found` };
  return { is: "call" };
}

const receipt = (item: TrackedItem, others: readonly TrackedItem[]): NextCall => ({
  is: "receipt",
  item,
  others: [...new Set(others.map(({ id }) => id))].filter((id) => id !== item.id),
});

const usualPauseMs = 5000;
const pause = (searches: number): number => Math.min(250 * 2 ** Math.max(searches - 1, 0), 10_000);
