/** The journal around a moment, in sentences; a click on one goes there. */
import { useEffect, useRef } from "preact/hooks";
import type { RecordedEvent } from "../../src/core/event.ts";
import { sentence } from "../../src/core/sentence.ts";
import { inWords, timeOf, whenOf } from "../moments.ts";
import { Text } from "../text.tsx";
import { marksOf } from "./past.ts";

interface Props {
  readonly around: readonly RecordedEvent[];
  readonly at: number;
  readonly now: number;
  readonly go: (seq: number) => void;
}

export function HistoryPage({ around, at, now, go }: Props) {
  const here = useRef<HTMLButtonElement>(null);
  useEffect(() => here.current?.scrollIntoView({ block: "center" }), [at, around]);
  const first = around[0];
  return (
    <div class="history-page">
      <header class="page-head">
        <h1 tabIndex={-1}>History</h1>
        <p class="muted">
          Everything that was recorded{first ? `, around ${whenOf(first.at, now)}` : ""}. All other
          views show the same moment.
        </p>
      </header>
      {around.length === 0 ? (
        <div class="card skeleton tall" aria-label="Loading" />
      ) : (
        <ol class="card journal">
          {around.map((event) => (
            <li key={event.seq}>
              <button
                type="button"
                ref={event.seq === at ? here : null}
                aria-current={event.seq === at ? "true" : undefined}
                data-later={event.seq > at}
                onClick={() => go(event.seq)}
              >
                <span
                  class="dot"
                  data-tone={marksOf([event])[0]?.tone ?? "quiet"}
                  aria-hidden="true"
                />
                <span class="num muted journal-seq">{event.seq}</span>
                <time class="num" dateTime={event.at}>
                  {timeOf(event.at)}
                </time>
                <span class="journal-said">
                  <Text of={inWords(sentence(event), now)} line />
                </span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
