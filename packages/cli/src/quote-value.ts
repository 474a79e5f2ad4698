/**
 * A value as the right side of `NAME=…`, safe in every POSIX shell. Readers of dotenv files read the same, except for
 * a value that holds both a single quote and one of `"`, `$`, backtick, `\`, `!`, which only a shell can read.
 */
export function quoteValue(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  if (!/["$`\\!]/.test(value)) return `"${value}"`;
  return `'${value.replaceAll("'", "'\\''")}'`;
}
