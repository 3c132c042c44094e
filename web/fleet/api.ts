/** What the fleet's page asks its server. */
import type {
  DecideAnswer,
  FleetAnswer,
  FleetDecideRequest,
  FleetPauseAnswer,
  FleetPauseRequest,
} from "../../src/core/board/wire.ts";
import { type Answered, ask, doubt } from "../api.ts";

export interface FleetApi {
  seen(): Promise<Answered<FleetAnswer>>;
  decide(run: string, id: string, key: string): Promise<Answered<DecideAnswer>>;
  /** `run` null: the whole fleet. */
  pause(run: string | null, paused: boolean): Promise<Answered<FleetPauseAnswer>>;
}

const longest = 15_000;

export function fleetApi(token: string): FleetApi {
  const asked = <T>(path: string, body?: object): Promise<Answered<T>> => {
    // Nothing tells between two questions that the server has gone, and another has come.
    doubt();
    const signal = AbortSignal.timeout(longest);
    return ask<T>(token, `/api/fleet${path}`, { signal, ...(body && { body }) });
  };
  return {
    seen: () => asked(""),
    decide: (run, id, key) => asked("/decide", { run, id, key } satisfies FleetDecideRequest),
    pause: (run, paused) => asked("/pause", { run, paused } satisfies FleetPauseRequest),
  };
}
