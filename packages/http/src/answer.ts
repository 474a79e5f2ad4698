import type { IncomingMessage, ServerResponse } from "node:http";
import { answerUnread, mustClose } from "./unread-body.ts";

/**
 * Writes an answer. `headers` is name, value, name, value. `body` is JSON text; without one there is no body (204,
 * 304). What the request still has to send is not waited for. Returns the status.
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
