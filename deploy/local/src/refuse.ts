import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { statusOf } from "@coffer/errors";
import { endSocket } from "@coffer/http";

type Refusal = "unavailable" | "not_found";

const messages: Record<Refusal, string> = {
  unavailable: "this part of the service is starting; try again in a moment",
  not_found: "there is nothing at this path",
};

/** For whoever opens the address in a browser. */
const welcome =
  "this is Coffer, and there are no pages here: README.md and docs/cli.md in its checkout say how to go on";

/** Answers a request that no service takes, in the form that every service uses. */
export function refuse(request: IncomingMessage, response: ServerResponse, code: Refusal): void {
  const { status, headers, body } = answerOf(request, code);
  response.writeHead(status, headers);
  response.end(request.method === "HEAD" ? undefined : body);
}

/** The same for a request to change protocols. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, code: Refusal): void {
  const { status, headers, body } = answerOf(request, code);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => undefined);
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}Connection: close\r\n\r\n${body}`,
  );
}

function answerOf({ headers, url }: IncomingMessage, code: Refusal) {
  const given = headers["x-request-id"];
  const id = typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
  const message = code === "not_found" && url === "/" ? welcome : messages[code];
  const body = JSON.stringify({ error: code, message, request_id: id });
  return {
    status: statusOf(code),
    body,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": id,
      ...(code === "unavailable" ? { "Retry-After": "1" } : {}),
    },
  };
}
