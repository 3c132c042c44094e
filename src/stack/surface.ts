/**
 * The gate surface: every text of a tree that defines what its gates do, as opposed to what they
 * look at. Two maps of it are compared to see whether a change touched the gates.
 *
 * 1. A file counts as a whole unless it is shared with other concerns; of a shared one
 *    (package.json, pyproject.toml …) only the parts named here count.
 * 2. Layout is not content: parts of JSON and TOML are compared as values.
 * 3. What cannot be read as what it should be counts as a whole.
 * 4. Files that a counting file names (set-up files, scripts, a configuration it extends) count.
 */
import { namedFiles } from "../core/trust.ts";
import { isTestName } from "./kind.ts";
import { isShared, partsOf } from "./surface-parts.ts";
import {
  baseName,
  folderOf,
  isObject,
  type Read,
  sourceOf,
  stringIn,
  type Tree,
  treeOf,
} from "./tree.ts";

export { surfaceParts } from "./surface-parts.ts";

/** By name, in any folder. */
const names: readonly string[] = [
  // JavaScript and TypeScript.
  ..."vitest.config.* vitest.workspace.* vitest.setup.* vite.config.* jest.config.*".split(" "),
  ..."jest.setup.* jest-setup.* setupTests.* setup-tests.* jest.preset.* .mocharc .mocharc.*".split(
    " ",
  ),
  ..."mocha.opts ava.config.* .taprc .nycrc .nycrc.* nyc.config.* .c8rc .c8rc.* karma.conf.*".split(
    " ",
  ),
  ..."playwright.config.* cypress.config.* web-test-runner.config.* wdio.conf.* jasmine.json".split(
    " ",
  ),
  ..."eslint.config.* .eslintrc .eslintrc.* .eslintignore .oxlintrc.json .prettierrc".split(" "),
  ..."tslint.json .stylelintrc .stylelintrc.* stylelint.config.* .prettierrc.* .prettierignore".split(
    " ",
  ),
  ..."prettier.config.* biome.json biome.jsonc dprint.json .dprint.json .editorconfig".split(" "),
  ..."tsconfig.json tsconfig.*.json tsconfig-*.json jsconfig.json babel.config.* .babelrc".split(
    " ",
  ),
  ...".babelrc.* .swcrc turbo.json nx.json project.json lerna.json gulpfile.* Gruntfile.*".split(
    " ",
  ),
  ...".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml".split(" "),
  ..."deno.json deno.jsonc .lintstagedrc .lintstagedrc.* lint-staged.config.*".split(" "),
  // Python.
  ..."pytest.ini .pytest.ini conftest.py tox.ini noxfile.py .coveragerc .flake8 .pylintrc".split(
    " ",
  ),
  ..."pylintrc mypy.ini .mypy.ini pyrightconfig.json ruff.toml .ruff.toml .style.yapf".split(" "),
  ...".pyre_configuration .isort.cfg .bandit sitecustomize.py usercustomize.py *.pth".split(" "),
  // Go, Rust, C and C++.
  ...".golangci.* clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml".split(" "),
  ..."rust-toolchain rust-toolchain.toml nextest.toml CTestConfig.cmake CTestCustom.cmake".split(
    " ",
  ),
  ..."CMakePresets.json .clang-format .clang-tidy".split(" "),
  // The JVM and .NET.
  ..."gradle.properties gradlew gradlew.bat mvnw mvnw.cmd checkstyle*.xml detekt.yml".split(" "),
  ..."settings.gradle settings.gradle.kts junit-platform.properties testng.xml".split(" "),
  ..."Directory.Build.props Directory.Build.targets *.runsettings global.json".split(" "),
  ..."nuget.config NuGet.config NuGet.Config xunit.runner.json stylecop.json .globalconfig *.ruleset".split(
    " ",
  ),
  // Ruby and PHP.
  ..."spec_helper.rb rails_helper.rb test_helper.rb .rspec .rubocop.yml .rubocop_todo.yml".split(
    " ",
  ),
  ...".standard.yml .simplecov Rakefile *.rake phpunit.xml phpunit.xml.dist".split(" "),
  ..."phpunit.dist.xml Pest.php phpcs.xml phpcs.xml.dist .phpcs.xml .phpcs.xml.dist pint.json".split(
    " ",
  ),
  ..."phpstan.neon phpstan.neon.dist phpstan.dist.neon phpstan-baseline.neon psalm.xml".split(" "),
  ..."psalm.xml.dist psalm-baseline.xml .php-cs-fixer.php .php-cs-fixer.dist.php".split(" "),
  // Whoever calls them.
  ..."Makefile makefile GNUmakefile *.mk justfile Justfile .justfile *.just".split(" "),
  ..."Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml".split(" "),
  ...".pre-commit-config.yaml lefthook.yml lefthook.yaml".split(" "),
  ...".lefthook.yml .lefthook.yaml .gitlab-ci.yml .travis.yml Jenkinsfile".split(" "),
  ..."azure-pipelines.yml .gitattributes mise.toml .mise.toml".split(" "),
];

