import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { answerRequests } from "./answer-requests.ts";
import { readRequest } from "./read-request.ts";

/** Includes requests before the end of a rate limit. */
const mostBadMessages = 10;
/** Bounds the queue of a client that does not wait for answers. */
const mostRequests = 16;

/** Handles a client message: queues a request, or replies with an error. */
export function takeMessage(deps: Deps, connection: Connection, data: Buffer, isBinary: boolean): void {
  if (!connection.isServed) return;
  const request = readRequest(data, isBinary);
  if (typeof request === "string") refuse(connection, request);
  else if (connection.requests.length === mostRequests)
    connection.close(closeCodes.policy, "too many requests without waiting for an answer");
  else if (performance.now() >= connection.refusedUntil || !isOneTooMany(connection)) {
    connection.requests.push(request);
    if (!connection.isAnswering) void answerRequests(deps, connection);
  }
}

function refuse(connection: Connection, message: string): void {
  if (!isOneTooMany(connection)) connection.send({ type: "error", error: "invalid_request", message });
}

/** Counts a bad message, and closes the connection at the tenth. */
function isOneTooMany(connection: Connection): boolean {
  connection.badMessages += 1;
  if (connection.badMessages < mostBadMessages) return false;
  connection.close(closeCodes.policy, "too many bad messages");
  return true;
}
