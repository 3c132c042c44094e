/**
 * The machine-readable shapes: what `--json` prints. Stable and versioned; keys may be added,
 * these do not change. `schemas/` is generated from here.
 */
import { z } from "zod";
import { sandboxModes } from "../core/agent/sandbox.ts";
import { hostNames } from "../core/host/hosts.ts";
import { autobuildChoices } from "../core/host/wanted.ts";
import { keptKinds } from "../core/keep.ts";
import { attemptEnds } from "../core/plan/attempts.ts";
import { phaseStatuses, planFormats } from "../core/plan/plan.ts";
import { commitModes, GateOutcome } from "../core/plan/run-event.ts";
import { trackerKinds } from "../core/tracker/servers.ts";

const DecisionOption = z.object({
  key: z.string(),
  text: z.string(),
  notes: z.array(z.string()).optional().describe("said below it, a line each"),
});

const DecisionView = z.object({
  id: z.string(),
  question: z.string(),
  options: z.array(DecisionOption),
  recommendation: z.string(),
  reason: z.string(),
});

const Usage = z
  .object({
    tokens: z.number(),
    cost_usd: z.number().describe("as far as agents tell"),
    seconds: z.number().describe("in which an agent was at work"),
  })
  .describe("What the agents used, where they tell.");

export const StatusOutput = z.object({
  version: z.literal(1),
  root: z.string(),
  flow: z.string(),
  step: z.string().describe('the step\'s number as text ("3", "16.5"), or "done"'),
  name: z.string(),
  status: z.string(),
  subStep: z.object({ phase: z.int(), name: z.string(), detail: z.string() }),
  retryCount: z.int(),
  cycle: z.int(),
  tracker: z.string().nullable(),
  source: z.enum(["state", "scan", "rebuilt"]),
  generation: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  corrections: z.array(z.string()),
  steps: z.array(
    z.object({ step: z.string(), name: z.string(), status: z.string(), optional: z.boolean() }),
  ),
  decisions: z.array(DecisionView),
  blockers: z.array(z.string()),
  runs: z.array(
    z.object({
      run: z.string(),
      plan: z.string(),
      status: z.string(),
      unverified: z.int().optional().describe("complete phases that no gate has seen"),
      until: z.string().optional().describe("nothing can go on before that"),
      usage: Usage.optional(),
    }),
  ),
  components: z
    .array(
      z.object({
        name: z.string(),
        path: z.string(),
        checkedOut: z.boolean(),
        known: z.boolean().describe("false: it is not in the configuration yet"),
        commits: z.int().nullable().describe("since documents and CI were last brought in step"),
        flow: z.string().nullable(),
        step: z.string().nullable().describe("where its own flow is"),
        stepName: z.string().nullable(),
        status: z.string().nullable(),
      }),
    )
    .optional()
    .describe("of a repository of repositories: its parts"),
  outcome: z
    .object({ is: z.string(), what: z.string(), why: z.string() })
    .optional()
    .describe("of a command that goes on: why it has come to rest"),
});
export type StatusOutput = z.infer<typeof StatusOutput>;

export const NextOutput = z.object({
  version: z.literal(1),
  flow: z.string(),
  step: z.string(),
  name: z.string(),
  move: z.string().describe("what would be done, by name: ask, run-skill, commit, rest …"),
  what: z.string(),
  why: z.string(),
});
export type NextOutput = z.infer<typeof NextOutput>;

export const FlowActOutput = z.object({
  version: z.literal(1),
  act: z.enum(["skip", "back", "rollback"]),
  done: z.boolean().describe("false: somebody decided otherwise, and nothing was changed"),
  step: z.string().describe("where the flow is now"),
  name: z.string(),
  status: z.string(),
});
export type FlowActOutput = z.infer<typeof FlowActOutput>;

export const DecisionsOutput = z.array(
  DecisionView.extend({
    status: z.enum(["open", "answered", "withdrawn"]),
    answer: z.string().nullable(),
    answeredBy: z.string().nullable(),
    askedAt: z.string(),
    blocks: z.string(),
  }),
);
export type DecisionsOutput = z.infer<typeof DecisionsOutput>;

