/**
 * Work that was handed to somebody who came for it: a person's own agent, which we have not started
 * and cannot watch. It has the work until a moment that is on record; whoever it is then given to has
 * another epoch, so that what the first one reports after all is known to be late.
 */
import { z } from "zod";

export const Lease = z.object({
  /** Counts up each time that the same work goes to somebody else. */
  epoch: z.int().min(1),
  /** Not taken back before that. */
  until: z.string(),
  /** What the program calls itself. */
  by: z.string(),
  /** The conversation: one process of ours that an agent talks to. */
  holder: z.string(),
  /** Where that process lives, so that its death is noticed. */
  host: z.string(),
  pid: z.int(),
  /** In ticks since that machine's start; 0: it does not say. */
  started: z.int(),
  /** The work tree of the repository in which it was given: there are several, with one memory. */
  root: z.string(),
  /** Of a phase: a hash of what it asked for then. */
  asks: z.string().exactOptional(),
});
export type Lease = z.infer<typeof Lease>;

/** Who comes for work, before anything is given. */
export type Puller = Omit<Lease, "epoch" | "until" | "asks">;

/**
 * What a lease is to whoever looks at it. `ours`: it may be handed out again as it is. `lapsed`: its
 * time is over, or whoever had it is no longer there.
 */
export type LeaseStanding = "ours" | "theirs" | "lapsed";

/** The name under which the work is reported; a model passes it on as it is. */
export type LeaseName =
  | {
      readonly of: "phase";
      readonly run: string;
      readonly phase: string;
      readonly attempt: number;
      readonly epoch: number;
    }
  | { readonly of: "step"; readonly session: number; readonly epoch: number };

export const leaseName = (name: LeaseName): string =>
  name.of === "phase"
    ? `${name.run}/${name.phase}/${name.attempt}/${name.epoch}`
    : `flow/${name.session}/${name.epoch}`;

/** Undefined: that is none of ours. */
export function readLeaseName(text: string): LeaseName | undefined {
  const step = /^flow\/([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text);
  if (step) return { of: "step", session: Number(step[1]), epoch: Number(step[2]) };
  const found = /^(r[0-9a-f]{10})\/([a-z0-9][a-z0-9-]{0,47})\/([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(
    text,
  );
  if (!found) return undefined;
  const [, run = "", phase = "", attempt, epoch] = found;
  return { of: "phase", run, phase, attempt: Number(attempt), epoch: Number(epoch) };
}

/** The next lease of the same work: the same epoch for the same conversation. */
export const leaseAfter = (before: Lease | undefined, puller: Puller, until: string): Lease => ({
  ...puller,
  epoch: (before?.epoch ?? 0) + (before?.holder === puller.holder ? 0 : 1),
  until,
});

/**
 * `puller`: who asks for work; absent: nobody, we do it ourselves. What a process that has died was
 * at goes on where it lies, for the next one that comes for work.
 */
export function leaseStanding(
  lease: Lease,
  now: string,
  isGone: (lease: Lease) => boolean,
  puller?: Puller,
): LeaseStanding {
  if (puller?.holder === lease.holder) return "ours";
  if (isGone(lease)) return puller?.root === lease.root ? "ours" : "lapsed";
  return lease.until <= now ? "lapsed" : "theirs";
}

/** By what an engine knows; where it knows nothing, by the clock alone. */
export const standingOf = (
  lease: Lease,
  { now, leased }: { readonly now: string; readonly leased?: (lease: Lease) => LeaseStanding },
): LeaseStanding => leased?.(lease) ?? (lease.until <= now ? "lapsed" : "theirs");

/** Whoever does a phase or a step that was fetched; what it is called is in the lease. */
export const hostAgent = "host";
