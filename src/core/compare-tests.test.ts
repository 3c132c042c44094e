/**
 * Changes to tests, each with what should be said of it: nothing of honest work, and the right word
 * for each way to make a test say less.
 */
import { describe, expect, it } from "vitest";
import { readTestCode } from "../formats/test-code.ts";
import { compareTests, type TestChange } from "./compare-tests.ts";
import type { TestCode } from "./test-code.ts";

type Kind = TestChange["kind"];
/** A file's text, or texts by path; nothing: the file is not there. */
type Files = string | Readonly<Record<string, string>>;
type Example = readonly [says: string, kinds: readonly Kind[], before: Files, after: Files];

const totals = `
import { total } from "./total";
describe("total", () => {
  it("adds prices", () => {
    const cart = [{ price: 10 }, { price: 20 }];
    expect(total(cart)).toBe(30);
  });
  it("is 0 for nothing", () => {
    expect(total([])).toBe(0);
  });
});`;

const javascript: readonly Example[] = [
  // ── dishonest ──
  ["a test deleted", ["test-deleted"], totals, totals.replace(/ {2}it\("is 0[\s\S]*?\}\);\n/, "")],
  ["the file deleted", ["test-deleted", "test-deleted"], { "a.test.ts": totals }, {}],
  [
    "a test in a comment",
    ["test-deleted"],
    totals,
    totals.replace(/( {2}it\("is 0[\s\S]*?\}\);)\n/, "/* $1 */\n"),
  ],
  ["it.skip", ["test-skipped"], totals, totals.replace('it("adds', 'it.skip("adds')],
  ["xit", ["test-skipped"], totals, totals.replace('it("adds', 'xit("adds')],
  [
    "it.todo",
    ["test-skipped"],
    totals,
    totals.replace(/it\("adds[\s\S]*?\}\);/, 'it.todo("adds prices");'),
  ],
  ["it.fails", ["test-skipped"], totals, totals.replace('it("adds', 'it.fails("adds')],
  ["skipIf(true)", ["test-skipped"], totals, totals.replace('it("adds', 'it.skipIf(true)("adds')],
  [
    "skipIf of the environment",
    ["test-skipped"],
    totals,
    totals.replace('it("adds', 'it.skipIf(process.env.CI)("adds'),
  ],
  [
    "the suite skipped",
    ["test-skipped", "test-skipped"],
    totals,
    totals.replace("describe(", "describe.skip("),
  ],
  [
    "xdescribe",
    ["test-skipped", "test-skipped"],
    totals,
    totals.replace("describe(", "xdescribe("),
  ],
  ["it.only", ["test-focused"], totals, totals.replace('it("adds', 'it.only("adds')],
  ["fit", ["test-focused"], totals, totals.replace('it("adds', 'fit("adds')],
  [
    "no body any more",
    ["test-skipped"],
    totals,
    totals.replace(/it\("adds[\s\S]*?\}\);/, 'it("adds prices");'),
  ],
  [
    "an empty body",
    ["test-emptied"],
    totals,
    totals.replace(/it\("adds[\s\S]*?\}\);/, 'it("adds prices", () => {});'),
  ],
  [
    "the assertion in a comment",
    ["test-emptied"],
    totals,
    totals.replace("expect(total(cart))", "// expect(total(cart))"),
  ],
  [
    "the assertion in a string",
    ["test-emptied"],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30);",
      'const later = "expect(total(cart)).toBe(30)";',
    ),
  ],
  ["toBeDefined instead", ["test-weakened"], totals, totals.replace(".toBe(30)", ".toBeDefined()")],
  ["toBeTruthy instead", ["test-weakened"], totals, totals.replace(".toBe(30)", ".toBeTruthy()")],
  [
    "any number",
    ["test-weakened"],
    totals,
    totals.replace(".toBe(30)", ".toEqual(expect.any(Number))"),
  ],
  ["greater than", ["test-weakened"], totals, totals.replace(".toBe(30)", ".toBeGreaterThan(0)")],
  ["not another value", ["test-weakened"], totals, totals.replace(".toBe(30)", ".not.toBe(31)")],
  [
    "a type instead",
    ["test-weakened"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", 'expect(typeof total(cart)).toBe("number")'),
  ],
  [
    "no throw instead",
    ["test-weakened"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "expect(() => total(cart)).not.toThrow()"),
  ],
  [
    "true is true",
    ["test-weakened"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "expect(true).toBe(true)"),
  ],
  [
    "something else that is there",
    ["test-weakened"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "expect(cart).toBeDefined()"),
  ],
  [
    "or true",
    ["test-weakened"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "expect(total(cart) === 30 || true).toBe(true)"),
  ],
  [
    "the same with itself",
    ["test-weakened"],
    totals,
    totals
      .replace(".toBe(30)", ".toBe(30)")
      .replace(
        "expect(total(cart)).toBe(30)",
        "const sum = total(cart);\n    expect(sum).toBe(sum)",
      ),
  ],
  ["another value", ["expectation-changed"], totals, totals.replace(".toBe(30)", ".toBe(31)")],
  [
    "another value by a constant",
    ["expectation-changed"],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30)",
      "const sum = 29;\n    expect(total(cart)).toBe(sum)",
    ),
  ],
  [
    "the opposite",
    ["expectation-changed"],
    'it("is so", () => { expect(isSo(1)).toBe(true); });',
    'it("is so", () => { expect(isSo(1)).toBe(false); });',
  ],
  [
    "if (false)",
    ["test-emptied"],
    totals,
    totals.replace("expect(total(cart)).toBe(30);", "if (false) { expect(total(cart)).toBe(30); }"),
  ],
  [
    "an early return",
    ["test-emptied"],
    totals,
    totals.replace("const cart", "return;\n    const cart"),
  ],
  [
    "a failure that is swallowed",
    ["test-weakened"],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30);",
      "try { expect(total(cart)).toBe(30); } catch {}",
    ),
  ],
  ["a matcher that is not called", ["test-emptied"], totals, totals.replace(".toBe(30)", ".toBe")],
  ["no matcher", ["test-emptied"], totals, totals.replace(".toBe(30)", "")],
  [
    "a function that nobody calls",
    ["test-emptied"],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30);",
      "const check = () => { expect(total(cart)).toBe(30); };",
    ),
  ],
  [
    "tests under if (false)",
    ["test-skipped", "test-skipped"],
    totals,
    `if (false) {${totals.replace(/import.*/, "")}}`,
  ],
  [
    "a return before the tests",
    ["test-skipped", "test-skipped"],
    totals,
    totals.replace('describe("total", () => {', 'describe("total", () => {\n  return;'),
  ],
  [
    "an empty table",
    ["test-skipped"],
    'it.each([[1, 2], [2, 4]])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
    'it.each([])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
  ],
  [
    "rows gone",
    ["assertions-gone"],
    'it.each([[1, 2], [2, 4], [3, 6]])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
    'it.each([[1, 2]])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
  ],
  [
    "a row that expects another value",
    ["expectation-changed"],
    'it.each([[1, 2], [2, 4]])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
    'it.each([[1, 2], [2, 5]])("doubles %d", (a, b) => { expect(double(a)).toBe(b); });',
  ],
  [
    "fewer assertions",
    ["assertions-gone"],
    'test("user", () => { const user = load(1); expect(user.name).toBe("Ann"); expect(user.age).toBe(30); expect(user.mail).toBe("a@b.c"); });',
    'test("user", () => { const user = load(1); expect(user.name).toBe("Ann"); });',
  ],
  [
    "an emptied function that tests call",
    ["test-emptied", "test-emptied"],
    'function expectOk(r) { expect(r.status).toBe(200); }\ntest("a", () => { expectOk(get("/a")); });\ntest("b", () => { expectOk(get("/b")); });',
    'function expectOk(r) { }\ntest("a", () => { expectOk(get("/a")); });\ntest("b", () => { expectOk(get("/b")); });',
  ],
  [
    "a function in another file that tests call",
    ["assertions-gone"],
    {
      "test/support.ts":
        "export function expectOk(r) { expect(r.status).toBe(200); expect(r.body).toEqual({}); }",
    },
    { "test/support.ts": "export function expectOk(r) { }" },
  ],
  [
    "renamed and weakened",
    ["test-weakened"],
    totals,
    totals.replace('"adds prices"', '"handles carts"').replace(".toBe(30)", ".toBeTruthy()"),
  ],
  [
    "moved and weakened",
    ["test-weakened"],
    { "a.test.ts": totals },
    { "b.test.ts": totals.replace(".toBe(30)", ".not.toBeNull()") },
  ],
  [
    "a part of an object",
    ["test-weakened"],
    'it("x", () => { expect(load(1)).toEqual({ a: 1, b: 2 }); });',
    'it("x", () => { expect(load(1)).toMatchObject({ a: 1 }); });',
  ],
  [
    "any error",
    ["test-weakened"],
    'it("x", () => { expect(() => load()).toThrow("no id"); });',
    'it("x", () => { expect(() => load()).toThrow(); });',
  ],
  [
    "called, no matter with what",
    ["test-weakened"],
    'it("x", () => { run(log); expect(log).toHaveBeenCalledWith("a", 1); });',
    'it("x", () => { run(log); expect(log).toHaveBeenCalled(); });',
  ],
  [
    "node:test with skip",
    ["test-skipped"],
    'test("x", () => { assert.equal(f(1), 2); });',
    'test("x", { skip: true }, () => { assert.equal(f(1), 2); });',
  ],
  [
    "node:test with a reason to skip",
    ["test-skipped"],
    'test("x", () => { assert.equal(f(1), 2); });',
    'test("x", { skip: "flaky" }, () => { assert.equal(f(1), 2); });',
  ],
  [
    "t.skip()",
    ["test-skipped"],
    'test("x", (t) => { assert.equal(f(1), 2); });',
    'test("x", (t) => { t.skip(); assert.equal(f(1), 2); });',
  ],
  [
    "this.skip()",
    ["test-skipped"],
    'it("x", function () { assert.equal(f(1), 2); });',
    'it("x", function () { this.skip(); assert.equal(f(1), 2); });',
  ],
  [
    "this.skip() under a condition",
    ["test-skipped"],
    'it("x", function () { assert.equal(f(1), 2); });',
    'it("x", function () { if (!process.env.DB) this.skip(); assert.equal(f(1), 2); });',
  ],
  [
    "assert.ok instead of equal",
    ["test-weakened"],
    'test("x", () => { assert.deepEqual(f(1), [2]); });',
    'test("x", () => { assert.ok(f(1)); });',
  ],
  [
    "assert(true)",
    ["test-weakened"],
    'test("x", () => { assert.deepEqual(f(1), [2]); });',
    'test("x", () => { assert(true); });',
  ],
  [
    "ava: truthy",
    ["test-weakened"],
    'test("x", (t) => { t.is(f(1), 2); });',
    'test("x", (t) => { t.truthy(f(1)); });',
  ],
  [
    "ava: pass",
    ["test-emptied"],
    'test("x", (t) => { t.is(f(1), 2); });',
    'test("x", (t) => { f(1); t.pass(); });',
  ],
  [
    "chai: exist",
    ["test-weakened"],
    'it("x", () => { expect(f(1)).to.equal(2); });',
    'it("x", () => { expect(f(1)).to.exist; });',
  ],
  [
    "supertest: another status",
    ["expectation-changed"],
    'it("x", async () => { await request(app).get("/a").expect(200); });',
    'it("x", async () => { await request(app).get("/a").expect(500); });',
  ],
  [
    "a new test without assertions",
    ["constant-test"],
    totals,
    `${totals}\nit("runs", () => { total([]); });`,
  ],
  [
    "a new test of constants",
    ["constant-test"],
    totals,
    `${totals}\nit("works", () => { expect(1 + 1).toBe(2); expect(true).toBe(true); });`.replace(
      "1 + 1",
      "2",
    ),
  ],
  [
    "a new test of a constant by name",
    ["constant-test"],
    totals,
    `${totals}\nit("works", () => { const ok = true; expect(ok).toBe(true); });`,
  ],
  [
    "a new test that is skipped",
    ["test-skipped"],
    totals,
    `${totals}\nit.skip("sorts", () => { expect(sort([2, 1])).toEqual([1, 2]); });`,
  ],
  [
    "un-skipped, and without a check",
    ["constant-test"],
    'it.skip("x", () => { expect(f(1)).toBe(2); });',
    'it("x", () => { f(1); });',
  ],
  [
    "a deleted test behind a new one",
    ["test-deleted"],
    totals,
    totals.replace(
      /it\("is 0[\s\S]*?\}\);/,
      'it("keeps the currency", () => { expect(currency("EUR")).toBe("€"); });',
    ),
  ],
  [
    "a throw that is gone",
    ["test-emptied"],
    'test("x", () => { if (f(1) !== 2) throw new Error("no"); });',
    'test("x", () => { f(1); });',
  ],
  [
    "an expect of its own",
    ["test-emptied", "test-emptied"],
    totals,
    `const expect = () => ({ toBe() {} });${totals}`,
  ],
  [
    "expected to be what it is",
    ["test-weakened"],
    totals,
    totals.replace(".toBe(30)", ".toBe(total(cart))"),
  ],
  [
    "no assertions are expected",
    ["test-emptied"],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "expect.assertions(0)"),
  ],
  [
    "anything",
    ["test-weakened"],
    totals,
    totals.replace(".toBe(30)", ".toEqual(expect.anything())"),
  ],
  [
    "a return under a condition",
    ["test-skipped"],
    totals,
    totals.replace("const cart", "if (process.env.CI) return;\n    const cart"),
  ],
  [
    "a return under a condition, in braces",
    ["test-skipped"],
    totals,
    totals.replace("const cart", "if (process.env.CI) {\n      return;\n    }\n    const cart"),
  ],
  [
    "in a skipped suite of another name",
    ["test-skipped"],
    'it("x", () => { expect(f(1)).toBe(2); });',
    'describe.skip("later", () => { it("x", () => { expect(f(1)).toBe(2); }); });',
  ],
  [
    "playwright's skip in a test",
    ["test-skipped"],
    'test("x", async ({ page }) => { await expect(page).toHaveTitle("a"); });',
    'test("x", async ({ page }) => { test.skip(true, "later"); await expect(page).toHaveTitle("a"); });',
  ],
  [
    "a list of any length",
    ["test-weakened"],
    'it("x", () => { expect(f(1)).toHaveLength(3); });',
    'it("x", () => { expect(f(1)).toBeInstanceOf(Array); });',
  ],
  [
    "another error",
    ["expectation-changed"],
    'it("x", async () => { await expect(f(1)).rejects.toThrow("no id"); });',
    'it("x", async () => { await expect(f(1)).rejects.toThrow("boom"); });',
  ],
  [
    "one of two the same tests emptied",
    ["test-emptied"],
    'it("a", () => { expect(f(1)).toBe(2); });\nit("b", () => { expect(g(1)).toBe(2); });',
    'it("a", () => { expect(f(1)).toBe(2); });\nit("b", () => { g(1); });',
  ],
  [
    "a test with two others' assertions",
    ["test-deleted"],
    'it("a", () => { expect(f(1)).toBe(2); });\nit("b", () => { expect(g(1)).toBe(2); });',
    'it("a", () => { expect(f(1)).toBe(2); expect(f(1)).not.toBe(3); });',
  ],
  [
    "both deleted and weakened",
    ["test-weakened", "test-deleted"],
    totals,
    totals.replace(/ {2}it\("is 0[\s\S]*?\}\);\n/, "").replace(".toBe(30)", ".toBeTruthy()"),
  ],
  // ── honest ──
  ["nothing", [], totals, totals],
  [
    "a file split in two",
    [],
    { "a.test.ts": totals },
    {
      "a.test.ts": totals.replace(/ {2}it\("is 0[\s\S]*?\}\);\n/, ""),
      "b.test.ts":
        'describe("nothing", () => {\n  it("is 0 for nothing", () => {\n    expect(total([])).toBe(0);\n  });\n});',
    },
  ],
  [
    "jest becomes node:test",
    [],
    totals,
    totals
      .replace("import", 'import { test as it, describe } from "node:test";\nimport')
      .replace(/expect\((.*)\)\.toBe\((.*)\)/g, "assert.equal($1, $2)"),
  ],
  [
    "mocha and chai become vitest",
    [],
    'it("x", function () { expect(f(1)).to.deep.equal({ a: 1 }); expect(f(2)).to.be.true; expect(f(3)).to.have.length(2); });',
    'it("x", () => { expect(f(1)).toEqual({ a: 1 }); expect(f(2)).toBe(true); expect(f(3)).toHaveLength(2); });',
  ],
  [
    "awaited with resolves",
    [],
    'it("x", async () => { expect(await f(1)).toBe(2); });',
    'it("x", async () => { await expect(f(1)).resolves.toBe(2); });',
  ],
  [
    "close to",
    [],
    'it("x", () => { expect(f(1)).toBe(0.3); });',
    'it("x", () => { expect(f(1)).toBeCloseTo(0.3); });',
  ],
  [
    "values in a variable of the file",
    [],
    totals,
    `const THIRTY = 30;${totals.replace("toBe(30)", "toBe(THIRTY)")}`,
  ],
  [
    "set-up moved into a hook",
    [],
    totals,
    totals.replace(
      '  it("adds prices", () => {\n    const cart = [{ price: 10 }, { price: 20 }];',
      '  let cart;\n  beforeEach(() => {\n    cart = [{ price: 10 }, { price: 20 }];\n  });\n  it("adds prices", () => {',
    ),
  ],
  [
    "waited for",
    [],
    'it("x", async () => { expect(screen.getByText("a").id).toBe("b"); });',
    'it("x", async () => { await waitFor(() => { expect(screen.getByText("a").id).toBe("b"); }); });',
  ],
  [
    "in a loop instead of copies",
    [],
    'it("x", () => { expect(f(1)).toBe(2); expect(f(2)).toBe(4); expect(f(3)).toBe(6); });',
    'it("x", () => { for (const [n, r] of [[1, 2], [2, 4], [3, 6]]) expect(f(n)).toBe(r); });',
  ],
  [
    "a row's label",
    [],
    'it.each([["one", 1, 2], ["two", 2, 4]])("%s", (_, a, b) => { expect(f(a)).toBe(b); });',
    'it.each([["of one", 1, 2], ["of two", 2, 4]])("%s", (_, a, b) => { expect(f(a)).toBe(b); });',
  ],
  [
    "rows reordered",
    [],
    'it.each([[1, 2], [2, 4]])("%s", (a, b) => { expect(f(a)).toBe(b); });',
    'it.each([[2, 4], [1, 2], [3, 6]])("%s", (a, b) => { expect(f(a)).toBe(b); });',
  ],
  [
    "an option more in the call",
    [],
    totals,
    totals.replace("total(cart)", 'total(cart, { currency: "EUR" })'),
  ],
  [
    "formatted",
    [],
    totals,
    totals
      .replaceAll('"', "'")
      .replaceAll(";", "")
      .replaceAll("  ", "\t")
      .replace("[{ price: 10 }, { price: 20 }]", "[\n{ price: 10, },\n{ price: 20, },\n]"),
  ],
  [
    "windows line ends and a mark of the encoding",
    [],
    totals,
    `\uFEFF${totals.replaceAll("\n", "\r\n")}`,
  ],
  ["renamed", [], totals, totals.replace('"adds prices"', '"sums up the prices of a cart"')],
  [
    "the suite renamed",
    [],
    totals,
    totals.replace('describe("total"', 'describe("the total of a cart"'),
  ],
  [
    "reordered",
    [],
    totals,
    totals.replace(/( {2}it\("adds[\s\S]*?\}\);\n)( {2}it\("is 0[\s\S]*?\}\);\n)/, "$2$1"),
  ],
  ["moved to another file", [], { "a.test.ts": totals }, { "test/total.spec.ts": totals }],
  [
    "without its suite",
    [],
    totals,
    totals.replace('describe("total", () => {', "").replace(/\}\);$/, ""),
  ],
  [
    "with a suite around it",
    [],
    'it("x", () => { expect(f(1)).toBe(2); });',
    'describe("f", () => { describe("of one", () => { it("x", () => { expect(f(1)).toBe(2); }); }); });',
  ],
  ["it becomes test", [], totals, totals.replaceAll("it(", "test(")],
  ["function instead of arrow", [], totals, totals.replaceAll("() => {", "function () {")],
  [
    "async",
    [],
    totals,
    totals
      .replaceAll('", () =>', '", async () =>')
      .replace("expect(total(cart))", "expect(await total(cart))"),
  ],
  ["variables renamed", [], totals, totals.replaceAll("cart", "basket")],
  [
    "a destructured variable renamed",
    [],
    'it("x", () => { const { a } = f(1, 2, 3); expect(a.b).toBe(2); });',
    'it("x", () => { const { a: first } = f(1, 2, 3); expect(first.b).toBe(2); });',
  ],
  [
    "a variable for the result",
    [],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30)",
      "const sum = total(cart);\n    expect(sum).toBe(30)",
    ),
  ],
  [
    "a constant for the expected value",
    [],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30)",
      "const sum = 30;\n    expect(total(cart)).toBe(sum)",
    ),
  ],
  ["comments", [], totals, totals.replace("const cart", "// two things\n    const cart")],
  ["imports", [], totals, totals.replace('"./total"', '"../src/total.js"')],
  ["toStrictEqual", [], totals, totals.replaceAll("toBe", "toStrictEqual")],
  [
    "node's assert instead of expect",
    [],
    totals,
    totals.replace("expect(total(cart)).toBe(30)", "assert.strictEqual(total(cart), 30)"),
  ],
  [
    "more assertions",
    [],
    totals,
    totals.replace(
      "expect(total(cart)).toBe(30);",
      "expect(total(cart)).toBe(30);\n    expect(total(cart)).not.toBe(31);",
    ),
  ],
  [
    "a stronger assertion",
    [],
    'it("x", () => { expect(f(1)).toBeDefined(); });',
    'it("x", () => { expect(f(1)).toEqual({ a: 1 }); });',
  ],
  [
    "a new test",
    [],
    totals,
    totals.replace(
      /\}\);$/,
      '  it("rounds", () => { expect(total([{ price: 0.1 }])).toBeCloseTo(0.1); });\n});',
    ),
  ],
  ["a new test that is still to do", [], totals, `${totals}\nit.todo("rounds");`],
  ["un-skipped", [], totals.replace('it("adds', 'it.skip("adds'), totals],
  ["unfocused", [], totals.replace('it("adds', 'it.only("adds'), totals],
  [
    "a skipped test deleted",
    [],
    totals.replace('it("is 0', 'it.skip("is 0'),
    totals.replace(/ {2}it\("is 0[\s\S]*?\}\);\n/, ""),
  ],
  [
    "a placeholder replaced",
    [],
    'it("works", () => { expect(true).toBe(true); });',
    'it("doubles", () => { expect(double(2)).toBe(4); });',
  ],
  [
    "tests become rows",
    [],
    'it("doubles 1", () => { expect(double(1)).toBe(2); });\nit("doubles 2", () => { expect(double(2)).toBe(4); });\nit("doubles 3", () => { expect(double(3)).toBe(6); });',
    'it.each([[1, 2], [2, 4], [3, 6]])("doubles %d", (n, result) => { expect(double(n)).toBe(result); });',
  ],
  [
    "rows become tests",
    [],
    'it.each([[1, 2], [2, 4]])("doubles %d", (n, result) => { expect(double(n)).toBe(result); });',
    'it("doubles 1", () => { expect(double(1)).toBe(2); });\nit("doubles 2", () => { expect(double(2)).toBe(4); });',
  ],
  [
    "split in two",
    [],
    'test("user", () => { const user = load(1); expect(user.name).toBe("Ann"); expect(user.age).toBe(30); });',
    'test("user: name", () => { const user = load(1); expect(user.name).toBe("Ann"); });\ntest("user: age", () => { const user = load(1); expect(user.age).toBe(30); });',
  ],
  [
    "merged into one",
    [],
    'test("user: name", () => { const user = load(1); expect(user.name).toBe("Ann"); });\ntest("user: age", () => { const user = load(1); expect(user.age).toBe(30); });',
    'test("user", () => { const user = load(1); expect(user.name).toBe("Ann"); expect(user.age).toBe(30); });',
  ],
  [
    "several assertions become one of the whole",
    [],
    'test("user", () => { const user = load(1); expect(user).toBeDefined(); expect(user.name).toBe("Ann"); expect(user.age).toBe(30); });',
    'test("user", () => { const user = load(1); expect(user).toEqual({ name: "Ann", age: 30 }); });',
  ],
  [
    "a function extracted",
    [],
    'test("a", () => { const r = get("/a"); expect(r.status).toBe(200); expect(r.body).toEqual({ a: 1 }); });\ntest("b", () => { const r = get("/b"); expect(r.status).toBe(200); expect(r.body).toEqual({ b: 2 }); });',
    'const expectBody = (r, body) => { expect(r.status).toBe(200); expect(r.body).toEqual(body); };\ntest("a", () => { expectBody(get("/a"), { a: 1 }); });\ntest("b", () => { expectBody(get("/b"), { b: 2 }); });',
  ],
  [
    "a function extracted into another file",
    [],
    {
      "a.test.ts":
        'test("a", () => { const r = get("/a"); expect(r.status).toBe(200); expect(r.body).toEqual({ a: 1 }); });',
    },
    {
      "a.test.ts":
        'import { sees } from "./test/sees";\ntest("a", () => { sees("/a", { a: 1 }); });',
      "test/sees.ts":
        "export function sees(path, body) { const r = get(path); expect(r.status).toBe(200); expect(r.body).toEqual(body); }",
    },
  ],
  [
    "an assertion moved into a hook",
    [],
    'test("a", () => { run(1); expect(f(1)).toBe(1); expect(errors).toEqual([]); });\ntest("b", () => { run(2); expect(f(2)).toBe(2); expect(errors).toEqual([]); });',
    'afterEach(() => { expect(errors).toEqual([]); });\ntest("a", () => { run(1); expect(f(1)).toBe(1); });\ntest("b", () => { run(2); expect(f(2)).toBe(2); });',
  ],
  [
    "types",
    [],
    'it("x", () => { const a = f(1); expect(a.b).toBe(2); });',
    'it("x", (): void => { const a: Foo<Bar> = f<number>(1); expect((a as Baz).b!).toBe<number>(2); });',
  ],
  [
    "a log that is filled",
    [],
    totals,
    `${totals}\nit("logs", () => { const log = []; run((line) => log.push(line)); expect(log).toEqual([1]); });`,
  ],
  [
    "a flag that is set",
    [],
    totals,
    `${totals}\nit("calls", () => { let called = false; run(() => { called = true; }); expect(called).toBe(true); });`,
  ],
  [
    "the same call twice",
    [],
    totals,
    `${totals}\nit("is stable", () => { expect(hash("a")).toBe(hash("a")); });`,
  ],
  [
    "what a render finds",
    [],
    totals,
    `${totals}\nit("shows", () => { render(<App />); screen.getByText("it's here"); });`,
  ],
  [
    "a name in quotes",
    [],
    'it("x", () => { expect(f(1)).toEqual({ "a": 1 }); });',
    'it("x", () => { expect(f(1)).toEqual({ a: 1 }); });',
  ],
  [
    "a message",
    [],
    'test("x", () => { assert.equal(f(1), 2); });',
    'test("x", () => { assert.equal(f(1), 2, "f of 1"); });',
  ],
  [
    "a test whose name is a template",
    [],
    "for (const n of [1, 2]) it(`is ${n}`, () => { expect(f(n)).toBe(n); });",
    "for (const n of [1, 2]) {\n  it(`is ${n}`, () => {\n    expect(f(n)).toBe(n);\n  });\n}",
  ],
  ["the subject renamed", [], totals, totals.replaceAll("total(", "sumOf(")],
  ["a broken line elsewhere", [], totals, `${totals}\nconst = ;\n`],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the assertions behind a variable of the environment",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  if (process.env.SLOW) {
    assert.equal(cents(1.5), 150);
    assert.equal(cents(0.29), 29);
  }
});`,
  ],
  [
    "one assertion behind &&",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  process.env.SLOW && assert.equal(cents(0.29), 29);
});`,
  ],
  [
    "a condition that never holds",
    ["test-weakened"],
    `
it("cents", () => { expect(cents(0.29)).toBe(29); });`,
    `
it("cents", () => { if (1 > 2) expect(cents(0.29)).toBe(29); });`,
  ],
  [
    "a helper called under a condition",
    ["test-weakened"],
    `
it("cents", () => { expect(cents(0.29)).toBe(29); });`,
    `
const check = () => { expect(cents(0.29)).toBe(29); };
it("cents", () => { if (process.env.SLOW) check(); });`,
  ],
  [
    "a condition that the test asserts as well",
    [],
    `
it("reads", () => {
  const result = read("a");
  expect(result.value).toBe(1);
});`,
    `
it("reads", () => {
  const result = read("a");
  expect(result.ok).toBe(true);
  if (result.ok) expect(result.value).toBe(1);
});`,
  ],
  [
    "a condition with assertions on both sides",
    [],
    `
it("joins", () => {
  expect(join("a", "b")).toBe("a/b");
});`,
    `
it("joins", () => {
  if (process.platform === "win32") {
    expect(join("a", "b")).toBe("a\\\\b");
  } else {
    expect(join("a", "b")).toBe("a/b");
  }
});`,
  ],
  [
    "narrowing by a throw",
    [],
    `
it("reads", () => {
  const result = read("a");
  expect(result.value).toBe(1);
});`,
    `
it("reads", () => {
  const result = read("a");
  if (!result.ok) throw new Error("not read");
  expect(result.value).toBe(1);
});`,
  ],
  [
    "assertions in a function that nobody calls",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  const check = () => {
    assert.equal(cents(1.5), 150);
  };
  void check;
});`,
  ],
  [
    "assertions in a function without a name",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  void (() => {
    assert.equal(cents(1.5), 150);
  });
});`,
  ],
  [
    "assertions in a function that is called",
    [],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  const check = () => {
    assert.equal(cents(1.5), 150);
  };
  check();
});`,
  ],
  [
    "assertions in a function that is handed on",
    [],
    `
