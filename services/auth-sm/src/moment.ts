/** A time in the format of columns and responses: ISO 8601 in UTC with microseconds. */
export function momentOf(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}

/**
 * The time of a change to a row that was last changed at `previous`: `now`, or one microsecond
 * after `previous` if the clock is not later. So the time always increases.
 * @param previous in the format of the columns
 */
export function momentAfter(previous: string, now: Date): string {
  const at = momentOf(now);
  // Both have the same format, so text order is time order.
  if (at > previous) return at;
  const milliseconds = Date.parse(`${previous.slice(0, -4)}Z`);
  const microseconds = Number(previous.slice(-4, -1));
  if (microseconds === 999) return momentOf(new Date(milliseconds + 1));
  return `${previous.slice(0, -4)}${String(microseconds + 1).padStart(3, "0")}Z`;
}
