/** How wide an element is, as it changes; drawings are made to measure. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export function useWidth<E extends Element>(usual: number): [RefObject<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(usual);
  useEffect(() => {
    if (!element.current) return undefined;
    const seen = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.round(entry.contentRect.width) || usual);
    });
    seen.observe(element.current);
    return () => seen.disconnect();
  }, []);
  return [element, width];
}
