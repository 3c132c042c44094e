/** The table: everything that is measured, in the order in which it is. */
import { coldStartRows } from "./cold-start.ts";
import { dashboardRows } from "./dashboard.ts";
import { durableStepRows } from "./durable-steps.ts";
import { fleetRows } from "./fleet.ts";
import { openingRows } from "./opening.ts";
import { peerRows } from "./peer.ts";
import { peerStartRows } from "./peer-starts.ts";
import { planRows } from "./plans.ts";
import type { Row } from "./row.ts";
import { runRows } from "./runs.ts";
import { scheduleRows } from "./schedules.ts";
import { transitionRows } from "./transition.ts";
import { verificationRows } from "./verification.ts";

type Rows = Iterable<Row> | AsyncIterable<Row>;

interface Group {
  readonly about: string;
  readonly rows: (scratch: string, short: boolean) => Rows | Promise<Rows>;
}

export const groups: Readonly<Record<string, Group>> = {
  "cold-start": { about: "--version and status in a large repository", rows: coldStartRows },
  "peer-starts": { about: "the same beside programs of others", rows: peerStartRows },
  transition: { about: "one durable transition, and the bare append", rows: transitionRows },
  "durable-steps": { about: "the same beside SQLite, LangGraph, DBOS", rows: durableStepRows },
  opening: { about: "a journal of 100,000 events is opened", rows: openingRows },
  plans: { about: "plans of 100, 1,000 and 10,000 phases", rows: planRows },
  schedules: { about: "their order, beside make and ninja", rows: scheduleRows },
  peer: { about: "100, 1,000 and 10,000 tasks, beside task-master", rows: peerRows },
  verification: { about: "a verification, and its gates alone", rows: verificationRows },
  runs: {
    about: "500 phases that do nothing, and their git alone; 1 GB of output; resume",
    rows: runRows,
  },
  dashboard: { about: "the dashboard under load", rows: dashboardRows },
  fleet: { about: "the same run by a fleet, and by more workers", rows: fleetRows },
};
