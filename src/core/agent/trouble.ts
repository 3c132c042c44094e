/** Everything that can go wrong with an agent, told apart for every agent alike. */
export const troubleKinds = [
  "auth",
  "usage_limit",
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "budget",
  "turn_limit",
  "context",
  "refusal",
  "session_not_found",
  "schema",
  "idle_timeout",
  "timeout",
  "crash",
  "spawn",
] as const;
export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  readonly message: string;
  readonly status?: number;
  /** ISO, UTC: when it is worth trying again, as far as was said. */
  readonly until?: string;
}

export interface Said {
  readonly text: string;
  readonly status?: number;
  /** Headers and fields, their names in lower case. */
  readonly fields?: Readonly<Record<string, string | number>>;
}

export interface Moment {
  readonly now: string;
  /** East of UTC, of the person's clock: for "resets 3pm". */
  readonly zoneMinutes: number;
}

export function troubleIn(_said: Said, _at: Moment): Trouble | undefined {
  return undefined;
}

export function troubleAsAnswer(_text: string, _at: Moment): Trouble | undefined {
  return undefined;
}
