import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ended, exec, mintTrusted } from "../exec.ts";
import { openGit } from "../git/call.ts";
import { removeFolder } from "../git/worktrees.ts";
import {
  type CheckoutSite,
  type CheckoutSubject,
  type CleanCheckout,
  cleanCheckout,
  configText,
  dependencyFolder,
  environmentIn,
  removeCheckouts,
} from "./clean-checkout.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-checkout-")));
afterAll(() => removeFolder(scratch));

let root: string;
let checks: string;
let counter = 0;
let notices: string[];

beforeEach(() => {
  counter++;
  root = path.join(scratch, `${counter}`, "project");
  checks = path.join(scratch, `${counter}`, "cache", "checks");
  fs.mkdirSync(root, { recursive: true });
  notices = [];
  git("init", "--quiet", "--initial-branch=main");
  write({
    "a.txt": "one\n",
    "src/b.txt": "two\n",
    "run.sh": "#!/bin/sh\n",
    ".gitignore": "*.log\n.env*\n",
  });
  fs.chmodSync(path.join(root, "run.sh"), 0o755);
});

const git = (...args: string[]): string =>
  execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "T",
      GIT_AUTHOR_EMAIL: "t@example.invalid",
      GIT_COMMITTER_NAME: "T",
      GIT_COMMITTER_EMAIL: "t@example.invalid",
    },
  }).trim();

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
}

function commit(files: Readonly<Record<string, string>> = {}): string {
  write(files);
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message=step");
  return git("rev-parse", "HEAD");
}

const siteOf = (more: Partial<CheckoutSite> = {}): CheckoutSite => {
  const gitDir = path.join(root, ".git");
  const never = new AbortController().signal;
  return {
    git: openGit({ gitDir, commonDir: gitDir, workTree: root }),
    folders: { attempts: path.join(root, ".autodev", "var"), checks, scratch, transcripts: "" },
    setup: undefined,
    gateMs: 60_000,
    signal: never,
    killNow: never,
    tell: (news) => "notice" in news && notices.push(news.notice),
    ...more,
  };
};

async function checkout(
  sha: string,
  more: Partial<CheckoutSite> = {},
  subject: Partial<CheckoutSubject> = {},
): Promise<CleanCheckout> {
  const made = await cleanCheckout(siteOf(more), { id: "r" }, { slot: 0, commit: sha, ...subject });
  if (!made.ok) throw new Error(made.failure.message);
  return made.value;
}

const runIn = ({ folder, env, hide, keep, layer }: CleanCheckout, line: string): Promise<Ended> =>
  exec(mintTrusted(line), { cwd: folder, env, hide, keep, ...(layer && { layer }), marker: "r" });

const said = async (place: CleanCheckout, line: string): Promise<string> => {
  const { tail, code, notStarted } = await runIn(place, line);
  return [...tail, ...(code === 0 ? [] : [`(${code}${notStarted ?? ""})`])].join("\n");
};

/** Everything in a folder but git's index: names, modes, bytes. */
function contents(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, file);
    if (name === ".git/index") continue;
    const mode = (fs.lstatSync(file).mode & 0o777).toString(8);
    found[name] = entry.isFile() ? `${mode} ${fs.readFileSync(file, "utf8")}` : mode;
  }
  return found;
}

