/**
 * A file of our own in somebody's repository. Its last line is a mark: the hash of what is above it,
 * by which we know that nobody has changed it, and how many folders were made for it, so that they
 * can go with it.
 */
import { succeed } from "../failure.ts";
import { commented } from "./block.ts";
import { type Intent, lineEndOf, type PlanFile, plainEnds, same } from "./outcome.ts";
import type { WholeWanted } from "./wanted.ts";

export const planWhole: PlanFile<WholeWanted> = (wanted, { file, text, missing }, intent) => {
  const { body } = wanted;
  if (text === undefined) {
    return succeed(
      intent.do === "take" ? same : { is: "create", text: written(wanted, missing, intent.hash) },
    );
  }
  const mark = markIn(text);
  const isOurs = mark !== undefined && mark.hash === intent.hash(mark.body);
  if (isOurs && intent.do === "take") return succeed({ is: "remove", made: mark.made });
  if (isOurs && mark.body === body) return succeed(same);
  if (!isOurs && mark === undefined && intent.do === "take") return succeed(same);
  if (!isOurs && !intent.replace) {
    return succeed({
      is: "left",
      line: 1,
      why: mark ? "somebody has changed this file of ours" : "there is another file of this name",
      hint: `move ${file} away, and run the same command again`,
    });
  }
  const now = written(wanted, mark?.made ?? missing, intent.hash);
  const turned = now.replaceAll("\n", lineEndOf(text));
  return succeed({ is: "edit", edits: [{ file, from: 0, to: text.length, text: turned }] });
};

const written = ({ body, comment }: WholeWanted, made: number, hash: Intent["hash"]): string =>
  `${body}\n${commented(comment, `autodev:file 1 ${hash(body)} ${made}`)}\n`;

interface Mark {
  readonly hash: string;
  /** How many folders above it were made for it. */
  readonly made: number;
  readonly body: string;
}

/** Undefined: it is no file of ours. */
function markIn(text: string): Mark | undefined {
  const found = /^([^]*)\n(?:<!-- |# )autodev:file \d+ ([0-9a-f]+) (\d)(?: -->)?\n?$/u.exec(
    plainEnds(text),
  );
  return found ? { body: found[1] ?? "", hash: found[2] ?? "", made: Number(found[3]) } : undefined;
}
