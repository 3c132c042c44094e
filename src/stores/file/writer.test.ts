import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileStore } from "../file.ts";
import { isThere, lookAtProcess, writerName } from "./writer.ts";

const { started = 0 } = lookAtProcess(process.pid) ?? {};

describe.skipIf(started === 0)("a process that has the number of another", () => {
  it("is somebody else", () => {
    expect(writerName()).toBe(`${process.pid}t${started}`);
    expect(isThere(process.pid, started)).toBe(true);
    expect(isThere(process.pid, started - 1)).toBe(false);
    // Of those who have left only a number, nobody can tell.
    expect(isThere(process.pid, 0)).toBe(true);
  });

  it("does not keep its temporary files, and the same one keeps its own", async () => {
    const root = mkdtempSync(join(tmpdir(), "autodev-writer-"));
    const folder = join(root, "memory");
    mkdirSync(folder);
    const [own, other] = [started, started - 1].map((tick) =>
      join(folder, `.autodev-tmp-${process.pid}t${tick}-0a1b2c3d-snapshot`),
    ) as [string, string];
    for (const file of [own, other]) writeFileSync(file, "half");
    const session = await createFileStore({ folder, root }).open({
      pid: process.pid,
      host: "here",
      since: "now",
      command: "test",
    });
    expect(session.ok && (await session.value.release())).toBe(undefined);
    expect([own, other].map((file) => existsSync(file))).toEqual([true, false]);
    expect(JSON.parse(readFileSync(join(folder, "lock"), "utf8"))).toMatchObject({ started });
  });
});
