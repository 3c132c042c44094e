import { describe, expect, it } from "vitest";
import type { MarkdownNode } from "../core/board/wire.ts";
import { markdownTree } from "./markdown-tree.ts";

const text = (v: string): MarkdownNode => ({ t: "text", v });
const p = (...c: MarkdownNode[]): MarkdownNode => ({ t: "p", c });

/** Every node of a tree. */
function all(nodes: readonly MarkdownNode[]): MarkdownNode[] {
  return nodes.flatMap((node) => ["c" in node ? all(node.c) : [], node].flat());
}

const links = (source: string, file?: string): unknown[] =>
  all(markdownTree(source, file)).flatMap((node) =>
    node.t === "a" ? [node.href ?? node.artifact ?? null] : [],
  );

describe("a document's tree", () => {
  it("has headings, paragraphs and what is emphasised in them", () => {
    expect(markdownTree("# A *b* #\n\nOne **two** ~~three~~ `four`\nfive\n\nSix\n===\n")).toEqual([
      { t: "h", level: 1, c: [text("A "), { t: "em", c: [text("b")] }] },
      p(
        text("One "),
        { t: "strong", c: [text("two")] },
        text(" "),
        { t: "strike", c: [text("three")] },
        text(" "),
        { t: "code", v: "four" },
        text("\nfive"),
      ),
      { t: "h", level: 1, c: [text("Six")] },
    ]);
  });

  it("has lists, tight and loose, numbered from where they begin, and boxes", () => {
    const source = "- a\n- b\n  - c\n\n3. x\n\n   y\n4. z\n\n- [x] done\n- [ ] open\n";
    expect(markdownTree(source)).toEqual([
      {
        t: "ul",
        c: [
          { t: "li", c: [text("a")] },
          { t: "li", c: [text("b"), { t: "ul", c: [{ t: "li", c: [text("c")] }] }] },
        ],
      },
      {
        t: "ol",
        start: 3,
        c: [
          { t: "li", c: [p(text("x")), p(text("y"))] },
          { t: "li", c: [text("z")] },
        ],
      },
      {
        t: "ul",
        c: [
          { t: "li", c: [{ t: "task", done: true, c: [text("done")] }] },
          { t: "li", c: [{ t: "task", done: false, c: [text("open")] }] },
        ],
      },
    ]);
  });

  it("has tables with all their cells, the empty ones too", () => {
    const cell = (t: "th" | "td", v: string): MarkdownNode => ({ t, c: v === "" ? [] : [text(v)] });
    expect(markdownTree("| a | b |\n|---|---|\n| 1 |   |\n|   | 2 |\n")).toEqual([
      {
        t: "table",
        c: [
          { t: "tr", c: [cell("th", "a"), cell("th", "b")] },
          { t: "tr", c: [cell("td", "1"), cell("td", "")] },
          { t: "tr", c: [cell("td", ""), cell("td", "2")] },
        ],
      },
    ]);
  });

  it("has code as it stands, in a quote and in an item too", () => {
    expect(markdownTree("```ts title\na\n\n  b\n```\n\n    c\n    d\n")).toEqual([
      { t: "pre", lang: "ts", v: "a\n\n  b" },
      { t: "pre", lang: "", v: "c\nd" },
    ]);
    expect(markdownTree("> ```\n> a\n> b\n> ```\n")).toEqual([
      { t: "quote", c: [{ t: "pre", lang: "", v: "a\nb" }] },
    ]);
    expect(all(markdownTree("- x\n\n  ```\n  a\n  b\n  ```\n"))).toContainEqual({
      t: "pre",
      lang: "",
      v: "a\nb",
    });
  });

  it("has quotes without their marks, breaks, rules, and front matter as it stands", () => {
    expect(markdownTree("---\nname: x\n---\n> a\n> b\n\none  \ntwo\\\nthree\n\n---\n")).toEqual([
      { t: "pre", lang: "yaml", v: "name: x" },
      { t: "quote", c: [p(text("a\nb"))] },
      p(text("one"), { t: "break" }, text("two"), { t: "break" }, text("three")),
      { t: "rule" },
    ]);
  });

  it("says the same whatever its lines end with", () => {
    const source = "# A\n\n- [ ] b\n\n| a |\n|---|\n| b |\n\n```\nx\ny\n```\n";
    const plain = markdownTree(source);
    expect(markdownTree(source.replaceAll("\n", "\r\n"))).toEqual(plain);
    expect(markdownTree(source.replaceAll("\n", "\r"))).toEqual(plain);
    expect(markdownTree(`\uFEFF${source}`)).toEqual(plain);
  });
});

