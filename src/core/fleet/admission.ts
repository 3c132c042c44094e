/** Whether an agent may be asked for one more attempt: what all workers together have settled. */

export interface AgentRule {
  /** Attempts under way at once, on all machines together. */
  readonly atOnce?: number;
  /** Attempts that begin within a minute. */
  readonly perMinute?: number;
  /** From midnight to midnight, UTC. */
  readonly dollarsADay?: number;
  /** Its account has nothing left until then. */
  readonly limitedUntil?: string;
  readonly reason?: string;
}

export interface AgentUse {
  readonly underWay: number;
  /** When those of the last minute began, the earliest first. */
  readonly begun: readonly string[];
  readonly dollarsToday: number;
  /** The midnight that is to come, UTC. */
  readonly dayEnds: string;
}

export type Admission =
  | { readonly is: "admitted" }
  /** A place will be free before long: it waits where it is. */
  | { readonly is: "waits"; readonly why: string }
  /** Not before that. */
  | { readonly is: "parked"; readonly until: string; readonly why: string };

export function admit(agent: string, rule: AgentRule, use: AgentUse, now: string): Admission {
  const { limitedUntil, atOnce, perMinute, dollarsADay } = rule;
  if (limitedUntil !== undefined && limitedUntil > now) {
    return {
      is: "parked",
      until: limitedUntil,
      why: rule.reason ?? `${agent} has reached a limit`,
    };
  }
  if (dollarsADay !== undefined && use.dollarsToday >= dollarsADay) {
    const spent = `$${use.dollarsToday.toFixed(2)} of $${dollarsADay.toFixed(2)}`;
    return {
      is: "parked",
      until: use.dayEnds,
      why: `the fleet's budget for ${agent} is used up for today: ${spent}`,
    };
  }
  if (atOnce !== undefined && use.underWay >= atOnce) {
    return { is: "waits", why: `${use.underWay} of ${atOnce} places for ${agent} are taken` };
  }
  if (perMinute !== undefined && use.begun.length >= perMinute) {
    return { is: "waits", why: `${agent} may begin ${perMinute} attempts a minute` };
  }
  return { is: "admitted" };
}
