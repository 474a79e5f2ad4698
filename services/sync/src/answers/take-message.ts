import { closeCodes } from "../connections/close-codes.ts";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { answerRequests } from "./answer-requests.ts";
import { readRequest } from "./read-request.ts";

/** Requests of a session that was told not to ask yet are among them. */
const mostBadMessages = 10;
/** A device has one request at a time under way; this is for those that do not wait. */
const mostRequests = 16;

/** Takes a message of a client: a request waits for its turn, anything else is an error that it hears of. */
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
  if (!isOneTooMany(connection)) connection.say({ type: "error", error: "invalid_request", message });
}

/** Counts a bad message, and closes the connection for the tenth. */
function isOneTooMany(connection: Connection): boolean {
  connection.badMessages += 1;
  if (connection.badMessages < mostBadMessages) return false;
  connection.close(closeCodes.policy, "too many bad messages");
  return true;
}
