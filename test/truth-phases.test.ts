/** What a phase did wrong is told to whoever tries again; what it brought along counts from then on. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { expectComplete } from "./plan-project.ts";
import { pictureOf } from "./rig.ts";
import {
  auto,
  byAgent,
  codesIn,
  logOf,
  makeTested,
  type PlanProject,
  phaseIn,
  planFile,
  testsOf,
} from "./truth-rig.ts";

/** The first attempt does this; the second does nothing but the work. */
const firstAttempt = (lie: string, work = "echo part > part.js"): string =>
  `cp "$AUTODEV_BRIEF" "$HOME/brief-$AUTODEV_ATTEMPT.md"; ${work}; if [ "$AUTODEV_ATTEMPT" = 1 ]; then\n${lie}\nfi`;

const brief = ({ home }: PlanProject, attempt: number): string =>
  fs.readFileSync(path.join(home, `brief-${attempt}.md`), "utf8");

describe("a second attempt is told everything that was wrong with the first", () => {
  const tests = { "a.test.js": testsOf("adds", "carries", "borrows") };
  const lies: Readonly<Record<string, readonly [lie: string, told: readonly string[]]>> = {
    "tests skipped, emptied and deleted": [
      `sed -i '5s/test(/test.skip(/; 6d' a.test.js; sed -i '4s/() => .*/() => {});/' a.test.js`,
      [
        "a.test.js:4: ",
        "[test-emptied]",
        "a.test.js:5: ",
        "[test-skipped]",
        "borrows",
        "[test-deleted]",
      ],
    ],
    "a gate that fails, every test by its name": [
      "sed -i 's/a + b/a - b/' sum.js",
      ["[gate-failed]", "a.test.js:4 adds", "a.test.js:5 carries", "a.test.js:6 borrows"],
    ],
    "a gate's definition, a merge's marks and a link that leads out": [
      `printf '{"scripts":{"test":"true"}}' > package.json; sed -i 's/node --test/true/' .autodev/config.yaml
       printf '<<<<<<< ours\\na\\n=======\\nb\\n>>>>>>> theirs\\n' > marks.js; ln -s /etc/passwd out`,
      [
        ".autodev/config.yaml",
        "[gate-changed]",
        "marks.js:1: ",
        "[conflict-markers]",
        "out: ",
        "[leads-outside]",
      ],
    ],
  };
  for (const [name, [lie, told]] of Object.entries(lies)) {
    it(name, async () => {
      const project = makeTested({
        phases: [{ id: "1" }],
        files: tests,
        agent: { "1": firstAttempt(lie) },
      });
      const built = await project.build(...byAgent);
      expectComplete(built);
      expect(built.phases[0]?.attempts).toBe(2);
      const second = brief(project, 2);
      for (const words of told) expect(second).toContain(words);
      expect(brief(project, 1)).not.toMatch(/\[[a-z]+-[a-z-]+\]/);
    });
  }
});

describe("what an agent leaves running", () => {
  it("is ended, and noted in the phase's file; the work counts all the same", async () => {
    const left = "(setsid sleep 600 >/dev/null 2>&1 </dev/null &); sleep 0.1";
    const tests = { "a.test.js": testsOf("adds") };
    const agent = { "1": `echo part > part.js; ${left}` };
    const project = makeTested({ phases: [{ id: "1" }], files: tests, agent });
    expectComplete(await project.build(...byAgent));
    expect(codesIn(project, "1")).toEqual(["process-left"]);
  });
});

const manifest = JSON.stringify({
  name: "fresh",
  version: "1.0.0",
  scripts: { test: "node --test" },
});
const greenfield = {
  phases: [
    { id: "1", files: { "package.json": manifest, "a.test.js": testsOf("adds", "carries") } },
    { id: "2", after: "1", files: { "b.test.js": testsOf("fails") } },
  ],
  config: "build: { attempts: 1 }\n",
};

describe("a gate that a phase brings along", () => {
  it("checks that phase and every one after it, where the commands of the agent are trusted", async () => {
    const [first, second] = greenfield.phases.map(({ files }) =>
      Object.entries(files)
        .map(([file, text]) => `cat > ${file} <<'END'\n${text}\nEND`)
        .join("\n"),
    );
    const project = makeTested({ ...greenfield, agent: { "1": first ?? "", "2": second ?? "" } });
    const built = await project.build(...byAgent, "--decide=recommended");
    expect(
      built.phases.map(({ status }) => status),
      built.ran.all,
    ).toEqual(["complete", "failed"]);
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({
      passed: true,
      tests_passed: 2,
    });
    expect(codesIn(project, "2")).toContain("gate-failed");
  });

  it("is not run where nobody has trusted anything, and nothing is called verified", async () => {
    const project = makeTested(greenfield);
    const built = await project.build(...auto, "--decide=recommended");
    expect(built.notices.join()).toContain("autodev trust");
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({
      passed: null,
      skipped: true,
    });
    expect(phaseIn(project, "1").verification).not.toMatchObject({ fresh_verification: "passed" });
    expect(built.ran.all).toContain("unverified");
    expect(logOf(project)).toMatch(/unverified/i);
  });
});

