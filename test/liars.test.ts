/**
 * Every kind of lying agent is tried once by the real binary, and every kind that is only clumsy,
 * with AUTODEV_LIARS=all; without it, of those that need a repository each, every other one.
 * What they are and what must come of them lies in torture/liars; the torture table puts them
 * together in ways that nobody thought of.
 */
import { beforeAll, describe, expect, it } from "vitest";
import {
  crowdsOf,
  honestKinds,
  isPresent,
  liars,
  projectsOf,
  tryCrowd,
  tryHonest,
  tryLiar,
  type Verdict,
} from "../torture/liars/judge.ts";
import type { Kind } from "../torture/liars/kind.ts";
import { openCourt } from "../torture/liars/trial.ts";
import { inParallel } from "../torture/rig.ts";
import { binary, makeFolder } from "./rig.ts";

const [crowdSize, width] = [8, 3];
const crowds = crowdsOf(liars, crowdSize);
const inCrowds = new Set(crowds.flatMap((crowd) => crowd.liars.map(({ name }) => name)));
const alone = [...liars.filter(({ name }) => !inCrowds.has(name)), ...honestKinds];
const isAll = process.env["AUTODEV_LIARS"] === "all";
const leftOut = new Set(alone.filter((_, at) => !isAll && at % 2 === 1).map(({ name }) => name));
const canBe = (kind: Kind): boolean =>
  !leftOut.has(kind.name) && isPresent(projectsOf(kind)[0] ?? "suite");

const verdicts = new Map<string, Verdict>();

/** Everything that runs, the longest first, a few at a time; the tests below only look it up. */
beforeAll(async () => {
  const court = openCourt(binary(), makeFolder("liars"));
  const work = [
    ...crowds.map((crowd) => async () => {
      for (const [at, verdict] of (await tryCrowd(court, crowd)).entries()) {
        verdicts.set(crowd.liars[at]?.name ?? "", verdict);
      }
    }),
    ...liars
      .filter((liar) => !inCrowds.has(liar.name) && canBe(liar))
      .map((liar) => async () => {
        verdicts.set(liar.name, await tryLiar(court, liar));
      }),
    ...honestKinds.filter(canBe).map((kind) => async () => {
      verdicts.set(kind.name, await tryHonest(court, kind));
    }),
  ];
  await inParallel(work, (each) => each(), width);
}, 900_000);

function expectRight({ name, what }: Kind): void {
  const verdict = verdicts.get(name);
  expect(verdict, "it was never tried").toBeDefined();
  expect(verdict?.wrong ?? "as it should be", what).toBe("as it should be");
}

describe("an agent that lies is not believed, and the lie is called by its name", () => {
  for (const liar of liars) {
    it.skipIf(!canBe(liar))(liar.name, () => expectRight(liar));
  }
});

describe("an agent that is clumsy but did its work is accepted", () => {
  for (const kind of honestKinds) {
    it.skipIf(!canBe(kind))(kind.name, () => expectRight(kind));
  }
});

describe("the kinds", () => {
  it("are many, each with a name of its own", () => {
    const names = [...liars, ...honestKinds].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(liars.length).toBeGreaterThanOrEqual(55);
    expect(honestKinds.length).toBeGreaterThanOrEqual(35);
  });

  it("say for every lie what it has to be called", () => {
    const unnamed = liars.filter(
      ({ expect: { codes, errors = [] } }) => codes.length + errors.length === 0,
    );
    expect(unnamed).toEqual([]);
  });
});
