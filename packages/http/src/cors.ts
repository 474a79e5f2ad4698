import type { IncomingMessage } from "node:http";

const exposed = "ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const requestHeaders =
  "Authorization, Content-Type, If-Match, If-None-Match, X-Coffer-Org, X-Request-Id, traceparent, tracestate";

/** CORS headers by origin. */
export interface Cors {
  /** The response headers, as name, value, name, value. Empty without an origin. */
  headersFor(request: IncomingMessage): readonly string[];
  /** The headers of a preflight response; undefined for any other request. */
  preflight(request: IncomingMessage): readonly string[] | undefined;
}

const nothing: readonly string[] = [];
const refused: readonly string[] = ["Vary", "Origin"];

/**
 * `origins` such as `https://vault.example`. Credentials are never allowed: callers use bearer
 * tokens.
 */
export function createCors(origins: readonly string[]): Cors {
  const answers = new Map(
    origins.map((origin) => [
      origin,
      ["Vary", "Origin", "Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", exposed] as const,
    ]),
  );
  const permission = ["Access-Control-Allow-Methods", methods, "Access-Control-Allow-Headers", requestHeaders] as const;

  const headersFor = ({ headers: { origin } }: IncomingMessage): readonly string[] =>
    origin === undefined ? nothing : (answers.get(origin) ?? refused);

  return {
    headersFor,
    preflight: (request) => {
      const { origin, "access-control-request-method": wanted } = request.headers;
      if (request.method !== "OPTIONS" || origin === undefined || wanted === undefined) return undefined;
      if (!answers.has(origin)) return refused;
      return [...headersFor(request), ...permission, "Access-Control-Max-Age", "600"];
    },
  };
}
