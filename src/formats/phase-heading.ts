/** Headings and cells that name a phase: "Phase 2A: Backend API", "✅ WU-01 — Schema", "第1阶段：搭建". */

import { readStatus } from "../core/plan/status.ts";
import { notAPhaseName, phaseWord, unitWord } from "../core/plan/words.ts";

export interface PhaseName {
  /** The unit's word in lower case, or the letters of the label ("wu"); empty: a bare number. */
  readonly kind: string;
  readonly written: string;
  readonly name: string;
  /** Something stands between id and name, or nothing follows: it is a title, not a mention. */
  readonly strong: boolean;
  /** "Phases 2A–2C": it speaks of several. */
  readonly several: boolean;
  /** Under a word that is none of the usual ones. */
  readonly unsure?: true;
}

const id = String.raw`(?:[A-Za-z]{1,4}-?)?\d+(?:\.\d+)*(?:-\d+)?(?:-[A-Za-z]{1,6}-?\d+)*(?:[-.]?[A-Za-z])?|[IVX]{1,5}|[A-Z]`;
const end = String.raw`(?![\p{L}\p{N}])`;
const cjkNumber = "[一二三四五六七八九十百零〇两]+";
const afterWord = new RegExp(
  String.raw`^(?:\d+(?:\.\d+)*[.)]?\s+)?(${unitWord.source})(s?)\s*(?:no\.?|nr\.?|#|№|[-–—:])?\s*(?:(${id})${end}|(${cjkNumber}))(.*)$`,
  "iu",
);
const wordId = new RegExp(
  String.raw`^(?:\d+(?:\.\d+)*[.)]?\s+)?(${unitWord.source})\s+([\p{L}][\p{L}\p{N}_-]*)(?:\s*([:：–—]|\s-\s|[([])(.*))?$`,
  "iu",
);
const bareWord = new RegExp(
  String.raw`^(?:\d+(?:\.\d+)*[.)]?\s+)?(${phaseWord.source})\s*[:：–—-]\s*(\S.*)$`,
  "iu",
);
const counted = new RegExp(
  String.raw`^第?\s*(\d+|${cjkNumber})\s*(?:个|-?й|-?я|-?а)?\s*(${unitWord.source})(.*)$`,
  "iu",
);
const anyWord = /^(\p{L}{3,20})\s+#?(\d+(?:\.\d+)*[A-Za-z]?)(?=\s*[:：–—]|\s+-\s|\s*$)(.*)$/u;
const neverAUnit =
  /^(?:section|figure|table|chapter|appendix|version|part|option|example|note|question|risk|decision|test|requirement|goal|scenario|case|alternative|layer|level|tier|principle|rule|lesson|issue|bug|error|listing|page|line|node|python|http|utf|adr|iso|rfc|attempt|since|until|approach|criterion|finding|problem|solution|choice|variant|quarter|year|top|article|kapitel|abschnitt|capítulo|раздел|глава)$/iu;
const label =
  /^([A-Z][A-Za-z]{0,7})-?(\d+(?:\.\d+)*(?:-[A-Za-z]{1,6}-?\d+)*[a-z]?)(?![\p{L}\p{N}])(.*)$/u;
