/**
 * Before an agent is tried: which one is meant, whether it is there, whether it may be run, and where.
 * A command of the settings is the repository's word: it runs as approved, on the files that were
 * approved, or not at all.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Agent, AgentEvent } from "../agent.ts";
import { readConfig } from "../config.ts";
import { applyAgent, knownAgent, knownAgents } from "../core/agent/known.ts";
import { agentNames } from "../core/agent/trial.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { nearest } from "../core/nearest.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { Settings } from "../core/settings.ts";
import type { Trusted } from "../exec.ts";
import { openGit } from "../git/call.ts";
import { commitAt } from "../git/objects.ts";
import { findRepository } from "../git.ts";
import type { TrustPlace } from "../trust.ts";
import { type AskTrust, approve } from "./approve.ts";
import { type FoundAgent, findAgents, type Machine } from "./find-agents.ts";
import type { Project } from "./hold.ts";
import { notTried, type Trialled, type TrialSite, type Tried, tryAgent } from "./try-agent.ts";

export interface TestPeople {
  readonly askTrust: AskTrust;
  readonly by: string;
  readonly trustSha256?: string;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** Before it begins: what was found of it. */
  begins(found: FoundAgent | undefined): void;
  emit(event: AgentEvent): void;
}

export interface TestWorld {
  readonly machine: Machine;
  readonly trust: TrustPlace;
  /** Where there may be a folder of ours; the first that is in no repository is taken. */
  readonly folders: readonly string[];
  /** Undefined: there is none of that name. */
  make(
    name: string,
    parts: {
      readonly settings: AgentEntry | undefined;
      readonly command: Trusted | undefined;
      plan(): CompiledPlan;
    },
  ): Agent | undefined;
}

type AgentEntry = NonNullable<Settings["agents"]>[string];

/** With the time for looking, a minute in all. */
const trialMs = 55_000;

export async function testAgentOf(
  project: Project,
  name: string,
  people: TestPeople,
  world: TestWorld,
): Promise<Result<Tried>> {
  const settings = readConfig(project.root);
  if (!settings.ok) return settings;
  const own = settings.value.agents ?? {};
  const entry = Object.hasOwn(own, name) ? own[name] : undefined;
  const known = entry?.command === undefined ? knownAgent(entry?.use ?? name) : undefined;
  if (!entry && !known && name !== applyAgent.name) {
    return noSuchAgent(name, agentNames(Object.keys(own), knownAgents));
  }
  const [found] = known ? await findAgents(world.machine, [known]) : [];
  const why = found && whyNotThere(found);
  if (why !== undefined) return succeed(notTried({ name, known }, why));
  const made = await agentNamed(name, entry, project, people, world);
  if (!made.ok) return made;
  const folder = newFolder(world.folders);
  if (folder === undefined) {
    const hint = "set TMPDIR to a folder that can be written and is in no repository";
    return fail("disk", "there is no room for temporary files outside of every project", { hint });
  }
  people.begins(found);
  const { uuid } = project.world;
  const { make, filled } = made.value;
  return tryAgent(
    { name, known, make },
    {
      folder,
      ...(filled && { filled }),
      closed: closedTo(project),
      word: `hello-${uuid().slice(0, 8)}`,
      marker: `agent-test-${uuid()}`,
      timeoutMs: trialMs,
      signal: people.signal,
      killNow: people.killNow,
      emit: people.emit,
    },
  );
}

function noSuchAgent(name: string, names: readonly string[]): ReturnType<typeof fail> {
  const near = nearest(name, names);
  const guess = near.length > 0 ? `did you mean ${near.join(" or ")}? ` : "";
  return fail("no-agent", `there is no agent "${name}"`, {
    hint: `${guess}known: ${names.join(", ")}; .autodev/config.yaml names others`,
  });
}

function whyNotThere({ known, program }: FoundAgent): string | undefined {
  if (program.is === "there") return undefined;
  return program.is === "missing"
    ? `${known.program} is not on PATH`
    : `${program.path} lies in the repository, and nothing of a repository runs untrusted`;
}

type Made = Pick<Trialled, "make"> & Pick<TrialSite, "filled">;

async function agentNamed(
  name: string,
  settings: AgentEntry | undefined,
  project: Project,
  people: TestPeople,
  { make, trust }: TestWorld,
): Promise<Result<Made>> {
  const approved = settings
    ? await approvedAgent(name, settings, project, people, trust)
    : succeed(undefined);
  if (!approved.ok) return approved;
  const { command, filled } = approved.value ?? {};
  return succeed({
    make(plan) {
      const agent = make(name, { settings, command, plan });
      if (!agent) throw new Error(`there is no agent ${name}`);
      return agent;
    },
    ...(filled && { filled }),
  });
}

/** What the settings say of it is the repository's word, command or not. */
async function approvedAgent(
  name: string,
  entry: AgentEntry,
  { repository, root, world }: Project,
  { askTrust, by, trustSha256 }: TestPeople,
  place: TrustPlace,
): Promise<Result<{ command: Trusted | undefined; filled: NonNullable<TrialSite["filled"]> }>> {
  if (!repository) {
    return fail(
      "no-repository",
      `${root} is not in a git repository, and commands are trusted there`,
      {
        hint: "git init && git add -A && git commit -m 'First commit'",
      },
    );
  }
  const git = openGit({ ...repository, workTree: repository.root });
  const commit = await commitAt(git, "HEAD");
  if (commit === undefined) return fail("no-commits", "the repository has no commit yet");
  const approval = await approve(
    {
      git,
      commit,
      place,
      gates: [],
      settings: { agents: { [name]: entry } },
      agents: [name],
      phases: [],
    },
    {
      ask: askTrust,
      by,
      now: world.now,
      // It is a part of what a build runs: whoever has approved that is not asked again.
      partial: true,
      ...(trustSha256 !== undefined && { sha256: trustSha256 }),
    },
  );
  if (!approval.ok) return approval;
  const command = approval.value.agent(name);
  if (entry.command !== undefined && !command)
    return fail("untrusted", `the command of ${name} is not trusted: nothing was run`);
  return succeed({ command, filled: { git, commit } });
}

/** The user's own files; not what whoever works needs: a home, a place for temporary files. */
function closedTo({ repository }: Project): string[] {
  if (!repository) return [];
  const needed = [os.homedir(), os.tmpdir()];
  const holds = (folder: string): boolean =>
    needed.some((place) => place === folder || place.startsWith(`${folder}${path.sep}`));
  return [repository.root, repository.commonDir].filter((folder) => !holds(folder));
}

/** In no repository: agents read what lies above the folder that they work in. */
function newFolder(bases: readonly string[]): string | undefined {
  for (const base of bases) {
    try {
      fs.mkdirSync(base, { recursive: true });
      const real = fs.realpathSync(base);
      if (!findRepository(real)) return fs.mkdtempSync(path.join(real, "autodev-agent-test-"));
    } catch {
      // Full, read-only, somebody else's: there may be another.
    }
  }
  return undefined;
}