export const DoctorOutput = z.object({
  version: z.literal(1),
  root: z.string(),
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      code: z.string(),
      level: z.enum(["ok", "note", "warning", "error"]),
      message: z.string(),
      file: z.string().exactOptional(),
      line: z.int().exactOptional(),
      fix: z.string().exactOptional().describe("the one command that mends it"),
    }),
  ),
  mended: z.array(z.string()),
  stack: z
    .object({
      language: z.string().nullable(),
      framework: z.string().nullable(),
      packageManager: z.string().nullable(),
      testFramework: z.string().nullable(),
      linter: z.string().nullable(),
      formatter: z.string().nullable(),
      setup: z
        .object({ command: z.string().nullable(), why: z.string() })
        .nullable()
        .describe("what fills a fresh checkout"),
      gates: z.array(
        z.object({
          name: z.string(),
          command: z.string().nullable().describe("null: it is skipped"),
          why: z.string(),
        }),
      ),
    })
    .describe("what the files of the working tree say; a build looks at a commit"),
});
export type DoctorOutput = z.infer<typeof DoctorOutput>;

export const MigrateOutput = z.object({
  version: z.literal(1),
  changed: z.boolean(),
  dryRun: z.boolean(),
  from: z.object({ path: z.string(), generation: z.int() }),
  to: z.object({ path: z.string(), generation: z.int() }),
  difference: z.array(z.string()),
  notes: z.array(z.string()),
});
export type MigrateOutput = z.infer<typeof MigrateOutput>;

export const DecideOutput = z.object({
  version: z.literal(1),
  id: z.string(),
  answer: z.string(),
  answeredBy: z.string(),
  recorded: z.boolean().describe("false: kept durably, the running autodev takes it up"),
});
export type DecideOutput = z.infer<typeof DecideOutput>;

export const ErrorOutput = z.object({
  version: z.literal(1),
  error: z.object({
    code: z.string(),
    message: z.string(),
    file: z.string().exactOptional(),
    line: z.int().exactOptional(),
    hint: z.string().exactOptional(),
    details: z.array(z.string()).exactOptional(),
  }),
});

export const HelpErrorsOutput = z.object({
  version: z.literal(1),
  exitCodes: z.array(z.object({ code: z.int(), what: z.string() })),
  errors: z.array(
    z.object({
      code: z.string(),
      group: z.enum(["failure", "decision", "phase", "verification", "plan", "doctor"]),
      what: z.string(),
      causes: z.array(z.string()),
      wayOut: z.array(z.string()),
      exit: z.int().nullable().describe("the exit code it leads to"),
      remark: z.string().nullable().describe("when"),
    }),
  ),
});
export type HelpErrorsOutput = z.infer<typeof HelpErrorsOutput>;

const PlanFindingView = z.object({
  code: z.string(),
  message: z.string(),
  file: z.string(),
  line: z.int(),
  hint: z.string().describe("what to change"),
});

const Count = z.object({ total: z.int(), done: z.int() });

export const PlanCheckOutput = z.object({
  version: z.literal(1),
  format: z.enum(planFormats),
  reason: z.string().describe("by what the format was recognised"),
  files: z.array(z.string()),
  phases: z.array(
    z.object({
      id: z.string(),
      written: z.string(),
      name: z.string(),
      dependsOn: z.array(z.string()),
      parallelWith: z.array(z.string()),
      estimate: z.number().nullable(),
      status: z.enum(phaseStatuses),
      tasks: Count,
      definitionOfDone: Count,
      checkpoints: Count,
      files: z.array(
        z.object({ path: z.string(), change: z.enum(["create", "modify", "delete", "touch"]) }),
      ),
      file: z.string(),
      line: z.int(),
    }),
  ),
  boxes: z.object({ total: z.int(), done: z.int(), outsidePhases: z.int() }),
  batches: z.array(z.array(z.string())),
  criticalPath: z.array(z.string()),
  estimate: z.object({
    total: z.number(),
    remaining: z.number(),
    missing: z.int().describe("phases without one"),
  }),
  errors: z.array(PlanFindingView),
  warnings: z.array(PlanFindingView),
});
export type PlanCheckOutput = z.infer<typeof PlanCheckOutput>;

