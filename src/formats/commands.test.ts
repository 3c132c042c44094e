import { describe, expect, it } from "vitest";
import type { Phase } from "../core/plan/plan.ts";
import { writeSuperplan } from "../core/plan/write-superplan.ts";
import { fencedText } from "./commands.ts";
import type { Document, Fence } from "./document.ts";
import { readPlan } from "./read-plan.ts";

function phaseOf(text: string, file = "a-plan.md"): Phase {
  const read = readPlan([{ file, text }]);
  const phase = read.ok ? read.value.plan.phases[0] : undefined;
  if (!phase) throw new Error(read.ok ? "no phase" : read.failure.message);
  return phase;
}
const phaseWith = (section: string): Phase =>
  phaseOf(`# Plan\n\n### Phase 1: One\n\n- [ ] work\n\n${section}\n`);
const commandsOf = (section: string): string[] =>
  phaseWith(section).commands.map(({ text }) => text);
const fence = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\`\n`;

describe("the commands of a phase", () => {
  it.each(["sh", "bash", "shell", "zsh", "BASH", "bash title=x", "{.bash}"])(
    "are its blocks in %s",
    (info) => {
      expect(commandsOf(fence(info, "npm ci\nnpm run build"))).toEqual(["npm ci\nnpm run build"]);
    },
  );

  it.each(["", "text", "ts", "shellcheck", "powershell", "bat"])("are none in `%s`", (info) => {
    expect(commandsOf(fence(info, "npm ci"))).toEqual([]);
  });

  it("know their place", () => {
    const [command] = phaseWith(fence("sh", "npm ci")).commands;
    expect(command?.place).toMatchObject({ file: "a-plan.md", line: 7, column: 1 });
  });

  it("of a session are what was typed, not what was answered", () => {
    const session = "$ npm ci\nadded 5 packages\n$ echo a \\\n>   b\na b\n$ ls";
    expect(commandsOf(fence("console", session))).toEqual(["npm ci\necho a \\\n  b\nls"]);
    expect(commandsOf(fence("console", "npm ci"))).toEqual([]);
    expect(commandsOf(fence("bash", "$ npm ci\nadded 5"))).toEqual(["npm ci"]);
  });

  it("are not there where there is nothing to run", () => {
    expect(commandsOf(fence("sh", "# only a remark\n\n  # another"))).toEqual([]);
    expect(commandsOf("```sh\n```\n")).toEqual([]);
  });

  it("stand below the file whose content they are not", () => {
    const phase = phaseWith(
      `##### File: \`src/a.ts\` (CREATE)\n\n${fence("ts", "1;")}\n${fence("bash", "npm test")}`,
    );
    expect(phase.commands.map(({ text }) => text)).toEqual(["npm test"]);
    expect(phase.files[0]?.blocks).toEqual([{ info: "ts", text: "1;\n" }]);
  });

  it.each(["run.sh", "bin/setup", ".husky/pre-commit", ".env", ".env.test"])(
    "are not the script %s that a block writes",
    (path) => {
      const phase = phaseWith(
        `##### File: \`./${path}\` (CREATE)\n\n${fence("sh", "A=1")}\n${fence("sh", "echo b")}`,
      );
      expect(phase.files[0]?.blocks).toEqual([{ info: "sh", text: "A=1\n" }]);
      expect(phase.commands.map(({ text }) => text)).toEqual(["echo b"]);
    },
  );

  it("are those of a script only by its first line, if its name does not say so", () => {
    const phase = phaseWith(
      `##### File: \`tools/go.tool\` (CREATE)\n\n${fence("sh", "#!/bin/sh\nA=1")}`,
    );
    expect(phase.files[0]?.blocks.length).toBe(1);
    expect(phase.commands).toEqual([]);
  });

  it("are read under a box of Kiro's too", () => {
    const text = `# Implementation Plan\n\n- [ ] 1. Set up\n  - [ ] 1.1 Install\n\n    \`\`\`bash\n    npm ci\n      x\n    \`\`\`\n\n- [ ] 2. Go on\n`;
    expect(phaseOf(text, "tasks.md").commands.map((each) => each.text)).toEqual(["npm ci\n  x"]);
  });

  it("survive an import", () => {
    const read = readPlan([
      {
        file: "a-plan.md",
        text: `# P\n\n### Phase 1: One\n\n- [ ] work\n\n${fence("bash", "echo '```'\nnpm ci").replace(/```(bash|\n$)/g, "````$1")}`,
      },
    ]);
    if (!read.ok) throw new Error(read.failure.message);
    const before = read.value.plan.phases[0];
    const after = phaseOf(writeSuperplan(read.value.plan, "P"));
    expect(before?.commands.map(({ text }) => text)).toEqual(["echo '```'\nnpm ci"]);
    expect(after.commands.map(({ text }) => text)).toEqual(["echo '```'\nnpm ci"]);
    expect(after.tasks.map(({ text }) => text)).toEqual(["work"]);
  });
});

describe("the content of a file", () => {
  const contentOf = (section: string): string | undefined =>
    phaseWith(section).files[0]?.blocks[0]?.text;

  it("has no indentation of the list that it stands in", () => {
    expect(
      contentOf(
        "- Create: `src/a.py`\n\n  ```python\n  def f():\n      return 1\n\n  f()\n  ```\n",
      ),
    ).toBe("def f():\n    return 1\n\nf()\n");
    expect(contentOf("1. Create: `src/a.py`\n\n\t```python\n\tif x:\n\t\ty()\n\t```\n")).toBe(
      "if x:\n\ty()\n",
    );
  });

  it("has no marks of the quotation that it stands in", () => {
    expect(
      contentOf("> File: `src/a.md` (CREATE)\n>\n> ```md\n> > quoted\n>\n>   b\n> ```\n"),
    ).toBe("> quoted\n\n  b\n");
  });

  it("keeps its own spaces, line ends and fences", () => {
    expect(contentOf("##### File: `a.md` (CREATE)\n\n```md\n  a  \n\n\tb\n```\n")).toBe(
      "  a  \n\n\tb\n",
    );
    expect(contentOf("##### File: `a.md` (CREATE)\r\n\r\n```md\r\na\r\n\r\nb\r\n```\r\n")).toBe(
      "a\r\n\r\nb\r\n",
    );
    expect(contentOf("##### File: `a.md` (CREATE)\n\n```md\n```sh\nls\n```\n```\n")).toBe(
      "```sh\nls\n```\n",
    );
  });

  it("may be code without a fence", () => {
    expect(contentOf("##### File: `a.py` (CREATE)\n\n    def f():\n        return 1\n")).toBe(
      "def f():\n    return 1",
    );
  });
});

describe("a block far down in a long file", () => {
  it("is read by its own lines: what is above it is not looked through each time", () => {
    const text = `${"a line that says nothing\n".repeat(800_000)}  \`\`\`sh\n  ls\n  \`\`\`\n`;
    const from = text.indexOf("```");
    const block = { from, content: { from: from + 6, to: text.lastIndexOf("  ```") } } as Fence;
    const document = { text, raw: (range) => text.slice(range.from, range.to) } as Document;
    const read = Array.from({ length: 10_000 }, () => fencedText(document, block));
    expect(new Set(read)).toEqual(new Set(["ls\n"]));
  });
});
