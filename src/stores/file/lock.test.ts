import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isLocked } from "./lock.ts";

const file = join(mkdtempSync(join(tmpdir(), "autodev-lock-")), "lock");
writeFileSync(file, "");
const { dev, ino } = statSync(file);
const hex = (part: number): string => part.toString(16).padStart(2, "0");
const held = `1: FLOCK  ADVISORY  WRITE 7 ${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >> 12) & 0xfff00))}:${ino} 0 EOF\n`;
const others = held.replace(`:${ino} `, ":1 ").repeat(100);

/** What each look shows, one after the other. */
function told(...texts: { text: string; isWhole: boolean }[]) {
  let looks = 0;
  const look = () => texts[Math.min(looks++, texts.length - 1)] ?? { text: "", isWhole: true };
  return { is: isLocked(file, look), looks };
}

describe("a lock that others hold", () => {
  it("is seen at the first look", () => {
    expect(told({ text: others + held, isWhole: false })).toEqual({ is: true, looks: 1 });
  });

  it("is not taken for free because the kernel's list changed while it was read", () => {
    const without = { text: others, isWhole: false };
    expect(told(without, without, { text: others + held, isWhole: false })).toEqual({
      is: true,
      looks: 3,
    });
  });

  it("is free where one look has shown all of them, or many have not found it", () => {
    expect(told({ text: held.replace("WRITE", "READ "), isWhole: true })).toEqual({
      is: false,
      looks: 1,
    });
    expect(told({ text: others, isWhole: false }).is).toBe(false);
  });
});
