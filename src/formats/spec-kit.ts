/**
 * GitHub spec-kit's `tasks.md`: phases with tasks T001 …, and a section that says in prose how the
 * phases depend on each other, by number, by name ("Setup") or by story ("User Story 1").
 */
import { type Result, succeed } from "../core/failure.ts";
import type { PhaseDraft, PlanDraft } from "../core/plan/draft.ts";
import type { Said } from "../core/plan/plan.ts";
import type { Document, Line } from "./document.ts";
import type { Format } from "./format.ts";
import { findPhases, readPhases } from "./phases.ts";

const taskId = /^(?:\[[^\]]*\]\s*)?(?:T|B)-?\d{2,4}[a-z]?(?![\p{L}\p{N}])/u;

export const specKit: Format = {
  name: "spec-kit",
  detect(input) {
    const parsed = input.documents();
    if (!parsed.ok) return undefined;
    const tasks = parsed.value.flatMap((document) =>
      document.blocks.flatMap((block) => {
        const range =
          block.kind === "item" ? block.lead : block.kind === "heading" ? block.content : undefined;
        return range &&
          (block.kind === "heading" || block.kind === "item") &&
          taskId.test(document.plain(range))
          ? [document.place(range)]
          : [];
      }),
    );
    // A table that says who waits for whom makes it a plan of ours.
    const { rows } = findPhases(parsed.value);
    if (rows.some(({ said }) => said.dependsOn !== undefined)) return undefined;
    return tasks.length >= 2 ? `tasks T001 … (line ${tasks[0]?.line ?? 1})` : undefined;
  },
  read(input): Result<PlanDraft> {
    const read = readPhases(input, "spec-kit");
    const parsed = input.documents();
    if (!read.ok) return read;
    if (!parsed.ok) return parsed;
    const draft = read.value;
    const stated = statedDependencies(parsed.value, draft.phases);
    return succeed({
      ...draft,
      phases: draft.phases.map((phase, index) => ({
        ...phase,
        name: phase.name.replace(/\s*🎯\s*MVP\s*$/u, ""),
        // Packages and documents, not phases: what orders the phases is the section below them.
        dependsOn:
          stated.get(index) ??
          (stated.size > 0 && index > 0
            ? [after(draft.phases[index - 1], phase)]
            : phase.dependsOn),
        blocks: [],
      })),
      hints: draft.hints.filter(
        ({ lines }) => !lines.some(({ text }) => /\bT-?\d{2,4}\b|\bUS\d/u.test(text)),
      ),
    });
  },
};

const after = (before: PhaseDraft | undefined, phase: PhaseDraft): Said => ({
  text: before?.written ?? "",
  place: phase.place,
  where: "prose",
});

/** Per phase, what the prose says; phases that it does not mention are not in the map. */
function statedDependencies(
  documents: readonly Document[],
  phases: readonly PhaseDraft[],
): Map<number, Said[]> {
  const stated = new Map<number, Said[]>();
  for (const document of documents) {
    for (const line of dependencyLines(document)) {
      const statement = readStatement(line.text, phases);
      if (!statement) continue;
      for (const phase of statement.phases) {
        const targets = statement.targets.filter((target) => target !== phase);
        const text = targets.map((target) => phases[target]?.written ?? "").join(", ");
        const known = stated.get(phase) ?? [];
        // The general rule comes first; a later line about one phase adds to it.
        stated.set(phase, [
          ...known,
          { text: text || "none", place: document.place(line), where: "prose" },
        ]);
      }
    }
  }
  return stated;
}

const dependencyHeading =
  /dependenc|execution order|depend[êe]ncia|dépendanc|abhängig|依赖|依存|завис|의존/iu;

/** The lines under a heading that speaks of dependencies, those about tasks left out. */
function dependencyLines(document: Document): Line[] {
  const lines: Line[] = [];
  let level: number | undefined;
  for (const block of document.blocks) {
    if (block.kind === "heading") {
      const text = document.plain(block.content);
      if (level !== undefined && block.level <= level) level = undefined;
      if (level === undefined && dependencyHeading.test(text)) level = block.level;
      continue;
    }
    if (level === undefined || (block.kind !== "item" && block.kind !== "paragraph")) continue;
    const range = block.kind === "item" ? block.lead : block;
    const [first] = document.lines(range);
    // What it says of single tasks is no matter between phases.
    const text = document
      .plain(range)
      .split(/(?<=[.;。；])\s+/u)
      .filter((sentence) => !/\bT-?\d{2,4}\b/u.test(sentence))
      .join(" ");
    if (first && text !== "") lines.push({ ...first, text });
  }
  return lines;
}

const verb =
  /\b(?:depends? on|(?:can |may |must )?(?:only )?(?:starts?|begins?) (?:only )?(?:after|once)|requires?|(?:all )?needs?|after|blocked by|depende d[aeo]s?|dependem d[aeo]s?|requer|inicia após|após|despu[eé]s de|requiere)\b|依赖|依存/iu;
const nothing =
  /\b(?:no dependenc|no prerequisite|independent of|can start immediately|starts? immediately|none\b|sem depend|sin dependencias|pode começar imediatamente)|无依赖|无前置|依存なし|의존성 없음/iu;

