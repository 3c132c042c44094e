/** `autodev build` in repositories of every shape: what lands, what is published, what is left. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import {
  changesIn,
  expectComplete,
  expectSound,
  makePlanProject,
  type PhaseText,
  type PlanProject,
  planFile,
  planText,
  projectAt,
  statusOf,
  subjectsSince,
} from "./plan-project.ts";
import { makeFolder, pictureOf } from "./rig.ts";

const patience = 240_000;
const auto = "--commit=auto";

/** Two phases, the second after the first. */
const two: readonly PhaseText[] = [
  { id: "1", files: { "src/one.txt": "one\n" } },
  { id: "2", after: "1", files: { "src/two.txt": "two\n", "README.md": "# Better\n" } },
];

async function expectTwoCommits(project: PlanProject, plan = planFile): Promise<void> {
  const base = project.git("rev-parse", "HEAD").trim();
  const built = await project.build(plan, auto);
  expectComplete(built);
  expect(subjectsSince(project, base)).toHaveLength(2);
  expect(project.git("rev-parse", "HEAD").trim()).toBe(built.phases[1]?.commit);
  expect(project.read("src/one.txt")).toBe("one\n");
  expect(project.read("src/two.txt")).toBe("two\n");
  expect(project.read("README.md")).toBe("# Better\n");
}

