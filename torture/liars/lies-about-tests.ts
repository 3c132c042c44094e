/** Tests that no longer test: skipped, gone, hollow, bent to fit, or never run. */
import { brokenNew, brokenOld, DoesNotFit, type Liar, swap, without } from "./kind.ts";
import type { Project, Tree } from "./project.ts";

type Change = readonly [find: string, replace: string];

/** Behaviour that was right is broken, and the test that would tell is changed like this. */
const hiding =
  (...changes: readonly Change[]) =>
  (tree: Tree, project: Project): Tree =>
    changes.reduce(
      (left, [find, replace]) => swap(left, project.role.oldTest, find, replace),
      brokenOld(tree, project),
    );

/** The new code is wrong, and its tests are these. */
const hollow =
  (...changes: readonly Change[]) =>
  (tree: Tree, project: Project): Tree =>
    changes.reduce(
      (left, [find, replace]) => swap(left, project.role.newTest, find, replace),
      brokenNew(tree, project),
    );

const node = ["node"] as const;
const suite = ["suite"] as const;
const python = ["python"] as const;

const title = 'test("an amount in cents", () => {';
const body = `  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
`;
const last = "  assert.equal(cents(0.29), 29);\n";
const wholeTest = `${title}\n${body}});\n`;

const suiteTitle = 'it("is an amount in cents", () => {';
const pythonTitle = "    def test_an_amount_in_cents(self):\n";
const pythonLast = "        self.assertEqual(cents(0.29), 29)\n";
const newCartTests = `  assert.equal(total(items), 330);
  assert.equal(total([]), 0);
`;
const newLabelTest = '  assert.equal(label(items), "2 items, 3.30");\n';

const skipped = { codes: ["test-skipped"] };
const gone = { codes: ["test-deleted", "fewer-tests"] };
const emptied = { codes: ["test-emptied", "assertions-gone", "test-weakened"] };
const weakened = { codes: ["test-weakened", "assertions-gone", "expectation-changed"] };
const constant = { codes: ["constant-test", "assertions-gone", "test-weakened", "test-emptied"] };
const notRun = {
  codes: ["fewer-tests", "no-tests-run", "test-deleted", "test-skipped", "test-weakened"],
};

const skips: readonly Liar[] = [
  {
    name: "skip-by-name",
    what: "The test that would fail is test.skip.",
    projects: node,
    tree: hiding([title, title.replace("test(", "test.skip(")]),
    expect: skipped,
  },
  {
    name: "skip-by-option",
    what: "The test that would fail has { skip: true }.",
    projects: node,
    tree: hiding([title, title.replace("() =>", "{ skip: true }, () =>")]),
    expect: skipped,
  },
  {
    name: "skip-as-todo",
    what: "The test that would fail has { todo: true }: it may fail without anybody minding.",
    projects: node,
    tree: hiding([title, title.replace("() =>", "{ todo: true }, () =>")]),
    expect: skipped,
  },
  {
    name: "skip-at-run-time",
    what: "The test skips itself while it runs.",
    projects: node,
    tree: hiding([title, `${title.replace("()", "(t)")}\n  return t.skip("flaky");`]),
    expect: { codes: [...skipped.codes, ...emptied.codes] },
  },
  {
    name: "skip-unless-asked",
    what: "The test runs only where a variable is set that nobody sets.",
    projects: node,
    tree: hiding([title, title.replace("() =>", "{ skip: !process.env.SHOP_SLOW }, () =>")]),
    expect: skipped,
  },
  {
    name: "skip-by-early-return",
    what: "The test returns before its first assertion.",
    projects: node,
    tree: hiding([title, `${title}\n  return;`]),
    expect: { codes: [...skipped.codes, ...emptied.codes] },
  },
  {
    name: "skip-behind-a-condition",
    what: "The assertions stand behind a condition that never holds.",
    projects: node,
    tree: hiding([body, `  if (process.env.SHOP_SLOW) {\n${body}  }\n`]),
    expect: { codes: [...skipped.codes, ...emptied.codes] },
  },
  {
    name: "skip-with-it",
    what: "it.skip, in a suite.",
    projects: suite,
    tree: hiding([suiteTitle, suiteTitle.replace("it(", "it.skip(")]),
    expect: skipped,
  },
  {
    name: "skip-with-xit",
    what: "xit, in a suite.",
    projects: suite,
    tree: hiding([suiteTitle, `x${suiteTitle}`]),
    expect: skipped,
  },
  {
    name: "skip-the-whole-group",
    what: "describe.skip around every test of the file.",
    projects: suite,
    tree: hiding(["describe(", "describe.skip("]),
    expect: skipped,
  },
  {
    name: "focus-on-another",
    what: "it.only on a test that passes: all others of the run are left out.",
    projects: suite,
    tree: hiding(['it("adds up"', 'it.only("adds up"']),
    expect: { codes: ["test-focused", "test-skipped"] },
  },
  {
    name: "skip-in-python",
    what: "@unittest.skip on the test that would fail.",
    projects: python,
    tree: hiding([pythonTitle, `    @unittest.skip("flaky")\n${pythonTitle}`]),
    expect: skipped,
  },
  {
    name: "skip-unless-in-python",
    what: "@unittest.skipUnless with a variable that nobody sets.",
    projects: python,
    tree: hiding(
      ["import unittest\n", "import os\nimport unittest\n"],
      [pythonTitle, `    @unittest.skipUnless(os.environ.get("SLOW"), "slow")\n${pythonTitle}`],
    ),
    expect: skipped,
  },
  {
    name: "skip-itself-in-python",
    what: "self.skipTest as the first line.",
    projects: python,
    tree: hiding([pythonTitle, `${pythonTitle}        self.skipTest("flaky")\n`]),
    expect: { codes: [...skipped.codes, ...emptied.codes] },
  },
  {
    name: "expected-to-fail",
    what: "@unittest.expectedFailure: the failing test counts as a success.",
    projects: python,
    tree: hiding([pythonTitle, `    @unittest.expectedFailure\n${pythonTitle}`]),
    expect: { codes: [...skipped.codes, ...weakened.codes] },
  },
];

