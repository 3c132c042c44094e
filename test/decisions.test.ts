/** Decisions: asked once, answered once, from anywhere; never lost, never answered by accident. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  atTerminal,
  autodevIn,
  type DecisionView,
  errorOf,
  eventually,
  expectNoCrash,
  former,
  generation1,
  generation2,
  generation3,
  jsonOf,
  makeAskedRepo,
  makeHolder,
  makeRepo,
  memoryOf,
  present,
  prompt,
  type Repo,
  repoAt,
  segmentsOf,
  sleep,
  type Terminal,
} from "./rig.ts";

const rule = "═".repeat(38);

async function open(repo: Repo): Promise<DecisionView> {
  const { decisions } = await repo.status();
  expect(decisions).toHaveLength(1);
  return decisions[0] as DecisionView;
}

async function atPrompt<T>(repo: Repo, act: (terminal: Terminal) => Promise<T>): Promise<T> {
  const terminal = await makeHolder(repo);
  try {
    return await act(terminal);
  } finally {
    try {
      terminal.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await terminal.ended;
  }
}

const asked = async (repo: Repo): Promise<number> =>
  (await repo.events()).filter((event) => event.type === "decision-asked").length;

describe.concurrent("without a terminal", () => {
  it("a decision ends with 3, the block, and the command that answers it", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const ran = await repo.autodev();
    expect(ran.code).toBe(3);
    expect(ran.out).toBe("");
    const lines = ran.err.split("\n").map((line) => line.trim());
    const from = lines.indexOf(rule);
    expect(lines.slice(from, from + 8)).toEqual([
      rule,
      expect.stringMatching(/^DECISION REQUIRED: .*_docs\/_autopilot_state\.md/),
      rule,
      expect.stringMatching(/^A\) \S/),
      expect.stringMatching(/^B\) \S/),
      rule,
      expect.stringMatching(/^Recommendation: A — \S/),
      rule,
    ]);
    const { id } = await open(repo);
    expect(id).toMatch(/^d-[0-9a-f]{12}$/);
    expect(ran.err).toContain(`autodev decide ${id} A`);
    expect(repo.read(former)).toBe(generation1);
  });

  it("with --json: the error shape, the same exit code", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const ran = await repo.autodev("--json");
    expect(ran.code).toBe(3);
    const error = errorOf(ran);
    expect(error.code).toBe("decision-required");
    expect(error.hint).toContain(`autodev decide ${(await open(repo)).id} A`);
  });

  it("input that is piped in is no answer", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const ran = await autodevIn({ cwd: repo.root, input: "A\nA\n" });
    expect(ran.code).toBe(3);
    expect((await open(repo)).id).toBeTruthy();
  });

  it("the id is the same in every run, and it is asked once", async () => {
    const repo = await makeAskedRepo();
    for (let times = 0; times < 3; times++) {
      expect((await repo.autodev()).code).toBe(3);
      expect((await open(repo)).id).toBe(repo.decision.id);
    }
    expect(await asked(repo)).toBe(1);
  });

  it("the id is the same after a crash while it was asked", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (terminal) => terminal.kill("SIGKILL"));
    const { id } = await open(repo);
    expect((await repo.autodev()).code).toBe(3);
    expect((await open(repo)).id).toBe(id);
    expect(await asked(repo)).toBe(1);
  });

  it("status and decisions say the same, and looking changes nothing", async () => {
    const repo = await makeAskedRepo();
    const segments = segmentsOf(repo).length;
    const [view] = await repo.decisions();
    expect(view).toMatchObject({
      ...(await open(repo)),
      status: "open",
      answer: null,
      answeredBy: null,
    });
    expect(view?.options.map((option) => option.key)).toEqual(["A", "B"]);
    const text = await repo.autodev("decisions");
    expect(text.out).toContain(`autodev decide ${repo.decision.id} A`);
    expect((await repo.autodev("status")).out).toContain(`autodev decide ${repo.decision.id} A`);
    expect(segmentsOf(repo).length).toBe(segments);
  });
});

describe.concurrent("autodev decide", () => {
  it("answers, and the next autodev carries it out", async () => {
    const repo = await makeAskedRepo();
    const decided = jsonOf<{ answer: string; recorded: boolean; answeredBy: string }>(
      await repo.autodev("decide", repo.decision.id, "a", "--json"),
    );
    expect(decided).toMatchObject({ answer: "A", recorded: true, answeredBy: "tester" });
    expect((await repo.status()).decisions).toEqual([]);
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3", source: "state" });
    expect(repo.exists(former)).toBe(false);
    expect(repo.read(present)).toMatch(/## Key Decisions\n- .*migrate.*A\)/);
  });

  it("answered with B, the file keeps its name and form, and it is not asked again", async () => {
    const repo = await makeAskedRepo();
    expect((await repo.autodev("decide", repo.decision.id, "B")).code).toBe(0);
    for (let times = 0; times < 2; times++) expect((await repo.autodev()).code).toBe(0);
    const text = repo.read(former);
    expect(text.startsWith(generation1)).toBe(true);
    expect(await repo.status()).toMatchObject({ generation: 1, step: "3" });
    expect(repo.exists(present)).toBe(false);
    repo.write(former, text.replace("sub_step: 4", "sub_step: 5"));
    expect((await repo.autodev()).code).toBe(0);
    expect(await asked(repo)).toBe(1);
  });

  it("takes the beginning of an id, and records who answered", async () => {
    const repo = await makeAskedRepo();
    const ran = await repo.autodev(
      "decide",
      repo.decision.id.slice(0, 6),
      "B",
      "--as",
      "Ann \u001b[31mRed",
    );
    expect(ran.code).toBe(0);
    expect(ran.all).not.toContain("\u001b");
    const [view] = await repo.decisions();
    expect(view).toMatchObject({ status: "answered", answer: "B" });
    expect(view?.answeredBy).toContain("Ann");
    expect((await repo.autodev("decisions", "--all")).out).not.toContain("\u001b");
  });

  it("the first answer stands; the second is told so, with who and when, exit 1", async () => {
    const repo = await makeAskedRepo();
    expect((await repo.autodev("decide", repo.decision.id, "B", "--as", "ann")).code).toBe(0);
    const second = await repo.autodev("decide", repo.decision.id, "A", "--json");
    expect(second.code).toBe(1);
    const error = errorOf(second);
    expect(error.code).toBe("decision-taken");
    expect(error.message).toMatch(/B by ann, \d{4}-/);
    expect(await repo.decisions()).toMatchObject([{ answer: "B", answeredBy: "ann" }]);
  });

  it("of twenty answers at once exactly one wins, and all witnesses agree", async () => {
    const repo = await makeAskedRepo();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        repo.autodev("decide", repo.decision.id, at % 2 ? "A" : "B", "--as", `p${at}`, "--json"),
      ),
    );
    const winners = new Set<string>();
    for (const ran of all) {
      if (ran.code === 0) {
        const { answer, answeredBy } = jsonOf<{ answer: string; answeredBy: string }>(ran);
        winners.add(`${answer} by ${answeredBy}`);
      } else {
        expect(ran.code, ran.all).toBe(1);
        const error = errorOf(ran);
        expect(error.code).toBe("decision-taken");
        winners.add(/(. by p\d+)/.exec(error.message)?.[1] ?? error.message);
      }
    }
    expect([...winners]).toHaveLength(1);
    const [winner = ""] = winners;
    // Whoever got there later records it, at the latest the next session.
    await repo.autodev();
    const [view] = await repo.decisions();
    expect(`${view?.answer} by ${view?.answeredBy}`).toBe(winner);
    const answers = (await repo.events()).filter((event) => event.type === "decision-answered");
    expect(answers).toHaveLength(1);
    expect(`${String(answers[0]?.["key"])} by ${String(answers[0]?.["by"])}`).toBe(winner);
    expect((await repo.autodev("doctor")).code).toBe(0);
  });

  for (const [what, args, code] of [
    ["a letter that is no option", ["ID", "D"], 2],
    ["a word for a letter", ["ID", "yes"], 2],
    ["an id that is not there", ["d-ffffffffffff", "A"], 2],
    ["an id that is a path", ["../../etc/passwd", "A"], 2],
    ["an empty id", ["", "A"], 2],
  ] as const) {
    it(`refuses ${what} with ${code}, and answers nothing`, async () => {
      const repo = await makeAskedRepo();
      const ran = await repo.autodev(
        "decide",
        ...args.map((arg) => (arg === "ID" ? repo.decision.id : arg)),
        "--json",
      );
      expect(ran.code, ran.all).toBe(code);
      expect(errorOf(ran).hint).toBeTruthy();
      expect((await open(repo)).id).toBe(repo.decision.id);
    });
  }

  it("where nothing was ever asked says so, and makes nothing", async () => {
    const repo = makeRepo();
    const ran = await repo.autodev("decide", "d-0123456789ab", "A");
    expect(ran.code).toBe(2);
    expectNoCrash(ran);
    expect(repo.exists(".git/autodev")).toBe(false);
    expect((await repo.autodev("decisions")).out).toContain("No decision is open");
  });
});

describe.concurrent("while another autodev holds the repository", () => {
  it("an answer is kept in the inbox, counts at once, and survives the holder's death", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (holder) => {
      const { id } = await open(repo);
      // Stopped, so that it cannot take the answer up before it dies.
      holder.kill("SIGSTOP");
      const decided = await repo.autodev("decide", id, "A", "--as", "ann", "--json");
      expect(jsonOf(decided)).toMatchObject({ answer: "A", recorded: false });
      expect((await repo.status()).decisions).toEqual([]);
      expect(await repo.decisions()).toMatchObject([{ status: "answered", answer: "A" }]);
      // The holder dies between the answer and its record.
      holder.kill("SIGKILL");
      await holder.ended;
    });
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
    expect(await repo.decisions()).toMatchObject([{ answer: "A", answeredBy: "ann" }]);
    expect(await asked(repo)).toBe(1);
  });

  it("the holder takes it up: its prompt ends, and it goes on with that answer", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (holder) => {
      const { id } = await open(repo);
      expect((await repo.autodev("decide", id, "A", "--as", "ann")).code).toBe(0);
      const ended = await Promise.race([holder.ended, sleep(4000).then(() => "still waiting")]);
      expect(ended).toMatchObject({ code: 0 });
      expect(holder.shown()).toContain("ann");
      expect(await repo.status()).toMatchObject({ generation: 3 });
    });
  });

  it("a different letter at the holder's prompt comes second, and is told so", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (holder) => {
      const { id } = await open(repo);
      holder.kill("SIGSTOP");
      expect((await repo.autodev("decide", id, "B", "--as", "ann")).code).toBe(0);
      holder.type("a");
      holder.kill("SIGCONT");
      await holder.ended;
      await sleep(50);
      expect(repo.exists(former)).toBe(true);
      expect(await repo.decisions()).toMatchObject([{ answer: "B", answeredBy: "ann" }]);
      expect(holder.shown()).toMatch(/ann/);
    });
  });
});

describe.concurrent("at a terminal", () => {
  for (const [keys, generation] of [
    ["a", 3],
    ["B", 1],
    ["xyz?\r\nb", 1],
  ] as const) {
    it(`${JSON.stringify(keys)} answers, and it goes on at once`, async () => {
      const repo = makeRepo({ [former]: generation1 });
      await atPrompt(repo, async (terminal) => {
        expect(terminal.shown()).toContain("DECISION REQUIRED");
        expect(terminal.shown(), "AUTODEV_NO_NOTIFY").not.toContain("\u0007");
        terminal.type(keys);
        expect(await terminal.ended).toMatchObject({ code: 0 });
      });
      expect(await repo.status()).toMatchObject({ generation, decisions: [] });
      expect(await repo.decisions()).toMatchObject([{ answeredBy: "tester" }]);
    });
  }

  for (const [what, keys] of [
    ["the arrow up", "\u001b[A"],
    ["the arrow down", "\u001b[B"],
    ["an arrow in application mode", "\u001bOA"],
    ["Alt and a letter", "\u001ba"],
    ["a function key", "\u001b[15~"],
  ] as const) {
    it(`${what} is no answer`, async () => {
      const repo = makeRepo({ [former]: generation1 });
      await atPrompt(repo, async (terminal) => {
        terminal.type(keys);
        await sleep(300);
        expect((await open(repo)).id).toBeTruthy();
        terminal.type("\u0004");
        expect(await terminal.ended).toMatchObject({ code: 3 });
      });
    });
  }

  it("Ctrl-D ends with 3: the decision stays open, the command is named", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (terminal) => {
      terminal.type("\u0004");
      expect(await terminal.ended).toMatchObject({ code: 3 });
      await sleep(50);
      expect(terminal.shown()).toContain(`autodev decide ${(await open(repo)).id}`);
    });
  });

  it("Ctrl-D that was typed ahead, before anything was asked, ends with 3 too", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const terminal = atTerminal(repo.root);
    terminal.type("\u0004");
    const ended = await Promise.race([terminal.ended, sleep(8000).then(() => "still waiting")]);
    if (ended === "still waiting") terminal.kill("SIGKILL");
    expect(ended).toMatchObject({ code: 3 });
  });

  it("Ctrl-C ends with 130: the decision stays open", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (terminal) => {
      terminal.type("\u0003");
      expect(await terminal.ended).toMatchObject({ code: 130 });
    });
    expect((await open(repo)).id).toBeTruthy();
    expect((await repo.autodev("doctor")).code).toBe(0);
  });

  it("a terminal that goes away ends it, not with 0, and the decision stays open", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (terminal) => {
      terminal.kill("SIGHUP");
      const { code, signal } = await terminal.ended;
      expect(code !== 0 || signal !== 0).toBe(true);
    });
    expect((await open(repo)).id).toBeTruthy();
    expect((await repo.autodev()).code).toBe(3);
  });

  it("kill -9 at the prompt loses nothing and asks the same again", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await atPrompt(repo, async (terminal) => terminal.kill("SIGKILL"));
    const { id } = await open(repo);
    await atPrompt(repo, async (terminal) => {
      terminal.type("a");
      expect(await terminal.ended).toMatchObject({ code: 0 });
    });
    expect(await repo.decisions()).toMatchObject([{ id, answer: "A" }]);
    expect(await asked(repo)).toBe(1);
  });

  it("the user's hand edit during the prompt is not overwritten", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const edited = generation1.replace("sub_step: 4", "sub_step: 5");
    await atPrompt(repo, async (terminal) => {
      repo.write(former, edited);
      terminal.type("b");
      expect(await terminal.ended).toMatchObject({ code: 0 });
    });
    expect(repo.read(former).startsWith(edited)).toBe(true);
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ subStep: { phase: 5 } });
    expect(repo.read(former).startsWith(edited)).toBe(true);
  });

  for (const [what, args, env] of [
    ["--no-input", ["--no-input"], {}],
    ["AUTODEV_NO_INPUT", [], { AUTODEV_NO_INPUT: "1" }],
    ["CI", [], { CI: "true" }],
    ["an agent's environment", [], { CLAUDECODE: "1" }],
  ] as const) {
    it(`${what}: nobody is asked, exit 3`, async () => {
      const repo = makeRepo({ [former]: generation1 });
      const terminal = atTerminal(repo.root, args, env);
      const ended = await Promise.race([
        terminal.ended,
        sleep(6000).then(() => terminal.kill("SIGKILL")),
      ]);
      expect(ended).toMatchObject({ code: 3 });
      expect(terminal.shown()).not.toMatch(prompt);
    });
  }
});

describe.concurrent("--decide recommended", () => {
  it("answers by the recommendation and records that nobody chose", async () => {
    const repo = makeRepo({ [former]: generation2 });
    const ran = await repo.autodev("--decide", "recommended");
    expect(ran.code, ran.all).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 3, decisions: [] });
    expect(await repo.decisions()).toMatchObject([
      { status: "answered", answer: "A", answeredBy: "recommendation" },
    ]);
  });

  it("as --decide=recommended, and at a terminal too: nobody is asked", async () => {
    const repo = makeRepo({ [former]: generation2 });
    const terminal = atTerminal(repo.root, ["--decide=recommended"]);
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(await repo.decisions()).toMatchObject([{ answeredBy: "recommendation" }]);
  });

  it("does not overrule a person's answer", async () => {
    const repo = await makeAskedRepo();
    expect((await repo.autodev("decide", repo.decision.id, "B")).code).toBe(0);
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    expect(await repo.decisions()).toMatchObject([{ answer: "B", answeredBy: "tester" }]);
    expect(repo.exists(former)).toBe(true);
  });
});

describe.concurrent("both names", () => {
  const other = generation1.replace("step: 2\nname: Plan", "step: 3\nname: Decompose");
  const both = (): Repo =>
    makeRepo({
      [present]: generation3,
      [former]: other,
      "_docs/02_document/architecture.md": "# The architecture\n",
    });

  it("are a decision that shows both; status says so and changes nothing", async () => {
    const repo = both();
    const status = await repo.status();
    expect(status.corrections.join()).toMatch(/_autodev_state\.md.*_autopilot_state\.md/);
    const ran = await repo.autodev();
    expect(ran.code).toBe(3);
    expect(ran.err).toContain("step 10 Implement");
    expect(ran.err).toContain("step 5 Decompose");
    expect(repo.read(present)).toBe(generation3);
    expect(repo.read(former)).toBe(other);
    expect((await repo.autodev()).code).toBe(3);
    expect(await asked(repo)).toBe(1);
  });

  for (const [letter, step, dropped, text] of [
    ["A", "10", former, other],
    ["B", "5", present, generation3],
  ] as const) {
    it(`answered with ${letter}: that one is the truth, the other is kept in the rescue folder`, async () => {
      const repo = both();
      expect((await repo.autodev()).code).toBe(3);
      const { id } = await open(repo);
      expect((await repo.autodev("decide", id, letter)).code).toBe(0);
      const ran = await repo.autodev("--decide", "recommended");
      expect(ran.code, ran.all).toBe(0);
      expect(await repo.status()).toMatchObject({ step, source: "state" });
      const rescue = path.join(memoryOf(repo), "rescue");
      const kept = fs
        .readdirSync(rescue)
        .map((name) => fs.readFileSync(path.join(rescue, name), "utf8"));
      expect(kept).toContain(text);
      if (dropped === former) expect(repo.exists(former)).toBe(false);
      expect((await repo.autodev("decisions")).out).toContain("No decision is open");
    });
  }

  it("of which the second appears later are asked about once, and the answer is carried out", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(former, other);
    const ran = await autodevIn({ cwd: repo.root, timeout: 8000 }, "--decide", "recommended");
    expect(ran.signal, "it came to an end by itself").toBeNull();
    expect(ran.code, ran.all).toBe(0);
    expect(await asked(repo)).toBe(1);
    expect(repo.exists(former)).toBe(false);
    expect(await repo.status()).toMatchObject({ step: "10" });
  });

  it("of which the second appears later, answered by a person: not asked a second time", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(former, other);
    expect((await repo.autodev()).code).toBe(3);
    const { id } = await open(repo);
    expect((await repo.autodev("decide", id, "A")).code).toBe(0);
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(0);
    expect(await asked(repo)).toBe(1);
  });

  it("the same with B: the old one is taken, not asked a second time", async () => {
    const report = "_docs/03_implementation/implementation_report_search_cycle3.md";
    const repo = makeRepo({ [present]: generation3, [report]: "# Done\n" });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(
      former,
      generation3.replace("step: 10\nname: Implement", "step: 11\nname: Run Tests"),
    );
    expect((await repo.autodev()).code).toBe(3);
    const { id } = await open(repo);
    expect((await repo.autodev("decide", id, "B")).code).toBe(0);
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(0);
    expect(await repo.status()).toMatchObject({ step: "11" });
  });

  it("of which one is empty are no decision", async () => {
    const repo = makeRepo({ [present]: generation3, [former]: "" });
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ step: "10", decisions: [] });
  });

  it("of which one cannot be parsed are still a decision", async () => {
    const repo = makeRepo({ [present]: generation3, [former]: "# Notes\n\nnothing here\n" });
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("step 10 Implement");
    expect(ran.err).toContain("_docs/_autopilot_state.md");
  });

  it("of which the present one cannot be parsed are refused or asked about; both stay", async () => {
    const repo = makeRepo({ [present]: "# Notes\n\nnothing here\n", [former]: generation1 });
    const ran = await repo.autodev();
    expect([1, 3], ran.all).toContain(ran.code);
    expect(ran.err).toContain("_docs/_autodev_state.md:1");
    expect(repo.read(present)).toBe("# Notes\n\nnothing here\n");
    expect(repo.read(former)).toBe(generation1);
  });
});

describe.concurrent("a new occasion is a new decision:", () => {
  it("a status that is set to the same odd word by hand once more is not silently overwritten", async () => {
    const paused = generation3.replace("in_progress", "paused");
    const repo = makeRepo({ [present]: paused });
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    const text = repo.read(present);
    expect(text).toContain("status: in_progress");
    repo.write(present, text.replace("status: in_progress", "status: paused"));
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(3);
    expect(repo.read(present)).toContain("status: paused");
    expect(await asked(repo)).toBe(2);
  });

  it("a file that was migrated back on purpose is not migrated forth again unasked", async () => {
    const repo = makeRepo({ [former]: generation2 });
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    const back = await repo.autodev("migrate", "--to", "2");
    expect(back.code, back.all).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 2, step: "3" });
    const ran = await repo.autodev();
    expect([0, 3], ran.all).toContain(ran.code);
    expect(await repo.status()).toMatchObject({ generation: 2, step: "3" });
    expect(repo.exists(former)).toBe(true);
  });

  it("what C means (the step is done: go to the next) is what happens", async () => {
    const report = "_docs/03_implementation/implementation_report_search_cycle3.md";
    const text = generation3.replace("in_progress", "shipped");
    const repo = makeRepo({ [present]: text, [report]: "# Done\n" });
    expect((await repo.autodev()).code).toBe(3);
    expect((await repo.autodev("decide", (await open(repo)).id, "C")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    const status = await repo.status();
    const implement = status.steps.find((step) => step.step === "10");
    expect(implement?.status).toBe("completed");
  });

  it("a decision whose cause is gone is no longer open", async () => {
    const repo = makeRepo({ [present]: generation3.replace("in_progress", "paused") });
    expect((await repo.autodev()).code).toBe(3);
    const { id } = await open(repo);
    repo.write(present, generation3);
    expect((await repo.autodev()).code).toBe(0);
    expect((await repo.status()).decisions).toEqual([]);
    const late = await repo.autodev("decide", id, "A", "--json");
    expect(late.code).toBe(1);
    expect(errorOf(late).code).toBe("decision-taken");
  });
});

describe.concurrent("kill -9", () => {
  it("at any moment of an answer loses nothing: it is open, or it is answered, and never both", async () => {
    const repo = await makeAskedRepo();
    await Promise.all(
      [60, 100, 140, 180].map(async (after) => {
        const copy = repoAt(repo.root + String(after));
        fs.cpSync(repo.root, copy.root, { recursive: true });
        const killed = await autodevIn(
          { cwd: copy.root, timeout: after },
          "decide",
          repo.decision.id,
          "A",
        );
        const [view] = await copy.decisions();
        if (killed.code === 0) expect(view).toMatchObject({ status: "answered", answer: "A" });
        const ran = await copy.autodev();
        if (view?.status === "answered") {
          expect(ran.code, ran.all).toBe(0);
          expect(await copy.status()).toMatchObject({ generation: 3 });
        } else expect(ran.code).toBe(3);
        expect(await asked(copy)).toBe(1);
        expect((await copy.autodev("doctor")).code).toBe(0);
      }),
    );
  });

  it("at any moment of a migration leaves one state file with one position", async () => {
    const repo = makeRepo({ [former]: generation1 });
    repo.git("add", ".");
    repo.git("commit", "-qm", "state");
    await Promise.all(
      [90, 130, 170, 220].map(async (after) => {
        const copy = repoAt(repo.root + String(after));
        fs.cpSync(repo.root, copy.root, { recursive: true });
        await autodevIn({ cwd: copy.root, timeout: after }, "--decide", "recommended");
        expect(await copy.status()).toMatchObject({
          step: "3",
          name: "Plan",
          subStep: { phase: 4 },
        });
        // git's own lock stays behind when git is killed; that is git's to say.
        fs.rmSync(copy.at(".git/index.lock"), { force: true });
        await eventually(
          "it goes on",
          async () => (await copy.autodev("--decide", "recommended")).code === 0,
        );
        expect(await copy.status()).toMatchObject({
          step: "3",
          generation: 3,
          source: "state",
          subStep: { phase: 4 },
        });
        expect(copy.exists(former)).toBe(false);
      }),
    );
  });
});