const git = (cwd: string, script: string): void => {
  const { status, stderr } = spawnSync("sh", ["-ec", script], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
};

describe.concurrent("a plan is run in", { timeout: patience }, () => {
  // ── more than one repository, more than one tree ─────────────────────────────────────────────

  const withSubmodule = (): PlanProject => {
    const inner = makeFolder("inner");
    git(
      inner,
      `git init -q -b main && echo inner > inner.txt && git add . &&
       git -c user.name=x -c user.email=x@x commit -qm inner`,
    );
    const project = makePlanProject({ phases: two });
    project.sh(`git -c protocol.file.allow=always submodule --quiet add '${inner}' lib/inner`);
    project.commit();
    return project;
  };
  const gitlink = (project: PlanProject): string => project.git("ls-tree", "HEAD", "lib/inner");

  test("a repository with a submodule that is checked out, and has changes of its own", async () => {
    const project = withSubmodule();
    project.write("lib/inner/inner.txt", "changed by its people\n");
    project.write("lib/inner/new.txt", "new\n");
    const before = { link: gitlink(project), files: pictureOf(project.at("lib/inner")) };
    await expectTwoCommits(project);
    expect({ link: gitlink(project), files: pictureOf(project.at("lib/inner")) }).toEqual(before);
    expectSound(project, { status: [" M lib/inner"] });
  });

  test("a repository with a submodule that nobody has checked out", async () => {
    const original = withSubmodule();
    const root = path.join(makeFolder("clones"), "clone");
    git(path.dirname(root), `git clone --quiet '${original.root}' clone`);
    const project = projectAt(root);
    const link = gitlink(project);
    expect(link).toMatch(/^160000 /);
    await expectTwoCommits(project);
    expect(gitlink(project)).toBe(link);
    expect(fs.readdirSync(project.at("lib/inner"))).toEqual([]);
    expectSound(project);
  });

  test("a linked worktree, while the main one is on another branch with changes of its own", async () => {
    const main = makePlanProject({ phases: two });
    main.commit();
    const root = path.join(makeFolder("trees"), "linked tree");
    main.sh(`git worktree add --quiet -b feature '${root}'`);
    main.write("README.md", "# being written\n");
    main.write("notes.txt", "untracked\n");
    main.sh("git add README.md");
    const before = {
      head: main.git("rev-parse", "main"),
      status: statusOf(main),
      picture: withoutGit(main),
    };
    const project = projectAt(root);
    await expectTwoCommits(project);
    expect(project.git("symbolic-ref", "HEAD").trim()).toBe("refs/heads/feature");
    expect({
      head: main.git("rev-parse", "main"),
      status: statusOf(main),
      picture: withoutGit(main),
    }).toEqual(before);
    expectSound(project, { worktrees: 2 });
    expect(fs.existsSync(main.at(".autobuild"))).toBe(false);
    // The history belongs to the repository: from the main worktree it can be read too.
    expect((await main.events()).map(({ type }) => type)).toContain("run-ended");
  });

  // ── large files ──────────────────────────────────────────────────────────────────────────────

  /** Pointers are `pointer <hash>`, and what they stand for lies in a folder; each call is noted. */
  const makeLfs = (): { script: string; calls: () => string } => {
    const folder = makeFolder("lfs");
    const script = path.join(folder, "lfs.sh");
    fs.writeFileSync(
      script,
      `store='${folder}'
echo "$1" >> "$store/calls"
cat > "$store/in.$$"
case "$1" in
clean)
  if head -c 8 "$store/in.$$" | grep -q '^pointer '; then cat "$store/in.$$"; else
    sum=$(sha256sum < "$store/in.$$" | cut -d' ' -f1); cp "$store/in.$$" "$store/$sum"; echo "pointer $sum"
  fi ;;
smudge)
  sum=$(sed -n 's/^pointer //p' "$store/in.$$")
  if [ -n "$sum" ]; then cat "$store/$sum"; else cat "$store/in.$$"; fi ;;
esac
rm "$store/in.$$"
`,
    );
    const calls = path.join(folder, "calls");
    return { script, calls: () => (fs.existsSync(calls) ? fs.readFileSync(calls, "utf8") : "") };
  };
  const filterConfig = (script: string): string =>
    `[filter "lfs"]\n\tclean = sh '${script}' clean %f\n\tsmudge = sh '${script}' smudge %f\n\trequired = true\n`;
  const largeFiles = {
    phases: [{ id: "1" }, { id: "2", after: "1" }],
    // The agent sees what the user would see, changes one file and adds another.
    agent: {
      "1": "cp old.bin seen.txt; printf 'new content' > new.bin; echo text > plain.txt",
      "2": "printf 'newer content' > new.bin; rm old.bin",
    },
  };

  test("a repository with large files, with the filter in the user's own configuration", async () => {
    const lfs = makeLfs();
    const global = path.join(makeFolder("global"), "gitconfig");
    fs.writeFileSync(global, filterConfig(lfs.script));
    const project = makePlanProject({ ...largeFiles, env: { GIT_CONFIG_GLOBAL: global } });
    project.write(".gitattributes", "*.bin filter=lfs -text\n");
    project.write("old.bin", "old content");
    const base = project.commit();
    const built = await project.build(planFile, auto, "--agent=mine");
    expectComplete(built);
    const [first, second] = built.phases.map(({ commit }) => commit);
    expect(project.git("show", `${first}:seen.txt`)).toBe("old content");
    expect(project.git("show", `${first}:new.bin`)).toMatch(/^pointer [0-9a-f]{64}\n$/);
    expect(project.git("show", `${second}:new.bin`)).toMatch(/^pointer [0-9a-f]{64}\n$/);
    expect(project.read("new.bin")).toBe("newer content");
    expect(project.exists("old.bin")).toBe(false);
    expect(subjectsSince(project, base)).toHaveLength(2);
    expectSound(project);
  });

  test("a repository with large files, of which only pointers are there and no filter", async () => {
    const project = makePlanProject(largeFiles);
    project.write(".gitattributes", "*.bin filter=lfs -text\n");
    project.write("old.bin", "pointer of something\n");
    project.commit();
    const built = await project.build(planFile, auto, "--agent=mine");
    expectComplete(built);
    expect(project.read("seen.txt")).toBe("pointer of something\n");
    expect(project.read("new.bin")).toBe("newer content");
    expectSound(project);
  });

  test("a repository whose own configuration names a filter, which is never run", async () => {
    const lfs = makeLfs();
    const project = makePlanProject({
      phases: largeFiles.phases,
      agent: { "1": "cp old.bin seen.txt; echo text > plain.txt", "2": "echo more >> plain.txt" },
    });
    project.write(".gitattributes", "*.bin filter=lfs -text diff=evil merge=evil\n");
    project.write("old.bin", "pointer of something\n");
    project.commit();
    fs.appendFileSync(
      project.at(".git/config"),
      `${filterConfig(lfs.script)}\tprocess = sh '${lfs.script}' process
[diff "evil"]\n\ttextconv = sh '${lfs.script}' textconv\n\tcommand = sh '${lfs.script}' diff
[merge "evil"]\n\tdriver = sh '${lfs.script}' merge
[core]\n\tfsmonitor = sh '${lfs.script}' fsmonitor\n`,
    );
    const built = await project.build(planFile, auto, "--agent=mine");
    expect(lfs.calls()).toBe("");
    expectComplete(built);
    expect(project.read("seen.txt")).toBe("pointer of something\n");
    expect(project.read("plain.txt")).toBe("text\nmore\n");
  });

  // ── parts of a repository ────────────────────────────────────────────────────────────────────

  test("a shallow clone", async () => {
    const original = makePlanProject({ phases: two });
    original.commit("second");
    original.write("third.txt", "3\n");
    original.commit("third");
    const root = path.join(makeFolder("clones"), "shallow");
    git(path.dirname(root), `git clone --quiet --depth=1 'file://${original.root}' shallow`);
    const project = projectAt(root);
    expect(project.git("rev-parse", "--is-shallow-repository").trim()).toBe("true");
    await expectTwoCommits(project);
    expect(project.git("rev-list", "--count", "HEAD").trim()).toBe("3");
    expectSound(project);
  });

  const sparse = (): PlanProject => {
    const project = makePlanProject({
      phases: [{ id: "1" }, { id: "2", after: "1" }],
      agent: {
        // Outside of the cone: an old file, a new one; inside: the same.
        "1": "mkdir -p out in; echo 1 > out/old.txt; echo 1 > out/new.txt; echo 1 > in/old.txt; echo 1 > in/new.txt",
        "2": "echo 2 > out/new.txt; echo 2 > in/new.txt; rm -f out/gone.txt in/gone.txt",
      },
    });
    for (const side of ["in", "out"]) {
      for (const name of ["old", "gone", "same"]) project.write(`${side}/${name}.txt`, `${name}\n`);
    }
    project.commit();
    return project;
  };
  const expectBothSides = (project: PlanProject): void => {
    const files = project.git("ls-tree", "-r", "--name-only", "HEAD").split("\n");
    for (const side of ["in", "out"]) {
      expect(files).toContain(`${side}/same.txt`);
      expect(files, `${side}/gone.txt was deleted by phase 2`).not.toContain(`${side}/gone.txt`);
      expect(project.git("show", `HEAD:${side}/old.txt`)).toBe("1\n");
      expect(project.git("show", `HEAD:${side}/new.txt`)).toBe("2\n");
    }
    expect(project.read("in/new.txt")).toBe("2\n");
    expect(project.read("in/old.txt")).toBe("1\n");
    expect(project.exists("in/gone.txt")).toBe(false);
    // What the user left out stays out.
    expect(project.exists("out/same.txt")).toBe(false);
    expect(project.exists("out/old.txt")).toBe(false);
    expectSound(project);
  };

  test("a sparse checkout of some folders (a cone): what a phase does outside of it lands too", async () => {
    const project = sparse();
    project.git("sparse-checkout", "set", "--cone", "in", "docs", ".autodev");
    expect(project.exists("out")).toBe(false);
    expectComplete(await project.build(planFile, auto, "--agent=mine"));
    expectBothSides(project);
  });

  test("a sparse checkout by patterns (no cone): what a phase does outside of it lands too", async () => {
    const project = sparse();
    project.git("sparse-checkout", "set", "--no-cone", "/*", "!/out/");
    expect(project.exists("out")).toBe(false);
    expectComplete(await project.build(planFile, auto, "--agent=mine"));
    expectBothSides(project);
  });

  // ── names ────────────────────────────────────────────────────────────────────────────────────

  const names = [
    "with space.txt",
    "trailing space ",
    "-leading-dash.txt",
    "--all",
    "quote'single.txt",
    'quote"double.txt',
    "back\\slash.txt",
    "new\nline.txt",
    "tab\there.txt",
    "é-nfc.txt",
    "e\u0301-nfc.txt",
    "🚀 emoji.txt",
    "שלום-\u202eعربي.txt",
    "日本語/第一/ファイル.txt",
    ":(top)magic.txt",
    "star*[a-z]?.txt",
    "$(touch pwned)`x`;&|.txt",
    "%s%n%d.txt",
    "#hash.txt",
    "!bang.txt",
  ];

  test("a folder, with a plan and with files, of names that need quoting everywhere", async () => {
    const listed = path.join(makeFolder("names"), "list.json");
    fs.writeFileSync(listed, JSON.stringify(names));
    const make = (text: string): string =>
      `node -e 'const fs=require("fs"),p=require("path");for(const n of JSON.parse(fs.readFileSync(process.argv[1],"utf8"))){fs.mkdirSync(p.dirname("f/"+n),{recursive:true});fs.writeFileSync("f/"+n,process.argv[2])}' '${listed}' ${text}`;
    const plan = "docs/пла́н 'one' \"two\" 🚀-plan.md";
    const project = makePlanProject({
      name: `it's a "repo" 🚀 é e\u0301 שלום $(x) 100% `,
      plan,
      phases: [{ id: "1" }, { id: "2", after: "1" }, { id: "3", after: "2" }],
      agent: { "1": make("first"), "2": make("second"), "3": "rm -r f; echo x > -x" },
    });
    const base = project.commit();
    const built = await project.build(plan, auto, "--agent=mine");
    expectComplete(built);
    const [first, second, third] = built.phases.map(({ commit }) => String(commit));
    const expected = names.map((name) => `f/${name}`).sort();
    const changed = (commit: string, kind: string): string[] =>
      changesIn(project, commit)
        .filter((line) => line.startsWith(`${kind} `) && !line.endsWith("-plan.md"))
        .map((line) => line.slice(2));
    expect(changed(first as string, "A").sort()).toEqual(expected);
    expect(changed(second as string, "M").sort()).toEqual(expected);
    expect(changed(third as string, "D").sort()).toEqual(expected);
    expect(subjectsSince(project, base)).toHaveLength(3);
    expect(project.exists("f")).toBe(false);
    expect(project.read("-x")).toBe("x\n");
    expect(project.read(plan)).not.toContain("- [ ]");
    expectSound(project);
  });

  test("a folder whose name has a line break in it", async () => {
    const project = makePlanProject({ name: "two\nlines", phases: two });
    project.commit();
    await expectTwoCommits(project);
    expectSound(project);
  });

  test("message-only mode with such names: the files are there, and commits.sh commits them", async () => {
    const listed = path.join(makeFolder("names"), "list.json");
    fs.writeFileSync(listed, JSON.stringify(names));
    const make = `node -e 'const fs=require("fs"),p=require("path");for(const n of JSON.parse(fs.readFileSync(process.argv[1],"utf8"))){fs.mkdirSync(p.dirname("f/"+n),{recursive:true});fs.writeFileSync("f/"+n,"x")}' '${listed}'`;
    const project = makePlanProject({ phases: [{ id: "1" }], agent: { "1": make } });
    const base = project.commit();
    expectComplete(await project.build(planFile, "--commit=message-only", "--agent=mine"));
    expect(project.git("rev-parse", "HEAD").trim()).toBe(base);
    for (const name of names) expect(project.read(`f/${name}`)).toBe("x");
    expectSound(project, {
      status: [` M ${planFile}`, ...names.map((name) => `?? f/${name}`)].sort(byBytes),
    });
    project.sh("sh .autobuild/commits.sh");
    expect(subjectsSince(project, base)).toEqual(["feat: part 1"]);
    expectSound(project);
  });

  // ── line ends, modes, kinds ──────────────────────────────────────────────────────────────────

  for (const autocrlf of ["true", "input"]) {
    test(`core.autocrlf=${autocrlf} and eol attributes: LF in git, on disk what git would write`, async () => {
      const project = makePlanProject({
        phases: [{ id: "1" }, { id: "2", after: "1" }],
        agent: {
          "1": "printf 'a\\nb\\n' > text.txt; printf 'x\\r\\ny\\r\\n' > dos.bat; printf 'x\\ny\\n' > unix.sh; printf 'a\\r\\nb\\n' > mixed.bin",
          "2": "printf 'c\\n' >> text.txt; printf 'z\\r\\n' >> dos.bat; printf 'z\\n' >> unix.sh; printf 'more\\n' >> old.txt",
        },
      });
      project.write(
        ".gitattributes",
        "*.bat text eol=crlf\n*.sh text eol=lf\n*.bin -text\n*.txt text\n*.md text\n",
      );
      project.write("old.txt", "old\n");
      project.git("config", "core.autocrlf", autocrlf);
      project.commit();
      // As a fresh checkout under these settings has them.
      project.sh("git rm -rq --cached . && git reset -q --hard");
      const onDisk = autocrlf === "true" ? "\r\n" : "\n";
      expect(project.read(planFile).includes("\r\n")).toBe(autocrlf === "true");
      const built = await project.build(planFile, auto, "--agent=mine");
      expectComplete(built);
      expect(project.git("show", "HEAD:text.txt")).toBe("a\nb\nc\n");
      expect(project.git("show", "HEAD:dos.bat")).toBe("x\ny\nz\n");
      expect(project.git("show", "HEAD:unix.sh")).toBe("x\ny\nz\n");
      expect(project.git("show", "HEAD:mixed.bin")).toBe("a\r\nb\n");
      expect(project.git("show", "HEAD:old.txt")).toBe("old\nmore\n");
      expect(project.git("show", `HEAD:${planFile}`)).not.toContain("\r");
      expect(project.read("text.txt")).toBe(["a", "b", "c", ""].join(onDisk));
      expect(project.read("dos.bat")).toBe("x\r\ny\r\nz\r\n");
      expect(project.read("unix.sh")).toBe("x\ny\nz\n");
      expect(project.read("old.txt")).toBe(["old", "more", ""].join(onDisk));
      expect(project.read(planFile)).not.toContain("- [ ]");
      expect(project.read(planFile).includes("\r\n")).toBe(autocrlf === "true");
      expectSound(project);
    });
  }

  test("a plan that is CRLF in git itself: ticked, and CRLF still", async () => {
    const project = makePlanProject();
    project.write(planFile, planText(two).replaceAll("\n", "\r\n"));
    project.commit();
    await expectTwoCommits(project);
    const plan = project.read(planFile);
    expect(plan).not.toContain("- [ ]");
    expect(plan).not.toMatch(/[^\r]\n/);
    expect(project.git("show", `HEAD:${planFile}`)).toBe(plan);
    expectSound(project);
  });

  test("core.fileMode=false: modes in git stay, whatever the disk says", async () => {
    const project = makePlanProject({
      phases: [{ id: "1" }],
      agent: { "1": "echo more >> run.sh; echo more >> plain.txt; echo new > new.txt" },
    });
    project.write("run.sh", "#!/bin/sh\n");
    project.write("plain.txt", "plain\n");
    fs.chmodSync(project.at("run.sh"), 0o755);
    project.commit();
    project.git("config", "core.fileMode", "false");
    fs.chmodSync(project.at("run.sh"), 0o644);
    fs.chmodSync(project.at("plain.txt"), 0o755);
    expectComplete(await project.build(planFile, auto, "--agent=mine"));
    const modes = project.git("ls-tree", "HEAD", "run.sh", "plain.txt", "new.txt");
    expect(modes.match(/^\d+/gm)).toEqual(["100644", "100644", "100755"]);
    expect(project.read("plain.txt")).toBe("plain\nmore\n");
    expectSound(project);
  });

  const kinds = {
    phases: [{ id: "1" }, { id: "2", after: "1" }, { id: "3", after: "2" }],
    agent: {
      "1": "chmod +x was-plain.sh; chmod -x was-exec.sh; ln -s target.txt new-link; rm old-link; ln -s elsewhere new-dangling; rm becomes-link; ln -s target.txt becomes-link; rm becomes-file; echo file > becomes-file; rm moves-link; ln -s second moves-link",
      "2": "rm f; mkdir f; echo in > f/in.txt; echo deep > f/deep.txt; rm -r d; echo now-a-file > d; git mv -f Readme-Case.txt README-CASE.txt; mkdir a; echo n > a/n; rm e/deep/er/x; ",
      "3": "rm -r f; echo again > f; rm d; mkdir -p d/x; echo d > d/x/y; rm new-link; mkdir new-link; echo t > new-link/t; chmod +x f",
    },
  };
  const makeKinds = (): PlanProject => {
    const project = makePlanProject(kinds);
    for (const name of [
      "was-plain.sh",
      "was-exec.sh",
      "target.txt",
      "becomes-link",
      "f",
      "d/one",
      "d/two/three",
      "Readme-Case.txt",
      "e/deep/er/x",
    ]) {
      project.write(name, `${name}\n`);
    }
    fs.chmodSync(project.at("was-exec.sh"), 0o755);
    project.sh("ln -s target.txt old-link; ln -s target.txt becomes-file; ln -s first moves-link");
    return project;
  };
  const expectKinds = (project: PlanProject): void => {
    const kind = (file: string): string => {
      const stat = fs.lstatSync(project.at(file), { throwIfNoEntry: false });
      if (!stat) return "absent";
      if (stat.isSymbolicLink()) return `-> ${fs.readlinkSync(project.at(file))}`;
      return stat.isDirectory()
        ? "folder"
        : `${stat.mode & 0o111 ? "exec" : "plain"} ${project.read(file).trim()}`;
    };
    const found = Object.fromEntries(
      [
        "was-plain.sh",
        "was-exec.sh",
        "old-link",
        "new-dangling",
        "becomes-link",
        "becomes-file",
        "moves-link",
        "target.txt",
        "f",
        "d",
        "d/x/y",
        "d/one",
        "new-link/t",
        "Readme-Case.txt",
        "README-CASE.txt",
        "a/n",
        "e",
      ].map((file) => [file, kind(file)]),
    );
    expect(found).toEqual({
      "was-plain.sh": "exec was-plain.sh",
      "was-exec.sh": "plain was-exec.sh",
      "old-link": "absent",
      "new-dangling": "-> elsewhere",
      "becomes-link": "-> target.txt",
      "becomes-file": "plain file",
      "moves-link": "-> second",
      "target.txt": "plain target.txt",
      f: "exec again",
      d: "folder",
      "d/x/y": "plain d",
      "d/one": "absent",
      "new-link/t": "plain t",
      "Readme-Case.txt": "absent",
      "README-CASE.txt": "plain Readme-Case.txt",
      "a/n": "plain n",
      e: "absent",
    });
  };

  for (const mode of ["auto", "message-only", "single"]) {
    test(`executable bits, links, files that become folders, and back; commit mode ${mode}`, async () => {
      const project = makeKinds();
      const base = project.commit();
      expectComplete(await project.build(planFile, `--commit=${mode}`, "--agent=mine"));
      expectKinds(project);
      if (mode === "message-only") {
        expect(project.git("rev-parse", "HEAD").trim()).toBe(base);
        project.sh("sh .autobuild/commits.sh");
      }
      expect(subjectsSince(project, base)).toHaveLength(mode === "single" ? 1 : 3);
      const landed = project
        .sh("git for-each-ref --format='%(refname)' 'refs/autobuild/r*/landed'")
        .trim();
      expect(project.git("rev-parse", "HEAD^{tree}")).toBe(
        project.git("rev-parse", `${landed}^{tree}`),
      );
      expectSound(project);
      expectKinds(project);
    });
  }

  // ── heads, refs, formats of git ──────────────────────────────────────────────────────────────

  test("a detached HEAD: it moves, and no branch does", async () => {
    const project = makePlanProject({ phases: two });
    const base = project.commit();
    project.sh("git checkout --quiet --detach");
    await expectTwoCommits(project);
    expect(project.git("rev-parse", "main").trim()).toBe(base);
    expect(() => project.git("symbolic-ref", "--quiet", "HEAD")).toThrow();
    expectSound(project);
  });

  for (const mode of ["auto", "message-only", "single"]) {
    test(`a repository with sha256 names, commit mode ${mode}`, async () => {
      const root = makeFolder("sha256");
      git(root, "git init --quiet --initial-branch=main --object-format=sha256");
      const project = makePlanProject({
        root,
        phases: [{ id: "1" }, { id: "2" }],
        agent: {
          "1": "echo one > one.txt; rm gone.txt",
          "2": "echo two > two.txt; chmod +x two.txt",
        },
      });
      project.write("gone.txt", "gone\n");
      const base = project.commit();
      expect(base).toHaveLength(64);
      expectComplete(await project.build(planFile, `--commit=${mode}`, "--agent=mine"));
      expect(project.read("one.txt")).toBe("one\n");
      expect(project.exists("gone.txt")).toBe(false);
      if (mode === "message-only") project.sh("sh .autobuild/commits.sh");
      expect(subjectsSince(project, base)).toHaveLength(mode === "single" ? 1 : 2);
      expectSound(project);
    });
  }

  test("a repository whose refs are packed, before and in the middle of a run", async () => {
    const project = makePlanProject({
      phases: [{ id: "1" }, { id: "2", after: "1" }],
      agent: {
        "1": "echo one > one.txt",
        // The first time, the agent is the user who runs git gc and then pulls the plug.
        "2": `echo two > two.txt; git pack-refs --all; if [ "$AUTODEV_ATTEMPT" = 1 ]; then touch "$KILL_ME"; sleep 60; fi`,
      },
    });
    const base = project.commit();
    project.sh("git tag v1 && git branch other && git pack-refs --all");
    await project.killedBuild(planFile, auto, "--agent=mine");
    expect(project.git("rev-parse", "HEAD^").trim()).toBe(base);
    expectComplete(await project.build(planFile, auto, "--agent=mine"));
    expect(subjectsSince(project, base)).toEqual(["feat: part 1", "feat: part 2"]);
    expect(project.read("two.txt")).toBe("two\n");
    expect(project.git("rev-parse", "v1", "other").trim().split("\n")).toEqual([base, base]);
    expectSound(project);
  });

  test("a repository in which git knows no user", async () => {
    const project = makePlanProject({ phases: two });
    project.commit();
    const nobody = {
      ...project.env,
      GIT_AUTHOR_NAME: "",
      GIT_AUTHOR_EMAIL: "",
      GIT_COMMITTER_NAME: "",
      GIT_COMMITTER_EMAIL: "",
      EMAIL: "",
    };
    const project2 = projectAt(project.root, nobody);
    await expectTwoCommits(project2);
    expect(project.git("log", "-1", "--format=%an <%ae>")).not.toMatch(/^ ?<>/);
    expectSound(project);
  });

  test("a repository that wants every commit signed, by a program that hangs: it is never started", async () => {
    const project = makePlanProject({ phases: two });
    project.commit();
    const folder = makeFolder("gpg");
    const program = path.join(folder, "gpg.sh");
    fs.writeFileSync(program, `#!/bin/sh\ntouch '${folder}/started'\nsleep 600\n`, { mode: 0o755 });
    for (const [key, value] of [
      ["commit.gpgSign", "true"],
      ["tag.gpgSign", "true"],
      ["gpg.program", program],
      ["user.signingKey", "x"],
      ["log.showSignature", "true"],
    ] as const) {
      project.git("config", key, value);
    }
    await expectTwoCommits(project);
    expect(fs.existsSync(path.join(folder, "started"))).toBe(false);
    project.git("config", "log.showSignature", "false");
    expectSound(project);
  });

  for (const where of [".git/hooks", "core.hooksPath"]) {
    test(`a repository with hooks in ${where}: no git call of ours runs one`, async () => {
      const project = makePlanProject({ phases: two });
      project.write(".autodev/config.yaml", "gates: { test: 'true', hooks: false }\n");
      project.commit();
      const folder = where === ".git/hooks" ? project.at(".git/hooks") : makeFolder("hooks");
      const ran = path.join(makeFolder("ran"), "ran");
      fs.mkdirSync(folder, { recursive: true });
      for (const hook of [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "post-rewrite",
        "pre-applypatch",
        "post-merge",
        "fsmonitor-watchman",
        "pre-auto-gc",
      ]) {
        fs.writeFileSync(path.join(folder, hook), `#!/bin/sh\necho ${hook} >> '${ran}'\nexit 1\n`, {
          mode: 0o755,
        });
      }
      if (where !== ".git/hooks") project.git("config", "core.hooksPath", folder);
      await expectTwoCommits(project);
      expect(fs.existsSync(ran) ? fs.readFileSync(ran, "utf8") : "").toBe("");
      fs.rmSync(folder, { recursive: true });
      expectSound(project);
    });
  }

  test("a repository of 5,000 files, of which a phase changes 1,000 and deletes 500", async () => {
    const project = makePlanProject({
      phases: [{ id: "1" }, { id: "2", after: "1" }],
      agent: {
        "1": `for d in 0 1 2 3 4 5 6 7 8 9; do (cd many/$d && ls | head -100 | xargs -I{} sh -c 'echo x >> {}' ); done`,
        "2": "rm -r many/9",
      },
    });
    for (let at = 0; at < 5000; at++) {
      const folder = project.at(`many/${at % 10}`);
      if (at < 10) fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, `f${at}`), `${at}\n`);
    }
    project.commit();
    const built = await project.build(planFile, auto, "--agent=mine");
    expectComplete(built);
    expect(changesIn(project, String(built.phases[0]?.commit))).toHaveLength(1001);
    expect(changesIn(project, String(built.phases[1]?.commit))).toHaveLength(501);
    expect(project.exists("many/9")).toBe(false);
    expectSound(project);
  });

  test("a repository whose team tracks .autobuild: no phase commits it", async () => {
    const project = makePlanProject({ phases: two });
    project.write(".autobuild/config.json", "{}\n");
    project.write(".autobuild/kept-by-the-team.txt", "ours\n");
    const base = project.commit();
    await expectTwoCommits(project);
    expect(project.git("diff", "--name-only", base, "HEAD", "--", ".autobuild")).toBe("");
    expect(project.read(".autobuild/kept-by-the-team.txt")).toBe("ours\n");
    expectSound(project, { status: [" M .autobuild/config.json"] });
  });

  // ── where the plan lies ──────────────────────────────────────────────────────────────────────

  const expectTicked = (text: string): void => {
    expect(text).not.toContain("- [ ]");
    expect(text).not.toContain("⬜");
  };

  test("a repository whose plan is not tracked yet: it lands with the first phase, ticked", async () => {
    const project = makePlanProject();
    const base = project.commit();
    project.write(planFile, planText(two));
    await expectTwoCommits(project);
    expectTicked(project.read(planFile));
    expect(project.git("show", `HEAD:${planFile}`)).toBe(project.read(planFile));
    expect(subjectsSince(project, base)).toHaveLength(2);
    expectSound(project);
  });

  test("a repository that ignores its plan: it is ticked where it is, and never committed", async () => {
    const project = makePlanProject();
    project.write(".gitignore", "docs/\n");
    project.commit();
    project.write(planFile, planText(two));
    await expectTwoCommits(project);
    expectTicked(project.read(planFile));
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("plan.md");
    expectSound(project);
  });

  test("a repository whose plan lies outside of it: it is ticked there", async () => {
    const project = makePlanProject();
    project.commit();
    const plan = path.join(makeFolder("else where"), "my-plan.md");
    fs.writeFileSync(plan, planText(two));
    await expectTwoCommits(project, plan);
    expectTicked(fs.readFileSync(plan, "utf8"));
    expect(fs.readdirSync(path.dirname(plan))).toEqual(["my-plan.md"]);
    expectSound(project);
  });

  test("a plan in two files: each has its own ticks", async () => {
    const project = makePlanProject();
    const [first, second] = planText(two).split("\n### Phase 2");
    project.write("docs/x-plan-1.md", `${first}\n`);
    project.write("docs/x-plan-2.md", `# Part two\n\n### Phase 2${second}`);
    project.commit();
    await expectTwoCommits(project, "docs/x-plan-1.md");
    expectTicked(project.read("docs/x-plan-1.md"));
    expectTicked(project.read("docs/x-plan-2.md"));
    expectSound(project);
  });

  test("a spec-kit tasks.md, done by an agent of the user's", async () => {
    const project = makePlanProject({
      agent: { "*": 'echo "$AUTODEV_PHASE" >> done.txt' },
    });
    const file = "specs/001-feature/tasks.md";
    project.write(
      file,
      `# Tasks: Feature

## Phase 1: Setup (Shared Infrastructure)

- [ ] T001 Create project structure
- [ ] T002 [P] Configure linting

## Phase 2: Foundational

- [ ] T003 Set up the database schema in src/db.ts

## Phase 3: User Story 1 - Login (Priority: P1)

- [ ] T004 [P] [US1] Create the model in src/models/user.py
- [ ] T005 [US1] Implement the service in src/services/user.py
`,
    );
    const base = project.commit();
    const built = await project.build(file, auto, "--agent=mine", "--jobs=1");
    expectComplete(built);
    expect(subjectsSince(project, base)).toHaveLength(built.phases.length);
    expect(built.phases.length).toBeGreaterThanOrEqual(3);
    expect(project.read(file)).not.toContain("- [ ]");
    expect(project.read(file).match(/- \[[xX]\] T00\d/g)).toHaveLength(5);
    expectSound(project);
  });
});

const withoutGit = (project: PlanProject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pictureOf(project.root)).filter(([file]) => !/^\.git(?:\/|$)/.test(file)),
  );

const byBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a.slice(3)), Buffer.from(b.slice(3)));
