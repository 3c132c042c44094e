/**
 * The suite that every store passes. It takes a test runner's own functions, so that any runner
 * can run it, and a factory that makes an empty store each time.
 */
import type { Event } from "../core/event.ts";
import { nothingYet } from "../core/evolve.ts";
import type { Message } from "../core/message.ts";
import type { Holder, Session, Store, StoredTransition, Transition } from "../store.ts";

export interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(value: unknown): {
    toBe(expected: unknown): void;
    toEqual(expected: unknown): void;
    toMatchObject(expected: object): void;
  };
}

const holder: Holder = { pid: 1, host: "here", since: "now", command: "the contract suite" };
const note = (text: string): Event => ({ type: "blocker-raised", text });
const transition = (...texts: string[]): Transition => ({
  at: "2026-01-01T00:00:00.000Z",
  run: "flow",
  events: texts.map(note),
});

const stop = (how: "now" | "after-phase"): Message => ({
  say: "stop",
  how,
  by: "somebody",
  at: how === "now" ? "2026-01-01T00:00:00.000Z" : "2026-01-01T00:00:01.000Z",
});

/** `snapshots`: whether it keeps any; one that does not tells all of its history each time. */
export function storeContract(
  name: string,
  make: () => Promise<Store>,
  { describe, it, expect }: Runner,
  { snapshots = true }: { readonly snapshots?: boolean } = {},
): void {
  const opened = async (store: Store): Promise<Session> => {
    const session = await store.open(holder);
    if (!session.ok) throw new Error(session.failure.message);
    return session.value;
  };
  const textsIn = (transitions: readonly StoredTransition[]): string[] =>
    transitions.flatMap(({ events }) =>
      events.map((event) => (event.type === "blocker-raised" ? event.text : event.type)),
    );
  const texts = (store: Store): string[] => {
    const reading = store.read({ whole: true });
    if (!reading.ok) throw new Error(reading.failure.message);
    return textsIn(reading.value.after);
  };

  describe(`${name} keeps the contract of a store`, () => {
    it("is empty at first", async () => {
      const store = await make();
      expect(texts(store)).toEqual([]);
      expect(store.read()).toMatchObject({ ok: true, value: { head: { seq: 0 } } });
    });

    it("reads back what was appended, in order, across sessions", async () => {
      const store = await make();
      const first = await opened(store);
      await first.append(0, transition("a"));
      await first.append(1, transition("b", "c"));
      await first.release();
      const second = await opened(store);
      expect(second.head.seq).toBe(3);
      await second.append(3, transition("d"));
      await second.release();
      expect(texts(store)).toEqual(["a", "b", "c", "d"]);
    });

    it("tells whoever follows it what is new, each time once, across sessions", async () => {
      const store = await make();
      const tail = store.tail();
      const news = (): { texts: string[]; anew: boolean } => {
        const grown = tail.next();
        if (!grown.ok) throw new Error(grown.failure.message);
        const { transitions, anew } = grown.value;
        return { texts: textsIn(transitions), anew };
      };
      expect(news()).toEqual({ texts: [], anew: false });
      const first = await opened(store);
      await first.append(0, transition("a"));
      await first.append(1, transition("b", "c"));
      expect(news()).toEqual({ texts: ["a", "b", "c"], anew: false });
      expect(news()).toEqual({ texts: [], anew: false });
      await first.release();
      const second = await opened(store);
      expect(news()).toEqual({ texts: [], anew: false });
      await second.append(3, transition("d"));
      await second.release();
      expect(news()).toEqual({ texts: ["d"], anew: false });
    });

    it("numbers transitions by their first event", async () => {
      const store = await make();
      const session = await opened(store);
      await session.append(0, transition("a", "b"));
      await session.append(2, transition("c"));
      const reading = store.read({ whole: true });
      expect(reading.ok && reading.value.after.map(({ seq }) => seq)).toEqual([1, 3]);
      await session.release();
    });

    it("refuses an append that expects another head, and writes nothing", async () => {
      const store = await make();
      const session = await opened(store);
      await session.append(0, transition("a"));
      const refused = await session.append(0, transition("b"));
      expect(refused).toMatchObject({ ok: false, failure: { code: "journal-moved-on" } });
      expect(texts(store)).toEqual(["a"]);
      await session.release();
    });

    it("lets exactly one of two simultaneous appends win", async () => {
      const store = await make();
      const session = await opened(store);
      const both = await Promise.all([
        session.append(0, transition("a")),
        session.append(0, transition("b")),
      ]);
      expect(both.filter((result) => result.ok).length).toBe(1);
      expect(texts(store).length).toBe(1);
      await session.release();
    });

    it("has one session at a time", async () => {
      const store = await make();
      const session = await opened(store);
      expect(await store.open(holder)).toMatchObject({ ok: false, failure: { code: "locked" } });
      await session.release();
      const next = await opened(store);
      expect(next.epoch > session.epoch).toBe(true);
      await next.release();
    });

    it("offers a snapshot only for the head that it was made at", async () => {
      const store = await make();
      const session = await opened(store);
      const head = await session.append(0, transition("a"));
      if (!head.ok) throw new Error(head.failure.message);
      await session.saveSnapshot({ head: head.value, state: nothingYet });
      await session.append(1, transition("b"));
      const reading = store.read();
      expect(reading.ok && reading.value.snapshot?.head.seq).toBe(snapshots ? 1 : undefined);
      expect(reading.ok && reading.value.after.map(({ seq }) => seq)).toEqual(
        snapshots ? [2] : [1, 2],
      );
      await session.release();
    });

    it("remembers every rendering", async () => {
      const store = await make();
      const session = await opened(store);
      await session.append(0, { ...transition("a"), rendered: { "x.md": "1234" } });
      await session.append(1, { ...transition("b"), rendered: { "x.md": "5678" } });
      expect(store.everRendered("x.md", "1234")).toBe(true);
      expect(store.everRendered("x.md", "9999")).toBe(false);
      expect(store.everRendered("y.md", "1234")).toBe(false);
      await session.release();
    });

    it("keeps projections and sets them aside without losing them", async () => {
      const store = await make();
      const session = await opened(store);
      expect(store.readProjection("_docs/x.md")).toEqual({ ok: true, value: undefined });
      await session.writeProjection("_docs/x.md", "one\n", { durable: true });
      expect(store.readProjection("_docs/x.md")).toEqual({ ok: true, value: "one\n" });
      expect((await session.keepCopy("_docs/x.md", "2025")).ok).toBe(true);
      expect(store.readProjection("_docs/x.md")).toEqual({ ok: true, value: "one\n" });
      expect((await session.setAside("_docs/x.md", "2026")).ok).toBe(true);
      expect(store.readProjection("_docs/x.md")).toEqual({ ok: true, value: undefined });
      await session.release();
    });

    it("lets the first answer stand, whoever asks and however often", async () => {
      const store = await make();
      const id = "d-0123456789ab";
      const answers = await Promise.all(
        ["A", "B", "C", "D"].map((key) => store.answer(id, { key, by: key, at: "now" })),
      );
      const standing = answers.map((answer) => answer.ok && answer.value.key);
      expect(new Set(standing).size).toBe(1);
      expect(store.answers().get(id)?.key).toBe(standing[0]);
    });

    it("tells the answers to some decisions, and no others", async () => {
      const store = await make();
      const ids = ["d-000000000001", "d-000000000002", "d-000000000003"];
      for (const id of ids.slice(0, 2)) await store.answer(id, { key: "A", by: "x", at: "now" });
      expect([...store.answers(ids.slice(1)).keys()]).toEqual(["d-000000000002"]);
      expect([...store.answers([])]).toEqual([]);
      expect([...store.answers().keys()].toSorted()).toEqual(ids.slice(0, 2));
    });

    it("tells history from any event on, to its end", async () => {
      const store = await make();
      // Two events at once, and a session of its own for each.
      for (const texts of [["a"], ["b", "c"], ["d"], ["e"]]) {
        const session = await opened(store);
        await session.append(session.head.seq, transition(...texts));
        await session.release();
      }
      const from = (seq: number): number[] => {
        const reading = store.read({ from: seq });
        if (!reading.ok) throw new Error(reading.failure.message);
        expect(reading.value.head.seq).toBe(5);
        expect(reading.value.snapshot).toBe(undefined);
        return reading.value.after.map(({ seq: each }) => each);
      };
      expect([1, 2, 3, 4, 5, 6].map(from)).toEqual([
        [1, 2, 4, 5],
        [2, 4, 5],
        [2, 4, 5],
        [4, 5],
        [5],
        [],
      ]);
    });

    it("hands a message to the session that it was sent to, until it is taken up", async () => {
      const store = await make();
      expect(store.holder()).toBe(undefined);
      const session = await opened(store);
      const to = store.holder();
      expect(to).toEqual(holder);
      if (!to) return;
      const first = await store.send(to, stop("now"));
      const second = await store.send(to, stop("after-phase"));
      if (!first.ok || !second.ok) throw new Error("it was not sent");
      const heard = await session.messages();
      expect(heard.map(({ message }) => message)).toEqual([stop("now"), stop("after-phase")]);
      expect(store.isWaiting(first.value)).toBe(true);
      await session.takenUp(first.value);
      expect(store.isWaiting(first.value)).toBe(false);
      expect((await session.messages()).map(({ id }) => id)).toEqual([second.value]);
      await store.takeBack(second.value);
      expect(await session.messages()).toEqual([]);
    });

    it("hands no message to a later session: whoever sent it still has it", async () => {
      const store = await make();
      const before = await opened(store);
      const to = store.holder() ?? holder;
      await before.release();
      const sent = await store.send(to, stop("now"));
      if (!sent.ok) throw new Error("it was not sent");
      expect(store.isWaiting(sent.value)).toBe(true);
      const later = { ...holder, since: "later" };
      const after = await store.open(later);
      if (!after.ok) throw new Error(after.failure.message);
      expect(await after.value.messages()).toEqual([]);
    });
  });
}
