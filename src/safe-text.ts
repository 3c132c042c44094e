/**
 * Text from files and agents is data: no escape sequence, no control character, no direction
 * override of theirs ever reaches a terminal. Line breaks become spaces: a value is one line.
 */
export const shown = (text: string): string => (suspicious.test(text) ? cleaned(text) : text);

/**
 * A line of a file or a log: the same, but indentation stays, and a line end of another system is
 * written as one.
 */
export const shownLine = (line: string): string =>
  suspicious.test(line)
    ? line
        .replace(/\r$/, "")
        .split("\t")
        .map(shown)
        .join("\t")
        .concat(line.endsWith("\r") ? "^M" : "")
    : line;

/** Most text is harmless, and telling so takes one look (\udb40 begins every tag character). */
const suspicious =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40]/;

/** Whole sequences (CSI, OSC and other strings up to their end, what is left of them). */
const sequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b./;

const unseen =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/;

const everySequence = new RegExp(sequences.source, "g");
const everyUnseen = new RegExp(unseen.source, "g");

const cleaned = (text: string): string =>
  text
    .replace(everySequence, "")
    .replace(/[\r\n\t\u2028\u2029]+/g, " ")
    .replace(everyUnseen, "");

/** Its beginning, cut between two characters: half of one is no text, and not every store takes it. */
export const shortened = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

// ── secrets ────────────────────────────────────────────────────────────────────────────────────

const masked = "[masked]";

/**
 * Without secrets: those that are named (see `secretsIn`), and whatever has the shape of one. Takes
 * time in proportion to the text, whatever the text is. All else stays as it was, to the letter.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  // First what is disguised: of one that is so in part, the rest would be taken for all of it.
  let rest = disguised.test(text) ? maskDisguised(text, secrets) : text;
  for (const secret of secrets) {
    if (rest.includes(secret)) rest = rest.replaceAll(secret, masked);
  }
  if (promising.test(rest)) {
    for (const [shape, replacement] of shapes) rest = rest.replace(shape, replacement);
  }
  return rest;
}

/**
 * Well-known shapes. None of them can make a search slow: what may be long is one run of characters
 * that a search passes once, or has a limit.
 */
