import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storeContract } from "../testing/store-contract.ts";
import { createFileStore } from "./file.ts";
import { createMemoryStore } from "./memory.ts";

storeContract("the memory store", async () => createMemoryStore(), { describe, it, expect });

storeContract(
  "the file store",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "autodev-store-"));
    mkdirSync(join(root, ".git"));
    return createFileStore({ folder: join(root, ".git", "autodev"), root });
  },
  { describe, it, expect },
);

describe("a projection that is cut in the middle of a character", () => {
  const root = mkdtempSync(join(tmpdir(), "autodev-torn-"));
  const store = createFileStore({ folder: join(root, ".git", "autodev"), root });
  const text = `# ${"…".repeat(300)}\n`;

  it("at the end of a sector is torn: the rest of it reads as zeros", () => {
    writeFileSync(join(root, "x.md"), Buffer.from(`a${text}`).subarray(0, 512));
    const read = store.readProjection("x.md");
    expect(read).toMatchObject({ ok: true });
    expect(read.ok && read.value?.replace(/\0+$/, "")).toBe(`a${text}`.slice(0, 172));
  });

  it("anywhere else is refused with its line", () => {
    writeFileSync(join(root, "x.md"), Buffer.from(text).subarray(0, 513));
    expect(store.readProjection("x.md")).toMatchObject({
      ok: false,
      failure: { code: "state-file-encoding", line: 1 },
    });
  });
});

it("whoever follows a journal that has become another is told all of it, and that it is another", async () => {
  const root = mkdtempSync(join(tmpdir(), "autodev-tail-"));
  const folder = join(root, "memory");
  const store = createFileStore({ folder, root, shown: "memory" });
  const record = async (text: string): Promise<void> => {
    const session = await store.open({ pid: 1, host: "here", since: "", command: "test" });
    if (!session.ok) throw new Error(session.failure.message);
    const { seq } = session.value.head;
    const events = [{ type: "blocker-raised" as const, text }];
    await session.value.append(seq, { at: "2026-01-01T00:00:00.000Z", run: "flow", events });
    await session.value.release();
  };
  const tail = store.tail();
  await record("a");
  expect(tail.next()).toMatchObject({ value: { transitions: [{ seq: 1 }], anew: false } });
  cpSync(folder, join(root, "before"), { recursive: true });
  await record("b");
  expect(tail.next()).toMatchObject({ value: { transitions: [{ seq: 2 }], anew: false } });
  // Somebody has put an older copy back, and work has gone on from there.
  rmSync(folder, { recursive: true });
  cpSync(join(root, "before"), folder, { recursive: true });
  await record("c");
  expect(tail.next()).toMatchObject({
    value: { transitions: [{ seq: 1 }, { seq: 2, events: [{ text: "c" }] }], anew: true },
  });
  rmSync(folder, { recursive: true });
  expect(tail.next()).toMatchObject({ value: { transitions: [], anew: true } });
  expect(tail.next()).toMatchObject({ value: { transitions: [], anew: false } });
});
