import { describe, expect, it } from "vitest";
import { type Detected, detectStack, settled } from "./stack.ts";

type Files = Readonly<Record<string, string | object>>;

const textOf = (content: string | object): string =>
  typeof content === "string" ? content : JSON.stringify(content);

function detected(files: Files): Detected {
  return detectStack(Object.keys(files), (path) => textOf(files[path] ?? ""));
}

function commandsOf(files: Files): Record<string, string | null> {
  return Object.fromEntries(detected(files).gates.map(({ name, command }) => [name, command]));
}

const npmLock = { "package-lock.json": "{}" };

describe("detectStack", () => {
  it("finds nothing in an empty folder, and says so of each gate", () => {
    const { stack, gates, setup, because } = detected({});
    expect(Object.values(stack)).toEqual([null, null, null, null, null, null]);
    expect(gates.map(({ name }) => name)).toEqual(["lint", "format", "typecheck", "test"]);
    for (const gate of gates) {
      expect(gate).toMatchObject({
        command: null,
        reason: "the top folder names no command for it",
      });
    }
    expect(setup).toBeUndefined();
    expect(because).toEqual([]);
  });

  it("tells the whole of a TypeScript project, and why", () => {
    const files = {
      ...npmLock,
      "package.json": {
        scripts: { test: "vitest run", lint: "eslint ." },
        dependencies: { fastify: "5" },
        devDependencies: { vitest: "4", eslint: "9", prettier: "3", typescript: "5" },
      },
      "tsconfig.json": "{}",
      "eslint.config.js": "",
    };
    const found = detected(files);
    expect(found.stack).toEqual({
      language: "typescript",
      framework: "fastify",
      package_manager: "npm",
      test_framework: "vitest",
      linter: "eslint",
      formatter: "prettier",
    });
    expect(commandsOf(files)).toEqual({
      lint: "npm run lint",
      format: "npx --no-install prettier --check .",
      typecheck: "npx --no-install tsc --noEmit",
      test: "npm run test",
    });
    expect(found.setup).toBe("npm ci");
    expect(found.dependencies.folders).toEqual(["node_modules"]);
    expect(found.dependencies.tools).toEqual(["node", "npm"]);
    expect(found.dependencies.keyFiles).toEqual(
      expect.arrayContaining([".npmrc", ".nvmrc", "package-lock.json", "package.json"]),
    );
    expect(found.because).toEqual(
      expect.arrayContaining([
        {
          what: "framework fastify",
          why: "dependencies of package.json",
          file: "package.json",
        },
        { what: "gate test", why: "scripts.test of package.json", file: "package.json" },
        { what: "setup", why: "package-lock.json is there", file: "package-lock.json" },
      ]),
    );
  });
});

