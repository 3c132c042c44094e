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

const cleaned = (text: string): string =>
  text
    // Whole sequences first (CSI, OSC and other strings up to their end), then what is left of them.
    .replace(/(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g, "")
    .replace(
      /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)/g,
      "",
    )
    .replace(/\u001b./g, "")
    .replace(/[\r\n\t\u2028\u2029]+/g, " ")
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
      "",
    );

const masked = "[masked]";

/**
 * Without secrets: those that are named (see `secretsIn`), and whatever has the shape of one. Takes
 * time in proportion to the text, whatever the text is.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  if (numbered.test(text)) {
    const plain = withoutNumbers(text);
    const safe = maskPlain(plain, secrets);
    if (safe !== plain) return safe;
  }
  return maskPlain(text, secrets);
}

/** JSON may write any character by its number, and a slash with another before it. */
const numbered = /\\(?:u[0-9a-fA-F]{4}|\/)/;

/** The same JSON: quotes, backslashes and what no line may hold stay as they are written. */
const withoutNumbers = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|[^])/g, (all, hex: string | undefined) => {
    if (all === "\\/") return "/";
    const letter = hex === undefined ? "" : String.fromCharCode(Number.parseInt(hex, 16));
    return /[^\u0000-\u001f"\\\u007f-\u009f\u2028\u2029\ud800-\udfff]/.test(letter) ? letter : all;
  });

function maskPlain(text: string, secrets: readonly string[]): string {
  let rest = text;
  for (const secret of secrets) {
    if (rest.includes(secret)) rest = rest.replaceAll(secret, masked);
  }
  if (!promising.test(rest)) return rest;
  for (const [shape, replacement] of shapes) rest = rest.replace(shape, replacement);
  return rest;
}

/**
 * Well-known shapes. None of them can make a search slow: what may be long is one run of characters
 * that a search passes once, or has a limit.
 */
const shapes: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\w+/=\s\\:,.]*(?:-(?!----)[\w+/=\s\\:,.]*)*/g,
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

const keyLine = /^\s*(?:[\w+/=]*|(?:Proc-Type|DEK-Info|Version|Comment): .*)\s*$/;

/** For text that comes line by line: `maskSecrets`, and a private key's lines up to its end. */
export function maskLines(secrets: readonly string[]): (line: string) => string {
  let inKey = false;
  return (line) => {
    const within = inKey && keyLine.test(line);
    const begins = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(line);
    inKey = (within || begins) && !line.includes("-----END ");
    return within && line.trim() !== "" ? masked : maskSecrets(line, secrets);
  };
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
