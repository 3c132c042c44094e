import * as fs from "node:fs";
import * as http from "node:http";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Event } from "../core/event.ts";
import { initRepository, openProject, type Project } from "../project.ts";
import type { Session } from "../store.ts";
import { openPlaces, type Places } from "./projects.ts";
import { type Listening, listen } from "./server.ts";
import { createTickets } from "./tickets.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-stream-")));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

const token = "t".repeat(43);

interface Served {
  readonly project: Project;
  readonly places: Places;
  readonly listening: Listening;
}

let open: Served[] = [];
afterEach(async () => {
  for (const { places, listening } of open) {
    places.close();
    await listening.close();
  }
  open = [];
});

let counter = 0;
async function serve(folder?: string): Promise<Served> {
  const root = path.join(scratch, String(++counter));
  fs.mkdirSync(root);
  initRepository(root);
  const project = openProject(root);
  const places = openPlaces(project);
  const house = { places, tickets: createTickets(), token, by: "tester" };
  const listening = await listen(house, 0, folder === undefined ? {} : { folder });
  const served = { project, places, listening };
  open.push(served);
  return served;
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

async function record(project: Project, events: readonly Event[]): Promise<void> {
  const opened = await openStore(project);
  let { seq } = opened.head;
  for (const event of events) {
    const at = project.world.now();
    const head = await opened.append(seq, { at, run: "flow", events: [event] });
    if (!head.ok) throw new Error(head.failure.message);
    ({ seq } = head.value);
  }
  await opened.release();
}

const small = (count: number): Event[] =>
  Array.from({ length: count }, (_, at) => ({
    type: "sections-chosen",
    sections: at % 2 ? "full" : "pointer",
  }));

const large = (count: number, bytes: number): Event[] =>
  Array.from({ length: count }, (_, at) => ({
    type: "decision-withdrawn",
    id: `d-${String(at).padStart(12, "0")}`,
    reason: "x".repeat(bytes),
  }));

interface Heard {
  readonly event: string;
  readonly id?: number;
  readonly data: unknown;
}

interface Ear {
  readonly heard: readonly Heard[];
  seqs(): number[];
  hangUp(): void;
}

function listenTo({ listening }: Served, after: number, lastId?: number): Promise<Ear> {
  return new Promise((resolve, reject) => {
    const heard: Heard[] = [];
    const request = http.get(
      {
        host: "127.0.0.1",
        port: listening.port,
        path: `/api/stream?p=.&after=${after}`,
        headers: {
          authorization: `Bearer ${token}`,
          ...(lastId !== undefined && { "last-event-id": String(lastId) }),
        },
      },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(String(response.statusCode)));
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          const frames = text.split("\n\n");
          text = frames.pop() ?? "";
          for (const frame of frames) heard.push(frameOf(frame));
        });
        response.on("error", () => {});
        resolve({
          heard,
          seqs: () =>
            heard.flatMap(({ event, data }) =>
              event === "events" ? (data as { seq: number }[]).map(({ seq }) => seq) : [],
            ),
          hangUp: () => request.destroy(),
        });
      },
    );
    request.on("error", reject);
  });
}

function frameOf(frame: string): Heard {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
  const id = field("id");
  return {
    event: field("event") ?? "",
    data: JSON.parse(field("data") ?? "null"),
    ...(id !== undefined && { id: Number(id) }),
  };
}

