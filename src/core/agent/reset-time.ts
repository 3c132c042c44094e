/**
 * When it is worth trying again, read from what was said: fields and headers first, as they are
 * exact; then the same fields inside a text; then words ("resets 3pm", "try again in 2 hours").
 *
 * A time without a zone is one of the person's own clock. Where a zone is named, it counts; one that
 * nobody knows is passed over. A date without a year is the nearest such date.
 */
import { momentOf } from "../plan/moment.ts";
import {
  dayMs,
  fixedZone,
  momentOfWall,
  namedZone,
  type Wall,
  wallAt,
  weekdayAt,
  type Zone,
} from "./wall-clock.ts";

export type Fields = Readonly<Record<string, string | number>>;

export interface Asked {
  readonly now: number;
  readonly zoneMinutes: number;
}

/** `message` in one line, single spaces. `quota`: a delay of seconds says nothing of when it ends. */
export function resetIn(
  message: string,
  fields: Fields,
  asked: Asked,
  quota: boolean,
): number | undefined {
  return (
    resetInFields(fields, asked, quota) ??
    resetInFields(fieldsIn(message), asked, quota) ??
    afterBar(message) ??
    resetInWords(message, asked)
  );
}

const named = (name: string): string => name.toLowerCase().replace(/[_-]/g, "");

function resetInFields(fields: Fields, asked: Asked, quota: boolean): number | undefined {
  const given = new Map(Object.entries(fields).map(([name, value]) => [named(name), value]));
  const at = (name: string): number | undefined => {
    const value = given.get(name);
    return value === undefined ? undefined : instant(value, asked);
  };
  const unified = given.get("anthropicratelimitunifiedstatus") ?? "rejected";
  const milliseconds = Number(given.get("retryafterms") ?? Number.NaN);
  return (
    (unified === "rejected" ? at("anthropicratelimitunifiedreset") : undefined) ??
    at("resetsat") ??
    at("resetat") ??
    at("resettime") ??
    at("resetsinseconds") ??
    at("resetinseconds") ??
    (Number.isFinite(milliseconds) ? asked.now + milliseconds : undefined) ??
    at("retryafter") ??
    (quota ? undefined : at("retrydelay")) ??
    exhausted(given, asked) ??
    at("xratelimitreset") ??
    at("ratelimitreset")
  );
}

/** Of several budgets the one that is used up; where nobody says which, the last to come back. */
function exhausted(given: ReadonlyMap<string, string | number>, asked: Asked): number | undefined {
  const found: { at: number; empty: boolean }[] = [];
  for (const budget of ["requests", "tokens", "inputtokens", "outputtokens"]) {
    for (const [reset, left] of [
      [`xratelimitreset${budget}`, `xratelimitremaining${budget}`],
      [`anthropicratelimit${budget}reset`, `anthropicratelimit${budget}remaining`],
    ] as const) {
      const value = given.get(reset);
      const at = value === undefined ? undefined : instant(value, asked);
      if (at !== undefined) found.push({ at, empty: Number(given.get(left) ?? 1) === 0 });
    }
  }
  const empty = found.filter((each) => each.empty);
  const counted = empty.length > 0 ? empty : found;
  return counted.length > 0 ? Math.max(...counted.map(({ at }) => at)) : undefined;
}

const fieldInText =
  /\b(resets?_?at|reset_?time|resets?_in_seconds|retry[-_]after(?:[-_]ms)?|retryDelay|anthropic-ratelimit-unified-reset|x-ratelimit-reset(?:-requests|-tokens)?)["']?:? ?[:=]? ?["']?(\d[^"'}\]]{0,40})/gi;

