/** What a run has cost over time, by agent or by phase, against what it may cost. */
import { useState } from "preact/hooks";
import type { Cap } from "../../src/core/agent/budget.ts";
import { money, tokens } from "../../src/core/amounts.ts";
import type { SpendSeries } from "../../src/core/board/spend.ts";
import { Text, visibleLine } from "../text.tsx";
import { Choice } from "./choice.tsx";
import type { Range } from "./gantt-rows.ts";
import {
  type By,
  isInSight,
  others,
  type Stack,
  stackOf,
  totalsOf,
  type Unit,
} from "./spending.ts";
import { amountTicks, clockTime, tickLabel, timeTicks, zoneAt } from "./ticks.ts";
import { useWidth } from "./use-width.ts";

export interface SpendViewProps {
  readonly series: SpendSeries;
  readonly budget: Cap;
  /** How often people have let it use as much again. */
  readonly raised: number;
  readonly range: Range;
  readonly ofWhat: "phase" | "step";
  nameOf(phase: string): string;
}

const unitWords: Readonly<Record<Unit, (amount: number) => string>> = { tokens, cost: money };

export function SpendView({ series, budget, raised, range, ofWhat, nameOf }: SpendViewProps) {
  const [by, setBy] = useState<By>("agents");
  const [chosen, setUnit] = useState<Unit>();
  const hasCost = series.slices.some(({ agents }) =>
    Object.values(agents).some(({ cost }) => cost !== undefined),
  );
  const unit = chosen ?? (hasCost ? "cost" : "tokens");
  if (series.slices.length === 0) {
    return (
      <section class="run-section" aria-label="Spend">
        <h2>Spend</h2>
        <p class="run-empty card">No agent has said yet what it used.</p>
      </section>
    );
  }
  const stack = stackOf(series, by, unit, range);
  const cap = budget[unit] === undefined ? undefined : budget[unit] * (raised + 1);
  const say = unitWords[unit];
  const called = (name: string): string =>
    visibleLine(by === "phases" && name !== others ? nameOf(name) : name);
  return (
    <section class="run-section" aria-label="Spend">
      <div class="run-tools">
        <h2>
          Spend <span class="num">{say(stack.total)}</span>
          {cap !== undefined && (
            <small class="muted num">
              {" "}
              of {say(cap)} ({share(stack.total, cap)})
            </small>
          )}
        </h2>
        <div class="run-choices">
          <Choice
            label="Stacked by"
            value={by}
            options={[
              ["agents", "By agent"],
              ["phases", `By ${ofWhat}`],
            ]}
            onChoose={setBy}
          />
          <Choice
            label="Counted in"
            value={unit}
            options={[
              ["cost", "Money"],
              ["tokens", "Tokens"],
            ]}
            onChoose={setUnit}
          />
        </div>
      </div>
      <div class="card run-spend">
        <Chart stack={stack} cap={cap} say={say} nameOf={called} />
        <ul class="run-legend" aria-hidden="true">
          {stack.layers.map(({ name }, at) => (
            <li key={name} class="run-legend-item">
              <span class="run-swatch" data-series={at} /> {called(name)}
            </li>
          ))}
        </ul>
      </div>
      <div class="run-tables">
        <Totals series={series} by="agents" title="Agent" nameOf={visibleLine} />
        <Totals
          series={series}
          by="phases"
          title={ofWhat === "step" ? "Step" : "Phase"}
          nameOf={nameOf}
        />
      </div>
    </section>
  );
}

const share = (used: number, cap: number): string => {
  const percent = (used / cap) * 100;
  return percent > 0 && percent < 1 ? "<1 %" : `${Math.round(percent)} %`;
};

const height = 220;
const edge = { left: 52, right: 12, top: 12, bottom: 26 } as const;

interface ChartProps {
  readonly stack: Stack;
  readonly cap: number | undefined;
  say(amount: number): string;
  nameOf(layer: string): string;
}

