import type { AppOptions } from "@coffer/http";
import { createApp } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { createReadiness } from "./readiness.ts";
import type { ServiceBase } from "./service-base.ts";
import type { ServiceInstance } from "./service-room.ts";
import type { StatelessBase } from "./stateless-base.ts";

/** What a service puts on its base. */
export interface ServiceParts<Deps, Caller> extends Pick<
  AppOptions<Deps, Caller>,
  "deps" | "onRefused" | "routes" | "upgrades"
> {
  drain?: NonNullable<ServiceInstance["drain"]>;
  /** Ends what is the service's own, while the bus and the stores are still there. */
  close(): Promise<void>;
}

/**
 * The service that answers `routes` with `deps`, behind the limiter that all services share. It listens nowhere yet.
 */
export function buildService<Deps, Caller>(
  base: StatelessBase | ServiceBase,
  { drain, close, ...own }: ServiceParts<Deps, Caller>,
): ServiceInstance {
  const { name, config, telemetry, bus, redis, limiter, now } = base;
  const app = createApp({
    ...own,
    service: name,
    limiter,
    trustedProxies: parseTrustedProxies(config.COFFER_TRUSTED_PROXY_CIDRS),
    routerSecret: config.COFFER_ROUTER_SECRET,
    corsOrigins: config.COFFER_SYNC_ALLOWED_ORIGINS,
    telemetry,
    now,
  });
  return {
    listener: app,
    upgrade: app.upgrade,
    telemetry,
    ready: createReadiness(base),
    ...(drain === undefined ? {} : { drain }),
    async close() {
      await close();
      // What was asked over the bus is answered before the database goes.
      await bus.close();
      limiter.close();
      redis?.disconnect();
      if ("database" in base) await base.database.close();
    },
  };
}