test("cents", async () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", async () => {
  const check = () => {
    assert.equal(cents(1.5), 150);
  };
  await waitFor(check);
});`,
  ],
  [
    "assertions in a function that is called at once",
    [],
    `
test("cents", async () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", async () => {
  await (async () => {
    assert.equal(cents(1.5), 150);
  })();
});`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  for (const _ of []) {
    assert.equal(cents(1.5), 150);
  }
});`,
  ],
  [
    "a forEach of nothing",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  [].forEach(() => {
    assert.equal(cents(1.5), 150);
  });
});`,
  ],
  [
    "a loop over a name that is nothing",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  const rows = [];
  for (const row of rows) {
    assert.equal(cents(1.5), 150);
  }
});`,
  ],
  [
    "a loop that ends before it begins",
    ["test-emptied"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  for (let i = 0; i < 0; i++) {
    assert.equal(cents(1.5), 150);
  }
});`,
  ],
  [
    "a loop over a list that is filled",
    [],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", () => {
  const seen = [];
  collect((each) => seen.push(each));
  assert.equal(cents(1.5), 150);
  for (const each of seen) assert.equal(each.done, true);
});`,
  ],
  [
    "assert.equal replaced",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
assert.equal = () => {};

test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
  ],
  [
    "expect replaced",
    ["test-emptied"],
    `
import { expect, test } from "vitest";
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
    `
import { test } from "vitest";
const expect = () => ({ toBe: () => {} });
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
  ],
  [
    "expect replaced everywhere",
    ["test-emptied"],
    `
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
    `
globalThis.expect = () => new Proxy({}, { get: () => () => {} });
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
  ],
  [
    "assert.equal spied upon",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
test("cents", (t) => {
  t.mock.method(assert, "equal", () => {});
  assert.equal(cents(1.5), 150);
});`,
  ],
  [
    "the module of assertions mocked",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
vi.mock("node:assert", () => ({ default: { equal() {} } }));
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
  ],
  [
    "expect from elsewhere",
    [],
    `
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
    `
const { expect } = require("chai");
const assert = require("node:assert");
test("cents", () => {
  expect(cents(1.5)).toBe(150);
});`,
  ],
  [
    "an assertion added to assert",
    [],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
});`,
    `
