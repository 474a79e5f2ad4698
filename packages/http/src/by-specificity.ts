import type { Route } from "./route.ts";

/**
 * Routes in an order in which the first match is the right one: a literal segment before a parameter in its place.
 * @throws Error when two have the same method and path.
 */
export function bySpecificity<Deps, Caller>(routes: readonly Route<Deps, Caller>[]): Route<Deps, Caller>[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const name = `${method} ${path.replace(/:[^/]+/g, ":")}`;
    if (seen.has(name)) throw new Error(`two routes for ${name}`);
    seen.add(name);
  }
  const key = (path: string): string => path.replace(/:[^/]+/g, "\uffff");
  return routes.toSorted((a, b) => (key(a.path) < key(b.path) ? -1 : key(a.path) > key(b.path) ? 1 : 0));
}