export const PlanGraphOutput = z.object({
  version: z.literal(1),
  files: z.array(z.string()),
  nodes: z.array(
    z.object({
      id: z.string(),
      written: z.string(),
      name: z.string(),
      status: z.enum(phaseStatuses),
      estimate: z.number().nullable(),
    }),
  ),
  edges: z.array(z.object({ from: z.string().describe("must be complete first"), to: z.string() })),
  batches: z.array(z.array(z.string())),
  criticalPath: z.array(z.string()),
});
export type PlanGraphOutput = z.infer<typeof PlanGraphOutput>;

export const PlanTickOutput = z.object({
  version: z.literal(1),
  dryRun: z.boolean(),
  files: z.array(z.string()).describe("those that changed"),
  edits: z.array(
    z.object({ file: z.string(), line: z.int(), before: z.string(), after: z.string() }),
  ),
  phases: z.array(z.string()),
  notes: z.array(z.string()).describe("what was asked for and could not be written"),
});
export type PlanTickOutput = z.infer<typeof PlanTickOutput>;

export const PlanImportOutput = z.object({
  version: z.literal(1),
  from: z.object({ format: z.enum(planFormats), files: z.array(z.string()) }),
  to: z.object({ format: z.literal("superplan"), file: z.string().nullable() }),
  phases: z.int(),
  text: z.string(),
});
export type PlanImportOutput = z.infer<typeof PlanImportOutput>;

export const PlanNewOutput = z.object({
  version: z.literal(1),
  file: z.string().nullable(),
  text: z.string(),
});
export type PlanNewOutput = z.infer<typeof PlanNewOutput>;

const FlowFindingView = z.object({
  code: z.enum(["flow-invalid", "flow-unreadable", "flow-twice"]),
  message: z.string(),
  file: z.string(),
  line: z.int(),
  field: z.string().describe("as steps[2].skill; empty: the whole of it"),
  expected: z.string(),
  found: z.string(),
  hint: z.string().describe("what to change"),
});

export const FlowListOutput = z.object({
  version: z.literal(1),
  flows: z.array(
    z.object({
      name: z.string(),
      from: z.string().describe("built-in, or the project's file"),
      replaces: z.boolean().describe("whether it wins over a built-in one"),
      steps: z.int(),
      about: z.string(),
    }),
  ),
  errors: z.array(FlowFindingView).describe("why others of the project cannot be followed"),
});
export type FlowListOutput = z.infer<typeof FlowListOutput>;

export const FlowCheckOutput = z.object({
  version: z.literal(1),
  files: z.array(z.string()).describe("those that were looked at"),
  errors: z.array(FlowFindingView),
});
export type FlowCheckOutput = z.infer<typeof FlowCheckOutput>;

const SkillView = z.object({
  name: z.string(),
  from: z.string().describe("built-in, or the project's folder"),
  file: z.string(),
  about: z.string(),
  modes: z.array(z.string()),
  usedBy: z.array(z.string()).describe("flow and step"),
});

export const SkillsListOutput = z.object({
  version: z.literal(1),
  skills: z.array(SkillView),
});
export type SkillsListOutput = z.infer<typeof SkillsListOutput>;

export const SkillsShowOutput = SkillView.extend({
  version: z.literal(1),
  text: z.string().describe("the whole file"),
});
export type SkillsShowOutput = z.infer<typeof SkillsShowOutput>;

