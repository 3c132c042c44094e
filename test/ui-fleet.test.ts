/**
 * A fleet on its page: a real PostgreSQL, a worker that is a process, the built binary's server and
 * a real Chromium. What others have written into the database is text there, and nobody else's page
 * gets or changes anything.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type FleetProject,
  type FleetRig,
  findPostgres,
  landedIn,
  startFleet,
  until,
} from "../torture/fleet-rig.ts";
import {
  closeBrowser,
  endServers,
  expectAccessible,
  hasBrowser,
  screenshot,
  serve,
  view,
} from "./browser-rig.ts";
import { planOf, spelled } from "./build-rig.ts";
import { binary, makeFolder, makeRepo, sleep } from "./rig.ts";
import { ask, openUi, type Told, type Ui } from "./ui-rig.ts";

const patience = 120_000;
const noPostgres = findPostgres() === undefined;
/** A skipped test says why by its name. */
const where = noPostgres
  ? " (skipped: there is no PostgreSQL on this machine)"
  : hasBrowser
    ? ""
    : " (in part skipped: there is no Chromium on this machine)";

let running: Ui[] = [];
afterEach(async () => {
  for (const ui of running) await ui.end("SIGKILL");
  running = [];
});
afterAll(async () => {
  endServers();
  await closeBrowser();
});

async function ui(...given: Parameters<typeof openUi>): Promise<Ui> {
  const opened = await openUi(...given);
  running.push(opened);
  return opened;
}

const fleetAddress = (url: string): string => url.replace("/#", "/fleet#");

const errorIn = ({ text }: Told) =>
  (JSON.parse(text) as { error: { code: string; message: string; hint?: string } }).error;

interface Wish {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
}

interface Fleet {
  readonly paused: boolean;
  readonly runs: readonly {
    readonly run: string;
    readonly plan: string;
    readonly state: string;
    readonly decisions: readonly {
      readonly id: string;
      readonly recommendation: string;
      readonly options: readonly { readonly key: string; readonly text: string }[];
    }[];
  }[];
  readonly workers: readonly { readonly id: string; readonly state: string }[];
}

