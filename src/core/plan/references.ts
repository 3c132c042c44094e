/**
 * Which phases a piece of text refers to: "Phase 1, 2A–2C", "all previous", "1 + all others".
 * Nothing is guessed: what is not a phase of this plan comes back as unknown (it looks like an
 * id) or unread (it does not).
 */
import { leadingPhaseWord, normaliseId } from "./ids.ts";
import { unitWord as headingWord } from "./words.ts";

/** What a phase may be called in a sentence: also by the section that describes it. */
const unitWord = new RegExp(`${headingWord.source}|sections?`, "iu");

export interface Referable {
  readonly id: string;
  readonly written: string;
  readonly name: string;
  readonly aliases?: readonly string[];
}

export interface References {
  /** In document order. */
  readonly ids: readonly string[];
  readonly unknown: readonly string[];
  readonly unread: readonly string[];
}

export interface Phonebook {
  /** What the whole text refers to, as a table's cell or a labelled line says it. */
  list(text: string, self: number): References;
  /** The references that a text begins with, and what follows them. */
  leading(text: string): { ids: readonly string[]; unknown: readonly string[]; rest: string };
  /** Every reference in a text that names the unit: "Phase 2 and 3". */
  named(text: string): readonly string[];
  /** "all previous": every phase before this one. */
  before(id: string): readonly string[];
  /** One node of a graph: "Phase 1 (Setup)", "[2A, 2B]"; undefined: not only phases. */
  node(text: string): readonly string[] | undefined;
}

const none =
  /^(?:none|nothing|no(?:ne)? (?:dependenc(?:y|ies)|prerequisites?|deps)|n\/?a|nil|null|no|start|not applicable|independent|无|無|没有|なし|無し|特になし|нет|ничего|ні|немає|keine?|nichts|ninguna?|nada|nenhuma?|aucune?|rien|nessuna?|없음|brak|yok|geen|inga|∅|ø)\b/iu;
const nonLatinNone = /^(?:无|無|没有|なし|無し|特になし|нет|ничего|немає|없음)/u;
const everything =
  /^(?:all(?: of)?(?: the)?(?: (?:previous|prior|preceding|above|earlier|other|others|phases?|stages?|milestones?|steps?|tasks?|rest))*|everything(?: (?:above|else|before))?|全部|所有(?:阶段)?|すべて|全て|全フェーズ|все(?: предыдущие)?(?: фазы| этапы)?|усі(?: попередні)?|alle(?: vorherigen| vorigen| anderen)?(?: phasen)?|todas?(?: las?)?(?: anteriores| fases(?: anteriores)?| las fases anteriores)?|todos|toutes?(?: les)?(?: phases)?(?: précédentes)?|tutte(?: le precedenti)?|모두|전체)$/iu;
const others = /\b(?:other|others|rest|else)\b|anderen|остальн/iu;
const separators =
  /\s*(?:[,;，；、+&\n]|<br\s*\/?>|\s\/\s|(?<=\s)(?:and|or|plus|und|oder|et|ou|e|y|i|и|та)(?=\s)|[和与及與]|(?<=[\s\d])(?:と|および)|또는|및)\s*/iu;
/** `2A`, `2-A`, `2 A`, `WU-01`, a word; not `1 2`, `1/2`, `1-3`. */
const isOneToken = /^#?(?!\d+\s*-\s*\d+$)(?!.*\d\s+\d)[\p{L}\p{N}][\p{L}\p{N}\s._-]*$/u;
const rangeSign = /\s*(?:\.\.\.?|…|[–—~〜～-]|\b(?:to|through|thru|bis|до|至|到|a|à)\b)\s*/iu;
const unit = new RegExp(
  `^(?:(?:the|all|both|every)\\s+)?(?:${unitWord.source})(?:s|n|en|ы|ов|es)?(?![\\p{L}])[.:#]?\\s*`,
  "iu",
);
const unitHere = new RegExp(`(?:${unitWord.source})`, "iu");
const ordinalSuffix = /^第/u;
const beside =
  /parallel|paralel|параллел|并行|並行|independen|concurrent|alongside|\b(?:not|no longer|without|skipped)\b/iu;
