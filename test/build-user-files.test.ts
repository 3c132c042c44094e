/** What is the user's, in the way of what a phase has done: kept, asked about, never overwritten. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import {
  expectComplete,
  expectSound,
  makePlanProject,
  type PlanProject,
  planFile,
  statusOf,
  subjectsSince,
} from "./plan-project.ts";
import { makeFolder, type Ran } from "./rig.ts";

const patience = 240_000;

/** Every file in the rescue folder, as text. */
function rescued(project: PlanProject): string[] {
  const folder = project.at(".git/autodev/rescue");
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), "utf8"));
}

const decisionIn = ({ all }: Ran): string => /\bd-[0-9a-f]{12}\b/.exec(all)?.[0] ?? "";

const inTheWay = {
  phases: [{ id: "1" }],
  agent: { "1": "echo phase >> old.txt; rm gone.txt; echo phase > new.txt" },
};

describe.concurrent("what the user saves", { timeout: patience }, () => {
  test("after we have looked at his files and before we write them is not lost", async () => {
    const bin = makeFolder("bin");
    // A git on PATH under whose hands somebody saves his files, as the last act before each call.
    fs.writeFileSync(
      path.join(bin, "git"),
      `#!/bin/sh
PATH=\${PATH#"${bin}:"}
case " $* " in
*" checkout-index "*)
  if [ -e '${bin}/armed' ]; then
    cd "$(cat '${bin}/root')" && for file in old.txt gone.txt new.txt; do
      echo "precious $file" > .tmp && mv .tmp $file
    done
    cd "$OLDPWD"
  fi ;;
esac
exec git "$@"
`,
      { mode: 0o755 },
    );
    const project = makePlanProject({
      ...inTheWay,
      // Nobody saves anything before the phase is verified.
      agent: { "1": `${inTheWay.agent["1"]}; touch '${bin}/armed'` },
      env: { PATH: `${bin}:${process.env["PATH"]}` },
    });
    project.write("old.txt", "old\n");
    project.write("gone.txt", "gone\n");
    project.commit();
    fs.writeFileSync(path.join(bin, "root"), project.root);
    await project.tryBuild(planFile, "--commit=auto", "--agent=mine", "--decide=recommended");
    for (const file of ["old.txt", "gone.txt", "new.txt"]) {
      const kept = project.exists(file) ? project.read(file) : "";
      expect([kept, ...rescued(project)]).toContain(`precious ${file}\n`);
    }
  });

  test("of a file, half staged, stays staged when a phase makes a folder of it, and a file of a folder", async () => {
    const project = makePlanProject({
      phases: [{ id: "1" }],
      agent: {
        "1": "rm thing; mkdir thing; echo inner > thing/inner.txt; rm -r fold; echo file > fold",
      },
    });
    project.write("thing", "thing\n");
    project.write("fold/a.txt", "a\n");
    project.commit();
    for (const file of ["thing", "fold/a.txt"]) {
      project.write(file, `staged ${file}\n`);
      project.git("add", file);
      project.write(file, `changed again ${file}\n`);
    }
    const staged = project.git("ls-files", "--stage", "thing", "fold/a.txt");
    await project.tryBuild(planFile, "--commit=auto", "--agent=mine", "--decide=recommended");
    expect(project.git("ls-files", "--stage", "thing", "fold/a.txt")).toBe(staged);
    const kept = project.sh("git rev-list --objects --all | cut -d' ' -f1 | git cat-file --batch");
    for (const file of ["thing", "fold/a.txt"]) {
      const here = project.sh(`cat '${file}' 2>/dev/null || true`);
      expect([here, kept, ...rescued(project)].join("\n")).toContain(`changed again ${file}\n`);
    }
  });
});

