/**
 * How far a conversation can still be trusted, and whether it goes anywhere: a fold of what an agent
 * is seen to do. Where it tells how full its window is, that counts; elsewhere, what it has read.
 */
export type Zone = "safe" | "caution" | "danger";

export interface SkillWatch {
  readonly tools: number;
  readonly artifacts: readonly string[];
  readonly large: number;
  /** Of its window, from 0 to 1. */
  readonly used?: number;
  /** Tools that failed or whose output was cut, since one went well. */
  readonly troubles: number;
  /** By artifact: the last contents that were seen, and how often they came to nothing new. */
  readonly rewritten: Readonly<
    Record<string, { readonly hash: string; readonly size: number; readonly times: number }>
  >;
  /** When something new was last left on disk, in milliseconds. */
  readonly lastNew: number;
}

export const unwatchedSkill = (now: number): SkillWatch => ({
  tools: 0,
  artifacts: [],
  large: 0,
  troubles: 0,
  rewritten: {},
  lastNew: now,
});

export type SkillSign =
  | { readonly is: "tool"; readonly ok: boolean }
  | { readonly is: "window"; readonly used: number }
  | { readonly is: "artifact-read"; readonly path: string; readonly large: boolean }
  | {
      readonly is: "artifact-written";
      readonly path: string;
      readonly hash: string;
      readonly size: number;
      readonly at: number;
    };

const [manyArtifacts, manyLarge, manyTools, manyTroubles] = [5, 3, 20, 5];
const [cautious, dangerous] = [0.6, 0.8];

export function watchSkill(watch: SkillWatch, sign: SkillSign): SkillWatch {
  switch (sign.is) {
    case "tool":
      return {
        ...watch,
        tools: watch.tools + 1,
        troubles: sign.ok ? 0 : watch.troubles + 1,
      };
    case "window":
      return { ...watch, used: sign.used };
    case "artifact-read":
      return watch.artifacts.includes(sign.path)
        ? watch
        : {
            ...watch,
            artifacts: [...watch.artifacts, sign.path],
            large: watch.large + (sign.large ? 1 : 0),
          };
    case "artifact-written": {
      const { path, hash, size, at } = sign;
      const before = Object.hasOwn(watch.rewritten, path) ? watch.rewritten[path] : undefined;
      if (before?.hash === hash) return watch;
      // Bytes that come and go say nothing new; what grows or shrinks does.
      const isNew = before === undefined || Math.abs(size - before.size) > meaningful(before.size);
      const times = isNew ? 0 : before.times + 1;
      return {
        ...watch,
        rewritten: { ...watch.rewritten, [path]: { hash, size, times } },
        ...(isNew && { lastNew: at }),
      };
    }
  }
}

const meaningful = (size: number): number => Math.max(16, size * 0.01);

export function zoneOf({ used, artifacts, large, tools, troubles }: SkillWatch): Zone {
  if (troubles >= manyTroubles) return "danger";
  if (used !== undefined) {
    return used >= dangerous ? "danger" : used >= cautious ? "caution" : "safe";
  }
  return artifacts.length >= manyArtifacts || large >= manyLarge || tools >= manyTools
    ? "caution"
    : "safe";
}

/** Where a skill has a good place for it, half of what makes one cautious is reason enough to begin anew. */
export const isHalfWay = ({ used, artifacts, large, tools }: SkillWatch): boolean =>
  used !== undefined
    ? used >= cautious / 2
    : artifacts.length >= manyArtifacts / 2 || large >= manyLarge / 2 || tools >= manyTools / 2;

const mostRewrites = 3;

/** Why it goes nowhere; undefined: it goes somewhere. */
export function stuckBecause(
  { rewritten, lastNew }: SkillWatch,
  now: number,
  quietMinutes: number,
): string | undefined {
  for (const [path, { times }] of Object.entries(rewritten)) {
    if (times >= mostRewrites) {
      return `_docs/${path} was written ${times} times without meaningful change`;
    }
  }
  return now - lastNew >= quietMinutes * 60_000
    ? `no new artifact for ${quietMinutes} minutes, though the agent is at work`
    : undefined;
}
