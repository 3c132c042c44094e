/** A run of a fleet: how far it is, what it waits for, who drives it. */
import type { ComponentChildren } from "preact";
import type { ToldRun } from "../../src/core/fleet/told.ts";
import type { Answered } from "../api.ts";
import { ago, inWords } from "../moments.ts";
import { Text, visibleLine } from "../text.tsx";
import { Twice } from "./twice.tsx";

const tones: Readonly<Record<ToldRun["state"], string>> = {
  opening: "quiet",
  waiting: "quiet",
  driving: "info",
  paused: "warn",
  asking: "warn",
  parked: "park",
  halted: "bad",
  over: "ok",
};

interface Props {
  readonly run: ToldRun;
  readonly now: number;
  /** Or on again; absent: it is over. */
  readonly pause?: () => Promise<Answered<unknown>>;
}

export function RunCard({ run, now, pause }: Props) {
  const { state, complete, phases, underWay, waitsFor, driver, error } = run;
  const part = (count: number): string => `${phases === 0 ? 0 : (100 * count) / phases}%`;
  return (
    <article class="card run-card" aria-label={`Run ${run.run}: ${visibleLine(run.plan)}`}>
      <header class="run-card-head">
        <div class="run-card-name">
          <h3>
            <Text of={run.plan} line />
          </h3>
          <p class="muted mono">
            <Text of={`${run.remote} → ${run.branch}`} line />
          </p>
        </div>
        <span class="run-states">
          <span class="chip" data-tone={tones[state]}>
            {state}
          </span>
          {run.paused && state !== "paused" && (
            <span class="chip" data-tone="warn">
              to be paused
            </span>
          )}
        </span>
      </header>
      <div
        class="bar"
        role="progressbar"
        aria-label="Phases complete"
        aria-valuemin={0}
        aria-valuemax={phases}
        aria-valuenow={complete}
      >
        <span class="bar-done" style={{ width: part(complete) }} />
        <span class="bar-active" style={{ width: part(underWay.length) }} />
      </div>
      <dl class="run-facts">
        {phases > 0 && (
          <Fact name="Phases">
            <span class="num">
              {complete}/{phases}
            </span>
          </Fact>
        )}
        {underWay.length > 0 && (
          <Fact name="At">
            <Text of={underWay.join(", ")} line />
          </Fact>
        )}
        {waitsFor !== null && (
          <Fact name="Waits for">
            <Text of={state === "paused" ? heldBy(run) : inWords(waitsFor, now)} line />
          </Fact>
        )}
        {driver !== null && (
          <Fact name="Driven by">
            <Text of={driver} line />
          </Fact>
        )}
        <Fact name="Submitted">
          <Text of={`by ${run.submittedBy}, ${ago(run.submittedAt, now)}`} line />
        </Fact>
        {error !== null && (
          <Fact name="Said">
            <Text of={error} />
          </Fact>
        )}
      </dl>
      <footer class="run-foot">
        <span class="muted mono">
          <Text of={run.run} line />
        </span>
        {pause && (
          <Twice name={run.paused ? "Resume" : "Pause"} what={`run ${run.run}`} act={pause} />
        )}
      </footer>
    </article>
  );
}

/** A terminal names the command; here is the button. */
const heldBy = ({ paused }: ToldRun): string => `somebody to resume ${paused ? "it" : "the fleet"}`;

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
