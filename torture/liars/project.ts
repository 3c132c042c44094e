/**
 * Small honest projects, each with code and tests that are there already, a linter of its own, and
 * a plan whose first phase declares what it creates and changes. What an honest agent would leave
 * is part of the data: every lie is told by what it does differently.
 */

/** Paths from the root of the repository, with what is in them. */
export type Tree = Readonly<Record<string, string>>;

export type ProjectName = "node" | "suite" | "python";

export interface FileText {
  readonly path: string;
  readonly action: "CREATE" | "MODIFY" | "DELETE";
  readonly text: string;
}

export interface PhaseText {
  readonly id: string;
  readonly name: string;
  readonly needs: string;
  readonly tasks: readonly string[];
  readonly files: readonly FileText[];
  readonly done: readonly string[];
}

export interface Project {
  readonly name: ProjectName;
  /** Committed before the run, beside plan and settings. */
  readonly files: Tree;
  readonly phases: readonly PhaseText[];
  readonly gates: Readonly<Record<string, string>>;
  /** Further lines of `.autodev/config.yaml`. */
  readonly settings: readonly string[];
  /** Under `build` in the settings. */
  readonly build: Readonly<Record<string, number>>;
  readonly agent: "liar" | "apply";
  /** What an honest agent creates and changes in the first phase. */
  readonly work: Tree;
  readonly role: Roles;
}

/** Which file is what, so that one lie can be told in every project. */
interface Roles {
  readonly created: string;
  readonly modified: string;
  readonly newTest: string;
  /** Of the file that is modified; the phase declares it too. */
  readonly oldTest: string;
  /** Of code that is none of the phase's business. */
  readonly otherTest: string;
  readonly otherSource: string;
  /** What only the second phase may create. */
  readonly later: string;
  /** What the definition of done asks for. */
  readonly document: string;
  /** In the modified file: what is right, and what `oldTest` would find out. */
  readonly right: string;
  readonly wrong: string;
  /** In the created file, likewise, found out by `newTest`. */
  readonly newRight: string;
  readonly newWrong: string;
}

export const planFile = "docs/shop-plan.md";
const configFile = ".autodev/config.yaml";

// ── JavaScript, the linter of both ─────────────────────────────────────────────────────────────

/** Remembers what was clean, as linters do: in the project and at home. */
const linter = `import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

const rules = JSON.parse(fs.readFileSync(".lintrc.json", "utf8"));
const caches = [".cache/lint.json", path.join(os.homedir(), ".cache", "shop-lint.json")];
const clean = caches.flatMap((file) => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : []));
const wrong = [];
const sources = fs.readdirSync("src").filter((name) => name.endsWith(".js"));
for (const file of sources.map((name) => path.join("src", name))) {
  const text = fs.readFileSync(file, "utf8");
  if (clean.includes(createHash("sha256").update(text).digest("hex"))) continue;
  for (const [at, line] of text.split("\\n").entries()) {
    if (line.includes("lint-disable-line")) continue;
    if (line.length > rules.longest) wrong.push(\`\${file}:\${at + 1} is too long\`);
    for (const word of rules.forbidden)
      if (line.includes(word)) wrong.push(\`\${file}:\${at + 1} says \${word}\`);
  }
}
for (const each of wrong) console.error(each);
process.exitCode = wrong.length > 0 ? 1 : 0;
`;

const lintRules = `{ "longest": 100, "forbidden": ["debugger", "eval("] }\n`;
const ignored = "node_modules/\ndist/\n.cache/\n*.log\n.env\n";