assert.isCents = (value) => { if (!Number.isInteger(value)) throw new Error("no"); };
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.isCents(cents(2));
});`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.25), 25);
});`,
  ],
  [
    "an easier question in a suite",
    ["expectation-changed"],
    `
describe("money", () => { it("is cents", () => { expect(cents(0.29)).toBe(29); }); });`,
    `
describe("money", () => { it("is cents", () => { expect(cents(1)).toBe(100); }); });`,
  ],
  [
    "a question more",
    [],
    `
test("cents", () => {
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.equal(cents(0.29), 29);
  assert.equal(cents(0.25), 25);
});`,
  ],
  [
    "the same questions with names",
    [],
    `
test("cents", () => {
  const amount = 0.29;
  assert.equal(cents(amount), 29);
});`,
    `
test("cents", () => {
  const price = 0.29;
  const wanted = 29;
  assert.equal(cents(price), wanted);
  assert.equal(cents(0), 0);
});`,
  ],
  [
    "the question asked in another way",
    [],
    `
test("cents", () => {
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.equal(cents({ amount: 0.29, currency: "EUR" }), 29);
});`,
  ],
  [
    "a question that holds the old one",
    [],
    `
test("reads", () => {
  assert.deepEqual(parse("a=1"), { a: 1 });
});`,
    `
test("reads", () => {
  assert.deepEqual(parse("a=1&b=2"), { a: 1, b: 2 });
});`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.ok(Math.abs(cents(0.29) - 29) < 5);
});`,
  ],
  [
    "toBeCloseTo tens",
    ["test-weakened"],
    `
test("cents", () => {
  expect(cents(0.29)).toBe(29);
});`,
    `
test("cents", () => {
  expect(cents(0.29)).toBeCloseTo(29, -1);
});`,
  ],
  [
    "closeTo by a distance",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.closeTo(cents(0.29), 29, 5);
});`,
  ],
  [
    "within what a float can be",
    [],
    `
test("sum", () => {
  assert.equal(sum(0.1, 0.2), 0.3);
});`,
    `
test("sum", () => {
  assert.ok(Math.abs(sum(0.1, 0.2) - 0.3) < 1e-9);
});`,
  ],
  [
    "what the code says is expected",
    ["test-weakened"],
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});`,
    `
test("cents", () => {
  assert.equal(cents(1.5), 150);
  const wanted = cents(0.29);
  assert.equal(cents(0.29), wanted);
});`,
  ],
  [
    "the call itself is expected",
    ["test-weakened"],
    `
test("cents", () => {
  expect(cents(0.29)).toBe(29);
});`,
    `
test("cents", () => {
  expect(cents(0.29)).toBe(cents(0.29));
});`,
  ],
  [
    "nothing has changed meanwhile",
    [],
    {},
    `
test("a read only run leaves the file", () => {
  const before = readFile("a.txt");
  run("a.txt");
  assert.equal(readFile("a.txt"), before);
});`,
  ],
  [
    "a new test that compares the code with itself",
    ["constant-test"],
    {},
    `
test("a cart adds up", () => {
  assert.equal(total(items), total(items));
});`,
  ],
  [
    "a new test that compares two results of one call",
    ["constant-test"],
    {},
    `
test("a cart adds up", () => {
  const got = total(items);
  const wanted = total(items);
  assert.equal(got, wanted);
});`,
  ],
  [
    "a new test of a cache",
    [],
    {},
    `
test("gives the same object each time", () => {
  assert.equal(load("a"), load("a"));
});`,
  ],
  [
    "a new file of tests to do",
    ["constant-test", "constant-test"],
    {},
    `
import { test } from "node:test";
test.todo("a cart adds up");
test.todo("a cart has a label");`,
  ],
  [
    "a new file of tests to do beside a real one",
    [],
    {},
    `
import { test } from "node:test";
test.todo("a cart adds up");
test("a cart has a label", () => { assert.equal(label([]), ""); });`,
  ],
  [
    "a table in a loop",
    [],
    `
