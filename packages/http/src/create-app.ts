import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceError } from "@coffer/errors";
import type { Limiter, TrustedProxies } from "@coffer/ratelimit";
import type { Telemetry } from "@coffer/telemetry";
import type { Request, Response } from "express";
import express from "express";
import type { RequestContext } from "./request-context.ts";
import type { Method, Route } from "./route.ts";
import { bySpecificity } from "./by-specificity.ts";
import { createExchanges } from "./exchange.ts";
import type { UpgradeRoute } from "./upgrade.ts";
import { createUpgrade } from "./upgrade.ts";

/** What is known of a call that is about to be refused. */
export interface RefusedCall<Caller> {
  /** Undefined while nobody has been identified: a 401, or a refusal before it. */
  readonly caller: Caller | undefined;
  /** The path's parameters as they came, unchecked. */
  readonly params: Readonly<Record<string, string>>;
  readonly request: RequestContext;
}

export interface AppOptions<Deps, Caller> {
  /** The name of the service, for its spans. */
  service: string;
  routes: readonly Route<Deps, Caller>[];
  /** Endpoints that take the connection over, as a WebSocket does. */
  upgrades?: readonly UpgradeRoute<Deps>[];
  deps: Deps;
  limiter: Limiter;
  trustedProxies: TrustedProxies;
  /** A request that shows this in `X-Coffer-Router` comes from the router, whose `X-Forwarded-For` is the address. */
  routerSecret?: string | undefined;
  /** Origins of browsers that may read answers. */
  corsOrigins: readonly string[];
  telemetry: Telemetry;
  /**
   * Awaited before a refusal (4xx behind the limiter) goes out, so that a denial is on record before anybody hears of
   * it. What it throws is answered instead.
   */
  onRefused?: (route: Route<Deps, Caller>, call: RefusedCall<Caller>, error: ServiceError) => Promise<unknown>;
  /** Default: the system's clock. */
  now?: () => Date;
}

/** The listener of a service's requests; `upgrade` takes those that ask for another protocol. */
export interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Makes the listener that serves `routes`. Per request, in this order: request id, source address, the limiter's bucket
 * of the matched route, 404 for what matches none, the caller, the body, the shapes of path, query and body, the
 * operation, the answer.
 * @throws Error when two routes have the same method and path.
 */
export function createApp<Deps, Caller>(options: AppOptions<Deps, Caller>): App {
  const exchanges = createExchanges(options);
  const router = express();
  for (const setting of ["x-powered-by", "etag", "query parser"]) router.disable(setting);
  for (const setting of ["case sensitive routing", "strict routing"]) router.enable(setting);

  for (const row of bySpecificity(options.routes)) {
    const handle = exchanges.of(row);
    router[methodName(row.method)](row.path, (request, response) => {
      // Only a wildcard has several values, and no path here has one.
      void handle(request, response, request.params as Record<string, string>);
    });
  }

  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    if (exchanges.preflight(request, response)) return;
    // Express makes its own objects of these two; without a match, or for a path that cannot be decoded, it calls back.
    router(request as Request, response as Response, () => void exchanges.unmatched(request, response));
  };
  return Object.assign(listen, { upgrade: createUpgrade(options) });
}

function methodName(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>; // toLowerCase gives string
}
