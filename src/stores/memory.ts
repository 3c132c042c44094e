/** The store of tests and simulations: the same promises, for as long as the process lives. */
import type { Answer } from "../core/decision.ts";
import { fail, succeed } from "../core/failure.ts";
import {
  type Head,
  type Holder,
  type Sent,
  type Session,
  type Snapshot,
  type Store,
  type StoredTransition,
  since,
} from "../store.ts";

export function createMemoryStore(): Store {
  const history: StoredTransition[] = [];
  const projections = new Map<string, string>();
  const answers = new Map<string, Answer>();
  let snapshot: Snapshot | undefined;
  let epoch = 0;
  let held: Holder | undefined;
  let inbox: (Sent & { readonly to: Holder })[] = [];
  let sent = 0;

  const head = (): Head => {
    const last = history.at(-1);
    const seq = last ? last.seq + last.events.length - 1 : 0;
    return { seq, hash: `memory-${seq}` };
  };

  return {
    read(options = {}) {
      if ("from" in options) {
        return succeed({ head: head(), snapshot: undefined, after: since(history, options.from) });
      }
      const usable = options.whole ? undefined : snapshot;
      return succeed({
        head: head(),
        snapshot: usable,
        after: history.filter((transition) => transition.seq > (usable?.head.seq ?? 0)),
      });
    },
    tail() {
      let told = 0;
      return {
        next() {
          const transitions = history.slice(told);
          told = history.length;
          return succeed({ transitions, anew: false });
        },
      };
    },
    everRendered: (file, hash) =>
      history.some((transition) => transition.rendered?.[file] === hash),
    readProjection: (file) => succeed(projections.get(file)),
    async open(holder) {
      if (held) return fail("locked", "this store is held by another session");
      held = holder;
      const mine = ++epoch;
      const fenced = (): boolean => mine !== epoch;
      const session: Session = {
        epoch: mine,
        get head() {
          return head();
        },
        async append(expectedSeq, transition) {
          if (fenced()) return fail("journal-fenced", `epoch ${mine} was overtaken`);
          if (expectedSeq !== head().seq) {
            return fail("journal-moved-on", `the history is at ${head().seq}, not ${expectedSeq}`);
          }
          const copy = structuredClone(transition);
          history.push({ ...copy, seq: expectedSeq + 1, epoch: mine });
          return succeed(head());
        },
        async writeProjection(file, text) {
          projections.set(file, text);
          return succeed(undefined);
        },
        async setAside(file, at) {
          const kept = `rescue/${at}-${file}`;
          const text = projections.get(file);
          if (text !== undefined) projections.set(kept, text);
          projections.delete(file);
          return succeed(kept);
        },
        async keepCopy(file, at) {
          const kept = `rescue/${at}-${file}`;
          projections.set(kept, projections.get(file) ?? "");
          return succeed(kept);
        },
        async messages() {
          inbox = inbox.filter(({ to }) => to === holder);
          return inbox.map(({ id, message }) => ({ id, message }));
        },
        async takenUp(id) {
          inbox = inbox.filter((each) => each.id !== id);
        },
        async saveSnapshot(next) {
          if (next.head.seq === head().seq) snapshot = structuredClone(next);
        },
        async release() {
          if (!fenced()) held = undefined;
        },
      };
      return succeed(session);
    },
    async answer(id, answer) {
      const first = answers.get(id);
      if (!first) answers.set(id, answer);
      return succeed(first ?? answer);
    },
    answers: (to) => new Map([...answers].filter(([id]) => to?.includes(id) !== false)),
    holder: () => held,
    async send(to, message) {
      const id = `m-${++sent}`;
      inbox.push({ id, to, message });
      return succeed(id);
    },
    isWaiting: (id) => inbox.some((each) => each.id === id),
    async takeBack(id) {
      inbox = inbox.filter((each) => each.id !== id);
    },
    examine: () => [],
    repair: async () => succeed([]),
  };
}
