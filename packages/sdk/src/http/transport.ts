import { CofferError } from "../errors.ts";
import { version } from "../version.ts";
import { errorOfAnswer } from "./answer-error.ts";
import { retryDelay } from "./backoff.ts";
import { readText } from "./read-text.ts";

export interface TransportOptions {
  /** Base address of the service, without a path. */
  url: string;
  /**
   * Accepts plain `http://` for other hosts than this machine. Anyone in between can read and use
   * the tokens.
   */
  insecureHttp?: boolean | undefined;
  /** The limit of one attempt, including the body of the response. Default 30,000. */
  timeoutMilliseconds?: number | undefined;
  /** The most bytes of a response's body, decompressed. Default 512 MiB. */
  maxAnswerBytes?: number | undefined;
  /** How often a repeatable request is tried. Default 4. */
  attempts?: number | undefined;
  /** The longest single wait before a retry. A longer `Retry-After` is an error. Default 65. */
  maxWaitSeconds?: number | undefined;
  /**
   * How long a request that the rate limit refuses is retried, in any number of attempts. Without
   * it a refusal counts as one of the `attempts`.
   */
  maxRefusedSeconds?: number | undefined;
  /** Called before a retry, with the error and the milliseconds since the first attempt. */
  onRetry?: ((error: CofferError, elapsedMilliseconds: number) => void) | undefined;
  /** The program's name towards the service, as `name/version`. The audit log shows it. */
  userAgent?: string | undefined;
  /** Aborts everything. */
  signal?: AbortSignal | undefined;
  fetch?: typeof fetch | undefined;
}

/** The service's limits count over a minute; this adds a margin. */
export const defaultMaxWaitSeconds = 65;

/** About the longest string of Node: a longer body could not be parsed. */
const longestString = 512 * 1024 * 1024;

export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with escaped parts, from the root. */
  path: string;
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  bearer?: string | undefined;
  /**
   * Whether the request may be repeated when its response was lost. GET, PUT and DELETE may; a POST
   * only if its caller can detect the effect of the first one. A refused request (429) had no
   * effect and may always be repeated.
   */
  repeatable?: boolean | undefined;
  /** A shorter limit of one attempt. */
  timeoutMilliseconds?: number | undefined;
  /** A smaller number of attempts. */
  attempts?: number | undefined;
}

export interface ApiAnswer {
  /** 200, 201, 204 or 304. */
  status: number;
  headers: Headers;
  /** The parsed JSON; undefined for 204 and 304. */
  body: unknown;
  /** The error of the service if this is a stored response. */
  away?: CofferError | undefined;
}

/** Sends the requests of one caller. */
export type Send = (request: ApiRequest) => Promise<ApiAnswer>;

export interface Transport {
  readonly url: string;
  /** Sends a request and returns its successful response. Throws CofferError. */
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** The stored response to a GET of this path; undefined without a usable one. */
  stored?(path: string): Promise<ApiAnswer | undefined>;
}

/**
 * HTTP client for the service: a time limit, retries with back-off that honour `Retry-After`, no
 * redirects, and every failure as a CofferError.
 */
export function createTransport(options: TransportOptions): Transport {
  const url = safeUrl(options.url, options.insecureHttp);
  const attempts = options.attempts ?? 4;
  const maxWaitSeconds = options.maxWaitSeconds ?? defaultMaxWaitSeconds;
  return {
    url,
    async send(request) {
      const repeatable = request.repeatable ?? request.method !== "POST";
      const most = Math.min(attempts, request.attempts ?? Infinity);
      const patientUntil = request.attempts === undefined ? (options.maxRefusedSeconds ?? 0) * 1000 : 0;
      const began = performance.now();
      let refusals = 0;
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await attemptOnce(url, request, options);
        if (!(outcome instanceof CofferError)) return outcome;
        const elapsed = performance.now() - began;
        const delay = retryDelay(outcome, attempt, repeatable);
        if (delay === undefined || delay > maxWaitSeconds * 1000) throw outcome;
        if (outcome.code === "rate_limited" && patientUntil > elapsed + delay) refusals += 1;
        else if (attempt - refusals >= most) throw outcome;
        options.onRetry?.(outcome, elapsed);
        await wait(delay + spread(refusals), options.signal);
      }
    },
  };
}

