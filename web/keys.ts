/** Keys: what each does, told once for those who press them and once for the list of them. */
import { useEffect, useRef } from "preact/hooks";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** How a key is written here: `g n` (one after the other), `shift+ArrowLeft`, `?`. */
const written = ({ key, shiftKey }: KeyboardEvent): string =>
  shiftKey && key.length > 1 ? `shift+${key}` : key.length === 1 ? key.toLowerCase() : key;

const patience = 1200;

export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let before = "";
    let pressedAt = 0;
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      // A key that is held was meant once; only those that travel are meant as long as they are held.
      if (event.repeat && event.key.length === 1) return;
      // What lies over the page has its own keys.
      if (isWriting(event.target) || document.querySelector("dialog[open]")) return;
      const name = written(event);
      const together = event.timeStamp - pressedAt < patience ? `${before} ${name}` : "";
      const act = latest.current[together] ?? latest.current[name];
      [before, pressedAt] = [name, event.timeStamp];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

/** Whoever writes means letters; a slider has no use for them. */
const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(?:TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && target.type !== "range"));

export const keyHelp: readonly (readonly [title: string, ...rows: readonly string[][]])[] = [
  [
    "Go to",
    ["g n", "now"],
    ["g f", "flow"],
    ["g r", "phase graph"],
    ["g t", "timeline"],
    ["g h", "history"],
    ["[ ]", "previous, next repository"],
  ],
  ["Needs you", ["j k", "next, previous"], ["a … d", "answer the one in focus"]],
  [
    "Graph",
    ["← → ↑ ↓", "along the lines"],
    ["Enter", "open a phase"],
    ["+ -", "nearer, farther"],
    ["0", "all of it"],
  ],
  [
    "History",
    ["h", "on and off"],
    ["← →", "one event"],
    ["shift ← →", "to what is worth seeing"],
    ["Home End", "first, last"],
    ["Esc", "back to now"],
  ],
  ["Page", ["t", "light or dark"], ["?", "these keys"]],
];
