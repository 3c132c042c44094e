/** Bugs about runs that many machines share, each with the sentence of a test that has to notice it. */
import type { Plant } from "./rig.ts";

interface FleetBug {
  readonly name: string;
  readonly plant: Plant;
  /** In a worker, by `test/fleet.test.ts`; else in the store, by `test/engines.test.ts`. */
  readonly worker?: true;
  readonly noticedBy: string;
}

const store = "src/stores/postgres.ts";

export const fleetBugs: readonly FleetBug[] = [
  {
    name: "fleet-overtaken-and-writing",
    noticedBy: "a session that was overtaken can never write again",
    plant: {
      file: store,
      find: "WHERE id = $1 AND epoch = $3 FOR SHARE",
      replace: "WHERE id = $1 FOR SHARE",
    },
  },
  {
    name: "fleet-two-sessions",
    noticedBy: "has one session at a time",
    plant: {
      file: store,
      find: "holder ->> 'token' = $4)",
      replace: "holder ->> 'token' = $4 OR true)",
    },
  },
  {
    name: "fleet-last-answer-stands",
    noticedBy: "lets the first answer stand",
    plant: {
      file: store,
      find: "VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      replace:
        "VALUES ($1, $2, $3) ON CONFLICT (run, decision) DO UPDATE SET answer = EXCLUDED.answer",
    },
  },
  {
    name: "fleet-lost-attempt-begun-again",
    worker: true,
    noticedBy: "carries a run on when a worker is killed",
    plant: {
      file: "src/engines/postgres/worker.ts",
      find: 'task.move.do === "work" || (await isLostWith(name))',
      replace: "(await isLostWith(name))",
    },
  },
  {
    name: "fleet-deadly-work-given-on",
    worker: true,
    noticedBy: "gives a verification that ten workers were lost with",
    plant: {
      file: "src/engines/postgres/worker.ts",
      find: 'task.move.do === "work" || (await isLostWith(name))',
      replace: 'task.move.do === "work"',
    },
  },
  {
    name: "fleet-nobody-is-lost",
    worker: true,
    noticedBy: "carries a run on when a worker is killed",
    plant: {
      file: "src/engines/postgres/worker.ts",
      find: "if (now - contact.since >= leaseMs) await markLost(database);",
      replace: "",
    },
  },
  {
    name: "fleet-zombie-not-told",
    worker: true,
    noticedBy: "refuses what a worker brings that was taken for dead",
    plant: {
      file: "src/engines/postgres/worker.ts",
      find: "isLost = true;\n      endAll();",
      replace: "isLost = true;",
    },
  },
  {
    name: "fleet-others-pushes-thrown-away",
    worker: true,
    noticedBy: "verifies anew on what somebody has pushed meanwhile",
    plant: {
      file: "src/activities/clone-run.ts",
      find: "`--force-with-lease=${target}:${from}`,",
      replace: '"--force",',
    },
  },
  {
    name: "fleet-database-told-to-agents",
    worker: true,
    noticedBy: "tells no agent and no gate where the database is",
    plant: {
      file: "src/project/fleet/connect.ts",
      find: "      delete process.env[name];",
      replace: "      void name;",
    },
  },
];
