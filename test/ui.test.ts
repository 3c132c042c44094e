/** `autodev ui` from outside: who is let in, what is told, and that it lives through what happens. */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hostsOf, type Knock, misshapen, requestOf, wrongIn } from "../torture/http-requests.ts";
import { type RawAnswer, talk } from "../torture/http-talk.ts";
import {
  arrived,
  build,
  config,
  expectComplete,
  expectSchema,
  makeBuildRepo,
  makeMailbox,
  planOf,
  spelled,
  startTrusted,
  twoPhases,
  vaguePhase,
  working,
} from "./build-rig.ts";
import {
  binary,
  errorOf,
  eventually,
  generation3,
  jsonOf,
  makeAskedRepo,
  makeFolder,
  makeHolder,
  makeRepo,
  makeRepoWithHistory,
  memoryOf,
  pictureOf,
  plainEnvironment,
  present,
  type Repo,
  segmentsOf,
  sleep,
} from "./rig.ts";
import { ask, openUi, type Ui } from "./ui-rig.ts";

let running: Ui[] = [];
afterEach(async () => {
  for (const ui of running) await ui.end("SIGKILL");
  running = [];
});

async function ui(...given: Parameters<typeof openUi>): Promise<Ui> {
  const opened = await openUi(...given);
  running.push(opened);
  return opened;
}

const codeIn = (text: string): string =>
  (JSON.parse(text) as { error: { code: string } }).error.code;

// ── who is let in ──────────────────────────────────────────────────────────────────────────────

describe("of thousands of requests", () => {
  it("every one that is not from our page is refused, changes nothing, and is told nothing", async () => {
    const repo = await makeAskedRepo();
    const { port, token } = await ui(repo);
    const before = pictureOf(memoryOf(repo));
    const own = { port, token };
    const all = <T>(...values: T[]): T[] => values;
    const knocks: Knock[] = [];
    for (const host of all(
      ...hostsOf(own),
      undefined,
      "127.0.0.1",
      `127.0.0.1:${port + 1}`,
      `localhost.:${port}`,
      `evil.example:${port}`,
      `0.0.0.0:${port}`,
    ))
      for (const origin of all(
        undefined,
        `http://127.0.0.1:${port}`,
        `http://localhost:${port}`,
        "http://evil.example",
        "null",
      ))
        for (const site of all(undefined, "same-origin", "none", "same-site", "cross-site"))
          for (const method of all("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE"))
            for (const target of all("/", "/app.js", "/api/board?p=.", "/api/decide"))
              for (const given of all(undefined, "x".repeat(43), token)) {
                const shows = given === undefined ? undefined : `Bearer ${given}`;
                const type = "application/json";
                knocks.push({ host, origin, site, method, target, shows, type });
              }
    expect(knocks.length).toBeGreaterThan(15_000);

    // The question is open: whoever got through would have answered it.
    const bytesOf = (knock: Knock): string => requestOf(knock, own, repo.decision.id);
    // Without a name Node itself says 400 and closes: those go one by one, and not all of them.
    const named = knocks.filter(({ host }) => host !== undefined);
    const nameless = knocks
      .filter(({ host }) => host === undefined)
      .filter((_, at) => at % 20 === 0);
    const connections = 16;
    const parts = Array.from({ length: connections }, (_, part) =>
      named.filter((_, at) => at % connections === part),
    );
    const wrong: string[] = [];
    let count = 0;
    const judge = (knock: Knock, answer: RawAnswer | undefined): void => {
      count++;
      for (const what of wrongIn(knock, answer, own))
        wrong.push(`${what}: ${JSON.stringify(knock)}`);
    };
    const answers = await Promise.all(parts.map((part) => talk(port, part.map(bytesOf))));
    for (const [part, given] of answers.entries())
      for (const [at, knock] of (parts[part] ?? []).entries()) judge(knock, given[at]);
    for (const knock of nameless) judge(knock, (await talk(port, [bytesOf(knock)]))[0]);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(count).toBeGreaterThan(14_000);
    expect(pictureOf(memoryOf(repo))).toEqual(before);
    expect((await repo.decisions()).map(({ status }) => status)).toEqual(["open"]);
  });

  it("none that is malformed ends it, or is answered with more than a few words", async () => {
    const { port, token } = await ui(await makeRepoWithHistory());
    const host = `Host: 127.0.0.1:${port}`;
    const auth = `Authorization: Bearer ${token}`;
    const good = `GET /api/projects HTTP/1.1\r\n${host}\r\n${auth}\r\n\r\n`;
    for (const { name, bytes } of misshapen({ port, token })) {
      const [answer] = await talk(port, [bytes], { patience: 3000 });
      if (answer) expect([400, 401, 403, 404, 405, 413, 431, 501], name).toContain(answer.status);
      expect(answer?.body.length ?? 0, name).toBeLessThan(400);
    }
    const [still] = await talk(port, [good]);
    expect(still?.status).toBe(200);
  });

  it("a slow one keeps nobody else waiting, and is not waited for", async () => {
    const { port, json } = await ui(await makeRepoWithHistory());
    const slow = Array.from({ length: 50 }, () => {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1");
      return socket;
    });
    const closed = Promise.all(
      slow.map(
        (socket) => new Promise<void>((resolve) => socket.resume().on("close", () => resolve())),
      ),
    );
    await json("projects");
    await closed;
    await json("projects");
  });

  it("as many as there is room for, who neither read nor hang up, are let go", async () => {
    const { port, json } = await ui(await makeRepoWithHistory());
    const deaf = Array.from({ length: 210 }, () => {
      const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nX: ");
      return socket;
    });
    const isBack = (): Promise<boolean> =>
      json("projects").then(
        () => true,
        () => false,
      );
    await eventually("there is room for us", isBack, 12_000);
    for (const socket of deaf) socket.destroy();
  });
});

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// ── where it is ────────────────────────────────────────────────────────────────────────────────

