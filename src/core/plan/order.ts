/**
 * The order that a plan states in sentences and drawings, when no table and no label does. Only
 * what can be read with certainty counts; a line with an arrow that leads somewhere unknown makes
 * the drawing unreadable, and that is said.
 */
import type { Hint } from "./draft.ts";
import { readDrawnOrder } from "./drawing.ts";
import type { Place } from "./plan.ts";
import type { Phonebook } from "./references.ts";

export interface Edge {
  readonly phase: string;
  /** Undefined: it is said that the phase waits for nothing. */
  readonly dependsOn?: string;
  readonly place: Place;
}

export interface StatedOrder {
  readonly edges: readonly Edge[];
  /** Phases that are named in anything that speaks of order. */
  readonly mentioned: ReadonlySet<string>;
  readonly unread: readonly { readonly message: string; readonly place: Place }[];
}

export function readOrder(
  hints: readonly Hint[],
  phones: Phonebook,
  idOf: (phase: number) => string,
): StatedOrder {
  const edges: Edge[] = [];
  const unread: { message: string; place: Place }[] = [];
  const mentioned = new Set<string>();
  for (const hint of hints) {
    const here = hint.phase === undefined ? undefined : idOf(hint.phase);
    if (hint.kind === "sentence") {
      for (const { text, place } of hint.lines)
        edges.push(...readSentences(text, place, phones, here));
      continue;
    }
    const drawn = readDrawing(hint, phones);
    edges.push(...drawn.edges);
    unread.push(...drawn.unread);
    if (drawn.edges.length === 0 && hint.kind === "arrows") {
      for (const { text, place } of hint.lines)
        edges.push(...readSentences(text, place, phones, here));
    }
  }
  for (const { phase, dependsOn } of edges) {
    mentioned.add(phase);
    if (dependsOn !== undefined) mentioned.add(dependsOn);
  }
  for (const { kind, lines, phase } of hints) {
    if (kind !== "sentence" || phase !== undefined) continue;
    for (const { text } of lines) for (const id of phones.named(text)) mentioned.add(id);
  }
  return { edges, mentioned, unread };
}

const waits =
  /\b(?:(?:strictly |directly |only |hard[- ])?depends?(?: only| strictly| directly)? (?:up)?on|is dependent on|are dependent on|dependent on|requires?|(?:is |are )?blocked (?:by|on|until)|needs?|waits? (?:for|on)|(?:must|should|can|may|will|to)?(?: only| not)? ?(?:start|begin|run|come|follow|execute|proceed)s?(?: only)?(?: in parallel| concurrently)?,? ?(?:after|once|when)|(?:starts?|begins?|runs?|comes?|follows?) (?:only )?(?:after|once)|only after|after)\b|依赖(?:于)?|需要先完成|зависит от|зависят от|требует|после|hängt ab von|abhängig von|setzt|depende[n]? de|requiere[n]?|después de|dépend(?:ent)? de|après|dipende da|dopo/iu;
const negated =
  /\b(?:no|not|n't|nothing|never|without|independent(?:ly)? (?:of|from)|neither|nor)\b[^.;]*$|不\s*$|не\s*$|nicht\b[^.;]*$|no\s+$/iu;
const free =
  /\b(?:no (?:other )?(?:phase )?(?:dependencies|prerequisites)|independent of (?:all|every|the other)|can start (?:immediately|right away|at once|any ?time)|has no dependenc)/iu;
const precedes =
  /\b(?:must|should|has to|have to|needs? to|need to|will)(?: be)? (?:fully )?(?:complete[d]?|finish(?:ed)?|done|land(?:ed)?|merged|come|run|pass)\b[^.;]*?\bbefore\b|\b(?:comes?|runs?|goes?|precedes?|is completed|are completed|completes?) before\b|\bblocks?\b|\bunblocks?\b/iu;

function readSentences(
  text: string,
  place: Place,
  phones: Phonebook,
  here: string | undefined,
): Edge[] {
  const edges: Edge[] = [];
  const add = (phases: readonly string[], dependsOn: readonly string[]): void => {
    for (const phase of phases) {
      for (const each of dependsOn)
        if (each !== phase) edges.push({ phase, dependsOn: each, place });
    }
  };
  for (const part of text.split(/(?<=[a-z0-9)])[.;](?:\s|$)|。|；|\s[—–]\s/iu)) {
    const before = precedes.exec(part);
    if (before) {
      const first = named(part.slice(0, before.index), phones);
      const after = part.slice(before.index + before[0].length);
      const led = phones.leading(after.replace(/^\s*(?:starting|beginning)\s*/i, "")).ids;
      const later = led.length > 0 ? led : phones.named(after);
      const blocker =
        first.length > 0
          ? first
          : /^\s*(?:this|it)?\s*$|\bthis (?:phase|step)\b/iu.test(part.slice(0, before.index)) &&
              here
            ? [here]
            : [];
      if (blocker.length > 0 && later.length > 0) {
        add(later, blocker);
        continue;
      }
      if (first.length > 0 && here && /\bthis\b/iu.test(after)) {
        add([here], first);
        continue;
      }
    }
    const verb = waits.exec(part);
    if (!verb) {
      const said = named(part, phones);
      if (free.test(part))
        for (const phase of said.length > 0 ? said : here ? [here] : [])
          edges.push({ phase, place });
      continue;
    }
    const front = part.slice(0, verb.index);
    const subjects = named(front, phones);
    const phases = subjects.length > 0 ? subjects : here ? [here] : [];
    if (free.test(part)) {
      for (const phase of phases) edges.push({ phase, place });
      continue;
    }
    if (negated.test(front)) {
      for (const phase of phases) if (/depend/i.test(verb[0])) edges.push({ phase, place });
      continue;
    }
    const clause = part.slice(verb.index + verb[0].length);
    if (
      /^\s*all (?:of the )?(?:previous|prior|preceding|other|above)\b|^\s*everything (?:above|before)/iu.test(
        clause,
      )
    ) {
      for (const phase of phases) add([phase], phones.before(phase));
    } else add(phases, phones.leading(clause).ids);
  }
  return edges;
}

