import { ServiceError } from "@coffer/errors";
import type { Span } from "@coffer/telemetry";
import { extractTrace, span } from "@coffer/telemetry";
import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { createFragments } from "./fragments.ts";
import type { SyncRequest } from "./read-request.ts";
import type { Answer } from "./send-answer.ts";
import { sendAnswer } from "./send-answer.ts";

/**
 * Answers what a connection has asked for, one after the other, until nothing is left. What cannot be answered as a
 * whole closes the connection, so that nobody takes a part for it. Never rejects.
 */
export async function answerRequests(deps: Deps, connection: Connection): Promise<void> {
  connection.beginAnswering();
  try {
    for (let request = connection.requests.shift(); request !== undefined; request = connection.requests.shift()) {
      const { accepted, retryAfterSeconds } = await admit(deps, connection);
      if (accepted) await answerInTurn(deps, connection, request);
      else await refuse(deps, connection, retryAfterSeconds);
      connection.rest({ answered: accepted, more: connection.requests.length > 0 });
    }
  } catch (error) {
    if (!connection.isServed) return;
    const unavailable = error instanceof ServiceError && error.code === "unavailable";
    if (!unavailable) deps.log.error({ err: error, request_id: connection.holder.requestId }, "a sync failed");
    connection.close(
      unavailable ? closeCodes.tryAgain : closeCodes.failed,
      unavailable ? "try again later" : "something went wrong here",
    );
  }
}

/** Timers are not exact: who asks again so little too early has waited. */
const earlyMilliseconds = 250;

/** The limiter is not asked again before the time that it has named: whoever asks all the same costs it nothing. */
async function admit(deps: Deps, connection: Connection): Promise<{ accepted: boolean; retryAfterSeconds: number }> {
  const left = connection.refusedUntil - performance.now();
  if (left > 0) return { accepted: false, retryAfterSeconds: Math.ceil(left / 1000) };
  const decision = await deps.admit(connection.holder.sessionId);
  if (!decision.accepted)
    connection.refusedUntil = performance.now() + decision.retryAfterSeconds * 1000 - earlyMilliseconds;
  return decision;
}

/** Waits until the refusal is taken: who asks on and reads nothing fills no memory here. */
function refuse({ timings }: Deps, connection: Connection, seconds: number): Promise<void> {
  const message = `this session has asked too often: ask again in ${seconds} s`;
  const refusal = { type: "error", error: "rate_limited", message, retry_after: seconds };
  return createFragments(connection, timings.taken).end(JSON.stringify(refusal));
}

/**
 * One request is one trace, however long the connection lives; the questions about its parts are below it. Nobody is
 * asked any more for a device that has gone while it waited.
 */
function answerInTurn(deps: Deps, connection: Connection, request: SyncRequest): Promise<void> {
  const attributes = { "coffer.sync.everything": request.lastSync === null };
  return span(
    "sync_request",
    attributes,
    "server",
    (active) =>
      deps.turnsByUser(connection.holder.userId, async () => {
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