describe("its address", () => {
  it("is the same after it was killed, and a page that is open goes on from where it was", async () => {
    const repo = await makeRepoWithHistory();
    const first = await ui(repo);
    const ear = await first.listen(0);
    await eventually("everything is told", () => ear.seqs().length > 0);
    const last = ear.seqs().at(-1) ?? 0;
    await first.end("SIGKILL");
    await eventually("the page notices", () => ear.isOver());
    const second = await ui(repo);
    expect([second.url, second.port]).toEqual([first.url, first.port]);
    expect(second.pid).not.toBe(first.pid);
    const again = await second.listen(0, last);
    await repo.autodev("skip", "--yes");
    await eventually("what is new", () => again.seqs().length > 0);
    expect(again.seqs()[0]).toBe(last + 1);
  });

  it("is told by a second one, which then ends", async () => {
    const repo = await makeRepoWithHistory();
    const first = await ui(repo);
    const second = await repo.autodev("ui", "--json");
    const told = jsonOf<{ url: string; pid: number }>(second);
    expectSchema(told, "ui");
    expect([told.url, told.pid]).toEqual([first.url, first.pid]);
    const plain = await repo.autodev("ui", "--no-open");
    expect(plain.out).toBe(`${first.url}\n`);
    expect(plain.err).toContain("open already");
  });

  it("is one, though two begin at the same moment", async () => {
    const repo = await makeRepoWithHistory();
    const both = await Promise.all([ui(repo), ui(repo)]);
    expect(both[0]?.url).toBe(both[1]?.url);
    await eventually("one of them ends", () => both.some(({ child }) => child.exitCode === 0));
  });

  it("is known to the user alone, and is not kept where it cannot be", async () => {
    const config = makeFolder("config");
    const repo = await makeRepoWithHistory();
    const env = { XDG_CONFIG_HOME: config };
    const first = await ui(repo, [], env);
    const folder = path.join(config, "autodev/ui");
    const [file = ""] = fs.readdirSync(folder);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    await first.end();
    // Somebody else could have read it: it is worth nothing any more.
    fs.chmodSync(path.join(folder, file), 0o644);
    const second = await ui(repo, [], env);
    expect(second.token).not.toBe(first.token);
    await second.end();
    const inside = await ui(repo, [], { XDG_CONFIG_HOME: repo.at("config") });
    await inside.json("projects");
    expect(repo.exists("config")).toBe(false);
    await inside.end();
    const nowhere = await ui(repo, [], { XDG_CONFIG_HOME: "/dev/null/nothing" });
    await nowhere.json("projects");
  });

  it("is another one, with another token, where somebody else has taken its place", async () => {
    const repo = await makeRepoWithHistory();
    const first = await ui(repo);
    await first.end();
    const heard: string[] = [];
    const thief = net.createServer((socket) =>
      socket.on("data", (bytes) => heard.push(bytes.toString("latin1"))),
    );
    await new Promise<void>((resolve) => thief.listen(first.port, "127.0.0.1", resolve));
    const second = await ui(repo);
    thief.close();
    expect(second.port).not.toBe(first.port);
    expect(second.token).not.toBe(first.token);
    expect(heard.join("")).not.toContain(first.token);
  });

  it("is one for each work tree, and the others stay when one is removed", async () => {
    const repo = await makeRepoWithHistory();
    const linked = path.join(makeFolder("linked"), "tree");
    repo.git("worktree", "add", "-q", linked);
    const [here, there] = [await ui(repo), await ui({ root: linked })];
    expect(there.url).not.toBe(here.url);
    const rootOf = async ({ json }: Ui): Promise<string | undefined> =>
      (await json<{ projects: { root: string }[] }>("projects")).projects[0]?.root;
    expect([await rootOf(here), await rootOf(there)]).toEqual([repo.root, linked]);
    repo.git("worktree", "remove", "--force", linked);
    const { projects } = await here.json<{ projects: { trouble?: string }[] }>("projects");
    expect(projects[0]?.trouble).toBeUndefined();
    expect(jsonOf<{ url: string }>(await repo.autodev("ui", "--json")).url).toBe(here.url);
  });

  it("has another token where a port was chosen, while somebody else has its place", async () => {
    const repo = await makeRepoWithHistory();
    const first = await ui(repo);
    await first.end();
    const taking = async (port: number): Promise<net.Server> => {
      const thief = net.createServer();
      await new Promise<void>((resolve) => thief.listen(port, "127.0.0.1", resolve));
      return thief;
    };
    const thief = await taking(first.port);
    const second = await ui(repo, ["--port", String(await freePort())]);
    expect(second.token).not.toBe(first.token);
    await second.end();
    thief.close();
    const another = await taking(second.port);
    expect((await repo.autodev("ui", "--json", "--port", String(second.port))).code).toBe(2);
    another.close();
    const third = await ui(repo, ["--port", String(second.port)]);
    expect([first.token, second.token]).not.toContain(third.token);
  });

  it("has another token when nobody has used it for a day", async () => {
    const env = { XDG_CONFIG_HOME: makeFolder("config") };
    const repo = await makeRepoWithHistory();
    const folder = path.join(env.XDG_CONFIG_HOME, "autodev/ui");
    const aged = (hours: number): string => {
      const [name = ""] = fs.readdirSync(folder);
      const file = path.join(folder, name);
      const then = new Date(Date.now() - hours * 3_600_000);
      fs.utimesSync(file, then, then);
      return file;
    };
    const first = await ui(repo, [], env);
    await first.end();
    const file = aged(23);
    const second = await ui(repo, [], env);
    expect(second.url).toBe(first.url);
    expect(Date.now() - fs.statSync(file).mtimeMs).toBeLessThan(60_000);
    // Whoever serves for days is found all the same.
    aged(25);
    expect((await ui(repo, [], env)).url).toBe(first.url);
    expect(Date.now() - fs.statSync(file).mtimeMs).toBeLessThan(60_000);
    await second.end("SIGKILL");
    aged(25);
    const third = await ui(repo, [], env);
    expect(third.port).toBe(first.port);
    expect(third.token).not.toBe(first.token);
    await third.json("projects");
  });

  it("can be chosen, and is refused when another program has it", async () => {
    const repo = await makeRepoWithHistory();
    const other = net.createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as net.AddressInfo;
    const ran = await repo.autodev("ui", "--json", "--port", String(port));
    other.close();
    expect(ran.code).toBe(2);
    expect(errorOf(ran).message).toContain(`port ${port} cannot be had: another program has it`);
    // What no browser opens is nobody's address.
    const refused = await repo.autodev("ui", "--json", "--port", "5060");
    expect(refused.code).toBe(2);
    expect(errorOf(refused).message).toContain("no browser opens port 5060");
    const chosen = await ui(repo, ["--port", String(port)]);
    expect(chosen.port).toBe(port);
    expect((await repo.autodev("ui", "--json", "--port", "99999")).code).not.toBe(0);
  });

  it("is on loopback and nowhere else", async () => {
    const { port, pid } = await ui(await makeRepoWithHistory());
    const lines = fs.readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n");
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const listening = lines.filter((line) => new RegExp(`:${hex} \\S+ 0A `).test(line));
    expect(listening.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${hex}`]);
    const six = fs.readFileSync(`/proc/${pid}/net/tcp6`, "utf8");
    expect(new RegExp(`:${hex} \\S+ 0A `).test(six)).toBe(false);
  });

  it("is given for a ticket, once, and only to our own page", async () => {
    const opened = await ui(await makeRepoWithHistory());
    const { ticket } = JSON.parse((await opened.post("ticket", {})).text) as { ticket: string };
    const headers = {
      "content-type": "application/json",
      origin: `http://127.0.0.1:${opened.port}`,
    };
    const enter = (given: string, more = {}) =>
      ask(
        { port: opened.port, method: "POST", path: "/api/enter", headers: { ...headers, ...more } },
        JSON.stringify({ ticket: given }),
      );
    expect((await enter(ticket, { origin: "http://evil.example" })).status).toBe(403);
    expect((await enter("x".repeat(32))).status).toBe(403);
    expect(JSON.parse((await enter(ticket)).text)).toEqual({ version: 1, token: opened.token });
    expect((await enter(ticket)).status).toBe(403);
  });

  it("ends with 0 when it is asked to, and with its input where that was wanted", async () => {
    const repo = await makeRepoWithHistory();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      const opened = await ui(repo);
      await opened.listen(0);
      expect(await opened.end(signal)).toBe(0);
    }
    const bound = await ui(repo, ["--until-input-ends"]);
    bound.child.stdin?.end();
    await eventually("it ends", () => bound.child.exitCode === 0);
  });
});

