/**
 * Two phases at once, and what one has landed is in the other's way. Barriers make the order
 * certain: nobody waits for a clock.
 */
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Built,
  expectComplete,
  expectSound,
  makePlanProject,
  type PhaseText,
  type PlanProject,
  planFile,
  subjectsSince,
} from "./plan-project.ts";
import { makeFolder } from "./rig.ts";

const patience = 240_000;

/** Commands for agents that wait for each other. */
interface Barriers {
  /** Both have begun, each on the same base. */
  readonly together: string;
  /** Something has landed since this attempt began. */
  readonly landed: string;
  pass(name: string): string;
  await(name: string): string;
}

function barriers(): Barriers {
  const folder = makeFolder("barriers");
  const at = (name: string): string => `'${path.join(folder, name)}'`;
  const wait = (until: string): string => `until ${until}; do sleep 0.05; done`;
  return {
    together: `touch '${folder}'/began-$AUTODEV_PHASE; ${wait(`[ $(ls '${folder}' | grep -c began-) -ge 2 ]`)}`,
    landed: wait(
      `[ "$(git for-each-ref --format='%(objectname)' 'refs/autobuild/*/landed')" != "$(git rev-parse HEAD)" ]`,
    ),
    pass: (name) => `touch ${at(name)}`,
    await: (name) => wait(`[ -e ${at(name)} ]`),
  };
}

const firstTime = (script: string, otherwise: string): string =>
  `if [ "$AUTODEV_ATTEMPT" = 1 ]; then ${script}; else ${otherwise}; fi`;

const parallel: readonly PhaseText[] = [{ id: "1" }, { id: "2" }];

interface Collision {
  readonly before?: Readonly<Record<string, string>>;
  readonly first: string;
  readonly second: string;
  /** What the second does when it is run again, on top. */
  readonly again?: string;
  readonly gate?: string;
}

/** Phase 1 lands while phase 2 is at work. */
async function collide(
  collision: Collision,
): Promise<{ project: PlanProject; built: Built; base: string }> {
  const { together, landed } = barriers();
  const { first, second, again = "exit 1" } = collision;
  const project = makePlanProject({
    phases: parallel,
    agent: {
      "1": `${together}; ${first}`,
      "2": firstTime(`${together}; ${landed}; ${second}`, again),
    },
    ...(collision.gate !== undefined && { gate: collision.gate }),
  });
  for (const [file, text] of Object.entries(collision.before ?? {})) project.write(file, text);
  const base = project.commit();
  const built = await project.build(planFile, "--commit=auto", "--agent=mine", "--jobs=2");
  return { project, built, base };
}

const attemptsOf = (built: Built): number[] => built.phases.map(({ attempts }) => attempts);

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