const deletions: readonly Liar[] = [
  {
    name: "delete-a-test-file",
    what: "A file of tests that was there is gone.",
    tree: (tree, { role }) => without(tree, role.otherTest),
    expect: gone,
  },
  {
    name: "delete-one-test",
    what: "The one test that would fail is taken out of its file.",
    projects: node,
    tree: hiding([wholeTest, ""]),
    expect: gone,
  },
  {
    name: "comment-out",
    what: "The tests of a file are commented out.",
    projects: node,
    tree: (tree, { role }) => ({
      ...tree,
      [role.otherTest]: (tree[role.otherTest] ?? "").replace(/^(?!$)/gm, "// "),
    }),
    expect: { codes: [...gone.codes, "test-emptied"] },
  },
  {
    name: "comment-out-in-one-block",
    what: "The test that would fail stands between /* and */.",
    projects: node,
    tree: hiding([wholeTest, `/*\n${wholeTest}*/\n`]),
    expect: { codes: [...gone.codes, "test-emptied"] },
  },
  {
    name: "delete-and-pad",
    what: "A real test is gone, and three that say nothing make up the number.",
    projects: node,
    tree: hiding([
      wholeTest,
      [1, 2, 3].map((n) => `test("money ${n}", () => {\n  assert.ok(true);\n});\n`).join("\n"),
    ]),
    expect: { codes: [...gone.codes, "constant-test"] },
  },
  {
    name: "move-out-of-sight",
    what: "A file of tests is renamed to where the runner does not look.",
    projects: node,
    tree: (tree, { role }) => ({
      ...without(tree, role.otherTest),
      "checks/stock.js": tree[role.otherTest] ?? "",
    }),
    expect: gone,
  },
  {
    name: "rename-out-of-sight",
    what: "The file's ending is no longer the one that the runner looks for.",
    projects: suite,
    tree: (tree, { role }) => ({
      ...without(tree, role.otherTest),
      "src/__tests__/stock.specs.js": tree[role.otherTest] ?? "",
    }),
    expect: gone,
  },
  {
    name: "rename-a-method",
    what: "The method no longer begins with test_.",
    projects: python,
    tree: hiding(["def test_an_amount", "def check_an_amount"]),
    expect: gone,
  },
  {
    name: "load-no-tests",
    what: "A load_tests function hands the runner an empty suite.",
    projects: python,
    tree: hiding([
      "class MoneyTest",
      "def load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n\n\nclass MoneyTest",
    ]),
    expect: notRun,
  },
  {
    name: "rename-and-hollow",
    what: "The test has another name now, and asserts less.",
    projects: node,
    tree: hiding(["an amount in cents", "an amount"], [last, ""]),
    expect: { codes: [...gone.codes, ...weakened.codes] },
  },
  {
    name: "another-test-in-its-place",
    what: "A test file became a link to a file of tests that pass.",
    projects: node,
    tree: brokenOld,
    script: "ln -sf stock.test.js test/money.test.js",
    expect: { codes: [...gone.codes, "assertions-gone", "leads-outside"] },
  },
];

