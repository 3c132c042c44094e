/** The past under one's thumb: a slider over everything that was ever recorded. */
import type { RecordedEvent } from "../../src/core/event.ts";
import { sentence } from "../../src/core/sentence.ts";
import { Icon } from "../icon.tsx";
import { inWords, timeOf, whenOf } from "../moments.ts";
import { Text, visibleLine } from "../text.tsx";
import type { Mark } from "./past.ts";

interface Props {
  readonly at: number;
  readonly head: number;
  readonly began: string;
  readonly ended: string;
  readonly now: number;
  readonly event?: RecordedEvent;
  readonly trouble?: string;
  readonly marks: readonly Mark[];
  readonly go: (seq: number) => void;
  readonly leap: (by: 1 | -1) => void;
  readonly leave: () => void;
}

export function Scrubber(props: Props) {
  const { at, head, began, ended, now, event, trouble, marks, go, leap, leave } = props;
  const words = event ? inWords(sentence(event), now) : "before everything";
  return (
    <section class="scrubber" aria-label="History">
      <div class="scrubber-words">
        <span class="chip" data-tone="warn">
          As it was
        </span>
        <strong class="num">{event ? timeOf(event.at) : ""}</strong>
        <span class="ellipsis scrubber-said">
          {trouble === undefined ? <Text of={words} line /> : <Text of={trouble} line />}
        </span>
        <span class="num muted scrubber-seq">
          {at} of {head}
        </span>
        <button type="button" class="btn" onClick={leave}>
          Back to now
        </button>
      </div>
      <div class="scrubber-line">
        <Button icon="first" name="Before, worth seeing" act={() => leap(-1)} />
        <Button icon="back" name="One event back" act={() => go(at - 1)} />
        <div class="track">
          <Ticks marks={marks} head={head} />
          <input
            type="range"
            min={1}
            max={Math.max(1, head)}
            value={at}
            aria-label="Moment in history"
            aria-valuetext={`event ${at} of ${head}, ${event ? timeOf(event.at) : ""}: ${visibleLine(words)}`}
            onInput={({ currentTarget }) => go(Number(currentTarget.value))}
          />
          <div class="track-ends muted num" aria-hidden="true">
            <span>{whenOf(began, now)}</span>
            <span>{whenOf(ended, now)}</span>
          </div>
        </div>
        <Button icon="on" name="One event on" act={() => go(at + 1)} />
        <Button icon="last" name="Next, worth seeing" act={() => leap(1)} />
      </div>
    </section>
  );
}

type ButtonProps = { icon: "first" | "back" | "on" | "last"; name: string; act: () => void };

const Button = ({ icon, name, act }: ButtonProps) => (
  <button type="button" class="btn icon-btn" aria-label={name} title={name} onClick={act}>
    <Icon is={icon} />
  </button>
);

const columns = 200;
const worst = ["bad", "warn", "park", "ok", "info"] as const;

/** Where something happened, in as many columns as can be told apart; the worst one gives its tone. */
function Ticks({ marks, head }: { marks: readonly Mark[]; head: number }) {
  const found = new Map<number, Mark["tone"]>();
  for (const { seq, tone } of marks) {
    const column = Math.floor(((seq - 1) / Math.max(1, head - 1)) * columns);
    const known = found.get(column);
    if (!known || worst.indexOf(tone) < worst.indexOf(known)) found.set(column, tone);
  }
  return (
    <svg class="ticks" viewBox={`0 0 ${columns} 10`} preserveAspectRatio="none" aria-hidden="true">
      {[...found].map(([column, tone]) => (
        <rect key={column} x={column - 0.3} width="0.6" height="10" data-tone={tone} />
      ))}
    </svg>
  );
}
