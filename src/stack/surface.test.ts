import { describe, expect, it } from "vitest";
import { gateSurface, mayDefineGates, surfaceParts } from "./surface.ts";

type Files = Readonly<Record<string, string | object>>;

const surfaceOf = (files: Files): Map<string, string> =>
  gateSurface(Object.keys(files), (path) => {
    const content = files[path];
    return typeof content === "object" ? JSON.stringify(content) : content;
  });

/** The names of what differs between a project and the project with these files instead. */
function changed(before: Files, instead: Files): string[] {
  const [was, is] = [surfaceOf(before), surfaceOf({ ...before, ...instead })];
  return [...new Set([...was.keys(), ...is.keys()])].filter(
    (name) => was.get(name) !== is.get(name),
  );
}

const base = {
  "package.json": {
    version: "1.0.0",
    scripts: { test: "vitest run", lint: "sh scripts/lint.sh" },
    dependencies: { fastify: "5" },
    devDependencies: { vitest: "^4.0.0", eslint: "^9" },
    jest: { testMatch: ["**/*.test.js"] },
  },
  "scripts/lint.sh": "npx eslint .",
  "scripts/release.sh": "npm publish",
  "vitest.config.ts":
    'export default { test: { setupFiles: ["./test/prepare.ts"], globalSetup: "test/global" } };',
  "test/prepare.ts": "",
  "test/global.ts": 'import { x } from "./shared/env.ts";',
  "test/shared/env.ts": "",
  "test/sum.test.ts": "",
  "src/index.ts": "",
  "README.md": "",
};

const manifest = (change: (json: (typeof base)["package.json"]) => object): Files => ({
  "package.json": change(base["package.json"]),
});