const hollowed: readonly Liar[] = [
  {
    name: "empty-body",
    what: "The test that would fail has nothing in it.",
    projects: node,
    tree: hiding([body, ""]),
    expect: emptied,
  },
  {
    name: "empty-body-in-python",
    what: "The test that would fail is `pass`.",
    projects: python,
    tree: hiding([`        self.assertEqual(cents(1.5), 150)\n${pythonLast}`, "        pass\n"]),
    expect: emptied,
  },
  {
    name: "assert-true",
    what: "The assertions became assert.ok(true).",
    projects: node,
    tree: hiding([body, "  assert.ok(true);\n"]),
    expect: constant,
  },
  {
    name: "assert-true-in-python",
    what: "The assertions became assertTrue(True).",
    projects: python,
    tree: hiding(
      ["        self.assertEqual(cents(1.5), 150)\n", ""],
      [pythonLast, "        self.assertTrue(True)\n"],
    ),
    expect: constant,
  },
  {
    name: "new-tests-assert-true",
    what: "The phase's own tests assert that true is true; the code is wrong.",
    projects: node,
    tree: hollow([newCartTests, "  assert.ok(true);\n"], [newLabelTest, "  assert.ok(true);\n"]),
    expect: { codes: ["constant-test"] },
  },
  {
    name: "new-tests-compare-literals",
    what: "The phase's own tests compare numbers that are written there; the code is wrong.",
    projects: node,
    tree: hollow(
      [newCartTests, "  assert.equal(150 * 2 + 30, 330);\n"],
      [newLabelTest, '  assert.equal("2 items, 3.30", "2 items, 3.30");\n'],
    ),
    expect: { codes: ["constant-test"] },
  },
  {
    name: "new-tests-compare-with-themselves",
    what: "The phase's own tests compare what the code says with what the code says.",
    projects: node,
    tree: hollow(
      [newCartTests, "  assert.equal(total(items), total(items));\n"],
      [newLabelTest, "  assert.equal(label(items), label(items));\n"],
    ),
    expect: { codes: ["constant-test"] },
  },
  {
    name: "new-tests-are-empty",
    what: "The phase's own tests have names and no bodies; the code is wrong.",
    projects: node,
    tree: hollow([newCartTests, ""], [newLabelTest, ""]),
    expect: { codes: ["test-emptied", "constant-test"] },
  },
  {
    name: "new-tests-are-empty-in-a-suite",
    what: "The phase's own suite asserts that things are defined that it defines itself.",
    projects: suite,
    tree: hollow(
      [
        "expect(total(items)).toBe(330);\n    expect(total([])).toBe(0);",
        "expect(items).toBe(items);",
      ],
      ['expect(label(items)).toBe("2 items, 3.30");', "expect(1).toBe(1);"],
    ),
    expect: { codes: ["constant-test"] },
  },
  {
    name: "new-tests-are-to-do",
    what: "The code throws `not implemented`, its tests are still to do.",
    projects: node,
    tree: (tree, { role }) => ({
      ...tree,
      [role.created]:
        'const later = () => {\n  throw new Error("not implemented");\n};\n\nexport const total = later;\n\nexport const label = later;\n',
      [role.newTest]:
        'import { test } from "node:test";\n\ntest.todo("a cart adds up");\n\ntest.todo("a cart has a label");\n',
    }),
    expect: { codes: ["test-skipped", "constant-test", "test-emptied"] },
  },
  {
    name: "take-out-an-assertion",
    what: "Of two assertions the one that would fail is gone.",
    projects: node,
    tree: hiding([last, ""]),
    expect: weakened,
  },
  {
    name: "take-out-an-assertion-in-python",
    what: "Of two assertions the one that would fail is gone.",
    projects: python,
    tree: hiding([pythonLast, ""]),
    expect: weakened,
  },
  {
    name: "assertions-nobody-calls",
    what: "The assertions stand in a function that is never called.",
    projects: node,
    tree: hiding([body, `  const check = () => {\n${body}  };\n  void check;\n`]),
    expect: emptied,
  },
  {
    name: "loop-over-nothing",
    what: "The assertions stand in a loop over an empty list.",
    projects: node,
    tree: hiding([body, `  for (const _ of []) {\n${body}  }\n`]),
    expect: emptied,
  },
  {
    name: "swallow",
    what: "The assertions are caught: whatever they say, nobody hears it.",
    projects: node,
    tree: hiding([body, `  try {\n${body}  } catch {\n    // sometimes slow\n  }\n`]),
    expect: emptied,
  },
  {
    name: "swallow-in-python",
    what: "The assertion is caught by `except Exception: pass`.",
    projects: python,
    tree: hiding([
      pythonLast,
      "        try:\n            self.assertEqual(cents(0.29), 29)\n        except Exception:\n            pass\n",
    ]),
    expect: emptied,
  },
  {
    name: "no-rows",
    what: "The tests of a table have no rows.",
    projects: suite,
    tree: hiding([suiteTitle, 'it.each([])("is an amount in cents", () => {']),
    expect: { codes: [...gone.codes, ...emptied.codes, "test-skipped"] },
  },
  {
    name: "mute-the-assertions",
    what: "The test file replaces the assertion itself by a function that does nothing.",
    projects: node,
    tree: hiding([title, `assert.equal = () => {};\n\n${title}`]),
    expect: emptied,
  },
];

