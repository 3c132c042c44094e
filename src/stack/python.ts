/** Python: pyproject.toml and its elders, and the virtual environment that gates are run in. */
import {
  type Command,
  type Commands,
  type Ground,
  type Installed,
  type Kind,
  type Packager,
  signOf,
  type Uses,
} from "./kind.ts";
import { isObject, type Tree } from "./tree.ts";

const manifest = "pyproject.toml";

/** Names of extras and groups that hold what testing needs. */
const forDevelopment =
  /^(?:dev|develop|development|test|tests|testing|lint|linting|typing|types|ci|check|checks|qa)$/i;

const elders = [
  manifest,
  "setup.py",
  "setup.cfg",
  ".python-version",
  ".tool-versions",
  "constraints.txt",
];

const packagers: readonly Packager[] = [
  {
    name: "uv",
    files: ["uv.lock"],
    parts: [`${manifest}#tool.uv`],
    setup: "uv sync --frozen",
    folders: [".venv"],
    keyFiles: ["uv.lock", "uv.toml", ...elders],
    programs: ["python3", "uv"],
  },
  {
    name: "poetry",
    files: ["poetry.lock"],
    parts: [`${manifest}#tool.poetry`],
    setup: "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
    folders: [".venv"],
    keyFiles: ["poetry.lock", "poetry.toml", ...elders],
    programs: ["python3", "poetry"],
  },
  {
    name: "pdm",
    files: ["pdm.lock"],
    parts: [`${manifest}#tool.pdm`],
    setup: "pdm sync --dev",
    folders: [".venv"],
    keyFiles: ["pdm.lock", "pdm.toml", ...elders],
    programs: ["python3", "pdm"],
  },
  {
    name: "pipenv",
    files: ["Pipfile.lock", "Pipfile"],
    setup: "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev",
    folders: [".venv"],
    keyFiles: ["Pipfile", "Pipfile.lock", ...elders],
    programs: ["python3", "pipenv"],
  },
  {
    name: "pip",
    always: "no lock file of another",
    folders: [".venv"],
    keyFiles: elders,
    programs: ["python3"],
  },
];

