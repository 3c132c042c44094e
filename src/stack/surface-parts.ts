/** Of manifests that many concerns share: which parts define what the gates do. */
import { readToml } from "../core/toml.ts";
import { baseName, canonical, isObject, readJson } from "./tree.ts";

interface Shared {
  readonly is: RegExp;
  /** What counts, in words for people: keys, tables, elements. */
  readonly parts: readonly string[];
  /** Undefined: it cannot be read as what it should be. */
  take(
    text: string,
    parts: readonly string[],
  ): Iterable<readonly [part: string, text: string]> | undefined;
}

const shared: readonly Shared[] = [
  {
    is: /^package\.json$/,
    parts: [
      ..."jest mocha ava nyc c8 tap xo standard eslintConfig eslintIgnore prettier stylelint".split(
        " ",
      ),
      ..."babel lint-staged husky simple-git-hooks wireit nx type workspaces overrides".split(" "),
      ..."resolutions pnpm packageManager volta".split(" "),
      ..."scripts dependencies.* devDependencies.*".split(" "),
    ],
    take: takeJson,
  },
  {
    is: /^composer\.json$/,
    parts: ["config", "repositories", "scripts", "require-dev.*"],
    take: takeJson,
  },
  {
    is: /^pyproject\.toml$/,
    parts: [
      ..."pytest ruff mypy coverage black tox nox pylint pyright basedpyright isort flake8"
        .split(" ")
        .map((tool) => `tool.${tool}`),
      ..."yapf poe taskipy hatch.envs pdm.scripts uv.sources uv.override-dependencies"
        .split(" ")
        .map((tool) => `tool.${tool}`),
      "build-system",
      "project.entry-points.pytest11",
      "needs.*",
    ],
    take: takeToml,
  },
  {
    is: /^Cargo\.toml$/,
    parts: [
      ..."lints profile test patch replace workspace.lints lib.test lib.harness lib.doctest".split(
        " ",
      ),
      ..."package.autotests package.build".split(" "),
    ],
    take: takeToml,
  },
  {
    is: /^setup\.cfg$/,
    parts: [
      "tool:pytest",
      "pytest",
      "flake8",
      "mypy",
      "coverage",
      "pylint",
      "isort",
      "yapf",
      "aliases",
    ],
    take: takeSections,
  },
  {
    is: /^\.env(?:\.|$)/,
    parts: [
      "NODE_OPTIONS",
      "NODE_PATH",
      "PATH",
      "PYTEST_*",
      "PYTHON*",
      "VITEST*",
      "JEST*",
      "RUSTFLAGS",
      "GOFLAGS",
      "CI",
    ],
    take: takeVariables,
  },
  {
    is: /^pom\.xml$/,
    parts: ["everything but dependencies and the project's own version"],
    take: takePom,
  },
  {
    is: /^[^/]*\.(?:cs|fs|vb)proj$/,
    parts: ["everything but references and versions"],
    take: takeDotnet,
  },
  {
    is: /^build\.gradle(?:\.kts)?$/,
    parts: ["everything but dependencies and versions"],
    take: takeGradle,
  },
  {
    is: /^CMakeLists\.txt$/,
    parts: ["enable_testing", "add_test", "set_tests_properties", "flags"],
    take: takeCmake,
  },
  { is: /^meson\.build$/, parts: ["test", "benchmark", "add_test_setup"], take: takeMeson },
  { is: /^Makefile\.am$/, parts: ["lines that speak of tests"], take: takeAutomake },
];

const sharedNames = new RegExp(shared.map(({ is }) => is.source).join("|"));

/** Whether only parts of a file of this name count. */
export const isShared = (name: string): boolean => sharedNames.test(name);

const rowFor = (path: string): Shared | undefined =>
  shared.find(({ is }) => is.test(baseName(path)));

/** Which parts of a shared file count; undefined: all of it does, if it does at all. */
export const surfaceParts = (path: string): readonly string[] | undefined => rowFor(path)?.parts;

/** `["", text]`: the whole file. */
export function partsOf(path: string, text: string): (readonly [part: string, text: string])[] {
  const row = rowFor(path);
  const plain = text.replaceAll("\r\n", "\n");
  if (row) {
    const taken = row.take(plain, row.parts);
    return taken ? [...gathered(taken)] : [["", plain]];
  }
  const json = /\.(?:jsonc?|json5)$|^\.\w+rc$/.test(baseName(path)) ? readJson(plain) : undefined;
  return [["", json ? canonical(json) : plain.replace(/[ \t]+$/gm, "").trimEnd()]];
}