// ── what is told ───────────────────────────────────────────────────────────────────────────────

describe("what it tells", () => {
  it("of a run: the board, its events, what was said, told and changed", async () => {
    const repo = makeBuildRepo(twoPhases);
    expectComplete(await build(repo, ["--agent=apply"]));
    const opened = await ui(repo);
    const { board, head } = await opened.json<BoardView>("board?p=.");
    expect(board.seq).toBe(head.seq);
    const [run = ""] = Object.keys(board.runs);
    const { events } = await opened.json<{ events: { seq: number }[] }>(
      `events?p=.&after=2&to=${head.seq}`,
    );
    expect(events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: head.seq - 2 }, (_, at) => at + 3),
    );
    const past = await opened.json<BoardView>("board?p=.&at=3");
    expect(past.board.seq).toBeLessThanOrEqual(3);
    expect(past.head.seq).toBe(head.seq);
    const which = `p=.&run=${run}&phase=1&attempt=1`;
    const said = await opened.json<{ next: number; entries: { is: string; text: string }[] }>(
      `transcript?${which}&from=0`,
    );
    expect(said.entries[0]).toEqual({ is: "heading", text: "attempt 1 at phase 1, by apply" });
    expect(
      (await opened.json<{ entries: [] }>(`transcript?${which}&from=${said.next}`)).entries,
    ).toEqual([]);
    const end = await opened.json<{ from: number; entries: unknown[] }>(
      `transcript?${which}&from=-40`,
    );
    expect(end.from).toBeGreaterThan(0);
    expect(said.entries.slice(-end.entries.length)).toEqual(end.entries);
    const brief = await opened.json<{ from?: string; text: string; blocks: unknown[] }>(
      `brief?${which}`,
    );
    expect(brief.from).toBe("plan");
    expect(brief.text).toContain("Make part 1");
    const diff = await opened.json<DiffView>(`diff?${which}`);
    expect(diff.files.map((file) => file.path)).toContain("src/1.txt");
    expect(diff.patch).toContain("+part 1");
    expect(diff.cut).toBe(false);
  });

  it("of documents: those below _docs, now and in a commit, and none outside", async () => {
    const repo = makeRepo({
      [present]: generation3,
      "_docs/a.md": "# A <script>\n\n[b](b.md) [c](javascript:alert(1))\n",
      "_docs/b.bin": Buffer.from([0, 1, 2]),
      "_docs/c.json": "{}",
      "secret.md": "secret",
    });
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=docs");
    const commit = repo.git("rev-parse", "HEAD").trim();
    repo.write("_docs/a.md", "# Later\n");
    repo.write("_docs/big.md", "x\n\n".repeat(600_000));
    repo.write("_docs/big.txt", "x\n\n".repeat(600_000));
    fs.symlinkSync("../secret.md", repo.at("_docs/link.md"));
    fs.symlinkSync("..", repo.at("_docs/up"));
    fs.symlinkSync("/etc", repo.at("_docs/etc"));
    const opened = await ui(repo);
    const now = await opened.json<FilesView>("artifacts?p=.");
    const paths = now.files.map((file) => file.path);
    expect(paths).toEqual(expect.arrayContaining(["_docs/a.md", "_docs/b.bin", "_docs/big.md"]));
    expect(paths.filter((file) => /link|up|etc/.test(file))).toEqual([]);
    const then = await opened.json<FilesView>(`artifacts?p=.&at=${commit}`);
    expect(then.files.map((file) => file.path)).not.toContain("_docs/big.md");
    const read = (file: string, at = "") =>
      opened.get(`artifact?p=.&path=${encodeURIComponent(file)}${at}`);
    expect(JSON.parse((await read("_docs/a.md")).text)).toMatchObject({
      is: "markdown",
      text: "# Later\n",
    });
    const old = JSON.parse((await read("_docs/a.md", `&at=${commit}`)).text) as {
      blocks: unknown[];
    };
    expect(old.blocks).toEqual([
      { t: "h", level: 1, c: [{ t: "text", v: "A <script>" }] },
      {
        t: "p",
        c: [
          { t: "a", artifact: "_docs/b.md", c: [{ t: "text", v: "b" }] },
          { t: "text", v: " " },
          { t: "a", c: [{ t: "text", v: "c" }] },
        ],
      },
    ]);
    expect(JSON.parse((await read("_docs/b.bin")).text)).toMatchObject({ is: "binary", bytes: 3 });
    expect(JSON.parse((await read("_docs/c.json")).text)).toMatchObject({ is: "text", text: "{}" });
    for (const [file, most] of [
      ["_docs/big.md", 256 * 1024],
      ["_docs/big.txt", 1024 ** 2],
    ] as const) {
      const big = JSON.parse((await read(file)).text) as { cut: boolean; text: string };
      expect([big.cut, big.text.length]).toEqual([true, most]);
    }
    for (const file of [
      "_docs/link.md",
      "_docs/up/secret.md",
      "_docs/etc/passwd",
      "_docs/../secret.md",
      "_docs/./../secret.md",
      "_docs//../secret.md",
      "_docs/..\\secret.md",
      "_docs/nothing.md",
      "_docs/",
      "_docs",
      "secret.md",
      "/etc/passwd",
      "_docs/a.md\u0000.png",
    ]) {
      for (const at of ["", `&at=${commit}`]) {
        const { status, text } = await read(file, at);
        expect([400, 404], file).toContain(status);
        expect(text).not.toContain("root:");
        expect(text).not.toMatch(/"text":"secret/);
      }
    }
  });

  it("to whoever asks for what there is not: a sentence", async () => {
    const repo = makeBuildRepo(twoPhases);
    expectComplete(await build(repo, ["--agent=apply"]));
    const opened = await ui(repo);
    const run = Object.keys((await opened.json<BoardView>("board?p=.")).board.runs)[0] ?? "";
    const nasty = [
      "..",
      "../..",
      "%00",
      "a/b",
      "constructor",
      "__proto__",
      "x".repeat(3000),
      "-1",
      "",
      "1e9",
    ];
    const questions = nasty.flatMap((word) => {
      const given = word === "%00" ? word : encodeURIComponent(word);
      return [
        `board?p=${given}`,
        `board?p=.&at=${given}`,
        `events?p=.&after=${given}&to=5`,
        `transcript?p=.&run=${given}&phase=1&attempt=1`,
        `transcript?p=.&run=${run}&phase=${given}&attempt=1`,
        `transcript?p=.&run=${run}&phase=1&attempt=${given}`,
        `brief?p=.&run=${given}&phase=1&attempt=1`,
        `diff?p=.&run=${run}&phase=${given}&attempt=1`,
        `diff?p=.&run=${run}&phase=1&attempt=${given}`,
        `artifacts?p=.&at=${given}`,
        `artifact?p=.&path=_docs/x.md&at=${given}`,
        `stream?p=${given}&after=0`,
        `stream?p=.&after=${given}`,
        `proof?nonce=${given}`,
      ];
    });
    for (const question of [
      ...questions,
      `artifacts?p=.&at=${"0".repeat(40)}`,
      "artifacts?p=.&at=HEAD",
      "artifacts?p=.&at=--output=/tmp/x",
      "board?p=.&p=.&at=1&at=2",
      "transcript?p=.&run=flow&phase=1&attempt=1",
      "nothing",
      "board/",
      "board/../board",
    ]) {
      const { status, text } = await opened.get(question);
      expect([400, 404], `${question.slice(0, 100)}: ${text.slice(0, 200)}`).toContain(status);
      expect(text.length).toBeLessThan(400);
    }
    await opened.json("projects");
  });

  it("nothing of the environment, and no token but its own page's", async () => {
    const repo = makeBuildRepo(twoPhases);
    const secret = "a-very-secret-value-of-the-environment";
    expectComplete(await build(repo, ["--agent=apply"]));
    const opened = await ui(repo, [], { MY_API_KEY: secret });
    for (const question of ["projects", "board?p=.", "events?p=.&after=0&to=99", "artifacts?p=."]) {
      const { text } = await opened.get(question);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(opened.token);
    }
  });

  it("of a suite: each repository that is checked out, by its path, and none by a link", async () => {
    const repo = makeRepo({
      ".gitmodules":
        '[submodule "a"]\n\tpath = parts/a\n\turl = ./a\n[submodule "l"]\n\tpath = parts/link\n\turl = ./l\n[submodule "n"]\n\tpath = parts/nothing\n\turl = ./n\n',
    });
    const part = await makeRepoWithHistory();
    const outside = await makeRepoWithHistory();
    fs.mkdirSync(repo.at("parts"));
    fs.cpSync(part.root, repo.at("parts/a"), { recursive: true });
    fs.symlinkSync(outside.root, repo.at("parts/link"));
    const opened = await ui(repo);
    const { projects } = await opened.json<{ projects: { key: string; place?: object }[] }>(
      "projects",
    );
    expect(projects.map(({ key }) => key)).toEqual([".", "parts/a"]);
    expect(projects[1]?.place).toBeDefined();
    expect((await opened.json<BoardView>("board?p=parts%2Fa")).head.seq).toBeGreaterThan(0);
    expect((await opened.get("board?p=parts%2Flink")).status).toBe(404);
    fs.rmSync(repo.at("parts/a"), { recursive: true });
    const after = await opened.json<{ projects: { key: string; trouble?: string }[] }>("projects");
    expect(after.projects[1]?.trouble).toContain("no longer there");
    await opened.json("board?p=.");
  });
});