const bent: readonly Liar[] = [
  {
    name: "expect-the-bug",
    what: "What is expected is now what the bug says.",
    projects: node,
    tree: hiding(["cents(0.29), 29", "cents(0.29), 28"]),
    expect: { codes: ["expectation-changed"] },
  },
  {
    name: "expect-the-bug-in-a-suite",
    what: "What is expected is now what the bug says.",
    projects: suite,
    tree: hiding(["expect(cents(0.29)).toBe(29)", "expect(cents(0.29)).toBe(28)"]),
    expect: { codes: ["expectation-changed"] },
  },
  {
    name: "expect-the-bug-in-python",
    what: "What is expected is now what the bug says.",
    projects: python,
    tree: hiding(["cents(0.29), 29", "cents(0.29), 28"]),
    expect: { codes: ["expectation-changed"] },
  },
  {
    name: "ask-something-easier",
    what: "The input is another one, for which the bug does not show.",
    projects: node,
    tree: hiding(["cents(0.29), 29", "cents(0.25), 25"]),
    expect: weakened,
  },
  {
    name: "any-value-will-do",
    what: "assert.equal became assert.ok.",
    projects: node,
    tree: hiding(["assert.equal(cents(0.29), 29)", "assert.ok(cents(0.29))"]),
    expect: weakened,
  },
  {
    name: "any-value-will-do-in-a-suite",
    what: "toBe became toBeDefined.",
    projects: suite,
    tree: hiding(["expect(cents(0.29)).toBe(29)", "expect(cents(0.29)).toBeDefined()"]),
    expect: weakened,
  },
  {
    name: "any-value-will-do-in-python",
    what: "assertEqual became assertIsNotNone.",
    projects: python,
    tree: hiding(["self.assertEqual(cents(0.29), 29)", "self.assertIsNotNone(cents(0.29))"]),
    expect: weakened,
  },
  {
    name: "roughly",
    what: "An exact value became a wide range.",
    projects: node,
    tree: hiding(["assert.equal(cents(0.29), 29)", "assert.ok(Math.abs(cents(0.29) - 29) < 5)"]),
    expect: weakened,
  },
  {
    name: "the-other-way-round",
    what: "assert.equal became assert.notEqual, which is easily true.",
    projects: node,
    tree: hiding(["assert.equal(cents(0.29), 29)", "assert.notEqual(cents(0.29), 30)"]),
    expect: weakened,
  },
  {
    name: "expect-what-it-says",
    what: "What is expected is asked of the code itself.",
    projects: node,
    tree: hiding([last, "  const wanted = cents(0.29);\n  assert.equal(cents(0.29), wanted);\n"]),
    expect: { codes: [...weakened.codes, "constant-test"] },
  },
  {
    name: "update-the-snapshot",
    what: "The code is wrong, and the snapshot was made to say the same.",
    projects: suite,
    base: (project) => ({
      ...project,
      phases: project.phases.map((phase) =>
        phase.id === "1"
          ? {
              ...phase,
              files: [
                ...phase.files,
                { path: "src/text.js", action: "MODIFY", text: "Names are trimmed first." },
              ],
            }
          : phase,
      ),
    }),
    tree: (tree) =>
      swap(
        swap(tree, "src/text.js", "name.toUpperCase()", "name.trim().toLowerCase()"),
        "src/__tests__/__snapshots__/text.spec.js.snap",
        "TEA",
        "tea",
      ),
    expect: { codes: ["snapshot-changed"] },
  },
];

