/** Which of the headings are the phases' sections, and which only mention or hold phases. */
import { phaseWord } from "../core/plan/words.ts";
import { boxesIn, type Candidate, hasList, isIn, nameKey, nesting } from "./candidates.ts";
import { listItems } from "./format.ts";
import type { Row } from "./overview.ts";
import type { PhaseName } from "./phase-heading.ts";

/** Which headings are the sections: those of the table's ids, else of the unit that is used most. */
export function chooseSections(
  candidates: readonly Candidate[],
  rows: readonly Row[],
): { sections: Candidate[]; groups: Candidate[] } {
  const usable = candidates.filter(({ title }) => !title.several);
  const several = candidates.filter(({ title }) => title.several);
  if (rows[0]) return withTable(usable, several, rows);
  const kinds = new Map<string, Candidate[]>();
  for (const each of usable) {
    if (each.title.kind === "" || !each.title.strong) continue;
    const kind = phaseWord.test(each.title.kind) ? "phase" : each.title.kind;
    // A word that we do not know is a unit's only if there is work under it.
    if (each.title.unsure && boxesIn(each) === 0) continue;
    const list = kinds.get(kind);
    if (list) list.push(each);
    else kinds.set(kind, [each]);
  }
  const best =
    kinds.get("phase") ??
    [...kinds.values()]
      .filter((list) => list.length >= 2 && isMostOfTheWork(list))
      .sort((a, b) => work(b) - work(a) || topLevel(a) - topLevel(b) || b.length - a.length)[0];
  if (!best) {
    const weak = usable.filter(({ title }) => phaseWord.test(title.kind));
    return weak.length >= 2
      ? { sections: leaves(weak).sections, groups: several }
      : { sections: [], groups: [] };
  }
  const kind = best[0]?.title.kind ?? "";
  const isPhase = phaseWord.test(kind);
  const known = new Set(best.map(({ id }) => id));
  const levels = new Set(best.map(({ heading }) => heading.level));
  // "Phase 4 Rollout" among "Phase 1: …": the same thing without a colon.
  const weak = usable.filter(
    ({ title, id, heading }) =>
      !title.strong &&
      id !== "" &&
      !known.has(id) &&
      (isPhase ? phaseWord.test(title.kind) : title.kind === kind) &&
      levels.has(heading.level),
  );
  const all = inOrderOf(candidates, [...best, ...weak]);
  const { sections, groups } = leaves(mainPlace(all));
  return { sections, groups: [...groups, ...several.filter(nesting(sections).holds)] };
}

function inOrderOf(all: readonly Candidate[], some: readonly Candidate[]): Candidate[] {
  const wanted = new Set(some);
  return all.filter((each) => wanted.has(each));
}

/** Sections under an unusual word count only if little of the work stands elsewhere. */
function isMostOfTheWork(list: readonly Candidate[]): boolean {
  const [first] = list;
  if (!first?.title.unsure) return true;
  const all = listItems(first.document.blocks).filter((item) => item.box).length;
  return work(list) * 10 >= all * 9;
}

const work = (list: readonly Candidate[]): number =>
  list.reduce((sum, each) => sum + boxesIn(each), 0);

const topLevel = (list: readonly Candidate[]): number =>
  Math.min(...list.map(({ heading }) => heading.level));

/**
 * Phases that only hold phases are groups of them. One that has work of its own, or whose id says
 * nothing of those under it, is a phase that ends where the first of them begins.
 */
function leaves(all: readonly Candidate[]): { sections: Candidate[]; groups: Candidate[] } {
  const inner = new Map<Candidate, Candidate>();
  const open: Candidate[] = [];
  for (const each of all) {
    while (open.length > 0 && !isIn(each, open.at(-1) as Candidate)) open.pop();
    for (const outer of open) if (!inner.has(outer)) inner.set(outer, each);
    open.push(each);
  }
  const isGroup = (each: Candidate): boolean => {
    const first = inner.get(each);
    if (!first) return false;
    const isPartOf = first.id !== each.id && first.id.startsWith(each.id) && each.id !== "";
    return isPartOf || !hasList({ ...each, end: first.index });
  };
  const sections = all
    .filter((each) => !isGroup(each))
    .map((each) => ({ ...each, end: Math.min(each.end, inner.get(each)?.index ?? each.end) }));
  return { sections, groups: all.filter(isGroup) };
}

