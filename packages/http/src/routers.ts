import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type Request, type Response } from "express";
import { pathOf } from "./request/read-query.ts";
import type { Method, Route } from "./route.ts";

/** Answers a request of one route. */
export type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
) => unknown;

type Router = (request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void;

/**
 * Registers routes with Express. Express tries routes in sequence, so each method and number of
 * slashes has its own router. Returns the function that finds the router of a request, if any.
 * @throws Error if two routes have the same method and path
 */
export function createRouters<Deps, Caller>(
  routes: readonly Route<Deps, Caller>[],
  handleOf: (row: Route<Deps, Caller>) => Handle,
): (method: string, url: string) => Router | undefined {
  const routers = new Map<string, Express>();
  for (const row of bySpecificity(routes)) {
    const name = `${row.method} ${depth(row.path)}`;
    const router = routers.get(name) ?? plainExpress();
    routers.set(name, router);
    const handle = handleOf(row);
    router[methodName(row.method)](row.path, (request, response) => {
      // Only wildcards have several values, and no path has one.
      handle(request, response, request.params as Record<string, string>);
    });
  }
  return (method, url) => {
    const router = routers.get(`${method === "HEAD" ? "GET" : method} ${depth(url)}`);
    // Express extends the Node objects.
    return router && ((request, response, otherwise) => router(request as Request, response as Response, otherwise));
  };
}

/** An Express that only matches paths, exactly. */
function plainExpress(): Express {
  const router = express();
  for (const setting of ["x-powered-by", "etag", "query parser"]) router.disable(setting);
  for (const setting of ["case sensitive routing", "strict routing"]) router.enable(setting);
  return router;
}

const slash = 47;

function depth(url: string): number {
  const path = pathOf(url);
  let count = 0;
  for (let at = 0; at < path.length; at++) if (path.charCodeAt(at) === slash) count++;
  return count;
}

function methodName(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>; // toLowerCase gives string
}

/**
 * Sorts routes so that the first match is right: a literal segment before a parameter.
 * @throws Error if two have the same method and path
 */
function bySpecificity<Deps, Caller>(routes: readonly Route<Deps, Caller>[]): Route<Deps, Caller>[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const name = `${method} ${path.replace(/:[^/]+/g, ":")}`;
    if (seen.has(name)) throw new Error(`two routes for ${name}`);
    seen.add(name);
  }
  const key = (path: string): string => path.replace(/:[^/]+/g, "\uffff");
  return routes.toSorted((a, b) => (key(a.path) < key(b.path) ? -1 : key(a.path) > key(b.path) ? 1 : 0));
}
