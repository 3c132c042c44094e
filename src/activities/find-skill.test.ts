import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { builtInFolder, findSkill, listSkills, skillFolders } from "./find-skill.ts";

const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-find-skill-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
function project(files: Readonly<Record<string, string>> = {}): string {
  const root = path.join(scratch, String(count++));
  fs.mkdirSync(root);
  for (const [name, text] of Object.entries(files)) write(root, name, text);
  return root;
}

function write(root: string, name: string, text: string | Uint8Array): void {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
}

const skill = (description: string): string => `---\ndescription: ${description}\n---\nDo it.\n`;

const failureOf = (root: string, name: string) => {
  const found = findSkill(root, name);
  if (found.ok) throw new Error(`it was found: ${found.value.file}`);
  return found.failure;
};

describe("a skill is found", () => {
  it("in the first of the folders that has it, and then in our package", () => {
    const root = project();
    for (const from of [...skillFolders].reverse()) {
      write(root, `${from}/problem/SKILL.md`, skill(from));
      expect(findSkill(root, "problem")).toMatchObject({
        ok: true,
        value: {
          name: "problem",
          description: from,
          origin: from,
          file: `${from}/problem/SKILL.md`,
          folder: path.join(root, from, "problem"),
        },
      });
    }
    expect(findSkill(project(), "problem")).toMatchObject({
      ok: true,
      value: { name: "problem", own: true, origin: "built-in" },
    });
  });

  it("in a mode", () => {
    const text =
      "---\nname: tea\ndescription: x\nphases: [{ name: boil }]\nmodes: { iced: { phases: [{ name: cool }] } }\n---\n";
    const root = project({ ".autodev/skills/tea/SKILL.md": text });
    expect(findSkill(root, "tea")).toMatchObject({
      value: { phases: [{ name: "boil" }], modes: ["iced"] },
    });
    expect(findSkill(root, "tea", "iced")).toMatchObject({ value: { phases: [{ name: "cool" }] } });
  });

  it("through a link that stays in the repository", () => {
    const root = project({ "shared/tea/SKILL.md": skill("shared") });
    fs.mkdirSync(path.join(root, ".claude"));
    fs.symlinkSync("../shared", path.join(root, ".claude/skills"));
    expect(findSkill(root, "tea")).toMatchObject({ ok: true, value: { description: "shared" } });
  });

  it("where the repository itself is reached through a link", () => {
    const root = project({ ".autodev/skills/tea/SKILL.md": skill("tea") });
    const link = `${root}-link`;
    fs.symlinkSync(root, link);
    expect(findSkill(link, "tea")).toMatchObject({ ok: true });
  });
});

describe("a skill is not found", () => {
  it("under a name that nobody has; a near one is named", () => {
    const failure = failureOf(project(), "monorepo-discovery");
    expect(failure).toMatchObject({ code: "not-found" });
    expect(failure.hint).toContain("did you mean monorepo-discover?");
  });

  it.each(["", "..", "../secret", "a/b", "/etc", "Tea", ".hidden", "a\u0000b"])(
    "under %j, which is no name",
    (name) => {
      const root = project({ "secret/SKILL.md": skill("secret"), ".autodev/SKILL.md": skill("x") });
      expect(failureOf(root, name)).toMatchObject({ code: "not-found" });
    },
  );

  it("in a file where a folder should be", () => {
    const root = project({ ".autodev/skills": "oops", ".cursor/skills/tea": "oops" });
    expect(failureOf(root, "tea")).toMatchObject({ code: "not-found" });
    expect(findSkill(root, "plan")).toMatchObject({ ok: true, value: { origin: "built-in" } });
  });
});

