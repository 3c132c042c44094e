/**
 * Looks for canaries in any text, by sixteen letters of one, in whatever follows each other: as they
 * are, in base64 and hex, and in the text without its quotes, escapes, colours and folds, up to
 * three deep. It shares no code with what masks.
 */
import type { Canary } from "./canaries.ts";

export interface Hit {
  readonly canary: number;
  readonly around: string;
}

export type Search = (text: string) => Hit[];

/** Half of a folded line may stay (see `src/safe-text.ts`): it is always less than this. */
const width = 16;

export function searchFor(canaries: readonly Canary[]): Search {
  const windows = new Map<string, number>();
  const short = new Map<string, number>();
  const sieve = new Uint8Array(1 << 16);
  for (const { number, parts } of canaries) {
    for (const form of parts.flatMap(encodingsOf)) {
      if (form.length < width) short.set(form, number);
      for (let at = 0; at + width <= form.length; at++) {
        windows.set(form.slice(at, at + width), number);
        sieve[sieveAt(form, at)] = 1;
      }
    }
  }
  return (text) => {
    const hits = new Map<number, Hit>();
    const found = (canary: number, reading: string, at: number): void => {
      const around = reading.slice(Math.max(0, at - 60), at + 60);
      if (!hits.has(canary)) hits.set(canary, { canary, around });
    };
    for (const reading of readingsOf(text)) {
      for (let at = 0; at + width <= reading.length; at++) {
        if (sieve[sieveAt(reading, at)] === 0) continue;
        const canary = windows.get(reading.slice(at, at + width));
        if (canary !== undefined) found(canary, reading, at);
      }
      for (const [form, canary] of short) {
        const at = reading.indexOf(form);
        if (at >= 0) found(canary, reading, at);
      }
    }
    return [...hits.values()];
  };
}

/** A few letters of a window: most places of a text are told apart by them. */
const sieveAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 31 +
    text.charCodeAt(at + 5) * 1009 +
    text.charCodeAt(at + 10) * 9176 +
    text.charCodeAt(at + 15) * 40_503) &
  0xffff;

/** Base64 at each offset, without the letters that it shares with its neighbours. */
function encodingsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString("hex");
  const inBase64 = [0, 1, 2].map((offset) => {
    const bytes = Buffer.from(`${" ".repeat(offset)}${secret}`);
    const from = Math.ceil((offset * 4) / 3);
    return bytes.toString("base64").slice(from, Math.floor((bytes.length * 4) / 3));
  });
  return [
    secret,
    secret.replaceAll(" ", "+"),
    hex,
    hex.toUpperCase(),
    ...inBase64,
    ...inBase64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/** The text, and as it reads to somebody who knows how it was written. */
function readingsOf(text: string): Set<string> {
  const readings = new Set([text, text.replace(unseen, "")]);
  let bare = text;
  for (let layer = 0; layer < 3; layer++) {
    bare = bare.replace(written, letterOf);
    readings.add(bare);
  }
  for (const each of [text, bare]) readings.add(each.replace(/[\r\n]+[ \t]*/g, ""));
  return readings;
}

const unseen = /\u001b\[[0-9;]*[A-Za-z]|\u001b\][^\u0007]*\u0007|[\u200b-\u200f\u0000-\u0008]/g;

const written = new RegExp(
  [
    /'\\''|'"'"'/,
    /\\u[0-9a-f]{4}|(?:\\x[0-9a-f]{2})+|(?:\\[0-3][0-7]{2})+|\\[nrt]|\\[^\w\s]|\\ /,
    /(?:%[0-9a-f]{2})+/,
    /&(?:#\d+|#x[0-9a-f]+|amp|lt|gt|quot|apos);/,
    unseen,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);

const named: Readonly<Record<string, string>> = {
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

function letterOf(escape: string): string {
  const known = named[escape];
  if (known !== undefined) return known;
  if (escape.startsWith("'")) return "'";
  if (/^\\u/i.test(escape)) return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  if (/^\\x/i.test(escape)) return Buffer.from(escape.replace(/\\x/gi, ""), "hex").toString();
  if (/^\\\d/.test(escape))
    return Buffer.from(
      escape
        .slice(1)
        .split("\\")
        .map((each) => Number.parseInt(each, 8)),
    ).toString();
  if (escape.startsWith("\\")) return escape.slice(1);
  if (escape.startsWith("%")) return Buffer.from(escape.replaceAll("%", ""), "hex").toString();
  if (/^&#x/i.test(escape)) return String.fromCodePoint(Number.parseInt(escape.slice(3), 16));
  if (escape.startsWith("&#")) return String.fromCodePoint(Number.parseInt(escape.slice(2), 10));
  return "";
}
