/** Who will be at work: from what was settled, or from who is there on this machine. */

import { type Cast, castFor, ownAgents, type Undecided } from "../core/agent/cast.ts";
import { chooseDefault, type Login } from "../core/agent/choose.ts";
import { knownAgents } from "../core/agent/known.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { hostAgent } from "../core/lease.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { RunPhase } from "../core/plan/run-event.ts";
import type { Settings } from "../core/settings.ts";
import { exec } from "../exec.ts";
import { type Asker, askOnce } from "./ask.ts";
import { findAgents, type Machine } from "./find-agents.ts";
import type { BuildOptions } from "./start-run.ts";

export interface Casting {
  readonly options: Pick<BuildOptions, "agent">;
  readonly settings: Settings;
  readonly compiled: CompiledPlan;
  readonly phases: readonly RunPhase[];
  readonly run: PlanRun | undefined;
  readonly machine: Machine;
}

/** This one, with everything that is on it. */
export const machineOf = (root: string): Machine => ({
  env: process.env,
  root,
  exec,
  marker: `agents-${process.pid}`,
});

/** `asker`: whom to ask where several could be meant; absent: that is the failure. */
export async function chooseCast(casting: Casting, asker?: Asker): Promise<Result<Cast>> {
  const { options, settings, compiled, phases } = casting;
  // Whoever came for work was chosen by nobody here.
  const run = casting.run?.agent === hostAgent ? undefined : casting.run;
  const agent = options.agent ?? (run?.forced ? run.agent : undefined);
  const named = {
    ...(agent !== undefined && { agent }),
    ...(run && { usual: run.agent }),
  };
  const settled = castFor(named, settings, compiled, phases);
  if (settled.ok) return settled as Result<Cast>;
  // To look costs a process for each of them: only when nobody was named.
  if (agent !== undefined || run || settings.agent !== undefined) return settled;
  const installed = await installedOn(casting.machine);
  const found = castFor({ ...named, installed }, settings, compiled, phases);
  if (!found.ok || "for" in found.value) return found as Result<Cast>;
  const chosen = asker ? await askWhich(asker, found.value) : undecided(found.value);
  if (!chosen.ok) return chosen;
  const decided = { ...settings, agent: chosen.value };
  return castFor({ ...named, installed }, decided, compiled, phases) as Result<Cast>;
}

/** The same for the steps of a flow, which spell out nothing. */
export async function chooseForFlow(
  {
    agent,
    settings,
    machine,
  }: Pick<Casting, "settings" | "machine"> & { agent?: string | undefined },
  asker: Asker,
): Promise<Result<string>> {
  const named = agent ?? settings.agent;
  const known = [...Object.keys(settings.agents ?? {}), ...knownAgents.map(({ name }) => name)];
  if (named !== undefined) {
    if (known.includes(named)) return succeed(named);
    return fail("no-agent", `there is no agent "${named}" that can follow a skill`, {
      hint: `known: ${known.join(", ")}`,
    });
  }
  const own = ownAgents(settings);
  const choice = chooseDefault({
    spelledOut: false,
    own,
    installed: own.length === 1 ? [] : await installedOn(machine),
  });
  switch (choice.is) {
    case "chosen":
      return succeed(choice.name);
    case "ask":
      return askWhich(asker, { among: choice.names, why: choice.why });
    case "none":
      return fail("no-agent", `which agent shall do the work? ${choice.why}`, {
        hint: "autodev agents --all tells which can be had; .autodev/config.yaml names others",
      });
  }
}

async function installedOn(machine: Machine): Promise<{ name: string; login: Login }[]> {
  const found = await findAgents(machine);
  return found.flatMap(({ known, program, login }) =>
    program.is === "there" ? [{ name: known.name, login: login?.is ?? "unknown" }] : [],
  );
}

/** Asked once: the answer holds for every run of this project, until the choice is another. */
async function askWhich(asker: Asker, { among, why }: Undecided): Promise<Result<string>> {
  const names = among.slice(0, letters.length);
  const chosen = await askOnce(asker, {
    kind: "agent",
    subject: "agent",
    cycle: 1,
    cause: names.join(", "),
    question: `which agent shall do the work? ${why}`,
    options: names.map((name, at) => ({ key: letters[at] ?? "", text: name })),
    recommendation: letters[0] ?? "A",
    reason: "--agent and .autodev/config.yaml (agent: …) go before this answer",
    blocks: "the run",
  });
  return chosen.ok ? succeed(names[letters.indexOf(chosen.value)] ?? names[0] ?? "") : chosen;
}

const letters = ["A", "B", "C", "D"];

const undecided = ({ among, why }: Undecided): ReturnType<typeof fail> =>
  fail("no-agent", `which agent shall do the work? ${why}`, {
    hint: `--agent <name>, or agent: <name> in .autodev/config.yaml; there are ${among.join(", ")}`,
  });
