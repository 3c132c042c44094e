/** One phase in the graph: a box with its sign, its name cut to fit, and how far it is. */
import { clock } from "../../src/core/amounts.ts";
import { visibleLine } from "../text.tsx";
import { cut } from "./cut.ts";
import { attemptWords, isActive, looks, looksTheSame, spoken } from "./phase-words.ts";
import type { SeenPhase } from "./seen-phase.ts";
import { box, type Point } from "./shape.ts";
import { still } from "./still.ts";
import type { Detail } from "./viewport.ts";

export interface GraphNodeProps {
  readonly phase: SeenPhase;
  readonly at: Point;
  readonly critical: boolean;
  readonly selected: boolean;
  /** The one that the tab key comes to. */
  readonly current: boolean;
  /** How much of it can be made out. */
  readonly detail: Detail | "out of sight";
  onOpen(id: string): void;
}

const { width, height } = box;

export const GraphNode = still<GraphNodeProps>(
  (one, other) =>
    one.at === other.at &&
    one.critical === other.critical &&
    one.selected === other.selected &&
    one.current === other.current &&
    one.detail === other.detail &&
    one.onOpen === other.onOpen &&
    looksTheSame(one.phase, other.phase),
  ({ phase, at, critical, selected, current, detail, onOpen }) => {
    const { id, stage } = phase;
    const { tone, sign } = looks[stage.is];
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
          {detail !== "out of sight" && detail !== "specks" && (
            <g class="run-node-mark">
              {detail !== "blocks" && isActive(stage.is) && (
                <circle class="run-pulse" cx="8" cy="8" r="7" />
              )}
              <path class="run-node-sign" d={sign} data-is={stage.is} />
            </g>
          )}
          {(detail === "all" || detail === "names" || detail === "ids") && (
            <Words phase={phase} detail={detail} />
          )}
        </g>
      </g>
    );
  },
);

function Words({ phase, detail }: { phase: SeenPhase; detail: Detail }) {
  const { written, name, stage, elapsed } = phase;
  const label = visibleLine(written);
  const short = label.length > 8 ? `${label.slice(0, 7)}…` : label;
  const tried = attemptWords(phase).replace("attempt ", "").replace(" of ", "/");
  const isWhole = detail === "all";
  return (
    <>
      <rect class="run-edge-mark" width="4" height={height - 18} y="9" rx="2" />
      <text class="run-node-name" x="38" y="25">
        <tspan class="run-node-id">{short}</tspan>
        {detail !== "ids" && <tspan dx="7">{cut(visibleLine(name), room(short, isWhole))}</tspan>}
      </text>
      {isWhole && (
        <text class="run-node-facts" x="38" y="44">
          {[looks[stage.is].word, tried].filter((part) => part !== "").join(" · ")}
        </text>
      )}
      {isWhole && elapsed !== undefined && (
        <text class="run-node-time" x={width - 12} y="44" text-anchor="end">
          {clock(elapsed)}
        </text>
      )}
    </>
  );
}

/** For the name, in widths of the smaller letters. */
const room = (id: string, isWhole: boolean): number =>
  isWhole ? 152 - id.length * 8 : 108 - id.length * 9;

export const nodeId = (phase: string): string => `phase-${phase}`;
