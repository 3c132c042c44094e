import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import { fenced, quoted, table } from "./markdown.ts";

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

const parsed = (text: string): Node =>
  fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node;

const nodesOf = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(nodesOf)];

const hostile = [
  "@team please",
  "fixes #1",
  "closes https://github.com/o/r/issues/1 www.example.org a@b.co",
  "a | b \\| c \\\\| d \\",
  "`` ` ```",
  "</code><script>alert(1)</script><img src=x onerror=y>",
  "</table>",
  "![x](https://example.org/x.png) [y](javascript:z)",
  "*bold* _it_ ~~gone~~ **b**",
  "one\n\n# two\n- three\r\n::error::x",
  "&lt;b&gt; &#64;team <!-- x",
  "\u001b[31mred\u202egnirts",
  "$x^2$ :smile: ==",
  "- [ ] a task",
];

describe("other people's text", () => {
  it.each(hostile)("is one cell of a table, and nothing else: %j", (text) => {
    const tree = parsed(table(["a", "b"], [[quoted(text), "end"]]).join("\n"));
    expect(tree.children?.map(({ type }) => type)).toEqual(["table"]);
    const rows = tree.children?.[0]?.children ?? [];
    expect(rows.map((row) => row.children?.length)).toEqual([2, 2]);
    const cell = rows[1]?.children?.[0];
    const inside = nodesOf(cell as Node).slice(1);
    expect(inside.filter(({ type }) => type === "html").map(({ value }) => value)).toEqual([
      "<code>",
      "</code>",
    ]);
    const others = inside.filter(({ type }) => type !== "html" && type !== "text");
    // An address of e-mail may become a link to itself; within code it is no more than that.
    expect(others.map(({ type }) => type).filter((type) => type !== "link")).toEqual([]);
  });

  it("reads as it was written", () => {
    const cell = nodesOf(parsed(quoted("a | *b* <i> @c #1 \\ `")));
    expect(cell.flatMap(({ type, value }) => (type === "text" ? [value] : [])).join("")).toBe(
      "a | *b* <i> @c #1 \\ `",
    );
  });

  it("calls nobody, in no place where names are looked for", () => {
    // Between `<code>` and its end GitHub looks for no names and no numbers of issues.
    expect(quoted("@team #1")).toBe("<code>&#64;team &#35;1</code>");
  });

  it.each(hostile)("stays within its fence: %j", (text) => {
    const tree = parsed([...fenced([text, "```", "~~~", text]), "", "after"].join("\n"));
    expect(tree.children?.map(({ type }) => type)).toEqual(["code", "paragraph"]);
  });
});
