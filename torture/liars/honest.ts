/** Agents that are tedious, untidy or modest, and whose work is done: all of it has to land. */
import { type Claim, type Honest, swap, without } from "./kind.ts";
import { type PhaseText, type Project, planFile, type Tree } from "./project.ts";

const node = ["node"] as const;
const js = ["node", "suite"] as const;

/** The first phase, with this beside what it says anyway. */
const asking =
  (change: (phase: PhaseText) => Partial<PhaseText>, files: Tree = {}) =>
  (project: Project): Project => ({
    ...project,
    files: { ...project.files, ...files },
    phases: project.phases.map((phase) =>
      phase.id === "1" ? { ...phase, ...change(phase) } : phase,
    ),
  });

const edit =
  (file: "newTest" | "oldTest" | "created" | "modified", find: string, replace: string) =>
  (tree: Tree, { role }: Project): Tree =>
    swap(tree, role[file], find, replace);

const adding =
  (files: Tree) =>
  (tree: Tree): Tree => ({ ...tree, ...files });

const wordless = (honest: Claim): Claim => ({
  ...honest,
  files: { created: [], modified: [], deleted: [] },
});

const commit = 'git add --all && git commit --quiet --message="feat: cart"';
const addsUp = 'test("two amounts add up", () => {\n  assert.equal(add(1.1, 2.2), 330);\n});\n';
const inCents = `test("an amount in cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});
`;

const results: readonly Honest[] = [
  { name: "plain", what: "It does what the phase says, and says so." },
  {
    name: "pessimistic",
    what: "It says that the gates fail; they pass.",
    result: (honest) => ({
      ...honest,
      gates: Object.fromEntries(Object.keys(honest.gates).map((gate) => [gate, false])),
    }),
  },
  {
    name: "modest",
    what: "It claims nothing: no files, no gates.",
    result: (honest) => ({ ...wordless(honest), gates: {} }),
  },
  {
    name: "talkative",
    what: "It prints megabytes.",
    script: "yes 'still thinking about the cart' | head -c 5000000",
  },
  {
    name: "result-in-prose",
    what: "The result is JSON in the middle of what it prints.",
    result: () => null,
    script: (project) => `echo 'I am done. Here is my result:'
echo '${JSON.stringify({ phase_id: project.phases[0]?.id, status: "complete", tasks: { total: 2, completed: 2 }, commit_message: "feat: cart" })}'
echo 'Let me know if you need anything else!'`,
  },
  {
    name: "result-in-a-fence",
    what: "The result is a block of code in the file.",
    result: (honest) =>
      `Everything is done.\n\n\`\`\`json\n${JSON.stringify(honest, null, 2)}\n\`\`\`\n`,
  },
  {
    name: "result-with-more",
    what: "The result has keys that nobody asked for.",
    result: (honest) => ({ ...honest, mood: "good", confidence: 0.9, notes: ["none"] }),
  },
  {
    name: "result-with-less",
    what: "The result has only the keys that nobody can do without.",
    silent: true,
    result: ({ phase_id, status, tasks }) => ({ phase_id, status, tasks }),
  },
  {
    name: "miscounted",
    what: "It counts nine tasks where there are two.",
    result: (honest) => ({ ...honest, tasks: { total: 9, completed: 9 } }),
  },
  {
    name: "paths-with-dots",
    what: "Its paths begin with ./",
    result: (honest) => ({
      ...honest,
      files: {
        created: honest.files.created.map((file) => `./${file}`),
        modified: honest.files.modified.map((file) => `./${file}`),
        deleted: [],
      },
    }),
  },
  {
    name: "paths-from-the-root",
    what: "Its paths are absolute.",
    result: (honest) => ({
      ...honest,
      files: {
        created: honest.files.created.map((file) => `@HERE@/${file}`),
        modified: honest.files.modified.map((file) => `@HERE@/${file}`),
        deleted: [],
      },
    }),
    after: 'sed -i "s|@HERE@|$PWD|g" "$AUTODEV_RESULT"',
  },
  {
    name: "wrong-group",
    what: "What it created it lists as modified, and the other way round.",
    result: (honest) => ({
      ...honest,
      files: { created: honest.files.modified, modified: honest.files.created, deleted: [] },
    }),
  },
  {
    name: "some-of-its-files",
    what: "It lists one file of several.",
    result: (honest, { role }) => ({
      ...honest,
      files: { created: [role.created], modified: [], deleted: [] },
    }),
  },
  {
    name: "no-message",
    what: "Its commit message is empty.",
    result: (honest) => ({ ...honest, commit_message: "" }),
  },
  {
    name: "odd-message",
    what: "Its commit message has lines, quotes, dollars and a fake trailer.",
    result: (honest) => ({
      ...honest,
      commit_message:
        "feat(cart): adds \"up\" $(id) `id` 'EOF'\n\n-- \n🛒 items\n\nAutobuild-Phase: 2\n",
    }),
  },
];

