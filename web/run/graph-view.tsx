/**
 * The phases of a run as a drawing: who waits for whom, from left to right, with what each is doing.
 * A tab comes to one of them, arrows lead from there along the lines, Enter opens.
 */
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import { criticalIn } from "./critical.ts";
import { GraphNode, nodeId } from "./graph-node.tsx";
import { isActive } from "./phase-words.ts";
import type { SeenPhase } from "./seen-phase.ts";
import { box, type Drawing, type Edge, type Point, shapeOf } from "./shape.ts";
import { still } from "./still.ts";
import { useDrawing } from "./use-drawing.ts";
import { useViewport } from "./use-viewport.ts";
import { isIn } from "./viewport.ts";
import { type Arrow, walked } from "./walk.ts";

export interface GraphViewProps {
  readonly run: PlanRun;
  readonly phases: readonly SeenPhase[];
  readonly selected?: string | undefined;
  onOpen(id: string): void;
}

export function GraphView({ run, phases, selected, onOpen }: GraphViewProps) {
  const laid = useDrawing(shapeOf(run.order));
  const isDue = useSoon(phases.length <= fewPhases);
  const drawing = laid === "failed" || !isDue ? undefined : laid;
  const look = useViewport(drawing);
  const path = useMemo(() => criticalIn(run), [run.order, run.readiness.complete]);
  const critical = useMemo(() => new Set(path), [path]);
  const [current, setCurrent] = useState<string>();
  const firstStop =
    current ?? selected ?? phases.find(({ stage }) => isActive(stage.is))?.id ?? phases[0]?.id;

  const goTo = useCallback(
    (id: string): void => {
      setCurrent(id);
      const place = drawing?.places[id];
      if (place) look.reveal(place);
      document.getElementById(nodeId(id))?.focus({ preventScroll: true });
    },
    [drawing],
  );
  useEffect(() => {
    const place = selected === undefined ? undefined : drawing?.places[selected];
    // The panel takes its room first.
    if (place) requestAnimationFrame(() => look.reveal(place));
  }, [selected, drawing]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = (event.target as Element).closest("[data-phase]")?.getAttribute("data-phase");
    const { key } = event;
    if (key === "+" || key === "=") look.zoom(1.25);
    else if (key === "-") look.zoom(0.8);
    else if (key === "0") look.fit();
    else if (on && (key === "Enter" || key === " ")) onOpen(on);
    else if (on && drawing && key.startsWith("Arrow")) {
      const next = walked(drawing, on, key as Arrow);
      if (next !== undefined) goTo(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="run-graph card" onKeyDown={onKeyDown}>
      {drawing ? (
        <svg
          ref={look.frame}
          class="run-graph-frame"
          data-detail={look.detail}
          role="group"
          aria-label={`Phase graph of ${phases.length} phases. Arrow keys follow the lines, Enter opens a phase, plus and minus zoom, 0 shows all.`}
        >
          <g ref={look.canvas}>
            <Lines drawing={drawing} critical={path} />
            {phases.map((phase) => {
              const at = drawing.places[phase.id];
              return (
                at && (
                  <GraphNode
                    key={phase.id}
                    phase={phase}
                    at={at}
                    critical={critical.has(phase.id)}
                    selected={phase.id === selected}
                    current={phase.id === firstStop}
                    detail={isIn(at, box, look.sight) ? look.detail : "out of sight"}
                    onOpen={onOpen}
                  />
                )
              );
            })}
          </g>
        </svg>
      ) : (
        <p class="run-quiet" role="status">
          {laid === "failed"
            ? "The drawing could not be made; the list shows the same."
            : `Laying out ${phases.length} phases …`}
        </p>
      )}
      <div class="run-zoom" role="group" aria-label="Zoom">
        <button type="button" class="btn" aria-label="Zoom in" onClick={() => look.zoom(1.25)}>
          +
        </button>
        <button type="button" class="btn" aria-label="Zoom out" onClick={() => look.zoom(0.8)}>
          −
        </button>
        <button type="button" class="btn" aria-label="Fit all" onClick={look.fit}>
          Fit
        </button>
      </div>
      {path.length > 0 && (
        <p class="run-graph-note">
          <span class="run-critical-key" aria-hidden="true" />
          critical path: {path.length} phases
        </p>
      )}
    </div>
  );
}

const fewPhases = 100;

/** Many are drawn a frame later: whoever comes here sees at once that he does. */
function useSoon(now: boolean): boolean {
  const [isDue, setDue] = useState(now);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 50);
    return () => clearTimeout(timer);
  }, []);
  return isDue;
}

/** All lines are one path, and all their heads: a graph has two of them, however large it is. */
const Lines = still<{ drawing: Drawing; critical: readonly string[] }>(
  (one, other) => one.drawing === other.drawing && one.critical.join() === other.critical.join(),
  ({ drawing: { edges, places }, critical }) => {
    const steps = new Set(critical.map((id, at) => `${critical[at - 1] ?? ""} ${id}`));
    const isCritical = ({ from, to }: Edge): boolean => steps.has(`${from} ${to}`);
    const drawn = (lines: readonly Edge[], is: string) => (
      <g class="run-lines-drawn" data-is={is}>
        <path class="run-line" d={lines.map(({ path }) => path).join("")} />
        <path
          d={[...new Set(lines.map(({ to }) => to))].map((id) => headAt(places[id])).join("")}
        />
      </g>
    );
    return (
      <g aria-hidden="true">
        {drawn(edges, "all")}
        {drawn(edges.filter(isCritical), "critical")}
      </g>
    );
  },
);

const headAt = (place: Point | undefined): string =>
  place ? `M${place.x - box.width / 2} ${place.y}l-8 -4v8z` : "";
