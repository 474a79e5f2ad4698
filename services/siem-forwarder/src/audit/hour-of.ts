/** The start of the hour that contains `time`. */
export function hourOf(time: string): string {
  return `${time.slice(0, 13)}:00:00Z`;
}