/** Only what is written like a field: with a colon, an equals sign or a quote before the value. */
function fieldsIn(message: string): Fields {
  const fields: Record<string, string> = {};
  for (const [all, name = "", value = ""] of message.matchAll(fieldInText)) {
    if (/[:="']/.test(all.slice(name.length, all.length - value.length))) {
      fields[name] = /^[\d.]{1,20}[a-z]{0,2}(?=[,\s]|$)/i.exec(value)?.[0] ?? value.trim();
    }
  }
  return fields;
}

const epochBar = /\|(\d{13}|\d{10})(?!\d)/;

function afterBar(message: string): number | undefined {
  const digits = epochBar.exec(message)?.[1];
  return digits === undefined ? undefined : Number(digits) * (digits.length === 10 ? 1000 : 1);
}

/** An epoch in seconds or milliseconds, seconds from now, a duration, an ISO or an HTTP date. */
function instant(value: string | number, asked: Asked): number | undefined {
  const text = String(value).trim().slice(0, 60);
  if (/^\d{1,15}(?:\.\d{1,9})?$/.test(text)) {
    const number = Number(text);
    if (number >= 1e12) return number;
    return number >= 1e9 ? number * 1000 : asked.now + number * 1000;
  }
  return (
    momentOf(text) ?? durationAt(text, asked) ?? dateAt(text.replace(/^[a-z]{3}, /i, ""), asked)
  );
}

/** The word that a time follows; the surest first. */
const heralds: readonly RegExp[] = [
  /\b(?:resets?|regain access|renews?)\b/gi,
  /\b(?:try again|available again|come back)\b/gi,
  /\b(?:retry(?:ing)?|wait|ends)\b/gi,
];
const filler = /^[:~·]? ?(?:your|limits?|will|be|back|at|on|in|after|by|about|again)?\b[:~]? ?/i;

function resetInWords(message: string, asked: Asked): number | undefined {
  for (const herald of heralds) {
    for (const match of message.matchAll(herald)) {
      let rest = message
        .slice(match.index + match[0].length)
        .slice(0, 100)
        .trimStart();
      for (let words = 0; words < 5; words++) {
        const at = durationAt(rest, asked) ?? dateAt(rest, asked);
        if (at !== undefined) return at;
        const skipped = filler.exec(rest)?.[0] ?? "";
        if (skipped === "") break;
        rest = rest.slice(skipped.length);
      }
    }
  }
  return undefined;
}

const part =
  /^(\d{1,7}(?:\.\d{1,9})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?![a-z])(?:,|,? and\b)? ?/i;
const units: Readonly<Record<string, number>> = {
  mi: 60_000,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};

/** "5 days 22 hours 11 minutes", "5h12m3s", "644ms". */
function durationAt(text: string, { now }: Asked): number | undefined {
  let rest = text;
  let total: number | undefined;
  for (let parts = 0; parts < 6; parts++) {
    const found = part.exec(rest);
    if (!found) break;
    const unit = (found[2] ?? "").toLowerCase();
    const size = unit.startsWith("milli") ? 1 : (units[unit.slice(0, 2)] ?? units[unit[0] ?? ""]);
    total = (total ?? 0) + Number(found[1]) * (size ?? 0);
    rest = rest.slice(found[0].length);
  }
  return total === undefined ? undefined : now + total;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](?:at )?(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?/i;
const monthFirst =
  /^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:,? (\d{4})(?!\d))?/i;
const dayFirst =
  /^(\d{1,2})(?:\.|st|nd|rd|th)?(?: de)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?: de)?(?:,? (\d{4})(?!\d))?/i;