export const SkillsCheckOutput = z.object({
  version: z.literal(1),
  skills: z.int().describe("those that were looked at"),
  findings: z.array(
    z.object({
      code: z.string(),
      level: z.enum(["note", "warning", "error"]),
      message: z.string(),
      file: z.string().nullable(),
      line: z.int().nullable(),
      fix: z.string().nullable(),
    }),
  ),
});
export type SkillsCheckOutput = z.infer<typeof SkillsCheckOutput>;

export const SkillsEjectOutput = z.object({
  version: z.literal(1),
  name: z.string(),
  files: z.array(z.string()),
});
export type SkillsEjectOutput = z.infer<typeof SkillsEjectOutput>;

export const FlowGraphOutput = z.object({
  version: z.literal(1),
  flows: z.array(
    z.object({
      name: z.string(),
      about: z.string(),
      from: z.string().describe("built-in, or the project's file"),
      steps: z.array(
        z.object({
          step: z.string(),
          name: z.string(),
          skill: z.string().nullable().describe("null: a person's step, or a rest"),
          mode: z.string().nullable(),
          optional: z.boolean().describe("people are asked whether they want it"),
          condition: z.string().nullable().describe("only where this is so, as a question"),
          proof: z.string().nullable().describe("in words; null: only the state can tell"),
          confirms: z
            .object({ file: z.string(), line: z.string() })
            .nullable()
            .describe("the line that only a person sets"),
          rests: z.boolean().describe("the session ends here"),
          next: z.string().describe("the step that follows, or done"),
          cycle: z.enum(["same", "next"]).describe("next: a new one begins with what follows"),
          boundary: z
            .object({ title: z.string(), next: z.string() })
            .nullable()
            .describe("the session ends before what follows"),
        }),
      ),
      stretches: z
        .array(z.array(z.string()))
        .describe("first and last step of those that are judged together; none: all"),
      onward: z
        .object({ flow: z.string(), step: z.string() })
        .nullable()
        .describe("where the next invocation goes on after the end"),
    }),
  ),
});
export type FlowGraphOutput = z.infer<typeof FlowGraphOutput>;

/** The last line of `build --json`; the lines before it are events, as `log --json` prints them. */
export const BuildOutput = z.object({
  version: z.literal(1),
  type: z.literal("summary"),
  run: z.string(),
  plan: z.string(),
  status: z
    .enum(["complete", "halted", "interrupted", "parked", "decision", "stopped"])
    .describe("stopped: the chosen phases are done, others are not"),
  mode: z.enum(commitModes),
  until: z.string().exactOptional().describe("parked until"),
  phases: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      unverified: z.literal(true).optional().describe("complete, but no gate has seen it"),
      status: z.enum(["pending", "running", "complete", "failed", "blocked"]),
      attempts: z.int(),
      commit: z.string().nullable().describe("the landed commit"),
      error: z.object({ type: z.string(), message: z.string() }).nullable(),
      blockedBy: z.string().nullable(),
    }),
  ),
  landed: z.string().describe("the commit that holds everything that has landed"),
  usage: Usage.partial(),
  asking: z.array(z.object({ message: z.string(), command: z.string().nullable() })),
  notices: z.array(z.string()),
  pullRequest: z
    .object({
      number: z.int(),
      url: z.string(),
      is: z.enum(["created", "updated", "unchanged", "closed"]),
    })
    .exactOptional()
    .describe("with --pr, of a complete run"),
});
export type BuildOutput = z.infer<typeof BuildOutput>;

/** The last line of `example --json`; the lines before it are events, as `log --json` prints them. */
export const ExampleOutput = z.object({
  version: z.literal(1),
  type: z.literal("example"),
  name: z.string(),
  folder: z.string(),
  plan: z.string(),
  trusted: z.boolean().describe("false: something beside ours would run too, and was not approved"),
  base: z.string().describe("the commit that the run builds on"),
  build: BuildOutput.nullable().describe("null: it was not run"),
  commits: z
    .array(z.object({ phase: z.string(), commit: z.string(), subject: z.string() }))
    .describe("what has landed, oldest first"),
  holds: z.boolean().nullable().describe("whether an audit of the last commit found it as it says"),
});
export type ExampleOutput = z.infer<typeof ExampleOutput>;

