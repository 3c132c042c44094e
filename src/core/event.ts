/**
 * What happened, in the past tense: the only thing that is ever recorded. Every display and
 * every state is a fold of these. Schemas first; the types are inferred from them. A record
 * may gain keys from a newer release of the same format: unknown keys are kept, never refused.
 */
import { z } from "zod";
import { effects } from "./decision.ts";
import { Lease } from "./lease.ts";
import { AgentResult } from "./plan/result.ts";
import { runEvents } from "./plan/run-event.ts";
import { trackerEvents } from "./tracker/tracker-event.ts";

const SubStep = z.object({
  phase: z.int().min(0),
  name: z.string(),
  detail: z.string(),
});

const FlowState = z.object({
  flow: z.string(),
  step: z.string(),
  name: z.string(),
  status: z.string(),
  subStep: SubStep,
  retryCount: z.int().min(0).max(3),
  cycle: z.int().min(1),
  tracker: z.string().exactOptional(),
  skipped: z.array(z.string()),
  completed: z.array(
    z.object({ step: z.string(), name: z.string(), completed: z.string(), outcome: z.string() }),
  ),
  keyDecisions: z.array(z.string()),
  lastSession: z
    .object({ date: z.string(), endedAt: z.string(), reason: z.string(), notes: z.string() })
    .exactOptional(),
  retryLog: z.array(
    z.object({
      attempt: z.int().min(0),
      step: z.string(),
      name: z.string(),
      subStep: z.string(),
      reason: z.string(),
      at: z.string(),
    }),
  ),
  blockers: z.array(z.string()),
});

/** Bytes became the truth: created by us, found, edited by hand, brought by git, or migrated. */
const StateFileAdopted = z.object({
  type: z.literal("state-file-adopted"),
  why: z.enum(["created", "imported", "hand-edit", "came-with-git", "renamed", "migrated"]),
  path: z.string(),
  /** Exactly what the file held (or is to hold): later renderings are edits of it. */
  text: z.string(),
  generation: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  variant: z.union([z.literal(12), z.literal(13), z.literal(14)]),
  state: FlowState,
  corrections: z.array(z.string()),
  /** The file did not say where, and the folders say only: one of these steps. */
  places: z.array(z.string()).exactOptional(),
});

const StepStarted = z.object({
  type: z.literal("step-started"),
  step: z.string(),
  name: z.string(),
  cycle: z.int().min(1).exactOptional(),
  /** What becomes of artifacts that were there before. */
  treats: z.enum(["resume", "overwrite"]).exactOptional(),
});
const SubStepReported = z.object({ type: z.literal("sub-step-reported"), subStep: SubStep });
/** A person wants a step done that was over: tried anew, or once more from its beginning. */
const StepReopened = z.object({
  type: z.literal("step-reopened"),
  step: z.string(),
  name: z.string(),
  how: z.enum(["retry", "back", "rollback", "re-run"]),
});
/** A person wants nothing done here for now; what is asked next is asked on a new occasion. */
const StepAborted = z.object({ type: z.literal("step-aborted"), reason: z.string() });
/** What was completed or rolled back is in a commit of ours; `why`: it is not, and will not be. */
const StepCommitted = z.object({
  type: z.literal("step-committed"),
  step: z.string(),
  commit: z.string().exactOptional(),
  why: z.string().exactOptional(),
});
/** A rollback was wanted: `step-reopened` tells when it has been carried out. */
const RollbackChosen = z.object({
  type: z.literal("rollback-chosen"),
  step: z.string(),
  name: z.string(),
});

