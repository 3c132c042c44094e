/** The composition root of whatever is shared by many machines; nobody who works on one loads it. */
export { protocol } from "../engines/postgres/carrier.ts";
export type { RunRow } from "../engines/postgres/rows/runs.ts";
export type { WorkerRow } from "../engines/postgres/rows/workers.ts";
export { type Fleet, migrateEngine, openFleet } from "./fleet/connect.ts";
export { createPostgresEngine } from "./fleet/engine.ts";
export { submitFlow } from "./fleet/flow.ts";
export { type Submission, submitPlan } from "./fleet/submit.ts";
export { fleetTold } from "./fleet/told.ts";
export {
  answerIn,
  answerRun,
  type FleetSeen,
  findRunRow,
  keptTranscripts,
  limitAgent,
  pauseIn,
  retryIn,
  seeFleet,
  stopIn,
  type WatchedRun,
  watchRun,
} from "./fleet/watch.ts";
export { runWorker, type WorkerWish } from "./fleet/worker.ts";
