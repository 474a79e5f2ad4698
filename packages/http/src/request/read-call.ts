import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { callAudit } from "../audit.ts";
import { expectedTag, heldTags } from "./entity-tags.ts";
import type { Exchange } from "../exchange.ts";
import type { BodyMemory } from "../memory/memory-limits.ts";
import { hasBody, readBytes, readJson } from "./read-body.ts";
import { pathOf, readQuery, requireReadableQuery } from "./read-query.ts";
import { nothingAt } from "../response/refusal.ts";
import type { Call, Route } from "../route.ts";
import { validate } from "./validate.ts";

/**
 * Reads the body and validates path, query and body. `newId` makes the ids of audit records.
 * @throws ServiceError (400, 404, 413, 429, 503), RequestAborted.
 */
export async function readCall<Deps, Caller>(
  row: Route<Deps, Caller>,
  { request, response, context, params }: Exchange<Caller>,
  caller: Caller,
  { newId, body: memory }: { newId: () => string; body: BodyMemory },
): Promise<Call<Caller>> {
  const { headers } = request;
  let body: unknown;
  if (row.body === "raw") body = await readBytes(request, response, row.bodyLimitBytes, memory);
  else if (row.bodyOptional && !hasBody(request)) body = {};
  else if (row.body !== undefined) body = await readJson(request, response, row, memory);
  const read = {
    params: pathParams(row, params, request),
    query: row.query === undefined ? undefined : queryOf(row.query, request),
    body: row.body === undefined || row.body === "raw" ? body : validate(row.body, body, "body"),
    request: context,
  };
  return {
    caller,
    ...read,
    ...(row.audit && { audit: callAudit(row.audit, { ...read, status: row.status }, newId) }),
    headers: namedHeaders(row.headers, request),
    held: heldTags(headers["if-none-match"]),
    expected: expectedTag(headers["if-match"]),
  };
}

function namedHeaders(names: readonly string[], { headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      // Node gives a list for `Set-Cookie` only, which no request has.
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

function queryOf(schema: z.ZodType, { url = "" }: IncomingMessage): unknown {
  requireReadableQuery(url);
  return validate(schema, readQuery(url), "query");
}

/**
 * The path's parameters as the route's schema makes them.
 * @throws ServiceError (404)
 */
export function pathParams<Deps, Caller>(
  { params: schema }: Route<Deps, Caller>,
  params: unknown,
  request: IncomingMessage,
): unknown {
  if (schema === undefined) return params;
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw nothingAt(pathOf(request.url ?? ""), "there is nothing with this id");
}
