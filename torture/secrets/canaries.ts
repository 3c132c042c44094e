/**
 * Secrets that open nothing, to be looked for afterwards. Some are values of variables that are named
 * like secrets, in every alphabet that passwords are made of; the others are in no variable, and
 * known by nothing but their shape.
 */
import { type Random, randomFrom } from "../rig.ts";

export interface Canary {
  readonly number: number;
  readonly kind: string;
  /** As somebody prints it. */
  readonly value: string;
  /** The variable that holds it; absent: nobody knows it, but it has a shape. */
  readonly variable?: string;
  /** What nobody may see of it: of an address the password, of a key its lines. */
  readonly parts: readonly string[];
}

type Made = Pick<Canary, "value"> & {
  readonly called?: string;
  readonly parts?: readonly string[];
};
type Kind = (letters: Letters) => Made;
type Letters = (count: number, among?: string) => string;

const digits = "0123456789";
const small = "abcdefghijklmnopqrstuvwxyz";
const large = small.toUpperCase();
const alphanumeric = `${small}${large}${digits}`;
const base64 = `${alphanumeric}+/`;
const base64url = `${alphanumeric}-_`;

/** `called`: how its variable's name ends. */
const kinds: Readonly<Record<string, Kind>> = {
  "api key": (letters) => ({ called: "API_KEY", value: letters(40) }),
  "token with slashes": (letters) => ({ called: "TOKEN", value: `${letters(43, base64)}=` }),
  "password with quotes": (letters) => ({
    called: "PASSWORD",
    value: `q${letters(31, `${alphanumeric}"'\\{}[]:,`)}z`,
  }),
  "password for a shell": (letters) => ({
    called: "PASSWD",
    value: `s${letters(31, `${alphanumeric}$\`!#~*?;|()^`)}z`,
  }),
  passphrase: (letters) => ({
    called: "PASSPHRASE",
    value: Array.from({ length: 5 }, () => letters(7, small)).join(" "),
  }),
  "secret in other alphabets": (letters) => ({
    called: "SECRET",
    value: `ü${letters(25, `${alphanumeric}äößéñçøЖдюλπ漢字仮名`)}`,
  }),
  "credentials in JSON": (letters) => ({
    called: "CREDENTIALS",
    value: `{"id":"${letters(12)}","key":"${letters(24, base64)}"}`,
  }),
  "short password": (letters) => ({ called: "PASS", value: `k${letters(8)}7!` }),
  "signing key": (letters) => ({ called: "SIGNING_KEY", value: letters(64, `${digits}abcdef`) }),
  "query string": (letters) => ({
    called: "AUTH",
    value: `u=${letters(14)}&p=${letters(14)}%2F${letters(6)}<${letters(4)}>`,
  }),
  "private key in a variable": (letters) => ({
    called: "PRIVATE_KEY",
    ...privateKey(letters, "RSA "),
  }),
  "access key": (letters) => ({
    called: "ACCESS_KEY",
    value: [8, 4, 4, 12].map((count) => letters(count, `${digits}abcdef`)).join("-"),
  }),

  "GitHub token": (letters) => ({ value: `ghp_${letters(36)}` }),
  "GitHub fine token": (letters) => ({ value: `github_pat_${letters(59)}` }),
  "GitLab token": (letters) => ({ value: `glpat-${letters(24, base64url)}` }),
  "model key": (letters) => ({ value: `sk-ant-${letters(48, base64url)}` }),
  "payment key": (letters) => ({ value: `sk_live_${letters(32)}` }),
  "hub token": (letters) => ({ value: `hf_${letters(34)}` }),
  "map key": (letters) => ({ value: `AIza${letters(35)}` }),
  "cloud key": (letters) => ({ value: `AKIA${letters(16, large + digits)}` }),
  "chat token": (letters) => ({ value: `xoxb-${letters(12, digits)}-${letters(24)}` }),
  "registry token": (letters) => ({ value: `npm_${letters(36)}` }),
  "index token": (letters) => ({ value: `pypi-${letters(60, base64url)}` }),
  "web token": (letters) => {
    const [content, signature] = [letters(60, base64url), letters(43, base64url)];
    return {
      value: `eyJhbGciOiJIUzI1NiJ9.${content}.${signature}`,
      parts: [content, signature],
    };
  },
  "private key": (letters) => privateKey(letters, "EC "),
  "bearer header": (letters) => {
    const token = letters(40, base64url);
    return { value: `Authorization: Bearer ${token}`, parts: [token] };
  },
  "basic header": (letters) => {
    const login = `${letters(38, base64)}==`;
    return { value: `Authorization: Basic ${login}`, parts: [login] };
  },
  "database address": (letters) => {
    const password = letters(26);
    return { value: `postgres://shop:${password}@db.example.invalid:5432/shop`, parts: [password] };
  },
};

function privateKey(letters: Letters, name: string): Made {
  const lines = [letters(64, base64), letters(64, base64), `${letters(38, base64)}==`];
  const edge = (word: string): string => `-----${word} ${name}PRIVATE KEY-----`;
  return { value: [edge("BEGIN"), ...lines, edge("END")].join("\n"), parts: lines };
}

export const kindsOfCanaries = Object.keys(kinds).length;

/** Of a seed, always the same; every kind comes before one comes again. */
export function canariesOf(seed: number, from: number, to: number): Canary[] {
  const names = Object.keys(kinds);
  return Array.from({ length: to - from }, (_, at): Canary => {
    const number = from + at + 1;
    const kind = names[(number - 1) % names.length] as string;
    const {
      value,
      called,
      parts = [value],
    } = (kinds[kind] as Kind)(lettersOf(randomFrom(seed, 31, number)));
    return {
      number,
      kind,
      value,
      parts,
      ...(called !== undefined && { variable: `CANARY_${number}_${called}` }),
    };
  });
}

const lettersOf =
  (random: Random): Letters =>
  (count, among = alphanumeric) => {
    const all = Array.from(among);
    return Array.from({ length: count }, () => all[random.below(all.length)]).join("");
  };
