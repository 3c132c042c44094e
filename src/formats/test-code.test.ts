import { describe, expect, it } from "vitest";
import type { TestCode } from "../core/test-code.ts";
import { isSnapshotFile, isTestFile, readTestCode } from "./test-code.ts";

const read = async (path: string, text: string): Promise<TestCode> => {
  const code = await readTestCode(path, text);
  if (!code) throw new Error(`${path} could not be read`);
  return code;
};

describe("a test file", () => {
  it.each([
    "src/a.test.ts",
    "a.spec.js",
    "src/__tests__/a.jsx",
    "cypress/e2e/login.cy.ts",
    "test_a.py",
    "pkg/a_test.py",
    "tests/unit/a.py",
    "a_test.go",
    "src/test/java/com/a/Foo.java",
    "FooTest.java",
    "app/FooIT.java",
    "FooTest.kt",
    "spec/a_spec.rb",
    "test/a_test.rb",
    "tests/FooTest.php",
    "Foo.Tests/FooTests.cs",
    "tests/a.rs",
    "a_test.cc",
    "test/a.mjs",
  ])("is %s", (path) => expect(isTestFile(path)).toBe(true));

  it.each([
    "src/a.ts",
    "src/contest.py",
    "src/latest.ts",
    "src/Attestation.java",
    "testdata/a.go",
    "tests/fixtures/a.py",
    "tests/data.json",
    "src/__snapshots__/a.test.ts.snap",
    "README.md",
    "src/protest.rs",
  ])("is not %s", (path) => expect(isTestFile(path)).toBe(false));

  it("is a Rust file that holds tests, which only its text can say", () => {
    expect(isTestFile("src/lib.rs", "#[cfg(test)]\nmod tests {}")).toBe(true);
    expect(isTestFile("src/lib.rs", "#[tokio::test]\nasync fn a() {}")).toBe(true);
    expect(isTestFile("src/lib.rs", "fn test() {}")).toBe(false);
  });
});

describe("a snapshot file", () => {
  it.each([
    "src/__snapshots__/a.test.ts.snap",
    "tests/__snapshots__/test_a.ambr",
    "src/snapshots/a__b.snap",
    "a.snap.new",
    "a.approved.txt",
    "__image_snapshots__/a.png",
    "testdata/golden/a.json",
    "testdata/a.golden",
    "A.verified.txt",
  ])("is %s", (path) => expect(isSnapshotFile(path)).toBe(true));

  it.each(["src/snapshot.ts", "src/snapshots/make.ts", "snap.txt", "src/golden.py"])(
    "is not %s",
    (path) => expect(isSnapshotFile(path)).toBe(false),
  );
});

