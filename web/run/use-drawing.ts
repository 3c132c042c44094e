/** The drawing of a plan's shape: laid out by a worker, kept for whoever comes back to it. */
import { useEffect, useState } from "preact/hooks";
import { type Drawing, inColumns, type Shape } from "./shape.ts";

const drawings = new Map<string, Drawing>();
const mostKept = 8;

/** Undefined: it is being laid out. */
export function useDrawing(shape: Shape): Drawing | undefined {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (drawings.has(shape.key)) return undefined;
    return layOut(shape, (drawing) => {
      if (drawings.size >= mostKept) drawings.delete([...drawings.keys()][0] ?? "");
      drawings.set(shape.key, drawing);
      redraw((count) => count + 1);
    });
  }, [shape.key]);
  return drawings.get(shape.key);
}

/** Gives back how to stop it. */
function layOut(shape: Shape, done: (drawing: Drawing) => void): () => void {
  const instead = (): void => done(inColumns(shape.nodes));
  try {
    const worker = new Worker("layout.js");
    worker.addEventListener("error", instead);
    worker.addEventListener(
      "message",
      ({ data }: MessageEvent<{ key: string; drawing: Drawing }>) => {
        worker.terminate();
        done(data.drawing);
      },
    );
    worker.postMessage(shape);
    return () => worker.terminate();
  } catch {
    instead();
    return () => undefined;
  }
}