/** The phases that a clause is about: named ones, or a bare list such as "2A and 2B". */
function named(text: string, phones: Phonebook): readonly string[] {
  const found = phones.named(text);
  if (found.length > 0) return found;
  const { ids, rest } = phones.leading(text.replace(/^[\s\-*•:]+/u, ""));
  return /^\W*(?:(?:can|both|all|each|may|must|should|then|will|only|also|run|\([^)]*\))\W*)*$/iu.test(
    rest,
  )
    ? ids
    : [];
}

const arrows =
  /\s*(?:--+\s*[^->|\s][^->|]*?\s*--+>|--+>\|[^|]*\||-\.+->|==+>|[─━-]*[→⟶➜➔⇒▶►]+|[─━]+>|--*>|=>)\s*/u;
const backwards = /\s*(?:←|⟵|⇐|<--*(?![->]))\s*/u;
const vertical = /[│┌┐└┘├┤┬┴┼╭╮╯╰▼▲↓║╔╗╚╝]/u;

function readDrawing(hint: Hint, phones: Phonebook): Omit<StatedOrder, "mentioned"> {
  const [top] = hint.lines;
  if (hint.kind === "drawing" && top) {
    const drawn = readDrawnOrder(
      hint.lines.map(({ text }) => text),
      phones.node,
    );
    if (drawn && drawn.length > 0) {
      return { edges: drawn.map((edge) => ({ ...edge, place: top.place })), unread: [] };
    }
  }
  const edges: Edge[] = [];
  const missed: { text: string; place: Place }[] = [];
  const nodes = mermaidNodes(hint, phones);
  const node = (text: string): readonly string[] | undefined =>
    nodes.get(
      text
        .trim()
        .replace(/[[({].*$/su, "")
        .trim(),
    ) ?? phones.node(text.replace(/^[^\p{L}\p{N}]*$/u, ""));
  let understood = 0;
  for (const { text, place } of hint.lines) {
    if (vertical.test(text.replace(/──*[▶►]/gu, "→"))) {
      if (/[\p{L}\p{N}]/u.test(text) || hint.kind === "drawing") missed.push({ text, place });
      continue;
    }
    const line = text.replace(/%%.*$/u, "").replace(/;\s*$/u, "").trim();
    const back = backwards.test(line) && !arrows.test(line);
    if (!back && !arrows.test(line)) continue;
    const parts = line
      .split(back ? backwards : arrows)
      .map((part) => part.replace(/^[-*•]\s+/u, ""));
    const groups = parts.map((part) => part.split(/\s&\s/u).map(node));
    if (groups.some((group) => group.some((each) => each === undefined))) {
      missed.push({ text, place });
      continue;
    }
    understood++;
    const chain = groups.map((group) => group.flatMap((each) => each ?? []));
    if (back) chain.reverse();
    for (let index = 1; index < chain.length; index++) {
      for (const phase of chain[index] ?? []) {
        for (const dependsOn of chain[index - 1] ?? []) {
          if (phase !== dependsOn) edges.push({ phase, dependsOn, place });
        }
      }
    }
  }
  const [first] = missed;
  const aboutPhases = hint.lines.filter(({ text }) => phones.named(text).length > 0).length;
  // A picture of something else (an architecture, a data flow) is not ours to read.
  if (!first || (understood === 0 && aboutPhases < 2)) return { edges, unread: [] };
  return {
    edges: understood === 0 ? [] : edges,
    unread: [
      {
        message:
          understood === 0
            ? "the order of the phases is drawn here, and the drawing could not be followed"
            : `"${first.text.trim()}" could not be read as an order of phases`,
        place: first.place,
      },
    ],
  };
}

/** `P1[Phase 1: Setup]`, `A("2A")`: which phase a node's name stands for. */
function mermaidNodes(hint: Hint, phones: Phonebook): Map<string, readonly string[]> {
  const nodes = new Map<string, readonly string[]>();
  for (const { text } of hint.lines) {
    for (const match of text.matchAll(
      /([A-Za-z][\w-]*)\s*(?:\[+|\(+|\{+|>)\s*"?([^\]){}"]+)"?\s*(?:\]|\)|\})/gu,
    )) {
      const [, name = "", label = ""] = match;
      const ids = phones.node(label.split(/<br\s*\/?>|\\n/u)[0] ?? label);
      if (ids) nodes.set(name, ids);
    }
  }
  for (const { text } of hint.lines) {
    for (const match of text.matchAll(/\b(?:p|ph|phase|step|s|m|t)_?-?(\w+)\b/giu)) {
      const [name, short = ""] = match;
      if (nodes.has(name)) continue;
      const ids = phones.node(name) ?? phones.node(short);
      if (ids) nodes.set(name, ids);
    }
  }
  return nodes;
}
