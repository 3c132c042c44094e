/** One phase in the graph: a box with its sign, its name cut to fit, and how far it is. */
import { clock } from "../../src/core/amounts.ts";
import { visibleLine } from "../text.tsx";
import { cut } from "./cut.ts";
import { attemptWords, isActive, looks, looksTheSame, spoken } from "./phase-words.ts";
import type { SeenPhase } from "./seen-phase.ts";
import { box, type Point } from "./shape.ts";
import { still } from "./still.ts";

export interface GraphNodeProps {
  readonly phase: SeenPhase;
  readonly at: Point;
  readonly critical: boolean;
  readonly selected: boolean;
  /** The one that the tab key comes to. */
  readonly current: boolean;
  onOpen(id: string): void;
}

const { width, height } = box;

export const GraphNode = still<GraphNodeProps>(
  (one, other) =>
    one.at === other.at &&
    one.critical === other.critical &&
    one.selected === other.selected &&
    one.current === other.current &&
    one.onOpen === other.onOpen &&
    looksTheSame(one.phase, other.phase),
  ({ phase, at, critical, selected, current, onOpen }) => {
    const { id, written, name, stage, elapsed } = phase;
    const { tone, word, sign } = looks[stage.is];
    const active = isActive(stage.is);
    const title = visibleLine(name);
    const label = visibleLine(written);
    const short = label.length > 8 ? `${label.slice(0, 7)}…` : label;
    const told = [word, attemptWords(phase).replace("attempt ", "").replace(" of ", "/")];
    return (
      <g
        class="run-node"
        id={nodeId(id)}
        data-phase={id}
        data-tone={tone}
        data-is={stage.is}
        data-critical={critical || undefined}
        data-selected={selected || undefined}
        transform={`translate(${at.x - width / 2} ${at.y - height / 2})`}
        role="button"
        tabindex={current ? 0 : -1}
        aria-pressed={selected}
        onClick={() => onOpen(id)}
      >
        <title>{visibleLine(spoken(phase, critical))}</title>
        <g aria-hidden="true">
          <rect class="run-box" width={width} height={height} rx="9" />
          <rect class="run-edge-mark" width="4" height={height - 18} y="9" rx="2" />
          <g class="run-node-mark">
            {active && <circle class="run-pulse" cx="8" cy="8" r="7" />}
            <path class="run-node-sign" d={sign} data-is={stage.is} />
          </g>
          <text class="run-node-name" x="38" y="25">
            <tspan class="run-node-id">{short}</tspan>
            <tspan dx="7">{cut(title, 152 - short.length * 8)}</tspan>
          </text>
          <text class="run-node-facts" x="38" y="44">
            {told.filter((part) => part !== "").join(" · ")}
          </text>
          {elapsed !== undefined && (
            <text class="run-node-time" x={width - 12} y="44" text-anchor="end">
              {clock(elapsed)}
            </text>
          )}
        </g>
      </g>
    );
  },
);

export const nodeId = (phase: string): string => `phase-${phase}`;
