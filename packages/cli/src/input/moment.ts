import { usage } from "../failure.ts";

const milliseconds: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A time as ISO 8601: given as such, or relative to `now` (Unix milliseconds), such as `90m`,
 * `24h`, `7d`. Throws Failure (usage) for anything else.
 */
export function momentAfter(now: number, text: string): string {
  return moment(text, (span) => now + span);
}

/** Like `momentAfter`, but `90m` means before `now`. */
export function momentBefore(now: number, text: string): string {
  return moment(text, (span) => now - span);
}

function moment(text: string, apart: (span: number) => number): string {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const found = count === undefined ? written(text) : apart(Number(count) * (milliseconds[unit] ?? 0));
  if (Number.isNaN(found)) throw usage(`${text} is no time: write 90m, 24h, 7d, 2030-01-31 or 2030-01-31T12:00:00Z`);
  // A Date drops digits after the millisecond.
  return /\.\d{4,}Z$/.test(text) ? text : new Date(found).toISOString();
}

/** Unix milliseconds of a date, or of a time in UTC or with its offset; NaN for anything else. */
function written(text: string): number {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return NaN;
  // Date.parse reads 30 February as a day of March.
  const day = text.slice(0, 10);
  return new Date(day).getUTCDate() === Number(day.slice(-2)) ? Date.parse(text) : NaN;
}