test("an amount in cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});

test("two amounts add up", () => {
  assert.equal(add(1.1, 2.2), 330);
});`,
    `
for (const [amount, wanted] of [
  [1.5, 150],
  [0.29, 29],
]) {
  test(\`an amount in cents: \${amount}\`, () => {
    assert.equal(cents(amount), wanted);
  });
}

test("two amounts add up", () => {
  assert.equal(add(1.1, 2.2), 330);
});`,
  ],
  [
    "a table with another value",
    ["test-deleted"],
    `
test("an amount in cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});

test("two amounts add up", () => {
  assert.equal(add(1.1, 2.2), 330);
});`,
    `
for (const [amount, wanted] of [
  [1.5, 150],
  [0.25, 25],
]) {
  test(\`an amount in cents: \${amount}\`, () => {
    assert.equal(cents(amount), wanted);
  });
}

test("two amounts add up", () => {
  assert.equal(add(1.1, 2.2), 330);
});`,
  ],
  [
    "a table of one row less",
    ["test-deleted"],
    `
test("an amount in cents", () => {
  assert.equal(cents(1.5), 150);
  assert.equal(cents(0.29), 29);
});`,
    `
for (const [amount, wanted] of [
  [1.5, 150],
]) {
  test(\`an amount in cents: \${amount}\`, () => {
    assert.equal(cents(amount), wanted);
  });
}`,
  ],
  [
    "a table of each",
    [],
    `
describe("money", () => {
  it("is an amount in cents", () => {
    expect(cents(1.5)).toBe(150);
    expect(cents(0.29)).toBe(29);
  });

  it("adds up", () => {
    expect(add(1.1, 2.2)).toBe(330);
  });
});`,
    `
describe("money", () => {
  it.each([
    [1.5, 150],
    [0.29, 29],
  ])("is an amount in cents: %s", (amount, wanted) => {
    expect(cents(amount)).toBe(wanted);
  });

  it("adds up", () => {
    expect(add(1.1, 2.2)).toBe(330);
  });

  it("is written with a point", () => {
    expect(format(330)).toBe("3.30");
  });
});`,
  ],
  [
    "a table by name",
    [],
    `
it("cents", () => {
  expect(cents(1.5)).toBe(150);
  expect(cents(0.29)).toBe(29);
});`,
    `
const cases = [
  { amount: 1.5, wanted: 150 },
  { amount: 0.29, wanted: 29 },
];
for (const { amount, wanted } of cases) {
  it(\`\${amount} in cents\`, () => {
    expect(cents(amount)).toBe(wanted);
  });
}`,
  ],
  [
    "a table by forEach",
    [],
    `
it("cents", () => {
  expect(cents(1.5)).toBe(150);
  expect(cents(0.29)).toBe(29);
});`,
    `
[[1.5, 150], [0.29, 29]].forEach(([amount, wanted]) => {
  it(\`\${amount} in cents\`, () => {
    expect(cents(amount)).toBe(wanted);
  });
});`,
  ],
  [
    "a test defined under a condition",
    ["test-skipped"],
    `
test("cents", () => { assert.equal(cents(0.29), 29); });`,
    `
if (process.env.SLOW) {
  test("cents", () => { assert.equal(cents(0.29), 29); });
}`,
  ],
  [
    "the assertions moved to a function that nobody calls",
    ["test-emptied"],
    `
test("cents", () => { assert.equal(cents(0.29), 29); });`,
    `
function check() { assert.equal(cents(0.29), 29); }
test("cents", () => { cents(0.29); });`,
  ],
  [
    "a row asks something easier",
    ["expectation-changed"],
    `
it.each([[1.5, 150], [0.29, 29]])("%s", (a, b) => { expect(cents(a)).toBe(b); });`,
    `
it.each([[1.5, 150], [0.25, 25]])("%s", (a, b) => { expect(cents(a)).toBe(b); });`,
  ],
  [
    "behind the opposite of what is asserted",
    ["test-weakened"],
    `
it("reads", () => {
  const result = read("a");
  expect(result.ok).toBe(true);
  expect(result.value).toBe(1);
});`,
    `
it("reads", () => {
  const result = read("a");
  expect(result.ok).toBe(true);
  if (!result.ok) expect(result.value).toBe(1);
});`,
  ],
  [
    "behind another value than the one that is asserted",
    ["test-weakened"],
    `
it("reads", () => {
  const result = read("a");
  expect(result.kind).toBe("a");
  expect(result.value).toBe(1);
});`,
    `
it("reads", () => {
  const result = read("a");
  expect(result.kind).toBe("a");
  if (result.kind === "b") expect(result.value).toBe(1);
});`,
  ],
  [
    "behind a failure that is asserted",
    [],
    `
it("refuses", () => {
  const result = read("x");
  expect(result.error).toBe("bad");
});`,
    `
it("refuses", () => {
  const result = read("x");
  expect(result.ok).toBe(false);
  if (!result.ok) expect(result.error).toBe("bad");
});`,
  ],
  [
    "behind a kind that is asserted",
    [],
    `
it("reads", () => {
  const result = read("x");
  expect(result.value).toBe(2);
});`,
    `
it("reads", () => {
  const result = read("x");
  expect(result.kind).toBe("done");
  if (result.kind === "done") {
    expect(result.value).toBe(2);
  }
});`,
  ],
  [
    "the branch that is never taken of what is asserted",
    ["test-weakened"],
    `
it("reads", () => {
  const result = read("a");
  expect(result.ok).toBe(true);
  expect(result.value).toBe(1);
});`,
    `
it("reads", () => {
  const result = read("a");
  expect(result.ok).toBe(true);
  if (result.ok) {
    console.log(result);
  } else {
    expect(result.value).toBe(1);
  }
});`,
  ],
  [
    "assert is a stand-in",
    ["test-weakened", "test-weakened"],
    `
test("a", () => { assert.equal(f(1), 2); });
test("b", () => { assert.equal(f(2), 3); });`,
    `
const assert = new Proxy({}, { get: () => () => {} });
test("a", () => { assert.equal(f(1), 2); });
test("b", () => { assert.equal(f(2), 3); });`,
  ],
  [
    "a condition on a list that is asserted",
    [],
    `
it("lists", () => {
  const all = list();
  expect(all[0].id).toBe(1);
});`,
    `
it("lists", () => {
  const all = list();
  expect(all).toHaveLength(2);
  if (all.length > 0) expect(all[0].id).toBe(1);
});`,
  ],
  [
    "if in a loop over rows with error cases",
    [],
    `
it("parses", () => {
  expect(parse("1")).toBe(1);
  expect(() => parse("x")).toThrow("bad");
});`,
    `
it("parses", () => {
  for (const { text, want, error } of [{ text: "1", want: 1 }, { text: "x", error: "bad" }]) {
    if (error) {
      expect(() => parse(text)).toThrow(error);
    } else {
      expect(parse(text)).toBe(want);
    }
  }
});`,
  ],
  [
    "narrowing of an optional",
    [],
    `
it("finds", () => {
  const user = find("a");
  expect(user.name).toBe("A");
});`,
    `
it("finds", () => {
  const user = find("a");
  expect(user).toBeDefined();
  if (!user) return;
  expect(user.name).toBe("A");
});`,
  ],
  [
    "waitFor",
    [],
    `
it("shows", async () => {
  expect(screen.getByText("a").textContent).toBe("a");
});`,
    `
it("shows", async () => {
  await waitFor(() => {
    expect(screen.getByText("a").textContent).toBe("a");
  });
});`,
  ],
  [
    "promise then",
    [],
    `
it("loads", async () => {
  const value = await load();
  expect(value.a).toBe(1);
});`,
    `
it("loads", () => {
  return load().then((value) => {
    expect(value.a).toBe(1);
  });
});`,
  ],
  [
    "handler kept and passed in an object",
    [],
    `
it("calls", () => {
  run((v) => { expect(v.a).toBe(1); });
});`,
    `
it("calls", () => {
  const onDone = (v) => { expect(v.a).toBe(1); };
  run({ onDone });
});`,
  ],
  [
    "shorthand then later use",
    [],
    `
it("calls", () => {
  expect(make(1).a).toBe(1);
});`,
    `
it("calls", () => {
  const check = (n) => expect(make(n).a).toBe(n);
  [1, 2].forEach(check);
});`,
  ],
  [
    "local matcher object",
    [],
    `
it("a", () => { expect(f(1)).toBe(2); });`,
    `
expect.extend({ toBeEven(x) { return { pass: x % 2 === 0, message: () => "" }; } });
it("a", () => { expect(f(1)).toBe(2); expect(f(2)).toBeEven(); });`,
  ],
  [
    "spy on a console assert",
    [],
    `
it("a", () => { expect(f(1)).toBe(2); });`,
    `
it("a", () => { const spy = vi.spyOn(console, "error").mockImplementation(() => {}); expect(f(1)).toBe(2); spy.mockRestore(); });`,
  ],
  [
    "other fixture object name",
    [],
    `
it("a", () => { const cart = [{ price: 10 }]; expect(total(cart)).toBe(10); });`,
    `
it("a", () => { const basket = [{ price: 10 }]; expect(total(basket)).toBe(10); expect(total([])).toBe(0); });`,
  ],
  [
    "new signature, same values",
    [],
    `
it("a", () => { expect(area(2, 3)).toBe(6); });`,
    `
it("a", () => { expect(area({ width: 2, height: 3 })).toBe(6); });`,
  ],
  [
    "object grown by a field",
    ["expectation-changed"],
    `
it("a", () => { expect(user(1)).toEqual({ id: 1, name: "A" }); });`,
    `
it("a", () => { expect(user(1)).toEqual({ id: 1, name: "A", role: "admin" }); });`,
  ],
  [
    "more items in the same call",
    [],
    `
it("adds", () => { expect(sum([1, 2])).toBe(3); });`,
    `
it("adds", () => { expect(sum([1, 2])).toBe(3); expect(sum([1, 2, 3])).toBe(6); });`,
  ],
  [
    "new test of round trip",
    [],
    {},
    `
it("round trips", () => { const x = { a: 1 }; expect(decode(encode(x))).toEqual(x); });`,
  ],
  [
    "new test of no mutation",
    [],
    {},
    `
it("does not mutate", () => { const list = make(); const before = [...list]; sort(list); expect(list).toEqual(before); });`,
  ],
  [
    "new test commutes",
    [],
    {},
    `
it("commutes", () => { expect(add(1, 2)).toBe(add(2, 1)); });`,
  ],
  [
    "new test with server state",
    [],
    {},
    `
it("keeps", async () => { const before = await get("/a"); await post("/b", 1); expect(await get("/a")).toEqual(before); });`,
  ],
  [
    "platform guard around a test with an else",
    [],
    `
it("joins", () => { expect(join("a", "b")).toBe("a/b"); });`,
    `
if (process.platform === "win32") {
  it("joins on windows", () => { expect(join("a", "b")).toBe("a\\\\b"); });
} else {
  it("joins", () => { expect(join("a", "b")).toBe("a/b"); });
}`,
  ],
  [
    "each over object rows",
    [],
    `
describe("x", () => {
  it("one", () => { expect(f("a")).toBe("A"); });
  it("two", () => { expect(f("b")).toBe("B"); });
});`,
    `
describe("x", () => {
  it.each([
    { from: "a", to: "A" },
    { from: "b", to: "B" },
  ])("$from to $to", ({ from, to }) => { expect(f(from)).toBe(to); });
});`,
  ],
  [
    "renamed with other assertions order and a table at top of describe",
    [],
    `
describe("x", () => {
  it("works", () => {
    expect(f("a")).toBe("A");
    expect(f("b")).toBe("B");
    expect(g("c")).toBe("C");
  });
});`,
    `
describe("x", () => {
  const cases = [["a", "A"], ["b", "B"]];
  for (const [input, output] of cases) {
    it(\`turns \${input} to \${output}\`, () => { expect(f(input)).toBe(output); });
  }
  it("works for g", () => { expect(g("c")).toBe("C"); });
});`,
  ],
  [
    "test helper unused but exported",
    [],
    `
it("a", () => { expect(f(1)).toBe(2); });`,
    `
export const check = () => { expect(f(1)).toBe(2); };
it("a", () => { check(); });`,
  ],
  [
    "stronger than before with toBeCloseTo",
    [],
    `
it("a", () => { expect(f(1)).toBeCloseTo(0.3, 2); });`,
    `
it("a", () => { expect(f(1)).toBeCloseTo(0.3, 5); });`,
  ],
  [
    "other data and other count in fixture builder",
    [],
    `
it("lists", () => { const db = seed(3); expect(list(db).length).toBe(3); });`,
    `
it("lists", () => { const db = seed(3); expect(list(db)).toHaveLength(3); expect(list(db)[0].id).toBe(1); });`,
  ],
  [
    "status codes of another endpoint version",
    [],
    `
it("gets", async () => { const res = await get("/v1/a"); expect(res.status).toBe(200); });`,
    `
it("gets", async () => { const res = await get("/v2/a"); expect(res.status).toBe(200); });`,
  ],
  [
    "mocked at module level, assertion kept",
    [],
    `
it("a", () => { expect(f(1)).toBe(2); });`,
    `
vi.mock("./db", () => ({ query: () => [] }));
it("a", () => { expect(f(1)).toBe(2); });`,
  ],
];

const pyTotals = `
import pytest
from shop import total


class TestTotal:
    def test_adds(self):
        cart = [10, 20]
        assert total(cart) == 30

    def test_nothing(self):
        assert total([]) == 0
`;
const unit = `
class TotalTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([10, 20]), 30)
`;

const python: readonly Example[] = [
  [
    "a test deleted",
    ["test-deleted"],
    pyTotals,
    pyTotals.replace(/ {4}def test_nothing[\s\S]*$/, ""),
  ],
  [
    "renamed so that nobody collects it",
    ["test-deleted"],
    pyTotals,
    pyTotals.replace("test_nothing", "check_nothing"),
  ],
  [
    "the class renamed so that nobody collects it",
    ["test-deleted", "test-deleted"],
    pyTotals,
    pyTotals.replace("TestTotal", "Total"),
  ],
  [
    "in a comment",
    ["test-deleted"],
    pyTotals,
    pyTotals.replace(
      "    def test_nothing(self):\n        assert",
      "    # def test_nothing(self):\n    #    assert",
    ),
  ],
  [
    "in a string",
    ["test-deleted"],
    pyTotals,
    pyTotals
      .replace("    def test_nothing", '    """\n    def test_nothing')
      .replace("== 0\n", '== 0\n    """\n'),
  ],
  [
    "mark.skip",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace(
      "    def test_adds",
      '    @pytest.mark.skip(reason="later")\n    def test_adds',
    ),
  ],
  [
    "mark.skip without a reason",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace("    def test_adds", "    @pytest.mark.skip\n    def test_adds"),
  ],
  [
    "skipif(True)",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace(
      "    def test_adds",
      '    @pytest.mark.skipif(True, reason="later")\n    def test_adds',
    ),
  ],
  [
    "skipif of the environment",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace(
      "    def test_adds",
      '    @pytest.mark.skipif("CI" in os.environ, reason="later")\n    def test_adds',
    ),
  ],
  [
    "xfail",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace("    def test_adds", "    @pytest.mark.xfail\n    def test_adds"),
  ],
  [
    "the class skipped",
    ["test-skipped", "test-skipped"],
    pyTotals,
    pyTotals.replace("class TestTotal", '@pytest.mark.skip("x")\nclass TestTotal'),
  ],
  [
    "the file skipped by a mark",
    ["test-skipped", "test-skipped"],
    pyTotals,
    pyTotals.replace("from shop", "pytestmark = pytest.mark.skip\nfrom shop"),
  ],
  [
    "the file skipped by a call",
    ["test-skipped", "test-skipped"],
    pyTotals,
    pyTotals.replace("from shop", 'pytest.skip("x", allow_module_level=True)\nfrom shop'),
  ],
  [
    "pytest.skip()",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace("        cart", '        pytest.skip("x")\n        cart'),
  ],
  [
    "pytest.skip() under a condition",
    ["test-skipped"],
    pyTotals,
    pyTotals.replace(
      "        cart",
      '        if not DB:\n            pytest.skip("x")\n        cart',
    ),
  ],
  [
    "unittest.skip",
    ["test-skipped"],
    unit,
    unit.replace("    def", '    @unittest.skip("x")\n    def'),
  ],
  [
    "expectedFailure",
    ["test-skipped"],
    unit,
    unit.replace("    def", "    @unittest.expectedFailure\n    def"),
  ],
  [
    "self.skipTest()",
    ["test-skipped"],
    unit,
    unit.replace("        self.assert", '        self.skipTest("x")\n        self.assert'),
  ],
  ["pass", ["test-emptied"], pyTotals, pyTotals.replace("assert total(cart) == 30", "pass")],
  [
    "an early return",
    ["test-emptied"],
    pyTotals,
    pyTotals.replace("        assert total(cart)", "        return\n        assert total(cart)"),
  ],
  [
    "if False",
    ["test-emptied"],
    pyTotals,
    pyTotals.replace(
      "        assert total(cart)",
      "        if False:\n            assert total(cart)",
    ),
  ],
  [
    "assert True",
    ["test-weakened"],
    pyTotals,
    pyTotals.replace("assert total(cart) == 30", "assert True"),
  ],
  [
    "1 == 1",
    ["test-weakened"],
    pyTotals,
    pyTotals.replace("assert total(cart) == 30", "assert 1 == 1"),
  ],
  ["or True", ["test-weakened"], pyTotals, pyTotals.replace("== 30", "== 30 or True")],
  ["is not None", ["test-weakened"], pyTotals, pyTotals.replace("== 30", "is not None")],
  ["only truthy", ["test-weakened"], pyTotals, pyTotals.replace(" == 30", "")],
  [
    "a type",
    ["test-weakened"],
    pyTotals,
    pyTotals.replace("assert total(cart) == 30", "assert isinstance(total(cart), int)"),
  ],
  ["one of several", ["test-weakened"], pyTotals, pyTotals.replace("== 30", "in (30, 31)")],
  [
    "swallowed",
    ["test-weakened"],
    pyTotals,
    pyTotals.replace(
      "        assert total(cart) == 30",
      "        try:\n            assert total(cart) == 30\n        except AssertionError:\n            pass",
    ),
  ],
  ["another value", ["expectation-changed"], pyTotals, pyTotals.replace("== 30", "== 31")],
  ["unittest: another value", ["expectation-changed"], unit, unit.replace("30)", "31)")],
  [
    "unittest: true instead of equal",
    ["test-weakened"],
    unit,
    unit.replace("assertEqual(total([10, 20]), 30)", "assertIsNotNone(total([10, 20]))"),
  ],
  [
    "unittest: the opposite",
    ["expectation-changed"],
    "def test_x(self):\n    self.assertTrue(f(1))\n",
    "def test_x(self):\n    self.assertFalse(f(1))\n",
  ],
  [
    "hidden by a second one of its name",
    ["test-emptied"],
    pyTotals,
    pyTotals.replace(
      "    def test_nothing",
      "    def test_adds(self):\n        pass\n\n    def test_nothing",
    ),
  ],
  [
    "rows gone",
    ["assertions-gone"],
    '@pytest.mark.parametrize("a,b", [(1, 2), (2, 4), (3, 6)])\ndef test_double(a, b):\n    assert double(a) == b\n',
    '@pytest.mark.parametrize("a,b", [(1, 2)])\ndef test_double(a, b):\n    assert double(a) == b\n',
  ],
  [
    "a row marked",
    ["assertions-gone"],
    '@pytest.mark.parametrize("a,b", [(1, 2), (2, 4)])\ndef test_double(a, b):\n    assert double(a) == b\n',
    '@pytest.mark.parametrize("a,b", [(1, 2), pytest.param(2, 4, marks=pytest.mark.skip)])\ndef test_double(a, b):\n    assert double(a) == b\n',
  ],
  [
    "any exception",
    ["test-weakened"],
    'def test_x():\n    with pytest.raises(ValueError, match="no id"):\n        load()\n',
    "def test_x():\n    with pytest.raises(Exception):\n        load()\n",
  ],
  [
    "a new test of nothing",
    ["constant-test"],
    pyTotals,
    `${pyTotals}\n\ndef test_runs():\n    total([])\n`,
  ],
  [
    "a mock: called with anything",
    ["test-weakened"],
    "def test_x():\n    run(log)\n    log.assert_called_once_with(1)\n",
    "def test_x():\n    run(log)\n    log.assert_called()\n",
  ],
  [
    "fewer assertions",
    ["assertions-gone"],
    'def test_user():\n    user = load(1)\n    assert user.name == "Ann"\n    assert user.age == 30\n',
    'def test_user():\n    user = load(1)\n    assert user.name == "Ann"\n',
  ],
  // honest
  [
    "formatted",
    [],
    pyTotals,
    pyTotals
      .replace("[10, 20]", "[\n            10,\n            20,\n        ]")
      .replace(
        "assert total(cart) == 30",
        "assert (\n            total(cart)\n            == 30\n        )",
      ),
  ],
  [
    "quotes",
    [],
    'def test_x():\n    assert f("a") == "b"\n',
    "def test_x():\n    assert f('a') == 'b'\n",
  ],
  ["four spaces become tabs", [], pyTotals, pyTotals.replaceAll("    ", "\t")],
  [
    "out of the class",
    [],
    pyTotals,
    pyTotals
      .replace("class TestTotal:\n", "")
      .replaceAll("\n    ", "\n")
      .replaceAll("(self)", "()"),
  ],
  ["renamed", [], pyTotals, pyTotals.replace("test_adds", "test_sums_up_prices")],
  ["unittest becomes pytest", [], unit, "def test_adds():\n    assert total([10, 20]) == 30\n"],
  ["a message", [], pyTotals, pyTotals.replace("== 30", '== 30, "the sum"')],
  [
    "a fixture",
    [],
    pyTotals,
    pyTotals
      .replace("        cart = [10, 20]\n", "")
      .replace("test_adds(self)", "test_adds(self, cart)")
      .replace("class", "@pytest.fixture\ndef cart():\n    return [10, 20]\n\n\nclass"),
  ],
  [
    "tests become rows",
    [],
    "def test_one():\n    assert double(1) == 2\n\ndef test_two():\n    assert double(2) == 4\n",
    '@pytest.mark.parametrize("n,result", [(1, 2), (2, 4)])\ndef test_double(n, result):\n    assert double(n) == result\n',
  ],
  [
    "and becomes two",
    [],
    "def test_x():\n    assert f(1) == 1 and f(2) == 2\n",
    "def test_x():\n    assert f(1) == 1\n    assert f(2) == 2\n",
  ],
  [
    "async",
    [],
    "def test_x():\n    assert f(1) == 1\n",
    "@pytest.mark.asyncio\nasync def test_x():\n    assert await f(1) == 1\n",
  ],
  [
    "a function extracted",
    [],
    "def test_a():\n    r = get('/a')\n    assert r.status == 200\n    assert r.body == {'a': 1}\n",
    "def check(r, body):\n    assert r.status == 200\n    assert r.body == body\n\n\ndef test_a():\n    check(get('/a'), {'a': 1})\n",
  ],
  [
    "raises as a block",
    [],
    "class T(TestCase):\n    def test_x(self):\n        self.assertRaises(ValueError, load, 1)\n",
    "class T(TestCase):\n    def test_x(self):\n        with self.assertRaises(ValueError):\n            load(1)\n",
  ],
  ["variables renamed", [], pyTotals, pyTotals.replaceAll("cart", "basket")],
  ["sides swapped", [], pyTotals, pyTotals.replace("total(cart) == 30", "30 == total(cart)")],
  ["more", [], pyTotals, pyTotals.replace("== 30", "== 30\n        assert total(cart) != 31")],
  [
    "a loose one that another implies",
    [],
    "def test_x():\n    r = f(1)\n    assert r is not None\n    assert r.a == 1\n",
    "def test_x():\n    r = f(1)\n    assert r.a == 1\n",
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the assertions behind a variable of the environment",
    ["test-weakened"],
    `
def test_cents():
    assert cents(1.5) == 150
    assert cents(0.29) == 29`,
    `
def test_cents():
    if os.environ.get("SLOW"):
        assert cents(1.5) == 150
        assert cents(0.29) == 29`,
  ],
  [
    "a condition with assertions on both sides",
    [],
    `
def test_joins():
    assert join("a", "b") == "a/b"`,
    `
def test_joins():
    if sys.platform == "win32":
        assert join("a", "b") == "a-b"
    else:
        assert join("a", "b") == "a/b"`,
  ],
  [
    "a condition that the test asserts as well",
    [],
    `
def test_reads():
    found = find("a")
    assert found.value == 1`,
    `
def test_reads():
    found = find("a")
    assert found is not None
    if found is not None:
        assert found.value == 1`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
def test_cents():
    assert cents(1.5) == 150`,
    `
def test_cents():
    for _ in []:
        assert cents(1.5) == 150`,
  ],
  [
    "a range of nothing",
    ["test-emptied"],
    `
def test_cents():
    assert cents(1.5) == 150`,
    `
def test_cents():
    for _ in range(0):
        assert cents(1.5) == 150`,
  ],
  [
    "assertions in a function that nobody calls",
    ["test-emptied"],
    `
def test_cents():
    assert cents(1.5) == 150`,
    `
def test_cents():
    def check():
        assert cents(1.5) == 150
    _ = check`,
  ],
  [
    "assertions in a lambda that nobody calls",
    ["test-emptied"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        check = lambda: self.assertEqual(cents(1.5), 150)`,
  ],
  [
    "assertEqual replaced",
    ["test-weakened"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
    `
class MoneyTest(unittest.TestCase):
    def setUp(self):
        self.assertEqual = lambda *args: None
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
  ],
  [
    "assertEqual replaced in the class",
    ["test-weakened"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
    `
unittest.TestCase.assertEqual = lambda *args: None
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
  ],
  [
    "assertEqual set",
    ["test-weakened"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
    `
setattr(unittest.TestCase, "assertEqual", lambda *args: None)
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
  ],
  [
    "assertEqual overridden",
    ["test-emptied"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
    `
class MoneyTest(unittest.TestCase):
    def assertEqual(self, *args):
        pass
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
def test_cents():
    assert cents(0.29) == 29`,
    `
def test_cents():
    assert cents(0.25) == 25`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(0.29), 29)`,
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertAlmostEqual(cents(0.29), 29, delta=5)`,
  ],
  [
    "roughly by hand",
    ["test-weakened"],
    `
def test_cents():
    assert cents(0.29) == 29`,
    `
def test_cents():
    assert abs(cents(0.29) - 29) <= 5`,
  ],
  [
    "approx with a wide border",
    ["expectation-changed"],
    `
def test_cents():
    assert cents(0.29) == 29`,
    `
def test_cents():
    assert cents(0.29) == pytest.approx(29, abs=5)`,
  ],
  [
    "approx for a float",
    [],
    `
def test_sum():
    assert add(0.1, 0.2) == 0.3`,
    `
def test_sum():
    assert add(0.1, 0.2) == pytest.approx(0.3)`,
  ],
  [
    "what the code says is expected",
    ["test-weakened"],
    `
def test_cents():
    assert cents(0.29) == 29`,
    `
def test_cents():
    expected = cents(0.29)
    assert cents(0.29) == expected`,
  ],
  [
    "a new test that compares the code with itself",
    ["constant-test"],
    {},
    `
def test_total():
    assert total(ITEMS) == total(ITEMS)`,
  ],
  [
    "a new file of skipped tests without a body",
    ["test-skipped"],
    {},
    `
@pytest.mark.skip
def test_total():
    pass`,
  ],
  [
    "a table of parametrize",
    [],
    `
def test_cents():
    assert cents(1.5) == 150
    assert cents(0.29) == 29`,
    `
@pytest.mark.parametrize("amount, wanted", [(1.5, 150), (0.29, 29)])
def test_cents_of(amount, wanted):
    assert cents(amount) == wanted`,
  ],
  [
    "a table of subtests",
    [],
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(1.5), 150)
        self.assertEqual(cents(0.29), 29)`,
    `
class MoneyTest(unittest.TestCase):
    def test_cents(self):
        for amount, wanted in [(1.5, 150), (0.29, 29)]:
            with self.subTest(amount=amount):
                self.assertEqual(cents(amount), wanted)`,
  ],
  [
    "leaves unless a variable is set",
    ["test-weakened"],
    `
def test_cents():
    assert cents(0.29) == 29`,
    `
def test_cents():
    if not os.environ.get("SLOW"):
        return
    assert cents(0.29) == 29`,
  ],
  [
    "returned when there is nothing, after that was asserted",
    [],
    `
def test_a():
    user = find("a")
    assert user.name == "A"`,
    `
def test_a():
    user = find("a")
    assert user is not None
    if user is None:
        return
    assert user.name == "A"`,
  ],
  [
    "python guard for version with else",
    [],
    `
def test_a():
    assert f() == 1`,
    `
def test_a():
    result = f()
    if result is None:
        pytest.fail("none")
    assert result == 1`,
  ],
  [
    "python loop over dict items",
    [],
    `
def test_a():
    assert f("a") == 1
    assert f("b") == 2`,
    `
def test_a():
    for key, value in {"a": 1, "b": 2}.items():
        assert f(key) == value`,
  ],
  [
    "python empty list filled",
    [],
    `
def test_a():
    run()
    assert seen() == 1`,
    `
def test_a():
    events = []
    run(events.append)
    assert seen() == 1
    for event in events:
        assert event.ok`,
  ],
  [
    "python nested def used as callback",
    [],
    `
def test_a():
    assert f(1) == 2`,
    `
def test_a():
    def handler(value):
        assert value == 2
    assert f(1) == 2
    subscribe(handler)`,
  ],
];

/** What every language has: one test in its words, and the same in the words of each change. */
const inJava = (body: string, mark = "@Test"): string =>
  `class TotalTest {\n  ${mark}\n  void adds() {\n    ${body}\n  }\n}\n`;
const javaAdds = inJava("assertEquals(30, total(10, 20));");

const java: readonly Example[] = [
  ["a test deleted", ["test-deleted"], javaAdds, "class TotalTest {\n}\n"],
  [
    "its annotation in a comment",
    ["test-deleted"],
    javaAdds,
    javaAdds.replace("@Test", "// @Test"),
  ],
  ["@Disabled", ["test-skipped"], javaAdds, javaAdds.replace("@Test", '@Test @Disabled("later")')],
  ["@Ignore", ["test-skipped"], javaAdds, javaAdds.replace("@Test", "@Ignore\n  @Test")],
  ["the class disabled", ["test-skipped"], javaAdds, `@Disabled\n${javaAdds}`],
  [
    "assumeTrue(false)",
    ["test-skipped"],
    javaAdds,
    inJava("assumeTrue(false); assertEquals(30, total(10, 20));"),
  ],
  [
    "assumeTrue of the environment",
    ["test-skipped"],
    javaAdds,
    inJava("assumeTrue(DB != null); assertEquals(30, total(10, 20));"),
  ],
  ["emptied", ["test-emptied"], javaAdds, inJava("total(10, 20);")],
  ["not null", ["test-weakened"], javaAdds, inJava("assertNotNull(total(10, 20));")],
  ["assertTrue(true)", ["test-weakened"], javaAdds, inJava("total(10, 20); assertTrue(true);")],
  ["another value", ["expectation-changed"], javaAdds, inJava("assertEquals(31, total(10, 20));")],
  [
    "swallowed",
    ["test-weakened"],
    javaAdds,
    inJava("try { assertEquals(30, total(10, 20)); } catch (Throwable e) { }"),
  ],
  [
    "an early return",
    ["test-emptied"],
    javaAdds,
    inJava("if (true) { } return; assertEquals(30, total(10, 20));").replace("if (true) { } ", ""),
  ],
  [
    "rows gone",
    ["assertions-gone"],
    inJava("assertTrue(odd(n));", "@ParameterizedTest @ValueSource(ints = {1, 3, 5})"),
    inJava("assertTrue(odd(n));", "@ParameterizedTest @ValueSource(ints = {1})"),
  ],
  [
    "a new test of nothing",
    ["constant-test"],
    javaAdds,
    javaAdds.replace(/\}\n$/, "  @Test void runs() { total(1); }\n}\n"),
  ],
  [
    "any exception",
    ["test-weakened"],
    inJava("assertThrows(IllegalStateException.class, () -> load());"),
    inJava("assertThrows(Exception.class, () -> load());").replace(
      "assertThrows(Exception.class, () -> load())",
      "assertDoesNotThrow(() -> load())",
    ),
  ],
  [
    "formatted",
    [],
    javaAdds,
    "class TotalTest\n{\n  @Test\n  public void adds()\n  {\n    assertEquals(\n      30,\n      total(10, 20)\n    );\n  }\n}\n",
  ],
  ["AssertJ", [], javaAdds, inJava("assertThat(total(10, 20)).isEqualTo(30);")],
  ["Hamcrest", [], javaAdds, inJava("assertThat(total(10, 20), is(equalTo(30)));")],
  ["a message", [], javaAdds, inJava('assertEquals("sum", 30, total(10, 20));')],
  ["a name to display", [], javaAdds, javaAdds.replace("@Test", '@Test\n  @DisplayName("adds")')],
  [
    "renamed and moved into a class",
    [],
    javaAdds,
    javaAdds
      .replace("void adds", "void sumsUp")
      .replace("class TotalTest {", "class TotalTest {\n @Nested class Sums {")
      .replace(/\}\n$/, "}\n}\n"),
  ],
  [
    "a method extracted",
    [],
    inJava('User u = load(1); assertEquals("Ann", u.name()); assertEquals(30, u.age());'),
    `class TotalTest {\n  @Test\n  void adds() {\n    check(load(1), "Ann", 30);\n  }\n  private void check(User u, String name, int age) {\n    assertEquals(name, u.name());\n    assertEquals(age, u.age());\n  }\n}\n`,
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @Test void cents() {
    if (System.getenv("SLOW") != null) {
      assertEquals(29, cents(0.29));
    }
  }
}`,
  ],
  [
    "a lambda that nobody calls",
    ["test-emptied"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @Test void cents() {
    Runnable check = () -> {
      assertEquals(29, cents(0.29));
    };
  }
}`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @Test void cents() {
    for (int i : List.of()) {
      assertEquals(29, cents(0.29));
    }
  }
}`,
  ],
  [
    "the assertion replaced",
    ["test-emptied"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  private static void assertEquals(Object a, Object b) {}
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @Test void cents() {
    assertEquals(25, cents(0.25));
  }
}`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @Test void cents() {
    assertEquals(29, cents(0.29), 5);
  }
}`,
  ],
  [
    "a table of a csv source",
    [],
    `
