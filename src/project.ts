/**
 * The composition root: finds the repository and chooses the adapters. With the chapters in
 * `project/` the only files that name them, and the only ones besides core that the doors import.
 */
export { type Acted, actOnFlow, retryStep } from "./activities/act-on-flow.ts";
export { answerDecision } from "./activities/answer-decision.ts";
export type { AskTrust } from "./activities/approve.ts";
export type { AuditedCommit } from "./activities/audit.ts";
export * from "./activities/examine.ts";
export {
  ejectSkill,
  examineSkills,
  showSkill,
  type UsedSkill,
} from "./activities/examine-skills.ts";
export type { FoundAgent, Presence } from "./activities/find-agents.ts";
export { attemptNamed, findPhase, type PhaseHistory } from "./activities/find-attempt.ts";
export {
  examineFlowFiles,
  examineFlows,
  type FlowExamination,
  type FoundFlow,
  flowsFolder,
} from "./activities/find-flows.ts";
export { findParts } from "./activities/find-parts.ts";
export { examineSandbox } from "./activities/find-sandbox.ts";
export * from "./activities/hold.ts";
export { patchWithoutSecrets, withoutSecrets } from "./activities/keep-secrets.ts";
export type { ListedAgents } from "./activities/list-agents.ts";
export { type Example, type LandedCommit, landedCommits } from "./activities/make-example.ts";
export * from "./activities/open-flow.ts";
export type { OpenedPullRequest } from "./activities/open-pull-request.ts";
export { type PhaseDiff, phaseDiff } from "./activities/phase-diff.ts";
export * from "./activities/plan-files.ts";
export { type Preview, previewBuild } from "./activities/preview.ts";
export { listArtifacts, readArtifact } from "./activities/read-artifacts.ts";
export type { LentWork } from "./activities/run-site.ts";
export { say, untilReleased } from "./activities/say.ts";
export {
  enterShell,
  leaveShell,
  type OpenedShell,
  openShell,
} from "./activities/shell-tree.ts";
export type { FlowOptions } from "./activities/start-flow.ts";
export type { BuildOptions } from "./activities/start-run.ts";
export {
  lookAtTracker,
  type TrackerLook,
} from "./activities/sync-tracker.ts";
export { askingPeople } from "./activities/tell-people.ts";
export { briefIn, readTranscript } from "./activities/transcript.ts";
export type { Tried } from "./activities/try-agent.ts";
export type { InitRequest, PlannedFile } from "./activities/write-host-files.ts";
export type { AgentEvent } from "./agent.ts";
export { asConversation, inWords } from "./agents/made.ts";
export { attached } from "./exec/attached.ts";
export { hasScreen, openPage } from "./exec/open-page.ts";
export { markdownTree } from "./formats/markdown-tree.ts";
export { initRepository } from "./git.ts";
export { type BuildPeople, type Built, buildPlan } from "./project/build.ts";
export {
  auditRange,
  type Cleaned,
  cleanProject,
  listAgents,
  makeExample,
  testAgent,
  trustPlan,
} from "./project/care.ts";
export {
  type FlowPeople,
  flowFacts,
  followFlow,
  syncTracker,
  trackerTools,
} from "./project/flow.ts";
export { type HostFiles, hostFilesOf } from "./project/hosts.ts";
export {
  budgetsAt,
  cacheFolder,
  engineFor,
  glance,
  isHeld,
  openProject,
  planDisk,
  realWorld,
  suiteOf,
  timeNow,
  transcriptOf,
  trustPlaceOf,
  withFlows,
} from "./project/open.ts";
export { mayRequestPull, requestPull } from "./project/publish.ts";
export { leaseEnd, pullerFor, type Reported, renewWork, reportWork } from "./project/pull.ts";
export { shown, shownLine } from "./safe-text.ts";
export type { Holder } from "./store.ts";
export { contains, notOurs, uiFolder } from "./trust.ts";