describe.concurrent("two phases at once", { timeout: patience }, () => {
  test("that change different lines of one file both land, at the first attempt", async () => {
    const { project, built, base } = await collide({
      before: { "shared.txt": tenLines },
      first: "sed -i 's/^2$/two/' shared.txt",
      second: "sed -i 's/^9$/nine/' shared.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 1]);
    expect(project.read("shared.txt")).toBe("1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n");
    expect(subjectsSince(project, base)).toEqual(["feat: part 1", "feat: part 2"]);
    expectSound(project);
  });

  test("that change the same line: the later one is run again on top, and lands", async () => {
    const { project, built, base } = await collide({
      before: { "shared.txt": tenLines },
      first: "sed -i 's/^5$/five/' shared.txt",
      second: "sed -i 's/^5$/fünf/' shared.txt",
      again: `cp "$AUTODEV_BRIEF" brief.txt; sed -i 's/^five$/five, fünf/' shared.txt`,
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    expect(project.read("shared.txt")).toContain("\nfive, fünf\n");
    // It is told what happened.
    expect(project.read("brief.txt")).toMatch(/shared\.txt/);
    expect(subjectsSince(project, base)).toEqual(["feat: part 1", "feat: part 2"]);
    expectSound(project, { kept: ["2-1"] });
    const types = (await project.events()).map(({ type }) => type);
    expect(types.filter((type) => type === "attempt-conflicted")).toHaveLength(1);
    expect(types).not.toContain("attempt-failed");
  });

  test("that conflict a second time: file_conflict, the file is named, and the others go on", async () => {
    const { together, landed, pass, await: wait } = barriers();
    const line = (text: string): string => `sed -i '5s/.*/${text}/' shared.txt`;
    const project = makePlanProject({
      phases: [
        { id: "1" },
        { id: "2" },
        { id: "3", after: "1" },
        { id: "4", after: "3" },
        { id: "5", after: "2" },
      ],
      agent: {
        "1": `${together}; ${line("one")}`,
        "2": `case $AUTODEV_ATTEMPT in
          1) ${together}; ${landed}; ${line("two")} ;;
          2) ${pass("again")}; ${landed}; ${line("two again")} ;;
          3) ${line("two at last")} ;;
        esac`,
        "3": `${wait("again")}; ${line("three")}`,
        "4": "echo four > four.txt",
        "5": "echo never > five.txt",
      },
    });
    project.write("shared.txt", tenLines);
    const base = project.commit();
    const built = await project.build(planFile, "--commit=auto", "--agent=mine", "--jobs=3");
    expect(built.ran.code, built.ran.all).toBe(4);
    expect(built.status).toBe("halted");
    const statuses = Object.fromEntries(built.phases.map(({ id, status }) => [id, status]));
    expect(statuses).toEqual({
      "1": "complete",
      "2": "failed",
      "3": "complete",
      "4": "complete",
      "5": "blocked",
    });
    expect(built.phases[1]?.error?.type).toBe("file_conflict");
    expect(built.phases[1]?.error?.message).toContain("shared.txt");
    expect(built.phases[1]?.attempts).toBe(2);
    expect(subjectsSince(project, base)).toEqual(["feat: part 1", "feat: part 3", "feat: part 4"]);
    expect(project.read("shared.txt").split("\n")[4]).toBe("three");
    expect(project.exists("five.txt")).toBe(false);
    expectSound(project, { kept: ["2-1", "2-2"] });
    const ref = project.sh("git for-each-ref --format='%(refname)' '**/attempts/2-2'").trim();
    expect(project.git("show", `${ref}:shared.txt`)).toContain("two again");
    // Resumed, it has a new series; on top of all that has landed, it fits.
    const resumed = await project.build(planFile, "--commit=auto", "--agent=mine");
    expectComplete(resumed);
    expect(project.read("shared.txt").split("\n")[4]).toBe("two at last");
    expectSound(project, { kept: ["2-1", "2-2"] });
  });

  test("that make the same file with the same content both land", async () => {
    const { project, built, base } = await collide({
      first: "echo same > made.txt; echo 1 > one.txt",
      second: "echo same > made.txt; echo 2 > two.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 1]);
    expect(project.read("made.txt")).toBe("same\n");
    expect(subjectsSince(project, base)).toHaveLength(2);
    expectSound(project);
  });

  test("that make the same file with other content: the later one is run again", async () => {
    const { project, built } = await collide({
      first: "echo one > made.txt",
      second: "echo two > made.txt",
      again: "cat made.txt > seen.txt; echo two >> made.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    expect(project.read("seen.txt")).toBe("one\n");
    expect(project.read("made.txt")).toBe("one\ntwo\n");
    expectSound(project, { kept: ["2-1"] });
  });

  test("of which the first deletes what the second changes: the second is run again without it", async () => {
    const { project, built } = await collide({
      before: { "shared.txt": tenLines },
      first: "rm shared.txt",
      second: "sed -i 's/^5$/five/' shared.txt",
      again: "[ ! -e shared.txt ] && echo five > other.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    expect(project.exists("shared.txt")).toBe(false);
    expect(project.read("other.txt")).toBe("five\n");
    expectSound(project, { kept: ["2-1"] });
  });

  test("of which the first changes what the second deletes: the second sees the change before it deletes", async () => {
    const { project, built } = await collide({
      before: { "shared.txt": tenLines },
      first: "sed -i 's/^5$/five/' shared.txt",
      second: "rm shared.txt",
      again: "grep -q five shared.txt; git mv shared.txt moved.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    expect(project.exists("shared.txt")).toBe(false);
    expect(project.read("moved.txt")).toContain("\nfive\n");
    expectSound(project, { kept: ["2-1"] });
  });

  test("that both delete a file both land", async () => {
    const { project, built } = await collide({
      before: { "shared.txt": tenLines },
      first: "rm shared.txt; echo 1 > one.txt",
      second: "rm shared.txt; echo 2 > two.txt",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 1]);
    expect(project.exists("shared.txt")).toBe(false);
    expectSound(project);
  });

  test("of which one makes a file where the other makes a folder: the later one is run again, and the path is named", async () => {
    const { project, built } = await collide({
      first: "echo file > place",
      second: "mkdir place; echo inner > place/inner.txt",
      again: `cp "$AUTODEV_BRIEF" brief.txt; rm place; mkdir place; echo inner > place/inner.txt`,
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    expect(project.read("place/inner.txt")).toBe("inner\n");
    expect(project.read("brief.txt")).toMatch(/meanwhile in place(?:\/inner\.txt)?(?:,|$)/m);
    expectSound(project, { kept: ["2-1"] });
  });

  test("that pass alone and not together never land together: the gates see the merged tree", async () => {
    const { project, built, base } = await collide({
      first: "echo 1 > one.txt",
      second: "echo 2 > two.txt",
      again: "git mv one.txt three.txt; echo 2 > two.txt",
      gate: "! { [ -e one.txt ] && [ -e two.txt ]; }",
    });
    expectComplete(built);
    expect(attemptsOf(built)).toEqual([1, 2]);
    for (const commit of project.sh(`git rev-list ${base}..HEAD`).trim().split("\n")) {
      const names = project.git("ls-tree", "--name-only", commit).split("\n");
      expect(names.includes("one.txt") && names.includes("two.txt")).toBe(false);
    }
    expectSound(project, { kept: ["2-1"] });
  });
});
