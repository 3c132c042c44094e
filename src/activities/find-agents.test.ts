import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { knownAgents } from "../core/agent/known.ts";
import { exec } from "../exec.ts";
import { type FoundAgent, findAgents, type Machine } from "./find-agents.ts";

const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-find-agents-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
/** A home, a repository and a folder on PATH, each as if on a machine of its own. */
function machine(
  programs: Readonly<Record<string, string>>,
  in_: "bin" | "repo/node_modules/.bin" = "bin",
) {
  const folder = path.join(scratch, String(count++));
  const at = (name: string): string => path.join(folder, name);
  for (const name of ["home", "repo", in_]) fs.mkdirSync(at(name), { recursive: true });
  for (const [name, script] of Object.entries(programs)) {
    fs.writeFileSync(path.join(at(in_), name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const env: Record<string, string> = {
    PATH: [at(in_), "/usr/bin", "/bin"].join(path.delimiter),
    HOME: at("home"),
  };
  const world: Machine = { env, root: at("repo"), exec, marker: `find-agents-test-${count}` };
  const look = async (name: string): Promise<FoundAgent> => {
    const all = await findAgents(world);
    expect(all.map(({ known }) => known)).toEqual(knownAgents);
    return all.find(({ known }) => known.name === name) as FoundAgent;
  };
  return { at, env, look, world };
}

const claude = (status: number): string =>
  `case "$*" in --version) echo "9.8.7 (Claude Code)" ;; "auth status") exit ${status} ;; esac`;

describe("the agents on a machine", () => {
  it("that are not there have neither version nor login", async () => {
    const { look } = machine({});
    expect(await look("claude")).toEqual({
      known: expect.objectContaining({ name: "claude" }),
      program: { is: "missing" },
    });
  });

  it("tell their version, and by a command of their own whether somebody is logged in", async () => {
    const { look, at } = machine({ claude: claude(0), codex: 'echo "codex-cli 1.2.3"; exit 1' });
    expect(await look("claude")).toMatchObject({
      program: { is: "there", path: at("bin/claude") },
      version: "9.8.7",
      login: { is: "yes", by: "claude auth status" },
    });
    expect(await look("codex")).toMatchObject({
      version: "1.2.3",
      login: { is: "no", by: "codex login status" },
    });
  });

  it("are taken for logged in by a variable, whose value is never told", async () => {
    const { look, env } = machine({ claude: claude(1) });
    env["ANTHROPIC_API_KEY"] = "sk-ant-a-secret-of-somebodys";
    const found = await look("claude");
    expect(found.login).toEqual({ is: "yes", by: "ANTHROPIC_API_KEY" });
    expect(JSON.stringify(found)).not.toContain("a-secret");
  });

  it("are not taken for logged in by a variable that is empty", async () => {
    const { look, env } = machine({ claude: claude(1) });
    env["ANTHROPIC_API_KEY"] = "";
    expect((await look("claude")).login?.is).toBe("no");
  });

  it("are taken for logged in by a file that holds what it has to", async () => {
    const { look, at } = machine({ gemini: "echo 1.0.0", opencode: "echo 1.0.0" });
    fs.mkdirSync(at("home/.gemini"));
    fs.writeFileSync(at("home/.gemini/oauth_creds.json"), '{"token":"x"}');
    fs.mkdirSync(at("home/.local/share/opencode"), { recursive: true });
    fs.writeFileSync(at("home/.local/share/opencode/auth.json"), "{}");
    expect((await look("gemini")).login).toEqual({ is: "yes", by: "~/.gemini/oauth_creds.json" });
    expect((await look("opencode")).login?.is).toBe("no");
  });

  it("may work all the same with a service of one's own: then it is not known", async () => {
    const { look, env, at } = machine({ codex: "echo 1.0.0; exit 1", copilot: "echo 1.0.0" });
    env["CODEX_HOME"] = at("elsewhere");
    fs.mkdirSync(at("elsewhere"));
    fs.writeFileSync(at("elsewhere/config.toml"), 'model_provider = "own"\n');
    env["GITHUB_TOKEN"] = "something";
    expect((await look("codex")).login).toEqual({
      is: "unknown",
      by: at("elsewhere/config.toml"),
    });
    // No agent is given it.
    expect((await look("copilot")).login?.is).toBe("no");
  });

  it("that say nothing of use have no version", async () => {
    const { look } = machine({ goose: "echo hello; exit 3" });
    expect(await look("goose")).not.toHaveProperty("version");
  });

  it("are looked at once in the life of a process", async () => {
    const { look, at } = machine({ goose: 'echo asked >> "$0.asked"; echo 1.0.0' });
    expect(await look("goose")).toBe(await look("goose"));
    expect(fs.readFileSync(at("bin/goose.asked"), "utf8")).toBe("asked\n");
  });
});

describe("what a repository has to say about it", () => {
  it("is nothing: a program of its own is not run, though PATH leads there", async () => {
    const { look, at } = machine({ claude: `touch '${scratch}/canary'` }, "repo/node_modules/.bin");
    expect((await look("claude")).program).toEqual({
      is: "inside",
      path: at("repo/node_modules/.bin/claude"),
    });
    expect(fs.existsSync(path.join(scratch, "canary"))).toBe(false);
  });

  it("is nothing: a link from PATH into it is not followed", async () => {
    const { look, at } = machine({});
    const canary = path.join(scratch, "canary");
    fs.writeFileSync(at("repo/evil"), `#!/bin/sh\ntouch '${canary}'\n`, { mode: 0o755 });
    fs.symlinkSync(at("repo/evil"), at("bin/codex"));
    expect((await look("codex")).program).toEqual({ is: "inside", path: at("bin/codex") });
    expect(fs.existsSync(canary)).toBe(false);
  });

  it("is nothing: a relative folder of PATH is passed over", async () => {
    const { look, env, at } = machine({});
    fs.writeFileSync(at("repo/claude"), "#!/bin/sh\n", { mode: 0o755 });
    env["PATH"] = [".", "", env["PATH"]].join(path.delimiter);
    expect((await look("claude")).program).toEqual({ is: "missing" });
  });

  it("is nothing: programs are asked in the user's home, with a PATH without it", async () => {
    const { look, at, env } = machine({
      goose: 'pwd > "$0.where"; echo "$PATH" >> "$0.where"; echo 1.0.0',
    });
    env["PATH"] = [at("repo"), env["PATH"]].join(path.delimiter);
    await look("goose");
    const [where, searched] = fs.readFileSync(at("bin/goose.where"), "utf8").split("\n");
    expect(where).toBe(at("home"));
    expect(searched).not.toContain(at("repo"));
  });
});