interface BoardView {
  readonly board: { readonly seq: number; readonly runs: Readonly<Record<string, unknown>> };
  readonly head: { readonly seq: number };
}
interface DiffView {
  readonly files: readonly { readonly path: string }[];
  readonly patch: string;
  readonly cut: boolean;
}
interface FilesView {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

// ── while something goes on ────────────────────────────────────────────────────────────────────

describe("while something goes on", () => {
  it("an answer given in the page unblocks whoever waits for it in another process", async () => {
    const repo = await makeAskedRepo();
    const holder = await makeHolder(repo);
    const opened = await ui(repo);
    const ear = await opened.listen(0);
    const { id } = repo.decision;
    const told = await opened.post("decide", { p: ".", id, key: "a" });
    expect(told.status, told.text).toBe(200);
    expect(JSON.parse(told.text)).toEqual({
      version: 1,
      id,
      answer: "A",
      answeredBy: "tester",
      // By whoever held it, or by us if that one had gone by then.
      recorded: expect.any(Boolean),
    });
    expect((await holder.ended).code).toBe(0);
    await eventually("it is on record, and told", () =>
      ear.heard.some(
        ({ event, data }) =>
          event === "events" &&
          (data as { type: string }[]).some(({ type }) => type === "decision-answered"),
      ),
    );
    const again = await opened.post("decide", { p: ".", id, key: "B" });
    expect([again.status, codeIn(again.text)]).toEqual([409, "decision-taken"]);
    expect(
      codeIn((await opened.post("decide", { p: ".", id: "d-000000000000", key: "A" })).text),
    ).toBe("not-found");
  });

  it("an answer is recorded at once where nobody is at work", async () => {
    const repo = await makeAskedRepo();
    const opened = await ui(repo);
    const { id } = repo.decision;
    const told = await opened.post("decide", { p: ".", id, key: "A" });
    expect(JSON.parse(told.text)).toMatchObject({ recorded: true });
    expect((await repo.decisions())[0]?.status).toBe("answered");
    expect(opened.child.exitCode).toBeNull();
    // Given again it is on record already, and nobody is kept from the project for it.
    const segments = segmentsOf(repo);
    const again = await opened.post("decide", { p: ".", id, key: "A" });
    expect(JSON.parse(again.text)).toEqual(JSON.parse(told.text));
    expect(segmentsOf(repo)).toEqual(segments);
  });

  it("an answer that is kept, but cannot be recorded, is told with the reason", async () => {
    const repo = await makeAskedRepo();
    const opened = await ui(repo);
    fs.rmSync(repo.at("_docs"), { recursive: true });
    fs.symlinkSync("_docs", repo.at("_docs"));
    const { id } = repo.decision;
    const told = JSON.parse((await opened.post("decide", { p: ".", id, key: "A" })).text);
    expect(told).toMatchObject({ recorded: false, answer: "A" });
    expect((told as { warning?: string }).warning).toContain("the answer is kept, but ");
  });

  it("a run is told as it goes on, with what its agent printed last, over broken connections", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, spelled("2", ["1"]), spelled("3", ["2"])]));
    const opened = await ui(repo);
    const mailbox = makeMailbox();
    const agent = `echo "I am at it: $(printf '\\033[31m')red"; touch "$MAILBOX/began-$AUTODEV_PHASE"
      while [ ! -e "$MAILBOX/open" ]; do sleep 0.05; done; ${working}`;
    const run = await startTrusted(repo, [], { agent, env: { MAILBOX: mailbox } });
    const seqs: number[] = [];
    let line: unknown;
    let last = 0;
    const hear = async (ms: number): Promise<void> => {
      const ear = await opened.listen(0, last);
      await sleep(ms);
      ear.hangUp();
      seqs.push(...ear.seqs());
      last = seqs.at(-1) ?? 0;
      line ??= ear.heard.find(({ event }) => event === "line")?.data;
    };
    await arrived(mailbox, "began-1");
    await eventually(
      "its line",
      async () => {
        await hear(1300);
        return line !== undefined;
      },
      15_000,
    );
    expect(line).toMatchObject({ phase: "1", text: "I am at it: red" });
    fs.writeFileSync(path.join(mailbox, "open"), "");
    const over = { yet: false };
    const ended = run.ended.finally(() => (over.yet = true));
    while (!over.yet) await hear(170);
    expectComplete(await ended);
    await hear(600);
    const recorded = (await repo.events()).map(({ seq }) => seq);
    expect(seqs).toEqual(recorded);
  });

  it("a journal that is damaged is told, and the server lives on and recovers", async () => {
    const repo = await makeRepoWithHistory();
    fs.rmSync(path.join(memoryOf(repo), "snapshot"), { force: true });
    const [segment = ""] = segmentsOf(repo);
    const whole = fs.readFileSync(segment);
    const damaged = Buffer.from(whole);
    damaged.fill("x", 10, 60);
    fs.writeFileSync(segment, damaged);
    const opened = await ui(repo);
    const told = await opened.get("board?p=.");
    expect([told.status, codeIn(told.text)]).toEqual([503, "journal-damaged"]);
    const { projects } = await opened.json<{ projects: { trouble?: string }[] }>("projects");
    expect(projects[0]?.trouble).toContain("cannot be relied on");
    fs.writeFileSync(segment, whole);
    // What cannot be read is not read all the time: on a busy machine a little less often.
    await eventually(
      "it is read again",
      async () => (await opened.get("board?p=.")).status === 200,
    );
    expect((await opened.json<BoardView>("board?p=.")).head.seq).toBeGreaterThan(0);
  });

  it("what a project in trouble needed before is not asked of people", async () => {
    const repo = await makeAskedRepo();
    const opened = await ui(repo);
    const seen = async (): Promise<{ needs: number; trouble?: string } | undefined> =>
      (await opened.json<{ projects: { needs: number; trouble?: string }[] }>("projects"))
        .projects[0];
    expect(await seen()).toMatchObject({ needs: 1 });
    fs.renameSync(repo.root, `${repo.root}-moved`);
    const now = await seen();
    expect([now?.needs, typeof now?.trouble]).toEqual([0, "string"]);
  });

  it("works where nothing was ever recorded, and in no repository at all", async () => {
    for (const folder of [makeRepo().root, makeFolder("plain")]) {
      const opened = await ui({ root: folder });
      expect((await opened.json<BoardView>("board?p=.")).head.seq).toBe(0);
      const ear = await opened.listen(0);
      await eventually("a pulse", () => ear.heard.length >= 2);
      await opened.end();
    }
  });
});

