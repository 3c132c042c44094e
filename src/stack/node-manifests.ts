/** package.json, and those of the workspaces. */
import { type JsonObject, objectIn, stringIn, type Tree } from "./tree.ts";

export const manifest = "package.json";

/** The manifests of npm's, yarn's, bun's and pnpm's workspaces. */
export function workspacesOf(tree: Tree): string[] {
  const json = tree.json(manifest);
  const said = json?.["workspaces"];
  const listed = Array.isArray(said) ? said : objectIn(json, "workspaces")["packages"];
  const patterns = [
    ...(Array.isArray(listed) ? listed : []),
    ...pnpmPackages(tree.text("pnpm-workspace.yaml") ?? ""),
  ].filter((each): each is string => typeof each === "string");
  const manifests = (pattern: string): readonly string[] =>
    tree.like(`${pattern.replace(/^\.\/|\/+$/g, "")}/${manifest}`);
  const out = new Set(
    patterns.filter((each) => each.startsWith("!")).flatMap((each) => manifests(each.slice(1))),
  );
  const found = patterns.filter((each) => !each.startsWith("!")).flatMap(manifests);
  return [...new Set(found)]
    .filter((file) => !out.has(file) && !file.includes("node_modules/"))
    .sort();
}

/** The one list of strings that is wanted from that file. */
function pnpmPackages(text: string): string[] {
  const block =
    /^packages:[ \t]*(?:#.*)?\r?\n((?:[ \t]*(?:-.*|#.*)?\r?\n?)*)/m.exec(text)?.[1] ?? "";
  const inline = /^packages:[ \t]*\[([^\]]*)\]/m.exec(text)?.[1] ?? "";
  return [
    ...[...block.matchAll(/^[ \t]*-[ \t]*(['"]?)(.*?)\1[ \t]*(?:#.*)?\r?$/gm)].map(
      ([, , each = ""]) => each,
    ),
    ...inline.split(",").map((each) => each.trim().replace(/^['"]|['"]$/g, "")),
  ].filter((each) => each !== "");
}

/** Those whose text is one. */
export const scriptsOf = (json: JsonObject | undefined): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(objectIn(json, "scripts")).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );

/** A yarn of version 2 or later, which is called in other ways. */
export const isBerry = (tree: Tree): boolean =>
  tree.has(".yarnrc.yml") || /^yarn@(?!1\.)/.test(stringIn(tree.json(manifest), "packageManager"));
