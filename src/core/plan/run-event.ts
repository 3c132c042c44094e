/**
 * What happens in a run of a plan. Each event is a fact about the run or about one phase of it;
 * the run itself is named by the transition that holds them.
 */
import { z } from "zod";
import { troubleKinds } from "../agent/trouble.ts";
import { Lease } from "../lease.ts";
import { findingTable } from "../verification/finding-table.ts";
import { errorTypes } from "./phase-error.ts";
import { AgentResult } from "./result.ts";

export const commitModes = ["auto", "message-only", "single"] as const;
export type CommitMode = (typeof commitModes)[number];

const ErrorShape = z.object({
  type: z.enum(errorTypes),
  message: z.string(),
  details: z.string().exactOptional(),
  kind: z.enum(troubleKinds).exactOptional(),
});

/** How many tests a gate told of; skipped is not passed. */
const TestCounts = z.object({
  runner: z.string(),
  passed: z.int().min(0),
  failed: z.int().min(0),
  skipped: z.int().min(0),
  /** Of lines, in percent. */
  coverage: z.number().exactOptional(),
});
export type TestCounts = z.infer<typeof TestCounts>;

export const GateOutcome = z.object({
  name: z.string(),
  /** Null: there is no tool for it. */
  command: z.string().nullable(),
  /** Null: skipped, which is not passed. */
  passed: z.boolean().nullable(),
  summary: z.string(),
  /** `file:line name` of what failed, as far as its output tells. */
  failures: z.array(z.string()).exactOptional(),
  /** Absent: no test runner's words were recognised in its output. */
  tests: TestCounts.exactOptional(),
  /** It failed, and everything that failed had failed before the run: that counts as passed. */
  known: z.array(z.string()).exactOptional(),
  timedOut: z.literal(true).exactOptional(),
});
export type GateOutcome = z.infer<typeof GateOutcome>;

const paths = z.array(z.string());

const Claim = z.object({
  status: z.enum(["complete", "failed"]),
  tasksTotal: z.int().min(0),
  tasksCompleted: z.int().min(0),
  message: z.string(),
  /** Gates that the agent says it ran, and how they ended. */
  gates: z.record(z.string(), z.boolean().nullable()).exactOptional(),
  files: z.object({ created: paths, modified: paths, deleted: paths }).exactOptional(),
});

/** What an agent left beside its work, seen when it had ended; absent: nothing of the kind. */
const Traces = z.object({
  /** Commits, branches and tags that are not what they were, a sentence each. */
  history: z.array(z.string()).exactOptional(),
  /** Files of ours that it wrote; they are no part of its work. */
  state: paths.exactOptional(),
  /** The plan's files, if it edited them; neither are they. */
  plan: paths.exactOptional(),
  /** All paths that were left out of its work. */
  leftOut: paths.exactOptional(),
  /** Claimed files that git ignores. */
  ignored: paths.exactOptional(),
  nested: paths.exactOptional(),
  processes: z.int().min(0).exactOptional(),
});
export type Traces = z.infer<typeof Traces>;

export const VerificationFinding = z.object({
  code: z.enum(findingTable.map(([code]) => code)),
  level: z.enum(["note", "error"]),
  message: z.string(),
  file: z.string().exactOptional(),
  line: z.int().exactOptional(),
});
const findings = z.array(VerificationFinding);

const RunPhase = z.object({
  id: z.string(),
  written: z.string(),
  name: z.string(),
  dependsOn: z.array(z.string()),
  parallelWith: z.array(z.string()),
  tasks: z.int().min(0),
  /** Points, where the plan gives any. */
  estimate: z.number().min(0).exactOptional(),
  /** A hash of what the phase asks for, without its boxes: tells whether it was changed. */
  asks: z.string(),
  /** Why there is nothing to do: it was done before the run began. */
  skipped: z.string().exactOptional(),
});
export type RunPhase = z.infer<typeof RunPhase>;

const Gate = z.object({
  name: z.string(),
  command: z.string().nullable(),
  reason: z.string().exactOptional(),
});
export type Gate = z.infer<typeof Gate>;

const Stack = z.object({
  language: z.string().nullable(),
  framework: z.string().nullable(),
  package_manager: z.string().nullable(),
  test_framework: z.string().nullable(),
  linter: z.string().nullable(),
  formatter: z.string().nullable(),
});
export type Stack = z.infer<typeof Stack>;

/** Path → blob: the plan as it was read; ticks are edits of that. */
const PlanBlobs = z.record(z.string(), z.string());

const RunStarted = z.object({
  type: z.literal("run-started"),
  plan: z.string(),
  format: z.string(),
  title: z.string(),
  mode: z.enum(commitModes),
  /** The ref that is published to; "HEAD": it is detached; "": files only. */
  target: z.string(),
  base: z.string(),
  /** What `target` held when the run began; empty: it is yet to be made. */
  targetAt: z.string(),
  agent: z.string(),
  /** For every phase, whatever the plan and the settings say: somebody has named it. */
  forced: z.literal(true).exactOptional(),
  maxAttempts: z.int().min(1),
  stack: Stack,
  gates: z.array(Gate),
  phases: z.array(RunPhase),
  planFiles: PlanBlobs,
  /** The plan's files are not git's: they are ticked where they stand. */
  planOutside: z.boolean().exactOptional(),
  /** The step of a flow whose tasks these are. */
  under: z.string().exactOptional(),
  /** Nothing is published before a person has looked at it. */
  review: z.literal(true).exactOptional(),
});