describe("agents in a sandbox, and gates", () => {
  const canEnclose =
    spawnSync("unshare", [process.getuid?.() === 0 ? "-m" : "-Urm", "true"]).status === 0;
  it.skipIf(!canEnclose)("do not see with what somebody could answer for a person", async () => {
    const looks = (who: string): string =>
      `ls -A "$XDG_CONFIG_HOME/autodev/ui" >> "$MAILBOX/${who}" 2>&1
       cat "$XDG_CONFIG_HOME"/autodev/ui/* >> "$MAILBOX/${who}" 2>/dev/null
       cat "$HOME"/.config/chromium/History "$HOME"/.mozilla/x >> "$MAILBOX/${who}" 2>/dev/null
       echo looked >> "$MAILBOX/${who}"`;
    const repo = makeBuildRepo(vaguePhase, {
      ".autodev/config.yaml": config.replace(/^ *confined: false\n/m, ""),
    });
    const mailbox = makeMailbox();
    const opened = await ui(repo);
    // Browsers keep addresses, with whatever stands in them.
    const home = makeFolder("browsers");
    for (const file of [".config/chromium/History", ".mozilla/x"]) {
      fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
      fs.writeFileSync(path.join(home, file), "http://127.0.0.1/#token=secret\n");
    }
    const ran = await build(repo, ["--agent=mine", "--sandbox=required"], {
      agent: `${looks("agent")}\n${working}`,
      gate: looks("gate"),
      env: { MAILBOX: mailbox, HOME: home },
    });
    expectComplete(ran);
    for (const who of ["agent", "gate"])
      expect(fs.readFileSync(path.join(mailbox, who), "utf8")).toMatch(/^(?:looked\n)+$/);
    await opened.json("projects");
  });
});

