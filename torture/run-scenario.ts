/**
 * What a simulated run is to live through, drawn from a seed: a plan, how each of its phases
 * behaves, who answers when, what people do to the branch meanwhile, and how often we die.
 */
import type { CommitMode, RunPhase } from "../src/core/plan/run-event.ts";
import { type Random, randomFrom } from "./rig.ts";

/** What comes of one attempt; a phase goes through its list, one for each that is on record. */
export type Turn = "agent dies" | "gate red" | "lasting" | "parked";

export interface Behaviour {
  readonly turns: readonly Turn[];
  /** Once the list is through: it succeeds, or fails like this for ever. */
  readonly endless?: Exclude<Turn, "parked">;
  /** Writes the same lines as these: whoever comes second conflicts. */
  readonly collidesWith: ReadonlySet<string>;
  /** Merges well with these, and then the gates are red. */
  readonly clashesWith: ReadonlySet<string>;
}

export type When = "now" | "later" | "never";

export interface Scenario {
  readonly name: string;
  readonly phases: readonly RunPhase[];
  readonly behaviours: ReadonlyMap<string, Behaviour>;
  readonly mode: CommitMode;
  readonly maxAttempts: number;
  /** One number for all sessions, or another for each. */
  readonly jobs: readonly number[];
  readonly review: boolean;
  readonly reviewAnswer: { readonly when: When; readonly key: "A" | "B" };
  readonly againAnswer: { readonly when: When; readonly key: "A" | "B" };
  readonly rewrittenAnswer: { readonly when: When; readonly key: "A" | "B" };
  /** A gate fails on what the run builds on. */
  readonly redBaseline: boolean;
  readonly baselineAnswer: { readonly when: When; readonly key: "A" | "B" };
  /** The share of sessions that wait for a usage limit to pass. */
  readonly waits: number;
  /** The share of sessions that do only some of the phases. */
  readonly selections: number;
  readonly crashes: number;
  /** Steps between two crashes, on average. */
  readonly crashGap: number;
  readonly stops: number;
  readonly refusals: number;
  readonly commitsByPeople: number;
  readonly rewindsByPeople: number;
  /** A commit of theirs touches what a phase touches. */
  readonly peopleCollide: number;
}

export function scenarioOf(seed: number, index: number, most = 40): Scenario {
  const random = randomFrom(seed, index, 1);
  const count = Math.min(most, random.chance(0.5) ? random.between(1, 8) : random.between(1, 40));
  const phases = planOf(random, count);
  const ids = phases.map(({ id }) => id);
  const disturbed = random.chance(0.9);
  const jobs = random.between(1, 6);
  return {
    name: most < 40 ? `${index}/${most}` : `${index}`,
    phases,
    behaviours: behavioursOf(random, ids),
    mode: oneOf(random, ["auto", "auto", "message-only", "single"]),
    maxAttempts: random.between(1, 3),
    jobs: random.chance(0.8) ? [jobs] : Array.from({ length: 7 }, () => random.between(1, 6)),
    review: random.chance(0.3),
    reviewAnswer: answer(random, 0.1),
    againAnswer: answer(random, 0.4),
    rewrittenAnswer: answer(random, 0.2),
    redBaseline: random.chance(0.15),
    baselineAnswer: answer(random, 0.2),
    waits: oneOf(random, [0, 0.5, 1, 1]),
    selections: random.chance(0.05) ? 0.5 : 0,
    crashes: disturbed ? random.between(1, 20) : 0,
    crashGap: oneOf(random, [2, 5, 15, 40, 100]),
    stops: random.chance(0.2) ? random.between(1, 3) : 0,
    refusals: random.chance(0.15) ? random.between(1, 2) : 0,
    commitsByPeople: random.chance(0.4) ? random.between(1, 6) : 0,
    rewindsByPeople: random.chance(0.08) ? 1 : 0,
    peopleCollide: random.chance(0.2) ? 0.2 : 0,
  };
}

/** The same, left in peace. */
export const undisturbed = (scenario: Scenario): Scenario => ({
  ...scenario,
  crashes: 0,
  stops: 0,
  refusals: 0,
  selections: 0,
});

export const oneOf = <T>(random: Random, items: readonly T[]): T =>
  items[random.below(items.length)] as T;

function answer(random: Random, refusing: number): { when: When; key: "A" | "B" } {
  return {
    when: oneOf(random, ["now", "now", "now", "later", "later", "never"]),
    key: random.chance(refusing) ? "B" : "A",
  };
}

