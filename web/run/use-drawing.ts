/** The drawing of a plan's shape: laid out by a worker, kept for whoever comes back to it. */
import { useEffect, useState } from "preact/hooks";
import type { Drawing, Shape } from "./shape.ts";

const drawings = new Map<string, Drawing | "failed">();
const mostKept = 8;

/** Undefined: it is being laid out. */
export function useDrawing(shape: Shape): Drawing | "failed" | undefined {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (drawings.has(shape.key)) return undefined;
    const worker = new Worker("layout.js");
    const keep = (drawing: Drawing | "failed"): void => {
      const [oldest] = drawings.keys();
      if (drawings.size >= mostKept && oldest !== undefined) drawings.delete(oldest);
      drawings.set(shape.key, drawing);
      worker.terminate();
      redraw((count) => count + 1);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<Drawing>) => keep(data));
    worker.addEventListener("error", () => keep("failed"));
    worker.postMessage(shape, []);
    return () => worker.terminate();
  }, [shape.key]);
  return drawings.get(shape.key);
}
