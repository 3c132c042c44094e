/** A step by a program that speaks as Codex does: what it is seen to do while it works counts. */
import { expect, it } from "vitest";
import { makePuppets } from "./puppet-agents.ts";
import { binary, makeRepo, run } from "./rig.ts";

/** Leaves the examples of the skill that it is told, and tells of each as Codex tells of an edit. */
const works = `
  if (phase !== "1") done({ status: "failed", asks: { question: "Go on?", options: ["Yes", "No"], recommendation: "A", reason: "it is next" } });
  const examples = [...prompt.matchAll(/^\`\`\`md (\\S+)\\n([\\s\\S]*?)^\`\`\`/gm)].map(([, file, text]) => [file, text]);
  for (const [file, text] of [...examples, ["00_problem/input_data/one.csv", "a,b\\n"]]) {
    write("_docs/" + file, text);
    say({ type: "item.completed", item: { id: file, type: "file_change", status: "completed", changes: [{ path: "_docs/" + file, kind: "add" }] } });
  }
  require("node:child_process").execFileSync(process.env.AUTODEV_SUB_STEP, ["4", "input-data"]);
  done();`;

it("a session that is done when its last sub-step is heard of is not begun anew for its length", async () => {
  const puppets = makePuppets({ codex: works });
  const repo = makeRepo({ "README.md": "# A project\n" });
  const ran = await run(process.execPath, [binary(), "--agent=codex", "--no-input"], {
    cwd: repo.root,
    env: puppets.env,
  });
  expect(ran.code, ran.all).toBe(3);
  const events = await repo.events();
  const ends = events.filter(({ type }) => type === "skill-ended").map(({ how }) => how);
  expect(ends).toEqual(["done", "asked"]);
  expect(puppets.told("codex")).toHaveLength(2);
});
