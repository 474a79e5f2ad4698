import { ServiceError } from "@coffer/errors";
import type { ServiceName } from "@coffer/events";
import type { Telemetry } from "@coffer/telemetry";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { createBusMetrics } from "./bus-metrics.ts";
import type { Bus } from "./bus.ts";
import { consumeEvent, publishEvent } from "./events.ts";
import { inFlight } from "./in-flight.ts";
import { startLink } from "./link.ts";
import { orLost } from "./or-lost.ts";
import { answerRequest } from "./reply.ts";
import { sendRequest } from "./request.ts";
import { unavailable } from "./unavailable.ts";

export interface BusOptions {
  /** `nats://host:port`, or a comma list of the servers of a cluster. */
  url: string;
  service: ServiceName;
  user: string;
  password: string;
  telemetry: Telemetry;
}

interface Registration {
  subject: string;
  queue: string | undefined;
  handle: (message: Msg) => Promise<unknown>;
}

const drainMilliseconds = 5000;
const flushMilliseconds = 2000;
const defaultTimeoutMilliseconds = 2000;

/** Returns at once; connects in the background, and reconnects until `close`. */
export function connectBus({ url, service, user, password, telemetry }: BusOptions): Bus {
  const { log } = telemetry;
  const metrics = createBusMetrics(telemetry.metrics);
  const registrations: Registration[] = [];
  const running = inFlight();
  const subscriptions = new Set<Subscription>();
  const connectListeners: (() => unknown)[] = [];
  // The newest connection, from the moment that registrations are made on it.
  let latest: NatsConnection | undefined;
  let closing: Promise<void> | undefined;

  const link = startLink({ url, service, user, password, log, prepare, onRefusal: metrics.refused });

  async function prepare(connection: NatsConnection): Promise<void> {
    latest = connection;
    metrics.renewed();
    subscriptions.clear();
    for (const registration of registrations) listen(connection, registration);
    await flushWithin(connection, flushMilliseconds);
  }

  function listen(connection: NatsConnection, { subject, queue, handle }: Registration): void {
    const subscription = connection.subscribe(subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        if (error !== null) log.error({ err: error, subject }, "the bus refused a subscription of this service");
        else void running.track(handle(message));
      },
    });
    subscriptions.add(subscription);
  }

  function register(registration: Registration): void {
    registrations.push(registration);
    if (latest !== undefined && !latest.isClosed()) listen(latest, registration);
  }

  function connection(): NatsConnection {
    const current = link.current();
    if (current === undefined) throw unavailable("the bus is away");
    return current;
  }

  function notify(listener: () => unknown): void {
    Promise.resolve()
      .then(listener)
      .catch((error: unknown) => log.error({ err: error }, "a listener for new connections failed"));
  }

  function requireMember(services: readonly ServiceName[], what: string): void {
    if (!services.includes(service)) throw new TypeError(`${service} ${what}`);
  }

  link.onConnect(() => {
    metrics.connected(1);
    connectListeners.forEach(notify);
  });
  link.onDisconnect(() => metrics.connected(0));

  async function shutDown(): Promise<void> {
    link.retire();
    const current = link.current();
    if (current !== undefined) {
      const drained = Promise.allSettled([...subscriptions].map((subscription) => subscription.drain()));
      await orLost(current, drained).catch(() => undefined);
      await running.drained(drainMilliseconds);
      await flushWithin(current, flushMilliseconds).catch(() => undefined);
    }
    await link.close();
  }

  return {
    service,
    get connected() {
      return link.current() !== undefined;
    },
    request: async (rpc, input, { timeoutMilliseconds = defaultTimeoutMilliseconds } = {}) => {
      requireMember(rpc.callers, `is not a caller of ${rpc.subject}`);
      const done = metrics.requested(rpc.subject);
      try {
        const output = await running.track(sendRequest(connection(), rpc, input, timeoutMilliseconds));
        done("ok");
        return output;
      } catch (error) {
        done(error instanceof ServiceError ? error.code : "bug");
        throw error;
      }
    },
    reply: (rpc, handler) => {
      requireMember([rpc.responder], `does not answer ${rpc.subject}`);
      if (registrations.some(({ subject }) => subject === rpc.subject))
        throw new TypeError(`${rpc.subject} has a handler already`);
      register({
        subject: rpc.subject,
        queue: service,
        handle: async (message) => {
          metrics.replied(rpc.subject, await answerRequest(log, rpc, handler, message));
        },
      });
    },
    publish: (event, payload) => {
      requireMember([event.publisher], `does not publish ${event.subject}`);
      publishEvent(connection(), event, payload);
    },
    subscribe: (event, handler, { queue } = {}) => {
      requireMember(event.consumers, `does not consume ${event.subject}`);
      register({ subject: event.subject, queue, handle: (message) => consumeEvent(log, event, handler, message) });
    },
    onConnect: (listener) => {
      connectListeners.push(listener);
      if (link.current() !== undefined) notify(listener);
    },
    flush: async () => flushWithin(connection(), flushMilliseconds),
    close: () => (closing ??= shutDown()),
  };
}

/**
 * Waits until the server has everything sent before. Rejects with `unavailable` after the limit or
 * a loss.
 */
async function flushWithin(connection: NatsConnection, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable("the bus did not confirm in time")), milliseconds);
  });
  try {
    await Promise.race([orLost(connection, connection.flush()), limit]);
  } catch (error) {
    throw unavailable("the bus did not confirm", error);
  } finally {
    clearTimeout(timer);
  }
}
