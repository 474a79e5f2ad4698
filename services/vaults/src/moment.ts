/** A moment as columns, answers and audit records have it: ISO 8601 in UTC with microseconds. */
export function momentOf(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}