describe("a package.json", () => {
  const withScripts = (
    scripts: Record<string, string>,
    devDependencies: Record<string, string> = {},
    files: Files = npmLock,
  ): Record<string, string | null> =>
    commandsOf({ "package.json": { scripts, devDependencies }, ...files });

  it.each([
    ["test", "test", "npm run test"],
    ["test", "test:unit", "npm run test:unit"],
    ["test", "unit", "npm run unit"],
    ["lint", "lint", "npm run lint"],
    ["lint", "check:lint", "npm run check:lint"],
    ["format", "format:check", "npm run format:check"],
    ["format", "check:format", "npm run check:format"],
    ["format", "prettier:check", "npm run prettier:check"],
    ["format", "fmt:check", "npm run fmt:check"],
    ["typecheck", "typecheck", "npm run typecheck"],
    ["typecheck", "type-check", "npm run type-check"],
    ["typecheck", "types", "npm run types"],
    ["typecheck", "tsc", "npm run tsc"],
    ["typecheck", "check-types", "npm run check-types"],
  ])("answers for %s with its script %s", (gate, script, command) => {
    expect(withScripts({ [script]: "node check.js" })[gate]).toBe(command);
  });

  it.each([
    'echo "Error: no test specified" && exit 1',
    "echo 'no tests yet'",
    'echo "tests"',
    "true",
    "exit 0",
    "",
  ])("has no test in the script %j", (test) => {
    expect(withScripts({ test })["test"]).toBeNull();
    expect(withScripts({ test }, { jest: "30" })["test"]).toBe("npx --no-install jest");
  });

  it.each([
    ["vitest", "npm run test -- --run"],
    ["vitest --coverage", "npm run test -- --run"],
    ["vitest run", "npm run test"],
    ["vitest --run", "npm run test"],
    ["vitest --watch=false", "npm run test"],
    ["vitest watch", "npx --no-install vitest run"],
    ["vitest --watch --dir src", "npx --no-install vitest run --dir src"],
    ["tsc && vitest", "CI=1 npm run test"],
    ["jest --watch", "npx --no-install jest"],
    ["NODE_ENV=test jest --watchAll -i", "NODE_ENV=test npx --no-install jest -i"],
    ["jest --watchAll=false", "npm run test"],
    ["mocha -w", "npx --no-install mocha"],
    ["node --test --watch test/", "node --test test/"],
    [
      "npm run build && jest --watch",
      'export PATH="$PWD/node_modules/.bin:$PATH"; npm run build && jest',
    ],
    ["react-scripts test", "npm run test -- --watchAll=false"],
    ["karma start", "npm run test -- --single-run"],
    ["node --import ./vitest.mjs check.js", "npm run test"],
  ])("runs %j once", (test, command) => {
    expect(withScripts({ test })["test"]).toBe(command);
  });

  it("prefers a script that ends to one that has to be made to", () => {
    expect(withScripts({ test: "jest --watch", "test:ci": "jest" })["test"]).toBe(
      "npm run test:ci",
    );
  });

  it("has no gate in what starts again for ever", () => {
    expect(withScripts({ test: "nodemon --exec mocha" })["test"]).toBeNull();
  });

  it("sees through a script that only calls another", () => {
    expect(withScripts({ test: "npm run unit", unit: "vitest" })["test"]).toBe(
      "npm run unit -- --run",
    );
  });

  it.each([
    [{ format: "prettier --write src" }, "npx --no-install prettier --check src"],
    [{ format: "prettier --check ." }, "npm run format"],
    [{ format: "biome format --write ." }, "npx --no-install biome format ."],
    [{ format: "biome format ." }, "npm run format"],
    [{ format: "dprint fmt" }, "npx --no-install dprint check"],
    [{ format: "node scripts/format.js" }, null],
    [{ format: "prettier -w .", "format:check": "prettier -c ." }, "npm run format:check"],
  ])("checks with %j and does not write", (scripts, command) => {
    expect(withScripts(scripts as Record<string, string>)["format"]).toBe(command);
  });

  it("lints without mending", () => {
    expect(withScripts({ lint: "eslint --fix src" })["lint"]).toBe("npx --no-install eslint src");
    expect(withScripts({ lint: "eslint --fix .", "lint:ci": "eslint ." })["lint"]).toBe(
      "npm run lint:ci",
    );
  });

  it("does not call eslint where nobody configured it", () => {
    expect(withScripts({}, { eslint: "9" })["lint"]).toBeNull();
  });

  it.each([
    [
      "pnpm-lock.yaml",
      "pnpm run test --run",
      "pnpm exec prettier --check .",
      "pnpm install --frozen-lockfile",
    ],
    [
      "yarn.lock",
      "yarn run test --run",
      "yarn run prettier --check .",
      "yarn install --frozen-lockfile",
    ],
    [
      "bun.lock",
      "bun run test --run",
      "bun run prettier --check .",
      "bun install --frozen-lockfile",
    ],
  ])("is called as %s says", (lock, test, format, setup) => {
    const files = {
      [lock]: "",
      "package.json": { scripts: { test: "vitest" }, devDependencies: { prettier: "3" } },
    };
    expect(commandsOf(files)).toMatchObject({ test, format });
    expect(detected(files).setup).toBe(setup);
  });

  it("installs with a yarn of today by its own option", () => {
    const files = { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n" };
    const { setup, dependencies } = detected({
      ...files,
      "package.json": { devDependencies: { jest: "30" } },
    });
    expect(setup).toBe("yarn install --immutable");
    expect(dependencies.folders).toEqual(["node_modules"]);
  });

  it("needs no set-up when it needs nothing", () => {
    expect(detected({ "package.json": { scripts: { test: "node --test" } } })).not.toHaveProperty(
      "setup",
    );
  });

  it("is read with comments in tsconfig.json and in any state", () => {
    expect(detected({ "package.json": "{ broken" }).stack.language).toBe("javascript");
    expect(detected({ "package.json": "[]" }).stack.language).toBe("javascript");
    expect(
      commandsOf({
        "package.json": { devDependencies: { typescript: "5" } },
        "tsconfig.json": '{ // all\n "files": [], "references": [{ "path": "a" },], }',
      })["typecheck"],
    ).toBe("npx --no-install tsc -b");
  });

  it("runs node's own tests, seen in the files", () => {
    const files = { "package.json": {}, "test/sum.test.mjs": 'import test from "node:test";' };
    expect(commandsOf(files)["test"]).toBe("node --test");
    expect(detected(files).stack.test_framework).toBe("node:test");
  });
});

describe("workspaces", () => {
  const member = { scripts: { test: "vitest run" }, devDependencies: { vitest: "4" } };

  it("of npm are tested all together where the top has no script", () => {
    const found = detected({
      ...npmLock,
      "package.json": { workspaces: ["packages/*", "!packages/old"] },
      "packages/a/package.json": member,
      "packages/b/package.json": {},
      "packages/old/package.json": member,
    });
    expect(found.gates.at(-1)?.command).toBe("npm run test --workspaces --if-present");
    expect(found.stack.test_framework).toBe("vitest");
    expect(found.setup).toBe("npm ci");
    expect(found.dependencies.folders).toEqual([
      "node_modules",
      "packages/a/node_modules",
      "packages/b/node_modules",
    ]);
    expect(found.dependencies.keyFiles).toContain("packages/a/package.json");
  });

  it.each([
    ["packages:\n  - 'packages/*'\n  # more\n  - \"apps/**\"\ncatalog:\n  a: 1\n", 2],
    ["packages: ['packages/*']\n", 1],
  ])("of pnpm are named in a file of their own: %j", (text, count) => {
    const found = detected({
      "pnpm-lock.yaml": "",
      "pnpm-workspace.yaml": text,
      "package.json": {},
      "packages/a/package.json": member,
      "apps/deep/b/package.json": member,
    });
    expect(found.gates.at(-1)?.command).toBe("pnpm -r --if-present run test");
    expect(found.dependencies.folders).toHaveLength(count + 1);
  });

  it.each([
    ["turbo.json", "npx --no-install turbo run test"],
    ["nx.json", "npx --no-install nx run-many -t test"],
  ])("are run by %s where it is", (file, command) => {
    const files = {
      ...npmLock,
      [file]: "{}",
      "package.json": { workspaces: { packages: ["packages/a"] } },
      "packages/a/package.json": member,
    };
    expect(commandsOf(files)["test"]).toBe(command);
  });
});

describe("Python", () => {
  it("with a lock file of uv is run in its environment", () => {
    const found = detected({
      "uv.lock": "",
      "pyproject.toml": `[project]\nname = "x"\ndependencies = ["fastapi>=0.1"]\n[dependency-groups]\ndev = ["pytest>=8", "ruff", "mypy"]\n[tool.mypy]\nfiles = ["x"]\n`,
    });
    expect(found.stack).toEqual({
      language: "python",
      framework: "fastapi",
      package_manager: "uv",
      test_framework: "pytest",
      linter: "ruff",
      formatter: "ruff",
    });
    expect(found.gates.map(({ command }) => command)).toEqual([
      ".venv/bin/ruff check .",
      ".venv/bin/ruff format --check .",
      ".venv/bin/mypy",
      ".venv/bin/python -m pytest",
    ]);
    expect(found.setup).toBe("uv sync --frozen");
    expect(found.dependencies).toEqual({
      folders: [".venv"],
      keyFiles: expect.arrayContaining(["uv.lock", "pyproject.toml", ".python-version"]),
      tools: ["python3", "uv"],
    });
  });

  it.each([
    [
      { "requirements.txt": "requests\n", "requirements-dev.txt": "pytest\n" },
      "-r requirements-dev.txt -r requirements.txt",
    ],
    [
      {
        "pyproject.toml":
          '[project]\nname = "x"\ndependencies = ["a"]\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = ["sphinx"]\n',
      },
      '-e ".[test]"',
    ],
    [
      { "pyproject.toml": "[dependency-groups]\ndev = ['pytest>=8', 'ruff']\n" },
      "'pytest>=8' ruff",
    ],
    [
      { "requirements.txt": "requests\n", "pytest.ini": "[pytest]\n" },
      "-r requirements.txt pytest",
    ],
    [
      { "setup.py": 'setup(install_requires=["a"], extras_require={"dev": ["pytest"]})' },
      '-e ".[dev]" pytest',
    ],
  ])("without a lock file is installed by pip: %j", (files, words) => {
    expect(detected(files as Files).setup).toBe(
      `python3 -m venv .venv && .venv/bin/pip install ${words}`,
    );
    expect(commandsOf(files as Files)["test"]).toBe(".venv/bin/python -m pytest");
  });

  it("with nothing to install uses what the machine has", () => {
    const files = { "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n[tool.ruff]\n" };
    expect(detected(files)).not.toHaveProperty("setup");
    expect(commandsOf(files)).toEqual({
      lint: "ruff check .",
      format: "ruff format --check .",
      typecheck: null,
      test: "python3 -m pytest",
    });
  });

  it.each([
    [{ "tests/test_a.py": "import unittest" }, "python3 -m unittest discover -s tests"],
    [
      { "tests/test_a.py": "import unittest", "tests/__init__.py": "" },
      "python3 -m unittest discover -t . -s tests",
    ],
    [{ "test_a.py": "import unittest" }, "python3 -m unittest"],
    [{ "test_a.py": "def test(): pass" }, "python3 -m pytest"],
    [{ "setup.cfg": "[tool:pytest]\n" }, "python3 -m pytest"],
  ])("is known by its tests alone: %j", (files, command) => {
    expect(commandsOf(files as Files)["test"]).toBe(command);
  });

  it("prefers black to ruff's formatter where both are", () => {
    const files = { "pyproject.toml": "[tool.black]\n[tool.ruff]\n" };
    expect(detected(files).stack).toMatchObject({ linter: "ruff", formatter: "black" });
  });
});

describe("other languages", () => {
  it.each<[string, Files, Record<string, string | null>, Record<string, string | null>]>([
    [
      "go",
      { "go.mod": "module x\n" },
      { language: "go", test_framework: "go test", linter: "go vet", formatter: "gofmt" },
      {
        lint: "go vet ./...",
        format: 'out="$(gofmt -l .)" && echo "$out" && test -z "$out"',
        typecheck: "go build ./...",
        test: "go test -count=1 ./...",
      },
    ],
    [
      "rust",
      { "Cargo.toml": '[package]\nname = "x"\n' },
      { language: "rust", package_manager: "cargo", formatter: "rustfmt" },
      {
        lint: "cargo clippy -- -D warnings",
        format: "cargo fmt --check",
        typecheck: "cargo check --all-targets",
        test: "cargo test",
      },
    ],
    [
      "java with Maven",
      { "pom.xml": "<project/>", mvnw: "" },
      { language: "java", package_manager: "maven", test_framework: "junit" },
      { lint: null, typecheck: "./mvnw -B test-compile", test: "./mvnw -B test" },
    ],
    [
      "kotlin with Gradle",
      { "build.gradle.kts": 'kotlin("jvm"); id("org.jlleitschuh.gradle.ktlint")', gradlew: "" },
      { language: "kotlin", package_manager: "gradle" },
      { lint: "./gradlew --no-daemon ktlintCheck", test: "./gradlew --no-daemon test" },
    ],
    [
      "csharp",
      { "x.sln": "", "T/T.csproj": '<PackageReference Include="xunit" />' },
      { language: "csharp", package_manager: "nuget", test_framework: "xunit" },
      { format: "dotnet format --verify-no-changes", test: "dotnet test" },
    ],
    [
      "ruby",
      { Gemfile: 'gem "rails"\ngem "rspec"\ngem "rubocop"\n', "Gemfile.lock": "" },
      { language: "ruby", framework: "rails", test_framework: "rspec", linter: "rubocop" },
      { lint: "bundle exec rubocop", test: "bundle exec rspec" },
    ],
    ["ruby without a Gemfile", { ".rspec": "" }, { package_manager: null }, { test: "rspec" }],
    [
      "php",
      { "composer.json": { "require-dev": { "phpunit/phpunit": "9", "phpstan/phpstan": "1" } } },
      { language: "php", package_manager: "composer", test_framework: "phpunit" },
      { typecheck: "vendor/bin/phpstan analyse", test: "vendor/bin/phpunit" },
    ],
    [
      "php with scripts of its own",
      { "composer.json": { scripts: { test: "phpunit" } } },
      { test_framework: "phpunit" },
      { test: "composer run-script test" },
    ],
    [
      "c with CMake",
      { "CMakeLists.txt": "enable_testing()", "a.c": "" },
      { language: "c", test_framework: "ctest" },
      {
        test: "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
      },
    ],
    [
      "cpp with meson",
      { "meson.build": "test('a', a)", "a.cpp": "", "build/keep": "" },
      { language: "cpp", test_framework: "meson" },
      { test: "meson setup build-gates && meson test -C build-gates --print-errorlogs" },
    ],
    [
      "c with a Makefile",
      {
        Makefile:
          "CFLAGS := -O2\n.PHONY: all check\nall: a\ncheck: all\n\t./a\nlint fmt-check:\n\ttrue\n",
        "a.c": "",
      },
      { language: "c" },
      { lint: "make lint", format: "make fmt-check", typecheck: null, test: "make check" },
    ],
    [
      "java with a Makefile alone",
      { Makefile: "test:\n\tjavac A.java\n", "A.java": "", "B.java": "" },
      { language: "java" },
      { test: "make test" },
    ],
    [
      "anything with a justfile",
      { justfile: "test:\n  x\nlint path:\n  y\n", "a.zig": "" },
      { language: "zig" },
      { lint: null, test: "just test" },
    ],
    [
      "anything with a Taskfile",
      {
        "Taskfile.yml":
          "version: '3'\ntasks:\n  test:\n    cmds: [x]\n  fmt:check:\n    cmds: [y]\n",
      },
      { language: null },
      { format: "task fmt:check", test: "task test" },
    ],
  ])("%s", (_, files, stack, commands) => {
    expect(detected(files).stack).toMatchObject(stack);
    expect(commandsOf(files)).toMatchObject(commands);
  });

  it("take a Makefile's target before a tool's usual call, and a script before the target", () => {
    const Makefile = "test:\n\tx\nlint:\n\ty\n";
    expect(commandsOf({ "go.mod": "", Makefile })).toMatchObject({
      lint: "make lint",
      test: "make test",
      typecheck: "go build ./...",
    });
    expect(
      commandsOf({ "package.json": { scripts: { test: "node --test" } }, Makefile }),
    ).toMatchObject({ lint: "make lint", test: "npm run test" });
  });

  it.each([
    [{ "go.mod": "" }, undefined],
    [{ "Cargo.toml": "" }, undefined],
    [{ "pom.xml": "" }, undefined],
    [{ "x.sln": "" }, "dotnet restore"],
    [{ Gemfile: "" }, "bundle config set --local path vendor/bundle && bundle install"],
    [{ "composer.json": { require: { php: ">=8" } } }, undefined],
    [
      { "composer.json": { require: { "a/b": "1" } } },
      "composer install --no-interaction --no-progress",
    ],
  ])("are set up as they need it: %j", (files, setup) => {
    expect(detected(files as Files).setup).toBe(setup);
  });
});

describe("a tree of several languages", () => {
  const files: Files = {
    ...npmLock,
    "package.json": { scripts: { test: "jest" }, devDependencies: { jest: "30" } },
    "requirements.txt": "pytest\n",
    "go.mod": "module x\n",
  };

  it("is of the first in the order, and has the tests of the others", () => {
    expect(detected(files).stack.language).toBe("javascript");
    expect(commandsOf(files)).toMatchObject({
      test: "npm run test",
      test_python: ".venv/bin/python -m pytest",
      test_go: "go test -count=1 ./...",
    });
  });

  it("is set up for all of them", () => {
    const { setup, dependencies } = detected(files);
    expect(setup).toBe(
      "npm ci && python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    );
    expect(dependencies.folders).toEqual(["node_modules", ".venv"]);
    expect(dependencies.tools).toEqual(["node", "npm", "python3", "go"]);
  });

  it("is of the first that has a test, where the first has none", () => {
    const assets = {
      "package.json": { devDependencies: { prettier: "3" } },
      "composer.json": { "require-dev": { "phpunit/phpunit": "9" } },
    };
    expect(detected(assets).stack.language).toBe("php");
  });
});

describe("a tree with nothing at its top", () => {
  const files: Files = {
    "README.md": "",
    "backend/pyproject.toml": "[tool.pytest.ini_options]\n",
    "web app/package.json": {
      scripts: { test: "node --test", lint: "x" },
      dependencies: { a: "1" },
    },
    "docs/package.json": { scripts: { test: "node --test" } },
  };

  it("is looked at one folder below", () => {
    expect(detected(files).stack.language).toBe("python");
    expect(commandsOf(files)).toEqual({
      lint: null,
      format: null,
      typecheck: null,
      test: "cd backend && python3 -m pytest",
      test_web_app: "cd './web app' && npm run test",
    });
    expect(detected(files).because).toContainEqual({
      what: "gate test_web_app",
      why: "scripts.test of package.json, in web app",
      file: "web app/package.json",
    });
  });

  it("is set up there", () => {
    const { setup, dependencies } = detected(files);
    expect(setup).toBe("(cd './web app' && npm install --no-package-lock)");
    expect(dependencies.folders).toEqual(["backend/.venv", "web app/node_modules"]);
    expect(dependencies.keyFiles).toContain("web app/package.json");
  });
});

describe("what people settled", () => {
  const detectedHere = detected({
    ...npmLock,
    "package.json": { scripts: { test: "node --test" }, dependencies: { a: "1" } },
  });

  it("wins over what was detected, and comes after the usual gates", () => {
    const { gates } = settled(detectedHere, {
      gates: { test: "make test", lint: false, e2e: "x" },
    });
    expect(gates).toEqual([
      { name: "lint", command: null, reason: "dropped in .autodev/config.yaml" },
      { name: "format", command: null, reason: expect.any(String) },
      { name: "typecheck", command: null, reason: expect.any(String) },
      { name: "test", command: "make test" },
      { name: "e2e", command: "x" },
    ]);
  });

  it.each([
    [undefined, "npm ci", true],
    ["npm ci --ignore-scripts", "npm ci --ignore-scripts", true],
    ["npm ci && npm run build", "npm ci && npm run build", false],
    ["./setup.sh", "./setup.sh", false],
  ])("as set-up %j is run each time unless it only fills folders", (own, setup, kept) => {
    const found = settled(detectedHere, own === undefined ? {} : { setup: own });
    expect(found.setup).toBe(setup);
    expect(found.dependencies !== undefined).toBe(kept);
  });
});