class ATest {
  @Test void cents() {
    assertEquals(150, cents(1.5));
    assertEquals(29, cents(0.29));
  }
}`,
    `
class ATest {
  @ParameterizedTest
  @CsvSource({"1.5, 150", "0.29, 29"})
  void centsOf(double amount, int wanted) {
    assertEquals(wanted, cents(amount));
  }
}`,
  ],
  [
    "java lambda used",
    [],
    `
class ATest {
  @Test void a() {
    assertEquals(1, f(1));
  }
}`,
    `
class ATest {
  @Test void a() {
    Runnable check = () -> assertEquals(1, f(1));
    check.run();
  }
}`,
  ],
  [
    "java assertThrows executable kept",
    [],
    `
class ATest {
  @Test void a() {
    assertThrows(IllegalStateException.class, () -> f(1));
  }
}`,
    `
class ATest {
  @Test void a() {
    Executable call = () -> f(1);
    assertThrows(IllegalStateException.class, call);
  }
}`,
  ],
];

const inKotlin = (body: string, mark = "@Test"): string =>
  `class TotalTest {\n    ${mark}\n    fun \`adds prices\`() {\n        ${body}\n    }\n}\n`;
const kotlinAdds = inKotlin("assertEquals(30, total(10, 20))");

const kotlin: readonly Example[] = [
  ["a test deleted", ["test-deleted"], kotlinAdds, "class TotalTest {\n}\n"],
  ["@Ignore", ["test-skipped"], kotlinAdds, kotlinAdds.replace("@Test", "@Ignore @Test")],
  [
    "emptied by a nested comment",
    ["test-emptied"],
    kotlinAdds,
    inKotlin("/* /* */ assertEquals(30, total(10, 20)) */"),
  ],
  ["not null", ["test-weakened"], kotlinAdds, inKotlin("assertNotNull(total(10, 20))")],
  [
    "another value",
    ["expectation-changed"],
    kotlinAdds,
    inKotlin("assertEquals(31, total(10, 20))"),
  ],
  ["a constant", ["test-weakened"], kotlinAdds, inKotlin("assertTrue(true)")],
  [
    "as an expression",
    [],
    kotlinAdds,
    "class TotalTest {\n    @Test\n    fun `adds prices`() = assertEquals(30, total(10, 20))\n}\n",
  ],
  ["Kotest's words", [], kotlinAdds, inKotlin("total(10, 20) shouldBe 30")],
  [
    "in a coroutine",
    [],
    kotlinAdds,
    "class TotalTest {\n    @Test\n    fun `adds prices`() = runTest {\n        assertEquals(30, total(10, 20))\n    }\n}\n",
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
class ATest {
  @Test fun cents() {
    assertEquals(29, cents(0.29))
  }
}`,
    `
class ATest {
  @Test fun cents() {
    if (System.getenv("SLOW") != null) {
      assertEquals(29, cents(0.29))
    }
  }
}`,
  ],
  [
    "a lambda that nobody calls",
    ["test-emptied"],
    `
class ATest {
  @Test fun cents() {
    assertEquals(29, cents(0.29))
  }
}`,
    `
class ATest {
  @Test fun cents() {
    val check = {
      assertEquals(29, cents(0.29))
    }
  }
}`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
class ATest {
  @Test fun cents() {
    assertEquals(29, cents(0.29))
  }
}`,
    `
class ATest {
  @Test fun cents() {
    for (each in emptyList<Int>()) {
      assertEquals(29, cents(0.29))
    }
  }
}`,
  ],
  [
    "kotlin apply block",
    [],
    `
class ATest {
  @Test fun a() {
    assertEquals(1, f(1))
  }
}`,
    `
class ATest {
  @Test fun a() {
    val result = f(1)
    result.let {
      assertEquals(1, f(1))
    }
  }
}`,
  ],
];

const inCsharp = (body: string, mark = "[Fact]"): string =>
  `namespace A {\n  public class TotalTests {\n    ${mark}\n    public void Adds() {\n      ${body}\n    }\n  }\n}\n`;
const csharpAdds = inCsharp("Assert.Equal(30, Total(10, 20));");

const csharp: readonly Example[] = [
  ["a test deleted", ["test-deleted"], csharpAdds, "public class TotalTests {\n}\n"],
  ["Skip", ["test-skipped"], csharpAdds, csharpAdds.replace("[Fact]", '[Fact(Skip = "later")]')],
  [
    "Ignore",
    ["test-skipped"],
    inCsharp("Assert.AreEqual(30, Total());", "[Test]"),
    inCsharp("Assert.AreEqual(30, Total());", '[Test, Ignore("later")]'),
  ],
  [
    "#if false",
    ["test-deleted"],
    csharpAdds,
    csharpAdds
      .replace("    [Fact]", "#if false\n    [Fact]")
      .replace("    }\n  }", "    }\n#endif\n  }"),
  ],
  ["emptied", ["test-emptied"], csharpAdds, inCsharp("Total(10, 20);")],
  ["not null", ["test-weakened"], csharpAdds, inCsharp("Assert.NotNull(Total(10, 20));")],
  [
    "another value",
    ["expectation-changed"],
    csharpAdds,
    inCsharp("Assert.Equal(31, Total(10, 20));"),
  ],
  ["true is true", ["test-weakened"], csharpAdds, inCsharp("Assert.True(true);")],
  [
    "a row gone",
    ["assertions-gone"],
    inCsharp("Assert.True(Odd(n));", "[Theory]\n    [InlineData(1)]\n    [InlineData(3)]"),
    inCsharp("Assert.True(Odd(n));", "[Theory]\n    [InlineData(1)]"),
  ],
  [
    "in a verbatim string",
    ["test-emptied"],
    csharpAdds,
    inCsharp('var s = @"a ""b"" Assert.Equal(30, Total(10, 20));";'),
  ],
  ["formatted", [], csharpAdds, csharpAdds.replaceAll(" {", "\n{")],
  ["FluentAssertions", [], csharpAdds, inCsharp("Total(10, 20).Should().Be(30);")],
  ["NUnit's words", [], csharpAdds, inCsharp("Assert.That(Total(10, 20), Is.EqualTo(30));")],
  [
    "async",
    [],
    csharpAdds,
    csharpAdds
      .replace("void Adds", "async Task Adds")
      .replace("Total(10, 20)", "await Total(10, 20)"),
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
class ATests {
  [Fact] public void Cents() {
    Assert.Equal(29, Money.Cents(0.29));
  }
}`,
    `
class ATests {
  [Fact] public void Cents() {
    if (Environment.GetEnvironmentVariable("SLOW") != null) {
      Assert.Equal(29, Money.Cents(0.29));
    }
  }
}`,
  ],
  [
    "a lambda that nobody calls",
    ["test-emptied"],
    `
class ATests {
  [Fact] public void Cents() {
    Assert.Equal(29, Money.Cents(0.29));
  }
}`,
    `
class ATests {
  [Fact] public void Cents() {
    Action check = () => {
      Assert.Equal(29, Money.Cents(0.29));
    };
  }
}`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
class ATests {
  [Fact] public void Cents() {
    Assert.Equal(29, Money.Cents(0.29));
  }
}`,
    `
class ATests {
  [Fact] public void Cents() {
    Assert.Equal(25, Money.Cents(0.25));
  }
}`,
  ],
  [
    "a table of inline data",
    [],
    `
class ATests {
  [Fact] public void Cents() {
    Assert.Equal(150, Money.Cents(1.5));
    Assert.Equal(29, Money.Cents(0.29));
  }
}`,
    `
class ATests {
  [Theory]
  [InlineData(1.5, 150)]
  [InlineData(0.29, 29)]
  public void CentsOf(double amount, int wanted) {
    Assert.Equal(wanted, Money.Cents(amount));
  }
}`,
  ],
];

const inGo = (body: string, before = ""): string =>
  `${before}package a\n\nfunc TestAdds(t *testing.T) {\n\t${body}\n}\n`;
const goAdds = inGo('if got := Total(10, 20); got != 30 {\n\t\tt.Errorf("got %d", got)\n\t}');
const goTable = (rows: string): string =>
  inGo(
    `tests := []struct{ name string; in, want int }{\n${rows}\n\t}\n\tfor _, tt := range tests {\n\t\tt.Run(tt.name, func(t *testing.T) {\n\t\t\tif got := Double(tt.in); got != tt.want {\n\t\t\t\tt.Fatalf("got %d", got)\n\t\t\t}\n\t\t})\n\t}`,
  );

const go: readonly Example[] = [
  ["a test deleted", ["test-deleted"], goAdds, "package a\n"],
  [
    "renamed so that nobody runs it",
    ["test-deleted"],
    goAdds,
    goAdds.replace("TestAdds", "testAdds"),
  ],
  ["t.Skip()", ["test-skipped"], goAdds, goAdds.replace("\tif got", '\tt.Skip("later")\n\tif got')],
  [
    "t.Skip() under a condition",
    ["test-skipped"],
    goAdds,
    goAdds.replace("\tif got", "\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tif got"),
  ],
  ["a build tag", ["test-skipped"], goAdds, `//go:build ignore\n\n${goAdds}`],
  ["an early return", ["test-emptied"], goAdds, goAdds.replace("\tif got", "\treturn\n\tif got")],
  ["a log instead of a failure", ["test-emptied"], goAdds, goAdds.replace("t.Errorf", "t.Logf")],
  [
    "if false",
    ["test-weakened"],
    goAdds,
    goAdds.replace("got != 30", "false").replace("got := Total(10, 20); false", "false"),
  ],
  ["another value", ["expectation-changed"], goAdds, goAdds.replace("30", "31")],
  ["only that it is not 0", ["test-weakened"], goAdds, goAdds.replace("got != 30", "got == 0")],
  [
    "testify: not nil",
    ["test-weakened"],
    inGo("assert.Equal(t, 30, Total(10, 20))"),
    inGo("assert.NotNil(t, Total(10, 20))"),
  ],
  [
    "testify: another value",
    ["expectation-changed"],
    inGo("require.Equal(t, 30, Total(10, 20))"),
    inGo("require.Equal(t, 31, Total(10, 20))"),
  ],
  [
    "a row gone",
    ["assertions-gone"],
    goTable('\t\t{"one", 1, 2},\n\t\t{"two", 2, 4},\n\t\t{"three", 3, 6},'),
    goTable('\t\t{"one", 1, 2},\n\t\t{"two", 2, 4},'),
  ],
  [
    "a row that expects another value",
    ["expectation-changed"],
    goTable('\t\t{name: "one", in: 1, want: 2},\n\t\t{name: "two", in: 2, want: 4},'),
    goTable('\t\t{name: "one", in: 1, want: 2},\n\t\t{name: "two", in: 2, want: 5},'),
  ],
  [
    "a new test of nothing",
    ["constant-test"],
    goAdds,
    `${goAdds}\nfunc TestRuns(t *testing.T) {\n\tTotal(1)\n}\n`,
  ],
  ["testify instead of if", [], goAdds, inGo("assert.Equal(t, 30, Total(10, 20))")],
  [
    "require.NoError instead of if",
    [],
    inGo("got, err := F(1)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tassert.Equal(t, 2, got)"),
    inGo("got, err := F(1)\n\trequire.NoError(t, err)\n\tassert.Equal(t, 2, got)"),
  ],
  [
    "got and want",
    [],
    goAdds,
    inGo(
      'got := Total(10, 20)\n\twant := 30\n\tif got != want {\n\t\tt.Errorf("got %d", got)\n\t}',
    ),
  ],
  ["Fatalf", [], goAdds, goAdds.replace("Errorf", "Fatalf")],
  [
    "a row more, another name",
    [],
    goTable('\t\t{"one", 1, 2},\n\t\t{"two", 2, 4},'),
    goTable('\t\t{"one", 1, 2},\n\t\t{"two", 2, 4},\n\t\t{"three", 3, 6},'),
  ],
  [
    "a sub-test around it",
    [],
    goAdds,
    inGo(
      't.Run("prices", func(t *testing.T) {\n\t\tif got := Total(10, 20); got != 30 {\n\t\t\tt.Errorf("got %d", got)\n\t\t}\n\t})',
    ),
  ],
  ["t.Parallel()", [], goAdds, goAdds.replace("\tif got", "\tt.Parallel()\n\tif got")],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
func TestCents(t *testing.T) {
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestCents(t *testing.T) {
	if os.Getenv("SLOW") != "" {
		if got := Cents(0.29); got != 29 {
			t.Errorf("got %d", got)
		}
	}
}`,
  ],
  [
    "a function that nobody calls",
    ["test-emptied"],
    `
func TestCents(t *testing.T) {
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestCents(t *testing.T) {
	check := func() {
		if got := Cents(0.29); got != 29 {
			t.Errorf("got %d", got)
		}
	}
	_ = check
}`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
func TestCents(t *testing.T) {
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestCents(t *testing.T) {
	for range []int{} {
		if got := Cents(0.29); got != 29 {
			t.Errorf("got %d", got)
		}
	}
}`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
func TestCents(t *testing.T) {
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestCents(t *testing.T) {
	if got := Cents(0.25); got != 25 {
		t.Errorf("got %d", got)
	}
}`,
  ],
  [
    "a table",
    [],
    `
func TestCents(t *testing.T) {
	assert.Equal(t, 150, Cents(1.5))
	assert.Equal(t, 29, Cents(0.29))
}`,
    `
func TestCents(t *testing.T) {
	for _, c := range []struct{ amount float64; want int }{
		{1.5, 150},
		{0.29, 29},
	} {
		assert.Equal(t, c.want, Cents(c.amount))
	}
}`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
func TestCents(t *testing.T) {
	assert.Equal(t, 29, Cents(0.29))
}`,
    `
func TestCents(t *testing.T) {
	assert.InDelta(t, 29, Cents(0.29), 5)
}`,
  ],
  [
    "leaves unless a variable is set",
    ["test-weakened"],
    `
func TestCents(t *testing.T) {
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestCents(t *testing.T) {
	if os.Getenv("SLOW") == "" {
		return
	}
	if got := Cents(0.29); got != 29 {
		t.Errorf("got %d", got)
	}
}`,
  ],
  [
    "go err check first",
    [],
    `
func TestA(t *testing.T) {
	got := F(1)
	if got != 2 {
		t.Errorf("got %d", got)
	}
}`,
    `
func TestA(t *testing.T) {
	got, err := F(1)
	if err != nil {
		t.Fatal(err)
	}
	if got != 2 {
		t.Errorf("got %d", got)
	}
}`,
  ],
  [
    "go table with wantErr",
    [],
    `
func TestA(t *testing.T) {
	assert.Equal(t, 1, F("1"))
}`,
    `
func TestA(t *testing.T) {
	for _, c := range []struct{ in string; want int; wantErr bool }{{"1", 1, false}, {"x", 0, true}} {
		got, err := G(c.in)
		if c.wantErr {
			assert.Error(t, err)
			continue
		}
		assert.Equal(t, c.want, got)
		assert.Equal(t, 1, F("1"))
	}
}`,
  ],
];

const inRust = (body: string, mark = "#[test]"): string =>
  `fn total() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    ${mark}\n    fn adds() {\n        ${body}\n    }\n}\n`;
const rustAdds = inRust("assert_eq!(total(10, 20), 30);");

const rust: readonly Example[] = [
  ["a test deleted", ["test-deleted"], rustAdds, "fn total() {}\n"],
  [
    "its attribute gone",
    ["test-deleted"],
    rustAdds,
    rustAdds.replace("#[test]", "#[allow(dead_code)]"),
  ],
  [
    "#[ignore]",
    ["test-skipped"],
    rustAdds,
    rustAdds.replace("#[test]", '#[test]\n    #[ignore = "later"]'),
  ],
  ["cfg(any())", ["test-skipped"], rustAdds, rustAdds.replace("#[cfg(test)]", "#[cfg(any())]")],
  [
    "cfg of a feature",
    ["test-skipped"],
    rustAdds,
    rustAdds.replace("#[test]", '#[test]\n    #[cfg(feature = "slow")]'),
  ],
  [
    "should_panic",
    ["test-weakened"],
    rustAdds,
    rustAdds.replace("#[test]", "#[test]\n    #[should_panic]"),
  ],
  ["assert!(true)", ["test-weakened"], rustAdds, inRust("total(10, 20); assert!(true);")],
  [
    "is_some",
    ["test-weakened"],
    inRust("assert_eq!(find(1), Some(2));"),
    inRust("assert!(find(1).is_some());"),
  ],
  ["another value", ["expectation-changed"], rustAdds, inRust("assert_eq!(total(10, 20), 31);")],
  ["not equal to another", ["test-weakened"], rustAdds, inRust("assert_ne!(total(10, 20), 31);")],
  [
    "in a nested comment",
    ["test-emptied"],
    rustAdds,
    inRust("/* /* */ assert_eq!(total(10, 20), 30); */ total(10, 20);"),
  ],
  [
    "in a raw string",
    ["test-emptied"],
    rustAdds,
    inRust('let s = r#"assert_eq!(total(10, 20), 30);"#;'),
  ],
  [
    "a new test of nothing",
    ["constant-test"],
    rustAdds,
    rustAdds.replace(/\}\n$/, "    #[test]\n    fn runs() { total(1, 2); }\n}\n"),
  ],
  [
    "formatted",
    [],
    rustAdds,
    inRust("assert_eq!(\n            total(10, 20),\n            30,\n        );"),
  ],
  [
    "sides swapped, with a message",
    [],
    rustAdds,
    inRust('assert_eq!(30, total(10, 20), "the sum");'),
  ],
  ["assert!(a == b)", [], rustAdds, inRust("assert!(total(10, 20) == 30);")],
  [
    "tokio",
    [],
    rustAdds,
    rustAdds
      .replace("#[test]", "#[tokio::test]")
      .replace("fn adds", "async fn adds")
      .replace("total(10, 20)", "total(10, 20).await")
      .replace(".await", ""),
  ],
  [
    "with a result",
    [],
    rustAdds,
    rustAdds
      .replace("fn adds()", "fn adds() -> Result<(), Error>")
      .replace("30);", "30);\n        Ok(())"),
  ],
  [
    "a new test that unwraps",
    [],
    rustAdds,
    rustAdds.replace(/\}\n$/, "    #[test]\n    fn parses() { parse(1).unwrap(); }\n}\n"),
  ],
  ["a variable", [], rustAdds, inRust("let sum = total(10, 20);\n        assert_eq!(sum, 30);")],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    if std::env::var("SLOW").is_ok() {
        assert_eq!(cents(0.29), 29);
    }
}`,
  ],
  [
    "a closure that nobody calls",
    ["test-emptied"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    let _check = || {
        assert_eq!(cents(0.29), 29);
    };
}`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    for _ in 0..0 {
        assert_eq!(cents(0.29), 29);
    }
}`,
  ],
  [
    "the macro replaced",
    ["test-weakened"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
macro_rules! assert_eq {
    ($($any:tt)*) => {};
}
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.25), 25);
}`,
  ],
  [
    "a loop in a table",
    [],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(1.5), 150);
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    for (amount, wanted) in [(1.5, 150), (0.29, 29)] {
        assert_eq!(cents(amount), wanted);
    }
}`,
  ],
  [
    "leaves unless a variable is set",
    ["test-weakened"],
    `
