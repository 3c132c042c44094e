/** Labelled values in a line: "**Depends On**: Phase 1 | **Status:** ⬜ Not started". */
import { isNone } from "../core/plan/references.ts";
import { type Field, fieldsOf } from "../core/plan/words.ts";
import type { Document, Line, Range } from "./document.ts";

export type PairField = "dependsOn" | "parallelWith" | "estimate" | "status" | "blocks";

export const pairFields: ReadonlySet<Field> = new Set([
  "dependsOn",
  "parallelWith",
  "estimate",
  "status",
  "blocks",
]);

interface FoundField {
  readonly field: Field;
  readonly key: string;
  readonly value: Range;
}

const fieldStart =
  /(^|[|·•;；⋅]\s*|\s{2,}|\s[—–-]\s+|[(,]\s*)((?:[>\s]|[-*+]\s)*(?:\p{Extended_Pictographic}\uFE0F?\s*)?[*_`]{0,3})([\p{L}][\p{L}\p{M} ./'-]{0,34}?(?:\s*\([^()]{1,24}\))?)([*_`]{0,3}\s*[:：]\s*[*_`]{0,3}\s*)/gu;

/** "**Depends On**: Phase 1 | **Status:** ⬜ Not started": each with the exact range of its value. */
export function fieldsIn(document: Document, line: Line): FoundField[] {
  const raw = document.raw(line);
  if (raw.length > 4000) return [];
  const found: { field: Field; key: string; start: number; at: number }[] = [];
  for (const match of raw.matchAll(fieldStart)) {
    const [whole, , , key = ""] = match;
    const [field] = fieldsOf(key);
    // A field in the middle of a line has a mark of its own before it.
    if (field && (match.index === 0 || match[1] !== "")) {
      found.push({
        field: chosenField(key, field),
        key,
        start: match.index,
        at: match.index + whole.length,
      });
    }
  }
  const fields = found.map(({ field, key, at }, index): FoundField => {
    const end = found[index + 1]?.start ?? raw.length;
    return { field, key, value: trimmed(raw, at, end, line.from) };
  });
  if (fields.length > 0) return fields;
  // "**Depends on** Phase 1"
  const bold = /^([>\s]*(?:[-*+]\s+)?)(\*\*|__)([^*_]+?)[:：]?\2\s*[:：—–-]?\s*/u.exec(raw);
  const [field] = bold ? fieldsOf(bold[3] ?? "") : [];
  if (bold && field && pairFields.has(field)) {
    return [
      { field, key: bold[3] ?? "", value: trimmed(raw, bold[0].length, raw.length, line.from) },
    ];
  }
  return [];
}

/** Words with two meanings, at the head of a line. */
function chosenField(key: string, first: Field): Field {
  const fields = fieldsOf(key);
  for (const field of [
    "dependsOn",
    "parallelWith",
    "blocks",
    "estimate",
    "status",
    "done",
  ] as const) {
    if (fields.includes(field)) return field;
  }
  return first;
}

function trimmed(raw: string, from: number, to: number, base: number): Range {
  const text = raw.slice(from, to);
  const front = /^[\s*_]*/.exec(text)?.[0].length ?? 0;
  const closed = text.replace(/[\s*_|·•;；⋅,—–-]+$/u, "");
  const end = closed.length <= front ? text.trimEnd().length : closed.length;
  // "✅*": a star that belongs to the value.
  const star = /^\*(?!\*)/.test(text.slice(end)) && !text.slice(0, end).includes("*") ? 1 : 0;
  const finish = Math.max(front, end + star);
  // A lone dash is a value too: none.
  if (isNone(text.trim()) && text.trim() !== "") {
    const at = text.indexOf(text.trim());
    return { from: base + from + at, to: base + from + at + text.trim().length };
  }
  return { from: base + from + front, to: base + from + finish };
}
