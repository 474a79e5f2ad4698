import type { EventSubject } from "@coffer/events";
import { extractTrace, type Logger, span } from "@coffer/telemetry";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { checkShape } from "./check-shape.ts";
import { carrierOf } from "./reply.ts";
import { traceHeaders } from "./request.ts";
import { decode, encode } from "./wire.ts";

export type EventHandler<Payload> = (payload: Payload) => unknown;

/** Throws `payload_too_large` above 512 KiB and `ShapeError`. */
export function publishEvent<Payload>(
  connection: NatsConnection,
  event: EventSubject<Payload>,
  payload: Payload,
): void {
  const bytes = encode(checkShape(`the payload of ${event.subject}`, event.payload, payload));
  const attributes = { "messaging.system": "nats", "messaging.destination.name": event.subject };
  span(`publish ${event.subject}`, attributes, "producer", () => {
    connection.publish(event.subject, bytes, traceHeaders());
  });
}

/** Passes an event to its handler. Drops malformed events and logs errors. Never throws. */
export async function consumeEvent<Payload>(
  log: Logger,
  event: EventSubject<Payload>,
  handler: EventHandler<Payload>,
  message: Msg,
): Promise<void> {
  const attributes = { "messaging.system": "nats", "messaging.destination.name": event.subject };
  const consume = async (): Promise<void> => {
    const { payload, received = payload } = event;
    await handler(checkShape(`the payload of ${event.subject}`, received, decode(message.data)));
  };
  try {
    await span(`consume ${event.subject}`, attributes, "consumer", consume, extractTrace(carrierOf(message)));
  } catch (error) {
    log.error({ err: error, subject: event.subject }, "an event could not be handled");
  }
}
