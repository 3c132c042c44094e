/** Where a scale has its marks, at values that people count in. */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((each) => each * second),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * minute),
  ...[1, 2, 3, 6, 12].map((each) => each * hour),
  ...[1, 2, 7, 14, 28].map((each) => each * day),
];

export interface TimeTicks {
  readonly step: number;
  readonly at: readonly number[];
}

/** `zone`: milliseconds that the clock on the wall is ahead of UTC, so that midnight is a mark. */
export function timeTicks(from: number, to: number, most: number, zone = 0): TimeTicks {
  const step = steps.find((each) => (to - from) / each <= most) ?? 28 * day;
  const at: number[] = [];
  const first = Math.ceil((from + zone) / step) * step - zone;
  for (let tick = first; tick <= to && at.length < 200; tick += step) at.push(tick);
  return { step, at };
}

/** From 0 on, in steps of 1, 2 or 5 times a power of ten; the last is not below `most`. */
export function amountTicks(most: number, count = 4): number[] {
  if (!(most > 0)) return [0];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((each) => each * power >= rough) ?? 10) * power;
  const ticks = [0];
  while ((ticks.at(-1) ?? 0) < most) ticks.push(ticks.length * step);
  return ticks;
}

/** As it stands under the axis: days where days are counted, seconds only where those are. */
export function tickLabel(at: number, step: number): string {
  const date = new Date(at);
  const isMidnight = date.getHours() + date.getMinutes() + date.getSeconds() === 0;
  if (step >= day || isMidnight) {
    return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  }
  return clockTime(at, step < minute);
}

/** In 24 hours, wherever it is: columns of it are aligned. */
export function clockTime(at: number, withSeconds = false): string {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), ...(withSeconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

export const zoneAt = (at: number): number => -new Date(at).getTimezoneOffset() * minute;
