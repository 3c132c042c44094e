import { describe, expect, it } from "vitest";
import { bytesIn, type KeepRule, type KeptThing, sizeText, whatToRemove } from "./keep.ts";

const day = 24 * 60 * 60_000;
const now = 1000 * day;

const thing = (name: string, more: Partial<KeptThing> = {}): KeptThing => ({
  kind: "transcript",
  name,
  place: name,
  bytes: 10,
  at: now - day,
  ...more,
});

const rule = (more: Partial<KeepRule> = {}): KeepRule => ({
  now,
  days: 30,
  shells: false,
  rescue: false,
  ...more,
});

const goes = (things: readonly KeptThing[], more: Partial<KeepRule> = {}): string[] =>
  whatToRemove(things, rule(more)).remove.map(({ thing: { name } }) => name);

describe("what to remove", () => {
  it("is what is old, to the day", () => {
    const things = [
      thing("young", { at: now - 29.9 * day }),
      thing("old", { at: now - 30 * day }),
      thing("ahead", { at: now + 5 * day }),
    ];
    expect(goes(things)).toEqual(["old"]);
    expect(goes(things, { days: 0 })).toEqual(["young", "old"]);
  });

  it("is never what stays, and what is precious only when that was asked for", () => {
    const ancient = { at: 0 };
    const things = [
      thing("current", { ...ancient, stays: "the current run" }),
      thing("rescued", { ...ancient, kind: "rescue", precious: true }),
      thing("rescued today", { kind: "rescue", precious: true }),
      thing("changed", { kind: "shell", precious: true }),
    ];
    expect(goes(things, { mostBytes: 0 })).toEqual([]);
    expect(goes(things, { rescue: true, mostBytes: 0 })).toEqual(["rescued"]);
    expect(goes(things, { shells: true })).toEqual(["changed"]);
  });

  it("is what nobody needs, however new", () => {
    expect(goes([thing("checkout", { kind: "checkout", spent: true, at: now })])).toEqual([
      "checkout",
    ]);
  });

  it("is, over the cap, the oldest first and no more than it takes; the current run's last", () => {
    const things = [
      thing("b", { at: now - 2 * day }),
      thing("mine", { at: now - 9 * day, current: true }),
      thing("a", { at: now - 3 * day }),
      thing("empty", { at: now - 4 * day, bytes: 0 }),
      thing("c", { at: now - day }),
    ];
    expect(goes(things, { mostBytes: 40 })).toEqual([]);
    expect(goes(things, { mostBytes: 39 })).toEqual(["a"]);
    expect(goes(things, { mostBytes: 15 })).toEqual(["b", "a", "c"]);
    expect(goes(things, { mostBytes: 0 })).toEqual(["b", "mine", "a", "c"]);
    // By age alone the current run's never goes.
    expect(goes(things, { days: 1 })).not.toContain("mine");
  });

  it("says why of everything, and leaves nothing out", () => {
    const things = [thing("a"), thing("b", { at: 0 }), thing("c", { stays: "in use" })];
    const { remove, keep } = whatToRemove(things, rule());
    expect([...remove, ...keep].map(({ why }) => why.length > 3)).toEqual([true, true, true]);
    expect(keep.at(-1)).toMatchObject({ why: "in use" });
  });
});

describe("sizes", () => {
  it("are read in the usual ways, and nothing else is one", () => {
    expect(["2GB", "1.5 mb", "0B", "10kb"].map(bytesIn)).toEqual([
      2 * 1024 ** 3,
      1.5 * 1024 ** 2,
      0,
      10 * 1024,
    ]);
    expect(["", "2", "GB", "-1GB", "1e9B", "1.2.3MB", "2GiB", " "].map(bytesIn)).toEqual(
      Array.from({ length: 8 }),
    );
  });

  it("are written short", () => {
    expect([0, 1, 1023, 1024, 1536, 20 * 1024 ** 2, 2 * 1024 ** 3].map(sizeText)).toEqual([
      "0 B",
      "1 B",
      "1023 B",
      "1 KB",
      "1.5 KB",
      "20 MB",
      "2 GB",
    ]);
  });
});
