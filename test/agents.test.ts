/** The agents on this machine, as the command line tells of them; the programs are puppets. */
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { expectSchema } from "./build-rig.ts";
import { autodevIn, makeFolder, makeRepo, plainEnvironment, type Ran, type Repo } from "./rig.ts";

const secret = "sk-ant-nobody-may-see-this";

const puppets: Readonly<Record<string, string>> = {
  claude: 'case "$*" in --version) echo "2.1.325 (Claude Code)" ;; *) exit 1 ;; esac',
  codex:
    'case "$*" in --version) echo "codex-cli 0.166.0" ;; *) echo "Not logged in"; exit 1 ;; esac',
};

let programs: string;
beforeAll(() => {
  programs = makeFolder("agent-programs");
  for (const [name, script] of Object.entries(puppets)) {
    fs.writeFileSync(path.join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
});

const env = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: `${programs}:${plainEnvironment["PATH"]}`,
  HOME: makeFolder("agents-home"),
  ...more,
});

interface Listed {
  readonly agents: readonly {
    readonly name: string;
    readonly installed: boolean;
    readonly version: string | null;
    readonly login: string | null;
    readonly loginBy: string | null;
    readonly note: string | null;
  }[];
  readonly default: { readonly name: string | null; readonly why: string };
}

async function listed(cwd: string, given = env()): Promise<Listed> {
  const ran = await autodevIn({ cwd, env: given }, "agents", "--json");
  expect(ran.code, ran.all).toBe(0);
  const value = JSON.parse(ran.out) as Listed;
  expectSchema(value as never, "agents");
  return value;
}

const agentIn = ({ agents }: Listed, name: string) => agents.find((each) => each.name === name);

describe("autodev agents", () => {
  it("says what is installed, of what version, logged in or not, and what to type", async () => {
    const ran = await autodevIn({ cwd: makeFolder("nowhere"), env: env() }, "agents");
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^apply +built in/m);
    expect(ran.out).toMatch(/^claude +2\.1\.325 +not logged in .*resumes/m);
    expect(ran.out).toMatch(/^codex +0\.166\.0 +not logged in/m);
    expect(ran.out).toContain("  → codex login");
    expect(ran.out).not.toContain("npm install");
    expect(ran.out).toContain("autodev agents --all");
  });

  it("--all says how to get those that are not", async () => {
    const ran = await autodevIn({ cwd: makeFolder("nowhere"), env: env() }, "agents", "--all");
    expect(ran.out).toMatch(/^gemini +not installed/m);
    expect(ran.out).toContain("npm install --global @google/gemini-cli");
  });

  it("names the only one that is logged in as the one that a build takes, and shows no secret", async () => {
    const given = env({ ANTHROPIC_API_KEY: secret });
    const value = await listed(makeFolder("nowhere"), given);
    expect(agentIn(value, "claude")).toMatchObject({
      installed: true,
      version: "2.1.325",
      login: "yes",
      loginBy: "ANTHROPIC_API_KEY",
    });
    expect(value.default).toMatchObject({ name: "claude" });
    const ran = await autodevIn({ cwd: makeFolder("nowhere"), env: given }, "agents", "--all");
    expect(ran.out).toContain("all others by claude: it is the only one that is logged in");
    expect(ran.all + JSON.stringify(value)).not.toContain(secret);
  });

  it("lists those of the settings, and runs none of them", async () => {
    const repo = makeRepo({
      ".autodev/config.yaml":
        "agents:\n  mine: { command: sh scripts/agent.sh }\n  gone: { command: no-such-program }\n",
      "scripts/agent.sh": "touch ran\n",
    });
    const value = await listed(repo.root);
    expect(agentIn(value, "mine")).toMatchObject({ installed: true, note: "sh scripts/agent.sh" });
    expect(agentIn(value, "gone")).toMatchObject({ installed: false });
    expect(repo.exists("ran")).toBe(false);
  });

  it("runs no program of the repository's, though PATH leads there", async () => {
    const repo = makeRepo({});
    const folder = repo.at("node_modules/.bin");
    fs.mkdirSync(folder, { recursive: true });
    const lure = `#!/bin/sh\ntouch '${repo.at("ran")}'\necho 9.9.9\n`;
    for (const name of ["claude", "goose"]) {
      fs.writeFileSync(path.join(folder, name), lure, { mode: 0o755 });
    }
    const given = env();
    const value = await listed(repo.root, { ...given, PATH: `${folder}:${given["PATH"]}` });
    expect(agentIn(value, "claude")).toMatchObject({ version: "2.1.325" });
    expect(agentIn(value, "goose")).toMatchObject({
      installed: false,
      note: expect.stringContaining("lies in the repository"),
    });
    expect(repo.exists("ran")).toBe(false);
  });

  it("tells whom the settings name, and that it is not there", async () => {
    const repo = makeRepo({ ".autodev/config.yaml": "agent: gemini\n" });
    expect((await listed(repo.root)).default).toMatchObject({
      name: null,
      why: "the settings name gemini, which is not installed",
    });
  });
});

