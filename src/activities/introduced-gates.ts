/**
 * Gates that a phase brings along, with the set-up that they need: what the project did not check
 * before and does from now on.
 */
import { type Result, succeed } from "../core/failure.ts";
import { gatesOf, type PlanRun } from "../core/plan/progress.ts";
import type { Gate } from "../core/plan/run-event.ts";
import type { Trusted } from "../exec.ts";
import type { Change } from "../git/trees.ts";
import { type Dependencies, mayDefineGates } from "../stack.ts";
import type { RunSite } from "./run-site.ts";

export interface GatesToRun {
  readonly gates: readonly Gate[];
  readonly introduced: readonly Gate[];
  /** Another set-up than before; its text. */
  readonly setup?: string;
  readonly trusted?: (name: string) => Trusted | undefined;
}

/** What a phase brought along, as it may be run. */
export interface Along {
  gate(name: string): Trusted | undefined;
  readonly setup?: Trusted;
  readonly dependencies?: Dependencies;
}

/** The run's gates, and those that the tree has a command for where there was none. */
export async function gatesFor(
  site: RunSite,
  run: PlanRun,
  { commit, changes }: { readonly commit: string; readonly changes: readonly Change[] },
): Promise<Result<GatesToRun>> {
  const known = gatesOf(run);
  const asBefore = { gates: known, introduced: [] };
  if (!changes.some(({ path }) => mayDefineGates(path))) return succeed(asBefore);
  const now = await site.commandsAt(commit);
  if (!now.ok) return now;
  const introduced = now.value.gates.filter(
    ({ name, command }) =>
      command !== null && known.some((gate) => gate.name === name && isOpen(gate)),
  );
  const newSetup = now.value.setup !== site.setupText(run) ? now.value.setup : undefined;
  if (introduced.length === 0 && newSetup === undefined) return succeed(asBefore);
  const gates = known.map((gate) => introduced.find(({ name }) => name === gate.name) ?? gate);
  const along = await site.approveAlong(commit, { ...now.value, gates });
  if (!along.ok) return along;
  // Nobody has ever approved that anything is run here: then these are not run either.
  if (!along.value) {
    const names = introduced.map(({ name }) => name).join(", ") || "the set-up";
    const notice = `there are commands for ${names} now; autodev trust ${run.plan} lets them check`;
    site.tell({ notice });
    return succeed(asBefore);
  }
  const { gate } = along.value;
  return succeed({
    gates,
    introduced,
    trusted: (name) => gate(name),
    ...(newSetup !== undefined && { setup: newSetup }),
  });
}

const isOpen = ({ command, reason }: Gate): boolean =>
  command === null && reason?.startsWith("dropped") !== true;

/** The site with the set-up that belongs to what is checked. */
export function withSetup(site: RunSite, run: PlanRun, text = run.setup): RunSite {
  const along = text === undefined ? undefined : site.along(text);
  if (!along?.setup) return site;
  const { dependencies: _, ...rest } = site;
  return {
    ...rest,
    setup: along.setup,
    ...(along.dependencies && { dependencies: along.dependencies }),
  };
}
