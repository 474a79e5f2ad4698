import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceError } from "@coffer/errors";
import type { Limiter, TrustedProxies } from "@coffer/ratelimit";
import type { Telemetry } from "@coffer/telemetry";
import { createRouters } from "./routers.ts";
import type { RefusedCall, Route } from "./route.ts";
import { createHandlers } from "./handlers.ts";
import { createUpgrade, type UpgradeRoute } from "./sockets/upgrade.ts";

export interface AppOptions<Deps, Caller> {
  /** The name of the service, for its spans. */
  service: string;
  routes: readonly Route<Deps, Caller>[];
  /** Endpoints that upgrade the connection. */
  upgrades?: readonly UpgradeRoute<Deps>[];
  deps: Deps;
  limiter: Limiter;
  trustedProxies: TrustedProxies;
  /** Authenticates the router in `X-Coffer-Router`; its `X-Forwarded-For` is then trusted. */
  routerSecret?: string | undefined;
  /** Origins whose pages may read responses. */
  corsOrigins: readonly string[];
  telemetry: Telemetry;
  /** The ids of audit records. Default: random UUIDs. */
  newId?: () => string;
  /**
   * Awaited before a refusal (4xx after the limiter) is sent, so that the denial is audited first.
   * An error replaces the refusal.
   */
  onRefused?: (route: Route<Deps, Caller>, call: RefusedCall<Caller>, error: ServiceError) => Promise<unknown>;
  /** A response whose reader takes nothing for once to twice this time is ended. Default: 30 s. */
  unreadMilliseconds?: number;
  /** Default: the system's clock. */
  now?: () => Date;
}

/** The request listener of a service; `upgrade` handles upgrade requests. */
export interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Makes the listener of `routes`. Order of a request: request id, source address, limiter, 404 if
 * no route matches, 429 or 503 if too many answers wait for their readers, authentication, `permit`
 * if the body may be large, body, validation, authentication again if the body was slow, operation,
 * response.
 * @throws Error if two routes have the same method and path
 */
export function createApp<Deps, Caller>(options: AppOptions<Deps, Caller>): App {
  const handlers = createHandlers(options);
  const findRouter = createRouters(options.routes, handlers.handlerOf);

  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    if (handlers.preflight(request, response)) return;
    const router = findRouter(request.method ?? "", request.url ?? "");
    if (router === undefined) handlers.unmatched(request, response);
    // Express calls back without a match, and for a path that it cannot decode.
    else router(request, response, () => handlers.unmatched(request, response));
  };
  return Object.assign(listen, { upgrade: createUpgrade(options) });
}
