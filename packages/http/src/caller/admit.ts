import type { Bucket, Limiter } from "@coffer/ratelimit";
import { overLimit, rateLimitHeaders } from "./rate-limit.ts";
import type { RequestContext } from "../request-context.ts";

/**
 * Counts a request and adds the limiter's headers to `headers`.
 * @throws ServiceError `rate_limited`.
 */
export async function admit(
  limiter: Limiter,
  bucket: Bucket,
  { context, headers }: { context: RequestContext; headers: string[] },
): Promise<void> {
  const decision = await limiter.take(bucket, context.ip);
  headers.push(...rateLimitHeaders(bucket, limiter.windowSeconds, decision));
  if (!decision.accepted) throw overLimit(decision);
}
