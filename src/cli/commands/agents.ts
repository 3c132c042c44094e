/** `autodev agents`: which there are, whether they can be used, and whom a build takes. */
import { type Choice, chooseDefault } from "../../core/agent/choose.ts";
import { applyAgent } from "../../core/agent/known.ts";
import { type FoundAgent, type ListedAgents, listAgents, type Presence } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { type AgentRow, agentLines, choiceLines } from "../render/agents.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import type { AgentsOutput } from "../shapes.ts";

interface Options {
  all?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(options: Options): Promise<number> {
  const listed = await listAgents(process.cwd());
  if (!listed.ok) return reportFailure(listed.failure, options.json === true);
  const rows = rowsOf(listed.value);
  const choice = (spelledOut: boolean): Choice => choiceIn(listed.value, spelledOut);
  if (options.json) {
    printJson(outputOf(rows, choice(true), choice(false)));
    return exitCodes.finished;
  }
  const shown = rows.filter(({ installed, note }) => installed || note !== null || options.all);
  for (const line of agentLines(shown, styleFor(options.color))) print(line);
  const missing = rows.length - shown.length;
  if (missing > 0) print(`${missing} more are known and not installed: autodev agents --all`);
  print("");
  for (const line of choiceLines(choice(false), listed.value.named !== undefined)) print(line);
  return exitCodes.finished;
}

const choiceIn = ({ found, own, named }: ListedAgents, spelledOut: boolean): Choice =>
  chooseDefault({
    ...(named !== undefined && { named }),
    spelledOut,
    own: own.map(({ name }) => name),
    installed: found.flatMap(({ known, login }) =>
      login ? [{ name: known.name, login: login.is }] : [],
    ),
  });

const blank = {
  program: null,
  path: null,
  version: null,
  login: null,
  loginBy: null,
  can: null,
  install: null,
  logIn: null,
  note: null,
} as const;

function rowsOf({ found, own }: ListedAgents): AgentRow[] {
  const names = new Set(own.map(({ name }) => name));
  return [
    {
      ...blank,
      name: applyAgent.name,
      title: applyAgent.title,
      kind: "built-in",
      installed: true,
      note: applyAgent.what,
    },
    ...own.map(
      ({ name, command, program }): AgentRow => ({
        ...blank,
        name,
        title: "a command of the settings",
        kind: "command",
        path: program ? pathOf(program) : null,
        installed: program?.is !== "missing",
        note: program?.is === "missing" ? `${command} (not on PATH)` : command,
      }),
    ),
    // A name of the settings' own means theirs.
    ...found.filter(({ known }) => !names.has(known.name)).map(knownRow),
  ];
}

const knownRow = ({ known, program, version, login }: FoundAgent): AgentRow => ({
  ...blank,
  name: known.name,
  title: known.title,
  kind: "known",
  program: known.program,
  path: pathOf(program),
  installed: program.is === "there",
  version: version ?? null,
  login: login?.is ?? null,
  loginBy: login?.by ?? null,
  can: { ...known.can },
  install: known.install,
  logIn: known.logIn,
  note: program.is === "inside" ? `${program.path} lies in the repository: it is not run` : null,
});

const pathOf = (program: Presence): string | null =>
  program.is === "missing" ? null : program.path;

const outputOf = (agents: AgentRow[], spelledOut: Choice, otherwise: Choice): AgentsOutput => ({
  version: 1,
  agents,
  default: {
    spelledOut: spelledOut.is === "chosen" ? spelledOut.name : null,
    name: otherwise.is === "chosen" ? otherwise.name : null,
    candidates: otherwise.is === "ask" ? [...otherwise.names] : [],
    why: otherwise.why,
  },
});
