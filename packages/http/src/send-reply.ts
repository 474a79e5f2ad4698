import { answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { readReply } from "./reply.ts";
import type { Route } from "./route.ts";
import { sendParts } from "./send-parts.ts";

/**
 * Answers with what an operation returned. Returns the status.
 * @throws TypeError when the route promises a body and the operation returned none; what the parts of an answer throw.
 */
export function sendReply<Deps, Caller>(
  row: Route<Deps, Caller>,
  exchange: Exchange<Caller>,
  reply: unknown,
): number | Promise<number> {
  const { tag, held, value, parts } = readReply(reply);
  const headers = tag === undefined ? exchange.headers : [...exchange.headers, "ETag", `"${tag}"`];
  if (held) return answer(exchange, 304, headers, undefined);
  if (parts !== undefined) return sendParts(exchange, row.status, headers, parts);
  if (row.status === 204) return answer(exchange, 204, headers, undefined);
  const body = JSON.stringify(value) as string | undefined; // undefined for a value that JSON has no form for
  if (body === undefined) throw new TypeError(`${row.method} ${row.path} returned nothing to answer with`);
  return answer(exchange, row.status, headers, body);
}
