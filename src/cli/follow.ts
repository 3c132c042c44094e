/** History as it grows: whoever writes it, in whatever process. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { RecordedEvent } from "../core/event.ts";
import { type Result, succeed } from "../core/failure.ts";
import { eventsOf, type Project } from "../project.ts";

/** Everything that was recorded after `seq`. */
export function eventsAfter({ store }: Project, seq: number): Result<RecordedEvent[]> {
  const newest = store.read();
  if (!newest.ok) return newest;
  if (newest.value.head.seq <= seq) return succeed([]);
  // What the snapshot has folded already is only in the journal.
  const enough = (newest.value.snapshot?.head.seq ?? 0) <= seq;
  const reading = enough ? newest : store.read({ from: seq + 1 });
  if (!reading.ok) return reading;
  return succeed(reading.value.after.flatMap(eventsOf).filter((event) => event.seq > seq));
}

const lookEveryMs = 200;

export interface Following {
  /** From the event after this one. */
  readonly from: number;
  each(event: RecordedEvent): void;
  /** Asked after every look; true: it is over. */
  isOver(): boolean;
}

/** Wakes when the journal's folder changes, and looks by itself in case nothing wakes it. */
export async function follow(project: Project, following: Following): Promise<Result<void>> {
  const tail = project.store.tail();
  let last = following.from;
  const wake: { up?: () => void } = {};
  const watcher = watchJournal(project, () => wake.up?.());
  try {
    for (;;) {
      const grown = tail.next();
      if (!grown.ok) return grown;
      for (const event of grown.value.transitions.flatMap(eventsOf)) {
        if (event.seq <= last) continue;
        following.each(event);
        last = event.seq;
      }
      if (following.isOver()) return succeed(undefined);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookEveryMs);
        wake.up = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    watcher?.close();
  }
}

function watchJournal({ repository, root }: Project, wake: () => void): fs.FSWatcher | undefined {
  try {
    const journal = path.join(repository?.commonDir ?? root, "autodev", "journal");
    const newest = fs.readdirSync(journal).sort().at(-1);
    return newest ? fs.watch(path.join(journal, newest), wake) : undefined;
  } catch {
    // Nothing to watch yet: the clock does it.
    return undefined;
  }
}
