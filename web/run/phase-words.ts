/** How a phase's stage is said and drawn: a word, a tone, a sign; never a colour alone. */
import { duration } from "../../src/core/amounts.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import type { SeenPhase, Stage } from "./seen-phase.ts";

export type StageName = Stage["is"];
export type Tone = "ok" | "warn" | "bad" | "info" | "park" | "none";

interface Look {
  readonly word: string;
  readonly tone: Tone;
  /** A path in a square of 16. */
  readonly sign: string;
}

const ring = "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11";
const octagon = "M5.6 2.2h4.8l3.4 3.4v4.8l-3.4 3.4h-4.8l-3.4-3.4v-4.8z";

/** In the order in which somebody wants to hear of them. */
export const looks: Readonly<Record<StageName, Look>> = {
  failed: { word: "failed", tone: "bad", sign: `${octagon}M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4` },
  held: { word: "needs you", tone: "warn", sign: "M8 2.5l6 10.8h-12zM8 6.6v3M8 11.4v.1" },
  blocked: { word: "blocked", tone: "bad", sign: `${ring}M4.2 4.2l7.6 7.6` },
  parked: { word: "parked", tone: "park", sign: `${ring}M6.4 5.6v4.8M9.6 5.6v4.8` },
  retrying: {
    word: "trying again",
    tone: "warn",
    sign: "M13 8a5 5 0 1 1-1.6-3.7M13.4 2v3.2h-3.2",
  },
  working: { word: "working", tone: "info", sign: "M8 4.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7z" },
  checking: {
    word: "checking",
    tone: "info",
    sign: "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M10.3 10.3l3.4 3.4",
  },
  landing: { word: "landing", tone: "info", sign: "M8 2v7.5M4.6 6.4l3.4 3.4l3.4-3.4M3 13.5h10" },
  ready: { word: "ready", tone: "none", sign: ring },
  waiting: { word: "waiting", tone: "none", sign: `${ring}M8 5v3.2l2 1.4` },
  complete: { word: "complete", tone: "ok", sign: `${ring}M5.2 8.2l2 2l3.6-4.2` },
  skipped: { word: "skipped", tone: "none", sign: `${ring}M5.3 8h5.4` },
  "left-out": { word: "left out", tone: "none", sign: "M5 8h6" },
};

export const isActive = (is: StageName): boolean =>
  is === "working" || is === "checking" || is === "landing";

/** What it waits for, what went wrong: the rest of the sentence that the word begins. */
export function why(stage: Stage, now: number): string {
  switch (stage.is) {
    case "waiting":
      return `for ${listed(stage.for)}`;
    case "retrying":
    case "held":
    case "failed":
      return stage.message;
    case "checking":
    case "landing":
      return stage.gate === undefined ? "" : `gate ${stage.gate}`;
    case "complete":
      return stage.unverified ? "no gate has checked it" : "";
    case "skipped":
      return stage.reason;
    case "blocked":
      return `phase ${stage.by} has failed`;
    case "parked":
      return `for ${duration(Math.max(0, (momentOf(stage.until) ?? now) - now))} more`;
    case "left-out":
      return "not among those that were chosen";
    case "ready":
    case "working":
      return "";
  }
}

function listed(names: readonly string[]): string {
  const [most, rest] = [names.slice(0, 4), names.length - 4];
  return `${most.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Which attempt, where that is worth a word. */
export const attemptWords = ({ attempt, of, stage }: SeenPhase): string =>
  (isActive(stage.is) && of > 1) || attempt > 1 ? `attempt ${attempt} of ${of}` : "";

/** As it is read out: "Phase 2A Backend API, working, attempt 1 of 2, 3 min". */
export function spoken(phase: SeenPhase, isCritical = false): string {
  const { written, name, stage, elapsed } = phase;
  return [
    `Phase ${written} ${name}`.trim(),
    looks[stage.is].word,
    attemptWords(phase),
    elapsed === undefined ? "" : isActive(stage.is) ? coarsely(elapsed) : duration(elapsed),
    isCritical ? "on the critical path" : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** A label that changes each second would be read out each second. */
const coarsely = (ms: number): string =>
  ms < 60_000 ? "less than a minute" : duration(Math.floor(ms / 60_000) * 60_000);

/** By stage, worst first. */
export function countedStages(phases: readonly SeenPhase[]): [StageName, number][] {
  const counts = new Map<StageName, number>();
  for (const { stage } of phases) counts.set(stage.is, (counts.get(stage.is) ?? 0) + 1);
  return (Object.keys(looks) as StageName[])
    .map((name): [StageName, number] => [name, counts.get(name) ?? 0])
    .filter(([, count]) => count > 0);
}

/** Nothing of it that is drawn has changed. */
export const looksTheSame = (one: SeenPhase, other: SeenPhase): boolean =>
  one.id === other.id &&
  one.name === other.name &&
  one.written === other.written &&
  one.attempt === other.attempt &&
  one.of === other.of &&
  one.spend?.tokens === other.spend?.tokens &&
  one.spend?.cost === other.spend?.cost &&
  Math.floor((one.elapsed ?? -1) / 1000) === Math.floor((other.elapsed ?? -1) / 1000) &&
  JSON.stringify(one.stage) === JSON.stringify(other.stage);
