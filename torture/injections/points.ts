/**
 * The twenty places where text reaches us that others have written, and what is played with it
 * there. Every other place holds the benign sentence.
 */
import { playFlow } from "./flow.ts";
import type { PuppetName } from "./puppets.ts";
import { emptied, type Played, playRun, type RunWords } from "./run.ts";
import { benign } from "./texts.ts";
import { playTracker, quoting } from "./tracker.ts";

export interface Point {
  readonly name: string;
  play(text: string, scratch: string): Promise<Played>;
}

export const plainly: RunWords = {
  planTitle: benign,
  planProse: benign,
  phaseTitle: benign,
  task: benign,
  done: benign,
  planCode: benign,
  document: benign,
  code: benign,
  testName: benign,
  gateOutput: benign,
  agentWords: { claude: benign, codex: benign, gemini: benign, script: benign },
  stderr: benign,
  result: benign,
  history: benign,
};

const inRun = (name: string, words: (text: string) => Partial<RunWords>): Point => ({
  name,
  play: (text, scratch) => playRun({ ...plainly, ...words(text) }, emptied(scratch)),
});
const saidBy = (name: PuppetName, point: string): Point =>
  inRun(point, (text) => ({ agentWords: { ...plainly.agentWords, [name]: text } }));
const inFlow = (name: string, words: "artifact" | "around"): Point => ({
  name,
  play: (text, scratch) =>
    playFlow({ artifact: benign, around: benign, [words]: text }, emptied(scratch)),
});

export const points: readonly Point[] = [
  inRun("plan-title", (planTitle) => ({ planTitle })),
  inRun("plan-prose", (planProse) => ({ planProse })),
  inRun("phase-title", (phaseTitle) => ({ phaseTitle })),
  inRun("task-text", (task) => ({ task })),
  inRun("definition-of-done", (done) => ({ done })),
  inRun("code-in-the-plan", (planCode) => ({ planCode })),
  inRun("document", (document) => ({ document })),
  inRun("source-comment", (code) => ({ code })),
  inRun("test-name", (testName) => ({ testName })),
  inRun("gate-output", (gateOutput) => ({ gateOutput })),
  inRun("commit-history", (history) => ({ history })),
  inRun("agent-stderr", (stderr) => ({ stderr })),
  inRun("result-words", (result) => ({ result })),
  saidBy("script", "printed-by-a-command"),
  saidBy("claude", "said-by-claude"),
  saidBy("codex", "said-by-codex"),
  saidBy("gemini", "said-by-acp"),
  {
    name: "tracker",
    play: async (text) => playTracker(text === benign ? text : quoting(text)),
  },
  inFlow("skill-artifact", "artifact"),
  inFlow("around-decisions", "around"),
];
