/**
 * Regular expressions that take no longer than the text is long. A flow and a skill come with the
 * repository, so their patterns are a stranger's; with JavaScript's own, `(a+)+$` and thirty letters
 * make every command hang. Here all ways through an expression are followed at once, a character at
 * a time, so that the worst case is the length of the text times the size of the expression.
 *
 * What it finds is what `new RegExp(source, "imu")` finds. What cannot be found in this way, and is
 * not needed to recognise a line, is not understood: looking ahead or behind, and references back.
 */
export interface LinePattern {
  test(text: string): boolean;
}

/** One per character that an expression can wait for, more or less; `.{0,100}` takes 200. */
const mostStates = 300;

/** Undefined: it can be used. */
export function patternFault(source: string): string | undefined {
  const expression = compile(source);
  return typeof expression === "string" ? expression : undefined;
}

/** Of a source that has been checked; any other is a bug of ours. */
export function linePattern(source: string): LinePattern {
  const expression = compile(source);
  if (typeof expression === "string") throw new Error(`${source}: ${expression}`);
  return { test: (text) => isFound(expression, text) };
}

// ── reading ────────────────────────────────────────────────────────────────────────────────────

type State =
  | { readonly is: "character"; readonly fits: (code: number) => boolean; readonly next: number }
  | { readonly is: "edge"; readonly holds: Edge; readonly next: number }
  | { readonly is: "fork"; readonly to: readonly number[] }
  | { readonly is: "found" };

interface Expression {
  readonly first: number;
  readonly all: readonly State[];
}

/** Whether a place between two characters is one, by what they are like. */
type Edge = (before: number, after: number) => boolean;

/** From the state that follows to the state that begins it; so an expression is made from its end. */
type Part = (next: number) => number;

const refused = Symbol("refused");
const tooLarge = "it is too large: repeat less, or shorter parts";

