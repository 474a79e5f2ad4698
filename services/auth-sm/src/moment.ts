/** A moment as columns and answers have it: ISO 8601 in UTC with microseconds. */
export function momentOf(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}

/**
 * The moment of a change of what was last changed at `previous`: `now`, or where the clock has not got past it a
 * microsecond later, so that it only grows whatever the clock does.
 * @param previous as columns have it
 */
export function momentAfter(previous: string, now: Date): string {
  const at = momentOf(now);
  // Both have the same form, in which the later one is the greater text.
  if (at > previous) return at;
  const milliseconds = Date.parse(`${previous.slice(0, -4)}Z`);
  const microseconds = Number(previous.slice(-4, -1));
  if (microseconds === 999) return momentOf(new Date(milliseconds + 1));
  return `${previous.slice(0, -4)}${String(microseconds + 1).padStart(3, "0")}Z`;
}
