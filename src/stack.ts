/**
 * What a project is built with, and which commands check it, from its own files: its scripts
 * first, else the tool's usual call. A gate without a tool is skipped, with the reason. Nothing is
 * run, and nothing is read but names and the texts that the tables in `stack/` ask for.
 */
import type { Gate, Stack } from "./core/plan/run-event.ts";
import { detectBelow } from "./stack/below.ts";
import type { Because, Dependencies, Detected } from "./stack/detected.ts";
import {
  type Command,
  type Commands,
  firstSeen,
  type GateName,
  type Ground,
  type Installed,
  type Kind,
  type Packager,
  signOf,
  standardGates,
  type Tool,
  type Uses,
} from "./stack/kind.ts";
import { endings, kinds } from "./stack/kinds.ts";
import { surfaceOf } from "./stack/surface.ts";
import { targetCommands } from "./stack/targets.ts";
import { type Read, type Tree, treeOf } from "./stack/tree.ts";

export type { Dependencies, Detected } from "./stack/detected.ts";
export { treeIn } from "./stack/in-folder.ts";
export { type SettledStack, settled } from "./stack/settled.ts";
export { gateSurface, mayDefineGates } from "./stack/surface.ts";

/** `paths`: of the tree's files, from the top, with slashes; `read`: the text of one of them. */
export function detectStack(paths: readonly string[], read: Read): Detected {
  const tree = treeOf(paths, read);
  const here = detectIn(tree);
  if (here.gates.some(({ command }) => command !== null)) return here;
  return detectBelow(tree, read, detectIn) ?? here;
}

function detectIn(tree: Tree): Detected {
  const present = kindsIn(tree).map((kind) => lookAt(kind, tree));
  const main = present.find(({ commands }) => commands.test) ?? present[0];
  const others = present.filter((each) => each !== main && each.commands.test);
  const commands: Commands = main ? withTargets(main, tree) : targetCommands(tree);
  const byEndings = main ? undefined : mostWritten(tree);
  const gates = [
    ...standardGates.map((name) => gateOf(name, commands[name], main)),
    ...others.map(({ kind, commands: { test } }) => ({
      name: `test_${kind.name}`,
      command: test?.text ?? null,
    })),
  ];
  const installed = [main, ...others].flatMap((each) => (each ? [each.installed] : []));
  const setups = installed.flatMap(({ setup }) => (setup ? [setup] : []));
  return {
    stack: main?.stack ?? { ...nothing, language: byEndings?.language ?? null },
    gates,
    ...(setups.length > 0 && { setup: setups.map(({ text }) => text).join(" && ") }),
    dependencies: dependenciesOf(installed),
    because: [
      ...(main?.because ?? because(`language ${byEndings?.language}`, byEndings)),
      ...standardGates.flatMap((name) => because(`gate ${name}`, commands[name])),
      ...others.flatMap(({ kind, commands: own }) => because(`gate test_${kind.name}`, own.test)),
      ...setups.flatMap((setup) => because("setup", setup)),
    ],
    // Only when it is asked for: it reads far more than the rest.
    get surface() {
      return surfaceOf(tree);
    },
  };
}

const nothing: Stack = {
  language: null,
  framework: null,
  package_manager: null,
  test_framework: null,
  linter: null,
  formatter: null,
};

const because = (what: string, ground: Ground | undefined): Because[] =>
  ground ? [{ what, why: ground.why, file: ground.file }] : [];

function kindsIn(tree: Tree): readonly Kind[] {
  const seen = (patterns: readonly string[] = []): boolean =>
    patterns.some((pattern) => tree.like(pattern).length > 0);
  const marked = kinds.filter(({ marks }) => seen(marks));
  return marked.length > 0 ? marked : kinds.filter(({ traces }) => seen(traces)).slice(0, 1);
}

/** Undefined: nothing of what lies here is known. */
function mostWritten({ paths }: Tree): (Ground & { readonly language: string }) | undefined {
  const counts = new Map<string, { count: number; file: string }>();
  const known = new Map(endings);
  for (const file of paths) {
    const language = known.get(/\.(\w+)$/.exec(file)?.[1] ?? "");
    if (language === undefined) continue;
    counts.set(language, { count: (counts.get(language)?.count ?? 0) + 1, file });
  }
  const [most] = [...counts].sort(([, a], [, b]) => b.count - a.count);
  if (!most) return undefined;
  const [language, { count, file }] = most;
  return { language, why: `most files: ${count === 1 ? "1 is" : `${count} are`} of it`, file };
}

interface Looked {
  readonly kind: Kind;
  readonly stack: Stack;
  readonly commands: Commands;
  /** From the project's own scripts: before a Makefile's targets, and those before a usual call. */
  readonly own: Commands;
  readonly installed: Installed;
  readonly because: readonly Because[];
}