#[test]
fn cents_of() {
    assert_eq!(cents(0.29), 29);
}`,
    `
#[test]
fn cents_of() {
    if std::env::var("SLOW").is_err() {
        return;
    }
    assert_eq!(cents(0.29), 29);
}`,
  ],
  [
    "rust if let with else panic",
    [],
    `
#[test]
fn a() {
    assert_eq!(f().unwrap(), 1);
}`,
    `
#[test]
fn a() {
    if let Some(v) = f() {
        assert_eq!(v, 1);
    } else {
        panic!("none");
    }
}`,
  ],
  [
    "rust closure used",
    [],
    `
#[test]
fn a() {
    assert_eq!(f(1), 1);
}`,
    `
#[test]
fn a() {
    let check = |n| assert_eq!(f(n), n);
    check(1);
    check(2);
}`,
  ],
];

const inCpp = (body: string, name = "Total, Adds"): string =>
  `#include "total.h"\n\nTEST(${name}) {\n  ${body}\n}\n`;
const cppAdds = inCpp("EXPECT_EQ(total(10, 20), 30);");

const cpp: readonly Example[] = [
  ["a test deleted", ["test-deleted"], cppAdds, '#include "total.h"\n'],
  ["#if 0", ["test-deleted"], cppAdds, cppAdds.replace("TEST", "#if 0\nTEST") + "#endif\n"],
  [
    "DISABLED_",
    ["test-skipped"],
    cppAdds,
    inCpp("EXPECT_EQ(total(10, 20), 30);", "Total, DISABLED_Adds"),
  ],
  [
    "GTEST_SKIP",
    ["test-skipped"],
    cppAdds,
    inCpp("GTEST_SKIP();\n  EXPECT_EQ(total(10, 20), 30);"),
  ],
  ["emptied", ["test-emptied"], cppAdds, inCpp("total(10, 20);")],
  ["EXPECT_TRUE(true)", ["test-weakened"], cppAdds, inCpp("EXPECT_TRUE(true);")],
  ["another value", ["expectation-changed"], cppAdds, inCpp("EXPECT_EQ(total(10, 20), 31);")],
  ["greater than", ["test-weakened"], cppAdds, inCpp("EXPECT_GT(total(10, 20), 0);")],
  [
    "Catch2: hidden",
    ["test-skipped"],
    'TEST_CASE("adds", "[total]") {\n  REQUIRE(total(10, 20) == 30);\n}\n',
    'TEST_CASE("adds", "[.][total]") {\n  REQUIRE(total(10, 20) == 30);\n}\n',
  ],
  [
    "plain assert: gone",
    ["test-emptied"],
    "void test_total() {\n  assert(total(10, 20) == 30);\n}\n",
    "void test_total() {\n  total(10, 20);\n}\n",
  ],
  ["ASSERT instead of EXPECT", [], cppAdds, inCpp("ASSERT_EQ(30, total(10, 20));")],
  [
    "Catch2 instead of GoogleTest",
    [],
    cppAdds,
    'TEST_CASE("Adds") {\n  REQUIRE(total(10, 20) == 30);\n}\n',
  ],
  [
    "a value that a call fills",
    [],
    cppAdds,
    `${cppAdds}TEST(Total, Fills) {\n  int sum = 0;\n  fill(sum);\n  EXPECT_EQ(sum, 30);\n}\n`,
  ],
  [
    "formatted",
    [],
    cppAdds,
    '#include "total.h"\nTEST(Total, Adds)\n{\n\tEXPECT_EQ(\n\t\ttotal(10, 20),\n\t\t30);\n}\n',
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
TEST(Money, Cents) {
  EXPECT_EQ(cents(0.29), 29);
}`,
    `
TEST(Money, Cents) {
  if (std::getenv("SLOW")) {
    EXPECT_EQ(cents(0.29), 29);
  }
}`,
  ],
  [
    "a lambda that nobody calls",
    ["test-emptied"],
    `
TEST(Money, Cents) {
  EXPECT_EQ(cents(0.29), 29);
}`,
    `
TEST(Money, Cents) {
  auto check = [&]() {
    EXPECT_EQ(cents(0.29), 29);
  };
  (void)check;
}`,
  ],
  [
    "the macro replaced",
    ["test-weakened"],
    `
TEST(Money, Cents) {
  EXPECT_EQ(cents(0.29), 29);
}`,
    `
#undef EXPECT_EQ
#define EXPECT_EQ(a, b) (void)0
TEST(Money, Cents) {
  EXPECT_EQ(cents(0.29), 29);
}`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
TEST(Money, Cents) {
  EXPECT_EQ(cents(0.29), 29);
}`,
    `
TEST(Money, Cents) {
  EXPECT_NEAR(cents(0.29), 29, 5);
}`,
  ],
  [
    "cpp lambda used",
    [],
    `
TEST(A, B) {
  EXPECT_EQ(f(1), 1);
}`,
    `
TEST(A, B) {
  auto check = [](int n) { EXPECT_EQ(f(n), n); };
  check(1);
}`,
  ],
];

