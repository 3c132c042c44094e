/**
 * node scripts/run.mjs e2e/record.ts [agent [case]]: plays the cases with the real programs and
 * writes down what they print, as e2e/recorded/<agent>/<case>.jsonl. One at a time: they are heavy.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentName, isInstalled } from "./agents.ts";
import { acpCasesOf } from "./cases/acp.ts";
import { claudeCases } from "./cases/claude.ts";
import { codexCases } from "./cases/codex.ts";
import { type Played, type Stage, setStage } from "./stage.ts";

const folder = join(process.cwd(), "e2e");
const [onlyAgent, onlyCase] = process.argv.slice(2);

type Cases = Readonly<Record<string, (stage: Stage) => Promise<Played>>>;

const suites: readonly (readonly [AgentName, Cases])[] = [
  ["claude", claudeCases],
  ["codex", codexCases],
  ...(["gemini", "goose", "copilot", "opencode", "qwen"] as const).map(
    (agent): readonly [AgentName, Cases] => [agent, acpCasesOf(agent)],
  ),
];

async function main(): Promise<void> {
  for (const [agent, cases] of suites) {
    if (onlyAgent !== undefined && onlyAgent !== agent) continue;
    if (!isInstalled(agent, folder)) {
      console.log(`${agent} is not installed: node e2e/install.mjs`);
      continue;
    }
    mkdirSync(join(folder, "recorded", agent), { recursive: true });
    for (const [name, play] of Object.entries(cases)) {
      if (onlyCase === undefined || onlyCase === name) await recordCase(agent, name, play);
    }
  }
}

async function recordCase(
  agent: AgentName,
  name: string,
  play: (stage: Stage) => Promise<Played>,
): Promise<void> {
  const stage = await setStage(agent, folder);
  try {
    const played = await play(stage);
    writeFileSync(join(folder, "recorded", agent, `${name}.jsonl`), stage.record(name, played));
    const { exit, signal, left, ms } = played;
    const stayed = left > 0 ? `, ${left} processes stayed` : "";
    console.log(`${agent} ${name}: ${signal ?? exit} after ${(ms / 1000).toFixed(1)} s${stayed}`);
  } finally {
    await stage.leave();
  }
}

void main();