describe("the gate surface", () => {
  it("is what defines the gates, and nothing that they look at", () => {
    expect([...surfaceOf(base).keys()]).toEqual([
      "package.json#jest",
      "package.json#scripts",
      "package.json#devDependencies.vitest",
      "package.json#devDependencies.eslint",
      "scripts/lint.sh",
      "test/global.ts",
      "test/prepare.ts",
      "test/shared/env.ts",
      "vitest.config.ts",
    ]);
  });

  it.each<[string, Files]>([
    [
      "an ordinary dependency",
      manifest((json) => ({ ...json, dependencies: { fastify: "5", pino: "9" } })),
    ],
    ["another version of one", manifest((json) => ({ ...json, dependencies: { fastify: "6" } }))],
    ["the project's own version", manifest((json) => ({ ...json, version: "1.0.1" }))],
    ["layout", { "package.json": JSON.stringify(base["package.json"], null, 7) }],
    [
      "another order of keys",
      manifest((json) => Object.fromEntries(Object.entries(json).reverse())),
    ],
    ["line ends", { "scripts/lint.sh": "npx eslint .\r\n" }],
    [
      "a plugin from the registry",
      manifest((json) => ({
        ...json,
        devDependencies: { ...json.devDependencies, "eslint-plugin-x": "1" },
      })),
    ],
    ["code and tests", { "src/index.ts": "1", "test/sum.test.ts": "2", "test/other.test.ts": "3" }],
    ["a script that no gate calls", { "scripts/release.sh": "npm publish --tag next" }],
    [
      "a project that tests only look at",
      { "test/fixtures/a/package.json": { scripts: { test: "exit 1" } } },
    ],
    ["ordinary variables", { ".env.test": "DATABASE_URL=x" }],
  ])("is the same after %s changed", (_, instead) => {
    expect(changed(base, instead)).toEqual([]);
  });

  it.each<[string, Files, string[]]>([
    [
      "a script",
      manifest((json) => ({ ...json, scripts: { ...json.scripts, test: "exit 0" } })),
      ["package.json#scripts"],
    ],
    [
      "a script before it",
      manifest((json) => ({ ...json, scripts: { ...json.scripts, pretest: "x" } })),
      ["package.json#scripts"],
    ],
    [
      "a runner's settings",
      manifest((json) => ({ ...json, jest: { testMatch: [] } })),
      ["package.json#jest"],
    ],
    [
      "the runner itself",
      manifest((json) => ({
        ...json,
        devDependencies: { ...json.devDependencies, vitest: "file:fake" },
      })),
      ["package.json#devDependencies.vitest"],
    ],
    [
      "a plugin from a folder",
      manifest((json) => ({
        ...json,
        devDependencies: { ...json.devDependencies, "eslint-plugin-x": "file:./x" },
      })),
      ["package.json#devDependencies.eslint-plugin-x"],
    ],
    [
      "overrides",
      manifest((json) => ({ ...json, overrides: { vitest: "npm:fake" } })),
      ["package.json#overrides"],
    ],
    [
      "broken JSON",
      { "package.json": "{" },
      [
        "package.json#jest",
        "package.json#scripts",
        "package.json#devDependencies.vitest",
        "package.json#devDependencies.eslint",
        "scripts/lint.sh",
        "package.json",
      ],
    ],
    [
      "a configuration",
      { "vitest.config.ts": "export default {};" },
      ["test/global.ts", "test/prepare.ts", "test/shared/env.ts", "vitest.config.ts"],
    ],
    ["a set-up file", { "test/prepare.ts": "process.exit(0)" }, ["test/prepare.ts"]],
    [
      "what a set-up file imports",
      { "test/shared/env.ts": "process.exit(0)" },
      ["test/shared/env.ts"],
    ],
    ["a script that a gate calls", { "scripts/lint.sh": "true" }, ["scripts/lint.sh"]],
    ["a new configuration", { ".npmrc": "script-shell=/bin/true" }, [".npmrc"]],
    ["a hook", { ".husky/pre-commit": "true" }, [".husky/pre-commit"]],
    [
      "a program in the tool's place",
      { "node_modules/.bin/vitest": "#!/bin/sh" },
      ["node_modules/.bin/vitest"],
    ],
    ["a module in the tool's place", { "pytest/__main__.py": "" }, ["pytest/__main__.py"]],
    [
      "a steering variable",
      { ".env": "export NODE_OPTIONS='--import ./x.mjs'" },
      [".env#NODE_OPTIONS"],
    ],
    ["an ignore file", { ".eslintignore": "src" }, [".eslintignore"]],
  ])("differs after %s changed", (_, instead, names) => {
    expect(changed(base, instead)).toEqual(names);
  });

  it("takes of pyproject.toml what concerns the gates", () => {
    const toml = (more: string, version = "1"): Files => ({
      "pyproject.toml": `[project]\nname = "x"\nversion = "${version}"\ndependencies = [\n  "requests",\n]\n[dependency-groups]\ndev = ["pytest>=8"]\n[tool.pytest.ini_options]\naddopts = "-q"\n[build-system]\nrequires = ["hatchling"]\n${more}`,
    });
    expect([...surfaceOf(toml("")).keys()]).toEqual([
      "pyproject.toml#tool.pytest",
      "pyproject.toml#build-system",
      "pyproject.toml#needs.pytest",
    ]);
    expect(changed(toml(""), toml("[tool.other]\nx = 1\n", "2"))).toEqual([]);
    expect(changed(toml(""), toml("[tool.coverage.run]\nomit = ['*']\n"))).toEqual([
      "pyproject.toml#tool.coverage",
    ]);
  });

  it("takes of Cargo.toml what concerns the gates", () => {
    const toml = (more: string): Files => ({
      "Cargo.toml": `[package]\nname = "x"\nversion = "1"\n${more}`,
    });
    expect(changed(toml(""), toml("[dependencies]\nserde = '1'\n"))).toEqual([]);
    expect(changed(toml(""), toml("[[test]]\nname = 'a'\nharness = false\n"))).toEqual([
      "Cargo.toml#test",
    ]);
    expect(changed(toml(""), toml("[lib]\ntest = false\n"))).toEqual(["Cargo.toml#lib.test"]);
    expect(changed(toml(""), toml("[lints.rust]\nunused = 'allow'\n"))).toEqual([
      "Cargo.toml#lints",
    ]);
  });

  it.each<[string, string, string, string, string]>([
    [
      "pom.xml",
      "<project><version>1</version><build><plugins/></build></project>",
      "<project><version>2</version><dependencies><dependency><artifactId>a</artifactId></dependency></dependencies><build><plugins/></build></project>",
      "<project><version>1</version><properties><skipTests>true</skipTests></properties><build><plugins/></build></project>",
      "pom.xml#build",
    ],
    [
      "build.gradle",
      "plugins { id 'java' }\nversion = '1'\ndependencies { implementation 'a:b:1' }\n",
      "plugins { id 'java' }\nversion = '2'\ndependencies {\n  implementation('a:b:1') { transitive = false }\n  implementation 'c:d:1'\n}\n",
      "plugins { id 'java' }\nversion = '1'\ndependencies { implementation 'a:b:1' }\ntest { enabled = false }\n",
      "build.gradle#build",
    ],
    [
      "T.csproj",
      '<Project><ItemGroup><PackageReference Include="a" Version="1" /></ItemGroup></Project>',
      '<Project><ItemGroup><PackageReference Include="a" Version="2" /><PackageReference Include="b"></PackageReference></ItemGroup></Project>',
      "<Project><PropertyGroup><IsTestProject>false</IsTestProject></PropertyGroup></Project>",
      "T.csproj#build",
    ],
    [
      "CMakeLists.txt",
      "project(x)\nadd_executable(a a.c)\nenable_testing()\nadd_test(NAME a COMMAND a)\n",
      "project(x VERSION 2)\nadd_executable(a a.c b.c)\nenable_testing()\nadd_test(NAME a\n  COMMAND a) # one\n",
      "project(x)\nadd_executable(a a.c)\nenable_testing()\nadd_test(NAME a COMMAND true)\n",
      "CMakeLists.txt#add_test.a",
    ],
    [
      "setup.cfg",
      "[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q\n",
      "[metadata]\nversion = 2\n[tool:pytest]\naddopts   = -q\n",
      "[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q --ignore=tests\n",
      "setup.cfg#tool-pytest",
    ],
  ])("tells in %s the ordinary from what bends a gate", (file, text, ordinary, bent, name) => {
    expect(changed({ [file]: text }, { [file]: ordinary })).toEqual([]);
    expect(changed({ [file]: text }, { [file]: bent })).toEqual([name]);
  });

  it.each([
    ["phpunit.xml", '<phpunit bootstrap="tests/boot.php"/>', "tests/boot.php"],
    [".rspec", "--require support/all\n", "spec/support/all.rb"],
    [".mocharc.yml", "require: './test/hooks.js'\n", "test/hooks.js"],
    ["tsconfig.json", '{ "extends": "./config/base.json" }', "config/base.json"],
    ["eslint.config.js", 'import rules from "./tools/rules.js";', "tools/rules.js"],
    [
      "jest.config.js",
      'module.exports = { testEnvironment: "<rootDir>/tools/env" };',
      "tools/env.ts",
    ],
    ["Makefile", "test:\n\tpython tools/check.py\n", "tools/check.py"],
    ["pytest.ini", "[pytest]\naddopts = -p tools.plugin\n", "tools/plugin.py"],
  ])("follows %s", (file, text, named) => {
    expect([...surfaceOf({ [file]: text, [named]: "", "src/a.ts": "" }).keys()].sort()).toEqual(
      [file, named].sort(),
    );
  });

  it("keeps a file that cannot be read", () => {
    expect(gateSurface(["Makefile"], () => undefined)).toEqual(new Map([["Makefile", ""]]));
  });

  it("is known by name where it may begin", () => {
    expect(
      ["package.json", "a/conftest.py", ".env", "pytest.py", "node_modules/.bin/x"].map(
        mayDefineGates,
      ),
    ).toEqual(Array<boolean>(5).fill(true));
    expect(
      ["src/a.ts", "README.md", "node_modules/a/package.json", "src/config.ts"].map(mayDefineGates),
    ).toEqual(Array<boolean>(4).fill(false));
  });

  it("can be told apart from the rest of a shared file", () => {
    expect(surfaceParts("packages/a/package.json")).toContain("scripts");
    expect(surfaceParts("pyproject.toml")).toContain("tool.pytest");
    expect(surfaceParts("vitest.config.ts")).toBeUndefined();
  });
});