/**
 * The same phases are often named again elsewhere: in a timeline, under "Risks". The place with
 * the most of them, or with their boxes, is theirs; what repeats an id elsewhere without any box
 * is a mention.
 */
function mainPlace(all: readonly Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const each of all) {
    const known = best.get(each.id);
    if (!known || weight(each) > weight(known)) best.set(each.id, each);
  }
  return all.filter((each) => {
    const chosen = best.get(each.id);
    if (each.id === "" || chosen === each || !chosen) return true;
    if (isIn(each, chosen) || isIn(chosen, each))
      return isIn(each, chosen) ? weight(each) > 0 && each.title.name !== chosen.title.name : false;
    return boxesIn(each) > 0 && each.heading.level === chosen.heading.level;
  });
}

const weight = (each: Candidate): number => boxesIn(each) * 1000 + (each.end - each.index);

function withTable(
  usable: readonly Candidate[],
  several: readonly Candidate[],
  rows: readonly Row[],
): { sections: Candidate[]; groups: Candidate[] } {
  const ids = new Set(rows.map(({ id }) => id).filter((id) => id !== ""));
  const names = new Set(rows.map(({ name }) => nameKey(name)).filter((name) => name !== ""));
  const isNamed = (title: PhaseName): boolean => names.has(nameKey(title.name));
  const anyNameless = rows.some((row) => row.written === "");
  const initials = new Set([...ids].filter((id) => /^[a-z]\d/u.test(id)));
  const isShort = (id: string, title: PhaseName): boolean =>
    title.kind !== "" && initials.has(`${title.kind[0] ?? ""}${id}`);
  const bare = usable.filter(({ id, title }) => title.kind === "" && ids.has(id));
  // "## 7. Roadmap" is the seventh chapter, not phase 7, unless most phases are headed so.
  const chapters =
    bare.length * 5 >= ids.size * 3 &&
    !usable.some(({ id, title }) => title.kind !== "" && ids.has(id));
  const matches = usable.filter(
    ({ id, title }) =>
      (id !== "" &&
        (ids.has(id) || isShort(id, title)) &&
        (title.kind !== "" || chapters || isNamed(title))) ||
      (isNamed(title) && (title.written === "" || id === "" || (!ids.has(id) && anyNameless))),
  );
  // The unit's word, or the label's letters, that most of them have.
  const kinds = new Map<string, number>();
  for (const { title } of matches)
    if (title.strong) kinds.set(title.kind, (kinds.get(title.kind) ?? 0) + 1);
  const [kind] = [...kinds].sort(
    (a, b) => Number(phaseWord.test(b[0])) - Number(phaseWord.test(a[0])) || b[1] - a[1],
  )[0] ?? [""];
  const alike = (each: Candidate): boolean =>
    phaseWord.test(kind) ? phaseWord.test(each.title.kind) : each.title.kind === kind;
  const idsOf = (list: readonly Candidate[]): Set<string> => new Set(list.map(({ id }) => id));
  const alikeIds = idsOf(matches.filter(alike));
  const mine = matches.filter((each) => alike(each) || !alikeIds.has(each.id));
  const strongIds = idsOf(mine.filter(({ title }) => title.strong));
  const strongest = mine.filter((each) => each.title.strong || !strongIds.has(each.id));
  const chosen = mainPlace(strongest);
  const level = mostCommon(chosen.map(({ heading }) => heading.level));
  const { holds } = nesting(chosen);
  const outer = new Set(chosen.filter((each) => !ids.has(each.id) && holds(each)));
  const sections = chosen.filter((each) => !outer.has(each));
  const taken = new Set(chosen);
  const around = nesting(sections);
  const strangers = usable.filter(
    (each) =>
      each.title.strong &&
      alike(each) &&
      each.title.kind !== "" &&
      each.id !== "" &&
      !ids.has(each.id) &&
      each.heading.level === level &&
      !taken.has(each) &&
      !around.isHeld(each),
  );
  const groups = [...strangers.filter(around.holds), ...several, ...outer];
  const more = strangers.filter((each) => !around.holds(each));
  return { sections: inOrderOf(usable, [...sections, ...more]), groups };
}

function mostCommon(values: readonly number[]): number | undefined {
  const times = new Map<number, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0];
}
