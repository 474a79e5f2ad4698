import { sessionRevoked } from "@coffer/events";
import type { Bus } from "@coffer/bus";
import { closeCodes } from "../connections/close-codes.ts";
import type { Connections } from "../connections/connections.ts";
import { logoutPush } from "../pushes/push.ts";
import type { Timings } from "../timings.ts";

const reason = "the session has ended";

/**
 * Ends the connections of sessions that have ended. What is told of the end over the bus says why: its devices get a
 * `logout`, unless they asked for it themselves. Returns the function to call when the end is known from elsewhere: from
 * then on nothing more goes out, and without a reason the connections are closed.
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

  const told = new Set<string>();
  bus.subscribe(sessionRevoked, (news) => {
    const { session_id: sessionId } = news;
    const push = logoutPush(news);
    told.add(sessionId);
    setTimeout(() => told.delete(sessionId), 2 * timings.reason).unref();
    for (const connection of connections.ofSession(sessionId)) {
      connection.mute();
      if (news.reason === "logged_out") connection.close(closeCodes.expired, reason);
      else connection.farewell(push);
    }
    if (news.reason !== "logged_out") closeAll(sessionId, timings.farewell);
  });

  return (sessionId) => {
    let any = false;
    for (const connection of connections.ofSession(sessionId)) {
      connection.mute();
      any = true;
    }
    if (!any) return;
    setTimeout(() => {
      if (!told.has(sessionId)) closeAll(sessionId, 0);
    }, timings.reason).unref();
  };
}
