/**
 * What a plan says in so many words about tests: that they go, are skipped, or expect something
 * else. A plan that only speaks of tests ("all tests pass") says nothing of the kind.
 */
import type { TestChange } from "../compare-tests.ts";

type Kind = TestChange["kind"] | "snapshot-changed";

/** Sentence by sentence, each of a length that a pattern may look at. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/\n|(?<=[.;!?])\s/)
    .filter((sentence) => sentence.trim() !== "")
    .map((sentence) => sentence.slice(0, 400));

/** Spoken of as a condition or a goal, not as something that changes. */
const keeps =
  /\b(?:pass(?:es|ing)?|green|keep|kept|stay|without|not|never|no(?! longer)|break(?:s|ing)?|ensure|make sure|still|add(?:s|ed)?|write)\b/i;

const removal = "(?:remov|delet|drop|retir|discard|merg)\\w*|replac(?:e|es|ing)";
const change = "(?:chang|updat|adapt|adjust|rewrit|correct)\\w*";
const verbs: Readonly<Partial<Record<Kind, string>>> = {
  "test-deleted": removal,
  "test-emptied": removal,
  "assertions-gone": `${removal}|(?:simplif|relax|shorten)\\w*`,
  "test-skipped": "(?:skip|disabl|quarantin)\\w*",
  "test-weakened": "(?:relax|loosen|weaken)\\w*",
  "expectation-changed": `${change}|replac(?:e|es|ing)`,
  "snapshot-changed": `${change}|replac(?:e|es|ing)|refresh\\w*|regenerat\\w*`,
};

/** `Remove the old tests of the parser.`, `The tests of the parser are removed.` */
function changesTests(sentence: string, verb: string): boolean {
  if (keeps.test(sentence)) return false;
  const before = new RegExp(
    `\\b(?:${verb})\\s+(?:(?!that\\b|which\\b|so\\b|and\\b|when\\b|if\\b|used\\b|for\\b)[\\w\`.-]+\\s+){0,4}(?:tests?|specs?|expectations?|snapshots?|golden)\\b`,
    "i",
  );
  const after = new RegExp(
    `\\b(?:tests?|specs?|snapshots?)\\b[\\w\\s\`.-]{0,40}\\b(?:are|is|be|get|gets)\\s+(?:${verb})\\b`,
    "i",
  );
  const expects = /\b(?:tests?|specs?)\s+(?:now|then|must|should|will)\s+expect/i;
  return (
    before.test(sentence) ||
    after.test(sentence) ||
    (verb.includes("adapt") && expects.test(sentence))
  );
}

/** The plan asks for just this, of tests as such or of one that `speaksOf` knows. */
export function asksFor(
  kind: Kind,
  text: string,
  speaksOf: (sentence: string) => boolean = () => false,
): boolean {
  const verb = verbs[kind];
  if (verb === undefined) return false;
  const word = new RegExp(
    `\\b(?:${verb}${kind === "expectation-changed" ? "|now|expect\\w*|instead" : ""})\\b`,
    "i",
  );
  return sentencesOf(text).some(
    (sentence) =>
      changesTests(sentence, verb) ||
      (speaksOf(sentence) && word.test(sentence) && !denies.test(sentence)),
  );
}

const denies = /\b(?:do not|don't|never|without|must not|should not)\b/i;

export const asksToRemoveTests = (text: string): boolean =>
  asksFor("test-deleted", text) ||
  /\b(?:remov|delet|drop)\w*\s+`?(?:\S*[/._-])?(?:tests?|specs?)[/._-]\S+/i.test(
    text.slice(0, 20_000),
  );
