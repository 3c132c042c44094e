/**
 * Tests of the tests: a bug is planted, and the row that guards against it must fail. A row that
 * stays green over a planted bug proves nothing when it is green.
 */
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { jumpClocks } from "./clock-jumps.ts";
import { crash } from "./crash-runs.ts";
import { enumerate, type Subject } from "./crash-states.ts";
import { raceAnswers } from "./decision-races.ts";
import { refuseAll } from "./disk-faults.ts";
import { fleetBugs } from "./fleet-bugs.ts";
import { flowBugs } from "./flow-bugs.ts";
import { playPlanted } from "./flow-histories.ts";
import { fuzzPlanted } from "./fuzz-plans.ts";
import type { fuzz } from "./fuzz-state-files.ts";
import { httpBugs } from "./http-bugs.ts";
import { knockEverywhere } from "./http-matrix.ts";
import { injectPlanted } from "./injections.ts";
import { sweep } from "./kill-sweep.ts";
import { leaseBugs } from "./lease-bugs.ts";
import { liarBugs } from "./liar-bugs.ts";
import { liars, tryLiar } from "./liars/judge.ts";
import type { Liar } from "./liars/kind.ts";
import { openCourt } from "./liars/trial.ts";
import { simulatePlanted as simulateLiars } from "./liars.ts";
import { race } from "./lock-races.ts";
import { mergeBugs } from "./merge-bugs.ts";
import { reuseNumbers } from "./pid-reuse.ts";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  judged,
  type Outcome,
  type Plant,
  plantedSource,
  type Row,
  repositoryRoot,
  run,
  temporaryFolder,
} from "./rig.ts";
import { killAll } from "./run-kills.ts";
import { cutRuns } from "./run-power-cuts.ts";
import { secretBugs } from "./secret-bugs.ts";
import { type TellOptions, tellSecrets } from "./secrets.ts";
import { simulatePlanted } from "./simulated-runs.ts";
import { live } from "./soak.ts";
import { soakBugs } from "./soak-bugs.ts";
import { mergePlanted } from "./state-merges.ts";
import { trackEffects } from "./tracker-effects.ts";
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

const byHttp = (seen: RegExp): Guard => told(seen, knockEverywhere);
const bySecrets = (seen: RegExp, plant: NonNullable<TellOptions["plant"]>): Guard =>
  told(seen, (context) => tellSecrets(context, { plant, seen }));
const bySoak = (seen: RegExp): Guard =>
  told(seen, (context, options) => live(context, { ...options, short: true }));
const bySimulatedLiars = (seen: RegExp): Guard => told(seen, simulateLiars);
const byDiskFaults = (seen: RegExp): Guard =>
  told(seen, (context, options) => refuseAll(context, { ...options, limit: 80 }));

const byClockJumps = (way: "plan" | "flow", seen: RegExp): Guard =>
  told(seen, (context, options) => jumpClocks(context, { ...options, way, runs: 7 }));

const byTrackers = (...faults: readonly string[]): Guard =>
  told(/ times/, (context, options) =>
    trackEffects(context, { ...options, runs: 8, kills: 0, faults }),
  );

const reuseNumbersWith: Guard = (context, plant) => reuseNumbers(context, { plant });

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