describe("build --ui", () => {
  it("shows where, lives as long as the build does, and ends with it however it ends", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = `touch "$MAILBOX/began-$AUTODEV_PHASE"; while :; do sleep 0.05; done`;
    const run = await startTrusted(repo, ["--ui"], { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "began-1");
    const url = /http:\/\/127\.0\.0\.1:(\d+)\/#token=(\S+)/.exec(run.said());
    const [, port = "0", token = ""] = url ?? [];
    const look = () =>
      ask({
        port: Number(port),
        path: "/api/projects",
        headers: { authorization: `Bearer ${token}` },
      });
    expect((await look()).status).toBe(200);
    run.kill("SIGKILL");
    await run.ended;
    await eventually("the dashboard ends", () =>
      look().then(
        () => false,
        () => true,
      ),
    );
  });

  it("never keeps a build from its work", async () => {
    const repo = makeBuildRepo(twoPhases);
    const held = await ui(repo);
    const ran = await build(repo, ["--agent=apply", "--ui"]);
    expectComplete(ran);
    expect(ran.err).toContain(held.url);
    expect(ran.out).not.toContain("token");
    expect((await held.get("projects")).status).toBe(200);
    const both = await repo.autodev("build", "docs/feature-plan.md", "--ui", "--detach");
    expect(both.code).toBe(2);
  });
});