export const ExampleListOutput = z.object({
  version: z.literal(1),
  examples: z.array(z.object({ name: z.string(), what: z.string(), plan: z.string() })),
});
export type ExampleListOutput = z.infer<typeof ExampleListOutput>;

export const TrustOutput = z.object({
  version: z.literal(1),
  plan: z.string(),
  sha256: z.string().describe("what --trust-sha256 takes"),
  trusted: z.boolean(),
  surface: z.array(z.object({ kind: z.string(), name: z.string(), text: z.string() })),
});
export type TrustOutput = z.infer<typeof TrustOutput>;

const AuditFinding = z.object({
  code: z.string(),
  level: z.enum(["ok", "note", "warning", "error"]),
  message: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
});

export const AuditOutput = z.object({
  version: z.literal(1),
  holds: z.boolean().describe("false: at least one commit is not what its receipt says"),
  commits: z.array(
    z.object({
      commit: z.string(),
      subject: z.string(),
      ours: z.boolean().describe("whether a run made it"),
      holds: z.boolean().optional(),
      run: z.string().optional(),
      phases: z.array(z.string()).optional(),
      findings: z.array(AuditFinding).optional(),
      gates: z.array(GateOutcome).optional().describe("what the gates say now"),
    }),
  ),
});
export type AuditOutput = z.infer<typeof AuditOutput>;

/** `log PHASE --json`; `log --json` prints events. */
export const PhaseLogOutput = z.object({
  version: z.literal(1),
  run: z.string().nullable().describe("null: nothing is on record here, only a file was found"),
  phase: z.string(),
  name: z.string(),
  attempt: z.int().nullable().describe("the one whose text this is"),
  source: z
    .enum(["transcript", "phase-log", "none"])
    .describe("phase-log: only .autobuild/logs has something, 500 lines at most"),
  file: z.string().nullable(),
  text: z.string().nullable().describe("as it was printed, secrets masked; null with --attempts"),
  attempts: z.array(
    z.object({
      attempt: z.int(),
      how: z.enum(attemptEnds),
      startedAt: z.string(),
      endedAt: z.string().nullable(),
      seconds: z.number().nullable(),
      lines: z.array(z.string()).describe("the first useful ones about its end"),
    }),
  ),
});
export type PhaseLogOutput = z.infer<typeof PhaseLogOutput>;

export const DiffOutput = z.object({
  version: z.literal(1),
  run: z.string(),
  phase: z.string(),
  name: z.string(),
  attempt: z.int(),
  how: z.enum(attemptEnds),
  base: z.string().nullable().describe("what it is compared with; null: the commit's parent"),
  commit: z.string().nullable().describe("null: under way, this is what lies in its work tree"),
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(["create", "modify", "delete", "rename"]),
      from: z.string().exactOptional().describe("what a renamed file was called"),
      added: z.int().nullable().describe("lines; null: it is no text"),
      deleted: z.int().nullable(),
    }),
  ),
});
export type DiffOutput = z.infer<typeof DiffOutput>;

export const ShellOutput = z.object({
  version: z.literal(1),
  path: z.string().describe("the work tree; nothing was started in it"),
  phase: z.string(),
  attempt: z.int(),
  commit: z.string(),
});
export type ShellOutput = z.infer<typeof ShellOutput>;

const KeptView = z.object({
  kind: z.enum(keptKinds),
  name: z.string(),
  path: z.string().describe("of a run: its id"),
  bytes: z.int().describe("0 for refs: what they hold is git's to collect"),
  at: z.string().describe("when it was last of use"),
  why: z.string().describe("why it goes or stays"),
});

export const CleanOutput = z.object({
  version: z.literal(1),
  dryRun: z.boolean(),
  removed: z.array(KeptView).describe("with --dry-run: what would be removed"),
  kept: z.array(KeptView),
  failed: z.array(z.object({ name: z.string(), message: z.string() })),
  freedBytes: z.int(),
  keptBytes: z.int(),
});
export type CleanOutput = z.infer<typeof CleanOutput>;

