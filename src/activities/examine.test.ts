import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { examineStack } from "./examine.ts";
import type { Project } from "./hold.ts";

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-examine-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

function examined(files: Readonly<Record<string, string>>): ReturnType<typeof examineStack> {
  const root = fs.mkdtempSync(path.join(scratch, "project-"));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return examineStack({ root } as Project);
}

const packageJson = JSON.stringify({ scripts: { test: "node --test", lint: "eslint ." } });

describe("the doctor, of what a project is built with", () => {
  it("tells the stack and each gate, with the reason", () => {
    const { stack, findings } = examined({ "package.json": packageJson });
    expect(stack).toMatchObject({ language: "javascript", testFramework: "node:test" });
    expect(findings.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "ok stack: javascript, npm, node:test, eslint",
      "ok gate lint: npm run lint (scripts.lint of package.json)",
      "note gate format is skipped: no script or target does it, and none of prettier, dprint, biome is used",
      expect.stringMatching(/^note gate typecheck is skipped: /),
      "ok gate test: npm run test (scripts.test of package.json)",
    ]);
    expect(stack.gates.at(-1)).toEqual({
      name: "test",
      command: "npm run test",
      why: "scripts.test of package.json",
    });
  });

  it("tells what people settled as theirs", () => {
    const { findings, stack } = examined({
      "package.json": packageJson,
      ".autodev/config.yaml": "setup: ./fill.sh\ngates:\n  test: npm run all\n  lint: false\n",
    });
    const messages = findings.map(({ message }) => message);
    expect(messages).toContain("gate test: npm run all (.autodev/config.yaml says so)");
    expect(messages).toContain("gate lint is skipped: dropped in .autodev/config.yaml");
    expect(messages).toContain("set-up: ./fill.sh (.autodev/config.yaml says so)");
    expect(stack.setup?.command).toBe("./fill.sh");
  });

  it("warns of code that nothing checks, with the lines that would", () => {
    const { findings } = examined({ "main.zig": "" });
    expect(findings.at(-1)).toEqual({
      code: "no-gates",
      level: "warning",
      message: "no gate can be run here: nothing would check what an agent did",
      fix: 'add to .autodev/config.yaml: gates: { test: "<your command>" }',
    });
  });

  it("does not warn where there is no code yet", () => {
    const { findings } = examined({ "README.md": "" });
    expect(findings.filter(({ level }) => level !== "note")).toEqual([]);
  });

  it("warns of a gate whose program is missing", () => {
    const { findings } = examined({
      ".autodev/config.yaml": "gates:\n  test: no-such-program x\n",
    });
    expect(findings.find(({ code }) => code === "gate-program")).toMatchObject({
      level: "warning",
      message: expect.stringContaining("no-such-program is not on this machine"),
    });
  });

  it("tells a broken configuration with its line, and goes on", () => {
    const { findings, stack } = examined({
      "package.json": packageJson,
      ".autodev/config.yaml": "gates: 3\n",
    });
    expect(findings[0]).toMatchObject({ code: "config", level: "error", line: 1 });
    expect(stack.language).toBe("javascript");
  });

  it("passes over folders that others filled, and links", () => {
    const { stack } = examined({
      "node_modules/a/package.json": packageJson,
      ".venv/pyproject.toml": "[tool.pytest]\n",
    });
    expect(stack.language).toBeNull();
  });
});
