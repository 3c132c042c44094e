/**
 * The scripts of package.json as gates: one that ends, and that looks only. A script that watches
 * is run once, one that writes is turned into the check that it could be.
 */
import {
  type Command,
  type Commands,
  type GateName,
  type Packager,
  standardGates,
} from "./kind.ts";
import { isBerry, manifest, scriptsOf, workspacesOf } from "./node-manifests.ts";
import type { Tree } from "./tree.ts";

/** In the order of preference. */
const scriptNames: Readonly<Record<GateName, readonly string[]>> = {
  lint: ["lint", "lint:check", "lint:ci", "check:lint", "lint:all", "eslint", "lint:js", "lint:ts"],
  format: [
    ..."format:check check:format format-check check-format formatcheck format:ci".split(" "),
    ..."prettier:check check:prettier prettier-check fmt:check check:fmt fmt-check".split(" "),
    ..."lint:format lint:prettier format:verify prettier format fmt".split(" "),
  ],
  typecheck: [
    ..."typecheck type-check check-types check:types types:check type:check".split(" "),
    ..."typecheck:ci ts:check check:ts lint:types tsc types".split(" "),
  ],
  test: ["test", "test:ci", "test:run", "test:once", "test:unit", "unit", "tests", "test:all"],
};

export function scripts(tree: Tree, packager: Packager | undefined): Commands {
  const own = scriptsOf(tree.json(manifest));
  const commands: Commands = {};
  for (const gate of standardGates) {
    const command = chosenScript(own, gate, packager) ?? workspacesCommand(tree, gate, packager);
    if (command) commands[gate] = command;
  }
  return commands;
}

/** One that can be run as it is; else one that can be turned into a check that ends. */
function chosenScript(
  own: ReadonlyMap<string, string>,
  gate: GateName,
  packager: Packager | undefined,
): Command | undefined {
  const candidates = scriptNames[gate].filter((name) => own.has(name));
  const read = candidates.map((name) => ({
    name,
    use: useOf(gate, name, own.get(name) ?? "", own, packager),
  }));
  const chosen =
    read.find(({ use }) => use?.is === "as it is") ?? read.find(({ use }) => use !== undefined);
  if (!chosen?.use) return undefined;
  const { name, use } = chosen;
  const why = `scripts.${name} of ${manifest}${use.is === "as it is" ? "" : `, ${use.is}`}`;
  return { text: use.text, why, file: manifest, starts: startedBy(name, own) };
}

