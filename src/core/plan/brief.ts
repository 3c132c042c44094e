/**
 * The brief: everything that an agent is told about a phase, and nothing of other phases. What
 * comes from the plan or from an earlier attempt stands in fences that are longer than any in it,
 * so that no text can end its own quotation and go on as if it were ours.
 */

import { code, cut, fenced, line } from "../quote.ts";
import type { ErrorType } from "./phase-error.ts";
import type { Item, Phase } from "./plan.ts";

/** As the contract of an agent has it (src/agent.ts). */
export interface Brief {
  readonly phase: string;
  readonly name: string;
  readonly text: string;
  readonly tasks: number;
  readonly attempt: number;
}

export interface BriefInput {
  readonly phase: Phase;
  readonly attempt: number;
  readonly gates: readonly { readonly name: string; readonly command: string }[];
  /** The files that the phase declares; none: it does not say. */
  readonly mayTouch: readonly string[];
  /** What phases that run at the same time own. */
  readonly siblings: readonly { readonly phase: string; readonly files: readonly string[] }[];
  readonly errors: readonly {
    readonly attempt: number;
    readonly type: ErrorType;
    readonly message: string;
    readonly details?: string;
  }[];
  /** Somebody was in the middle of it: the same agent, or another whose account was empty. */
  readonly goesOn?: { readonly own: true } | { readonly own: false; readonly from: string };
  /** People's words for this attempt. */
  readonly notes?: readonly string[];
  readonly planFile: string;
  /** A JSON schema, as text. */
  readonly resultSchema: string;
  /** Absent: the agent has a way of its own to hand it in. */
  readonly resultPath?: string;
  /** Somebody's own agent has come for it, and hands it in where it was fetched. */
  readonly fetched?: Fetched;
}

