/** A document as nodes of the page: what it says as a tree comes in, elements go out, no HTML. */
import type { ComponentChildren } from "preact";
import type { MarkdownNode } from "../src/core/board/wire.ts";
import { visible } from "./text.tsx";

type Nodes = readonly MarkdownNode[];

/** `to`: where an artifact is opened on the page; absent: links to artifacts lead nowhere. */
export const Markdown = ({ blocks, to }: { blocks: Nodes; to?: (artifact: string) => string }) => (
  <div class="prose">{nodesOf(blocks, to)}</div>
);

type To = ((artifact: string) => string) | undefined;

const nodesOf = (nodes: Nodes, to: To): ComponentChildren => nodes.map((node) => nodeOf(node, to));

function nodeOf(node: MarkdownNode, to: To): ComponentChildren {
  switch (node.t) {
    case "text":
      return visible(node.v);
    case "code":
      return <code>{visible(node.v)}</code>;
    case "break":
      return <br />;
    case "rule":
      return <hr />;
    case "pre":
      return (
        // biome-ignore lint: whoever has no mouse scrolls it with the arrows
        <pre tabIndex={0} data-lang={visible(node.lang)}>
          <code>{visible(node.v)}</code>
        </pre>
      );
    case "h": {
      // The page has the first level for itself.
      const Heading = `h${Math.min(6, node.level + 1)}` as "h2";
      return <Heading>{nodesOf(node.c, to)}</Heading>;
    }
    case "ol":
      return <ol start={node.start}>{nodesOf(node.c, to)}</ol>;
    case "task":
      return (
        <div class="task">
          <span
            class="task-box"
            role="img"
            aria-label={node.done ? "done" : "open"}
            data-done={node.done}
          />
          <span>{nodesOf(node.c, to)}</span>
        </div>
      );
    case "table":
      return (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Table">
          <table>{nodesOf(node.c, to)}</table>
        </div>
      );
    case "a":
      return linkOf(node, to);
    default: {
      const Element = elements[node.t];
      return <Element>{nodesOf(node.c, to)}</Element>;
    }
  }
}

const elements = {
  strong: "strong",
  em: "em",
  strike: "s",
  p: "p",
  quote: "blockquote",
  li: "li",
  ul: "ul",
  tr: "tr",
  th: "th",
  td: "td",
} as const;

function linkOf({ href, artifact, c }: Extract<MarkdownNode, { t: "a" }>, to: To) {
  if (artifact !== undefined && to) return <a href={to(artifact)}>{nodesOf(c, to)}</a>;
  // The server has looked already; a second look costs nothing.
  if (href === undefined || !/^(?:https?|mailto):/i.test(href))
    return <span>{nodesOf(c, to)}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={visible(href)}>
      {nodesOf(c, to)}
    </a>
  );
}
