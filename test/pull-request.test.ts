/** `autodev build --pr`, against a real bare repository and a scripted GitHub on loopback. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  arrived,
  build,
  expectComplete,
  expectSchema,
  makeBuildRepo,
  makeMailbox,
  planOf,
  spelled,
  startTrusted,
  twoPhases,
  working,
} from "./build-rig.ts";
import { type GitHubServer, startGitHub } from "./github-server.ts";
import {
  autodevIn,
  errorOf,
  expectNoCrash,
  gitIn,
  makeFolder,
  type Ran,
  type Repo,
} from "./rig.ts";

const token = "ghs_nobodymayseethisnobodymay";
const branch = "autodev/feature-plan";

let server: GitHubServer;
beforeEach(async () => {
  server = await startGitHub();
});
afterEach(() => server.close());

interface Site {
  readonly repo: Repo;
  readonly bare: string;
  readonly at: ReturnType<typeof gitIn>;
  readonly env: Record<string, string>;
  pr(...args: string[]): Promise<Ran>;
}

function makeSite(text = twoPhases): Site {
  const repo = makeBuildRepo(text);
  const bare = makeFolder("remote.git");
  const at = gitIn(bare);
  at("init", "--quiet", "--bare", "--initial-branch=main", "--template=");
  repo.git("remote", "add", "origin", bare);
  repo.git("push", "--quiet", "origin", "main");
  const env = { GITHUB_TOKEN: token, GITHUB_REPOSITORY: "o/r", GITHUB_API_URL: server.api };
  server.tip = (name) => {
    const { stdout } = spawnSync("git", ["rev-parse", "--verify", "--quiet", name], {
      cwd: bare,
      encoding: "utf8",
    });
    return stdout.trim();
  };
  return { repo, bare, at, env, pr: (...args) => build(repo, ["--pr", ...args], { env }) };
}

const log = (at: Site["at"], ref: string): string[] =>
  at("log", "--format=%s", ref, "--").trim().split("\n");

describe("a complete run", () => {
  it("is pushed to a branch of its own and has one pull request, however often it is run", async () => {
    const { repo, at, pr } = makeSite();
    const head = repo.git("rev-parse", "HEAD");
    const first = await pr();
    expectComplete(first);
    expect(first.err).toContain(`pull request 1 (${branch} → main) is opened`);
    expect(repo.git("rev-parse", "HEAD")).toBe(head);
    expect(log(at, branch)).toEqual(["feat: part 2", "feat: part 1", "plan", "first"]);
    expect(at("ls-tree", "-r", "--name-only", branch)).not.toContain(".autobuild");
    const [pull] = server.pulls;
    expect(pull).toMatchObject({ title: "A feature", base: { ref: "main" } });
    expect(pull?.body).toContain("2 of 2 phases complete");
    expect(pull?.body).toMatch(/autodev audit [0-9a-f]{40}\.\.[0-9a-f]{40} --no-gates/);

    const again = await pr("--json");
    expectComplete(again);
    const summary = JSON.parse(again.out.trim().split("\n").at(-1) ?? "");
    expectSchema(summary, "build");
    expect(summary.pullRequest).toEqual({
      number: 1,
      url: "https://github.example/o/r/pull/1",
      is: "unchanged",
    });
    expect(server.pulls).toHaveLength(1);
    expect(server.calls.filter(({ what }) => what.startsWith("POST"))).toHaveLength(1);
  });

  it("can be audited in another clone: its receipts travel with it", async () => {
    const { bare, pr } = makeSite();
    expectComplete(await pr());
    const clone = makeFolder("clone");
    gitIn(path.dirname(clone))("clone", "--quiet", bare, clone);
    const git = gitIn(clone);
    git("fetch", "--quiet", "origin", "refs/autobuild/evidence/*:refs/autobuild/evidence/*");
    const range = /autodev audit (\S+) --no-gates/.exec(server.pulls[0]?.body ?? "")?.[1] ?? "";
    const audited = await autodevIn({ cwd: clone }, "audit", range, "--no-gates");
    expect(audited.code, audited.all).toBe(0);
  });

  it("of one commit is pushed as that one", async () => {
    const { at, pr } = makeSite();
    expectComplete(await pr("--commit=single"));
    expect(log(at, branch)).toEqual(["feat: A feature", "plan", "first"]);
  });

  it("goes to the branch and into the branch that one names", async () => {
    const { at, repo, pr } = makeSite();
    repo.git("push", "--quiet", "origin", "main:next");
    expectComplete(await pr("--branch", "feature/x", "--into", "next"));
    expect(log(at, "feature/x")[0]).toBe("feat: part 2");
    expect(server.pulls[0]).toMatchObject({ head: { ref: "feature/x" }, base: { ref: "next" } });
  });

  it("that was built before, without a word of pull requests, gets one later", async () => {
    const { repo, at, pr } = makeSite();
    expectComplete(await build(repo));
    expectComplete(await pr());
    expect(log(at, branch)[0]).toBe("feat: part 2");
    expect(log(at, "main")).toEqual(["plan", "first"]);
  });

  it("says honestly what no gate has seen", async () => {
    const { repo, env } = makeSite();
    repo.write(".autodev/config.yaml", "agents:\n  mine:\n    command: 'true'\n");
    repo.git("commit", "--quiet", "--all", "--message=no gates");
    repo.git("push", "--quiet", "origin", "main");
    expectComplete(await build(repo, ["--pr", "--decide", "recommended"], { env }));
    expect(server.pulls[0]?.body).toMatch(/\*\*unverified\*\*/);
    expect(server.pulls[0]?.body).toMatch(/Not verified/);
  });

  it("with names that would call people or close issues does neither", async () => {
    const name = "fixes #1 @team <b> closes https";
    const { pr } = makeSite(planOf([{ ...spelled("1"), name }]));
    expectComplete(await pr());
    const body = server.pulls[0]?.body ?? "";
    expect(body).not.toMatch(/@team|#1|<b>/);
    expect(body).toContain("&#64;team");
  });
});

