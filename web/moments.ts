/** Moments as people say them, by the clock on their own wall. */
import { duration } from "../src/core/amounts.ts";
import { momentOf } from "../src/core/plan/moment.ts";

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const short = new Intl.DateTimeFormat(undefined, { timeStyle: "short", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

type Told = string | number;

const msOf = (at: Told): number => (typeof at === "number" ? at : (momentOf(at) ?? Number.NaN));

/** `14:05:09`, to the second. */
export const timeOf = (at: Told): string => said(time, at);

/** `14:05`; of another day, with that day. */
export function whenOf(at: Told, now: number): string {
  const ms = msOf(at);
  if (Number.isNaN(ms)) return "";
  const isToday = new Date(ms).toDateString() === new Date(now).toDateString();
  return isToday ? short.format(ms) : `${day.format(ms)}, ${short.format(ms)}`;
}

const said = (format: Intl.DateTimeFormat, at: Told): string => {
  const ms = msOf(at);
  return Number.isNaN(ms) ? "" : format.format(ms);
};

/** A sentence with the moments in it as people say them. */
export const inWords = (sentence: string, now: number): string =>
  sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => whenOf(at, now));

/** `4 min ago`: coarse, so that it stands still while somebody reads. */
export function ago(at: Told, now: number): string {
  const ms = now - msOf(at);
  if (Number.isNaN(ms)) return "";
  if (ms < 60_000) return "just now";
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days ago`;
  return `${duration(Math.floor(ms / 60_000) * 60_000)} ago`;
}

/** What is left until then, to the second: `12:05`, `1:02:03`; undefined: it is over. */
export function countdown(until: Told, now: number): string | undefined {
  const ms = msOf(until) - now;
  if (Number.isNaN(ms) || ms <= 0) return undefined;
  const seconds = Math.ceil(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const clock = `${two(minutes)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${clock}` : clock.replace(/^0(?=\d:)/, "");
}

/** Between two; `until` absent: it goes on. */
export const lasted = (from: Told, until: Told | undefined, now: number): string => {
  const ms = (until === undefined ? now : msOf(until)) - msOf(from);
  return Number.isNaN(ms) ? "" : duration(Math.max(0, ms));
};