/** A script with the scripts that it names: what is started in the end is among it. */
function startedBy(name: string, own: ReadonlyMap<string, string>): string {
  const text = own.get(name) ?? "";
  const inner = text.split(/[\s;&|"']+/).filter((word) => word !== name && own.has(word));
  return [text, ...inner.map((word) => own.get(word) ?? "")].join("\n");
}

interface Use {
  readonly is: "as it is" | "run once" | "without writing";
  readonly text: string;
}

function useOf(
  gate: GateName,
  name: string,
  script: string,
  own: ReadonlyMap<string, string>,
  packager: Packager | undefined,
): Use | undefined {
  const run = (more = "", before = ""): string => `${before}${runOf(packager, name, more)}`;
  if (isPlaceholder(script) || keepsRunning.test(script)) return undefined;
  if (gate === "format" || gate === "lint") {
    const check = checkOf(script);
    if (check !== script) {
      return check === undefined
        ? undefined
        : { is: "without writing", text: called(packager, check) };
    }
    // `format` by itself writes, unless what it calls is known to look only.
    if (gate === "format" && /^(?:prettier|format|fmt)$/.test(name) && !looksOnly.test(script)) {
      return undefined;
    }
  }
  const once = withoutWatching(script);
  if (once !== script) return { is: "run once", text: called(packager, once) };
  const row = watchers.find(({ is }) => is.test(script));
  if (row && gate === "test") {
    const simple = !/[;&|]/.test(script);
    return { is: "run once", text: simple && row.once !== "" ? run(row.once) : run("", "CI=1 ") };
  }
  const [, inner] = /^(?:npm|pnpm|yarn|bun) run ([\w:.-]+)$/.exec(script.trim()) ?? [];
  const innerText = inner === undefined || inner === name ? undefined : own.get(inner);
  if (innerText !== undefined) {
    const use = useOf(gate, inner ?? "", innerText, own, packager);
    return use?.is === "as it is" ? { is: "as it is", text: run() } : use;
  }
  return { is: "as it is", text: run() };
}

/** What `npm init` leaves, and what some leave in its stead. */
const isPlaceholder = (script: string): boolean =>
  /no tests? (?:specified|yet|configured)/i.test(script) ||
  /^\s*(?:|:|true|exit 0|echo\b[^&|;]*)$/.test(script);

/** Starts again whenever a file changes; there is no form that ends. */
const keepsRunning =
  /\b(?:nodemon|chokidar|onchange|watchexec|entr)\b|\b(?:tsx|cypress) (?:watch|open)\b/;

/** Runners that go on watching when people are there; `once`: what makes them end. */
const watchers: readonly { readonly is: RegExp; readonly once: string }[] = [
  {
    is: /\bvitest(?!\S*\.)\b(?!.*(?:\s(?:run|list|bench)\b|--run\b|--watch(?:=|\s+)false|--no-watch))/,
    once: "--run",
  },
  { is: /\breact-scripts test\b(?!.*--watchAll=false)/, once: "--watchAll=false" },
  { is: /\bng test\b(?!.*(?:--watch=false|--no-watch))/, once: "--watch=false" },
  { is: /\bkarma start\b(?!.*--single-run)/, once: "--single-run" },
];

function withoutWatching(script: string): string {
  let once = script
    .replace(/\s--(?:watch|watchAll|watch-all|ui)(?!=false|\s+false|[\w-])(?:=true|\s+true)?/g, "")
    .replace(/\bvitest (?:watch|dev)\b/g, "vitest run");
  if (/\b(?:mocha|ava|tsc|vue-tsc|jest|vitest)\b/.test(once))
    once = once.replace(/\s-w(?=\s|$)/g, "");
  return once !== script ? once.replace(/\bvitest\b(?!\s+run)(?!.*--run\b)/, "vitest run") : script;
}

const looksOnly =
  /--check\b|--list-different\b|\s-[cl]\b|--dry-run\b|--verify\b|\bdprint check\b|\bbiome (?:ci|check|format|lint)\b/;

/** The same command, looking only; itself: it does so already; undefined: it cannot. */
function checkOf(script: string): string | undefined {
  let check = script
    .replace(/\bprettier\b[^;&|]*/g, (call) =>
      call.replace(
        /\s(?:--write|-w)(?=\s|$)/g,
        / (?:--check|-c)(?=\s|$)/.test(call) ? "" : " --check",
      ),
    )
    .replace(/\bdprint fmt\b/g, "dprint check");
  check = check.replace(
    /\s--(?:fix|write|apply|apply-unsafe|fix-type|unsafe)(?:[= ](?:true))?(?=\s|$)/g,
    "",
  );
  return /\s--(?:fix|write)\b(?!-dry)/.test(check) ? undefined : check;
}

/** Only npm wants the arguments of a script set apart; the others would hand the dashes on. */
function runOf(packager: Packager | undefined, script: string, more: string): string {
  const name = packager?.name ?? "npm";
  const rest = more === "" ? "" : name === "npm" ? ` -- ${more}` : ` ${more}`;
  return `${name} run ${script}${rest}`;
}

/** How an installed program is called. */
export const execOf = (packager: Packager | undefined): string => {
  const by: Record<string, string> = { pnpm: "pnpm exec ", yarn: "yarn run ", bun: "bun run " };
  return by[packager?.name ?? ""] ?? "npx --no-install ";
};

/** A script's text outside of its script: the installed programs must be found as there. */
function called(packager: Packager | undefined, script: string): string {
  const [, variables = "", first = ""] = /^\s*((?:[A-Za-z_]\w*=\S*\s+)*)(\S+)/.exec(script) ?? [];
  if (/[;&|<>()$`]/.test(script))
    return `export PATH="$PWD/node_modules/.bin:$PATH"; ${script.trim()}`;
  if (/^(?:node|npm|npx|pnpm|yarn|bun|deno|sh|bash|make|\.\/.*)$/.test(first)) return script.trim();
  return `${variables}${execOf(packager)}${script.trim().slice(variables.length)}`;
}

/** Where the top has no script and its workspaces have. */
function workspacesCommand(
  tree: Tree,
  gate: GateName,
  packager: Packager | undefined,
): Command | undefined {
  const inside = workspacesOf(tree).map((file) => ({ file, own: scriptsOf(tree.json(file)) }));
  const fitting = (name: string) =>
    inside.filter(({ own }) => {
      const script = own.get(name);
      return script !== undefined && useOf(gate, name, script, own, packager)?.is === "as it is";
    });
  const script = scriptNames[gate].find((name) => fitting(name).length > 0);
  if (script === undefined) return undefined;
  const having = fitting(script);
  const file = having[0]?.file ?? manifest;
  const why = `scripts.${script} of ${having.length === 1 ? file : `${having.length} workspaces`}`;
  const text = everywhere(tree, script, packager, having.length === inside.length);
  return { text, why, file, starts: having.map(({ own }) => startedBy(script, own)).join("\n") };
}

function everywhere(
  tree: Tree,
  script: string,
  packager: Packager | undefined,
  all: boolean,
): string {
  const exec = execOf(packager);
  if (tree.has("turbo.json")) return `${exec}turbo run ${script}`;
  if (tree.has("nx.json")) return `${exec}nx run-many -t ${script}`;
  if (tree.has("lerna.json")) return `${exec}lerna run ${script}`;
  switch (packager?.name) {
    case "pnpm":
      return `pnpm -r --if-present run ${script}`;
    case "bun":
      return `bun run --filter '*' ${script}`;
    case "yarn":
      // The first yarn stops at a workspace without the script, and has no way around it.
      if (isBerry(tree)) return `yarn workspaces foreach -A run ${script}`;
      return all ? `yarn workspaces run ${script}` : `npm run ${script} --workspaces --if-present`;
    default:
      return `npm run ${script} --workspaces --if-present`;
  }
}
