/**
 * The dashboard as people meet it: the built binary serves it, a real Chromium shows it, the runs
 * that it shows are in other processes. Whatever a page says on its console fails its test.
 */
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import {
  closeBrowser,
  endServers,
  expectAccessible,
  hasBrowser,
  screenshot,
  serve,
  type ViewOptions,
  view,
} from "./browser-rig.ts";
import {
  arrived,
  build,
  environmentOf,
  expectComplete,
  makeBuildRepo,
  makeMailbox,
  plan,
  planOf,
  startTrusted,
  trustHash,
  working,
} from "./build-rig.ts";
import { makeFlowProject } from "./flow-rig.ts";
import { atTerminal, eventually, makeRepo, type Repo, repoAt, segmentsOf, sleep } from "./rig.ts";

const patience = 120_000;
/** A question that came less than this ago takes no answer. */
const toRead = 1000;

afterAll(async () => {
  endServers();
  await closeBrowser();
});

const three = planOf([
  { id: "1", name: "Groundwork" },
  { id: "2", name: "Walls", needs: ["1"] },
  { id: "3", name: "Roof", needs: ["2"] },
]);

/** Each phase waits at a door of its own. */
const atDoors = `echo "I am building part $AUTODEV_PHASE"; touch "$MAILBOX/began-$AUTODEV_PHASE"
  while [ ! -e "$MAILBOX/open-$AUTODEV_PHASE" ]; do sleep 0.05; done; ${working}`;

async function underWay(repo: Repo) {
  const mailbox = makeMailbox();
  const run = await startTrusted(repo, [], { agent: atDoors, env: { MAILBOX: mailbox } });
  await arrived(mailbox, "began-1");
  return {
    ...run,
    began: (phase: string) => arrived(mailbox, `began-${phase}`),
    open: (phase: string) => fs.writeFileSync(path.join(mailbox, `open-${phase}`), ""),
  };
}

/** A complete run of three phases, with what a person is asked after it: nothing. */
async function finished(): Promise<Repo> {
  const repo = makeBuildRepo(three);
  expectComplete(await build(repo, [], { agent: working }));
  return repo;
}

const said = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const link = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Views" }).getByRole("link", { name }).click();
const runOf = async (repo: Repo): Promise<string> =>
  String((await repo.events()).find(({ type }) => type === "run-started")?.["run"]);

/** As somebody who has read the question. */
async function choose(page: Page, key: string): Promise<void> {
  const letter = page.locator(`[data-need] button[data-key=${key}]`);
  await letter.waitFor();
  // Whatever has moved a moment ago takes no answer, and says so.
  for (let tries = 0; tries < 5; tries++) {
    await sleep(toRead);
    await letter.click();
    if ((await page.getByText("It has only just come here").count()) === 0) return;
  }
}

/** Within the page: what it stands at is known by its address. */
async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

