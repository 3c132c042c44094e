/** The names that a state file may have under `_docs/`, the present one first. */
export const stateFileNames = ["_autodev_state.md", "_autopilot_state.md"] as const;

/** Larger than any state file and small enough to parse without a thought. */
export const largestStateFile = 1024 * 1024;
