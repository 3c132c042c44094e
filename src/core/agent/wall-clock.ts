/**
 * Times as a clock on somebody's wall shows them, and back to moments. Core has no clock and no
 * calendar of its own: what time it is, is an argument; `Intl` is part of the language, and only
 * asked what a zone's clock shows at a moment that we name.
 */
import { momentOf } from "../plan/moment.ts";

/** Minutes east of UTC at a moment. */
export type Zone = (moment: number) => number;

export interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export const dayMs = 86_400_000;

export const fixedZone =
  (minutes: number): Zone =>
  () =>
    minutes;

/** Undefined: nobody knows a zone of that name. */
export function namedZone(name: string): Zone | undefined {
  try {
    const clock = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
    return (moment) => {
      const shown = new Map(
        clock.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
      );
      const part = (type: string): number => shown.get(type as never) ?? 0;
      const wall = {
        year: part("year"),
        month: part("month"),
        day: part("day"),
        hour: part("hour"),
        minute: part("minute"),
        second: 0,
      };
      return Math.round((asUtc(wall) - Math.floor(moment / 60_000) * 60_000) / 60_000);
    };
  } catch {
    return undefined;
  }
}

/** What the wall shows at a moment. */
export function wallAt(moment: number, zone: Zone): Wall {
  const local = moment + zone(moment) * 60_000;
  const days = Math.floor(local / dayMs);
  const seconds = Math.floor((local - days * dayMs) / 1000);
  return {
    ...dateOf(days),
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
  };
}

/** When the wall shows this. Asked twice, as the zone may have another offset by then. */
export function momentOfWall(wall: Wall, zone: Zone, near: number): number {
  const guess = asUtc(wall) - zone(near) * 60_000;
  return asUtc(wall) - zone(guess) * 60_000;
}

/** 0 is Sunday. */
export function weekdayAt(moment: number, zone: Zone): number {
  const days = Math.floor((moment + zone(moment) * 60_000) / dayMs);
  return (((days + 4) % 7) + 7) % 7;
}

/** Undefined: beyond what four digits of a year can say. */
export function isoOf(moment: number): string | undefined {
  const whole = Math.ceil(moment);
  if (!(whole >= 0 && whole < 253_402_300_800_000)) return undefined;
  const { year, month, day, hour, minute, second } = wallAt(whole, fixedZone(0));
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}.${pad(whole % 1000, 3)}Z`;
}

function asUtc({ year, month, day, hour, minute, second }: Wall): number {
  const iso = `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}Z`;
  return momentOf(iso) ?? Number.NaN;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

/** The date of a day since 1970: `momentOf` backwards, so years begin in March here too. */
function dateOf(days: number): Pick<Wall, "year" | "month" | "day"> {
  const since = days + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const leaps = Math.floor(ofEra / 1460) - Math.floor(ofEra / 36_524) + Math.floor(ofEra / 146_096);
  const yearOfEra = Math.floor((ofEra - leaps) / 365);
  const ofYear =
    ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const months = Math.floor((5 * ofYear + 2) / 153);
  const month = months < 10 ? months + 3 : months - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: ofYear - Math.floor((153 * months + 2) / 5) + 1,
  };
}
