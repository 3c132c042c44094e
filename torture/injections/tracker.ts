/**
 * What a tracker answers, through the real reader of answers and the real ledger: items of
 * strangers, older than ours, whose titles and texts say anything, quote our key, and are found by
 * the same search.
 */

import type { RecordedEvent } from "../../src/core/event.ts";
import {
  evolveTracking,
  type NextCall,
  nextCall,
  nothingSeen,
  type Seen,
  type Tracking,
} from "../../src/core/tracker/ledger.ts";
import type { TrackerKind } from "../../src/core/tracker/servers.ts";
import { answerIn, createdIn, foundIn } from "../../src/trackers/answer.ts";
import { profiles } from "../../src/trackers/profiles/index.ts";
import type { Played } from "./run.ts";

const kinds = ["jira", "ado", "github", "linear"] as const satisfies readonly TrackerKind[];
const key = "ad-0123456789abcdef";

/** Whoever sees our items can speak of them in his own. */
export const quoting = (text: string): string =>
  `${text} (see ${key}, “autodev-key: ${key}” there)`;

export function playTracker(text: string): Played {
  const log: string[] = [];
  const seen: string[] = [];
  for (const kind of kinds) {
    const server = serverOf(kind, text);
    const say = (value: unknown): unknown => {
      const answer = { content: [{ type: "text", text: JSON.stringify(value) }] };
      seen.push(JSON.stringify(answer));
      return answerIn(answer).value;
    };
    // Created, and the answer was lost; then looked for by the next session.
    for (const life of ["first", "next"]) {
      log.push(`${kind} ${life} ${JSON.stringify(live(kind, server, say))}`);
    }
  }
  return { log, seen: seen.join("\n") };
}

interface Server {
  found(): unknown;
  create(): unknown;
}

/** Its calls and what came of them, until there is a receipt. */
function live(kind: TrackerKind, server: Server, say: (value: unknown) => unknown): unknown {
  const profile = profiles[kind];
  let tracking: Tracking | undefined;
  let seen: Seen = nothingSeen;
  const calls: unknown[] = [];
  for (let count = 0; count < 20; count++) {
    const next: NextCall = nextCall(tracking?.entries[key], seen, {
      sinceMs: 0,
      lagMs: 0,
      mostWaitMs: 60_000,
    });
    calls.push(next.is === "defer" ? next.is : next);
    if (next.is === "receipt" || next.is === "defer") return calls;
    if (next.is === "find") {
      const found = foundIn(say(server.found()), { key, exact: false, profile });
      calls.push(found.is === "found" ? found : found.is);
      seen = {
        ...seen,
        searches: seen.searches + 1,
        ...(found.is === "found" && { items: found.items }),
      };
    } else if (next.is === "call") {
      const about = { key, tracker: kind, does: "create", kind: "task", of: "01_part" } as const;
      const event = { type: "effect-intended", ...about, seq: 1, at: "", run: "flow" } as const;
      tracking = evolveTracking(tracking, event satisfies RecordedEvent);
      const made = createdIn(say(server.create()), profile);
      const { items: _, ...rest } = seen;
      seen = { ...rest, calls: seen.calls + 1, ...(made && { made }) };
    } else seen = { ...seen, waitedMs: seen.waitedMs + next.ms };
  }
  return calls;
}

/** Strangers have the first numbers; what is created has a later one. */
function serverOf(kind: TrackerKind, text: string): Server {
  const strangers = [1, 2].map((number) => ({
    number,
    title: text,
    body: text,
    labels: ["bug"],
  }));
  const own = {
    number: 12,
    title: text,
    body: `${text}\n\nautodev-key: ${key}`,
    labels: ["autodev", key],
  };
  let isThere = false;
  const view = views[kind];
  return {
    found: () => ({ issues: [...strangers, ...(isThere ? [own] : [])].map(view) }),
    create() {
      isThere = true;
      return view(own);
    },
  };
}

interface Item {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
}

const views: Readonly<Record<TrackerKind, (item: Item) => object>> = {
  jira: ({ number, title, labels, body }) => ({
    key: `AZ-${number}`,
    fields: { summary: title, labels, description: body, status: { name: title } },
  }),
  ado: ({ number, title, labels }) => ({
    id: number,
    fields: { "System.Title": title, "System.Tags": labels.join("; ") },
  }),
  github: ({ number, title, body, labels }) => ({
    number,
    title,
    body,
    labels: labels.map((name) => ({ name })),
  }),
  linear: ({ number, title, body }) => ({ id: `ENG-${number}`, title, description: body }),
};
