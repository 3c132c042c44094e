/** What crash-states tries, as one bundle, so that a bug can be planted in it. */
export { createFileStore } from "../src/stores/file.ts";
export { perform, verify } from "./canonical-run.ts";