/** A text says why it is not understood. What RegExp lets pass is sound: it is only taken apart. */
function compile(source: string): Expression | string {
  try {
    void new RegExp(source, "imu");
  } catch (error) {
    const { message } = error as Error;
    return message.slice(message.lastIndexOf(": ") + 2).toLowerCase();
  }
  const all: State[] = [];
  let at = 0;
  let copies = 0;
  let why = "";
  try {
    const first = alternatives()(add({ is: "found" }));
    return { first, all };
  } catch (error) {
    if (error === refused) return why;
    throw error;
  }

  function refuse(reason: string): never {
    why = reason;
    throw refused;
  }

  function add(state: State): number {
    if (all.length >= mostStates) refuse(tooLarge);
    return all.push(state) - 1;
  }

  /** Also of what adds nothing: `(?:(?:){300}){300}` and so on would never be done. */
  function copied(part: Part, next: number): number {
    if (++copies > mostStates * 10) refuse(tooLarge);
    return part(next);
  }

  function taken(token: RegExp): string | undefined {
    token.lastIndex = at;
    const [text] = token.exec(source) ?? [];
    at += text?.length ?? 0;
    return text;
  }

  function alternatives(): Part {
    const parts = [sequence()];
    while (taken(/\|/y) !== undefined) parts.push(sequence());
    const [only] = parts;
    if (only && parts.length === 1) return only;
    return (next) => add({ is: "fork", to: parts.map((part) => part(next)) });
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (at < source.length && !/[|)]/.test(source[at] ?? "")) parts.push(repeated(item()));
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  function item(): Part {
    const group = taken(/\((?:\?:)?(?!\?)/y);
    if (group !== undefined) {
      const inside = alternatives();
      taken(/\)/y);
      return inside;
    }
    if (taken(/\(\?/y) !== undefined) return refuse("(?… is not understood, only (?:…)");
    if (taken(/\\[1-9k]/y) !== undefined) return refuse("references back are not understood");
    const edge = edges[taken(/[$^]|\\[bB]/y) ?? ""];
    if (edge) return (next) => add({ is: "edge", holds: edge, next });
    const fits = characterOf(taken(character) ?? "");
    return (next) => add({ is: "character", fits, next });
  }

  /** Greedy or not makes no difference to whether there is something. */
  function repeated(part: Part): Part {
    const sign = taken(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (sign === undefined) return part;
    const [least, most] = timesOf(sign);
    return (next) => {
      let first = next;
      if (most === Infinity) {
        const to: number[] = [];
        first = add({ is: "fork", to });
        to.push(part(first), next);
      } else {
        for (let extra = least; extra < most; extra++) {
          first = add({ is: "fork", to: [copied(part, first), next] });
        }
      }
      for (let needed = 0; needed < least; needed++) first = copied(part, first);
      return first;
    };
  }
}

function timesOf(sign: string): readonly [least: number, most: number] {
  if (sign[0] === "*") return [0, Infinity];
  if (sign[0] === "+") return [1, Infinity];
  if (sign[0] === "?") return [0, 1];
  const [, least = "0", comma, most = ""] = /^\{(\d+)(,?)(\d*)/.exec(sign) ?? [];
  return [Number(least), comma === "" ? Number(least) : most === "" ? Infinity : Number(most)];
}

/** A class, an escape, or any character by itself. */
const character =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u\{[\da-f]+\}|u[d][89ab][\da-f]{2}\\u[d][c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[pP]\{[^}]*\}|.)|./isuy;

/** What a class or an escape stands for is JavaScript's to say. */
function characterOf(token: string): (code: number) => boolean {
  const one = new RegExp(`^${token}$`, "iu");
  const known = new Map<number, boolean>();
  return (code) => {
    let fits = known.get(code);
    if (fits === undefined) known.set(code, (fits = one.test(String.fromCodePoint(code))));
    return fits;
  };
}

/** All that an edge wants to know about the characters beside it; no character is a line's end. */
const [inside, word, lineEnd] = [0, 1, 2];
const likeness = (code: number): number => {
  if (code === -1 || code === 10 || code === 13 || code === 0x2028 || code === 0x2029)
    return lineEnd;
  return isWord(code) ? word : inside;
};
const isWord = characterOf("\\w");

const edges: Readonly<Record<string, Edge>> = {
  "^": (before) => before === lineEnd,
  $: (_, after) => after === lineEnd,
  "\\b": (before, after) => (before === word) !== (after === word),
  "\\B": (before, after) => (before === word) === (after === word),
};

// ── looking ────────────────────────────────────────────────────────────────────────────────────

/** Everywhere that one can be in an expression at once, and what the character before was like. */
interface Standing {
  readonly states: readonly number[];
  readonly before: number;
  /** Where a character leads to; made when it is first met, since most text is much the same. */
  readonly onward: Map<number, Standing | "found">;
}

/** Few texts lead to more; if one does, what is known is forgotten, and memory stays as it is. */
const mostStandings = 1000;

function isFound(expression: Expression, text: string): boolean {
  const known = new Map<string, Standing>();
  const standing = (states: readonly number[], before: number): Standing => {
    const key = String.fromCharCode(before, ...states);
    let found = known.get(key);
    if (!found) {
      if (known.size >= mostStandings) known.clear();
      known.set(key, (found = { states, before, onward: new Map() }));
    }
    return found;
  };
  let here = standing([], lineEnd);
  for (let at = 0; ; ) {
    const code = text.codePointAt(at) ?? -1;
    let next = here.onward.get(code);
    if (next === undefined) {
      const states = onwardFrom(expression, here, code);
      next = states === "found" ? states : standing(states, likeness(code));
      here.onward.set(code, next);
    }
    if (next === "found") return true;
    if (code === -1) return false;
    here = next;
    at += code > 0xffff ? 2 : 1;
  }
}

/** All that is reached with this character, from where we stand and from the beginning. */
function onwardFrom(
  { first, all }: Expression,
  { states, before }: Standing,
  code: number,
): readonly number[] | "found" {
  const [open, after] = [[...states, first], likeness(code)];
  const [seen, reached] = [new Uint8Array(all.length), new Uint8Array(all.length)];
  for (let top = open.pop(); top !== undefined; top = open.pop()) {
    const state = all[top];
    if (!state || seen[top] === 1) continue;
    seen[top] = 1;
    if (state.is === "found") return "found";
    if (state.is === "fork") for (const each of state.to) open.push(each);
    else if (state.is === "edge") {
      if (state.holds(before, after)) open.push(state.next);
    } else if (code !== -1 && state.fits(code)) reached[state.next] = 1;
  }
  const found: number[] = [];
  for (let state = 0; state < reached.length; state++) if (reached[state] === 1) found.push(state);
  return found;
}