/**
 * Extra milliseconds after repeated refusals, so that requests that were refused together do not
 * return together.
 */
function spread(refusals: number): number {
  return refusals === 0 ? 0 : Math.random() * Math.min(500 * 2 ** (refusals - 1), 4_000);
}

/**
 * The base address without trailing slashes. Throws CofferError `configuration` for anything but an
 * http(s) address.
 */
export function canonicalUrl(text: string): string {
  // Older versions of Node and browsers have no URL.parse.
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new CofferError("configuration", "the address of the service must start with http:// or https://");
  if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "")
    throw new CofferError("configuration", "the address of the service holds no user name, query or fragment");
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, "");
}

/**
 * The base address if the connection cannot be read by others: https, or this machine. Throws
 * CofferError `configuration` for plain http to another host, unless `insecureHttp` accepts it.
 */
export function safeUrl(text: string, insecureHttp = false): string {
  const url = canonicalUrl(text);
  if (insecureHttp || url.startsWith("https:") || isLoopback(new URL(url).hostname)) return url;
  throw new CofferError(
    "configuration",
    "plain http:// to another machine lets others read and use what is sent: use https://, or accept it explicitly " +
      "(--insecure-http of the command, `insecureHttp` of the SDK)",
  );
}

/**
 * Whether a URL's host is this machine. A name of the form `x.localhost` may be another machine.
 */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function attemptOnce(
  url: string,
  request: ApiRequest,
  options: TransportOptions,
): Promise<ApiAnswer | CofferError> {
  const timeout = Math.min(options.timeoutMilliseconds ?? 30_000, request.timeoutMilliseconds ?? Infinity);
  const limit = AbortSignal.timeout(timeout);
  const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
  const headers: Record<string, string> = { accept: "application/json", ...request.headers };
  if (!inBrowser()) headers["user-agent"] = options.userAgent ?? `coffer-sdk/${version}`;
  if (request.bearer !== undefined) headers["authorization"] = `Bearer ${request.bearer}`;
  if (request.body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  let text: string | undefined;
  try {
    response = await (options.fetch ?? fetch)(url + request.path + queryOf(request.query), {
      method: request.method,
      headers,
      redirect: "error",
      signal,
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    text = await readText(response, options.maxAnswerBytes ?? longestString);
  } catch (cause) {
    if (options.signal?.aborted === true) throw new CofferError("network", "the call was aborted", { cause });
    const why = limit.aborted ? `no answer within ${timeout / 1000} s` : reasonOf(cause);
    return new CofferError("network", `${url} cannot be reached: ${why}`, { cause });
  }
  if (text === undefined)
    return new CofferError("bad_answer", `${url} answered with more than this client reads`, {
      status: response.status,
    });
  if (response.status === 304 && headers["if-none-match"] !== undefined)
    return { status: 304, headers: response.headers, body: undefined };
  const body = jsonOf(text);
  if (!response.ok) return errorOfAnswer(response, body);
  if (response.status === 204) return { status: 204, headers: response.headers, body: undefined };
  // A deletion has no response body. A foreign page must not look like a successful revocation.
  if (typeof body !== "object" || body === null || request.method === "DELETE")
    return new CofferError("bad_answer", `${url} answered something that is not this service's`, {
      status: response.status,
    });
  return { status: response.status, headers: response.headers, body };
}

/** A browser sets its own user agent. Another header would only trigger a preflight request. */
function inBrowser(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent?.startsWith("Mozilla/") === true;
}

function queryOf(query: ApiRequest["query"]): string {
  if (query === undefined) return "";
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The innermost reason of a failed fetch: `ECONNREFUSED` says more than `fetch failed`. */
function reasonOf(cause: unknown): string {
  // Thrown before anything was sent, as for a header. Its message quotes the header, which may be a
  // token.
  if (cause instanceof TypeError && cause.cause === undefined) return "the request cannot be sent";
  let reason = cause;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors[0] instanceof Error) reason = reason.errors[0];
  if (!(reason instanceof Error)) return "the connection failed";
  return "code" in reason && typeof reason.code === "string" ? reason.code : reason.message;
}

/** Throws CofferError `network` when it is aborted. */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new CofferError("network", "the call was aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}