const honest = `word=$(sed -n '/^hello-/p' "$AUTODEV_BRIEF" | head -1)
echo "$word" > hello.txt
echo '{ "phase_id": "1", "status": "complete", "tasks": { "total": 1, "completed": 1 } }' > "$AUTODEV_RESULT"
`;

function repoWith(agent: string): Repo {
  const repo = makeRepo({
    ".autodev/config.yaml": "agents:\n  mine: { command: sh scripts/agent.sh }\n",
    "scripts/agent.sh": agent,
  });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=agent");
  return repo;
}

/** As somebody who has read what it runs. */
async function tested(repo: Repo, ...args: string[]): Promise<Ran> {
  const asked = await repo.autodev("agents", "test", "mine");
  expect(asked.code, asked.all).toBe(3);
  const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.all)?.[1] ?? "";
  return repo.autodev("agents", "test", "mine", "--trust-sha256", hash, ...args);
}

describe("autodev agents test", () => {
  it("tries the built-in one anywhere, without leaving anything", async () => {
    const [cwd, temporary] = [makeFolder("nowhere"), makeFolder("temporary")];
    const ran = await autodevIn(
      { cwd, env: { TMPDIR: temporary } },
      "agents",
      "test",
      "apply",
      "--json",
    );
    expect(ran.code, ran.all).toBe(0);
    expectSchema(JSON.parse(ran.out), "agents-test");
    expect(fs.readdirSync(cwd)).toEqual([]);
    expect(fs.readdirSync(temporary)).toEqual([]);
  });

  it("runs a command of the settings only when it is trusted, far from the repository", async () => {
    const repo = repoWith(`echo "I work in $PWD"\n${honest}`);
    const ran = await tested(repo);
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err).toMatch(/^ {2}I work in .*autodev-agent-test-/m);
    expect(ran.out).toContain("✓ hello.txt is there, with the word in it");
    expect(ran.out).toMatch(/^mine works \(\d+ s\)$/m);
    expect(repo.exists("hello.txt")).toBe(false);
    expect(repo.git("status", "--porcelain").trim()).toBe("");
  });

  it("believes nobody: a result without the work is no work", async () => {
    const lazy = honest.replace('echo "$word" > hello.txt', ":");
    const ran = await tested(repoWith(lazy), "--json");
    expect(ran.code, ran.all).toBe(1);
    const value = JSON.parse(ran.out) as { works: boolean; message: string };
    expectSchema(value as never, "agents-test");
    expect(value).toMatchObject({
      works: false,
      message: "mine says that it is done, but it has not written hello.txt",
    });
  });

  it("tells a limit with its time", async () => {
    const limited = "echo AUTODEV_LIMITED_UNTIL=2099-01-01T00:00:00Z; exit 75\n";
    const ran = await tested(repoWith(limited));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("mine cannot work now: mine has reached a usage limit");
    expect(ran.out).toContain("after 2099-01-01T00:00:00");
  });

  it("ends what an agent has left running, and says so", async () => {
    const ran = await tested(repoWith(`${honest}sleep 1000 &\n`), "--json");
    expect(ran.code, ran.all).toBe(0);
    const { checks } = JSON.parse(ran.out) as { checks: { name: string; state: string }[] };
    expect(checks.find(({ name }) => name === "processes")).toMatchObject({ state: "warning" });
  });

  it("says how to get one that is not there", async () => {
    const ran = await autodevIn({ cwd: makeFolder("nowhere") }, "agents", "test", "qwen");
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("qwen could not be started: qwen is not on PATH");
    expect(ran.out).toContain("npm install --global @qwen-code/qwen-code");
  });

  it("knows what was meant by a name that is nearly right", async () => {
    const ran = await autodevIn({ cwd: makeFolder("nowhere") }, "agents", "test", "cluade");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('there is no agent "cluade"');
    expect(ran.err).toContain("did you mean claude?");
  });
});
