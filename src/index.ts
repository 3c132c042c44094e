/** The library, by name. `autodev/core` has the pure part, `autodev/testing` the contract suites. */

export type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "./agent.ts";
export { Event as EventSchema } from "./core/event.ts";
export * from "./core/index.ts";
export type { Engine, RunWish } from "./engine.ts";
export { createLocalEngine } from "./project/local-engine.ts";
export {
  type BuildOptions,
  type BuildPeople,
  type Built,
  buildPlan,
  changePlan,
  type Held,
  hold,
  type Look,
  look,
  type OpenPlan,
  openPlan,
  openProject,
  type Project,
  planDisk,
  realWorld,
  type World,
} from "./project.ts";
export type {
  Head,
  Holder,
  Session,
  Snapshot,
  Store,
  StoredTransition,
  Transition,
} from "./store.ts";
export { createFileStore, type FileStoreOptions } from "./stores/file.ts";
export { createMemoryStore } from "./stores/memory.ts";