const shapes: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\w+/=\s\\:,.]*(?:(?:-(?!----)|["'`]\s{0,9}\+\s{0,40}["'`])[\w+/=\s\\:,.]*)*/g,
    masked,
  ],
  // JSON Web Tokens: header, content, signature.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, masked],
  [/(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,})/g, masked],
  [/\b(?:sk-[\w-]{20,}|[sr]k_(?:live|test)_\w{16,}|hf_[A-Za-z0-9]{30,}|AIza[\w-]{35})/g, masked],
  [
    /\b(?:A[KS]IA[0-9A-Z]{16}\b|xox[abeoprs]-[\w-]{10,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,})/g,
    masked,
  ],
  [/\b(bearer\s{1,4})[\w.~+/=-]{16,}/gi, `$1${masked}`],
  [/\b(authorization["']?\s{0,4}[:=]\s{0,4}["']?basic\s{1,4})[\w+/=-]{8,}/gi, `$1${masked}`],
  [/(:\/\/[^\s/@:?#"'<>]{0,200}:)[^\s/@?#"'<>]{1,1000}@/g, `$1${masked}@`],
];

/** Most text contains none of these, and telling so takes one look. */
const promising =
  /PRIVATE KEY|eyJ|gh[pousr]_|github_pat_|glpat-|sk-|[sr]k_|hf_|AIza|A[KS]IA|xox|npm_|pypi-|:\/\/|B(?:earer|EARER|asic|ASIC) |b(?:earer|asic) /;

// ── disguises ──────────────────────────────────────────────────────────────────────────────────

/** A text as it reads without its disguise, and where each of its letters stood before. */
interface Bare {
  readonly text: string;
  readonly begins: Uint32Array;
  readonly ends: Uint32Array;
}

/**
 * Ways of writing a letter, and of hiding something between two: escapes of JSON and of programming
 * languages, of shells, of addresses, of HTML; what a terminal obeys or does not show (the zero bytes
 * of UTF-16 too).
 */
const disguise = new RegExp(
  [
    /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[bfnrt]|[ -/:-@[-`{-~])/,
    /'(?:\\'|"'")'/,
    /%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3}|%[0-9a-fA-F]{2}/,
    /&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});/,
    sequences,
    unseen,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** What is folded, with the indentation of the next line. */
const fold = /[\r\n\u2028\u2029]+[ \t]*/g;

const disguised =
  /'"'"'|[\\%&\r\n\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40]/;

/** In JSON within JSON an escape is escaped. */
const mostLayers = 3;

function maskDisguised(text: string, secrets: readonly string[]): string {
  const layers = layersOf(text);
  // Two lines that have nothing to do with each other may have a shape together, but no value.
  const unfolded = (layers.at(-1) ?? text).replace(fold, "");
  const isThere = (bare: string): boolean => secrets.some((secret) => bare.includes(secret));
  if (!layers.some((bare) => isThere(bare) || hasShape(bare)) && !isThere(unfolded)) return text;
  // There is one, which is rare: only now it is worth knowing where.
  const hits: Part[] = [];
  let bare = asItIs(text);
  for (const _ of layers) {
    bare = without(disguise, bare);
    hits.push(...placesIn(bare, secrets), ...placesIn(bare, shapes));
  }
  hits.push(...placesIn(without(fold, bare), secrets));
  return withoutParts(text, hits);
}

/** The text, less and less disguised. */
function layersOf(text: string): string[] {
  const layers: string[] = [];
  let bare = text;
  while (layers.length < mostLayers) {
    const next = bare.replace(disguise, letterOf);
    if (next === bare) break;
    layers.push(next);
    bare = next;
  }
  return layers;
}

const hasShape = (text: string): boolean =>
  promising.test(text) && shapes.some(([shape]) => text.search(shape) >= 0);

function asItIs(text: string): Bare {
  const [begins, ends] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  for (let at = 0; at < text.length; at++) {
    begins[at] = at;
    ends[at] = at + 1;
  }
  return { text, begins, ends };
}

function without(what: RegExp, { text, begins, ends }: Bare): Bare {
  const parts: string[] = [];
  const [newBegins, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  let [at, length] = [0, 0];
  const copy = (to: number): void => {
    parts.push(text.slice(at, to));
    newBegins.set(begins.subarray(at, to), length);
    newEnds.set(ends.subarray(at, to), length);
    length += to - at;
  };
  for (const { 0: escape, index } of text.matchAll(what)) {
    copy(index);
    at = index + escape.length;
    const letter = letterOf(escape);
    parts.push(letter);
    newBegins.fill(begins[index] ?? 0, length, length + letter.length);
    newEnds.fill(ends[at - 1] ?? 0, length, length + letter.length);
    length += letter.length;
  }
  copy(text.length);
  return { text: parts.join(""), begins: newBegins, ends: newEnds };
}

/** Never longer than how it was written. */
function letterOf(escape: string): string {
  switch (escape[0]) {
    case "\\":
      return (
        spelled[escape] ??
        (/^\\[ux]/.test(escape) ? numbered(escape.slice(2), 16) : escape.slice(1))
      );
    case "'":
      return "'";
    case "%": {
      const bytes = Buffer.from(escape.replaceAll("%", ""), "hex");
      return bytes.toString(bytes.length > 1 ? "utf8" : "latin1");
    }
    case "&":
      return (
        spelled[escape] ??
        (/^&#x/i.test(escape)
          ? numbered(escape.slice(3, -1), 16)
          : numbered(escape.slice(2, -1), 10))
      );
    default:
      return "";
  }
}

const numbered = (digits: string, base: number): string => {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
};

const spelled: Readonly<Record<string, string>> = {
  "\\b": "\b",
  "\\f": "\f",
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

type Part = readonly [begin: number, end: number];

/** Where these stand in what the text was before. */
function placesIn({ text, begins, ends }: Bare, what: readonly string[] | typeof shapes): Part[] {
  const places: Part[] = [];
  const add = (from: number, to: number): void => {
    places.push([begins[from] ?? 0, ends[to - 1] ?? 0]);
  };
  for (const each of what) {
    if (typeof each === "string") {
      for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + each.length))
        add(at, at + each.length);
    } else {
      for (const { 0: all, 1: before = "", index } of text.matchAll(each[0]))
        add(index + before.length, index + all.length - (all.endsWith("@") ? 1 : 0));
    }
  }
  return places;
}

function withoutParts(text: string, parts: readonly Part[]): string {
  const kept: string[] = [];
  let at = 0;
  for (const [begin, end] of [...parts].sort(([one], [other]) => one - other)) {
    if (end <= at) continue;
    // Otherwise it begins within another.
    if (begin >= at) kept.push(text.slice(at, begin), masked);
    at = end;
  }
  return kept.join("") + text.slice(at);
}

// ── line by line ───────────────────────────────────────────────────────────────────────────────

/**
 * For text that comes line by line: `maskSecrets`, a private key's lines up to its end, and what is
 * folded, by its pieces.
 */
export function maskLines(secrets: readonly string[]): (line: string) => string {
  const maskPieces = piecesOf(secrets);
  let inKey = false;
  return (line) => {
    const bare = bareOf(line);
    const within = inKey && isOfKey(bare);
    const begins = lastOf(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/g, bare);
    inKey = (within || begins >= 0) && begins >= bare.lastIndexOf("-----END ");
    if (within && line.trim() !== "") return masked;
    const safe = maskSecrets(line, secrets);
    return maskPieces(safe, safe === line ? bare : bareOf(safe));
  };
}

const bareOf = (line: string): string =>
  disguised.test(line) ? (layersOf(line).at(-1) ?? line) : line;

/** One word, as it is or in the quotes of a program that prints it as a text of many lines. */
const isOfKey = (line: string): boolean =>
  /^\s*(?:Proc-Type|DEK-Info|Version|Comment): /.test(line) ||
  (/^[\w+/=\s'"`,;]*$/.test(line) && !/\S[ \t]+\w/.test(line));

const lastOf = (what: RegExp, text: string): number => [...text.matchAll(what)].at(-1)?.index ?? -1;

/** Whose half is long enough to be nothing else. */
const longEnough = 20;
const pieceOf = (secret: string): number => Math.min(16, Math.ceil(secret.length / 2));

/**
 * `base64` folds what it prints, and so do mails and certificates: a line ends within a secret, the
 * next begins there, or is nothing but a piece of it. The larger half is masked, since nobody can
 * wait for the next line; of what is folded more often, all that is no mere rest.
 */
function piecesOf(secrets: readonly string[]): (line: string, bare: string) => string {
  const long = secrets.filter(({ length }) => length >= longEnough);
  const all = long.join("\n");
  const least = longEnough / 2;
  return (line, bare) => {
    const plain = bare.trim();
    if (plain.length < least) return line;
    if (!all.includes(plain.slice(0, least)) && !all.includes(plain.slice(-least))) return line;
    const pieces = long.flatMap((secret) => [
      ...(plain.length >= pieceOf(secret) && secret.includes(plain) ? [plain] : []),
      ...(endOfOne(plain, secret) ?? []),
      ...(beginningOfOne(plain, secret) ?? []),
    ]);
    const [largest] = pieces.sort((one, other) => other.length - one.length);
    return largest === undefined ? line : maskSecrets(line, [largest]);
  };
}

/** What a line begins with, if a secret ends so. */
function endOfOne(line: string, secret: string): string[] | undefined {
  const end = secret.slice(-pieceOf(secret));
  for (
    let at = line.lastIndexOf(end, secret.length);
    at >= 0;
    at = at === 0 ? -1 : line.lastIndexOf(end, at - 1)
  ) {
    const piece = line.slice(0, at + end.length);
    if (secret.endsWith(piece)) return [piece];
  }
  return undefined;
}

/** What a line ends with, if a secret begins so. */
function beginningOfOne(line: string, secret: string): string[] | undefined {
  const beginning = secret.slice(0, pieceOf(secret));
  for (
    let at = line.indexOf(beginning, Math.max(0, line.length - secret.length));
    at >= 0;
    at = line.indexOf(beginning, at + 1)
  ) {
    const piece = line.slice(at);
    if (secret.startsWith(piece)) return [piece];
  }
  return undefined;
}

/**
 * The values of an environment that are to be masked, in every form in which they are likely to be
 * printed; the longest first, since one may contain another.
 */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !secretName.test(name) || isHarmless(value)) continue;
    // Of a value of many lines, each is printed by itself.
    for (const part of new Set([value, ...value.split(/\r?\n/).map((line) => line.trim())])) {
      if (part.length < shortest) continue;
      for (const form of formsOf(part)) if (form.length >= shortest) found.add(form);
    }
  }
  return [...found].sort((a, b) => b.length - a.length);
}

/** Shorter ones would be found in innocent words. */
const shortest = 8;

const secretName =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|ACCOUNT|AUTH)_?KEY|_PASS$|_PWD$|_AUTH$|_PAT$/i;

/** Settings and places have such names too (MAX_TOKENS, TOKEN_FILE, TOKEN_URL). */
const isHarmless = (value: string): boolean =>
  value.length < shortest ||
  /^(?:[a-z]{1,15}|[A-Z]{1,15}|[\d._-]{1,11})$/.test(value) ||
  /^(?:(?:~|\.{1,2})\/|\/(?:\.?[a-z][a-z0-9._-]*|Users|Applications|Library|Volumes)(?:\/|$))/.test(
    value,
  ) ||
  /^[A-Za-z]:[\\/]/.test(value) ||
  /^https?:\/\/[^@?]*$/.test(value);

function formsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  const inJson = JSON.stringify(secret).slice(1, -1);
  // In a JSON text within another one.
  const inJsonTwice = JSON.stringify(inJson).slice(1, -1);
  const inHex = Buffer.from(secret).toString("hex");
  const inBase64 = ([0, 1, 2] as const).flatMap((offset) => base64Of(secret, offset));
  return [
    secret,
    inUrl,
    inUrl.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    inUrl.replaceAll("%20", "+"),
    inJson,
    inJsonTwice,
    // Some writers of JSON escape what need not be: slashes, what HTML would take for its own, all
    // that is not ASCII.
    inJson.replaceAll("/", "\\/"),
    escaped(inJson, /[<>&]/g),
    escaped(inJson, /[^\x20-\x7e]/g),
    escaped(inJson, /[<>&]|[^\x20-\x7e]/g),
    inHex,
    inHex.toUpperCase(),
    // It may hold what reads as an escape, and be undone together with those around it.
    ...layersOf(secret),
    ...inBase64,
    ...inBase64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

const escaped = (text: string, what: RegExp): string =>
  text.replace(what, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Base64 takes three bytes at a time, so that a secret with something before it (`user:secret`)
 * looks different at each offset; of the groups that it shares with its neighbours, nothing is known.
 */
function base64Of(secret: string, offset: 0 | 1 | 2): string[] {
  const bytes = Buffer.from(" ".repeat(offset) + secret);
  const all = bytes.toString("base64");
  const from = [0, 2, 3][offset] as number;
  const own = all.slice(from, Math.floor((bytes.length * 4) / 3));
  return offset === 0 ? [all, own] : [own];
}
