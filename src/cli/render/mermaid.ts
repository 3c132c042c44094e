/** Boxes and arrows as Mermaid, which GitHub and many editors draw. */
import { shown } from "../../project.ts";

export interface Flowchart {
  readonly nodes: readonly { readonly id: string; readonly text: string; readonly kind: string }[];
  readonly arrows: readonly {
    readonly from: string;
    readonly to: string;
    readonly label?: string | undefined;
  }[];
  /** How each kind looks. */
  readonly looks: Readonly<Record<string, string>>;
}

/** Arrows to what is not there are left out. */
export function mermaidLines({ nodes, arrows, looks }: Flowchart): string[] {
  const name = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const used = new Set(nodes.map(({ kind }) => kind));
  return [
    "flowchart TD",
    ...nodes.map(({ id, text, kind }) => `  ${name.get(id)}["${escaped(text)}"]:::${kind}`),
    ...arrows.flatMap(({ from, to, label }) => {
      const words = label === undefined ? "" : `|"${escaped(label)}"|`;
      return name.has(from) && name.has(to)
        ? [`  ${name.get(from)} -->${words} ${name.get(to)}`]
        : [];
    }),
    ...[...used].map((kind) => `  classDef ${kind} ${looks[kind]}`),
  ];
}

const escaped = (text: string): string =>
  shown(text).replace(/["<>#&]/g, (each) => `#${each.codePointAt(0)};`);
