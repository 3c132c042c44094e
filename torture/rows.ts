/** The table: every promise of the product that something tries to break. */
import { clockJumps } from "./clock-jumps.ts";
import { crashRuns } from "./crash-runs.ts";
import { crashStates } from "./crash-states.ts";
import { decisionRaces } from "./decision-races.ts";
import { diskFaults } from "./disk-faults.ts";
import { fleetChaos } from "./fleet-chaos.ts";
import { fleetEqual } from "./fleet-equal.ts";
import { fleetParked } from "./fleet-parked.ts";
import { flowHistories } from "./flow-histories.ts";
import { flowKills } from "./flow-kills.ts";
import { fuzzPlans } from "./fuzz-plans.ts";
import { fuzzStateFiles } from "./fuzz-state-files.ts";
import { hostileRepositories } from "./hostile-repositories.ts";
import { httpMatrix } from "./http-matrix.ts";
import { injections } from "./injections.ts";
import { killSweep } from "./kill-sweep.ts";
import { liars } from "./liars.ts";
import { lockRaces } from "./lock-races.ts";
import { plantedBugs } from "./mutants.ts";
import { pidReuse } from "./pid-reuse.ts";
import { powerCuts } from "./power-cuts.ts";
import { pullKills } from "./pull-kills.ts";
import type { Row } from "./rig.ts";
import { runKills } from "./run-kills.ts";
import { runPowerCuts } from "./run-power-cuts.ts";
import { secrets } from "./secrets.ts";
import { simulatedRuns } from "./simulated-runs.ts";
import { soak } from "./soak.ts";
import { stateMerges } from "./state-merges.ts";
import { trackerEffects } from "./tracker-effects.ts";
import { userBytes } from "./user-bytes.ts";

export const rows: readonly Row[] = [
  fuzzStateFiles,
  fuzzPlans,
  hostileRepositories,
  injections,
  simulatedRuns,
  flowHistories,
  stateMerges,
  crashStates,
  killSweep,
  diskFaults,
  lockRaces,
  pidReuse,
  decisionRaces,
  soak,
  clockJumps,
  powerCuts,
  crashRuns,
  runKills,
  flowKills,
  pullKills,
  runPowerCuts,
  trackerEffects,
  userBytes,
  liars,
  httpMatrix,
  secrets,
  fleetEqual,
  fleetParked,
  fleetChaos,
  plantedBugs,
];