export interface Fetched {
  readonly lease: string;
  /** Where the work is to be done: not where the agent happens to be. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function writeBrief(input: BriefInput): Brief {
  const { phase, attempt } = input;
  const parts = [
    opening(input),
    whatLiesThere(input),
    whatWentWrong(input),
    whatPeopleSay(input),
    section(phase),
    tasks(phase),
    definitionOfDone(phase),
    files(input),
    gates(input),
    howToWork(input),
    whatToLeaveAlone(input),
    result(input),
  ];
  return {
    phase: phase.id,
    name: phase.name,
    text: `${parts.filter((part) => part !== "").join("\n\n")}\n`,
    tasks: phase.tasks.length,
    attempt,
  };
}

const opening = ({ phase, attempt, fetched }: BriefInput): string =>
  `# Phase ${line(phase.written)}: ${line(phase.name)}

You do this one phase, alone, ${fetched ? `in the folder ${code(fetched.folder)}` : "in the current directory"}: a checkout of your own, which nobody else
works in. Other phases are the work of others. This is attempt ${attempt}.${fetched ? elsewhere(fetched) : ""}`;

const elsewhere = ({ env = {} }: Fetched): string => `

Change into that folder first, and give every path from there: what you write anywhere else is no part
of the work, and what lies elsewhere in the repository is not yours to touch.${
  Object.keys(env).length === 0
    ? ""
    : ` For commands that need ports: ${Object.entries(env)
        .map(([name, value]) => code(`${name}=${value}`))
        .join(" ")}.`
}`;

/** Half-done work is no promise: whoever goes on looks at it first. */
function whatLiesThere({ goesOn }: BriefInput): string {
  if (!goesOn) return "";
  return goesOn.own
    ? `## You were interrupted

What you had done lies in the current directory, uncommitted, without what git ignores: install or
build that again where you need it. Look at what is there (\`git status\`, \`git diff\`), then go on;
what follows is the whole brief once more.`
    : `## Somebody else began this

Another agent (${line(goesOn.from)}) began this phase and could not go on. What it had done lies in the
current directory, uncommitted, without what git ignores: see \`git status\` and \`git diff\`. Nobody has
checked it. Keep what is right, change what is not, and finish the phase.`;
}

const whatPeopleSay = ({ notes = [] }: BriefInput): string =>
  notes.length === 0
    ? ""
    : `## What you are asked to mind

Somebody has looked at it and says:

${notes.map((note) => fenced("text", note)).join("\n\n")}`;

function section({ text }: Phase): string {
  if (text.trim() === "") return "";
  return `## The phase, as the plan has it

${fenced("markdown", text)}`;
}

function tasks({ tasks: items }: Phase): string {
  if (items.length === 0) {
    return "## Tasks\n\nThe plan lists none: do what the text above asks for.";
  }
  return `## Tasks

${items.map(numbered).join("\n")}`;
}

function definitionOfDone({ definitionOfDone: items }: Phase): string {
  if (items.length === 0) return "";
  return `## Definition of done

All of this has to be true, and is checked after you:

${items.map(({ text }) => `- ${line(text)}`).join("\n")}`;
}

const numbered = ({ text, done, optional }: Item, index: number): string =>
  `${index + 1}. ${line(text)}${optional ? " (optional)" : ""}${done ? " (ticked in the plan: see that it holds)" : ""}`;

function files({ phase, mayTouch, siblings }: BriefInput): string {
  const changes = new Map(phase.files.map(({ path, change }) => [path, change]));
  const own =
    mayTouch.length === 0
      ? "The plan names none. Touch what the tasks need, and nothing else."
      : `You may touch these, and tests of theirs. Anything else has to have a reason, which you give in the
body of the commit message:

${listed(mayTouch, (path) => ({ create: " (create)", modify: " (modify)", delete: " (delete)", touch: "" })[changes.get(path) ?? "touch"])}`;
  const others = siblings.filter((sibling) => sibling.files.length > 0);
  const taken =
    others.length === 0
      ? ""
      : `\n\nThese belong to phases that are under way at the same time. Do not touch them, not even to
format them:

${others.map((sibling) => `- Phase ${line(sibling.phase)}: ${sibling.files.slice(0, mostListed).map(code).join(", ")}${more(sibling.files)}`).join("\n")}`;
  return `## Files\n\n${own}${taken}`;
}

const mostListed = 200;
const more = (paths: readonly string[]): string =>
  paths.length > mostListed ? ` and ${paths.length - mostListed} more` : "";
const listed = (paths: readonly string[], note: (path: string) => string): string =>
  paths
    .slice(0, mostListed)
    .map((path) => `- ${code(path)}${note(path)}`)
    .join("\n") + (paths.length > mostListed ? `\n-${more(paths)}` : "");

function gates({ gates: all }: BriefInput): string {
  if (all.length === 0) return "";
  return `## Gates

After you have ended, these are run on exactly what you leave, in a clean checkout. Run them yourself
first:

${all.map(({ name, command }) => `**${line(name)}**\n\n${fenced("sh", command)}`).join("\n\n")}

What defines them (scripts, configuration, set-up) stays as it is, unless the phase is about it. A test
that is deleted, skipped or emptied counts as a failure.`;
}

const howToWork = ({ phase }: BriefInput): string => `## How to work

${phase.tasks.length > 1 ? "One task after the other. For each that changes how the program behaves:" : "Where it changes how the program behaves:"}

1. Write the test that shows it. Run it and see it fail, for the reason you expect.
2. Write the least that makes it pass. Run it and see it pass.
3. Tidy up, and run the gates.`;

const whatToLeaveAlone = ({ planFile }: BriefInput): string => `## What to leave alone

Do not edit the plan (${code(planFile)}): its boxes are ticked for you, after the work was checked. Do not
touch \`.autobuild/\`, \`.autodev/\` or \`.git\`. Do not commit, push or switch branches: what lies in the
directory when you end is your work.`;

/** The tool that takes it has a schema of its own. */
export const handedIn = ({ lease }: Fetched): string => `When you end, done or not, call the tool
\`report\` with \`"lease": ${JSON.stringify(lease)}\`. While you work, call \`sub_step\` with that lease now and
then: it says that you are still at it.`;

const result = (input: BriefInput): string =>
  input.fetched
    ? `## The result

${handedIn(input.fetched)} If something keeps you from finishing, report \`"status": "failed"\` and an \`error\`:
everything is checked afterwards, and a claim that does not hold is worse than a failure.
\`commit_message\` is conventional: \`feat(api): …\`, a blank line, then what was done and why.`
    : ownResult(input);

const ownResult = ({ phase, resultSchema, resultPath }: BriefInput): string => `## The result

When you end, done or not, ${resultPath === undefined ? "hand in your result, a JSON object" : `write a JSON object to ${code(resultPath)}`} with \`"phase_id": ${JSON.stringify(phase.id)}\` and
${phase.tasks.length} tasks in all. If something keeps you from finishing, say so with \`"status": "failed"\` and an
\`error\`: everything is checked afterwards, and a claim that does not hold is worse than a failure.
\`commit_message\` is conventional: \`feat(api): …\`, a blank line, then what was done and why.

Its schema:

${fenced("json", resultSchema)}`;

// ── What went wrong before ──────────────────────────────────────────────────────────────────

const mostErrors = 5;
const mostDetails = 6000;

function whatWentWrong({ errors }: BriefInput): string {
  if (errors.length === 0) return "";
  const shown = errors.slice(-mostErrors).reverse();
  const each = shown.map(({ attempt, type, message, details = "" }, index) => {
    const isLast = index === 0;
    return [
      `### Attempt ${attempt}: ${type}`,
      fenced("text", cut(message, 2000)),
      ...(isLast && details.trim() !== "" ? [fenced("text", cut(details, mostDetails))] : []),
      // The same kind twice needs no second lecture.
      ...(shown.findIndex((other) => other.type === type) === index ? [advice[type]] : []),
    ].join("\n\n");
  });
  const kinds = errors.slice(-2).map(({ type }) => type);
  const again =
    kinds.length === 2 && kinds[0] === kinds[1]
      ? "\n\nThe last two ended the same way: what was tried then is not the way. Look for another cause."
      : "";
  return `## What went wrong before

This phase was tried before. You begin from a fresh checkout: nothing of that attempt is in it.${again}

${each.join("\n\n")}`;
}

const advice: Record<ErrorType, string> = {
  test_failure:
    "Read the failing tests named above, and what they expect, before you change anything. Run those alone until they pass, then all. Mend the code, not the tests, unless a test is wrong by the plan.",
  lint_error:
    "Run the linter as the gate does and mend what it names. Do not switch rules off, neither in its configuration nor by comments.",
  typecheck_error:
    "Run the type check as the gate does. Mend the first error first: later ones often follow from it. No casts to any, no ignore comments.",
  format_error:
    "Run the project's formatter on the files that you touch, as the last thing you do.",
  gate_failure:
    "Run the gate's command exactly as it stands below and mend what it says. The gate itself stays as it is.",
  task_incomplete:
    "Some tasks were left undone. Go through the list below one by one, and say that you are done only when each is.",
  verification_mismatch:
    "What was claimed and what was found were not the same. Run every gate yourself before you end, claim only what you saw, and list exactly the files that you changed.",
  gate_changed:
    "What defines the gates (scripts, configuration, set-up files, hooks, the programs themselves) was not the same afterwards. Leave it as it is and make the code pass as it stands; if the work cannot be done without such a change, end with an error that says so.",
  tests_weakened:
    "Existing tests were made to check less: deleted, skipped, emptied, or made to expect what the code happens to do. Leave them as they are and mend the code. New tests have to be able to fail: see each fail once before you make it pass.",
  timeout:
    "Time ran out. Do the work in small steps, do not wait for programs that do not end (servers, watchers), and leave out what the tasks do not ask for.",
  parse_error:
    "The work may have been right, but its result could not be read. Write the result as the last section says: one JSON object that fits the schema, in that file.",
  agent_crash:
    "The attempt ended before its work did. If a command above brought it down, find out why before you run it again.",
  dependency_missing:
    "Something that the phase needs was not there. Look whether it is there now; if not, end with the same error and name it.",
  circular_dependency:
    "The plan's phases wait for each other. If that is still so, end with the same error and name them.",
  file_conflict:
    "While that attempt was at work, the work of others landed in the same files. It is in your checkout now: read those files as they are today, and do the work anew on top of them. Keep what the others did.",
  plan_invalid:
    "The plan could not be followed as it was written. If what is named above still does not hold, end with the same error.",
  interrupted:
    "The attempt was cut off from outside; that says nothing about the work. Do it as if for the first time.",
  blocked:
    "Something outside of this phase was in the way. If it still is, end with the same error.",
};