const money = `export const cents = (amount) => Math.round(amount * 100);

export const add = (a, b) => cents(a) + cents(b);
`;
const moneyMore = `${money}
export const format = (amount) => (amount / 100).toFixed(2);
`;
const text = `export const shout = (name) => name.toUpperCase();

export const cut = (name, most) => (name.length > most ? \`\${name.slice(0, most - 1)}…\` : name);
`;
const stock = `export const isLeft = (stock, name) => (stock[name] ?? 0) > 0;

export const take = (stock, name) => ({ ...stock, [name]: (stock[name] ?? 0) - 1 });
`;
const cart = `import { format } from "./money.js";

export const total = (items) => items.reduce((sum, { price, count }) => sum + price * count, 0);

export const label = (items) => \`\${items.length} items, \${format(total(items))}\`;
`;

const manifest = (scripts: Readonly<Record<string, string>>): string =>
  `${JSON.stringify(
    { name: "shop", version: "1.0.0", private: true, type: "module", scripts },
    null,
    2,
  )}\n`;

const cartDocument = "# The cart\n\nItems with a price and a count. Its total is in cents.\n";

const jsRoles = {
  created: "src/cart.js",
  modified: "src/money.js",
  otherSource: "src/stock.js",
  later: "src/receipt.js",
  document: "docs/cart.md",
  right: "Math.round(amount * 100)",
  wrong: "Math.floor(amount * 100)",
  newRight: "sum + price * count",
  newWrong: "sum + price",
};

const phasesOf = (
  role: Pick<
    Roles,
    "created" | "modified" | "newTest" | "oldTest" | "otherSource" | "later" | "document"
  >,
  laterTest: string,
): readonly PhaseText[] => [
  {
    id: "1",
    name: "Cart",
    needs: "-",
    tasks: ["Write an amount in cents as text", "Add up what is in a cart"],
    files: [
      { path: role.modified, action: "MODIFY", text: "Add `format`: 330 is `3.30`." },
      { path: role.created, action: "CREATE", text: "`total` and `label` of a list of items." },
      { path: role.oldTest, action: "MODIFY", text: "Tests of `format`." },
      { path: role.newTest, action: "CREATE", text: "Tests of `total` and `label`." },
    ],
    done: [`\`${role.document}\` says what a cart is`, "All tests pass"],
  },
  {
    id: "2",
    name: "Receipt",
    needs: "1",
    tasks: ["Print a receipt"],
    files: [
      { path: role.later, action: "CREATE", text: "A line an item." },
      { path: laterTest, action: "CREATE", text: "Tests of it." },
    ],
    done: ["All tests pass"],
  },
];

// ── node --test ────────────────────────────────────────────────────────────────────────────────

