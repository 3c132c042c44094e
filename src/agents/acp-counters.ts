/**
 * What an ACP agent has used. The protocol shows how full the context is and what the session has
 * cost in all. What the context has grown by was newly read and written, the rest came from a cache:
 * so that is counted. Agents that also say what they have used set it right: Qwen with each message,
 * others in their answer to the prompt.
 */
import type { AgentEvent } from "../agent.ts";
import { fieldsOf, numberOf } from "./acp-wire.ts";
import type { Fields } from "./json-line.ts";

export interface Counters {
  /** Where they stand before the turn. */
  begin(update: Fields): void;
  /** A `usage_update`. */
  tell(update: Fields): readonly AgentEvent[];
  /** A chunk of a message, which may say what it took. */
  add(chunk: Fields): readonly AgentEvent[];
  /** The answer to the prompt, which may say what the whole turn has used. */
  account(result: Fields): readonly AgentEvent[];
}

export function countersOf({ resumed }: { readonly resumed: boolean }): Counters {
  // A session that goes on has counters that are not at zero; nobody says where they are.
  let used: number | undefined = resumed ? undefined : 0;
  let spent: number | undefined = resumed ? undefined : 0;
  let [counted, added] = [0, 0];
  const begin = (update: Fields): void => {
    used = numberOf(update.used) ?? used;
    spent = dollarsIn(update.cost) ?? spent;
  };
  const usage = (tokens: number, cost?: number): readonly AgentEvent[] => {
    counted += tokens;
    if (tokens === 0 && !cost) return [];
    return [{ type: "usage", tokens, ...(cost !== undefined && { cost }) }];
  };
  /** The rest of what it was in all. */
  const upTo = (total: number): readonly AgentEvent[] => usage(Math.max(0, total - counted));
  return {
    begin,
    tell(update) {
      const tokens = grown(used, numberOf(update.used)) ?? 0;
      const cost = grown(spent, dollarsIn(update.cost));
      begin(update);
      const [full, size] = [numberOf(update.used) ?? 0, numberOf(update.size) ?? 0];
      const window = full > 0 && size > 0 ? [{ type: "window" as const, used: full, size }] : [];
      return [...usage(tokens, cost), ...window];
    },
    add({ _meta: more }) {
      added += totalOf(fieldsOf(more).usage);
      return upTo(added);
    },
    account: (result) =>
      upTo(totalOf(result.usage) || totalOf(fieldsOf(quotaIn(result).token_count))),
  };
}

/** Undefined: nothing can be said. Smaller than it was: the context was made shorter. */
const grown = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.max(0, to - from);

function dollarsIn(cost: unknown): number | undefined {
  const { amount, currency } = fieldsOf(cost);
  return currency === undefined || currency === "USD" ? numberOf(amount) : undefined;
}

/** Gemini's own way to say it. */
export const quotaIn = ({ _meta: more }: Fields): Fields => fieldsOf(fieldsOf(more).quota);

function totalOf(usage: unknown): number {
  const fields = fieldsOf(usage);
  const { totalTokens, inputTokens, outputTokens } = fields;
  const { input_tokens: input, output_tokens: output } = fields;
  const parts = [inputTokens ?? input, outputTokens ?? output];
  const sum = parts.reduce<number>((all, each) => all + (numberOf(each) ?? 0), 0);
  return Math.max(0, numberOf(totalTokens) ?? sum);
}