// ── plans ──────────────────────────────────────────────────────────────────────────────────────

function planOf(random: Random, count: number): RunPhase[] {
  const needs = shapes[random.below(shapes.length)]?.(random, count) ?? [];
  const phases = needs.map((some, index) => ({
    id: `p${index}`,
    written: `P${index}`,
    name: `Phase ${index}`,
    dependsOn: [...new Set(some)].sort((a, b) => a - b).map((need) => `p${need}`),
    parallelWith: [],
    tasks: 1,
    asks: `${index}`,
    ...(random.chance(0.03) && { skipped: "complete in the plan before the run" }),
  }));
  return random.chance(0.5) ? byLevel(phases, needs) : phases;
}

/** As a run sees a plan: batch after batch. */
function byLevel(phases: readonly RunPhase[], needs: readonly number[][]): RunPhase[] {
  const levels: number[] = [];
  for (const some of needs)
    levels.push(1 + Math.max(-1, ...some.map((need) => levels[need] as number)));
  return phases
    .map((phase, index) => ({ phase, level: levels[index] as number }))
    .sort((a, b) => a.level - b.level)
    .map(({ phase }) => phase);
}

/** For each phase the earlier ones that it waits for. */
const shapes: readonly ((random: Random, count: number) => number[][])[] = [
  // a chain
  (_, count) => Array.from({ length: count }, (__, index) => (index === 0 ? [] : [index - 1])),
  // nobody waits
  (_, count) => Array.from({ length: count }, () => []),
  // one first, one last, the rest between
  (_, count) =>
    Array.from({ length: count }, (__, index) => {
      if (index === 0) return [];
      if (index < count - 1) return [0];
      return Array.from({ length: count - 1 }, (___, need) => need);
    }),
  // diamonds, one after the other
  (_, count) =>
    Array.from({ length: count }, (__, index) => {
      if (index === 0) return [];
      return index % 3 === 0 ? [index - 1, index - 2] : [index - (index % 3)];
    }),
  // layers
  (random, count) => {
    const width = random.between(2, 6);
    return Array.from({ length: count }, (_, index) => {
      const above = Math.floor(index / width) * width;
      const layer = Array.from({ length: width }, (__, each) => above - width + each);
      return layer.filter((need) => need >= 0 && random.chance(0.5));
    });
  },
  // anything
  (random, count) => {
    const density = random.fraction() * 0.4;
    return Array.from({ length: count }, (_, index) =>
      Array.from({ length: index }, (__, need) => need).filter(() => random.chance(density)),
    );
  },
  // several chains that never meet
  (random, count) => {
    const chains = random.between(2, 5);
    return Array.from({ length: count }, (_, index) => (index < chains ? [] : [index - chains]));
  },
];

// ── behaviours ─────────────────────────────────────────────────────────────────────────────────

function behavioursOf(random: Random, ids: readonly string[]): Map<string, Behaviour> {
  const trouble = oneOf(random, [0, 0.1, 0.3, 0.6]);
  const endless = oneOf(random, [0, 0, 0.03, 0.1]);
  const touching = oneOf(random, [0, 0, 0.05, 0.2]);
  const pairs = { collide: pairsOf(random, ids, touching), clash: pairsOf(random, ids, touching) };
  return new Map(
    ids.map((id) => [
      id,
      {
        turns: random.chance(trouble)
          ? Array.from({ length: random.between(1, 4) }, () =>
              oneOf<Turn>(random, [
                "agent dies",
                "agent dies",
                "gate red",
                "gate red",
                "parked",
                "parked",
                "lasting",
              ]),
            )
          : [],
        ...(random.chance(endless) && {
          endless: oneOf(random, ["agent dies", "gate red", "lasting"] as const),
        }),
        collidesWith: pairs.collide.get(id) ?? new Set(),
        clashesWith: pairs.clash.get(id) ?? new Set(),
      },
    ]),
  );
}

function pairsOf(
  random: Random,
  ids: readonly string[],
  density: number,
): Map<string, Set<string>> {
  const pairs = new Map(ids.map((id) => [id, new Set<string>()]));
  if (density === 0) return pairs;
  for (const [at, one] of ids.entries()) {
    for (const other of ids.slice(at + 1)) {
      if (!random.chance(density)) continue;
      pairs.get(one)?.add(other);
      pairs.get(other)?.add(one);
    }
  }
  return pairs;
}
