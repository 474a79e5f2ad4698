import { type Description, type Exchange, exchangeProblems } from "@coffer/openapi";
import { headerOf, type RawRequest } from "./request.ts";
import type { RawAnswer } from "./wire.ts";

/**
 * The faults of the response to a malformed request, a line each. It must not be a 5xx, and the
 * description must allow it; an accepted request must have the described form.
 */
export function problemsWith(description: Description, request: RawRequest, answer: RawAnswer | null): string[] {
  if (answer === null) return request.breaksConnection === true ? [] : ["the connection was closed without an answer"];
  if (answer.status >= 500) return [`the status is ${answer.status}: ${answer.body.slice(0, 200)}`];
  // If HTTP gives the bytes another meaning than it seems, the response must only not be a failure.
  if (request.breaksConnection === true) return [];
  return exchangeProblems(description, exchangeOf(request, answer));
}

function exchangeOf(request: RawRequest, { status, headers, body }: RawAnswer): Exchange {
  const coding = headerOf(request, "content-encoding");
  return {
    method: request.method,
    target: request.target,
    requestHeaders: headersOf(request),
    requestBody: coding === undefined && request.announced === undefined ? request.body?.toString("utf8") : undefined,
    status,
    headers,
    body,
  };
}

/** Node uses the first of these, and ignores others. */
const singular = new Set(["authorization", "content-type", "host", "user-agent"]);

/** Those that the Fetch standard can express. */
function headersOf({ headers, announced }: RawRequest): Headers {
  const found = new Headers();
  for (const [name, value] of headers) {
    if (singular.has(name.toLowerCase()) && found.has(name)) continue;
    try {
      found.append(name, value);
    } catch {
      // No described request has such a header.
    }
  }
  // Chunks are not decoded here: such a body is unknown.
  if (announced !== undefined) found.set("content-encoding", "unknown");
  return found;
}