/** A new session goes on: what was under way has no outcome, what had failed may try again. */
const RunResumed = z.object({
  type: z.literal("run-resumed"),
  agent: z.string().exactOptional(),
  forced: z.literal(true).exactOptional(),
  gates: z.array(Gate).exactOptional(),
  under: z.string().exactOptional(),
  /** Somebody came for work, as he does after each phase: what had failed stays so. */
  pulled: z.literal(true).exactOptional(),
  review: z.literal(true).exactOptional(),
});

/** The document was changed by people: from now on these are the phases. */
const PlanReread = z.object({
  type: z.literal("plan-reread"),
  phases: z.array(RunPhase),
  planFiles: PlanBlobs,
  /** What changed, a line each. */
  changes: z.array(z.string()),
});

/** The gates on what the run builds on, before anybody has worked; and what people made of it. */
const BaselineTaken = z.object({
  type: z.literal("baseline-taken"),
  commit: z.string(),
  gates: z.array(GateOutcome),
  /** By gate: failures that are known and do not count. */
  accepted: z.record(z.string(), z.array(z.string())).exactOptional(),
  /** Gates that are not run, by decision. */
  dropped: z.array(z.string()).exactOptional(),
  /** No gate runs at all, and that was accepted: what is complete is not verified. */
  unverified: z.literal(true).exactOptional(),
});

const attemptOf = { phase: z.string(), attempt: z.int().min(1) };

