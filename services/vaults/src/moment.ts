/** ISO 8601 in UTC with microseconds, as in columns, responses and audit records. */
export function momentOf(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}
