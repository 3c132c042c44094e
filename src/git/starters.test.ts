import * as fs from "node:fs";
import { beforeEach, expect, it, vi } from "vitest";
import type { Starters } from "./starters.ts";

/** Those of this test alone: others may have repositories open in the same process. */
let borrowStarters: (most: number) => Starters;
beforeEach(async () => {
  vi.resetModules();
  ({ borrowStarters } = await import("./starters.ts"));
});

/** Resolves with the process that has started it. */
async function startedBy(starters: Starters, script = ""): Promise<string> {
  const { out, error } = await starters.start({
    program: "/bin/sh",
    args: ["-c", `${script} echo $PPID`],
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    timeoutMs: 10_000,
  });
  expect(error).toBeUndefined();
  return out.toString().trim();
}

it("lets whoever has other repositories open use what is idle, until the last one ends it", async () => {
  const [one, other] = [borrowStarters(2), borrowStarters(2)];
  const first = await startedBy(one);
  expect(await startedBy(other)).toBe(first);
  await one.end();
  await one.end();
  expect(await startedBy(other)).toBe(first);
  await other.end();
  expect(fs.existsSync(`/proc/${first}`)).toBe(false);
  const anew = borrowStarters(1);
  expect(await startedBy(anew)).not.toBe(first);
  await anew.end();
});

it("has as many at work at once as all together may have, and keeps few of them idle", async () => {
  const borrowed = [1, 2, 3].map(() => borrowStarters(2));
  const at = async (): Promise<string[]> =>
    Promise.all(
      borrowed.flatMap((each) => [startedBy(each, "sleep 0.5;"), startedBy(each, "sleep 0.5;")]),
    );
  expect(new Set(await at()).size).toBe(6);
  const again = new Set(
    await Promise.all([1, 2, 3, 4].map(() => startedBy(borrowed[0] as Starters))),
  );
  expect(again.size).toBeLessThanOrEqual(4);
  const [last, ...others] = borrowed;
  await Promise.all(others.map((each) => each.end()));
  await last?.end();
});
