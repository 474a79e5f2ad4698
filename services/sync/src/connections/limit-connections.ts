import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";
import type { Connections } from "./connections.ts";

/** The most connections of a session and of a person at this replica. */
export interface ConnectionLimits {
  readonly session: number;
  readonly user: number;
}

/**
 * Enforces the limits after a new connection: closes the oldest idle connection with 1008. A
 * connection is idle without a queued or running request. If all others are busy, that is the new
 * one.
 * @param added is among `connections`
 */
export function limitConnections(
  { connections, limits }: { connections: Connections; limits: ConnectionLimits },
  added: Connection,
): void {
  const { sessionId, userId } = added.holder;
  closeOneTooMany(connections.ofSession(sessionId), limits.session, "session");
  closeOneTooMany(connections.ofUser(userId), limits.user, "user");
}

/** `opened` is in the order of opening. Closing connections do not count. */
function closeOneTooMany(opened: Iterable<Connection>, limit: number, whose: string): void {
  const served = Array.from(opened).filter(({ isServed }) => isServed);
  if (served.length <= limit) return;
  served
    .find(({ isAnswering }) => !isAnswering)
    ?.close(closeCodes.policy, `too many connections: a ${whose} may have ${limit}`);
}
