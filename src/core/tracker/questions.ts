/** What people are asked about trackers, word for word. */
import { type Decision, isOpen, type Question } from "../decision.ts";
import type { Event } from "../event.ts";
import type { Refusal } from "./ledger.ts";
import type { FoundTracker } from "./servers.ts";

const about = { cycle: 1, blocks: "the flow" } as const;

export const whichTracker = (among: readonly FoundTracker[]): Question => {
  const shown = among.slice(0, 3);
  return {
    ...about,
    kind: "which-tracker",
    subject: "tracker",
    cause: among.map(({ name, from }) => `${name} in ${from}`).join(", "),
    question: "several trackers are configured — which one is this project's?",
    options: [
      ...shown.map(({ name, kind, from }, at) => ({
        key: "ABC"[at] as string,
        text: `${kind}: ${name} (${from})`,
      })),
      {
        key: "ABCD"[shown.length] as string,
        text: "None: continue without tracker (tasks saved locally only)",
      },
    ],
    recommendation: "A",
    reason: "it is the first that is configured; `tracker:` in .autodev/config.yaml settles it",
    // It writes where others read: whose tracker it is only people know.
    destructive: true,
  };
};

/** Asked again, it is for people alone: no recommendation goes round and round. */
export const trackerRefused = (server: string, refusal: Refusal): Question => ({
  ...about,
  kind: "tracker-auth",
  subject: "tracker",
  cause: `event ${refusal.at}`,
  title: "",
  question: refusal.how === "auth" ? "Tracker authentication failed" : "Tracker cannot be used",
  facts: [`${server}: ${refusal.why}`],
  options: [
    {
      key: "A",
      text: refusal.how === "auth" ? "Retry authentication (retry mcp_auth)" : "Try again",
    },
    { key: "B", text: "Continue without tracker (tasks saved locally only)" },
  ],
  recommendation: "A",
  reason: "tracker ids drive task referencing, dependency tracking and batching",
  ...(refusal.times > 1 && { destructive: true }),
});

/** What a tool says of itself is what it is called by: whether the new word is good, a person says. */
export const toolsChanged = (server: string, refusal: Refusal): Question => ({
  ...about,
  kind: "tracker-tools",
  subject: "tracker",
  cause: `event ${refusal.at}`,
  question: `the tools of ${server} are not what they were — use them as they are now?`,
  facts: capped(refusal.difference ?? []),
  options: [
    { key: "A", text: "Use them as they are now; a change asks again" },
    { key: "B", text: "Continue without tracker (tasks saved locally only)" },
    { key: "C", text: "Stop here" },
  ],
  recommendation: "C",
  reason: "unless you know why they have changed",
  destructive: true,
});

/** Of a tracker that answers, nobody has to say any more what is to be done without it. */
export const answered = (decisions: Readonly<Record<string, Decision>>): Event[] =>
  Object.values(decisions)
    .filter((each) => isOpen(each) && /^tracker-(?:auth|tools)$/.test(each.kind))
    .map(({ id }) => ({ type: "decision-withdrawn", id, reason: "the tracker answers" }));

const mostFacts = 30;
const capped = (lines: readonly string[]): string[] => [
  ...lines.slice(0, mostFacts),
  ...(lines.length > mostFacts ? [`… and ${lines.length - mostFacts} more lines`] : []),
];
