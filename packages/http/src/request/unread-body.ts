import type { IncomingMessage, ServerResponse } from "node:http";
import { hasBody } from "./read-body.ts";

// Reading a body of this size is cheaper than a new connection.
const passBytes = 64 * 1024;
const lingerBytes = 4 * 1024 * 1024;
const lingerMilliseconds = 1000;
/** A smaller chunk costs as much as one of this size. */
const chunkBytes = 512;

/** Whether the unread body is so large that the connection should be closed. */
export function mustClose(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false;
  const announced = request.headers["content-length"];
  return announced === undefined || Number(announced) > passBytes;
}

/**
 * Sends a response without reading the body, and closes the connection when the caller stops
 * sending, or after 4 MiB or 1 s: closing while bytes arrive would reset the connection and could
 * lose the response.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: string[],
  body = "",
): void {
  headers.push("Connection", "close");
  response.writeHead(status, headers);
  if (body === "" || request.method === "HEAD") response.flushHeaders();
  else response.write(body);

  let left = lingerBytes;
  const finish = (): void => {
    clearTimeout(timer);
    request.removeListener("data", count);
    response.end();
    request.socket.destroySoon();
  };
  const count = (chunk: Buffer): void => {
    left -= Math.max(chunk.length, chunkBytes);
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, lingerMilliseconds);
  request.on("error", finish);
  request.on("close", finish);
  request.on("end", finish);
  request.on("data", count);
  request.resume();
}
