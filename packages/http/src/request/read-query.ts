import { ServiceError } from "@coffer/errors";
import { isOurs } from "./validate.ts";

/**
 * The path of a request target: without its query and, in the absolute form, without scheme and
 * host.
 */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}

/**
 * Parses the query of a request target. A repeated name has an array, which no schema of a single
 * value accepts. The object has no prototype. Malformed text is refused by `requireReadableQuery`.
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

/**
 * Refuses a query whose percent-encoding is not UTF-8.
 * @throws ServiceError `invalid_request` that names the first such parameter, if its name is
 *   readable
 */
export function requireReadableQuery(url: string): void {
  const start = url.indexOf("?");
  if (start === -1 || isReadable(url.slice(start + 1))) return;
  const pair = url
    .slice(start + 1)
    .split("&")
    .find((text) => !isReadable(text));
  const name = pair?.split("=", 1)[0] ?? "";
  const field = isReadable(name) && isOurs(decodeURIComponent(name)) ? decodeURIComponent(name) : "query";
  throw new ServiceError("invalid_request", "the query is not valid: see details", {
    details: [{ field, issue: "must be UTF-8 in percent-encoding" }],
  });
}

/** Whether all escapes are UTF-8. Node refuses unescaped characters other than ASCII. */
function isReadable(text: string): boolean {
  if (!text.includes("%")) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
