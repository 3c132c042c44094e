/**
 * What an agent tells is masked where its lines come in, but a secret can come in pieces: letter by
 * letter in messages that are put together later, by numbers in JSON, or by a tool of ours and a
 * file, where no line is looked at. So all that leaves an agent is masked once more, whole: also the
 * lines that are the pieces, since whoever reads a transcript reads them one after the other. What
 * somebody's own agent reports, what a tracker is told and why it refuses, and what lies in files
 * that we show, comes by no line of ours at all.
 */
import type { Agent, AgentEvent, Piece } from "../agent.ts";
import { maskLines, maskSecrets, secretsIn } from "../safe-text.ts";
import type { Opened, Outcome, Tracker } from "../tracker.ts";

export const keepingSecrets = (agent: Agent): Agent => ({
  ...agent,
  async run(brief, run) {
    const secrets = secretsIn({ ...process.env, ...run.env });
    const lines = wholeMessages(agent, secrets, (line) => run.emit({ type: "raw", line }));
    const emit = (event: AgentEvent): void => {
      // A raw line is masked already, and an id is needed as it is.
      if (event.type === "raw") lines.add(event.line);
      else run.emit(event.type === "session" ? event : masked(event, secrets));
    };
    // Without a dialect it says nothing but lines, each of which was masked as it came.
    const heard = agent.speaks === undefined ? run : { ...run, emit };
    try {
      return masked(await agent.run(brief, heard), secrets);
    } finally {
      lines.end();
    }
  },
});

/** More than any message; what is said after that begins anew. */
const mostHeld = 512 * 1024;

/**
 * Lines go on as they came, but those that are pieces of a message only when it is whole: nobody
 * reads it before that either. If a secret is in it, the first of them says all of it, masked.
 */
function wholeMessages(
  { pieceIn }: Agent,
  secrets: readonly string[],
  emit: (line: string) => void,
): { add(line: string): void; end(): void } {
  let held: { readonly line: string; readonly piece: Piece }[] = [];
  let [of, text] = ["", ""];
  const end = (): void => {
    const safe = maskSecrets(text, secrets);
    let first = safe === text ? undefined : safe;
    for (const { line, piece } of held) {
      if (piece.is === "beside" || safe === text) emit(line);
      else if (first !== undefined) {
        emit(piece.saying(first));
        first = undefined;
      }
    }
    [held, of, text] = [[], "", ""];
  };
  return {
    add(line) {
      const piece = pieceIn?.(line);
      if (!piece || (piece.is === "part" && (piece.of !== of || text.length > mostHeld))) end();
      if (!piece || (piece.is === "beside" && held.length === 0)) return emit(line);
      held.push({ line, piece });
      if (piece.is === "part") [of, text] = [piece.of, text + piece.text];
    },
    end,
  };
}

/** What others hand in by a tool or a file of ours, where no line is looked at. */
export const withoutSecrets = <T>(said: T): T => masked(said, secretsIn(process.env));

/** For the lines of a patch, one after the other: the first letter of each is git's. */
export function patchWithoutSecrets(): (line: string) => string {
  const mask = maskLines(secretsIn(process.env));
  return (line) => line.slice(0, 1) + mask(line.slice(1));
}

/** Of why a tracker refuses. */
const mostWords = 200;

/** `given`: what the tracker was told besides the environment, by the names that it has there. */
export function trackerKeepingSecrets(
  tracker: Tracker,
  given: Readonly<Record<string, string>>,
): Tracker {
  const secrets = [...secretsIn({ ...process.env, ...given }), ...loginsIn(given)];
  const safe = <T extends Opened | Outcome<unknown>>(outcome: T): T =>
    "why" in outcome
      ? { ...outcome, why: maskSecrets(outcome.why, secrets).slice(0, mostWords) }
      : outcome;
  return {
    name: tracker.name,
    lagMs: tracker.lagMs,
    open: async () => safe(await tracker.open()),
    find: async (key) => safe(await tracker.find(key)),
    // Its words are an agent's; by its key it is found again.
    create: async (item) =>
      safe(
        await tracker.create({
          ...item,
          title: maskSecrets(item.title, secrets),
          body: maskSecrets(item.body, secrets),
        }),
      ),
    link: async (id, epic) => safe(await tracker.link(id, epic)),
    move: async (id, to) => safe(await tracker.move(id, to)),
    close: () => tracker.close(),
  };
}

/** `Authorization: Bearer …`: the name says nothing, the last word is all of it. */
const loginsIn = (given: Readonly<Record<string, string>>): string[] =>
  Object.entries(given)
    .filter(([name]) => /^(?:proxy-)?authorization$|^cookie$|^x-.*(?:key|auth)/i.test(name))
    .flatMap(([, value]) => secretsIn({ TOKEN: value.split(/\s+/).at(-1) ?? "" }));

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
