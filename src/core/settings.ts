/** What people settle in `.autodev/config.yaml`, or for themselves; everything has a default. */
import { z } from "zod";
import { knownAgents } from "./agent/known.ts";
import { Route } from "./agent/route.ts";
import { SandboxSettings, stricter } from "./agent/sandbox.ts";
import { sizePattern } from "./keep.ts";
import { NotifySettings, QuietHours } from "./notice.ts";
import { commitModes } from "./plan/run-event.ts";
import type { TrackerSettings } from "./tracker/servers.ts";

const most = z.union([z.number().positive(), z.literal(false)]).exactOptional();
const CapSettings = z.strictObject({
  tokens: most.describe("All that was read and written, cached or not; `false`: no limit."),
  cost: most.describe("In dollars, for agents that tell; `false`: no limit."),
  minutes: most.describe("In which an agent was at work; `false`: no limit."),
});

const BudgetSettings = z.strictObject({
  attempt: CapSettings.omit({ minutes: true }).exactOptional(),
  phase: CapSettings.exactOptional(),
  run: CapSettings.exactOptional(),
});

const agentName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);

const AgentEntry = z
  .strictObject({
    use: agentName
      .exactOptional()
      .describe("An agent that is known: `claude`, `codex`, `gemini` …; `acp`: see `command`."),
    command: z
      .string()
      .min(1)
      .exactOptional()
      .describe(
        "A program of your own: it reads a brief on standard input and writes a result. With `use: acp`, it speaks that protocol.",
      ),
    model: z.string().min(1).exactOptional().describe("Of those that the agent has."),
    args: z.array(z.string()).exactOptional().describe("More arguments for its program."),
    permissions: z
      .enum(["full", "edit", "read-only"])
      .exactOptional()
      .describe("What it may do in its work tree: all, no commands, or nothing but read; `full`."),
    fallback: z
      .array(agentName)
      .exactOptional()
      .describe("Who goes on when its account has nothing left, in this order."),
    confined: z
      .boolean()
      .exactOptional()
      .describe("`false`: it may write your own files too, not only its work tree."),
  })
  .refine(({ use, command }) => command === undefined || use === undefined || use === "acp", {
    message: "a program of your own has no `use`, unless it is acp",
    path: ["use"],
  });

export const engineNames = ["local", "postgres"] as const;
export type EngineName = (typeof engineNames)[number];

const isKnown = (name: string): boolean => knownAgents.some((each) => each.name === name);

export const Settings = z.strictObject({
  state: z
    .strictObject({
      sections: z
        .enum(["pointer", "full"])
        .exactOptional()
        .describe("How much the state file tells."),
    })
    .exactOptional(),
  agent: z.string().min(1).exactOptional().describe("Who does the work, unless `--agent` says so."),
  agents: z
    .record(agentName, AgentEntry)
    .superRefine((agents, check) => {
      for (const [name, { command, use }] of Object.entries(agents)) {
        if (command !== undefined || (use !== undefined && use !== "acp") || isKnown(name))
          continue;
        const message =
          use === "acp"
            ? "with `use: acp` there has to be a `command`"
            : "there is no such agent: it needs a `command`, or `use: <a known one>`";
        check.addIssue({ code: "custom", path: [name], message });
      }
    })
    .exactOptional()
    .describe("Agents by names of your own, and what those that are known are to be told."),
  routes: z
    .array(Route)
    .exactOptional()
    .describe("Who does what: the first that fits a phase or a step counts."),
  budget: BudgetSettings.exactOptional().describe(
    "What agents may use up before a person is asked; there are usual limits.",
  ),
  sandbox: SandboxSettings.exactOptional().describe("What keeps agents from your own files."),
  setup: z
    .string()
    .min(1)
    .exactOptional()
    .describe("Run in a fresh checkout before the gates: `npm ci`, say."),
  gates: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
      z.union([z.string().min(1), z.literal(false)]),
    )
    .exactOptional()
    .describe("What must exit with 0 before a phase lands, by name; `false` drops one."),
  checkout: z
    .strictObject({
      files: z
        .array(z.string().min(1))
        .exactOptional()
        .describe("Files that git ignores and the gates need, such as `.env.test`."),
    })
    .exactOptional(),
  verify: z
    .strictObject({
      bite: z
        .enum(["on", "off"])
        .exactOptional()
        .describe("Whether a phase's tests have to fail without its code; it costs a second run."),
    })
    .exactOptional(),
  keep: z
    .strictObject({
      days: z
        .int()
        .min(0)
        .max(36_500)
        .exactOptional()
        .describe("How old `autodev clean` lets things become; 30."),
      size: z
        .string()
        .regex(sizePattern)
        .exactOptional()
        .describe("How much may be kept, `2GB` say; of transcripts, also at the end of each run."),
    })
    .exactOptional()
    .describe("What autodev keeps on disk beside its memory."),
  flow: z
    .strictObject({
      commit: z
        .enum(["auto", "none"])
        .exactOptional()
        .describe("Whether a step's documents are committed when it is complete; `auto`."),
      stuck_minutes: z
        .number()
        .positive()
        .exactOptional()
        .describe("No new artifact for so long, though the agent works: it is stuck; 20."),
    })
    .exactOptional()
    .describe("How flows are carried out."),
  tracker: z
    .union([
      z.string().min(1),
      z.strictObject({
        use: z
          .string()
          .min(1)
          .exactOptional()
          .describe("`jira`, `ado`, `github`, `linear`, an MCP server's name, or `local`."),
        project: z
          .string()
          .min(1)
          .exactOptional()
          .describe("Where items go: a key, a name, `owner/repository`, a team."),
        site: z.string().min(1).exactOptional().describe("Of Jira: the cloud id, or its address."),
        epic_type: z.string().min(1).exactOptional().describe("What an epic is called there."),
        task_type: z.string().min(1).exactOptional().describe("What a task is called there."),
        done_state: z.string().min(1).exactOptional().describe("The state of what is done."),
        search_lag_seconds: z
          .number()
          .min(0)
          .max(600)
          .exactOptional()
          .describe("So long a search there may not see what was created."),
      }),
    ])
    .exactOptional()
    .describe("Where epics and tasks are created; alone, what to `use`."),
  build: z
    .strictObject({
      commit: z.enum(commitModes).exactOptional(),
      jobs: z.int().min(1).max(64).exactOptional(),
      attempts: z.int().min(1).max(20).exactOptional(),
      attempt_minutes: z.number().positive().exactOptional(),
      idle_minutes: z
        .number()
        .positive()
        .exactOptional()
        .describe("An agent that has been silent for so long is taken for dead; 20."),
      lease_minutes: z
        .number()
        .positive()
        .max(7 * 24 * 60)
        .exactOptional()
        .describe("An agent of yours that came for work has it for so long without a word; 30."),
      quiet: QuietHours.exactOptional().describe(
        "No attempt begins in these hours: your quota is yours.",
      ),
      gate_minutes: z.number().positive().exactOptional(),
    })
    .exactOptional(),
  notify: NotifySettings.exactOptional().describe("Who hears of a run that needs people, and how."),
  engine: z
    .union([
      z.enum(engineNames),
      z.strictObject({
        use: z.enum(engineNames).exactOptional().describe("`local`, unless `--engine` says so."),
        remote: z
          .string()
          .min(1)
          .exactOptional()
          .describe("By which code travels to workers and back: a remote of git; `origin`."),
        needs: z
          .array(z.string().regex(/^[a-z][a-z0-9-]*(?::[a-z0-9][a-z0-9._-]*)?$/))
          .exactOptional()
          .describe(
            "What every worker has to have: labels, `os:linux`, `arch:arm64`, `memory:8` (in GB).",
          ),
      }),
    ])
    .exactOptional()
    .describe("By what runs are carried: this machine, or a fleet on PostgreSQL."),
});
export type Settings = z.infer<typeof Settings>;

