/**
 * Keeps the file that people read up to date with what is recorded: soon after each change, once
 * for many in quick succession (the journal has each of them, people see the last), and durably
 * at rests.
 *
 * A file that somebody changes under us is left alone; it is taken over at the next start. The
 * transitions stand either way, so a file that cannot be written is told when we rest and is
 * written by the next command.
 */
import { type Failure, type Result, succeed } from "../core/failure.ts";
import { isBlank } from "../core/flow/state-file.ts";
import { lookedUp, type Session, type Store } from "../store.ts";

export interface Rendered {
  readonly path: string;
  readonly text: string;
}

export interface Showing {
  /** There is something new to show. */
  wanted(): void;
  /** Everything wanted so far is shown, and durable if so asked. */
  settled(options: { durable: boolean }): Promise<void>;
  /** Durable where it was not; says if the file could not be written. */
  rest(): Promise<Result<void>>;
  /** These bytes stand on disk and are ours to replace from now on. */
  tookOver(text: string | undefined): void;
}

export function createShowing(options: {
  readonly store: Store;
  readonly session: Session;
  readonly hashOf: (text: string) => string;
  /** How the file should stand now. */
  readonly rendered: () => Rendered | undefined;
  /** Whether what stands there may not have reached the disk. */
  readonly unsynced: boolean;
  /** In milliseconds, at the most; 0: only when settled. */
  readonly every: number;
}): Showing {
  const { store, session, every } = options;
  let lastShown = options.rendered()?.text;
  let { unsynced } = options;
  let notShown: Failure | undefined;

  const show = async (durable: boolean): Promise<void> => {
    const rendered = options.rendered();
    if (!rendered) return;
    const { path, text } = rendered;
    const onDisk = store.readProjection(path);
    if (!onDisk.ok) {
      notShown = onDisk.failure;
      return;
    }
    const there = onDisk.value;
    if (there === text && !(durable && unsynced)) return;
    const ours = lookedUp(() =>
      succeed(
        there === undefined ||
          there === text ||
          there === lastShown ||
          isBlank(there) ||
          store.everRendered(path, options.hashOf(there)),
      ),
    );
    if (!ours.ok) notShown = ours.failure;
    if (!ours.ok || !ours.value) return;
    const written = await session.writeProjection(path, text, { durable });
    notShown = written.ok ? undefined : written.failure;
    if (!written.ok) return;
    lastShown = text;
    unsynced = !durable;
  };

  let dirty = false;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  const now = (durable: boolean): Promise<void> => {
    dirty = false;
    last = last.then(() => show(durable));
    return last;
  };
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (dirty) void now(false).then(soon);
    }, every);
  };

  const settled = async ({ durable }: { durable: boolean }): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    await (dirty || durable ? now(durable) : last);
  };

  return {
    wanted() {
      dirty = true;
      if (every === 0 || timer) return;
      void now(false);
      soon();
    },
    settled,
    async rest() {
      await settled({ durable: unsynced || dirty });
      return notShown ? { ok: false, failure: notShown } : succeed(undefined);
    },
    tookOver(text) {
      lastShown = text;
    },
  };
}
