/** The fleet on its page: asked of whoever can read it, and nothing of it is loaded here. */
import type { DecideAnswer, FleetAnswer, FleetPauseAnswer } from "../core/board/wire.ts";
import type { Answer } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { fits, misshapen } from "./parameters.ts";
import type { House, Question } from "./routes.ts";

/** Nothing that comes through it tells where the database is. */
export interface FleetDoor {
  seen(): Promise<Result<FleetAnswer>>;
  decide(wish: {
    readonly run: string;
    readonly id: string;
    readonly key: string;
    readonly by: string;
  }): Promise<Result<Answer>>;
  /** Without a run: the whole fleet. Resolves with the runs that go on. */
  pause(run: string | undefined, paused: boolean): Promise<Result<readonly string[]>>;
  close(): Promise<void>;
}

export interface FleetBundle {
  openDoor(): FleetDoor;
}

const none = fail("not-found", "this server knows of no database, so there is no fleet here", {
  hint: "AUTODEV_DATABASE_URL=postgres://user:password@host:5432/name autodev ui",
});

export const showFleet = ({ fleet }: House): Promise<Result<FleetAnswer>> | Result<FleetAnswer> =>
  fleet ? fleet.seen() : none;

export async function decideInFleet(
  { fleet, by }: House,
  { body }: Question,
): Promise<Result<DecideAnswer>> {
  const { run, id, key } = body;
  if (!fits(run, "run")) return misshapen("run");
  if (!fits(id, "decision")) return misshapen("id");
  if (!fits(key, "letter")) return misshapen("key");
  if (!fleet) return none;
  const stands = await fleet.decide({ run, id, key, by });
  if (!stands.ok) return stands;
  const { key: answer, by: answeredBy } = stands.value;
  return succeed({ version: 1, id, answer, answeredBy, recorded: true });
}

export async function pauseFleet(
  { fleet }: House,
  { body }: Question,
): Promise<Result<FleetPauseAnswer>> {
  const { run, paused } = body;
  if (run !== null && !fits(run, "run")) return misshapen("run");
  if (typeof paused !== "boolean") return misshapen("paused");
  if (!fleet) return none;
  const done = await fleet.pause(run ?? undefined, paused);
  return done.ok ? succeed({ version: 1, paused, goesOn: done.value }) : done;
}
