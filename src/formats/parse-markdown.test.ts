import { describe, expect, it } from "vitest";
import { walkAll } from "./document.ts";
import { parseInPieces } from "./parse-markdown.ts";

const inPieces = (text: string, size: number): string[] =>
  [...parseInPieces(text, size)].map((piece) => piece.text);

describe("a document in pieces", () => {
  it("is cut before headings, and nowhere else", () => {
    const text = "# One\n\ntext\n## Two\n  # no cut\n#none\n####### nor here\n# Three";
    expect(inPieces(text, 1)).toEqual([
      "# One\n\ntext",
      "## Two\n  # no cut\n#none\n####### nor here",
      "# Three",
    ]);
    expect(inPieces(text, 1000)).toEqual([text]);
    expect(inPieces("", 1)).toEqual([]);
  });

  it("is not cut in a fence or in HTML", () => {
    const fence = "```sh\n# a comment\n## another\n```\ntext";
    const comment = "<!--\n# hidden\n\n# hidden\n-->\n\ntext";
    for (const text of [`# One\n${fence}`, `# One\n${comment}`]) {
      const [first, second] = inPieces(`${text}\n# Two${"\ntext".repeat(20)}\n# Three`, 1);
      expect(first?.startsWith(text)).toBe(true);
      expect(second).toMatch(/^# T/);
    }
  });

  it("is cut right after a fence that is closed, and after one in a list, which the heading ends", () => {
    expect(inPieces("```\n# a\n```\n# Two", 1)).toEqual(["```\n# a\n```", "# Two"]);
    expect(inPieces("- item\n  ```\n  code\n# Two", 1)).toEqual(["- item\n  ```\n  code", "# Two"]);
  });

  it("is read no more than twice where nothing is ever closed", () => {
    const lines = "# heading\n".repeat(4000);
    let characters = 0;
    for (const { text } of parseInPieces(`\`\`\`\n${lines}`, 64)) characters += text.length;
    expect(characters).toBe(4 + lines.length);
  });

  it.each([
    "> quote\n# Heading\n- [ ] box\n# Heading\n1. [x] box\n\n\n# Heading",
    "| a | b |\n|---|---|\n| 1 | 2 |\n# Heading\n**bold** ~~struck~~ `code` [link](there)\n# Heading\n\ttext",
    "- list\n\n  - nested\n\n\n# Heading\nlazy\n===\n# Heading\n***\n# Heading \n\n",
  ])("is found in them what is found in the whole: %#", (text) => {
    expect(walkAll(text, 7, 1)).toEqual(walkAll(text, 7, Number.POSITIVE_INFINITY));
  });
});