describe.skipIf(!hasBrowser)("the dashboard in a browser", { timeout: patience }, () => {
  it("shows a run that the terminal has started, live to its end", async () => {
    const repo = makeBuildRepo(three);
    const run = await underWay(repo);
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    const card = page.getByRole("article", { name: "Run A feature" });
    await card.waitFor();
    await card.getByText("0/3").waitFor();
    await card.getByText("I am building part 1").waitFor();
    expect(await page.title()).toContain("0/3");
    expect(page.url()).not.toContain("token");
    await link(page, "Graph");
    await page.getByRole("button", { name: /^Phase 1 Groundwork, working/ }).waitFor();
    await page.getByRole("button", { name: /^Phase 3 Roof, waiting/ }).waitFor();
    await screenshot(page, "run-under-way");
    run.open("1");
    await page.getByRole("button", { name: /^Phase 1 Groundwork, complete/ }).waitFor();
    await run.began("2");
    await page.getByRole("button", { name: /^Phase 2 Walls, working/ }).click();
    const panel = page.getByRole("region", { name: "Phase 2" });
    await panel
      .getByRole("log", { name: "Transcript" })
      .getByText("I am building part 2")
      .waitFor();
    for (const phase of ["2", "3"]) run.open(phase);
    await page.getByRole("button", { name: /^Phase 3 Roof, complete/ }).waitFor();
    expectComplete(await run.ended);
    await panel.getByRole("tab", { name: "Diff" }).click();
    await panel.getByText("src/2.txt").first().waitFor();
    await panel.getByText("+part 2").waitFor();
    await panel.getByRole("tab", { name: "Brief" }).click();
    await panel.getByText("Make part 2").first().waitFor();
    await panel.getByRole("tab", { name: "Gates" }).click();
    await panel
      .getByText(/passed/)
      .first()
      .waitFor();
    await screenshot(page, "phase-gates");
    await page.keyboard.press("Escape");
    await link(page, "Now");
    await card.getByText("3/3").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("answers a decision, and the run in the other process goes on; its terminal shows it", async () => {
    const repo = makeBuildRepo(three);
    const trust = await trustHash(repo, ["--agent=mine"]);
    repo.write("notes.txt", "not committed\n");
    const command = ["build", plan, "--commit=auto", "--agent=mine", "--trust-sha256", trust];
    const terminal = atTerminal(repo.root, command, environmentOf({}), { work: true });
    await terminal.until("DECISION REQUIRED");
    const { url } = await serve(repo.root);
    const [one, other] = await Promise.all([view(url), view(url, { width: 400, height: 800 })]);
    const [decision] = await repo.decisions();
    for (const { page } of [one, other]) await said(page, decision?.question ?? "");
    await screenshot(one.page, "decision");
    await expectAccessible(one.page, "a decision");
    await choose(one.page, "B");
    await said(one.page, /B stands, by/);
    // The other page hears of it by itself.
    await eventually("the other page lets go of it", async () => {
      return (await other.page.locator("[data-need]:not([data-over=true])").count()) === 0;
    });
    await terminal.until(/B, answered by \S+/);
    expect((await terminal.ended).code).toBe(0);
    for (const { page } of [one, other]) {
      await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    }
    const answered = (await repo.events()).filter(({ type }) => type === "decision-answered");
    expect(answered).toHaveLength(1);
    expect([...one.complaints, ...other.complaints]).toEqual([]);
    await Promise.all([one.close(), other.close()]);
  });

  it("recovers by itself when its server was killed and is there again", async () => {
    const repo = makeBuildRepo(three);
    const run = await underWay(repo);
    const first = await serve(repo.root);
    const { page, complaints, away, close } = await view(first.url);
    const card = page.getByRole("article", { name: "Run A feature" });
    await card.getByText("0/3").waitFor();
    await away(async () => {
      await first.kill();
      await said(page, "Not connected");
      await screenshot(page, "not-connected");
      // What happens meanwhile is not missed.
      run.open("1");
      await run.began("2");
      const second = await serve(repo.root);
      expect(second.url).toBe(first.url);
      await card.getByText("1/3").waitFor();
    });
    for (const phase of ["2", "3"]) run.open(phase);
    await card.getByText("3/3").waitFor();
    expectComplete(await run.ended);
    expect(complaints).toEqual([]);
    await close();
  });

  it("shows its token to nobody who listens in its server's place", async () => {
    const repo = await finished();
    const first = await serve(repo.root);
    const { page, complaints, away, close } = await view(first.url);
    const card = page.getByRole("article", { name: "Run A feature" });
    await card.waitFor();
    await away(async () => {
      await first.kill();
      const heard: (string | undefined)[] = [];
      const stranger = http.createServer((request, response) => {
        heard.push(request.headers.authorization);
        response.writeHead(heard.length % 2 === 0 ? 200 : 403).end('{"version":1,"proof":"AAAA"}');
      });
      await new Promise<void>((resolve) => stranger.listen(first.port, "127.0.0.1", resolve));
      await eventually("the page asks", () => heard.length > 1, 30_000);
      expect(heard.every((token) => token === undefined)).toBe(true);
      stranger.closeAllConnections();
      await new Promise((resolve) => stranger.close(resolve));
      await serve(repo.root);
      await page.locator('[data-link="live"]').waitFor({ timeout: 45_000 });
      await card.waitFor();
    });
    expect(complaints).toEqual([]);
    await close();
  });

  it("knows another history when it sees one, and says when it can read none", async () => {
    const repo = await finished();
    const first = await serve(repo.root);
    const { page, complaints, away, close } = await view(first.url);
    await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    await away(async () => {
      await first.kill();
      // Everything is forgotten, and another plan is run.
      fs.rmSync(repo.at(".git/autodev"), { recursive: true });
      fs.rmSync(repo.at(".autobuild"), { recursive: true });
      repo.write(plan, planOf([{ id: "9" }]).replace("# A feature", "# A garden"));
      repo.git("commit", "--all", "--quiet", "--message=another plan");
      expectComplete(await build(repo, ["--fresh"], { agent: working }));
      await serve(repo.root);
      await page.getByRole("article", { name: "Run A garden" }).getByText("1/1").waitFor();
    });
    expect(await page.getByRole("article", { name: "Run A feature" }).count()).toBe(0);
    const segment = segmentsOf(repo).at(-1) ?? "";
    fs.appendFileSync(segment, "autodev1 rubbish\n");
    await said(page, "It cannot be read any more");
    await screenshot(page, "unreadable");
    expect(complaints).toEqual([]);
    await close();
  });

  it("says so when nobody is at work any more, and goes on with whoever goes on", async () => {
    const repo = makeBuildRepo(three);
    const run = await underWay(repo);
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await said(page, "At work on 1 phase");
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    await said(page, "Nobody is at work on it");
    await said(page, `autodev build ${plan}`);
    await link(page, "Graph");
    await page.getByRole("button", { name: /^Phase 1 Groundwork, needs you/ }).waitFor();
    await screenshot(page, "left-alone");
    expectComplete(await build(repo, [], { agent: working }));
    await page.getByRole("button", { name: /^Phase 3 Roof, complete/ }).waitFor();
    // A run of another plan takes its place; the first one can still be looked at.
    repo.write(plan, planOf([{ id: "9", name: "Garden" }]).replace("# A feature", "# A garden"));
    repo.git("commit", "--all", "--quiet", "--message=another plan");
    expectComplete(await build(repo, ["--fresh"], { agent: working }));
    await link(page, "Now");
    await page.getByRole("article", { name: "Run A garden" }).getByText("1/1").waitFor();
    await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    await page.getByRole("article", { name: "Run A garden" }).getByRole("link").first().click();
    await page.getByRole("combobox", { name: "Run" }).selectOption({ index: 1 });
    await page.getByRole("button", { name: /^Phase 3 Roof, complete/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("shows every view as it was at any moment of the past", async () => {
    const repo = await finished();
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    const landed = (await repo.events()).filter(({ type }) => type === "phase-landed");
    await page.keyboard.press("h");
    const slider = page.getByRole("slider", { name: "Moment in history" });
    await slider.waitFor();
    const to = async (seq: number): Promise<void> => {
      await slider.fill(String(seq));
      await said(page, new RegExp(`^${seq} of `));
    };
    // Just behind the first landing; and one event earlier.
    await to(landed[0]?.seq ?? 0);
    await link(page, "Now");
    await page.getByRole("article", { name: "Run A feature" }).getByText("1/3").waitFor();
    await screenshot(page, "history");
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("article", { name: "Run A feature" }).getByText("0/3").waitFor();
    await to(landed[1]?.seq ?? 0);
    await link(page, "Graph");
    await page.getByRole("button", { name: /^Phase 2 Walls, complete/ }).waitFor();
    await page.getByRole("button", { name: /^Phase 3 Roof, (?:ready|waiting)/ }).waitFor();
    await expectAccessible(page, "history");
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByRole("button", { name: /^Phase 3 Roof, complete/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("is used by the keyboard alone: from the graph into a phase, an answer, and back", async () => {
    const repo = await finished();
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await page.getByRole("article", { name: "Run A feature" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    const node = page.getByRole("button", { name: /^Phase 1 Groundwork/ });
    await node.waitFor();
    for (let tabs = 0; tabs < 40 && !(await focused(page)).startsWith("Phase 1"); tabs++) {
      await page.keyboard.press("Tab");
    }
    expect(await focused(page)).toMatch(/^Phase 1 Groundwork/);
    await page.keyboard.press("ArrowRight");
    expect(await focused(page)).toMatch(/^Phase 2 Walls/);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Phase 2" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "Phase 2" }).waitFor({ state: "detached" });
    expect(await focused(page)).toMatch(/^Phase 2 Walls/);
    for (const [keys, heading] of [
      ["gt", "Timeline of attempts"],
      ["gn", "At a glance"],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.getByRole("region", { name: heading }).waitFor();
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it("answers by a letter what is in focus", async () => {
    const repo = makeBuildRepo(three);
    repo.write("notes.txt", "not committed\n");
    expect((await build(repo, [], { agent: working })).code).toBe(3);
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await page.locator("[data-need]").first().waitFor();
    await sleep(toRead);
    // Behind the list of keys nobody answers anything.
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("b");
    await said(page, /B stands, by/);
    expect((await repo.decisions())[0]).toMatchObject({ answer: "B" });
    expect(complaints).toEqual([]);
    await close();
  });

  it("takes no answer for what nobody can have read yet", async () => {
    const repo = makeBuildRepo(three);
    repo.write("notes.txt", "not committed\n");
    expect((await build(repo, [], { agent: working })).code).toBe(3);
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await page.locator("[data-need]").waitFor();
    await sleep(toRead);
    // By the page's own hand, at the moment at which it has moved.
    await page.evaluate(`{
      const card = document.querySelector("[data-need]");
      card.style.marginTop = "40px";
      card.querySelector("[data-key=A]").click();
    }`);
    await said(page, "It has only just come here");
    await choose(page, "B");
    await said(page, /B stands, by/);
    expect((await repo.decisions())[0]).toMatchObject({ answer: "B" });
    expect(complaints).toEqual([]);
    await close();
  });

  it("says in words that it cannot show what it was told, and can again when it is told better", async () => {
    const repo = await finished();
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await page.getByRole("article", { name: "Run A feature" }).waitFor();
    await page.route(/\/api\/board/, async (route) => {
      const response = await route.fetch();
      const told = await response.json();
      told.board.state.decisions = { "d-0": { id: "d-0" } };
      await route.fulfill({ response, json: told });
    });
    await page.reload();
    await page.getByRole("alert").getByText("This cannot be shown").waitFor();
    await screenshot(page, "cannot-be-shown");
    await page.unroute(/\/api\/board/);
    await page.getByRole("button", { name: "Load again" }).click();
    await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("shows a flow, its steps and what they have left", async () => {
    const project = await makeFlowProject();
    await project.flow("--decide", "recommended", "--through-boundaries");
    const { url } = await serve(project.root);
    for (const options of looks) {
      const { page, complaints, close } = await view(url, options);
      await goTo(page, "#/flow");
      await page.getByRole("navigation", { name: "Steps" }).waitFor();
      await page.getByRole("navigation", { name: "Steps" }).getByText("Problem").click();
      await page.getByText("problem.md").first().click();
      await page
        .getByRole("article", { name: /problem\.md/ })
        .getByRole("heading")
        .first()
        .waitFor();
      await screenshot(page, `flow-${nameOf(options)}`);
      await expectAccessible(page, `flow, ${nameOf(options)}`);
      await expectNoSidewaysScroll(page);
      expect(complaints).toEqual([]);
      await close();
    }
  });

  it("gathers what needs a person in all repositories of a suite, and answers it there", async () => {
    const member = makeBuildRepo(three);
    const suite = makeRepo({});
    for (const name of ["api", "web"]) {
      const add = ["submodule", "--quiet", "add", member.root, name];
      suite.git("-c", "protocol.file.allow=always", ...add);
    }
    suite.git("commit", "--quiet", "--all", "--message=parts");
    const api = repoAt(suite.at("api"));
    api.write("notes.txt", "not committed\n");
    expect((await build(api, [], { agent: working })).code).toBe(3);
    const { url } = await serve(suite.root);
    const { page, complaints, close } = await view(url);
    const need = page.locator("[data-need]");
    await need.getByText("api", { exact: true }).waitFor();
    await screenshot(page, "suite");
    await expectAccessible(page, "a suite");
    await choose(page, "B");
    await eventually("it is answered there", async () => {
      const [decision] = await api.decisions();
      return decision?.answer === "B";
    });
    await page.getByRole("combobox", { name: "Repository" }).selectOption("web");
    await said(page, "Nothing has been run here yet");
    expectComplete(await build(api, [], { agent: working }));
    await page.getByRole("combobox", { name: "Repository" }).selectOption("api");
    await page.getByRole("article", { name: "Run A feature" }).getByText("3/3").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("is fit for everybody, light and dark, from a phone to a wide screen", async () => {
    const repo = await finished();
    const run = await runOf(repo);
    const { url } = await serve(repo.root);
    for (const options of looks) {
      const { page, complaints, close } = await view(url, options);
      await page.getByRole("article", { name: "Run A feature" }).waitFor();
      for (const [name, hash] of [
        ["now", "#/"],
        ["graph", `#/run/${run}`],
        ["phase", `#/run/${run}/2`],
        ["timeline", `#/timeline/${run}`],
        ["history", "#/history"],
      ] as const) {
        await goTo(page, hash);
        await sleep(400);
        await screenshot(page, `${name}-${nameOf(options)}`);
        await expectAccessible(page, `${name}, ${nameOf(options)}`);
        await expectNoSidewaysScroll(page);
      }
      expect(complaints).toEqual([]);
      await close();
    }
  });

  it("says what to do where there is nothing yet, and where it is not let in", async () => {
    const repo = makeBuildRepo(three);
    const { url, port } = await serve(repo.root);
    const empty = await view(url);
    await said(empty.page, "autodev build");
    await screenshot(empty.page, "empty");
    await expectAccessible(empty.page, "empty");
    expect(empty.complaints).toEqual([]);
    await empty.close();
    for (const spoilt of ["", "#token=%zz", "#ticket=%zz"]) {
      const stranger = await view(`http://127.0.0.1:${port}/${spoilt}`);
      await said(stranger.page, "autodev ui");
      await screenshot(stranger.page, "not-let-in");
      await expectAccessible(stranger.page, "not let in");
      await stranger.close();
    }
  });

  it("shows hostile text as text, wherever it comes from", async () => {
    const lure = '<img src=x onerror="globalThis.caught=1"><script>globalThis.caught=1</script>';
    const marks = "\u202egnp.exe\u202c \u2066x\u2069";
    const hostile = planOf([
      { id: "1", name: `${lure} ${marks}` },
      { id: "2", name: "[click](javascript:globalThis.caught=1)", needs: ["1"] },
    ]);
    const escape = String.raw`printf '\033[31mred\033]0;title\007\033[2J %s\n' '${lure}'`;
    const long = "head -c 10000000 /dev/zero | tr '\\0' x; echo";
    const agent = `${escape}; ${long}; echo '${marks}'; ${working}`;
    const repo = makeBuildRepo(hostile);
    repo.write("notes <b>bold</b>.txt", "dirty\n");
    // Asked first: a question that names the file.
    expect((await build(repo, [], { agent })).code).toBe(3);
    const { url } = await serve(repo.root);
    const { page, complaints, close } = await view(url);
    await choose(page, "B");
    await said(page, /B stands/);
    expectComplete(await build(repo, [], { agent }));
    const run = await runOf(repo);
    await page.getByText("2/2").first().waitFor();
    for (const hash of ["#/", `#/run/${run}`, `#/run/${run}/1`, `#/timeline/${run}`, "#/history"]) {
      await goTo(page, hash);
      await sleep(500);
      expect(await page.evaluate("globalThis.caught")).toBeUndefined();
      expect(await page.locator("main img, main script, main b, main iframe").count()).toBe(0);
      const text = await page.locator("body").innerText();
      for (const sign of ["\u001b", "\u202e", "\u2066", "\u0007"]) expect(text).not.toContain(sign);
      // However long a line is, what is shown of it is not.
      expect(text.length).toBeLessThan(200_000);
    }
    await goTo(page, `#/run/${run}/1`);
    await said(page, /<img src=x onerror/);
    await screenshot(page, "hostile");
    expect(complaints).toEqual([]);
    await close();
  });
});

const looks: readonly (ViewOptions & { readonly width: number })[] = [
  { width: 360, height: 780, theme: "light" },
  { width: 900, height: 800, theme: "dark" },
  { width: 1440, height: 900, theme: "light" },
  { width: 360, height: 780, theme: "dark" },
  { width: 900, height: 800, theme: "light" },
  { width: 1440, height: 900, theme: "dark" },
];

const nameOf = ({ width, theme }: ViewOptions): string => `${width}-${theme}`;

/** By what name it is known to whoever cannot see it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.activeElement?.querySelector('title')?.textContent ?? document.activeElement?.getAttribute('aria-label') ?? ''",
  );

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  expect(wide).toBeLessThanOrEqual(0);
}