async function until(holds: () => boolean, ms = 10_000): Promise<void> {
  for (const began = Date.now(); !holds(); ) {
    if (Date.now() - began > ms) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe("a stream", () => {
  it("tells what was, then what happens, each once and in order, with its number", async () => {
    const served = await serve();
    await record(served.project, small(2500));
    const ear = await listenTo(served, 0);
    await record(served.project, small(7));
    await until(() => ear.seqs().length >= 2507);
    expect(ear.seqs()).toEqual(upTo(2507));
    const told = ear.heard.filter(({ event }) => event === "events");
    for (const { id, data } of told) expect(id).toBe((data as { seq: number }[]).at(-1)?.seq);
    expect(ear.heard.slice(0, 2).map(({ event }) => event)).toEqual(["pulse", "projects"]);
  });

  it("goes on after the number that was heard last, without a gap and without anything twice", async () => {
    const served = await serve();
    await record(served.project, small(50));
    const seqs: number[] = [];
    let last = 0;
    const writing = (async () => {
      for (let at = 0; at < 30; at++) await record(served.project, small(20));
    })();
    for (let round = 0; seqs.length < 650; round++) {
      const ear = await listenTo(served, 0, last);
      await new Promise((resolve) => setTimeout(resolve, 30 + (round % 5) * 40));
      ear.hangUp();
      seqs.push(...ear.seqs());
      last = seqs.at(-1) ?? 0;
      expect(round).toBeLessThan(500);
    }
    await writing;
    expect(seqs).toEqual(upTo(650));
  });

  it("says so when somebody knows more than there is", async () => {
    const served = await serve();
    await record(served.project, small(3));
    const ear = await listenTo(served, 99);
    await until(() => ear.heard.some(({ event }) => event === "anew"));
    await record(served.project, small(1));
    await until(() => ear.seqs().includes(4));
  });

  it("says who holds the project, and what was answered and is not on record yet", async () => {
    const served = await serve();
    const { project } = served;
    const id = "d-0123456789ab";
    const decision = {
      id,
      askedAt: project.world.now(),
      kind: "test",
      subject: "x",
      cycle: 1,
      cause: "x",
      question: "Which?",
      options: [{ key: "A", text: "This" }],
      recommendation: "A",
      reason: "it is the only one",
      blocks: "nothing",
    };
    await record(project, [{ type: "decision-asked", decision }]);
    const session = await project.store.open(project.world.holder("somebody"));
    const ear = await listenTo(served, 1);
    const pulses = (): Record<string, unknown>[] =>
      ear.heard.flatMap(({ event, data }) =>
        event === "pulse" ? [data as Record<string, unknown>] : [],
      );
    await until(() => pulses().length > 0);
    expect(pulses()[0]).toMatchObject({ holder: { pid: process.pid, command: "somebody" } });
    await project.store.answer(id, { key: "A", by: "me", at: project.world.now() });
    await until(() => pulses().some(({ answers }) => answers !== undefined));
    expect(pulses().at(-1)).toMatchObject({ answers: { [id]: { key: "A", by: "me" } } });
    if (session.ok) await session.value.release();
    await until(() => pulses().at(-1)?.["holder"] === undefined);
  });

  it("costs nothing while nobody listens", async () => {
    const served = await serve();
    await record(served.project, small(3));
    const ear = await listenTo(served, 0);
    await until(() => ear.seqs().length === 3);
    const place = served.places.named(".");
    expect(place?.channel.listeners).toBe(1);
    ear.hangUp();
    await until(() => place?.channel.listeners === 0);
    const before = place?.feed.board.seq;
    await record(served.project, small(2));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(place?.feed.board.seq).toBe(before);
  });

  it("hangs up on whoever does not read, and keeps little for him until then", async () => {
    const served = await serve();
    const place = served.places.named(".");
    const deaf = net.connect(served.listening.port, "127.0.0.1");
    deaf.on("error", () => {});
    deaf.pause();
    deaf.write(
      `GET /api/stream?p=.&after=0 HTTP/1.1\r\nHost: 127.0.0.1:${served.listening.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    const ear = await listenTo(served, 0);
    await until(() => place?.channel.listeners === 2);
    let most = 0;
    for (let round = 0; round < 60 && place?.channel.listeners === 2; round++) {
      await record(served.project, large(4, 256 * 1024));
      await until(() => ear.seqs().length >= (round + 1) * 4);
      most = round;
    }
    expect(place?.channel.listeners).toBe(1);
    // 4 MB of ours, and what the kernel takes before it says no.
    expect(most).toBeLessThan(40);
    await record(served.project, small(1));
    await until(() => ear.seqs().length === (most + 1) * 4 + 1);
    deaf.destroy();
  });

  it("is shared by fifty, who all hear the same", async () => {
    const served = await serve();
    const ears = await Promise.all(Array.from({ length: 50 }, () => listenTo(served, 0)));
    await record(served.project, small(200));
    await until(() => ears.every((ear) => ear.seqs().length === 200));
    for (const ear of ears) expect(ear.seqs()).toEqual(upTo(200));
    for (const ear of ears) ear.hangUp();
  });
});

describe("the server", () => {
  const ask = (
    { listening }: Served,
    target: string,
    options: http.RequestOptions = {},
  ): Promise<{ status: number; headers: http.IncomingHttpHeaders; body: string }> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        { host: "127.0.0.1", port: listening.port, path: target, ...options },
        (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (part: string) => (body += part));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          );
        },
      );
      request.on("error", reject).end();
    });

  it("says what is missing when the page was not built, and goes on", async () => {
    const served = await serve(path.join(scratch, "nothing"));
    const { status, body } = await ask(served, "/");
    expect(status).toBe(503);
    expect(body).toContain("was not built");
    expect((await ask(served, "/api/projects", authorized)).status).toBe(200);
  });

  it("gives the page's files, by plain names and as what they are", async () => {
    const folder = path.join(scratch, "web");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "index.html"), "<!doctype html>");
    fs.writeFileSync(path.join(folder, "app.js"), "1");
    fs.writeFileSync(path.join(scratch, "secret.js"), "secret");
    const served = await serve(folder);
    const index = await ask(served, "/");
    expect([index.status, index.headers["content-type"]]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(index.headers["content-security-policy"]).toContain("default-src 'none'");
    const head = await ask(served, "/app.js", { method: "HEAD" });
    expect([head.status, head.headers["content-length"], head.body]).toEqual([200, "1", ""]);
    for (const target of [
      "/../secret.js",
      "/%2e%2e/secret.js",
      "/..%2fsecret.js",
      "/app.js/",
      "/web/app.js",
      "/.app.js",
      "/APP.JS",
      "/app.js%00",
      "/nothing.js",
      "/package.json",
    ])
      expect((await ask(served, target)).status).toBe(404);
  });

  const authorized = { headers: { authorization: `Bearer ${token}` } };
});
