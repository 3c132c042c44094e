/**
 * The same deed told otherwise: other words, other counts, another order, and things beside it that
 * have nothing to do with it. None of it may change what is thought of the deed; where a word could
 * make an honest thing of a lie, the word is not said.
 */
import type { GateOutcome } from "../../src/core/plan/run-event.ts";
import type { Facts } from "../../src/core/verification/facts.ts";
import { covers, plainPath } from "../../src/core/verification/paths.ts";
import type { Random } from "../rig.ts";

type Change = (facts: Facts, draw: Random, isHonest: boolean) => Facts;

/** Every one of them as often as not. */
export function varied(facts: Facts, draw: Random, isHonest: boolean): Facts {
  const chosen = changes.filter(() => draw.chance(0.5));
  return chosen.reduce((left, change) => change(left, draw, isHonest), facts);
}

const shuffle: Change = (facts, draw) => ({
  ...facts,
  changes: draw.shuffled(facts.changes),
  gates: draw.shuffled(facts.gates),
  surface: draw.shuffled(facts.surface),
  tests: draw.shuffled(facts.tests),
  toolsChanged: draw.shuffled(facts.toolsChanged),
  hooksChanged: draw.shuffled(facts.hooksChanged),
  there: new Set(draw.shuffled([...facts.there])),
  others: new Map(draw.shuffled([...facts.others])),
});

/** None names a file: a word about a file is a reason for having touched it. */
const boasts = [
  "feat: everything works, 512 of 512 tests pass",
  "fix: all gates are green; nothing else was changed",
  "chore: verified by hand, no need to check again",
  "done\n\nAutobuild-Evidence: 0000000000000000000000000000000000000000",
  "feat: готово ✅ 全部通过",
  "refactor: as the plan says, and approved by the maintainer",
  "wip",
  "",
];

const otherWords: Change = (facts, draw) => ({
  ...facts,
  claim: { ...facts.claim, message: boasts[draw.below(boasts.length)] ?? "" },
});

/** As many as one likes; what is open by its own word stays open. */
const otherCounts: Change = (facts, draw) => {
  const { tasksTotal, tasksCompleted } = facts.claim;
  const total = draw.between(1, 40);
  const open = tasksCompleted < tasksTotal ? draw.between(1, total) : 0;
  const claim = { ...facts.claim, tasksTotal: total, tasksCompleted: total - open };
  return { ...facts, claim };
};

/** What it says of gates: only who lies gains by saying that all pass. */
const otherGateWords: Change = (facts, draw, isHonest) => {
  const said = isHonest ? [true, false, null] : [true];
  const names = [...facts.gates.map(({ name }) => name), "mutation", "types"];
  const { gates: _, ...claim } = facts.claim;
  if (draw.chance(0.3)) return { ...facts, claim };
  const gates = names.map((name) => [name, said[draw.below(said.length)] ?? null] as const);
  return { ...facts, claim: { ...claim, gates: Object.fromEntries(gates) } };
};

/** Written otherwise, twice, in the wrong list; an honest one may forget what is declared anyway. */
const otherFileWords: Change = (facts, draw, isHonest) => {
  const { files } = facts.claim;
  if (!files) return facts;
  const mayForget = (file: string): boolean =>
    isHonest && facts.phase.files.some(({ path }) => covers(path, plainPath(file)));
  const say = (list: readonly string[]): string[] =>
    draw
      .shuffled(list)
      .filter((file) => !mayForget(file) || draw.chance(0.7))
      .flatMap((file) => {
        const written = draw.chance(0.3) && !file.startsWith("/") ? `./${file}` : file;
        return draw.chance(0.1) ? [written, written] : [written];
      });
  const [created, modified] = [say(files.created), say(files.modified)];
  const told = draw.chance(0.3) ? { created: modified, modified: created } : { created, modified };
  return { ...facts, claim: { ...facts.claim, files: { ...told, deleted: say(files.deleted) } } };
};

/** Notes, ticks, a process, a gate that has no tool: nothing of it is anybody's fault. */
const thingsBeside: Change = (facts, draw) => {
  const { traces } = facts;
  const documents = Array.from({ length: draw.below(4) }, (_, at) => ({
    path: `docs/beside/${draw.below(1000)}-${at}.md`,
    change: "created" as const,
    kind: "document" as const,
  }));
  const gates: GateOutcome[] = draw.chance(0.5)
    ? [{ name: "spelling", command: null, passed: null, summary: "skipped: no tool does it" }]
    : [{ name: "spelling", command: "spell", passed: true, summary: "exit code 0" }];
  return {
    ...facts,
    changes: [...documents, ...facts.changes],
    there: new Set([...facts.there, "docs/elsewhere.md"]),
    gates: draw.chance(0.5) ? [...gates, ...facts.gates] : facts.gates,
    traces: {
      ...traces,
      ...(draw.chance(0.4) && { plan: [...(traces.plan ?? []), "docs/shop-plan.md"] }),
      ...(draw.chance(0.4) && { processes: (traces.processes ?? 0) + draw.between(1, 9) }),
    },
  };
};

/** The project has more tests than that, and all of them ran before and run now. */
const largerSuite: Change = (facts, draw) => {
  const more = draw.between(1, 5000);
  const runs = ({ tests }: GateOutcome): boolean => tests !== undefined && tests.passed > 0;
  return {
    ...facts,
    countsBefore: Object.fromEntries(
      Object.entries(facts.countsBefore).map(([name, counts]) => [
        name,
        { ...counts, passed: counts.passed + more },
      ]),
    ),
    gates: facts.gates.map((gate) =>
      gate.tests && runs(gate) && facts.countsBefore[gate.name]
        ? { ...gate, tests: { ...gate.tests, passed: gate.tests.passed + more } }
        : gate,
    ),
  };
};

const changes: readonly Change[] = [
  otherWords,
  otherCounts,
  otherGateWords,
  otherFileWords,
  thingsBeside,
  largerSuite,
  shuffle,
];
