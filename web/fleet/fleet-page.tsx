/** A fleet at a glance: first what waits for people, then who works, on what, and what waits. */
import { useRef } from "preact/hooks";
import type { FleetAnswer } from "../../src/core/board/wire.ts";
import type { Decision } from "../../src/core/decision.ts";
import {
  limitsOf,
  type ToldAgent,
  type ToldDecision,
  type ToldRun,
} from "../../src/core/fleet/told.ts";
import { whenOf } from "../moments.ts";
import { DecisionCard } from "../now/decision-card.tsx";
import { Text } from "../text.tsx";
import type { FleetApi } from "./api.ts";
import { RunCard } from "./run-card.tsx";
import { Twice } from "./twice.tsx";
import type { FleetVerdict } from "./verdict.ts";
import { WorkerCard } from "./worker-card.tsx";

interface Props {
  readonly fleet: FleetAnswer;
  readonly verdict: FleetVerdict;
  readonly api: FleetApi;
  /** At once: something was changed. */
  readonly look: () => void;
}

const mostOver = 12;

export function FleetPage({ fleet, verdict, api, look }: Props) {
  const { paused, runs, workers, queue, agents } = fleet;
  const now = Date.now();
  const asked = useAsked(runs, now);
  const openOnes = asked.filter(({ decision }) => decision.withdrawn === undefined).length;
  const halted = runs.filter(({ state }) => state === "halted");
  const open = runs.filter(({ state }) => state !== "over");
  const over = runs.filter(({ state }) => state === "over");
  const changing = (act: () => ReturnType<FleetApi["pause"]>) => async () => {
    const answer = await act();
    look();
    return answer;
  };
  return (
    <div class="now fleet">
      <section class="verdict" aria-label="At a glance">
        <div>
          <h1 tabIndex={-1}>
            <span class="dot" data-tone={verdict.tone} aria-hidden="true" />
            {verdict.title}
          </h1>
          {paused && <p>Until somebody resumes it, nothing new begins.</p>}
        </div>
        <div class="fleet-side">
          <Figures fleet={fleet} open={open.length} />
          <Twice
            name={paused ? "Resume" : "Pause"}
            what="the fleet"
            act={changing(() => api.pause(null, !paused))}
          />
        </div>
      </section>
      <div class="now-columns">
        <div class="now-main">
          {(asked.length > 0 || halted.length > 0) && (
            <section aria-labelledby="needs">
              <h2 id="needs">Needs you</h2>
              <div class="stack">
                {asked.map(({ key, run, id, decision }) => (
                  <DecisionCard
                    key={key}
                    decision={decision}
                    api={{
                      async decide(_, letter) {
                        const answer = await api.decide(run.run, id, letter);
                        look();
                        return answer;
                      },
                    }}
                    now={now}
                    past={false}
                    where={run.plan}
                  />
                ))}
                {halted.map((run) => (
                  <Halted key={run.run} run={run} />
                ))}
              </div>
            </section>
          )}
          <section aria-labelledby="workers">
            <h2 id="workers">Workers</h2>
            {workers.length === 0 ? (
              <p class="card quiet-card">
                Nobody is there. <code>autodev worker</code> on a machine, and it is seen here.
              </p>
            ) : (
              <ul class="workers">
                {workers.map((worker) => (
                  <WorkerCard key={worker.id} worker={worker} now={now} />
                ))}
              </ul>
            )}
          </section>
          <section aria-labelledby="runs">
            <h2 id="runs">Runs</h2>
            <div class="stack">
              {open.map((run) => (
                <RunCard
                  key={run.run}
                  run={run}
                  now={now}
                  pause={changing(() => api.pause(run.run, !run.paused))}
                />
              ))}
              {over.slice(0, mostOver).map((run) => (
                <RunCard key={run.run} run={run} now={now} />
              ))}
              {over.length > mostOver && (
                <p class="muted">
                  And {over.length - mostOver} that are over: <code>autodev fleet --all</code>
                </p>
              )}
              {runs.length === 0 && (
                <p class="card quiet-card">
                  No plan was given to it yet.{" "}
                  <code>autodev build docs/plan.md --engine postgres</code> gives it one.
                </p>
              )}
            </div>
          </section>
        </div>
        <aside class="now-side" aria-label="Beside it">
          <section aria-labelledby="queue">
            <h2 id="queue">Queue</h2>
            {queue.length === 0 ? (
              <p class="muted">Nothing waits.</p>
            ) : (
              <dl class="card lanes">
                {queue.map(({ lane, tasks }) => (
                  <div key={lane}>
                    <dt>
                      <Text of={lane} line />
                    </dt>
                    <dd class="num">{tasks}</dd>
                  </div>
                ))}
              </dl>
            )}
          </section>
          <section aria-labelledby="agents">
            <h2 id="agents">Agents</h2>
            {agents.length === 0 ? (
              <p class="muted">
                No limits. <code>autodev fleet limit</code> sets some.
              </p>
            ) : (
              <ul class="card agents">
                {agents.map((agent) => (
                  <AgentRow key={agent.agent} agent={agent} now={now} />
                ))}
              </ul>
            )}
          </section>
        </aside>
      </div>
      <p class="visually-hidden" aria-live="polite">
        {openOnes > 0 && `Decisions that are asked: ${openOnes}`}
      </p>
    </div>
  );
}

