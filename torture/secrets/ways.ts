/**
 * The ways in which a secret gets into a text: as it is, encoded by some program, quoted by another,
 * coloured, folded, in the message of an error. Each is made by what makes it in life, where that
 * is on every machine.
 */
import { spawnSync } from "node:child_process";
import { inspect } from "node:util";
import type { Canary } from "./canaries.ts";

export interface Form {
  readonly name: string;
  /** Only a value that is known can be recognised in it: a shape is no longer there. */
  readonly known?: true;
  of(value: string): string;
}

const bytesOf = (value: string): Buffer => Buffer.from(value);
const lettersOf = (value: string): string[] => Array.from(value);
const everyUnit = (value: string, as: (code: string) => string): string =>
  Array.from({ length: value.length }, (_, at) =>
    as(value.charCodeAt(at).toString(16).padStart(4, "0")),
  ).join("");

export const forms: readonly Form[] = [
  { name: "plain", of: (value) => value },
  { name: "quoted", of: (value) => `the key "${value}", said '${value}'.` },
  { name: "base64", known: true, of: (value) => bytesOf(value).toString("base64") },
  { name: "login", known: true, of: (value) => bytesOf(`me:${value}`).toString("base64") },
  { name: "base64url", known: true, of: (value) => bytesOf(`a=${value};`).toString("base64url") },
  {
    name: "folded",
    known: true,
    of: (value) => `\n${bytesOf(value).toString("base64").replace(/.{76}/g, "$&\n")}`,
  },
  { name: "hex", known: true, of: (value) => bytesOf(value).toString("hex") },
  { name: "hexlarge", known: true, of: (value) => bytesOf(value).toString("hex").toUpperCase() },
  { name: "url", of: (value) => `https://example.invalid/?k=${encodeURIComponent(value)}&l=1` },
  { name: "form", known: true, of: (value) => new URLSearchParams({ k: value }).toString() },
  {
    name: "percent",
    of: (value) => bytesOf(value).toString("hex").replace(/../g, "%$&"),
  },
  { name: "json", of: (value) => JSON.stringify({ key: value }) },
  { name: "jsontwice", of: (value) => JSON.stringify({ body: JSON.stringify({ key: value }) }) },
  { name: "numbered", of: (value) => `"${everyUnit(value, (code) => `\\u${code}`)}"` },
  { name: "slashed", of: (value) => JSON.stringify(value).replaceAll("/", "\\/") },
  {
    name: "ascii",
    of: (value) =>
      JSON.stringify(value).replace(/[<>&]|[^\x20-\x7e]/g, (unit) =>
        everyUnit(unit, (code) => `\\u${code}`),
      ),
  },
  {
    name: "html",
    of: (value) =>
      value.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replaceAll("/", "&#x2F;"),
  },
  {
    name: "coloured",
    of: (value) =>
      value
        .split("\n")
        .map((line) => `\u001b[1;31m${lettersOf(line).join("\u001b[0m\u001b[1;31m")}\u001b[0m`)
        .join("\n"),
  },
  {
    name: "linked",
    of: (value) => `\u001b]8;;\u0007${value.slice(0, 9)}\u001b[K${value.slice(9)}`,
  },
  { name: "invisible", of: (value) => lettersOf(value).join("\u200b") },
  { name: "inspected", of: (value) => inspect({ login: { key: value } }) },
  { name: "requoted", of: (value) => `LOGIN='${value.replaceAll("'", "'\\''")}' run` },
  { name: "variable", of: (value) => `LOGIN=${value}` },
  { name: "exported", of: (value) => exported("sh", value) },
  { name: "declared", of: (value) => exported("bash", value) },
  { name: "escaped", of: (value) => printed("bash", 'printf "%q" "$1"', value) },
  { name: "traced", of: (value) => printed("sh", 'set -x; : "$1"', value) },
  { name: "argument", of: (value) => refused(value) },
  { name: "stack", of: (value) => String(failedWith(value).stack) },
  { name: "crash", of: (value) => inspect(new Error("no answer", { cause: failedWith(value) })) },
  ...[200, 300, 500, 8192].map((limit) => ({
    // Whoever cuts before he masks leaves the beginning.
    name: `late${limit}`,
    of: (value: string) =>
      `${"so much to say ".repeat(600).slice(0, limit - 24 - tagLength)} ${value}`,
  })),
];

/** As a rule; a secret then lies across the limit. */
const tagLength = 20;

/** All that is promised of it. */
export const formsFor = ({ variable }: Canary): Form[] =>
  forms.filter(({ known }) => variable !== undefined || !known);

/** What a shell says of its variables, in its own quotes. */
const exported = (shell: Shell, value: string): string =>
  linesWith("LOGIN", spoken(shell, "export -p", { env: { LOGIN: value } }));

const printed = (shell: Shell, script: string, value: string): string =>
  spoken(shell, script, { args: [value] });

type Shell = "sh" | "bash";

function spoken(
  shell: Shell,
  script: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Readonly<Record<string, string>> },
): string {
  const { stdout, stderr } = spawnSync(
    shell,
    [...(shell === "bash" ? ["--norc"] : []), "-c", script, shell, ...args],
    { encoding: "utf8", env: { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8", ...env } },
  );
  return `${stdout}${stderr}`.trimEnd();
}

/** From the line that names it to the next variable. */
const linesWith = (name: string, text: string): string => {
  const [, found = ""] =
    new RegExp(
      `((?:export|declare -x) ${name}=[\\s\\S]*?)(?:\\n(?:export|declare -x) |\\n?$(?![\\s\\S]))`,
    ).exec(text) ?? [];
  return found;
};

/** A command line in the message of an error. */
function refused(value: string): string {
  const { error, status } = spawnSync("false", ["--login", value]);
  return `${error ?? `Error: Command failed with ${status}`}: false --login ${value}`;
}

const failedWith = (value: string): Error => new Error(`401: ${value} is not valid`);
