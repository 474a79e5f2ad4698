import { ServiceError } from "@coffer/errors";
import type { Exchange } from "./exchange.ts";
import { mayExceed } from "./read-body.ts";
import type { Route } from "./route.ts";

/** A smaller body holds little memory while its client sends it slowly. */
const largeBytes = 1024 * 1024;
/** Our clients send one at a time, and several clients may share an address. */
const mostPerAddress = 8;
const retryAfterSeconds = 5;

/**
 * Limits how many large bodies of one source address are read at a time. A body is in memory until
 * its client has sent the rest, which may take until the timeout.
 */
export function createLargeBodies() {
  const reading = new Map<string, number>();

  /**
   * Runs `read`, which reads the body.
   * @throws ServiceError `rate_limited`, and what `read` throws
   */
  return async function readLarge<Deps, Caller, Result>(
    row: Route<Deps, Caller>,
    { request, context: { ip } }: Exchange<Caller>,
    read: () => Promise<Result>,
  ): Promise<Result> {
    if (row.body === undefined || row.bodyLimitBytes <= largeBytes || !mayExceed(request, largeBytes)) return read();
    const others = reading.get(ip) ?? 0;
    if (others >= mostPerAddress)
      throw new ServiceError("rate_limited", "too many large requests from this address at a time: try again later", {
        retryAfterSeconds,
      });
    reading.set(ip, others + 1);
    try {
      return await read();
    } finally {
      const left = (reading.get(ip) ?? 1) - 1;
      if (left === 0) reading.delete(ip);
      else reading.set(ip, left);
    }
  };
}