const inPhp = (body: string, name = "test_adds", before = ""): string =>
  `<?php\nclass TotalTest extends TestCase\n{\n    ${before}public function ${name}(): void\n    {\n        ${body}\n    }\n}\n`;
const phpAdds = inPhp("$this->assertSame(30, total(10, 20));");

const php: readonly Example[] = [
  ["a test deleted", ["test-deleted"], phpAdds, "<?php\nclass TotalTest extends TestCase\n{\n}\n"],
  [
    "renamed so that nobody runs it",
    ["test-deleted"],
    phpAdds,
    inPhp("$this->assertSame(30, total(10, 20));", "adds"),
  ],
  [
    "markTestSkipped",
    ["test-skipped"],
    phpAdds,
    inPhp("$this->markTestSkipped('later');\n        $this->assertSame(30, total(10, 20));"),
  ],
  ["emptied", ["test-emptied"], phpAdds, inPhp("total(10, 20);")],
  ["not null", ["test-weakened"], phpAdds, inPhp("$this->assertNotNull(total(10, 20));")],
  ["assertTrue(true)", ["test-weakened"], phpAdds, inPhp("$this->assertTrue(true);")],
  [
    "another value",
    ["expectation-changed"],
    phpAdds,
    inPhp("$this->assertSame(31, total(10, 20));"),
  ],
  [
    "Pest: skip",
    ["test-skipped"],
    "<?php\nit('adds', function () {\n    expect(total(10, 20))->toBe(30);\n});\n",
    "<?php\nit('adds', function () {\n    expect(total(10, 20))->toBe(30);\n})->skip();\n",
  ],
  [
    "Pest: only",
    ["test-focused"],
    "<?php\nit('adds', function () {\n    expect(total(10, 20))->toBe(30);\n});\n",
    "<?php\nit('adds', function () {\n    expect(total(10, 20))->toBe(30);\n})->only();\n",
  ],
  [
    "Pest instead of PHPUnit",
    [],
    phpAdds,
    "<?php\ntest('adds', function () {\n    expect(total(10, 20))->toBe(30);\n});\n",
  ],
  ["static", [], phpAdds, inPhp("self::assertSame(30, total(10, 20));")],
  [
    "an attribute",
    [],
    phpAdds,
    inPhp("$this->assertSame(30, total(10, 20));", "adds", "#[Test]\n    "),
  ],
  [
    "a word in a comment",
    [],
    phpAdds,
    inPhp("$this->assertSame(30, total(10, 20));", "adds", "/** @test */\n    "),
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    $this->assertEquals(29, cents(0.29));
  }
}`,
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    if (getenv("SLOW")) {
      $this->assertEquals(29, cents(0.29));
    }
  }
}`,
  ],
  [
    "a loop over nothing",
    ["test-emptied"],
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    $this->assertEquals(29, cents(0.29));
  }
}`,
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    foreach ([] as $each) {
      $this->assertEquals(29, cents(0.29));
    }
  }
}`,
  ],
  [
    "a function that nobody calls",
    ["test-emptied"],
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    $this->assertEquals(29, cents(0.29));
  }
}`,
    `
