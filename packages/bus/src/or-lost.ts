import type { NatsConnection } from "@nats-io/transport-node";
import { unavailable } from "./unavailable.ts";

const waiting = new WeakMap<NatsConnection, Set<(error: Error) => void>>();

/** The result of work on a connection, or `unavailable` as soon as the connection is lost. */
export function orLost<T>(connection: NatsConnection, work: Promise<T>): Promise<T> {
  const rejections = waiting.get(connection) ?? watch(connection);
  return new Promise((resolve, reject) => {
    rejections.add(reject);
    work.then(resolve, reject).finally(() => rejections.delete(reject));
  });
}

// One listener per connection: racing each work against `closed()` would leak until it closes.
function watch(connection: NatsConnection): Set<(error: Error) => void> {
  const rejections = new Set<(error: Error) => void>();
  waiting.set(connection, rejections);
  void connection.closed().then(() => {
    for (const reject of rejections) reject(unavailable("the connection to the bus was lost"));
  });
  return rejections;
}
