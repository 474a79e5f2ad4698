import { sessionRevoked } from "@coffer/events";
import type { Bus } from "@coffer/bus";
import { closeCodes } from "../connections/close-codes.ts";
import type { Connections } from "../connections/connections.ts";
import { logoutPush } from "../pushes/push.ts";
import type { Timings } from "../timings.ts";

const reason = "the session has ended";

/**
 * Ends the connections of ended sessions. The bus event has the reason: devices receive a `logout`,
 * unless they logged out themselves. Returns the function for ends known from another source: it
 * mutes the connections, and closes them if no event follows.
 */
export function endSessions(
  bus: Bus,
  connections: Connections,
  timings: Pick<Timings, "farewell" | "reason">,
): (sessionId: string) => void {
  function closeAll(sessionId: string, milliseconds: number): void {
    setTimeout(() => {
      for (const connection of connections.ofSession(sessionId)) connection.close(closeCodes.expired, reason);
    }, milliseconds).unref();
  }

  const withReason = new Set<string>();
  bus.subscribe(sessionRevoked, (event) => {
    const { session_id: sessionId } = event;
    const push = logoutPush(event);
    withReason.add(sessionId);
    setTimeout(() => withReason.delete(sessionId), 2 * timings.reason).unref();
    for (const connection of connections.ofSession(sessionId)) {
      connection.endSession();
      if (event.reason === "logged_out") connection.close(closeCodes.expired, reason);
      else connection.sendLast(push);
    }
    if (event.reason !== "logged_out") closeAll(sessionId, timings.farewell);
  });

  return (sessionId) => {
    let any = false;
    for (const connection of connections.ofSession(sessionId)) {
      connection.endSession();
      any = true;
    }
    if (!any) return;
    setTimeout(() => {
      if (!withReason.has(sessionId)) closeAll(sessionId, 0);
    }, timings.reason).unref();
  };
}
