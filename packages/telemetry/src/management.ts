import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { acceptsOpenMetrics } from "./accepts-open-metrics.ts";
import { exposition, expositionTypes } from "./exposition.ts";
import { createReadinessCheck, type Readiness } from "./readiness.ts";
import type { Telemetry } from "./telemetry.ts";
import { version as releaseVersion } from "./version.ts";

export interface ManagementOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** The services whose metrics to show, which share one registry, or that registry. */
  telemetry?: Telemetry | readonly Telemetry[] | undefined;
  registry?: Registry | undefined;
  readiness: () => Promise<Readiness>;
  /** Receives the first state that `/readyz` finds, and each other one. */
  onReadiness?: ((readiness: Readiness) => void) | undefined;
  /** How long after the start `onReadiness` does not receive what is missing. Default: 0. */
  startMilliseconds?: number | undefined;
  /** Default: the version of this release. */
  version?: string | undefined;
}

export interface Management {
  readonly url: string;
  /** `/readyz` reports not ready from now on. */
  readonly setDraining: () => void;
  readonly close: () => Promise<void>;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

/**
 * Serves `/livez` (the process alone), `/readyz` (its dependencies, checked at most once a second),
 * `/metrics` and `/version`. Throws `TypeError` if the metrics are in several registries, and the
 * errors of `listen`.
 */
export async function startManagement(options: ManagementOptions): Promise<Management> {
  const registry = registryOf(options);
  const version = options.version ?? releaseVersion;
  const readiness = createReadinessCheck(options.readiness, options.onReadiness, options.startMilliseconds);
  let draining = false;

  const answers: Readonly<Record<string, (request: IncomingMessage) => Answer | Promise<Answer>>> = {
    "/livez": () => json(200, { status: "ok" }),
    "/readyz": async () => {
      if (draining) return json(503, { status: "draining", checks: {} });
      const { ready, degraded = false, checks } = await readiness();
      return json(ready ? 200 : 503, { status: ready ? (degraded ? "degraded" : "ready") : "not_ready", checks });
    },
    "/metrics": async (request) => {
      const format = acceptsOpenMetrics(request.headers.accept) ? "openmetrics" : "prometheus";
      return { status: 200, type: expositionTypes[format], body: await exposition(registry, format) };
    },
    "/version": () => json(200, { version, node_version: process.version }),
  };

  const server = createServer((request, response) => void reply(request, response));

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const find = Object.hasOwn(answers, path) ? answers[path] : undefined;
    let answer = json(404, { error: "not_found" });
    if (request.method !== "GET" && request.method !== "HEAD") answer = json(405, { error: "method_not_allowed" });
    else if (find !== undefined)
      answer = await Promise.resolve(find(request)).catch(() => json(500, { error: "internal_error" }));
    response.writeHead(answer.status, {
      "content-type": answer.type,
      "content-length": Buffer.byteLength(answer.body),
      "cache-control": "no-store",
    });
    response.end(request.method === "HEAD" ? undefined : answer.body);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    setDraining: () => {
      draining = true;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function json(status: number, value: unknown): Answer {
  return { status, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

function registryOf({ registry, telemetry = [] }: ManagementOptions): Registry {
  const services = Array.isArray(telemetry) ? telemetry : [telemetry as Telemetry];
  const registries = new Set(services.map((service: Telemetry) => service.metrics.registry));
  if (registry !== undefined) registries.add(registry);
  const [only] = registries;
  if (only === undefined || registries.size > 1) throw new TypeError("services of one process share one registry");
  return only;
}