describe("a skill that is there and cannot be used does not give way to the next", () => {
  const outside = project({ "tea/SKILL.md": skill("outside") });

  it.each([
    ["the file", ".autodev/skills/plan/SKILL.md", "tea/SKILL.md"],
    ["its folder", ".autodev/skills/plan", "tea"],
    ["the folder of all", ".autodev/skills", "."],
  ])("because %s is a link out of the repository", (_, from, to) => {
    const root = project();
    if (to === ".") write(outside, "plan/SKILL.md", skill("outside"));
    fs.mkdirSync(path.dirname(path.join(root, from)), { recursive: true });
    fs.symlinkSync(path.join(outside, to), path.join(root, from));
    const failure = failureOf(root, "plan");
    expect(failure).toMatchObject({ code: "skill-invalid", file: ".autodev/skills/plan/SKILL.md" });
    expect(failure.message).toContain("leads out of the repository");
  });

  it.each([
    ["it is too large", Buffer.alloc(257 * 1024, "x"), "it has 257 KB, and 256 are the most"],
    ["it is not UTF-8", Buffer.from([0x64, 0xff, 0xfe]), "it is not UTF-8"],
    ["its front matter is wrong", Buffer.from("---\nphases: 3\n---\n"), "name is missing"],
  ])("because %s", (_, bytes, words) => {
    const root = project();
    write(root, ".cursor/skills/plan/SKILL.md", bytes);
    const failure = failureOf(root, "plan");
    expect(failure).toMatchObject({ code: "skill-invalid", hint: expect.stringMatching(/\w/) });
    expect(failure.message).toContain(words);
  });

  it("because it is a folder, a pipe or a link that leads nowhere", () => {
    const root = project();
    fs.mkdirSync(path.join(root, ".autodev/skills/plan/SKILL.md"), { recursive: true });
    expect(failureOf(root, "plan").message).toContain("it is not a file");
    fs.mkdirSync(path.join(root, ".autodev/skills/deploy"));
    execFileSync("mkfifo", [path.join(root, ".autodev/skills/deploy/SKILL.md")]);
    expect(failureOf(root, "deploy").message).toContain("it is not a file");
    fs.mkdirSync(path.join(root, ".autodev/skills/tea"));
    fs.symlinkSync("nowhere", path.join(root, ".autodev/skills/tea/SKILL.md"));
    expect(failureOf(root, "tea").message).toContain("leads nowhere");
  });
});

describe("the list of skills", () => {
  it("has each once, as it is found, and says which cannot be used", () => {
    const root = project({
      ".autodev/skills/problem/SKILL.md": skill("ours"),
      ".cursor/skills/problem/SKILL.md": skill("theirs"),
      ".agents/skills/tea/SKILL.md": skill("tea"),
      ".agents/skills/notes/README.md": "no skill",
      ".claude/skills/broken/SKILL.md": "---\nphases: 3\n---\n",
    });
    const { skills, failures } = listSkills(root);
    const names = skills.map(({ head }) => head.name);
    expect(names).toEqual([...new Set(names)].sort());
    expect(skills.find(({ head }) => head.name === "problem")?.head.description).toBe("ours");
    expect(names).toContain("tea");
    expect(names).toContain("decompose");
    expect(names).not.toContain("notes");
    expect(failures.map(({ file }) => file)).toEqual([".claude/skills/broken/SKILL.md"]);
  });
});

describe("the skills that come with us", () => {
  it("are in the package", () => {
    const root = path.join(import.meta.dirname, "../..");
    expect(builtInFolder()).toBe(path.join(root, "skills"));
    const { files } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as {
      files: string[];
    };
    expect(files).toContain("skills");
  });

  it("are found by a program that is bundled as ours is", async () => {
    const root = project({
      "skills/problem/SKILL.md": skill("first"),
      "skills/tea/SKILL.md": skill("shipped"),
    });
    const program = path.join(root, "dist/cli/main.cjs");
    await build({
      stdin: {
        contents: `import { findSkill } from "./find-skill.ts";
          const found = findSkill("/", "tea");
          console.log(found.ok ? found.value.description : found.failure.message);`,
        resolveDir: import.meta.dirname,
        loader: "ts",
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "cjs",
      define: { "import.meta.dirname": "__dirname" },
      logLevel: "error",
    });
    expect(execFileSync(process.execPath, [program], { encoding: "utf8" })).toBe("shipped\n");
  });
});
