import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { glance, hold, look, openFlow, openProject } from "../project.ts";

const nobody = { ask: async () => ({ ok: true, value: undefined }) as const, by: "nobody" };

async function atRest(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "autodev-glance-"));
  execFileSync("git", ["init", "-q", root]);
  const project = openProject(root);
  const held = await hold(project, "test");
  if (!held.ok) throw new Error(held.failure.message);
  const opened = await openFlow(project, held.value, nobody);
  if (!opened.ok) throw new Error(opened.failure.message);
  await held.value.release();
  return root;
}

describe("a glance", () => {
  it("says exactly what a whole look says, at rest", async () => {
    const root = await atRest();
    const looked = look(openProject(root));
    expect(glance(root)?.look).toEqual(looked.ok && looked.value);
  });

  it.each([
    [
      "nothing was recorded yet",
      (root: string) => rmSync(join(root, ".git", "autodev"), { recursive: true }),
    ],
    [
      "the file was edited",
      (root: string) => writeFileSync(join(root, "_docs/_autodev_state.md"), "x"),
    ],
    ["the file is gone", (root: string) => rmSync(join(root, "_docs/_autodev_state.md"))],
    [
      "there is a second file",
      (root: string) => writeFileSync(join(root, "_docs/_autopilot_state.md"), "x"),
    ],
    [
      "the snapshot is damaged",
      (root: string) => writeFileSync(join(root, ".git/autodev/snapshot"), "x"),
    ],
    [
      "a later session has begun",
      (root: string) => {
        mkdirSync(join(root, ".git/autodev/journal/0000"), { recursive: true });
        writeFileSync(join(root, ".git/autodev/journal/0000/00000009.log"), "");
      },
    ],
  ])("leaves it to a whole look when %s", async (_, change) => {
    const root = await atRest();
    expect(glance(root)).toBeDefined();
    change(root);
    expect(glance(root)).toBeUndefined();
  });
});
