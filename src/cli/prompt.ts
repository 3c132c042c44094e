/**
 * Asks a decision at the terminal: one letter answers it. The end of input is not an answer, and
 * neither is an interrupt; without a terminal nobody is asked.
 */
import { isAgent, isCI } from "std-env";
import { type Answer, decisionBlock, optionFor, type Question } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import {
  type Ask,
  type AskTrust,
  askingPeople,
  initRepository,
  openProject,
  type Project,
  shown,
} from "../project.ts";
import { isTerminal, printError } from "./output.ts";

export interface AskOptions {
  input?: boolean;
  decide?: string;
}

export function askerFor(options: AskOptions): Ask {
  return async (question, elsewhere, wanted) => {
    if (options.decide === "recommended" && !question.destructive) {
      return succeed(question.recommendation);
    }
    wanted?.();
    if (!isInteractive(options)) return succeed(undefined);
    return readLetter(question, elsewhere);
  };
}

/** In a flow: whoever is asked hears of it. */
export const flowAsker = (root: string, options: AskOptions): Ask =>
  askingPeople(root, askerFor(options), {
    ...bell(),
    say: (line) => printError(shown(line)),
  });

/** The terminal that a notice reaches, if there is one. */
export const bell = (): { terminal: ((text: string) => void) | undefined } => ({
  terminal: isTerminal(2) ? (text) => void process.stderr.write(text) : undefined,
});

/** A first write outside a repository: at a terminal, one can be made on the spot. */
export async function openRepository(options: AskOptions): Promise<Result<Project>> {
  const project = openProject(process.cwd());
  if (project.repository || !isInteractive(options)) return succeed(project);
  const chosen = await readLetter(
    {
      kind: "no-repository",
      subject: project.root,
      cycle: 1,
      cause: "first write",
      question: `${project.root} is not in a git repository — make one?`,
      options: [
        { key: "A", text: "Run git init here: autodev keeps its memory in .git" },
        { key: "B", text: "Stop; nothing is written" },
      ],
      recommendation: "A",
      reason: "without git nothing can be recorded",
      blocks: "everything that writes",
    },
    () => undefined,
  );
  if (!chosen.ok) return chosen;
  if (chosen.value === "A") initRepository(project.root);
  return succeed(openProject(process.cwd()));
}

/** One screen, one key. No recommendation and no file answers this: only a person at a terminal. */
export function trustAsker(options: AskOptions): AskTrust {
  return async (difference, hash, known) => {
    if (!isInteractive(options)) return succeed(undefined);
    for (const line of difference) printError(shown(line));
    const chosen = await readLetter(
      {
        kind: "trust",
        subject: hash,
        cycle: 1,
        cause: hash,
        question: known
          ? "what this repository runs has changed — trust it as it is now?"
          : "this repository wants to run the commands above — trust them?",
        options: [
          { key: "A", text: "Trust exactly these; a change asks again" },
          { key: "B", text: "Stop; nothing is run" },
        ],
        recommendation: "B",
        reason: "unless you have read them and know who wrote them",
        blocks: "everything that runs commands",
      },
      () => undefined,
    );
    return chosen.ok
      ? succeed(chosen.value === undefined ? undefined : chosen.value === "A")
      : chosen;
  };
}

/** The name that an answer is recorded under. */
export const answeredBy = (options: AskOptions): string =>
  options.decide === "recommended"
    ? "recommendation"
    : process.env.USER || process.env.LOGNAME || process.env.USERNAME || "somebody";

const isInteractive = (options: AskOptions): boolean =>
  options.input !== false &&
  !process.env.AUTODEV_NO_INPUT &&
  !isCI &&
  !isAgent &&
  isTerminal(0) &&
  isTerminal(2);

function readLetter(
  question: Question,
  elsewhere: () => Answer | undefined,
): Promise<Result<string | undefined>> {
  const { stdin } = process;
  // Before anything is shown: what is typed from now on comes as it is typed.
  stdin.setRawMode(true);
  for (const line of decisionBlock(question)) printError(shown(line));
  const keys = question.options.map((option) => option.key).join("/");
  process.stderr.write(` ${keys}? `);
  return new Promise((resolve) => {
    const finish = (result: Result<string | undefined>, echo: string): void => {
      clearInterval(watch);
      stdin.off("data", onData).off("end", onEnd);
      stdin.setRawMode(false);
      stdin.pause();
      process.stderr.write(`${echo}\n`);
      resolve(result);
    };
    const onEnd = (): void => finish(succeed(undefined), "");
    const onData = (bytes: Buffer): void => {
      const text = bytes.toString("utf8");
      // An arrow key or Alt and a letter come as one piece: they are not the letter in it.
      if (text.startsWith("\u001b")) return;
      for (const char of text) {
        if (char === "\u0003") {
          return finish(fail("interrupted", "interrupted; the decision stays open"), "^C");
        }
        // An end of input that came before we listened arrives as a NUL.
        if (char === "\u0004" || char === "\0") return onEnd();
        const option = optionFor(question, char);
        if (option) return finish(succeed(option.key), option.key);
      }
    };
    const watch = setInterval(() => {
      const answer = elsewhere();
      if (answer) finish(succeed(answer.key), `${answer.key}, answered by ${shown(answer.by)}`);
    }, 200);
    stdin.on("data", onData).on("end", onEnd);
    stdin.resume();
  });
}
