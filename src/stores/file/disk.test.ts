import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf, realDisk } from "./disk.ts";

describe("the system's word for what went wrong", () => {
  const errorWith = (code: string, errno?: number): Error =>
    Object.assign(new Error(code), { code, ...(errno !== undefined && { errno }) });

  it("is Node's, where Node has one", () => {
    expect(codeOf(errorWith("ENOSPC", -28))).toBe("ENOSPC");
  });

  it("is found by its number, however Node says that it has none", () => {
    const number = -constants.errno.EDQUOT;
    // Of what is asked and waited for, and of what is done at once.
    expect(codeOf(errorWith(`Unknown system error ${number}`, number))).toBe("EDQUOT");
    expect(codeOf(errorWith("UNKNOWN", number))).toBe("EDQUOT");
    expect(codeOf(errorWith("UNKNOWN", -4000))).toBe("EUNKNOWN");
  });

  it("is missing where it was not the system: that is a bug of ours", () => {
    expect(codeOf(errorWith("ERR_INVALID_ARG_TYPE"))).toBe("");
    expect(codeOf(new TypeError("undefined is not a function"))).toBe("");
  });
});

describe("folders are made", () => {
  const root = mkdtempSync(join(tmpdir(), "autodev-folders-"));

  it("with all above them, and once more without a word", async () => {
    await realDisk.makeFolder(join(root, "a", "b", "c"));
    await realDisk.makeFolder(join(root, "a", "b", "c"));
    expect(readdirSync(join(root, "a", "b"))).toEqual(["c"]);
  });

  it("by two at once", async () => {
    const folder = join(root, "d", "e", "f");
    await Promise.all([realDisk.makeFolder(folder), realDisk.makeFolder(folder)]);
    expect(readdirSync(join(root, "d", "e"))).toEqual(["f"]);
  });

  it("not where a file stands", async () => {
    writeFileSync(join(root, "file"), "");
    await expect(realDisk.makeFolder(join(root, "file"))).rejects.toThrow(/EEXIST/);
    await expect(realDisk.makeFolder(join(root, "file", "x"))).rejects.toThrow(/ENOTDIR/);
  });

  it.runIf(process.platform === "linux")(
    "not where nobody can make any, and that is an end of it",
    async () => {
      await expect(realDisk.makeFolder("/proc/nobody/can/do/that")).rejects.toThrow(/ENOENT/);
    },
  );
});
