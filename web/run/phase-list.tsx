/** The phases of a run as a list, one line each: what a phone and a screen reader want. */
import { clock, spendShort } from "../../src/core/amounts.ts";
import { Text } from "../text.tsx";
import { nodeId } from "./graph-node.tsx";
import { attemptWords, looks, looksTheSame, why } from "./phase-words.ts";
import type { SeenPhase } from "./seen-phase.ts";
import { Sign } from "./sign.tsx";
import { still } from "./still.ts";

export interface PhaseListProps {
  readonly phases: readonly SeenPhase[];
  readonly now: number;
  readonly selected?: string | undefined;
  onOpen(id: string): void;
}

export const PhaseList = ({ phases, now, selected, onOpen }: PhaseListProps) => (
  <ul class="run-list card" aria-label="Phases">
    {phases.map((phase) => (
      <ListRow
        key={phase.id}
        phase={phase}
        because={why(phase.stage, now)}
        selected={phase.id === selected}
        onOpen={onOpen}
      />
    ))}
  </ul>
);

interface ListRowProps {
  readonly phase: SeenPhase;
  readonly because: string;
  readonly selected: boolean;
  onOpen(id: string): void;
}

const ListRow = still<ListRowProps>(
  (one, other) =>
    one.because === other.because &&
    one.selected === other.selected &&
    one.onOpen === other.onOpen &&
    one.phase.activity === other.phase.activity &&
    looksTheSame(one.phase, other.phase),
  ({ phase, because, selected, onOpen }) => {
    const { id, written, name, stage, elapsed, spend, activity } = phase;
    const { word, tone } = looks[stage.is];
    const more = activity ?? because;
    return (
      <li>
        <button
          type="button"
          id={nodeId(id)}
          class="run-row"
          aria-current={selected ? "true" : undefined}
          onClick={() => onOpen(id)}
        >
          <Sign is={stage.is} />
          <span class="run-row-id mono">
            <span class="visually-hidden">Phase </span>
            <Text of={written} line />
          </span>
          <span class="run-row-name">
            <Text of={name} line />
          </span>
          <span class="run-row-state" data-tone={tone}>
            {word}
            <span class="muted">{attemptWords(phase).replace("attempt", "")}</span>
          </span>
          <span class="run-row-more">
            <Text of={more} line />
          </span>
          <span class="run-row-time num">{elapsed === undefined ? "" : clock(elapsed)}</span>
          <span class="run-row-spend num">{spend ? spendShort(spend) : ""}</span>
        </button>
      </li>
    );
  },
);