function lookAt(kind: Kind, tree: Tree): Looked {
  const uses = kind.uses?.(tree) ?? new Map();
  const packager = firstSeen(kind.packagers, tree, uses);
  const own = kind.scripts?.(tree, packager?.row) ?? {};
  const language = firstSeen(kind.languages, tree, uses);
  const framework = firstSeen(kind.frameworks ?? [], tree, uses);
  const chosen: Partial<Record<GateName, { tool: Tool; ground: Ground }>> = {};
  const commands: Commands = {};
  for (const gate of standardGates) {
    const tool = toolFor(gate, kind, tree, uses, own[gate]);
    if (tool) chosen[gate] = tool;
    const command = own[gate] ?? usualCall(gate, tool, kind, tree, packager?.row);
    if (command) commands[gate] = command;
  }
  const named: Stack = {
    language: language?.row.name ?? null,
    framework: framework?.row.name ?? null,
    package_manager: packager?.row.name ?? null,
    test_framework: chosen.test?.tool.name ?? null,
    linter: chosen.lint?.tool.name ?? null,
    formatter: chosen.format?.tool.name ?? null,
  };
  const grounds: Readonly<Record<keyof Stack, Ground | undefined>> = {
    language: language?.ground,
    framework: framework?.ground,
    package_manager: packager?.ground,
    test_framework: chosen.test?.ground,
    linter: chosen.lint?.ground,
    formatter: chosen.format?.ground,
  };
  return {
    kind,
    stack: named,
    commands,
    own,
    installed: packager ? installedBy(kind, tree, packager) : noInstalled,
    because: (Object.keys(grounds) as (keyof Stack)[]).flatMap((key) =>
      because(`${key} ${named[key]}`, grounds[key]),
    ),
  };
}

/** The tool that the project's own command starts; else the first that is seen and can work. */
function toolFor(
  gate: GateName,
  kind: Kind,
  tree: Tree,
  uses: Uses,
  own: Command | undefined,
): { tool: Tool; ground: Ground } | undefined {
  const fitting = kind.tools.filter(({ calls }) => calls[gate] !== undefined);
  const started = own?.starts ?? own?.text;
  const byScript = started && fitting.find((tool) => tool.started?.test(started));
  if (own && byScript) return { tool: byScript, ground: { why: own.why, file: own.file } };
  for (const tool of fitting) {
    const ground = signOf(tool, tree, uses);
    if (ground && (!tool.needs || signOf(tool.needs, tree, uses))) return { tool, ground };
  }
  return undefined;
}

function usualCall(
  gate: GateName,
  found: { tool: Tool; ground: Ground } | undefined,
  kind: Kind,
  tree: Tree,
  packager: Packager | undefined,
): Command | undefined {
  const call = found?.tool.calls[gate];
  if (!found || call === undefined) return undefined;
  const text = kind.call?.(tree, packager, call) ?? call;
  const { why, file } = found.ground;
  return { text, why: `the usual call of ${found.tool.name}; ${why}`, file };
}

const noInstalled: Installed = { folders: [], keyFiles: [], programs: [] };

function installedBy(
  kind: Kind,
  tree: Tree,
  { row, ground }: { row: Packager; ground: Ground },
): Installed {
  if (kind.install) return kind.install(tree, row);
  const { setup, folders, keyFiles, programs } = row;
  return {
    ...(setup !== undefined && { setup: { text: setup, ...ground } }),
    folders,
    keyFiles: keyFiles.flatMap((each) => (each.includes("*") ? tree.like(each) : [each])),
    programs,
  };
}

function dependenciesOf(installed: readonly Installed[]): Dependencies {
  const all = (pick: (each: Installed) => readonly string[]): string[] => [
    ...new Set(installed.flatMap(pick)),
  ];
  return {
    folders: all(({ folders }) => folders),
    keyFiles: all(({ keyFiles }) => keyFiles).sort(),
    tools: all(({ programs }) => programs),
  };
}

/** A Makefile's target is the project's own word, too, though its manifest's scripts come first. */
const withTargets = ({ own, commands }: Looked, tree: Tree): Commands => ({
  ...commands,
  ...targetCommands(tree),
  ...own,
});

function gateOf(name: GateName, command: Command | undefined, main: Looked | undefined): Gate {
  if (command) return { name, command: command.text };
  if (!main) return { name, command: null, reason: "the top folder names no command for it" };
  const tools = main.kind.tools.filter(({ calls }) => calls[name] !== undefined);
  const known = [...new Set(tools.map((tool) => tool.name))];
  const looked = known.length === 0 ? "" : `, and none of ${known.slice(0, 4).join(", ")} is used`;
  return { name, command: null, reason: `no script or target does it${looked}` };
}
