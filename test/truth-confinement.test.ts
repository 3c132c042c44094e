/** What an agent can write, and what it cannot: not the user's files, not our memory, not the gates. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { build, config as buildConfig, makeBuildRepo, vaguePhase } from "./build-rig.ts";
import { type Built, expectComplete, projectAt } from "./plan-project.ts";
import { giveToNobody, makeFolder, makeRepo, plainEnvironment } from "./rig.ts";
import { byAgent, makeTested, type PlanProject, type TestedShape, testsOf } from "./truth-rig.ts";

/** Mounts of one's own: not every machine has them, and not for everybody. */
const can = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const canEnclose = can("unshare", process.getuid?.() === 0 ? "-m" : "-Urm", "true");
const drop = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const canEncloseNobody = can("setpriv", ...drop, "unshare", "-Urm", "true");

const finishing = "finish\n";

type Tries = Readonly<Record<string, string>>;

const forbidden: Tries = {
  "a file of the user's": 'echo x >> "$USER_ROOT/mine.txt"',
  "a new file beside it": 'echo x > "$USER_ROOT/new.txt"',
  "a file removed": 'rm -f "$USER_ROOT/mine.txt"',
  ".autobuild": 'mkdir -p "$USER_ROOT/.autobuild/logs" && echo x > "$USER_ROOT/.autobuild/logs/x"',
  ".autodev": 'echo x >> "$USER_ROOT/.autodev/config.yaml"',
  "the work trees' folder": 'echo x > "$USER_ROOT/.autodev/var/x"',
  "our memory": 'echo x > "$COMMON/autodev/x"',
  hooks: 'echo x > "$COMMON/hooks/pre-commit"',
  config: "git config user.name Mallory",
  "config by its name": 'cp "$COMMON/config" "$COMMON/c2" && mv -f "$COMMON/c2" "$COMMON/config"',
  attributes: 'echo x > "$COMMON/info/attributes"',
  "the user's index": 'git -C "$USER_ROOT" add --all',
  "the user's branch": 'git -C "$USER_ROOT" checkout -q -b other',
  "a branch of the user's, in the user's name":
    'GIT_COMMITTER_EMAIL=tester@example.invalid git update-ref "$(git -C "$USER_ROOT" symbolic-ref HEAD)" $(git commit-tree -m x -p HEAD HEAD^{tree})',
  "what has landed": "git update-ref refs/autobuild/x HEAD",
  trust: 'echo x > "$XDG_CONFIG_HOME/autodev/trust/x"',
  "trust by its name": 'mv "$XDG_CONFIG_HOME/autodev" "$XDG_CONFIG_HOME/moved"',
  checkouts: 'echo x > "$XDG_CACHE_HOME/autodev/checks/x"',
  "checkouts by their name": 'mv "$XDG_CACHE_HOME/autodev" "$XDG_CACHE_HOME/moved"',
  "a way around": 'umount "$USER_ROOT" || mount -o remount,bind,rw "$USER_ROOT"',
};

const allowed: Tries = {
  "its work tree": "echo part > part.txt",
  commit: "git add part.txt && git commit -qm wip",
  stash: "echo more >> part.txt && git stash -q && git stash pop -q",
  branch: "git branch mine && git branch -D mine",
  install: "mkdir -p node_modules/x && echo 1 > node_modules/x/i.js && rm -r node_modules",
  "temporary files": 'f=$(mktemp /tmp/autodev-truth-XXXXXX) && echo x > "$f" && rm "$f"',
  home: 'echo x > "$HOME/x"',
};

const answers = (tries: Tries, is: string): Record<string, string> =>
  Object.fromEntries(Object.keys(tries).map((name) => [name, is]));

/** Tries each, and leaves word in its home of what could be done. */
function makeTrier(shape: TestedShape & { readonly tries: Tries }): PlanProject {
  const file = path.join(makeFolder("tries"), "tries.sh");
  const own = makeFolder("own");
  const project = makeTested({
    confined: true,
    phases: [{ id: "1" }],
    config: "gates: { test: 'true' }\n",
    files: { "mine.txt": "mine\n" },
    agent: { "1": `. ${file}` },
    ...shape,
    env: {
      ...shape.env,
      XDG_CONFIG_HOME: path.join(own, "config"),
      XDG_CACHE_HOME: path.join(own, "cache"),
    },
  });
  fs.writeFileSync(file, scriptOf(project.root, shape.tries));
  return project;
}

const scriptOf = (root: string, tries: Tries): string =>
  [
    `USER_ROOT='${root.replaceAll("'", "'\\''")}'; COMMON=$(git rev-parse --git-common-dir)`,
    ...Object.entries(tries).map(
      ([name, script]) =>
        `if (${script}) >/dev/null 2>&1; then echo "${name}: yes"; else echo "${name}: no"; fi >> "$HOME/told"`,
    ),
    "",
  ].join("\n");

const toldBy = ({ home }: PlanProject): Record<string, string> => toldIn(home);

const toldIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    fs
      .readFileSync(path.join(folder, "told"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(": ") as [string, string]),
  );

function expectShutIn(project: PlanProject, built: Built, more: Tries = {}): void {
  expect(toldBy(project), built.ran.all).toEqual({
    ...answers({ ...forbidden, ...more }, "no"),
    ...answers(allowed, "yes"),
  });
  expectComplete(built);
  expect(project.read("mine.txt")).toBe("mine\n");
  expect(project.read("part.txt")).toBe("part\nmore\n");
}