describe("a clean checkout", () => {
  it("holds exactly the commit, with the modes that git knows", async () => {
    const first = commit();
    commit({ "a.txt": "changed\n", "new.txt": "new\n" });
    write({ "a.txt": "not committed\n", "stray.txt": "stray\n" });
    const { folder, filled } = await checkout(first);
    expect(filled).toBe("none");
    const names = Object.keys(contents(folder)).filter((each) => !/^\.git(?:\/|$)/.test(each));
    expect(names.sort()).toEqual([".gitignore", "a.txt", "run.sh", "src", "src/b.txt"]);
    expect(contents(folder)["a.txt"]).toBe("644 one\n");
    expect(contents(folder)["run.sh"]).toMatch(/^755 /);
  });

  it("is a repository in which git finds nothing to say, and history to look at", async () => {
    const first = commit();
    git("tag", "v1");
    const second = commit({ "a.txt": "changed\n" });
    const place = await checkout(second);
    expect(await said(place, "git status --porcelain")).toBe("");
    expect(await said(place, "git rev-parse HEAD main v1 && git describe --tags")).toBe(
      `${second}\n${second}\n${first}\nv1-1-g${second.slice(0, 7)}`,
    );
    expect(await said(place, "git diff --name-only v1")).toBe("a.txt");
  });

  it("keeps commands away from the user's refs, configuration and index", async () => {
    const sha = commit();
    const place = await checkout(sha);
    await runIn(
      place,
      "git config a.b c; git tag mine; git -c user.name=x -c user.email=x commit -qm x --allow-empty; git add -f .",
    );
    expect(git("tag", "--list")).toBe("");
    expect(git("rev-parse", "HEAD")).toBe(sha);
    expect(fs.readFileSync(path.join(root, ".git", "config"), "utf8")).not.toContain("[a]");
  });

  const messes: readonly (readonly [string, string])[] = [
    ["untracked, ignored and empty things", "echo x >stray; echo x >a.log; mkdir -p empty/deep"],
    [
      "a tracked file that the index is told to trust",
      "git update-index --assume-unchanged a.txt src/b.txt; git update-index --skip-worktree run.sh; t=$(stat -c %Y a.txt); echo eno >a.txt; touch -d @$t a.txt; echo x >run.sh",
    ],
    ["modes", "chmod 600 a.txt; chmod -x run.sh; chmod 777 src"],
    [
      "a nested repository",
      "git init -q nested; echo x >nested/x; mkdir src/.git; echo bad >src/.git/HEAD",
    ],
    [
      "folders that are closed to their owner",
      "mkdir -p closed/in; echo x >closed/in/x; chmod 000 closed/in closed; chmod 555 src",
    ],
    ["links in place of folders", "rm -r src; ln -s / src; ln -s / elsewhere"],
    ["links in place of files", "rm a.txt; ln -s run.sh a.txt"],
    [
      "a configuration of its own",
      "git config core.autocrlf true; git config core.sparseCheckout true; git config extensions.worktreeConfig true; git config --worktree core.fileMode false; echo '/run.sh' >.git/info/sparse-checkout; echo '*.txt text eol=crlf' >.git/info/attributes; echo stray >.git/info/exclude; echo stray >stray",
    ],
    [
      "a filter",
      "git config filter.x.smudge 'sed s/one/eno/'; git config filter.x.clean cat; echo '*.txt filter=x' >.git/info/attributes",
    ],
    [
      "hooks",
      "mkdir -p .git/hooks; printf '#!/bin/sh\\necho x >hooked\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
    ],
    ["no repository at all", "rm -rf .git; echo gitdir: /nowhere >.git"],
    ["an index of another tree", "git rm -q --cached a.txt; git add -f .; echo x >a.txt"],
  ];

  it.each(messes)("leaves nothing of %s", async (_, mess) => {
    const sha = commit();
    const clean = await checkout(sha);
    const before = contents(clean.folder);
    await runIn(clean, mess);
    const again = await checkout(sha);
    expect(contents(again.folder)).toEqual(before);
    expect(
      await said(
        again,
        "git status --porcelain --ignored; git config --get-regexp 'filter|sparse|worktree'; true",
      ),
    ).toBe("");
    expect(fs.readdirSync(checks)).toEqual(["slot-0"]);
  });

  it("is made anew where a command has put a link instead of the checkout", async () => {
    const sha = commit();
    const { folder } = await checkout(sha);
    const precious = path.join(scratch, `precious-${counter}`);
    fs.mkdirSync(precious);
    fs.writeFileSync(path.join(precious, "file"), "precious");
    await removeFolder(folder);
    fs.symlinkSync(precious, folder);
    await checkout(sha);
    expect(fs.lstatSync(folder).isDirectory()).toBe(true);
    expect(fs.readFileSync(path.join(precious, "file"), "utf8")).toBe("precious");
  });

  it("refuses to work where the folder of checkouts is a link", async () => {
    const sha = commit();
    fs.mkdirSync(path.dirname(checks), { recursive: true });
    fs.symlinkSync(root, checks);
    const made = await cleanCheckout(siteOf(), { id: "r" }, { slot: 0, commit: sha });
    expect(made).toMatchObject({ ok: false, failure: { code: "disk" } });
  });

  it("has line ends as the user's configuration wants them, and git agrees", async () => {
    git("config", "core.autocrlf", "true");
    const sha = commit();
    const place = await checkout(sha);
    expect(contents(place.folder)["a.txt"]).toBe("644 one\r\n");
    expect(await said(place, "git status --porcelain; git diff --stat")).toBe("");
  });

  it("is whole where the user's own checkout is sparse, and runs no filter of the repository's", async () => {
    commit({ "deep/in/c.txt": "three\n", ".gitattributes": "*.txt filter=evil\n" });
    git("sparse-checkout", "set", "src");
    git("config", "filter.evil.smudge", "sed s/o/0/");
    git("config", "filter.evil.required", "true");
    const { folder } = await checkout(git("rev-parse", "HEAD"));
    expect(contents(folder)).toMatchObject({
      "deep/in/c.txt": "644 three\n",
      "a.txt": "644 one\n",
    });
  });

  it("is right in a shallow clone and in a repository that borrows its objects", async () => {
    commit();
    const sha = commit({ "a.txt": "newest\n" });
    const origin = root;
    for (const how of [
      ["--depth=1", `file://${origin}`],
      ["--shared", origin],
    ]) {
      root = path.join(scratch, `${counter}`, `clone-${how[0]}`);
      execFileSync("git", ["clone", "--quiet", ...how, root], { stdio: "ignore" });
      const place = await checkout(sha);
      expect(contents(place.folder)["a.txt"]).toBe("644 newest\n");
      expect(await said(place, "git status --porcelain && git log --format=%s | head -1")).toBe(
        "step",
      );
    }
  });

  it("leaves submodules empty", async () => {
    commit();
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", root, "sub");
    const place = await checkout(commit());
    expect(fs.readdirSync(path.join(place.folder, "sub"))).toEqual([]);
    expect(await said(place, "git status --porcelain")).toBe("");
  });

  it("has one folder a slot and name", async () => {
    const [first, second] = [commit(), commit({ "a.txt": "second\n" })];
    const places = await Promise.all([
      checkout(first),
      checkout(second, {}, { slot: 1 }),
      checkout(second, {}, { name: "base" }),
    ]);
    expect(places.map(({ folder }) => contents(folder)["a.txt"])).toEqual([
      "644 one\n",
      "644 second\n",
      "644 second\n",
    ]);
    await removeCheckouts(checks);
    expect(fs.readdirSync(checks)).toEqual([]);
  });

  it("says so when the commit is not there", async () => {
    commit();
    const made = await cleanCheckout(
      siteOf(),
      { id: "r" },
      { slot: 0, commit: "0".repeat(39) + "1" },
    );
    expect(made).toMatchObject({ ok: false, failure: { code: "git" } });
  });
});

