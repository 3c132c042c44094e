/** Whether the window is narrower than so many pixels, as it changes. */
import { useEffect, useState } from "preact/hooks";

export function useNarrow(width: number): boolean {
  const asked = `(max-width: ${width - 0.02}px)`;
  const [narrow, setNarrow] = useState(() => matchMedia(asked).matches);
  useEffect(() => {
    const query = matchMedia(asked);
    const look = (): void => setNarrow(query.matches);
    look();
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, [asked]);
  return narrow;
}