export const python: Kind = {
  name: "python",
  marks: [
    manifest,
    "setup.py",
    "setup.cfg",
    "requirements*.txt",
    "Pipfile",
    "tox.ini",
    "noxfile.py",
    "pytest.ini",
    "conftest.py",
  ],
  traces: ["test_*.py", "*_test.py", "{test,tests}/**/*.py", "**/test_*.py"],
  languages: [{ name: "python", always: "files of Python" }],
  frameworks: [
    { name: "django", packages: ["django"], files: ["manage.py"] },
    { name: "fastapi", packages: ["fastapi"] },
    { name: "flask", packages: ["flask"] },
    { name: "starlette", packages: ["starlette"] },
    { name: "tornado", packages: ["tornado"] },
    { name: "aiohttp", packages: ["aiohttp"] },
  ],
  packagers,
  tools: [
    {
      name: "pytest",
      packages: ["pytest"],
      parts: [`${manifest}#tool.pytest`],
      files: ["pytest.ini", ".pytest.ini", "conftest.py", "{test,tests}/**/conftest.py"],
      mentions: [
        ["setup.cfg", /^\[tool:pytest\]/m],
        ["tox.ini", /^\[pytest\]|\bpytest\b/m],
        ["{test,tests}/**/test_*.py", /^\s*(?:import pytest|from pytest import)\b/m],
        ["{test_*,*_test}.py", /^\s*(?:import pytest|from pytest import)\b/m],
      ],
      started: /\bpytest\b/,
      calls: { test: "python -m pytest" },
    },
    {
      name: "unittest",
      mentions: [
        ["manage.py", /\bdjango\b/],
        ["**/*{test,tests}.py", /\bDJANGO_SETTINGS_MODULE\b/],
      ],
      needs: { files: ["manage.py"] },
      calls: { test: "python manage.py test" },
    },
    {
      name: "unittest",
      mentions: [["tests/__init__.py", /^/]],
      needs: { mentions: [["tests/**/test*.py", /\bunittest\b/]] },
      calls: { test: "python -m unittest discover -t . -s tests" },
    },
    {
      name: "unittest",
      mentions: [["tests/**/test*.py", /\bunittest\b/]],
      calls: { test: "python -m unittest discover -s tests" },
    },
    {
      name: "unittest",
      mentions: [["**/test*.py", /\bunittest\b/]],
      calls: { test: "python -m unittest" },
    },
    {
      name: "pytest",
      files: ["test_*.py", "*_test.py", "{test,tests}/**/test_*.py", "{test,tests}/**/*_test.py"],
      calls: { test: "python -m pytest" },
    },
    // They make environments of their own: only where nothing else tells how to test.
    { name: "tox", packages: ["tox"], files: ["tox.ini"], calls: { test: "tox" } },
    { name: "nox", packages: ["nox"], files: ["noxfile.py"], calls: { test: "nox" } },
    {
      name: "ruff",
      packages: ["ruff"],
      parts: [`${manifest}#tool.ruff`],
      files: ["ruff.toml", ".ruff.toml"],
      mentions: [[".pre-commit-config.yaml", /\bruff-pre-commit\b/]],
      started: /\bruff\b/,
      calls: { lint: "ruff check ." },
    },
    {
      name: "flake8",
      packages: ["flake8"],
      files: [".flake8"],
      mentions: [["{setup.cfg,tox.ini}", /^\[flake8\]/m]],
      calls: { lint: "flake8 --extend-exclude .venv ." },
    },
    {
      name: "pylint",
      packages: ["pylint"],
      files: [".pylintrc", "pylintrc"],
      parts: [`${manifest}#tool.pylint`],
      calls: { lint: "pylint --recursive=y --ignore=.venv ." },
    },
    {
      name: "black",
      packages: ["black"],
      parts: [`${manifest}#tool.black`],
      calls: { format: "black --check ." },
    },
    {
      name: "yapf",
      packages: ["yapf"],
      files: [".style.yapf"],
      calls: { format: "yapf --diff --recursive --exclude .venv ." },
    },
    {
      name: "ruff",
      packages: ["ruff"],
      parts: [`${manifest}#tool.ruff`],
      files: ["ruff.toml", ".ruff.toml"],
      calls: { format: "ruff format --check ." },
    },
    {
      name: "mypy",
      packages: ["mypy"],
      needs: {
        mentions: [
          ["{pyproject.toml,mypy.ini,.mypy.ini,setup.cfg}", /^(?:files|packages|modules)\s*=/m],
        ],
      },
      calls: { typecheck: "mypy" },
    },
    {
      name: "mypy",
      packages: ["mypy"],
      parts: [`${manifest}#tool.mypy`],
      files: ["mypy.ini", ".mypy.ini"],
      mentions: [["setup.cfg", /^\[mypy\]/m]],
      calls: { typecheck: "mypy ." },
    },
    {
      name: "pyright",
      packages: ["pyright", "basedpyright"],
      parts: [`${manifest}#tool.pyright`],
      files: ["pyrightconfig.json"],
      calls: { typecheck: "pyright" },
    },
  ],
  uses,
  scripts,
  call: (tree, packager, call) => inEnvironment(isInstalled(tree, packager), call),
  install,
};

/** With an environment of its own, a project's tools lie there; else they are the machine's. */
function inEnvironment(own: boolean, call: string): string {
  if (own) return `.venv/bin/${call}`;
  return call.replace(/^python /, "python3 ");
}

// ── what it needs ──────────────────────────────────────────────────────────────────────────────

interface Need {
  /** As pip takes it: `pytest>=8`. */
  readonly text: string;
  readonly ground: Ground;
}

function uses(tree: Tree): Uses {
  const found = new Map<string, Ground>();
  for (const { text, ground } of needsOf(tree)) {
    const name = packageOf(text);
    if (name !== "" && !found.has(name)) found.set(name, ground);
  }
  return found;
}

const packageOf = (need: string): string =>
  (/^\s*([A-Za-z0-9][\w.-]*)/.exec(need)?.[1] ?? "").toLowerCase().replace(/[._-]+/g, "-");

function needsOf(tree: Tree): Need[] {
  return [
    ...declaredNeeds(tree),
    ...requirementFiles(tree).flatMap((file) => listedIn(tree, file)),
    ...elderNeeds(tree),
  ];
}

function declaredNeeds(tree: Tree): Need[] {
  const toml = tree.toml(manifest);
  const project = tableIn(toml, "project");
  const tool = tableIn(toml, "tool");
  const poetry = tableIn(tool, "poetry");
  const found: Need[] = strings(project["dependencies"], "project.dependencies");
  for (const [name, listed] of Object.entries(tableIn(project, "optional-dependencies"))) {
    found.push(...strings(listed, `project.optional-dependencies.${name}`));
  }
  for (const [name, listed] of Object.entries(tableIn(toml, "dependency-groups"))) {
    found.push(...strings(listed, `dependency-groups.${name}`));
  }
  for (const [name, listed] of Object.entries(tableIn(tableIn(tool, "pdm"), "dev-dependencies"))) {
    found.push(...strings(listed, `tool.pdm.dev-dependencies.${name}`));
  }
  found.push(
    ...strings(tableIn(tool, "uv")["dev-dependencies"], "tool.uv.dev-dependencies"),
    ...keysOf(poetry["dependencies"], "tool.poetry.dependencies"),
    ...keysOf(poetry["dev-dependencies"], "tool.poetry.dev-dependencies"),
  );
  for (const [name, group] of Object.entries(tableIn(poetry, "group"))) {
    found.push(...keysOf(tableIn(group, "dependencies"), `tool.poetry.group.${name}.dependencies`));
  }
  return found;
}