function readStatement(
  text: string,
  phases: readonly PhaseDraft[],
): { phases: number[]; targets: number[] } | undefined {
  const colon = /^(.{2,80}?)\s*(?:[:：]|→|\s[-–—]\s)\s*(.+)$/su.exec(text);
  const found = verb.exec(text);
  const subjectText =
    colon && (!found || (colon[1]?.length ?? 0) < found.index)
      ? (colon[1] ?? "")
      : text.slice(0, found?.index ?? 0);
  const earlier = /^(.*?)\bmust (?:be )?complete.*?\bbefore\b(.*)$/isu.exec(text);
  if (earlier) {
    const [first, later] = [
      mentioned(earlier[1] ?? "", phases),
      mentioned(earlier[2] ?? "", phases),
    ];
    if (first.length > 0 && later.length > 0) return { phases: later, targets: first };
  }
  const subjects = mentioned(subjectText, phases);
  if (subjects.length === 0) return undefined;
  const said = text.slice(subjectText.length);
  const free = nothing.exec(said);
  const waits = verb.exec(said);
  if (free && (!waits || free.index <= waits.index)) return { phases: subjects, targets: [] };
  if (!waits || /\b(?:not|no|n't)\s*$/iu.test(said.slice(0, waits.index))) return undefined;
  const clause =
    said
      .slice(waits.index + waits[0].length)
      .split(/[.;。；]|\s[-–—]\s|,\s*(?:but|may|no |can )|\b(?:and )?blocks?\b/iu)[0] ?? "";
  const targets = mentioned(clause, phases);
  return targets.length > 0 ? { phases: subjects, targets } : undefined;
}

/** The phases that a piece of prose names, by number, story or name. */
function mentioned(text: string, phases: readonly PhaseDraft[]): number[] {
  const found = new Set<number>();
  const numbers = phases.map((phase) => phase.written.toLowerCase());
  const isStory = phases.map((phase) => storyOf(phase.name));
  const range =
    /(?:phases?|fases?|阶段|단계)\s*([\d.]+[a-z]?)\s*(?:[-–—]|to|through|a)\s*(\d[\d.]*[a-z]?)/giu;
  for (const match of text.matchAll(range)) {
    const [from, to] = [
      numbers.indexOf((match[1] ?? "").toLowerCase()),
      numbers.indexOf((match[2] ?? "").toLowerCase()),
    ];
    if (from >= 0 && to > from) for (let at = from; at <= to; at++) found.add(at);
  }
  for (const match of text.matchAll(
    /(?:phases?|fases?|阶段|단계)\s*((?:[\d.]+[a-z]?\b\+?|[A-Z]\b)(?:\s*(?:,|and|&|e|y)\s*(?:phase\s*)?[\d.]+[a-z]?\b\+?)*)/giu,
  )) {
    for (const token of (match[1] ?? "").split(/\s*(?:,|and|&|\be\b|\by\b|phase)\s*/iu)) {
      const at = numbers.indexOf(token.replace(/[+.]+$/u, "").toLowerCase());
      if (at < 0) continue;
      // "Phase 3+": the stories from there on, not the polish after them.
      if (token.endsWith("+"))
        phases.forEach(
          (_, each) =>
            each >= at &&
            (isStory[each] !== undefined || !isStory.some(Boolean)) &&
            found.add(each),
        );
      else found.add(at);
    }
  }
  if (found.size > 0) return sorted(found);
  for (const match of text.matchAll(
    /(?:user stor(?:y|ies)|US|história de usuário|historia)\s*-?#?(\d+)/giu,
  )) {
    const at = isStory.indexOf(match[1] ?? "");
    if (at >= 0) found.add(at);
  }
  if (
    /\b(?:user stories|(?:all|the) (?:desired |selected |implemented )?(?:user )?stories|each story|histórias|historias)\b/iu.test(
      text,
    ) &&
    found.size === 0
  ) {
    isStory.forEach((story, at) => story !== undefined && found.add(at));
  }
  for (const [at, phase] of phases.entries()) {
    const [head = ""] = phase.name.split(/\s*[(（:—–-]\s*/u);
    const word = head.trim();
    if (
      word.length >= 4 &&
      isStory[at] === undefined &&
      new RegExp(`(?<![\\p{L}])${escaped(word)}(?![\\p{L}])`, "iu").test(text)
    )
      found.add(at);
    const [short = ""] = word.split(/\s+/u);
    if (
      /^(?:setup|foundational|foundation|polish)$/iu.test(short) &&
      new RegExp(`(?<![\\p{L}])${short}(?![\\p{L}])`, "iu").test(text)
    )
      found.add(at);
  }
  if (/\ball (?:previous|prior|other) phases\b/iu.test(text))
    phases.forEach((_, at) => found.add(at));
  return sorted(found);
}

const sorted = (found: ReadonlySet<number>): number[] => [...found].sort((a, b) => a - b);
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const storyOf = (name: string): string | undefined =>
  /\b(?:user story|US)\s*-?#?(\d+)/iu.exec(name)?.[1];
