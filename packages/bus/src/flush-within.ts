import type { NatsConnection } from "@nats-io/transport-node";
import { orLost } from "./or-lost.ts";
import { unavailable } from "./unavailable.ts";

/** Waits until the server has seen everything sent before. Rejects with `unavailable` after the limit or a loss. */
export async function flushWithin(connection: NatsConnection, milliseconds: number): Promise<void> {
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
