/** `autodev/testing`: the suites that an implementation of ours or yours has to pass. */
export { type AgentAtWork, type AgentWork, agentContract } from "./agent-contract.ts";
export {
  type EngineAtWork,
  type EngineFiles,
  engineContract,
} from "./engine-contract.ts";
export { type Runner, storeContract } from "./store-contract.ts";
export { trackerContract } from "./tracker-contract.ts";
