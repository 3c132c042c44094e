/** What the agent left behind beside its work, seen when it had ended. */
import type { Facts } from "./facts.ts";
import { failure, note, type VerificationFinding } from "./finding-table.ts";

export const history = ({ traces }: Facts): VerificationFinding[] =>
  (traces.history ?? []).map((what) => failure("history-rewritten", what));

export const stateUntouched = ({ traces }: Facts): VerificationFinding[] =>
  (traces.state ?? []).map((file) =>
    failure("state-touched", `${file} is autodev's own, and the agent wrote it`, { file }),
  );

/** An agent that ticks its boxes is told not to, and not believed; that alone is no failure. */
export const planUntouched = ({ traces }: Facts): VerificationFinding[] =>
  (traces.plan ?? []).map((file) =>
    note("plan-edited", `the agent edited ${file}; that was left out`, { file }),
  );

export const processes = ({ traces }: Facts): VerificationFinding[] =>
  (traces.processes ?? 0) > 0
    ? [
        note(
          "process-left",
          traces.processes === 1
            ? "the agent left a process running; it was ended"
            : `the agent left ${traces.processes} processes running; they were ended`,
        ),
      ]
    : [];

export const leftovers = ({ changes, traces }: Facts): VerificationFinding[] => [
  ...changes.flatMap(({ path: file, marker, leadsTo }) => [
    ...(marker === undefined
      ? []
      : [
          failure("conflict-markers", `${file} holds the marks of a merge conflict`, {
            file,
            line: marker,
          }),
        ]),
    ...(leadsTo === undefined
      ? []
      : [
          failure("leads-outside", `${file} is a link to ${leadsTo}, out of the repository`, {
            file,
          }),
        ]),
  ]),
  ...(traces.nested ?? []).map((file) =>
    failure(
      "nested-repository",
      `${file} is a git repository of its own: what is in it cannot be committed`,
      { file },
    ),
  ),
];
