/**
 * One project as it goes on, told to everybody who listens: server-sent events, made once for all of
 * them. As long as nobody listens nothing is read and no clock runs.
 *
 *  1. Everybody hears each event once and in order; whoever comes (back) says from where.
 *  2. Looked at when the journal's folder changes, at most ten times a second, and by a clock in case
 *     nothing tells.
 */
import * as fs from "node:fs";
import type { ServerResponse } from "node:http";
import * as path from "node:path";
import type { SeenProject, StreamMessage } from "../core/board/wire.ts";
import type { RecordedEvent } from "../core/event.ts";
import { type Client, clientOf } from "./client.ts";
import type { Feed } from "./feed.ts";
import { lastLines } from "./last-lines.ts";

/** The last event that somebody has seen, and when it happened: numbers alone are alike in every history. */
export interface LastSeen {
  readonly seq: number;
  readonly at?: string;
}

export interface Channel {
  /** From the event after that one; it lasts until one of both goes. */
  join(response: ServerResponse, last: LastSeen, projects: readonly SeenProject[]): Promise<void>;
  projectsChanged(projects: readonly SeenProject[]): void;
  /** Somebody has just answered here: the others need not wait to hear of it. */
  hurry(): void;
  readonly listeners: number;
  close(): void;
}

const oftenMs = 100;
const lookMs = 250;
const secondMs = 1000;
const pulseMs = 10_000;
const mostCaughtUp = 1000;

export function openChannel(feed: Feed): Channel {
  const clients = new Set<Client>();
  let joining = 0;
  let pending: RecordedEvent[] = [];
  /** Up to here everybody in `clients` was told. */
  let told = 0;
  let due: NodeJS.Timeout | undefined;
  let clocks: NodeJS.Timeout[] = [];
  let watcher: fs.FSWatcher | undefined;
  let lines = lastLines(feed);
  let pulse = "";

  const tell = (frame: Buffer): void => {
    for (const client of clients) client.send(frame);
  };
  const flush = (): void => {
    const last = pending.at(-1);
    if (!last) return;
    tell(frameOf({ event: "events", data: pending }, last.seq));
    told = last.seq;
    pending = [];
  };
  const look = (): void => {
    due = undefined;
    feed.look();
    flush();
  };
  const wake = (): void => {
    due ??= setTimeout(look, oftenMs);
  };
  /** Who holds it and what was answered, or that nothing has changed. */
  const pulseNow = ({ always }: { readonly always: boolean }): void => {
    const { now: _, ...rest } = pulseOf(feed);
    const text = JSON.stringify(rest);
    if (!always && text === pulse) return;
    pulse = text;
    const frame = frameOf({ event: "pulse", data: pulseOf(feed) });
    for (const client of clients) client.mention(frame);
  };
  const everySecond = (): void => {
    watcher ??= watchJournal(feed, wake);
    pulseNow({ always: false });
    for (const line of lines.fresh()) {
      const frame = frameOf({ event: "line", data: line });
      for (const client of clients) client.mention(frame);
    }
  };
  const begin = (): void => {
    if (clocks.length > 0) return;
    feed.look();
    told = feed.board.seq;
    pending = [];
    lines = lastLines(feed);
    feed.listener = {
      happened(events) {
        pending.push(...events);
        wake();
      },
      anew() {
        pending = [];
        told = feed.board.seq;
        tell(frameOf({ event: "anew", data: {} }));
      },
    };
    watcher = watchJournal(feed, wake);
    clocks = [
      setInterval(wake, lookMs),
      setInterval(everySecond, secondMs),
      setInterval(() => pulseNow({ always: true }), pulseMs),
    ];
  };
  const end = (): void => {
    if (clients.size + joining > 0) return;
    for (const clock of clocks) clearInterval(clock);
    clocks = [];
    clearTimeout(due);
    due = undefined;
    watcher?.close();
    watcher = undefined;
    feed.listener = undefined;
    pending = [];
  };

  return {
    async join(response, last, projects) {
      joining++;
      begin();
      const client = clientOf(response, {
        left() {
          clients.delete(client);
          end();
        },
      });
      client.send(frameOf({ event: "pulse", data: pulseOf(feed) }));
      client.send(frameOf({ event: "projects", data: projects }));
      let at = last.seq;
      if (at > told || !isOurs(feed, last)) {
        client.send(frameOf({ event: "anew", data: {} }));
        at = told;
      }
      while (at < told && !client.gone) {
        const events = feed.events(at, told, mostCaughtUp);
        const newest = events.ok ? events.value.at(-1) : undefined;
        // It cannot be read at this moment: he comes back.
        if (!events.ok || !newest) {
          client.hangUp();
          break;
        }
        client.send(frameOf({ event: "events", data: events.value }, newest.seq));
        at = newest.seq;
        await client.read();
      }
      joining--;
      if (client.gone) return end();
      clients.add(client);
      for (const line of lines.known()) client.mention(frameOf({ event: "line", data: line }));
    },
    projectsChanged(projects) {
      if (clients.size > 0) tell(frameOf({ event: "projects", data: projects }));
    },
    hurry() {
      if (clocks.length === 0) return;
      wake();
      pulseNow({ always: false });
    },
    get listeners() {
      return clients.size + joining;
    },
    close() {
      for (const client of clients) client.hangUp();
      clients.clear();
      end();
    },
  };
}

/** Whether it is this history that he has seen: another may have taken its place meanwhile. */
function isOurs(feed: Feed, { seq, at }: LastSeen): boolean {
  if (at === undefined || seq === 0) return true;
  const known = feed.events(seq - 1, seq, 1);
  return !known.ok || known.value[0]?.at === at;
}

function frameOf({ event, data }: StreamMessage, id?: number): Buffer {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return Buffer.from(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

type Pulse = Extract<StreamMessage, { event: "pulse" }>["data"];

function pulseOf(feed: Feed): Pulse {
  const [holder, answers] = [feed.holder(), feed.answers()];
  return {
    now: feed.project.world.now(),
    ...(holder && { holder }),
    ...(Object.keys(answers).length > 0 && { answers }),
  };
}

/** Undefined: there is nothing to watch yet, or it cannot be. */
function watchJournal({ project }: Feed, wake: () => void): fs.FSWatcher | undefined {
  const { repository, root } = project;
  try {
    const journal = path.join(
      repository?.commonDir ?? path.join(root, ".git"),
      "autodev",
      "journal",
    );
    const newest = fs.readdirSync(journal).sort().at(-1);
    return newest === undefined
      ? undefined
      : fs.watch(path.join(journal, newest), wake).on("error", () => {});
  } catch {
    return undefined;
  }
}