/** Its short form means what to use. */
export const engineSettings = ({
  engine,
}: Pick<Settings, "engine">): Exclude<Settings["engine"], string | undefined> =>
  typeof engine === "string" ? { use: engine } : (engine ?? {});

/** Its short form means what to use. */
export const trackerSettings = ({ tracker }: Pick<Settings, "tracker">): TrackerSettings =>
  typeof tracker === "string" ? { use: tracker } : (tracker ?? {});

/**
 * What a person may settle for all projects, in a file of their own. Not what a project is checked
 * by: a commit is audited in other clones, and nobody else has that file.
 */
export const UserSettings = Settings.pick({
  agent: true,
  agents: true,
  budget: true,
  build: true,
  notify: true,
  sandbox: true,
});

/** The project's word goes before the user's, key by key; of a sandbox and of a budget the stricter one. */
export const mergedSettings = (
  user: z.infer<typeof UserSettings>,
  project: Settings,
): Settings => ({
  ...user,
  ...project,
  ...agentsOf(user.agents, project.agents),
  ...budgetOf(user.budget, project.budget),
  ...joined("build", user, project),
  ...joined("notify", user, project),
  ...sandboxOf(stricter(user.sandbox, project.sandbox)),
});

const sandboxOf = (sandbox: SandboxSettings | undefined): Pick<Settings, "sandbox"> =>
  sandbox ? { sandbox } : {};

type Agents = Settings["agents"];

/** What a project says of an agent leaves alone what it does not speak of. */
function agentsOf(user: Agents, project: Agents): Pick<Settings, "agents"> {
  if (!user || !project) return user || project ? { agents: { ...user, ...project } } : {};
  const both = Object.entries(project).map(([name, entry]) => [
    name,
    Object.hasOwn(user, name) ? { ...user[name], ...entry } : entry,
  ]);
  return { agents: { ...user, ...(Object.fromEntries(both) as NonNullable<Agents>) } };
}

type Budget = NonNullable<Settings["budget"]>;

/** It is the user who pays: no repository has a limit of his raised or taken away. */
function budgetOf(user: Budget | undefined, project: Budget | undefined): Pick<Settings, "budget"> {
  if (!user || !project) return user || project ? { budget: { ...user, ...project } } : {};
  const budget: Record<string, Record<string, number | false>> = {};
  for (const scope of ["attempt", "phase", "run"] as const) {
    const caps: Record<string, number | false> = {};
    for (const [key, limit] of [
      ...Object.entries(user[scope] ?? {}),
      ...Object.entries(project[scope] ?? {}),
    ]) {
      const known = caps[key];
      caps[key] = known && limit ? Math.min(known, limit) : known || limit;
    }
    if (Object.keys(caps).length > 0) budget[scope] = caps;
  }
  return { budget: budget as Budget };
}

function joined<K extends "build" | "notify">(
  key: K,
  user: Settings,
  project: Settings,
): Pick<Settings, K> | undefined {
  const [below, above] = [user[key], project[key]];
  if (below === undefined && above === undefined) return undefined;
  return { [key]: { ...below, ...above } } as Pick<Settings, K>;
}
