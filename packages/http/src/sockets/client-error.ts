import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endSocket } from "./end-socket.ts";

/**
 * Answers a malformed, oversized or slow request in the common error format and closes the
 * connection.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // No response after a reset, or within another response.
  if (error.code === "ECONNRESET" || !socket.writable || hasBegun(socket)) {
    socket.destroy();
    return;
  }
  const [status, message] = statusOf(error.code);
  const { headers, body } = refusalOf(message);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  endSocket(socket, [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
}

/**
 * Refuses a request without a Host header, as HTTP/1.1 requires; Node would send no body. HTTP/1.0
 * too, since a router passes it on as HTTP/1.1. Returns false if the request is not refused.
 */
export function refuseHostless({ headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers.host !== undefined) return false;
  const refusal = refusalOf(notValid);
  response.writeHead(400, refusal.headers.flat());
  response.end(refusal.body);
  return true;
}

const notValid = "this is not a valid HTTP/1.1 request";

function refusalOf(message: string): { headers: [name: string, value: string][]; body: string } {
  const id = randomUUID();
  const body = JSON.stringify({ error: "invalid_request", message, request_id: id });
  const headers: [string, string][] = [
    ["Connection", "close"],
    ["X-Request-Id", id],
    ["Cache-Control", "no-store"],
    ["Content-Type", "application/json; charset=utf-8"],
    ["Content-Length", String(Buffer.byteLength(body))],
  ];
  return { headers, body };
}

function statusOf(code: string | undefined): [status: string, message: string] {
  if (code === "HPE_HEADER_OVERFLOW") return ["431 Request Header Fields Too Large", "the headers are too large"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return ["408 Request Timeout", "the request did not arrive in time"];
  return ["400 Bad Request", notValid];
}

/** Whether Node is writing a response on this connection. */
function hasBegun(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { headersSent: boolean } | null };
  return message?.headersSent === true;
}
