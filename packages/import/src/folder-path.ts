/**
 * A folder's path in records: parts joined with `/`. A slash in a part is `%2F`, a percent sign
 * `%25`.
 */
export function joinFolder(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F"))
    .join("/");
}

/** The parts of such a path. */
export function splitFolder(path: string): string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => part.replace(/%2f/gi, "/").replaceAll("%25", "%"));
}
