/** A word to whoever holds the project, and whether it was heard. */

import { type Result, succeed } from "../core/failure.ts";
import type { Message } from "../core/message.ts";
import type { Holder } from "../store.ts";
import type { Project } from "./hold.ts";

export type Said =
  | { readonly is: "heard"; readonly by: Holder }
  /** Nobody holds it, or whoever did has gone without having heard. */
  | { readonly is: "nobody" }
  /** It does not answer; it may be stopped. What was said was taken back. */
  | { readonly is: "unheard"; readonly by: Holder };

const lookEveryMs = 50;

export async function say(
  { store }: Project,
  message: Message,
  patienceMs: number,
): Promise<Result<Said>> {
  const holder = store.holder();
  if (!holder) return succeed({ is: "nobody" });
  const sent = await store.send(holder, message);
  if (!sent.ok) return sent;
  const until = performance.now() + patienceMs;
  while (store.isWaiting(sent.value)) {
    const gone = !isSame(store.holder(), holder);
    const late = performance.now() > until;
    if (gone || late) {
      // Whether it was heard in the very last moment is told by whether it still lies there.
      const waiting = store.isWaiting(sent.value);
      await store.takeBack(sent.value);
      if (waiting) return succeed(gone ? { is: "nobody" } : { is: "unheard", by: holder });
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return succeed({ is: "heard", by: holder });
}

/** Until whoever holds it now does so no longer. */
export async function untilReleased({ store }: Project, holder: Holder): Promise<void> {
  while (isSame(store.holder(), holder)) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

const isSame = (a: Holder | undefined, b: Holder): boolean =>
  a !== undefined && a.pid === b.pid && a.since === b.since && a.host === b.host;
