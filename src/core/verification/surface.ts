/** What the gates are made of: nobody who is judged by them may change them in passing. */
import type { Facts } from "./facts.ts";
import { failure, note, type VerificationFinding } from "./finding-table.ts";
import { covers } from "./paths.ts";

export function gateSurface({ phase, surface }: Facts): VerificationFinding[] {
  return surface.map(({ name, file, is, detail, introduces }) => {
    const more = detail === undefined ? "" : `: ${detail}`;
    if (phase.files.some(({ path }) => covers(path, file))) {
      return note("gate-changed", `${name} was ${is}, as the phase declares${more}`, { file });
    }
    if (introduces)
      return note("gate-introduced", `${name} was added: a gate that was not there before`, {
        file,
      });
    return failure(
      "gate-changed",
      `${name} defines what the gates do and was ${is}; the phase does not declare it${more}`,
      { file },
    );
  });
}

export const tools = ({ toolsChanged, hooksChanged }: Facts): VerificationFinding[] => [
  ...toolsChanged.map((what) => failure("tool-changed", what)),
  ...hooksChanged.map((what) => failure("hook-planted", what)),
];