describe.concurrent("a file of the user's where a phase makes one", { timeout: patience }, () => {
  /** The user makes it while the agent works. */
  const meanwhile = async (): Promise<{ project: PlanProject; id: string }> => {
    const project = makePlanProject({
      phases: [{ id: "1" }, { id: "2" }],
      agent: {
        "1": `echo phase > new.txt; echo mine > "$(git rev-parse --path-format=absolute --git-common-dir)/../new.txt"`,
        "2": "echo two > two.txt",
      },
    });
    project.commit();
    const ran = await project.tryBuild(planFile, "--commit=auto", "--agent=mine", "--jobs=1");
    expect(ran.code, ran.all).toBe(3);
    expect(project.read("new.txt")).toBe("mine\n");
    return { project, id: decisionIn(ran) };
  };

  test("is asked about; kept by A: the phase's version is in the commit", async () => {
    const { project, id } = await meanwhile();
    expect((await project.autodev("decide", id, "A")).code).toBe(0);
    expectComplete(await project.build(planFile, "--commit=auto", "--agent=mine"));
    expect(project.read("new.txt")).toBe("mine\n");
    expect(project.git("show", "HEAD:new.txt")).toBe("phase\n");
    expectSound(project, { status: [" M new.txt"] });
  });

  test("is asked about; by B it goes to the rescue folder", async () => {
    const { project, id } = await meanwhile();
    expect((await project.autodev("decide", id, "B")).code).toBe(0);
    expectComplete(await project.build(planFile, "--commit=auto", "--agent=mine"));
    expect(project.read("new.txt")).toBe("phase\n");
    expect(rescued(project)).toContain("mine\n");
    expectSound(project);
  });

  test("is asked about; what he writes into the plan before he answers stays there", async () => {
    const { project, id } = await meanwhile();
    fs.appendFileSync(project.at(planFile), "\nA note.\n");
    expect((await project.autodev("decide", id, "A")).code).toBe(0);
    expectComplete(await project.build(planFile, "--commit=auto", "--agent=mine"));
    expect(project.read(planFile)).toContain("\nA note.\n");
    expect(project.read(planFile)).not.toContain("- [ ]");
  });

  test("is asked about; by C the phase stays unpublished, and the run is at rest", async () => {
    const { project, id } = await meanwhile();
    const head = project.git("rev-parse", "HEAD");
    expect((await project.autodev("decide", id, "C")).code).toBe(0);
    const ran = await project.tryBuild(planFile, "--commit=auto", "--agent=mine");
    expect(ran.code, ran.all).toBe(4);
    expect(project.read("new.txt")).toBe("mine\n");
    expect(project.git("rev-parse", "HEAD")).toBe(head);
    expect(statusOf(project)).toEqual(["?? new.txt"]);
  });

  for (const [what, script, keeps] of [
    [
      "a folder with something in it",
      "mkdir new.txt; echo mine > new.txt/inner.txt",
      "new.txt/inner.txt",
    ],
    ["a link that leads nowhere", "ln -s nowhere new.txt", undefined],
  ] as const) {
    test(`is a question too if it is ${what}`, async () => {
      const project = makePlanProject({
        phases: [{ id: "1" }],
        agent: {
          "1": `echo phase > new.txt; cd "$(git rev-parse --path-format=absolute --git-common-dir)/.."; ${script}`,
        },
      });
      project.commit();
      const ran = await project.tryBuild(planFile, "--commit=auto", "--agent=mine");
      expect(ran.code, ran.all).toBe(3);
      const id = decisionIn(ran);
      expect((await project.autodev("decide", id, "B")).code).toBe(0);
      expectComplete(await project.build(planFile, "--commit=auto", "--agent=mine"));
      // By B: the phase's version is there, the user's is in the rescue folder.
      expect(project.read("new.txt")).toBe("phase\n");
      if (keeps) expect(rescued(project)).toContain("mine\n");
      expectSound(project);
    });
  }
});

