/** Lays a plan out beside the page: however many phases it has, nothing waits for them. */
import { laidOut } from "./lay-out.ts";
import type { Shape } from "./shape.ts";

addEventListener("message", ({ data }: MessageEvent<Shape>) => {
  postMessage(laidOut(data.nodes));
});