interface Asked {
  /** `run id`: two runs may ask the same. */
  readonly key: string;
  readonly run: ToldRun;
  readonly id: string;
  /** With an id that is its alone on the page. */
  readonly decision: Decision;
}

/** What is no longer asked stays for a while: nothing else comes to lie under somebody's hand. */
const lingers = 600_000;

function useAsked(runs: readonly ToldRun[], now: number): readonly Asked[] {
  const kept = useRef(new Map<string, Asked & { readonly since?: number }>()).current;
  const open = new Set<string>();
  for (const run of runs)
    for (const told of run.decisions) {
      const key = `${run.run} ${told.id}`;
      open.add(key);
      kept.set(key, { key, run, id: told.id, decision: decisionOf(key, told) });
    }
  for (const [key, asked] of kept) {
    if (open.has(key)) continue;
    const { since = now, decision } = asked;
    if (now - since > lingers) kept.delete(key);
    else kept.set(key, { ...asked, since, decision: { ...decision, withdrawn: settled } });
  }
  return [...kept.values()];
}

const settled = "somebody has answered it, or it does not arise any more";

const decisionOf = (key: string, told: ToldDecision): Decision => {
  const { warning, ...rest } = told;
  return {
    ...rest,
    id: key.replace(" ", "-"),
    kind: "",
    subject: "",
    cycle: 0,
    cause: "",
    ...(warning !== null && { warning }),
  };
};

function Figures({ fleet: { workers, queue }, open }: { fleet: FleetAnswer; open: number }) {
  const there = workers.filter(({ state }) => state === "active" || state === "draining");
  const used = there.reduce((sum, { doing }) => sum + doing.length, 0);
  const places = there.reduce((sum, { jobs }) => sum + jobs, 0);
  const tasks = queue.reduce((sum, { tasks: each }) => sum + each, 0);
  return (
    <dl class="figures num">
      {[
        { name: "Workers", value: there.length },
        { name: "At work", value: used, of: places },
        { name: "Open runs", value: open },
        { name: "Queue", value: tasks },
      ].map(({ name, value, of }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {of !== undefined && <span class="of">/{of}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const Halted = ({ run: { plan, run, error } }: { run: ToldRun }) => (
  <article class="card need" data-need tabIndex={0} aria-label={`Run ${run} has halted`}>
    <header class="need-head">
      <span class="chip" data-tone="bad">
        Halted
      </span>
      <span class="muted mono">
        <Text of={run} line />
      </span>
    </header>
    <h3 class="need-title">
      <Text of={plan} line />
    </h3>
    <p class="need-text">
      <Text of={error ?? "Nothing is left in it that could go on by itself."} />
    </p>
  </article>
);

const AgentRow = ({ agent, now }: { agent: ToldAgent; now: number }) => (
  <li>
    <strong>
      <Text of={agent.agent} line />
    </strong>
    <small>{limitsOf(agent).join(", ") || "no limit"}</small>
    {agent.limitedUntil !== null && (
      <small class="limited">
        Nothing left until {whenOf(agent.limitedUntil, now)}
        {agent.reason !== null && (
          <>
            {": "}
            <Text of={agent.reason} line />
          </>
        )}
      </small>
    )}
  </li>
);
