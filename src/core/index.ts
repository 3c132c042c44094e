/** `autodev/core`: what decides, without a clock, a disk or a process. Runs anywhere. */
export * from "./decision.ts";
export type { Event, RecordedEvent } from "./event.ts";
export * from "./evolve.ts";
export * from "./failure.ts";
export type { Finding } from "./finding.ts";
export * from "./flow/flow.ts";
export { builtInFlows, flowNamed } from "./flow/flows/index.ts";
export * from "./flow/generations.ts";
export { scanPosition, whichFlow } from "./flow/locate.ts";
export { type Opening, openingMove } from "./flow/opening.ts";
export { type Reading as StateFileReading, readPosition } from "./flow/position.ts";
export { convertStateFile, currentForm, type Form, renderStateFile } from "./flow/render.ts";
export * from "./flow/state.ts";
export { parseStateFile, type StateFile, textOf } from "./flow/state-file.ts";
export { type StepStatus, stepsOf } from "./flow/steps.ts";
export { type Facts, type Verdict, type Whereabouts, whereabouts } from "./flow/whereabouts.ts";
export type { GitPlace } from "./git-place.ts";
