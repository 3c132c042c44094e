/** `autodev agents` and `autodev agents test`, with the real programs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentName, agents, programOf } from "./agents.ts";
import { processesOf } from "./processes.ts";
import { makeProject, type Project } from "./project.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

const here = join(process.cwd(), "e2e");
const names = (Object.keys(agents) as AgentName[]).filter((name) =>
  existsSync(programOf(name, here)),
);

describe.skipIf(names.length === 0)("agents that are installed", () => {
  let model: ScriptedModel;
  let project: Project;
  beforeAll(async () => {
    model = await startScriptedModel(({ conversation }) => {
      const said = conversation.entries.map(({ text }) => text).join("\n");
      const word = /hello-[0-9a-f]{8}/.exec(said)?.[0] ?? "no word";
      return [
        { write: { path: "hello.txt", content: `${word}\n` } },
        {
          json: {
            phase_id: "1",
            status: "complete",
            tasks: { total: 1, completed: 1 },
            gates: {},
            commit_message: "chore: a word",
            files: { created: ["hello.txt"], modified: [], deleted: [] },
            plan_updated: false,
            error: null,
          },
        },
        { say: "It is written." },
      ];
    });
    const urls = Object.fromEntries(names.map((name) => [name, model.url]));
    project = makeProject(urls, { "README.md": "# A project\n" });
  });
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  it("are listed with their versions", async () => {
    const { out } = await project.autodev("agents", "--json");
    const listed = (JSON.parse(out) as { agents: { name: string; version: string | null }[] })
      .agents;
    for (const name of names) {
      const version = listed.find((each) => each.name === name)?.version;
      expect(version, name).toBe(agents[name].version);
    }
  });

  it.each(names)("%s passes the self-test", async (name) => {
    const { code, out, err } = await project.autodev("agents", "test", name);
    expect(code, out + err).toBe(0);
    expect(processesOf(project.place)).toEqual([]);
  });
});