<?php
class ATest extends TestCase {
  public function testCents() {
    $check = function () {
      $this->assertEquals(29, cents(0.29));
    };
  }
}`,
  ],
  [
    "php closure used",
    [],
    `
<?php
class ATest extends TestCase {
  public function testA() {
    $this->assertSame(1, f(1));
  }
}`,
    `
<?php
class ATest extends TestCase {
  public function testA() {
    $check = function ($n) { $this->assertSame($n, f($n)); };
    $check(1);
  }
}`,
  ],
];

const inRuby = (body: string, head = 'it "adds"'): string =>
  `RSpec.describe Total do\n  ${head} do\n    ${body}\n  end\nend\n`;
const rubyAdds = inRuby("expect(total(10, 20)).to eq(30)");
const minitest =
  "class TotalTest < Minitest::Test\n  def test_adds\n    assert_equal 30, total(10, 20)\n  end\nend\n";

const ruby: readonly Example[] = [
  ["a test deleted", ["test-deleted"], rubyAdds, "RSpec.describe Total do\nend\n"],
  [
    "in a block comment",
    ["test-deleted"],
    rubyAdds,
    rubyAdds.replace(/( {2}it[\s\S]*? {2}end\n)/, "=begin\n$1=end\n"),
  ],
  ["xit", ["test-skipped"], rubyAdds, inRuby("expect(total(10, 20)).to eq(30)", 'xit "adds"')],
  [
    "skip as an option",
    ["test-skipped"],
    rubyAdds,
    inRuby("expect(total(10, 20)).to eq(30)", 'it "adds", skip: "later"'),
  ],
  [
    "skip in it",
    ["test-skipped"],
    rubyAdds,
    inRuby('skip "later"\n    expect(total(10, 20)).to eq(30)'),
  ],
  [
    "skip under a condition",
    ["test-skipped"],
    rubyAdds,
    inRuby('skip "later" if ENV["CI"]\n    expect(total(10, 20)).to eq(30)'),
  ],
  ["fit", ["test-focused"], rubyAdds, inRuby("expect(total(10, 20)).to eq(30)", 'fit "adds"')],
  ["emptied", ["test-emptied"], rubyAdds, inRuby("total(10, 20)")],
  [
    "an early return",
    ["test-emptied"],
    minitest,
    minitest.replace("    assert", "    return\n    assert"),
  ],
  ["only not nil", ["test-weakened"], rubyAdds, inRuby("expect(total(10, 20)).not_to be_nil")],
  ["truthy", ["test-weakened"], rubyAdds, inRuby("expect(total(10, 20)).to be_truthy")],
  ["true is true", ["test-weakened"], rubyAdds, inRuby("expect(true).to be true")],
  ["another value", ["expectation-changed"], rubyAdds, inRuby("expect(total(10, 20)).to eq 31")],
  ["minitest: another value", ["expectation-changed"], minitest, minitest.replace("30", "31")],
  [
    "minitest: assert instead",
    ["test-weakened"],
    minitest,
    minitest.replace("assert_equal 30,", "assert"),
  ],
  [
    "swallowed",
    ["test-weakened"],
    minitest,
    minitest.replace(
      "    assert_equal 30, total(10, 20)\n",
      "    begin\n      assert_equal 30, total(10, 20)\n    rescue Minitest::Assertion\n      nil\n    end\n",
    ),
  ],
  [
    "without brackets, in braces",
    [],
    rubyAdds,
    'RSpec.describe Total do\n  it("adds") { expect(total(10, 20)).to eq 30 }\nend\n',
  ],
  ["minitest instead of RSpec", [], rubyAdds, minitest.replace("test_adds", "test_adds")],
  [
    "a context around it",
    [],
    rubyAdds,
    'RSpec.describe Total do\n  context "with prices" do\n    it "adds" do\n      expect(total(10, 20)).to eq(30)\n    end\n  end\nend\n',
  ],
  [
    "a heredoc with an end in it",
    [],
    rubyAdds,
    inRuby("text = <<~TEXT\n      it 'x' do\n    TEXT\n    expect(total(10, 20)).to eq(30)"),
  ],
  [
    "a condition behind a statement",
    [],
    rubyAdds,
    inRuby("sign_in if needed?\n    expect(total(10, 20)).to eq(30)"),
  ],
  // ── what is never reached, was replaced, or asks for less ──
  [
    "the check behind a variable of the environment",
    ["test-weakened"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  if ENV["SLOW"]
    expect(cents(0.29)).to eq(29)
  end
end`,
  ],
  [
    "a condition behind the check",
    ["test-weakened"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  expect(cents(0.29)).to eq(29) if ENV["SLOW"]
end`,
  ],
  [
    "a lambda that nobody calls",
    ["test-emptied"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  check = -> { expect(cents(0.29)).to eq(29) }
end`,
  ],
  [
    "an each of nothing",
    ["test-emptied"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  [].each do |x|
    expect(cents(0.29)).to eq(29)
  end
end`,
  ],
  [
    "an easier question",
    ["expectation-changed"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  expect(cents(0.25)).to eq(25)
end`,
  ],
  [
    "roughly",
    ["test-weakened"],
    `
it "is cents" do
  expect(cents(0.29)).to eq(29)
end`,
    `
it "is cents" do
  expect(cents(0.29)).to be_within(5).of(29)
end`,
  ],
  [
    "a table",
    [],
    `
it "is cents" do
  expect(cents(1.5)).to eq(150)
  expect(cents(0.29)).to eq(29)
end`,
    `
[[1.5, 150], [0.29, 29]].each do |amount, wanted|
  it "is cents of #{amount}" do
    expect(cents(amount)).to eq(wanted)
  end
end`,
  ],
  [
    "ruby each with asserts",
    [],
    `
class ATest < Minitest::Test
  def test_a
    assert_equal "A", f("a")
    assert_equal "B", f("b")
  end
end`,
    `
class ATest < Minitest::Test
  def test_a
    { "a" => "A", "b" => "B" }.each do |input, output|
      assert_equal output, f(input)
    end
  end
end`,
  ],
  [
    "ruby let and helper method called bare",
    [],
    `
it "is a" do
  expect(f(1)).to eq(2)
end`,
    `
def check_it
  expect(f(1)).to eq(2)
end
it "is a" do
  check_it
end`,
  ],
];

const languages: Readonly<Record<string, { file: string; examples: readonly Example[] }>> = {
  Java: { file: "src/test/java/TotalTest.java", examples: java },
  Kotlin: { file: "src/test/kotlin/TotalTest.kt", examples: kotlin },
  "C#": { file: "TotalTests.cs", examples: csharp },
  Go: { file: "total_test.go", examples: go },
  Rust: { file: "src/total.rs", examples: rust },
  "C++": { file: "total_test.cc", examples: cpp },
  PHP: { file: "tests/TotalTest.php", examples: php },
  Ruby: { file: "spec/total_spec.rb", examples: ruby },
  JavaScript: { file: "a.test.tsx", examples: javascript },
  Python: { file: "test_a.py", examples: python },
};

async function codeOf(files: Files, file: string): Promise<Map<string, TestCode>> {
  const code = new Map<string, TestCode>();
  for (const [path, text] of Object.entries(
    typeof files === "string" ? { [file]: files } : files,
  )) {
    const read = await readTestCode(path, text);
    if (read) code.set(path, read);
  }
  return code;
}

async function kindsOf([, , before, after]: Example, file: string): Promise<TestChange[]> {
  return compareTests(await codeOf(before, file), await codeOf(after, file));
}

const counted = (examples: readonly Example[]): string => {
  const dishonest = examples.filter(([, kinds]) => kinds.length > 0).length;
  return `${dishonest} dishonest and ${examples.length - dishonest} honest changes`;
};

describe.each(
  Object.entries(languages).map(([name, { file, examples }]) => ({
    name,
    file,
    examples,
    of: counted(examples),
  })),
)("$of to tests in $name", ({ file, examples }) => {
  it.each(examples)("%s: %j", async (...example) => {
    const changes = await kindsOf(example, file);
    expect(changes.map(({ kind }) => kind)).toEqual(example[1]);
  });
});

describe("what is said of a change", () => {
  it("names the test, its place, and what was expected", async () => {
    const example: Example = [
      "",
      [],
      'describe("a", () => {\n  it("b", () => {\n    expect(f(1)).toBe("old");\n  });\n});',
      'describe("a", () => {\n\n  it("b", () => {\n    expect(f(1)).toBe("new");\n  });\n});',
    ];
    expect(await kindsOf(example, "a.test.ts")).toEqual([
      {
        kind: "expectation-changed",
        test: "a › b",
        file: "a.test.ts",
        line: 4,
        message: '"a › b" expected "old" and now expects "new"',
      },
    ]);
  });

  it("stands in the order of files and lines", async () => {
    const example: Example = [
      "",
      [],
      { "b.test.ts": totals, "a.test.ts": 'it("x", () => { expect(f(1)).toBe(2); });' },
      { "b.test.ts": totals.replaceAll("it(", "it.skip("), "a.test.ts": "" },
    ];
    const changes = await kindsOf(example, "");
    expect(changes.map(({ kind, file, line }) => [kind, file, line])).toEqual([
      ["test-deleted", "a.test.ts", 1],
      ["test-skipped", "b.test.ts", 4],
      ["test-skipped", "b.test.ts", 8],
    ]);
  });

  it("is found among a thousand tests in the time of a breath", async () => {
    const many = (count: number, value: number): string =>
      Array.from(
        { length: count },
        (_, at) => `it("t${at + value}", () => { expect(f${at}(${at})).toBe(${at}); });`,
      ).join("\n");
    const [before, after] = [many(1000, 0), many(1000, 5000)];
    const [old, now] = [await codeOf(before, "a.test.ts"), await codeOf(after, "a.test.ts")];
    expect(compareTests(old, now)).toEqual([]);
  });
});
