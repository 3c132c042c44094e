/** Which run is looked at, where there is more than one; of the timeline also the flow's own sessions. */
import { type Board, runsOn } from "../../src/core/board/board.ts";
import { whenOf } from "../moments.ts";
import { visibleLine } from "../text.tsx";

export interface RunChoiceProps {
  readonly board: Board;
  readonly runId: string;
  readonly now: number;
  readonly withFlow?: boolean;
  choose(run: string): void;
}

export function RunChoice({ board, runId, now, withFlow = false, choose }: RunChoiceProps) {
  const runs = runsOn(board).map(({ id, title, plan, startedAt }) => ({
    id,
    name: `${title === "" ? plan : title}, ${whenOf(startedAt, now)}`,
  }));
  const isFlow = withFlow && board.flow.sessions.length > 0;
  const all = [...runs, ...(isFlow ? [{ id: "flow", name: "Sessions of the flow" }] : [])];
  if (all.length < 2) return null;
  return (
    <label class="run-choose">
      <span class="visually-hidden">Run</span>
      <select value={runId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {all.map(({ id, name }) => (
          <option key={id} value={id}>
            {visibleLine(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
