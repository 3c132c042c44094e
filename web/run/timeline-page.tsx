/** When things happened in a run, and what they cost: a line of time, and below it the spending. */
import { useMemo } from "preact/hooks";
import type { Budgets } from "../../src/core/agent/budget.ts";
import { type Board, runOn } from "../../src/core/board/board.ts";
import { nothingSpentYet } from "../../src/core/board/spend.ts";
import type { Api } from "../api.ts";
import { Text } from "../text.tsx";
import { Gantt } from "./gantt.tsx";
import { rangeOf, rowsOf, sessionRows } from "./gantt-rows.ts";
import { timeIn } from "./left-alone.ts";
import { SpendView } from "./spend-view.tsx";
import { spendOfSessions } from "./spending.ts";
import "./run.css";

export interface TimelinePageProps {
  readonly board: Board;
  /** Of a run; "flow": the sessions of skills. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly api: Api;
  readonly past: boolean;
  /** Somebody's session is open. */
  readonly held: boolean;
  readonly budgets: Budgets;
  onPhase(run: string, phase: string): void;
}

export function TimelinePage(props: TimelinePageProps) {
  const { board, runId, held, budgets, onPhase } = props;
  const isFlow = runId === "flow";
  const run = isFlow ? undefined : runOn(board, runId);
  const { stories = [], spend = nothingSpentYet } = board.runs[runId] ?? {};
  const { sessions } = board.flow;
  const spent = useMemo(
    () => (isFlow ? spendOfSessions(sessions) : spend),
    [isFlow, sessions, spend],
  );
  if (!run && !isFlow) return <p class="run-empty card">No run of that name was begun here.</p>;
  const now = run ? timeIn(run, held, board, props.now) : props.now;
  const rows = run ? rowsOf(run, stories, now) : sessionRows(sessions, now);
  return (
    <div class="run-page">
      <header class="run-header">
        <div class="run-title">
          <h1 tabIndex={-1}>
            {run ? (
              <Text of={run.title === "" ? run.plan : run.title} line />
            ) : (
              "Sessions of the flow"
            )}
          </h1>
        </div>
      </header>
      <Gantt
        rows={rows}
        now={now}
        isOver={run?.ended !== undefined}
        {...(run && { onRow: (phase: string) => onPhase(runId, phase) })}
      />
      <SpendView
        series={spent}
        budget={run ? budgets.run : {}}
        raised={run?.raised ?? 0}
        range={{ from: rangeOf(rows, now).from, to: run?.ended === undefined ? now : 0 }}
        ofWhat={run ? "phase" : "step"}
        nameOf={(id) => {
          const { written = id, name = "" } = run?.order.find((phase) => phase.id === id) ?? {};
          return `${written} ${name}`;
        }}
      />
    </div>
  );
}
