/** The examples that come with the program; their files are put into it when it is built. */
import type { Example } from "../project.ts";

declare const AUTODEV_EXAMPLES: Readonly<Record<string, Example["files"]>>;

const rows: readonly Omit<Example, "files">[] = [
  {
    name: "typescript",
    what: "A program that finds links in Markdown documents that lead nowhere",
    plan: "docs/linkcheck-plan.md",
    needs: "node",
  },
  {
    name: "python",
    what: "A ledger of what you spend: sums, budgets, entries that were typed twice",
    plan: "docs/ledger-plan.md",
    needs: "python3",
  },
];

/** The first is what a newcomer gets. */
export const examples: readonly Example[] = rows.map((row) => ({
  ...row,
  files: AUTODEV_EXAMPLES[row.name] ?? {},
}));