describe("the tests of a file", () => {
  it("have the names of their suites, their lines and what they check", async () => {
    const { tests } = await read(
      "a.test.ts",
      'describe("a", () => {\n  describe("b", () => {\n    it("c", async () => {\n      expect(await f(1)).toBe(2);\n    });\n  });\n});',
    );
    expect(tests).toEqual([
      {
        name: "a › b › c",
        line: 3,
        skipped: false,
        conditional: false,
        focused: false,
        assertions: [
          {
            line: 4,
            text: "expect ( f ( 1 ) ) . toBe ( 2 )",
            strength: "exact",
            partial: false,
            guarded: false,
            actual: "f ( 1 )",
            expected: "2",
          },
        ],
        body: "expect ( f ( 1 ) ) . toBe ( 2 )",
        rows: [],
        calls: ["expect", "f", "toBe"],
      },
    ]);
  });

  it.each([
    ["a.test.ts", "expect(x).toBe(1)", "exact"],
    ["a.test.ts", "expect(x).toMatchSnapshot()", "exact"],
    ["a.test.ts", "expect(x).toBeNull()", "exact"],
    ["a.test.ts", "expect(x).toBeDefined()", "loose"],
    ["a.test.ts", "expect(x).not.toBeNull()", "loose"],
    ["a.test.ts", "expect(() => f()).not.toThrow()", "loose"],
    ["a.test.ts", "expect(f).toHaveBeenCalled()", "loose"],
    ["a.test.ts", "expect(f).toHaveBeenCalledWith(1)", "exact"],
    ["a.test.ts", "expect(x).to.be.a('string')", "loose"],
    ["a.test.ts", "expect(x).to.be.true", "exact"],
    ["a.test.ts", "expect(x).to.deep.equal({ a: 1 })", "exact"],
    ["a.test.ts", "x.should.equal(5)", "exact"],
    ["a.test.ts", "assert(x)", "loose"],
    ["a.test.ts", "assert(x === 1)", "exact"],
    ["a.test.ts", "assert.ok(x !== null)", "loose"],
    ["a.test.ts", "expect(true).toBe(true)", "constant"],
    ["a.test.ts", "expect('a').toBeDefined()", "constant"],
    ["a.test.ts", "expect(({} as Bag)['polluted']).toBeUndefined()", "exact"],
    ["a.test.ts", "expect(x).toBe(x)", "constant"],
    ["a.test.ts", "assert.equal(1, 1)", "constant"],
    ["a.test.ts", "expect(1 === 1).toBe(true)", "constant"],
    ["a_test.py", "assert x == 1", "exact"],
    ["a_test.py", "assert x", "loose"],
    ["a_test.py", "assert x is None", "exact"],
    ["a_test.py", "assert x is not None", "loose"],
    ["a_test.py", "assert isinstance(x, int)", "loose"],
    ["a_test.py", "assert True", "constant"],
    ["a_test.py", "assert 1 == 1", "constant"],
    ["a_test.py", "assert 'a' in text", "exact"],
    ["a_test.py", "assert not x", "loose"],
    ["a_test.py", "self.assertIsNone(x)", "exact"],
    ["a_test.py", "self.assertIsNotNone(x)", "loose"],
    ["a_test.py", "mock.assert_called_with(1)", "exact"],
    ["a_test.py", "check_total(x)", "exact"],
  ] as const)("in %s: %s is %s", async (path, line, strength) => {
    const text = path.endsWith("py")
      ? `def test_a():\n    ${line}\n`
      : `it("a", () => { ${line}; });`;
    const { tests } = await read(path, text);
    expect(tests[0]?.assertions.map((each) => each.strength)).toEqual([strength]);
  });

  it.each([
    ["a.test.js", '// it("a", () => {});\nconst s = `it("b", () => {})`; /it("c")/.test(s);'],
    ["a.test.tsx", 'const a = <p>it("is", a test)</p>;'],
    ["test_a.py", '"""\ndef test_a():\n    assert x == 1\n"""\n# def test_b(): pass\n'],
    ["a_test.go", "package a\n\nconst s = `func TestA(t *testing.T) {}`\n"],
    ["a_spec.rb", '# it "a" do\n# end\nx = %q(it "b" do)\n'],
    ["ATest.kt", 'val s = """\n@Test fun a() {}\n"""\n'],
  ])("in %s are none in strings and comments", async (path, text) => {
    expect((await read(path, text)).tests).toEqual([]);
  });

  it("are unknown for a language that nobody reads, and for a file of a size that nobody writes", async () => {
    expect(await readTestCode("a_test.zig", 'test "a" {}')).toBeUndefined();
    expect(await readTestCode("a.test.ts", " ".repeat(2 * 1024 * 1024 + 1))).toBeUndefined();
  });

  it.each([
    [
      "a.test.ts",
      "Once upon a time, there wasn't a test; ((( and {{ nobody ]] knew @@ why ## it $$ %% ended".repeat(
        20,
      ),
    ],
    [
      "test_a.py",
      "<<<<<<< HEAD\n=======\n>>>>>>> b\n)))) ((( ]]]] }}} ::: ??? !!! $$$ ".repeat(20),
    ],
    ["ATest.cs", 'class A { [Fact] void B() { "\n "\n "\n '],
  ])("are unknown for what is no %s at all", async (path, text) => {
    expect(await readTestCode(path, text)).toBeUndefined();
  });
});

describe("a reader", () => {
  const files = [
    "a.test.ts",
    "a.test.jsx",
    "test_a.py",
    "ATest.java",
    "ATest.kt",
    "ATests.cs",
    "a_test.go",
    "a.rs",
    "a_test.cc",
    "ATest.php",
    "a_spec.rb",
  ];

  it.each(files)("of %s comes to an end with whatever it is given", async (path) => {
    const texts = [
      "",
      "\uFEFF",
      "\r\n\r\n",
      "(".repeat(20_000),
      "{".repeat(900) + "}".repeat(900),
      "{".repeat(50_000),
      ")]}".repeat(1_000),
      "if (a) { ".repeat(900),
      'it("a", () => { '.repeat(400),
      "\"'`/*".repeat(500),
      "f(".repeat(900) + ")".repeat(900),
      "a.b".repeat(5_000),
      "x = x\n".repeat(2_000),
      "<?php /** */ #[ @ \\ <<A %w[ :: -> ?. !".repeat(200),
      "\0\u2028\uD800",
    ];
    for (const text of texts) {
      const code = await readTestCode(path, text);
      expect(code === undefined || Array.isArray(code.tests)).toBe(true);
    }
  });

  it("reads minified code", async () => {
    const { tests } = await read(
      "a.test.js",
      'describe("a",()=>{it("b",()=>{expect(f(1)).toBe(2)}),it("c",()=>expect(f(2)).toBe(3))});',
    );
    expect(tests.map(({ name, assertions }) => [name, assertions.length])).toEqual([
      ["a › b", 1],
      ["a › c", 1],
    ]);
  });

  it("reads the rest of a file with a mistake in it", async () => {
    const { tests } = await read(
      "a.test.ts",
      'const = 5;\nit("a", () => { expect(f(1)).toBe(2); });\nfoo(;\nit("b", () => { expect(f(2)).toBe(3); });',
    );
    expect(tests.map(({ assertions }) => assertions.length)).toEqual([1, 1]);
  });
});
