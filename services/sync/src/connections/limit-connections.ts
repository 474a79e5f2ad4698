import type { Connection } from "./connection.ts";
import { closeCodes } from "./close-codes.ts";
import type { Connections } from "./connections.ts";

/** How many connections a session and a person may have at this replica. */
export interface ConnectionLimits {
  readonly session: number;
  readonly user: number;
}

/**
 * Closes with 1008 what a new connection makes one too many: the connection that was opened first among those that are
 * idle. Idle is a connection without a request that waits or is being answered. The new one is idle too, so it is the one
 * that is closed when all the others are busy.
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

/** The connections are in the order in which they were opened. Those that are being closed do not count. */
function closeOneTooMany(opened: Iterable<Connection>, limit: number, whose: string): void {
  const served = Array.from(opened).filter(({ isServed }) => isServed);
  if (served.length <= limit) return;
  served
    .find(({ isAnswering }) => !isAnswering)
    ?.close(closeCodes.policy, `too many connections: a ${whose} may have ${limit}`);
}
