/**
 * Whether a phase's tests prove anything: with its code taken back and its tests kept, at least one
 * of them has to fail. Only where the project asks for it: it costs a second run of the tests.
 */
import { type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Gate, GateOutcome } from "../core/plan/run-event.ts";
import type { ChangedFile } from "../core/verification/facts.ts";
import { failure, type VerificationFinding } from "../core/verification/finding-table.ts";
import type { Trusted } from "../exec.ts";
import { commitTree } from "../git/objects.ts";
import { type Change, treeWith } from "../git/trees.ts";
import { runGates } from "./run-gates.ts";
import type { RunSite } from "./run-site.ts";
import { type Transcript, transcriptMark } from "./transcript.ts";

export interface Bitten {
  readonly phase: string;
  readonly slot: number;
  readonly onto: string;
  readonly tree: string;
  readonly changes: readonly Change[];
  readonly files: readonly ChangedFile[];
  readonly gates: readonly Gate[];
  /** The gates that told of tests. */
  readonly testGates: ReadonlySet<string>;
  readonly trusted?: (name: string) => Trusted | undefined;
  readonly transcript?: Pick<Transcript, "add">;
}

export async function bite(
  site: RunSite,
  run: PlanRun,
  bitten: Bitten,
): Promise<Result<"stopped" | VerificationFinding[]>> {
  const { phase, slot, onto, tree, changes, files } = bitten;
  const kinds = new Map(files.map(({ path, kind }) => [path, kind]));
  const kind = ({ path }: Change): ChangedFile["kind"] | undefined => kinds.get(path);
  const tests = changes.filter((change) => kind(change) === "test" && change.now !== null);
  const code = changes.filter((change) => kind(change) === "code");
  const gates = bitten.gates.filter(({ name }) => bitten.testGates.has(name));
  if (!site.bite || tests.length === 0 || code.length === 0 || gates.length === 0) {
    return succeed([]);
  }
  const back = new Map(code.map(({ path, old }) => [path, old]));
  const without = await treeWith(site.git, tree, back);
  if (!without.ok) return without;
  const commit = await commitTree(site.git, {
    tree: without.value,
    parent: onto,
    message: `Phase ${phase} without its code\n`,
    at: site.project.world.now(),
    by: site.identity,
  });
  if (!commit.ok) return commit;
  const { trusted, transcript } = bitten;
  transcript?.add(`${transcriptMark} the tests, without the code that they test`);
  const ran = await runGates(site, run, {
    phase,
    slot,
    commit: commit.value,
    gates,
    ...(trusted && { trusted }),
    ...(transcript && { transcript }),
  });
  if (!ran.ok) return ran;
  if (ran.value.stopped) return succeed("stopped");
  const red = ran.value.outcomes.filter(({ passed }) => passed === false);
  const toothless = red.length === 0 ? tests : created(tests).filter((test) => isSpared(test, red));
  if (toothless.length === 0) return succeed([]);
  const named = toothless.map(({ path }) => path);
  return succeed([
    failure(
      "tests-do-not-bite",
      `with the code of the phase taken back, its tests pass just the same (${named.slice(0, 4).join(", ")})`,
      { ...(named[0] !== undefined && { file: named[0] }) },
    ),
  ]);
}

const created = (tests: readonly Change[]): Change[] => tests.filter(({ old }) => old === null);

/** Something failed, and all that failed is known by its file: not this one. */
const isSpared = ({ path }: Change, red: readonly GateOutcome[]): boolean =>
  red.every(({ tests, failures = [] }) => {
    const whole = tests !== undefined && failures.length > 0 && tests.failed === failures.length;
    return (
      whole && failures.every((each) => /^\S+\.\w+(?::\d+)? /.test(each) && !each.includes(path))
    );
  });
