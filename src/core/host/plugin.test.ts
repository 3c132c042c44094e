import { describe, expect, it } from "vitest";
import { readSkill } from "../../formats/skill.ts";
import { pluginFiles } from "./plugin.ts";

const files = pluginFiles("1.2.3");
const jsonIn = (file: string): Record<string, unknown> =>
  JSON.parse(files.get(file) ?? "") as Record<string, unknown>;

describe("the plugin", () => {
  it("has the manifests that hosts look for", () => {
    const manifest = { name: "autodev", version: "1.2.3", description: expect.any(String) };
    expect(jsonIn(".claude-plugin/plugin.json")).toMatchObject(manifest);
    expect(jsonIn(".codex-plugin/plugin.json")).toMatchObject(manifest);
    expect(jsonIn(".claude-plugin/marketplace.json")).toMatchObject({
      name: "autodev",
      owner: { name: expect.any(String) },
      plugins: [{ name: "autodev", source: "./" }],
    });
  });

  it("starts the server by its name, in the project, and from no place in the plugin", () => {
    const server = { command: "autodev", args: ["mcp"] };
    expect(jsonIn(".mcp.json")).toEqual({ mcpServers: { autodev: { ...server, cwd: "." } } });
    const { mcpServers } = jsonIn(".codex-plugin/plugin.json");
    expect(jsonIn(String(mcpServers).replace(/^\.\//, ""))).toEqual({
      mcpServers: { autodev: server },
    });
    expect([...files.values()].join()).not.toMatch(/PLUGIN_ROOT|\$\{/);
  });

  it("has four skills, as the Agent Skills format wants them", () => {
    const skills = [...files].filter(([file]) => file.endsWith("/SKILL.md"));
    const names = skills.map(([file]) => file.split("/")[1] ?? "");
    expect(names.sort()).toEqual(["autobuild", "autodev", "autopilot", "status"]);
    for (const [file, text] of skills) {
      const read = readSkill(text, file);
      if (!read.ok) throw new Error(read.failure.message);
      expect(file).toBe(`skills/${read.value.name}/SKILL.md`);
      expect(text.split("\n").length).toBeLessThan(40);
      // What Claude Code and Gemini would run, or fill in, before an agent reads it.
      expect(text).not.toMatch(/!`|!\{|@\{|\$ARGUMENTS|\{\{/);
    }
  });
});
