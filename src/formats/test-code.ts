/** Finds test files by how they are called, and reads the tests in them by the language they are in. */
import type { TestCode } from "../core/test-code.ts";

type Read = (text: string, extension: string) => TestCode | undefined;

/** A reader is only loaded for a file of its language. */
const readers: readonly (readonly [RegExp, () => Promise<{ readonly read: Read }>])[] = [
  [/^[cm]?[jt]sx?$/, () => import("./test-code/javascript.ts")],
  [/^pyi?$/, () => import("./test-code/python.ts")],
  [/^(?:java|kts?)$/, () => import("./test-code/jvm.ts")],
  [/^cs$/, () => import("./test-code/csharp.ts")],
  [/^go$/, () => import("./test-code/go.ts")],
  [/^rs$/, () => import("./test-code/rust.ts")],
  [/^(?:c|cc|cpp|cxx|h|hh|hpp)$/, () => import("./test-code/cpp.ts")],
  [/^php$/, () => import("./test-code/php.ts")],
  [/^rb$/, () => import("./test-code/ruby.ts")],
];

/** No person writes a test file of this size. */
const mostLength = 2 * 1024 * 1024;

/** Nor of this nesting, which the parsers take far more than their share of time for. */
const mostDepth = 1000;

/** The deepest bracket, roughly: strings that end on their line are passed over. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  const marks = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[([{]|[)\]}]/g;
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    const [mark] = match;
    if (/^[([{]$/.test(mark)) deepest = Math.max(deepest, ++depth);
    else if (/^[)\]}]$/.test(mark)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/** The tests in a file; undefined: nothing can be said of it. */
export async function readTestCode(path: string, text: string): Promise<TestCode | undefined> {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const load = readers.find(([pattern]) => pattern.test(extension))?.[1];
  if (!load || text.length > mostLength || depthOf(text) > mostDepth) return undefined;
  const { read } = await load();
  return read(text.replace(/^\uFEFF/, ""), extension);
}

/** By the conventions of the languages; Rust keeps tests in any file, so that its text is needed. */
export function isTestFile(path: string, text?: string): boolean {
  const file = path.replaceAll("\\", "/");
  if (isSnapshotFile(file) || dataFile.test(file)) return false;
  if (text !== undefined && /\.rs$/i.test(file)) {
    return (
      /#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+\s*::\s*)*test\b)/.test(text) ||
      inTestFolder.test(file)
    );
  }
  return (
    testNames.some((pattern) => pattern.test(file)) ||
    (inTestFolder.test(file) && sourceFile.test(file))
  );
}

const sourceFile =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|groovy|scala|rb|php|cs|fs|vb|c|cc|cpp|cxx|h|hh|hpp|swift|exs?|dart|lua|pl|t|clj|hs|ml|jl|sh|bats|vue|svelte)$/i;

/** What tests read, not what they are. */
const dataFile =
  /(?:^|\/)(?:__fixtures__|fixtures?|testdata|test-data|__mocks__|node_modules|vendor)\//i;

const inTestFolder =
  /(?:^|\/)(?:tests?|__tests?__|specs?|e2e|cypress|androidTest|commonTest|integration[-_]?tests?|unit[-_]?tests?|testing)\//i;

const testNames: readonly RegExp[] = [
  /[.\-_](?:test|spec|e2e|cy|it|integration-test)\.[cm]?[jt]sx?$/i,
  /(?:^|\/)(?:test|spec)s?\.[cm]?[jt]sx?$/i,
  /(?:^|\/)test_[^/]*\.py$/i,
  /_tests?\.(?:py|go|rs|rb|php|c|cc|cpp|cxx|exs?|dart|lua|clj|swift)$/i,
  /(?:^|\/)(?:conftest|tests?)\.py$/i,
  /(?:^|\/)(?:test_)[^/]*\.(?:c|cc|cpp|cxx|rb|php|jl|lua|sh)$/i,
  /_spec\.(?:rb|lua|cr)$/i,
  /(?:Test|Tests|TestCase|IT|ITCase|Spec|Specs)\.(?:java|kt|kts|groovy|scala|cs|fs|vb|php|swift)$/,
  /(?:^|\/)Test[A-Z]\w*\.(?:java|kt|groovy|cs|php)$/,
  /[.\-_](?:test|unittest|gtest|tests)\.(?:c|cc|cpp|cxx|rs)$/i,
  /[a-z](?:Test|Tests|Spec)\.(?:c|cc|cpp|cxx|[cm]?[jt]sx?)$/,
  /(?:^|\/)tests?\.rs$/i,
  /\.bats$|\.t$/,
];

/** What a test run was once seen to give and is compared with: recorded, not written. */
export function isSnapshotFile(path: string): boolean {
  const file = path.replaceAll("\\", "/");
  return snapshotNames.some((pattern) => pattern.test(file));
}

const snapshotNames: readonly RegExp[] = [
  /(?:^|\/)__(?:image_|file_)?snapshots?__\//i,
  /(?:^|\/)(?:snapshots?|goldens?|golden[-_]files?|approvals?|cassettes)\/[^/]*(?:\/[^/]*)*\.(?!(?:[cm]?[jt]sx?|py|go|rs|java|kts?|rb|php|cs|c|cc|cpp|h|hpp)$)\w+$/i,
  /\.snap(?:\.\w+|shot)?$/i,
  /\.ambr$/i,
  /\.(?:approved|verified|golden|snapshot)(?:\.\w+)?$/i,
  /_golden\.\w+$|[.\-_]snapshot\.(?:json|txt|html|xml|ya?ml|png)$/i,
];