describe.skipIf(noPostgres)(`a fleet in the dashboard${where}`, { timeout: patience }, () => {
  let rig: FleetRig;
  let env: Record<string, string>;
  beforeAll(async () => {
    rig = await startFleet(makeFolder("ui-fleet"), binary());
    const { AUTODEV_DATABASE_URL = "", NODE_PATH = "" } = rig.env();
    env = { AUTODEV_DATABASE_URL, NODE_PATH };
    const worker = rig.worker("builder-1", { jobs: 3, labels: ["gpu"] });
    await until("a worker", () => worker.said().includes("lane"));
  }, patience);
  afterAll(() => rig?.end());

  /** Nothing checks it: the first thing that it does is to ask. */
  const asking = (name: string): Promise<FleetProject> =>
    rig.project(name, {
      plan: planOf([spelled("1"), spelled("2", ["1"])]),
      config: "# no gates\n",
    });

  const submitted = async (project: FleetProject): Promise<void> => {
    const said = await rig.build(project, ["--detach"]);
    if (said.code !== 0) throw new Error(said.all);
  };

  it("is let in as everything else is: by the page itself, with the token", async () => {
    const project = await asking("guarded");
    await submitted(project);
    const { port, token, get, json } = await ui({ root: project.repo }, [], env);
    await until("a question", async () => (await json<Fleet>("fleet")).runs[0]?.state === "asking");
    const before = await json<Fleet>("fleet");
    const [run] = before.runs;
    const [decision] = run?.decisions ?? [];
    expect(decision).toMatchObject({ recommendation: "A" });
    expect(decision?.options.map(({ key }) => key)).toEqual(["A", "B"]);
    expect(before.workers).toMatchObject([{ id: expect.stringContaining("builder-1") }]);

    const host = `127.0.0.1:${port}`;
    const good = {
      host,
      origin: `http://${host}`,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    };
    const foreign: readonly Record<string, string>[] = [
      { host: `evil.example:${port}` },
      { host: `127.0.0.1:${port + 1}` },
      { origin: "http://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { authorization: "" },
      { authorization: `Bearer ${"x".repeat(43)}` },
    ];
    const wishes: readonly Wish[] = [
      { method: "GET", path: "/api/fleet", body: undefined },
      {
        method: "POST",
        path: "/api/fleet/decide",
        body: { run: run?.run, id: decision?.id, key: "A" },
      },
      { method: "POST", path: "/api/fleet/pause", body: { run: null, paused: true } },
      { method: "POST", path: "/api/fleet/pause", body: { run: run?.run, paused: true } },
    ];
    const sent = (wish: Wish, headers: Record<string, string>) => {
      const body = wish.method === "POST" ? JSON.stringify(wish.body) : undefined;
      return ask({ port, method: wish.method, path: wish.path, headers }, body);
    };
    for (const wish of wishes) {
      for (const one of foreign) {
        const told = await sent(wish, { ...good, ...one });
        expect({ wish, one, status: told.status }).toMatchObject({
          status: "authorization" in one ? 401 : 403,
        });
        expect(told.text).not.toContain(run?.run ?? "?");
        expect(told.headers["access-control-allow-origin"]).toBeUndefined();
      }
      const { origin: _, ...nameless } = good;
      if (wish.body) {
        expect((await sent(wish, nameless)).status).toBe(403);
        expect((await sent({ ...wish, method: "GET" }, good)).status).toBe(405);
        const form = { ...good, "content-type": "text/plain" };
        expect((await sent(wish, form)).status).toBe(415);
      }
    }
    for (const target of ["/fleet", "/fleet.js", "/fleet.css"]) {
      expect((await ask({ port, path: target, headers: { host } })).status).toBe(200);
      for (const one of foreign.slice(0, 6))
        expect((await ask({ port, path: target, headers: { host, ...one } })).status).toBe(403);
    }
    const typed = { host, "sec-fetch-site": "none" };
    expect((await ask({ port, path: "/fleet", headers: typed })).status).toBe(200);
    expect((await ask({ port, path: "/fleet.js", headers: typed })).status).toBe(403);

    // Also what has the token is looked at.
    for (const body of [
      { run: run?.run, id: "d-x", key: "A" },
      { run: "../x", id: decision?.id, key: "A" },
      { run: run?.run, id: decision?.id, key: "AA" },
      { id: decision?.id, key: "A" },
    ])
      expect((await sent({ method: "POST", path: "/api/fleet/decide", body }, good)).status).toBe(
        400,
      );
    const other = { run: "r0000000000", id: decision?.id, key: "A" };
    const toNobody = await sent({ method: "POST", path: "/api/fleet/decide", body: other }, good);
    expect(toNobody.status).toBe(404);
    expect(
      (await sent({ method: "POST", path: "/api/fleet/pause", body: { paused: true } }, good))
        .status,
    ).toBe(400);
    await sleep(1100);
    expect(await json<Fleet>("fleet")).toMatchObject({
      paused: false,
      runs: [{ run: run?.run, state: "asking", paused: false, decisions: [{ id: decision?.id }] }],
    });
    const [after] = (await json<Fleet>("fleet")).runs;
    expect(after?.decisions.length).toBe(1);
    const all = (await get("fleet")).text;
    expect(all).not.toContain(String(rig.postgres.port));
    expect(all).not.toContain("postgres");
    rig.sqlRun("UPDATE autodev.runs SET is_open = false, state = 'over', asking = '[]'");
  });

  describe.skipIf(!hasBrowser)("in a browser", () => {
    it("shows who works on what, takes an answer, and the run goes on to its end", async () => {
      const project = await asking("asked");
      await submitted(project);
      const { url } = await serve(project.repo, env);
      const { page, complaints, close } = await view(url);
      // From the page that everybody knows.
      await page
        .getByRole("navigation", { name: "Views" })
        .getByRole("link", { name: "Fleet" })
        .click();
      await page.getByRole("heading", { name: "One thing needs you" }).waitFor();
      expect(page.url()).not.toContain("token");
      await page.getByText("no gate runs here").waitFor();
      await page.getByText("builder-1").first().waitFor();
      await page.getByText("#gpu").waitFor();
      await screenshot(page, "fleet-asks");
      await choose(page, "A");
      await page.getByText("A stands, by tester").waitFor();
      const card = page.getByRole("article", { name: /^Run r\w+: docs\/plan\.md/ }).first();
      await card.getByText("over", { exact: true }).waitFor({ timeout: 30_000 });
      await card.getByText("2/2").waitFor();
      expect(landedIn(project.remote, rig.env()).map(({ phase }) => phase)).toEqual(["1", "2"]);
      await page.getByRole("heading", { name: "Nothing is left to do" }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    });

    it("holds it and lets it go on; what others wrote is text; small, dark, and by keyboard", async () => {
      const hostile = `docs/<img src=x onerror=alert(1)>${"very-long-".repeat(8)}\u202eplan.md`;
      const plan = planOf([spelled("1")]);
      const made = await rig.project("hostile", { plan, files: { [hostile]: plan } });
      const told = await rig.autodev(["trust", hostile, "--agent=apply", "--json"], {
        cwd: made.repo,
      });
      const trust = /\b[0-9a-f]{64}\b/.exec(told.all)?.[0] ?? "";
      const { url } = await serve(made.repo, env);
      const { page, complaints, close, away } = await view(fleetAddress(url));

      await twice(page, "Pause the fleet");
      await page.getByText("nothing new begins").waitFor();
      expect(rig.sql("SELECT paused FROM autodev.fleet")).toEqual([{ paused: true }]);
      rig.sqlRun(
        "INSERT INTO autodev.agents (agent, at_once, limited_until, reason) VALUES ('claude', 2, now() + interval '1 hour', '<b>five hours</b>')",
      );
      await submitted({ ...made, plan: hostile, trust });
      const card = page.getByRole("article", { name: /onerror/ });
      await card.getByText("paused", { exact: true }).waitFor({ timeout: 20_000 });
      await page.getByText("2 at once").waitFor();
      await page.getByText("<b>five hours</b>").waitFor();
      expect(await page.locator("#page img, #page script, #page b").count()).toBe(0);
      expect(await card.locator("h3").innerText()).toContain("<U+202E>");
      await twice(card, /^Pause run/);
      await card.getByRole("button", { name: /^Resume run/ }).waitFor();
      await screenshot(page, "fleet-paused");
      await expectAccessible(page, "the fleet");

      await page.setViewportSize({ width: 360, height: 780 });
      await screenshot(page, "fleet-360");
      await page.emulateMedia({ colorScheme: "dark" });
      const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wide).toBeLessThanOrEqual(0);
      await expectAccessible(page, "the fleet, small and dark");
      await screenshot(page, "fleet-360-dark");
      await page.setViewportSize({ width: 1280, height: 800 });
      await screenshot(page, "fleet-1280-dark");

      await twice(page, "Resume the fleet");
      await page.getByRole("button", { name: "Pause the fleet" }).waitFor();
      expect(rig.sql("SELECT paused FROM autodev.fleet")).toEqual([{ paused: false }]);
      expect(rig.sql("SELECT paused FROM autodev.runs WHERE is_open")).toEqual([{ paused: true }]);
      // By keyboard; and one who is not sure presses Escape.
      const resume = card.getByRole("button", { name: /Resume run/ });
      await resume.focus();
      await page.keyboard.press("Enter");
      await card.getByText("Sure? Resume").waitFor();
      await page.keyboard.press("Escape");
      await card.getByText("Sure? Resume").waitFor({ state: "detached" });
      await twice(card, /Resume run/, () => page.keyboard.press("Enter"));
      await card.getByText("over", { exact: true }).waitFor({ timeout: 30_000 });
      expect(complaints).toEqual([]);

      await away(async () => {
        await rig.postgres.stop();
        await page.getByText("It cannot be read any more").waitFor({ timeout: 20_000 });
        const words = await page.locator("body").innerText();
        expect(words).toContain("the database cannot be reached");
        expect(words).not.toContain(String(rig.postgres.port));
        await screenshot(page, "fleet-unreadable");
        await rig.postgres.start();
        await page
          .getByText("It cannot be read any more")
          .waitFor({ state: "detached", timeout: 20_000 });
      });
      await close();
    });

    it("says what is missing: a database, its tables, the server, the token", async () => {
      const repo = makeRepo({});
      const without = await serve(repo.root);
      const { page, close, away } = await view("about:blank");
      await away(async () => {
        await page.goto(fleetAddress(without.url));
        await page.getByRole("heading", { name: "There is no fleet here" }).waitFor();
        await page.getByText("AUTODEV_DATABASE_URL=postgres://").waitFor();
        await expectAccessible(page, "no fleet");
        await screenshot(page, "fleet-none");
        await page.goto(without.url);
        await page.getByRole("navigation", { name: "Views" }).waitFor();
        expect(await page.getByRole("link", { name: "Fleet" }).count()).toBe(0);
        await page.goto(fleetAddress(without.url).replace(/token=.*/, `token=${"x".repeat(43)}`));
        await page.getByRole("heading", { name: "This page is not let in" }).waitFor();
        await without.kill();

        const bare = await rig.postgres.createDatabase("bare");
        const untabled = await serve(repo.root, { ...env, AUTODEV_DATABASE_URL: bare });
        await page.goto(fleetAddress(untabled.url));
        await page.getByRole("heading", { name: "The fleet cannot be read" }).waitFor();
        await page.getByText("the database has no tables of ours").waitFor();
        await page.getByText("autodev engine migrate").waitFor();
        await untabled.kill();
        const full = await serve(repo.root, env);
        await page.goto(fleetAddress(full.url));
        await page.getByRole("heading", { name: "Nothing is left to do" }).waitFor();
        await full.kill();
        await page.getByText("Not connected").waitFor({ timeout: 20_000 });
      });
      await close();
    });
  });

  it("loads nothing of it without a database, and never tells where one is", async () => {
    const repo = makeRepo({});
    const log = path.join(makeFolder("loaded"), "log");
    const hook = path.join(path.dirname(log), "hook.cjs");
    fs.writeFileSync(
      hook,
      `const m = require("node:module"), load = m._load, log = ${JSON.stringify(log)};
       m._load = function (name, ...rest) {
         if (/^(pg|@dbos-inc.*)$/.test(name)) require("node:fs").appendFileSync(log, name + "\\n");
         return load.call(this, name, ...rest);
       };`,
    );
    const { NODE_PATH = "" } = env;
    const watched = { NODE_PATH, NODE_OPTIONS: `--require=${hook}` };
    const plain = await ui(repo, [], watched);
    const none = await plain.get("fleet");
    expect(none.status).toBe(404);
    expect(errorIn(none)).toMatchObject({
      code: "not-found",
      message: expect.stringContaining("no database"),
      hint: expect.stringContaining("AUTODEV_DATABASE_URL="),
    });
    expect((await plain.post("fleet/pause", { run: null, paused: true })).status).toBe(404);
    expect(fs.existsSync(log)).toBe(false);
    await plain.end();

    const secret = "postgres://ann:hunter2@127.0.0.1:1/secret-name";
    const file = path.join(path.dirname(log), "address");
    fs.writeFileSync(file, `${secret}\n`);
    const unreachable = await ui(repo, [], { ...watched, AUTODEV_DATABASE_URL_FILE: file });
    expect(fs.existsSync(log)).toBe(false);
    const answers = [
      await unreachable.get("fleet"),
      await unreachable.post("fleet/pause", { run: null, paused: true }),
      await unreachable.post("fleet/decide", { run: "r1", id: "d-0123456789ab", key: "A" }),
    ];
    expect(fs.readFileSync(log, "utf8")).toContain("pg\n");
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(errorIn(answer).message).toBe("the database cannot be reached");
      expect(answer.text).not.toMatch(/hunter2|\bann\b|secret-name|127\.0\.0\.1:1|ECONNREFUSED/);
    }
    expect(unreachable.said()).not.toMatch(/hunter2|secret-name/);
    expect(await unreachable.end()).toBe(0);

    const reached = await ui(repo, [], env);
    expect((await reached.get("fleet")).status).toBe(200);
    const began = performance.now();
    expect(await reached.end()).toBe(0);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

/** As somebody who has read the question. */
async function choose(page: Page, key: string): Promise<void> {
  const letter = page.locator(`[data-need] button[data-key=${key}]`);
  await letter.waitFor();
  for (let tries = 0; tries < 5; tries++) {
    await sleep(1000);
    await letter.click();
    if ((await page.getByText("It has only just come here").count()) === 0) return;
  }
}

/** Asked once, done twice: a double click is one click. */
async function twice(
  within: Pick<Page, "getByRole" | "getByText">,
  name: string | RegExp,
  press?: () => Promise<void>,
): Promise<void> {
  const button = within.getByRole("button", { name });
  await button.waitFor();
  const again = press ?? (() => within.getByText("Sure?").click());
  if (press) await press();
  else await button.dblclick();
  await within.getByText("Sure?").waitFor();
  await sleep(500);
  await again();
}
