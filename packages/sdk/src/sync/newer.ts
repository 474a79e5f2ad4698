/**
 * Whether one timestamp of the service is later than another. Compared as text, because a Date
 * drops microseconds.
 */
export function isNewer(timestamp: string, than: string): boolean {
  return comparable(timestamp) > comparable(than);
}

function comparable(timestamp: string): string {
  const [, seconds = timestamp, fraction = ""] = /^(.*?)(?:\.(\d+))?Z$/.exec(timestamp) ?? [];
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