/** By their place. The last rows are places where a file hides the real tool. */
const places: readonly string[] = [
  ".github/workflows/**",
  ".github/actions/**",
  ".circleci/**",
  "**/.husky/**",
  ".githooks/**",
  "**/.cargo/config",
  "**/.cargo/config.toml",
  ".mvn/**",
  "gradle/wrapper/**",
  ".bundle/config",
  "**/node_modules/.bin/*",
  "**/.venv/bin/*",
  "**/.venv/pyvenv.cfg",
  "vendor/bin/*",
  ..."pytest unittest ruff mypy black flake8 coverage pylint nox tox pluggy _pytest"
    .split(" ")
    .flatMap((name) => [`{,src/}${name}.py`, `{,src/}${name}/{__init__,__main__}.py`]),
];

const plainNames = new Set(names.filter((name) => !/[*{]/.test(name)));
const otherNames = new RegExp(
  `^(?:${names
    .filter((name) => /[*{]/.test(name))
    .map(sourceOf)
    .join("|")})$`,
);
const inPlaces = new RegExp(`^(?:${places.map(sourceOf).join("|")})$`);

/** Projects that tests only look at, and other people's. What is referred to counts all the same. */
const aside =
  /(?:^|\/)(?:node_modules|fixtures|__fixtures__|testdata|test-data|third_party)\/(?!\.bin\/)/;

/** The paths of a tree that count, as a whole or in part. */
export function surfaceOf(tree: Tree): string[] {
  const found = new Set(tree.paths.filter(mayDefineGates));
  let latest = [...found];
  for (let depth = 0; depth < deepest && latest.length > 0; depth++) {
    latest = latest.flatMap((path) => named(path, tree)).filter((path) => !found.has(path));
    for (const path of latest) found.add(path);
  }
  return [...found].sort();
}

/** A configuration that extends one that extends one. */
const deepest = 4;

function counts(path: string): boolean {
  const name = baseName(path);
  return plainNames.has(name) || otherNames.test(name) || isShared(name) || inPlaces.test(path);
}

/** Going by its name alone: whether a file, once it is there, may be part of the surface. */
export const mayDefineGates = (path: string): boolean => counts(path) && !aside.test(path);

/** Name (a path, or `path#part`) → the text that counts. */
export function gateSurface(paths: readonly string[], read: Read): Map<string, string> {
  const tree = treeOf(paths, read);
  const surface = new Map<string, string>();
  for (const path of surfaceOf(tree)) {
    const text = tree.text(path);
    // It is there, and nobody can say what is in it.
    if (text === undefined) surface.set(path, "");
    else for (const [part, value] of partsOf(path, text)) surface.set(path + part, value);
  }
  return surface;
}

// ── what counting files name ───────────────────────────────────────────────────────────────────

/** Keys of configurations whose values are files that are run before, around or instead of tests. */
const keys =
  /\b(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|setupTestFrameworkScriptFile|require|import|loader|runner|testRunner|reporters?|testEnvironment|environment|transform|preset|presets|plugins|extends|resolver|snapshotSerializers|snapshotResolver|testSequencer|bootstrap|file|jsPlugins|rulesdir|processor|customSyntax)["']?\s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)/g;
const imports =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'])(\.{1,2}\/[^"'\n]+|\.{1,2})\1/g;
const options =
  /(?:^|\s)(?:--(?:require|import|loader|experimental-loader|config|setupFiles|globalSetup|reporter|rcfile|bootstrap|file)(?:=|\s+)|-[rcp]\s+)["']?([^\s"'\\,]+)/gm;

const isConfiguration = (path: string): boolean =>
  /\.(?:[cm]?[jt]sx?|jsonc?|ya?ml|toml|ini|cfg|xml|dist|neon|opts)$|rc$|\.rspec$/.test(path);

function named(path: string, tree: Tree): string[] {
  if (/\/(?:\.bin|\.venv)\//.test(`/${path}`) || path.endsWith(".jar")) return [];
  const text = tree.text(path);
  if (text === undefined || text.length > mostLength) return [];
  const folder = folderOf(path);
  const found = new Set<string>();
  const add = (word: string): void => {
    for (const each of resolved(word, folder, tree)) found.add(each);
  };
  if (baseName(path) === "package.json") {
    for (const script of reachable(tree.json(path)?.["scripts"])) {
      for (const file of calledFiles(script, folder, tree)) found.add(file);
      for (const [, word = ""] of script.matchAll(options)) add(word);
    }
  } else if (!isConfiguration(path)) {
    for (const file of calledFiles(text, folder, tree)) found.add(file);
  }
  if (isConfiguration(path) && counts(path)) {
    for (const [, value = ""] of text.matchAll(keys)) {
      for (const [, , word = ""] of value.matchAll(/(["'`])([^"'`\n]+)\1/g)) add(word);
    }
    for (const [, word = ""] of text.matchAll(options)) add(word);
  }
  if (/\.[cm]?[jt]sx?$/.test(path)) {
    for (const [, , word = ""] of text.matchAll(imports)) {
      for (const file of resolved(word, folder, tree)) if (!subject.test(file)) found.add(file);
    }
  }
  return [...found];
}

/** Configurations are short; whatever is longer is data. */
const mostLength = 256 * 1024;

const endings = [
  "",
  ".js",
  ".ts",
  ".mjs",
  ".cjs",
  ".mts",
  ".cts",
  ".json",
  ".jsx",
  ".tsx",
  ".py",
  ".rb",
  "/index.js",
  "/index.ts",
];

/** As a runner would look for it: from the file's own folder, the top, or where Ruby looks. */
function resolved(word: string, folder: string, tree: Tree): string[] {
  const plain = word.replace(/^<rootDir>\//, "").replace(/^\$\{\w+\}\//, "");
  // A bare name is a package, unless there is such a file; with dots it may be a module.
  const spellings = /^\w+(?:\.\w+)+$/.test(plain) ? [plain, plain.replaceAll(".", "/")] : [plain];
  for (const from of new Set([folder, "", "spec", "lib"])) {
    for (const path of spellings.flatMap((each) => joined(from, each) ?? [])) {
      const found = endings.map((ending) => path + ending).find((each) => tree.has(each));
      if (found !== undefined) return [found];
      // TypeScript is imported under the name that it will have.
      const typed = path.replace(/js$/, "ts");
      if (tree.has(typed)) return [typed];
      const many = /[*{]/.test(path) ? tree.like(path).filter((each) => !isTestName(each)) : [];
      if (many.length > 0) return [...many];
    }
  }
  return [];
}

function joined(folder: string, word: string): string | undefined {
  if (word.startsWith("/")) return undefined;
  const parts: string[] = [];
  for (const part of `${folder}/${word}`.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Scripts that gates have, and those that these name. */
function reachable(scripts: unknown): string[] {
  if (!isObject(scripts)) return [];
  const reached = new Set(
    Object.keys(scripts).filter((name) =>
      /test|lint|check|format|fmt|prettier|type|tsc|unit|verify|^ci$/.test(name),
    ),
  );
  for (const name of reached) {
    const text = stringIn(scripts, name);
    for (const word of text.split(/[\s;&|"']+/))
      if (Object.hasOwn(scripts, word)) reached.add(word);
    for (const around of [`pre${name}`, `post${name}`])
      if (Object.hasOwn(scripts, around)) reached.add(around);
  }
  return [...reached].map((name) => stringIn(scripts, name));
}

/** The product and its tests are what gates look at, even where a command names them. */
const subject = /^(?:.*\/)?(?:src|lib|app|pkg|internal|cmd|include|dist|public)\//;

const calledFiles = (command: string, folder: string, tree: Tree): string[] =>
  namedFiles(command, folder).filter(
    (file) => tree.has(file) && !isTestName(file) && !subject.test(file) && isScript(file),
  );

const isScript = (file: string): boolean =>
  /\.(?:sh|bash|zsh|[cm]?[jt]s|py|rb|pl|php|mk|just|ps1|cmd|bat|ya?ml|toml|json|ini|cfg|xml)$|^[^.]*$/.test(
    baseName(file),
  ) &&
  !/^(?:package|package-lock|composer)\.json$|^(?:README|LICENSE|CHANGELOG)/.test(baseName(file));
