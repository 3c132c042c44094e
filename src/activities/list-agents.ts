/** Which agents could be named here: those of the machine, and those of the settings. */
import { readConfig } from "../config.ts";
import { knownAgent } from "../core/agent/known.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { exec as realExec } from "../exec.ts";
import {
  type FoundAgent,
  findAgents,
  type Machine,
  type Presence,
  presenceOf,
} from "./find-agents.ts";
import type { Project } from "./hold.ts";

export interface OwnAgent {
  readonly name: string;
  /** Its command, or whom it uses. */
  readonly command: string;
  /** Of its first word, where that is the name of a program. It is looked for, never run. */
  readonly program?: Presence;
}

export interface ListedAgents {
  readonly found: readonly FoundAgent[];
  /** Those of the settings. */
  readonly own: readonly OwnAgent[];
  /** Whom the settings name. */
  readonly named?: string;
}

export async function listAgentsOf(
  { root }: Project,
  machine: Machine,
): Promise<Result<ListedAgents>> {
  const settings = readConfig(root);
  if (!settings.ok) return settings;
  const { agents = {}, agent: named } = settings.value;
  const own = Object.entries(agents).flatMap(([name, { command, use, model }]): OwnAgent[] => {
    if (command === undefined) {
      const program = knownAgent(use ?? "")?.program;
      const what = `${use}${model === undefined ? "" : ` with ${model}`}`;
      // A mere setting for one that is known is no agent of its own.
      return program === undefined
        ? []
        : [{ name, command: what, program: presenceOf(program, machine) }];
    }
    const word = /^\s*([\w.+-]+)(?=\s|$)/.exec(command)?.[1];
    return [{ name, command, ...(word !== undefined && { program: presenceOf(word, machine) }) }];
  });
  const found = await findAgents(machine);
  return succeed({ found, own, ...(named !== undefined && { named }) });
}

export const machineOf = ({ repository, world }: Project, exec: typeof realExec): Machine => ({
  env: process.env,
  ...(repository && { root: repository.root }),
  exec,
  marker: `agents-${world.uuid()}`,
});