export const AgentsOutput = z.object({
  version: z.literal(1),
  agents: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      kind: z
        .enum(["built-in", "known", "command"])
        .describe("command: one of the settings; it is listed and never run here"),
      program: z.string().nullable().describe("as it is called on PATH"),
      path: z.string().nullable().describe("null: it is not there"),
      installed: z.boolean(),
      version: z.string().nullable(),
      login: z.enum(["yes", "no", "unknown"]).nullable().describe("null: there is none to have"),
      loginBy: z
        .string()
        .nullable()
        .describe("a variable, a file or a command; never what is in it"),
      can: z
        .object({
          resume: z.boolean().describe("goes on with a session that was broken off"),
          structured: z.enum(["native", "tool"]).describe("how its result comes back"),
          permissions: z.enum(["asked", "mode"]).describe("asked: before each tool that needs it"),
          usage: z.boolean().describe("tells its tokens"),
          cost: z.boolean().describe("tells dollars"),
          interrupt: z.boolean().describe("leaves off when it is told to"),
        })
        .nullable(),
      install: z.string().nullable(),
      logIn: z.string().nullable(),
      note: z.string().nullable(),
    }),
  ),
  default: z
    .object({
      spelledOut: z.string().nullable().describe("for plans that spell out all their files"),
      name: z.string().nullable().describe("for all others; null: it has to be said"),
      candidates: z.array(z.string()).describe("who could be meant, where it has to be said"),
      why: z.string(),
    })
    .describe("whom a build takes when nobody was named"),
});
export type AgentsOutput = z.infer<typeof AgentsOutput>;

export const AgentsTestOutput = z.object({
  version: z.literal(1),
  name: z.string(),
  works: z.boolean(),
  outcome: z.enum(["done", "failed", "limited", "unable", "stopped"]),
  checks: z.array(
    z.object({
      name: z.enum(["started", "session", "file", "result", "usage", "processes"]),
      state: z
        .enum(["passed", "failed", "warning", "skipped"])
        .describe("warning: it can work all the same"),
      what: z.string(),
    }),
  ),
  message: z.string(),
  hint: z.string().nullable().describe("the way out"),
  seconds: z.number(),
  model: z.string().nullable(),
  usage: z
    .object({ tokens: z.int(), cost: z.number().nullable().describe("in dollars") })
    .nullable()
    .describe("null: it does not tell"),
});
export type AgentsTestOutput = z.infer<typeof AgentsTestOutput>;

const TrackerServer = z.object({
  name: z.string(),
  kind: z.enum(trackerKinds),
  from: z.string().describe("the file that configures it"),
  repository: z.boolean().describe("it has to be approved before it is started"),
});

export const TrackerOutput = z.object({
  version: z.literal(1),
  tracker: z.string().nullable().describe("on record; null: nothing was chosen yet"),
  server: z.string().nullable(),
  would: z
    .enum(["local", "chosen", "ask", "missing"])
    .describe("what comes of the settings and of what is configured"),
  why: z.string(),
  found: z.array(TrackerServer),
  authenticated: z.boolean().nullable().describe("when it was last used; null: it never was"),
  refused: z.string().nullable().describe("why it could not be used the last time"),
  pending: z.int().describe("epics and tasks that are in no tracker"),
  ledger: z.array(
    z.object({
      key: z.string(),
      tracker: z.string(),
      does: z.enum(["create", "link", "move"]),
      kind: z.enum(["epic", "task"]),
      of: z.string().describe("as our own files called it first"),
      tries: z.int(),
      id: z.string().nullable().describe("null: there is no receipt"),
      url: z.string().nullable(),
      others: z.array(z.string()).describe("the same once more: for people to close"),
      deferred: z.string().nullable().describe("why it was left for later"),
    }),
  ),
});
export type TrackerOutput = z.infer<typeof TrackerOutput>;

