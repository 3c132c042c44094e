/** Gathers what core may not look up: the artifacts under `_docs/` and the look of the root. */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Flow, type Glob, type Survey, sizesWanted, textsWanted } from "../core/flow/flow.ts";
import { smallFileAt } from "../stack/small-file.ts";

/** Enough for any project's artifacts, few enough to be instant where `_docs/` is misused. */
const mostFiles = 20_000;
const deepest = 8;
/** A probe asks for a line of a header or a heading; no artifact needs more. */
const [mostTexts, mostText] = [500, 256 * 1024];

/** `quick`: only proofs are asked for; files of whose size none wants to know are taken for filled. */
export function survey(root: string, flows: readonly Flow[], { quick = false } = {}): Survey {
  const docs = path.join(root, "_docs");
  const sized = quick ? flows.flatMap((flow) => sizesWanted(flow, { cycle: 1 })) : undefined;
  const files = isFolder(docs) ? filesUnder(docs, sized) : undefined;
  // What a cycle is called makes no difference to what is looked into.
  const wanted = flows.flatMap((flow) => textsWanted(flow, { cycle: 1 }, { proofs: quick }));
  let texts: ReadonlyMap<string, string> | undefined;
  let source: boolean | undefined;
  return {
    docs: files,
    get texts() {
      texts ??= textsIn(docs, files, wanted);
      return texts;
    },
    get hasSource() {
      source ??= hasSource(root);
      return source;
    },
    get members() {
      return membersOf(root);
    },
  };
}

function textsIn(
  docs: string,
  files: ReadonlyMap<string, number> | undefined,
  wanted: readonly Glob[],
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, size] of files ?? []) {
    if (texts.size >= mostTexts) break;
    if (size <= mostText && wanted.some((pattern) => pattern.test(name)))
      texts.set(name, readText(path.join(docs, name)));
  }
  return texts;
}

function filesUnder(top: string, sized: readonly Glob[] | undefined): Map<string, number> {
  const files = new Map<string, number>();
  const sizeOf = (full: string, name: string): number =>
    sized && !sized.some((pattern) => pattern.test(name))
      ? 1
      : (fs.statSync(full, { throwIfNoEntry: false })?.size ?? 0);
  const walk = (folder: string, prefix: string, depth: number): void => {
    for (const entry of entriesOf(folder)) {
      if (files.size >= mostFiles) return;
      const name = prefix + entry.name;
      const full = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < deepest && entry.name !== "node_modules") walk(full, `${name}/`, depth + 1);
      } else if (entry.isFile()) {
        files.set(name, sizeOf(full, name));
      }
    }
  };
  walk(top, "", 0);
  return files;
}

const manifests =
  /^(package\.json|pyproject\.toml|setup\.py|requirements\.txt|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?|Gemfile|composer\.json|CMakeLists\.txt|mix\.exs|.*\.(sln|csproj|fsproj))$/;
const sources =
  /\.(c|cc|cpp|cs|dart|ex|exs|go|h|hpp|java|js|jsx|kt|lua|mjs|php|pl|py|rb|rs|scala|sh|swift|ts|tsx|vue)$/;
const sourceFolders = ["src", "lib", "app", "cmd", "pkg", "internal", "server", "client"];

/** A manifest, or source code at the root or in the folders where it usually lies. */
function hasSource(root: string): boolean {
  const top = entriesOf(root);
  // A manifest that only names members is no source of its own.
  const isSource = (name: string): boolean =>
    sources.test(name) || (manifests.test(name) && workspacesOf(root).length === 0);
  if (top.some((entry) => entry.isFile() && isSource(entry.name))) return true;
  return top
    .filter((entry) => entry.isDirectory() && sourceFolders.includes(entry.name))
    .some((folder) =>
      entriesOf(path.join(root, folder.name)).some(
        (entry) => entry.isDirectory() || sources.test(entry.name),
      ),
    );
}

/** Git submodules, and members of the workspaces that package managers know. */
const membersOf = (root: string): number =>
  (readText(path.join(root, ".gitmodules")).match(/^\[submodule /gm) ?? []).length +
  workspacesOf(root).reduce((sum, pattern) => sum + foldersLike(root, pattern).length, 0);

/** The same by their paths, in that order; each once, and none that leads out of the repository. */
export function membersIn(root: string): { path: string; by: "submodule" | "workspace" }[] {
  const linked = [
    ...readText(path.join(root, ".gitmodules")).matchAll(/^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$/gm),
  ].map(([, each]) => ({ path: each as string, by: "submodule" as const }));
  const joined = workspacesOf(root)
    .flatMap((pattern) => foldersLike(root, pattern))
    .map((each) => ({ path: each, by: "workspace" as const }));
  const all = new Map([...joined, ...linked].map((member) => [member.path, member]));
  return [...all.values()]
    .filter(({ path: each }) => !/^\/|(?:^|\/)\.\.(?:\/|$)/.test(each))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** As their manifests name them: folders, or all folders in one (`packages/*`). */
function workspacesOf(root: string): string[] {
  const quoted = (text: string): string[] =>
    [...text.matchAll(/["']([^"']+)["']/g)].map(([, each]) => each as string);
  const npm = /"workspaces"\s*:\s*(?:\{[^}]*?"packages"\s*:\s*)?\[([^\]]*)\]/.exec(
    readText(path.join(root, "package.json")),
  )?.[1];
  const cargo = /^members\s*=\s*\[([^\]]*)\]/m.exec(readText(path.join(root, "Cargo.toml")))?.[1];
  const pnpm = readText(path.join(root, "pnpm-workspace.yaml"));
  const go = readText(path.join(root, "go.work"));
  return [
    ...quoted(npm ?? ""),
    ...quoted(cargo ?? ""),
    ...[...pnpm.matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)].map(([, each]) => each as string),
    ...[...go.matchAll(/^\s*(?:use\s+)?(\.\/\S+)/gm)].map(([, each]) => each as string),
  ].filter((pattern) => !pattern.startsWith("!"));
}

function foldersLike(root: string, pattern: string): string[] {
  const plain = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  const all = /^(.*?)\/?\*{1,2}$/.exec(plain);
  if (!all) return isFolder(path.join(root, plain)) ? [plain] : [];
  return entriesOf(path.join(root, all[1] ?? ""))
    .filter((entry) => entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name))
    .map((entry) => path.posix.join(all[1] ?? "", entry.name));
}

const isFolder = (folder: string): boolean =>
  fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const readText = (file: string): string => smallFileAt(file) ?? "";
