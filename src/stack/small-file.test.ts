import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findParts } from "../activities/find-parts.ts";
import { survey } from "../activities/survey.ts";
import { readConfig } from "../config.ts";
import { initRepository, openProject } from "../project.ts";
import { readSmallFile, smallFileAt } from "./small-file.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-small-")));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

const at = (name: string): string => path.join(scratch, name);

describe("a small file", () => {
  it("is read, through a link too", () => {
    fs.writeFileSync(at("a"), "ä\n");
    fs.symlinkSync("a", at("link"));
    fs.writeFileSync(at("empty"), "");
    expect([readSmallFile(at("a")), readSmallFile(at("link"))]).toEqual(["ä\n", "ä\n"]);
    expect(readSmallFile(at("empty"))).toBe("");
  });

  it("is nothing that has no end, makes one wait, or is no file", () => {
    fs.symlinkSync("/dev/zero", at("device"));
    spawnSync("mkfifo", [at("pipe")]);
    for (const other of [at("device"), at("pipe"), scratch])
      expect(readSmallFile(other)).toEqual({ why: "it is not a file" });
    fs.writeFileSync(at("large"), "x".repeat(1024 ** 2 + 1));
    expect(readSmallFile(at("large"))).toEqual({ why: "it is larger than 1024 KB" });
    expect([smallFileAt(at("device")), smallFileAt(at("none"))]).toEqual([undefined, undefined]);
  });
});

describe("a device in a file's place", () => {
  const files =
    ".gitmodules package.json Cargo.toml pnpm-workspace.yaml go.work _docs/_repo-config.yaml";
  it.each(files.split(" "))("as %s is taken for nothing", (file) => {
    const root = at(`repo-${path.basename(file)}`);
    fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    initRepository(root);
    fs.symlinkSync("/dev/zero", path.join(root, file));
    expect(findParts(openProject(root))).toEqual([]);
    const { members, hasSource } = survey(root, []);
    expect([members, hasSource]).toEqual([0, false]);
  });

  it("as the settings is told", () => {
    const root = at("settings");
    fs.mkdirSync(path.join(root, ".autodev"), { recursive: true });
    fs.symlinkSync("/dev/zero", path.join(root, ".autodev/config.yaml"));
    expect(readConfig(root, { HOME: root })).toMatchObject({
      ok: false,
      failure: { code: "usage", message: ".autodev/config.yaml cannot be used: it is not a file" },
    });
  });
});
