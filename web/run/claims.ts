/** What an agent said of its work beside what we found: a row for each thing that it spoke of. */
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";

export interface ClaimRow {
  readonly what: string;
  readonly claimed: string;
  readonly found: string;
  /** Null: nobody has looked, or there is nothing to compare. */
  readonly holds: boolean | null;
}

export function claimsAgainstFacts(story: AttemptStory): ClaimRow[] {
  const { claim, gates = [] } = story;
  if (!claim) return [];
  const judged =
    story.verifiedAt !== undefined || story.how === "landed" || story.error !== undefined;
  const passes = story.error === undefined;
  const open = claim.tasksTotal - claim.tasksCompleted;
  return [
    {
      what: "Status",
      claimed: claim.status,
      found: judged ? (passes ? "verified" : "not verified") : "not checked yet",
      holds: judged ? (claim.status === "complete") === passes : null,
    },
    {
      what: "Tasks",
      claimed: `${claim.tasksCompleted} of ${claim.tasksTotal}`,
      found: open === 0 ? "none left open" : `${open} left open, by its own word`,
      holds: claim.tasksTotal === 0 ? null : open === 0,
    },
    ...gateRows(claim.gates ?? {}, gates),
    ...fileRows(story),
  ];
}

function gateRows(
  claimed: Readonly<Record<string, boolean | null>>,
  gates: NonNullable<AttemptStory["gates"]>,
): ClaimRow[] {
  const names = new Set([...Object.keys(claimed), ...gates.map(({ name }) => name)]);
  return [...names].map((name) => {
    const gate = gates.find((each) => each.name === name);
    const said = claimed[name];
    const found = gate === undefined ? "not run" : passedWord(gate.passed);
    return {
      what: `Gate ${name}`,
      claimed: said === undefined ? "–" : passedWord(said),
      found,
      holds: said === undefined || gate === undefined ? null : said === gate.passed,
    };
  });
}

export const passedWord = (passed: boolean | null): string =>
  passed === null ? "skipped" : passed ? "passed" : "failed";

const ways = ["created", "modified", "deleted"] as const;

function fileRows({ claim, files, findings = [] }: AttemptStory): ClaimRow[] {
  const said = claim?.files;
  if (!said) return [];
  const untrue = findings.filter(({ code }) => /^file-(?:missing|unchanged|ignored)$/.test(code));
  const wrong = new Set(untrue.map(({ file }) => file));
  return ways.flatMap((way) => {
    const [claimed, found] = [said[way].length, files?.[way].length];
    if (claimed === 0 && (found ?? 0) === 0) return [];
    const missing = said[way].filter((path) => wrong.has(path));
    return [
      {
        what: `Files ${way}`,
        claimed: String(claimed),
        found:
          missing.length > 0
            ? `not so: ${missing.join(", ")}`
            : found === undefined
              ? "–"
              : String(found),
        holds: missing.length > 0 ? false : found === undefined ? null : found >= claimed,
      },
    ];
  });
}
