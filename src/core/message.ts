/**
 * A word to whoever holds the project, from somebody who does not: a file beside the journal, which
 * the holder turns into events. Answers to decisions are no messages: of those the first one stands.
 */
import { z } from "zod";

const from = { by: z.string(), at: z.string() };

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
]);
export type Message = z.infer<typeof Message>;