describe.concurrent("a tree that is not clean at the start", { timeout: patience }, () => {
  /** Asks, is answered, goes on. */
  const answered = async (project: PlanProject, letter: string): Promise<void> => {
    const ran = await project.tryBuild(planFile, "--commit=auto", "--agent=mine");
    expect(ran.code, ran.all).toBe(3);
    const id = decisionIn(ran);
    expect((await project.autodev("decide", id, letter)).code).toBe(0);
    expectComplete(await project.build(planFile, "--commit=auto", "--agent=mine"));
  };

  for (const letter of ["A", "B"]) {
    test(`in a sparse checkout: by ${letter} nothing outside of the cone goes`, async () => {
      const project = makePlanProject({
        phases: [{ id: "1" }],
        agent: { "1": "echo 1 > in/1.txt" },
      });
      project.write("in/old.txt", "old\n");
      project.write("out/old.txt", "old\n");
      const base = project.commit();
      project.git("sparse-checkout", "set", "--cone", "in", "docs", ".autodev");
      project.write("in/old.txt", "changed\n");
      await answered(project, letter);
      expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).toContain("out/old.txt");
      expect(project.git("show", "HEAD:in/old.txt")).toBe("changed\n");
      expect(project.exists("out")).toBe(false);
      expect(subjectsSince(project, base)).toHaveLength(2);
      expectSound(project);
    });
  }

  test("by C nothing is changed", async () => {
    const project = makePlanProject({ phases: [{ id: "1" }], agent: { "1": "echo 1 > 1.txt" } });
    const base = project.commit();
    project.write("README.md", "staged\n");
    project.git("add", "README.md");
    project.write("README.md", "changed\n");
    project.write("new.txt", "new\n");
    const before = { status: statusOf(project), index: project.git("ls-files", "--stage") };
    const ran = await project.tryBuild(planFile, "--commit=auto", "--agent=mine");
    const id = decisionIn(ran);
    expect((await project.autodev("decide", id, "C")).code).toBe(0);
    expect((await project.tryBuild(planFile, "--commit=auto", "--agent=mine")).code).toBe(4);
    expect({ status: statusOf(project), index: project.git("ls-files", "--stage") }).toEqual(
      before,
    );
    expect(project.git("rev-parse", "HEAD").trim()).toBe(base);
    expect(project.read("README.md")).toBe("changed\n");
  });
});

describe.concurrent("an index with a conflict in it", { timeout: patience }, () => {
  for (const file of ["README.md", "both.txt"]) {
    test(`keeps all sides of ${file}, whatever the run does`, async () => {
      const project = makePlanProject({ phases: [{ id: "1" }], agent: { "1": "echo 1 > 1.txt" } });
      project.commit();
      // As a `git stash pop` leaves it: no merge is under way.
      project.sh(`for side in 1 2 3; do
        echo "100644 $(echo "side $side" | git hash-object -w --stdin) $side\t${file}"
      done > .git/sides
      git rm --quiet --cached --ignore-unmatch ${file}
      git update-index --index-info < .git/sides`);
      project.write(file, "<<<<<<<\nside 2\n=======\nside 3\n>>>>>>>\n");
      const sides = project.git("ls-files", "--unmerged");
      expect(sides.split("\n")).toHaveLength(4);
      await project.tryBuild(planFile, "--commit=auto", "--agent=mine", "--decide=recommended");
      expect(project.git("ls-files", "--unmerged")).toBe(sides);
      expect(project.read(file)).toBe("<<<<<<<\nside 2\n=======\nside 3\n>>>>>>>\n");
    });
  }
});

describe.concurrent("a branch that the user rewrites meanwhile", { timeout: patience }, () => {
  test("is left to him: what the run still has to publish goes to a branch of its own", async () => {
    const project = makePlanProject({
      phases: [
        { id: "1" },
        { id: "2", after: "1" },
        { id: "3", after: "2" },
        { id: "4", after: "3" },
      ],
      agent: {
        "1": "echo 1 > 1.txt",
        // Once phase 1 is on the branch; somebody else's lock is waited for, as people do.
        "2": `echo 2 > 2.txt
          cd "$(git rev-parse --path-format=absolute --git-common-dir)/.."
          until [ "$(git log -1 --format=%s)" = "feat: part 1" ]; do sleep 0.1; done
          until env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git -c user.name=x -c user.email=x@x commit --quiet --amend --message=better; do sleep 0.1; done`,
        "3": "echo 3 > 3.txt",
        "4": "echo 4 > 4.txt",
      },
    });
    const base = project.commit();
    const built = await project.build(
      planFile,
      "--commit=auto",
      "--agent=mine",
      "--decide=recommended",
    );
    expectComplete(built);
    expect(subjectsSince(project, base)).toEqual(["better"]);
    const tip = built.phases.find(({ id }) => id === "4")?.commit ?? "";
    const holders = project.git("branch", "--contains", tip, "--format=%(refname)").trim();
    expect(holders).toMatch(/^refs\/heads\/\S+$/);
    expect(subjectsSince(project, base, tip)).toEqual([
      "feat: part 1",
      "feat: part 2",
      "feat: part 3",
      "feat: part 4",
    ]);
    expect(project.exists("2.txt")).toBe(false);
    expect(statusOf(project)).toEqual([]);
  });
});
