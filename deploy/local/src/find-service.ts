import type { ServiceName } from "@coffer/events";
import type { ServiceRow } from "./services.ts";

/**
 * Makes the function that finds the service of a path: the row with the longest path that the request's begins with.
 */
export function createFindService(rows: readonly ServiceRow[]): (url: string) => ServiceName | null {
  const prefixes = rows
    .flatMap(({ name, paths }) => paths.map((path) => ({ name, path })))
    .sort((a, b) => b.path.length - a.path.length);
  return (url) => {
    const path = /^[^?#]*/.exec(url)?.[0] ?? "";
    const row = prefixes.find((prefix) => path === prefix.path || path.startsWith(`${prefix.path}/`));
    return row?.name ?? null;
  };
}
