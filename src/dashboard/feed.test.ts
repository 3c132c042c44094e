import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Board, blankBoard, evolveBoard } from "../core/board/board.ts";
import type { Event, RecordedEvent } from "../core/event.ts";
import { initRepository, openProject, type Project } from "../project.ts";
import type { Session } from "../store.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { openFeed } from "./feed.ts";
import { createTickets } from "./tickets.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-feed-")));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

describe("checkpoints", () => {
  it("are never more than 32, and none is far from any moment", () => {
    const checkpoints = createCheckpoints();
    for (let seq = 1; seq <= 100_000; seq++) {
      checkpoints.passed({ ...blankBoard, seq });
      expect(checkpoints.count).toBeLessThanOrEqual(32);
    }
    const gaps = Array.from({ length: 1000 }, (_, at) => {
      const seq = (at + 1) * 100;
      return seq - checkpoints.before(seq).seq;
    });
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(8192);
    expect(checkpoints.before(3)).toBe(blankBoard);
  });
});

describe("tickets", () => {
  it("are good once, and not for long", () => {
    let now = 0;
    const tickets = createTickets(() => now);
    const [first, second] = [tickets.issue(), tickets.issue()];
    expect(first).not.toBe(second);
    expect(tickets.use(first)).toBe(true);
    expect(tickets.use(first)).toBe(false);
    now = 2 * 60_000 + 1;
    expect(tickets.use(second)).toBe(false);
    expect(tickets.use("")).toBe(false);
  });

  it("are forgotten, the oldest first, when too many were wanted", () => {
    const tickets = createTickets(() => 0);
    const all = Array.from({ length: 40 }, () => tickets.issue());
    expect(tickets.use(all[0] ?? "")).toBe(false);
    expect(tickets.use(all[39] ?? "")).toBe(true);
  });
});

let counter = 0;
function makeProject(): Project {
  const root = path.join(scratch, String(++counter));
  fs.mkdirSync(root);
  initRepository(root);
  return openProject(root);
}

