import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";

/** Closes each connection in the second in which its token expires. */
export interface Expiries {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** Does what is due. */
  tick(): void;
}

/** Keeps connections by the second in which their token expires. */
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
      // The second that is being closed already.
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