export const TrackerSyncOutput = z.object({
  version: z.literal(1),
  tracker: z.string(),
  created: z.int(),
  pending: z.int(),
  renamed: z.array(z.object({ from: z.string(), to: z.string() })).describe("below _docs/"),
  commit: z.string().nullable(),
});
export type TrackerSyncOutput = z.infer<typeof TrackerSyncOutput>;

export const TrackerToolsOutput = z.object({
  version: z.literal(1),
  server: TrackerServer,
  verbs: z.record(z.string(), z.string()).describe("by which tool each is done"),
  refused: z
    .object({ how: z.string(), why: z.string(), difference: z.array(z.string()) })
    .nullable(),
});
export type TrackerToolsOutput = z.infer<typeof TrackerToolsOutput>;

export const BuildPreviewOutput = z.object({
  version: z.literal(1),
  plan: z.string(),
  mode: z.string().nullable(),
  agent: z.string().nullable(),
  sandbox: z
    .object({
      mode: z.enum(sandboxModes),
      by: z.enum(["namespaces", "bubblewrap"]).nullable().describe("null: nothing confines them"),
      network: z.enum(["on", "off"]),
      free: z.array(z.string()).describe("agents that are not confined, by their settings"),
    })
    .nullable()
    .describe("null: a build would be refused, or nobody is there to be confined"),
  stack: z.record(z.string(), z.string().nullable()),
  commands: z.record(z.string(), z.string().nullable()),
  batches: z.array(
    z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        points: z.number().nullable(),
        tasks: z.int(),
        runs: z.boolean(),
        agent: z.string().nullable().describe("who would do it"),
      }),
    ),
  ),
  forecast: z
    .object({
      phases: z.int().describe("by how many that were done here it is judged"),
      tokens: z.array(z.number()).describe("from, to"),
      cost_usd: z.array(z.number()).nullable().describe("from, to; null: no agent has told"),
      seconds: z.array(z.number()).describe("of agents at work: from, to"),
    })
    .nullable()
    .describe("null: nothing like it was done here before"),
  warnings: z.array(PlanFindingView),
});
export type BuildPreviewOutput = z.infer<typeof BuildPreviewOutput>;

export const StopOutput = z.object({
  version: z.literal(1),
  running: z.boolean().describe("whether anything was under way"),
  asked: z.enum(["now", "after-phase"]).nullable(),
  process: z.int().nullable(),
  run: z.string().nullable(),
  plan: z.string().nullable(),
  status: z.string().nullable().describe("of the run; stopping: it was not waited for"),
});
export type StopOutput = z.infer<typeof StopOutput>;

export const RetryOutput = z.object({
  version: z.literal(1),
  run: z.string(),
  phase: z.string(),
  told: z
    .int()
    .nullable()
    .describe(
      "the process that is at it, null in a fleet; where nobody is, what `build --json` prints",
    ),
});
export type RetryOutput = z.infer<typeof RetryOutput>;

export const DetachOutput = z.object({
  version: z.literal(1),
  run: z.string(),
  plan: z.string(),
  process: z.int(),
  log: z.string().describe("where what it prints goes"),
});
export type DetachOutput = z.infer<typeof DetachOutput>;

export const InitOutput = z.object({
  version: z.literal(1),
  root: z.string(),
  dryRun: z.boolean(),
  remove: z.boolean(),
  hosts: z.array(z.enum(hostNames)),
  autobuild: z
    .enum(autobuildChoices)
    .nullable()
    .describe("whether .autobuild/ goes into git; null: --remove"),
  files: z.array(
    z.object({
      file: z.string(),
      change: z
        .enum(["create", "edit", "remove", "same", "left"])
        .describe("left: it is somebody else's, or somebody changed it; exit code 4"),
      line: z.int().nullable().describe("of what was left"),
      why: z.string().nullable(),
      hint: z.string().nullable(),
      removed: z.array(z.string()).describe("lines that go"),
      added: z.array(z.string()).describe("lines that come in their place"),
    }),
  ),
  notes: z.array(z.string()),
});
export type InitOutput = z.infer<typeof InitOutput>;

