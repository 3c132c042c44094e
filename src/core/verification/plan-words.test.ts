import { describe, expect, it } from "vitest";
import { asksFor, asksToRemoveTests, sentencesOf } from "./plan-words.ts";

type Kind = Parameters<typeof asksFor>[0];
type Row = readonly [kind: Kind, text: string];

describe("a plan asks for a change of its tests", () => {
  it.each<Row>([
    ["test-deleted", "Remove the old tests of the parser."],
    ["test-deleted", "Delete the tests that are no longer needed."],
    ["test-deleted", "The old tests are removed."],
    ["test-deleted", "Add a parser.\n- [ ] Drop the unit tests"],
    ["test-emptied", "Retire the legacy specs"],
    ["assertions-gone", "Simplify the tests of the label."],
    ["test-skipped", "Skip the slow tests."],
    ["test-weakened", "Loosen the existing tests"],
    ["expectation-changed", "Update existing tests to the new total."],
    ["expectation-changed", "The existing tests now expect 31."],
    ["snapshot-changed", "Regenerate the snapshots."],
  ])("%s: %s", (kind, text) => {
    expect(asksFor(kind, text)).toBe(true);
  });

  it.each<Row>([
    ["test-deleted", ""],
    ["test-deleted", "All tests pass."],
    ["test-deleted", "Remove the parser. The tests are fine."],
    ["test-deleted", "Remove the parser so that the tests pass."],
    ["test-deleted", "Replace the parser and keep the tests."],
    ["test-deleted", "Do not delete the tests."],
    ["test-deleted", "Never remove old tests."],
    ["test-deleted", "Delete the user that the tests use"],
    ["test-deleted", "Update the tests."],
    ["test-skipped", "Remove the tests."],
    ["test-weakened", "Update the tests."],
    ["expectation-changed", "Remove the tests."],
    ["snapshot-changed", "Look at the snapshots."],
    ["test-focused", "Remove, skip and change the tests."],
    ["constant-test", "Remove, skip and change the tests."],
  ])("or it does not, %s: %s", (kind, text) => {
    expect(asksFor(kind, text)).toBe(false);
  });

  it("of one test, if the sentence speaks of that one and of what happens to it", () => {
    const speaks = (sentence: string): boolean => sentence.includes("`total`");
    const asks = (text: string): boolean => asksFor("expectation-changed", text, speaks);
    expect(asks("Change `total`.")).toBe(true);
    expect(asks("`total` is now rounded")).toBe(true);
    expect(asks("Change the label. Look at `total`.")).toBe(false);
    expect(asks("Do not change `total`.")).toBe(false);
    expect(asks("Call `total`.")).toBe(false);
  });
});

describe("a plan asks for fewer tests", () => {
  it.each([
    "Remove the tests of the label",
    "- Delete `test/old.test.js`",
    "Drop src/label.spec.ts and its code",
    "Delete tests/test_label.py",
  ])("%s", (text) => {
    expect(asksToRemoveTests(text)).toBe(true);
  });

  it.each([
    "Remove `src/latest.ts`",
    "Delete src/inspector.ts and its route",
    "Drop the old endpoint and add tests of the new one",
    "Replace the parser; all tests pass",
    "Write test/old.test.js",
  ])("or it does not: %s", (text) => {
    expect(asksToRemoveTests(text)).toBe(false);
  });
});

describe("sentences", () => {
  it.each([
    ["One. Two; three! Four?", ["One.", "Two;", "three!", "Four?"]],
    ["One\n\n - two\n", ["One", " - two"]],
    ["see src/a.ts here", ["see src/a.ts here"]],
    ["", []],
  ])("of %j are %j", (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  it.each(["test ", "remove ", "delete test", "delete the ", "tests are "])(
    "are looked at soon, however long a line of %j is",
    (word) => {
      asksToRemoveTests(word.repeat(50_000));
      asksToRemoveTests(`${word.repeat(40)}\n`.repeat(2_000));
    },
  );
});
