/** One run: how it is, its phases as a graph or a list, and one of them opened beside it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Budgets } from "../../src/core/agent/budget.ts";
import { type Board, runOn } from "../../src/core/board/board.ts";
import { viewRun } from "../../src/core/plan/run-view.ts";
import { unwatched } from "../../src/core/plan/run-watch.ts";
import type { Api } from "../api.ts";
import { nodeId } from "./graph-node.tsx";
import { GraphView } from "./graph-view.tsx";
import { isLeftAlone, timeIn } from "./left-alone.ts";
import { PhaseList } from "./phase-list.tsx";
import { PhasePanel } from "./phase-panel.tsx";
import { countedStages, looks, type StageName } from "./phase-words.ts";
import "./run.css";
import { Text } from "../text.tsx";
import { Choice } from "./choice.tsx";
import { RunHeader } from "./run-header.tsx";
import { seenPhases } from "./seen-phase.ts";
import { Sign } from "./sign.tsx";
import { useNarrow } from "./use-narrow.ts";

export interface RunPageProps {
  readonly board: Board;
  readonly runId: string;
  readonly phase?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly api: Api;
  /** A past moment is shown: nothing of it goes on. */
  readonly past: boolean;
  /** Somebody's session is open. */
  readonly held: boolean;
  readonly budgets: Budgets;
  onPhase(id: string | undefined): void;
}

export function RunPage(props: RunPageProps) {
  const { board, runId, phase, api, past, held, budgets, onPhase } = props;
  const isPhone = useNarrow(700);
  const [chosen, setChosen] = useState<"graph" | "list">();
  const [only, setOnly] = useState<StageName>();
  const open = useStable(onPhase);
  const close = useCallback(() => open(undefined), []);
  useFocusBack(phase);

  const run = runOn(board, runId);
  if (!run) {
    return <p class="run-empty card">No run of that name was begun here.</p>;
  }
  const { watch = unwatched, stories = [] } = board.runs[runId] ?? {};
  const now = timeIn(run, held, board, props.now);
  const view = viewRun(run, watch, now);
  const phases = seenPhases(run, view.phases, now, isLeftAlone(run, held, props.now));
  const opened = phases.find(({ id }) => id === phase);
  const shown = chosen ?? (isPhone ? "list" : "graph");
  const stages = countedStages(phases);
  const asked = stages.some(([name]) => name === only) ? only : undefined;
  const listed = asked ? phases.filter(({ stage }) => stage.is === asked) : phases;
  const panel = opened && (
    <PhasePanel
      key={opened.id}
      run={run}
      view={opened}
      stories={stories.filter((story) => story.phase === opened.id)}
      now={now}
      api={api}
      past={past}
      onPhase={open}
      onClose={close}
    />
  );
  // On a phone it is a page of its own: there is no room for both.
  if (panel && isPhone) {
    return (
      <div class="run-page run-whole">
        <h1 class="visually-hidden">
          <Text of={view.title} line />
        </h1>
        {panel}
      </div>
    );
  }
  return (
    <div class="run-page run-whole">
      <div class="run-main">
        <RunHeader run={run} view={view} budgets={budgets} />
        <div class="run-tools">
          <ul class="run-legend" aria-label="Phases by state">
            {stages.map(([name, count]) => (
              <li key={name}>
                <button
                  type="button"
                  class="run-legend-item"
                  aria-pressed={asked === name}
                  aria-label={`${count} ${looks[name].word}: show only these as a list`}
                  onClick={() => {
                    setOnly(asked === name ? undefined : name);
                    setChosen("list");
                  }}
                >
                  <Sign is={name} />
                  <span class="num">{count}</span> {looks[name].word}
                </button>
              </li>
            ))}
          </ul>
          <Choice
            label="Show phases as"
            value={shown}
            options={[
              ["graph", "Graph"],
              ["list", "List"],
            ]}
            onChoose={setChosen}
          />
        </div>
        {shown === "graph" ? (
          <GraphView run={run} phases={phases} selected={phase} onOpen={open} />
        ) : (
          <PhaseList phases={listed} now={now} selected={phase} onOpen={open} />
        )}
      </div>
      {panel}
    </div>
  );
}

/** The same function each time, whatever whoever draws us makes anew. */
function useStable<A extends unknown[]>(call: (...args: A) => void): (...args: A) => void {
  const last = useRef(call);
  last.current = call;
  return useCallback((...args: A) => last.current(...args), []);
}

/** Whoever closes a phase is where he was when he opened it. */
function useFocusBack(phase: string | undefined): void {
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    const closed = before.current;
    before.current = phase;
    if (phase !== undefined || closed === undefined) return;
    document.getElementById(nodeId(closed))?.focus();
  }, [phase]);
}
