import type { IncomingMessage, ServerResponse } from "node:http";
import { answerUnread, mustClose } from "./unread-body.ts";

/**
 * Writes an answer. `headers` is name, value, name, value. `body` is JSON text; without one there is no body (204,
 * 304). What the request still has to send is not waited for.
 */
export function answer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string | undefined,
): void {
  if (response.headersSent || response.destroyed) return;
  if (body !== undefined) {
    headers.push("Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(body)));
  }
  if (mustClose(request)) {
    answerUnread(request, response, status, headers, body);
    return;
  }
  response.writeHead(status, headers);
  response.end(body);
}