describe("files of the user's", () => {
  it("come along if they are ignored, regular and inside the repository", async () => {
    const sha = commit();
    write({ ".env.test": "SECRET=1\n", "in/.env.local": "x\n", "plain.txt": "work in progress\n" });
    fs.writeFileSync(path.join(path.dirname(root), "outside"), "outside\n");
    fs.symlinkSync("../outside", path.join(root, ".env.link"));
    const checkoutFiles = [
      ".env.test",
      "in/.env.local",
      ".env.link",
      ".env.none",
      "plain.txt",
      "../outside",
      "in",
    ];
    const { folder } = await checkout(sha, { checkoutFiles });
    expect(fs.readFileSync(path.join(folder, ".env.test"), "utf8")).toBe("SECRET=1\n");
    expect(fs.existsSync(path.join(folder, "in/.env.local"))).toBe(true);
    for (const name of [".env.link", ".env.none", "plain.txt"]) {
      expect(fs.existsSync(path.join(folder, name))).toBe(false);
    }
    expect(notices).toEqual(["plain.txt is not ignored by git: it is not copied"]);
  });

  it("never replace what is committed", async () => {
    write({ ".env.test": "committed\n" });
    git("add", "--force", ".env.test");
    const sha = commit();
    write({ ".env.test": "mine\n" });
    const { folder } = await checkout(sha, { checkoutFiles: [".env.test"] });
    expect(fs.readFileSync(path.join(folder, ".env.test"), "utf8")).toBe("committed\n");
  });
});

describe("the set-up command", () => {
  it("runs in the checkout every time if nothing is known about dependencies", async () => {
    const sha = commit();
    const setup = mintTrusted("pwd >where.log; cat a.txt >>where.log");
    const { folder, filled, setupEnded } = await checkout(sha, { setup });
    expect({ filled, setupEnded }).toEqual({ filled: "setup", setupEnded: undefined });
    expect(fs.readFileSync(path.join(folder, "where.log"), "utf8")).toBe(`${folder}\none\n`);
    expect(fs.existsSync(dependencyFolder(checks))).toBe(false);
  });

  it("tells how it ended if that was not well", async () => {
    const sha = commit();
    const { setupEnded } = await checkout(sha, { setup: mintTrusted("echo no; exit 3") });
    expect(setupEnded).toMatchObject({ code: 3, tail: ["no"] });
  });

  it("tells that it was stopped", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    const { setupEnded } = await checkout(commit(), {
      setup: mintTrusted("sleep 20"),
      signal: stop.signal,
    });
    expect(setupEnded?.aborted).toBe(true);
  });
});

