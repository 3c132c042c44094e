/**
 * The attempts of a run on a line of time, a row for each phase. Only rows that can be seen are
 * drawn; each is one stop of the keyboard, and says everything about its bars.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration } from "../../src/core/amounts.ts";
import { Text, visibleLine } from "../text.tsx";
import { Choice } from "./choice.tsx";
import { type Bar, type BarKind, type Range, type Row, rangeOf, shareOf } from "./gantt-rows.ts";
import { clockTime, tickLabel, timeTicks, zoneAt } from "./ticks.ts";
import { useWidth } from "./use-width.ts";

export interface GanttProps {
  readonly rows: readonly Row[];
  readonly now: number;
  /** Nothing of it goes on: there is no now in it. */
  readonly isOver: boolean;
  onRow?(id: string): void;
}

const rowHeight = 30;
const spare = 6;
const hour = 3_600_000;

const words: Readonly<Record<BarKind, string>> = {
  working: "working",
  checking: "checking",
  failed: "failed",
  interrupted: "interrupted",
  parked: "parked",
  waiting: "waiting",
};

export function Gantt({ rows: all, now, isOver, onRow }: GanttProps) {
  const [span, setSpan] = useState<"all" | "hour">("all");
  const [tip, setTip] = useState<Tip>();
  const [focus, setFocus] = useState(0);
  const [chart, width] = useWidth<HTMLDivElement>(800);
  const range = span === "all" ? rangeOf(all, now) : { from: now - hour, to: now };
  const rows = all.filter(({ bars }) => bars.some((bar) => shareOf(bar, range)));
  const { scroller, first, count } = useVisibleRows(rows.length);
  const shown = rows.slice(first, first + count);

  const goTo = (at: number): void => {
    const to = Math.max(0, Math.min(rows.length - 1, at));
    setFocus(to);
    const place = scroller.current;
    if (!place) return;
    const [top, room] = [to * rowHeight, place.clientHeight - axisHeight];
    if (top < place.scrollTop) place.scrollTop = top;
    else if (top + rowHeight > place.scrollTop + room) place.scrollTop = top + rowHeight - room;
    // The row is drawn once the scrolling was noticed.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        place.querySelector<HTMLElement>(`[data-row="${to}"]`)?.focus({ preventScroll: true }),
      ),
    );
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowDown: focus + 1, ArrowUp: focus - 1, Home: 0, End: rows.length - 1 }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    goTo(to);
  };

  return (
    <section class="run-section" aria-label="Timeline of attempts">
      <div class="run-tools">
        <ul class="run-legend" aria-label="What the bars mean">
          {(Object.keys(words) as BarKind[]).map((is) => (
            <li key={is} class="run-legend-item">
              <span class="run-swatch" data-is={is} aria-hidden="true" /> {words[is]}
            </li>
          ))}
        </ul>
        <Choice
          label="Time shown"
          value={span}
          options={[
            ["all", "All"],
            ["hour", "Last hour"],
          ]}
          onChoose={setSpan}
        />
      </div>
      {rows.length === 0 ? (
        <p class="run-empty card">
          {all.length === 0 ? "Nothing was begun yet." : "Nothing happened in the last hour."}
        </p>
      ) : (
        <div
          class="run-gantt card"
          ref={scroller}
          onKeyDown={onKeyDown}
          onMouseLeave={() => setTip(undefined)}
        >
          <div class="run-axis" aria-hidden="true">
            <span class="run-axis-corner" />
            <div class="run-axis-line num" ref={chart}>
              <Axis range={range} width={width} />
            </div>
          </div>
          <div class="run-rows" style={{ height: `${rows.length * rowHeight}px` }}>
            <Marks range={range} width={width} now={isOver ? undefined : now} />
            {shown.map((row, at) => (
              <RowLine
                key={row.id}
                row={row}
                at={first + at}
                range={range}
                isStop={first + at === Math.min(focus, rows.length - 1)}
                onFocus={setFocus}
                onTip={setTip}
                onOpen={onRow}
              />
            ))}
          </div>
        </div>
      )}
      {tip && <TipBox tip={tip} />}
    </section>
  );
}

const axisHeight = 30;

/** Of so many rows, those that are within sight, and a few on both sides. */
function useVisibleRows(total: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => {
    const place = scroller.current;
    if (!place) return undefined;
    const look = (): void => setTop(Math.floor(place.scrollTop / rowHeight));
    place.addEventListener("scroll", look, { passive: true });
    return () => place.removeEventListener("scroll", look);
  }, [total > 0]);
  const room = scroller.current?.clientHeight ?? 600;
  return {
    scroller,
    first: Math.max(0, top - spare),
    count: Math.ceil(room / rowHeight) + 2 * spare,
  };
}

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

