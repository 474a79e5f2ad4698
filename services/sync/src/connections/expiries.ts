import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";

/** Closes each connection when its token expires. */
export interface Expiries {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** Closes connections that are due. */
  tick(): void;
}

/** Indexes connections by the second of expiry. */
export function createExpiries(now: () => Date): Expiries {
  const bySecond = new Map<number, Set<Connection>>();
  let lookedAt = -Infinity;

  function expire(connections: ReadonlySet<Connection>): void {
    for (const connection of connections) connection.close(closeCodes.expired, "the access token has expired");
  }

  return {
    add: (connection) => {
      const { expiresAt } = connection.holder;
      const found = bySecond.get(expiresAt);
      if (found === undefined) bySecond.set(expiresAt, new Set([connection]));
      else found.add(connection);
      // Already expired: look again.
      if (expiresAt <= lookedAt) lookedAt = -Infinity;
    },
    remove: (connection) => {
      const { expiresAt } = connection.holder;
      const found = bySecond.get(expiresAt);
      if (found?.delete(connection) && found.size === 0) bySecond.delete(expiresAt);
    },
    tick: () => {
      const second = Math.floor(now().getTime() / 1000);
      if (second === lookedAt) return;
      lookedAt = second;
      for (const [expiresAt, connections] of bySecond) if (expiresAt <= second) expire(connections);
    },
  };
}