describe("wherever it is killed", () => {
  it.each([
    ["GET /repos/o/r", "before"],
    ["GET /repos/o/r/pulls", "before"],
    ["POST /repos/o/r/pulls", "before"],
    ["POST /repos/o/r/pulls", "after"],
  ] as const)("at %s, %s it is done, the next run ends with one", async (what, when) => {
    const { repo, at, env, pr } = makeSite();
    const underway = await startTrusted(repo, ["--pr"], { env });
    let killed = false;
    server.seen = (seen, at) => {
      if (killed || seen !== what || at !== when) return;
      killed = true;
      underway.kill("SIGKILL");
    };
    expect((await underway.ended).signal).toBe("SIGKILL");
    expectComplete(await pr());
    expect(server.pulls.map(({ state }) => state)).toEqual(["open"]);
    expect(log(at, branch)).toHaveLength(4);
  });

  it.each(["pre-receive", "post-receive"])("while it is pushed (%s), too", async (hook) => {
    const { repo, bare, at, env, pr } = makeSite();
    const mailbox = makeMailbox();
    fs.mkdirSync(path.join(bare, "hooks"), { recursive: true });
    fs.writeFileSync(
      path.join(bare, "hooks", hook),
      `#!/bin/sh\n[ -e "${mailbox}/was" ] || { touch "${mailbox}/was"; sleep 1; }\n`,
      { mode: 0o755 },
    );
    const underway = await startTrusted(repo, ["--pr"], { env });
    await arrived(mailbox, "was");
    underway.kill("SIGKILL");
    await underway.ended;
    expectComplete(await pr());
    expect(server.pulls).toHaveLength(1);
    expect(log(at, branch)).toHaveLength(4);
  });
});