/** Names of parts are plain words, whatever they were; those that become one are kept together. */
function gathered(taken: Iterable<readonly [string, string]>): Map<string, string> {
  const parts = new Map<string, string>();
  for (const [part, value] of taken) {
    const name = `#${part.replaceAll("@", "").replace(/[^\w.-]+/g, "-")}`;
    const before = parts.get(name);
    parts.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return parts;
}

/** The runners, linters, formatters and type checkers themselves. */
const tools: ReadonlySet<string> = new Set([
  ..."vitest jest mocha ava tap jasmine karma c8 nyc @playwright/test react-scripts".split(" "),
  ..."eslint oxlint xo standard prettier dprint @biomejs/biome tslint stylelint".split(" "),
  ..."typescript vue-tsc svelte-check flow-bin turbo nx lerna".split(" "),
  ..."phpunit/phpunit pestphp/pest phpstan/phpstan vimeo/psalm laravel/pint".split(" "),
  ..."squizlabs/php_codesniffer friendsofphp/php-cs-fixer".split(" "),
  ..."pytest ruff mypy black flake8 pylint pyright basedpyright coverage tox nox yapf".split(" "),
]);

/** Not from a registry: a folder, an archive, a repository, another package under this name. */
const fromElsewhere =
  /^\.{0,2}\/|^(?:file|link|portal|patch|git|npm|https?|ssh|github)\b.*:|@\s*\w[\w+]*:/;

function* takenFrom(
  value: unknown,
  parts: readonly string[],
): Generator<readonly [string, string]> {
  for (const part of parts) {
    const [name = "", star] = part.split(".*");
    const inside = valueAt(value, name.split("."));
    if (inside === undefined) continue;
    if (star === undefined) yield [name, canonical(inside)];
    else if (isObject(inside)) {
      for (const [key, each] of Object.entries(inside)) {
        const said = typeof each === "string" ? each : canonical(each);
        if (tools.has(key) || fromElsewhere.test(said)) yield [`${name}.${key}`, said];
      }
    }
  }
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  let inside = value;
  for (const key of keys)
    inside = isObject(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined;
  return inside;
}

function takeJson(
  text: string,
  parts: readonly string[],
): Iterable<readonly [string, string]> | undefined {
  const json = readJson(text);
  return json && takenFrom(json, parts);
}

function takeToml(
  text: string,
  parts: readonly string[],
): Iterable<readonly [string, string]> | undefined {
  const toml = readToml(text);
  return toml && takenFrom({ ...toml, needs: allNeeds(toml) }, parts);
}

/** Package → what is asked of it, wherever it is said. */
function allNeeds(toml: unknown): Record<string, string> {
  const lists = [
    valueAt(toml, ["project", "dependencies"]),
    ...["project.optional-dependencies", "dependency-groups"].flatMap((where) =>
      Object.values(valueAt(toml, where.split(".")) ?? {}),
    ),
  ];
  const needs: Record<string, string> = {};
  for (const need of lists.flat()) {
    if (typeof need !== "string") continue;
    const name = (/^[\w.-]+/.exec(need)?.[0] ?? "").toLowerCase();
    if (name !== "") needs[name] = need.replace(/\s+/g, "");
  }
  return needs;
}

function* takeSections(
  text: string,
  parts: readonly string[],
): Generator<readonly [string, string]> {
  for (const section of text.split(/^(?=\[)/m)) {
    const name = /^\[([^\]]+)\]/.exec(section)?.[1] ?? "";
    if (
      parts.some(
        (part) => name === part || name.startsWith(`${part}-`) || name.startsWith(`${part}:`),
      )
    ) {
      yield [name, tidy(section.replace(/^\s*[#;].*$/gm, ""))];
    }
  }
}

function* takeVariables(
  text: string,
  parts: readonly string[],
): Generator<readonly [string, string]> {
  for (const [, name = "", value = ""] of text.matchAll(
    /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/gm,
  )) {
    const counts = parts.some((part) =>
      part.endsWith("*") ? name.startsWith(part.slice(0, -1)) : name === part,
    );
    if (counts) yield [name, value.trim()];
  }
}

const tidy = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim().replace(/\s+/g, " "))
    .filter((line) => line !== "")
    .join("\n");

const withoutElements = (xml: string, names: readonly string[]): string =>
  names.reduce(
    (text, name) => text.replace(new RegExp(`<${name}\\b(?:[^>]*/>|[^]*?</${name}>)`, "g"), ""),
    xml.replace(/<!--[^]*?-->/g, ""),
  );

/** Plugins carry dependencies and versions of their own: those stay, being inside of `build`. */
function takePom(text: string): Iterable<readonly [string, string]> {
  const plain = text.replace(/<!--[^]*?-->/g, "");
  const builds = [...plain.matchAll(/<(build|profiles|reporting|modules)>[^]*?<\/\1>/g)].map(
    ([each]) => each,
  );
  const properties = [
    ...plain.matchAll(
      /<([\w.-]*(?:skip|test|surefire|failsafe|checkstyle|argLine|failIf|compiler)[\w.-]*)>([^<]*)<\/\1>/gi,
    ),
  ]
    .filter(([, name = ""]) => !/version$/i.test(name))
    .map(([each]) => each);
  const parent = /<parent>[^]*?<\/parent>/.exec(plain)?.[0] ?? "";
  return [["build", tidy([parent, ...builds, ...properties].join("\n"))]];
}

function takeDotnet(text: string): Iterable<readonly [string, string]> {
  const rest = withoutElements(text, [
    "PackageReference",
    "ProjectReference",
    "Version",
    "AssemblyVersion",
    "FileVersion",
    "PackageVersion",
    "Description",
    "Authors",
  ]);
  return [["build", tidy(rest.replace(/<ItemGroup>\s*<\/ItemGroup>/g, ""))]];
}

function takeGradle(text: string): Iterable<readonly [string, string]> {
  let rest = text.replace(/\/\*[^]*?\*\/|(?<![:"'])\/\/[^\n]*/g, "");
  for (let at = blockAt(rest, "dependencies"); at; at = blockAt(rest, "dependencies")) {
    rest = rest.slice(0, at.start) + rest.slice(at.end);
  }
  return [["build", tidy(rest.replace(/^\s*(?:version|group|description)\b\s*=?.*$/gm, ""))]];
}

function blockAt(text: string, name: string): { start: number; end: number } | undefined {
  const match = new RegExp(`\\b${name}\\s*\\{`).exec(text);
  if (!match) return undefined;
  let depth = 1;
  let at = match.index + match[0].length;
  for (; at < text.length && depth > 0; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}") depth--;
  }
  return { start: match.index, end: at };
}

/** Sources and libraries come and go; how tests are declared and code is compiled counts. */
function* takeCmake(text: string): Generator<readonly [string, string]> {
  const plain = text.replace(/(?<!\\)#[^\n]*/g, "");
  const rest: string[] = [];
  for (const [call, name = "", words = ""] of plain.matchAll(
    /\b(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g,
  )) {
    const said = words.trim().replace(/\s+/g, " ");
    if (/^add_test$/i.test(name))
      yield [`add_test.${said.replace(/^NAME /i, "").split(" ")[0]}`, said];
    else if (
      /^(?:enable_testing|set_tests_properties|\w*discover_tests|set_property|add_compile_options|add_compile_definitions|add_definitions)$/i.test(
        name,
      )
    ) {
      rest.push(call.replace(/\s+/g, " "));
    } else if (
      /^(?:include|set|option)$/i.test(name) &&
      /CTest|_FLAGS|BUILD_TESTING|CMAKE_BUILD_TYPE|TEST/i.test(said)
    ) {
      rest.push(call.replace(/\s+/g, " "));
    }
  }
  if (rest.length > 0) yield ["settings", rest.join("\n")];
}

function* takeMeson(text: string): Generator<readonly [string, string]> {
  const plain = text.replace(/#[^\n]*/g, "");
  for (const [, name = "", words = ""] of plain.matchAll(
    /\b(test|benchmark|add_test_setup)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g,
  )) {
    const said = words.trim().replace(/\s+/g, " ");
    yield [`${name}.${said.split(",")[0]}`, said];
  }
}

function takeAutomake(text: string): Iterable<readonly [string, string]> {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return [["tests", tidy(lines.filter((line) => /TEST|check/i.test(line)).join("\n"))]];
}