function Chart({ stack, cap, say, nameOf }: ChartProps) {
  const [frame, width] = useWidth<HTMLDivElement>(640);
  const { at, layers, total } = stack;
  const [from, to] = [at[0] ?? 0, at.at(-1) ?? 1];
  const inSight = isInSight(cap, total);
  const amounts = amountTicks(inSight ? Math.max(cap, total) : total);
  const most = amounts.at(-1) ?? 1;
  const x = (ms: number): number =>
    edge.left + ((ms - from) / Math.max(1, to - from)) * (width - edge.left - edge.right);
  const y = (amount: number): number =>
    height - edge.bottom - (amount / (most || 1)) * (height - edge.top - edge.bottom);
  const times = timeTicks(from, to, Math.max(2, Math.floor(width / 90)), zoneAt(from));
  let below = at.map(() => 0);
  const areas = layers.map(({ name, sums }) => {
    const base = below;
    below = sums.map((sum, slice) => sum + (base[slice] ?? 0));
    return { name, d: areaBetween(at, base, below, x, y) };
  });
  const words = `Spent ${say(total)} from ${clockTime(from)} to ${clockTime(to)}${
    cap === undefined ? "" : `, of a budget of ${say(cap)}`
  }: ${layers.map(({ name, sums }) => `${nameOf(name)} ${say(sums.at(-1) ?? 0)}`).join(", ")}.`;
  return (
    <div ref={frame}>
      <svg class="run-chart num" width={width} height={height} role="img" aria-label={words}>
        {amounts.map((amount) => (
          <g key={amount}>
            <line x1={edge.left} x2={width - edge.right} y1={y(amount)} y2={y(amount)} />
            <text x={edge.left - 8} y={y(amount) + 4} text-anchor="end">
              {say(amount)}
            </text>
          </g>
        ))}
        {times.at.map((tick) => (
          <text key={tick} x={x(tick)} y={height - 8} text-anchor="middle">
            {tickLabel(tick, times.step)}
          </text>
        ))}
        {areas.map(({ name, d }, series) => (
          <path key={name} class="run-area" data-series={series} d={d} />
        ))}
        <path
          class="run-total"
          d={`M${at.map((ms, slice) => `${fine(x(ms))} ${fine(y(below[slice] ?? 0))}`).join("L")}`}
        />
        {inSight && (
          <g class="run-budget">
            <line x1={edge.left} x2={width - edge.right} y1={y(cap)} y2={y(cap)} />
            <text x={width - edge.right} y={y(cap) - 5} text-anchor="end">
              budget {say(cap)}
            </text>
          </g>
        )}
      </svg>
    </div>
  );
}

const fine = (value: number): string => value.toFixed(1);

function areaBetween(
  at: readonly number[],
  low: readonly number[],
  high: readonly number[],
  x: (ms: number) => number,
  y: (amount: number) => number,
): string {
  const along = (amounts: readonly number[]): string[] =>
    at.map((ms, slice) => `${fine(x(ms))} ${fine(y(amounts[slice] ?? 0))}`);
  return `M${[...along(high), ...along(low).reverse()].join("L")}Z`;
}

interface TotalsProps {
  readonly series: SpendSeries;
  readonly by: By;
  readonly title: string;
  nameOf(name: string): string;
}

/** The most dear are what somebody looks for; the rest is a line. */
const mostRows = 12;

function Totals({ series, by, title, nameOf }: TotalsProps) {
  const [all, setAll] = useState(false);
  const totals = totalsOf(series, by);
  const shown = all ? totals : totals.slice(0, mostRows);
  return (
    <div class="card">
      <table class="run-totals num">
        <caption class="visually-hidden">Spend by {title.toLowerCase()}</caption>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" class="run-right">
              Tokens
            </th>
            <th scope="col" class="run-right">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, spend }) => (
            <tr key={name}>
              <th scope="row">
                <Text of={nameOf(name)} line />
              </th>
              <td class="run-right">{tokens(spend.tokens)}</td>
              <td class="run-right">{spend.cost === undefined ? "–" : money(spend.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {totals.length > shown.length && (
        <button type="button" class="run-link run-more" onClick={() => setAll(true)}>
          {totals.length - shown.length} more
        </button>
      )}
    </div>
  );
}
