/** Looks up everything that a verification judges by; decides nothing. */
import { posix } from "node:path";
import { applyAgent } from "../core/agent/known.ts";
import { compareTests } from "../core/compare-tests.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { Phase } from "../core/plan/plan.ts";
import { agentOf, type Claim, gatesOf, isComplete, type PlanRun } from "../core/plan/progress.ts";
import type { Gate, Traces } from "../core/plan/run-event.ts";
import { createReportReader } from "../core/runners/read-report.ts";
import type { TestCode } from "../core/test-code.ts";
import { filesNamedIn } from "../core/verification/declared.ts";
import type { ChangedFile, Facts } from "../core/verification/facts.ts";
import { covers, plainPath } from "../core/verification/paths.ts";
import { isSnapshotFile, isTestFile, readTestCode } from "../formats/test-code.ts";
import type { Git } from "../git/call.ts";
import { pathsIn, readBlobs } from "../git/objects.ts";
import { type Change } from "../git/trees.ts";
import { ignoredOf } from "../git/user-tree.ts";
import { changedHooks, changedTools, surfaceChanges } from "./gate-surface.ts";
import type { RunSite } from "./run-site.ts";

export interface Subject {
  readonly planned: Phase;
  readonly claim: Claim;
  readonly onto: string;
  /** On `onto`, with the tree that would be committed. */
  readonly commit: string;
  /** Between the two, without the plan's own files. */
  readonly changes: readonly Change[];
}

/** All but what the gates say. */
export async function gatherFacts(
  site: RunSite,
  run: PlanRun,
  subject: Subject,
  traces: Traces = {},
): Promise<Result<Omit<Facts, "gates">>> {
  const inTree = await treeFacts(site, gatesOf(run), subject);
  if (!inTree.ok) return inTree;
  const hooks = await changedHooks(site);
  if (!hooks.ok) return hooks;
  return succeed({
    ...inTree.value,
    phase: subject.planned,
    toTheLetter: agentOf(run, subject.planned.id) === applyAgent.name,
    claim: subject.claim,
    traces,
    others: ownedByOthers(site, run, subject.planned),
    toolsChanged: changedTools(site),
    hooksChanged: hooks.value,
    countsBefore: run.counts,
  });
}

/** What two commits alone tell: an audit has no more. */
export async function treeFacts(
  site: Pick<RunSite, "git" | "surfaceAt">,
  gates: readonly Gate[],
  subject: Subject,
): Promise<
  Result<Pick<Facts, "changes" | "there" | "surface" | "tests" | "testsAdded" | "unreadable">>
> {
  const { changes } = subject;
  const texts = await readTexts(site.git, changes);
  if (!texts.ok) return texts;
  const there = await pathsThere(site.git, subject);
  if (!there.ok) return there;
  const surface = await surfaceChanges(site, gates, subject);
  if (!surface.ok) return surface;
  const unasked = changes
    .filter(
      ({ path, old }) =>
        old === null && !subject.planned.files.some((file) => covers(file.path, path)),
    )
    .map(({ path }) => path);
  const forced = new Set(unasked.length > 0 ? await ignoredOf(site.git, unasked) : []);
  const inFiles = await fileFacts(changes, texts.value);
  return succeed({
    ...inFiles,
    changes: inFiles.changes.map((change) => ({
      ...change,
      ...(forced.has(change.path) && { ignored: true as const }),
    })),
    there: there.value,
    surface: surface.value,
  });
}

/** What the bytes alone tell of the files that were changed, and of the tests in them. */
export async function fileFacts(
  changes: readonly Change[],
  texts: Texts,
): Promise<Pick<Facts, "changes" | "tests" | "testsAdded" | "unreadable">> {
  return {
    changes: changes.map((change) => changedFile(change, texts)),
    ...(await comparedTests(changes, texts)),
  };
}

// ── the files ──────────────────────────────────────────────────────────────────────────────────

/** By blob; what is too large to be read by people is not looked into. */
type Texts = ReadonlyMap<string, string>;

const readTexts = async (git: Git, changes: readonly Change[]): Promise<Result<Texts>> => {
  const wanted = changes.flatMap(({ path, old, now }) => [
    ...(now && now.mode !== "160000" ? [now.blob] : []),
    ...(old && old.mode !== "160000" && (isTestFile(path) || path.endsWith(".rs") || now)
      ? [old.blob]
      : []),
  ]);
  const read = await readBlobs(git, [...new Set(wanted)], mostBytes);
  if (!read.ok) return read;
  return succeed(new Map([...read.value].map(([blob, bytes]) => [blob, bytes.toString("utf8")])));
};

const mostBytes = 2 * 1024 * 1024;

function changedFile({ path, old, now }: Change, texts: Texts): ChangedFile {
  const text = now ? texts.get(now.blob) : undefined;
  const leadsTo = now?.mode === "120000" ? outsideTarget(path, text ?? "") : undefined;
  const marker = text === undefined || now?.mode === "120000" ? undefined : markerIn(text);
  const before = marker !== undefined && old ? markerIn(texts.get(old.blob) ?? "") : undefined;
  const kind = kindOf(path, text ?? (old ? texts.get(old.blob) : undefined));
  const forged =
    text !== undefined && kind === "code"
      ? forgedIn(text, old ? texts.get(old.blob) : "")
      : undefined;
  return {
    path,
    change: old === null ? "created" : now === null ? "deleted" : "modified",
    kind,
    ...(forged !== undefined && { forged }),
    ...(now && text === "" && { empty: true as const }),
    ...(leadsTo !== undefined && { leadsTo }),
    ...(marker !== undefined && before === undefined && { marker }),
  };
}

