/**
 * Tests of the tests: a bug is planted, and the row that guards against it must fail. A row that
 * stays green over a planted bug proves nothing when it is green.
 */
import { createRequire } from "node:module";
import { crash } from "./crash-runs.ts";
import { enumerate, type Subject } from "./crash-states.ts";
import { raceAnswers } from "./decision-races.ts";
import { fuzzPlanted } from "./fuzz-plans.ts";
import type { fuzz } from "./fuzz-state-files.ts";
import { sweep } from "./kill-sweep.ts";
import { race } from "./lock-races.ts";
import { again, bundle, type Context, judged, type Outcome, type Plant, type Row } from "./rig.ts";
import { killAll } from "./run-kills.ts";
import { cutRuns } from "./run-power-cuts.ts";
import { simulatePlanted } from "./simulated-runs.ts";
import { disturb } from "./user-bytes.ts";

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
const byUserBytes = (seen: RegExp): Guard =>
  told(seen, (context, options) => disturb(context, { ...options, runs: 60 }));

/** The rows about runs of plans see much: only what the bug is told by counts. */
const told =
  (
    seen: RegExp,
    row: (context: Context, options: { plant: Plant; seen: RegExp }) => Promise<Outcome>,
  ): Guard =>
  async (context, plant) => {
    const { figures, failures } = await row(context, { plant, seen });
    return judged(
      figures,
      failures.filter((each) => seen.test(each)),
    );
  };
const byCrashRuns = (seen: RegExp): Guard =>
  told(seen, (context, options) => crash(context, { ...options, moments: 24 }));
const byRunKills = (seen: RegExp): Guard =>
  told(seen, (context, options) => killAll(context, { ...options, kills: 60 }));
const byKillsOfGit = (seen: RegExp): Guard =>
  told(seen, (context, options) => killAll(context, { ...options, kills: 60, who: "both" }));
const byRunPowerCuts = (seen: RegExp): Guard =>
  told(seen, (context, options) => cutRuns(context, { ...options, cuts: 20 }));

interface PlantedBug {
  readonly name: string;
  readonly guard: Guard;
  readonly plant: Plant;
  /** Left to the full tier: whole runs have to be killed to see it, or others of its kind are tried. */
  readonly slow?: true;
}

const journal = "src/stores/file/journal.ts";
const disk = "src/stores/file/disk.ts";
const publish = "src/activities/publish.ts";
const nextMovesFile = "src/core/plan/next-moves.ts";
const progressFile = "src/core/plan/progress.ts";

