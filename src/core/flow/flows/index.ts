import type { Flow } from "../flow.ts";
import { existingCode } from "./existing-code.ts";
import { greenfield } from "./greenfield.ts";
import { metaRepo } from "./meta-repo.ts";

export const builtInFlows: readonly Flow[] = [greenfield, existingCode, metaRepo];

export const flowNamed = (name: string, flows: readonly Flow[] = builtInFlows): Flow | undefined =>
  flows.find((flow) => flow.name === name);
