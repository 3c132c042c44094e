/** What a tool says: short, exact, and with what to do next. */
import type { Failure } from "../core/failure.ts";
import { shown } from "../project.ts";

export interface Answer {
  readonly [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: true;
}

/** No escape sequence of a file or an agent reaches whoever reads it. */
export const told = (...lines: readonly (string | undefined)[]): Answer => ({
  content: [{ type: "text", text: clean(lines) }],
});

export const refusedWith = (...lines: readonly (string | undefined)[]): Answer => ({
  ...told(...lines),
  isError: true,
});

const clean = (lines: readonly (string | undefined)[]): string =>
  lines
    .filter((line) => line !== undefined)
    .flatMap((line) => line.split("\n"))
    .map(shown)
    .join("\n");

export function failed({ code, message, hint, details = [] }: Failure): Answer {
  switch (code) {
    case "decision-required":
      return refusedWith(
        ...details,
        message,
        hint,
        "Show this to the person as it stands, and pass the answer on: call `decide` with its id and the letter.",
        "Do not answer it yourself.",
      );
    case "untrusted": {
      // Not the hash: whoever has it could approve it by himself.
      const command = /autodev trust .+(?= at a terminal)/.exec(hint ?? "")?.[0] ?? "autodev";
      return refusedWith(
        message,
        ...details,
        "Only a person can approve this. Show it, ask for this at a terminal, then call the tool again:",
        command,
      );
    }
    default:
      return refusedWith(`${code}: ${message}`, ...details, hint && `→ ${hint}`);
  }
}
