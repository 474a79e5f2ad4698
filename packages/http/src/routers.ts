import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express, Request, Response } from "express";
import express from "express";
import { bySpecificity } from "./by-specificity.ts";
import { pathOf } from "./read-query.ts";
import type { Method, Route } from "./route.ts";

/** Answers a request of one route. */
export type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
) => unknown;

type Router = (request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void;

/**
 * Hands routes to Express. Express tries one after the other, so each method and number of slashes has a router of its
 * own, and a request meets only those that it can match. Returns what finds it; undefined when there is none.
 * @throws Error when two routes have the same method and path.
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
      // Only a wildcard has several values, and no path here has one.
      handle(request, response, request.params as Record<string, string>);
    });
  }
  return (method, url) => {
    const router = routers.get(`${method === "HEAD" ? "GET" : method} ${depth(url)}`);
    // Express makes its own objects of the two.
    return router && ((request, response, otherwise) => router(request as Request, response as Response, otherwise));
  };
}

/** An Express that does nothing but match paths: exactly, and as they are written. */
function plainExpress(): Express {
  const router = express();
  for (const setting of ["x-powered-by", "etag", "query parser"]) router.disable(setting);
  for (const setting of ["case sensitive routing", "strict routing"]) router.enable(setting);
  return router;
}

const slash = 47;

/** How many slashes the path of a request target has. */
function depth(url: string): number {
  const path = pathOf(url);
  let count = 0;
  for (let at = 0; at < path.length; at++) if (path.charCodeAt(at) === slash) count++;
  return count;
}

function methodName(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>; // toLowerCase gives string
}
