/** Before anybody works, the gates are seen on what the run builds on. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { expectComplete, expectSound } from "./plan-project.ts";
import { autodevIn } from "./rig.ts";
import {
  answer,
  auto,
  byAgent,
  codesIn,
  logOf,
  makeTested,
  openQuestions,
  phaseIn,
  testsOf,
} from "./truth-rig.ts";

const red = { "a.test.js": testsOf("adds", "fails to carry") };

describe("a base whose tests fail", () => {
  it("is a decision that names what fails; nothing is begun before it is mended", async () => {
    const project = makeTested({ files: red });
    const base = project.git("rev-parse", "HEAD");
    const asked = await project.build(...auto);
    expect(asked.ran.code, asked.ran.all).toBe(3);
    expect(asked.status).toBe("decision");
    const [decision] = await project.decisions();
    expect(decision?.question).toContain("node --test");
    expect(decision?.options.map(({ key }) => key)).toEqual(["A", "B", "C"]);
    expect(JSON.stringify(decision?.options)).toContain("a.test.js:5 fails to carry");
    await answer(project, "A");
    const stopped = await project.build(...auto);
    expect(stopped.ran.code, stopped.ran.all).toBe(4);
    expect(project.git("rev-parse", "HEAD")).toBe(base);

    project.write("a.test.js", testsOf("adds", "fails to carry", "fails to borrow"));
    project.commit("fix: not quite");
    const again = await project.build(...auto);
    expect(again.ran.code, again.ran.all).toBe(3);
    await answer(project, "A");

    project.write("a.test.js", testsOf("adds", "carries"));
    project.commit("fix: carry");
    expectComplete(await project.build(...auto));
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({ passed: true });
  });

  it("stays as it is if people accept it: the same failure passes, mended passes, another fails", async () => {
    const append = (name: string): string =>
      `cat >> a.test.js <<'END'\ntest("${name}", () => assert.equal(sum(0, 1), ${name.startsWith("fails") ? 2 : 1}));\nEND`;
    const project = makeTested({
      files: red,
      phases: [{ id: "1" }, { id: "2", after: "1" }, { id: "3", after: "2" }],
      agent: {
        "1": `sed -i '1i // a line above' a.test.js; ${append("one")}`,
        "2": append("fails anew"),
        "3": "echo never > never.txt",
      },
      config: 'gates: { test: "node --test" }\nbuild: { attempts: 1 }\n',
    });
    await project.build(...byAgent);
    await answer(project, "C");
    const built = await project.build(...byAgent);
    expect(built.ran.code, built.ran.all).toBe(4);
    expect(built.phases.map(({ status }) => status)).toEqual(["complete", "failed", "blocked"]);
    expect(codesIn(project, "1")).toContain("known-failures");
    expect(codesIn(project, "2")).toContain("gate-failed");
    expect(JSON.stringify(phaseIn(project, "2").error)).toMatch(/a\.test\.js:\d+ fails anew/);
    const [finding] = phaseIn(project, "2").verification?.findings ?? [];
    expect(finding).toMatchObject({ file: "a.test.js", line: 8 });
  });
});

describe("an accepted failure", () => {
  const accepting = async (
    files: Readonly<Record<string, string>>,
    agent: Readonly<Record<string, string>>,
  ) => {
    const phases = Object.keys(agent).map((id) => ({ id, ...(id !== "1" && { after: "1" }) }));
    const config = 'gates: { test: "node --test" }\nbuild: { attempts: 1 }\n';
    const project = makeTested({ files, phases, agent, config });
    await project.build(...byAgent);
    await answer(project, "C");
    return { project, built: await project.build(...byAgent) };
  };

  it("does not cover another test of the same name", async () => {
    const twice = `${testsOf("fails", "adds")}test("fails", () => assert.equal(sum(2, 1), 3));\n`;
    const { built } = await accepting(
      { "a.test.js": twice },
      { "1": "sed -i 's/a + b/a === 2 ? 0 : a + b/' sum.js" },
    );
    expect(
      built.phases.map(({ status }) => status),
      built.ran.all,
    ).toEqual(["failed"]);
  });

  it("that was mended fails a phase that breaks it again", async () => {
    const test = testsOf("adds").replace(
      /test\(.*/,
      'test("twice", () => assert.equal(require("./twice.js")(2), 4));',
    );
    const wrong = "module.exports = (a) => a + 1;\n";
    const { built } = await accepting(
      { "twice.js": wrong, "twice.test.js": test, "a.test.js": testsOf("adds") },
      { "1": "sed -i 's/a + 1/a + a/' twice.js", "2": "sed -i 's/a + a/a + 1/' twice.js" },
    );
    expect(
      built.phases.map(({ status }) => status),
      built.ran.all,
    ).toEqual(["complete", "failed"]);
  });

  it("covers only what people were shown", async () => {
    const flaky = `${testsOf("adds", "fails to carry")}test("now and then", () => assert.equal(sum(1, 1), require("node:fs").existsSync(process.env.HOME + "/bad") ? 3 : 2));\n`;
    const project = makeTested({ files: { "a.test.js": flaky } });
    await project.build(...auto);
    await answer(project, "C");
    fs.writeFileSync(path.join(project.home, "bad"), "");
    const built = await project.build(...auto);
    expect(built.status, built.ran.all).not.toBe("complete");
  });

  it("is known by its name wherever its line moves, in a file with blanks in its path", async () => {
    const { built } = await accepting(
      { "my tests/a b.test.js": testsOf("adds", "fails to carry").replace("./sum", "../sum") },
      { "1": "sed -i '1i // a line above' 'my tests/a b.test.js'" },
    );
    expectComplete(built);
  });
});