describe("the environment", () => {
  const moved = (env: Record<string, string>): Record<string, string | undefined> =>
    environmentIn("/cache/slot-0", ["/home/user/project", "/link"], env);

  it.each([
    [
      "PATH",
      "/home/user/project/node_modules/.bin:/usr/bin:/link/bin",
      "/cache/slot-0/node_modules/.bin:/usr/bin:/cache/slot-0/bin",
    ],
    ["VIRTUAL_ENV", "/home/user/project/.venv", "/cache/slot-0/.venv"],
    [
      "NODE_OPTIONS",
      "--require=/home/user/project/a.js --import file:///home/user/project/b.js",
      "--require=/cache/slot-0/a.js --import file:///cache/slot-0/b.js",
    ],
    ["GOFLAGS", "-modfile=/home/user/project/go.mod,x", "-modfile=/cache/slot-0/go.mod,x"],
    ["ANY", "/home/user/project", "/cache/slot-0"],
  ])("leads %s into the checkout", (name, value, expected) => {
    expect(moved({ [name]: value })).toEqual({ [name]: expected });
  });

  it("leaves alone what only looks like the repository", () => {
    expect(
      moved({ A: "/home/user/project-2/bin", B: "/other/home/user/project", C: "/linked" }),
    ).toEqual({});
  });

  it("takes away what package managers and test runners tell their children", () => {
    const names = [
      "INIT_CWD",
      "npm_package_name",
      "npm_lifecycle_event",
      "npm_config_local_prefix",
      "NODE_TEST_CONTEXT",
      "VITEST",
      "VITEST_POOL_ID",
      "PYTEST_CURRENT_TEST",
    ];
    const env = Object.fromEntries(names.map((name) => [name, "x"]));
    expect(moved(env)).toEqual(Object.fromEntries(names.map((name) => [name, undefined])));
    expect(moved({ npm_config_registry: "x", PYTEST_ADDOPTS: "-q" })).toEqual({});
  });

  it("names the checkout as the place where one is", async () => {
    const place = await checkout(commit());
    expect(await said(place, "echo $PWD; echo ${OLDPWD-none}")).toBe(`${place.folder}\nnone`);
  });
});

describe("the user's working copy", () => {
  afterEach(() => {
    delete process.env["AUTODEV_NO_NAMESPACE"];
  });

  it("cannot be seen or written; git works all the same", async () => {
    const sha = commit();
    write({ ".autodev/var/attempt/a.txt": "an agent's\n" });
    const place = await checkout(sha);
    expect(await said(place, `ls -A ${root}; git log --format=%s; git status --porcelain`)).toBe(
      ".git\nstep",
    );
    expect((await runIn(place, `echo x >${root}/a.txt`)).code).not.toBe(0);
    expect((await runIn(place, `echo x >${root}/.git/objects/x`)).code).not.toBe(0);
    expect(fs.readFileSync(path.join(root, "a.txt"), "utf8")).toBe("one\n");
  });

  it("can be seen where there are no namespaces; git works there too", async () => {
    process.env["AUTODEV_NO_NAMESPACE"] = "1";
    const place = await checkout(commit());
    expect(await said(place, "git log --format=%s; git status --porcelain")).toBe("step");
    expect(await said(place, `cat ${root}/a.txt`)).toBe("one");
  });

  it("is not hidden if it is the user's whole home", async () => {
    const { HOME } = process.env;
    process.env["HOME"] = path.join(root, "home");
    try {
      expect((await checkout(commit())).hide).not.toContain(root);
    } finally {
      process.env["HOME"] = HOME;
    }
  });
});

it("writes configuration as git reads it", () => {
  const file = path.join(scratch, "written.config");
  const settings = [
    ["core.eol", "lf"],
    ['remote.or"ig\\in.x.url', 'a "quoted" \\ value # ; \nsecond line'],
  ] as const;
  fs.writeFileSync(file, configText(settings));
  const read = execFileSync("git", ["config", "--file", file, "--null", "--list"], {
    encoding: "utf8",
  });
  expect(read.split("\0").filter(Boolean)).toEqual(
    settings.map(([key, value]) => `${key}\n${value}`),
  );
});
