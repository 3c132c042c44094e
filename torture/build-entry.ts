/**
 * `autodev build` and `autodev log` as one program, to be bundled with or without a bug in it:
 * the commands are the shipped ones, only the reading of options is ours.
 */
import { parseArgs } from "node:util";
import { run as build } from "../src/cli/commands/build.ts";
import { run as log } from "../src/cli/commands/log.ts";
import type { CommitMode } from "../src/core/plan/run-event.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commit: { type: "string" },
    jobs: { type: "string" },
    agent: { type: "string" },
    attempts: { type: "string" },
    "trust-sha256": { type: "string" },
    decide: { type: "string" },
  },
});
const [command, plan] = positionals;
const { commit, jobs, agent, attempts, decide } = values;
const trustSha256 = values["trust-sha256"];

void (
  command === "log"
    ? log(undefined, { json: true })
    : build(plan, {
        json: true,
        ...(commit !== undefined && { commit: commit as CommitMode }),
        ...(jobs !== undefined && { jobs: Number(jobs) }),
        ...(agent !== undefined && { agent }),
        ...(attempts !== undefined && { attempts: Number(attempts) }),
        ...(trustSha256 !== undefined && { trustSha256 }),
        ...(decide !== undefined && { decide }),
      })
).then((code) => {
  process.exitCode = code;
});
