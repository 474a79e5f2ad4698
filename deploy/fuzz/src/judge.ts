import type { Description, Exchange } from "@coffer/openapi";
import { exchangeProblems } from "@coffer/openapi";
import type { RawRequest } from "./request.ts";
import { headerOf } from "./request.ts";
import type { RawAnswer } from "./wire.ts";

/**
 * What is wrong with the answer to a malformed request, a line each. It must be no 5xx, and one that the description
 * allows; what was accepted must have the described form.
 */
export function problemsWith(description: Description, request: RawRequest, answer: RawAnswer | null): string[] {
  if (answer === null) return request.breaksConnection === true ? [] : ["the connection was closed without an answer"];
  if (answer.status >= 500) return [`the status is ${answer.status}: ${answer.body.slice(0, 200)}`];
  // What HTTP itself gives another meaning than the one that its bytes seem to have is only asked not to fail.
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

/** Of which Node takes the first, whatever follows. */
const singular = new Set(["authorization", "content-type", "host", "user-agent"]);

/** Those that the Fetch standard has a form for. */
function headersOf({ headers, announced }: RawRequest): Headers {
  const found = new Headers();
  for (const [name, value] of headers) {
    if (singular.has(name.toLowerCase()) && found.has(name)) continue;
    try {
      found.append(name, value);
    } catch {
      // No form of a request that is described has such a header.
    }
  }
  // Chunks are not taken apart here: of such a body nothing is known.
  if (announced !== undefined) found.set("content-encoding", "unknown");
  return found;
}