const tableIn = (value: unknown, key: string): Readonly<Record<string, unknown>> => {
  const inside = isObject(value) ? value[key] : undefined;
  return isObject(inside) ? inside : {};
};

const strings = (value: unknown, where: string): Need[] =>
  (Array.isArray(value) ? value : [])
    .filter((each): each is string => typeof each === "string")
    .map((text) => ({ text, ground: { why: `${where} of ${manifest}`, file: manifest } }));

const keysOf = (value: unknown, where: string): Need[] =>
  strings(isObject(value) ? Object.keys(value).filter((key) => key !== "python") : [], where);

const requirementFiles = (tree: Tree): readonly string[] => [
  ...tree.like("requirements*.txt"),
  ...tree.like("requirements/*.txt"),
  ...tree.like("*{-,_}requirements.txt"),
];

const listedIn = (tree: Tree, file: string): Need[] =>
  (tree.text(file) ?? "")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .filter((line) => line !== "" && !/^--?(?:r|c|requirement|constraint)\b/.test(line))
    .map((text) => ({ text, ground: { why: `listed in ${file}`, file } }));

/** Without running it, of setup.py only quoted names can be told; of the others, lines. */
function elderNeeds(tree: Tree): Need[] {
  const found: Need[] = [];
  const said = (text: string, file: string): number =>
    found.push({ text, ground: { why: `named in ${file}`, file } });
  for (const [, list = ""] of (tree.text("setup.py") ?? "").matchAll(
    /(?:require\w*|dev|tests?)["']?\s*[=:]\s*\[([^\]]*)\]/g,
  )) {
    for (const [, text = ""] of list.matchAll(/["']([^"']+)["']/g)) said(text, "setup.py");
  }
  const config = tree.text("setup.cfg") ?? "";
  for (const [, block = ""] of config.matchAll(
    /^(?:install_requires|tests_require|dev|tests?|testing)\s*=[ \t]*\n?((?:[ \t]+\S.*\n?)*)/gm,
  )) {
    for (const line of block.split("\n")) if (line.trim() !== "") said(line.trim(), "setup.cfg");
  }
  for (const [, name = ""] of (tree.text("Pipfile") ?? "").matchAll(
    /^["']?([A-Za-z][\w.-]*)["']?\s*=/gm,
  )) {
    if (!/^(?:url|name|verify_ssl|python_version|python_full_version)$/.test(name))
      said(name, "Pipfile");
  }
  return found;
}

/** Those of setup.py and setup.cfg. */
function elderExtras(tree: Tree): string[] {
  const script = /extras_require\s*=\s*\{([^}]*)\}/.exec(tree.text("setup.py") ?? "")?.[1] ?? "";
  const config =
    /^\[options\.extras_require\]\n((?:(?!\[).*\n?)*)/m.exec(tree.text("setup.cfg") ?? "")?.[1] ??
    "";
  return [
    ...[...script.matchAll(/["']([\w-]+)["']\s*:/g)].map(([, name = ""]) => name),
    ...[...config.matchAll(/^([\w-]+)\s*=/gm)].map(([, name = ""]) => name),
  ];
}

// ── installing ─────────────────────────────────────────────────────────────────────────────────

function isInstalled(tree: Tree, packager: Packager | undefined): boolean {
  return packager !== undefined && install(tree, packager).setup !== undefined;
}

function install(tree: Tree, packager: Packager): Installed {
  const installed = {
    folders: packager.folders,
    keyFiles: [...packager.keyFiles, ...requirementFiles(tree)],
    programs: packager.programs,
  };
  const setup = setupOf(tree, packager);
  return setup ? { ...installed, setup } : installed;
}

function setupOf(tree: Tree, packager: Packager): Command | undefined {
  const lock = packager.files?.find((file) => tree.has(file));
  if (packager.setup !== undefined) {
    const unlocked = packager.name === "uv" && lock === undefined ? "uv sync" : packager.setup;
    return { text: unlocked, why: `${lock ?? manifest} is there`, file: lock ?? manifest };
  }
  const words = pipWords(tree);
  if (words.length === 0) return undefined;
  const file = words[0] === "-r" ? (words[1] ?? "") : tree.has(manifest) ? manifest : "setup.py";
  return {
    text: `python3 -m venv .venv && .venv/bin/pip install ${words.join(" ")}`,
    why: `${file} names what to install`,
    file,
  };
}

/** Empty: there is nothing to install, and the machine's own Python does. */
function pipWords(tree: Tree): string[] {
  const lists = requirementFiles(tree).filter((file) => listedIn(tree, file).length > 0);
  const toml = tree.toml(manifest);
  const project = tableIn(toml, "project");
  const extras = [
    ...Object.keys(tableIn(project, "optional-dependencies")),
    ...elderExtras(tree),
  ].filter((name) => forDevelopment.test(name));
  const groups = Object.entries(tableIn(toml, "dependency-groups"))
    .filter(([name]) => forDevelopment.test(name))
    .flatMap(([name, listed]) => strings(listed, name).map(({ text }) => text));
  const itself = tree.has("setup.py") || tree.has("setup.cfg") || project["name"] !== undefined;
  const needed =
    strings(project["dependencies"], "").length > 0 ||
    extras.length > 0 ||
    elderNeeds(tree).length > 0 ||
    mustBeBuilt(tree);
  const words = lists.flatMap((file) => ["-r", file]);
  if (itself && needed) words.push("-e", extras.length > 0 ? `".[${extras.join(",")}]"` : ".");
  words.push(...groups.map(quoted));
  if (words.length === 0) return [];
  // The machine's own tools are out of reach there: what is used comes along. Of setup.py nobody
  // can tell what it would install.
  const named = new Map([...uses(tree)].filter(([, { file }]) => !file.startsWith("setup.")));
  const used = uses(tree);
  const more = python.tools
    .filter(
      ({ name, packages }) =>
        packages !== undefined && !packages.some((each) => named.has(each)) && name !== "unittest",
    )
    .filter((tool) => signOf(tool, tree, used) && (!tool.needs || signOf(tool.needs, tree, used)))
    .map(({ name }) => name);
  return [...words, ...new Set(more)];
}

/** Code that is not found from the top folder, or must be compiled first. */
const mustBeBuilt = (tree: Tree): boolean =>
  (tree.hasFolder("src") && tree.like("src/*/__init__.py").length > 0 && !hasPythonPath(tree)) ||
  /\b(?:maturin|scikit-build|mesonpy|meson-python|setuptools-rust|ext_modules)\b/.test(
    `${tree.text(manifest) ?? ""}${tree.text("setup.py") ?? ""}`,
  );

const hasPythonPath = (tree: Tree): boolean =>
  [manifest, "pytest.ini", "tox.ini", "setup.cfg"].some((file) =>
    /^pythonpath\s*=/m.test(tree.text(file) ?? ""),
  );

const quoted = (word: string): string =>
  /^[\w.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

// ── the project's own commands ─────────────────────────────────────────────────────────────────

function scripts(tree: Tree, packager: Packager | undefined): Commands {
  const tasks = { ...tableIn(tableIn(tableIn(tree.toml(manifest), "tool"), "poe"), "tasks") };
  const hatch = tableIn(
    tableIn(tableIn(tableIn(tableIn(tree.toml(manifest), "tool"), "hatch"), "envs"), "default"),
    "scripts",
  );
  const pdm = tableIn(tableIn(tableIn(tree.toml(manifest), "tool"), "pdm"), "scripts");
  const own = isInstalled(tree, packager);
  const commands: Commands = {};
  const offers: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
    [inEnvironment(own, "poe"), tasks, "tool.poe.tasks"],
    ["hatch run", hatch, "tool.hatch.envs.default.scripts"],
    ["pdm run", pdm, "tool.pdm.scripts"],
  ];
  for (const [program, offered, where] of offers) {
    for (const [gate, names] of Object.entries(taskNames)) {
      const name = names.find((each) => Object.hasOwn(offered, each));
      if (name === undefined) continue;
      commands[gate as keyof typeof taskNames] ??= {
        text: `${program} ${name}`,
        why: `${where}.${name} of ${manifest}`,
        file: manifest,
      };
    }
  }
  return commands;
}

const taskNames = {
  lint: ["lint", "check-lint", "lint-check"],
  format: [
    "format-check",
    "fmt-check",
    "check-format",
    "format_check",
    "fmt_check",
    "check_format",
  ],
  typecheck: ["typecheck", "type-check", "types", "mypy", "type_check"],
  test: ["test", "tests", "unit", "cov"],
} as const;
