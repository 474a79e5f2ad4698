import { Writable } from "node:stream";
import type { EventSubject, RpcSubject, ServiceName } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { z } from "zod";
import { type Bus, connectBus } from "../src/index.ts";

export interface Scope {
  teardown(work: () => unknown): unknown;
}

export interface TestBus extends Bus {
  /** The log of this bus. */
  logged(): string;
  /** Its metrics as Prometheus text. */
  measured(): Promise<string>;
}

export interface Server {
  readonly url: string;
  readonly credentials: Record<ServiceName, { user: string; password: string }>;
}

/** A bus of one service that ends with the test. */
export function openBus(t: Scope, { url, credentials }: Server, service: ServiceName): TestBus {
  let logged = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  const telemetry = createTelemetry({ service, level: "trace", destination });
  const bus = connectBus({ url, service, ...credentials[service], telemetry });
  t.teardown(() => bus.close());
  return Object.assign(bus, {
    logged: () => logged,
    measured: async () => {
      const metrics = await telemetry.metrics.registry.getMetricsAsJSON();
      return JSON.stringify(metrics.filter(({ name }) => name.startsWith("coffer_bus_")));
    },
  });
}

/** Resolves when the bus is connected. */
export function connected(bus: Bus): Promise<void> {
  return new Promise((resolve) => bus.onConnect(resolve));
}

/** Buses that are connected. */
export async function openBuses(t: Scope, server: Server, ...services: ServiceName[]): Promise<TestBus[]> {
  const buses = services.map((service) => openBus(t, server, service));
  await Promise.all(buses.map(connected));
  return buses;
}
/** A request subject with a shape for tests. */
export const echo = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.signing-keys",
  responder: "auth-sm",
  callers: ["vaults", "sync", "billing-webhook", "siem-forwarder", "scanner"],
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
} satisfies RpcSubject<unknown, unknown>;

/** An event subject with a shape for tests. */
export const event = {
  kind: "event",
  subject: "coffer.evt.session.revoked",
  publisher: "auth-sm",
  consumers: ["vaults", "sync", "billing-webhook", "siem-forwarder", "scanner"],
  payload: z.object({ text: z.string() }),
} satisfies EventSubject<unknown>;
