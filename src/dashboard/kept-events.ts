/**
 * All events of a history, as long as somebody looks at its past: he asks for much of it, piece by
 * piece, while it goes on. After that they go as soon as the room is needed.
 */
import type { RecordedEvent } from "../core/event.ts";

export interface KeptEvents {
  get(): readonly RecordedEvent[] | undefined;
  keep(events: RecordedEvent[]): void;
  /** By what has just happened. */
  extend(events: readonly RecordedEvent[]): void;
  drop(): void;
}

const whileMs = 30_000;

export function keptForAWhile(): KeptEvents {
  let held: RecordedEvent[] | undefined;
  let loose: WeakRef<RecordedEvent[]> | undefined;
  let clock: NodeJS.Timeout | undefined;
  const hold = (events: RecordedEvent[]): RecordedEvent[] => {
    held = events;
    clearTimeout(clock);
    clock = setTimeout(() => (held = undefined), whileMs).unref();
    return events;
  };
  const drop = (): void => {
    clearTimeout(clock);
    [held, loose] = [undefined, undefined];
  };
  return {
    get() {
      const kept = held ?? loose?.deref();
      return kept && hold(kept);
    },
    keep(events) {
      loose = new WeakRef(hold(events));
    },
    extend(events) {
      const kept = loose?.deref();
      if (!kept) return;
      for (const event of events) {
        // They were read by another look at the journal, which may have seen more than this one.
        if (event.seq <= kept.length) continue;
        if (event.seq > kept.length + 1) return drop();
        kept.push(event);
      }
    },
    drop,
  };
}
