import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const goodId = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the one that it brings, when it is fit to be repeated, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && goodId.test(given) ? given : randomUUID();
}
