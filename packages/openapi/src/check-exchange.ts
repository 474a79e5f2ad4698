import { answerProblems } from "./check-answer.ts";
import { requestProblems } from "./check-request.ts";
import type { Description } from "./description.ts";
import { type Exchange, parseJson, splitTarget } from "./exchange.ts";

/** An exchange that contradicts the description. */
export class DescriptionError extends Error {
  readonly problems: readonly string[];

  constructor(about: string, problems: readonly string[]) {
    super([`${about} is not as docs/spec/api describes it:`, ...problems].join("\n  "));
    this.name = "DescriptionError";
    this.problems = problems;
  }
}

/**
 * Compares a request and its response with the description: the response must be described, and an
 * accepted request (2xx, 304) must have the described form. A path without a description must be 404.
 * @returns the deviations, a line each
 */
export function exchangeProblems(description: Description, exchange: Exchange): string[] {
  const { method, target, status } = exchange;
  if (method === "OPTIONS" && status === 204) return [];
  if (isRefusedByTransport(exchange) || isBeforeService(exchange)) return [];
  const operation = description.find(method, splitTarget(target).path);
  if (operation === undefined) return undescribedProblems(exchange);
  const accepted = (status >= 200 && status < 300) || status === 304;
  return [...answerProblems(operation, exchange), ...(accepted ? requestProblems(operation, exchange) : [])];
}

/** A malformed or slow HTTP request is refused before the limiter and without a description. */
function isRefusedByTransport({ status, headers }: Exchange): boolean {
  const isOne = status === 400 || status === 408 || status === 431;
  return isOne && headers.get("connection") === "close" && !headers.has("ratelimit");
}

/** While a service is away, its router answers instead. */
function isBeforeService({ status, headers, body }: Exchange): boolean {
  return status === 503 && !headers.has("ratelimit") && errorIn(body) === "unavailable";
}

function errorIn(body: string): unknown {
  return (parseJson(body) as { error?: unknown } | null | undefined)?.error;
}

function undescribedProblems({ target, status, body }: Exchange): string[] {
  const { path } = splitTarget(target);
  const code = errorIn(body);
  const nothing = path.startsWith("/api/sm/") ? "secret_not_found" : "not_found";
  if (status === 404 && (code === nothing || body === "")) return [];
  if ((status === 429 && code === "rate_limited") || (status === 503 && code === "unavailable")) return [];
  return [`nothing is described here, yet the answer is ${status}`];
}