const AttemptStarted = z.object({
  type: z.literal("attempt-started"),
  ...attemptOf,
  uuid: z.string(),
  base: z.string(),
  slot: z.int().min(0),
  /** Absent: the run's own. */
  agent: z.string().exactOptional(),
  /** It begins with what that attempt had done. */
  continues: z.int().min(1).exactOptional(),
  /** In the folder of that one: a session can be gone on with only where it was opened. */
  folder: z.int().min(1).exactOptional(),
});
/** Somebody has come for it and has its work tree, until then; again: for longer, or somebody else. */
const AttemptLeased = z.object({ type: z.literal("attempt-leased"), ...attemptOf, lease: Lease });
/** Whoever had come for it says how it went. */
const AttemptReported = z.object({
  type: z.literal("attempt-reported"),
  ...attemptOf,
  epoch: z.int().min(1),
  result: AgentResult,
});
/** A work tree that was still out after its lease had ended is here again, and gone. */
const LentTreeKept = z.object({
  type: z.literal("lent-tree-kept"),
  ...attemptOf,
  /** Where what was in it is kept; absent: nothing was. */
  ref: z.string().exactOptional(),
});
/** The agent has told by what name it can be found again. */
const SessionOpened = z.object({
  type: z.literal("session-opened"),
  ...attemptOf,
  agent: z.string(),
  session: z.string(),
  model: z.string().exactOptional(),
});
/** What an attempt has used since this was last said. */
const UsageCounted = z.object({
  type: z.literal("usage-counted"),
  ...attemptOf,
  tokens: z.number().min(0),
  /** In dollars. */
  cost: z.number().min(0).exactOptional(),
});
const AttemptDelivered = z.object({
  type: z.literal("attempt-delivered"),
  ...attemptOf,
  /** A commit on the attempt's base that holds exactly what the agent left. */
  commit: z.string(),
  claim: Claim,
  traces: Traces.exactOptional(),
  model: z.string().exactOptional(),
});
const AttemptFailed = z.object({
  type: z.literal("attempt-failed"),
  ...attemptOf,
  error: ErrorShape,
  claim: Claim.exactOptional(),
  gates: z.array(GateOutcome).exactOptional(),
  findings: findings.exactOptional(),
});
const AttemptInterrupted = z.object({
  type: z.literal("attempt-interrupted"),
  ...attemptOf,
  reason: z.string(),
});
/** A usage limit was reached, a service was down: waiting is not an attempt. */
const AttemptParked = z.object({
  type: z.literal("attempt-parked"),
  ...attemptOf,
  until: z.string(),
  reason: z.string(),
  agent: z.string().exactOptional(),
  kind: z.enum(troubleKinds).exactOptional(),
});
/** The agent cannot work before a person has done something about it. */
const AttemptUnable = z.object({
  type: z.literal("attempt-unable"),
  ...attemptOf,
  agent: z.string(),
  kind: z.enum(troubleKinds),
  message: z.string(),
  hint: z.string(),
});
/** It was stopped because it had used up what it may use. */
const AttemptOverBudget = z.object({
  type: z.literal("attempt-over-budget"),
  ...attemptOf,
  /** What was used, of what. */
  over: z.string(),
});
/** People let a phase use as much again as it might before. */
const BudgetRaised = z.object({ type: z.literal("budget-raised"), phase: z.string() });
const RunBudgetRaised = z.object({ type: z.literal("run-budget-raised") });
/** What held it up is out of the way. */
const PhaseReleased = z.object({
  type: z.literal("phase-released"),
  phase: z.string(),
  reason: z.string(),
});
/** What it did does not fit on what has landed since. */
const AttemptConflicted = z.object({
  type: z.literal("attempt-conflicted"),
  ...attemptOf,
  files: z.array(z.string()),
});
const PhaseVerified = z.object({
  type: z.literal("phase-verified"),
  ...attemptOf,
  /** The landed commit that it was verified on top of. */
  onto: z.string(),
  /** On `onto`, ready to land: its tree is exactly what the gates ran on. */
  commit: z.string(),
  message: z.string(),
  created: z.array(z.string()),
  modified: z.array(z.string()),
  deleted: z.array(z.string()),
  gates: z.array(GateOutcome),
  /** Notes: nothing that kept it from landing. */
  findings: findings.exactOptional(),
  /** Gates that the project did not have before this phase. */
  introduced: z.array(Gate).exactOptional(),
  /** The set-up that they need, where it was another or none. */
  setup: z.string().exactOptional(),
  /** The blob with everything that was seen; its id is in the commit's trailers. */
  evidence: z.string().exactOptional(),
  /** The blobs of the plan that its ticks were put into. */
  planFrom: z.string().exactOptional(),
  tasksChecked: z.int().min(0),
  doneChecked: z.int().min(0),
  statusUpdated: z.boolean(),
});
const PhaseLanded = z.object({
  type: z.literal("phase-landed"),
  ...attemptOf,
  commit: z.string(),
});
const PhaseSkipped = z.object({
  type: z.literal("phase-skipped"),
  phase: z.string(),
  reason: z.string(),
});
/** A person wants it done again (a phase file set back to pending, say). */
const PhaseReset = z.object({
  type: z.literal("phase-reset"),
  phase: z.string(),
  reason: z.string(),
});
/** A person's word for whoever tries this phase next. */
const NoteGiven = z.object({
  type: z.literal("note-given"),
  phase: z.string(),
  note: z.string(),
  by: z.string(),
});
/** Somebody has asked the run to come to an end, from elsewhere. */
const StopAsked = z.object({
  type: z.literal("stop-asked"),
  how: z.enum(["now", "after-phase"]),
  by: z.string(),
});
/** The landed commit is where people see it: on the branch, in the files, or both. */
const PhasePublished = z.object({
  type: z.literal("phase-published"),
  phase: z.string(),
  /** On the branch; null: only the files were written. */
  commit: z.string().nullable(),
  /** Files that people had changed and that were left as they are. */
  kept: z.array(z.string()),
});
/** All phases at once, as one commit. */
const RunPublished = z.object({
  type: z.literal("run-published"),
  commit: z.string(),
  kept: z.array(z.string()),
});
/** Somebody's commits came first: what lies on `commit` from now on is verified anew on top. */
const TargetMoved = z.object({
  type: z.literal("target-moved"),
  commit: z.string(),
  /** Landed but not yet published; they land again. */
  undone: z.array(z.string()),
  /** What is run there is what was run before; absent: people have approved it anew. */
  runsTheSame: z.literal(true).optional(),
});
/** What is published goes elsewhere from now on. */
const TargetChosen = z.object({
  type: z.literal("target-chosen"),
  target: z.string(),
  /** What it holds now; empty: it is yet to be made. */
  holds: z.string(),
});
const ReviewPassed = z.object({ type: z.literal("review-passed"), commit: z.string() });

const RunEnded = z.object({
  type: z.literal("run-ended"),
  how: z.enum(["complete", "halted", "interrupted", "parked", "asking", "stopped"]),
  until: z.string().exactOptional(),
});
/** Another run has taken its place. */
const RunSetAside = z.object({ type: z.literal("run-set-aside"), aside: z.string() });

export const runEvents = [
  RunStarted,
  RunResumed,
  PlanReread,
  BaselineTaken,
  AttemptStarted,
  AttemptLeased,
  AttemptReported,
  LentTreeKept,
  SessionOpened,
  UsageCounted,
  AttemptDelivered,
  AttemptFailed,
  AttemptInterrupted,
  AttemptParked,
  AttemptUnable,
  AttemptOverBudget,
  BudgetRaised,
  RunBudgetRaised,
  PhaseReleased,
  AttemptConflicted,
  PhaseVerified,
  PhaseLanded,
  PhaseSkipped,
  PhaseReset,
  NoteGiven,
  StopAsked,
  PhasePublished,
  RunPublished,
  TargetMoved,
  TargetChosen,
  ReviewPassed,
  RunEnded,
  RunSetAside,
] as const;
export type RunEvent = z.infer<(typeof runEvents)[number]>;