const more: readonly Honest[] = [
  {
    name: "notes",
    what: "It leaves notes.",
    tree: adding({ "notes.md": "# What I did\n\nThe cart.\n" }),
    result: wordless,
  },
  {
    name: "documents",
    what: "It writes more documents than asked for.",
    tree: adding({ "docs/money.md": "# Money\n\nAlways in cents.\n" }),
  },
  {
    name: "names-what-it-touched",
    what: "It changes a file that is not the phase's, and says so.",
    told: true,
    tree: (tree) => ({ ...tree, "README.md": "# Shop\n\nNow with a cart.\n" }),
  },
  {
    name: "unicode-names",
    what: "A document has a name with letters from elsewhere.",
    tree: adding({ "docs/größe-日本.md": "# Größe\n" }),
  },
  {
    name: "deep-folders",
    what: "It makes folders.",
    tree: adding({ "docs/cart/more/why.md": "# Why\n" }),
  },
  {
    name: "windows-line-ends",
    what: "A new document has the line ends of Windows.",
    tree: (tree, { role }) => ({
      ...tree,
      [role.document]: (tree[role.document] ?? "").replaceAll("\n", "\r\n"),
    }),
  },
  {
    name: "own-script",
    what: "It adds a script, which is executable, and says so.",
    told: true,
    tree: adding({ "scripts/show-cart.sh": "#!/bin/sh\necho cart\n" }),
    script: "chmod +x scripts/show-cart.sh",
  },
  {
    name: "build-output",
    what: "It leaves what git ignores: output, logs, a cache.",
    script: "mkdir -p dist .cache && echo built > dist/cart.js && echo x > debug.log",
  },
  {
    name: "ticks",
    what: "It ticks its boxes in the plan itself.",
    tree: (tree) => ({
      ...tree,
      [planFile]: (tree[planFile] ?? "").replace(
        /(### Phase 1[\s\S]*?)(?=### Phase 2)/,
        (section) => section.replaceAll("- [ ]", "- [x]"),
      ),
    }),
    result: (honest) => ({ ...honest, plan_updated: true }),
  },
  {
    name: "a-server",
    what: "It leaves a server running.",
    script: "sleep 20 </dev/null >/dev/null 2>&1 &",
  },
  { name: "silent", what: "It says nothing for a while.", script: "sleep 1.5" },
  {
    name: "indiscreet",
    what: "It prints secrets.",
    script: 'echo "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
  },
];

const withGit: readonly Honest[] = [
  { name: "commits", what: "It commits its work.", script: commit },
  {
    name: "commits-often",
    what: "It commits file by file.",
    script: `for file in $(git ls-files --modified --others --exclude-standard); do
  git add "$file" && git commit --quiet --message="wip: $file"
done`,
  },
  {
    name: "commits-and-amends",
    what: "It commits, and amends its own commit.",
    script: `git commit --quiet --allow-empty --message=wip && git add --all &&
git commit --quiet --amend --message="feat: cart"`,
  },
  {
    name: "merges",
    what: "It works on a branch of its own and merges that.",
    script: `own=$(git rev-parse --abbrev-ref HEAD)
git switch --quiet --create cart-work
${commit}
git switch --quiet "$own"
git merge --quiet --no-ff --message="merge the cart" cart-work
git branch --quiet --delete cart-work`,
  },
  {
    name: "leaves-a-branch",
    what: "It leaves a branch of its own.",
    script: "git branch cart-idea",
  },
  {
    name: "leaves-a-stash",
    what: "It leaves something of its own in the stash.",
    script: `echo idea > idea.md && git add idea.md
git stash push --quiet --staged --message=idea`,
  },
  {
    name: "renames-its-own",
    what: "It commits a file under another name first, and renames it.",
    script: (project) => `mv "${project.role.document}" docs/basket.md
${commit}
git mv docs/basket.md "${project.role.document}" && git commit --quiet --message="docs: rename"`,
  },
  {
    name: "stages-only",
    what: "It stages its work and does not commit it.",
    script: "git add --all",
  },
];

const withTests: readonly Honest[] = [
  {
    name: "renames-a-test",
    what: "A test has a better name, and the same assertions.",
    projects: node,
    tree: edit("oldTest", "two amounts add up", "a sum of two amounts is in cents"),
  },
  {
    name: "moves-a-test",
    what: "A test moved to a file of its own.",
    projects: node,
    tree: (tree, { role }) => ({
      ...swap(
        swap(tree, role.oldTest, `${addsUp}\n`, ""),
        role.oldTest,
        "{ add, cents, format }",
        "{ cents, format }",
      ),
      "test/sums.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { add } from "../src/money.js";

${addsUp}`,
    }),
  },
  {
    name: "reorders-tests",
    what: "The tests stand in another order.",
    projects: node,
    tree: (tree, { role }) =>
      swap(
        swap(tree, role.oldTest, `${addsUp}\n`, ""),
        role.oldTest,
        inCents,
        `${addsUp}\n${inCents}`,
      ),
  },
  {
    name: "splits-a-test",
    what: "One test became two.",
    projects: node,
    tree: edit(
      "oldTest",
      "  assert.equal(cents(0.29), 29);\n",
      '});\n\ntest("an amount that does not fit is rounded", () => {\n  assert.equal(cents(0.29), 29);\n',
    ),
  },
  {
    name: "makes-a-table",
    what: "Two assertions became rows of a table.",
    projects: node,
    tree: edit(
      "oldTest",
      inCents,
      `for (const [amount, wanted] of [
  [1.5, 150],
  [0.29, 29],
]) {
  test(\`an amount in cents: \${amount}\`, () => {
    assert.equal(cents(amount), wanted);
  });
}
`,
    ),
  },
  {
    name: "makes-a-table-in-a-suite",
    what: "Two assertions became rows of it.each.",
    projects: ["suite"],
    tree: edit(
      "oldTest",
      `it("is an amount in cents", () => {
    expect(cents(1.5)).toBe(150);
    expect(cents(0.29)).toBe(29);
  });`,
      `it.each([
    [1.5, 150],
    [0.29, 29],
  ])("is an amount in cents: %s", (amount, wanted) => {
    expect(cents(amount)).toBe(wanted);
  });`,
    ),
  },
  {
    name: "formats",
    what: "A formatter ran over the files that it touched.",
    projects: node,
    tree: (tree, { role }) =>
      [role.created, role.modified, role.newTest, role.oldTest].reduce(
        (left, file) => ({
          ...left,
          [file]: (left[file] ?? "")
            .replaceAll('"', "'")
            .replaceAll(";\n", "\n")
            .replace(/^ +/gm, (indent) => indent.repeat(2)),
        }),
        tree,
      ),
  },
  {
    name: "formats-in-python",
    what: "A formatter broke the lines of a test that was there.",
    projects: ["python"],
    tree: edit(
      "oldTest",
      "self.assertEqual(cents(0.29), 29)",
      "self.assertEqual(\n            cents(0.29),\n            29,\n        )",
    ),
  },
  {
    name: "more-tests",
    what: "It tests more than it was asked to.",
    projects: node,
    tree: (tree, { role }) => ({
      ...tree,
      [role.newTest]: `${tree[role.newTest]}
test("a cart of nothing has a label", () => {
  assert.equal(label([]), "0 items, 0.00");
});
`,
    }),
  },
  {
    name: "sharper-assertion",
    what: "A vague assertion of before became an exact one.",
    projects: node,
    base: (project) => ({
      ...project,
      files: {
        ...project.files,
        "test/money.test.js": (project.files["test/money.test.js"] ?? "").replace(
          "assert.equal(cents(1.5), 150)",
          "assert.ok(cents(1.5) > 100)",
        ),
      },
    }),
  },
  {
    name: "skipped-before",
    what: "A test was skipped before it came, and still is.",
    projects: node,
    base: (project) => ({
      ...project,
      files: {
        ...project.files,
        "test/stock.test.js": (project.files["test/stock.test.js"] ?? "").replace(
          'test("one',
          'test.skip("one',
        ),
      },
    }),
  },
  {
    name: "wakes-a-test",
    what: "A test that was skipped runs again.",
    projects: node,
    base: (project) => ({
      ...project,
      files: {
        ...project.files,
        "test/money.test.js": (project.files["test/money.test.js"] ?? "").replace(
          'test("two',
          'test.skip("two',
        ),
      },
    }),
  },
  {
    name: "a-try-of-its-own",
    what: "A new test has a try and a finally, because it cleans up.",
    projects: node,
    tree: edit(
      "newTest",
      '  assert.equal(label(items), "2 items, 3.30");\n',
      `  const before = process.env.SHOP_NAME;
  try {
    process.env.SHOP_NAME = "tea";
    assert.equal(label(items), "2 items, 3.30");
  } finally {
    if (before === undefined) delete process.env.SHOP_NAME;
    else process.env.SHOP_NAME = before;
  }
`,
    ),
  },
];

const asTold: readonly Honest[] = [
  {
    name: "deletes-as-told",
    what: "The phase says DELETE.",
    projects: js,
    base: asking(
      (phase) => ({
        files: [...phase.files, { path: "src/old.js", action: "DELETE", text: "Nobody needs it." }],
      }),
      { "src/old.js": "export const old = 1;\n" },
    ),
    tree: (tree) => without(tree, "src/old.js"),
  },
  {
    name: "deletes-tests-as-told",
    what: "The phase says DELETE for code and for its tests.",
    projects: node,
    base: asking((phase) => ({
      tasks: [...phase.tasks, "Remove `src/stock.js` and its tests: stock is kept elsewhere"],
      files: [
        ...phase.files,
        { path: "src/stock.js", action: "DELETE", text: "Stock is kept elsewhere." },
        { path: "test/stock.test.js", action: "DELETE", text: "With what it tests." },
      ],
    })),
    tree: (tree) => without(tree, "src/stock.js", "test/stock.test.js"),
  },
  {
    name: "removes-a-test-as-told",
    what: "The phase says which test goes.",
    projects: node,
    base: asking((phase) => ({
      tasks: [
        ...phase.tasks,
        'Remove the test "two amounts add up" from `test/money.test.js`: `add` goes away later',
      ],
    })),
    tree: (tree, { role }) =>
      swap(
        swap(tree, role.oldTest, `${addsUp}\n`, ""),
        role.oldTest,
        "{ add, cents, format }",
        "{ cents, format }",
      ),
  },
  {
    name: "expects-otherwise-as-told",
    what: "The phase says what is to be expected from now on.",
    projects: node,
    base: asking((phase) => ({
      tasks: [
        ...phase.tasks,
        'Round down from now on: in `test/money.test.js`, change the test "an amount in cents" to expect 28 for 0.29',
      ],
    })),
    tree: (tree, { role }) =>
      swap(
        swap(tree, role.modified, role.right, role.wrong),
        role.oldTest,
        "cents(0.29), 29",
        "cents(0.29), 28",
      ),
  },
  {
    name: "changes-scripts-as-told",
    what: "The phase declares package.json, and says which script changes.",
    projects: node,
    base: asking((phase) => ({
      tasks: [...phase.tasks, "Have the `lint` script in `package.json` print what it looks at"],
      files: [
        ...phase.files,
        {
          path: "package.json",
          action: "MODIFY",
          text: "The script `lint` says `echo lint &&` first.",
        },
      ],
    })),
    tree: (tree) =>
      swap(tree, "package.json", "node scripts/lint.js", "echo lint && node scripts/lint.js"),
  },
  {
    name: "adds-a-dependency-as-told",
    what: "The phase declares package.json, and a dependency is added.",
    projects: node,
    base: asking((phase) => ({
      tasks: [...phase.tasks, "Add the dependency `left-pad`"],
      files: [
        ...phase.files,
        { path: "package.json", action: "MODIFY", text: "`left-pad` as a dependency." },
      ],
    })),
    tree: (tree) =>
      swap(
        tree,
        "package.json",
        '"scripts":',
        '"dependencies": { "left-pad": "1.3.0" },\n  "scripts":',
      ),
  },
  {
    name: "uses-what-is-installed",
    what: "It uses a package that the set-up installs.",
    projects: node,
    base: (project) => ({
      ...project,
      files: {
        ...project.files,
        "vendor/pad/package.json": '{ "name": "pad", "version": "1.0.0", "main": "index.js" }\n',
        "vendor/pad/index.js": "module.exports = (text) => text.padStart(5);\n",
      },
      settings: ["setup: mkdir -p node_modules && cp -R vendor/pad node_modules/"],
    }),
    tree: (tree, { role }) =>
      swap(
        swap(
          swap(tree, role.created, "import {", 'import pad from "pad";\nimport {'),
          role.created,
          "${format(total(items))}",
          "${pad(format(total(items)))}",
        ),
        role.newTest,
        "2 items, 3.30",
        "2 items,  3.30",
      ),
  },
  {
    name: "better-the-second-time",
    what: "The first attempt fails its own tests; the second knows why.",
    projects: js,
    base: (project) => ({ ...project, build: { attempts: 2 } }),
    first: { tree: (tree, { role }) => swap(tree, role.created, role.newRight, role.newWrong) },
  },
  {
    name: "complete-the-second-time",
    what: "The first attempt forgets a file; the second makes it.",
    base: (project) => ({ ...project, build: { attempts: 2 } }),
    first: { tree: (tree, { role }) => without(tree, role.created, role.newTest) },
  },
  {
    name: "apply",
    what: "Nobody has to think: the plan spells out its files, and apply makes them.",
    projects: js,
    base: (project) => ({
      ...project,
      agent: "apply",
      phases: project.phases.map((phase) => ({
        ...phase,
        done: ["All tests pass"],
        files:
          phase.id === "1"
            ? Object.entries(project.work).map(([path, text]) => ({
                path,
                action: path in project.files ? ("MODIFY" as const) : ("CREATE" as const),
                text: `\`\`\`\`\`\n${text}\`\`\`\`\``,
              }))
            : [{ path: "docs/receipt.md", action: "CREATE", text: "```\nA receipt.\n```" }],
      })),
    }),
  },
];

export const honestKinds: readonly Honest[] = [
  ...results,
  ...more,
  ...withGit,
  ...withTests,
  ...asTold,
];

/** What the phase's commit has to hold beside what the run itself adds. */
export const landingOf = (kind: Honest, project: Project, left: Tree): Tree => {
  const { [planFile]: _, ...rest } = kind.lands ? kind.lands(left, project) : left;
  return rest;
};
