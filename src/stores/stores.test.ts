import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { succeed } from "../core/failure.ts";
import { lookedUp, type Store } from "../store.ts";
import { storeContract } from "../testing/store-contract.ts";
import { type Disk, realDisk } from "./file/disk.ts";
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

it("an answer that the system lets nobody read is told with its name: it is not one answer less", () => {
  const root = mkdtempSync(join(tmpdir(), "autodev-answers-"));
  const store = createFileStore({ folder: join(root, "memory"), root });
  const answer = join(root, "memory", "answers", "d-0123456789ab.json");
  mkdirSync(answer, { recursive: true });
  const looked = lookedUp(() => succeed(store.answers()));
  expect(looked).toMatchObject({ ok: false, failure: { code: "disk" } });
  expect(!looked.ok && looked.failure.message).toMatch(
    /d-0123456789ab\.json cannot be read: .*\(EISDIR\)/,
  );
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

describe("what has to be read does not grow with history", () => {
  /** A store with a session for each of so many transitions, and the names of the files that are read. */
  const grown = async (transitions: number): Promise<{ store: Store; read: string[] }> => {
    const root = mkdtempSync(join(tmpdir(), "autodev-grown-"));
    const folder = join(root, "memory");
    const read: string[] = [];
    const disk: Disk = {
      ...realDisk,
      read(file) {
        read.push(basename(file));
        return realDisk.read(file);
      },
    };
    const store = createFileStore({ folder, root, disk });
    for (let number = 1; number <= transitions; number++) {
      const session = await store.open({ pid: 1, host: "here", since: "", command: "test" });
      if (!session.ok) throw new Error(session.failure.message);
      const at = "2026-01-01T00:00:00.000Z";
      const rendered = { "_docs/x.md": `hash ${number}` };
      const events = [{ type: "blocker-raised" as const, text: `${number}` }];
      await session.value.append(number - 1, { at, run: "flow", events, rendered });
      await session.value.release();
      await store.answer(`d-${String(number).padStart(12, "0")}`, { key: "A", by: "x", at });
    }
    read.length = 0;
    return { store, read };
  };

  it("the answer to a decision is one file", async () => {
    const { store, read } = await grown(12);
    expect(store.answers(["d-000000000007", "d-00000000ffff"]).size).toBe(1);
    expect(read).toEqual(["d-000000000007.json", "d-00000000ffff.json"]);
  });

  it("from an event on, it is what was written since", async () => {
    const { store, read } = await grown(12);
    expect(store.read({ from: 10 })).toMatchObject({
      value: { after: [{ seq: 10 }, { seq: 11 }, { seq: 12 }] },
    });
    expect(new Set(read)).toEqual(new Set(["00000011.log", "00000012.log"]));
  });

  it("a file that is a little behind is known by the newest that was written", async () => {
    const { store, read } = await grown(12);
    expect(store.everRendered("_docs/x.md", "hash 11")).toBe(true);
    // A segment begins with a copy of the transition before it.
    expect(read).toEqual(["00000012.log"]);
    expect(store.everRendered("_docs/x.md", "hash 1")).toBe(true);
    expect(store.everRendered("_docs/x.md", "hash 13")).toBe(false);
  });
});

describe("whoever looks who holds a store", () => {
  const root = mkdtempSync(join(tmpdir(), "autodev-look-"));
  const folder = join(root, ".git", "autodev");
  mkdirSync(folder, { recursive: true });
  const store = createFileStore({ folder, root });
  const holder = { pid: process.pid, host: "here", since: "now", command: "build" };
  const held = async (): Promise<void> => {
    const opened = await store.open(holder);
    if (!opened.ok) throw new Error(opened.failure.message);
    expect(store.holder()).toEqual(holder);
    await opened.value.release();
  };

  it("writes nothing, and says nothing of who held it before", async () => {
    await held();
    const before = readFileSync(join(folder, "lock"), "utf8");
    expect(store.holder()).toBeUndefined();
    expect(readFileSync(join(folder, "lock"), "utf8")).toBe(before);
  });

  it("is in nobody's way, neither of who opens it nor of others who look", async () => {
    // As a look on a slow machine: it has the lock for a moment, and has said so before we begin.
    const script = 'exec 3<"$0"; flock -s 3; echo looking; sleep 0.02';
    const looking = spawn("sh", ["-c", script, join(folder, "lock")], { stdio: "pipe" });
    const ended = new Promise((resolve) => looking.once("close", resolve));
    await new Promise((resolve) => looking.stdout.once("data", resolve));
    expect(store.holder()).toBeUndefined();
    await held();
    await ended;
  });
});