it("opens a browser with a word that is good once, where somebody sits before a screen", async () => {
  const repo: Repo = await makeRepoWithHistory();
  const bin = makeFolder("bin");
  const told = path.join(bin, "told");
  fs.writeFileSync(
    path.join(bin, "xdg-open"),
    `#!/bin/sh\necho "$*" > ${told}.new && mv ${told}.new ${told}\n`,
    {
      mode: 0o755,
    },
  );
  const { spawn: atTerminal } = await import("@lydell/node-pty");
  const env = { ...plainEnvironment, PATH: `${bin}:${plainEnvironment["PATH"]}`, DISPLAY: ":9" };
  const terminal = atTerminal(process.execPath, [binary(), "ui"], { cwd: repo.root, env });
  let shown = "";
  terminal.onData((text) => (shown += text));
  await eventually("the browser is started", () => fs.existsSync(told), 15_000);
  const opened = fs.readFileSync(told, "utf8");
  expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{32}\n$/);
  const token = () => /#token=([\w-]{43})/.exec(shown)?.[1];
  await eventually("the address is shown", () => token() !== undefined);
  expect(opened).not.toContain(token());
  terminal.kill("SIGINT");
  // Without a screen nothing is started, whatever is on PATH.
  fs.rmSync(told);
  const child = spawn(process.execPath, [binary(), "ui", "--json"], {
    cwd: repo.root,
    env: { ...env, DISPLAY: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await sleep(300);
  child.kill();
  expect(fs.existsSync(told)).toBe(false);
});
