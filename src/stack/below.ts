/** Projects that lie one folder below the top, where the top itself is none. */
import type { Gate } from "../core/plan/run-event.ts";
import type { Dependencies, Detected } from "./detected.ts";
import { surfaceOf } from "./surface.ts";
import { type Read, type Tree, treeOf } from "./tree.ts";

/** `frontend/`, `backend/` and nothing at the top: each is a project, the first of them the stack. */
export function detectBelow(
  tree: Tree,
  read: Read,
  detectIn: (tree: Tree) => Detected,
): Detected | undefined {
  const folders = [...new Set(tree.paths.map((path) => path.split("/")[0] ?? ""))];
  const found = folders
    .filter(
      (folder) => tree.hasFolder(folder) && !/^\.|^(?:docs?|examples?|samples?)$/.test(folder),
    )
    .slice(0, mostFolders)
    .map((folder) => ({ folder, detected: detectIn(treeBelow(tree, folder, read)) }))
    .filter(({ detected }) =>
      detected.gates.some(({ name, command }) => name === "test" && command !== null),
    );
  const [main, ...others] = found;
  if (!main) return undefined;
  const inside = ({ folder, detected }: typeof main, gates: readonly Gate[], suffix = "") => ({
    gates: gates.map((gate) => ({
      ...gate,
      name: `${gate.name}${suffix}`,
      command: gate.command && `cd ${quoted(folder)} && ${gate.command}`,
    })),
    because: detected.because.map(({ what, why, file }) => ({
      what: what.startsWith("gate ") ? `${what}${suffix}` : what,
      why: `${why}, in ${folder}`,
      file: file && `${folder}/${file}`,
    })),
  });
  const parts = [
    inside(main, main.detected.gates),
    ...others.map((other) =>
      inside(
        other,
        other.detected.gates.filter(({ name }) => name === "test"),
        `_${other.folder
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, "_")
          .slice(0, 20)}`,
      ),
    ),
  ];
  const all = (pick: (each: Dependencies) => readonly string[], under: boolean): string[] => [
    ...new Set(
      found.flatMap(({ folder, detected: { dependencies } }) =>
        pick(dependencies).map((each) => (under ? `${folder}/${each}` : each)),
      ),
    ),
  ];
  const setups = found.flatMap(({ folder, detected: { setup } }) =>
    setup === undefined ? [] : [`(cd ${quoted(folder)} && ${setup})`],
  );
  return {
    stack: main.detected.stack,
    gates: parts.flatMap(({ gates }) => gates),
    ...(setups.length > 0 && { setup: setups.join(" && ") }),
    dependencies: {
      folders: all(({ folders: each }) => each, true),
      keyFiles: all(({ keyFiles }) => keyFiles, true),
      tools: all(({ tools }) => tools, false),
    },
    because: parts.flatMap(({ because: each }) => each),
    get surface() {
      return surfaceOf(tree);
    },
  };
}

const mostFolders = 50;

const quoted = (word: string): string =>
  /^[\w./-]+$/.test(word) && !word.startsWith("-") ? word : `'./${word.replaceAll("'", "'\\''")}'`;

const treeBelow = (tree: Tree, folder: string, read: Read): Tree =>
  treeOf(
    tree.paths
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1)),
    (path) => read(`${folder}/${path}`),
  );
