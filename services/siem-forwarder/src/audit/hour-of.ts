/** The hour in which a moment is, by its beginning. */
export function hourOf(time: string): string {
  return `${time.slice(0, 13)}:00:00Z`;
}
