import { ServiceError } from "@coffer/errors";
import type { Bucket, Decision } from "@coffer/ratelimit";

/** The rate limit headers, as name, value, name, value. */
export function rateLimitHeaders(bucket: Bucket, windowSeconds: number, decision: Decision): string[] {
  return [
    "RateLimit-Policy",
    `"${bucket}";q=${decision.limit};w=${windowSeconds}`,
    "RateLimit",
    `"${bucket}";r=${decision.remaining};t=${decision.resetSeconds}`,
  ];
}

/** The refusal of a request over its limit. */
export function overLimit(decision: Decision): ServiceError {
  return new ServiceError("rate_limited", "too many requests from this address: wait as Retry-After says", {
    retryAfterSeconds: decision.retryAfterSeconds,
  });
}

/**
 * The bucket of an unmatched path, which is limited like its neighbours. Undefined outside the API.
 */
export function bucketOfPath(path: string): Bucket | undefined {
  if (path.startsWith("/api/sm/")) return "standard";
  return path.startsWith("/api/") || path.startsWith("/.well-known/") ? "user" : undefined;
}