const canWrap = can("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "true");
/** By what it is shut in: namespaces of our own, or bubblewrap where we have none. */
const means = [
  ["namespaces", {}, canEnclose],
  ["bubblewrap (if it is there)", { AUTODEV_NO_NAMESPACE: "own" }, canWrap],
] as const;

describe.each(means)(
  "an agent that is shut in by %s can do its work, and touch nothing else",
  (_, env, isThere) => {
    const tries = { ...forbidden, ...allowed };
    beforeEach(({ skip }) => skip(!isThere, "not on this machine"));

    it("in one with blanks, quotes and a line break in its path", async () => {
      const project = makeTrier({ tries, name: `a "project" of\nit's  own`, env });
      expectShutIn(project, await project.build(...byAgent));
    });

    it("in a linked work tree", async () => {
      const main = makeRepo();
      const linked = path.join(makeFolder("trees"), "linked");
      main.git("worktree", "add", "--quiet", "-b", "side", linked);
      const beside = {
        "the main tree": `echo x >> '${main.root}/README.md'`,
        "the main tree's branch": `git -C '${main.root}' checkout -q -b other`,
      };
      const project = makeTrier({ tries: { ...tries, ...beside }, root: linked, env });
      expectShutIn(project, await project.build(...byAgent), beside);
    });
  },
);

const canWrapNobody = can("setpriv", ...drop, "bwrap", "--dev-bind", "/", "/", "true");

it.each([
  ["namespaces", {}, canEncloseNobody],
  ["bubblewrap (if it is there)", { AUTODEV_NO_NAMESPACE: "own" }, canWrapNobody],
] as const)(
  "an agent of a user without privileges is shut in by %s as well",
  async (_, env, isThere) => {
    if (!isThere) return;
    const mailbox = makeFolder("mailbox");
    giveToNobody(mailbox);
    const settings = buildConfig.replace("    confined: false\n", "");
    const repo = makeBuildRepo(vaguePhase, {
      ".autodev/config.yaml": settings,
      "mine.txt": "mine\n",
    });
    giveToNobody(repo.root);
    const tries = {
      "a file of the user's": forbidden["a file of the user's"] ?? "",
      ".autodev": forbidden[".autodev"] ?? "",
      hooks: forbidden["hooks"] ?? "",
      config: forbidden["config"] ?? "",
      "a way around": forbidden["a way around"] ?? "",
    };
    const agent = `HOME=${mailbox}; ${scriptOf(repo.root, { ...tries, ...allowed })}${finishing}`;
    const ran = await build(repo, ["--agent=mine"], { agent, asNobody: true, env });
    expect(ran.code, ran.all).toBe(0);
    expect(toldIn(mailbox)).toEqual({ ...answers(tries, "no"), ...answers(allowed, "yes") });
    expect(repo.read("part.txt")).toBe("part\nmore\n");
  },
);

describe("an agent that breaks the code is not believed, though it has edited", () => {
  const breaks = "sed -i 's/a + b/a - b/' sum.js\n";
  const manifest = JSON.stringify({
    name: "p",
    version: "1.0.0",
    scripts: { test: "node --test" },
  });
  const tricks: Readonly<Record<string, string>> = {
    "settings at home": `cat > "$HOME/sh" <<'END'
#!/bin/sh
for line in "tests 1" "suites 0" "pass 1" "fail 0" "cancelled 0" "skipped 0" "todo 0" "duration_ms 5"; do
  echo "# $line"
done
END
      chmod +x "$HOME/sh"; echo "script-shell=$HOME/sh" > "$HOME/.npmrc" || true`,
  };
  for (const [name, trick] of Object.entries(tricks)) {
    it(name, async () => {
      const project = makeTested({
        confined: true,
        phases: [{ id: "1" }],
        config: "build: { attempts: 1 }\n",
        files: { "package.json": manifest, "a.test.js": testsOf("adds") },
        agent: { "1": `${breaks}${trick}` },
      });
      const built = await project.build(...byAgent);
      expect(built.phases[0]?.status, built.ran.all).toBe("failed");
      expect(built.ran.code).toBe(4);
    });
  }
});

it("an agent that a project does not shut in can write the user's files", async () => {
  const tries = { "a file of the user's": forbidden["a file of the user's"] ?? "", ...allowed };
  const project = makeTrier({ tries, confined: false });
  expectComplete(await project.build(...byAgent));
  expect(toldBy(project)).toEqual(answers(tries, "yes"));
  expect(project.read("mine.txt")).toBe("mine\nx\n");
});

describe("where nothing can be shut in", () => {
  it("the work is done all the same", async () => {
    const project = makeTrier({ tries: allowed });
    const bare = { ...projectAt(project.root, { ...project.env, AUTODEV_NO_NAMESPACE: "1" }) };
    const built = await bare.build(...byAgent);
    expectComplete(built);
    expect(project.read("part.txt")).toBe("part\nmore\n");
  });

  it("a repository that is somebody's home can be worked in", async () => {
    const project = makeTrier({ tries: allowed });
    const atHome = projectAt(project.root, { ...project.env, HOME: project.root });
    expectComplete(await atHome.build(...byAgent));
    expect(plainEnvironment["HOME"]).not.toBe(project.root);
  });
});