const numbered = /^(\d+(?:\.\d+)*[A-Za-z]?)(?:[.):：]\s+|\s*[—–]\s*|\s+-\s+)(.+)$/u;
const separator = /^\s*(?:[:：.|·•/)）]|[-–—―]+|\s*(?=[([（【]))\s*/u;
const several = new RegExp(
  String.raw`^\s*(?:[-–—~&,+/]|to|and|und|и|y|et|至|到)\s*(?:${unitWord.source})?\s*(?:${id})(?:\s*(?:[:：—–([,&/]|and\b|$))`,
  "iu",
);

export function readPhaseName(heading: string): PhaseName | undefined {
  const text = withoutMarks(heading);
  const word = afterWord.exec(text);
  if (word) {
    const [, kind = "", plural = "", found, cjk, rest = ""] = word;
    const written = found ?? `${kind}${cjk ?? ""}`;
    // "Steps", "Phasen", "Step I will…": a letter is an id only if it stands alone, as a capital.
    const alone =
      found !== undefined &&
      text.slice(0, text.length - rest.length - found.length).match(/[\s:#-]$/u) !== null;
    if (
      found &&
      /^[a-z]+$/iu.test(found) &&
      (!/^[A-Z]+$/u.test(found) || !alone || /^\s+\p{Ll}/u.test(rest))
    )
      return wordIdName(text);
    return made(kind, written, rest, plural !== "" || several.test(rest));
  }
  const count = counted.exec(text);
  if (count) {
    const [, number = "", kind = "", rest = ""] = count;
    const digits = /^\d/.test(number);
    return made(kind, digits ? number : `第${number}${kind}`, rest, false);
  }
  if (wordId.test(text)) return wordIdName(text);
  const bare = bareWord.exec(text);
  if (bare && !notAPhaseName.test((bare[2] ?? "").split(/\s+/u)[0] ?? "")) {
    return {
      kind: (bare[1] ?? "").toLowerCase(),
      written: "",
      name: cleanName(bare[2] ?? ""),
      strong: true,
      several: false,
    };
  }
  const other = anyWord.exec(text);
  if (other && !neverAUnit.test(other[1] ?? "")) {
    const [, kind = "", written = "", rest = ""] = other;
    return { ...made(kind, written, rest, several.test(rest)), unsure: true };
  }
  const labelled = label.exec(text);
  if (labelled) {
    const [whole, letters = "", , rest = ""] = labelled;
    return made(letters, whole.slice(0, whole.length - rest.length), rest, several.test(rest));
  }
  const plain = numbered.exec(text);
  if (plain) {
    return {
      kind: "",
      written: plain[1] ?? "",
      name: cleanName(plain[2] ?? ""),
      strong: true,
      several: false,
    };
  }
  return undefined;
}

/** "Phase Alpha: …", "Phase One" */
function wordIdName(text: string): PhaseName | undefined {
  const [, kind = "", written = "", sign, rest = ""] = wordId.exec(text) ?? [];
  if (written === "" || notAPhaseName.test(written)) return undefined;
  if (sign === undefined && (!phaseWord.test(kind) || written !== text.split(/\s+/u).at(-1)))
    return undefined;
  const opened = sign && /[([]/u.test(sign) ? `${sign}${rest}` : rest;
  return {
    kind: kind.toLowerCase(),
    written,
    name: cleanName(opened),
    strong: sign !== undefined,
    several: false,
  };
}

function made(kind: string, written: string, rest: string, isSeveral: boolean): PhaseName {
  const clear =
    separator.test(rest) || rest.trim() === "" || /^\s*\p{Extended_Pictographic}/u.test(rest);
  return {
    kind: kind.toLowerCase(),
    written,
    // "Milestone 6 (final): Packaging"
    name: cleanName(
      rest
        .replace(/^\s*[([（][^()[\]（）]{1,30}[)\]）]\s*[:：—–]\s*(?=\S)/u, "")
        .replace(separator, ""),
    ),
    strong: clear,
    several: isSeveral,
  };
}

/** A heading without the status at its ends. */
export function withoutMarks(heading: string): string {
  let text = heading.trim();
  for (let round = 0; round < 2; round++) {
    const mark = headingMark(text);
    if (!mark) break;
    text = text.startsWith(mark.text)
      ? text.slice(mark.text.length).trim()
      : text
          .slice(0, text.lastIndexOf(mark.text))
          .replace(/[\s—–|:-]+$/u, "")
          .trim();
  }
  return text.replace(/^(?:\p{Extended_Pictographic}\uFE0F?\s*)+/u, "").trim();
}

export const cleanName = (name: string): string =>
  withoutMarks(name)
    .replace(/^[\s:：—–\-|.·)]+/u, "")
    .replace(/[\s:：—–|-]+$/u, "")
    .replace(/\s+/g, " ")
    .trim();

/** A status at either end of a heading: "✅ Phase 1", "Phase 2 [COMPLETE]", "Phase 3 - DONE". */
export function headingMark(text: string): { text: string; status: string } | undefined {
  for (const pattern of headingMarks) {
    const value = pattern.exec(text)?.[1];
    if (value === undefined || isOrnament(value)) continue;
    const inner = /^\[.\]$/u.test(value)
      ? value
      : value.replace(/^[([（]|[)\]）](?=\s*\p{Extended_Pictographic}?\uFE0F?$)/gu, "");
    const status = readStatus(inner);
    if (status !== undefined && status !== "unknown") return { text: value, status };
  }
  return undefined;
}

const headingMarks = [
  /(?:^|\s)(\p{Extended_Pictographic}\uFE0F?\s*[*]?)$/u,
  /[\s:：—–-]([[(（](?:\p{Extended_Pictographic}\uFE0F?\s*)?[^[\]()（）]{1,40}[\])）]\s*(?:\p{Extended_Pictographic}\uFE0F?)?)$/u,
  /\s[—–|:-]\s*((?:\p{Extended_Pictographic}\uFE0F?\s*)?[\p{L} -]{2,24}(?:\s*\p{Extended_Pictographic}\uFE0F?)?)$/u,
  /\s(\p{Extended_Pictographic}\uFE0F?\s*[\p{L} -]{2,24})$/u,
  /\s([A-Z][A-Z ,]+[A-Z](?:\s*\p{Extended_Pictographic}\uFE0F?|\s*\([^()]*\))?)$/u,
  /^(\p{Extended_Pictographic}\uFE0F?|[☐☑✓✔✗✘]|\[[ xX~-]\])(?=\s)/u,
];

/** A picture that decorates a heading, and does not say how far it is. */
const isOrnament = (value: string): boolean =>
  /^\p{Extended_Pictographic}\uFE0F?\s*$/u.test(value) &&
  !/^[✅☑✔⬜🔲🔄🚧❌⏸⏭⏳🟢🟡⚪🔴🟠]/u.test(value);
