/**
 * Panning and zooming by mouse, wheel, pinch and keys. What is looked at is one transform, set from
 * here and not drawn anew: a graph of five hundred phases moves as one of five.
 */
import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { box, type Drawing, type Point } from "./shape.ts";
import {
  around,
  type Detail,
  detailAt,
  fitted,
  isWithin,
  panned,
  type Region,
  regionSeen,
  revealing,
  type Size,
  type Viewport,
  zoomed,
} from "./viewport.ts";

export interface Look {
  readonly frame: RefObject<SVGSVGElement | null>;
  readonly canvas: RefObject<SVGGElement | null>;
  readonly detail: Detail;
  /** What is worth being drawn in detail: what is seen, and a little around it. */
  readonly sight: Region;
  fit(): void;
  zoom(factor: number): void;
  reveal(middle: Point): void;
}

export function useViewport(drawing: Drawing | undefined): Look {
  const frame = useRef<SVGSVGElement>(null);
  const canvas = useRef<SVGGElement>(null);
  const view = useRef<Viewport>({ x: 0, y: 0, scale: 1 });
  /** Somebody has chosen what to look at: it is not taken from him when the window changes. */
  const chosen = useRef(false);
  const [detail, setDetail] = useState<Detail>("specks");
  const [sight, setSight] = useState<Region>(nowhere);

  const show = useCallback((next: Viewport): void => {
    view.current = next;
    canvas.current?.setAttribute(
      "transform",
      `translate(${next.x.toFixed(2)} ${next.y.toFixed(2)}) scale(${next.scale.toFixed(4)})`,
    );
    setDetail(detailAt(next.scale));
    const seen = frame.current && regionSeen(next, sizeOf(frame.current));
    if (!seen) return;
    setSight((before) =>
      isWithin(seen, before) && before.width <= seen.width * 4 ? before : around(seen),
    );
  }, []);
  const fit = useCallback((): void => {
    chosen.current = false;
    if (drawing && frame.current) show(fitted(drawing, sizeOf(frame.current)));
  }, [drawing]);
  const zoom = useCallback((factor: number): void => {
    if (!frame.current) return;
    chosen.current = true;
    const { width, height } = sizeOf(frame.current);
    show(zoomed(view.current, factor, { x: width / 2, y: height / 2 }));
  }, []);
  const reveal = useCallback((middle: Point): void => {
    if (frame.current) show(revealing(view.current, middle, box, sizeOf(frame.current)));
  }, []);

  useEffect(() => {
    const element = frame.current;
    if (!element || !drawing) return undefined;
    fit();
    const seen = new ResizeObserver(() => {
      if (!chosen.current) fit();
    });
    seen.observe(element);
    const stop = followPointers(element, (change) => {
      chosen.current = true;
      show(change(view.current));
    });
    return () => {
      seen.disconnect();
      stop();
    };
  }, [drawing]);

  return { frame, canvas, detail, sight, fit, zoom, reveal };
}

const nowhere: Region = { x: 0, y: 0, width: 0, height: 0 };

const sizeOf = (element: Element): Size => element.getBoundingClientRect();

type Change = (view: Viewport) => Viewport;

/** One finger or the mouse pans, two fingers pinch, the wheel zooms, a sideways wheel pans. */
function followPointers(element: SVGSVGElement, change: (by: Change) => void): () => void {
  const down = new Map<number, Point>();
  let moved = 0;
  const here = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    down.set(event.pointerId, here(event));
    moved = 0;
  };
  const onMove = (event: PointerEvent): void => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = here(event);
    const by = { x: now.x - before.x, y: now.y - before.y };
    moved += Math.abs(by.x) + Math.abs(by.y);
    // A hand that presses a button trembles: that is no movement yet.
    if (moved < 5) return;
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, now);
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) change((view) => panned(view, by));
    else {
      const factor = far(now, other) / Math.max(1, far(before, other));
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      change((view) => zoomed(panned(view, { x: by.x / 2, y: by.y / 2 }), factor, middle));
    }
  };
  const onUp = (event: PointerEvent): void => {
    down.delete(event.pointerId);
  };
  const onClick = (event: MouseEvent): void => {
    if (moved >= 5) event.stopPropagation();
    moved = 0;
  };
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { deltaX, deltaY, deltaMode, ctrlKey, shiftKey } = event;
    const unit = deltaMode === 1 ? 16 : 1;
    if ((shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) && !ctrlKey) {
      const by = { x: -(deltaX || deltaY) * unit, y: shiftKey ? 0 : -deltaY * unit };
      change((view) => panned(view, by));
      return;
    }
    const factor = Math.exp(-deltaY * unit * (ctrlKey ? 0.01 : 0.0016));
    change((view) => zoomed(view, factor, here(event)));
  };
  const until = new AbortController();
  const { signal } = until;
  element.addEventListener("pointerdown", onDown, { signal });
  element.addEventListener("pointermove", onMove, { signal });
  element.addEventListener("pointerup", onUp, { signal });
  element.addEventListener("pointercancel", onUp, { signal });
  element.addEventListener("click", onClick, { signal, capture: true });
  element.addEventListener("wheel", onWheel, { signal, passive: false });
  return () => until.abort();
}

const far = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);
