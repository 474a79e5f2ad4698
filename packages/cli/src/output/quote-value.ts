/**
 * A value as the right side of `NAME=…`, safe in every POSIX shell. Parsers of dotenv files read it
 * too, except for a value with a carriage return, which they drop, and for one with both a single
 * quote and one of `"`, `$`, backtick, `\`, `!`, which only a shell can read.
 */
export function quoteValue(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  if (!/["$`\\!]/.test(value)) return `"${value}"`;
  return `'${value.replaceAll("'", "'\\''")}'`;
}
