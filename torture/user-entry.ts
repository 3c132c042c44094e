/** `autodev build` and `autodev decide` as one program, to be bundled with or without a bug in it. */
import { parseArgs } from "node:util";
import { run as build } from "../src/cli/commands/build.ts";
import { run as decide } from "../src/cli/commands/decide.ts";
import type { CommitMode } from "../src/core/plan/run-event.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commit: { type: "string" },
    decide: { type: "string" },
    "trust-sha256": { type: "string" },
  },
});
const [command, what = "", letter = ""] = positionals;
const trustSha256 = values["trust-sha256"];

void (
  command === "decide"
    ? decide(what, letter, { json: true })
    : build(what, {
        json: true,
        agent: "mine",
        ...(values.commit !== undefined && { commit: values.commit as CommitMode }),
        ...(values.decide !== undefined && { decide: values.decide }),
        ...(trustSha256 !== undefined && { trustSha256 }),
      })
).then((code) => {
  process.exitCode = code;
});