function kindOf(path: string, text: string | undefined): ChangedFile["kind"] {
  if (isSnapshotFile(path)) return "snapshot";
  // A Rust file with tests in it is code all the same.
  if (isTestFile(path, path.endsWith(".rs") ? undefined : text)) return "test";
  if (locks.test(path)) return "lock";
  if (documents.test(path)) return "document";
  return code.test(path) ? "code" : "other";
}

const locks =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|Cargo\.lock|go\.sum|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|packages\.lock\.json|gradle\.lockfile)$/;
const documents = /\.(?:md|mdx|markdown|rst|txt|adoc|org)$|(?:^|\/)(?:LICENSE|NOTICE|AUTHORS)$/i;
const code =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|pyi|go|rs|java|kts?|scala|groovy|cs|fs|vb|rb|php|c|h|cc|cpp|cxx|hh|hpp|m|mm|swift|dart|ex|exs|erl|clj|hs|ml|lua|pl|pm|r|jl|sh|bash|zsh|fish|ps1|bat|cmd|sql|css|scss|less|html?|wasm|so|dll|exe|node|jar)$|(?:^|\/)(?:Makefile|Dockerfile|Jenkinsfile|justfile)$|(?:^|\/)\.(?:env|npmrc|envrc)[^/]*$/i;

/** Where a link leads, if that is not in this tree. */
function outsideTarget(path: string, target: string): string | undefined {
  if (posix.isAbsolute(target) || /^[A-Za-z]:/.test(target)) return target;
  const at = posix.normalize(posix.join(posix.dirname(path), target));
  return at === ".." || at.startsWith("../") || /^\.git(?:\/|$)/.test(at) ? target : undefined;
}

/** All three marks of a conflict, in their order; the first one's line. */
function markerIn(text: string): number | undefined {
  let [first, seen] = [0, 0];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.startsWith("<<<<<<< ")) [first, seen] = [index + 1, 1];
    else if (seen === 1 && /^=======\r?$/.test(line)) seen = 2;
    else if (seen === 2 && line.startsWith(">>>>>>> ")) return first;
  }
  return undefined;
}

/** A new line of code with a text in it that, printed, a test runner's report would be read from. */
function forgedIn(text: string, before = ""): number | undefined {
  const known = new Set(before.split("\n"));
  for (const [index, line] of text.split("\n").entries()) {
    if (known.has(line) || !/pass|fail|ok\b|test/i.test(line)) continue;
    const printed = [
      ...line.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g),
    ]
      .map((match) => match[1] ?? match[2] ?? match[3] ?? "")
      .flatMap((literal) => literal.replaceAll(/\$\{[^}]*\}|%[ds]/g, "9").split(/\\n|\n/));
    const reader = createReportReader();
    for (const each of printed) reader.line(each);
    if (printed.length > 0 && reader.report() !== undefined) return index + 1;
  }
  return undefined;
}

/** Of the files that somebody names: those in the tree, though the phase did not change them. */
async function pathsThere(
  git: Git,
  { planned, claim, commit, changes }: Subject,
): Promise<Result<ReadonlySet<string>>> {
  const changed = new Set(changes.map(({ path }) => path));
  const { created = [], modified = [], deleted = [] } = claim.files ?? {};
  const named = new Set([
    ...[...created, ...modified, ...deleted].map(plainPath),
    ...planned.files.map(({ path }) => plainPath(path)),
    ...planned.definitionOfDone.flatMap(({ text }) => filesNamedIn(text)),
  ]);
  const asked = [...named].filter((path) => path !== "" && !changed.has(path));
  return asked.length === 0 ? succeed(new Set<string>()) : pathsIn(git, commit, asked);
}

/** What other phases are to write and have not written yet. */
function ownedByOthers(
  site: RunSite,
  run: PlanRun,
  { id, dependsOn }: Phase,
): ReadonlyMap<string, string> {
  const open = new Set(run.phases.filter((phase) => !isComplete(phase)).map((phase) => phase.id));
  return new Map(
    site
      .plan()
      .compiled.plan.phases.filter((each) => each.id !== id && open.has(each.id))
      .filter((each) => !dependsOn.includes(each.id))
      .flatMap(({ written, files }) => files.map(({ path }) => [plainPath(path), written])),
  );
}

// ── the tests ──────────────────────────────────────────────────────────────────────────────────

async function comparedTests(
  changes: readonly Change[],
  texts: Texts,
): Promise<Pick<Facts, "tests" | "testsAdded" | "unreadable">> {
  const [before, after] = [new Map<string, TestCode>(), new Map<string, TestCode>()];
  const unreadable: string[] = [];
  for (const { path, old, now } of changes) {
    if (isSnapshotFile(path)) continue;
    const was = old ? texts.get(old.blob) : undefined;
    const is = now ? texts.get(now.blob) : undefined;
    if (!isTestFile(path, is) && !isTestFile(path, was)) continue;
    const read = was === undefined ? undefined : await readTestCode(path, was);
    const then = is === undefined ? undefined : await readTestCode(path, is);
    if (read) before.set(path, read);
    if (then) after.set(path, then);
    else if (read && read.tests.length > 0 && now) unreadable.push(path);
  }
  const testsAdded = liveTests(after) - liveTests(before);
  return { tests: compareTests(before, after), testsAdded, unreadable };
}

/** A test under a condition may run elsewhere and not here: it is not counted on. */
const liveTests = (files: ReadonlyMap<string, TestCode>): number =>
  [...files.values()]
    .flatMap(({ tests }) => tests)
    .filter(({ skipped, conditional }) => !skipped && !conditional).length;
