import { usage } from "./failure.ts";

const milliseconds: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A moment in time as ISO 8601: written as such, or as a time from `now` (Unix milliseconds) such as `90m`, `24h`, `7d`.
 * Throws Failure (usage) for anything else.
 */
export function momentAfter(now: number, text: string): string {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const written = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : NaN;
  const moment = count === undefined ? written : now + Number(count) * (milliseconds[unit] ?? 0);
  if (Number.isNaN(moment)) throw usage(`${text} is no time: write 90m, 24h, 7d or 2030-01-31T12:00:00Z`);
  return new Date(moment).toISOString();
}
