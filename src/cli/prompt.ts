/**
 * Asks a decision at the terminal: one letter answers it. The end of input is not an answer, and
 * neither is an interrupt; without a terminal nobody is asked.
 */
import { isAgent, isCI } from "std-env";
import { type Answer, decisionBlock, optionFor, type Question } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { type Ask, notify, shown } from "../project.ts";
import { isTerminal, printError } from "./output.ts";

export interface AskOptions {
  input?: boolean;
  decide?: string;
}

export function askerFor(options: AskOptions): Ask {
  return async (question, elsewhere) => {
    if (options.decide === "recommended" && !question.destructive) {
      return succeed(question.recommendation);
    }
    const terminal = isTerminal(2) ? (text: string) => process.stderr.write(text) : undefined;
    notify({ title: "autodev", text: question.question }, terminal);
    if (!isInteractive(options)) return succeed(undefined);
    return readLetter(question, elsewhere);
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
  for (const line of decisionBlock(question)) printError(shown(line));
  const keys = question.options.map((option) => option.key).join("/");
  process.stderr.write(` ${keys}? `);
  const { stdin } = process;
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
        if (char === "\u0004") return onEnd();
        const option = optionFor(question, char);
        if (option) return finish(succeed(option.key), option.key);
      }
    };
    const watch = setInterval(() => {
      const answer = elsewhere();
      if (answer) finish(succeed(answer.key), `${answer.key}, answered by ${shown(answer.by)}`);
    }, 200);
    stdin.setRawMode(true);
    stdin.on("data", onData).on("end", onEnd);
    stdin.resume();
  });
}
