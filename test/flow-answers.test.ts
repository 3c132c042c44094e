/**
 * One project, answered in three ways: by a person at a terminal, by a person from elsewhere, and by
 * recommendation. Whoever answers, the same comes of it.
 */
import { describe, expect, it } from "vitest";
import { type FlowProject, madeBy, makeFlowProject, outcomeOf, questionsOf } from "./flow-rig.ts";
import { atTerminal, makeFolder, prompt, sleep } from "./rig.ts";

const patience = 300_000;
const most = 20;

/** What agents follow, and what gates run: nobody is recommended to trust either. */
const isAboutTrust = (question: string): boolean => question.includes("trust ");

/** Everything that a person at a terminal was asked, and answered as it was recommended. */
async function atTheTerminal(project: FlowProject): Promise<string[]> {
  const asked: string[] = [];
  // Nobody has trusted anything here yet.
  const env = { ...project.environment, XDG_CONFIG_HOME: makeFolder("config") };
  for (let session = 0; session < most; session++) {
    const terminal = atTerminal(project.root, [], env, { work: true });
    const life = { isOver: false };
    void terminal.ended.then(() => (life.isOver = true));
    let answered = 0;
    while (!life.isOver) {
      const shown = terminal.shown().slice(answered);
      if (prompt.test(shown)) {
        const [, question = ""] = /DECISION REQUIRED: (.*)/.exec(shown) ?? [];
        const [, key = ""] = /Recommendation: ([A-D])/.exec(shown) ?? [];
        asked.push(question.trim());
        answered += shown.length;
        terminal.type(isAboutTrust(question) ? "a" : key);
      }
      await sleep(20);
    }
    expect((await terminal.ended).code, terminal.shown()).toBe(0);
    if ((await project.status()).step === "done") return asked;
  }
  throw new Error(`it does not come to its end: ${asked.join()}`);
}

/** Nobody is at the terminal: it ends, and the answer is given by another command. */
async function fromElsewhere(project: FlowProject): Promise<void> {
  for (let times = 0; times < most; times++) {
    const ran = await project.flow("--json");
    if (ran.code === 0 && outcomeOf(ran) === "done") return;
    if (ran.code === 0) continue;
    expect(ran.code, ran.all).toBe(3);
    const [open] = (await project.status()).decisions;
    if (!open) throw new Error(`nothing is open: ${ran.all}`);
    expect((await project.autodev("decide", open.id, open.recommendation)).code).toBe(0);
  }
  throw new Error("it does not come to its end");
}

async function byRecommendation(project: FlowProject): Promise<void> {
  const ran = await project.flow("--decide", "recommended", "--through-boundaries", "--json");
  expect(ran.code, ran.all).toBe(0);
}

const answerers = async (project: FlowProject): Promise<string[]> => [
  ...new Set((await project.decisions()).map(({ answeredBy }) => answeredBy ?? "nobody")),
];

describe("a greenfield project", () => {
  it(
    "comes to the same end whoever answers its questions, and from wherever",
    async () => {
      const [typed, decided, recommended] = [
        await makeFlowProject(),
        await makeFlowProject(),
        await makeFlowProject(),
      ];
      const [asked] = await Promise.all([
        atTheTerminal(typed),
        fromElsewhere(decided),
        byRecommendation(recommended),
      ]);
      const questions = await questionsOf(recommended);
      expect(questions).toEqual([
        "research complete — another round, or on to Plan?",
        "research complete — another round, or on to Plan?",
        "step 4 UI Design — does the project have a user interface?",
        "step 8 Security Audit is optional — do it?",
        "step 9 Performance Test is optional — do it?",
      ]);
      expect(asked).toEqual([
        "this repository wants to run the commands above — trust them?",
        ...questions.slice(0, 3),
        // No decision on record: the next invocation is its answer.
        "Decompose complete — start implementation?",
        "what this repository runs has changed — trust it as it is now?",
        ...questions.slice(3),
      ]);
      for (const project of [typed, decided]) {
        expect(await questionsOf(project)).toEqual(questions);
        expect(madeBy(project)).toEqual(madeBy(recommended));
        expect(await answerers(project)).toEqual(["tester"]);
        expect(project.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
      }
      expect(await answerers(recommended)).toEqual(["recommendation"]);
    },
    patience,
  );
});
