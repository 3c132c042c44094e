/** The conventional commit message of a phase that nobody has written one for. */
import type { Phase } from "./plan.ts";

export function commitMessageFor(phase: Phase, paths: readonly string[]): string {
  const type = typeOf(phase, paths);
  const counting = type === "test" || type === "docs" ? paths : paths.filter(isSource);
  const scope = scopeOf(counting.length > 0 ? counting : paths);
  const head = `${type}${scope === undefined ? "" : `(${scope})`}: `;
  const body = phase.tasks.map(({ text }) => `- ${line(text)}`);
  return [
    head + subject(phase, longestHead - head.length),
    ...(body.length > 0 ? ["", ...body] : []),
  ].join("\n");
}

const longestHead = 100;

function typeOf({ id, name }: Phase, paths: readonly string[]): string {
  if (paths.length > 0 && paths.every((path) => /\.(?:md|mdx|rst|adoc)$/i.test(path)))
    return "docs";
  if (paths.length > 0 && paths.every(isTest)) return "test";
  const isSetUp = /^0+$/.test(id) || paths.length === 0 || setUpName.test(name);
  return isSetUp ? "chore" : "feat";
}

const setUpName = /\b(?:bootstrap\w*|set[- ]?up|setting up|scaffold\w*|initiali[sz]\w*|tooling)\b/i;

const isTest = (path: string): boolean =>
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]+$|(?:Tests?|Spec)\.\w+$/.test(
    path,
  );
const isSource = (path: string): boolean => !isTest(path) && !/\.md$/i.test(path);

/** The innermost folder that all of them share and that says something. */
function scopeOf(paths: readonly string[]): string | undefined {
  const [first = [], ...rest] = paths.map((path) => path.split("/").slice(0, -1));
  const shared = first.filter((_, at) =>
    rest.every((folders) => first.slice(0, at + 1).every((name, index) => folders[index] === name)),
  );
  return shared
    .map((name) => name.toLowerCase())
    .findLast((name) => /^[a-z0-9][a-z0-9_-]{0,29}$/.test(name) && !saysNothing.has(name));
}

const saysNothing = new Set(
  "src lib app apps source sources main packages pkg internal cmd test tests __tests__ spec docs doc".split(
    " ",
  ),
);

function subject({ name, written }: Phase, most: number): string {
  const text = (line(name) || line(written)).replace(/[.\s]+$/, "");
  // API and OAuth stay as they are; Schema does not.
  const lower = /^\p{Lu}(?!\p{Lu}|\w*\p{Lu})/u.test(text)
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
  if (lower.length <= most) return lower;
  const cut = lower.slice(0, most - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), most / 2))}…`;
}

const line = (text: string): string =>
  text
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .trim();
