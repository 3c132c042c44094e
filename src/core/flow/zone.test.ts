import { describe, expect, it } from "vitest";
import {
  isHalfWay,
  type SkillSign,
  stuckBecause,
  unwatchedSkill,
  watchSkill,
  zoneOf,
} from "./zone.ts";

const times = (count: number, sign: (at: number) => SkillSign): SkillSign[] =>
  Array.from({ length: count }, (_, at) => sign(at));
const watched = (...signs: readonly SkillSign[]): ReturnType<typeof unwatchedSkill> =>
  signs.reduce(watchSkill, unwatchedSkill(0));
const tool = (ok = true): SkillSign => ({ is: "tool", ok });
const read = (at: number, large = false): SkillSign => ({
  is: "artifact-read",
  path: `${at}.md`,
  large,
});
const used = (share: number): SkillSign => ({ is: "window", used: share });

describe("a conversation is", () => {
  const table: [zone: string, what: string, signs: SkillSign[]][] = [
    ["safe", "with a few documents", times(3, (at) => read(at))],
    ["safe", "with one document, however often it is read", times(9, () => read(1))],
    ["safe", "with 19 calls of tools", times(19, () => tool())],
    ["safe", "with 59 % of its window used", [used(0.59)]],
    ["caution", "with 5 documents", times(5, (at) => read(at))],
    ["caution", "with 3 large documents", times(3, (at) => read(at, true))],
    ["caution", "with 20 calls of tools", times(20, () => tool())],
    ["caution", "with 60 % of its window used", [used(0.6)]],
    ["safe", "by its window alone, where the agent tells", [...times(30, () => tool()), used(0.1)]],
    ["danger", "with 80 % of its window used", [used(0.8)]],
    ["danger", "when tools fail one after the other", times(5, () => tool(false))],
    [
      "safe",
      "when one of them goes well in between",
      [...times(4, () => tool(false)), tool(), ...times(4, () => tool(false))],
    ],
  ];
  it.each(table)("%s %s", (zone, _, signs) => {
    expect(zoneOf(watched(...signs))).toBe(zone);
  });

  it("half way to caution with half of any of it, which is enough at a break of the skill", () => {
    expect(isHalfWay(watched(...times(9, () => tool())))).toBe(false);
    expect(isHalfWay(watched(...times(10, () => tool())))).toBe(true);
    expect(isHalfWay(watched(used(0.29)))).toBe(false);
    expect(isHalfWay(watched(used(0.3)))).toBe(true);
    expect(isHalfWay(watched(...times(3, (at) => read(at))))).toBe(true);
  });
});

describe("a skill is stuck", () => {
  const written = (hash: string, size: number, at = 1): SkillSign => ({
    is: "artifact-written",
    path: "02_document/architecture.md",
    hash,
    size,
    at,
  });

  it("when it has written the same document over three times without meaningful change", () => {
    const [first, ...again] = ["a", "b", "c", "d"].map((hash) => written(hash, 1000));
    expect(stuckBecause(watched(first as SkillSign, ...again.slice(0, 2)), 2, 20)).toBeUndefined();
    expect(stuckBecause(watched(first as SkillSign, ...again), 2, 20)).toBe(
      "_docs/02_document/architecture.md was written 3 times without meaningful change",
    );
  });

  it("not when each time there is more of it", () => {
    const grown = times(9, (at) => written(`${at}`, 1000 + at * 200));
    expect(stuckBecause(watched(...grown), 2, 20)).toBeUndefined();
  });

  it("when nothing new has come for twenty minutes, though it is at work", () => {
    const busy = watched(written("a", 10, 0), ...times(9, () => tool()));
    expect(stuckBecause(busy, 20 * 60_000 - 1, 20)).toBeUndefined();
    expect(stuckBecause(busy, 20 * 60_000, 20)).toBe(
      "no new artifact for 20 minutes, though the agent is at work",
    );
  });
});