const bugs: readonly PlantedBug[] = [
  {
    name: "numbers-taken-for-processes",
    guard: reuseNumbersWith,
    plant: {
      file: "src/stores/file/writer.ts",
      find: "(started > 0 && found.started !== started)",
      replace: "(started > 0 && found.started < 0)",
    },
  },
  {
    name: "groups-by-their-number",
    slow: true,
    guard: reuseNumbersWith,
    plant: {
      file: "src/exec/group.ts",
      find: " && isItsNumber()",
      replace: " && (isItsNumber() || !isItsNumber())",
    },
  },
  {
    name: "tracker-lag-ignored",
    guard: byTrackers("lag 1000"),
    plant: {
      file: "src/core/tracker/ledger.ts",
      find: "if (sinceMs < lagMs) {",
      replace: "if (sinceMs < 0) {",
    },
  },
  {
    name: "tracker-intent-not-recorded",
    guard: byTrackers("lag 1000", "die-after"),
    plant: {
      file: "src/activities/track.ts",
      find: 'const intended = await record({ type: "effect-intended", ...effect });\n            if',
      replace: "const intended = succeed(undefined);\n            if",
    },
  },
  {
    name: "tracker-found-and-created",
    guard: byTrackers("die-after", "error-after", "silent"),
    plant: {
      file: "src/core/tracker/ledger.ts",
      find: "if (oldest) return receipt(oldest, others);",
      replace: "",
    },
  },
  {
    name: "printed-result-outranks-the-file",
    guard: injectPlanted,
    plant: {
      file: "src/agents/command.ts",
      find: 'const claim = written.is === "absent" ? claimIn(printed.text(), brief) : claimOf(written, brief);',
      replace:
        'const said = claimIn(printed.text(), brief);\n  const claim = written.is === "absent" || typeof said === "object" ? said : claimOf(written, brief);',
    },
  },
  {
    name: "words-beside-a-result-taken-for-a-limit",
    slow: true,
    guard: injectPlanted,
    plant: {
      file: "src/agents/ending.ts",
      find: "if (isAnswered) return undefined;",
      replace: "",
    },
  },
  {
    name: "items-that-speak-of-a-key-taken-for-ours",
    slow: true,
    guard: injectPlanted,
    plant: {
      file: "src/trackers/answer.ts",
      find: "if (carries(fields, key) ||",
      replace: "if (JSON.stringify(each).includes(key) ||",
    },
  },
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
    name: "failed-sync-not-believed",
    slow: true,
    guard: byDiskFaults(/sync of \S+ was not believed/),
    plant: {
      file: journal,
      find: "await claim.file.append(bytes);\n      await claim.file.sync();",
      replace: "await claim.file.append(bytes);\n      await claim.file.sync().catch(() => {});",
    },
  },
  {
    name: "full-disk-told-as-a-missing-folder",
    slow: true,
    guard: byDiskFaults(/it does not say E/),
    plant: {
      file: disk,
      find: "makeFolder: (folder, mode = 0o700) => makeFolders(folder, mode),",
      replace:
        "async makeFolder(folder, mode = 0o700) { await promises().mkdir(folder, { recursive: true, mode }); },",
    },
  },
  {
    name: "quota-taken-for-a-bug-of-ours",
    slow: true,
    guard: byDiskFaults(/a stack trace/),
    plant: {
      file: disk,
      find: 'if (!(number < 0)) return "";',
      replace: 'if (number < 0) return "";',
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
      find: "const recorded = await driver.record(events);\n    if (recorded.ok) run = recorded.value;\n    else refuse(recorded.failure);",
      replace:
        "const late = driver.record(events);\n    await Promise.resolve();\n    void late.then((recorded) => { if (recorded.ok) run = recorded.value; else refuse(recorded.failure); });",
    },
  },
  {
    name: "parked-by-a-clock-that-is-set",
    slow: true,
    guard: byClockJumps("plan", /early or late: /),
    plant: {
      file: "src/project/open.ts",
      find: "now: () => new Date(timeNow()).toISOString(),",
      replace: "now: () => new Date().toISOString(),",
    },
  },
  {
    name: "stuck-by-a-clock-that-is-set",
    slow: true,
    guard: byClockJumps("flow", /other ends: /),
    plant: {
      file: "src/activities/run-skill.ts",
      find: "const clock = (): number => Date.parse(project.world.now());",
      replace: "const clock = (): number => Date.now();",
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
    ...(check.evidence === undefined
      ? []
      : [{ ref: evidenceRef(check.evidence), to: check.evidence }]),
  ]);`,
      replace: `const landed = succeed(undefined) as Result<void>;
  setTimeout(() => void updateRefs(site.git, [
    { ref: landedRef(run.id), to: check.commit },
    { ref: attemptRef(run.id, phase, attempt), to: null },
    ...(check.evidence === undefined
      ? []
      : [{ ref: evidenceRef(check.evidence), to: check.evidence }]),
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

/** Of those that are quickly caught CI plants every third; which third turns with the seed. */
const shareInCi = 3;
/** In the full tier every tenth guard is also asked about the source as it is: it has to find nothing. */
const shareOfControls = 10;

export const plantedBugs: Row = {
  name: "planted-bugs",
  promise: "each planted bug is caught by the row that guards against it",
  budgetSeconds: { ci: 55, full: 1500 },
  run: catchAll,
};

/** Those of the rows that bring their own, too. */
export function allBugs(): readonly PlantedBug[] {
  const byHistories = flowBugs.map((bug): PlantedBug => ({ ...bug, guard: playPlanted }));
  const byRequests = httpBugs.map(({ seen, ...bug }) => ({ ...bug, guard: byHttp(seen) }));
  const byCanaries = secretBugs.map(
    ({ seen, ...bug }): PlantedBug => ({
      ...bug,
      guard: (context, plant) =>
        bySecrets(seen, { ...bug.plant, replace: plant.replace })(context, plant),
    }),
  );
  const byMerges = mergeBugs.map((bug): PlantedBug => ({ ...bug, guard: mergePlanted }));
  const byWeeks = soakBugs.map(({ seen, ...bug }) => ({ ...bug, guard: bySoak(seen) }));
  const byLies = liarBugs.map(({ seen, ...bug }) => ({ ...bug, guard: bySimulatedLiars(seen) }));
  return [
    ...bugs,
    ...byHistories,
    ...byMerges,
    ...byRequests,
    ...byCanaries,
    ...byWeeks,
    ...byLies,
    ...verifierBugs,
  ];
}

async function catchAll(context: Context): Promise<Outcome> {
  const failures: string[] = [];
  const figures = { planted: 0, caught: 0, controls: 0, "left to the full tier": 0 };
  for (const [at, { name, guard, plant, slow }] of allBugs().entries()) {
    if (context.onlyCase !== undefined && context.onlyCase !== name) continue;
    // Where nothing can be planted, nothing can be caught: that is found out at every tier.
    plantedSource(path.join(repositoryRoot(), plant.file), plant);
    const isLater = slow || (at + context.seed) % shareInCi !== 0;
    if (isLater && context.tier === "ci" && context.onlyCase === undefined) {
      figures["left to the full tier"]++;
      continue;
    }
    figures.planted++;
    const { onlyCase: _, ...whole } = context;
    const began = performance.now();
    const outcome = await guard({ ...whole, note: () => {} }, plant);
    const took = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    if (outcome.is === "failed") {
      figures.caught++;
      context.note(`${name}: caught in ${took}, ${outcome.failures[0]?.slice(0, 120)}`);
    } else failures.push(`${name}: ${outcome.is}; ${again(context, "planted-bugs", name)}`);
    if (context.tier !== "full" || (at + context.seed) % shareOfControls !== 0) continue;
    figures.controls++;
    const control = await guard({ ...whole, note: () => {} }, { ...plant, replace: plant.find });
    if (control.is === "failed") {
      failures.push(
        `${name}: its guard also fails without it: ${control.failures[0]?.slice(0, 300)}; ${again(context, "planted-bugs", name)}`,
      );
    }
  }
  return judged(figures, failures);
}

// ── the verifier ───────────────────────────────────────────────────────────────────────────────

/** Tests of ours, run on the source with the bug in it: at least one has to fail. */
const byTests =
  (file: string, named = ""): Guard =>
  async (context, plant) => {
    const folder = freshFolder(context.scratch, "tests");
    fs.writeFileSync(path.join(folder, "vitest.config.mjs"), configWith(plant, folder));
    return testOutcome(folder, file, named);
  };

/** The same for tests that start the program: they get one with the bug in it. */
const byProgramTests =
  (file: string, named: string, entries: readonly Entry[] = ["build"]): Guard =>
  async (context, plant) => {
    const folder = freshFolder(context.scratch, "tests");
    fs.writeFileSync(path.join(folder, "vitest.config.mjs"), configWith(undefined, folder));
    const binary = await plantedProgram(context.scratch, plant, entries);
    return testOutcome(folder, file, named, { AUTODEV_TEST_BINARY: binary });
  };

/** As a plugin of the runner's: the source itself stays as it is. */
const configWith = (plant: Plant | undefined, folder: string): string => `
const plant = ${JSON.stringify(plant ?? null)};
export default {
  cacheDir: ${JSON.stringify(path.join(folder, "cache"))},
  test: { pool: "threads", isolate: false, testTimeout: 60_000 },
  plugins: [{
    name: "plant",
    enforce: "pre",
    transform(code, id) {
      if (!plant || id !== ${JSON.stringify(repositoryRoot())} + "/" + plant.file) return undefined;
      const parts = code.split(plant.find);
      if (parts.length !== 2) throw new Error(plant.file + " holds " + (parts.length - 1) + " times what the planted bug replaces: " + plant.find);
      return parts.join(plant.replace);
    },
  }],
};
`;

async function testOutcome(
  folder: string,
  file: string,
  named: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const report = path.join(folder, "report.json");
  const ran = await run(
    [
      process.execPath,
      "node_modules/vitest/vitest.mjs",
      "run",
      file,
      `--config=${path.join(folder, "vitest.config.mjs")}`,
      `--root=${repositoryRoot()}`,
      "--reporter=json",
      `--outputFile=${report}`,
      ...(named === "" ? [] : [`--testNamePattern=${named}`]),
    ],
    { cwd: repositoryRoot(), env, timeoutMs: 300_000 },
  );
  if (!fs.existsSync(report)) throw new Error(`${file} was not run: ${ending(ran)}`);
  const { testResults } = JSON.parse(fs.readFileSync(report, "utf8")) as TestReport;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  // A file that cannot even be loaded has found nothing out.
  if (!results.some(({ status }) => status === "passed" || status === "failed")) {
    throw new Error(`no test of ${file} was run: ${testResults[0]?.message || ending(ran)}`);
  }
  const failed = results.filter(({ status }) => status === "failed");
  return judged(
    { tests: results.length },
    failed.map(({ fullName }) => fullName),
  );
}

interface TestReport {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Liars whom the program with the bug in it believes, or calls by another name. */
const byLiars =
  (...kinds: readonly Liar[]): Guard =>
  async (context, plant) => {
    const court = openCourt(
      await plantedProgram(context.scratch, plant, ["build"]),
      context.scratch,
    );
    const failures: string[] = [];
    for (const liar of kinds) {
      const { wrong } = await tryLiar(court, liar);
      if (wrong !== undefined && /^(?:believed|named wrongly)/.test(wrong)) {
        failures.push(`${liar.name}: ${wrong}`);
      }
    }
    return judged({ liars: kinds.length }, failures);
  };

function liar(name: string): Liar {
  const found = liars.find((kind) => kind.name === name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
}

/** The same, said in its result. */
function openly(kind: Liar): Liar {
  const { result: _, ...silent } = kind;
  return silent;
}

/** The parts of the program that a bug is planted in; all others are as they are. */
const entryFiles = {
  build: "src/cli/commands/build.ts",
  mcp: "src/mcp/main.ts",
  worker: "src/cli/commands/worker.ts",
} as const;
type Entry = keyof typeof entryFiles;

async function plantedProgram(
  scratch: string,
  plant: Plant,
  entries: readonly Entry[],
): Promise<string> {
  const folder = freshFolder(scratch, "program");
  commandsAsTheyAre ??= bundleCommands();
  fs.cpSync(await commandsAsTheyAre, folder, { recursive: true });
  for (const entry of entries)
    await bundle(entryFiles[entry], { out: path.join(folder, `${entry}.cjs`), plant });
  return path.join(folder, "main.cjs");
}

let commandsAsTheyAre: Promise<string> | undefined;

async function bundleCommands(): Promise<string> {
  const folder = temporaryFolder("commands");
  const commands = fs
    .readdirSync(path.join(repositoryRoot(), "src/cli/commands"))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `commands/${name}`);
  for (const name of ["program.ts", ...commands]) {
    const out = path.join(folder, `${path.basename(name, ".ts")}.cjs`);
    await bundle(`src/cli/${name}`, { out });
  }
  fs.writeFileSync(
    path.join(folder, "main.cjs"),
    `globalThis.AUTODEV_VERSION = "0.0.0";\nrequire("./program.cjs").runProgram(process.argv.slice(2));\n`,
  );
  return folder;
}

const checksFile = "src/core/verification.ts";
const inVerification = (name: string): string => `src/core/verification/${name}.ts`;
const inActivities = (name: string): string => `src/activities/${name}.ts`;
const byChecks = byTests("src/core/verification.test.ts");
const byPaths = byTests("src/core/verification/paths.test.ts");
const byEvidence = byTests("src/core/evidence.test.ts");
const byAudit = byTests("src/core/audit.test.ts");

const verifierBugs: readonly PlantedBug[] = [
  {
    name: "gates-added-to-freely",
    guard: byChecks,
    plant: {
      file: inVerification("surface"),
      find: "if (introduces)",
      replace: 'if (is === "added")',
    },
  },
  {
    name: "other-programs-not-told",
    guard: byChecks,
    plant: { file: inVerification("surface"), find: "...toolsChanged.map(", replace: "...[].map(" },
  },
  {
    name: "hooks-not-told",
    slow: true,
    guard: byChecks,
    plant: { file: inVerification("surface"), find: "...hooksChanged.map(", replace: "...[].map(" },
  },
  {
    name: "history-not-asked-for",
    guard: byChecks,
    plant: {
      file: checksFile,
      find: "  history,\n  stateUntouched,",
      replace: "  stateUntouched,",
    },
  },
  {
    name: "own-files-only-a-note",
    guard: byChecks,
    plant: {
      file: inVerification("traces"),
      find: 'failure("state-touched"',
      replace: 'note("state-touched"',
    },
  },
  {
    name: "links-taken-the-wrong-way-round",
    guard: byChecks,
    plant: {
      file: inVerification("traces"),
      find: "leadsTo === undefined",
      replace: "leadsTo !== undefined",
    },
  },
  {
    name: "tests-weakened-as-nobody-asked",
    guard: byChecks,
    plant: {
      file: inVerification("tests"),
      find: "!isAskedFor(phase, change)",
      replace: "isAskedFor(phase, change)",
    },
  },
  {
    name: "declared-tests-deleted-freely",
    slow: true,
    guard: byChecks,
    plant: {
      file: inVerification("tests"),
      find: 'change === "delete")',
      replace: 'change !== "create")',
    },
  },
  {
    name: "recorded-output-replaced",
    slow: true,
    guard: byChecks,
    plant: {
      file: inVerification("tests"),
      find: 'is !== "created"',
      replace: 'is === "deleted"',
    },
  },
  {
    name: "skipped-counted-as-run",
    slow: true,
    guard: byChecks,
    plant: {
      file: inVerification("gates"),
      find: "({ passed, failed }: TestCounts): number => passed + failed",
      replace: "({ passed, failed, skipped }: TestCounts): number => passed + failed + skipped",
    },
  },
  {
    name: "skipped-counted-as-passed",
    guard: byChecks,
    plant: {
      file: inVerification("gates"),
      find: "tests.passed >= before.passed +",
      replace: "tests.passed + tests.skipped >= before.passed +",
    },
  },
  {
    name: "added-tests-off-by-one",
    guard: byChecks,
    plant: {
      file: inVerification("gates"),
      find: "now >= before + testsAdded",
      replace: "now >= before + testsAdded - 1",
    },
  },
  {
    name: "claimed-gates-believed",
    guard: byChecks,
    plant: {
      file: inVerification("gates"),
      find: "if (passed !== false) return [];",
      replace: "if (passed !== false || claim.gates?.[name] === true) return [];",
    },
  },
  {
    name: "claim-compared-with-the-wrong-side",
    slow: true,
    guard: byChecks,
    plant: {
      file: inVerification("gates"),
      find: "claim.gates?.[name] === true;",
      replace: "claim.gates?.[name] === false;",
    },
  },
  {
    name: "ignored-files-taken-for-missing",
    guard: byChecks,
    plant: {
      file: inVerification("claims"),
      find: "ignored.has(file)",
      replace: "!ignored.has(file)",
    },
  },
  {
    name: "open-tasks-the-wrong-way-round",
    slow: true,
    guard: byChecks,
    plant: {
      file: inVerification("claims"),
      find: "completed < total",
      replace: "completed > total",
    },
  },
  {
    name: "nothing-taken-for-work",
    guard: byChecks,
    plant: {
      file: inVerification("declared"),
      find: "changes.length > 0",
      replace: "changes.length >= 0",
    },
  },
  {
    name: "declared-files-ignored",
    guard: byChecks,
    plant: { file: inVerification("declared"), find: "...unmet(facts), ", replace: "" },
  },
  {
    name: "files-outside-ignored",
    slow: true,
    guard: byChecks,
    plant: { file: inVerification("declared"), find: ", ...outside(facts)", replace: "" },
  },
  {
    name: "other-phases-files-taken",
    guard: byChecks,
    plant: {
      file: inVerification("declared"),
      find: "owner === undefined && (",
      replace: "(",
    },
  },
  {
    name: "deleted-files-fulfil-the-definition",
    guard: byChecks,
    plant: { file: inVerification("declared"), find: "deleted.has(file) || ", replace: "" },
  },
  {
    name: "error-of-the-mildest-finding",
    guard: byChecks,
    plant: {
      file: checksFile,
      find: "weight(a) - weight(b)",
      replace: "weight(b) - weight(a)",
    },
  },
  {
    name: "every-gate-fails-alike",
    slow: true,
    guard: byChecks,
    plant: { file: checksFile, find: '(gateError ?? "gate_failure")', replace: '"gate_failure"' },
  },
  {
    name: "folders-covered-by-their-beginning",
    guard: byPaths,
    plant: {
      file: inVerification("paths"),
      find: "path.startsWith(`${plain}/`)",
      replace: "path.startsWith(plain)",
    },
  },
  {
    name: "trailers-of-the-whole-message",
    guard: byEvidence,
    plant: {
      file: "src/core/evidence.ts",
      find: '.at(-1) ?? "";',
      replace: '.join("\\n");',
    },
  },
  {
    name: "anything-named-as-evidence",
    guard: byEvidence,
    plant: {
      file: "src/core/evidence.ts",
      find: "/^[0-9a-f]{40,64}$/.test(id)",
      replace: 'id !== ""',
    },
  },
  {
    name: "audit-without-trees",
    guard: byAudit,
    plant: { file: "src/core/audit.ts", find: "last.tree !== tree", replace: 'last.tree === ""' },
  },
  {
    name: "audit-without-gates",
    guard: byAudit,
    plant: {
      file: "src/core/audit.ts",
      find: "if (gate.passed === false)",
      replace: "if (gate.passed === null)",
    },
  },
  {
    name: "audit-of-anybodys-evidence",
    slow: true,
    guard: byAudit,
    plant: { file: "src/core/audit.ts", find: "each.run !== trailers.run || ", replace: "" },
  },
  // What is gathered takes a whole run to see.
  {
    name: "programs-not-compared",
    slow: true,
    guard: byLiars(liar("shadow-on-the-path")),
    plant: {
      file: inActivities("gather-facts"),
      find: "toolsChanged: changedTools(site)",
      replace: "toolsChanged: []",
    },
  },
  {
    name: "hooks-not-compared",
    slow: true,
    guard: byProgramTests(
      "test/build-bad-input.test.ts",
      "names programs in git's configuration has none of them run",
    ),
    plant: {
      file: inActivities("gather-facts"),
      find: "hooksChanged: hooks.value",
      replace: "hooksChanged: []",
    },
  },
  {
    name: "history-not-looked-at",
    slow: true,
    guard: byLiars(liar("deletes-a-tag")),
    plant: {
      file: inActivities("traces"),
      find: "history.length > 0 &&",
      replace: "history.length < 0 &&",
    },
  },
  {
    name: "traces-dropped",
    slow: true,
    guard: byLiars(liar("nested-repository")),
    plant: {
      file: inActivities("gather-facts"),
      find: "    traces,\n",
      replace: "    traces: {},\n",
    },
  },
  {
    name: "surface-of-the-wrong-commit",
    slow: true,
    guard: byLiars(liar("runner-program")),
    plant: {
      file: inActivities("gate-surface"),
      find: "await site.surfaceAt(commit)",
      replace: "await site.surfaceAt(onto)",
    },
  },
  {
    name: "gates-run-on-what-was-there",
    slow: true,
    guard: byLiars(liar("tests-not-run")),
    plant: {
      file: inActivities("run-gates"),
      find: "{ slot, commit });",
      replace: "{ slot, commit: phase === undefined ? commit : run.tip });",
    },
  },
  {
    name: "only-the-first-gate-run",
    slow: true,
    guard: byLiars(liar("tests-not-run")),
    plant: {
      file: inActivities("run-gates"),
      find: "of wanted) {",
      replace: "of wanted.slice(0, 1)) {",
    },
  },
  {
    name: "exit-code-not-looked-at",
    slow: true,
    guard: byLiars(liar("linter-not-run")),
    plant: {
      file: inActivities("run-gates"),
      find: "code === 0 && !timedOut",
      replace: "code !== null && !timedOut",
    },
  },
  {
    name: "exit-0-believed",
    slow: true,
    guard: byLiars(liar("failing-but-zero")),
    plant: {
      file: inActivities("run-gates"),
      find: " && (report?.failed ?? 0) === 0",
      replace: "",
    },
  },
  {
    name: "counts-before-forgotten",
    slow: true,
    guard: byLiars(liar("exit-in-the-test")),
    plant: {
      file: inActivities("gather-facts"),
      find: "countsBefore: run.counts",
      replace: "countsBefore: {}",
    },
  },
  {
    name: "other-phases-files-not-known",
    slow: true,
    guard: byLiars(openly(liar("the-next-phase-too"))),
    plant: {
      file: inActivities("gather-facts"),
      find: "&& open.has(each.id)",
      replace: "&& !open.has(each.id)",
    },
  },
  {
    name: "conflict-marks-not-looked-for",
    slow: true,
    guard: byLiars(liar("conflict-markers")),
    plant: {
      file: inActivities("gather-facts"),
      find: 'line.startsWith(">>>>>>> ")',
      replace: 'line.startsWith(">>>>>>>>> ")',
    },
  },
  {
    name: "bite-takes-the-tests-back",
    slow: true,
    guard: byProgramTests("test/truth-phases.test.ts", "are not those that fail without the code"),
    plant: {
      file: inActivities("bite"),
      find: "new Map(code.map(",
      replace: "new Map(tests.map(",
    },
  },
  {
    name: "accepted-names-ignored",
    slow: true,
    guard: byProgramTests("test/truth-baseline.test.ts", "stays as it is if people accept it"),
    plant: {
      file: inActivities("run-gates"),
      find: "!names.has(withoutLine(failure))",
      replace: "names.size === 0",
    },
  },
  {
    name: "evidence-of-another-tree",
    slow: true,
    guard: byProgramTests("test/truth-receipts.test.ts", "holds for one commit"),
    plant: {
      file: inActivities("evidence"),
      find: "tree: seen.tree",
      replace: "tree: seen.onto",
    },
  },
  {
    name: "checkout-not-made-anew",
    slow: true,
    guard: byTests(
      "src/activities/clean-checkout.test.ts",
      "is made anew where a command has|what a command has left",
    ),
    plant: {
      file: inActivities("clean-checkout"),
      find: "await rename(each, path.join(gone, path.basename(each)));",
      replace: "",
    },
  },
  ...leaseBugs.map(
    ({ name, plant, core, noticedBy }): PlantedBug => ({
      name,
      slow: true,
      guard: core
        ? byTests("src/core/plan/leases.test.ts", noticedBy)
        : byProgramTests("test/mcp.test.ts", noticedBy, ["build", "mcp"]),
      plant,
    }),
  ),
  ...fleetBugs.map(
    ({ name, plant, worker, noticedBy }): PlantedBug => ({
      name,
      slow: true,
      guard: worker
        ? byProgramTests("test/fleet.test.ts", noticedBy, ["worker"])
        : byTests("test/engines.test.ts", noticedBy),
      plant,
    }),
  ),
];