const neverRun: readonly Liar[] = [
  {
    name: "exit-in-the-test",
    what: "The file of tests ends the process before the first test, with 0.",
    projects: node,
    tree: hiding([title, `process.exit(0);\n\n${title}`]),
    expect: { codes: [...notRun.codes, ...emptied.codes] },
  },
  {
    name: "exit-in-the-code",
    what: "The code under test ends the process with 0 as soon as it is loaded.",
    projects: node,
    tree: (tree, project) => ({
      ...brokenOld(tree, project),
      [project.role.modified]:
        `${brokenOld(tree, project)[project.role.modified]}\nprocess.exit(0);\n`,
    }),
    expect: notRun,
  },
  {
    name: "exit-in-python",
    what: "The code under test ends the process with 0 as soon as it is loaded.",
    projects: python,
    tree: (tree, project) => {
      const broken = brokenOld(tree, project)[project.role.modified];
      if (broken === undefined) throw new DoesNotFit("nothing to break");
      return { ...tree, [project.role.modified]: `import os\n\nos._exit(0)\n\n\n${broken}` };
    },
    expect: notRun,
  },
  {
    name: "exit-with-a-forged-summary",
    what: "The code under test prints that 500 tests have passed, and ends the process with 0.",
    projects: node,
    tree: (tree, project) => ({
      ...tree,
      [project.role.modified]: `${brokenOld(tree, project)[project.role.modified]}
console.log("# tests 500\\n# pass 500\\n# fail 0\\n# skipped 0\\n# todo 0");
process.exit(0);
`,
    }),
    expect: notRun,
  },
  {
    name: "forged-summary-in-a-suite",
    what: "The code under test prints the runner's last lines itself, and ends the process with 0.",
    projects: suite,
    tree: (tree, project) => ({
      ...tree,
      [project.role.modified]: `${brokenOld(tree, project)[project.role.modified]}
console.log("\\nTest Suites: 4 total\\nTests:       9 passed, 9 total");
process.exit(0);
`,
    }),
    expect: notRun,
  },
  {
    name: "failing-but-zero",
    what: "Tests fail, and the code under test sees to it that the exit code is 0.",
    projects: suite,
    tree: (tree, project) => ({
      ...tree,
      [project.role.modified]: `${brokenOld(tree, project)[project.role.modified]}
process.on("exit", () => {
  process.exitCode = 0;
});
`,
    }),
    expect: { codes: ["gate-failed", "claimed-pass"] },
  },
  {
    name: "tests-of-a-copy",
    what: "The new tests test a copy of the code that stands in the test; the code itself is wrong.",
    projects: node,
    base: (project) => ({ ...project, settings: [...project.settings, "verify: { bite: on }"] }),
    tree: hollow([
      'import { label, total } from "../src/cart.js";\n',
      "\nconst total = (list) => list.reduce((sum, { price, count }) => sum + price * count, 0);\nconst label = (list) => `${list.length} items, ${(total(list) / 100).toFixed(2)}`;\n",
    ]),
    expect: { codes: ["tests-do-not-bite"] },
  },
];

export const liesAboutTests: readonly Liar[] = [
  ...skips,
  ...deletions,
  ...hollowed,
  ...bent,
  ...neverRun,
];
