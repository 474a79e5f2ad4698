import { ServiceError } from "@coffer/errors";
import { extractTrace, type Span, span } from "@coffer/telemetry";
import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { createFragments } from "./fragments.ts";
import type { SyncRequest } from "./read-request.ts";
import { type Answer, sendAnswer } from "./send-answer.ts";

/**
 * Answers the queued requests of a connection, one after the other. An incomplete answer closes the
 * connection, so that the device does not take it for a whole one. Never rejects.
 */
export async function answerRequests(deps: Deps, connection: Connection): Promise<void> {
  connection.beginAnswering();
  try {
    for (let request = connection.requests.shift(); request !== undefined; request = connection.requests.shift()) {
      const { accepted, retryAfterSeconds } = await admit(deps, connection);
      if (accepted) await answerInSlot(deps, connection, request);
      else await refuse(deps, connection, retryAfterSeconds);
      connection.endRequest({ answered: accepted, more: connection.requests.length > 0 });
    }
  } catch (error) {
    if (!connection.isServed) return;
    const unavailable = error instanceof ServiceError && error.code === "unavailable";
    if (!unavailable) deps.log.error({ err: error, request_id: connection.holder.requestId }, "a sync failed");
    connection.close(
      unavailable ? closeCodes.tryAgain : closeCodes.failed,
      unavailable ? "try again later" : "internal error",
    );
  }
}

/** Timers are inexact: a request this little before the end of the wait is accepted. */
const earlyMilliseconds = 250;

/** Refuses without the limiter until the time that the limiter named. */
async function admit(deps: Deps, connection: Connection): Promise<{ accepted: boolean; retryAfterSeconds: number }> {
  const left = connection.refusedUntil - performance.now();
  if (left > 0) return { accepted: false, retryAfterSeconds: Math.ceil(left / 1000) };
  const decision = await deps.admit(connection.holder.sessionId);
  if (!decision.accepted)
    connection.refusedUntil = performance.now() + decision.retryAfterSeconds * 1000 - earlyMilliseconds;
  return decision;
}

/** Backpressure: waits until the client has read the refusal. */
function refuse({ timings }: Deps, connection: Connection, seconds: number): Promise<void> {
  const message = `too many sync requests of this session: try again in ${seconds} s`;
  const refusal = { type: "error", error: "rate_limited", message, retry_after: seconds };
  return createFragments(connection, timings.taken).end(JSON.stringify(refusal));
}

/**
 * Each request is its own trace, with the bus requests for its parts below it. Sends no bus
 * request for a device that disconnected while it waited.
 */
function answerInSlot(deps: Deps, connection: Connection, request: SyncRequest): Promise<void> {
  const attributes = { "coffer.sync.everything": request.lastSync === null };
  return span(
    "sync_request",
    attributes,
    "server",
    (active) =>
      deps.answerSlots(connection.holder.userId, async () => {
        try {
          if (connection.isServed) describe(active, await sendAnswer(deps, connection, request));
        } catch (error) {
          if (connection.isServed) throw error;
        }
        if (!connection.isServed) active.setAttribute("coffer.sync.gone", true);
      }),
    extractTrace({}),
  );
}

function describe(active: Span, { parts, changes, deleted, reset }: Answer): void {
  active.setAttributes({
    "coffer.sync.parts": parts,
    "coffer.sync.changes": changes,
    "coffer.sync.deleted": deleted,
    "coffer.sync.reset": reset,
  });
}
