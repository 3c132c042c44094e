/**
 * node scripts/run.mjs e2e/try.ts <agent> <script>: one agent, one script, every line that it
 * prints; its own headless mode first, then the Agent Client Protocol where it speaks that.
 */
import { join } from "node:path";
import { type AgentName, agents, isInstalled } from "./agents.ts";
import { acpCaseOf } from "./cases/acp.ts";
import { asking, type ScriptName, scripts } from "./scripts.ts";
import { type Played, type Stage, setStage } from "./stage.ts";

const folder = join(process.cwd(), "e2e");

async function main([agent = "", script = ""]: readonly string[]): Promise<number> {
  if (!(agent in agents) || !(script in scripts)) {
    console.error(`which of ${Object.keys(agents).join(", ")}`);
    console.error(`with which of ${Object.keys(scripts).join(", ")}`);
    return 2;
  }
  const name = agent as AgentName;
  if (!isInstalled(name, folder)) {
    console.error(`${name} is not installed: node e2e/install.mjs`);
    return 1;
  }
  const { headless, acp } = agents[name];
  const args = headless(asking(script as ScriptName));
  await show(name, "headless", (stage) => stage.play({ args }));
  if (acp) await show(name, "acp", acpCaseOf(script as ScriptName));
  return 0;
}

async function show(
  name: AgentName,
  mode: string,
  play: (stage: Stage) => Promise<Played>,
): Promise<void> {
  const stage = await setStage(name, folder);
  try {
    console.log(`--- ${name}, ${mode}`);
    const { all, exit, signal, left, ms } = await play(stage);
    for (const { stream, text } of all) console.log(`${stream.padEnd(3)} ${text}`);
    console.log(`--- ${signal ?? exit} after ${ms} ms; ${left} processes stayed`);
    console.log(
      `--- ${stage.model.requests.length} requests, results: ${JSON.stringify(stage.results.results)}`,
    );
  } finally {
    await stage.leave();
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
