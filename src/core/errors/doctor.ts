/**
 * What `autodev doctor` finds beside failures that commands end with. `error`: doctor ends with 1.
 * What is well (`ok`) needs no explanation, and has no row.
 */
import type { Trouble } from "./explained.ts";

export interface DoctorRow extends Trouble {
  readonly level: "note" | "warning" | "error";
}

const fix = "`autodev doctor --fix`";

export const doctorFindings = {
  node: {
    level: "error",
    what: "Node is too old",
    causes: ["an older Node comes first on PATH"],
    wayOut: ["install Node 20.19 or later"],
  },
  flock: {
    level: "error",
    what: "`flock` is not on this machine, and nothing can be recorded without it",
    causes: ["a slim container image"],
    wayOut: ["install util-linux"],
  },
  sandbox: {
    level: "warning",
    what: "nothing confines agents on this machine: they can write all that you can",
    causes: [
      "a container or a kernel that gives us no namespaces",
      "another system than Linux",
      "`AUTODEV_NO_NAMESPACE=1`",
    ],
    wayOut: [
      "install bubblewrap: it may be let do what we are not",
      "`autodev build --sandbox=required` refuses to run without a sandbox",
    ],
  },
  "read-only": {
    level: "error",
    what: "the repository is on a read-only file system: one can look, but nothing is recorded",
    causes: ["a mount without write access", "a disk that failed and was remounted"],
    wayOut: ["remount it for writing, as the finding shows; of a failed disk, save the data first"],
  },
  "not-writable": {
    level: "error",
    what: "a folder that has to be written cannot be, by this user",
    causes: ["files that were made by root, in a container or with sudo"],
    wayOut: ["`chmod u+rwx` the folder that is named, or `chown` it back"],
  },
  "disk-full": {
    level: "warning",
    what: "less than 50 MB are free where the journal lies (an error below 1 MB)",
    causes: ["build output, caches, logs"],
    wayOut: ["make room; nothing that was acknowledged is lost meanwhile"],
  },
  "journal-half-mended": {
    level: "error",
    what: "the journal was being mended when the machine stopped",
    causes: ["a crash or power cut during `autodev doctor --fix`"],
    wayOut: [`${fix} finishes it`],
  },
  "journal-gone": {
    level: "warning",
    what: "the journal is gone; the files are taken as the truth",
    causes: ["`.git/autodev/journal` was deleted"],
    wayOut: [`${fix}, or just \`autodev\`: it begins anew from the files`],
  },
  "journal-flipped": {
    level: "error",
    what: "a record of the journal is not what was written",
    causes: ["a disk that fails", "an edit by hand"],
    wayOut: [`${fix} keeps the damaged journal aside and all that can be read`, "check the disk"],
  },
  "journal-missing": {
    level: "error",
    what: "transitions that were recorded are not in the journal",
    causes: ["a segment was deleted, or an older copy restored"],
    wayOut: [`${fix}; restore the missing files first, if you have them`],
  },
  "journal-two-epochs": {
    level: "error",
    what: "two sessions wrote under the same number",
    causes: ["a copy of `.git/autodev` that was merged with another"],
    wayOut: [`${fix} keeps the damaged journal aside and all that can be read`],
  },
  "journal-torn": {
    level: "note",
    what: "a segment ends in bytes of an append that never finished",
    causes: ["a crash or power cut at that very moment"],
    wayOut: ["nothing: they count for nothing and are kept"],
  },
  "journal-late": {
    level: "note",
    what: "a transition was written after another autodev had taken over; it was refused",
    causes: ["a process that slept or hung while it held the lock"],
    wayOut: ["nothing: it is kept and counts for nothing"],
  },
  "journal-event": {
    level: "warning",
    what: "an event is not of a form that this autodev knows; it is kept and passed over",
    causes: ["a newer autodev wrote it"],
    wayOut: ["`npm install --global autodev@latest`"],
  },
  "snapshot-unusable": {
    level: "warning",
    what: "the snapshot does not fit the journal; it is only a cache and is ignored",
    causes: ["a restored or edited journal"],
    wayOut: [`${fix}; until then \`status\` reads the whole journal`],
  },
  "answer-unreadable": {
    level: "error",
    what: "the file of an answer holds none that can be read",
    causes: ["an edit by hand", "a disk that fails"],
    wayOut: [`${fix} sets it aside, and the decision is open again`],
  },
  held: {
    level: "note",
    what: "another autodev holds the repository at this moment",
    causes: ["a run in another terminal"],
    wayOut: ["nothing; `autodev help locked` if it should not be there"],
  },
  leftover: {
    level: "warning",
    what: "a temporary file was left behind by a crash",
    causes: ["a process that was killed between writing and renaming"],
    wayOut: [fix],
  },
  correction: {
    level: "warning",
    what: "the state file says something that the folders contradict, or that cannot be read",
    causes: ["an edit by hand", "an agent that wrote the file by itself"],
    wayOut: ["`autodev` corrects it, and says so"],
  },
  config: {
    level: "error",
    what: "a settings file cannot be used",
    causes: ["YAML that cannot be read", "a key that is not known, a value of the wrong kind"],
    wayOut: ["mend the line that is named; `schemas/config.schema.json` helps editors"],
  },
  "no-gates": {
    level: "warning",
    what: "no gate can be run here: nothing would check what an agent did",
    causes: ["a project without tests, linter or build that we recognise"],
    wayOut: ['name one in `.autodev/config.yaml`: `gates: { test: "<your command>" }`'],
  },
  "gate-program": {
    level: "warning",
    what: "the program that a gate calls is not on this machine",
    causes: ["a tool that was not installed", "another PATH than in your shell"],
    wayOut: ["install it, or drop the gate: `gates: { <name>: false }`"],
  },
} as const satisfies Readonly<Record<string, DoctorRow>>;
