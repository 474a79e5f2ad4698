import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceError } from "@coffer/errors";
import type { Limiter, TrustedProxies } from "@coffer/ratelimit";
import type { Telemetry } from "@coffer/telemetry";
import { createRouters } from "./routers.ts";
import type { RequestContext } from "./request-context.ts";
import type { Route } from "./route.ts";
import { createHandlers } from "./handlers.ts";
import type { UpgradeRoute } from "./upgrade.ts";
import { createUpgrade } from "./upgrade.ts";

/** What is known of a call that is about to be refused. */
export interface RefusedCall<Caller> {
  /** Undefined while nobody has been identified: a 401, or a refusal before it. */
  readonly caller: Caller | undefined;
  /** The path's parameters as they came, unchecked. */
  readonly params: Readonly<Record<string, string>>;
  /** As the route's schemas made them; undefined while the request had not been read as a whole. */
  readonly query: unknown;
  readonly body: unknown;
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
 * of the matched route, 404 for what matches none, the caller, the route's `permit` if the body may be large, the body,
 * the shapes of path, query and body, the caller again if the body was slow, the operation, the answer.
 * @throws Error when two routes have the same method and path.
 */
export function createApp<Deps, Caller>(options: AppOptions<Deps, Caller>): App {
  const handlers = createHandlers(options);
  const findRouter = createRouters(options.routes, handlers.handlerOf);

  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    if (handlers.preflight(request, response)) return;
    const router = findRouter(request.method ?? "", request.url ?? "");
    if (router === undefined) handlers.unmatched(request, response);
    // Without a match, and for a path that cannot be decoded, Express calls back.
    else router(request, response, () => handlers.unmatched(request, response));
  };
  return Object.assign(listen, { upgrade: createUpgrade(options) });
}
