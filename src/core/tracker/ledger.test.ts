import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../event.ts";
import {
  effectKey,
  evolveTracking,
  type LedgerEntry,
  nextCall,
  nothingSeen,
  type Seen,
  type Tracking,
} from "./ledger.ts";

const effect = {
  key: "ad-0123456789abcdef",
  tracker: "jira",
  does: "create",
  kind: "task",
  of: "01_first",
} as const;
const patience = { sinceMs: 0, lagMs: 1000, mostWaitMs: 10_000 };
const intended = (tries: number): LedgerEntry => ({
  ...effect,
  tries,
  intendedAt: "2026-01-01T00:00:00.000Z",
});
const seen = (more: Partial<Seen>): Seen => ({ ...nothingSeen, ...more });
const looked = seen({ searches: 1, items: [] });

describe("the next call", () => {
  it("looks before anything is created, even the first time", () => {
    expect(nextCall(undefined, nothingSeen, patience)).toEqual({ is: "find" });
    expect(nextCall(undefined, looked, patience)).toEqual({ is: "call" });
  });

  it("takes what is found, the oldest of several, and names the others", () => {
    const items = [{ id: "AZ-1" }, { id: "AZ-2" }];
    expect(nextCall(intended(1), seen({ searches: 1, items }), patience)).toEqual({
      is: "receipt",
      item: { id: "AZ-1" },
      others: ["AZ-2"],
    });
  });

  it("after an intent without a receipt looks for as long as a search may lag behind", () => {
    expect(nextCall(intended(1), looked, { ...patience, sinceMs: 400 })).toEqual({
      is: "wait",
      ms: 250,
    });
    expect(nextCall(intended(1), looked, { ...patience, sinceMs: 1001 })).toEqual({ is: "call" });
  });

  it("after a call that was answered has its receipt; after a second one it looks once more", () => {
    const made = { id: "AZ-7" };
    const answered = { is: "receipt", item: made, others: [] };
    expect(nextCall(intended(1), seen({ made }), patience)).toEqual(answered);
    expect(nextCall(intended(2), seen({ made }), patience)).toEqual({ is: "find" });
    expect(nextCall(intended(2), seen({ made, searches: 1, items: [] }), patience)).toEqual(
      answered,
    );
    const both = seen({ made, searches: 1, items: [{ id: "AZ-6" }, made] });
    expect(nextCall(intended(2), both, patience)).toEqual({
      is: "receipt",
      item: { id: "AZ-6" },
      others: ["AZ-7"],
    });
  });

  it.each([
    ["waits as long as it is told to", { is: "limited", why: "429", afterMs: 3000 }, "wait"],
    ["leaves what would take too long", { is: "limited", why: "429", afterMs: 60_000 }, "defer"],
    ["leaves it where nobody is logged in", { is: "auth", why: "401" }, "defer"],
    ["leaves it where there is no way to do it", { is: "cannot", why: "no tool" }, "defer"],
    ["looks again after anything else", { is: "unknown", why: "lost" }, "wait"],
  ] as const)("%s", (_, trouble, is) => {
    expect(nextCall(intended(1), seen({ searches: 1, trouble }), patience).is).toBe(is);
  });

  it("does not go on for ever", () => {
    const late = { ...patience, sinceMs: 5000 };
    expect(nextCall(intended(3), seen({ searches: 1, calls: 3, items: [] }), late).is).toBe(
      "defer",
    );
    expect(nextCall(intended(1), seen({ searches: 60, items: [] }), patience).is).toBe("defer");
  });
});

describe("the ledger", () => {
  const at = (seq: number, event: object): RecordedEvent =>
    ({ ...event, seq, at: "2026-01-01T00:00:00.000Z", run: "flow" }) as RecordedEvent;
  const fold = (...events: object[]): Tracking | undefined =>
    events.reduce<Tracking | undefined>(
      (tracking, event, index) => evolveTracking(tracking, at(index + 1, event)),
      undefined,
    );

  it("counts intents, keeps the first receipt, and forgets why it was left", () => {
    const tracking = fold(
      { type: "effect-intended", ...effect },
      { type: "effect-deferred", ...effect, why: "lost" },
      { type: "effect-intended", ...effect },
      { type: "effect-receipted", ...effect, id: "AZ-1" },
      { type: "effect-receipted", ...effect, id: "AZ-2" },
    );
    expect(tracking?.entries[effect.key]).toMatchObject({ tries: 2, receipt: { id: "AZ-1" } });
    expect(tracking?.entries[effect.key]?.deferred).toBeUndefined();
  });

  it("counts refusals in a row, until it opens or another is chosen", () => {
    const refused = { type: "tracker-refused", tracker: "jira", server: "j", how: "auth", why: "" };
    const opened = { type: "tracker-opened", tracker: "jira", server: "j" };
    expect(fold(refused, refused)?.refused).toMatchObject({ at: 2, times: 2 });
    expect(fold(refused, opened)).toEqual({ openedAt: 2, entries: {} });
    const chosen = { type: "tracker-chosen", tracker: "local", server: "j" };
    expect(fold(refused, chosen)).toEqual({ server: "j", entries: {} });
  });

  it("has the same key for the same thing, and another for any other", () => {
    const about = { repository: "r", flow: "greenfield", cycle: 1, ...effect };
    const reversed = (text: string): string =>
      Array.from(text, (letter) => letter.charCodeAt(0).toString(16))
        .toReversed()
        .join("");
    expect(effectKey(about, reversed)).toBe(effectKey({ ...about }, reversed));
    expect(effectKey(about, reversed)).toMatch(/^ad-[0-9a-f]{16}$/);
    expect(effectKey({ ...about, of: "02_second" }, reversed)).not.toBe(effectKey(about, reversed));
  });
});
