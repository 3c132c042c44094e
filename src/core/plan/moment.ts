/** Moments as the journal writes them, as milliseconds since 1970; core has no clock and no calendar. */
const written =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d{2}):?(\d{2}))$/;

/** Undefined: it is no moment of ours. */
export function momentOf(iso: string): number | undefined {
  const parts = written.exec(iso);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const fraction = Number(`0.${parts[7] ?? "0"}`);
  const offset =
    (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === "-" ? -1 : 1);
  const minutes = (dayOf(year ?? 0, month ?? 1, day ?? 1) * 24 + (hour ?? 0)) * 60 + (minute ?? 0);
  return ((minutes - offset) * 60 + (second ?? 0)) * 1000 + Math.floor(fraction * 1000);
}

/** Days since 1970. Years begin in March here, so that a leap day is the last of its year. */
function dayOf(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const months = (month + 9) % 12;
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leaps + Math.floor((months * 153 + 2) / 5) + day - 1 - 719_468;
}