export const bugs: readonly PlantedBug[] = [
  {
    name: "one-fsync-left-out",
    slow: true,
    guard: byCrashStates,
    plant: {
      file: journal,
      find: "await claim.file.append(bytes);\n      await claim.file.sync();",
      replace: "await claim.file.append(bytes);",
    },
  },
  {
    name: "folder-sync-skipped",
    slow: true,
    guard: byCrashStates,
    plant: {
      file: journal,
      find: "await place.disk.syncFolder(folder);\n  return { epoch",
      replace: "return { epoch",
    },
  },
  {
    name: "parent-folders-not-synced",
    slow: true,
    guard: byCrashStates,
    plant: { file: journal, find: "await place.disk.syncFolder(parent);", replace: "" },
  },
  {
    name: "answered-twice",
    slow: true,
    guard: byDecisionRaces,
    plant: {
      file: disk,
      find: "const first = await disk.link(temporary, file);",
      replace: "await disk.rename(temporary, file);\n    const first = true;",
    },
  },
  {
    name: "pid-file-for-a-lock",
    slow: true,
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
    slow: true,
    guard: byLockRaces,
    plant: {
      file: journal,
      find: "place.disk.exists(segmentFile(place, epoch + 1));",
      replace: "epoch < 0 && place.disk.exists(segmentFile(place, epoch + 1));",
    },
  },
  {
    name: "file-overwritten-in-place",
    slow: true,
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
  {
    name: "their-files-taken-for-old-ones",
    slow: true,
    guard: byUserBytes(/its bytes are nowhere/),
    plant: {
      file: "src/activities/publish-files.ts",
      find: 'if (blob === now?.blob) return "new";',
      replace: 'if (blob !== "") return blob === now?.blob ? "new" : "old";',
    },
  },
  {
    name: "index-put-without-a-look",
    slow: true,
    guard: byUserBytes(/^the index had/),
    plant: {
      file: "src/activities/publish-index.ts",
      find: "return sameEntry(entry, old) && !sameEntry(old, now);",
      replace: "return !sameEntry(old, now);",
    },
  },
  {
    name: "phases-begun-in-batches",
    guard: simulatePlanted,
    plant: {
      file: nextMovesFile,
      find: "if (begun >= limits.jobs || slots.size >= limits.jobs) break;",
      replace: "if (begun >= limits.jobs || slots.size >= limits.jobs || busy.length > 0) break;",
    },
  },
  {
    name: "two-landings-at-once",
    guard: simulatePlanted,
    plant: { file: nextMovesFile, find: "else if (landing) continue;", replace: "" },
  },
  {
    name: "begun-before-dependencies-land",
    guard: simulatePlanted,
    plant: {
      file: "src/core/plan/readiness.ts",
      find: "return other !== undefined && isComplete(other);",
      replace:
        'return other !== undefined && (isComplete(other) || other.state.is === "verified");',
    },
  },
  {
    name: "published-newest-first",
    guard: simulatePlanted,
    plant: {
      file: nextMovesFile,
      find: "const next = run.landed[run.published];",
      replace: "const next = run.landed.slice(run.published).at(-1);",
    },
  },
  {
    name: "attempts-forgotten-on-resume",
    slow: true,
    guard: simulatePlanted,
    plant: {
      file: progressFile,
      find: 'return { ...phase, state: { is: "pending" }, interruptions: phase.interruptions + 1 };',
      replace:
        'return { ...phase, state: { is: "pending" }, interruptions: phase.interruptions + 1, attempts: 0 };',
    },
  },
  {
    name: "deaths-charged-as-failures",
    slow: true,
    guard: simulatePlanted,
    plant: {
      file: progressFile,
      find: 'return { ...phase, state: { is: "pending" }, interruptions: phase.interruptions + 1 };',
      replace:
        'return { ...phase, state: { is: "pending" }, interruptions: phase.interruptions + 1, charged: phase.charged + 1 };',
    },
  },
  {
    name: "landed-on-another-tip",
    slow: true,
    guard: simulatePlanted,
    plant: { file: progressFile, find: " || phase.state.check.onto !== run.tip", replace: "" },
  },
  {
    name: "events-before-the-record",
    slow: true,
    guard: simulatePlanted,
    plant: {
      file: "src/core/plan/run-plan.ts",
      find: "const recorded = await driver.record(performed.events);\n      if (recorded.ok) run = recorded.value;\n      else refuse(recorded.failure);",
      replace:
        "const late = driver.record(performed.events);\n      await Promise.resolve();\n      void late.then((recorded) => { if (recorded.ok) run = recorded.value; else refuse(recorded.failure); });",
    },
  },
  {
    name: "published-once-more",
    slow: true,
    guard: byKillsOfGit(/is committed 2 times/),
    plant: {
      file: publish,
      find: `if (current === run.targetAt || current === commit) return succeed(undefined);
  // Published before we died, and somebody has gone on from there.
  if (current !== "" && (await isAncestor(git, commit, current))) return succeed(undefined);`,
      replace: "if (current === run.targetAt) return succeed(undefined);",
    },
  },
  {
    name: "files-forgotten-once-the-branch-has-moved",
    slow: true,
    guard: byKillsOfGit(/the tree differs/),
    plant: {
      file: publish,
      find: "const visible = !onBranch || (await isCheckedOut(git, run.target));",
      replace:
        "const visible = !onBranch || ((await isCheckedOut(git, run.target)) && (await commitAt(git, run.target)) !== what.commit);",
    },
  },
  {
    name: "landed-before-its-ref",
    slow: true,
    guard: byRunKills(/no ref leads to/),
    plant: {
      file: "src/activities/verify-phase.ts",
      find: `const landed = await updateRefs(site.git, [
    { ref: landedRef(run.id), to: check.commit },
    { ref: attemptRef(run.id, phase, attempt), to: null },
  ]);`,
      replace: `const landed = succeed(undefined) as Result<void>;
  setTimeout(() => void updateRefs(site.git, [
    { ref: landedRef(run.id), to: check.commit },
    { ref: attemptRef(run.id, phase, attempt), to: null },
  ]), 100);`,
    },
  },
  {
    name: "number-of-an-attempt-used-again",
    slow: true,
    guard: byCrashRuns(/the journal has twice: attempt-started/),
    plant: {
      file: nextMovesFile,
      find: "attempt: phase.attempts + 1",
      replace: "attempt: phase.charged + 1",
    },
  },
  {
    name: "git-not-synced",
    slow: true,
    guard: byRunPowerCuts(/cannot be read|git fsck|The object|the landed commit/),
    plant: {
      file: "src/git/call.ts",
      find: '["core.fsync", "all"]',
      replace: '["core.fsync", "none"]',
    },
  },
  {
    name: "stale-locks-left-alone",
    slow: true,
    guard: byKillsOfGit(/locks are left: \S*(?:heads|worktrees|attempts)|the same command again/),
    plant: {
      file: "src/activities/recover.ts",
      find: "removeOwnLocks(git);\n  removeStaleLocks(git, run);",
      replace: "",
    },
  },
];

export const plantedBugs: Row = {
  name: "planted-bugs",
  promise: "each planted bug is caught by the row that guards against it",
  budgetSeconds: { ci: 120, full: 1200 },
  run: catchAll,
};

async function catchAll(context: Context): Promise<Outcome> {
  const failures: string[] = [];
  const figures = { planted: 0, caught: 0, "left to the full tier": 0 };
  for (const { name, guard, plant, slow } of bugs) {
    if (context.onlyCase !== undefined && context.onlyCase !== name) continue;
    if (slow && context.tier === "ci" && context.onlyCase === undefined) {
      figures["left to the full tier"]++;
      continue;
    }
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
