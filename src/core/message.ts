/**
 * A word to whoever holds the project, from somebody who does not: a file beside the journal, which
 * the holder turns into events. Answers to decisions are no messages: of those the first one stands.
 */
import { z } from "zod";
import { AgentResult } from "./plan/result.ts";

const from = { by: z.string(), at: z.string() };
const leased = {
  run: z.string(),
  phase: z.string(),
  attempt: z.int().min(1),
  epoch: z.int().min(1),
};

export const Message = z.discriminatedUnion("say", [
  /** The second one is for at once, as with Ctrl-C. */
  z.object({ say: z.literal("stop"), how: z.enum(["now", "after-phase"]), ...from }),
  z.object({
    say: z.literal("retry"),
    phase: z.string(),
    /** For whoever tries it next. */
    note: z.string().max(8000).exactOptional(),
    ...from,
  }),
  /** Whoever came for a phase has ended, or is still at it. */
  z.object({ say: z.literal("report"), ...leased, result: AgentResult, ...from }),
  z.object({ say: z.literal("renew"), ...leased, until: z.string(), ...from }),
]);
export type Message = z.infer<typeof Message>;
