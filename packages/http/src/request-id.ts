import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const goodId = /^[A-Za-z0-9._-]{1,128}$/;

/** The `X-Request-Id` of a request if it is valid, else a new id. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && goodId.test(given) ? given : randomUUID();
}
