/** The sign of a stage, as a picture beside its word. */
import { isActive, looks, type StageName } from "./phase-words.ts";

export const Sign = ({ is }: { is: StageName }) => (
  <svg class="run-sign" data-tone={looks[is].tone} viewBox="0 0 16 16" aria-hidden="true">
    {isActive(is) && <circle class="run-pulse" cx="8" cy="8" r="7" />}
    <path d={looks[is].sign} data-is={is} />
  </svg>
);
