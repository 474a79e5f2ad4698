/** The path of a request target: without its query and, in the absolute form, without scheme and host. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}

/**
 * The query of a request target as names and values. A name that comes more than once has an array, which no schema of
 * a single value accepts. The object has no prototype: every name is only a name.
 */
export function readQuery(url: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, never>; // an empty object
  const start = url.indexOf("?");
  if (start === -1) return query;
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const before = query[name];
    if (Array.isArray(before)) before.push(value);
    else query[name] = before === undefined ? value : [before, value];
  }
  return query;
}
