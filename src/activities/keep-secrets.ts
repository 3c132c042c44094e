/**
 * What an agent tells is masked where its lines come in, but a secret can come in pieces: letter by
 * letter in messages that are put together later, by numbers in JSON, or by a tool of ours and a
 * file, where no line is looked at. So all that leaves an agent is masked once more, whole.
 */
import type { Agent, AgentEvent } from "../agent.ts";
import { maskSecrets, secretsIn } from "../safe-text.ts";

export const keepingSecrets = (agent: Agent): Agent => ({
  ...agent,
  async run(brief, run) {
    const secrets = secretsIn({ ...process.env, ...run.env });
    const emit = (event: AgentEvent): void =>
      // A raw line is masked already, and an id is needed as it is.
      run.emit(event.type === "raw" || event.type === "session" ? event : masked(event, secrets));
    // Without a dialect it says nothing but lines, each of which was masked as it came.
    const heard = agent.speaks === undefined ? run : { ...run, emit };
    return masked(await agent.run(brief, heard), secrets);
  },
});

/** Every text in it, names too. */
function masked<T>(value: T, secrets: readonly string[]): T {
  const inside = (each: unknown): unknown => {
    if (typeof each === "string") return maskSecrets(each, secrets);
    if (Array.isArray(each)) return each.map(inside);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(
      Object.entries(each).map(([name, held]) => [maskSecrets(name, secrets), inside(held)]),
    );
  };
  return inside(value) as T;
}
