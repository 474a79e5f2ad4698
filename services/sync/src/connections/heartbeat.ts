import type { Timings } from "../timings.ts";
import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";

/** Pings connections, spread over the interval, and terminates those without a pong. */
export interface Heartbeat {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  pong(connection: Connection): void;
  /** Sends due pings and checks deadlines. */
  tick(): void;
}

const slotCount = 300;
const standstillMilliseconds = 2_000;

/**
 * Assigns each connection to one of 300 random slots of the interval: thousands of pings at once
 * would block the event loop.
 * @param elapsed milliseconds of a monotonic clock
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
      // The socket did not take the previous ping.
      if (elapsed() - connection.pingHandedOver >= taken)
        connection.close(closeCodes.tryAgain, "the client does not read");
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
      // After a standstill, pongs may be unread: connections get until the next tick.
      if (now - tickedAt < standstillMilliseconds) endOverdue(now);
      tickedAt = now;
      const due = Math.floor(now / slotMilliseconds);
      // After a long pause, pings each connection once.
      for (done = Math.max(done, due - slotCount); done < due; done += 1)
        for (const connection of slots[done % slotCount] ?? []) send(connection);
    },
  };
}