/** An agent begins to work by a skill; numbered before it begins, and never again. */
const SkillStarted = z.object({
  type: z.literal("skill-started"),
  session: z.int().min(1),
  step: z.string(),
  skill: z.string(),
  mode: z.string().exactOptional(),
  agent: z.string(),
  /** The agent's own session that it goes on with. */
  resumes: z.string().exactOptional(),
  /** Not the step itself: its tasks are put right, or what landed of them is reviewed. */
  part: z.enum(["mend", "review"]).exactOptional(),
});
/** From here on the agent can go on with it. */
const SkillSessionOpened = z.object({
  type: z.literal("skill-session-opened"),
  session: z.int().min(1),
  id: z.string(),
  model: z.string().exactOptional(),
});
const SkillUsageCounted = z.object({
  type: z.literal("skill-usage-counted"),
  session: z.int().min(1),
  tokens: z.number().min(0),
  cost: z.number().min(0).exactOptional(),
});
/** Somebody has come for the session's work, until then; again: for longer, or somebody else. */
const SkillLeased = z.object({
  type: z.literal("skill-leased"),
  session: z.int().min(1),
  lease: Lease,
  /** What he has to know besides: it is told again to whoever takes over. */
  notes: z.array(z.string()),
  /** Of a suite: a person had confirmed its configuration before. */
  confirmed: z.boolean().exactOptional(),
});
/** Whoever had come for it says how it went. */
const SkillReported = z.object({
  type: z.literal("skill-reported"),
  session: z.int().min(1),
  epoch: z.int().min(1),
  result: AgentResult,
});
/** How a session ended; what follows from it stands in the events beside it. */
const SkillEnded = z.object({
  type: z.literal("skill-ended"),
  session: z.int().min(1),
  how: z.enum(["done", "failed", "asked", "context", "stuck", "stopped", "limited", "unable"]),
  reason: z.string().exactOptional(),
  /** What the skill says of the project, for conditions of later steps. */
  reports: z.array(z.string()).exactOptional(),
  /** Not before. */
  until: z.string().exactOptional(),
  /** Why the step's tasks have to be looked at before anything else. */
  trouble: z.string().exactOptional(),
  /** What it asks people. */
  asks: z
    .object({
      question: z.string(),
      options: z.array(z.string()).min(2).max(4),
      recommendation: z.string(),
      reason: z.string(),
    })
    .exactOptional(),
});
/** A batch of the step's tasks is over; people find it in a file of its own. */
const BatchReported = z.object({
  type: z.literal("batch-reported"),
  number: z.int().min(1),
  tasks: z.array(
    z.object({
      id: z.string(),
      task: z.string(),
      name: z.string(),
      result: z.enum(["landed", "failed", "was done"]),
      commit: z.string().exactOptional(),
      attempts: z.int().min(0),
      troubles: z.array(z.string()),
      notes: z.array(z.string()),
    }),
  ),
});
/** The step's run has come to a rest; `trouble`: what has to be looked at before it goes on. */
const TasksRan = z.object({
  type: z.literal("tasks-ran"),
  how: z.enum(["complete", "halted", "parked"]),
  trouble: z.string().exactOptional(),
  until: z.string().exactOptional(),
});
/** A sub-step is left out, because a person said so. */
const SubStepSkipped = z.object({ type: z.literal("sub-step-skipped"), next: SubStep });
const StepRetried = z.object({ type: z.literal("step-retried"), reason: z.string() });
const StepFailed = z.object({ type: z.literal("step-failed"), blocker: z.string() });
const StepCompleted = z.object({ type: z.literal("step-completed"), outcome: z.string() });
const StepSkipped = z.object({ type: z.literal("step-skipped"), reason: z.string() });
/** Where the flow stands next, before that step has begun. */
const StepEntered = z.object({
  type: z.literal("step-entered"),
  flow: z.string(),
  step: z.string(),
  name: z.string(),
  cycle: z.int().min(1),
  /** Absent: by the chain. */
  why: z.enum(["answered", "corrected", "onward"]).exactOptional(),
  /** Steps before it that are not to be done. */
  skips: z.array(z.string()).exactOptional(),
  /** A session ends before it. */
  boundary: z.boolean().exactOptional(),
  /** Of a new cycle: what has a date in its name already. */
  seen: z.array(z.string()).exactOptional(),
});
/** A person goes on without what these steps leave. */
const StepsExcused = z.object({ type: z.literal("steps-excused"), steps: z.array(z.string()) });
/** A person said what a status of their own means. */
const StatusSet = z.object({ type: z.literal("status-set"), status: z.string() });
const SessionEnded = z.object({
  type: z.literal("session-ended"),
  reason: z.string(),
  notes: z.string(),
});
const BlockerRaised = z.object({ type: z.literal("blocker-raised"), text: z.string() });
const BlockerCleared = z.object({ type: z.literal("blocker-cleared"), text: z.string() });

/** The project's settings say how much the state file tells. */
const SectionsChosen = z.object({
  type: z.literal("sections-chosen"),
  sections: z.enum(["pointer", "full"]),
});

const DecisionAsked = z.object({
  type: z.literal("decision-asked"),
  decision: z.object({
    id: z.string().regex(/^d-[0-9a-f]{12}$/),
    kind: z.string(),
    subject: z.string(),
    cycle: z.int().min(1),
    cause: z.string(),
    question: z.string(),
    options: z
      .array(
        z.object({
          key: z.string().regex(/^[A-D]$/),
          text: z.string(),
          notes: z.array(z.string()).exactOptional(),
          brings: z
            .object({ do: z.enum(effects), step: z.string(), name: z.string() })
            .exactOptional(),
        }),
      )
      .min(2)
      .max(4),
    recommendation: z.string(),
    reason: z.string(),
    destructive: z.boolean().exactOptional(),
    title: z.string().exactOptional(),
    facts: z.array(z.string()).exactOptional(),
    warning: z.string().exactOptional(),
    blocks: z.string(),
    askedAt: z.string(),
  }),
});
const DecisionAnswered = z.object({
  type: z.literal("decision-answered"),
  id: z.string(),
  key: z.string(),
  by: z.string(),
  at: z.string(),
});
/** The question no longer arises (the file it was about is gone, say). */
const DecisionWithdrawn = z.object({
  type: z.literal("decision-withdrawn"),
  id: z.string(),
  reason: z.string(),
});

/** Stands in the place of a record that could not be read any more. */
const JournalRepaired = z.object({
  type: z.literal("journal-repaired"),
  lost: z.string(),
  aside: z.string(),
});

export const Event = z.discriminatedUnion("type", [
  StateFileAdopted,
  StepEntered,
  StepsExcused,
  StepStarted,
  SubStepReported,
  StepRetried,
  StepFailed,
  StepCompleted,
  StepSkipped,
  StepReopened,
  StepAborted,
  StepCommitted,
  RollbackChosen,
  SkillStarted,
  SkillSessionOpened,
  SkillUsageCounted,
  SkillLeased,
  SkillReported,
  SkillEnded,
  BatchReported,
  TasksRan,
  SubStepSkipped,
  StatusSet,
  SessionEnded,
  BlockerRaised,
  BlockerCleared,
  SectionsChosen,
  DecisionAsked,
  DecisionAnswered,
  DecisionWithdrawn,
  JournalRepaired,
  ...trackerEvents,
  ...runEvents,
]);
export type Event = z.infer<typeof Event>;

/** An event with its place in history. */
export type RecordedEvent = Event & {
  readonly seq: number;
  readonly at: string;
  readonly run: string;
};
