/** `autodev/testing`: the suites that an implementation of ours or yours has to pass. */
export { type Runner, storeContract } from "./store-contract.ts";