const slashes = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/;
const weekday = /^(sun|mon|tue|wed|thu|fri|sat)(?:day|s|sday|nesday|rs|rsday|urday)?\b/i;
const tomorrow = /^,? ?tomorrow\b/i;
const timeOfDay =
  /^,? ?(?:at )?(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(?!\d) ?(am|pm|a\.m\.|p\.m\.)?(?![a-z])/i;
const zoneName = /^ ?(?:\(([a-z][\w+/-]{1,40})\)|(utc|gmt|z)\b|([+-])(\d{2}):?(\d{2}))/i;

type Time = Pick<Wall, "hour" | "minute" | "second">;

interface Day {
  /** Undefined: not said, so the next time that the clock shows it. */
  readonly date?: { readonly year?: number; readonly month: number; readonly day: number };
  readonly weekday?: number;
  readonly later?: number;
}

/** A date, a time of day, or both, at the very beginning of the text. */
function dateAt(text: string, asked: Asked): number | undefined {
  const written = iso.exec(text);
  let rest = text;
  let day: Day = {};
  let time: Time | undefined;
  if (written) {
    const [year = 0, month = 0, date = 0, hour = 0, minute = 0, second = 0] = written
      .slice(1, 7)
      .map((each) => Number(each ?? 0));
    day = { date: { year, month, day: date } };
    time = { hour, minute, second };
    rest = rest.slice(written[0].length);
  } else {
    const found = dayIn(rest);
    day = found.day;
    rest = found.rest;
    const clock = timeOfDay.exec(rest);
    if (clock && (clock[2] !== undefined || clock[4] !== undefined)) {
      time = hours(clock);
      if (!time) return undefined;
      rest = rest.slice(clock[0].length);
      const next = tomorrow.exec(rest);
      if (next) {
        day = { later: 1 };
        rest = rest.slice(next[0].length);
      }
    }
    if (found.rest === text && time === undefined) return undefined;
  }
  const zone = zoneAt(rest) ?? fixedZone(asked.zoneMinutes);
  return momentOfDay(day, time ?? { hour: 0, minute: 0, second: 0 }, zone, asked.now);
}

function dayIn(text: string): { readonly day: Day; readonly rest: string } {
  const found = (day: Day, length: number) => ({ day, rest: text.slice(length) });
  const month = (name: string | undefined): number =>
    months.indexOf((name ?? "").toLowerCase().slice(0, 3)) + 1;
  const year = (digits: string | undefined) =>
    digits === undefined ? {} : { year: Number(digits) };
  const first = monthFirst.exec(text);
  if (first) {
    const date = { month: month(first[1]), day: Number(first[2]), ...year(first[3]) };
    return found({ date }, first[0].length);
  }
  const second = dayFirst.exec(text);
  if (second) {
    const date = { month: month(second[2]), day: Number(second[1]), ...year(second[3]) };
    return found({ date }, second[0].length);
  }
  const slashed = slashes.exec(text);
  if (slashed) {
    const date = { month: Number(slashed[1]), day: Number(slashed[2]), year: Number(slashed[3]) };
    return found({ date }, slashed[0].length);
  }
  const named = weekday.exec(text);
  if (named) {
    return found({ weekday: weekdays.indexOf((named[1] ?? "").toLowerCase()) }, named[0].length);
  }
  const next = tomorrow.exec(text);
  return next ? found({ later: 1 }, next[0].length) : { day: {}, rest: text };
}

/** Undefined: no clock shows that. */
function hours([, hour, minute, second, half]: RegExpExecArray): Time | undefined {
  const said = Number(hour);
  const shown = { minute: Number(minute ?? 0), second: Number(second ?? 0) };
  if (said > (half === undefined ? 24 : 12) || shown.minute > 59) return undefined;
  if (half === undefined) return { hour: said, ...shown };
  return { hour: (said % 12) + (half.toLowerCase().startsWith("p") ? 12 : 0), ...shown };
}

function zoneAt(text: string): Zone | undefined {
  const found = zoneName.exec(text);
  if (!found) return undefined;
  if (found[1] !== undefined) return namedZone(found[1]);
  if (found[2] !== undefined) return fixedZone(0);
  return fixedZone((Number(found[4]) * 60 + Number(found[5])) * (found[3] === "-" ? -1 : 1));
}

function momentOfDay(
  { date, weekday: wanted, later }: Day,
  time: Time,
  zone: Zone,
  now: number,
): number | undefined {
  const today = wallAt(now, zone);
  const on = (wall: Pick<Wall, "year" | "month" | "day">): number =>
    momentOfWall({ ...wall, ...time }, zone, now);
  const after = (days: number): number => on(wallAt(now + days * dayMs, zone));
  if (date) {
    const { year, month, day } = date;
    if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
    if (year !== undefined) return on({ year, month, day });
    const years = [today.year - 1, today.year, today.year + 1];
    const all = years.map((each) => on({ year: each, month, day }));
    return all.reduce((a, b) => (Math.abs(b - now) < Math.abs(a - now) ? b : a));
  }
  if (wanted !== undefined) {
    const days = (wanted - weekdayAt(now, zone) + 7) % 7;
    return after(days) > now ? after(days) : after(days + 7);
  }
  if (later !== undefined) return after(later);
  return after(0) > now ? after(0) : after(1);
}
