import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceError } from "@coffer/errors";
import { answer } from "./answer.ts";
import { createCors } from "../cors.ts";
import { refusalBody, refusalHeaders } from "./refusal.ts";
import { refuseUpgrade } from "../sockets/refuse-upgrade.ts";
import { requestIdOf } from "../request-id.ts";

/** Error responses of a router, in the common format. */
export interface Refusals {
  /** Answers a CORS preflight as the service would, so that a browser can read the refusal. */
  request(request: IncomingMessage, response: ServerResponse, error: ServiceError): void;
  upgrade(request: IncomingMessage, socket: Duplex, error: ServiceError): void;
}

/** `corsOrigins`: the origins whose pages may read responses. */
export function createRefusals(corsOrigins: readonly string[]): Refusals {
  const cors = createCors(corsOrigins);
  return {
    request: (request, response, error) => {
      const permission = cors.preflight(request);
      if (permission !== undefined) {
        answer({ request, response }, 204, [...permission, "Cache-Control", "no-store"], undefined);
        return;
      }
      const id = requestIdOf(request);
      const headers = ["X-Request-Id", id, "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];
      headers.push(...cors.headersFor(request), ...refusalHeaders(error));
      answer({ request, response }, error.status, headers, refusalBody(error, id));
    },
    upgrade: (request, socket, error) => {
      const id = requestIdOf(request);
      socket.on("error", () => undefined);
      refuseUpgrade(socket, error.status, ["X-Request-Id", id, ...refusalHeaders(error)], refusalBody(error, id));
    },
  };
}
