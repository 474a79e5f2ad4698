import type { DeployedService } from "@coffer/events";
import { pathOf } from "@coffer/http";
import type { ServiceRow } from "./services.ts";

/**
 * Makes the function that finds the service of a request target by the longest matching path. Clients of
 * a proxy send the absolute form, `http://host/path`.
 */
export function createFindService(rows: readonly ServiceRow[]): (url: string) => DeployedService | null {
  const prefixes = rows
    .flatMap(({ name, paths }) => paths.map((path) => ({ name, path })))
    .sort((a, b) => b.path.length - a.path.length);
  return (url) => {
    const path = pathOf(url);
    const row = prefixes.find((prefix) => path === prefix.path || path.startsWith(below(prefix.path)));
    return row?.name ?? null;
  };
}

function below(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