describe("tests that prove nothing", () => {
  const bite = (is: string) =>
    `gates: { test: "node --test" }\nverify: { bite: ${is} }\nbuild: { attempts: 1 }\n`;
  const code = "echo 'exports.twice = (a) => a + a;' > twice.js";
  const test = (subject: string) => `cat > twice.test.js <<'END'
const test = require("node:test");
const assert = require("node:assert");
${subject}
test("doubles", () => assert.equal(twice(2), 4));
END`;
  const toothless = `${code}\n${test("const twice = (a) => a * 2;")}`;
  const honest = `${code}\n${test('const { twice } = require("./twice.js");')}`;
  const base = { phases: [{ id: "1" }], files: { "a.test.js": testsOf("adds") } };

  it("are found out if the project asks for it", async () => {
    const project = makeTested({ ...base, config: bite("on"), agent: { "1": toothless } });
    expect((await project.build(...byAgent)).ran.code).toBe(4);
    expect(codesIn(project, "1")).toEqual(["tests-do-not-bite"]);
  });

  it("pass if it does not", async () => {
    const project = makeTested({ ...base, config: bite("off"), agent: { "1": toothless } });
    expectComplete(await project.build(...byAgent));
  });

  it("are not those that fail without the code", async () => {
    const project = makeTested({ ...base, config: bite("on"), agent: { "1": honest } });
    expectComplete(await project.build(...byAgent));
  });
});

/** A package as a file, and a lock file that names it: what `npm ci` needs, and no registry. */
const packed = (name: string): string =>
  `mkdir -p vendor package && echo '{"name":"${name}","version":"1.0.0","main":"i.js"}' > package/package.json &&
   echo "module.exports = 'from the lock file';" > package/i.js &&
   tar czf vendor/${name}-1.0.0.tgz package && rm -r package`;
function manifestsFor(...names: readonly string[]): string {
  const at = (name: string): string => `file:vendor/${name}-1.0.0.tgz`;
  const own = {
    name: "p",
    version: "1.0.0",
    dependencies: Object.fromEntries(names.map((name) => [name, at(name)])),
  };
  const lock = {
    name: "p",
    version: "1.0.0",
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": own,
      ...Object.fromEntries(
        names.map((name) => [`node_modules/${name}`, { version: "1.0.0", resolved: at(name) }]),
      ),
    },
  };
  const manifest = { ...own, scripts: { test: "node --test *.test.js" } };
  return `printf '%s' '${JSON.stringify(manifest)}' > package.json
    printf '%s' '${JSON.stringify(lock)}' > package-lock.json`;
}
const using = (name: string): string => `const test = require("node:test");
const assert = require("node:assert");
test("${name}", () => assert.equal(require("${name}"), "from the lock file"));
`;
const usedHere = (name: string): string => `cat > ${name}.test.js <<'END'\n${using(name)}END`;

describe("dependencies", () => {
  const ignored = { ".gitignore": "node_modules\n" };

  it("come from the lock file of the very tree; the user's own are neither seen nor touched", async () => {
    const project = makeTested({
      phases: [{ id: "1" }],
      config: "build: { attempts: 1 }\n",
      files: {
        ...ignored,
        "left.test.js": `${using("left")}test("right", () => assert.throws(() => require("right")));\n`,
      },
      agent: { "1": `${packed("more")}\n${manifestsFor("left", "more")}\n${usedHere("more")}` },
    });
    project.sh(`${packed("left")}\n${manifestsFor("left")}
      mkdir -p node_modules/left node_modules/right
      echo "module.exports = 'edited by hand'" | tee node_modules/left/index.js > node_modules/right/index.js
      sed -i '/^- \\[ \\] Do part 1/a ##### File: \`package.json\` (MODIFY)' ${planFile}`);
    project.commit("dependencies");
    const before = pictureOf(project.at("node_modules"));
    const built = await project.build(...byAgent);
    expectComplete(built);
    expect(phaseIn(project, "1").quality_gates["test"]).toMatchObject({
      passed: true,
      tests_passed: 3,
    });
    expect(pictureOf(project.at("node_modules"))).toEqual(before);
  });

  it("come with the gate, where a phase begins the project", async () => {
    const project = makeTested({
      phases: [{ id: "1" }, { id: "2", after: "1" }],
      config: "build: { attempts: 1 }\n",
      files: ignored,
      agent: {
        "1": `${packed("left")}\n${manifestsFor("left")}\n${usedHere("left")}`,
        "2": "echo two > two.txt",
      },
    });
    const built = await project.build(...byAgent, "--decide=recommended");
    expectComplete(built);
    for (const id of ["1", "2"]) {
      expect(phaseIn(project, id).quality_gates["test"]).toMatchObject({
        passed: true,
        tests_passed: 1,
      });
    }
  });
});
