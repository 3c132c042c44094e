/** What happened between us and a tracker; schemas, as event.ts has them. */
import { z } from "zod";

/** Absent server: nothing is connected to (`local`), or an earlier release chose it. */
const TrackerChosen = z.object({
  type: z.literal("tracker-chosen"),
  tracker: z.string(),
  server: z.string().exactOptional(),
  why: z.string().exactOptional(),
});
/** It answers, somebody is logged in, and its tools can do what we want. */
const TrackerOpened = z.object({
  type: z.literal("tracker-opened"),
  tracker: z.string(),
  server: z.string(),
});
const TrackerRefused = z.object({
  type: z.literal("tracker-refused"),
  tracker: z.string(),
  server: z.string(),
  how: z.enum(["auth", "unreachable", "unable", "tools"]),
  why: z.string(),
  /** The hash of its tools as they are now, where they are not as they were. */
  tools: z.string().exactOptional(),
  difference: z.array(z.string()).exactOptional(),
});

const effect = {
  key: z.string(),
  tracker: z.string(),
  does: z.enum(["create", "link", "move"]),
  kind: z.enum(["epic", "task"]),
  of: z.string(),
};
/** It is about to be called for: from here on it may exist. */
const EffectIntended = z.object({ type: z.literal("effect-intended"), ...effect });
/** It exists, under this id. */
const EffectReceipted = z.object({
  type: z.literal("effect-receipted"),
  ...effect,
  id: z.string(),
  url: z.string().exactOptional(),
  /** The same once more, made by the server: for people to close. */
  others: z.array(z.string()).exactOptional(),
});
/** Not now; the next start tries again. */
const EffectDeferred = z.object({
  type: z.literal("effect-deferred"),
  ...effect,
  why: z.string(),
});
/** What a step has to leave in the tracker is there, or on record as left to do. */
const StepTracked = z.object({
  type: z.literal("step-tracked"),
  step: z.string(),
  tracker: z.string(),
  created: z.int().min(0),
  pending: z.int().min(0),
});

export const trackerEvents = [
  TrackerChosen,
  TrackerOpened,
  TrackerRefused,
  EffectIntended,
  EffectReceipted,
  EffectDeferred,
  StepTracked,
] as const;