const ticksOf = ({ from, to }: Range, width: number) =>
  timeTicks(from, to, Math.max(2, Math.floor(width / 84)), zoneAt(from));

function Axis({ range, width }: { range: Range; width: number }) {
  const { step, at } = ticksOf(range, width);
  return (
    <>
      {at.map((tick) => (
        <span key={tick} style={{ left: percent((tick - range.from) / (range.to - range.from)) }}>
          {tickLabel(tick, step)}
        </span>
      ))}
    </>
  );
}

interface MarksProps {
  readonly range: Range;
  readonly width: number;
  readonly now: number | undefined;
}

const Marks = ({ range, width, now }: MarksProps) => (
  <div class="run-marks" aria-hidden="true">
    {ticksOf(range, width).at.map((tick) => (
      <i key={tick} style={{ left: percent((tick - range.from) / (range.to - range.from)) }} />
    ))}
    {now !== undefined && now <= range.to && (
      <i class="run-now" style={{ left: percent((now - range.from) / (range.to - range.from)) }} />
    )}
  </div>
);

interface RowLineProps {
  readonly row: Row;
  readonly at: number;
  readonly range: Range;
  readonly isStop: boolean;
  onFocus(at: number): void;
  onTip(tip: Tip | undefined): void;
  onOpen: ((id: string) => void) | undefined;
}

function RowLine({ row, at, range, isStop, onFocus, onTip, onOpen }: RowLineProps) {
  const title = visibleLine(`${row.label} ${row.name}`);
  const bars = useMemo(
    () =>
      row.bars.flatMap((bar) => (shareOf(bar, range) ? [{ bar, share: shareOf(bar, range) }] : [])),
    [row, range.from, range.to],
  );
  const tell = (element: Element, told: readonly Bar[]): void => {
    const { left, bottom } = element.getBoundingClientRect();
    onTip({ x: left, y: bottom, title, lines: told.map(barWords) });
  };
  return (
    <button
      type="button"
      class="run-gantt-row"
      data-row={at}
      tabIndex={isStop ? 0 : -1}
      style={{ top: `${at * rowHeight}px` }}
      aria-label={`${title}: ${row.bars.map(barWords).join("; ")}`}
      onClick={() => onOpen?.(row.id)}
      onFocus={(event) => {
        onFocus(at);
        if (event.currentTarget.matches(":focus-visible")) {
          tell(event.currentTarget.lastElementChild ?? event.currentTarget, row.bars.slice(-6));
        }
      }}
      onBlur={() => onTip(undefined)}
    >
      <span class="run-gantt-name">
        <span class="mono">
          <Text of={row.label} line />
        </span>{" "}
        <Text of={row.name} line />
      </span>
      <span class="run-track">
        {bars.map(({ bar, share }) => (
          <span
            key={`${bar.attempt} ${bar.is} ${bar.from}`}
            class="run-gantt-bar"
            data-is={bar.is}
            data-open={bar.open || undefined}
            style={{ left: percent(share?.left ?? 0), width: percent(share?.width ?? 0) }}
            onMouseEnter={(event) => tell(event.currentTarget, [bar])}
          />
        ))}
      </span>
    </button>
  );
}

/** "attempt 2 by claude: failed, 14:02 to 14:09, 7 min: test_failure …" */
function barWords({ is, from, to, open, attempt, agent, note }: Bar): string {
  const when = open ? `since ${clockTime(from)}` : `${clockTime(from)} to ${clockTime(to)}`;
  const who =
    is === "waiting" || is === "parked"
      ? `after attempt ${attempt}`
      : `attempt ${attempt} by ${agent}`;
  return visibleLine(
    `${who}: ${words[is]}, ${when}, ${duration(to - from)}${note === "" ? "" : `: ${note}`}`,
  );
}

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly lines: readonly string[];
}

/** For those who see: what it says is in the row's own name already. */
function TipBox({ tip: { x, y, title, lines } }: { tip: Tip }) {
  const room = 320;
  const left = Math.max(8, Math.min(x, innerWidth - room - 8));
  const below = y + 24 * (lines.length + 2) < innerHeight;
  return (
    <div
      class="run-tip"
      aria-hidden="true"
      style={{
        left: `${left}px`,
        ...(below ? { top: `${y + 6}px` } : { bottom: `${innerHeight - y + rowHeight}px` }),
      }}
    >
      <strong>{title}</strong>
      {lines.map((line, at) => (
        <p key={at}>{line}</p>
      ))}
    </div>
  );
}
