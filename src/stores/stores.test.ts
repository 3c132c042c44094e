import { mkdirSync, mkdtempSync } from "node:fs";
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
