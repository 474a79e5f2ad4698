import type { IncomingMessage, ServerResponse } from "node:http";
import { answerUnread, mustClose } from "../request/unread-body.ts";

/**
 * Sends a response without waiting for the request body. `headers`: name, value, name, value.
 * `body` is JSON text, or undefined (204, 304). Returns the status.
 */
export function answer(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  status: number,
  headers: readonly string[],
  body: string | undefined,
): number {
  const all = [...headers];
  if (body !== undefined)
    all.push("Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(body)));
  if (response.destroyed) return status;
  if (mustClose(request)) answerUnread(request, response, status, all, body);
  else {
    response.writeHead(status, all);
    response.end(body);
  }
  return status;
}