describe("nothing in it is markup", () => {
  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b> c",
    "<svg/onload=alert(1)>",
    "<?php echo 1 ?>",
    "<!DOCTYPE html><html>",
    "<style>*{display:none}</style>",
    "<iframe src=//evil.example>",
  ])("%s is text", (source) => {
    const told = all(markdownTree(source)).flatMap((node) => (node.t === "text" ? [node.v] : []));
    expect(told.join("")).toBe(source);
  });

  it("comments are not there", () => {
    expect(markdownTree("<!-- a -->\n\nb <!-- c --> d")).toEqual([p(text("b  d"))]);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6a;avascript&colon;alert(1)",
    "javascript\\:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:http://x",
    "//evil.example/x",
    "/etc/passwd",
    "/api/decide",
    "#token=x",
    "?x",
    "\u0001javascript:alert(1)",
    "http:evil",
    "https:/x",
  ])("a link to %j leads nowhere", (target) => {
    expect(links(`[x](<${target}>) [y][r]\n\n[r]: <${target}>\n`)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/./)]),
    );
    expect(links(`![x](<${target}>)`).filter(Boolean)).toEqual([]);
  });

  it("links lead to the web and to mail", () => {
    expect(
      links(
        "[a](https://x.example/y?z#w) <http://b.example> https://c.example me@d.example [e][f]\n\n[F]: http://g.example",
      ),
    ).toEqual([
      "https://x.example/y?z#w",
      "http://b.example",
      "https://c.example",
      "mailto:me@d.example",
      "http://g.example",
    ]);
  });

  it("links lead to other documents below _docs, and nowhere else in the repository", () => {
    const file = "_docs/02_plan/epics.md";
    expect(links("[a](tasks.md)", file)).toEqual(["_docs/02_plan/tasks.md"]);
    expect(links("[a](./../03/x%20y.md#z)", file)).toEqual(["_docs/03/x y.md"]);
    expect(links("[a](../../README.md)", file)).toEqual([null]);
    expect(links("[a](../../../../etc/x.md)", file)).toEqual([null]);
    expect(links("[a](..%2f..%2f..%2fx.md)", file)).toEqual([null]);
    expect(links("[a](x.png)", file)).toEqual([null]);
    expect(links("[a](_docs/x.md) [b](x.md)")).toEqual(["_docs/x.md", null]);
  });

  it("entities are the characters that they name, and no others", () => {
    expect(markdownTree("&lt;b&gt; &amp; &#65; &#x42; &#0; &bogus; \\<")).toEqual([
      p(text("<b> & A B \ufffd &bogus; <")),
    ]);
  });
});

const ticks = Array.from({ length: 1400 }, (_, at) => "`".repeat(at)).join(" ");

describe("it takes no longer than it should", () => {
  it.each([
    ["emphasis", "*a_".repeat(50_000)],
    ["brackets", "[".repeat(200_000)],
    ["quotes", `${">".repeat(10_000)} x`],
    ["items", "- ".repeat(20_000)],
    ["spaces", `a${" ".repeat(300_000)}b`],
    ["backticks", ticks],
    ["backticks that are hidden", `<pre>\n\`\`\`\n</pre>\n\n${ticks}`],
    ["bars", `|${"a|".repeat(50_000)}\n|${"-|".repeat(50_000)}`],
    ["entities", "&".repeat(300_000)],
    ["angles", "<".repeat(100_000)],
    ["pairs of brackets", "[".repeat(131_071) + "]".repeat(131_071)],
    ["pairs of stars", `${"*".repeat(131_070)}a${"*".repeat(131_070)}`],
    ["pictures", "![".repeat(65_000) + "]".repeat(65_000)],
    [
      "brackets behind bars",
      `|${"[".repeat(4000)}\n`.repeat(30) + `|${"]".repeat(4000)}\n`.repeat(30),
    ],
    ["addresses", "www.a.b ".repeat(32_000)],
    ["an address", `http://a.b/${")".repeat(250_000)}`],
    ["an address of somebody", `[x](a@${"a.".repeat(125_000)}:)`],
    ["code", `\` ${"a".repeat(250_000)}\``],
    ["comments", "<!-- ".repeat(4900) + "a".repeat(220_000)],
    ["items in items", `${"- ".repeat(90)}a\n`.repeat(1400)],
    ["short items", "- a\n".repeat(65_000)],
  ])("for %s without end", (_, source) => {
    const began = performance.now();
    const tree = markdownTree(source);
    expect(performance.now() - began).toBeLessThan(1500);
    expect(JSON.stringify(tree).length).toBeGreaterThan(0);
  });

  it("and what is too tangled is text, beside everything else", () => {
    const tangle = "*".repeat(20_000) + "a" + "*".repeat(20_000);
    expect(markdownTree(`# A\n\n${tangle}\n\n*b*\n`)).toEqual([
      { t: "h", level: 1, c: [text("A")] },
      p(text(tangle)),
      p({ t: "em", c: [text("b")] }),
    ]);
  });

  it("and a table that is wider than anything is shown as it stands", () => {
    const table = `|${"a|".repeat(60_000)}\n|${"-|".repeat(60_000)}`;
    expect(markdownTree(`# A\n\n${table}\n`).map(({ t }) => t)).toEqual(["h", "pre"]);
  });

  it("and a large piece of code is drawn as one", () => {
    const code = '{ "a_b": [1, 2, "*"] },\n'.repeat(5000);
    expect(markdownTree(`# A\n\n\`\`\`json\n${code}\`\`\`\n\nb\n`).map(({ t }) => t)).toEqual([
      "h",
      "pre",
      "p",
    ]);
  });

  it("and is never deeper than can be drawn", () => {
    const deep = (nodes: readonly MarkdownNode[]): number =>
      Math.max(0, ...nodes.map((node) => 1 + ("c" in node ? deep(node.c) : 0)));
    const source = `${"> ".repeat(90)}x\n\n${"*_".repeat(1000)}x${"_*".repeat(1000)}`;
    expect(deep(markdownTree(source))).toBeLessThan(150);
  });
});
