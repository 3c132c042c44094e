/** Durations and spend, as people say them. */
import type { Spend } from "./plan/run-news.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** In words: `12 s`, `4 min 12 s`, `1 h 5 min`. */
export function duration(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) {
    const seconds = Math.floor((ms % minute) / second);
    return `${Math.floor(ms / minute)} min${seconds === 0 ? "" : ` ${seconds} s`}`;
  }
  const minutes = Math.floor((ms % hour) / minute);
  return `${Math.floor(ms / hour)} h${minutes === 0 ? "" : ` ${minutes} min`}`;
}

/** In six columns, for a column of them: `0:12`, `59:59`, `1h 05`. */
export function clock(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  if (ms < hour) return `${Math.floor(ms / minute)}:${two((ms % minute) / second)}`;
  const hours = Math.floor(ms / hour);
  return hours < 100 ? `${hours}h ${two((ms % hour) / minute)}` : `${hours}h`;
}

/** A guess is not given to the second. */
export function roughly(ms: number): string {
  if (ms < minute) return "less than a minute";
  if (ms < hour) return `about ${Math.ceil(ms / minute)} min`;
  if (ms < 10 * hour) return `about ${Math.round((ms / hour) * 2) / 2} h`;
  return `about ${Math.round(ms / hour)} h`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_500) return `${significant(count / 1000)}k`;
  return `${significant(count / 1_000_000)}M`;
}

const significant = (value: number): string =>
  value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));

export const money = (cost: number): string =>
  cost > 0 && cost < 0.005 ? "<$0.01" : `$${cost.toFixed(2)}`;

export const spendWords = ({ tokens: count, cost }: Spend): string =>
  [
    ...(count > 0 ? [`${tokens(count)} tokens`] : []),
    ...(cost === undefined ? [] : [money(cost)]),
  ].join(", ");

/** The one figure that fits into a column. */
export const spendShort = ({ tokens: count, cost }: Spend): string =>
  cost === undefined ? tokens(count) : money(cost);