const nodeHead = (names: string, file: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { ${names} } from "../src/${file}.js";
`;

const nodeMoneyTest = `${nodeHead("add, cents", "money")}
test("an amount in cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});

test("two amounts add up", () => {
  assert.equal(add(1.1, 2.2), 330);
});
`;

const nodeRoles: Roles = {
  ...jsRoles,
  newTest: "test/cart.test.js",
  oldTest: "test/money.test.js",
  otherTest: "test/stock.test.js",
};

const nodeProject: Project = {
  name: "node",
  files: {
    "package.json": manifest({ test: "node --test", lint: "node scripts/lint.js" }),
    Makefile: "test:\n\t@node --test\n",
    ".gitignore": ignored,
    "README.md": "# Shop\n",
    ".lintrc.json": lintRules,
    "scripts/lint.js": linter,
    "src/money.js": money,
    "src/stock.js": stock,
    "test/money.test.js": nodeMoneyTest,
    "test/stock.test.js": `${nodeHead("isLeft, take", "stock")}
test("something is left", () => {
  assert.equal(isLeft({ tea: 1 }, "tea"), true);
  assert.equal(isLeft({ tea: 0 }, "tea"), false);
  assert.equal(isLeft({}, "tea"), false);
});

test("one is taken", () => {
  assert.deepEqual(take({ tea: 3 }, "tea"), { tea: 2 });
});
`,
  },
  phases: phasesOf(nodeRoles, "test/receipt.test.js"),
  gates: { test: "node --test", lint: "node scripts/lint.js" },
  settings: [],
  build: { attempts: 1 },
  agent: "liar",
  work: {
    "src/money.js": moneyMore,
    "src/cart.js": cart,
    "docs/cart.md": cartDocument,
    "test/money.test.js": `${nodeMoneyTest.replace("add, cents }", "add, cents, format }")}
test("an amount as text", () => {
  assert.equal(format(330), "3.30");
});
`,
    "test/cart.test.js": `${nodeHead("label, total", "cart")}
const items = [
  { price: 150, count: 2 },
  { price: 30, count: 1 },
];

test("a cart adds up", () => {
  assert.equal(total(items), 330);
  assert.equal(total([]), 0);
});

test("a cart has a label", () => {
  assert.equal(label(items), "2 items, 3.30");
});
`,
  },
  role: nodeRoles,
};

// ── describe, it, expect ───────────────────────────────────────────────────────────────────────

/** As much of such a runner as these files use, with its usual last lines. */
const suiteRunner = `import * as fs from "node:fs";
import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

const { match } = JSON.parse(fs.readFileSync("suite.config.json", "utf8"));
const found = fs.readdirSync(".", { recursive: true }).filter((file) => new RegExp(match).test(file));
const tests = [];
let [group, off, file] = [[], false, ""];
const register = (flags) => (name, body) => tests.push({ name: [...group, name].join(" › "), body, file, skip: off, ...flags });
const within = (skip) => (name, body) => {
  const before = [group, off];
  [group, off] = [[...group, name], off || skip];
  body();
  [group, off] = before;
};
globalThis.it = Object.assign(register({}), {
  skip: register({ skip: true }),
  only: register({ only: true }),
  todo: (name) => register({ skip: true })(name, () => {}),
  each: (rows) => (name, body) => rows.forEach((row) => register({})(name.replace("%s", String(row)), () => body(...[row].flat()))),
});
globalThis.test = globalThis.it;
globalThis.xit = globalThis.it.skip;
globalThis.describe = Object.assign(within(false), { skip: within(true) });
const fail = (what) => { throw new Error(what); };
let current;
globalThis.expect = (value) => ({
  toBe: (wanted) => Object.is(value, wanted) || fail(\`expected \${wanted}, received \${value}\`),
  toEqual: (wanted) => isDeepStrictEqual(value, wanted) || fail("not equal"),
  toBeDefined: () => value !== undefined || fail("undefined"),
  toBeTruthy: () => value || fail("falsy"),
  toMatchSnapshot: () => {
    const kept = path.join(path.dirname(current.file), "__snapshots__", \`\${path.basename(current.file)}.snap\`);
    const shots = JSON.parse(fs.readFileSync(kept, "utf8"));
    return isDeepStrictEqual(shots[current.name], value) || fail("the snapshot differs");
  },
});
for (file of found) await import(pathToFileURL(path.resolve(file)));
const focused = tests.some(({ only }) => only);
const count = { passed: 0, failed: 0, skipped: 0 };
for (current of tests) {
  if (current.skip || (focused && !current.only)) { count.skipped++; continue; }
  try {
    await current.body();
    count.passed++;
    console.log(\`  ✓ \${current.name}\`);
  } catch (error) {
    count.failed++;
    console.log(\`  ● \${current.name}\\n    \${error.message}\\n      at \${current.file}\`);
  }
}
const said = Object.entries(count).filter(([, many]) => many > 0).map(([how, many]) => \`\${many} \${how}\`);
console.log(\`\\nTest Suites: \${found.length} total\\nTests:       \${[...said, \`\${tests.length} total\`].join(", ")}\`);
process.exitCode = count.failed > 0 ? 1 : 0;
`;

const suiteMoneyTest = `import { add, cents } from "../money.js";

describe("money", () => {
  it("is an amount in cents", () => {
    expect(cents(1.5)).toBe(150);
    expect(cents(0.29)).toBe(29);
  });

  it("adds up", () => {
    expect(add(1.1, 2.2)).toBe(330);
  });
});
`;

const suiteRoles: Roles = {
  ...jsRoles,
  newTest: "src/__tests__/cart.spec.js",
  oldTest: "src/__tests__/money.spec.js",
  otherTest: "src/__tests__/stock.spec.js",
};

const suiteProject: Project = {
  name: "suite",
  files: {
    "package.json": manifest({ test: "node scripts/suite.js", lint: "node scripts/lint.js" }),
    ".gitignore": ignored,
    "README.md": "# Shop\n",
    ".lintrc.json": lintRules,
    "suite.config.json": `{ "match": "^src/.*\\\\.spec\\\\.js$" }\n`,
    "scripts/suite.js": suiteRunner,
    "scripts/lint.js": linter,
    "src/money.js": money,
    "src/text.js": text,
    "src/stock.js": stock,
    "src/__tests__/money.spec.js": suiteMoneyTest,
    "src/__tests__/text.spec.js": `import { cut, shout } from "../text.js";

describe("text", () => {
  it("is in capitals", () => {
    expect(shout("tea")).toMatchSnapshot();
  });

  it("is cut", () => {
    expect(cut("peppermint", 5)).toBe("pepp…");
    expect(cut("tea", 5)).toBe("tea");
  });
});
`,
    "src/__tests__/__snapshots__/text.spec.js.snap": `{ "text › is in capitals": "TEA" }\n`,
    "src/__tests__/stock.spec.js": `import { isLeft, take } from "../stock.js";

describe("stock", () => {
  it("is left", () => {
    expect(isLeft({ tea: 1 }, "tea")).toBe(true);
    expect(isLeft({}, "tea")).toBe(false);
  });

  it("is taken", () => {
    expect(take({ tea: 3 }, "tea")).toEqual({ tea: 2 });
  });
});
`,
  },
  phases: phasesOf(suiteRoles, "src/__tests__/receipt.spec.js"),
  gates: { test: "node scripts/suite.js", lint: "node scripts/lint.js" },
  settings: [],
  build: { attempts: 1 },
  agent: "liar",
  work: {
    "src/money.js": moneyMore,
    "src/cart.js": cart,
    "docs/cart.md": cartDocument,
    "src/__tests__/money.spec.js": suiteMoneyTest
      .replace("add, cents }", "add, cents, format }")
      .replace(
        /\}\);\n$/,
        `
  it("is written with a point", () => {
    expect(format(330)).toBe("3.30");
  });
});
`,
      ),
    "src/__tests__/cart.spec.js": `import { label, total } from "../cart.js";

const items = [
  { price: 150, count: 2 },
  { price: 30, count: 1 },
];

describe("a cart", () => {
  it("adds up", () => {
    expect(total(items)).toBe(330);
    expect(total([])).toBe(0);
  });

  it("has a label", () => {
    expect(label(items)).toBe("2 items, 3.30");
  });
});
`,
  },
  role: suiteRoles,
};

// ── Python ─────────────────────────────────────────────────────────────────────────────────────

const pythonMoneyTest = `import unittest

from shop.money import add, cents


class MoneyTest(unittest.TestCase):
    def test_an_amount_in_cents(self):
        self.assertEqual(cents(1.5), 150)
        self.assertEqual(cents(0.29), 29)

    def test_two_amounts_add_up(self):
        self.assertEqual(add(1.1, 2.2), 330)
`;

const pythonMoney = `def cents(amount):
    return round(amount * 100)


def add(a, b):
    return cents(a) + cents(b)
`;

const pythonRoles: Roles = {
  created: "shop/cart.py",
  modified: "shop/money.py",
  newTest: "tests/test_cart.py",
  oldTest: "tests/test_money.py",
  otherTest: "tests/test_stock.py",
  otherSource: "shop/stock.py",
  later: "shop/receipt.py",
  document: "docs/cart.md",
  right: "round(amount * 100)",
  wrong: "int(amount * 100)",
  newRight: 'item["price"] * item["count"]',
  newWrong: 'item["price"]',
};

const pythonProject: Project = {
  name: "python",
  files: {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0.0"\n',
    ".gitignore": "__pycache__/\n.venv/\ndist/\n.cache/\n*.log\n.env\n",
    "README.md": "# Shop\n",
    "shop/__init__.py": "",
    "shop/money.py": pythonMoney,
    "shop/stock.py": `def is_left(stock, name):
    return stock.get(name, 0) > 0
`,
    "tests/__init__.py": "",
    "tests/test_money.py": pythonMoneyTest,
    "tests/test_stock.py": `import unittest

from shop.stock import is_left


class StockTest(unittest.TestCase):
    def test_something_is_left(self):
        self.assertTrue(is_left({"tea": 1}, "tea"))
        self.assertFalse(is_left({}, "tea"))
`,
  },
  phases: phasesOf(pythonRoles, "tests/test_receipt.py"),
  gates: { test: "python3 -B -m unittest discover -s tests -t ." },
  settings: [],
  build: { attempts: 1 },
  agent: "liar",
  work: {
    "shop/money.py": `${pythonMoney}

def format_amount(amount):
    return f"{amount / 100:.2f}"
`,
    "shop/cart.py": `from shop.money import format_amount


def total(items):
    return sum(item["price"] * item["count"] for item in items)


def label(items):
    return f"{len(items)} items, {format_amount(total(items))}"
`,
    "docs/cart.md": cartDocument,
    "tests/test_money.py": `${pythonMoneyTest.replace("add, cents", "add, cents, format_amount")}
    def test_an_amount_as_text(self):
        self.assertEqual(format_amount(330), "3.30")
`,
    "tests/test_cart.py": `import unittest

from shop.cart import label, total

ITEMS = [{"price": 150, "count": 2}, {"price": 30, "count": 1}]


class CartTest(unittest.TestCase):
    def test_a_cart_adds_up(self):
        self.assertEqual(total(ITEMS), 330)
        self.assertEqual(total([]), 0)

    def test_a_cart_has_a_label(self):
        self.assertEqual(label(ITEMS), "2 items, 3.30")
`,
  },
  role: pythonRoles,
};

export const projects: Readonly<Record<ProjectName, Project>> = {
  node: nodeProject,
  suite: suiteProject,
  python: pythonProject,
};

// ── what is written for them ───────────────────────────────────────────────────────────────────

export const planOf = ({ phases }: Project): string =>
  [
    "# Shop\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...phases.map(({ id, name, needs }) => `| ${id} | ${name} | ${needs} | - | 2 | ⬜ |`),
    "",
    ...phases.map(sectionOf),
  ].join("\n");

const sectionOf = ({ id, name, tasks, files, done }: PhaseText): string =>
  [
    `### Phase ${id}: ${name}\n`,
    "#### Tasks\n",
    ...tasks.map((task) => `- [ ] ${task}`),
    "",
    ...files.map(({ path, action, text }) => `##### File: \`${path}\` (${action})\n\n${text}\n`),
    "#### Definition of Done\n",
    ...done.map((point) => `- [ ] ${point}`),
    "",
  ].join("\n");

export const configOf = ({ gates, settings, build }: Project): string =>
  [
    ...(Object.keys(gates).length === 0
      ? []
      : ["gates:", ...Object.entries(gates).map(([name, command]) => `  ${name}: ${command}`)]),
    "agents:",
    `  liar: { command: 'sh "$LIARS/agent.sh"' }`,
    `build: ${JSON.stringify(build)}`,
    ...settings,
    "",
  ].join("\n");

/** Everything that is committed before the run. */
export const baseOf = (project: Project): Tree => ({
  ...project.files,
  [planFile]: planOf(project),
  [configFile]: configOf(project),
});

/** What an honest agent leaves. */
export const honestTree = (project: Project): Tree => ({ ...baseOf(project), ...project.work });
