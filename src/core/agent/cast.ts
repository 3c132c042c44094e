/** Who does the phases of a plan: pure, from the command line, the settings and the plan. */
import { fail, type Result, succeed } from "../failure.ts";
import type { CompiledPlan } from "../plan/compile.ts";
import { phaseNamed } from "../plan/edits.ts";
import type { Phase } from "../plan/plan.ts";
import type { RunPhase } from "../plan/run-event.ts";
import { spelledOut } from "../plan/spelled-out.ts";
import type { Settings } from "../settings.ts";
import { type Choice, type Chooseable, chooseDefault } from "./choose.ts";
import { applyAgent, knownAgents } from "./known.ts";
import { agentNamed, agentsFor, type Routing } from "./route.ts";

export interface Cast {
  /** Who does what nobody else is named for. */
  readonly usual: string;
  /** By the command line, for everything. */
  readonly forced?: string;
  /** Everybody who may come to work. */
  readonly all: readonly string[];
  /** The first choice first. */
  for(phase: string): readonly string[];
}

export interface CastOptions {
  /** By the command line. */
  readonly agent?: string;
  /** Of a run under way: its usual one. */
  readonly usual?: string;
  /** Those on this machine; absent: nobody has looked. */
  readonly installed?: Chooseable["installed"];
}

interface Section {
  readonly phase: RunPhase;
  readonly section: Phase;
}

/** The names among which only a person can choose. */
export interface Undecided {
  readonly among: readonly string[];
  readonly why: string;
}

export function castFor(
  { agent: forced, usual: before, installed }: CastOptions,
  settings: Settings,
  { plan }: CompiledPlan,
  phases: readonly RunPhase[],
): Result<Cast | Undecided> {
  const names = knownAgents.map(({ name }) => name);
  const known = [...new Set([applyAgent.name, ...Object.keys(settings.agents ?? {}), ...names])];
  const isKnown = (name: string): boolean => known.includes(name);
  const routing: Omit<Routing, "usual"> = {
    ...(forced !== undefined && { forced }),
    ...(settings.routes && { routes: settings.routes }),
    ...(settings.agents && { agents: settings.agents }),
  };
  const sections = phases.flatMap((phase): Section[] => {
    const section = phaseNamed(plan, phase.id);
    return section ? [{ phase, section }] : [];
  });
  const candidates = ({ phase, section }: Section, usual: string): readonly string[] => {
    const named = agentNamed(section.text);
    return agentsFor(
      {
        phase: phase.id,
        ...(phase.estimate !== undefined && { estimate: phase.estimate }),
        ...(named !== undefined && { named }),
      },
      { ...routing, usual },
    );
  };
  const undone = sections.filter(({ phase }) => phase.skipped === undefined);
  const left = undone.filter((each) => candidates(each, "")[0] === "");
  const choice = usualFor(left, settings, installed);
  if (forced === undefined && before === undefined && settings.agent === undefined) {
    if (choice.is === "none") return nobodyFor(left, choice, []);
    if (choice.is === "ask") {
      return installed
        ? succeed({ among: choice.names, why: choice.why })
        : nobodyFor(left, choice, choice.names);
    }
  }
  const chosen = choice.is === "chosen" ? choice.name : applyAgent.name;
  const usual = forced ?? before ?? settings.agent ?? chosen;
  for (const each of undone) {
    const unknown = candidates(each, usual).find((name) => !isKnown(name));
    if (unknown === undefined) continue;
    const isPlans = agentNamed(each.section.text) === unknown && forced === undefined;
    return fail(
      "no-agent",
      isPlans
        ? `phase ${each.phase.written} asks for the agent "${unknown}", and there is none of that name`
        : `there is no agent "${unknown}"`,
      { hint: `known: ${known.join(", ")}; .autodev/config.yaml names others (${anEntry})` },
    );
  }
  const byPhase = new Map(undone.map((each) => [each.phase.id, candidates(each, usual)]));
  return succeed({
    usual,
    ...(forced !== undefined && { forced }),
    all: [...new Set([usual, ...[...byPhase.values()].flat()])],
    for: (phase) => byPhase.get(phase) ?? [usual],
  });
}

const anEntry = "agents: { mine: { command: … } }";

/** What is known of who could do the rest: what has to be thought out, and who is there. */
function usualFor(
  left: readonly Section[],
  settings: Settings,
  installed: CastOptions["installed"],
): Choice {
  const vague = left.filter(({ section }) => spelledOut(section).missing.length > 0);
  return chooseDefault({
    ...(settings.agent !== undefined && { named: settings.agent }),
    spelledOut: vague.length === 0,
    own: ownAgents(settings),
    installed: installed ?? [],
  });
}

/** Those that are named to be chosen from; a mere setting for one that is known names nobody. */
export const ownAgents = ({ agents = {} }: Settings): string[] =>
  Object.entries(agents)
    .filter(([, { command, use }]) => command !== undefined || use !== undefined)
    .map(([name]) => name);

function nobodyFor(left: readonly Section[], { why }: Choice, names: readonly string[]) {
  const vague = left.filter(({ section }) => spelledOut(section).missing.length > 0);
  const written = vague.slice(0, 5).map(({ phase }) => phase.written);
  const [does, its] = vague.length === 1 ? ["does", "its"] : ["do", "their"];
  return fail(
    "no-agent",
    `which agent shall do it? apply cannot: ${written.join(", ")}${vague.length > 5 ? " …" : ""} ${does} not spell out ${its} files; of the others, ${why}`,
    {
      hint:
        names.length > 0
          ? `--agent <name>, or agent: <name> in .autodev/config.yaml; there are ${names.join(", ")}`
          : `autodev agents --all tells which can be had; .autodev/config.yaml names others (${anEntry})`,
    },
  );
}
