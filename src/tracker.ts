/**
 * What a tracker has to be able to do. Nothing here rejects: whatever a server does or fails to do
 * is an outcome. Who calls decides by the ledger (core/tracker/ledger.ts) what follows from it.
 *
 *  1. `unknown` is the honest answer to everything but a clear one: the call may have been carried out.
 *  2. The key stands in the item itself, so that `find` sees it whoever made it, whenever.
 *  3. Ids and addresses are checked data: one line, short, of the shape that this tracker's have.
 */
import type { NewItem, TrackedItem } from "./core/tracker/ledger.ts";
import type { ToolPin } from "./core/tracker/tools.ts";

export type Outcome<T> =
  | { readonly is: "done"; readonly value: T }
  /** Lost, late, garbled or an error: it may have happened all the same. */
  | { readonly is: "unknown"; readonly why: string }
  /** Too many calls; not before so many milliseconds, if the server says. */
  | { readonly is: "limited"; readonly why: string; readonly afterMs?: number }
  /** Nobody is logged in, or no longer. */
  | { readonly is: "auth"; readonly why: string }
  /** This tracker has no way to do that. */
  | { readonly is: "cannot"; readonly why: string };

export type Opened =
  /** `tools`: those that are called, as they are now; `how`: by which tool each verb is done. */
  | {
      readonly is: "open";
      readonly tools: readonly ToolPin[];
      readonly how: Readonly<Record<string, string>>;
    }
  | { readonly is: "auth" | "unreachable" | "unable"; readonly why: string };

export interface Tracker {
  readonly name: string;
  /** So long a search may not see what was created. */
  readonly lagMs: number;
  /** Connects, authenticates where the server offers nothing but that, and looks at its tools. */
  open(): Promise<Opened>;
  /** All that carry the key, the oldest first. */
  find(key: string): Promise<Outcome<readonly TrackedItem[]>>;
  create(item: NewItem): Promise<Outcome<TrackedItem>>;
  /** Doing it twice is doing it once. */
  link(id: string, epic: string): Promise<Outcome<undefined>>;
  move(id: string, to: "done"): Promise<Outcome<undefined>>;
  close(): Promise<void>;
}
