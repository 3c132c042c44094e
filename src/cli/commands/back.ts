/** `autodev back`: see flow-acts.ts. */
import { type ActOptions, act } from "./flow-acts.ts";

export const run = (step: string | undefined, options: ActOptions): Promise<number> =>
  act("back", step, options);
