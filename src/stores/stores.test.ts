import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
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
