/**
 * Tests of the tests: a bug is planted, and the row that guards against it must fail. A row that
 * stays green over a planted bug proves nothing when it is green.
 */
import { createRequire } from "node:module";
import { enumerate, type Subject } from "./crash-states.ts";
import { raceAnswers } from "./decision-races.ts";
import { fuzzPlanted } from "./fuzz-plans.ts";
import type { fuzz } from "./fuzz-state-files.ts";
import { sweep } from "./kill-sweep.ts";
import { race } from "./lock-races.ts";
import { again, bundle, type Context, judged, type Outcome, type Plant, type Row } from "./rig.ts";

type Guard = (context: Context, plant: Plant) => Promise<Outcome>;

const byCrashStates: Guard = async (context, plant) => {
  const file = await bundle("torture/crash-subject.ts", { plant });
  return enumerate(context, 3000, createRequire(file)(file) as Subject);
};
const byFuzz: Guard = async (context, plant) => {
  const file = await bundle("torture/fuzz-state-files.ts", { plant });
  return (createRequire(file)(file) as { fuzz: typeof fuzz }).fuzz(context, 2000);
};
const byKillSweep: Guard = (context, plant) => sweep(context, { plant, limit: 60 });
const byLockRaces: Guard = (context, plant) => race(context, { plant, races: 25 });
const byDecisionRaces: Guard = (context, plant) => raceAnswers(context, { plant, races: 20 });

interface PlantedBug {
  readonly name: string;
  readonly guard: Guard;
  readonly plant: Plant;
}

const journal = "src/stores/file/journal.ts";
const disk = "src/stores/file/disk.ts";

export const bugs: readonly PlantedBug[] = [
  {
    name: "one-fsync-left-out",
    guard: byCrashStates,
    plant: {
      file: journal,
      find: "await claim.file.append(bytes);\n      await claim.file.sync();",
      replace: "await claim.file.append(bytes);",
    },
  },
  {
    name: "folder-sync-skipped",
    guard: byCrashStates,
    plant: {
      file: journal,
      find: "await place.disk.syncFolder(folder);\n  return { epoch",
      replace: "return { epoch",
    },
  },
  {
    name: "parent-folders-not-synced",
    guard: byCrashStates,
    plant: { file: journal, find: "await place.disk.syncFolder(parent);", replace: "" },
  },
  {
    name: "answered-twice",
    guard: byDecisionRaces,
    plant: {
      file: disk,
      find: "const first = await disk.link(temporary, file);",
      replace: "await disk.rename(temporary, file);\n    const first = true;",
    },
  },
  {
    name: "pid-file-for-a-lock",
    guard: byLockRaces,
    plant: {
      file: "src/stores/file/lock.ts",
      find: "function flock(fd: number): Attempt {",
      replace: `function flock(fd: number): Attempt {
  try {
    const { pid } = JSON.parse(fs.readFileSync("/proc/self/fd/" + fd, "utf8"));
    process.kill(pid, 0);
    return { is: "taken" };
  } catch {
    return { is: "held" };
  }
}
export function flockUnused(fd: number): Attempt {`,
    },
  },
  {
    name: "overtaken-writer-goes-on",
    guard: byLockRaces,
    plant: {
      file: journal,
      find: "place.disk.exists(segmentFile(place, epoch + 1));",
      replace: "epoch < 0 && place.disk.exists(segmentFile(place, epoch + 1));",
    },
  },
  {
    name: "file-overwritten-in-place",
    guard: byKillSweep,
    plant: {
      file: disk,
      find: "rename: (from, to) => promises().rename(from, to),",
      replace:
        "rename: async (from, to) => { fs.writeFileSync(to, fs.readFileSync(from)); fs.unlinkSync(from); },",
    },
  },
  {
    name: "line-endings-made-alike",
    guard: byFuzz,
    plant: {
      file: "src/core/flow/state-file.ts",
      find: 'ending: carriage ? "\\r\\n" : "\\n",',
      replace: 'ending: "\\n",',
    },
  },
  {
    name: "duplicates-passed-over",
    guard: byFuzz,
    plant: {
      file: "src/core/flow/state-file.ts",
      find: "if (first) duplicate ??= { name: path, first: first.at, second: at };",
      replace: "if (first) return;",
    },
  },
  {
    name: "box-beside-its-place",
    guard: fuzzPlanted,
    plant: {
      file: "src/formats/document.ts",
      find: "box: at(from + 1, from + 2)",
      replace: "box: at(from, from + 1)",
    },
  },
  {
    name: "line-endings-edited-too",
    guard: fuzzPlanted,
    plant: {
      file: "src/core/plan/edits.ts",
      find: "return result + text.slice(at);",
      replace: 'return result + text.slice(at).replaceAll("\\r\\n", "\\n");',
    },
  },
  {
    name: "nested-fences-cut-out",
    guard: fuzzPlanted,
    plant: {
      file: "src/formats/document.ts",
      find: '.replace(/[`~]/g, "\'")',
      replace: '.replace(/[`~]/g, "")',
    },
  },
];

export const plantedBugs: Row = {
  name: "planted-bugs",
  promise: "each planted bug is caught by the row that guards against it",
  budgetSeconds: { ci: 120, full: 300 },
  run: catchAll,
};

async function catchAll(context: Context): Promise<Outcome> {
  const failures: string[] = [];
  const figures = { planted: 0, caught: 0 };
  for (const { name, guard, plant } of bugs) {
    if (context.onlyCase !== undefined && context.onlyCase !== name) continue;
    figures.planted++;
    const { onlyCase: _, ...all } = context;
    const outcome = await guard({ ...all, note: () => {} }, plant);
    if (outcome.is === "failed") {
      figures.caught++;
      context.note(`${name}: caught, ${outcome.failures[0]?.slice(0, 120)}`);
    } else failures.push(`${name}: ${outcome.is}; ${again(context, "planted-bugs", name)}`);
  }
  return judged(figures, failures);
}
