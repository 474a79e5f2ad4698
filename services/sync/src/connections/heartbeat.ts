import type { Timings } from "../timings.ts";
import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";

/** Pings connections, each at its own moment of the interval, and ends those that are not there any more. */
export interface Heartbeat {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** A pong has come. */
  pong(connection: Connection): void;
  /** Does what is due. */
  tick(): void;
}

const slotCount = 300;
const standstillMilliseconds = 2_000;

/**
 * Thousands of pings at once would hold up everything else: the interval has 300 slots, and a connection is in one of
 * them by chance, so that those that came together are not pinged together.
 * @param elapsed milliseconds of a clock that never goes back
 */
export function createHeartbeat(
  { ping, pong, taken }: Pick<Timings, "ping" | "pong" | "taken">,
  elapsed: () => number = () => performance.now(),
): Heartbeat {
  const slots = Array.from({ length: slotCount }, () => new Set<Connection>());
  const slotOf = new Map<Connection, Set<Connection>>();
  // In the order in which their pings were written.
  const awaited = new Set<Connection>();
  const slotMilliseconds = ping / slotCount;
  let done = Math.floor(elapsed() / slotMilliseconds);
  let tickedAt = elapsed();

  function send(connection: Connection): void {
    if (!connection.isOpen) return;
    if (connection.pingHandedOver !== 0) {
      // Nothing is taken from a socket that does not even take a ping.
      if (elapsed() - connection.pingHandedOver >= taken)
        connection.close(closeCodes.tryAgain, "nothing that is sent is taken");
      return;
    }
    connection.pingHandedOver = elapsed();
    connection.socket.ping(undefined, false, (error?: Error | null) => {
      connection.pingHandedOver = 0;
      if (error || !slotOf.has(connection)) return;
      connection.pongDue = elapsed() + pong;
      awaited.add(connection);
    });
  }

  function endOverdue(now: number): void {
    for (const connection of awaited) {
      if (connection.pongDue > now) return;
      awaited.delete(connection);
      connection.socket.terminate();
    }
  }

  return {
    add: (connection) => {
      const slot = slots[Math.floor(Math.random() * slotCount)];
      if (slot === undefined) return;
      slot.add(connection);
      slotOf.set(connection, slot);
    },
    remove: (connection) => {
      slotOf.get(connection)?.delete(connection);
      slotOf.delete(connection);
      awaited.delete(connection);
    },
    pong: (connection) => {
      connection.pongDue = 0;
      awaited.delete(connection);
    },
    tick: () => {
      const now = elapsed();
      // When this process stood still, the pongs that came meanwhile are yet to be read: they have until the next tick.
      if (now - tickedAt < standstillMilliseconds) endOverdue(now);
      tickedAt = now;
      const due = Math.floor(now / slotMilliseconds);
      // After a long pause each connection is pinged once, not once for every interval that was missed.
      for (done = Math.max(done, due - slotCount); done < due; done += 1)
        for (const connection of slots[done % slotCount] ?? []) send(connection);
    },
  };
}
