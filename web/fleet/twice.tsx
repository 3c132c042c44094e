/** A button for what concerns others: the first click asks, the second one does it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answered } from "../api.ts";
import { visibleLine } from "../text.tsx";

type Stage =
  | { readonly is: "idle" | "sending" }
  | { readonly is: "asking"; readonly since: number }
  | { readonly is: "failed"; readonly why: string };

interface Props {
  /** What it does: `Pause`. */
  readonly name: string;
  /** To what: `the fleet`. */
  readonly what: string;
  readonly act: () => Promise<Answered<unknown>>;
}

/** A double click is one click. */
const toRead = 400;
const patience = 6000;

export function Twice({ name, what, act }: Props) {
  const [stage, setStage] = useState<Stage>({ is: "idle" });
  const latest = useRef(stage);
  latest.current = stage;
  const idle = (): void => {
    if (latest.current.is === "asking") setStage({ is: "idle" });
  };
  useEffect(() => {
    if (stage.is !== "asking") return;
    const timer = setTimeout(idle, patience);
    return () => clearTimeout(timer);
  }, [stage]);
  // What it does has become another thing: that was not asked for.
  useEffect(idle, [name]);
  const clicked = async (): Promise<void> => {
    if (stage.is === "sending") return;
    if (stage.is !== "asking") return setStage({ is: "asking", since: performance.now() });
    if (performance.now() - stage.since < toRead) return;
    setStage({ is: "sending" });
    const answer = await act();
    setStage(answer.ok ? { is: "idle" } : { is: "failed", why: answer.trouble.message });
  };
  const isAsking = stage.is === "asking";
  return (
    <span class="twice">
      {stage.is === "failed" && <small role="alert">{visibleLine(stage.why)}</small>}
      <button
        type="button"
        class={isAsking ? "btn btn-primary" : "btn"}
        aria-disabled={stage.is === "sending"}
        onClick={() => void clicked()}
        onBlur={idle}
        onKeyDown={(event) => {
          // A key that is held was meant once.
          if (event.repeat) event.preventDefault();
          if (event.key === "Escape") idle();
        }}
      >
        <span aria-live="polite">{isAsking ? `Sure? ${name}` : name}</span>
        <span class="visually-hidden"> {what}</span>
      </button>
    </span>
  );
}