export const UiOutput = z.object({
  version: z.literal(1),
  url: z.string().describe("with the token: whoever has it can answer decisions here"),
  port: z.int(),
  pid: z.int().describe("of the process that serves it, which may be another one"),
});
export type UiOutput = z.infer<typeof UiOutput>;

export const EngineMigrateOutput = z.object({
  version: z.literal(1),
  at: z.string().describe("the database, without what is secret about its address"),
  from: z.int().describe("0: there was nothing"),
  to: z.int(),
  role: z.string().nullable().describe("who was given the rights of a worker"),
});
export type EngineMigrateOutput = z.infer<typeof EngineMigrateOutput>;

export const FleetOutput = z.object({
  version: z.literal(1),
  paused: z.boolean(),
  runs: z.array(
    z.object({
      run: z.string(),
      plan: z.string(),
      remote: z.string(),
      branch: z.string(),
      state: z.enum([
        "opening",
        "waiting",
        "driving",
        "paused",
        "asking",
        "parked",
        "halted",
        "over",
      ]),
      paused: z.boolean(),
      complete: z.int(),
      phases: z.int(),
      underWay: z.array(z.string()).describe("phases that somebody is at"),
      waitsFor: z.string().nullable(),
      driver: z.string().nullable().describe("the machine and process that drive it"),
      decisions: z.array(
        DecisionView.extend({
          facts: z.array(z.string()).describe("known about it"),
          warning: z.string().nullable(),
          destructive: z.boolean().describe("what it brings about cannot be undone"),
          blocks: z.string().describe("what waits for the answer"),
          askedAt: z.string(),
        }),
      ),
      error: z.string().nullable(),
      submittedBy: z.string(),
      submittedAt: z.string(),
    }),
  ),
  workers: z.array(
    z.object({
      id: z.string(),
      host: z.string(),
      state: z.enum(["active", "draining", "lost", "gone"]),
      jobs: z.int(),
      doing: z.array(z.string()),
      agents: z.array(z.string()),
      labels: z.array(z.string()),
      os: z.string(),
      memoryGb: z.number(),
      version: z.string(),
      lane: z.string(),
      since: z.string(),
      seen: z.string(),
    }),
  ),
  queue: z.array(z.object({ lane: z.string(), tasks: z.int() })),
  agents: z.array(
    z.object({
      agent: z.string(),
      atOnce: z.int().nullable(),
      perMinute: z.int().nullable(),
      dollarsADay: z.number().nullable(),
      limitedUntil: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
});
export type FleetOutput = z.infer<typeof FleetOutput>;

export const FleetPauseOutput = z.object({
  version: z.literal(1),
  run: z.string().nullable().describe("null: the whole fleet"),
  paused: z.boolean(),
  goesOn: z.array(z.string()).describe("runs that go on"),
});
export type FleetPauseOutput = z.infer<typeof FleetPauseOutput>;

export const FleetLimitOutput = z.object({
  version: z.literal(1),
  agent: z.string(),
  atOnce: z.int().nullable(),
  perMinute: z.int().nullable(),
  dollarsADay: z.number().nullable(),
});
export type FleetLimitOutput = z.infer<typeof FleetLimitOutput>;

export const WorkerOutput = z.object({
  version: z.literal(1),
  type: z.literal("worker"),
  line: z.string().describe("what it has to say: one object a line, until it ends"),
});
export type WorkerOutput = z.infer<typeof WorkerOutput>;

export const FleetLogOutput = z.object({
  version: z.literal(1),
  run: z.string(),
  transcripts: z.array(
    z.object({
      phase: z.string(),
      attempt: z.int(),
      part: z.string().describe("what was done then: work, verify, land"),
      reference: z.string(),
      lines: z.array(z.string()),
    }),
  ),
});
export type FleetLogOutput = z.infer<typeof FleetLogOutput>;
