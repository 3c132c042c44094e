/** What part of a drawing is looked at, and how closely: pure arithmetic of panning and zooming. */
import type { Point } from "./shape.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point of the drawing is seen at `point * scale + (x, y)`. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const closest = 2.5;
const farthest = 0.02;
const margin = 24;

/** All of it, in the middle; never larger than it was drawn. */
export function fitted(drawing: Size, frame: Size): Viewport {
  const scale = clamped(
    Math.min(
      1,
      (frame.width - 2 * margin) / Math.max(1, drawing.width),
      (frame.height - 2 * margin) / Math.max(1, drawing.height),
    ),
  );
  return {
    x: (frame.width - drawing.width * scale) / 2,
    y: (frame.height - drawing.height * scale) / 2,
    scale,
  };
}

/** What lies under `at` stays under it. */
export function zoomed(view: Viewport, factor: number, at: Point): Viewport {
  const scale = clamped(view.scale * factor);
  const by = scale / view.scale;
  return { x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by, scale };
}

export const panned = (view: Viewport, by: Point): Viewport => ({
  ...view,
  x: view.x + by.x,
  y: view.y + by.y,
});

/** The least movement after which a box around `middle` is seen whole. */
export function revealing(view: Viewport, middle: Point, size: Size, frame: Size): Viewport {
  const shift = (from: number, length: number, room: number): number => {
    if (from < margin) return margin - from;
    const over = from + length - (room - margin);
    return over > 0 ? -Math.min(over, from - margin) : 0;
  };
  const { scale } = view;
  const [width, height] = [size.width * scale, size.height * scale];
  return panned(view, {
    x: shift(middle.x * scale + view.x - width / 2, width, frame.width),
    y: shift(middle.y * scale + view.y - height / 2, height, frame.height),
  });
}

export type Detail = "all" | "names" | "ids" | "blocks" | "specks";

/** Text that nobody could read is not drawn, nor are signs that nobody could tell apart. */
export const detailAt = (scale: number): Detail =>
  scale >= 0.75
    ? "all"
    : scale >= 0.5
      ? "names"
      : scale >= 0.3
        ? "ids"
        : scale >= 0.15
          ? "blocks"
          : "specks";

/** A part of the drawing, in its own measure. */
export interface Region extends Size, Point {}

export const regionSeen = ({ x, y, scale }: Viewport, frame: Size): Region => ({
  x: -x / scale,
  y: -y / scale,
  width: frame.width / scale,
  height: frame.height / scale,
});

/** With half of it on each side: whoever moves a little sees what is drawn already. */
export const around = ({ x, y, width, height }: Region): Region => ({
  x: x - width / 2,
  y: y - height / 2,
  width: width * 2,
  height: height * 2,
});

export const isWithin = (inner: Region, outer: Region): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

/** Whether anything of a box around `middle` lies in the region. */
export const isIn = (middle: Point, box: Size, { x, y, width, height }: Region): boolean =>
  Math.abs(middle.x - (x + width / 2)) <= (box.width + width) / 2 &&
  Math.abs(middle.y - (y + height / 2)) <= (box.height + height) / 2;

const clamped = (scale: number): number => Math.min(closest, Math.max(farthest, scale));