/** `2`, `2A`, `2-A`, `4.5`, `WU-01`, `F1`, `AZ-1570`. */
const idToken =
  /[#№]?(?:[A-Za-z]{1,8}[-_ ]?)?\d+(?:[.-]\d+)*(?:-[A-Za-z]{1,6}-?\d+)*(?:[-.]?[A-Za-z](?![A-Za-z]))?|[A-Z](?![A-Za-z])/u;

export function phonebook(
  phases: readonly Referable[],
  groups: ReadonlyMap<string, readonly string[]> = new Map(),
): Phonebook {
  const order = new Map(phases.map((phase, index) => [phase.id, index]));
  const byWritten = new Map(phases.map((phase) => [bare(phase.written), phase.id]));
  const byName = new Map(
    phases.flatMap((phase) =>
      [phase.name, ...(phase.aliases ?? [])]
        .filter((name) => /\p{L}/u.test(name))
        .map((name) => [nameKey(name), phase.id] as const),
    ),
  );
  const prefixes = new Set(phases.map((phase) => prefixOf(phase.written)));
  const inOrder = (ids: Iterable<string>): string[] =>
    [...new Set(ids)].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));

  const exactly = (text: string): string | undefined =>
    byWritten.get(bare(text)) ?? byName.get(nameKey(text));
  /** The phases that one token stands for; undefined: it is no token of this plan. */
  const lookUp = (token: string): readonly string[] | undefined => {
    const text = token.trim();
    const written = byWritten.get(bare(text));
    if (text === "" || written !== undefined) return written === undefined ? undefined : [written];
    const range = readRange(text);
    if (range) return range;
    // "1, 2" and "1/2" are two ids, never 12.
    const stripped = text.replace(unit, "").replace(ordinalSuffix, "");
    const id = isOneToken.test(stripped) ? normaliseId(stripped) : "";
    if (id !== "" && order.has(id)) return [id];
    const group = groups.get(id) ?? membersOf(id);
    if (group.length > 0) return group;
    const name = byName.get(nameKey(text));
    if (name !== undefined) return [name];
    // "WU-01" of RA-009-WU-01, "1" of P1: short for the only phase that ends so.
    const ending = /\d/.test(id) ? phases.filter((phase) => isShortFor(id, phase.id)) : [];
    return ending.length === 1 ? [ending[0]?.id ?? ""] : undefined;
  };
  /** 2 stands for 2A and 2B, 3 for 3.1 and 3.2, where there is no phase 2 or 3. */
  const families = new Map<string, string[]>();
  for (const { id } of phases) {
    const family = /^([a-z]*\d+)(?:[a-z]|-\d+[a-z]?)$/u.exec(id)?.[1];
    if (family === undefined) continue;
    const members = families.get(family);
    if (members) members.push(id);
    else families.set(family, [id]);
  }
  const membersOf = (id: string): readonly string[] => families.get(id) ?? [];
  const single = (text: string): string | undefined => {
    const stripped = text.trim().replace(unit, "").trim();
    const id = byWritten.get(bare(stripped)) ?? normaliseId(stripped);
    if (order.has(id)) return id;
    return undefined;
  };
  const readRange = (text: string): readonly string[] | undefined => {
    const plain = text.replace(unit, "");
    const sign = new RegExp(rangeSign.source, "giu");
    for (const match of plain.matchAll(sign)) {
      const first = plain.slice(0, match.index);
      const last = plain.slice(match.index + match[0].length);
      if (first === "" || last === "") continue;
      const from = single(first) ?? membersOf(normaliseId(first))[0];
      const short = /^[A-Za-z]$/.test(last.trim()) ? first.trim().replace(/[A-Za-z]$/, "") : "";
      const to =
        (short && single(short + last.trim())) ||
        single(last) ||
        membersOf(normaliseId(last)).at(-1);
      if (from === undefined || to === undefined || from === to) continue;
      const [start, end] = [order.get(from) ?? 0, order.get(to) ?? 0];
      if (start < end) return phases.slice(start, end + 1).map((phase) => phase.id);
    }
    return undefined;
  };
  const looksLikeId = (token: string): boolean => {
    const text = token.trim();
    const stripped = text.replace(unit, "");
    const named = stripped !== text;
    const whole = new RegExp(`^(?:${idToken.source})$`, "u").test(stripped);
    return whole && (named || prefixes.has(prefixOf(stripped)));
  };

  const list = (text: string, self: number): References => {
    const ids: string[] = [];
    const unknown: string[] = [];
    const unread: string[] = [];
    const said = text
      .replace(/[*_`[\]]|\((?:#|http)[^)]*\)/g, " ")
      .replace(/\p{Extended_Pictographic}\uFE0F?/gu, " ")
      .trim();
    if (isNone(said)) return { ids, unknown, unread };
    const whole = exactly(said.replace(/[.。]$/u, ""));
    if (whole !== undefined) return { ids: [whole], unknown, unread };
    const outside = said.replace(/[(（][^()（）]*[)）]/gu, " ").trim();
    const parts = outside === "" ? said.replace(/[()（）]/gu, " ") : outside;
    let all = false;
    for (const part of parts.split(separators)) {
      const token = part.trim().replace(/[.。:：!]+$/u, "");
      if (token === "" || isNone(token)) continue;
      if (everything.test(token)) {
        all = true;
        const wanted = others.test(token) ? phases : phases.slice(0, self);
        ids.push(...wanted.filter((_, index) => index !== self).map((phase) => phase.id));
        continue;
      }
      const found = lookUp(token) ?? slashed(token) ?? beginning(token);
      if (found) ids.push(...found);
      else if (looksLikeId(token)) unknown.push(token);
      else unread.push(token);
    }
    if (all) return { ids: inOrder(ids), unknown, unread: [] };
    // A sentence in a cell: the phases that it names, unless it speaks of running beside them.
    if (unread.length > 0 && !beside.test(said)) {
      const told = named(said);
      if (told.length > 0) return { ids: inOrder([...ids, ...told]), unknown: [], unread: [] };
    }
    return { ids: inOrder(ids), unknown, unread };
  };
  /** "2A/2B/2C" */
  const slashed = (token: string): readonly string[] | undefined => {
    if (!token.includes("/")) return undefined;
    const parts = token.split("/").map((each) => lookUp(each));
    return parts.every((each) => each !== undefined) ? parts.flat() : undefined;
  };
  /** "Phase 1 complete", "2A tests green", "AZ-12_some_name" */
  const beginning = (token: string): readonly string[] | undefined => {
    const { ids, unknown, rest } = leading(token);
    return ids.length > 0 && unknown.length === 0 && !/\d/.test(rest) ? ids : undefined;
  };

  const leading = (
    text: string,
  ): { ids: readonly string[]; unknown: readonly string[]; rest: string } => {
    const ids: string[] = [];
    const unknown: string[] = [];
    let rest = text.replace(/[*_`]/g, "");
    let named = false;
    for (;;) {
      const start = rest.replace(
        /^\s*(?:(?:[,;，、+&/]|(?:and|or|the|both|all|of|on|plus|completion of|und|et|y|e|и|та)(?=\s)|[和与及と])\s*)*/iu,
        "",
      );
      const unnamed = start.replace(unit, "").replace(ordinalSuffix, "");
      named ||= unnamed !== start;
      const token = new RegExp(`^(?:${idToken.source})`, "u").exec(unnamed)?.[0];
      const range =
        token &&
        new RegExp(
          `^(?:${idToken.source})${rangeSign.source}(?:${unitWord.source})?s?\\s*(?:${idToken.source})`,
          "iu",
        ).exec(unnamed)?.[0];
      const ranged = range && readRange(range);
      if (ranged) {
        ids.push(...ranged);
        rest = unnamed.slice(range.length);
        continue;
      }
      const found = token === undefined ? undefined : lookUp(token);
      if (token !== undefined && found) ids.push(...found);
      else if (token !== undefined && named && unnamed !== start) unknown.push(token);
      else return { ids: inOrder(ids), unknown, rest };
      rest = unnamed.slice(token.length).replace(/^\s*[(（][^()（）]*[)）]/u, "");
    }
  };

  const named = (text: string): readonly string[] => {
    const ids: string[] = [];
    const pattern = new RegExp(`(?:${unitWord.source})s?\\s*[\\dA-Z]`, "giu");
    for (const match of text.matchAll(pattern)) ids.push(...leading(text.slice(match.index)).ids);
    return inOrder(ids);
  };

  const node = (text: string): readonly string[] | undefined => {
    const plain = text
      .replace(/[*_`"'{}[\]|]/g, " ")
      .replace(/\p{Extended_Pictographic}|\uFE0F/gu, " ")
      .trim();
    if (plain === "") return undefined;
    const inner = /^\(([^()]*)\)$/u.exec(plain)?.[1] ?? plain;
    const direct = list(inner, -1);
    if (direct.ids.length > 0 && direct.unknown.length + direct.unread.length === 0) {
      return direct.ids;
    }
    const { ids, unknown, rest } = leading(inner);
    // "Phase 1: Setup" and "Phase 1 Setup" are nodes; "see phase 1" is a sentence.
    return ids.length === 1 && unknown.length === 0 && !unitHere.test(rest) ? ids : undefined;
  };

  const before = (id: string): string[] =>
    phases.slice(0, order.get(id) ?? 0).map((phase) => phase.id);

  return { list, leading, named, node, before };
}

const isShortFor = (short: string, id: string): boolean =>
  id.endsWith(short) &&
  (/^[a-z]/.test(short)
    ? id.length > short.length
    : /^[a-z]{1,2}$/.test(id.slice(0, -short.length)));

export const isNone = (text: string): boolean =>
  /^[\s\-–—―.…*]*$/u.test(text) || none.test(text) || nonLatinNone.test(text);

/** As written, without markup; a space between two digits keeps them apart. */
const bare = (written: string): string =>
  written
    .replace(leadingPhaseWord, "")
    .replace(/[*`]/g, "")
    .replace(/(?<!\d)\s+|\s+(?!\d)/g, "")
    .toLowerCase();

const nameKey = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

const prefixOf = (written: string): string =>
  /^[a-z]*/i.exec(written.replace(leadingPhaseWord, "").trim())?.[0].toLowerCase() ?? "";