/** A child that another thread of this process is just starting may have the lock for a moment. */
async function openStore(project: Project): Promise<Session> {
  for (let tries = 1; ; tries++) {
    const opened = await project.store.open(project.world.holder("test"));
    if (opened.ok) return opened.value;
    if (tries === 100) throw new Error(opened.failure.message);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const chosen = (at: number): Event => ({
  type: "sections-chosen",
  sections: at % 2 ? "full" : "pointer",
});

const record = (project: Project, count: number): Promise<void> =>
  recordAll(
    project,
    Array.from({ length: count }, (_, at) => [chosen(at)]),
  );

/** A transition each. */
async function recordAll(project: Project, all: readonly (readonly Event[])[]): Promise<void> {
  const opened = await openStore(project);
  let { seq } = opened.head;
  for (const events of all) {
    const head = await opened.append(seq, { at: project.world.now(), run: "flow", events });
    if (!head.ok) throw new Error(head.failure.message);
    ({ seq } = head.value);
  }
  await opened.release();
}

/** Every other line of it; what is returned puts them back. */
function damage(project: Project): () => void {
  const folder = path.join(project.root, ".git/autodev/journal/0000");
  const segment = path.join(folder, fs.readdirSync(folder).sort()[0] ?? "");
  const whole = fs.readFileSync(segment);
  const lines = whole.toString().split("\n");
  const damaged = lines.map((line, at) => (at % 2 ? "x".repeat(line.length) : line));
  fs.writeFileSync(segment, damaged.join("\n"));
  return () => fs.writeFileSync(segment, whole);
}

function eventsIn(project: Project): RecordedEvent[] {
  const all = openFeed(project);
  all.look();
  const read = all.events(0, all.board.seq, 1e9);
  return read.ok ? [...read.value] : [];
}

const folded = (events: readonly RecordedEvent[], to: number): Board =>
  events.filter(({ seq }) => seq <= to).reduce(evolveBoard, blankBoard);

describe("a feed", () => {
  it("knows what is on record, and then what is new, and tells its listener once", async () => {
    const project = makeProject();
    const feed = openFeed(project);
    expect(feed.look()).toBeUndefined();
    expect(feed.board.seq).toBe(0);
    await record(project, 3);
    const heard: number[] = [];
    feed.listener = {
      happened: (events) => heard.push(...events.map(({ seq }) => seq)),
      anew: () => heard.push(0),
    };
    feed.look();
    feed.look();
    await record(project, 2);
    feed.look();
    expect(heard).toEqual([1, 2, 3, 4, 5]);
    expect(feed.board).toEqual(folded(eventsIn(project), 5));
    expect(feed.began).not.toBe("");
  });

  it("comes by checkpoints and events to the same board at any moment", async () => {
    const project = makeProject();
    await record(project, 700);
    const feed = openFeed(project);
    feed.look();
    const all = eventsIn(project);
    for (const seq of [0, 1, 255, 256, 257, 511, 600, 699, 700]) {
      const from = feed.at(seq);
      const rest = feed.events(from.seq, seq, 5000);
      expect(rest.ok && rest.value.reduce(evolveBoard, from)).toEqual(folded(all, seq));
    }
    const some = feed.events(10, 700, 5);
    expect(some.ok && some.value.map(({ seq }) => seq)).toEqual([11, 12, 13, 14, 15]);
  });

  it("tells of a journal that cannot be read, keeps what it saw, and goes on when it can be", async () => {
    const project = makeProject();
    await record(project, 4);
    const feed = openFeed(project);
    feed.look();
    const heard: (number | "anew")[] = [];
    feed.listener = {
      happened: (events) => heard.push(...events.map(({ seq }) => seq)),
      anew: () => heard.push("anew"),
    };
    const mend = damage(project);
    expect(openFeed(project).look()?.code).toBe("journal-damaged");
    expect(feed.look()?.code).toBe("journal-damaged");
    expect(feed.board.seq).toBe(4);
    mend();
    expect(feed.look()).toBeUndefined();
    expect(heard).toEqual([]);
    await record(project, 1);
    feed.look();
    expect(heard).toEqual([5]);
  });

  it("begins anew with a journal that is another", async () => {
    const project = makeProject();
    await record(project, 4);
    const feed = openFeed(project);
    feed.look();
    let anew = 0;
    feed.listener = { happened: () => {}, anew: () => anew++ };
    fs.rmSync(path.join(project.root, ".git/autodev"), { recursive: true });
    await record(project, 2);
    feed.look();
    expect(anew).toBe(1);
    expect(feed.board.seq).toBe(2);
    expect(feed.board).toEqual(folded(eventsIn(project), 2));
  });

  it("begins anew when a journal that was damaged is gone", async () => {
    const project = makeProject();
    await record(project, 4);
    const feed = openFeed(project);
    feed.look();
    const heard: string[] = [];
    feed.listener = { happened: () => heard.push("events"), anew: () => heard.push("anew") };
    damage(project);
    expect(feed.look()?.code).toBe("journal-damaged");
    fs.rmSync(path.join(project.root, ".git/autodev"), { recursive: true });
    expect(feed.look()).toBeUndefined();
    expect([feed.board, heard]).toEqual([blankBoard, ["anew"]]);
    expect(feed.look()).toBeUndefined();
    await record(project, 1);
    feed.look();
    expect([feed.board.seq, heard]).toEqual([1, ["anew", "events"]]);
  });

  it.each(["decision-asked", "state-file-adopted"])(
    "tells of a %s that lacks everything, and shows what was before it",
    async (type) => {
      const project = makeProject();
      await record(project, 2);
      await recordAll(project, [[{ type } as Event]]);
      await record(project, 1);
      const feed = openFeed(project);
      const heard: number[] = [];
      feed.listener = {
        happened: (events) => heard.push(...events.map(({ seq }) => seq)),
        anew: () => heard.push(0),
      };
      for (let times = 0; times < 3; times++) {
        const trouble = feed.look();
        expect(trouble?.code).toBe("journal-damaged");
        expect(trouble?.message).toContain(`event 3 of the journal (${type})`);
      }
      expect([feed.board.seq, heard]).toEqual([2, [1, 2]]);
    },
  );

  it("reads the whole of its past once, though it goes on all the time", async () => {
    const project = makeProject();
    await recordAll(
      project,
      Array.from({ length: 3 }, () => Array.from({ length: 1000 }, (_, at) => chosen(at))),
    );
    let tails = 0;
    const tail = (): ReturnType<Project["store"]["tail"]> => {
      tails++;
      return project.store.tail();
    };
    const feed = openFeed({ ...project, store: { ...project.store, tail } });
    feed.look();
    expect(feed.events(0, 5, 5)).toMatchObject({ ok: true, value: { length: 5 } });
    const before = tails;
    for (let times = 1; times <= 3; times++) {
      await record(project, 1);
      feed.look();
      const read = feed.events(10, 3000 + times, 5000);
      const seqs = read.ok ? read.value.map(({ seq }) => seq) : [];
      expect(seqs).toEqual(Array.from({ length: 2990 + times }, (_, at) => at + 11));
    }
    expect(tails).toBe(before);
  });

  it("outlives its project", async () => {
    const project = makeProject();
    await record(project, 2);
    const feed = openFeed(project);
    feed.look();
    fs.rmSync(project.root, { recursive: true });
    expect(feed.look()?.message).toContain("no longer there");
    expect(feed.board.seq).toBe(2);
    expect(feed.holder()).toBeUndefined();
    expect(feed.answers()).toEqual({});
  });
});
