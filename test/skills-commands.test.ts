/** `autodev skills list|show|check|eject` through the real binary. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { expectSchema } from "./build-rig.ts";
import { errorOf, jsonOf, makeRepo, type Repo } from "./rig.ts";

interface SkillView {
  readonly name: string;
  readonly from: string;
  readonly usedBy: readonly string[];
}

const list = async (repo: Repo): Promise<readonly SkillView[]> => {
  const value = jsonOf<{ skills: SkillView[] }>(await repo.autodev("skills", "list", "--json"));
  expectSchema(value, "skills-list");
  return value.skills;
};
const named = async (repo: Repo, name: string): Promise<SkillView | undefined> =>
  (await list(repo)).find((skill) => skill.name === name);

const check = async (repo: Repo, code: number): Promise<{ code: string; message: string }[]> => {
  const value = jsonOf<{ findings: { code: string; message: string }[] }>(
    await repo.autodev("skills", "check", "--json"),
    code,
  );
  expectSchema(value, "skills-check");
  return value.findings;
};

describe("the skills that there are", () => {
  it("are ours, each with the steps that it does, and fit our flows", async () => {
    const repo = makeRepo({});
    expect(await named(repo, "decompose")).toMatchObject({
      from: "built-in",
      usedBy: ["greenfield 5", "existing-code 5"],
    });
    expect(await check(repo, 0)).toEqual([]);
    const shown = jsonOf<{ text: string }>(
      await repo.autodev("skills", "show", "problem", "--json"),
    );
    expectSchema(shown, "skills-show");
    expect(shown.text).toMatch(/^---\nname: problem\n/);
    expect((await repo.autodev("skills", "show", "problem")).out).toBe(shown.text);
  });

  it("are those of other tools too; what no step uses is nobody's fault", async () => {
    const repo = makeRepo({});
    repo.write(
      ".claude/skills/tea/SKILL.md",
      "---\nname: tea\ndescription: Makes tea\n---\nBoil.\n",
    );
    repo.write(".agents/skills/bad/SKILL.md", "---\nphases: 3\n---\n");
    expect(await named(repo, "tea")).toMatchObject({ from: ".claude/skills", usedBy: [] });
    expect(await check(repo, 1)).toMatchObject([{ code: "skill-invalid" }]);
    expect((await repo.autodev("skills", "list")).err).toContain(".agents/skills/bad/SKILL.md");
  });

  it("are not guessed", async () => {
    const repo = makeRepo({});
    const { code, hint } = errorOf(await repo.autodev("skills", "show", "problm", "--json"));
    expect(code).toBe("not-found");
    expect(hint).toContain("did you mean problem?");
  });
});

describe("a skill of ours that is copied", () => {
  it("is the project's own from then on, and judged like any other", async () => {
    const repo = makeRepo({});
    const made = jsonOf(await repo.autodev("skills", "eject", "problem", "--json"));
    expectSchema(made, "skills-eject");
    const file = ".autodev/skills/problem/SKILL.md";
    expect(made).toMatchObject({ files: [file] });
    expect(await named(repo, "problem")).toMatchObject({ from: ".autodev/skills" });
    expect(await check(repo, 0)).toEqual([]);
    repo.write(
      file,
      repo.read(file).replace("path: 00_problem/problem.md", "path: 00_problem/x.md"),
    );
    const [first] = await check(repo, 1);
    expect(first).toMatchObject({ code: "step-unproved" });
    expect(first?.message).toContain("greenfield, step 1 Problem");
    const again = errorOf(await repo.autodev("skills", "eject", "problem", "--json"));
    expect(again.message).toContain("the project's own already");
    expect(repo.read(file)).toContain("00_problem/x.md");
  });

  it("is never written through a link", async () => {
    const repo = makeRepo({});
    const outside = path.join(path.dirname(repo.root), `${path.basename(repo.root)}-outside`);
    fs.mkdirSync(outside);
    fs.symlinkSync(outside, path.join(repo.root, ".autodev"));
    const { code, message } = errorOf(await repo.autodev("skills", "eject", "problem", "--json"));
    expect(code).toBe("disk");
    expect(message).toContain("in the way");
    expect(fs.readdirSync(outside)).toEqual([]);
  });
});
