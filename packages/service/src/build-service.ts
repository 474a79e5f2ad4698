import { type AppOptions, createApp } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { newId } from "./new-id.ts";
import { createReadiness } from "./readiness.ts";
import type { ServiceBase } from "./service-base.ts";
import type { ServiceInstance } from "./service-module.ts";
import type { StatelessBase } from "./stateless-base.ts";

/** The service-specific parts. */
export interface ServiceParts<Deps, Caller> extends Pick<
  AppOptions<Deps, Caller>,
  "deps" | "onRefused" | "routes" | "upgrades"
> {
  drain?: NonNullable<ServiceInstance["drain"]>;
  /** Closes the service's own parts, before the bus and the stores close. */
  close(): Promise<void>;
}

/** Builds the service: `routes` with `deps`, behind the shared limiter. It does not listen yet. */
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
    newId,
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
      // Bus handlers still need the database while they finish.
      await bus.close();
      limiter.close();
      redis?.disconnect();
      if ("database" in base) await base.database.close();
    },
  };
}