describe("a remote", () => {
  it("that holds other commits there is left as it is", async () => {
    const { repo, at, pr } = makeSite();
    repo.git("checkout", "--quiet", "--orphan", "other");
    repo.git("commit", "--quiet", "--message=other");
    repo.git("push", "--quiet", "origin", `other:${branch}`);
    repo.git("checkout", "--quiet", "main");
    const refused = await pr("--json");
    expect(refused.code).toBe(1);
    const last = refused.out.trim().split("\n").at(-1) ?? "";
    expect(errorOf({ ...refused, out: last })).toMatchObject({ code: "push-refused" });
    expect(log(at, branch)).toEqual(["other"]);
    expect(server.pulls).toEqual([]);
  });

  it("to which somebody has added commits keeps them", async () => {
    const { repo, at, pr } = makeSite();
    expectComplete(await pr());
    repo.git("checkout", "--quiet", branch);
    repo.git("commit", "--quiet", "--allow-empty", "--message=review");
    repo.git("push", "--quiet", "origin", branch);
    repo.git("checkout", "--quiet", "main");
    expectComplete(await pr());
    expect(log(at, branch)[0]).toBe("review");
  });

  it("that refuses is quoted, and nothing is opened", async () => {
    const { bare, pr } = makeSite();
    fs.mkdirSync(path.join(bare, "hooks"), { recursive: true });
    const hook = "#!/bin/sh\necho protected branch >&2\nexit 1\n";
    fs.writeFileSync(path.join(bare, "hooks/pre-receive"), hook, { mode: 0o755 });
    const refused = await pr();
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/refuses: .*(?:protected branch|rejected)/);
    expect(server.pulls).toEqual([]);
  });

  it("whose hook in the clone would run is pushed to without it", async () => {
    const { repo, pr } = makeSite();
    const mailbox = makeMailbox();
    repo.write(".git/hooks/pre-push", `#!/bin/sh\ntouch "${mailbox}/ran"\n`);
    fs.chmodSync(repo.at(".git/hooks/pre-push"), 0o755);
    repo.git("config", "remote.origin.receivepack", `touch ${mailbox}/received; git-receive-pack`);
    expectComplete(await pr());
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });

  it("that was put there by somebody else gets no token", async () => {
    const { repo, pr } = makeSite();
    repo.git("remote", "set-url", "origin", "https://evil.example/o/r.git");
    const refused = await pr();
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/origin is https:\/\/evil.example.*not o\/r/);
    expect(server.calls).toEqual([]);
  });
});

describe("no pull request", () => {
  it("is opened for a run that has halted; what landed stays on its branch here", async () => {
    const text = planOf([spelled("1"), spelled("2", ["1"])]);
    const { repo, at, env } = makeSite(text);
    const ran = await build(repo, ["--pr"], { env, gate: '[ "$AUTODEV_PHASE" = 1 ]' });
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(4);
    expect(ran.err).toContain("no pull request: the run is not complete");
    expect(log(repo.git, branch)[0]).toBe("feat: part 1");
    expect(at("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\n");
    expect(server.calls).toEqual([]);
  });

  it.each([
    ["without a token", { GITHUB_TOKEN: "" }, [], /GITHUB_TOKEN is not set/],
    ["without a repository", { GITHUB_REPOSITORY: "" }, [], /no repository of GitHub's/],
    ["with files only", {}, ["--commit=message-only"], /needs a mode that commits/],
    ["in the background", {}, ["--detach"], /does not wait/],
  ])("is begun %s: that is told before anything runs", async (_, more, args, said) => {
    const { repo, env } = makeSite();
    const ran = await build(repo, ["--pr", ...args], { env: { ...env, ...more } });
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toMatch(said);
    expect(repo.exists(".autobuild")).toBe(false);
  });

  it("goes from a branch into itself", async () => {
    const { pr } = makeSite();
    const ran = await pr("--branch", "work", "--into", "work");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("into itself");
  });
});

describe("the token", () => {
  it("is given to no agent and no gate, and is in no file of the run", async () => {
    const { repo, env } = makeSite(planOf([{ id: "1" }]));
    const mailbox = makeMailbox();
    const ran = await build(repo, ["--pr", "--agent", "mine"], {
      env: { ...env, GH_TOKEN: token, ACTIONS_RUNTIME_TOKEN: token },
      agent: `env > "${mailbox}/agent"; ${working}`,
      gate: `env > "${mailbox}/gate"; env`,
    });
    expectComplete(ran);
    for (const who of ["agent", "gate"]) {
      const seen = fs.readFileSync(path.join(mailbox, who), "utf8");
      expect(seen).toContain("AUTODEV_PHASE=1");
      expect(seen).not.toMatch(/ghs_|ACTIONS_|GITHUB_TOKEN|GH_TOKEN/);
    }
    expect(ran.all).not.toContain(token);
    const found = spawnSync("grep", ["-rl", token, repo.root], { encoding: "utf8" });
    expect(found.stdout).toBe("");
  });
});
