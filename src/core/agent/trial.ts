/**
 * The self-test of an agent: a piece of work that takes seconds, asked for as a phase is, and what
 * came of it. A random word has to end up in a file: nobody can have done that by chance, or before.
 */
import type { PhaseError } from "../plan/phase-error.ts";
import { applyAgent, type KnownAgent } from "./known.ts";
import type { Trouble } from "./trouble.ts";

export const trialFile = "hello.txt";
export const trialPhase = "1";
const trialName = "Write a word down";

/** As a plan that spells everything out: for an agent that reads nothing else. */
export const trialPlan = (word: string): string => `# A self-test

### Phase ${trialPhase}: ${trialName}

#### Tasks

- [ ] \`${trialFile}\` holds the word

##### File: \`${trialFile}\` (CREATE)

\`\`\`text
${word}
\`\`\`
`;

/** As the contract of an agent has it (src/agent.ts). Short: a model is paid by the word. */
export const trialBrief = (word: string, result: { schema: string; path: string }) => ({
  phase: trialPhase,
  name: trialName,
  tasks: 1,
  attempt: 1,
  text: `# Phase ${trialPhase}: ${trialName}

This is a self-test: it only has to be seen that you work. In the current directory, create the file
\`${trialFile}\` with one line in it:

\`\`\`text
${word}
\`\`\`

That is all. Read nothing, run nothing, write no tests, commit nothing.

Then give your result, in the way in which you were told to give results: by a tool, or as your last
answer. If you were told of none, write it to the file \`${result.path}\`. It is a JSON object with
\`"phase_id": "${trialPhase}"\`, 1 task in all and, if you have done it, \`"status": "complete"\`. Its schema:

\`\`\`json
${result.schema}
\`\`\`
`,
});

/** An agent's outcome, as far as it matters here. */
export type TrialEnd =
  | { readonly is: "done" }
  | { readonly is: "failed"; readonly error: PhaseError; readonly result?: unknown }
  | {
      readonly is: "limited";
      readonly reason: string;
      readonly until?: string;
      readonly trouble?: Trouble;
    }
  | { readonly is: "unable"; readonly trouble: Trouble; readonly hint: string }
  | { readonly is: "stopped" };

export interface TrialFacts {
  readonly end: TrialEnd;
  readonly word: string;
  /** Null: no file is there. */
  readonly content: string | null;
  readonly session: boolean;
  readonly usage: boolean;
  /** How many processes were still there when it had ended. */
  readonly left: number;
  /** What this agent is said to tell; nothing is missed of one that cannot. */
  readonly can: { readonly resume: boolean; readonly usage: boolean };
}

export interface TrialCheck {
  readonly name: "started" | "session" | "file" | "result" | "usage" | "processes";
  /** `warning`: it can work all the same. */
  readonly state: "passed" | "failed" | "warning" | "skipped";
  readonly what: string;
}

export function judgeTrial(facts: TrialFacts): TrialCheck[] {
  // Of what never began, nothing else is worth a word.
  if (!isStarted(facts.end)) {
    return [{ name: "started", state: "failed", what: "it could not be started" }];
  }
  return [
    { name: "started", state: "passed", what: "it was started" },
    file(facts),
    result(facts),
    session(facts),
    usage(facts),
    processes(facts),
  ];
}

/** The work, done and told of: what only helps is not asked for. */
export const isWorking = (checks: readonly TrialCheck[]): boolean =>
  checks.every(({ state }) => state !== "failed");

const isStarted = (end: TrialEnd): boolean =>
  !(end.is === "unable" && end.trouble.kind === "spawn") &&
  !(end.is === "failed" && end.error.kind === "spawn");

function file({ content, word }: TrialFacts): TrialCheck {
  const check = (state: TrialCheck["state"], what: string): TrialCheck => ({
    name: "file",
    state,
    what,
  });
  if (content === null) return check("failed", `it has not written ${trialFile}`);
  return content.trim() === word
    ? check("passed", `${trialFile} is there, with the word in it`)
    : check("failed", `${trialFile} is there, but holds something else`);
}

function result({ end }: TrialFacts): TrialCheck {
  if (end.is === "done") return { name: "result", state: "passed", what: "its result is valid" };
  const what =
    end.is === "failed" && end.result !== undefined
      ? "its result says that it has failed"
      : "it gave no result that can be read";
  return { name: "result", state: "failed", what };
}

function session({ session: told, can }: TrialFacts): TrialCheck {
  if (told) return { name: "session", state: "passed", what: "it told its session" };
  return can.resume
    ? { name: "session", state: "warning", what: "it told no session: it cannot be resumed" }
    : { name: "session", state: "skipped", what: "it cannot go on with a session" };
}

function usage({ usage: told, can }: TrialFacts): TrialCheck {
  if (told) return { name: "usage", state: "passed", what: "it told what it has used" };
  return can.usage
    ? { name: "usage", state: "warning", what: "it did not tell what it has used" }
    : { name: "usage", state: "skipped", what: "it never tells what it has used" };
}

const processes = ({ left }: TrialFacts): TrialCheck =>
  left === 0
    ? { name: "processes", state: "passed", what: "nothing of it is left running" }
    : {
        name: "processes",
        state: "warning",
        what: `${left} ${left === 1 ? "process" : "processes"} of it had to be ended`,
      };

export interface TrialVerdict {
  /** One sentence. */
  readonly message: string;
  /** The way out; null: there is nothing to mend. */
  readonly hint: string | null;
}

export function trialVerdict(
  name: string,
  known: KnownAgent | undefined,
  end: TrialEnd,
  checks: readonly TrialCheck[],
): TrialVerdict {
  const again = `autodev agents test ${name}`;
  switch (end.is) {
    case "unable":
      if (end.trouble.kind === "spawn") {
        const hint = known ? known.install : end.hint;
        return { message: `${name} could not be started: ${oneLine(end.trouble.message)}`, hint };
      }
      return {
        message: `${name} cannot be used before somebody has logged in: ${oneLine(end.trouble.message)}`,
        hint: known ? `${known.logIn}, then ${again}` : end.hint,
      };
    case "limited":
      return {
        message: `${name} cannot work now: ${oneLine(end.reason)}`,
        hint:
          end.until === undefined
            ? `later: ${again}; or choose another: autodev agents`
            : `after ${end.until}: ${again}; or choose another: autodev agents`,
      };
    case "failed":
      return { message: `${name} has failed: ${oneLine(end.error.message)}`, hint: again };
    case "stopped":
      return { message: `${name} was stopped before it was done`, hint: again };
    case "done":
      break;
  }
  const wrong = checks.find(({ state }) => state === "failed");
  if (wrong) {
    return { message: `${name} says that it is done, but ${wrong.what}`, hint: again };
  }
  return { message: `${name} works`, hint: null };
}

const oneLine = (text: string): string => (text.trim().split("\n")[0] ?? "").slice(0, 300);

/** `apply` tells nothing of itself, and programs of people's own are asked for nothing. */
export const skillsOf = (known: KnownAgent | undefined): TrialFacts["can"] =>
  known ? { resume: known.can.resume, usage: known.can.usage } : { resume: false, usage: false };

/** For whoever names an agent. */
export const agentNames = (own: readonly string[], known: readonly KnownAgent[]): string[] => [
  applyAgent.name,
  ...own,
  ...known.map(({ name }) => name).filter((name) => !own.includes(name)),
];
