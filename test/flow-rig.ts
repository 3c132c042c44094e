/** A project whose flow is done by an agent without a model (test/flow/agent.mjs). */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { binary, makeFolder, makeRepo, type Ran, type Repo, run } from "./rig.ts";

export interface FlowProject extends Repo {
  /** `autodev` with the agent at work; what the repository tells it is trusted. */
  flow(...args: readonly string[]): Promise<Ran>;
  /** How the agent behaves from now on, by step. */
  behave(acts: Readonly<Record<string, object>>): void;
  readonly environment: Record<string, string>;
  readonly command: readonly string[];
}

const agent = join(import.meta.dirname, "flow", "agent.mjs");
const skills = join(import.meta.dirname, "..", "skills");

export async function makeFlowProject(
  files: Readonly<Record<string, string>> = {},
): Promise<FlowProject> {
  const settings = {
    agents: { mine: { command: `node '${agent}'` } },
    notify: { bell: false },
  };
  const repo = makeRepo({
    ".autodev/config.yaml": `${JSON.stringify({ agents: settings.agents })}\n`,
    ...files,
  });
  repo.git("add", ".");
  repo.git("commit", "--quiet", "--message=settings");
  const memory = makeFolder("memory");
  mkdirSync(memory, { recursive: true });
  const environment: Record<string, string> = {
    FLOW_AGENT_SKILLS: skills,
    FLOW_AGENT_MEMORY: memory,
  };
  const asked = await run(process.execPath, [binary(), "--no-input"], {
    cwd: repo.root,
    env: environment,
  });
  const [, hash = ""] = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.all) ?? [];
  const command = [binary(), "--no-input", "--trust-sha256", hash];
  return {
    ...repo,
    environment,
    command,
    flow: (...args) =>
      run(process.execPath, [...command, ...args], {
        cwd: repo.root,
        env: environment,
        timeout: 120_000,
      }),
    behave(acts) {
      environment["FLOW_AGENT_DO"] = JSON.stringify(acts);
    },
  };
}