describe("a gate that says nothing but red", () => {
  it("can be dropped or mended, and not accepted: there is nothing to tell apart", async () => {
    const project = makeTested({
      config: "gates: { lint: 'echo bad style; exit 1', test: 'true' }\n",
    });
    await project.build(...auto);
    const [decision] = await project.decisions();
    expect(decision?.options.map(({ key }) => key)).toEqual(["A", "B"]);
    await answer(project, "B");
    const built = await project.build(...auto);
    expectComplete(built);
    expect(phaseIn(project, "1").quality_gates["lint"]).toMatchObject({
      passed: null,
      skipped: true,
    });
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({ passed: true });
    expect(built.ran.all).not.toContain("unverified");
  });

  it("is one question each; without any gate left, what is complete is unverified", async () => {
    const project = makeTested({ config: "gates: { lint: 'exit 1', test: 'no-such-program' }\n" });
    for (const [name, letter] of [
      ["lint", "B"],
      ["test", "B"],
    ] as const) {
      expect((await project.build(...auto)).ran.code).toBe(3);
      expect(await answer(project, letter)).toContain(name);
    }
    const built = await project.build(...auto);
    expectComplete(built);
    expect(built.ran.all).toContain("unverified");
    expect(logOf(project)).toContain("unverified");
  });

  it("is red too if the set-up fails, and says that it was the set-up", async () => {
    const project = makeTested({
      config: "setup: 'echo no network; exit 7'\ngates: { test: 'true' }\n",
    });
    const built = await project.build(...auto);
    expect(built.ran.code, built.ran.all).toBe(3);
    expect((await openQuestions(project)).join()).toMatch(
      /set-up command ended with 7.*no network/,
    );
  });

  it("stops the run under --decide=recommended", async () => {
    const project = makeTested({ files: red });
    const built = await project.build(...auto, "--decide=recommended");
    expect(built.ran.code, built.ran.all).toBe(4);
    expect(built.status).toBe("halted");
  });
});

describe("no gate at all", () => {
  it("is a decision; what is complete is called unverified wherever it is shown", async () => {
    const project = makeTested({ config: "gates: {}\n" });
    project.sh("git rm -q --cached sum.js; rm sum.js; git commit -qm bare");
    expect((await project.build(...auto)).ran.code).toBe(3);
    await answer(project, "A");
    const spoken = await autodevIn({ cwd: project.root, env: project.env }, "build", ...auto);
    expect(spoken.code, spoken.all).toBe(0);
    expect(spoken.out).toMatch(/unverified/);
    expect(phaseIn(project, "1").verification).toMatchObject({ fresh_verification: "unverified" });
    expect(logOf(project)).toMatch(/unverified/i);
    const again = await project.build(...auto);
    expect(again.ran.out).toMatch(/"unverified":true/);
    const status = await project.status();
    expect(status).toMatchObject({ runs: [{ status: "complete", unverified: 1 }] });
    expect((await project.autodev("status")).out).toMatch(/unverified/);
  });

  it("stops the run if people say so, until there is one", async () => {
    const project = makeTested({ config: "gates: {}\n" });
    await project.build(...auto);
    await answer(project, "B");
    expect((await project.build(...auto)).ran.code).toBe(4);
    project.write(".autodev/config.yaml", "gates: { test: 'true' }\n");
    project.commit("chore: a gate");
    const built = await project.build(...auto);
    expectComplete(built);
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({ passed: true });
    expect(built.ran.all).not.toContain("unverified");
  });
});

/** Leaves a line in its home each time that it runs on the base. */
const counted = (more = "true"): string =>
  `gates: { test: '[ -n "$AUTODEV_PHASE" ] || echo run >> "$HOME/runs"; ${more}' }\n`;

const runsOf = ({ home }: { readonly home: string }): number =>
  fs.readFileSync(path.join(home, "runs"), "utf8").trimEnd().split("\n").length;

describe("the baseline", () => {
  it("is taken once, whatever happens to the run afterwards", async () => {
    const project = makeTested({
      phases: [{ id: "1" }],
      config: counted(),
      agent: {
        "1": 'if [ -n "$KILL_ME" ]; then touch "$KILL_ME"; sleep 60; fi; echo part > part.txt',
      },
    });
    await project.killedBuild(...byAgent);
    expectComplete(await project.build(...byAgent));
    expect(runsOf(project)).toBe(1);
  });

  it("is taken again if it was killed, and nothing of it is left over", async () => {
    const project = makeTested({
      config: counted(`if [ -n "$KILL_ME" ]; then touch "$KILL_ME"; sleep 60; fi`),
    });
    await project.killedBuild(...auto);
    const built = await project.build(...auto);
    expectComplete(built);
    expect(runsOf(project)).toBe(2);
    expectSound(project);
  });

  it("is taken anew when people commit during the run", async () => {
    const project = makeTested({
      phases: [{ id: "1" }, { id: "2", after: "1" }],
      config: counted(),
      agent: {
        "1": 'if [ ! -e "$HOME/moved" ]; then touch "$HOME/moved"; cd "$(git rev-parse --git-common-dir)/.." && echo theirs > theirs.txt && git add theirs.txt && GIT_COMMITTER_EMAIL=tester@example.invalid git commit -qm theirs && cd - >/dev/null; fi; echo one > one.txt',
        "2": "echo two > two.txt",
      },
    });
    const built = await project.build(...byAgent, "--decide=recommended");
    expectComplete(built);
    expect(runsOf(project)).toBe(2);
    expect(project.git("log", "--format=%s").split("\n")).toContain("theirs");
    expect(project.read("theirs.txt")).toBe("theirs\n");
    expectSound(project);
  });
});
